//! Circles among the files of a crate.
//!
//! A module and its own parts are one thing: that they use each other is no circle. Of modules side by side, each with
//! its parts, none may use another that uses it in turn, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::{Uses, folders, name, root, sources, text};

/// A module's place in its crate: `["process", "inside"]`.
type Place = Vec<String>;

/// Where files may use each other, and why. Nothing is to be added but a pair that is one thing.
const CIRCLES: [(&str, &str, &str); 32] = [
    (
        "agon-bot",
        "image process",
        "what runs inside sees an image, which is made of the tools that are found for it",
    ),
    ("agon/common", "fingerprint logins online", "a login is asked for with the fingerprint that it keeps"),
    ("agon/series", "contest formats newcomer tournament", "not yet taken apart"),
    ("agon/series", "counts sprt", "an SPRT and what is counted for it"),
    ("agon/series", "rate site", "a rating and its page"),
    ("agon-contest", "format journal plan", "not yet taken apart"),
    ("agon-contest", "play scheduler told work", "not yet taken apart"),
    (
        "agon-game",
        "advantage bench dialect game hand info session",
        "the contract names its parts, and the parts name the game",
    ),
    ("agon-match", "arrival player record referee", "not yet taken apart"),
    ("agon-replay", "chunk packing", "a chunk and its bytes"),
    ("agon-replay", "reader steps", "a reader and its steps"),
    ("agon-sandbox", "claim group message meter", "not yet taken apart"),
    ("agon-sandbox", "copy layer root", "a root and what is mounted in it"),
    ("agon-sandbox", "course suite", "an attack and the suite that runs it"),
    ("agon-sandbox", "init program spawner", "processes that start each other"),
    (
        "agon-site",
        "answers api exports fleet gate health incoming metrics pages routes settings site throttle work",
        "not yet taken apart",
    ),
    (
        "agon-site/pages",
        "account codes factor mail people recovery",
        "the page of an account has cards, whose forms show it again",
    ),
    ("agon-site/pages", "matches own team version", "pages that show parts of each other"),
    ("agon-stats", "sequential sprt stopping", "not yet taken apart"),
    ("agon-store", "acts reads", "not yet taken apart"),
    ("agon-store/acts", "batch result", "not yet taken apart"),
    ("agon-store/acts", "trial version", "a version is tried"),
    ("cultist-wars", "builtin generate info map outcome rules view", "rules, map and view name each other"),
    ("cultist-wars", "moving orders", "an order and its move"),
    ("deerhunt", "builtin info", "a game's description lists its bots, which are looked up in it"),
    ("deerhunt", "map sets state", "a state and its map"),
    ("deerhunt", "orders rules", "an order and its limits"),
    (
        "jungle-blitz",
        "advantage arena bench bitmap builtin conform dialect event game generate hand map map_check orders outcome picture reason recording rules save scene schedule search state turn view",
        "not yet taken apart",
    ),
    ("ostibot", "builtin info", "a game's description lists its bots, which are looked up in it"),
    ("ostibot", "items map rules state", "a state and its rules"),
    ("terminal", "deploy turn", "a turn and its first stage"),
    ("terminal", "frame path work", "a frame and what it computes"),
];

/// The circles among files, drawn.
///
/// # Panics
/// When there is one that [`CIRCLES`] does not excuse, or none any more that it excuses.
pub fn drawing() -> String {
    let crates = ["crates", "games"].map(|place| folders(&root().join(place))).concat();
    let mut excuses: Vec<_> = CIRCLES.to_vec();
    let mut out = String::new();
    for krate in crates {
        for (place, files) in circles(&name(&krate), &krate.join("src")) {
            let names = files.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let excused = |(own, all, _): &(&str, &str, &str)| {
                *own == place && files.iter().all(|file| all.split(' ').any(|one| one == file))
            };
            let at = excuses.iter().position(excused);
            let (_, _, why) = excuses.remove(at.unwrap_or_else(|| {
                panic!(
                    "files of {place} use each other in a circle: {names}; move what both need into a third"
                )
            }));
            writeln!(out, "- {place}: {}: {why}", names.replace(' ', ", ")).expect("a text");
        }
    }
    assert!(excuses.is_empty(), "these circles are gone, or smaller: take them out of CIRCLES: {excuses:#?}");
    out
}

/// Modules side by side that use each other, with where they are: `agon-bot/process/inside`.
type Circle = (String, BTreeSet<String>);

/// The circles among the files below `folder`, the `src` of the crate called `name`.
fn circles(name: &str, folder: &Path) -> Vec<Circle> {
    let files: BTreeMap<Place, Vec<Vec<String>>> = sources(folder)
        .iter()
        .map(|file| {
            let code = text(file);
            let code = code.split("#[cfg(test)]").next().unwrap_or_default();
            (place(file.strip_prefix(folder).expect("below it")), paths(&words(code)))
        })
        .collect();
    let mut levels: BTreeMap<Place, Uses> = BTreeMap::new();
    for (own, paths) in &files {
        for depth in 0..own.len() {
            levels.entry(own[..depth].to_vec()).or_default().entry(own[depth].clone()).or_default();
        }
        for used in paths.iter().filter_map(|path| resolve(own, path, &files, 8)) {
            let depth = own.iter().zip(&used).take_while(|(one, other)| one == other).count();
            if depth < own.len().min(used.len()) {
                let level = levels.entry(own[..depth].to_vec()).or_default();
                level.entry(own[depth].clone()).or_default().insert(used[depth].clone());
            }
        }
    }
    let in_level = |(place, uses): (Place, Uses)| {
        let place = [&[name.to_owned()], &place[..]].concat().join("/");
        knots(&uses).into_iter().map(move |knot| (place.clone(), knot))
    };
    levels.into_iter().flat_map(in_level).collect()
}

/// The groups in which everybody uses everybody, directly or through others.
fn knots(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut left: Vec<&String> = uses[from].iter().collect();
        while let Some(next) = left.pop() {
            if seen.insert(next) {
                left.extend(uses.get(next).into_iter().flatten());
            }
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<&String>> = uses.keys().map(|name| (name, reached(name))).collect();
    let knot = |name: &String| -> BTreeSet<String> {
        let back = all[name].iter().filter(|other| all.get(**other).is_some_and(|own| own.contains(name)));
        back.map(|other| (*other).clone()).collect()
    };
    uses.keys().map(knot).filter(|knot| knot.len() > 1).collect()
}

fn place(file: &Path) -> Place {
    let mut place: Place =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if place.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        place.pop();
    }
    place
}

/// The file that a path leads to from `own`, past names that other modules hand on; none for other crates.
fn resolve(
    own: &[String],
    path: &[String],
    files: &BTreeMap<Place, Vec<Vec<String>>>,
    patience: u8,
) -> Option<Place> {
    let mut path = path.iter();
    let first = path.next()?;
    let mut found: Place = match first.as_str() {
        "crate" => Vec::new(),
        "self" => own.to_vec(),
        "super" => own[..own.len().checked_sub(1)?].to_vec(),
        child => [own, &[child.to_owned()]].concat(),
    };
    files.contains_key(&found).then_some(())?;
    for part in path {
        if part == "super" {
            found.pop()?;
            continue;
        }
        let inner = [&found[..], std::slice::from_ref(part)].concat();
        if !files.contains_key(&inner) {
            // Whoever hands a name on is not who is used.
            let handed = files[&found].iter().find(|path| path.len() > 1 && path.last() == Some(part));
            let on = handed.filter(|_| found != own && patience > 0);
            return on.and_then(|path| resolve(&found, path, files, patience - 1)).or(Some(found));
        }
        found = inner;
    }
    Some(found)
}

/// The words and signs of Rust code, without comments and texts.
fn words(code: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("r#\"") {
            inside.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if first == '"' {
            let inside = rest[1..].split_inclusive('"');
            // An even number of backslashes before it means nothing to the quote that ends the text.
            let ends = |part: &&str| {
                let before = part.trim_end_matches('"');
                (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
            };
            1 + inside
                .scan(false, |over, part| (!std::mem::replace(over, ends(&part))).then_some(part.len()))
                .sum::<usize>()
        } else if rest.starts_with("'\"'") {
            3
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            end
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            if !first.is_whitespace() {
                words.push(rest[..length].to_owned());
            }
            length
        };
        rest = &rest[length..];
    }
    words
}

/// The paths that code names: those it imports, and those that begin in its own crate.
fn paths(words: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = at == 0 || words[at - 1] != "::";
        match words[at].as_str() {
            "use" => at = tree(words, at + 1, &[], &mut found),
            "crate" | "self" | "super" if begins => at = tree(words, at, &[], &mut found),
            _ => at += 1,
        }
    }
    found
}

/// Reads a path, or a tree of them, after `before`; returns where it ends.
fn tree(words: &[String], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    while let Some(word) = words.get(at) {
        at += 1;
        if word == "{" {
            while words.get(at).is_some_and(|word| word != "}") {
                at = tree(words, at, &path, found).max(at + 1);
                at += usize::from(words.get(at).is_some_and(|word| word == ","));
            }
            return at + 1;
        }
        path.push(word.clone());
        if words.get(at).is_none_or(|word| word != "::") {
            break;
        }
        at += 1;
    }
    // `{self}` is what stands before the brace.
    path.pop_if(|last| last == "self" && !before.is_empty());
    found.push(path);
    // A new name for it.
    if words.get(at).is_some_and(|word| word == "as") { at + 2 } else { at }
}

#[test]
fn what_code_names_is_read() {
    let code = r#"
        use crate::{a::{self, B as C}, d}; // crate::e
        const TEXT: &str = "crate::f \\"; fn g(sign: char) -> super::H { match sign { '"' => crate::i::j() } }
    "#;
    let found: Vec<String> = paths(&words(code)).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::a", "crate::a::B", "crate::d", "super::H", "crate::i::j"]);
}

#[test]
fn who_uses_each_other_through_others_is_found() {
    let uses = |used: &[&str]| used.iter().map(|name| (*name).to_owned()).collect();
    let knots = knots(&Uses::from([
        ("a".into(), uses(&["b"])),
        ("b".into(), uses(&["c", "d"])),
        ("c".into(), uses(&["a"])),
        ("d".into(), uses(&[])),
    ]));
    assert_eq!(knots.into_iter().collect::<Vec<_>>(), [uses(&["a", "b", "c"])]);
}
