//! The code side: finds the item that a comment with a rule id belongs to.
//!
//! The sources are formatted by rustfmt, so indentation shows what is nested in what.

use crate::ids;

/// A place in a game's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// The file, relative to the game's folder: `src/shoot.rs`.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The item of the code, as `Shot::damage`, or the heading of a spec section.
    pub item: String,
    /// Whether the item is a function.
    pub is_function: bool,
}

/// The items of a source file whose comments name `id`, each once, in order.
///
/// A comment before an item belongs to it; one inside an item belongs to the item around it. A comment at the
/// head of a file (`//!`) belongs to no item, and code that only mentions an id in a string does not count.
pub fn places(path: &str, text: &str, id: &str) -> Vec<CodePlace> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<CodePlace> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((_, comment)) = line.split_once("//").filter(|(_, comment)| !comment.starts_with('!'))
        else {
            continue;
        };
        if !ids(comment).contains(&id) {
            continue;
        }
        let Some((word, item)) = item_of(&lines, number) else { continue };
        let is_test = item.starts_with("tests::");
        if !is_test && !found.iter().any(|place| place.item == item) {
            found.push(CodePlace {
                path: path.to_owned(),
                line: number + 1,
                item,
                is_function: word == "fn",
            });
        }
    }
    found
}

/// The keyword and the full name of the item a comment belongs to.
fn item_of<'a>(lines: &[&'a str], number: usize) -> Option<(&'a str, String)> {
    let is_attached = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("//") || line.starts_with("#[") || line.is_empty()
    };
    let whole_line = lines[number].trim_start().starts_with("//");
    let below = lines[number..].iter().find(|line| !is_attached(line)).filter(|_| whole_line);
    // The item below, or the nearest one around it: the first above with less indentation.
    let mut indent = indent_of(lines[number]) + 1;
    let mut name: Option<(&str, String)> = None;
    let mut see = |line: &'a str| {
        let Some((word, own)) = declared(line) else { return };
        match &mut name {
            None => name = Some((word, own.to_owned())),
            Some((_, inner)) => *inner = format!("{own}::{inner}"),
        }
    };
    if let Some(line) = below.filter(|line| indent_of(line) == indent - 1 && declared(line).is_some()) {
        see(line);
        indent -= 1;
    }
    for line in lines[..number].iter().rev() {
        let closes = line.trim_start().starts_with(['}', ')', ']']);
        if !line.trim().is_empty() && indent_of(line) < indent && !closes {
            indent = indent_of(line);
            see(line);
        }
    }
    name
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The keyword and name that a line declares: `fn` and `damage`, `impl` and `Shot`.
fn declared(line: &str) -> Option<(&str, &str)> {
    let mut rest = line.trim_start();
    loop {
        let (word, after) = rest.split_once([' ', '<', '('])?;
        match word {
            "pub" if rest.starts_with("pub(") => rest = rest.split_once(") ")?.1,
            "pub" | "unsafe" | "async" | "default" => rest = after,
            "const" if after.starts_with("fn ") => rest = after,
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "mod" | "macro_rules!" => {
                let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
                return (!name.is_empty()).then_some((word, name));
            }
            "impl" => {
                // `impl<T> Trait for Type<T> {`: the type's name.
                let head = line.split(" where ").next()?.trim_end_matches('{').trim_end();
                let named = head.rsplit(" for ").next()?.trim_start_matches("impl").trim_start();
                let named = if named.starts_with('<') { named.split_once("> ")?.1 } else { named };
                let name = named.split(['<', ' ']).next()?.rsplit("::").next()?;
                return (!name.is_empty()).then_some((word, name));
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
//! A file about G-A-9.

/// G-A-1: what a shot is.
pub struct Shot {
    /// G-A-2: how much.
    pub damage: u8,
}

impl<T: Copy> Target<T> for Shot {
    /// Decides G-A-3.
    #[inline]
    pub(crate) const fn hit(
        &self,
    ) -> bool {
        // G-A-4: never twice.
        if self.damage > 0 {
            return true; // G-A-5
        }
        false
    }

    const RULE: &str = \"G-A-6\";
}

/// G-A-1 again.
const LIMIT: u8 = 3;
";

    #[test]
    fn a_comment_belongs_to_the_item_below_or_around_it() {
        let at = |id: &str| {
            let found = places("src/a.rs", CODE, id);
            found.into_iter().map(|place| (place.line, place.item, place.is_function)).collect::<Vec<_>>()
        };
        assert_eq!(at("G-A-1"), [(3, "Shot".to_owned(), false), (25, "LIMIT".to_owned(), false)]);
        assert_eq!(at("G-A-2"), [(5, "Shot".to_owned(), false)]);
        assert_eq!(at("G-A-3"), [(10, "Shot::hit".to_owned(), true)]);
        assert_eq!(at("G-A-4"), [(15, "Shot::hit".to_owned(), true)]);
        assert_eq!(at("G-A-5"), [(17, "Shot::hit".to_owned(), true)]);
        assert_eq!(at("G-A-6"), [], "a text is no comment");
        assert_eq!(at("G-A-9"), [], "the head of a file is no item");
    }
}
