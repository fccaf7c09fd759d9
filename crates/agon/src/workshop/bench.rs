//! `agon bench`: the speed of the engines and the referee.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agon_desk::seats::{header, seat_all};
use agon_game::Bench;
use agon_game::{Session, Setup};
use agon_match::{Clock, Observer, Player, Ponder, Recorder, StepReport};
use clap::Args;

use crate::common::sandbox::SandboxOptions;
use crate::common::{self, Done, Failure, SetupOptions};
use crate::workshop::json::{self, Figure};

/// Options of `agon bench`.
#[derive(Args, Debug)]
pub struct BenchOptions {
    /// A game, or `referee`
    pub what: String,
    /// Prints the figures as JSON
    #[arg(long)]
    pub json: bool,
    /// Seconds for each figure
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub seconds: f64,
    /// For `referee`: the bot that plays itself [default: this program, answering WAIT]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// The number of seats, for games that allow several
    #[arg(long, value_name = "N")]
    pub seats: Option<u8>,
    #[command(flatten)]
    pub setup: SetupOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
}

/// The hidden subcommand that turns this program into the quickest possible bot.
pub const WAITER: &str = "__waiter";

/// The quickest possible bot of Cultist Wars: it answers `WAIT` to every unit list.
pub fn wait_for_ever() -> ExitCode {
    let mut input = io::BufReader::with_capacity(4096, io::stdin().lock());
    let mut output = io::stdout().lock();
    let mut line = String::new();
    let mut skip = 9;
    loop {
        for _ in 0..=skip {
            line.clear();
            if !matches!(input.read_line(&mut line), Ok(1..)) {
                return ExitCode::SUCCESS;
            }
        }
        let units: u32 = line.trim().parse().unwrap_or(0);
        for _ in 0..units {
            line.clear();
            if !matches!(input.read_line(&mut line), Ok(1..)) {
                return ExitCode::SUCCESS;
            }
        }
        if output.write_all(b"WAIT\n").and_then(|()| output.flush()).is_err() {
            return ExitCode::SUCCESS;
        }
        skip = 0;
    }
}

impl Figure {
    fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let last = samples.len() - 1;
        Self { least: samples[0], median: samples[last / 2], most: samples[last] }
    }
}

/// How many samples make a figure.
const SAMPLES: u32 = 9;

/// Runs `agon bench`.
pub fn run(options: &BenchOptions) -> Done {
    if !(options.seconds > 0.0 && options.seconds <= 600.0) {
        return Err(Failure::usage("--seconds: a number above 0 and at most 600"));
    }
    let cpus = agon_bot::sys::cpus();
    if options.what == "referee" {
        return referee(options);
    }
    agon_bot::sys::stay_on(&cpus[cpus.len() - 1..]);
    let game = common::game(&options.what)?;
    let info = game.info();
    let seats = options.seats.unwrap_or(info.usual_seats());
    let mut setup_options = options.setup.clone();
    setup_options.seed = Some(setup_options.seed.unwrap_or(1));
    let setup: Setup = setup_options.setup(game, usize::from(seats))?;
    let Bench { state_bytes, workloads } = game.bench(&setup)?;
    let mut out = io::stdout().lock();
    let mut figures = json::Figures::default();
    if !options.json {
        writeln!(out, "{} · {seats} seats · one core\n", info.title)?;
        writeln!(out, "{:<16} {state_bytes} bytes", "state")?;
    }
    for mut workload in workloads {
        let (figure, units) = measure(&mut workload.run, options.seconds);
        if options.json {
            figures.workloads.insert(workload.name, json::Measured { ns: figure, about: workload.about });
        } else {
            let Figure { least, median, most } = figure;
            writeln!(
                out,
                "{:<16} {median:>10.1} ns  ({least:.1} to {most:.1})  {}",
                workload.name, workload.about
            )?;
        }
        if workload.name == "playout" {
            let per_second = 1e9 / (figure.median * units);
            if options.json {
                figures.games_per_second = Some(per_second);
                figures.steps_per_game = Some(units);
            } else {
                writeln!(out, "{:<16} {per_second:>10.0} games/s ({units:.1} {}s a game)", "", info.step)?;
            }
        }
    }
    if options.json {
        common::print_json(&mut out, &json::Bench { game: info.name, seats, state_bytes, figures })?;
    }
    Ok(())
}

/// Nanoseconds a unit, and units a call.
fn measure(run: &mut dyn FnMut() -> u64, seconds: f64) -> (Figure, f64) {
    let each = Duration::from_secs_f64(seconds / f64::from(SAMPLES));
    let (mut calls, mut units) = (0u64, 0u64);
    let mut sample = || {
        let (began, mut done) = (Instant::now(), 0);
        loop {
            let now = run();
            done += now;
            (calls, units) = (calls + 1, units + now);
            let passed = began.elapsed();
            if passed >= each {
                return passed.as_nanos() as f64 / done as f64;
            }
        }
    };
    sample();
    let figure = Figure::of((0..SAMPLES).map(|_| sample()).collect());
    (figure, units as f64 / calls as f64)
}

/// Collects the wall time of every answer.
struct Walls(Vec<f64>);

impl Observer for Walls {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.0.extend(step.takes.iter().filter(|take| take.timed).map(|take| take.wall.as_secs_f64() * 1e6));
        Ok(())
    }
}

/// Measures the referee over two native bots on one CPU.
fn referee(options: &BenchOptions) -> Done {
    let game = common::game("cultist-wars")?;
    let own = std::env::current_exe().map_err(|error| Failure::own(error.to_string()))?;
    let own = format!("cmd:'{}' {WAITER}", own.display());
    let bot = common::named(options.bot.as_ref().unwrap_or(&own), &options.sandbox.bots())?;
    let names = [bot.clone(), bot];
    let labels = ["a".to_owned(), "b".to_owned()];
    let stop = common::stop_on_ctrl_c();
    let one = |record: bool, walls: &mut Walls| -> Result<(f64, u32), Failure> {
        let setup = Setup { seats: 2, seed: 1, ..Setup::default() };
        let mut session = game.open(&setup)?;
        let began = Instant::now();
        let clock = Clock::ORIGINAL;
        let mut players: Vec<Player> = seat_all(session.as_mut(), &names, clock, Ponder::Stop)?;
        let play = |session: &mut dyn Session, players: &mut [Player], observer: &mut dyn Observer| {
            agon_match::play(session, players, &labels, clock, Ponder::Stop, observer, stop)
        };
        let match_record = if record {
            let header = header(session.as_ref(), &names, &labels, Clock::ORIGINAL);
            let mut recorder = Recorder::new(Vec::new(), &header)?;
            let found = play(session.as_mut(), &mut players, &mut recorder);
            std::hint::black_box(recorder.finish(session.as_mut(), &found)?);
            found
        } else {
            play(session.as_mut(), &mut players, walls)
        };
        drop(players);
        let passed = began.elapsed().as_secs_f64();
        if match_record.outcome.is_none() || !match_record.faults.is_empty() {
            return Err(Failure::own(format!(
                "the bench match failed: {:?} {:?}",
                match_record.void, match_record.faults
            )));
        }
        Ok((passed, match_record.steps))
    };
    let mut walls = Walls(Vec::new());
    let (mut matches, mut steps, mut times) = (0u32, 0u64, Vec::new());
    one(false, &mut Walls(Vec::new()))?;
    let (before, bots_before) = (cpu(), agon_bot::sys::ended_children_cpu_time());
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < options.seconds * 3.0 {
        let (time, played) = one(false, &mut walls)?;
        times.push(1.0 / time);
        matches += 1;
        steps += u64::from(played);
    }
    let bare = cpu() - before;
    let bots = (agon_bot::sys::ended_children_cpu_time() - bots_before).as_secs_f64();
    let per_second = f64::from(matches) / began.elapsed().as_secs_f64();
    let before = cpu();
    for _ in 0..matches {
        one(true, &mut walls)?;
    }
    let recorded = cpu() - before;
    let mut answers = walls.0;
    answers.sort_by(f64::total_cmp);
    let at = |part: f64| answers[((answers.len() - 1) as f64 * part) as usize];
    let (per_turn, bots_per_turn) = (bare * 1e6 / steps as f64, bots * 1e6 / steps as f64);
    let cost = 100.0 * (recorded - bare) / (bare + bots);
    let mut out = io::stdout().lock();
    if options.json {
        let figures = json::RefereeBench {
            matches,
            matches_per_second: per_second,
            matches_per_second_spread: Figure::of(times),
            answer_us: json::Answer { median: at(0.5), p99: at(0.99) },
            referee_cpu_us_per_turn: per_turn,
            bots_cpu_us_per_turn: bots_per_turn,
            recording_cpu_percent: cost,
        };
        return common::print_json(&mut out, &figures);
    }
    let spread = Figure::of(times);
    writeln!(out, "Referee · Cultist Wars, 150 turns, two fresh native processes a match, one CPU\n")?;
    writeln!(
        out,
        "matches              {per_second:>8.0} /s  ({:.0} to {:.0} in single matches)",
        spread.least, spread.most
    )?;
    writeln!(
        out,
        "question to answer   {:>8.1} µs median, {:.1} µs 99th percentile (the bot's own work included)",
        at(0.5),
        at(0.99)
    )?;
    writeln!(out, "referee's CPU        {per_turn:>8.1} µs a turn, starting and ending processes included")?;
    writeln!(out, "bots' CPU            {bots_per_turn:>8.1} µs a turn")?;
    writeln!(out, "recording a replay   {cost:>8.1} % more CPU of the whole match")?;
    Ok(())
}

/// CPU time of this process, in seconds.
fn cpu() -> f64 {
    agon_bot::sys::cpu_time(rustix::process::getpid()).unwrap_or_default().as_secs_f64()
}
