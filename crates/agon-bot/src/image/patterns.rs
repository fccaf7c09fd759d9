//! Patterns of names, by which lists say what an image holds.

use std::fs;
use std::path::{Path, PathBuf};

/// `x86_64-linux-gnu`.
pub fn arch() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}

/// The paths below `folder` that fit a pattern.
pub fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let arch = arch();
    let pattern = pattern.replace("ARCH", &arch).replace("PROCESSOR", std::env::consts::ARCH);
    let mut found = vec![folder.to_owned()];
    for part in pattern.split('/') {
        found = found
            .into_iter()
            .flat_map(|folder| {
                if !part.contains('*') {
                    let one = folder.join(part);
                    return if one.symlink_metadata().is_ok() { vec![one] } else { Vec::new() };
                }
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                let names = entries.filter(|entry| fits(&entry.file_name().to_string_lossy(), part));
                names.map(|entry| entry.path()).collect()
            })
            .collect();
    }
    found.sort();
    found
}

/// Whether a name fits a pattern, in which `*` is anything and `?` one letter.
pub fn fits(name: &str, pattern: &str) -> bool {
    match (name.chars().next(), pattern.chars().next()) {
        (_, Some('*')) => {
            let rest = &pattern[1..];
            rest.is_empty() || name.char_indices().any(|(at, _)| fits(&name[at..], rest)) || fits("", rest)
        }
        (Some(letter), Some(wanted)) if wanted == '?' || letter == wanted => {
            fits(&name[letter.len_utf8()..], &pattern[wanted.len_utf8()..])
        }
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        for (name, pattern) in
            [("a.so", "*.so"), ("crt1.o", "*crt*.o"), ("x.opt-1.pyc", "*.opt-?.pyc"), ("C.utf8", "C.*")]
        {
            assert!(fits(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [("a.so.1", "*.so"), ("lib", "libc*"), ("xman", "man")] {
            assert!(!fits(name, pattern), "{name} {pattern}");
        }
    }
}
