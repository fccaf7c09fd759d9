//! What `agon serve` and `agon work` say and do when they start.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Running, agon, command, err, folder, good, json, mode, out, site_of, wait_until, write};

/// A contest that nobody plays here, founded and ended again.
fn found(folder: &Path) {
    let mut serve = command(folder, &["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"]);
    let mut serve = Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut serve.0, Duration::from_secs(60));
}

/// What a server says while it starts, on its error stream.
fn said_at_start(folder: &Path, words: &[&str]) -> String {
    let (said, printed) = (folder.join("said"), folder.join("printed"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut serve = command(folder, &[&["serve", "cup", "-j", "0", "--port", "0"], words].concat());
    let serve = serve.stdout(file(&printed)).stderr(file(&said)).spawn();
    let mut serve = Running(serve.expect("agon starts"));
    let text = |path: &Path| std::fs::read_to_string(path).expect("text");
    // With --quiet it says nothing but what it has to note.
    wait_until("it runs", || {
        text(&printed).contains("Ctrl-C") || words.contains(&"--quiet") && !text(&said).is_empty()
    });
    interrupt(&mut serve);
    std::fs::read_to_string(said).expect("text")
}

/// Sends SIGINT until it has ended: one that comes before the handler is there ends it too.
fn interrupt(running: &mut Running) {
    let pid = running.0.id().to_string();
    let _ = Command::new("kill").args(["-INT", &pid]).status();
    wait_until("it ends", || running.0.try_wait().expect("our own child").is_some());
}

#[test]
fn a_server_of_a_paused_contest_says_so_and_how_it_continues() {
    let folder = folder();
    found(folder.path());
    let place = folder.path();
    assert!(!said_at_start(place, &[]).contains("paused"));
    good(agon(place, &["serve", "pause", "cup"]));
    let said = said_at_start(place, &["--quiet"]);
    assert!(said.contains("the contest is paused") && said.contains("`agon serve resume cup`"), "{said}");
    good(agon(place, &["serve", "resume", "cup"]));
    good(agon(place, &["serve", "drain", "cup"]));
    let said = said_at_start(place, &[]);
    assert!(said.contains("`agon serve resume cup`"), "{said}");
}

/// The file is written by the first start, and edited then.
#[test]
fn the_file_founds_a_contest_until_somebody_has_come() {
    let folder = folder();
    found(folder.path());
    let place = folder.path();
    let file = place.join("cup/contest.toml");
    let edit = |from: &str, to: &str| {
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(text.contains(from), "{text}");
        std::fs::write(&file, text.replacen(from, to, 1)).expect("written");
    };
    let set = |key: &str| {
        let told = json(&good(agon(place, &["serve", "set", "cup", "--json"])));
        let all = told["settings"].as_array().expect("a list");
        let one = all.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{told}"));
        one["value"].as_str().expect("text").to_owned()
    };
    edit("\n[site]", "\n[site]\nteam_size = 3");
    assert!(!said_at_start(place, &[]).contains("team_size"), "it holds now");
    assert_eq!(set("team_size"), "3");
    good(agon(place, &["serve", "fsck", "cup"]));
    // Whoever comes relies on what holds.
    write(place, "bot.py", "print('WAIT')\n");
    good(agon(place, &["serve", "add", "cup", "bot.py", "--team", "Ann"]));
    edit("team_size = 3", "team_size = 4");
    let said = said_at_start(place, &[]);
    assert!(said.contains("team_size"), "{said}");
    assert_eq!(set("team_size"), "3");
}

#[test]
fn a_server_that_plays_nothing_is_no_silent_machine() {
    let folder = folder();
    found(folder.path());
    let told = good(agon(folder.path(), &["serve", "workers", "cup"]));
    assert_eq!(out(&told), "Nobody has played here yet.\n");
    assert_eq!(
        json(&good(agon(folder.path(), &["serve", "workers", "cup", "--json"]))),
        serde_json::json!([])
    );
    // One with a token is listed before it has connected.
    good(agon(folder.path(), &["serve", "worker", "cup", "hall-3"]));
    assert!(out(&agon(folder.path(), &["serve", "workers", "cup"])).contains("not yet connected"));
}

#[test]
fn a_server_that_a_script_starts_in_the_background_ends_by_sigint() {
    let folder = folder();
    // What a shell without job control does for `agon serve &`.
    let script = "trap '' INT; exec \"$0\" serve cup --new cultist-wars -j 0 --port 0";
    let mut serve = Command::new("sh");
    serve.args(["-c", script, env!("CARGO_BIN_EXE_agon")]).current_dir(folder.path()).stdin(Stdio::null());
    let mut serve = Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("sh starts"));
    site_of(&mut serve.0, Duration::from_secs(60));
    interrupt(&mut serve);
    assert!(serve.0.wait().expect("ended").success());
}

#[test]
fn a_missing_key_of_a_bucket_is_named_before_anything_is_written_or_moved() {
    let folder = folder();
    let place = folder.path();
    // Nobody listens at port 9: a request anywhere would say so.
    let bucket = "s3://cup/autumn?endpoint=http://127.0.0.1:9&region=x";
    let plain = |words: &[&str]| {
        let mut command = command(place, words);
        for key in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_METADATA_ENDPOINT"] {
            command.env_remove(key);
        }
        command.output().expect("agon starts")
    };
    let new =
        plain(&["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0", "--objects", bucket]);
    assert_eq!(new.status.code(), Some(2), "{}", err(&new));
    assert!(err(&new).contains("there is no key for this bucket"), "{}", err(&new));
    assert!(!place.join("cup").exists(), "nothing was written");
    found(place);
    write(place, "cup/objects.key", "AWS_ACCESS_KEY_ID=key\n");
    mode(&place.join("cup/objects.key"), 0o600);
    let half = plain(&["serve", "move", "cup", "--objects", bucket]);
    assert_eq!(half.status.code(), Some(2), "{}", err(&half));
    assert!(err(&half).contains("AWS_SECRET_ACCESS_KEY is missing"), "{}", err(&half));
    write(place, "cup/objects.key", "");
    write(place, "cup/objects.url", bucket);
    for words in [
        &["serve", "cup", "-j", "0", "--port", "0"][..],
        &["serve", "move", "cup", "--to", "postgres://127.0.0.1:9/cup"],
        &["serve", "fsck", "cup"],
        &["serve", "backup", "cup", "cup.backup"],
    ] {
        let refused = plain(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains("there is no key for this bucket"), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains("cup/objects.key"), "{words:?}: {}", err(&refused));
    }
    assert!(place.join("cup/agon.db").exists() && !place.join("cup/agon.db.moved").exists());
}
