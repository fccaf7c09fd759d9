//! A game is one folder and one line: Nim from the guide becomes a sixth game in its own workspace, and every command
//! knows it without any other change.

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A bot that always takes one match.
const BOT: &str = "#!/bin/sh\nwhile read -r left most; do echo 1; done\n";

/// A workspace linked to this one except for its list of games; it is kept, so that a second run builds little.
fn workspace() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sixth-game");
    let _ = fs::remove_dir_all(&place);
    for folder in ["crates", "games"] {
        fs::create_dir_all(place.join(folder)).expect("a folder");
        for entry in fs::read_dir(project.join(folder)).expect("the folder").flatten() {
            if entry.file_name() != "agon-games" {
                symlink(entry.path(), place.join(folder).join(entry.file_name())).expect("a link");
            }
        }
    }
    symlink(project.join("docs/examples/nim"), place.join("games/nim")).expect("a link");
    for file in ["crates/agon-games/Cargo.toml", "crates/agon-games/src/lib.rs", "Cargo.lock", "Cargo.toml"] {
        let copy = place.join(file);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(project.join(file), copy).expect("a copy");
    }
    edit(
        &place.join("Cargo.toml"),
        &[
            (r#", "docs/examples/nim", "xtask""#, ""),
            ("\nterminal = { path", "\nnim = { path = \"games/nim\" }\nterminal = { path"),
        ],
    );
    edit(
        &place.join("crates/agon-games/Cargo.toml"),
        &[("\nterminal.workspace", "\nnim.workspace = true\nterminal.workspace")],
    );
    edit(
        &place.join("crates/agon-games/src/lib.rs"),
        &[("    &Face::<ostibot::", "    &Face::<nim::Nim>::new(),\n    &Face::<ostibot::")],
    );
    place
}

fn edit(file: &Path, changes: &[(&str, &str)]) {
    let mut text = fs::read_to_string(file).expect("a file");
    for (from, to) in changes {
        assert!(text.contains(from), "{}: {from}", file.display());
        text = text.replacen(from, to, 1);
    }
    fs::write(file, text).expect("a file");
}

/// Puts the program of this project, which other tests run, back in its place at the end.
struct Ours(PathBuf, PathBuf);

impl Ours {
    fn put_aside(workspace: &Path) -> Self {
        let (place, aside) = (PathBuf::from(env!("CARGO_BIN_EXE_agon")), workspace.join("ours"));
        fs::rename(&place, &aside).expect("the program is moved");
        Self(place, aside)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = fs::rename(&self.1, &self.0);
    }
}

/// Builds the program of `workspace`. Its dependencies were built by these tests already, in the same folder.
fn build(workspace: &Path) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of builds");
    let _ours = Ours::put_aside(workspace);
    let mut command = Command::new(env!("CARGO"));
    // With the features of the whole workspace, or half of it would be rebuilt. The test is not run.
    command.args(["test", "--quiet", "--offline", "--workspace", "--no-run", "--test", "sixth_game"]);
    command.args(["--config", "profile.test.opt-level=0", "--message-format", "json"]);
    command.env("CARGO_TARGET_DIR", target).env("AGON_WITHOUT_WEB", "1").current_dir(workspace);
    // The variables that cargo sets for tests: build scripts look at them, and would run again.
    let own = std::env::vars_os().map(|(name, _)| name);
    let own = own.filter(|name| {
        name.as_bytes().starts_with(b"CARGO_PKG") || name.as_bytes().starts_with(b"CARGO_MANIFEST")
    });
    own.for_each(|name| {
        command.env_remove(name);
    });
    let built = command.stderr(Stdio::inherit()).output().expect("cargo");
    assert!(built.status.success());
    let messages = String::from_utf8_lossy(&built.stdout).into_owned();
    let program = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == "agon" && message["target"]["kind"][0] == "bin";
        Some(PathBuf::from(message["executable"].as_str().filter(|_| is_it)?))
    });
    let kept = workspace.join("agon");
    fs::copy(program.expect("a program"), &kept).expect("a copy");
    kept
}

#[test]
fn a_game_is_a_folder_and_a_line() {
    let workspace = workspace();
    let program = build(&workspace);
    let place = common::folder();
    let agon = |arguments: &[&str]| -> Output {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(place.path()).env("NO_COLOR", "1").stdin(Stdio::null());
        command.output().expect("agon starts")
    };
    let good = |arguments: &[&str]| -> String {
        let output = agon(arguments);
        assert!(output.status.success(), "{arguments:?}: {}{}", common::out(&output), common::err(&output));
        common::out(&output)
    };
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&good(arguments)).expect("one document")
    };
    fs::write(place.path().join("bot.sh"), BOT).expect("a bot");
    common::mode(&place.path().join("bot.sh"), 0o755);

    // It is listed, and explains itself.
    assert!(good(&["games"]).contains("nim  two players take matches from a heap"));
    assert!(good(&["rules", "nim"]).contains("**NM-TAKE-1**"));
    assert!(good(&["explain", "NM-TAKE-2"]).contains("games/nim/src/lib.rs"));
    assert!(good(&["docs", "nim"]).contains("Whoever takes the last one has won"));
    assert!(good(&["--help"]).contains("Usage"));

    // It is played, recorded, verified, shown and watched.
    let played = json(&[
        "play",
        "nim",
        "./bot.sh",
        "builtin:perfect",
        "--seed",
        "1",
        "--json",
        "--replay",
        "one.replay",
    ]);
    assert_eq!((&played["seats"][0]["score"], &played["seats"][1]["score"]), (&0.0.into(), &1.0.into()));
    assert_eq!(played["seats"][0]["faults"], serde_json::json!([]));
    let set = json(&["play", "nim", "builtin:random", "builtin:perfect", "--set", "heap=30", "--json"]);
    assert!(set["turns"].as_u64() >= Some(10), "{set}");
    assert!(good(&["replay", "verify", "one.replay"]).contains("verified"));
    assert!(!good(&["replay", "show", "one.replay", "--turn", "3"]).is_empty());
    assert!(good(&["replay", "export", "one.replay", "--format", "json"]).contains("\"steps\""));
    watched(&program, place.path());

    // Bots are checked, compared and rated.
    let checked = json(&["check", "nim", "./bot.sh", "--json"]);
    assert_eq!(checked["failed"], 0, "{checked:#}");
    let series = good(&[
        "gauntlet",
        "nim",
        "./bot.sh",
        "builtin:random",
        "-n",
        "10",
        "--json",
        "--journal",
        "g.jsonl",
    ]);
    let result: serde_json::Value =
        serde_json::from_str(series.lines().last().unwrap_or_default()).expect("the result in the last line");
    assert_eq!(result["games"], 10);
    good(&[
        "tournament",
        "nim",
        "./bot.sh",
        "builtin:random",
        "builtin:perfect",
        "-n",
        "12",
        "--journal",
        "t.jsonl",
    ]);
    assert!(good(&["rate", "t.jsonl"]).contains("perfect"));
}

/// The viewer's server produces the steps of its replay.
fn watched(program: &Path, place: &Path) {
    let token = "0123456789abcdef";
    fs::write(place.join("token"), token).expect("a token");
    common::mode(&place.join("token"), 0o600);
    let mut server = Command::new(program)
        .args(["watch", "one.replay", "--no-open", "--token-file", "token"])
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("agon starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let address =
        line.trim().strip_prefix("http://").expect("an address").split('/').next().unwrap_or_default();
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let asked =
        [b"{\"open\":{\"private\":true}}\n", &std::fs::read(place.join("one.replay")).expect("a replay")[..]]
            .concat();
    write!(
        stream,
        "POST /api/ask HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nX-Agon-Key: {token}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        asked.len()
    )
    .expect("a request");
    stream.write_all(&asked).expect("a question");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let _ = server.kill();
    let _ = server.wait();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"game\":\"nim\""), "{answer}");
}
