//! An analysis finds what lost a match, and little else.
//!
//! Matches are played by bots other than the policy of the analysis. Into some of them a random order is inserted that, by 2,000 futures
//! with it and 2,000 with the policy's order in its place, costs its seat at least 20 points of its chance of finishing first: its turn
//! must be among the three that the analysis says cost this seat most. In the others each mark is checked again with 2,000 futures of its
//! own. `cargo xtask long analysis` does this with 20 of each; its figures are in `docs/advantage.md`.

use agon_game::{Answer, Chance as _, PackedAnswer, Position, Seat, Seeded, Session, Setup};
use agon_replay::{Header, Replay, SeatInfo, Writer};
use agon_view::analysis::{Analysis, Mark};
use agon_view::future::{First, PlayoutPolicy, play_on};

/// What is played: the game, its seats, bots that are not its policy, and how many pairs of futures analyse a match.
const PLANS: [(&str, u8, [&str; 2], u64); 1] =
    [("cultist-wars", 2, ["hunter?nodes=1000", "hunter?nodes=300"], 40_000)];
/// The futures that decide what an order is worth, and those that decide whether it is worth looking at.
const FUTURES: [u64; 2] = [2_000, 100];
/// The least cost of an inserted order.
const COST: f64 = 0.2;
/// The first seed.
const FIRST: i64 = 1_000;
/// How many seeds are tried.
const TRIES: i64 = 100;

type Answers = Vec<(Seat, PackedAnswer)>;

/// A played match, perhaps with an inserted order.
struct Played {
    replay: Replay,
    /// The step, from 1, with the inserted order, whose it is, and what it costs.
    inserted: Option<(u32, Seat, f64)>,
}

fn open(plan: usize, seed: i64) -> Box<dyn Session> {
    let (name, seats, bots, _) = PLANS[plan];
    let game = agon_games::find(name).expect("a game of ours");
    let mut session = game.open(&Setup { seats, seed, ..Setup::default() }).expect("it sets up");
    seat_bots(session.as_mut(), &bots, seed);
    session
}

/// The policy of the analysis here: the quick one of the game, not its judge.
fn policy(plan: usize) -> PlayoutPolicy {
    let info = agon_games::find(PLANS[plan].0).expect("a game of ours").info();
    PlayoutPolicy::of(info, info.policy).expect("a policy")
}

fn seat_bots(session: &mut dyn Session, bots: &[&str], seed: i64) {
    for (seat, bot) in Seat::first(session.recipe().seats).zip(bots.iter().cycle().skip(seed as usize % 2)) {
        let (name, options) = bot.split_once('?').unwrap_or((bot, ""));
        let options: Vec<(String, String)> = options
            .split_once('=')
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        session
            .seat_builtin(seat, name, &options, seed as u64 * 16 + seat.index() as u64)
            .expect("there is such a bot");
    }
}

fn answers(session: &mut dyn Session) -> Answers {
    let deciding: Vec<Seat> = session.deciding().iter().collect();
    let given = |seat| (seat, Answer::Given { order: session.think(seat), think_ms: 0 });
    deciding.into_iter().map(given).collect()
}

/// The chance of `seat` over these futures that begin like this.
fn chance(
    plan: usize,
    seed: i64,
    at: &Position,
    first: First<'_>,
    seat: Seat,
    futures: std::ops::Range<u64>,
) -> f64 {
    let mut session = open(plan, seed);
    let count = (futures.end - futures.start) as f64;
    let policy = policy(plan);
    let share =
        |future| play_on(session.as_mut(), at, &policy, first, future).expect("a policy")[seat.index()];
    futures.map(share).sum::<f64>() / count
}

/// Plays a match; with `insert`, one with a sufficiently costly order inserted, if this seed has one.
fn play(plan: usize, seed: i64, insert: bool) -> Option<Played> {
    let mut session = open(plan, seed);
    let mut steps: Vec<(Position, Answers)> = Vec::new();
    while session.outcome().is_none() {
        let (before, answers) = (session.position(), answers(session.as_mut()));
        session.play(&answers).expect("bots of ours give orders of ours");
        steps.push((before, answers));
    }
    if !insert {
        let answers = steps.into_iter().map(|(_, answers)| answers).collect();
        return Some(Played { replay: written(plan, seed, answers), inserted: None });
    }
    // Ten random orders, at random turns.
    let mut drawn = Seeded::stream(seed, "inserted");
    for _ in 0..10 {
        let at = drawn.below(steps.len() as u32) as usize;
        let (before, usual) = &steps[at];
        let which = drawn.below(usual.len() as u32) as usize;
        let seat = usual[which].0;
        assert!(session.go_to(before));
        let mut other = usual.clone();
        other[which].1 = Answer::Given { order: session.stray(seat, &mut drawn), think_ms: 0 };
        let [many, few] = FUTURES;
        let cost = |futures: std::ops::Range<u64>| {
            let (policy, own) = (First::Instead(&other, seat), First::Recorded(&other));
            chance(plan, seed, before, policy, seat, futures.clone())
                - chance(plan, seed, before, own, seat, futures)
        };
        // The futures of the analysis are numbered from 1: these are different ones.
        if other[which] == usual[which] || cost(1 << 40..(1 << 40) + few) < COST {
            continue;
        }
        let cost = cost(1 << 41..(1 << 41) + many);
        if cost < COST {
            continue;
        }
        // From there on the bots play as they would have.
        let mut answered: Vec<Answers> = steps[..at].iter().map(|(_, answers)| answers.clone()).collect();
        seat_bots(session.as_mut(), &PLANS[plan].2, seed);
        assert!(session.go_to(before));
        session.play(&other).expect("a stray order can be played");
        answered.push(other);
        while session.outcome().is_none() {
            let answers = answers(session.as_mut());
            session.play(&answers).expect("bots of ours give orders of ours");
            answered.push(answers);
        }
        let replay = written(plan, seed, answered);
        return Some(Played { replay, inserted: Some((at as u32 + 1, seat, cost)) });
    }
    None
}

fn written(plan: usize, seed: i64, steps: Vec<Answers>) -> Replay {
    let mut session = open(plan, seed);
    let bot = |seat: Seat| SeatInfo { bot: String::new(), label: format!("seat {seat}"), hash: None };
    let seats = Seat::first(session.recipe().seats).map(bot).collect();
    let header = Header::new(session.as_ref(), seats, agon_spec::Clock::ORIGINAL);
    let mut writer = Writer::new(Vec::new(), &header).expect("into memory");
    for answers in steps {
        session.play(&answers).expect("it was played");
        writer.step(&answers, session.hash()).expect("into memory");
    }
    writer.flush().expect("into memory");
    let end = agon_replay::EndInfo {
        steps: 0,
        outcome: session.outcome().cloned(),
        state: format!("{:016x}", session.hash()),
        chain: String::new(),
        facts: serde_json::Value::Null,
    };
    Replay::read(&writer.finish(end).expect("into memory")).expect("it was just written")
}

fn analysed(plan: usize, replay: &Replay) -> (Analysis, Vec<Mark>) {
    let policy = policy(plan);
    let mut analysis = Analysis::open(replay, Some(policy.text())).expect("it can be analysed");
    while analysis.pairs() < PLANS[plan].3 && analysis.refine(None).expect("its answers are its own") {}
    let marks = analysis.marks();
    (analysis, marks)
}

/// How many marks of a match are not confirmed by 2,000 futures of their own: the order changes the chance by nothing, or in the other
/// direction.
fn false_marks(plan: usize, seed: i64, replay: &Replay, marks: &[Mark]) -> usize {
    let policy = policy(plan);
    let mut wrong = 0;
    for mark in marks {
        let mut session = open(plan, seed);
        for step in 0..mark.step as usize - 1 {
            replay.play_step(step, session.as_mut()).expect("it was played");
        }
        let (at, seat) = (session.position(), mark.seat.index());
        let recorded = &replay.steps[mark.step as usize - 1].answers;
        let from = 1_u64 << 42;
        let gain = |future| {
            let own =
                play_on(session.as_mut(), &at, &policy, First::Recorded(recorded), future).expect("a policy");
            let other = play_on(session.as_mut(), &at, &policy, First::Instead(recorded, mark.seat), future)
                .expect("a policy");
            other[seat] - own[seat]
        };
        let gains: Vec<f64> = (from..from + FUTURES[0]).map(gain).collect();
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        let spread = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / gains.len() as f64;
        let error = (spread / gains.len() as f64).sqrt();
        wrong += usize::from(mean * mark.gain.mean().signum() <= 2.0 * error);
    }
    wrong
}

/// How many positions, and how many untouched matches: AGON_POSITIONS, or few enough for every run of the tests.
fn wanted() -> usize {
    std::env::var("AGON_POSITIONS").map_or(2, |count| count.parse().expect("AGON_POSITIONS is a number"))
}

/// Matches of all games in turn, as far as each has them.
fn matches(count: usize, insert: bool) -> Vec<(usize, i64, Played)> {
    let (mut found, mut seeds) = (Vec::new(), [FIRST; PLANS.len()]);
    while found.len() < count && seeds.iter().any(|seed| *seed < FIRST + TRIES) {
        for plan in 0..PLANS.len() {
            let left = seeds[plan]..FIRST + TRIES;
            let next = left.into_iter().find_map(|seed| Some((seed, play(plan, seed, insert)?)));
            seeds[plan] = next.as_ref().map_or(FIRST + TRIES, |(seed, _)| seed + 1);
            if let Some((seed, Played { inserted: Some((step, _, cost)), .. })) = &next {
                println!(
                    "{} seed {seed}: the order at step {step} costs {:.0} points",
                    PLANS[plan].0,
                    100.0 * cost
                );
            }
            found.extend(next.map(|(seed, played)| (plan, seed, played)));
            if found.len() == count {
                break;
            }
        }
    }
    found
}

#[test]
fn an_order_that_costs_much_is_among_the_three_that_are_marked_first() {
    let count = wanted();
    let mut hits = 0;
    let matches = matches(count, true);
    assert_eq!(matches.len(), count, "there are not so many positions");
    for (plan, seed, played) in &matches {
        let (step, seat, cost) = played.inserted.expect("an order was put in");
        let (_, marks) = analysed(*plan, &played.replay);
        let costs = marks.iter().filter(|mark| mark.seat == seat && mark.gain.mean() > 0.0);
        let place = costs.take(3).position(|mark| mark.step == step);
        hits += usize::from(place.is_some());
        let place = place.map_or("not among three".to_owned(), |place| format!("mark {}", place + 1));
        println!("{} seed {seed}, step {step}: costs {:.0} points, {place}", PLANS[*plan].0, 100.0 * cost);
    }
    println!("{hits} of {count}");
    // Among few positions one may be missed.
    let least = if count < 20 { count / 2 } else { count * 17 / 20 };
    assert!(hits >= least, "{hits} of {count}");
}

#[test]
fn matches_that_nobody_touched_have_few_false_marks() {
    for (plan, seed, played) in matches(wanted(), false) {
        let (_, marks) = analysed(plan, &played.replay);
        let wrong = false_marks(plan, seed, &played.replay, &marks);
        println!("{} seed {seed}: {} marks, {wrong} false", PLANS[plan].0, marks.len());
        assert!(wrong <= 2, "{} seed {seed}: {wrong} of {} marks are false", PLANS[plan].0, marks.len());
    }
}
