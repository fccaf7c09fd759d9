//! The module computes the same as this machine, to the byte: recorded matches of the originals, and ten matches of each
//! game. The module exists if it was asked for: `AGON_WASM=1 cargo test -p agon-wasm`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{engines, played, texts};
use agon_testkit::golden;
use agon_view::record;
use sha2::{Digest as _, Sha256};

#[test]
fn the_module_agrees_with_this_machine() {
    if !agon_module::is_built() {
        println!("SKIPPED: the engines for pages ({})", agon_module::MISSING);
        return;
    }
    if Command::new("node").arg("--version").output().is_err() {
        println!("SKIPPED: the engines for pages (Node is not installed)");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut replays = Vec::new();
    for game in agon_games::all() {
        replays.extend((0..10).map(|seed| played(game.info().name, seed)));
        for golden in [game.info().name.to_owned(), format!("{}-rare", game.info().name)] {
            for file in golden::folder(&golden)
                .map(|folder| golden::files(&folder).expect("files"))
                .into_iter()
                .flatten()
            {
                let record = golden::read(&file).expect("a golden record");
                // The records of most originals are not files that they wrote themselves.
                if let Ok(Some(found)) = record::import(&record) {
                    replays.push(found.bytes);
                }
            }
        }
    }
    println!("{} matches", replays.len());
    let mut expected = String::new();
    for (number, replay) in replays.iter().enumerate() {
        fs::write(folder.path().join(format!("{number}.replay")), replay).expect("a file");
        expected.push_str(&format!("{}\n", digest(replay)));
    }
    fs::write(folder.path().join("agon.wasm.gz"), agon_module::GZIP).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agree.mjs");
    let said = Command::new("node").arg(script).arg(folder.path()).output().expect("Node runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let said = String::from_utf8_lossy(&said.stdout);
    for (number, (ours, modules)) in expected.lines().zip(said.lines()).enumerate() {
        assert_eq!(ours, modules, "match {number}");
    }
    assert_eq!(expected.lines().count(), said.lines().count());
}

/// A digest of everything that can be asked about a replay.
fn digest(replay: &[u8]) -> String {
    let mut hash = Sha256::new();
    for text in texts(&engines(), replay, true).expect("a replay of ours") {
        hash.update(text);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
