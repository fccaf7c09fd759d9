//! Reading a replay. The bytes are hostile: everything is bounded, and nothing panics.

use std::collections::BTreeMap;

use agon_game::Seat;
use agon_game::pack::Reader;
use thiserror::Error;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::chunk::{self, Stop, tag};
use crate::{End, Header, MAGIC, Note, Replay, Timing, steps};

/// No replay is larger than this, unpacked.
const LARGEST: usize = 1 << 30;

/// Why a file is not a replay that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// Something else.
    #[error("this is not a replay of agon (it begins with other bytes)")]
    Foreign,
    /// Of a later format.
    #[error("this replay has a newer format than this program reads; update agon")]
    Newer,
    /// Damaged.
    #[error("this replay is damaged: {0}")]
    Damaged(String),
}

impl Replay {
    /// Reads a replay. One that was cut off is read as far as it goes, and has no end.
    ///
    /// # Errors
    /// When the bytes are no replay, or damaged.
    pub fn read(bytes: &[u8]) -> Result<Self, ReplayError> {
        let damaged = |why: &str| ReplayError::Damaged(why.to_owned());
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let newer = bytes.starts_with(&MAGIC[..7]) && bytes.get(7).is_some_and(u8::is_ascii_digit);
            return Err(if newer { ReplayError::Newer } else { ReplayError::Foreign });
        };
        let mut reader = Reader::new(rest);
        let first = match chunk::read(&mut reader) {
            Ok(chunk) if chunk.tag == tag::HEADER => chunk.raw,
            Ok(_) => return Err(damaged("it does not begin with its header")),
            Err(Stop::Damaged(why)) => return Err(damaged(why)),
            Err(Stop::End | Stop::Cut) => return Err(damaged("it ends before its header does")),
        };
        let header: Header = serde_json::from_slice(&first)
            .map_err(|error| ReplayError::Damaged(format!("its header cannot be read: {error}")))?;
        let mut replay = Self {
            header,
            steps: Vec::new(),
            timing: BTreeMap::new(),
            notes: BTreeMap::new(),
            end: None,
            chain: xxh3_64(&first),
        };
        let mut size = 0;
        loop {
            let chunk = match chunk::read(&mut reader) {
                Ok(chunk) => chunk,
                Err(Stop::End | Stop::Cut) => return Ok(replay),
                Err(Stop::Damaged(why)) => {
                    let place = format!("{why}, after step {}", replay.steps.len());
                    return Err(ReplayError::Damaged(place));
                }
            };
            size += chunk.raw.len();
            if size > LARGEST {
                return Err(damaged("it unpacks to more than 1 GiB"));
            }
            if replay.end.is_some() {
                return Err(damaged("something follows its end"));
            }
            let raw = &chunk.raw[..];
            let read = match chunk.tag {
                tag::STEPS => {
                    replay.chain = xxh3_64_with_seed(raw, replay.chain);
                    steps::read(raw, replay.header.timed, &mut replay.steps)
                }
                tag::TIMING => read_timing(raw, &mut replay.timing),
                tag::NOTES => read_notes(raw, &mut replay.notes),
                tag::END => serde_json::from_slice::<End>(raw).ok().map(|end| replay.end = Some(end)),
                // A later program may write more kinds of convenience.
                _ => Some(()),
            };
            if read.is_none() {
                return Err(ReplayError::Damaged(format!(
                    "a chunk of kind `{}` cannot be read, after step {}",
                    char::from(chunk.tag).escape_default(),
                    replay.steps.len()
                )));
            }
        }
    }

    /// The private notes of `seat` for `step`, of one kind.
    pub fn notes_of(&self, seat: Seat, step: u32, kind: &str) -> impl Iterator<Item = &str> {
        let notes = self.notes.get(&seat).map_or(&[][..], Vec::as_slice);
        notes.iter().filter(move |note| note.step == step && note.kind == kind).map(|note| note.text.as_str())
    }
}

fn read_timing(raw: &[u8], timing: &mut BTreeMap<(u32, Seat), Timing>) -> Option<()> {
    let mut reader = Reader::new(raw);
    while reader.left() > 0 {
        let step = u32::try_from(reader.varint()?).ok()?;
        let seat = reader.byte().filter(|&seat| seat < Seat::MAX).map(Seat::new)?;
        let wall_us = reader.varint()?;
        let cpu_us = reader.varint()?.checked_sub(1);
        timing.insert((step, seat), Timing { wall_us, cpu_us });
    }
    Some(())
}

fn read_notes(raw: &[u8], notes: &mut BTreeMap<Seat, Vec<Note>>) -> Option<()> {
    let mut reader = Reader::new(raw);
    let seat = reader.byte().filter(|&seat| seat < Seat::MAX).map(Seat::new)?;
    let own = notes.entry(seat).or_default();
    while reader.left() > 0 {
        let step = u32::try_from(reader.varint()?).ok()?;
        let kind = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
        let text = String::from_utf8(reader.bytes()?.to_vec()).ok()?;
        own.push(Note { step, kind, text });
    }
    Some(())
}
