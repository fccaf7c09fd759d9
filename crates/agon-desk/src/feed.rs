//! What a bot answers to a recorded match.
//!
//! The referee plays as always, but with a `Rerun` for a session: whatever the bot answers, the match goes on as
//! recorded, so that the bot meets every turn of it.

use std::collections::BTreeMap;
use std::io;

use agon_bot::BotName;
use agon_game::{
    Absence, Answer, ByHand, Facts, GameInfo, Heard, Kit, Outcome, PackedAnswer, Picture, Position, Recipe,
    Rejection, Seat, SeatAdvantages, Seats, Seeded, Session,
};
use agon_match::record::Void;
use agon_match::{Clock, Fault, MatchRecord, Observer, Player, StepReport, Terms, Together, seat_player};
use agon_replay::asked::AskedAgain;
use agon_replay::{Replay, Step};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::DeskError;
use crate::replays::TurnCount;
use crate::replays::open;

/// What `agon replay feed --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct Fed {
    pub game: &'static str,
    pub seat: u8,
    pub bot: String,
    pub turns: Vec<FedTurn>,
    /// How many answers equal the recorded ones, and how many do not.
    pub same: u32,
    pub differ: u32,
    pub faults: Vec<Fault>,
    /// Why it does not count, if so.
    pub void: Option<String>,
    /// Whether it was stopped before its end.
    #[serde(skip)]
    pub stopped: bool,
    /// How many turns the bot was not asked, because no answer came to one before them.
    #[serde(skip)]
    pub unfed: u32,
}

/// An answer beside the recorded one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct FedTurn {
    /// From 0.
    pub step: u32,
    pub moment: String,
    pub same: bool,
    pub then: String,
    pub now: String,
    /// How long it took; null when that was not measured.
    pub ms: Option<f64>,
    pub faults: Vec<Fault>,
    pub stderr: String,
}

/// A bot at a seat of a recorded match.
pub struct Feed<'a> {
    replay: &'a Replay,
    bot: &'a BotName,
    seat: Seat,
    session: Rerun<'a>,
    players: Vec<Player>,
}

impl<'a> Feed<'a> {
    /// Seats the bot, to be fed the steps before `until`.
    ///
    /// # Errors
    /// When this program does not have the match's rules, or the bot cannot be started.
    pub fn new(
        replay: &'a Replay,
        bot: &'a BotName,
        seat: Seat,
        until: usize,
        clock: Clock,
    ) -> Result<Self, DeskError> {
        let inner = AskedAgain::with(open(replay)?, replay, seat);
        let mut session = Rerun { inner, until, fed: seat, asked: false, lost: false };
        // The others need no program, because their answers are recorded.
        let mut players: Vec<Player> = (0..session.recipe().seats).map(|_| Player::Builtin).collect();
        players[seat.index()] = seat_player(&mut session, bot, seat, None, clock)?;
        Ok(Self { replay, bot, seat, session, players })
    }

    fn play(&mut self, observer: &mut dyn Observer, terms: &Terms<'_>) -> MatchRecord {
        let record =
            agon_match::play_on(&mut self.session, &mut self.players, &[self.bot.label()], observer, terms);
        self.players.clear();
        record
    }

    /// Feeds it the match. Its answers are compared with the recorded ones, at `only` that turn if one is given; `told` gets each.
    pub fn compare(
        mut self,
        only: Option<u32>,
        terms: &Terms<'_>,
        told: &mut dyn FnMut(&FedTurn) -> io::Result<()>,
    ) -> Fed {
        let moment = self.session.moment();
        let (replay, seat) = (self.replay, self.seat);
        let mut beside = Beside { replay, seat, only, told, turns: Vec::new(), moment };
        let record = self.play(&mut beside, terms);
        let turns = beside.turns;
        let same = turns.iter().filter(|turn| turn.same).count() as u32;
        let left = (self.session.until as u32).saturating_sub(self.session.steps());
        Fed {
            game: self.session.info().name,
            seat: seat.number(),
            bot: self.bot.text.clone(),
            same,
            differ: turns.len() as u32 - same,
            turns,
            void: record.void_sentence(),
            stopped: record.void == Some(Void::Stopped),
            faults: record.faults,
            unfed: if self.session.lost { left } else { 0 },
        }
    }

    /// Feeds it the match; returns its answer at `turn`, from 0.
    pub fn answer(self, turn: u32, terms: &Terms<'_>) -> AnswerAt {
        self.answer_beside(turn, terms, &mut ())
    }

    /// The same while somebody observes it.
    pub(crate) fn answer_beside(
        mut self,
        turn: u32,
        terms: &Terms<'_>,
        beside: &mut dyn Observer,
    ) -> AnswerAt {
        let mut last = LastAnswer { seat: self.seat, turn, moment: self.session.moment(), now: None };
        let record = self.play(&mut Together(vec![&mut last, beside]), terms);
        AnswerAt { moment: last.moment, now: last.now, faults: record.faults, void: record.void }
    }
}

/// Refuses a step, from 0, at which a seat does not answer.
///
/// # Errors
/// When it does not.
pub fn check_turn(replay: &Replay, seat: Seat, step: u32) -> Result<(), DeskError> {
    let decides = |step: &Step| step.answers.iter().any(|(other, _)| *other == seat);
    if replay.steps.get(step as usize).is_some_and(decides) {
        return Ok(());
    }
    let count = TurnCount::of(replay);
    let last = count.turn(replay.steps.len().saturating_sub(1) as u32);
    Err(DeskError::Impossible(format!(
        "--turn {}: seat {seat} is not asked in this turn; the match has the turns {} to {last}",
        count.turn(step),
        count.first()
    )))
}

/// A bot's answer at one turn of a recorded match.
pub struct AnswerAt {
    /// The place in the match, in the game's words.
    pub moment: String,
    /// The answer, as its protocol writes it; none when the bot did not get that far.
    pub now: Option<String>,
    /// Its faults as a program, up to there.
    pub faults: Vec<Fault>,
    /// Why it does not count, if so.
    pub void: Option<Void>,
}

/// Records the answer at one turn.
struct LastAnswer {
    seat: Seat,
    turn: u32,
    /// Where the match is; at the end, where that turn was.
    moment: String,
    now: Option<String>,
}

impl Observer for LastAnswer {
    fn stepped(&mut self, session: &mut dyn Session, report: &StepReport<'_>) -> io::Result<()> {
        match report.answers.iter().find(|(seat, _)| *seat == self.seat) {
            _ if report.step < self.turn => self.moment = session.moment(),
            Some((seat, answer)) => self.now = Some(text(session, *seat, answer)),
            None => {}
        }
        Ok(())
    }
}

/// A recorded match that goes on as it did, whatever the bot answers now. The others' messages are computed again too:
/// what they said besides their orders, such as the name of a team, may be passed on to the fed bot.
struct Rerun<'a> {
    inner: AskedAgain<'a>,
    /// The number of steps to feed.
    until: usize,
    fed: Seat,
    /// Whether the others were asked at this step.
    asked: bool,
    /// Whether the bot owes an answer: anything it says later would be taken for the answer of another turn.
    lost: bool,
}

impl Rerun<'_> {
    /// Asks the deciding seats before the fed one, or those after it.
    fn ask_others(&mut self, before: bool) {
        for seat in self.inner.view().deciding().iter().filter(|seat| (*seat < self.fed) == before) {
            self.inner.ask_one(seat);
        }
    }
}

/// Functions of a session that a `Rerun` leaves to the recorded match; those after `&mut` change it.
macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*
     &mut $($change:ident($($given:ident: $kind:ty),*) -> $outcome:ty;)*) => {
        $(fn $name(&self $(, $arg: $type)*) -> $result { self.inner.view().$name($($arg),*) })*
        $(fn $change(&mut self $(, $given: $kind)*) -> $outcome { self.inner.session().$change($($given),*) })*
    };
}

impl Session for Rerun<'_> {
    fn play(&mut self, answers: &[(Seat, PackedAnswer)]) -> Result<(), String> {
        let missing = |answer: &PackedAnswer| {
            matches!(answer, Answer::Missing(Absence::TimedOut | Absence::Gone | Absence::NeverStarted))
        };
        self.lost |= answers.iter().any(|(seat, answer)| *seat == self.fed && missing(answer));
        if !std::mem::take(&mut self.asked) {
            self.ask_others(true);
            self.ask_others(false);
        }
        self.inner.play().map(|_| ())
    }

    fn deciding(&self) -> Seats {
        match self.inner.steps() >= self.until || self.lost {
            true => Seats::NONE,
            false => self.inner.view().deciding(),
        }
    }

    fn ask(&mut self, seat: Seat, out: &mut Vec<u8>) {
        self.ask_others(true);
        self.inner.session().ask(seat, out);
        self.ask_others(false);
        self.asked = true;
    }

    fn think(&mut self, seat: Seat) -> Vec<u8> {
        // The others are not asked: their answers are in the record.
        if seat == self.fed { self.inner.session().think(seat) } else { Vec::new() }
    }

    fn rejections(&self) -> &[Rejection] {
        // They belong to the recorded answers, for which this bot is not to blame.
        &[]
    }

    forward! {
        info() -> &'static GameInfo;
        kit() -> Kit;
        by_hand() -> &dyn ByHand;
        recipe() -> &Recipe;
        steps() -> u32;
        moment() -> String;
        limit_ms(seat: Seat) -> u32;
        soft_limit_ms() -> Option<u32>;
        pauses_ms() -> [u32; 2];
        say(seat: Seat, order: &[u8], out: &mut Vec<u8>) -> bool;
        public(order: &[u8]) -> Option<Vec<u8>>;
        registered(seat: Seat) -> Option<String>;
        stray(seat: Seat, chance: &mut Seeded) -> Vec<u8>;
        standing() -> SeatAdvantages;
        events() -> Vec<Value>;
        events_json() -> Box<RawValue>;
        frames_json() -> Option<Box<RawValue>>;
        frame_count() -> u32;
        position() -> Position;
        determinized(at: &Position, seat: Seat, shown: &mut dyn Iterator<Item = &Position>, chance: &mut Seeded) -> Option<Position>;
        outcome() -> Option<&Outcome>;
        picture(eyes: Option<Seat>) -> Picture;
        frames(eyes: Option<Seat>) -> Vec<Picture>;
        scene() -> Value;
        &mut
        hear(seat: Seat, message: &[u8]) -> Heard<Vec<u8>>;
        announce(seat: Seat, name: String) -> ();
        seat_builtin(seat: Seat, name: &str, options: &[(String, String)], seed: u64) -> Result<(), String>;
        redraw(seed: i64) -> ();
        go_to(position: &Position) -> bool;
        keep_events() -> ();
        end(seat: Seat, facts: &Facts, out: &mut Vec<u8>) -> ();
        hash() -> u64;
    }
}

/// Compares each answer with the recorded one.
struct Beside<'a> {
    replay: &'a Replay,
    seat: Seat,
    /// The only turn to compare.
    only: Option<u32>,
    told: &'a mut dyn FnMut(&FedTurn) -> io::Result<()>,
    turns: Vec<FedTurn>,
    /// Where the match was before this step.
    moment: String,
}

impl Observer for Beside<'_> {
    fn stepped(&mut self, session: &mut dyn Session, report: &StepReport<'_>) -> io::Result<()> {
        let moment = std::mem::replace(&mut self.moment, session.moment());
        let of = |answers: &[(Seat, PackedAnswer)]| {
            answers.iter().position(|(seat, _)| *seat == self.seat).map(|place| answers[place].1.clone())
        };
        let then = of(&self.replay.steps[report.step as usize].answers);
        let (Some(then), Some(now)) = (then, of(report.answers)) else { return Ok(()) };
        if self.only.is_some_and(|only| only != report.step) {
            return Ok(());
        }
        let take = report.answers.iter().zip(report.takes).find(|((seat, _), _)| *seat == self.seat);
        let take = take.map(|(_, take)| take.clone()).unwrap_or_default();
        let (then, now) = (text(session, self.seat, &then), text(session, self.seat, &now));
        let turn = FedTurn {
            step: report.step,
            moment,
            same: then == now,
            then,
            now,
            ms: take.timed.then_some(take.wall.as_secs_f64() * 1e3),
            faults: report.faults.to_vec(),
            stderr: String::from_utf8_lossy(&take.stderr).into_owned(),
        };
        let told = (self.told)(&turn);
        self.turns.push(turn);
        told
    }
}

/// An answer as its protocol writes it, or why there is none.
pub fn text(session: &dyn Session, seat: Seat, answer: &PackedAnswer) -> String {
    match answer {
        Answer::Given { order, .. } => {
            let mut text = Vec::new();
            session.say(seat, order, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        Answer::Malformed { why, .. } => format!("(malformed: {why})"),
        Answer::Missing(Absence::TimedOut) => "(timed out)".to_owned(),
        Answer::Missing(Absence::Gone) => "(the bot was gone)".to_owned(),
        Answer::Missing(Absence::NeverStarted) => "(the bot never started)".to_owned(),
    }
}

/// How many differing orders are listed on each side.
const LISTED: usize = 12;

/// What only one of two answers contains. The parts of an answer are its lines, and the entries of a line that is a
/// JSON list.
pub fn difference(then: &str, now: &str) -> Vec<String> {
    let mut balance: BTreeMap<String, i32> = BTreeMap::new();
    for (answer, sign) in [(then, 1), (now, -1)] {
        for part in parts(answer) {
            *balance.entry(part).or_default() += sign;
        }
    }
    balance.retain(|_, count| *count != 0);
    if balance.is_empty() {
        return vec!["the same orders, in another sequence".to_owned()];
    }
    let side = |word: &str, sign: i32| {
        let orders: Vec<String> = balance
            .iter()
            .filter(|(_, count)| **count * sign > 0)
            .map(
                |(part, count)| {
                    if count.abs() == 1 { part.clone() } else { format!("{part} x{}", count.abs()) }
                },
            )
            .collect();
        let more = orders.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = orders.iter().take(LISTED).cloned().collect::<Vec<_>>().join("  ");
        (!orders.is_empty()).then(|| format!("{word:<10} {listed}{more}"))
    };
    [side("only then", 1), side("only now", -1)].into_iter().flatten().collect()
}

fn parts(answer: &str) -> Vec<String> {
    answer
        .lines()
        .flat_map(|line| match serde_json::from_str(line) {
            Ok(Value::Array(entries)) => entries.iter().map(Value::to_string).collect(),
            _ => vec![line.to_owned()],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn answers_are_compared_order_by_order() {
        let lines = |then, now| difference(then, now);
        let then = "[[\"DF\", 3, 12], [\"FF\", 0, 13]]\n[[\"PI\", 13, 0], [\"PI\", 13, 0]]";
        assert_eq!(
            lines(then, "[[\"FF\", 0, 13]]\n[[\"EI\", 13, 0]]"),
            ["only then  [\"DF\",3,12]  [\"PI\",13,0] x2", "only now   [\"EI\",13,0]",]
        );
        assert_eq!(
            lines(then, "[[\"FF\", 0, 13], [\"DF\", 3, 12]]\n[[\"PI\", 13, 0], [\"PI\", 13, 0]]"),
            ["the same orders, in another sequence"]
        );
        assert_eq!(lines("WAIT", "1 MOVE 2 3"), ["only then  WAIT", "only now   1 MOVE 2 3"]);
    }
}
