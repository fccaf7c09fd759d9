//! The guide is true: its examples of messages are what the referee sends, and its commands run.
//!
//! - A fenced block after `<!-- wire: GAME key=value... -->` is compared with the messages of that match.
//!   `UPDATE_BOOK=1 cargo test -p agon --test all book::` rewrites them.
//! - Every `$ command` in a fenced block of kind `console` is run, all commands of a page in one folder, in order. The
//!   lines below it are its expected output: `...` stands for any lines. Numbers with a measured unit (ms, bytes) may
//!   differ, and so may the width of blanks. A block of kind `sh` is not run.
//! - The fenced block after `<!-- file: NAME -->` is put into that folder as a file of this name.
//! - A page that needs a language says so with `<!-- needs: python3 g++ -->`; if that is missing, the test says so.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_game::{Answer, MapChoice, RulesChoice, Seat, Session, Setup};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The pages, as their file name inside `docs/` and their text.
fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for folder in ["", "games"] {
        for entry in fs::read_dir(docs().join(folder)).expect("a folder").flatten() {
            let name = Path::new(folder).join(entry.file_name()).display().to_string();
            if name.ends_with(".md") {
                pages.push((name, fs::read_to_string(entry.path()).expect("text")));
            }
        }
    }
    pages.sort();
    pages
}

/// A parsed mark.
struct Mark<'a> {
    game: &'a str,
    keys: HashMap<&'a str, &'a str>,
}

impl<'a> Mark<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.strip_prefix("<!-- wire: ")?.strip_suffix(" -->")?.split(' ');
        let game = words.next()?;
        Some(Self { game, keys: words.map(|word| word.split_once('=').expect("key=value")).collect() })
    }

    fn number(&self, key: &str) -> Option<usize> {
        self.keys.get(key).map(|value| value.parse().expect("a number"))
    }

    /// The match, with the built-in bots it names seated.
    fn open(&self) -> (Box<dyn Session>, usize) {
        let game = agon_games::find(self.game).expect("a game");
        let bots: Vec<&str> = self.keys["bots"].split(',').collect();
        let rules = RulesChoice {
            preset: self.keys.get("rules").copied().unwrap_or_default().to_owned(),
            ..RulesChoice::default()
        };
        let map =
            self.keys.get("map").map_or(MapChoice::Default, |name| MapChoice::Named((*name).to_owned()));
        let seed = self.keys["seed"].parse().expect("a seed");
        let rules = if rules.preset.is_empty() { RulesChoice::default() } else { rules };
        let setup = Setup { rules, map, seats: bots.len() as u8, seed };
        let mut session = game.open(&setup).expect("the example can be played");
        for (seat, bot) in Seat::first(bots.len() as u8).zip(bots) {
            // As the referee does, which gives each built-in bot its own seed.
            let own = (seed as u64).wrapping_mul(31).wrapping_add(u64::from(seat.number()));
            session.seat_builtin(seat, bot, &[], own).expect("a built-in bot");
        }
        (session, self.number("seat").expect("a seat"))
    }

    /// The text that belongs below the mark.
    fn text(&self) -> String {
        let (mut session, seat) = self.open();
        let seat = Seat::new(seat as u8 - 1);
        let (wanted, asks) = match (self.number("ask"), self.number("answer")) {
            (Some(number), _) => (number, true),
            (None, Some(number)) => (number, false),
            _ => panic!("ask=N or answer=N"),
        };
        let mut asked = 0;
        while !session.deciding().is_empty() {
            let mut answers = Vec::new();
            for other in session.deciding().iter() {
                let mut message = Vec::new();
                session.ask(other, &mut message);
                let order = session.think(other);
                if other == seat {
                    asked += 1;
                }
                if other == seat && asked == wanted {
                    if !asks {
                        message.clear();
                        assert!(session.say(seat, &order, &mut message), "an order can be said");
                    }
                    return self.shown(&String::from_utf8(message).expect("text"));
                }
                answers.push((other, Answer::Given { order, think_ms: 0 }));
            }
            session.play(&answers).expect("answers of who is asked");
        }
        panic!("the match is over before");
    }

    /// The part to show, with long lines broken.
    fn shown(&self, message: &str) -> String {
        let line = match self.number("line") {
            Some(number) => message.lines().nth(number - 1).expect("a line"),
            None => message,
        };
        let (head, tail) = (self.number("head"), self.number("tail"));
        let cut = head.is_some() || tail.is_some();
        let (head, tail) = (head.unwrap_or(0), tail.unwrap_or(0));
        if !cut || line.len() <= head + tail {
            return line.lines().map(broken).collect::<Vec<_>>().join("\n");
        }
        let mut parts = vec![broken(&line[..head]), "…".to_owned(), broken(&line[line.len() - tail..])];
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// A long line, broken after commas.
fn broken(line: &str) -> String {
    const WIDTH: usize = 110;
    let (mut text, mut rest) = (String::new(), line);
    while rest.len() > WIDTH {
        let end = rest[..WIDTH].rfind(',').map_or(WIDTH, |comma| comma + 1);
        text.push_str(&rest[..end]);
        text.push('\n');
        rest = &rest[end..];
    }
    text + rest
}

#[test]
fn messages_are_what_the_referee_sends() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let mut seen = 0;
    for (name, text) in pages() {
        let lines: Vec<&str> = text.lines().collect();
        let (mut whole, mut at) = (Vec::new(), 0);
        while at < lines.len() {
            whole.push(lines[at].to_owned());
            let Some(mark) = Mark::parse(lines[at]) else {
                at += 1;
                continue;
            };
            seen += 1;
            let open = (at + 1..lines.len()).find(|&line| lines[line].starts_with("```")).expect("a block");
            let close = (open + 1..lines.len()).find(|&line| lines[line] == "```").expect("its end");
            let expected = mark.text();
            whole.extend(["", "```text"].map(str::to_owned));
            whole.extend(expected.lines().map(str::to_owned));
            whole.push("```".to_owned());
            if !update {
                assert_eq!(
                    lines[open + 1..close].join("\n"),
                    expected.trim_end_matches('\n'),
                    "{name}: {}",
                    lines[at]
                );
            }
            at = close + 1;
        }
        if update {
            fs::write(docs().join(&name), whole.join("\n") + "\n").expect("a writable page");
        }
    }
    assert!(seen >= 12, "the pages of the games have examples");
}

/// A command of a page, and its expected output.
struct Typed<'a> {
    command: &'a str,
    printed: Vec<&'a str>,
}

/// The commands of a page.
fn commands(text: &str) -> Vec<Typed<'_>> {
    let mut found: Vec<Typed<'_>> = Vec::new();
    let mut console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| console) {
            found.push(Typed { command, printed: Vec::new() });
        } else if console {
            found.last_mut().expect("a command comes first").printed.push(line);
        }
    }
    found
}

/// Whether `said` matches `printed`.
fn matches(printed: &[&str], said: &[&str]) -> bool {
    match (printed.split_first(), said.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), None) => matches(rest, said),
        (Some((&"...", rest)), Some((_, later))) => matches(rest, said) || matches(printed, later),
        (Some((line, rest)), Some((own, later))) => fits(line, own) && matches(rest, later),
        _ => false,
    }
}

/// Units of values that differ from machine to machine.
const MEASURED: [&str; 6] = ["µs", "ms", "s", "bytes", "kB", "MB"];

/// Whether a line of the page matches this line of output. Measured values may differ, and so may the width of blanks.
fn fits(page: &str, line: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let measured = |at: usize| {
            // `22 of 50 ms` has one unit for both.
            let of = if words.get(at + 1) == Some(&"of") { 2 } else { 0 };
            words.get(at + 1 + of).is_some_and(|unit| MEASURED.contains(&unit.trim_matches(',')))
                && words[at].chars().all(|sign| sign.is_ascii_digit() || ".,".contains(sign))
        };
        let shown = |at: usize| if measured(at) { "0".to_owned() } else { words[at].to_owned() };
        // The unit goes with its number: 0.9 ms and 12 µs are both a time.
        let unit = |at: usize| at > 0 && measured(at - 1);
        (0..words.len()).map(|at| if unit(at) { "unit".to_owned() } else { shown(at) }).collect()
    };
    words(page) == words(line)
}

/// The files a page shows, as name and content.
fn files(text: &str) -> Vec<(&str, String)> {
    let mut files = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->"));
        if let Some(name) = name {
            let block = lines.by_ref().skip_while(|line| !line.starts_with("```")).skip(1);
            files.push((
                name,
                block.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect(),
            ));
        }
    }
    files
}

/// Runs the commands of one page in one shell, in a folder of its own.
fn run(name: &str, text: &str) {
    let commands = commands(text);
    if commands.is_empty() {
        return;
    }
    let needs = text.lines().filter_map(|line| line.strip_prefix("<!-- needs: ")?.strip_suffix(" -->"));
    for needed in needs.flat_map(str::split_whitespace) {
        if !Command::new(needed).arg("--version").output().is_ok_and(|output| output.status.success()) {
            println!("SKIPPED: docs/{name} ({needed} is not installed)");
            return;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = tempfile::tempdir().expect("a folder");
    for (name, content) in files(text) {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    let mut script = String::from("set +e\n");
    for (number, typed) in commands.iter().enumerate() {
        let file = out.path().join(number.to_string()).display().to_string();
        script += &format!("{{ {}\n}} > '{file}' 2>&1\necho $? > '{file}.code'\n", typed.command);
    }
    let agon = Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder").display().to_string();
    let path = format!("{agon}:{}", std::env::var("PATH").unwrap_or_default());
    let shell = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        // A page that builds something builds it in its own folder.
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("a shell");
    assert!(shell.status.success(), "{name}: {}", String::from_utf8_lossy(&shell.stderr));
    for (number, typed) in commands.iter().enumerate() {
        let file = out.path().join(number.to_string());
        let said = String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned();
        let code = fs::read_to_string(file.with_extension("code")).unwrap_or_default();
        // The answer of a test is its exit code.
        let answers =
            typed.command.starts_with("agon sprt") && ["10", "11", "12", "13"].contains(&code.trim());
        assert!(code.trim() == "0" || answers, "docs/{name}: `{}` fails with {code}:\n{said}", typed.command);
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            typed.printed.is_empty() || matches(&typed.printed, &lines),
            "docs/{name}: `{}` prints\n{said}\nnot\n{}",
            typed.command,
            typed.printed.join("\n")
        );
    }
    println!("docs/{name}: {} commands", commands.len());
}

#[test]
fn commands_run_and_print_what_the_page_says() {
    for (name, text) in pages() {
        run(&name, &text);
    }
}

#[test]
fn a_line_fits_when_only_what_is_measured_differs() {
    assert!(fits("1  my-bot  1  69  3.2 ms  222 ms", "1  my-bot    1  69   12 µs  9.5 ms"));
    assert!(fits("a.zip: 1,204 bytes, a folder", "a.zip: 990 bytes, a folder") && fits("a", "a  "));
    assert!(!fits("1  my-bot  1", "1  my-bot  2") && !fits("3 files", "4 files") && !fits("a b", "a c"));
    assert!(!fits("1 ms", "fast ms") && !fits("1 ms", "1 ms 2 ms") && !fits("", "a"));
}

#[test]
fn three_dots_stand_for_any_lines() {
    assert!(
        matches(&["a", "...", "c"], &["a", "b", "b", "c"])
            && matches(&["..."], &[])
            && matches(&["a", "..."], &["a"])
    );
    assert!(
        !matches(&["a"], &["a", "b"])
            && !matches(&["...", "c"], &["a", "b"])
            && !matches(&["a", "b"], &["a"])
    );
}
