//! The example programs play a match over the original protocol, without a fault.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
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

/// Starts an example as the original starts a bot; `None` where its language is not installed.
fn start(name: &str, interpreter: &str) -> Option<Bot> {
    Command::new(interpreter)
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .ok()
        .filter(|done| done.success())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bots").join(name);
    let mut child = Command::new("sh")
        .arg(folder.join("run.sh"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    Some(Bot { child, to, from: BufReader::new(from) })
}

/// Passes frames to the dialect; the examples must not be refused anything.
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
fn the_examples_play_a_whole_match() {
    let (Some(one), Some(two)) = (start("python", "python3"), start("javascript", "node")) else {
        eprintln!("SKIPPED: python3 and node are needed");
        return;
    };
    let mut bots = [one, two];
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
        // Some bots end with the last line, others with their input.
        drop(to);
        assert!(child.wait().expect("a child").success(), "seat {seat} ends well");
    }
}
