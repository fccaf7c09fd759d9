//! Every fuzz target with every file of its corpus, and every cut and flipped bit of a small replay.

#![allow(unused_attributes, reason = "targets are programs without `main`; here they are modules")]
#![allow(clippy::duplicate_mod, reason = "each program of Terminal brings the same file")]

use std::path::{Path, PathBuf};

/// Turns a target into a function here, where libFuzzer would make a program of it.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:expr) => {
        pub fn run($bytes: &[u8]) {
            $body
        }
    };
}

// The targets call it `agon_fuzz::hostile`, which is this file.
#[path = "../../../../fuzz/src/hostile.rs"]
mod targets;
pub use targets::*;

#[path = "../../../../fuzz/fuzz_targets/answers.rs"]
mod answers;
#[path = "../../../../fuzz/fuzz_targets/bmp.rs"]
mod bmp;
#[path = "../../../../fuzz/fuzz_targets/confinement.rs"]
mod confinement;
#[path = "../../../../fuzz/fuzz_targets/contest.rs"]
mod contest;
#[path = "../../../../fuzz/fuzz_targets/deerhunt_frames.rs"]
mod deerhunt_frames;
#[path = "../../../../fuzz/fuzz_targets/deerhunt_reply.rs"]
mod deerhunt_reply;
#[path = "../../../../fuzz/fuzz_targets/journal.rs"]
mod journal;
#[path = "../../../../fuzz/fuzz_targets/jungle_command.rs"]
mod jungle_command;
#[path = "../../../../fuzz/fuzz_targets/jungle_register.rs"]
mod jungle_register;
#[path = "../../../../fuzz/fuzz_targets/manifest.rs"]
mod manifest;
#[path = "../../../../fuzz/fuzz_targets/maps.rs"]
mod maps;
#[path = "../../../../fuzz/fuzz_targets/module.rs"]
mod module;
#[path = "../../../../fuzz/fuzz_targets/replay.rs"]
mod replay;
#[path = "../../../../fuzz/fuzz_targets/terminal_answer.rs"]
mod terminal_answer;
#[path = "../../../../fuzz/fuzz_targets/terminal_config.rs"]
mod terminal_config;
#[path = "../../../../fuzz/fuzz_targets/terminal_replay.rs"]
mod terminal_replay;

/// Runs a target on an input.
type Run = fn(&[u8]);

/// All targets.
const TARGETS: &[(&str, Run)] = &[
    ("answers", answers::run),
    ("bmp", bmp::run),
    ("confinement", confinement::run),
    ("contest", contest::run),
    ("deerhunt_frames", deerhunt_frames::run),
    ("deerhunt_reply", deerhunt_reply::run),
    ("journal", journal::run),
    ("jungle_command", jungle_command::run),
    ("jungle_register", jungle_register::run),
    ("manifest", manifest::run),
    ("maps", maps::run),
    ("module", module::run),
    ("replay", replay::run),
    ("terminal_answer", terminal_answer::run),
    ("terminal_config", terminal_config::run),
    ("terminal_replay", terminal_replay::run),
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(fuzz().join("corpus").join(target)).expect("the corpus").flatten();
    let found: Vec<_> = files
        .map(|file| {
            (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).expect("a file"))
        })
        .collect();
    assert!(found.len() >= 9, "the corpus of {target} is committed");
    found
}

#[test]
fn every_target_holds_with_its_corpus() {
    for (target, run) in TARGETS {
        for (name, bytes) in corpus(target) {
            let done = std::panic::catch_unwind(|| run(&bytes));
            assert!(done.is_ok(), "fuzz/corpus/{target}/{name} fails");
        }
    }
}

#[test]
fn every_target_is_here_and_can_be_run() {
    let folder = std::fs::read_dir(fuzz().join("fuzz_targets")).expect("a folder").flatten();
    let mut files: Vec<String> =
        folder.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned())).collect();
    files.sort();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.0).collect();
    assert_eq!(files, names);
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    let account = std::fs::read_to_string(fuzz().join("README.md")).expect("a table");
    for name in names {
        let bin = format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&bin), "fuzz/Cargo.toml builds {name}");
        assert!(account.contains(&format!("\n| `{name}` | ")), "fuzz/README.md counts {name}");
    }
}

#[test]
fn every_cut_and_flipped_bit_of_a_replay() {
    let (_, smallest) = corpus("replay")
        .into_iter()
        .filter(|(name, _)| name.starts_with("good"))
        .min_by_key(|file| file.1.len())
        .expect("a good one");
    assert!(agon_replay::Replay::read(&smallest).is_ok());
    for at in 0..smallest.len() {
        replay::run(&smallest[..at]);
        let mut altered = smallest.clone();
        altered[at] ^= 1 << (at % 8);
        replay::run(&altered);
    }
}
