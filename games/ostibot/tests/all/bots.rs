//! The example programs play a match against each other.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use agon_game::session::RunningMatch;
use agon_game::{Answer, Game, Heard, Session, Setup};
use ostibot::Ostibot;

/// Calls the functions of a script under Node, one line per call.
const NODE_HOST: &str = r#"
const { script } = await import(process.argv[1]);
const lines = (await import("node:readline")).createInterface({ input: process.stdin });
for await (const line of lines) {
  const { phase, input } = JSON.parse(line);
  console.log(JSON.stringify((await script[phase]?.(input)) ?? {}));
}
"#;

struct Bot {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Bot {
    /// Starts a program; prints a line and returns `None` where its language is not installed.
    fn start(mut command: Command) -> Option<Self> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut process) = started else {
            eprintln!("SKIPPED: {:?} is not installed", command.get_program());
            return None;
        };
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Some(Self { process, input, output })
    }

    fn answer(&mut self, question: &[u8]) -> String {
        self.input.write_all(question).and_then(|()| self.input.write_all(b"\n")).expect("the bot reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the bot writes");
        line
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn bots() -> Option<[Bot; 2]> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bots");
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", NODE_HOST]).arg(folder.join("javascript/bot.js"));
    let mut python = Command::new("python3");
    python.arg(folder.join("python/strategy.py"));
    Some([Bot::start(node)?, Bot::start(python)?])
}

#[test]
fn the_examples_play_and_earn_gold() {
    let mut earned = [0.0; 2];
    for seed in 0..4 {
        let Some(mut bots) = bots() else { return };
        let mut table = RunningMatch::new(
            Ostibot::set_up(&Setup { seats: 2, seed, ..Setup::default() }).expect("a set-up"),
        );
        while !table.deciding().is_empty() {
            let mut answers = Vec::new();
            for seat in table.deciding().iter() {
                let mut question = Vec::new();
                table.ask(seat, &mut question);
                let line = bots[seat.index()].answer(&question);
                match table.hear(seat, line.trim_end().as_bytes()) {
                    Heard::Answer(order) => answers.push((seat, Answer::Given { order, think_ms: 0 })),
                    other => panic!("seat {seat} answers `{line}`, which is {other:?}"),
                }
            }
            table.play(&answers).expect("answers of who is asked");
            assert_eq!(table.rejections(), [], "{}", table.moment());
        }
        for (sum, score) in earned.iter_mut().zip(&table.outcome().expect("the end").scores) {
            *sum += score;
        }
    }
    println!("gold in four matches: JavaScript {}, Python {}", earned[0], earned[1]);
    // Four times their starting gold.
    assert!(earned.iter().all(|&gold| gold > 12.0), "{earned:?}");
}
