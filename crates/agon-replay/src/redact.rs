//! Removes from a replay what belongs to single seats.

use agon_game::pack::Reader;
use agon_game::{Answer, PackedAnswer, Seat};
use serde_json::Value;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::chunk::{self, Stop, tag};
use crate::reader::Items;
use crate::steps::{self, Columns};
use crate::{EndInfo, LARGEST, MAGIC, MOST_ITEMS, Replay, ReplayError, SeatInfo, Step};

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// Private notes.
    pub notes: usize,
    /// Sentences of faults and of malformed answers, which may quote what a bot wrote, and remarks inside orders.
    pub sentences: usize,
}

/// The replay in `bytes` without what belongs to the seats that are not in `keep`. `public` returns the part of
/// an order that everybody may read, none if that is all of it: only the game knows. Header, times and moves
/// stay, so that it still verifies.
///
/// # Errors
/// When the bytes are not a replay, or are damaged.
pub fn redact(
    bytes: &[u8],
    keep: &[Seat],
    public: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
) -> Result<(Vec<u8>, Redacted), ReplayError> {
    redact_named(bytes, keep, &|_, seat| seat.label.clone(), public)
}

/// The same with other names: `label` returns that of a seat, of which it is told the place, from 0.
///
/// # Errors
/// As [`redact`].
pub fn redact_named(
    bytes: &[u8],
    keep: &[Seat],
    label: &dyn Fn(usize, &SeatInfo) -> String,
    public: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
) -> Result<(Vec<u8>, Redacted), ReplayError> {
    let whole = Replay::read(bytes)?;
    let mut header = whole.header.clone();
    header.seats.iter_mut().enumerate().for_each(|(place, seat)| seat.label = label(place, seat));
    let mut redacted = Redacted::default();
    for (seat, notes) in &whole.notes {
        redacted.notes += if keep.contains(seat) { 0 } else { notes.len() };
    }
    let (timed, seats) = (whole.header.timed, whole.header.seats.len());
    let (mut items, mut chain) = (Items(MOST_ITEMS), 0);
    let mut out = MAGIC.to_vec();
    let mut reader = Reader::new(&bytes[MAGIC.len()..]);
    let mut scratch = Vec::new();
    let mut put = |out: &mut Vec<u8>, tag, raw: &[u8]| {
        chunk::write(out, tag, raw, &mut scratch).expect("a vector takes all");
    };
    loop {
        let start = bytes.len() - reader.left();
        let chunk = match chunk::read(&mut reader, LARGEST) {
            Ok(chunk) => chunk,
            // A replay that was cut off stays cut off.
            Err(Stop::End | Stop::Cut) => return Ok((out, redacted)),
            Err(Stop::Damaged(why)) => return Err(ReplayError::Damaged(why.to_owned())),
        };
        let as_it_was = &bytes[start..bytes.len() - reader.left()];
        match chunk.tag {
            tag::HEADER => {
                if header == whole.header {
                    chain = xxh3_64(&chunk.raw);
                    out.extend_from_slice(as_it_was);
                    continue;
                }
                let raw = serde_json::to_vec(&header).unwrap_or_default();
                chain = xxh3_64(&raw);
                put(&mut out, tag::HEADER, &raw);
            }
            tag::STEPS => {
                let mut steps = Vec::new();
                steps::read(&chunk.raw, timed, seats, &mut items, &mut steps)
                    .ok_or_else(|| ReplayError::Damaged("its steps cannot be read".to_owned()))?;
                let taken_out = steps.iter_mut().map(|step| redact_step(step, keep, public)).sum::<usize>();
                if taken_out == 0 {
                    chain = xxh3_64_with_seed(&chunk.raw, chain);
                    out.extend_from_slice(as_it_was);
                    continue;
                }
                redacted.sentences += taken_out;
                let (mut columns, mut raw) = (Columns::default(), Vec::new());
                steps.iter().for_each(|step| columns.push(&step.answers, step.check, timed));
                columns.take(&mut raw);
                chain = xxh3_64_with_seed(&raw, chain);
                put(&mut out, tag::STEPS, &raw);
            }
            tag::TIMING => out.extend_from_slice(as_it_was),
            tag::NOTES if chunk.raw.first().is_some_and(|&seat| is_kept(seat, keep)) => {
                out.extend_from_slice(as_it_was);
            }
            tag::END => {
                let mut end: EndInfo = serde_json::from_slice(&chunk.raw)
                    .map_err(|error| ReplayError::Damaged(format!("its end cannot be read: {error}")))?;
                redacted.sentences += redact_faults(&mut end.facts, keep);
                // An altered replay must not become a good one.
                if end.chain == format!("{:016x}", whole.chain) {
                    end.chain = format!("{chain:016x}");
                }
                put(&mut out, tag::END, &serde_json::to_vec(&end).unwrap_or_default());
            }
            // Private notes of other seats, and what a later program may have written: nobody knows whose it is.
            _ => {}
        }
    }
}

/// Removes from a step what the bots in seats that are not in `keep` said to their authors alone, as [`redact`] does; returns of how many
/// answers.
pub fn redact_step(step: &mut Step, keep: &[Seat], public: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> usize {
    let others = step.answers.iter_mut().filter(|(seat, _)| !keep.contains(seat));
    others.filter_map(|(_, answer)| silence(answer, public)).count()
}

/// Removes from an answer what its bot said to its author alone; none if there was nothing.
fn silence(answer: &mut PackedAnswer, public: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<()> {
    match answer {
        Answer::Malformed { why, .. } => (!std::mem::take(why).is_empty()).then_some(()),
        Answer::Given { order, .. } => public(order).map(|public| *order = public),
        Answer::Missing(_) => None,
    }
}

fn is_kept(seat: u8, keep: &[Seat]) -> bool {
    keep.iter().any(|kept| kept.index() == usize::from(seat))
}

/// Empties the sentences of the other seats' faults and returns how many there were.
fn redact_faults(facts: &mut Value, keep: &[Seat]) -> usize {
    let mut count = 0;
    for fault in facts.get_mut("faults").and_then(Value::as_array_mut).into_iter().flatten() {
        let seat = fault.get("seat").and_then(Value::as_u64).unwrap_or(0);
        if keep.iter().any(|kept| u64::from(kept.number()) == seat) {
            continue;
        }
        if fault.as_object_mut().and_then(|fault| fault.remove("stderr")).is_some() {
            count += 1;
        }
        if let Some(message) = fault.get_mut("message").filter(|message| message.as_str() != Some("")) {
            *message = Value::from("");
            count += 1;
        }
    }
    count
}
