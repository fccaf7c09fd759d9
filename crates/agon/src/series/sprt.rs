//! `agon sprt`: is NEW better than OLD?

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use agon_contest::{End, Kind, TestId};
use agon_stats::{Decision, Model};
use clap::Args;

use crate::common::conditions::AsOptions;
use crate::common::here::About;
use crate::common::screen;
use crate::common::{Done, Failure};
use crate::series::counts;
use crate::series::gauntlet::conclude;
use crate::series::pin;
use crate::series::progress::{self, elo_interval, elo_point, thousands, whole};
use crate::series::{self, Ready, SeriesOptions, Wanted, json};

/// Examples for the help.
pub const EXAMPLES: &str = "The test stops as soon as there is enough evidence: at H1, the difference is elo1 rather than elo0, or at H0,
elo0 rather than elo1. With elo1 of 10, 20, 50 that takes roughly 6,400, 1,600, 260 games (agon sprt --plan).
What the numbers mean: docs/statistics.md.

Examples:
  agon sprt cultist-wars my/bot.py old/bot.py
  agon sprt                                                     this folder against its last frozen version
  agon sprt cultist-wars . git:HEAD~1 --elo1 20                 better than yesterday's?
  agon sprt cultist-wars . git:HEAD~1 --fail-unless-better      for a build server
  agon sprt . git:HEAD~1 --as https://cup.example                under the conditions of a contest
  agon sprt --plan --elo1 50                                    how many games will it take?
  agon sprt --counts 1240/1100/860 --json                       wins/losses/draws played elsewhere
  agon sprt --counts 10/70/240/110/20 --elo1 10                 pairs of games that scored 0, ½, 1, 1½, 2
  agon sprt --from agon-series/cultist-wars-gauntlet-1          what does this journal say?
  agon sprt jungle-blitz . git:HEAD~1 --seats 4 --field builtin:raider";

/// Options of `agon sprt`.
#[derive(Args, Debug)]
pub struct SprtOptions {
    /// The game (see `agon games`) [default: the one in ./agon.toml]
    pub game: Option<String>,
    /// The new version [default: this folder's]
    #[arg(value_name = "NEW")]
    pub new: Option<String>,
    /// The version to compare it with [default: what `agon pin` froze last here, else the first opponent in ./agon.toml]
    #[arg(value_name = "OLD")]
    pub old: Option<String>,
    /// H0: the difference that is not worth it [default: 0]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, help_heading = "Test")]
    pub elo0: Option<f64>,
    /// H1: the difference that would be worth it [default: 20]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, help_heading = "Test")]
    pub elo1: Option<f64>,
    /// How often H1 may be accepted although H0 is true [default: 0.05]
    #[arg(long, value_name = "P", help_heading = "Test")]
    pub alpha: Option<f64>,
    /// How often H0 may be accepted although H1 is true [default: 0.05]
    #[arg(long, value_name = "P", help_heading = "Test")]
    pub beta: Option<f64>,
    /// The units of elo0 and elo1: normalized, logistic or bayesian [default: normalized]
    #[arg(long, value_name = "MODEL", help_heading = "Test")]
    pub model: Option<Model>,
    /// Plays nothing: says what these counts decide; W/L/D of games, or five counts of pairs that scored 0, ½, 1, 1½, 2
    #[arg(long, value_name = "COUNTS", allow_hyphen_values = true, conflicts_with_all = ["from", "plan", "new"], help_heading = "Without a match")]
    pub counts: Option<String>,
    /// Plays nothing: says what the matches of this journal decide
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["plan", "new"], help_heading = "Without a match")]
    pub from: Option<PathBuf>,
    /// Plays nothing: shows how many games the test takes for true differences from -20 to +40
    #[arg(long, conflicts_with = "new", help_heading = "Without a match")]
    pub plan: bool,
    /// With --seats above 2: the other bots of a match, in which NEW and OLD take the same seat in turn
    #[arg(long, value_name = "BOT", num_args = 1.., help_heading = "Test")]
    pub field: Vec<String>,
    /// Stops undecided after this many matches [default: never]
    #[arg(long, short = 'n', value_name = "N", help_heading = "Run")]
    pub games: Option<u64>,
    /// Exits with 1 unless NEW is found to be better
    #[arg(long, help_heading = "Output")]
    pub fail_unless_better: bool,
    #[command(flatten)]
    pub there: AsOptions,
    #[command(flatten)]
    pub series: SeriesOptions,
}

impl SprtOptions {
    /// The hypotheses: as given, else from `usual`.
    pub fn test(&self, usual: &TestId) -> TestId {
        TestId {
            model: self.model.unwrap_or(usual.model),
            elo0: self.elo0.unwrap_or(usual.elo0),
            elo1: self.elo1.unwrap_or(usual.elo1),
            alpha: self.alpha.unwrap_or(usual.alpha),
            beta: self.beta.unwrap_or(usual.beta),
        }
    }
}

/// The default hypotheses. Edits of a contest bot are worth tens of points, and its matches are slow: 0 against 20
/// normalised Elo is decided in about 1,600 games, 0 against 5 in 26,000.
pub const USUAL: TestId = TestId { model: Model::Normalized, elo0: 0.0, elo1: 20.0, alpha: 0.05, beta: 0.05 };

/// Runs `agon sprt`.
pub fn run(options: &SprtOptions) -> Done {
    if options.counts.is_some() || options.from.is_some() || options.plan {
        return counts::run(options);
    }
    if options.games == Some(0) {
        return Err(Failure::usage("-n 0: there is nothing to play"));
    }
    let conditions = options.there.find()?;
    let asked = options.series.seats.unwrap_or(2);
    let seats = conditions.as_ref().map_or(asked, |conditions| conditions.contest.seats);
    if seats == 2 && !options.field.is_empty() {
        return Err(Failure::usage(
            "--field is for matches of more than two seats: add --seats N; in two seats NEW meets OLD itself",
        ));
    }
    let began = Instant::now();
    let (about, mut series) = who(options)?;
    if let Some(conditions) = &conditions {
        conditions.check_game(&about.game)?;
        series = series.under(conditions, options.series.rules.as_ref())?;
    }
    let ready = series::prepare(&Wanted {
        kind: Kind::Sprt,
        game: &about.game,
        bots: about.bots.iter().chain(&options.field).cloned().collect(),
        games: options.games,
        chosen: options.games.is_some(),
        format: None,
        like: None,
        how: None,
        test: Some(options.test(&USUAL)),
        options: &series,
    })?;
    let end = series::run(&ready, &options.series.run)?;
    let decision =
        ready.scheduler.look(|state| state.standing.test.as_ref().map(|test| test.status().decision));
    let decision = decision.unwrap_or(Decision::Continue);
    if options.series.run.json {
        let header = ready.scheduler.header();
        let state = ready.scheduler.look(|state| progress::state("result", state, header, began));
        let result = json::SprtResult { state, decision: decision.into(), complete: end != End::Stopped };
        series::print_json(&result)?;
    } else {
        report(options, &ready, decision)?;
    }
    conclude(&ready, &end)?;
    match options.fail_unless_better && decision != Decision::AcceptH1 {
        true => Err(Failure::Check),
        false => Ok(()),
    }
}

/// Game, NEW, OLD and rules: as typed, else from the `agon.toml` of this folder.
fn who(options: &SprtOptions) -> Result<(About, SeriesOptions), Failure> {
    let words: Vec<&String> = [&options.game, &options.new, &options.old].into_iter().flatten().collect();
    let mut about = About::read(&words, options.series.rules.as_ref())?;
    if about.bots.is_empty() {
        about.bots.push(".".to_owned());
    }
    if about.bots.len() == 1 {
        let old = match pin::last() {
            Some(pinned) => pinned,
            None => about.opponents()?[0].clone(),
        };
        if !options.series.run.quiet && !options.series.run.json {
            eprintln!("note: {} against {old}", about.bots[0]);
        }
        about.bots.push(old);
    }
    if about.bots.len() > 2 {
        return Err(Failure::usage(format!("`{}`: agon sprt takes a game, NEW and OLD", about.bots[2])));
    }
    let series = SeriesOptions { rules: about.rules.clone(), ..options.series.clone() };
    Ok((about, series))
}

fn report(options: &SprtOptions, ready: &Ready, decision: Decision) -> Done {
    let (screen, header) = (screen::output(), ready.scheduler.header());
    let state = ready.scheduler.look(Clone::clone);
    let Some(status) = state.standing.test.as_ref().map(agon_stats::Sequential::status) else {
        return Ok(());
    };
    let mut out = io::stdout().lock();
    let [new, old] = [0, 1].map(|bot| screen::harmless(&header.bots[bot].label));
    let TestId { elo0, elo1, model, .. } = options.test(&USUAL);
    // A test of -10 against 0 asks whether NEW is no worse.
    let asks_better = elo0 + elo1 > 0.0;
    let verdict = match decision {
        Decision::AcceptH1 if asks_better => screen.good(&format!("Yes: {new} is better than {old}")),
        Decision::AcceptH1 => screen.good(&format!("Yes: {new} is not worse than {old}")),
        Decision::AcceptH0 if !asks_better || status.estimate.superiority < 0.05 => {
            screen.bad(&format!("No: {new} is worse than {old}"))
        }
        Decision::AcceptH0 => screen.bad(&format!("No: {new} is not better than {old} by {elo1}")),
        Decision::OutOfGames { counted } => {
            let games = counted * u64::from(header.plan(None).games());
            screen.bad(&format!(
                "Undecided: these bots play only {} different games here; vary maps, seeds or opponents",
                thousands(games)
            ))
        }
        Decision::Continue => screen.strong("Undecided"),
    };
    let accepted = match decision {
        Decision::AcceptH1 => format!(" (H1 accepted: {elo1:+} rather than {elo0:+})"),
        Decision::AcceptH0 => format!(" (H0 accepted: {elo0:+} rather than {elo1:+})"),
        _ => String::new(),
    };
    writeln!(out, "{verdict}{accepted}\n")?;
    let block = header.plan(None).games();
    let counted = match status.counted {
        all if all == status.blocks => "all counted".to_owned(),
        some => format!("{} of {} counted", thousands(some), thousands(status.blocks)),
    };
    let blocks = if block == 2 { "pairs" } else { "blocks" };
    writeln!(
        out,
        "games       {} in {} {blocks}, {counted}",
        thousands(status.blocks * u64::from(block)),
        thousands(status.blocks)
    )?;
    let estimate = &status.estimate;
    if status.counted > 0 {
        let games = state.standing.pairings[0].games();
        let words = if block == 2 { ["won", "drawn", "lost"] } else { ["ahead", "level", "behind"] };
        writeln!(
            out,
            "results     {} {}, {} {}, {} {}: {:.1} %",
            thousands(games.wins),
            words[0],
            thousands(games.draws),
            words[1],
            thousands(games.losses),
            words[2],
            estimate.score * 100.0
        )?;
        if block == 2 {
            let counts: Vec<String> = status.counts.iter().map(u64::to_string).collect();
            writeln!(out, "pairs       {} (0, ½, 1, 1½, 2 points)", counts.join(" "))?;
        }
        writeln!(out, "Elo         {} ({}, 95 %)", elo_point(estimate), elo_interval(estimate))?;
        if let Some(corrected) = &status.corrected {
            let end = |end: Option<f64>, none: &str| end.map_or_else(|| none.to_owned(), whole);
            writeln!(
                out,
                "            {} ({} to {}) corrected for stopping when it looked clearest",
                end(corrected.elo, "–"),
                end(corrected.low, "−∞"),
                end(corrected.high, "+∞")
            )?;
        }
        if let (Some(normalized), Some(error)) = (estimate.normalized, estimate.normalized_error) {
            writeln!(out, "nElo        {normalized:+.1} ± {error:.1}")?;
        }
        writeln!(out, "better with {:.1} %", estimate.superiority * 100.0)?;
    }
    writeln!(
        out,
        "LLR         {:+.2} in {:.2} to {:.2} ({} model)",
        status.llr, status.lower, status.upper, model
    )?;
    writeln!(out)?;
    progress::faults(&mut out, screen, &state, header)?;
    progress::notes(&mut out, screen, ready)?;
    Ok(())
}
