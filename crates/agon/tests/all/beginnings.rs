//! Bots that cannot start or never answer: each gets one sentence that says why and what to do.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{WAITER, agon, err, folder, out, played_well};

/// The files in the folder, the name of the bot, and the expected message.
struct Case {
    files: &'static [(&'static str, &'static str)],
    /// Files that get an exec bit.
    runs: &'static [&'static str],
    bot: &'static str,
    /// All of them appear in the message.
    told: &'static [&'static str],
    /// What must be installed to try it.
    needs: &'static str,
}

const fn case(
    files: &'static [(&'static str, &'static str)],
    bot: &'static str,
    told: &'static [&'static str],
) -> Case {
    Case { files, runs: &[], bot, told, needs: "sh" }
}

const fn with(needs: &'static str, case: Case) -> Case {
    Case { needs, ..case }
}

const fn executable(runs: &'static [&'static str], case: Case) -> Case {
    Case { runs, ..case }
}

const CASES: &[Case] = &[
    // Names that lead nowhere.
    case(&[("bot.py", "")], "bto.py", &["`bto.py`: no such file", "did you mean `bot.py`?"]),
    case(&[("bot.py", "")], "bot", &["did you mean `bot.py`?"]),
    case(&[("bot.py", "")], "Bot.py", &["did you mean `bot.py`?"]),
    case(&[], "greedy", &["did you mean `builtin:greedy`?"]),
    case(&[], "sh my.sh", &["did you mean `cmd:sh my.sh`?"]),
    case(&[], "nowhere/bot.py", &["there is no folder"]),
    case(&[("my bot.py", "")], "my", &["a name with spaces needs quotes: 'my bot.py'"]),
    case(&[("mein böt.py", "")], "mein bot.py", &["did you mean `mein böt.py`?"]),
    // Folders.
    case(&[("outer/inner/bot.py", "")], "outer", &["is further inside: name outer/inner"]),
    case(&[("two/a/bot.py", ""), ("two/b/main.py", "")], "two", &["one of its folders: two/a, two/b?"]),
    case(&[("src/Seeker.py", "")], "src", &["name the file itself: src/Seeker.py"]),
    case(&[("notes/todo.txt", "")], "notes", &["add an agon.toml with run"]),
    // agon.toml.
    case(&[("b/agon.toml", "run = 'cd x && ./bot'")], "b", &["agon.toml:1:7", "`&&` needs a shell"]),
    case(&[("b/agon.toml", "rnu = './bot'")], "b", &["agon.toml:1:1", "did you mean `run`?"]),
    case(
        &[("b/agon.toml", "run = './bot'")],
        "b",
        &["cannot start `./bot`", "no such file in the bot's folder"],
    ),
    case(&[("b/agon.toml", "build = 'make'\nrun = './bot'")], "b", &["not there yet", "agon build b"]),
    case(
        &[("b/agon.toml", "run = './bot'\ndialect = 'tcp'")],
        "b",
        &["dialect = \"tcp\"", "speak \"lines\""],
    ),
    // Programs that do not exist, or are not programs.
    case(&[], "cmd:no-such-program x", &["`no-such-program` is not installed or not on the PATH"]),
    case(&[], "cmd:./bot < input", &["`<` needs a shell"]),
    executable(
        &["bot"],
        case(&[("bot", "#!/no/such/perl6\n")], "./bot", &["`/no/such/perl6` is not installed"]),
    ),
    executable(
        &["bot"],
        case(&[("bot", "#!/bin/sh\r\necho\r\n")], "./bot", &["Windows line ending", "sed -i"]),
    ),
    executable(&["bot"], case(&[("bot", "")], "./bot", &["the file is empty"])),
    executable(&["bot"], case(&[("bot", "MZ\u{1}\u{2}")], "./bot", &["a program for Windows"])),
    case(&[("bot", "#!/bin/sh\necho WAIT\n")], "./bot", &["may not be executed", "chmod +x"]),
    case(&[("bot.sh", "./inner\n"), ("inner", "x")], "bot.sh", &["try chmod +x ./inner"]),
    case(&[("bot.sh", "no-such-tool\n")], "bot.sh", &["`no-such-tool` is not installed"]),
    // Programs that end.
    with(
        "python3",
        case(
            &[("bot.py", "import numpyy")],
            "bot.py",
            &["No module named 'numpyy'", "pip install --target . numpyy"],
        ),
    ),
    with("python3", case(&[("bot.py", "import gamelib")], "bot.py", &["Terminal's starter kit"])),
    with("python3", case(&[("bot.py", "print 'WAIT'")], "bot.py", &["Python 2"])),
    with(
        "python3",
        case(&[("bot.py", "import json\njson.loads(input() and 'x')")], "bot.py", &["written for this game"]),
    ),
    with(
        "python3",
        case(
            &[("bot.py", "import socket\nsocket.create_connection(('127.0.0.1', 1))")],
            "bot.py",
            &["nobody listens where it connects"],
        ),
    ),
    with("node", case(&[("bot.js", "require('ws-nowhere')")], "bot.js", &["npm install ws-nowhere"])),
    with("node", case(&[("bot.js", "require('./brain')")], "bot.js", &["there is no file ./brain"])),
    with(
        "java",
        case(
            &[("b/agon.toml", "run = 'java -cp out Player'")],
            "b",
            &["Player`; build it first", "agon build"],
        ),
    ),
    with(
        "java",
        case(
            &[("b/agon.toml", "run = 'java -jar bot.jar'")],
            "b",
            &["there is no bot.jar in the bot's folder"],
        ),
    ),
    // Programs that print something other than an answer, or nothing.
    case(&[("bot.sh", "echo 'Enter your move:'; sleep 100")], "bot.sh", &["` is not an action", "a prompt"]),
    case(
        &[("bot.sh", "echo 'Seeker version two'; sleep 100")],
        "bot.sh",
        &["print everything else to standard error"],
    ),
    case(&[("bot.sh", "printf WAIT; sleep 100")], "bot.sh", &["`WAIT` without a line end"]),
    case(&[("bot.sh", "cat > /dev/null")], "bot.sh", &["no output at all", "flushed", "std::endl"]),
    with(
        "python3",
        case(
            &[
                ("b/agon.toml", "run = 'python3 bot.py'\nenv = { PYTHONUNBUFFERED = '' }"),
                ("b/bot.py", "import time\nprint('WAIT')\ntime.sleep(100)"),
            ],
            "b",
            &["no output at all", "flush=True"],
        ),
    ),
];

fn lay(folder: &Path, case: &Case) {
    for (name, text) in case.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    for name in case.runs {
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755))
            .expect("our own file");
    }
}

#[test]
fn every_bot_that_does_not_begin_learns_why_and_what_to_do() {
    let mut wrong = Vec::new();
    for case in CASES {
        if !agon_bot::tools::is_installed(case.needs) {
            println!("skipped: {} needs {}", case.bot, case.needs);
            continue;
        }
        let folder = folder();
        lay(folder.path(), case);
        let played = agon(
            folder.path(),
            &[
                "play",
                "cultist-wars",
                case.bot,
                "builtin:idle",
                "--no-replay",
                "--quiet",
                "--time-scale",
                "3",
            ],
        );
        let said = format!("{}{}", out(&played), err(&played));
        for told in case.told {
            // Sentences must not be broken into lines.
            if !said.contains(told) {
                wrong.push(format!("{:?} {}\n  wanted: {told}\n  said: {said}", case.files, case.bot));
            }
        }
        if said.contains("panicked") {
            wrong.push(said);
        }
    }
    assert!(CASES.len() >= 30);
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_class_file_for_a_newer_java_says_which_java_it_is() {
    if !agon_bot::tools::is_installed("java") {
        println!("skipped: java is not installed here");
        return;
    }
    let folder = folder();
    // The beginning of a class file, of version 99.
    std::fs::write(folder.path().join("Player.class"), [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 99])
        .expect("a file");
    let words = ["play", "cultist-wars", "cmd:java -cp . Player", "builtin:idle", "--no-replay", "--quiet"];
    let said = out(&agon(folder.path(), &[&words[..], &["--time-scale", "20"]].concat()));
    assert!(said.contains("it was compiled for Java 55, and `java` here is "), "{said}");
    assert!(said.contains("compile it with --release"), "{said}");
}

#[test]
fn what_belongs_to_another_contest_is_known_by_its_answers() {
    let folder = folder();
    for (answer, game) in
        [("[[\"FF\",1,2]]", "Terminal"), ("{\"type\":\"COMMAND\",\"tick\":0}", "Jungle Blitz")]
    {
        std::fs::write(folder.path().join("bot.sh"), format!("echo '{answer}'; sleep 100")).expect("a file");
        let played = agon(
            folder.path(),
            &["play", "cultist-wars", "bot.sh", "builtin:idle", "--no-replay", "--quiet"],
        );
        let said = out(&played);
        assert!(said.contains(&format!("an answer for {game}")), "{said}");
    }
}

/// Writes a zip of these files.
fn zip(path: &Path, files: &[(&str, &str)]) {
    let mut writer = zip::ZipWriter::new(std::fs::File::create(path).expect("a file"));
    for (name, text) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a name");
        writer.write_all(text.as_bytes()).expect("a file");
    }
    writer.finish().expect("a file");
}

#[test]
fn an_archive_plays_like_the_folder_in_it() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let play = |bot: &str| {
        let mut command = crate::common::command(
            folder.path(),
            &["play", "cultist-wars", bot, "builtin:idle", "--no-replay", "--json", "--time-scale", "20"],
        );
        played_well(&command.env("AGON_CACHE", &cache).output().expect("agon starts"), bot);
    };
    // Flat, with one outer folder, and with what macOS adds.
    zip(&folder.path().join("flat.zip"), &[("run.sh", WAITER)]);
    play("flat.zip");
    zip(&folder.path().join("mein böt.zip"), &[("algo/run.sh", WAITER), ("__MACOSX/algo/._run.sh", "")]);
    play("mein böt.zip");
    let file = std::fs::File::create(folder.path().join("submission.tar.gz")).expect("a file");
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(WAITER.len() as u64);
    header.set_mode(0o755);
    builder.append_data(&mut header, "bot/run.sh", WAITER.as_bytes()).expect("a file");
    builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("a file");
    play("submission.tar.gz");
    // A file that is not a zip is reported as such.
    std::fs::write(folder.path().join("broken.zip"), "PK").expect("a file");
    let played = agon(folder.path(), &["play", "cultist-wars", "broken.zip", "builtin:idle", "--no-replay"]);
    assert_eq!(played.status.code(), Some(2));
    assert!(err(&played).contains("broken.zip: it is not a readable zip"), "{}", err(&played));
}
