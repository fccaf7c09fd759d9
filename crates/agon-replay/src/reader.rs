//! Reads a replay. The bytes may be hostile: everything is bounded, and nothing panics.

use std::collections::BTreeMap;

use agon_game::pack::Reader;
use agon_game::{Answer, Outcome, Seat, Session};
use thiserror::Error;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::chunk::{self, Stop, tag};
use crate::{Counted, Doing, EndInfo, Header, MAGIC, Replay, SeatNote, Timing, Wait, steps};

/// The largest size of a replay, unpacked.
pub const LARGEST: usize = 256 << 20;
/// Upper limit on the steps, answers, times, notes and JSON values of a replay, all together. Each takes much
/// more memory than the byte or two it may be packed in.
pub const MOST_ITEMS: usize = 2 << 20;

/// Why a file cannot be read as a replay.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// Not a replay.
    #[error("this is not a replay of agon")]
    Foreign,
    /// Of a later format.
    #[error("this replay has a newer format than this program reads; update agon")]
    Newer,
    #[error("this replay is damaged or was altered: {0}")]
    Damaged(String),
}

impl Replay {
    /// Reads a replay. One that was cut off is read as far as it goes, and has no end.
    ///
    /// # Errors
    /// When the bytes are not a replay, or are damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, ReplayError> {
        let damaged = |why: &str| ReplayError::Damaged(why.to_owned());
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let newer = bytes.starts_with(&MAGIC[..7]) && bytes.get(7).is_some_and(u8::is_ascii_digit);
            return Err(if newer { ReplayError::Newer } else { ReplayError::Foreign });
        };
        let mut reader = Reader::new(rest);
        let first = match chunk::read(&mut reader, LARGEST) {
            Ok(chunk) if chunk.tag == tag::HEADER => chunk.raw,
            Ok(_) => return Err(damaged("it does not begin with its header")),
            Err(Stop::Damaged(why)) => return Err(damaged(why)),
            Err(Stop::End | Stop::Cut) => return Err(damaged("it ends before its header does")),
        };
        let mut items = Items(MOST_ITEMS);
        items.take(values(&first)).ok_or_else(|| damaged(TOO_MANY))?;
        let header: Header = serde_json::from_slice(&first)
            .map_err(|error| ReplayError::Damaged(format!("its header cannot be read: {error}")))?;
        // Everything belonging to a seat is looked up by its number.
        let seats = header.seats.len();
        if seats != usize::from(header.recipe.seats) || !(1..=usize::from(Seat::MAX)).contains(&seats) {
            return Err(ReplayError::Damaged(format!(
                "its header names {seats} bots for a match of {}",
                header.recipe.seats
            )));
        }
        Self::empty(header, xxh3_64(&first)).with_chunks(reader, LARGEST - first.len(), items)
    }

    /// A replay in which nothing has happened yet.
    fn empty(header: Header, chain: u64) -> Self {
        Self {
            header,
            steps: Vec::new(),
            timing: BTreeMap::new(),
            counted: BTreeMap::new(),
            notes: BTreeMap::new(),
            end: None,
            chain,
        }
    }

    /// Reads chunks that a [`Writer`](crate::Writer) wrote somewhere in the replay of a match, of at most `room` bytes when unpacked:
    /// their steps, as if they were all. Times and notes have the step's number in the whole match.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn read_part(header: &Header, chunks: &[u8], room: usize) -> Result<Self, ReplayError> {
        Self::empty(header.clone(), 0).with_chunks(Reader::new(chunks), room, Items(MOST_ITEMS))
    }

    /// The same with what these chunks hold.
    fn with_chunks(
        self,
        mut reader: Reader<'_>,
        mut room: usize,
        mut items: Items,
    ) -> Result<Self, ReplayError> {
        let damaged = |why: &str| ReplayError::Damaged(why.to_owned());
        let (seats, mut replay) = (self.header.seats.len(), self);
        loop {
            if replay.end.is_some() && reader.left() > 0 {
                return Err(damaged("something follows its end"));
            }
            let chunk = match chunk::read(&mut reader, room) {
                Ok(chunk) => chunk,
                Err(Stop::End | Stop::Cut) => return Ok(replay),
                Err(Stop::Damaged(why)) => {
                    let place = format!("{why}, after step {}", replay.steps.len());
                    return Err(ReplayError::Damaged(place));
                }
            };
            room -= chunk.raw.len();
            let raw = &chunk.raw[..];
            let read = match chunk.tag {
                tag::STEPS => {
                    replay.chain = xxh3_64_with_seed(raw, replay.chain);
                    steps::read(raw, replay.header.timed, seats, &mut items, &mut replay.steps)
                }
                tag::TIMING => read_timing(raw, seats, &mut items, &mut replay.timing),
                tag::COUNTED => read_counted(raw, seats, &mut items, &mut replay.counted),
                tag::NOTES => read_notes(raw, seats, &mut items, &mut replay.notes),
                tag::END => read_end(raw, seats, &mut items).map(|end| replay.end = Some(end)),
                // A later program may write more kinds of conveniences.
                _ => Some(()),
            };
            if read.is_none() && items.0 == 0 {
                return Err(damaged(TOO_MANY));
            }
            if read.is_none() {
                return Err(ReplayError::Damaged(format!(
                    "a chunk of kind `{}` cannot be read, after step {}",
                    char::from(chunk.tag).escape_default(),
                    replay.steps.len()
                )));
            }
        }
    }

    /// Plays a step, counted from 0, and compares the resulting state with the recorded one.
    ///
    /// # Errors
    /// What is wrong, starting with the moment: the step cannot be played, or leads to another state.
    pub fn play_step(&self, step: usize, session: &mut dyn Session) -> Result<(), String> {
        let moment = session.moment();
        let Some(step) = self.steps.get(step) else { return Err(format!("{moment}: it is not recorded")) };
        session.play(&step.answers).map_err(|why| format!("{moment}: {why}"))?;
        match step.check == session.hash() as u8 & 15 {
            true => Ok(()),
            false => Err(format!("{moment}: the answers do not lead to the recorded state")),
        }
    }

    /// The first answer, by step and seat, whose thinking time does not follow from what was counted, if there is one.
    pub fn wrong_charge(&self) -> Option<(u32, Seat)> {
        let think_ms = |step: u32, seat: Seat| {
            let answers = &self.steps.get(step as usize)?.answers;
            let (_, answer) = answers.iter().find(|(other, _)| *other == seat)?;
            match answer {
                Answer::Given { think_ms, .. } | Answer::Malformed { think_ms, .. } => Some(*think_ms),
                Answer::Missing(_) => None,
            }
        };
        let all = self.counted.iter().filter(|_| self.header.timed);
        let wrong = all.into_iter().find(|((step, seat), counted)| {
            let Some(timing) = self.timing.get(&(*step, *seat)) else { return true };
            let ms = counted.charged_us(timing.wall_us) / 1_000;
            think_ms(*step, *seat).is_some_and(|think_ms| u64::from(think_ms) != ms)
        });
        wrong.map(|(place, _)| *place)
    }

    /// What in its end contradicts its answers; none if there is no end, or nothing is wrong with it. `state` and
    /// `outcome` are those the answers lead to.
    pub fn wrong_end(&self, state: u64, outcome: Option<&Outcome>) -> Option<&'static str> {
        let end = self.end.as_ref()?;
        let is = |recorded: &str, hash: u64| recorded == format!("{hash:016x}");
        let wrong = if end.steps as usize != self.steps.len() {
            "its number of steps is not the recorded one"
        } else if !is(&end.state, state) {
            "the last state is not the recorded one"
        } else if !self.same_outcome(end, outcome) {
            "the outcome is not the recorded one"
        } else if !is(&end.chain, self.chain) {
            "its header or answers are not the recorded ones (their hash is another)"
        } else if self.wrong_void(end) {
            "whose fault it is that the match is void does not follow from what was counted"
        } else {
            return None;
        };
        Some(wrong)
    }

    /// Whether a void match names somebody else than what was counted does.
    fn wrong_void(&self, end: &EndInfo) -> bool {
        let Some(wait) = end.facts.get("wait").filter(|wait| !wait.is_null()) else { return false };
        let by = end.facts.get("void_by").and_then(serde_json::Value::as_u64);
        let Ok(wait) = serde_json::from_value::<Wait>(wait.clone()) else { return true };
        match wait.doing() {
            Doing::Machine => by.is_some(),
            Doing::Nobody => true,
            Doing::Seat(seat) => by != Some(seat.into()),
        }
    }

    /// Whether the outcome is the recorded one. A void match has none; the reason is not compared, because it is
    /// text for people that another version of the program may word differently.
    fn same_outcome(&self, end: &EndInfo, own: Option<&Outcome>) -> bool {
        let Some(recorded) = &end.outcome else { return own.is_none() || end.facts["void"].is_string() };
        let our_words = self.header.program.split([',', ' ']).nth(1) == Some(env!("CARGO_PKG_VERSION"));
        Outcome::agrees(own, Some(recorded))
            && own.is_none_or(|own| own.reason == recorded.reason || !our_words)
    }

    /// The private notes of `seat` for `step`, of one kind.
    pub fn notes_of(&self, seat: Seat, step: u32, kind: &str) -> impl Iterator<Item = &str> {
        let notes = self.notes.get(&seat).map_or(&[][..], Vec::as_slice);
        notes.iter().filter(move |note| note.step == step && note.kind == kind).map(|note| note.text.as_str())
    }
}

/// The message for a replay with more than [`MOST_ITEMS`].
const TOO_MANY: &str = "it holds more than 2,097,152 steps, answers, times, notes and values";

/// How many more items may be read.
pub struct Items(pub usize);

impl Items {
    /// Takes `count` of them; none if fewer are left.
    pub fn take(&mut self, count: usize) -> Option<()> {
        let left = self.0.checked_sub(count);
        self.0 = left.unwrap_or(0);
        left.map(drop)
    }
}

/// Upper limit on the values in a JSON text, besides the first: each of the others follows one of these
/// characters.
fn values(json: &[u8]) -> usize {
    json.iter().filter(|sign| b",[{:".contains(sign)).count()
}

/// A seat of a match with `seats` seats.
fn seat_of(seat: u8, seats: usize) -> Option<Seat> {
    (usize::from(seat) < seats).then(|| Seat::new(seat))
}

fn read_timing(
    raw: &[u8],
    seats: usize,
    items: &mut Items,
    timing: &mut BTreeMap<(u32, Seat), Timing>,
) -> Option<()> {
    let mut reader = Reader::new(raw);
    while reader.left() > 0 {
        items.take(1)?;
        let step = u32::try_from(reader.varint()?).ok()?;
        let seat = seat_of(reader.byte()?, seats)?;
        let wall_us = reader.varint()?;
        let cpu_us = reader.varint()?.checked_sub(1);
        timing.insert((step, seat), Timing { wall_us, cpu_us });
    }
    Some(())
}

fn read_counted(
    raw: &[u8],
    seats: usize,
    items: &mut Items,
    counted: &mut BTreeMap<(u32, Seat), Counted>,
) -> Option<()> {
    let mut reader = Reader::new(raw);
    while reader.left() > 0 {
        items.take(1)?;
        let step = u32::try_from(reader.varint()?).ok()?;
        let seat = seat_of(reader.byte()?, seats)?;
        let cpus = reader.byte()?;
        let [cpu_us, waited_us, owed_us] = [reader.varint()?, reader.varint()?, reader.varint()?];
        counted.insert((step, seat), Counted { cpus, cpu_us, waited_us, owed_us });
    }
    Some(())
}

fn read_notes(
    raw: &[u8],
    seats: usize,
    items: &mut Items,
    notes: &mut BTreeMap<Seat, Vec<SeatNote>>,
) -> Option<()> {
    let mut reader = Reader::new(raw);
    let own = notes.entry(seat_of(reader.byte()?, seats)?).or_default();
    while reader.left() > 0 {
        items.take(1)?;
        let step = u32::try_from(reader.varint()?).ok()?;
        let kind = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
        let text = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
        own.push(SeatNote { step, kind, text });
    }
    Some(())
}

/// Reads an end: it has a score and a rank for each seat, or no outcome.
fn read_end(raw: &[u8], seats: usize, items: &mut Items) -> Option<EndInfo> {
    items.take(values(raw))?;
    let end: EndInfo = serde_json::from_slice(raw).ok()?;
    let fits = |outcome: &Outcome| outcome.scores.len() == seats && outcome.ranks.len() == seats;
    end.outcome.as_ref().is_none_or(fits).then_some(end)
}
