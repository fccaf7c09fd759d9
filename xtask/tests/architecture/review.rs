//! What `docs/asvs.md` answers is shown by tests that are there.

use super::{root, text};

/// A review in which nobody finds anything is too long.
const MOST_ROWS: usize = 80;

/// The cells of the rows of its tables.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| asked |"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

#[test]
fn every_row_of_the_review_names_a_test_that_is_there_or_says_why_not() {
    let page = text(&root().join("docs/asvs.md"));
    let mut count = 0;
    for row in rows(&page) {
        let [asked, answer, shown] = row[..] else { panic!("three cells: {row:?}") };
        count += 1;
        if shown.is_empty() {
            let says = ["**no**: ", "**in part**: "].iter().any(|start| answer.starts_with(start));
            assert!(says, "`{asked}` names no test, and does not begin with **no** or **in part**");
            continue;
        }
        let place = shown.trim_matches('`').split_once("::");
        let (file, function) = place.unwrap_or_else(|| panic!("{asked}: file::function, not {shown}"));
        let source = text(&root().join("crates").join(file));
        let above = source.split_once(&format!("fn {function}(")).map_or("", |(above, _)| above);
        let attribute = above.trim_end_matches("async ").trim_end().lines().last().unwrap_or_default().trim();
        let is_test = attribute.starts_with("#[") && attribute.contains("test");
        assert!(is_test, "{asked}: crates/{file} has no test `{function}`");
    }
    assert!((50..=MOST_ROWS).contains(&count), "{count} rows");
}
