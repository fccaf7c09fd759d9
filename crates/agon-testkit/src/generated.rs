//! TypeScript types generated from Rust types, so that the web app reads what the program writes.

use std::fs;
use std::path::Path;

/// Declarations of types that derive `ts_rs::TS`, in this order, for [`check`].
#[macro_export]
macro_rules! generated {
    ($($type:ty),* $(,)?) => {{
        // No number exceeds what JavaScript can count to; seeds are strings.
        let config = ts_rs::Config::new().with_large_int("number");
        [$((<$type as ts_rs::TS>::docs(), <$type as ts_rs::TS>::decl(&config))),*]
            .map(|(docs, declaration)| format!("{}export {declaration}\n", docs.unwrap_or_default()))
    }};
}

/// Compares a file of the project with these declarations, which are generated from the types of
/// `source`.
///
/// # Panics
/// When the file does not match the types; `UPDATE_TYPES=1` regenerates it.
pub fn check(file: &str, source: &str, declarations: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = format!(
        "// Made from the types of {source} by its test; UPDATE_TYPES=1 makes it anew.\n\n{}",
        declarations.iter().map(|declaration| tidy(declaration)).collect::<Vec<_>>().join("\n")
    );
    if std::env::var_os("UPDATE_TYPES").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(&path, &text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "{file} is not as the types of {source} are: look at the change, then run this test with UPDATE_TYPES=1"
    );
}

/// A declaration with each of its comments on one line, and its fields indented.
pub fn tidy(declaration: &str) -> String {
    let mut out = String::new();
    let mut lines = declaration.lines().map(str::trim).peekable();
    let mut indent = "";
    while let Some(line) = lines.next() {
        let comment = (line == "/**").then(|| {
            let words: Vec<&str> = lines.by_ref().take_while(|line| *line != "*/").collect();
            format!(
                "/** {} */",
                words.iter().map(|line| line.trim_start_matches(['*', ' '])).collect::<Vec<_>>().join(" ")
            )
        });
        let line = comment.as_deref().unwrap_or(line);
        match line.strip_suffix(" };") {
            Some(last) => {
                out.push_str(&format!("{indent}{last}\n}};\n"));
                indent = "";
            }
            None => out.push_str(&format!("{indent}{line}\n")),
        }
        if line.ends_with('{') || line.contains(" = { ") {
            indent = "  ";
        }
    }
    out
}
