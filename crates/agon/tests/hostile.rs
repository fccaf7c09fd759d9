//! The corpora of the fuzz targets, and every cut and flipped bit of a small replay.

use std::path::Path;

#[path = "../../../fuzz/src/hostile.rs"]
mod hostile;

fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).expect("the corpus").flatten();
    let found: Vec<_> = files
        .map(|file| {
            (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).expect("a file"))
        })
        .collect();
    assert!(found.len() >= 10, "the corpus of {target} is committed");
    found
}

/// Names the file that fails.
fn each(target: &str, body: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    for (name, bytes) in corpus(target) {
        let done = std::panic::catch_unwind(|| body(&bytes));
        assert!(done.is_ok(), "fuzz/corpus/{target}/{name} fails");
    }
}

#[test]
fn answers_of_bots() {
    each("answers", |bytes| hostile::answers(agon_games::ALL, bytes));
}

#[test]
fn replays() {
    each("replay", |bytes| hostile::replay(agon_games::ALL, bytes));
    let (_, smallest) = corpus("replay")
        .into_iter()
        .filter(|(name, _)| name.starts_with("good"))
        .min_by_key(|file| file.1.len())
        .expect("a good one");
    assert!(agon_replay::Replay::read(&smallest).is_ok());
    for at in 0..smallest.len() {
        hostile::replay(agon_games::ALL, &smallest[..at]);
        let mut altered = smallest.clone();
        altered[at] ^= 1 << (at % 8);
        hostile::replay(agon_games::ALL, &altered);
    }
}

#[test]
fn manifests() {
    each("manifest", hostile::manifest);
}

#[test]
fn messages_of_jungle_blitz() {
    each("jungle_register", |bytes| hostile::jungle_register(agon_games::ALL, bytes));
    each("jungle_command", |bytes| hostile::jungle_command(agon_games::ALL, bytes));
}

#[test]
fn replies_of_deerhunt() {
    each("deerhunt_reply", |bytes| hostile::deerhunt_reply(agon_games::ALL, bytes));
    each("deerhunt_frames", hostile::deerhunt_frames);
}
