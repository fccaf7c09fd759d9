//! What lost a match: the one order in whose place another would have kept much more of the seat's chance.
//!
//! The search narrows down in rounds. The first two only look: each order is compared with those of the game's built-in bots, then with
//! random ones too, a few turns further on and by the features of the position ([`agon_game::advantage`]). They say where to look, and no
//! figure comes of them. The last two play on to the end by the policy ([`crate::future`]). Each round draws new futures, so that an order
//! that was chosen by luck is not confirmed by the same luck.
//!
//! An order is judged by what its seat could know: where something is hidden as in an [`Analysis`], and seats that decide at the same time
//! play in each future as the policy does, not as they did.
//!
//! Pure, without a clock, and the same for the same match: what a page finds, everybody finds.

use agon_game::{Answer, PackedAnswer, Position, Seat, Seeded};
use agon_replay::Replay;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use crate::analysis::{Analysis, Mean, Spot, Unanalysable};
use crate::course::Course;
use crate::future::{First, PlayoutPolicy, play_for, play_on};
use crate::outlook::WinChance;

/// The least that another order gains, for a puzzle.
pub const WORTH: f64 = 0.15;
/// An answer that keeps the best known chance but for this solves the puzzle.
pub const SOLVED: f64 = 0.1;
/// How many futures a chance is of that is told.
pub const JUDGED: u32 = 200;
/// How many random orders are among those of the second round.
const STRAYS: u64 = 12;
/// The shortest and the longest look ahead, in steps; between them it is an eighth of the match.
const LOOK: (u32, u32) = (4, 24);

/// A round of the search.
struct Round {
    /// How many futures each order gets.
    futures: u32,
    /// Whether they are played to the end.
    whole: bool,
    /// How many places take part: those where most can be gained by the round before.
    places: usize,
    /// How many other orders there.
    orders: usize,
    /// The least that was gained there by the round before.
    least: f64,
}

const ROUNDS: [Round; 4] = [
    Round { futures: 3, whole: false, places: 80, orders: 2, least: 0.0 },
    Round { futures: 6, whole: false, places: 10, orders: 24, least: 0.0 },
    Round { futures: 24, whole: true, places: 6, orders: 3, least: 0.0 },
    Round { futures: JUDGED, whole: true, places: 3, orders: 1, least: 0.05 },
];
/// About how many looks take as long as a future played to its end.
const LOOKS: u32 = 8;

/// Another order at a place.
struct Other {
    /// The answer of the seat.
    answer: PackedAnswer,
    /// The seat's chance after it.
    chance: Mean,
    /// What it gains over the recorded one.
    gain: Mean,
}

impl Other {
    fn new(answer: PackedAnswer) -> Self {
        Self { answer, chance: Mean::default(), gain: Mean::default() }
    }
}

/// A turn of the seat.
struct Place {
    /// The step, from 0.
    spot: usize,
    /// The seat's chance after the recorded order.
    chance: Mean,
    others: Vec<Other>,
}

impl Place {
    fn gain(&self) -> f64 {
        self.others.first().map_or(0.0, |other| other.gain.mean())
    }
}

/// A search for what lost a match for a seat.
pub struct LossSearch {
    analysis: Analysis,
    seat: Seat,
    /// The one step, from 1, that is looked at; none for all.
    only: Option<u32>,
    /// From which step, from 0, the seat was behind for good.
    behind: usize,
    look: u32,
    places: Vec<Place>,
    /// How many places there were at first.
    at_first: usize,
    round: usize,
    /// How many futures of this round are played, at all places together.
    played: usize,
    /// The order that is being judged, by its step and text.
    judged: Option<(u32, String, Other)>,
}

/// What a lost match teaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Lesson {
    /// The bot that played on, with its options.
    pub policy: String,
    /// Whose match, from 1.
    pub seat: u8,
    /// The step, from 1, from which the seat was behind for good, as its game's features tell.
    pub behind: u32,
    /// The same place in the game's words.
    pub behind_at: String,
    /// The order that lost it; none if no single order did.
    pub puzzle: Option<Puzzle>,
}

/// A turn at which another order would have kept more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Puzzle {
    /// The step, from 1.
    pub step: u32,
    /// The same place in the game's words.
    pub moment: String,
    /// What was played.
    pub played: JudgedOrder,
    /// The best that is known.
    pub best: JudgedOrder,
}

/// An order, and the seat's chance after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct JudgedOrder {
    /// As a bot writes it, one message a line; empty if none was given.
    pub order: String,
    /// The chance.
    pub chance: WinChance,
}

/// How far a search or a judgement has come.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LessonSoFar {
    /// How much is done, and of how much.
    pub done: [u32; 2],
    /// What was found, once all is done.
    pub lesson: Option<Lesson>,
}

impl LossSearch {
    /// Opens a match. `policy` is the built-in bot that plays on; none for the game's judge. `only` is the one step, from 1, to look at;
    /// none for all.
    ///
    /// # Errors
    /// When it cannot be analysed.
    pub fn open(
        replay: &Replay,
        seat: Seat,
        policy: Option<&str>,
        only: Option<u32>,
    ) -> Result<Self, Unanalysable> {
        let analysis = Analysis::open(replay, policy)?;
        let course = Course::of(replay).map_err(Unanalysable::Unsuited)?;
        let own = |all: &Vec<f64>| all.get(seat.index()).copied().unwrap_or(0.0);
        let chances: Vec<f64> = course.chances.iter().map(own).collect();
        let last = chances.len() - 1;
        let even = 1.0 / f64::from(analysis.session.recipe().seats) - 1e-9;
        let behind =
            chances.iter().rposition(|chance| *chance >= even).map_or(0, |step| (step + 1).min(last));
        let look = (last as u32 / 8).clamp(LOOK.0, LOOK.1);
        let asked = |spot: &usize| {
            analysis.spots[*spot].answers.iter().any(|(other, _)| *other == seat)
                && only.is_none_or(|only| only as usize == *spot + 1)
        };
        let mut spots: Vec<usize> = (0..analysis.spots.len()).filter(asked).collect();
        let fall = |spot: usize| chances[spot] - chances[(spot + look as usize).min(last)];
        spots.sort_by(|one, two| fall(*two).total_cmp(&fall(*one)));
        spots.truncate(ROUNDS[0].places);
        let at_first = spots.len();
        let place = |spot| Place { spot, chance: Mean::default(), others: Vec::new() };
        let places = spots.into_iter().map(place).collect();
        Ok(Self { analysis, seat, only, behind, look, places, at_first, round: 0, played: 0, judged: None })
    }

    /// Whether it is of this seat, by this policy (none for the game's judge), and of this one step or of all.
    pub(crate) fn is_of(&self, seat: Seat, policy: Option<&str>, only: Option<u32>) -> bool {
        let policy = policy.unwrap_or(self.analysis.session.info().judge);
        (self.seat, self.policy(), self.only) == (seat, policy, only)
    }

    /// The bot that plays on, with its options.
    pub fn policy(&self) -> &str {
        self.analysis.policy()
    }

    /// Goes on for about as long as this many whole futures take; false when all is done.
    ///
    /// # Errors
    /// When an answer of the match does not fit its step.
    pub fn work(&mut self, futures: u32) -> Result<bool, String> {
        let mut left = futures * LOOKS;
        while let Some(round) = ROUNDS.get(self.round) {
            let (at, future) = (self.played / round.futures as usize, self.played as u32 % round.futures);
            if at >= self.places.len() {
                self.narrow();
                continue;
            }
            if left == 0 {
                return Ok(true);
            }
            self.play(at, future)?;
            self.played += 1;
            let weight = if round.whole { LOOKS } else { 1 };
            left = left.saturating_sub(weight * (1 + self.places[at].others.len() as u32));
        }
        Ok(false)
    }

    /// Ends a round: what promises most goes into the next.
    fn narrow(&mut self) {
        (self.round, self.played) = (self.round + 1, 0);
        for place in &mut self.places {
            place.others.sort_by(|one, two| two.gain.mean().total_cmp(&one.gain.mean()));
        }
        self.places.sort_by(|one, two| two.gain().total_cmp(&one.gain()));
        let Some(next) = ROUNDS.get(self.round) else { return };
        self.places.retain(|place| place.gain() >= next.least);
        self.places.truncate(next.places);
        for place in &mut self.places {
            place.others.truncate(next.orders);
            place.chance = Mean::default();
            place.others.iter_mut().for_each(|other| {
                (other.chance, other.gain) = (Mean::default(), Mean::default());
            });
        }
    }

    /// Plays a future of a place, with each of its orders.
    fn play(&mut self, at: usize, future: u32) -> Result<(), String> {
        let (round, spot) = (self.round, self.places[at].spot);
        if future == 0 && !ROUNDS[round].whole {
            self.places[at].others = self.others(spot, round > 0)?;
        }
        let seed = seed(round, spot, future);
        let answers = &self.analysis.spots[spot].answers;
        let recorded = answers.iter().find(|(seat, _)| *seat == self.seat).map(|(_, answer)| answer.clone());
        let recorded = recorded.ok_or("the seat was not asked there")?;
        let own = self.share(spot, &recorded, seed, ROUNDS[round].whole)?;
        self.places[at].chance.add(own);
        for other in 0..self.places[at].others.len() {
            let answer = self.places[at].others[other].answer.clone();
            let share = self.share(spot, &answer, seed, ROUNDS[round].whole)?;
            let other = &mut self.places[at].others[other];
            other.chance.add(share);
            other.gain.add(share - own);
        }
        Ok(())
    }

    /// The seat's chance after this answer in a future: its share of the first place, or what speaks for it after a few steps.
    fn share(&mut self, spot: usize, answer: &PackedAnswer, seed: u64, whole: bool) -> Result<f64, String> {
        let before = self.analysis.known(spot, self.seat, seed)?;
        let (session, first) = (self.analysis.session.as_mut(), First::Alone(self.seat, answer));
        if whole {
            return Ok(play_on(session, &before, &self.analysis.policy, first, seed)?[self.seat.index()]);
        }
        let quick = PlayoutPolicy::of(session.info(), session.info().policy)?;
        let end = play_for(session, &before, &quick, first, seed, self.look)?;
        let chances =
            end.or_else(|| agon_game::advantage(session)).ok_or("this game does not say who is ahead")?;
        Ok(chances[self.seat.index()])
    }

    /// The other orders of a place: those of the policy's bot, at full strength, and of the quick one; with `all` those of all built-in
    /// bots, and random ones.
    fn others(&mut self, spot: usize, all: bool) -> Result<Vec<Other>, String> {
        let before = self.analysis.spots[spot].before.clone();
        let info = self.analysis.session.info();
        let strong = self.analysis.policy().split('?').next().unwrap_or_default();
        let named = [strong, info.policy].into_iter();
        let names: Vec<String> = match all {
            false => named.map(str::to_owned).collect(),
            true => named.chain(info.builtins.iter().map(|bot| bot.name)).map(str::to_owned).collect(),
        };
        let mut orders = Vec::new();
        for name in names {
            orders.extend(self.order_of(&before, &name)?);
        }
        let strays = if all && self.is_single(spot) { STRAYS } else { 0 };
        self.analysis.session.go_to(&before);
        for stray in 0..strays {
            let mut chance = Seeded::stream(seed(self.round, spot, stray as u32) as i64, "other orders");
            orders.push(self.analysis.session.stray(self.seat, &mut chance));
        }
        let own = self.analysis.spots[spot].answers.iter().find(|(seat, _)| *seat == self.seat);
        let mut known: Vec<Vec<u8>> = match own {
            Some((_, Answer::Given { order, .. })) => vec![order.clone()],
            _ => Vec::new(),
        };
        let mut others = Vec::new();
        for order in orders {
            if known.contains(&order) {
                continue;
            }
            known.push(order.clone());
            // An order of which the rules refuse a part is no answer to a puzzle.
            if let Ok(answers) = self.analysis.with_packed(spot as u32 + 1, self.seat, order) {
                let own = answers.into_iter().find(|(seat, _)| *seat == self.seat);
                others.extend(own.map(|(_, answer)| Other::new(answer)));
            }
        }
        others.truncate(ROUNDS[self.round].orders);
        Ok(others)
    }

    /// Whether the answer there was a single choice: several drawn at random are no answer to a puzzle.
    fn is_single(&mut self, spot: usize) -> bool {
        let Spot { before, answers, .. } = &self.analysis.spots[spot];
        let own = answers.iter().find(|(seat, _)| *seat == self.seat);
        let Some((_, Answer::Given { order, .. })) = own else { return false };
        self.analysis.session.go_to(before);
        let chosen = self.analysis.session.by_hand().chosen_in(self.seat, order);
        chosen.is_some_and(|chosen| chosen.as_array().is_none_or(|list| list.len() <= 1))
    }

    fn order_of(&mut self, before: &Position, name: &str) -> Result<Option<Vec<u8>>, String> {
        let session = self.analysis.session.as_mut();
        if !session.go_to(before) {
            return Ok(None);
        }
        PlayoutPolicy::of(session.info(), name)?.sit(session, self.seat, 0)?;
        Ok(Some(session.think(self.seat)))
    }

    /// How much is done and of about how much, in looks.
    pub fn done(&self) -> [u32; 2] {
        let cost = |round: &Round, places: usize, orders: usize| {
            let one = if round.whole { LOOKS } else { 1 };
            places as u32 * round.futures * (1 + orders as u32) * one
        };
        let (mut done, mut all) = (0, 0);
        for (number, round) in ROUNDS.iter().enumerate() {
            let places = round.places.min(self.at_first);
            let whole = cost(round, places, round.orders);
            all += whole;
            done += match number.cmp(&self.round) {
                std::cmp::Ordering::Less => whole,
                std::cmp::Ordering::Greater => 0,
                std::cmp::Ordering::Equal => {
                    let units = (places as u32 * round.futures).max(1);
                    whole / units * (self.played as u32).min(units)
                }
            };
        }
        [done, all]
    }

    /// What was found; none before all is done.
    ///
    /// # Errors
    /// When an answer of the match does not fit its step.
    pub fn lesson(&mut self) -> Result<Option<Lesson>, String> {
        if self.round < ROUNDS.len() {
            return Ok(None);
        }
        let place = self.places.first().filter(|place| place.gain() >= WORTH);
        let found = place.and_then(|place| {
            let best = place.others.first()?;
            Some((place.spot, place.chance, best.answer.clone(), best.chance))
        });
        let puzzle = match found {
            None => None,
            Some((spot, played, answer, best)) => {
                let step = spot as u32 + 1;
                Some(Puzzle {
                    step,
                    moment: self.analysis.moment(step).to_owned(),
                    played: JudgedOrder {
                        order: self.analysis.written(step, self.seat)?,
                        chance: WinChance::from(&played),
                    },
                    best: JudgedOrder {
                        order: self.analysis.text(step, self.seat, &[(self.seat, answer)])?,
                        chance: WinChance::from(&best),
                    },
                })
            }
        };
        let behind = self.behind as u32 + 1;
        Ok(Some(Lesson {
            policy: self.policy().to_owned(),
            seat: self.seat.number(),
            behind,
            behind_at: self.analysis.moment(behind.min(self.analysis.spots.len() as u32)).to_owned(),
            puzzle,
        }))
    }

    /// Judges an order of the seat at a step, from 1, written as a bot writes it: plays at most this many more futures, the same ones for
    /// every order, and returns what is known. There are no more once there are [`JUDGED`].
    ///
    /// # Errors
    /// A sentence: when the seat is not asked there, or the text is not an order that the rules allow.
    pub fn judge(&mut self, step: u32, text: &str, futures: u32) -> Result<WinChance, String> {
        let known = self.judged.take().filter(|(of, order, _)| (*of, order.as_str()) == (step, text));
        let mut own = match known {
            Some((.., own)) => own,
            None => {
                let answers = self.analysis.with(step, self.seat, text)?;
                let own = answers.into_iter().find(|(seat, _)| *seat == self.seat);
                Other::new(own.ok_or("the seat was not asked there")?.1)
            }
        };
        let spot = step as usize - 1;
        for future in own.chance.count..(own.chance.count + futures).min(JUDGED) {
            own.chance.add(self.share(spot, &own.answer, seed(ROUNDS.len() - 1, spot, future), true)?);
        }
        let chance = WinChance::from(&own.chance);
        self.judged = Some((step, text.to_owned(), own));
        Ok(chance)
    }
}

impl Puzzle {
    /// Whether an answer with this chance solves it.
    pub fn is_solved_by(&self, chance: &WinChance) -> bool {
        chance.count >= JUDGED && chance.mean >= self.best.chance.mean - SOLVED
    }
}

/// The number of a future.
fn seed(round: usize, spot: usize, future: u32) -> u64 {
    (round as u64 + 1) << 40 | (spot as u64) << 20 | u64::from(future)
}

#[cfg(test)]
mod tests {
    use agon_game::Setup;
    use agon_replay::{EndInfo as ReplayEnd, Header, SeatInfo, Writer};
    use agon_spec::Clock;

    use super::*;

    /// A match between built-in bots.
    fn played(name: &str, bots: [&str; 2], seed: i64) -> Replay {
        let game = agon_games::find(name).expect("a game of ours");
        let mut session = game.open(&Setup { seats: 2, seed, ..Setup::default() }).expect("it sets up");
        let seats = bots.map(|bot| SeatInfo { bot: String::new(), label: bot.to_owned(), hash: None });
        let header = Header::new(session.as_ref(), seats.into(), Clock::ORIGINAL);
        for (seat, bot) in Seat::first(2).zip(bots) {
            let bot = PlayoutPolicy::of(game.info(), bot).expect("a bot of it");
            bot.sit(session.as_mut(), seat, 1).expect("it sits");
        }
        let mut writer = Writer::new(Vec::new(), &header).expect("memory");
        while session.outcome().is_none() {
            let mut answers: Vec<(Seat, PackedAnswer)> = Vec::new();
            for seat in session.deciding().iter() {
                answers.push((seat, Answer::Given { order: session.think(seat), think_ms: 0 }));
            }
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
        Replay::read(&writer.finish(end).expect("memory")).expect("ours")
    }

    fn searched(replay: &Replay, policy: &str, piece: u32) -> (LossSearch, Lesson) {
        let mut search = LossSearch::open(replay, Seat::new(0), Some(policy), None).expect("ours");
        let mut before = 0;
        while search.work(piece).expect("its own answers") {
            let [done, of] = search.done();
            assert!((before..of).contains(&done), "{before}, {done} of {of}");
            before = done;
        }
        assert_eq!(search.done()[0], search.done()[1]);
        let lesson = search.lesson().expect("ours").expect("all is done");
        (search, lesson)
    }

    #[test]
    fn the_order_that_lost_a_match_is_found_and_judged_the_same_by_everybody() {
        // By the quick bot, so that it takes no time here.
        let replay = played("cultist-wars", ["random", "greedy"], 3);
        let (mut search, lesson) = searched(&replay, "greedy", 40);
        assert_eq!(searched(&replay, "greedy", 1).1, lesson, "the pieces do not matter");
        let puzzle = lesson.puzzle.clone().expect("random loses by single orders");
        let [played, best] = [&puzzle.played, &puzzle.best];
        assert!(best.chance.mean - played.chance.mean >= WORTH, "{puzzle:?}");
        assert_eq!([played.chance.count, best.chance.count], [JUDGED; 2]);
        assert!(lesson.behind >= 1 && lesson.behind as usize <= replay.steps.len(), "{lesson:?}");
        // An answer is judged by the same futures, in pieces or not.
        let mut judge = |order: &str, piece: u32| {
            let mut chance = search.judge(puzzle.step, order, piece).expect("an order");
            while chance.count < JUDGED {
                chance = search.judge(puzzle.step, order, piece).expect("an order");
            }
            chance
        };
        assert_eq!(judge(&best.order, 7), best.chance);
        assert_eq!(judge(&played.order, JUDGED), played.chance);
        assert!(puzzle.is_solved_by(&best.chance) && !puzzle.is_solved_by(&played.chance));
        let unsure = WinChance { count: JUDGED - 1, ..best.chance.clone() };
        assert!(!puzzle.is_solved_by(&unsure));
        // What the rules refuse is no answer, and what is no order neither.
        for (order, why) in [("0 MOVE 90 90", "CW-"), ("hello", "")] {
            let refused = search.judge(puzzle.step, order, 10).expect_err("refused");
            assert!(refused.contains(why), "{refused}");
        }
        assert!(search.judge(90_000, &best.order, 1).is_err(), "there is no such step");
    }

    #[test]
    fn where_no_single_order_lost_it_that_is_said() {
        // Nothing that one order does saves a bot that never does anything again.
        let replay = played("cultist-wars", ["idle", "greedy"], 5);
        let mut search = LossSearch::open(&replay, Seat::new(0), Some("idle"), None).expect("ours");
        while search.work(100).expect("its own answers") {}
        let lesson = search.lesson().expect("ours").expect("all is done");
        assert_eq!(lesson.puzzle, None);
        assert!(lesson.behind_at.contains("turn"), "{lesson:?}");
        let unknown = LossSearch::open(&replay, Seat::new(0), Some("nobody"), None).err().expect("refused");
        assert!(unknown.to_string().contains("no built-in bot `nobody`"), "{unknown}");
    }
}
