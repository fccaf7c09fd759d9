//! `agon sprt`: is NEW better than OLD?

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use agon_contest::{Progress, SeriesEnd, SeriesKind, SeriesStanding, TestId};
use agon_desk::words::thousands;
use agon_stats::sequential::Status;
use agon_stats::{Decision, Model};
use clap::Args;

use crate::common::conditions::AsOptions;
use crate::common::here::About;
use crate::common::screen;
use crate::common::{Done, Failure, print_json_line};
use crate::series::bars::{self, certainty};
use crate::series::counts;
use crate::series::gauntlet::conclude;
use crate::series::json::DecisionWord;
use crate::series::pin;
use crate::series::progress::{self, elo_point, whole};
use crate::series::{self, Ready, SeriesOptions, Wanted, json};

/// Examples for the help.
pub const EXAMPLES: &str = "The test stops as soon as there is enough evidence: it accepts H1 if the difference is more likely elo1 than elo0,
and H0 in the opposite case. With elo1 of 10, 20, 50 that takes roughly 6,400, 1,600, 260 games (agon sprt --plan).
What the numbers mean: agon docs statistics.

Examples:
  agon sprt cultist-wars my/bot.py old/bot.py
  agon sprt                                                     this folder against the version pinned most recently
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
    /// The version to compare it with [default: the version pinned most recently here, else the first opponent in ./agon.toml]
    #[arg(value_name = "OLD")]
    pub old: Option<String>,
    /// H0: a difference not worth having [default: 0]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, help_heading = "Test")]
    pub elo0: Option<f64>,
    /// H1: a difference worth having [default: 20]
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
    /// With more than two --seats: the bots in the other seats. NEW and OLD play against them from the same seats
    #[arg(long, value_name = "BOT", num_args = 1.., help_heading = "Test")]
    pub field: Vec<String>,
    /// Stops without a decision after this many matches [default: no limit]
    #[arg(long, short = 'n', value_name = "N", help_heading = "Run")]
    pub games: Option<u64>,
    /// Exits with 1 unless NEW is found to be better, instead of with a code for each answer (see agon docs series)
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
        kind: SeriesKind::Sprt,
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
    let word = ready.scheduler.look(|state| word(&options.test(&USUAL), &state.standing, decision));
    if options.series.run.json {
        let header = ready.scheduler.header();
        let state = ready.scheduler.look(|state| progress::state("result", state, header, began));
        let result = json::SprtResult { state, decision: word, complete: end != SeriesEnd::Stopped };
        print_json_line(&mut io::stdout(), &result)?;
    } else {
        report(options, &ready, word)?;
    }
    conclude(&ready, &end)?;
    answer(options, word)
}

/// The exit code that tells the answer.
pub fn answer(options: &SprtOptions, word: DecisionWord) -> Done {
    match word {
        DecisionWord::Better => Ok(()),
        _ if options.fail_unless_better => Err(Failure::Check),
        word => Err(Failure::Answer(word.exit_code())),
    }
}

/// How often each start must have been played with the same answers before its score is taken as exact.
const REPEATS: u64 = 3;

/// The answer of the test in a word.
pub fn word(test: &TestId, standing: &SeriesStanding, decision: Decision) -> DecisionWord {
    let pairing = &standing.pairings[0];
    let superiority = pairing.estimate().map_or(0.5, |estimate| estimate.superiority);
    if standing.silent().iter().any(|bot| *bot < 2) {
        return DecisionWord::NeverAnswered;
    }
    // A test of -10 against 0 asks whether NEW is no worse.
    match DecisionWord::of(decision, test.elo0 + test.elo1 > 0.0, superiority) {
        DecisionWord::Undecided if pairing.least_of_constant() >= Some(REPEATS) => DecisionWord::Repeated,
        word => word,
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

fn report(options: &SprtOptions, ready: &Ready, word: DecisionWord) -> Done {
    let (screen, header) = (screen::output(), ready.scheduler.header());
    let state = ready.scheduler.look(Clone::clone);
    let Some(test) = &state.standing.test else { return Ok(()) };
    let (status, pairing) = (test.status(), &state.standing.pairings[0]);
    let mut out = Vec::new();
    writeln!(out, "{}\n", verdict(options, &state, ready, word))?;
    let games = u64::from(header.plan(None).games());
    let blocks = if games == 2 { "pairs" } else { "blocks" };
    let over = match header.maps.len() {
        1 if header.maps[0].name.is_empty() || header.maps[0].name == "generate" => {
            "each with a seed of its own".to_owned()
        }
        1 => "all on one map".to_owned(),
        maps => format!("on {maps} maps in {} rounds", thousands(status.blocks)),
    };
    writeln!(
        out,
        "games       {} in {} {blocks}, {over}",
        thousands(pairing.blocks * games),
        thousands(pairing.blocks)
    )?;
    let estimate = &status.estimate;
    if status.blocks > 0 {
        let won = pairing.games();
        let words = if header.seats == 2 { ["won", "drawn", "lost"] } else { ["ahead", "level", "behind"] };
        writeln!(
            out,
            "results     {} {}, {} {}, {} {}: {:.1} %",
            thousands(won.wins),
            words[0],
            thousands(won.draws),
            words[1],
            thousands(won.losses),
            words[2],
            estimate.score * 100.0
        )?;
        let same = pairing.same() as f64 / pairing.blocks.max(1) as f64 * 100.0;
        writeln!(out, "identical   both bots gave the same answers in {same:.0} % of {blocks}")?;
        let (low, point, high) = interval(&status);
        let scale = bars::Scale::of([low, point, high].into_iter().flatten());
        writeln!(out, "Elo         {}", elo(&status))?;
        writeln!(out, "            {}", screen.dim(&scale.title()))?;
        writeln!(out, "            {}", scale.bar(low, point, high).trim_end())?;
        writeln!(out, "better      chance {}", certainty(estimate.superiority))?;
    }
    let path = bars::path(test.path(), (status.lower, status.upper), PATH);
    writeln!(
        out,
        "LLR         {:.2} [{path}] {:.2}, now {:+.2} (--model {})",
        status.lower,
        status.upper,
        status.llr,
        options.test(&USUAL).model
    )?;
    writeln!(out)?;
    progress::faults(&mut out, screen, &state, ready)?;
    progress::notes(&mut out, screen, ready)?;
    io::stdout().lock().write_all(screen::folded(&String::from_utf8_lossy(&out)).as_bytes())?;
    Ok(())
}

/// The difference in Elo and its interval: corrected, if the test was stopped by its results.
fn interval(status: &Status) -> (Option<f64>, Option<f64>, Option<f64>) {
    let estimate = &status.estimate;
    match &status.corrected {
        Some(found) => (found.low, found.elo, found.high),
        None => (estimate.elo_low, estimate.elo, estimate.elo_high),
    }
}

/// That in words: `+43 (+21 to +65, 95 %), corrected for stopping`.
pub fn elo(status: &Status) -> String {
    let (low, point, high) = interval(status);
    let end = |end: Option<f64>, none: &str| end.map_or_else(|| none.to_owned(), whole);
    let (shown, how) = match status.corrected {
        Some(_) => (end(point, "–"), ", corrected for stopping"),
        None => (elo_point(&status.estimate), ""),
    };
    format!("{shown} ({} to {}, 95 %){how}", end(low, "-∞"), end(high, "+∞"))
}

/// The width of the path of a test, in characters.
const PATH: usize = 24;

/// The answer in a sentence, with its unit.
fn verdict(options: &SprtOptions, state: &Progress, ready: &Ready, word: DecisionWord) -> String {
    let (screen, header) = (screen::output(), ready.scheduler.header());
    let [new, old] = [0, 1].map(|bot| screen::harmless(&header.bots[bot].label));
    let TestId { elo0, elo1, model, .. } = options.test(&USUAL);
    let unit = match model {
        Model::Normalized => "normalised Elo",
        Model::Logistic => "Elo",
        Model::Bayesian => "BayesElo",
    };
    let (h0, h1) = (
        format!(" (H0 accepted: the results fit {elo0} {unit} better than {elo1:+})"),
        format!(" (H1 accepted: the results fit {elo1:+} {unit} better than {elo0})"),
    );
    let pairing = &state.standing.pairings[0];
    match word {
        DecisionWord::Better if elo0 + elo1 > 0.0 => {
            screen.good(&format!("Yes: {new} is better than {old}")) + &h1
        }
        DecisionWord::Better => screen.good(&format!("Yes: {new} is not worse than {old}")) + &h1,
        DecisionWord::Worse => screen.bad(&format!("No: {new} is worse than {old}")) + &h0,
        DecisionWord::NotBetter => {
            screen.bad(&format!("No: {new} is not better than {old} by {elo1} {unit}")) + &h0
        }
        DecisionWord::Repeated => {
            let games = pairing.counted() * u64::from(header.plan(None).games()) * header.maps.len() as u64;
            let score = pairing.estimate().map_or(0.5, |estimate| estimate.score);
            let points = (score * games as f64 * 10.0).round() / 10.0;
            let repeats = pairing.least_of_constant().unwrap_or(0);
            screen.strong(&format!(
                "{new} scores {points} of {games} against {old}, as far as {repeats} repeats show"
            )) + ": from each start they play the same again;\nfor more games "
                + ready.more_starts()
        }
        DecisionWord::NeverAnswered => {
            let silent = state.standing.silent();
            let label = if silent.contains(&0) { &new } else { &old };
            screen.bad(&format!("No answer: {label} never gave one in the form of the game"))
                + ", so nothing is stated about which is better"
        }
        DecisionWord::Equal | DecisionWord::Undecided => screen.strong("Undecided"),
    }
}
