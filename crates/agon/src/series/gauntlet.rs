//! `agon gauntlet`: one bot against others.

use std::io::{self, Write as _};
use std::time::Instant;

use agon_contest::{SeriesEnd, SeriesKind};
use agon_desk::words::thousands;
use clap::Args;

use crate::common::conditions::AsOptions;
use crate::common::here::About;
use crate::common::screen;
use crate::common::table::{Cell, Table};
use crate::common::{Done, Failure, print_json_line};
use crate::series::bars::{Scale, certainty};
use crate::series::progress::{self, elo_interval, elo_point};
use crate::series::{self, Ready, SeriesOptions, USUAL_GAMES, Wanted, json};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Every seed is played in every rotation of the seats. In matches of more than two seats the opponents sit together,
drawn in turn from the list. What the numbers mean: agon docs statistics.

Examples:
  agon gauntlet cultist-wars my/bot.py builtin:greedy builtin:hunter -n 200
  agon gauntlet                                            this folder against the opponents in its agon.toml
  agon gauntlet cultist-wars my/bot.py git:HEAD~1 --seed 1 --replays all
  agon gauntlet ostibot my/bot.js builtin:looter builtin:fighter --seats 4     a mixed field
  agon gauntlet cultist-wars . builtin:greedy --as https://cup.example  under the conditions of a contest
  agon gauntlet cultist-wars my/bot.py builtin:greedy -n 200 --resume      resumes after an interruption";

/// Options of `agon gauntlet`.
#[derive(Args, Debug)]
pub struct GauntletOptions {
    /// The game (see `agon games`) [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The bot to test [default: this folder's]
    #[arg(value_name = "NEW")]
    pub new: Option<String>,
    /// The bots it plays against [default: the opponents in ./agon.toml]
    #[arg(value_name = "OPPONENT")]
    pub opponents: Vec<String>,
    /// Matches against each opponent, rounded up so that every seed is played in all seats [default: 100]
    #[arg(long, short = 'n', value_name = "N", help_heading = "Run")]
    pub games: Option<u64>,
    #[command(flatten)]
    pub there: AsOptions,
    #[command(flatten)]
    pub series: SeriesOptions,
}

/// Runs `agon gauntlet`.
pub fn run(options: &GauntletOptions) -> Done {
    if options.games == Some(0) {
        return Err(Failure::usage("-n 0: there is nothing to play"));
    }
    let began = Instant::now();
    let conditions = options.there.find()?;
    let (about, mut series) = who(options)?;
    if let Some(conditions) = &conditions {
        conditions.check_game(&about.game)?;
        series = series.under(conditions, options.series.rules.as_ref())?;
    }
    let ready = series::prepare(&Wanted {
        kind: SeriesKind::Gauntlet,
        game: &about.game,
        bots: about.bots,
        games: Some(options.games.unwrap_or(USUAL_GAMES)),
        chosen: options.games.is_some(),
        format: None,
        like: None,
        how: None,
        test: None,
        options: &series,
    })?;
    let end = series::run(&ready, &options.series.run)?;
    if options.series.run.json {
        let header = ready.scheduler.header();
        let state = ready.scheduler.look(|state| progress::state("result", state, header, began));
        let result = json::GauntletResult { state, complete: end == SeriesEnd::Complete };
        print_json_line(&mut io::stdout(), &result)?;
    } else {
        report(&ready)?;
    }
    conclude(&ready, &end)
}

/// Game, bots and rules: as typed, else from the `agon.toml` of this folder.
fn who(options: &GauntletOptions) -> Result<(About, SeriesOptions), Failure> {
    let words: Vec<&String> = options.game.iter().chain(&options.new).chain(&options.opponents).collect();
    let mut about = About::read(&words, options.series.rules.as_ref())?;
    if about.bots.is_empty() {
        about.bots.push(".".to_owned());
    }
    if about.bots.len() == 1 {
        about.bots.extend(about.opponents()?.to_vec());
    }
    let series = SeriesOptions { rules: about.rules.clone(), ..options.series.clone() };
    Ok((about, series))
}

/// The message of a series that was stopped, and the exit code; one whose bot never answered has measured nothing.
pub fn conclude(ready: &Ready, end: &SeriesEnd) -> Done {
    if *end == SeriesEnd::Stopped {
        eprintln!("stopped: {}", series::go_on(ready));
        return Err(Failure::Stopped);
    }
    let header = ready.scheduler.header();
    let stillborn = ready.scheduler.look(|progress| progress.standing.stillborn().is_some());
    match header.kind == SeriesKind::Gauntlet && stillborn {
        true => Err(Failure::Answer(2)),
        false => Ok(()),
    }
}

fn report(ready: &Ready) -> Done {
    let (screen, header) = (screen::output(), ready.scheduler.header());
    let state = ready.scheduler.look(Clone::clone);
    let mut out = Vec::new();
    let many_seats = header.seats > 2;
    let games = if many_seats { ["ahead", "level", "behind"] } else { ["won", "drawn", "lost"] };
    let estimates: Vec<_> = state.standing.pairings.iter().map(agon_contest::Pairing::estimate).collect();
    let ends = estimates.iter().flatten().flat_map(|found| [found.elo_low, found.elo, found.elo_high]);
    let scale = Scale::of(ends.flatten());
    let axis = scale.title();
    let mut table = Table::new().names("opponent").numbers("games", 2).numbers("repeats", 5);
    table = games.into_iter().fold(table, |table, title| table.numbers(title, 4));
    table = table
        .numbers("score", 1)
        .numbers("Elo", 0)
        .numbers(axis, 0)
        .numbers("95 %", 6)
        .numbers("better: chance", 0);
    for ((number, pairing), estimate) in state.standing.pairings.iter().enumerate().zip(estimates) {
        let label = match header.plan(None).mixed() {
            true => "all, in turn".to_owned(),
            false => screen::harmless(&header.bots[number + 1].label),
        };
        let games = pairing.games();
        let silent = state.standing.silent();
        let is_silent = silent.contains(&0) || !header.plan(None).mixed() && silent.contains(&(number + 1));
        let (score, elo, bar, interval, superiority) = match estimate.filter(|_| !is_silent) {
            None => ["–", "–", "", "–", "–"].map(str::to_owned).into(),
            Some(estimate) => (
                format!("{:.1} %", estimate.score * 100.0),
                elo_point(&estimate),
                scale.bar(estimate.elo_low, estimate.elo, estimate.elo_high),
                elo_interval(&estimate),
                certainty(estimate.superiority),
            ),
        };
        let repeats = thousands(pairing.rounds() - pairing.counted());
        let all = pairing.blocks * u64::from(header.plan(None).games());
        let cells = [
            label,
            thousands(all),
            repeats,
            thousands(games.wins),
            thousands(games.draws),
            thousands(games.losses),
            score,
            elo,
            bar,
            interval,
            superiority,
        ];
        table.row(cells.map(Cell::from).into());
    }
    let title = format!("{} against", screen::harmless(&header.bots[0].label));
    writeln!(out, "{}\n{}", screen.strong(&title), table.text(screen::room()))?;
    progress::faults(&mut out, screen, &state, ready)?;
    progress::notes(&mut out, screen, ready)?;
    io::stdout().lock().write_all(screen::folded(&String::from_utf8_lossy(&out)).as_bytes())?;
    Ok(())
}
