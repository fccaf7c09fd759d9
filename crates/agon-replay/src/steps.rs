//! The content of a steps chunk: columns, because similar data packs better together.
//!
//! `count`, then the columns one after another, each preceded by its length in bytes: seats (a varint bit set
//! per step), kinds (a varint per answer), times (a varint per answer, in milliseconds; empty if time is not
//! played), orders (the bytes, one after another), checks (four bits per step, the lower half of a byte
//! first).

use agon_game::pack::{Reader, put_bytes, put_varint};
use agon_game::{Absence, Answer, PackedAnswer, Seat, Seats};

use crate::Step;
use crate::reader::Items;

/// The columns of the steps since the last chunk.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    count: u64,
    seats: Vec<u8>,
    kinds: Vec<u8>,
    times: Vec<u8>,
    orders: Vec<u8>,
    checks: Vec<u8>,
}

// Kinds of answers. From `GIVEN` on, the kind also gives the length of the order in bytes.
const TIMED_OUT: u64 = 0;
const GONE: u64 = 1;
const NEVER_STARTED: u64 = 2;
const MALFORMED: u64 = 3;
const GIVEN: u64 = 4;

impl Columns {
    /// The number of bytes held.
    pub fn len(&self) -> usize {
        self.seats.len() + self.kinds.len() + self.times.len() + self.orders.len() + self.checks.len()
    }

    /// The number of steps held.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a step.
    pub fn push(&mut self, answers: &[(Seat, PackedAnswer)], check: u8, timed: bool) {
        let seats: Seats = answers.iter().map(|(seat, _)| *seat).collect();
        put_varint(&mut self.seats, seats.iter().map(|seat| 1 << seat.index()).sum());
        for (_, answer) in answers {
            let kind = match answer {
                Answer::Missing(Absence::TimedOut) => TIMED_OUT,
                Answer::Missing(Absence::Gone) => GONE,
                Answer::Missing(Absence::NeverStarted) => NEVER_STARTED,
                Answer::Malformed { why, .. } => {
                    put_bytes(&mut self.orders, why.as_bytes());
                    MALFORMED
                }
                Answer::Given { order, .. } => {
                    self.orders.extend_from_slice(order);
                    GIVEN + order.len() as u64
                }
            };
            put_varint(&mut self.kinds, kind);
            if timed {
                put_varint(&mut self.times, u64::from(answer.think_ms()));
            }
        }
        match self.count % 2 {
            0 => self.checks.push(check & 15),
            _ => *self.checks.last_mut().expect("every second step begins a byte") |= check << 4,
        }
        self.count += 1;
    }

    /// Moves the content of a chunk into `out` and starts anew.
    pub fn take(&mut self, out: &mut Vec<u8>) {
        out.clear();
        put_varint(out, std::mem::take(&mut self.count));
        for column in [&mut self.seats, &mut self.kinds, &mut self.times, &mut self.orders, &mut self.checks]
        {
            put_bytes(out, column);
            column.clear();
        }
    }
}

/// Reads the content of a chunk of a match of `players` seats and appends its steps. None if it is damaged,
/// or holds more steps and answers than `items` allows.
pub fn read(raw: &[u8], timed: bool, players: usize, items: &mut Items, steps: &mut Vec<Step>) -> Option<()> {
    let mut reader = Reader::new(raw);
    let count = reader.varint()?;
    let mut column = || reader.bytes().map(Reader::new);
    let (mut seats, mut kinds, mut times, mut orders, mut checks) =
        (column()?, column()?, column()?, column()?, column()?);
    let mut halves = 0;
    for number in 0..count {
        let set = seats.varint()?;
        if set == 0 || set >> players != 0 {
            return None;
        }
        items.take(1 + set.count_ones() as usize)?;
        let mut answers = Vec::new();
        for seat in Seat::first(Seat::MAX).filter(|seat| set >> seat.index() & 1 == 1) {
            let kind = kinds.varint()?;
            let think_ms = if timed { u32::try_from(times.varint()?).ok()? } else { 0 };
            let answer = match kind {
                TIMED_OUT => Answer::Missing(Absence::TimedOut),
                GONE => Answer::Missing(Absence::Gone),
                NEVER_STARTED => Answer::Missing(Absence::NeverStarted),
                MALFORMED => {
                    let why = String::from_utf8(orders.bytes()?.to_vec()).ok()?;
                    Answer::Malformed { why, think_ms }
                }
                _ => {
                    let order = orders.take(usize::try_from(kind - GIVEN).ok()?)?.to_vec();
                    Answer::Given { order, think_ms }
                }
            };
            answers.push((seat, answer));
        }
        halves = if number % 2 == 0 { checks.byte()? } else { halves >> 4 };
        steps.push(Step { answers, check: halves & 15 });
    }
    for rest in [seats, kinds, times, orders, checks] {
        rest.end(())?;
    }
    reader.end(())
}
