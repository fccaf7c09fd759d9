//! Honest mistakes: each upload fails, and its author reads what to do.

use crate::common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use agon_bot::{Confined, Run};
use agon_server::{ContestServer, Inside, UploadOutcome};
use agon_store::acts::Added;
use agon_store::{Cause, Stage, Time, Whose};
use agon_worker::{PlaySettings, VersionShelf};

const GAME: &str = "cultist-wars";

/// Files with their modes, as a tar.
fn tar(files: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        builder.append_data(&mut header, name, *content).expect("a vector takes all");
    }
    builder.into_inner().expect("a vector takes all")
}

/// A class file of a Java version that does not exist yet, as far as it is read.
fn class() -> Vec<u8> {
    [&b"\xca\xfe\xba\xbe\x00\x00\x00\x63"[..], &[0; 64]].concat()
}

/// Reads to the end of its input, so that it stays alive.
const WAITS: &str = "import sys\nfor line in sys.stdin:\n    pass\n";

struct Case {
    mistake: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    stage: Stage,
    what: &'static str,
    fix: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |mistake, files: &[(&str, &[u8], u32)], stage, what, fix| Case {
        mistake,
        file: "bot.tar",
        bytes: tar(files),
        stage,
        what,
        fix,
    };
    let noise: Vec<u8> = (0..21 << 20).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    vec![
        case(
            "wrong game",
            &[("agon.toml", b"run = \"sh run.sh\"\n[defaults]\ngame = \"terminal\"\n", 0o644)],
            Stage::Unpacking,
            "plays `terminal`; this contest plays `cultist-wars`",
            "[defaults] game = \"cultist-wars\"",
        ),
        case(
            "nested folder",
            &[("mybot/bot.py", WAITS.as_bytes(), 0o644), ("mybot/plan.py", b"", 0o644)],
            Stage::Unpacking,
            "found one folder, `mybot/`",
            "Zip what is inside `mybot`",
        ),
        case(
            "missing flush",
            &[(
                "agon.toml",
                b"run = [\"python3\", \"-E\", \"bot.py\"]\n",
                0o644,
            ), (
                "bot.py",
                b"import sys\nwhile True:\n    line = sys.stdin.readline()\n    if not line: break\n    print('WAIT')\n",
                0o644,
            )],
            Stage::Match,
            "check that output is flushed after each answer",
            "flush after every answer",
        ),
        case(
            "package missing",
            &[("bot.py", b"import numpy_of_nobody\n", 0o644)],
            Stage::Match,
            "No module named 'numpy_of_nobody'",
            "include it in your bot's folder, or ask the organiser",
        ),
        case(
            "Windows line ends",
            &[
                ("agon.toml", b"run = \"./run.sh\"\n", 0o644),
                ("run.sh", b"#!/bin/sh\r\nwhile read line; do echo WAIT; done\r\n", 0o755),
            ],
            Stage::Match,
            "Windows line ending",
            "sed -i 's/\\r$//'",
        ),
        Case {
            mistake: "20 MB of .git inside",
            file: "bot.tar",
            bytes: tar(&[("bot.py", b"", 0o644), (".git/objects/pack/1.pack", &noise, 0o444)]),
            stage: Stage::Unpacking,
            what: "at most 20 MiB are accepted",
            fix: "Leave out .git",
        },
        case(
            "Java too new",
            &[
                ("agon.toml", b"run = \"java Player\"\n", 0o644),
                ("Player.class", &class(), 0o644),
            ],
            Stage::Match,
            "more recent version of the Java Runtime",
            "compile it with --release",
        ),
        case(
            "no exec bit",
            &[
                ("agon.toml", b"run = \"./bot\"\n", 0o644),
                ("bot", b"#!/bin/sh\nwhile read line; do echo WAIT; done\n", 0o644),
            ],
            Stage::Match,
            "it may not be executed",
            "chmod +x",
        ),
        case(
            "prompt on standard output",
            &[(
                "bot.py",
                b"import sys\nprint('Enter your move: ', flush=True)\nfor line in sys.stdin: print('WAIT', flush=True)\n",
                0o644,
            )],
            Stage::Match,
            "malformed",
            "print the rest to standard error",
        ),
        case(
            "missing interpreter",
            &[
                ("agon.toml", b"run = \"./bot\"\n", 0o644),
                ("bot", b"#!/usr/bin/lua9\nprint('WAIT')\n", 0o755),
            ],
            Stage::Match,
            "its interpreter `/usr/bin/lua9` is not installed",
            "it is not installed here",
        ),
        case(
            "wrong dialect",
            &[
                ("agon.toml", b"run = \"python3 bot.py\"\ndialect = \"websocket\"\n", 0o644),
                ("bot.py", WAITS.as_bytes(), 0o644),
            ],
            Stage::Starting,
            "websocket",
            "lines",
        ),
        case("empty archive", &[], Stage::Unpacking, "The archive holds no file", "Zip the bot's own files"),
    ]
}

/// What becomes of each team's upload, at once or after its check; the clock runs by itself.
fn causes(folder: &Path, cases: &[Case]) -> Vec<(&'static str, Cause)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let millis = AtomicI64::new(1_000_000);
    let clock = || Time(millis.fetch_add(7, Ordering::Relaxed));
    let server = runtime
        .block_on(ContestServer::open(folder, &common::setting_of(GAME, 1, &["idle"], 2), clock()))
        .expect("opens");
    let worker = runtime.block_on(server.meet("inside", "not confined", clock())).expect("met");
    let mut causes = Vec::new();
    for case in cases {
        let file = (case.mistake, case.file, &case.bytes[..]);
        match runtime.block_on(common::upload(&server, file, false, clock())).expect("answered") {
            UploadOutcome::Added(Added::New(_, 1)) => {}
            UploadOutcome::Refused(cause) => causes.push((case.mistake, cause)),
            other => panic!("{}: {other:?}", case.mistake),
        }
    }
    let versions = VersionShelf::new(folder.join("work"), Confined::No, GAME)
        .under(Run { for_others: true, ..Run::default() });
    let inside = Inside::new(&server, runtime.handle().clone(), worker, &clock);
    let settings = PlaySettings {
        jobs: 1,
        run: "test".to_owned(),
        beat: Duration::from_secs(20),
        idle: Duration::from_millis(5),
        aside: false,
    };
    let stop = AtomicBool::new(false);
    let all = std::thread::scope(|scope| {
        scope.spawn(|| agon_worker::run(&inside, server.table(), &versions, &settings, &stop));
        let end = std::time::Instant::now() + Duration::from_secs(120);
        let all = loop {
            runtime.block_on(server.tick(clock())).expect("done");
            let all = runtime.block_on(agon_server::status::status(folder)).expect("looked at").versions;
            let waits = all.iter().any(|version| version.state.is_waiting());
            if !waits || std::time::Instant::now() > end {
                break all;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        stop.store(true, Ordering::Relaxed);
        all
    });
    let (_, found) = runtime.block_on(agon_server::status::fsck(folder, true)).expect("looked through");
    assert_eq!(found, Vec::<String>::new());
    for version in all {
        let case = cases.iter().find(|case| case.mistake == version.entrant);
        causes.extend(case.and_then(|case| Some((case.mistake, version.cause?))));
    }
    causes
}

#[test]
fn twelve_honest_mistakes_are_each_answered_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cases = cases();
    assert_eq!(cases.len(), 12);
    if !agon_bot::tools::is_installed("java") {
        println!("skipped: there is no java here");
        cases.retain(|case| case.mistake != "Java too new");
    }
    let causes = causes(folder.path(), &cases);
    let mut wrong = Vec::new();
    for case in cases {
        let Some((_, cause)) = causes.iter().find(|(mistake, _)| *mistake == case.mistake) else {
            wrong.push(format!("{}: nothing is said", case.mistake));
            continue;
        };
        let told = cause.to_string();
        let is = cause.whose == Whose::Yours
            && cause.stage == case.stage
            && cause.what.contains(case.what)
            && told.contains(case.fix)
            && !told.contains(&*folder.path().to_string_lossy());
        if !is {
            wrong.push(format!("{}: {cause:?}", case.mistake));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
