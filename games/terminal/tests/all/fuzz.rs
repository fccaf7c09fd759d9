//! The corpora of the fuzz targets, as ordinary tests.

use std::path::Path;

use crate::hostile;

fn run(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("a corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a readable file");
        println!("{}", path.display());
        check(&bytes);
        count += 1;
    }
    assert!(count >= 5, "the corpus of {target} holds {count} files");
}

#[test]
fn configurations() {
    run("terminal_config", hostile::config);
}

#[test]
fn answers() {
    run("terminal_answer", hostile::answer);
}

#[test]
fn replays() {
    run("terminal_replay", hostile::replay);
}
