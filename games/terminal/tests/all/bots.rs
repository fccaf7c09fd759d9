//! The example programs are built, tested, and play whole matches over the original protocol without a fault.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use agon_game::{Answer, Dialect as _, Facts, Game as _, Heard, Seat, Setup, Sink};
use terminal::Terminal;
use terminal::dialect::Wire;
use terminal::frame::Event;
use terminal::orders::{Commands, Refusal};

struct Bot {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

/// Whether a language's program is installed; prints a line when not.
fn installed(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = asked.is_ok_and(|done| done.success());
    if !there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    there
}

/// The folder of an example in the project.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bots").join(name)
}

/// A copy of an example, built and tested with its own commands; building a copy leaves nothing behind.
fn built(name: &str, tests: &[&str]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a temporary folder");
    copy(&example(name), place.path());
    let manifest = std::fs::read_to_string(place.path().join("agon.toml")).expect("an agon.toml");
    let build = manifest.lines().find_map(|line| line.strip_prefix("build = ")).expect("a build command");
    let build: Vec<&str> = build.trim_matches('"').split(' ').collect();
    for words in [&build, tests] {
        let done = Command::new(words[0]).args(&words[1..]).current_dir(place.path()).output();
        let done = done.expect("an installed language");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    place
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if ["algo", "algo.jar"].contains(&entry.file_name().to_string_lossy().as_ref()) {
            // Somebody's build output.
        } else if !path.is_dir() {
            std::fs::copy(path, copied).expect("a copy");
        } else if !["target", "out"].contains(&entry.file_name().to_string_lossy().as_ref()) {
            std::fs::create_dir(&copied).expect("a new folder");
            copy(&path, &copied);
        }
    }
}

/// Starts the bot in a folder as the original does.
fn start(folder: &Path) -> Bot {
    let mut child = Command::new("sh")
        .arg(folder.join("run.sh"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    Bot { child, to, from: BufReader::new(from) }
}

/// Passes frames to the dialect; no order of the examples may be refused.
struct Told<'a> {
    game: &'a Terminal,
    dialect: &'a mut Wire,
}

impl Sink<Terminal> for Told<'_> {
    fn event(&mut self, event: Event) {
        self.dialect.tell(self.game, &event);
    }

    fn reject(&mut self, seat: Seat, index: usize, refusal: Refusal) {
        panic!("order {index} of seat {seat} is refused: {refusal}");
    }
}

fn answer(game: &Terminal, dialect: &mut Wire, seat: Seat, bot: &mut Bot) -> Commands {
    loop {
        let mut line = String::new();
        assert!(bot.from.read_line(&mut line).expect("a readable pipe") > 0, "seat {seat} has ended");
        match dialect.hear(game, seat, line.trim_end().as_bytes()) {
            Heard::More => {}
            Heard::Answer(commands) => return commands,
            other => panic!("seat {seat}: {other:?}"),
        }
    }
}

#[test]
fn python_and_javascript_play_each_other() {
    if installed("python3") && installed("node") {
        play_a_match([start(&example("python")), start(&example("javascript"))]);
    }
}

#[test]
fn rust_is_built_and_tested_and_plays_both_seats() {
    if installed("cargo") && installed("python3") {
        let rust = built("rust", &["cargo", "test", "--quiet", "--target-dir", "target"]);
        play_a_match([start(rust.path()), start(&example("python"))]);
        play_a_match([start(&example("python")), start(rust.path())]);
    }
}

#[test]
fn java_is_built_and_tested_and_plays_both_seats() {
    if installed("javac") && installed("python3") {
        let test = "javac -d target/test src/*.java test/*.java && java -cp target/test StrategyTest";
        let java = built("java", &["sh", "-c", test]);
        play_a_match([start(java.path()), start(&example("python"))]);
        play_a_match([start(&example("python")), start(java.path())]);
    }
}

#[test]
fn an_example_that_is_not_built_says_how() {
    for name in ["rust", "java"] {
        let place = tempfile::tempdir().expect("a temporary folder");
        copy(&example(name), place.path());
        let run = Command::new("sh").arg(place.path().join("run.sh")).output().expect("a shell");
        assert!(!run.status.success());
        assert!(String::from_utf8_lossy(&run.stderr).contains("compile it first: cd "), "{run:?}");
    }
}

fn play_a_match(mut bots: [Bot; 2]) {
    let game = Terminal::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default setup");
    let (mut state, mut work, mut dialect) = (game.start(), Default::default(), Wire::new(&game));
    let mut chance = agon_game::Seeded::stream(0, "play");
    while game.outcome(&state).is_none() {
        for seat in Seat::first(2) {
            let mut message = Vec::new();
            dialect.ask(&game, seat, &game.view(&state, seat), &mut message);
            message.push(b'\n');
            bots[seat.index()].to.write_all(&message).expect("a bot that reads");
        }
        let answers = [0, 1].map(|seat| {
            let seat = Seat::new(seat);
            let order = answer(&game, &mut dialect, seat, &mut bots[seat.index()]);
            (seat, Answer::Given { order, think_ms: 0 })
        });
        let mut told = Told { game: &game, dialect: &mut dialect };
        game.play(&mut state, &mut work, &answers, &mut chance, &mut told);
    }
    let outcome = game.outcome(&state).expect("the match is over");
    println!("{outcome:?} after turn {}", state.turn);
    for (seat, Bot { mut child, mut to, .. }) in Seat::first(2).zip(bots) {
        let mut message = Vec::new();
        dialect.end(&game, seat, &outcome, &Facts::default(), &mut message);
        message.push(b'\n');
        to.write_all(&message).expect("a bot that reads");
        // Some bots end at the last line, others when their input ends.
        drop(to);
        assert!(child.wait().expect("a child").success(), "seat {seat} ends well");
    }
}
