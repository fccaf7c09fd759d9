//! What the program advises holds: each situation gives its message, and what the message says to type is typed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use agon_bot::advised::Advised;
use agon_testkit::sources::rust_files;

use crate::common::{err, folder};

const BOT: &str = include_str!("promises/waiter.py");

/// Runs the program in a folder.
fn run(at: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(at).env("NO_COLOR", "1").env("AGON_CACHE", at.join("cache"));
    command.output().expect("agon starts")
}

fn play(at: &Path, bot: &str, more: &[&str]) -> Output {
    let words = ["play", "cultist-wars", bot, "builtin:idle", "--seed", "3", "--quiet"];
    run(at, &words.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn all(output: &Output) -> String {
    out(output) + &err(output)
}

fn write(at: &Path, name: &str, text: &str) {
    let file = at.join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(file, text).expect("a file");
}

/// The command in backquotes, or after the last colon, that an error says to type, in a shell.
fn typed(at: &Path, line: &str) -> Output {
    let agon = Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder");
    let path = format!("{}:{}", agon.display(), std::env::var("PATH").unwrap_or_default());
    Command::new("sh").args(["-c", line]).current_dir(at).env("PATH", path).output().expect("a shell")
}

/// A situation, in what folder of a bot it is, what is said, and the command that it is followed by.
struct Row {
    /// What is advised in this folder; a row is of its id.
    advised: fn(&str) -> Advised,
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    bot: &'static str,
    /// Is in what is said beside the advice.
    said: &'static str,
    /// Typed then; `BOT` stands for the bot's own text.
    follow: &'static str,
    /// The bot that plays then.
    then: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        advised: |_| Advised::NameInner("./a b/c".to_owned()),
        what: "a bot further inside a folder",
        files: &[("a b/c/bot.py", "BOT")],
        bot: ".",
        said: "",
        follow: "true",
        then: "./a b/c",
    },
    Row {
        advised: |_| Advised::NameInner("x.zip/two three".to_owned()),
        what: "a bot further inside an archive",
        files: &[("one/two three/bot.py", "BOT"), ("one/other.txt", "")],
        bot: "x.zip",
        said: "",
        follow: "true",
        then: "x.zip/two three",
    },
    Row {
        advised: |_| Advised::NameWithFolder("engine".to_owned()),
        what: "a program of the folder, named without the folder",
        files: &[
            ("b/engine", "#!/bin/sh\nexec python3 bot.py\n"),
            ("b/bot.py", "BOT"),
            ("b/agon.toml", "run = 'engine'\n"),
        ],
        bot: "b",
        said: "`engine`",
        follow: "sed -i \"s/'engine'/'.\\/engine'/\" b/agon.toml && chmod +x b/engine",
        then: "b",
    },
    Row {
        advised: |at| Advised::MakeExecutable(format!("{at}/b/./my engine")),
        what: "a program that may not be executed",
        files: &[
            ("b/my engine", "#!/bin/sh\nexec python3 bot.py\n"),
            ("b/bot.py", "BOT"),
            ("b/agon.toml", "run = \"'./my engine'\"\n"),
        ],
        bot: "b",
        said: "may not be executed",
        follow: "chmod +x 'b/my engine'",
        then: "b",
    },
    Row {
        advised: |_| Advised::Convert("run.sh".to_owned()),
        what: "a script with the line endings of Windows",
        files: &[("b/run.sh", "#!/bin/bash\r\npython3 -u bot.py\r\n"), ("b/bot.py", "BOT")],
        bot: "b",
        said: "Windows line endings",
        follow: "cd b && sed -i 's/\\r$//' run.sh",
        then: "b",
    },
    Row {
        advised: |_| Advised::Convert("start.sh".to_owned()),
        what: "a script of another name with the line endings of Windows",
        files: &[
            ("b/start.sh", "#!/bin/sh\r\nset -e\r\nexec python3 -u bot.py\r\n"),
            ("b/bot.py", "BOT"),
            ("b/agon.toml", "run = 'sh start.sh'\n"),
        ],
        bot: "b",
        said: "Windows line endings",
        follow: "cd b && sed -i 's/\\r$//' start.sh",
        then: "b",
    },
    Row {
        advised: |_| Advised::NameFile("a b/seeker one.py".to_owned()),
        what: "a folder whose only program has a name of its own",
        files: &[("a b/seeker one.py", "BOT")],
        bot: "a b",
        said: "",
        follow: "true",
        then: "a b/seeker one.py",
    },
    Row {
        advised: |_| Advised::Build("a b".to_owned()),
        what: "a bot whose program was never built",
        files: &[
            ("a b/src", "#!/usr/bin/env python3\nBOT"),
            ("a b/agon.toml", "build = 'install -m 755 src made'\nrun = './made'\n"),
        ],
        bot: "a b",
        said: "build the bot first",
        follow: "agon build 'a b'",
        then: "a b",
    },
];

/// Advice whose situation needs a package, another user, or a full disk: tests of their own bring it about.
const ELSEWHERE: &[&str] = &["install", "bring-along", "set-cache", "move-cache"];

#[test]
fn all_advice_is_made_in_one_place_and_followed_here() {
    let followed: Vec<&str> = ROWS.iter().map(|row| (row.advised)("").id()).collect();
    for id in Advised::IDS {
        assert!(ELSEWHERE.contains(&id) || followed.contains(&id), "no row follows the advice `{id}`");
    }
    // What is typed is written nowhere else.
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = rust_files(&crates);
    let is_test = |path: &Path| {
        path.strip_prefix(&crates)
            .is_ok_and(|inner| inner.components().any(|part| part.as_os_str() == "tests"))
    };
    assert!(all.iter().filter(|path| !is_test(path)).count() > 300, "the sources are found");
    for path in all.iter().filter(|path| !is_test(path) && !path.ends_with("agon-bot/src/advised.rs")) {
        let text = std::fs::read_to_string(path).expect("a file");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for words in [
            "try chmod",
            "sed -i",
            "set AGON_CACHE",
            "name the file itself",
            "is further inside",
            "\"install it: ",
            "put it into its folder",
        ] {
            let told = text.lines().find(|line| line.contains(words) && !line.trim_start().starts_with("//"));
            assert!(
                told.is_none(),
                "{}: advice belongs into `Advised`: {}",
                path.display(),
                told.unwrap_or_default()
            );
        }
    }
}

#[test]
fn what_is_advised_works_as_it_stands() {
    for row in ROWS {
        let place = folder();
        let at = place.path();
        for (name, text) in row.files {
            write(at, name, &text.replace("BOT", BOT));
        }
        if row.bot.ends_with(".zip") {
            let zipped = "import shutil; shutil.make_archive('x', 'zip', 'one')";
            assert!(
                Command::new("python3")
                    .args(["-c", zipped])
                    .current_dir(at)
                    .status()
                    .expect("python")
                    .success()
            );
        }
        let said = all(&play(at, row.bot, &["--no-replay"]));
        let advised = (row.advised)(&at.display().to_string()).to_string();
        assert!(said.contains(row.said) && said.contains(&advised), "{}: {advised}: {said}", row.what);
        let followed = typed(at, row.follow);
        assert!(followed.status.success(), "{}: {followed:?}", row.what);
        let then = all(&play(at, row.then, &["--no-replay"]));
        assert!(then.contains("Draw after 150"), "{}: {then}", row.what);
    }
}

#[test]
fn what_is_no_program_is_not_to_be_made_executable() {
    let place = folder();
    for (name, what) in [
        ("bot.tar.xz", "unpack it"),
        ("bot.7z", "unpack it"),
        ("bot.rar", "unpack it"),
        ("bot.ipynb", "notebook"),
        ("bot.mts", "call it .ts"),
        ("bot", "is not a program"),
    ] {
        write(place.path(), name, "x");
        for mode in [0o644, 0o755] {
            std::fs::set_permissions(place.path().join(name), std::fs::Permissions::from_mode(mode))
                .expect("rights");
            if (name, mode) == ("bot", 0o755) {
                continue;
            }
            let said = all(&play(place.path(), name, &["--no-replay"]));
            assert!(said.contains(what) && !said.contains("chmod"), "{name}: {said}");
        }
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_said_with_what_to_set() {
    let place = folder();
    let at = place.path();
    write(at, "file", "");
    write(at, "one.c", "int main(){return 0;}\n");
    write(at, "b/bot.py", BOT);
    let zipped = "import shutil; shutil.make_archive('x', 'zip', 'b')";
    assert!(Command::new("python3").args(["-c", zipped]).current_dir(at).status().expect("python").success());
    let git = "git init -q . && git add b && git -c user.name=a -c user.email=a@b commit -qm x";
    assert!(typed(at, git).status.success());
    for bot in ["one.c", "x.zip", "git:HEAD:b"] {
        let words = ["play", "cultist-wars", bot, "builtin:idle", "--seed", "3", "--no-replay", "--quiet"];
        // Below a file nobody can make a folder, not even root.
        let done = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(words)
            .current_dir(at)
            .env("AGON_CACHE", at.join("file/x"))
            .output();
        let said = err(&done.expect("agon starts"));
        assert!(said.contains("set AGON_CACHE to a folder that you may write"), "{bot}: {said}");
    }
}

/// Packages go beside the bot, as is advised, also where the system's Python refuses to install for all.
#[test]
fn a_missing_module_is_there_after_what_is_advised() {
    let has_pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
    if !has_pip.is_ok_and(|output| output.status.success()) {
        return println!("SKIPPED: pip is not installed");
    }
    let place = folder();
    let at = place.path();
    write(at, "b/bot.py", &BOT.replace("    # here", "    import tinymodule"));
    let making = "import zipfile\nz = zipfile.ZipFile('tinymodule-1.0-py3-none-any.whl', 'w')\n\
                  z.writestr('tinymodule.py', '')\nd = 'tinymodule-1.0.dist-info/'\n\
                  z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: tinymodule\\nVersion: 1.0\\n')\n\
                  z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
                  z.writestr(d + 'RECORD', '')\nz.close()\n";
    assert!(Command::new("python3").args(["-c", making]).current_dir(at).status().expect("python").success());
    let said = all(&play(at, "b", &["--no-replay"]));
    let advised = Advised::Install("python3 -m pip install --target . tinymodule".to_owned());
    assert!(said.contains(&advised.to_string()), "{said}");
    let line = advised.to_string();
    let line = line.split_once(": ").expect("a command").1;
    let followed = typed(&at.join("b"), &format!("PIP_NO_INDEX=1 PIP_FIND_LINKS=.. {line}"));
    assert!(followed.status.success(), "{followed:?}");
    let then = all(&play(at, "b", &["--no-replay"]));
    assert!(then.contains("Draw after 150"), "{then}");
}

#[test]
fn the_turn_that_a_fault_names_is_the_turn_to_type() {
    let place = folder();
    let at = place.path();
    let dies = BOT.replace(
        "    # here",
        "    if t == 5:\n        sys.stderr.write('here it is\\n'); sys.stderr.flush(); sys.exit(3)",
    );
    write(at, "bot.py", &dies);
    let said = all(&play(at, "bot.py", &["--replay", "r.replay"]));
    assert!(said.contains("bot.py, turn 11, player 1") || said.contains("turn 11"), "{said}");
    let stderr = all(&run(at, &["replay", "show", "r.replay", "--stderr", "1", "--turn", "11"]));
    assert_eq!(stderr.trim(), "here it is");
    let every = all(&run(at, &["replay", "show", "r.replay", "--stderr", "1"]));
    assert!(every.contains("turn 11"), "{every}");
    let board = all(&run(at, &["replay", "show", "r.replay", "--turn", "9"]));
    assert!(board.contains("before turn 9, player 1"), "{board}");
    let fed = all(&run(at, &["replay", "feed", "r.replay", "bot.py", "--seat", "1", "--turn", "9"]));
    assert!(fed.contains("turn 9, player 1") && fed.contains("same as recorded"), "{fed}");
    let kept = all(&run(at, &["replay", "keep", "r.replay", "--seat", "1", "--turn", "9", "--is", "WAIT"]));
    assert!(kept.contains("r-turn9.toml"), "{kept}");
    let tested = all(&run(at, &["test"]));
    assert!(tested.contains("1 passed"), "{tested}");
}

#[test]
fn of_very_much_standard_error_the_end_is_kept_too() {
    let place = folder();
    let at = place.path();
    let much = "    if t == 5:\n        for k in range(5000): sys.stderr.write('debug line %d of the search\\n' % k)\n        \
                sys.stderr.flush(); raise ValueError('the reason that matters')";
    write(at, "bot.py", &BOT.replace("    # here", much));
    let said = all(&play(at, "bot.py", &["--time-scale", "20", "--replay", "r.replay"]));
    assert!(said.contains("the reason that matters"), "{said}");
    let written = all(&run(at, &["replay", "show", "r.replay", "--stderr", "1"]));
    for part in
        ["debug line 0 of", "bytes were left out here]", "debug line 4999 of", "the reason that matters"]
    {
        assert!(written.contains(part), "{part}");
    }
}

#[test]
fn a_program_that_has_ended_is_not_waited_for_whoever_holds_its_output() {
    let place = folder();
    let orphan = "    if t == 2:\n        if os.fork() == 0:\n            import time; time.sleep(600); os._exit(0)\n        \
                  sys.stdout.write('WAIT\\n'); sys.stdout.flush(); os._exit(5)";
    write(place.path(), "bot.py", &BOT.replace("    # here", orphan));
    let said = all(&play(place.path(), "bot.py", &["--no-replay", "--no-timeouts"]));
    // What it said before it ended was heard.
    assert!(said.contains("exit code 5") && said.contains("turn 7"), "{said}");
}

#[test]
fn a_bot_that_answers_and_reads_to_the_end_of_its_input_ends_well() {
    let place = folder();
    write(place.path(), "bot.py", &BOT.replace("    # here", "    import time; time.sleep(0.01)"));
    let said = all(&run(place.path(), &["check", "cultist-wars", "bot.py"]));
    assert!(said.contains("exits at end of input") && !said.contains("with exit code"), "{said}");
}

#[test]
fn last_is_what_was_made_last() {
    let place = folder();
    let at = place.path();
    let played =
        run(at, &["play", "cultist-wars", "builtin:greedy", "builtin:random", "--seed", "4", "--quiet"]);
    assert!(played.status.success(), "{played:?}");
    let told = all(&run(at, &["replay", "info", "agon-replays/LAST.replay"]));
    assert!(told.contains("seed 4") || told.contains("4"), "{told}");
    for _ in 0..2 {
        let series = run(
            at,
            &[
                "gauntlet",
                "cultist-wars",
                "builtin:greedy",
                "builtin:random",
                "-n",
                "2",
                "--seed",
                "1",
                "--quiet",
            ],
        );
        assert!(series.status.success(), "{series:?}");
    }
    let why = run(at, &["why", "agon-series/LAST"]);
    assert_ne!(why.status.code(), Some(2), "{why:?}");
    // A pattern of the shell names it twice.
    let once = all(&run(
        at,
        &["rate", "agon-series/cultist-wars-gauntlet-1", "agon-series/cultist-wars-gauntlet-2"],
    ));
    let rated = [
        "rate",
        "agon-series/LAST",
        "agon-series/cultist-wars-gauntlet-1",
        "agon-series/cultist-wars-gauntlet-2",
    ];
    assert_eq!(all(&run(at, &rated)), once);
    for (name, bytes, said) in [
        ("cup.agon", &b"PK\x03\x04\n\n"[..], "agon verify cup.agon"),
        ("a b.replay", b"AGONRPL1\n", "agon replay info 'a b.replay'"),
        ("x.txt", b"hello\n", "name the folder of a series"),
    ] {
        std::fs::write(at.join(name), bytes).expect("a file");
        let told = err(&run(at, &["rate", name]));
        assert!(told.contains(said), "{name}: {told}");
    }
}

#[test]
fn a_bot_goes_by_the_name_in_its_agon_toml_and_versions_by_their_places() {
    let place = folder();
    let at = place.path();
    for name in ["one", "two"] {
        write(at, &format!("{name}/bot.py"), BOT);
        write(at, &format!("{name}/agon.toml"), "name = 'Seeker'\nrun = 'python3 bot.py'\n");
    }
    let said = all(&play(at, "one", &["--no-replay"]));
    assert!(said.contains("Seeker"), "{said}");
    let said =
        all(&run(at, &["play", "cultist-wars", "one", "two", "--seed", "3", "--quiet", "--no-replay"]));
    assert!(said.contains(" one ") && said.contains(" two ") && !said.contains("Seeker"), "{said}");
    let said = all(&play(at, "cmd:python3 one/bot.py sleep:1000", &["--no-replay"]));
    assert!(said.contains("bot.py sleep:1000"), "{said}");
}
