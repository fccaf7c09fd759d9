//! The licences of everything in the program: crates, and what npm packages put into its pages.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// Licences that only require attribution. Each package must be under one of these.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Our own texts, which come with every form of the program.
pub const OWN: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE", "NOTICE"];

/// npm packages with code in the pages, including their dependencies.
const IN_PAGES: &[&str] = &[
    "@codemirror/autocomplete",
    "@codemirror/commands",
    "@codemirror/lang-javascript",
    "@codemirror/language",
    "@codemirror/lint",
    "@codemirror/state",
    "@codemirror/streamparser",
    "@codemirror/view",
    "@lezer/common",
    "@lezer/highlight",
    "@lezer/javascript",
    "@lezer/lr",
    "@marijn/find-cluster-break",
    "clsx",
    "crelt",
    "esm-env",
    "gifenc",
    "style-mod",
    "svelte",
    "w3c-keyname",
];

/// A package and its declared licence.
struct Package {
    name: String,
    version: String,
    licence: String,
    /// As the package names them, if it does.
    authors: Vec<String>,
    folder: PathBuf,
}

/// Not packages but part of the program all the same: what the compilers link in.
const LINKED: &str = "
The program also contains the standard library of Rust, under MIT or Apache-2.0; the runtime library of GCC, under the GPL 3
with the GCC Runtime Library Exception, which allows it in programs under any licence; and the GNU C Library
(https://sourceware.org/glibc), which is under the LGPL 2.1 or later. Whoever wants another version of that library in it can
link it anew: the whole source of Agon is public, and `cargo xtask dist` is the command.
";
/// Where Debian and its derivatives keep that licence.
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";

/// One text: every package with its licence, then each licence text once with its packages.
///
/// # Errors
/// When a package has no licence, or one that requires more than attribution.
pub fn text(root: &Path, triple: &str) -> Result<String> {
    let mut packages = crates(root, triple)?;
    packages.extend(npm(root)?);
    let mut out = "Agon is built with these packages. Their licences follow.\n\n".to_owned();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in &packages {
        ensure!(
            is_allowed(&package.licence),
            "{} {} is under `{}`, which is none of {ALLOWED:?}",
            package.name,
            package.version,
            package.licence
        );
        let name = format!("{} {}", package.name, package.version);
        out += &format!("{name}: {}\n", package.licence);
        let mut own = files(&package.folder)?;
        if own.is_empty() {
            own.push(standard(root, package)?);
        }
        for text in own {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    out += LINKED;
    if let Ok(text) = std::fs::read_to_string(LGPL) {
        texts.entry(text).or_default().insert("the GNU C Library".to_owned());
    }
    for (text, names) in &texts {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        out += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(out)
}

/// `A OR B` needs one, `A AND B` both; the old `/` is an OR.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let is_one = |one: &str| ALLOWED.contains(&one.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
    // Without brackets AND binds closer; with them this requires more than necessary.
    plain.split(" OR ").any(|all| all.split(" AND ").all(is_one))
}

/// The texts of a package: `LICENSE`, `LICENCE-MIT`, `COPYING`, `NOTICE` and the like; those in a folder of licences, and those of foreign
/// sources that it brings in a folder of theirs.
fn files(folder: &Path) -> Result<Vec<String>> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let within = |folder: &Path| -> Result<Vec<PathBuf>> {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        Ok(paths)
    };
    let starts = |path: &Path, words: &[&str]| words.iter().any(|word| name(path).starts_with(word));
    let mut found = Vec::new();
    for path in within(folder)? {
        if path.is_file() && starts(&path, &["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]) {
            found.push(path);
        } else if path.is_dir() {
            let all = name(&path) == "LICENSES";
            found.extend(
                within(&path)?
                    .into_iter()
                    .filter(|below| below.is_file() && (all || starts(below, &["LICENSE"]))),
            );
        }
    }
    found.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).replace('\r', ""))).collect()
}

/// The text for a package that brings none and may be had under the MIT licence: its terms, and whom the package names.
fn standard(root: &Path, package: &Package) -> Result<String> {
    let name = &package.name;
    ensure!(package.licence.contains("MIT"), "{name} brings no text of its licence, {}", package.licence);
    let ours = fs::read_to_string(root.join("LICENSE-MIT"))?;
    let terms = ours.find("Permission is hereby granted").context("LICENSE-MIT has the terms")?;
    let whose = match package.authors.as_slice() {
        [] => format!("the authors of {name}"),
        authors => authors.join(", "),
    };
    Ok(format!("MIT License\n\nCopyright (c) {whose}\n\n{}", &ours[terms..]))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Crate {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    manifest_path: PathBuf,
    /// None for our own.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// The crates that `agon` is made of; those that only build or test it are left out.
fn crates(root: &Path, triple: &str) -> Result<Vec<Package>> {
    let mut command = crate::cargo();
    command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", triple]);
    command.args(["--features", "agon/scale,agon/tls"]);
    let output = command.current_dir(root).output().context("running cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let nodes: HashMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let agon = metadata.packages.iter().find(|one| one.name == "agon" && one.source.is_none());
    let mut open = vec![agon.context("the program is a package")?.id.as_str()];
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            let normal = |one: &&Dependency| one.dep_kinds.iter().any(|kind| kind.kind.is_none());
            open.extend(nodes[id].deps.iter().filter(normal).map(|one| one.pkg.as_str()));
        }
    }
    let mut packages = Vec::new();
    for one in metadata.packages.iter().filter(|one| one.source.is_some() && found.contains(one.id.as_str()))
    {
        packages.push(Package {
            name: one.name.clone(),
            version: one.version.clone(),
            licence: one.license.clone().with_context(|| format!("{} has no licence", one.name))?,
            authors: one.authors.clone(),
            folder: one.manifest_path.parent().context("a package has a folder")?.to_owned(),
        });
    }
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(packages)
}

#[derive(Deserialize)]
struct NpmPackage {
    name: String,
    version: String,
    license: String,
}

fn npm(root: &Path) -> Result<Vec<Package>> {
    let package = |name: &&str| {
        let folder = root.join("web/node_modules").join(name);
        let text =
            fs::read(folder.join("package.json")).with_context(|| format!("the npm package {name}"))?;
        let NpmPackage { name, version, license } = serde_json::from_slice(&text)?;
        Ok(Package { name: format!("{name} (npm)"), version, licence: license, authors: Vec::new(), folder })
    };
    IN_PAGES.iter().map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_may_be_shipped_and_brings_its_licence() {
        let root = crate::root();
        for triple in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
            for package in crates(&root, triple).expect("cargo describes the packages") {
                assert!(is_allowed(&package.licence), "{} is under {}", package.name, package.licence);
            }
            let text = text(&root, triple).expect("each has a text");
            assert_eq!(text, super::text(&root, triple).expect("again"), "always the same");
            // One that brings no text, one whose foreign sources bring theirs, and one that has them in a folder.
            for part in ["\nMIT License\n\nCopyright (c) Mees Delzenne", "Fabrice Bellard", "crc-catalog 2"] {
                assert!(text.contains(part), "{part}");
            }
        }
        assert!(is_allowed("MIT/Apache-2.0") && is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(is_allowed("GPL-3.0 OR MIT") && !is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-2.0"));
    }

    #[test]
    fn what_pages_import_is_named() {
        let root = crate::root();
        let mut open = vec![root.join("web/src")];
        open.extend(
            fs::read_dir(root.join("games")).expect("games").flatten().map(|game| game.path().join("viewer")),
        );
        let (mut strange, mut read) = (BTreeSet::new(), 0);
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path()));
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.contains(".test.") || ![".ts", ".svelte"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            read += 1;
            for import in fs::read_to_string(&path).expect("a text").split(" from '").skip(1) {
                let from = import.split('\'').next().unwrap_or_default();
                // `@scope/name`, or `name`.
                let parts = if from.starts_with('@') { 2 } else { 1 };
                let end = from.match_indices('/').nth(parts - 1).map_or(from.len(), |(at, _)| at);
                let package = &from[..end];
                if !from.starts_with('.') && package != "agon-viewer" && !IN_PAGES.contains(&package) {
                    strange.insert(from.to_owned());
                }
            }
        }
        assert!(read > 20, "only {read} files of pages were found");
        assert!(strange.is_empty(), "IN_PAGES does not name {strange:?}");
    }
}
