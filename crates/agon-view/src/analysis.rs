//! What the orders of a match were worth, found by playing on from each of its turns.
//!
//! From a turn the match is played on to its end many times by a built-in bot, the policy ([`crate::future`]), by default the
//! game's judge: the mean is each seat's chance of finishing first. An order is compared with what the policy would have played in its place, with the
//! answers of the others unchanged: the difference is what it cost or won. Both futures of a pair draw the same numbers.
//!
//! In games that hide something an order is judged by what its seat could know: each pair of futures begins in a different
//! position that the seat cannot tell from the real one ([`Session::determinized`]).
//!
//! Pure, and without a clock: the caller refines for as long as it likes ([`Analysis::refine`]).

use agon_game::{Answer, Heard, PackedAnswer, Position, Rejection, Seat, Seeded, Session};
use agon_replay::Replay;
use serde_json::Value;

use crate::future::{First, PlayoutPolicy, begin_future, instead, play_on};
use crate::maker::{Unshowable, game_of};

/// Upper limit on the turns of an analysed match: the positions of a longer one would not fit into a page.
pub const MOST_STEPS: usize = 5_000;
/// Each order gets this many pairs of futures before any gets more.
const EACH: u32 = 8;
/// Upper limit on the pairs of futures of an order.
const MOST: u32 = 2_000;
/// The fewest pairs that make an effect known.
const FEWEST: u32 = 40;
/// A smaller effect on the chance is not marked, however certain it is.
const SMALLEST: f64 = 0.05;
/// To be marked, an effect must exceed [`SMALLEST`] by this many standard errors: of thousands of orders, hardly one does by
/// chance.
const SURE: f64 = 4.0;

/// A mean of observations, with its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The number of observations.
    pub count: u32,
    sum: f64,
    squares: f64,
}

impl Mean {
    /// Adds an observation.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// The mean; 0 without observations.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    /// Its standard error, with a doubt that fades: even if all were equal so far, the next need not be.
    pub fn error(&self) -> f64 {
        let count = f64::from(self.count.max(1));
        let spread = (self.squares / count - self.mean().powi(2)).max(0.0) + 0.25 / count;
        (spread / count).sqrt()
    }
}

/// A turn of the match.
pub(crate) struct Spot {
    pub before: Position,
    pub moment: String,
    pub answers: Vec<(Seat, PackedAnswer)>,
    /// The chance of each seat after it.
    chances: Vec<Mean>,
    /// The alternatives: for each answer, in order, what the policy would play in its place; and last the wish, if there is
    /// one.
    trials: Vec<Trial>,
}

/// Something else a seat could have played, and what follows from it.
struct Trial {
    seat: Seat,
    /// All answers of the step including the alternative; none if the policy decides.
    answers: Option<Vec<(Seat, PackedAnswer)>>,
    /// The chance of each seat after it.
    chances: Vec<Mean>,
    /// What the seat's chance gains by it over the recorded order.
    gain: Mean,
}

impl Trial {
    fn new(seat: Seat, seats: usize, answers: Option<Vec<(Seat, PackedAnswer)>>) -> Self {
        Self { seat, answers, chances: vec![Mean::default(); seats], gain: Mean::default() }
    }
}

/// An order whose effect is beyond noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The step, from 1.
    pub step: u32,
    pub seat: Seat,
    /// What the seat's chance would gain by the policy's order; below 0 if the policy does worse.
    pub gain: Mean,
}

/// What is known about a wished order ([`Analysis::wish`]).
#[derive(Clone, Copy, Debug)]
pub struct Wished<'a> {
    /// Whose order, and what the seat's chance gains by it over the recorded one.
    pub order: Mark,
    /// The chance of each seat after it.
    pub chances: &'a [Mean],
}

/// A match under analysis.
pub struct Analysis {
    pub(crate) session: Box<dyn Session>,
    pub(crate) policy: PlayoutPolicy,
    pub(crate) spots: Vec<Spot>,
    /// The orders of the match, as spot and answer, in the sequence in which they are first looked at: spread over the match.
    orders: Vec<(usize, usize)>,
    /// The spot with a wish, which is the last trial of this spot.
    wish: Option<usize>,
    seed: u64,
}

/// Why a match cannot be analysed. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unanalysable {
    /// It cannot be shown either.
    #[error("{0}")]
    Unshowable(#[from] Unshowable),
    #[error("this match has {0} turns, and no more than {MOST_STEPS} are analysed")]
    TooLong(usize),
    /// Its answers do not lead on.
    #[error("this replay is damaged or altered: {0}")]
    Damaged(String),
    /// No bot of the game has the policy's name, or the game does not say who is ahead: a sentence.
    #[error("{0}")]
    Unsuited(String),
}

impl Analysis {
    /// Opens a match by playing it through once. `policy` is the built-in bot that plays on, as after `builtin:`; none for the
    /// game's judge.
    ///
    /// # Errors
    /// When the match cannot be computed again, or is too long, or there is no such bot.
    pub fn open(replay: &Replay, policy: Option<&str>) -> Result<Self, Unanalysable> {
        if replay.steps.len() > MOST_STEPS {
            return Err(Unanalysable::TooLong(replay.steps.len()));
        }
        let game = game_of(&replay.header)?;
        let policy = PlayoutPolicy::of(game.info(), policy.unwrap_or(game.info().judge))
            .map_err(Unanalysable::Unsuited)?;
        let mut session = game.open(&replay.header.recipe.setup()).map_err(Unshowable::from)?;
        let seats = usize::from(session.recipe().seats);
        let mut spots = Vec::new();
        for (number, step) in replay.steps.iter().enumerate() {
            spots.push(Spot {
                before: session.position(),
                moment: session.moment(),
                answers: step.answers.clone(),
                chances: vec![Mean::default(); seats],
                trials: step.answers.iter().map(|(seat, _)| Trial::new(*seat, seats, None)).collect(),
            });
            replay.play_step(number, session.as_mut()).map_err(Unanalysable::Damaged)?;
        }
        // By the reversed binary digits of their numbers: an early look has seen something of every part.
        let digits = (usize::BITS - spots.len().leading_zeros()).max(1);
        let mut orders: Vec<(usize, usize)> = Vec::new();
        for number in 0..1_usize << digits {
            let step = number.reverse_bits() >> (usize::BITS - digits);
            let answers = spots.get(step).map_or(0, |spot| spot.answers.len());
            orders.extend((0..answers).map(|answer| (step, answer)));
        }
        Ok(Self { session, policy, spots, orders, wish: None, seed: 0 })
    }

    /// The bot that plays on, with its options.
    pub fn policy(&self) -> &str {
        self.policy.text()
    }

    /// The bots that could play on: the game's judge, its quick one, and all others built in.
    pub fn policies(&self) -> Vec<&'static str> {
        let info = self.session.info();
        let others = info.builtins.iter().map(|bot| bot.name).filter(|name| *name != info.policy);
        [info.judge, info.policy].into_iter().chain(others).collect()
    }

    /// Whether something is hidden, so that futures begin in positions drawn from what the seat could know.
    pub fn is_sampled(&self) -> bool {
        self.session.by_hand().hides()
    }

    /// The number of pairs of futures played.
    pub fn pairs(&self) -> u64 {
        self.seed
    }

    /// Plays one more pair of futures where it is most informative; false when enough is known about everything. `only` is the
    /// one step, from 1, to look at; none for all. A wish in that step gets every second pair.
    ///
    /// # Errors
    /// When an answer of the match does not fit its step.
    pub fn refine(&mut self, only: Option<u32>) -> Result<bool, String> {
        let Some((spot, trial)) = self.next(only) else { return Ok(false) };
        self.seed += 1;
        let before = self.known(spot, self.spots[spot].trials[trial].seat, self.seed)?;
        let (session, policy, spot) = (self.session.as_mut(), &self.policy, &mut self.spots[spot]);
        let trial = &mut spot.trials[trial];
        let other = match &trial.answers {
            Some(answers) => First::Recorded(answers),
            None => First::Instead(&spot.answers, trial.seat),
        };
        let own = play_on(session, &before, policy, First::Recorded(&spot.answers), self.seed)?;
        let other = play_on(session, &before, policy, other, self.seed)?;
        spot.chances.iter_mut().zip(&own).for_each(|(mean, share)| mean.add(*share));
        trial.chances.iter_mut().zip(&other).for_each(|(mean, share)| mean.add(*share));
        trial.gain.add(other[trial.seat.index()] - own[trial.seat.index()]);
        Ok(true)
    }

    /// A position for the futures `seed`: what `seat` could know of the one before a spot.
    pub(crate) fn known(&self, spot: usize, seat: Seat, seed: u64) -> Result<Position, String> {
        let position = &self.spots[spot].before;
        let was_asked = |spot: &&Spot| spot.answers.iter().any(|(other, _)| *other == seat);
        let mut shown = self.spots[..spot].iter().rev().filter(was_asked).map(|spot| &spot.before);
        let mut chance = Seeded::stream(seed as i64, "determinize");
        let drawn = self.session.determinized(position, seat, &mut shown, &mut chance);
        drawn.ok_or_else(|| "this position is not one of this match".to_owned())
    }

    /// The trial for which one more pair of futures is most informative, as spot and trial; none when enough is known about
    /// everything.
    fn next(&self, only: Option<u32>) -> Option<(usize, usize)> {
        let wanted = |spot: usize| only.is_none_or(|only| only as usize == spot + 1);
        let gain = |&(spot, trial): &(usize, usize)| &self.spots[spot].trials[trial].gain;
        let orders = || self.orders.iter().copied().filter(|&(spot, _)| wanted(spot));
        let fresh = orders().min_by_key(|order| gain(order).count).filter(|order| gain(order).count < EACH);
        let worth = |order: &(usize, usize)| gain(order).mean().abs() + 1.5 * gain(order).error();
        let open = orders().filter(|order| gain(order).count < MOST);
        let order = fresh.or_else(|| open.max_by(|one, two| worth(one).total_cmp(&worth(two))));
        let wish =
            self.wish.filter(|&spot| wanted(spot)).map(|spot| (spot, self.spots[spot].trials.len() - 1));
        let wish = wish.filter(|wish| gain(wish).count < MOST);
        if self.seed.is_multiple_of(2) { order.or(wish) } else { wish.or(order) }
    }

    /// The recorded order of `seat` at a step, from 1, as a bot of the game would write it there, one message a line; empty if
    /// none was given.
    ///
    /// # Errors
    /// When the match has no such step.
    pub fn written(&mut self, step: u32, seat: Seat) -> Result<String, String> {
        let recorded = self.spot(step)?.answers.clone();
        self.text(step, seat, &recorded)
    }

    /// The order of `seat` among other answers to a step, from 1, in the form of [`written`](Self::written).
    ///
    /// # Errors
    /// When the match has no such step.
    pub fn text(
        &mut self,
        step: u32,
        seat: Seat,
        answers: &[(Seat, PackedAnswer)],
    ) -> Result<String, String> {
        let before = self.spot(step)?.before.clone();
        let mut text = Vec::new();
        if let Some((_, Answer::Given { order, .. })) = answers.iter().find(|(other, _)| *other == seat) {
            self.session.go_to(&before);
            // The message may name the question.
            self.session.ask(seat, &mut Vec::new());
            self.session.say(seat, order, &mut text);
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn spot(&self, step: u32) -> Result<&Spot, String> {
        let spot = (step as usize).checked_sub(1).and_then(|index| self.spots.get(index));
        spot.ok_or_else(|| format!("this match has no step {step}"))
    }

    /// All answers of a step, from 1, with the policy's order in place of that of `seat`: those that the future `seed` begins
    /// with.
    ///
    /// # Errors
    /// When the match has no such step.
    pub fn instead(&mut self, step: u32, seat: Seat, seed: u64) -> Result<Vec<(Seat, PackedAnswer)>, String> {
        let Spot { before, answers, .. } = self.spot(step)?;
        let (before, answers) = (before.clone(), answers.clone());
        begin_future(self.session.as_mut(), &before, &self.policy, seed)?;
        Ok(instead(self.session.as_mut(), &answers, seat))
    }

    /// From now on examines another order of `seat` at a step, from 1, replacing any earlier wish. `text` is the order as a
    /// bot of the game writes it, one message a line.
    ///
    /// # Errors
    /// A sentence: when nobody was asked there, or the text is not an order.
    pub fn wish(&mut self, step: u32, seat: Seat, text: &str) -> Result<(), String> {
        if let Some(spot) = self.wish.take() {
            self.spots[spot].trials.pop();
        }
        let answers = self.with(step, seat, text)?;
        let index = step as usize - 1;
        let trial = Trial::new(seat, self.spots[index].chances.len(), Some(answers));
        self.spots[index].trials.push(trial);
        self.wish = Some(index);
        Ok(())
    }

    /// What `seat` chose by hand at a step, from 1, in the form of [`written`](Self::written).
    ///
    /// # Errors
    /// A sentence: when nobody was asked there, or these are no choices of the game.
    pub fn compose(&mut self, step: u32, seat: Seat, chosen: &Value) -> Result<String, String> {
        let Spot { before, answers, .. } = self.spot(step)?;
        let (before, mut answers) = (before.clone(), answers.clone());
        self.session.go_to(&before);
        let order = self.session.by_hand().order_of(seat, chosen)?;
        for (_, answer) in answers.iter_mut().filter(|(other, _)| *other == seat) {
            *answer = Answer::Given { order: order.clone(), think_ms: 0 };
        }
        self.text(step, seat, &answers)
    }

    /// All answers of a step, from 1, with another order of `seat`, as a bot of the game writes it.
    ///
    /// # Errors
    /// A sentence: when nobody was asked there, or the text is not an order that the rules allow.
    pub(crate) fn with(
        &mut self,
        step: u32,
        seat: Seat,
        text: &str,
    ) -> Result<Vec<(Seat, PackedAnswer)>, String> {
        let before = self.spot(step)?.before.clone();
        if !self.session.go_to(&before) {
            return Err("this position is not one of this match".to_owned());
        }
        let order = order_in(self.session.as_mut(), seat, text)?;
        self.with_packed(step, seat, order)
    }

    /// The same with an order in canonical bytes.
    pub(crate) fn with_packed(
        &mut self,
        step: u32,
        seat: Seat,
        order: Vec<u8>,
    ) -> Result<Vec<(Seat, PackedAnswer)>, String> {
        let Spot { before, answers, .. } = self.spot(step)?;
        let (before, mut answers) = (before.clone(), answers.clone());
        let own = answers.iter_mut().find(|(other, _)| *other == seat);
        own.ok_or_else(|| format!("seat {seat} gave no order there"))?.1 =
            Answer::Given { order, think_ms: 0 };
        // What the rules refuse is reported now, not when it is played on.
        self.session.go_to(&before);
        self.session.play(&answers)?;
        let refused = |one: &&Rejection| one.seat == seat && !one.harmless;
        if let Some(Rejection { index, why, rule, .. }) = self.session.rejections().iter().find(refused) {
            return Err(format!("order {}: {why} ({rule})", index + 1));
        }
        Ok(answers)
    }

    /// What is known about the wish; none if there is none.
    pub fn wished(&self) -> Option<Wished<'_>> {
        let spot = self.wish?;
        let Trial { seat, chances, gain, .. } = self.spots[spot].trials.last()?;
        Some(Wished { order: Mark { step: spot as u32 + 1, seat: *seat, gain: *gain }, chances })
    }

    /// Of how many orders something is known, and how many there are.
    pub fn seen(&self) -> [u32; 2] {
        let seen =
            self.orders.iter().filter(|&&(spot, trial)| self.spots[spot].trials[trial].gain.count >= EACH);
        [seen.count() as u32, self.orders.len() as u32]
    }

    /// Where in the match a step, from 1, is, in the game's words.
    pub fn moment(&self, step: u32) -> &str {
        self.spots.get((step as usize).wrapping_sub(1)).map_or("", |spot| &spot.moment)
    }

    /// Each seat's chance of finishing first after a step, from 1; if something is hidden, as the deciding seat could know it.
    pub fn chances(&self, step: u32) -> &[Mean] {
        self.spots.get((step as usize).wrapping_sub(1)).map_or(&[], |spot| &spot.chances)
    }

    /// What is known about each order of a step, from 1, marked or not.
    pub fn orders(&self, step: u32) -> Vec<Mark> {
        let Some(spot) = self.spots.get((step as usize).wrapping_sub(1)) else { return Vec::new() };
        let orders = spot.trials.iter().filter(|trial| trial.answers.is_none());
        orders.map(|&Trial { seat, gain, .. }| Mark { step, seat, gain }).collect()
    }

    /// The orders whose effect is beyond noise, in order of play.
    pub fn sure(&self) -> impl Iterator<Item = Mark> + '_ {
        let all = (1..=self.spots.len() as u32).flat_map(|step| self.orders(step));
        all.filter(|mark| is_sure(&mark.gain))
    }

    /// The same, the largest effect first.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.sure().collect();
        marks.sort_by(|one, two| two.gain.mean().abs().total_cmp(&one.gain.mean().abs()));
        marks
    }
}

/// The order that a bot gives with these messages, one a line.
fn order_in(session: &mut dyn Session, seat: Seat, text: &str) -> Result<Vec<u8>, String> {
    // A dialect may count its questions.
    session.ask(seat, &mut Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match session.hear(seat, line.as_bytes()) {
            Heard::Answer(order) => return Ok(order),
            Heard::More | Heard::Ignore(None) => {}
            Heard::Malformed(why)
            | Heard::Failed { why, .. }
            | Heard::Close(why)
            | Heard::Ignore(Some(why)) => {
                return Err(why);
            }
        }
    }
    Err("this is not the whole of an answer".to_owned())
}

pub(crate) fn is_sure(gain: &Mean) -> bool {
    gain.count >= FEWEST && gain.mean().abs() - SURE * gain.error() > SMALLEST
}

#[cfg(test)]
mod tests {
    use agon_game::Setup;
    use agon_replay::{EndInfo as ReplayEnd, Header, SeatInfo, Writer};
    use agon_spec::Clock;

    use super::*;

    #[test]
    fn what_is_always_the_same_is_sure_only_after_a_while() {
        let mut mean = Mean::default();
        (0..10).for_each(|_| mean.add(0.5));
        assert!(!is_sure(&mean));
        (0..90).for_each(|_| mean.add(0.5));
        assert!(is_sure(&mean) && (mean.mean() - 0.5).abs() < 1e-12, "{mean:?}");
    }

    /// A match played by the policy of a game, and its analysis.
    fn analysed(name: &str, most: usize) -> Analysis {
        let game = agon_games::find(name).expect("a game of ours");
        let setup = Setup { seats: game.info().usual_seats(), seed: 3, ..Setup::default() };
        let mut session = game.open(&setup).expect("it sets up");
        let info = SeatInfo { bot: "builtin:x".to_owned(), label: "x".to_owned(), hash: None };
        let header = Header::new(session.as_ref(), vec![info; usize::from(setup.seats)], Clock::ORIGINAL);
        for seat in Seat::first(setup.seats) {
            session.seat_builtin(seat, game.info().policy, &[], 1).expect("a policy");
        }
        let mut writer = Writer::new(Vec::new(), &header).expect("memory");
        while session.outcome().is_none() && (session.steps() as usize) < most {
            let seats: Vec<Seat> = session.deciding().iter().collect();
            let given = |seat| (seat, Answer::Given { order: session.think(seat), think_ms: 0 });
            let answers: Vec<(Seat, PackedAnswer)> = seats.into_iter().map(given).collect();
            session.play(&answers).expect("orders of ours");
            writer.step(&answers, session.hash()).expect("memory");
        }
        let end = ReplayEnd {
            steps: 0,
            outcome: session.outcome().cloned(),
            state: format!("{:016x}", session.hash()),
            chain: String::new(),
            facts: serde_json::Value::Null,
        };
        let replay = Replay::read(&writer.finish(end).expect("memory")).expect("ours");
        Analysis::open(&replay, Some(game.info().policy)).expect("ours")
    }

    #[test]
    fn where_something_is_hidden_futures_begin_in_what_the_seat_could_know() {
        for game in agon_games::all() {
            let name = game.info().name;
            let mut analysis = analysed(name, 40);
            let sampled = ["deerhunt", "ostibot"].contains(&name);
            assert_eq!(analysis.is_sampled(), sampled, "{name}");
            let mut others = 0;
            for spot in (0..analysis.spots.len()).step_by(7) {
                let seat = analysis.spots[spot].answers[0].0;
                let before = analysis.spots[spot].before.clone();
                let told = |analysis: &mut Analysis, position: &Position| {
                    assert!(analysis.session.go_to(position), "{name}");
                    let mut told = Vec::new();
                    analysis.session.ask(seat, &mut told);
                    told
                };
                let was = told(&mut analysis, &before);
                for seed in 0..8 {
                    let known = analysis.known(spot, seat, seed).expect("of this match");
                    assert_eq!(told(&mut analysis, &known), was, "{name}, step {spot}");
                    others += u32::from(known.state() != before.state());
                }
            }
            assert_eq!(others > 10, sampled, "{name}: {others} positions were others");
        }
    }

    #[test]
    fn noise_is_never_sure() {
        let mut mean = Mean::default();
        (0..2_000).for_each(|at| mean.add(if at % 2 == 0 { 1.0 } else { -1.0 }));
        assert!(!is_sure(&mean));
    }
}
