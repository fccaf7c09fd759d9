//! Commands that messages advise are made in one place, and each is followed as it stands: in a shell, about files with spaces in their
//! names.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use agon_bot::advised::NextCommand;
use agon_store::acts::DoubtClock;
use agon_store::{ClockDoubt, Store};
use agon_testkit::sources::rust_files;

use crate::common::{Running, block_on, err, folder, out, write};

const BOT: &str = include_str!("promises/waiter.py");

/// Runs a line in a shell that finds agon.
fn shell(at: &Path, line: &str) -> Output {
    let agon = Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder");
    let path = format!("{}:{}", agon.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(at)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("AGON_CACHE", at.join("cache"));
    command.stdin(Stdio::null()).output().expect("a shell")
}

fn all(output: &Output) -> String {
    out(output) + &err(output)
}

/// The command of this kind that stands in what was said: in backquotes, or up to the end of a line or a gap.
fn advised(next: NextCommand, said: &str) -> String {
    let line = next.line();
    let start = line.split(" {").next().expect("a start");
    let last = line.rsplit('}').next().expect("an end");
    let found = said.match_indices(start).find_map(|(at, _)| {
        let rest = &said[at..];
        let end = ["`", "  ", "\n"].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        let command = rest[..end].trim_end();
        command.ends_with(last).then(|| command.to_owned())
    });
    found.unwrap_or_else(|| panic!("{line} is not in: {said}"))
}

/// A situation, and what comes of following what is said in it.
struct Row {
    next: NextCommand,
    /// Typed in a folder with the bot `a b/bot.py`; the last command says what to type.
    before: &'static str,
    /// What the reader writes for the words in capital letters.
    filled: &'static [(&'static str, &'static str)],
    /// What comes of it.
    code: i32,
    effect: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        next: NextCommand::CheckBot,
        before: "agon 'a b'",
        filled: &[("GAME", "cultist-wars")],
        code: 0,
        effect: "exits at end of input",
    },
    Row {
        next: NextCommand::Explain,
        before: "sed 's/\"WAIT\"/\"0 MOVE 99 99\"/' 'a b/bot.py' > wrong.py; agon check cultist-wars wrong.py",
        filled: &[],
        code: 0,
        effect: "CW-",
    },
    Row {
        next: NextCommand::Gauntlet,
        before: "agon play cultist-wars 'builtin:hunter?nodes=10' builtin:idle --games 20",
        filled: &[],
        code: 0,
        effect: "100 ",
    },
    Row {
        next: NextCommand::MakeMap,
        before: "agon maps ostibot",
        filled: &[("--seed N", "--seed 7")],
        code: 0,
        effect: "\n",
    },
    Row {
        next: NextCommand::MapsCheck,
        before: "printf '\\001' > 'my map.txt'; agon maps check 'my map.txt'",
        filled: &[("GAME", "jungle-blitz")],
        code: 1,
        effect: "my map.txt, a map of Jungle Blitz",
    },
    Row {
        next: NextCommand::New,
        before: "agon new cultist-wars python",
        filled: &[],
        code: 0,
        effect: "my-bot",
    },
    Row {
        next: NextCommand::Play,
        before: "agon cultist-wars 'a b' builtin:idle",
        filled: &[],
        code: 0,
        effect: "Draw after 150",
    },
    Row {
        next: NextCommand::ReplayInfo,
        before: "agon play cultist-wars 'a b' builtin:idle --replay 'my match.replay'",
        filled: &[],
        code: 0,
        effect: "a b",
    },
    Row {
        next: NextCommand::ReplayInfo,
        before: "agon play cultist-wars builtin:idle builtin:idle -q --replay 'x y'; agon rate 'x y'",
        filled: &[],
        code: 0,
        effect: "idle",
    },
    Row {
        next: NextCommand::ReplayShow,
        before: "agon play cultist-wars 'a b' builtin:idle --replay 'my match.replay'",
        filled: &[],
        code: 0,
        effect: "before turn 10, player 2",
    },
    Row {
        next: NextCommand::Verify,
        before: "printf 'PK\\003\\004\\n\\n' > 'no cup.agon'; agon rate 'no cup.agon'",
        filled: &[],
        code: 2,
        effect: "no cup.agon",
    },
    Row {
        next: NextCommand::Build,
        before: "mkdir 'c d'; (echo '#!/usr/bin/env python3'; cat 'a b/bot.py') > 'c d/source'; \
                 printf \"build = 'install -m 755 source made'\\nrun = './made'\\n\" > 'c d/agon.toml'; \
                 agon play cultist-wars 'c d' builtin:idle --no-replay",
        filled: &[],
        code: 0,
        effect: "",
    },
];

/// Followed by other tests, which have the contest, the machine or the browser that these need: the file, and words of it.
const ELSEWHERE: &[(NextCommand, &str, &[&str])] = &[
    (NextCommand::ImageAdd, "all/work.rs", &["\"build\", \"git\"", "\"--add\", \"more\""]),
    (NextCommand::ImageGet, "all/work.rs", &["\"image\", \"get\""]),
    (NextCommand::ImageNpm, "alone/images.rs", &["\"build\", \"javascript\", \"--npm\""]),
    (NextCommand::ImagePip, "alone/images.rs", &["\"agon image build Python --pip 'own-text==1.2.3'\""]),
    (NextCommand::Login, "alone/online.rs", &["\"login\", url"]),
    (NextCommand::LoginFile, "all/fleet.rs", &["\"login\"", "--token-file"]),
    (NextCommand::LogsOfMatch, "alone/online.rs", &["\"logs\", \"--match\""]),
    (NextCommand::LogsOfVersion, "alone/online.rs", &["\"logs\", \"v1\""]),
    (NextCommand::ReplayFeed, "all/promises.rs", &["\"replay\", \"feed\""]),
    (NextCommand::ReplayGet, "all/crowded.rs", &["\"replay\", \"get\""]),
    (NextCommand::ServeSet, "alone/serve.rs", &["\"serve\", \"set\", \"cup\""]),
    (NextCommand::SprtOn, "all/fleet.rs", &["\"--on\", &url"]),
    (NextCommand::Submit, "alone/online.rs", &["\"submit\", \"bot\""]),
    (NextCommand::Watch, "all/private.rs", &["\"watch\""]),
    (NextCommand::Work, "all/work.rs", &["\"work\"", "--token-file"]),
];

/// What [`a_contest_is_led_by_what_it_says`] follows.
const OF_A_CONTEST: &[NextCommand] = &[
    NextCommand::Maps,
    NextCommand::ServeAdd,
    NextCommand::ServeNew,
    NextCommand::ServeClock,
    NextCommand::ServeContinue,
    NextCommand::ServePause,
    NextCommand::ServeResume,
    NextCommand::ServeRevoke,
    NextCommand::ServeStatus,
    NextCommand::ServeWorkers,
];

#[test]
fn every_command_that_is_advised_is_followed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for next in NextCommand::ALL {
        let elsewhere = ELSEWHERE.iter().find(|(other, ..)| other == next);
        if let Some((_, file, words)) = elsewhere {
            let text = std::fs::read_to_string(tests.join(file)).expect("a file of tests");
            for word in *words {
                assert!(text.contains(word), "{file} no longer follows `{}`: {word}", next.id());
            }
        }
        let here = ROWS.iter().any(|row| row.next == *next) || OF_A_CONTEST.contains(next);
        assert!(here || elsewhere.is_some(), "no row follows the advice `{}`", next.id());
    }
}

#[test]
fn what_is_said_to_type_next_works_as_it_stands() {
    for row in ROWS {
        let place = folder();
        let at = place.path();
        write(at, "a b/bot.py", BOT);
        let said = all(&shell(at, row.before));
        let mut command = advised(row.next, &said);
        for (word, own) in row.filled {
            command = command.replacen(word, own, 1);
        }
        let done = shell(at, &command);
        assert_eq!(done.status.code(), Some(row.code), "{}: {command}: {}", row.next.id(), all(&done));
        assert!(all(&done).contains(row.effect), "{}: {command}: {}", row.next.id(), all(&done));
    }
}

#[test]
fn a_contest_is_led_by_what_it_says() {
    let place = folder();
    let at = place.path();
    write(at, "a b/bot.py", BOT);
    let follow = |next: NextCommand, said: &Output, filled: &[(&str, &str)]| {
        let mut command = advised(next, &all(said));
        for (word, own) in filled {
            command = command.replacen(word, own, 1);
        }
        let done = shell(at, &command);
        assert!(done.status.success(), "{command}: {}", all(&done));
        done
    };
    // Without a contest it is said how one begins; that one says in its first lines what goes on.
    let none = shell(at, "agon serve status 'my cup'");
    let begin = advised(NextCommand::ServeNew, &all(&none)).replace("GAME", "jungle-blitz");
    assert_eq!(none.status.code(), Some(2), "{}", all(&none));
    let mut serving = Command::new("sh");
    let agon = Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder");
    let path = format!("{}:{}", agon.display(), std::env::var("PATH").unwrap_or_default());
    serving.args(["-c", &format!("exec {begin} --no-site -j 0")]).current_dir(at).env("PATH", path);
    let mut serving = Running(
        serving.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a shell"),
    );
    let mut lines = BufReader::new(serving.0.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let mut said = String::new();
    while !said.contains("agon serve status") {
        said += &lines.next().unwrap_or_else(|| panic!("it ended: {said}"));
        said.push('\n');
    }
    std::thread::spawn(move || lines.for_each(drop));
    let add = advised(NextCommand::ServeAdd, &said).replace("BOT", "'a b'").replace("NAME", "Ann");
    let added = shell(at, &add);
    assert!(added.status.success() && all(&added).contains("Ann v1"), "{add}: {}", all(&added));
    let status = follow(NextCommand::ServeStatus, &added, &[]);
    assert!(all(&status).contains("Ann"), "{}", all(&status));
    let twice = shell(at, "agon serve 'my cup' --no-site");
    follow(NextCommand::ServeStatus, &twice, &[]);
    // Its settings name the maps of its game.
    let settings = shell(at, "cat 'my cup/contest.toml'");
    assert!(all(&follow(NextCommand::Maps, &settings, &[])).contains("easy-glade"));
    // A clock in doubt, as another server has left it.
    block_on(async {
        let store = Store::open(&at.join("my cup")).await.expect("opens");
        let store = store.only().await.expect("read").expect("a contest");
        let since = store.last_time().await.expect("read");
        let (server, ahead_ms) = ("hall cup".to_owned(), 3_600_000);
        let doubt = ClockDoubt { server, since, ahead_ms, apart_ms: None, confirmed: false };
        let why = "jumped ahead by 1 h 0 min".to_owned();
        store.act(DoubtClock { contest: store.id(), doubt, why }).await.expect("written");
    });
    follow(NextCommand::ServeClock, &shell(at, "agon serve status 'my cup'"), &[]);
    assert!(!all(&shell(at, "agon serve status 'my cup'")).contains("--confirm"), "it is confirmed");
    // Machines.
    let worker = "agon serve worker 'my cup' 'hall 2'";
    assert!(shell(at, worker).status.success());
    let again = shell(at, worker);
    follow(NextCommand::ServeRevoke, &again, &[]);
    let nobody = shell(at, "agon serve revoke 'my cup' nobody");
    follow(NextCommand::ServeWorkers, &nobody, &[]);
    // Its end.
    let export = "agon serve export 'my cup' 'my cup.agon' --reveal";
    follow(NextCommand::ServePause, &shell(at, export), &[]);
    let paused = shell(at, "agon serve status 'my cup'");
    follow(NextCommand::ServeContinue, &paused, &[]);
    assert!(shell(at, "agon serve pause 'my cup'").status.success());
    let exported = shell(at, export);
    assert!(exported.status.success(), "{}", all(&exported));
    follow(NextCommand::Verify, &exported, &[]);
    let there = shell(at, "agon serve 'my cup' --new jungle-blitz");
    assert!(advised(NextCommand::ServeResume, &all(&there)).ends_with("'my cup'"), "{}", all(&there));
}

/// Lines in which something is put into a command of agon all the same, and why that cannot be false.
const APART: &[(&str, &str)] = &[
    (
        "agon-game/src/setup.rs",
        "names of games hold no sign that a shell reads, and this crate knows nothing of bots",
    ),
    ("agon-replay/src/section.rs", "likewise, and neither does this crate"),
    ("agon-site/src/", "pages name their own address and files, which hold no sign that a shell reads"),
    ("agon/src/series/pin.rs", "a comment within a file"),
    ("agon-desk/src/kept.rs", "a comment within a file"),
    ("agon-bot/src/advised.rs", "here they are made"),
    ("lib/command.ts", "here the page makes them"),
];

/// The commands in a source, each up to where its words end, if something is put into them.
fn put_together(text: &str, hole: char) -> Option<String> {
    let commands = text.match_indices("agon ").filter(|(at, _)| {
        text[..*at].chars().next_back().is_some_and(|before| "`\" '\n(".contains(before))
            && !text[..*at].ends_with("an ")
            && text[at + 5..].starts_with(|letter: char| letter.is_ascii_lowercase())
    });
    let end = |rest: &str| rest.find(['`', '"', '\n', '.', ',', ';', ':']).unwrap_or(rest.len());
    let found = commands.map(|(at, _)| &text[at..at + end(&text[at..])]).find(|command| {
        let verb = command.split(' ').nth(1).unwrap_or_default();
        command.contains(hole) && VERBS.contains(&verb)
    });
    found.map(str::to_owned)
}

/// The first words of commands.
const VERBS: &[&str] = &[
    "analyse",
    "back",
    "build",
    "challenge",
    "check",
    "ci",
    "docs",
    "doctor",
    "explain",
    "gauntlet",
    "image",
    "join",
    "login",
    "logout",
    "logs",
    "maps",
    "new",
    "pack",
    "pin",
    "play",
    "rate",
    "replay",
    "sandbox",
    "serve",
    "spec",
    "sprt",
    "status",
    "submit",
    "test",
    "tournament",
    "try",
    "verify",
    "versions",
    "watch",
    "why",
    "work",
];

#[test]
fn commands_are_put_together_nowhere_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    let mut told = Vec::new();
    let mut look = |path: &Path, text: &str, hole: char| {
        seen += 1;
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        if let Some(command) = put_together(text, hole)
            && !APART.iter().any(|(file, _)| name.contains(file))
        {
            told.push(format!("{name}: {command}"));
        }
    };
    for path in rust_files(&root.join("crates")) {
        let inner = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if inner.contains("/tests/") || inner.contains("agon-testkit") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        look(&path, &code.join("\n"), '{');
    }
    for place in ["lib", "ui"] {
        for file in std::fs::read_dir(root.join("web/src").join(place)).expect("a folder").flatten() {
            if file.path().is_file() {
                look(&file.path(), &std::fs::read_to_string(file.path()).expect("a file"), '$');
            }
        }
    }
    assert!(seen > 400, "the sources are found: {seen}");
    assert!(told.is_empty(), "commands belong into `NextCommand`, or into command.ts:\n{}", told.join("\n"));
}

#[test]
fn a_command_that_is_put_together_is_seen() {
    assert_eq!(
        put_together("format!(\"`agon serve {}` resumes it\")", '{').as_deref(),
        Some("agon serve {}")
    );
    assert_eq!(
        put_together("`agon replay fork ${name} BOT`", '$').as_deref(),
        Some("agon replay fork ${name} BOT")
    );
    assert_eq!(put_together("`agon doctor` says more of {x}", '{'), None);
    assert_eq!(put_together("agon {version} is here", '{'), None);
}

/// Each command in backquotes in the sources of the program and of the viewer: its words up to the first that is about something, and its
/// options.
fn named(text: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let commands = text.match_indices("`agon ").filter_map(|(at, _)| {
        let rest = &text[at + 6..];
        // A sentence of a page about agon.
        if rest.starts_with("answered ${") {
            return None;
        }
        let line = rest[..rest.find(['`', '\n', '"'])?].trim_end_matches('\\');
        let plain = |word: &&str| {
            word.chars().all(|sign| sign.is_ascii_lowercase() || sign == '-') && !word.starts_with('-')
        };
        let words: Vec<String> = line.split(' ').take_while(plain).map(str::to_owned).collect();
        let options =
            line.split([' ', '=']).filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned);
        (!words.is_empty()).then(|| (words, options.collect()))
    });
    commands.collect()
}

#[test]
fn every_command_that_is_named_exists_with_its_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<(String, String)> = Vec::new();
    for path in rust_files(&root.join("crates")) {
        let inner = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if !inner.contains("/tests/") {
            let text = std::fs::read_to_string(&path).expect("a file");
            texts.push((inner, text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()));
        }
    }
    for place in ["docs", "web/src/ui", "web/src/lib"] {
        for file in std::fs::read_dir(root.join(place))
            .expect("a folder")
            .flatten()
            .filter(|file| file.path().is_file())
        {
            texts.push((
                format!("{place}/{}", file.file_name().display()),
                std::fs::read_to_string(file.path()).unwrap_or_default(),
            ));
        }
    }
    let place = folder();
    let mut helps = std::collections::HashMap::new();
    let mut help = |words: &[String]| -> Option<String> {
        let known = helps.entry(words.to_vec()).or_insert_with(|| {
            let output = crate::common::agon(
                place.path(),
                &[&words.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--help"]].concat(),
            );
            output.status.success().then(|| out(&output))
        });
        known.clone()
    };
    let (mut seen, mut wrong) = (0, Vec::new());
    for (file, text) in &texts {
        for (words, options) in named(text) {
            seen += 1;
            // The longest part of it that is a command: what follows is about something (`agon maps deerhunt`).
            let Some(said) = (1..=words.len().min(2)).rev().find_map(|count| help(&words[..count])) else {
                wrong.push(format!("{file}: there is no command `agon {}`", words.join(" ")));
                continue;
            };
            for option in options {
                if !said.contains(&option) {
                    wrong.push(format!("{file}: `agon {}` has no {option}", words.join(" ")));
                }
            }
        }
    }
    assert!(seen > 200, "commands are found: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
