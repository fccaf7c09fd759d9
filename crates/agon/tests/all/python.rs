//! The Python module over this program: the examples of its page, and its own tests.

use std::path::Path;
use std::process::Command;

use crate::common::{folder, good, is_installed};

#[test]
fn the_python_module_does_what_its_page_says() {
    if !is_installed("python3") {
        return;
    }
    let (root, place) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), folder());
    let python = |arguments: &[&str], file: &str| {
        let mut command = Command::new("python3");
        command
            .args(arguments)
            .arg(root.join(file))
            .current_dir(place.path())
            .env("PYTHONPATH", root.join("python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("AGON", env!("CARGO_BIN_EXE_agon"));
        good(command.output().expect("Python starts"))
    };
    python(&["-m", "doctest", "-o", "ELLIPSIS"], "docs/python.md");
    python(&["-X", "dev"], "python/test_agon_contest.py");
}
