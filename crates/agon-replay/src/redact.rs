//! Taking out of a replay what belongs to single seats.

use agon_game::Seat;
use agon_game::pack::Reader;
use serde_json::Value;

use crate::chunk::{self, Stop, tag};
use crate::{End, MAGIC, Replay, ReplayError};

/// What was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// Private notes.
    pub notes: usize,
    /// Sentences of faults, which may quote what a bot wrote.
    pub sentences: usize,
}

/// The replay in `bytes` without what belongs to the seats that are not in `keep`. Header and steps stay
/// byte for byte, so that it verifies as before.
///
/// # Errors
/// When the bytes are no replay, or damaged.
pub fn redact(bytes: &[u8], keep: &[Seat]) -> Result<(Vec<u8>, Redacted), ReplayError> {
    let whole = Replay::read(bytes)?;
    let mut redacted = Redacted::default();
    for (seat, notes) in &whole.notes {
        redacted.notes += if keep.contains(seat) { 0 } else { notes.len() };
    }
    let mut out = MAGIC.to_vec();
    let mut reader = Reader::new(&bytes[MAGIC.len()..]);
    let mut scratch = Vec::new();
    loop {
        let start = bytes.len() - reader.left();
        let chunk = match chunk::read(&mut reader) {
            Ok(chunk) => chunk,
            // What was cut off stays cut off.
            Err(Stop::End | Stop::Cut) => return Ok((out, redacted)),
            Err(Stop::Damaged(why)) => return Err(ReplayError::Damaged(why.to_owned())),
        };
        let as_it_was = &bytes[start..bytes.len() - reader.left()];
        match chunk.tag {
            tag::HEADER | tag::STEPS | tag::TIMING => out.extend_from_slice(as_it_was),
            tag::NOTES if chunk.raw.first().is_some_and(|&seat| is_kept(seat, keep)) => {
                out.extend_from_slice(as_it_was);
            }
            tag::END => {
                let mut end: End = serde_json::from_slice(&chunk.raw)
                    .map_err(|error| ReplayError::Damaged(format!("its end cannot be read: {error}")))?;
                redacted.sentences += redact_faults(&mut end.facts, keep);
                let raw = serde_json::to_vec(&end).unwrap_or_default();
                chunk::write(&mut out, tag::END, &raw, &mut scratch).expect("a vector takes all");
            }
            // Private notes of others, and what a later program may have written: nobody knows whose it is.
            _ => {}
        }
    }
}

fn is_kept(seat: u8, keep: &[Seat]) -> bool {
    keep.iter().any(|kept| kept.index() == usize::from(seat))
}

/// Empties the sentences of the other seats' faults. How many there were.
fn redact_faults(facts: &mut Value, keep: &[Seat]) -> usize {
    let mut count = 0;
    for fault in facts.get_mut("faults").and_then(Value::as_array_mut).into_iter().flatten() {
        let seat = fault.get("seat").and_then(Value::as_u64).unwrap_or(0);
        if keep.iter().any(|kept| u64::from(kept.number()) == seat) {
            continue;
        }
        if let Some(message) = fault.get_mut("message").filter(|message| message.as_str() != Some("")) {
            *message = Value::from("");
            count += 1;
        }
    }
    count
}
