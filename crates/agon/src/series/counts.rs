//! `agon sprt` without a match: from counts, from a journal, or as a plan.

use std::io::{self, Write as _};

use agon_contest::{Entry, SeriesKind, SeriesStanding, TestId, journal};
use agon_desk::words::thousands;
use agon_stats::{Estimate, Shape, Sprt, Tally};

use crate::common::folders::JOURNAL;
use crate::common::screen;
use crate::common::{self, Done, Failure};
use crate::series::bars::certainty;
use crate::series::json::{CountsResult, DecisionWord};
use crate::series::progress::{elo_interval, elo_point};
use crate::series::sprt::{SprtOptions, USUAL, answer, word};

/// Runs `agon sprt --counts`, `--from` and `--plan`.
pub fn run(options: &SprtOptions) -> Done {
    if options.plan {
        return plan(options);
    }
    let (tally, test, standing) = match (&options.counts, &options.from) {
        (Some(counts), _) if options.game.is_some() => {
            return Err(Failure::usage(format!("--counts {counts} needs no game: leave it out")));
        }
        (Some(counts), _) => (from_counts(counts)?, options.test(&USUAL), None),
        _ => from_journal(options)?,
    };
    let sprt = sprt(&test, tally.shape())?;
    let (Some(llr), Some(decision)) = (sprt.llr(&tally), sprt.decide(&tally)) else {
        return Err(Failure::usage(
            "the bayesian model needs wins, losses and draws of games; counts of pairs do not hold them",
        ));
    };
    let (estimate, (lower, upper)) = (Estimate::new(&tally, 0.95), sprt.bounds());
    let word = match &standing {
        Some(standing) => word(&test, standing, decision),
        None => DecisionWord::of(decision, test.elo0 + test.elo1 > 0.0, estimate.superiority),
    };
    let games = tally.blocks() * u64::from(tally.shape().games);
    let mut out = io::stdout().lock();
    if options.series.run.json {
        let result = CountsResult {
            llr,
            decision: word,
            lower,
            upper,
            model: test.model,
            elo0: test.elo0,
            elo1: test.elo1,
            alpha: test.alpha,
            beta: test.beta,
            games,
            counts: tally.counts(),
            estimate,
        };
        common::print_json(&mut out, &result)?;
        return answer(options, word);
    }
    let accepted = match decision {
        agon_stats::Decision::AcceptH1 => {
            format!("H1 accepted: the results fit {:+} better than {}", test.elo1, test.elo0)
        }
        agon_stats::Decision::AcceptH0 => {
            format!("H0 accepted: the results fit {} better than {:+}", test.elo0, test.elo1)
        }
        _ => "Undecided".to_owned(),
    };
    let accepted = match word {
        DecisionWord::NeverAnswered => {
            "No answer: one of the two never gave one, so nothing is stated".to_owned()
        }
        DecisionWord::Repeated => {
            "All starts only repeat: the score is exact, as far as that shows".to_owned()
        }
        _ => accepted,
    };
    writeln!(out, "{}\n", screen::output().strong(&accepted))?;
    writeln!(out, "games       {}: {:.1} %", thousands(games), estimate.score * 100.0)?;
    writeln!(out, "Elo         {} ({}, 95 %)", elo_point(&estimate), elo_interval(&estimate))?;
    if let (Some(normalized), Some(error)) = (estimate.normalized, estimate.normalized_error) {
        writeln!(out, "nElo        {normalized:+.1} ± {error:.1}")?;
    }
    writeln!(out, "better      chance {}", certainty(estimate.superiority))?;
    writeln!(out, "LLR         {llr:+.2} (bounds {lower:.2} and {upper:.2}, --model {})", test.model)?;
    answer(options, word)
}

/// The test of these hypotheses.
pub(crate) fn sprt(test: &TestId, shape: Shape) -> Result<Sprt, Failure> {
    Sprt::new(test.model, (test.elo0, test.elo1), (test.alpha, test.beta), shape)
        .map_err(|error| Failure::usage(error.to_string()))
}

/// More games than anybody plays, and small enough that no sum overflows.
const MOST_GAMES: u64 = 1 << 50;

/// Parses `W/L/D` of games, or counts of pairs by their points.
fn from_counts(text: &str) -> Result<Tally, Failure> {
    let wrong = |why: &str| {
        let ways =
            "write W/L/D, as 120/95/60, or five counts of pairs that scored 0, ½, 1, 1½, 2, as 3/20/50/24/5";
        Failure::usage(format!("--counts {}: {why}; {ways}", screen::harmless(text)))
    };
    let counts: Option<Vec<u64>> = text.split('/').map(|count| count.trim().parse().ok()).collect();
    let counts = counts.ok_or_else(|| wrong("a count is a whole number, 0 or more"))?;
    let all = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    match all {
        Some(0) => return Err(wrong("there is no game in them")),
        Some(1..=MOST_GAMES) => {}
        _ => return Err(wrong("nobody plays that many games")),
    }
    let tally = match counts[..] {
        [wins, losses, draws] => Tally::from_counts(Shape::SINGLE, &[losses, draws, wins]),
        [_, _, _, _, _] => Tally::from_counts(Shape::PAIR, &counts),
        _ => return Err(wrong("these are neither three counts nor five")),
    };
    tally.map_err(|error| Failure::usage(error.to_string()))
}

/// The counting blocks of a journal, and the test it was played for, with the options given overriding it.
fn from_journal(options: &SprtOptions) -> Result<(Tally, TestId, Option<SeriesStanding>), Failure> {
    let path = options.from.clone().unwrap_or_default();
    let path = if path.is_dir() { path.join(JOURNAL) } else { path };
    let shown = path.display();
    let mut entries: Vec<Entry> = Vec::new();
    let past = journal::read(&path, |entry| entries.push(entry))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let header = past.header;
    if let Some(game) = options.game.as_ref().filter(|game| **game != header.game) {
        return Err(Failure::usage(format!("{shown} is a journal of {}, not of {game}", header.game)));
    }
    let standing = SeriesStanding::of(&header, &entries);
    let [pairing] = &standing.pairings[..] else {
        let count = standing.pairings.len();
        return Err(Failure::usage(format!("{shown} holds {count} pairings; a test is about one")));
    };
    let tally = pairing.tally.clone().filter(|_| header.kind != SeriesKind::Tournament);
    let Some(tally) = tally else {
        return Err(Failure::usage(format!(
            "{shown} is a tournament's, which is not about one bot: see agon rate"
        )));
    };
    if tally.blocks() == 0 {
        return Err(Failure::usage(format!("{shown} holds no finished block")));
    }
    Ok((tally, options.test(header.test.as_ref().unwrap_or(&USUAL)), Some(standing)))
}

/// How long the test takes, for true differences from -20 to +40.
fn plan(options: &SprtOptions) -> Done {
    let test = options.test(&USUAL);
    let seats = u32::from(options.series.seats.unwrap_or(2));
    if !(2..=u32::from(agon_game::Seat::MAX)).contains(&seats) {
        return Err(Failure::usage(format!("--seats {seats}: a number from 2 to {}", agon_game::Seat::MAX)));
    }
    // With more than two seats a block is two matches in each of them: the twins.
    let (shape, twins) = if seats == 2 { (Shape::PAIR, 1.0) } else { (Shape::twins(seats), 2.0) };
    let maps = options.series.map.len().max(1) as u32;
    let lengths: Vec<agon_stats::Length> =
        agon_stats::lengths(&sprt(&test, shape.times(maps))?, (-4..=8).map(|step| f64::from(step) * 5.0))
            .into_iter()
            .map(|length| agon_stats::Length {
                expected: twins * length.expected,
                at_most: twins * length.at_most,
                ..length
            })
            .collect();
    let mut out = io::stdout().lock();
    if options.series.run.json {
        return common::print_json(&mut out, &lengths);
    }
    let title = format!("Games of a test of {:+} against {:+} ({} model)", test.elo0, test.elo1, test.model);
    writeln!(out, "{}\n", screen::output().strong(&title))?;
    writeln!(out, "true difference   expected   95 % need at most   accepts H1")?;
    for length in lengths {
        writeln!(
            out,
            "{:>15}   {:>8}   {:>17}   {:>9.1} %",
            format!("{:+}", length.elo),
            thousands(length.expected.round() as u64),
            thousands(length.at_most.round() as u64),
            length.accepts * 100.0
        )?;
    }
    writeln!(out, "\nA bot that crashes or plays the same game again and again makes the test longer.")?;
    Ok(())
}
