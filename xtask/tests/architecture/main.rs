//! Checks what ARCHITECTURE.md says about the whole project, as far as possible: what uses what, that
//! there are no cycles, that games are pure, and that every place it names exists.
//!
//! `UPDATE_ROOMS=1 cargo test -p xtask --test architecture` regenerates `docs/rooms.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

mod files;
mod review;

/// Who uses whom.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the project's folder")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders directly below `folder`, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// All Rust files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

/// The crates of the project, and those each is built from. Dependencies of tests alone do not count.
fn crates() -> Uses {
    let members = [folders(&root().join("crates")), folders(&root().join("games"))].concat();
    let names: BTreeSet<String> = members.iter().map(|path| name(path)).collect();
    let uses = |path: &PathBuf| {
        let manifest: toml::Table = text(&path.join("Cargo.toml")).parse().expect("a manifest");
        let used = manifest.get("dependencies").and_then(toml::Value::as_table);
        used.into_iter()
            .flat_map(|table| table.keys())
            .filter(|name| names.contains(*name))
            .cloned()
            .collect()
    };
    members.iter().map(|path| (name(path), uses(path))).collect()
}

/// The rooms of the command line, and those each imports. Tests may import everything.
fn rooms() -> Uses {
    let rooms = folders(&root().join("crates/agon/src"));
    let names: BTreeSet<String> = rooms.iter().map(|path| name(path)).collect();
    let uses = |path: &PathBuf| {
        let mut used = BTreeSet::new();
        for file in sources(path) {
            let text = text(&file);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (at, _) in code.match_indices("crate::") {
                let word: String =
                    code[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if names.contains(&word) && word != name(path) {
                    used.insert(word);
                }
            }
        }
        used
    };
    rooms.iter().map(|path| (name(path), uses(path))).collect()
}

/// The names in layers: each uses only names in earlier layers.
///
/// # Panics
/// When some use each other in a circle; names them.
fn layers(uses: &Uses) -> Vec<Vec<String>> {
    let mut layers: Vec<Vec<String>> = Vec::new();
    let mut placed: BTreeSet<String> = BTreeSet::new();
    while placed.len() < uses.len() {
        let free =
            |(name, used): &(&String, &BTreeSet<String>)| !placed.contains(*name) && used.is_subset(&placed);
        let layer: Vec<String> = uses.iter().filter(free).map(|(name, _)| name.clone()).collect();
        let circle: Vec<&String> = uses.keys().filter(|name| !placed.contains(*name)).collect();
        assert!(!layer.is_empty(), "these use each other in a circle: {circle:?}");
        placed.extend(layer.iter().cloned());
        layers.push(layer);
    }
    layers
}

fn drawing(uses: &Uses) -> String {
    let width = uses.keys().map(String::len).max().unwrap_or(0);
    let mut out = String::from("```\n");
    for layer in layers(uses).iter().rev() {
        for name in layer {
            let used: Vec<&str> = uses[name].iter().map(String::as_str).collect();
            let line = match used[..] {
                [] => name.clone(),
                _ => format!("{name:<width$}  ->  {}", used.join(", ")),
            };
            writeln!(out, "{line}").expect("a text");
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out + "\n```\n"
}

#[test]
fn nothing_is_used_in_a_circle_and_the_drawing_is_up_to_date() {
    let page = format!(
        "# Module dependencies\n\n\
         Which crates and modules use which, drawn by a test from the manifests and the imports. Each depends\n\
         only on those listed below it, so there are no cycles. `ARCHITECTURE.md` says what each is for.\n\n\
         ## Crates\n\n{}\n## The rooms of the command line\n\nFolders of `crates/agon/src`.\n\n{}\n\
         ## Files that use each other\n\n\
         These modules of one crate, each with its own parts, depend on each other. All other files form\n\
         layers, too.\n\n{}",
        drawing(&crates()),
        drawing(&rooms()),
        files::drawing()
    );
    let file = root().join("docs/rooms.md");
    if std::env::var_os("UPDATE_ROOMS").is_some() {
        fs::write(&file, &page).expect("docs/rooms.md is written");
    }
    let drawn = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        drawn == page,
        "docs/rooms.md is not as the code is: look at the change, then run this test with UPDATE_ROOMS=1"
    );
}

#[test]
#[should_panic(expected = "in a circle: [\"a\", \"b\"]")]
fn a_circle_is_found() {
    let uses = |used: &[&str]| used.iter().map(|name| (*name).to_owned()).collect();
    layers(&Uses::from([
        ("a".into(), uses(&["b", "c"])),
        ("b".into(), uses(&["a"])),
        ("c".into(), uses(&[])),
    ]));
}

#[test]
fn every_crate_and_room_stands_in_architecture_md() {
    let page = text(&root().join("ARCHITECTURE.md"));
    let missing: Vec<String> = crates()
        .into_keys()
        .filter(|name| name.starts_with("agon"))
        .map(|name| format!("`crates/{name}`"))
        .chain(rooms().into_keys().map(|name| format!("`crates/agon/src/{name}`")))
        .filter(|place| !page.contains(place.as_str()))
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md has no line about {missing:?}");
}

#[test]
fn every_place_that_architecture_md_names_is_there() {
    let page = text(&root().join("ARCHITECTURE.md"));
    let mut checked = 0;
    // Links: [`function`](file), and the file contains an item of that name.
    for (at, _) in page.match_indices("](") {
        let target = page[at + 2..].split(')').next().unwrap_or_default();
        if target.starts_with("http") || target.starts_with('#') {
            continue;
        }
        let file = root().join(target.split('#').next().unwrap_or(target));
        assert!(file.exists(), "ARCHITECTURE.md links to {target}, which is not there");
        let label = page[..at].rsplit('[').next().unwrap_or_default();
        if let Some(item) = label.strip_prefix('`').and_then(|label| label.strip_suffix('`'))
            && target.ends_with(".rs")
        {
            let item = item.rsplit("::").next().unwrap_or(item);
            let text = text(&file);
            let declares = |word: &str| {
                text.lines().any(|line| {
                    line.split_once(&format!("{word} {item}"))
                        .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                })
            };
            let found = ["fn", "struct", "enum", "trait", "const", "mod"].into_iter().any(declares);
            assert!(found || text.contains(&format!("{item}:")), "{target} has no `{item}`");
        }
        checked += 1;
    }
    // Paths in backticks.
    for word in page.split('`').skip(1).step_by(2) {
        let is_path = ["crates/", "docs/", "games/", "web/", "fuzz/", "xtask"]
            .iter()
            .any(|start| word.starts_with(start));
        if is_path && !word.contains("NAME") && !word.contains(' ') {
            assert!(root().join(word).exists(), "ARCHITECTURE.md names {word}, which is not there");
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} places were found to check");
}

/// What a game may depend on.
const PURE: [&str; 12] = [
    "agon-game",
    "itoa",
    "include_dir", // what is embedded, at build time
    "libm",        // exp, the same on every machine
    "rand_core",
    "rand_xoshiro",
    "serde",
    "serde_json",
    "strsim",
    "thiserror",
    "toml",
    "xxhash-rust",
];

/// What no game may touch: invariant 1.
const IMPURE: [&str; 12] = [
    "std::fs",
    "std::net",
    "std::time",
    "std::thread",
    "std::env",
    "std::process",
    "std::io::std",
    "println!",
    "eprintln!",
    "async fn",
    "SystemTime",
    "HashMap", // its order differs from run to run
];

#[test]
fn games_and_their_contract_are_pure() {
    let mut games = folders(&root().join("games"));
    games.push(root().join("crates/agon-game"));
    for game in &games {
        let manifest: toml::Table = text(&game.join("Cargo.toml")).parse().expect("a manifest");
        let used = manifest["dependencies"].as_table().expect("a table of dependencies");
        let impure: Vec<&String> = used.keys().filter(|used| !PURE.contains(&used.as_str())).collect();
        assert!(impure.is_empty(), "{} is built from {impure:?}", game.display());
        let files = sources(&game.join("src"));
        assert!(files.len() > 5, "{}", game.display());
        assert!(text(&game.join("src/lib.rs")).contains("#![forbid(unsafe_code)]"), "{}", game.display());
        for file in files {
            let text = text(&file);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                let found = IMPURE.iter().find(|word| code.contains(**word));
                assert!(found.is_none(), "{}:{}: a game uses {found:?}", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn who_knows_no_game_is_built_without_any() {
    let uses = crates();
    let games: BTreeSet<String> = folders(&root().join("games")).iter().map(|path| name(path)).collect();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for name in
        ["agon-bot", "agon-spec", "agon-match", "agon-replay", "agon-stats", "agon-script", "agon-sandbox"]
    {
        let mut left = vec![name];
        known.clear();
        while let Some(next) = left.pop() {
            if known.insert(next) {
                left.extend(uses[next].iter().map(String::as_str));
            }
        }
        let found: Vec<&&str> =
            known.iter().filter(|used| games.contains(**used) || **used == "agon-games").collect();
        assert!(found.is_empty(), "{name} is built from {found:?}");
    }
    assert!(!uses["agon-stats"].contains("agon-bot"), "agon-stats knows no bots");
    assert!(uses["agon-sandbox"].is_empty(), "agon-sandbox knows nothing but Linux");
}

/// Where a game may be named above the registry, and why.
const NAMES_A_GAME: [(&str, &str); 1] = [(
    "crates/agon/src/workshop/bench.rs",
    "the measure of the referee needs the one protocol its own bot speaks",
)];

/// A sixth game is one folder and one line: what is special about a game is in its `GameInfo`.
#[test]
fn nobody_above_the_registry_names_a_game() {
    let games: Vec<String> = folders(&root().join("games")).iter().map(|path| name(path)).collect();
    let mut found = Vec::new();
    for folder in folders(&root().join("crates")) {
        if ["agon-games", "agon-stats"].contains(&name(&folder).as_str()) {
            continue;
        }
        for file in sources(&folder.join("src")) {
            let place = file.strip_prefix(root()).expect("below the root").display().to_string();
            if NAMES_A_GAME.iter().any(|(excused, _)| *excused == place) {
                continue;
            }
            let text = text(&file);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                let named = |game: &String| {
                    code.contains(&format!("\"{game}\"")) && !code.contains("\\\"")
                        || code.contains(&format!("{}::", game.replace('-', "_")))
                };
                if games.iter().any(named) {
                    found.push(format!("{place}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "move what these lines know into the game's GameInfo:\n{}", found.join("\n"));
}

#[test]
fn a_long_file_says_why() {
    let places = ["crates", "games", "xtask", "docs/examples"];
    let files = places.iter().flat_map(|place| sources(&root().join(place)));
    let silent: Vec<String> = files
        .filter(|file| !file.components().any(|part| part.as_os_str() == "target"))
        .filter_map(|file| {
            let text = text(&file);
            let lines = text.lines().count();
            let says = || text.lines().take(5).any(|line| line.contains("Longer than 500 lines: "));
            (lines > 500 && !says()).then(|| format!("{} has {lines} lines", file.display()))
        })
        .collect();
    assert!(
        silent.is_empty(),
        "split, or say why in the first five lines (`Longer than 500 lines: ...`): {silent:#?}"
    );
}

#[test]
fn no_unit_tests_are_left_unbuilt() {
    let places = ["crates", "games"].map(|place| folders(&root().join(place))).concat();
    let mut off = 0;
    for folder in places {
        let manifest: toml::Table = text(&folder.join("Cargo.toml")).parse().expect("a manifest");
        let setting = manifest.get("lib").and_then(|lib| lib.get("test"));
        if setting.and_then(toml::Value::as_bool) == Some(false) {
            off += 1;
            let signs = ["#[test]", "::test]", "cfg(test)", "cfg_attr(test"];
            let tested = |file: &PathBuf| {
                let text = text(file);
                signs.iter().any(|sign| text.contains(sign))
            };
            let tested: Vec<PathBuf> = sources(&folder.join("src")).into_iter().filter(tested).collect();
            assert!(
                tested.is_empty(),
                "{}: `test = false` is for libraries without tests: {tested:?}",
                name(&folder)
            );
        }
    }
    assert!(off > 0, "no library says `test = false`: where is it now?");
}

/// Whether a manifest, or a part of it, has this dependency.
fn depends(manifest: &toml::Table, name: &str) -> bool {
    manifest
        .iter()
        .filter_map(|(key, value)| Some((key, value.as_table()?)))
        .any(|(key, table)| key.ends_with("dependencies") && table.contains_key(name) || depends(table, name))
}

#[test]
fn every_dependency_in_the_table_is_used() {
    let whole: toml::Table = text(&root().join("Cargo.toml")).parse().expect("a manifest");
    let table = whole["workspace"]["dependencies"].as_table().expect("a table");
    let places = ["crates", "games", "docs/examples"].map(|place| folders(&root().join(place))).concat();
    let manifests: Vec<toml::Table> = places
        .iter()
        .chain([&root().join("xtask")])
        .filter_map(|folder| fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok())
        .collect();
    let unused: Vec<&String> =
        table.keys().filter(|name| !manifests.iter().any(|manifest| depends(manifest, name))).collect();
    assert!(unused.is_empty(), "no crate uses {unused:?}");
}

/// Cargo would build nearly everything once more to run them in place.
#[test]
fn examples_of_the_documentation_are_files_that_tests_run() {
    let places = ["crates", "games", "xtask", "docs/examples"];
    let found: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| sources(&root().join(place)))
        .filter(|file| is_example(&text(file)))
        .collect();
    assert!(
        found.is_empty(),
        "examples that no test runs; write them into examples/, include them from there, and run them in a test as \
         crates/agon-pairing does: {found:#?}"
    );
}

/// Whether a fence in a doc comment opens Rust: it has no language word, or one of rustdoc's own.
fn is_example(text: &str) -> bool {
    let mut open = 0;
    for line in text.lines() {
        let line = line.trim_start();
        let Some(line) = line.strip_prefix("//!").or_else(|| line.strip_prefix("///")) else {
            open = 0;
            continue;
        };
        let line = line.trim();
        let ticks = line.bytes().take_while(|sign| *sign == b'`').count();
        let word = line[ticks..].split([',', ' ']).next().unwrap_or_default();
        match ticks >= 3 {
            true if open == 0 => {
                if ["", "rust", "no_run", "should_panic", "compile_fail"].contains(&word) {
                    return true;
                }
                open = ticks;
            }
            true if ticks >= open && line.len() == ticks => open = 0,
            _ => {}
        }
    }
    false
}

#[test]
fn examples_are_found_and_other_fences_are_not_taken_for_one() {
    for one in [
        "//! ```\n//! let a = 1;\n//! ```",
        "    /// ```no_run\n",
        "/// ```text\n/// ```\n/// ```rust,no_run",
    ] {
        assert!(is_example(one), "{one}");
    }
    for none in [
        "// ```",
        "/// ```text\n/// ```\nfn a() {}",
        "//! ````spec\n//! ```\n//! ```board\n//! ````",
        "\"```\"",
    ] {
        assert!(!is_example(none), "{none}");
    }
}

/// A name means one thing: whoever reads `Lease` need not ask which. Games are islands, and each has its `State` and its `Rules`.
#[test]
fn each_public_type_of_the_crates_has_a_name_of_its_own() {
    let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub union "];
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in folders(&root().join("crates")).iter().flat_map(|member| sources(&member.join("src"))) {
        let text = text(&path);
        let types = text
            .lines()
            .filter_map(|line| kinds.iter().find_map(|kind| line.trim_start().strip_prefix(kind)));
        for name in types.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()) {
            places.entry(name.to_owned()).or_default().insert(path.clone());
        }
    }
    places.retain(|name, places| !name.is_empty() && places.len() > 1);
    assert!(
        places.is_empty(),
        "public types of one name; one is to be renamed, or is no public type: {places:#?}"
    );
}
