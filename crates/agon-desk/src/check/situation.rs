//! The situations a bot is checked in.

use std::time::{Duration, Instant};

use agon_game::{Answer, AnyGame, GameInfo, MapChoice, PackedAnswer, Seat, Session, Setup};

use crate::DeskError;

/// A situation for a bot.
pub(crate) struct Situation {
    /// A description for people: `a whole match against idle`.
    pub what: String,
    /// The kind, by which findings are grouped.
    pub kind: Kind,
    pub setup: Setup,
    /// The bot's seat.
    pub seat: Seat,
    /// The built-in bot of all other seats.
    pub opponent: &'static str,
    /// What others have played before: in these steps the bot is asked and its answers are read, but not followed.
    pub given: Vec<Vec<(Seat, PackedAnswer)>>,
    /// The situation ends after this many steps.
    pub most_steps: u32,
}

/// The kinds of situations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From the first to the last turn.
    Whole,
    /// The shortest question of a match: little is left.
    Little,
    /// The longest question of a match.
    Much,
    /// The last turns.
    Last,
    /// The longest first question of all maps and numbers of seats.
    Big,
}

/// Upper limit on the steps of any situation.
const MOST_STEPS: u32 = 2_000;
/// Steps of a situation in the middle of a match.
const MIDDLE: u32 = 60;
/// Time limit for a match of built-in bots that is played to find positions.
const SCOUTING: Duration = Duration::from_secs(2);

/// All situations, in matches like `base`.
pub(crate) fn all(game: &dyn AnyGame, base: &Setup) -> Result<Vec<Situation>, DeskError> {
    let info = game.info();
    let (seats, seed) = (base.seats, base.seed);
    let ends = [Seat::new(0), Seat::new(seats - 1)];
    let mut all = Vec::new();
    for (number, opponent) in opponents(info).into_iter().enumerate() {
        for seat in ends {
            let setup = Setup { seed: seed.wrapping_add(number as i64), ..base.clone() };
            let what = format!("a whole match against {opponent} in seat {seat}");
            let kind = Kind::Whole;
            all.push(Situation {
                what,
                kind,
                setup,
                seat,
                opponent,
                given: Vec::new(),
                most_steps: MOST_STEPS,
            });
        }
    }
    for seat in ends {
        let setup = Setup { seed: seed.wrapping_add(10), ..base.clone() };
        all.extend(positions(game, &setup, seat)?);
    }
    all.extend(biggest(game, base));
    Ok(all)
}

/// The built-in bots to play against: one that does nothing, one that does anything, one that tries to win.
fn opponents(info: &GameInfo) -> Vec<&'static str> {
    info.builtins.iter().map(|bot| bot.name).take(3).collect()
}

/// A step of a match between built-in bots.
struct Scouted {
    answers: Vec<(Seat, PackedAnswer)>,
    /// Length of the question to the bot's seat; none when it was not asked.
    asked: Option<usize>,
}

/// Lets a weak built-in bot play in `seat` against a good one.
fn scout(game: &dyn AnyGame, setup: &Setup, seat: Seat, opponent: &str) -> Result<Vec<Scouted>, DeskError> {
    let mut session = game.open(setup)?;
    let weak = opponents(game.info()).get(1).copied().unwrap_or(opponent);
    for other in Seat::first(setup.seats) {
        let bot = if other == seat { weak } else { opponent };
        session.seat_builtin(other, bot, &[], 1).map_err(DeskError::Own)?;
    }
    let until = Instant::now() + SCOUTING;
    let mut steps = Vec::new();
    let mut message = Vec::new();
    while !session.deciding().is_empty() && steps.len() < MOST_STEPS as usize && Instant::now() < until {
        let mut answers = Vec::new();
        let mut asked = None;
        for other in session.deciding().iter() {
            message.clear();
            session.ask(other, &mut message);
            if other == seat {
                asked = Some(message.len());
            }
            answers.push((other, Answer::Given { order: session.think(other), think_ms: 0 }));
        }
        session.play(&answers).map_err(DeskError::Own)?;
        steps.push(Scouted { answers, asked });
    }
    Ok(steps)
}

/// The positions of a match that are worth testing.
fn positions(game: &dyn AnyGame, setup: &Setup, seat: Seat) -> Result<Vec<Situation>, DeskError> {
    let Some(&opponent) = opponents(game.info()).last() else { return Ok(Vec::new()) };
    let steps = scout(game, setup, seat, opponent)?;
    // The first question differs from all others.
    let asked: Vec<(usize, usize)> =
        steps.iter().enumerate().filter_map(|(step, scouted)| Some((step, scouted.asked?))).skip(1).collect();
    let place = |kind, at: usize, most_steps, words: &str| Situation {
        what: format!("{words}, in seat {seat}"),
        kind,
        setup: setup.clone(),
        seat,
        opponent,
        given: steps[..at].iter().map(|step| step.answers.clone()).collect(),
        most_steps,
    };
    let mut found = Vec::new();
    if let Some(&(at, _)) = asked.iter().min_by_key(|(_, length)| *length) {
        found.push(place(Kind::Little, at, MIDDLE, "little is left"));
    }
    if let Some(&(at, _)) = asked.iter().max_by_key(|(_, length)| *length) {
        found.push(place(Kind::Much, at, MIDDLE, "much is on the board"));
    }
    if let Some(&(at, _)) = asked.last() {
        found.push(place(Kind::Last, at, MOST_STEPS, "the last turn"));
    }
    Ok(found)
}

/// The setup whose first question is the longest.
fn biggest(game: &dyn AnyGame, base: &Setup) -> Option<Situation> {
    let info = game.info();
    let maps = info.maps.iter().map(|map| MapChoice::Named(map.name.to_owned()));
    let maps: Vec<MapChoice> = match base.map {
        MapChoice::Default => maps.chain([MapChoice::Default]).collect(),
        // The user's own map takes precedence.
        _ => vec![base.map.clone()],
    };
    let mut best: Option<(usize, Setup)> = None;
    for map in maps {
        for seats in [info.usual_seats(), info.seats.1] {
            let setup = Setup { map: map.clone(), seats, ..base.clone() };
            let Ok(mut session) = game.open(&setup) else { continue };
            let length = first_question(session.as_mut(), Seat::new(0)).map_or(0, |message| message.len());
            if best.as_ref().is_none_or(|(longest, _)| length > *longest) {
                best = Some((length, setup));
            }
        }
    }
    let (length, setup) = best?;
    Some(Situation {
        what: format!("the largest input: {length} bytes, {} bots", setup.seats),
        kind: Kind::Big,
        setup,
        seat: Seat::new(0),
        opponent: opponents(info).first().copied()?,
        given: Vec::new(),
        most_steps: MIDDLE,
    })
}

/// The first question to `seat` when the others answer nothing; none when it is never asked.
pub(crate) fn first_question(session: &mut dyn Session, seat: Seat) -> Option<Vec<u8>> {
    for _ in 0..100 {
        let deciding = session.deciding();
        let mut message = Vec::new();
        for other in deciding.iter() {
            message.clear();
            session.ask(other, &mut message);
            if other == seat {
                return Some(message);
            }
        }
        let missing = |other| (other, Answer::Missing(agon_game::Absence::TimedOut));
        session.play(&deciding.iter().map(missing).collect::<Vec<_>>()).ok()?;
    }
    None
}
