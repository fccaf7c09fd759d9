//! What the tests of the command line share.
#![allow(dead_code, reason = "no file of tests needs all of it")]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs agon in `folder`.
pub fn agon(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("agon starts")
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// agon in `folder`, not yet run.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(std::process::Stdio::null());
    command
}
