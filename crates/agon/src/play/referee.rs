//! `agon referee`: prints what brutaltester and psyleague read.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_bot::{BotName, rights};
use agon_desk::seats::{labels, seat_all};
use agon_game::{AnyGame, MapChoice, RulesChoice, Seat, Session, Setup};
use agon_match::arrival::Awaited;
use agon_match::record::Void;
use agon_match::{MatchRecord, Observer, StepReport, Terms};
use clap::Args;

use crate::common::sandbox::{Bots, SandboxOptions};
use crate::common::screen::{self, harmless, score};
use crate::common::waiting::PortOptions;
use crate::common::waiting::Waiting;
use crate::common::{self, ClockOptions, Done, Failure};
use crate::play::json::{LoggedAnswer, RefereeLine, RefereeLog};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Prints the score of each player on a line of its own, then `seed=N`; with --json one line for psyleague, in which
`errors` is 1 for a player that crashed, was late or gave an invalid answer. A match is replayed if this machine was too
busy to be fair, or if one player's program stopped the other's with a signal. Exit code 0 whatever the players did.

Examples:
  agon referee cultist-wars -p1 'python3 bot.py' -p2 ./other -d seed=42
  java -jar brutaltester.jar -r 'agon referee cultist-wars' -p1 ./a -p2 ./b -t 2 -n 100
  agon referee cultist-wars -p1 'python3 bot.py' -p2 ./other -d seed=42 --json";
/// How often a match with an unfair clock is played.
const TRIES: u32 = 5;

/// Options of `agon referee`.
#[derive(Args, Debug)]
pub struct RefereeOptions {
    /// The game
    pub game: String,
    /// Command of player 1 (also written -p1)
    #[arg(long, value_name = "CMD")]
    pub p1: String,
    /// Command of player 2 (also written -p2)
    #[arg(long, value_name = "CMD")]
    pub p2: Option<String>,
    /// Command of player 3 (also written -p3)
    #[arg(long, value_name = "CMD")]
    pub p3: Option<String>,
    /// Command of player 4 (also written -p4)
    #[arg(long, value_name = "CMD")]
    pub p4: Option<String>,
    /// Match parameters: `seed=N` [default: the current time in milliseconds]
    #[arg(long = "params", short = 'd', value_name = "seed=N", allow_hyphen_values = true)]
    pub params: Vec<String>,
    /// Writes the result, and every answer, as JSON to this file
    #[arg(long = "log", short = 'l', value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Prints one line of JSON instead: `scores` and `errors`, an entry for each player
    #[arg(long)]
    pub json: bool,
    /// Accepted and ignored: the original's option to start its web server
    #[arg(short = 's', hide = true)]
    pub serve: bool,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub port: PortOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// Spells out the original's `-p1`, which clap would read as two letters after one dash, as our `--p1`.
pub fn spell_out(arguments: &mut [OsString]) {
    for argument in arguments.iter_mut().skip(2) {
        if let Some(text) = argument.to_str()
            && let Some(player) = text.strip_prefix("-p")
            && player.starts_with(|first: char| first.is_ascii_digit())
        {
            *argument = format!("--p{player}").into();
        }
    }
}

/// Runs `agon referee`.
pub fn run(options: &RefereeOptions) -> Done {
    let mut bots = options.sandbox.bots();
    bots.run = options.port.at(bots.run);
    let game = common::game(&options.game)?;
    let commands = [Some(&options.p1), options.p2.as_ref(), options.p3.as_ref(), options.p4.as_ref()];
    let names =
        commands.into_iter().flatten().map(|command| name(command, &bots)).collect::<Result<Vec<_>, _>>()?;
    if !game.info().seats_fit(names.len()) {
        return Err(Failure::usage(format!(
            "{} is not played by {} players",
            game.info().title,
            names.len()
        )));
    }
    let labels = labels(&names);
    let setup = Setup {
        rules: RulesChoice::default(),
        map: MapChoice::Default,
        seats: names.len() as u8,
        seed: seed(&options.params)?,
    };
    let (session, record, answers) = play(options, game, &setup, &names, &labels)?;
    let tell = |seat: Seat, turn: &str, message: &str| {
        let (label, message) = (harmless(&labels[seat.index()]), harmless(message));
        eprintln!("player {seat} ({label}), {turn}: {message}");
    };
    for fault in &record.faults {
        tell(fault.seat, &fault.turn, &fault.message);
        screen::quote(&mut io::stderr(), screen::errors(), &fault.stderr)?;
    }
    record.rejected.iter().for_each(|order| tell(order.seat, &order.turn, &order.message));
    if let (Some(path), Some(answers)) = (&options.log, answers) {
        let result = record.result(session.as_ref(), &labels, None);
        let log = RefereeLog { result, answers };
        let text = serde_json::to_vec(&log).map_err(|error| Failure::own(error.to_string()))?;
        rights::write_private(path, text)
            .map_err(|error| Failure::own(format!("{}: {error}", path.display())))?;
    }
    let Some(outcome) = &record.outcome else {
        return Err(Failure::own(record.void_sentence().unwrap_or_default()));
    };
    let mut out = io::stdout().lock();
    if options.json {
        let erred = |seat: Seat| u8::from(record.faults_of(seat).any(|fault| fault.kind.breaks()));
        let line = RefereeLine {
            scores: &outcome.scores,
            errors: Seat::first(names.len() as u8).map(erred).collect(),
            seed: setup.seed,
            turns: record.steps,
            reason: &outcome.reason,
        };
        return Ok(common::print_json_line(&mut out, &line)?);
    }
    for value in &outcome.scores {
        writeln!(out, "{}", score(*value))?;
    }
    writeln!(out, "seed={}", setup.seed)?;
    Ok(())
}

/// The match played, and every answer if they are to be logged.
type Played = (Box<dyn Session>, MatchRecord, Option<Vec<LoggedAnswer>>);

/// Plays the match, and again when this machine was too busy to be fair, or a bot disturbed another one: the caller
/// takes every result as valid.
fn play(
    options: &RefereeOptions,
    game: &dyn AnyGame,
    setup: &Setup,
    names: &[BotName],
    labels: &[String],
) -> Result<Played, Failure> {
    let (clock, ponder) = (options.clock.clock()?, options.clock.ponder());
    let mut disturbed = vec![0; names.len()];
    for attempt in 1.. {
        let mut session = game.open(setup)?;
        let mut players = seat_all(session.as_mut(), names, clock, ponder)?;
        let mut log = Log { answers: options.log.is_some().then(Vec::new), waiting: Waiting::default() };
        let stop = common::stop_on_ctrl_c();
        let terms = Terms { disturbed: &disturbed, ..Terms::new(clock, ponder, stop) };
        let record = agon_match::play_on(session.as_mut(), &mut players, labels, &mut log, &terms);
        drop(players);
        if let Some(seat) = record.void.as_ref().and_then(Void::culprit) {
            disturbed[seat.index()] += 1;
        }
        if record.void.as_ref().is_some_and(|void| void.unfair().is_some()) && attempt < TRIES {
            eprintln!(
                "{} (try {attempt} of {TRIES}); playing again",
                record.void_sentence().unwrap_or_default()
            );
            continue;
        }
        return Ok((session, record, log.answers));
    }
    unreachable!("the last try returns")
}

/// A command line; also prefixed names as for `agon play`.
fn name(command: &str, bots: &Bots) -> Result<BotName, Failure> {
    let prefixed = ["cmd:", "builtin:"].iter().any(|prefix| command.starts_with(prefix));
    if prefixed || Path::new(command).exists() {
        return common::bot(command, bots);
    }
    common::named(&format!("cmd:{command}"), bots)
}

/// `seed=N` among the parameters; without it, the current time in milliseconds. Anything else is refused: a misspelt
/// seed would give a match that nobody can repeat.
fn seed(parameters: &[String]) -> Result<i64, Failure> {
    let mut seed = None;
    for parameter in parameters.iter().flat_map(|text| text.split_whitespace()) {
        let wrong = |why: &str| Failure::usage(format!("-d {parameter}: {why}"));
        match parameter.split_once('=') {
            Some(("seed", number)) => {
                seed =
                    Some(number.parse().map_err(|_| wrong("the seed is a 64-bit integer, as in -d seed=5"))?);
            }
            None if parameter.parse::<i64>().is_ok() => {
                return Err(wrong(&format!("a seed is written -d seed={parameter}")));
            }
            _ => return Err(wrong("the only parameter of a match is its seed, as in -d seed=5")),
        }
    }
    if let Some(seed) = seed {
        return Ok(seed);
    }
    Ok(common::now_ms())
}

/// Records every answer for the log.
struct Log {
    answers: Option<Vec<LoggedAnswer>>,
    waiting: Waiting,
}

impl Observer for Log {
    fn awaiting(&mut self, seats: &[Awaited], waited: Duration) {
        self.waiting.show(seats, waited);
    }

    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.waiting.done();
        let Some(answers) = &mut self.answers else { return Ok(()) };
        for ((seat, answer), take) in step.answers.iter().zip(step.takes) {
            answers.push(LoggedAnswer {
                turn: step.step,
                player: seat.index(),
                answer: text(session, *seat, answer.order()),
                ms: take.wall.as_secs_f64() * 1e3,
                stderr: String::from_utf8_lossy(&take.stderr).into_owned(),
            });
        }
        Ok(())
    }
}

fn text(session: &dyn Session, seat: Seat, order: Option<&Vec<u8>>) -> Option<String> {
    let mut text = Vec::new();
    session.say(seat, order?, &mut text).then(|| String::from_utf8_lossy(&text).into_owned())
}
