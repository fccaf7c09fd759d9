//! Fits the weights of a game's features, and measures how good the resulting chances are: `docs/advantage.md`.
//!
//!     cargo run --release --package agon-view --example advantage -- GAME [--write] [--replays FOLDER] [--from SEED]
//!         [--matches N] [--futures [--each N] [--positions FROM..TO]]
//!
//! Plays matches of some of the built-in bots to find the weights, and matches of others to judge them. With `--write` the weights go to
//! `games/GAME/src/weights.rs`; without it the existing ones are judged. `--replays` names a folder of matches of further bots, which
//! are judged too.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use agon_game::advantage::{firsts, phases, softmax};
use agon_game::{
    Answer, AnyGame, Chance as _, Feature, Position as Place, RulesChoice, Seat, Seeded, Session, Setup,
};
use agon_replay::Replay;
use agon_stats::softmax::{ScoredPosition, brier, calibration_error, fit, reliability};
use agon_view::future::{First, PlayoutPolicy, play_on};

/// How many positions are taken from each match, evenly spread, leaving out those before the first step.
const POSITIONS: usize = 12;
/// The penalty on a weight, per position.
const RIDGE: f64 = 2e-4;
/// How many matches are played to find the weights, and how many to judge them.
const MATCHES: [usize; 2] = [2_500, 2_000];
/// The first seed of the judging matches: nobody looked at these while the features were being settled. `--from` names another.
const JUDGED_FROM: u64 = 3_000_000;
/// The positions to play out from, and the play-outs from each. `--positions` names some of them, for several CPUs.
const FUTURES: (Range<usize>, usize) = (0..200, 1_000);

/// Who plays: bots with their options, as `name` or `name?key=value`.
struct Plan {
    game: &'static str,
    seats: &'static [u8],
    finding: &'static [&'static str],
    judging: &'static [&'static str],
    /// One in this many of a seat's answers hands the seat to another bot, in matches to find the weights; 0 for never.
    relief: u32,
}

const PLANS: &[Plan] = &[
    Plan {
        game: "cultist-wars",
        seats: &[2],
        finding: &["greedy", "greedy", "random", "hunter?nodes=60"],
        judging: &["hunter?nodes=1000", "hunter?nodes=300", "hunter?nodes=2500"],
        relief: 0,
    },
    Plan {
        game: "deerhunt",
        seats: &[2],
        finding: &["miner", "rusher", "rusher", "random"],
        judging: &["warden?budget=100", "warden?budget=0", "warden?budget=30"],
        relief: 150,
    },
    Plan {
        game: "jungle-blitz",
        seats: &[2, 3, 4],
        finding: &["collector", "raider", "random"],
        judging: &["keeper?nodes=120", "keeper?nodes=30", "keeper?nodes=0"],
        relief: 0,
    },
    Plan {
        game: "ostibot",
        seats: &[2, 3, 4],
        finding: &["looter", "fighter", "looter?leave=18", "fighter?leave=30", "random"],
        judging: &["planner", "planner?leave=22", "planner?leave=34"],
        relief: 150,
    },
    Plan {
        game: "terminal",
        seats: &[2],
        finding: &["rush", "fortress", "fortress", "random", "planner?nodes=3"],
        judging: &["planner?nodes=40", "planner?nodes=120", "planner?nodes=10"],
        relief: 0,
    },
];

/// What is kept of a position.
struct Seen {
    progress: f64,
    features: Vec<f64>,
    shares: Vec<f64>,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let value = |key: &str| asked.iter().position(|one| one == key).and_then(|at| asked.get(at + 1));
    let name = asked.first().expect("which game?");
    let plan = PLANS.iter().find(|plan| plan.game == name).expect("no such game");
    let game = agon_games::find(plan.game).expect("the registry has it");
    let [most, judged] = value("--matches").map_or(MATCHES, |count| [count.parse().expect("a number"); 2]);

    let from = value("--from").map_or(JUDGED_FROM, |seed| seed.parse().expect("a number"));

    let began = Instant::now();
    let found = positions(game, plan, plan.finding, most, 1);
    println!("{} positions of {most} matches to find the weights in {:.0?}", found.len(), began.elapsed());
    let began = Instant::now();
    let mut others = positions(game, plan, plan.judging, judged, from);
    println!("{} positions of {judged} matches to judge them in {:.0?}", others.len(), began.elapsed());
    if let Some(folder) = value("--replays") {
        let further = recorded(Path::new(folder));
        println!("{} positions of further matches", further.len());
        others.extend(further);
    }

    let mut features = game.info().advantage.to_vec();
    if asked.iter().any(|one| one == "--write") {
        let rows: Vec<ScoredPosition> = found.iter().map(|seen| seen.spread(0..features.len())).collect();
        for (feature, weights) in features.iter_mut().zip(never_against(rows)) {
            feature.weights = weights.map(|weight| (weight * 1_000.0).round() / 1_000.0);
        }
        write(plan.game, &features);
    }
    // The score alone: the first feature, with the difference weighted differently as the match goes on.
    let alone: Vec<ScoredPosition> = found.iter().map(|seen| seen.spread(0..1)).collect();
    let mut straight = alone.clone();
    straight.iter_mut().for_each(ScoredPosition::without_end);
    let line = fit(&straight, 0.0).expect("there are positions");
    let curve = fit(&alone, 0.0).expect("there are positions");

    for (what, seen) in [("found in", &found), ("judged on", &others)] {
        let told: Vec<Vec<f64>> = seen.iter().map(|seen| chances(&features, seen)).collect();
        let of_score = |weights: &[f64], end: bool| -> Vec<Vec<f64>> {
            let row = |seen: &Seen| {
                let mut row = seen.spread(0..1);
                if !end {
                    row.without_end();
                }
                row.chances(weights)
            };
            seen.iter().map(row).collect()
        };
        let (line, curve) = (of_score(&line, false), of_score(&curve, true));
        let pairs = |told: &'_ [Vec<f64>]| -> Vec<(Vec<f64>, Vec<f64>)> {
            told.iter().zip(seen).map(|(told, seen)| (told.clone(), seen.shares.clone())).collect()
        };
        let score = |told: &[Vec<f64>]| {
            let pairs = pairs(told);
            let refs = || pairs.iter().map(|(one, two)| (&one[..], &two[..]));
            (brier(refs()), reliability(refs()))
        };
        let (own, line, curve) = (score(&told), score(&line), score(&curve));
        println!(
            "{what}: Brier {:.4}; score and turn {:.4} ({:+.1} %), with an end of its own {:.4} ({:+.1} %); calibration error {:.3} (score: {:.3})",
            own.0,
            line.0,
            100.0 * (own.0 / line.0 - 1.0),
            curve.0,
            100.0 * (own.0 / curve.0 - 1.0),
            calibration_error(&own.1),
            calibration_error(&line.1)
        );
        let bins = own.1.iter().filter(|(count, ..)| *count > 0.0);
        let bins: Vec<String> = bins
            .map(|(count, chance, share)| {
                format!("{:.3} of {:.3} ({count:.0})", chance / count, share / count)
            })
            .collect();
        println!("told and came true, bin by bin: {}", bins.join(", "));
    }
    if asked.iter().any(|one| one == "--futures") {
        let each = value("--each").map_or(FUTURES.1, |count| count.parse().expect("a number"));
        let wanted = value("--positions").map_or(FUTURES.0, |range| {
            let (from, to) = range.split_once("..").expect("FROM..TO");
            from.parse().expect("a number")..to.parse().expect("a number")
        });
        futures(game, plan, &features, wanted, each);
    }
}

/// Weights with which no feature ever speaks against its seat: the weight of one that would is set to zero. Features overlap, and a free
/// fit gives some of them the wrong sign; a turn in which a worker dies would then count as its owner's gain.
fn never_against(mut rows: Vec<ScoredPosition>) -> Vec<[f64; 3]> {
    // From `always` and `more` to the weights at the start and at the end: none of the three is below 0.
    let turned = |values: &mut [f64]| values[0] -= values[1];
    rows.iter_mut().for_each(|row| row.values.chunks_mut(3).for_each(turned));
    loop {
        let weights = fit(&rows, RIDGE).expect("there are positions");
        let width = weights.len();
        if weights.iter().all(|weight| *weight >= 0.0) {
            let back = |own: &[f64]| [own[0], own[1] - own[0], own[2]];
            return weights.chunks(3).map(back).collect();
        }
        for (column, _) in weights.iter().enumerate().filter(|(_, weight)| **weight < 0.0) {
            rows.iter_mut().for_each(|row| {
                row.values.iter_mut().skip(column).step_by(width).for_each(|value| *value = 0.0)
            });
        }
    }
}

impl Seen {
    /// The columns of a fit: each feature in each phase of a match.
    fn spread(&self, which: std::ops::Range<usize>) -> ScoredPosition {
        let width = self.features.len() / self.shares.len();
        let phases = phases(self.progress);
        let rows = self.features.chunks(width).flat_map(|row| row[which.clone()].iter());
        let values = rows.flat_map(|value| phases.map(|phase| value * phase)).collect();
        ScoredPosition { values, shares: self.shares.clone() }
    }
}

/// A fit of score and turn alone has no phase for the end.
trait WithoutEnd {
    fn without_end(&mut self);
}

impl WithoutEnd for ScoredPosition {
    fn without_end(&mut self) {
        self.values.iter_mut().skip(2).step_by(3).for_each(|value| *value = 0.0);
    }
}

fn chances(features: &[Feature], seen: &Seen) -> Vec<f64> {
    let phases = phases(seen.progress);
    let worth =
        |feature: &Feature| -> f64 { feature.weights.iter().zip(phases).map(|(one, by)| one * by).sum() };
    let weights: Vec<f64> = features.iter().map(worth).collect();
    let sum = |row: &[f64]| row.iter().zip(&weights).map(|(one, by)| one * by).sum();
    softmax(seen.features.chunks(features.len()).map(sum).collect())
}

/// Sets up a match: each seed has its own preset, seats and bots.
fn open(game: &dyn AnyGame, plan: &Plan, bots: &[&str], seed: u64) -> Option<(Box<dyn Session>, Vec<u32>)> {
    let mut chance = Seeded::stream(seed as i64, "advantage");
    let presets = game.info().presets;
    // Half of the matches use the preset that people play.
    let preset = if chance.happens(1, 2) { 0 } else { chance.below(presets.len() as u32) as usize };
    let rules = RulesChoice { preset: presets[preset].name.to_owned(), ..RulesChoice::default() };
    let seats = plan.seats[chance.below(plan.seats.len() as u32) as usize];
    let mut session = game.open(&Setup { rules, seats, seed: seed as i64, ..Setup::default() }).ok()?;
    // Half of the matches are between equals.
    let pick = |chance: &mut Seeded| bots[chance.below(bots.len() as u32) as usize];
    let (equal, one) = (chance.happens(1, 2), pick(&mut chance));
    let strays = [0, 0, 10, 4][chance.below(4) as usize];
    let mut each = Vec::new();
    for seat in Seat::first(seats) {
        let bot = if equal { one } else { pick(&mut chance) };
        seat_bot(session.as_mut(), seat, bot, seed);
        each.push(if equal { strays } else { [0, 0, 10, 4][chance.below(4) as usize] });
    }
    Some((session, each))
}

fn seat_bot(session: &mut dyn Session, seat: Seat, bot: &str, seed: u64) {
    let (name, options) = bot.split_once('?').unwrap_or((bot, ""));
    let options: Vec<(String, String)> =
        options.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
    session
        .seat_builtin(seat, name, &options, seed * 16 + seat.index() as u64)
        .expect("the plan names bots that are there");
}

/// Positions from this many matches. Bots that find the weights sometimes stray, and in some games others take over from them, so that
/// positions occur that they would never reach by themselves, and a bad position is not always a bad bot's. Those that judge play as
/// they are.
fn positions(game: &dyn AnyGame, plan: &Plan, bots: &[&str], matches: usize, from: u64) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut played = 0;
    for seed in from.. {
        if played == matches {
            break;
        }
        let Some((mut session, strays)) = open(game, plan, bots, seed) else { continue };
        let finding = from == 1;
        let strays = if finding { strays } else { vec![0; strays.len()] };
        played += 1;
        let mut chance = Seeded::stream(seed as i64, "strays");
        let mut standings = Vec::new();
        while session.outcome().is_none() {
            let mut answers = Vec::new();
            for seat in session.deciding().iter() {
                if finding && plan.relief > 0 && chance.happens(1, plan.relief) {
                    let bot = bots[chance.below(bots.len() as u32) as usize];
                    seat_bot(session.as_mut(), seat, bot, seed);
                }
                let own = session.think(seat);
                let stray = strays[seat.index()];
                let order = if stray > 0 && chance.happens(1, stray) {
                    session.stray(seat, &mut chance)
                } else {
                    own
                };
                answers.push((seat, Answer::Given { order, think_ms: 0 }));
            }
            session.play(&answers).expect("bots of ours give orders of ours");
            standings.push(session.standing());
        }
        keep(&mut seen, standings, &firsts(session.outcome().expect("it is over")), &mut chance);
    }
    seen
}

/// Keeps some positions of a match; the last one is its end.
fn keep(
    seen: &mut Vec<Seen>,
    mut standings: Vec<agon_game::SeatAdvantages>,
    shares: &[f64],
    chance: &mut Seeded,
) {
    standings.pop();
    let steps = standings.len();
    for at in 0..POSITIONS.min(steps) {
        let (low, high) = (at * steps / POSITIONS.min(steps), (at + 1) * steps / POSITIONS.min(steps));
        let standing =
            std::mem::take(&mut standings[low + chance.below((high - low).max(1) as u32) as usize]);
        seen.push(Seen { progress: standing.progress, features: standing.features, shares: shares.to_vec() });
    }
}

/// Positions of recorded matches.
fn recorded(folder: &Path) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path()).collect();
    files.sort();
    for (number, file) in files.iter().enumerate() {
        let Ok(replay) = Replay::read(&std::fs::read(file).expect("a file")) else { continue };
        let game = agon_games::find(&replay.header.game).expect("a game of ours");
        let mut session = game.open(&replay.header.recipe.setup()).expect("it was played");
        let mut standings = Vec::new();
        for step in 0..replay.steps.len() {
            replay.play_step(step, session.as_mut()).expect("it was played");
            standings.push(session.standing());
        }
        if let Some(outcome) = session.outcome() {
            keep(&mut seen, standings, &firsts(outcome), &mut Seeded::stream(number as i64, "keep"));
        }
    }
    seen
}

/// The attainable accuracy: the distance of the chances from the shares of many play-outs from the same positions.
fn futures(game: &dyn AnyGame, plan: &Plan, features: &[Feature], mut wanted: Range<usize>, each: usize) {
    let began = Instant::now();
    let policy = PlayoutPolicy::of(game.info(), game.info().policy).expect("a policy");
    let (mut off, mut noise, mut count, mut seed, mut number) = (0.0, 0.0, 0_u32, 2_000_000, 0);
    while !wanted.is_empty() {
        seed += 1;
        let Some((mut session, _)) = open(game, plan, plan.judging, seed) else { continue };
        let Some((place, standing)) = somewhere(session.as_mut(), seed) else { continue };
        number += 1;
        if number <= wanted.start {
            continue;
        }
        wanted.start += 1;
        let mut shares = vec![0.0; usize::from(session.recipe().seats)];
        for future in 0..each {
            let seed = seed * 10_000 + future as u64;
            let own = play_on(session.as_mut(), &place, &policy, First::Policy, seed).expect("a future");
            shares.iter_mut().zip(own).for_each(|(sum, share)| *sum += share / each as f64);
        }
        let seen = Seen { progress: standing.progress, features: standing.features, shares };
        off += chances(features, &seen)
            .iter()
            .zip(&seen.shares)
            .map(|(one, two)| (one - two).abs())
            .sum::<f64>()
            / seen.shares.len() as f64;
        noise += seen.shares.iter().map(|share| (share * (1.0 - share)).max(0.0).sqrt()).sum::<f64>()
            / seen.shares.len() as f64
            / (each as f64).sqrt();
        count += 1;
        // It may take hours: stopping it keeps what is known so far.
        if count % 20 == 0 || wanted.is_empty() {
            println!(
                "{count} positions, {each} play-outs by {} from each: chances {:.3} away in the mean (the play-outs' own error {:.3}), {:.2?} a play-out",
                game.info().policy,
                off / f64::from(count),
                noise / f64::from(count),
                began.elapsed() / (count * each as u32)
            );
        }
    }
}

/// A position somewhere in a match, before its end.
fn somewhere(session: &mut dyn Session, seed: u64) -> Option<(Place, agon_game::SeatAdvantages)> {
    let mut places = Vec::new();
    while session.outcome().is_none() {
        places.push((session.position(), session.standing()));
        let mut answers = Vec::new();
        for seat in session.deciding().iter() {
            answers.push((seat, Answer::Given { order: session.think(seat), think_ms: 0 }));
        }
        session.play(&answers).expect("bots of ours give orders of ours");
    }
    let at = Seeded::stream(seed as i64, "where").below(places.len() as u32) as usize;
    places.into_iter().nth(at)
}

/// Writes the table of weights and leaves its head as it is.
fn write(game: &str, features: &[Feature]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/{game}/src/weights.rs"));
    let before = std::fs::read_to_string(&path).expect("the table is there");
    let (head, _) = before.split_once("    Feature::new").expect("a table");
    let mut text = head.to_owned();
    for Feature { name, weights: [always, more, end] } in features {
        writeln!(text, "    Feature::new(\"{name}\", [{always:?}, {more:?}, {end:?}]),")
            .expect("a text grows");
    }
    text.push_str("];\n");
    std::fs::write(&path, text).expect("the table can be written");
    println!("written: {}", path.display());
}
