//! A match played by hand: people choose, built-in bots answer, and the match is shown and recorded like any other.

use std::collections::BTreeMap;

use agon_game::{
    Absence, Answer, Heard, MapChoice, PackedAnswer, Prospect, RulesChoice, Seat, Session, Setup,
};
use agon_replay::{EndInfo as ReplayEnd, Header, Replay, SeatInfo, Writer};
use agon_spec::Clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(test)]
use ts_rs::TS;

use crate::line::{End, Head, Line};
use crate::maker::{Maker, Notes, Privacy, RecordingState, game_of};

/// The name of a person among bots, on the command line and in replays.
pub const HUMAN: &str = "human";

/// Who sits in a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(deny_unknown_fields)]
pub struct Sitter {
    /// The built-in bot; none for a person.
    pub builtin: Option<String>,
    /// Its options, in order.
    #[serde(default)]
    pub options: Vec<(String, String)>,
}

/// A match that somebody wants to play.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(deny_unknown_fields)]
pub struct WantedMatch {
    /// The game.
    pub game: String,
    /// A preset; empty for the default.
    #[serde(default)]
    pub rules: String,
    /// Changes of the rules, in order.
    #[serde(default)]
    pub sets: Vec<(String, String)>,
    /// A map of the game, `generate`, or empty for the default.
    #[serde(default)]
    pub map: String,
    /// The seed, in digits.
    pub seed: String,
    /// Who plays.
    pub seats: Vec<Sitter>,
}

/// How far a match has come.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Turn {
    /// The steps played since.
    pub lines: Vec<Line>,
    /// How many steps were played in all.
    pub steps: u32,
    /// The seats of people who must choose now, from 1.
    pub choosing: Vec<u8>,
    /// Where the match is, in the game's words.
    pub moment: String,
    /// The limit for an answer in milliseconds, as in the rulebook.
    pub limit: u32,
    /// How it ended; none while it goes on.
    pub end: Option<End>,
}

/// Upper limit on the steps played at a time; callers ask again for the rest.
const MOST_STEPS: usize = 400;

fn given(order: Vec<u8>) -> PackedAnswer {
    Answer::Given { order, think_ms: 0 }
}

/// A match that is played by hand.
pub struct Play {
    header: Header,
    maker: Maker,
    head: Head,
    sitters: Vec<Sitter>,
    steps: Vec<(Vec<(Seat, PackedAnswer)>, u64)>,
    /// What people chose while others still have to.
    chosen: BTreeMap<Seat, PackedAnswer>,
    /// The bot whose advice was asked for, by seat.
    advisers: BTreeMap<Seat, String>,
}

impl Play {
    /// A new match.
    ///
    /// # Errors
    /// When it cannot be set up; the error is a sentence.
    pub fn begin(wanted: &WantedMatch) -> Result<Self, String> {
        let game =
            agon_games::find(&wanted.game).ok_or_else(|| format!("no game is called `{}`", wanted.game))?;
        let seed = wanted
            .seed
            .parse()
            .map_err(|_| format!("`{}` is not a seed: write a whole number", wanted.seed))?;
        let map = match wanted.map.as_str() {
            "" => MapChoice::Default,
            "generate" => MapChoice::Generated,
            name => MapChoice::Named(name.to_owned()),
        };
        let rules = RulesChoice { preset: wanted.rules.clone(), file: None, sets: wanted.sets.clone() };
        let seats = u8::try_from(wanted.seats.len()).unwrap_or(u8::MAX);
        let session = game.open(&Setup { rules, map, seats, seed }).map_err(|error| error.to_string())?;
        let header = header(session.as_ref(), &wanted.seats);
        Self::of(header, wanted.seats.clone(), &[])
    }

    /// Continues a recorded match after this many of its steps, with other people and bots.
    ///
    /// # Errors
    /// When it cannot be computed again that far; the error is a sentence.
    pub fn resume(replay: &Replay, steps: u32, sitters: Vec<Sitter>) -> Result<Self, String> {
        let game = game_of(&replay.header).map_err(|error| error.to_string())?;
        let session = game.open(&replay.header.recipe.setup()).map_err(|error| error.to_string())?;
        if sitters.len() != replay.header.seats.len() {
            return Err(format!("this match has {} seats", replay.header.seats.len()));
        }
        let steps = replay.steps.iter().take(steps as usize).map(|step| step.answers.clone());
        Self::of(header(session.as_ref(), &sitters), sitters, &steps.collect::<Vec<_>>())
    }

    /// A match with its first steps.
    fn of(header: Header, sitters: Vec<Sitter>, steps: &[Vec<(Seat, PackedAnswer)>]) -> Result<Self, String> {
        let (mut maker, mut head) =
            Maker::begin(&header, &Value::Null, Privacy::Private).map_err(|error| error.to_string())?;
        let mut people = sitters.iter().enumerate().filter(|(_, sitter)| sitter.builtin.is_none());
        // A single person sees what its seat sees; several at one page see everything.
        if let (Some((index, _)), None) = (people.next(), people.next()) {
            maker.look(Seat::new(index as u8), &mut head);
        }
        for (seat, sitter) in Seat::first(header.recipe.seats).zip(&sitters) {
            if let Some(name) = &sitter.builtin {
                let seed =
                    (header.recipe.seed as u64).wrapping_mul(31).wrapping_add(u64::from(seat.number()));
                maker.session.seat_builtin(seat, name, &sitter.options, seed)?;
            }
        }
        let mut own = Self {
            header,
            maker,
            head,
            sitters,
            steps: Vec::new(),
            chosen: BTreeMap::new(),
            advisers: BTreeMap::new(),
        };
        for answers in steps {
            // Bots with a memory have seen everything.
            for seat in own.maker.session.deciding().iter() {
                if !own.is_person(seat) {
                    let _ = own.maker.session.think(seat);
                }
            }
            own.maker.session.play(answers)?;
            let hash = own.maker.session.hash();
            own.steps.push((answers.clone(), hash));
        }
        Ok(own)
    }

    fn is_person(&self, seat: Seat) -> bool {
        self.sitters[seat.index()].builtin.is_none()
    }

    /// Whether a person has to choose for this deciding seat.
    fn is_awaited(&self, seat: Seat) -> bool {
        self.is_person(seat) && !self.chosen.contains_key(&seat)
    }

    /// What the match is.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The steps so far, and where the match is.
    ///
    /// # Errors
    /// When a match of ours does not play again as it did.
    pub fn again(&self) -> Result<Turn, String> {
        let registered = Value::Null;
        let (mut maker, mut head) =
            Maker::begin(&self.header, &registered, Privacy::Private).map_err(|error| error.to_string())?;
        if let Some(eyes) = self.maker.eyes() {
            maker.look(eyes, &mut head);
        }
        let lines: Result<Vec<Line>, String> = self
            .steps
            .iter()
            .map(|(answers, _)| maker.step(answers, |_| Notes::default(), Vec::new()))
            .collect();
        Ok(self.turn(lines?))
    }

    /// Lets the built-in bots play until a person has to choose.
    ///
    /// # Errors
    /// None in practice: the answers of built-in bots are orders.
    pub fn go(&mut self) -> Result<Turn, String> {
        let mut lines = Vec::new();
        while lines.len() < MOST_STEPS {
            let deciding = self.maker.session.deciding();
            if deciding.is_empty() || deciding.iter().any(|seat| self.is_awaited(seat)) {
                break;
            }
            let mut answers: Vec<(Seat, PackedAnswer)> = Vec::new();
            for seat in deciding.iter() {
                let chosen = self.chosen.remove(&seat);
                answers.push((seat, chosen.unwrap_or_else(|| given(self.maker.session.think(seat)))));
            }
            lines.push(self.maker.step(&answers, |_| Notes::default(), Vec::new())?);
            let hash = self.maker.session.hash();
            self.steps.push((answers, hash));
        }
        Ok(self.turn(lines))
    }

    fn turn(&self, lines: Vec<Line>) -> Turn {
        let session = &self.maker.session;
        let deciding = session.deciding();
        Turn {
            lines,
            steps: self.steps.len() as u32,
            choosing: deciding.iter().filter(|&seat| self.is_awaited(seat)).map(Seat::number).collect(),
            moment: session.moment(),
            limit: deciding.iter().next().map_or(0, |seat| session.limit_ms(seat)),
            end: deciding.is_empty().then(|| self.maker.end(session.outcome(), RecordingState::Whole)),
        }
    }

    /// What choices would lead to.
    ///
    /// # Errors
    /// When they are not choices of this game, or the seat has nothing to decide.
    pub fn prospect(&self, seat: Seat, chosen: &Value) -> Result<Prospect, String> {
        self.of_a_person(seat)?;
        self.maker.session.by_hand().prospect(seat, chosen)
    }

    /// Answers for a seat, and lets everybody else play.
    ///
    /// # Errors
    /// As for [`prospect`](Self::prospect).
    pub fn answer(&mut self, seat: Seat, chosen: &Value) -> Result<Turn, String> {
        self.of_a_person(seat)?;
        let order = self.maker.session.by_hand().order_of(seat, chosen)?;
        self.chosen.insert(seat, given(order));
        self.go()
    }

    /// The message that asks a seat played by a program. Once per step.
    ///
    /// # Errors
    /// When the seat has nothing to decide.
    pub fn question(&mut self, seat: Seat) -> Result<Vec<u8>, String> {
        self.of_who_decides(seat)?;
        let mut message = Vec::new();
        self.maker.session.ask(seat, &mut message);
        Ok(message)
    }

    /// Answers for a seat by a message, and lets everybody else play. A message that is not an answer is judged by the
    /// rules.
    ///
    /// # Errors
    /// When the seat has nothing to decide, or the protocol wants more than one message for an answer.
    pub fn say(&mut self, seat: Seat, message: &str) -> Result<Turn, String> {
        self.of_who_decides(seat)?;
        let answer = match self.maker.session.hear(seat, message.as_bytes()) {
            Heard::Answer(order) | Heard::Failed { order: Some(order), .. } => given(order),
            Heard::Malformed(why) | Heard::Failed { order: None, why } => {
                Answer::Malformed { why, think_ms: 0 }
            }
            Heard::Close(_) => Answer::Missing(Absence::Gone),
            Heard::More | Heard::Ignore(_) => {
                return Err("this message is not the whole of an answer".to_owned());
            }
        };
        self.chosen.insert(seat, answer);
        self.go()
    }

    fn of_who_decides(&self, seat: Seat) -> Result<(), String> {
        self.of_a_person(seat)?;
        match self.maker.session.deciding().contains(seat) {
            true => Ok(()),
            false => Err(format!("seat {seat} has nothing to decide now")),
        }
    }

    /// What a built-in bot would choose.
    ///
    /// # Errors
    /// When there is no such bot, or the seat has nothing to decide.
    pub fn hint(&mut self, seat: Seat, bot: &str) -> Result<Value, String> {
        let order = self.advice(seat, bot)?;
        Ok(self.maker.session.by_hand().chosen_in(seat, &order).unwrap_or_default())
    }

    /// Lets a built-in bot answer for a seat this many times.
    ///
    /// # Errors
    /// As for [`hint`](Self::hint).
    pub fn lend(&mut self, seat: Seat, bot: &str, times: u32) -> Result<Turn, String> {
        let mut lines = Vec::new();
        for time in 0..times.min(MOST_STEPS as u32) {
            if time > 0 && !self.maker.session.deciding().contains(seat) {
                break;
            }
            let order = self.advice(seat, bot)?;
            self.chosen.insert(seat, given(order));
            lines.extend(self.go()?.lines);
        }
        Ok(self.turn(lines))
    }

    fn advice(&mut self, seat: Seat, bot: &str) -> Result<Vec<u8>, String> {
        self.of_who_decides(seat)?;
        if self.advisers.get(&seat).is_none_or(|known| known != bot) {
            let options: [(String, String); 0] = [];
            self.maker.session.seat_builtin(seat, bot, &options, u64::from(seat.number()))?;
            self.advisers.insert(seat, bot.to_owned());
        }
        Ok(self.maker.session.think(seat))
    }

    fn of_a_person(&self, seat: Seat) -> Result<(), String> {
        match self.sitters.get(seat.index()) {
            Some(Sitter { builtin: None, .. }) => Ok(()),
            Some(_) => Err(format!("a bot plays seat {seat}")),
            None => Err(format!("this match has no seat {seat}")),
        }
    }

    /// Takes back the last answer of a person and everything that followed. Does nothing before the first.
    ///
    /// # Errors
    /// None in practice: what was played once plays again.
    pub fn back(&mut self) -> Result<Turn, String> {
        if self.chosen.pop_last().is_none() {
            let person = |(seat, _): &(Seat, PackedAnswer)| self.is_person(*seat);
            let last = self.steps.iter().rposition(|(answers, _)| answers.iter().any(person));
            let Some(last) = last else { return Ok(self.turn(Vec::new())) };
            let kept: Vec<_> = self.steps[..last].iter().map(|(answers, _)| answers.clone()).collect();
            *self = Self::of(self.header.clone(), self.sitters.clone(), &kept)?;
        }
        Ok(self.turn(Vec::new()))
    }

    /// The match so far as a replay; one that was left early is void.
    ///
    /// # Errors
    /// Those of writing to memory.
    pub fn replay(&mut self) -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut writer = Writer::new(Vec::new(), &self.header).map_err(failed)?;
        for (answers, hash) in &self.steps {
            writer.step(answers, *hash).map_err(failed)?;
        }
        let session = &mut self.maker.session;
        let left = session.outcome().is_none().then_some("it was left before its end");
        let end = ReplayEnd {
            steps: 0,
            outcome: session.outcome().cloned(),
            state: format!("{:016x}", session.hash()),
            chain: String::new(),
            facts: json!({ "void": left }),
        };
        writer.finish(end).map_err(failed)
    }
}

/// The header of a match by hand: nobody's time is measured.
fn header(session: &dyn Session, sitters: &[Sitter]) -> Header {
    let seats = sitters.iter().map(|sitter| {
        let Some(name) = &sitter.builtin else {
            return SeatInfo { bot: HUMAN.to_owned(), label: HUMAN.to_owned(), hash: None };
        };
        let options: Vec<String> =
            sitter.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let options = if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        SeatInfo { bot: format!("builtin:{name}{options}"), label: name.clone(), hash: None }
    });
    Header::new(session, seats.collect(), Clock { limited: false, ..Clock::ORIGINAL })
}
