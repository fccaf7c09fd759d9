//! `docs/faults.md` lists every fault with its sentence.

use agon_match::{Cause, FaultKind};

#[test]
fn every_fault_is_documented_with_its_sentence() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for kind in FaultKind::ALL {
        let id = serde_json::to_value(kind).expect("a word");
        let heading = format!("(`{}`)", id.as_str().expect("a word"));
        let section = page
            .split("\n## ")
            .find(|section| section.lines().next().is_some_and(|line| line.ends_with(&heading)));
        let section = section.unwrap_or_else(|| panic!("no section for {kind:?}"));
        assert!(section.to_lowercase().starts_with(kind.word()), "{kind:?} is called `{}`", kind.word());
        for cause in Cause::examples().into_iter().filter(|cause| cause.kind() == kind) {
            assert!(section.contains(&format!("| {cause} |")), "{kind:?} lacks: {cause}");
        }
    }
}
