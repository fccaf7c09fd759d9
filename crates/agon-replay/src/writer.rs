//! Writing a replay as the match goes.

use std::io::{self, Write};

use agon_game::pack::{put_bytes, put_varint};
use agon_game::{PackedAnswer, Seat};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::chunk::{self, tag};
use crate::steps::Columns;
use crate::{Counted, EndInfo, Header, LARGEST, MAGIC, Replay, Timing};

/// Times and notes are written out when they reach this many bytes.
const ENOUGH: usize = 64 << 10;
/// Steps are written out once there are this many, or this many bytes of them: no more than that is lost if the file is cut off.
const STEPS: (u64, usize) = (128, 1 << 10);
/// Upper limit on the bytes of notes kept, so that talkative bots do not make a replay too large to be read.
const MOST_NOTES: usize = LARGEST / 2;

/// Writes a replay.
pub struct Writer<W: Write> {
    to: W,
    timed: bool,
    columns: Columns,
    step: u32,
    timing: Vec<u8>,
    counted: Vec<u8>,
    notes: Vec<Vec<u8>>,
    /// How many more bytes of notes may be kept.
    room: usize,
    chain: u64,
    raw: Vec<u8>,
    scratch: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a replay.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(mut to: W, header: &Header) -> io::Result<Self> {
        to.write_all(MAGIC)?;
        let raw = serde_json::to_vec(header)?;
        let mut scratch = Vec::new();
        chunk::write(&mut to, tag::HEADER, &raw, &mut scratch)?;
        Ok(Self { chain: xxh3_64(&raw), raw, scratch, ..Self::after(to, header.timed, header.seats.len()) })
    }

    /// Writes what follows a header.
    fn after(to: W, timed: bool, seats: usize) -> Self {
        Self {
            to,
            timed,
            columns: Columns::default(),
            step: 0,
            timing: Vec::new(),
            counted: Vec::new(),
            notes: vec![Vec::new(); seats],
            room: MOST_NOTES,
            chain: 0,
            raw: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Keeps a note of `seat` for the step that is written next. When there are too many, the last one says so, and no more are
    /// kept.
    pub fn note(&mut self, seat: Seat, kind: &str, text: &str) {
        if self.room == 0 {
            return;
        }
        let text = match self.room.checked_sub(kind.len() + text.len()) {
            Some(left) => {
                self.room = left;
                text
            }
            None => {
                self.room = 0;
                "[the bots of this match wrote more than a replay keeps; from here on nothing of it is kept]"
            }
        };
        let notes = &mut self.notes[seat.index()];
        put_varint(notes, u64::from(self.step));
        put_bytes(notes, kind.as_bytes());
        put_bytes(notes, text.as_bytes());
    }

    /// Keeps how long `seat` took in the step that is written next.
    pub fn timing(&mut self, seat: Seat, timing: Timing) {
        put_varint(&mut self.timing, u64::from(self.step));
        self.timing.push(seat.index() as u8);
        put_varint(&mut self.timing, timing.wall_us);
        put_varint(&mut self.timing, timing.cpu_us.map_or(0, |time| time + 1));
    }

    /// Keeps what was counted of `seat` in the step that is written next.
    pub fn counted(&mut self, seat: Seat, counted: Counted) {
        put_varint(&mut self.counted, u64::from(self.step));
        self.counted.extend([seat.index() as u8, counted.cpus]);
        for us in [counted.cpu_us, counted.waited_us, counted.owed_us] {
            put_varint(&mut self.counted, us);
        }
    }

    /// Writes a step: the answers the game played, and the hash of the state after it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn step(&mut self, answers: &[(Seat, PackedAnswer)], hash: u64) -> io::Result<()> {
        self.columns.push(answers, hash as u8, self.timed);
        self.step += 1;
        if self.columns.count() >= STEPS.0 || self.columns.len() >= STEPS.1 {
            self.flush_steps()?;
        }
        let held = self.timing.len() + self.counted.len() + self.notes.iter().map(Vec::len).sum::<usize>();
        if held >= ENOUGH { self.flush() } else { Ok(()) }
    }

    fn flush_steps(&mut self) -> io::Result<()> {
        if !self.columns.is_empty() {
            self.columns.take(&mut self.raw);
            self.chain = xxh3_64_with_seed(&self.raw, self.chain);
            chunk::write(&mut self.to, tag::STEPS, &self.raw, &mut self.scratch)?;
        }
        Ok(())
    }

    /// Writes out everything held back, so that a reader finds it even if nothing follows.
    ///
    /// # Errors
    /// Those of the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flush_steps()?;
        if !self.timing.is_empty() {
            chunk::write(&mut self.to, tag::TIMING, &self.timing, &mut self.scratch)?;
            self.timing.clear();
        }
        if !self.counted.is_empty() {
            chunk::write(&mut self.to, tag::COUNTED, &self.counted, &mut self.scratch)?;
            self.counted.clear();
        }
        for (seat, notes) in self.notes.iter_mut().enumerate().filter(|(_, notes)| !notes.is_empty()) {
            self.raw.clear();
            self.raw.push(seat as u8);
            self.raw.extend_from_slice(notes);
            chunk::write(&mut self.to, tag::NOTES, &self.raw, &mut self.scratch)?;
            notes.clear();
        }
        self.to.flush()
    }

    /// Ends the replay, adding the number of steps and the chain to `end`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self, mut end: EndInfo) -> io::Result<W> {
        self.flush()?;
        end.steps = self.step;
        end.chain = format!("{:016x}", self.chain);
        self.raw = serde_json::to_vec(&end)?;
        chunk::write(&mut self.to, tag::END, &self.raw, &mut self.scratch)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

impl Writer<Vec<u8>> {
    /// Writes the steps of a match of this many seats for somebody who knows its header; `timed` is as there.
    pub fn without_header(timed: bool, seats: usize) -> Self {
        Self::after(Vec::new(), timed, seats)
    }

    /// Takes out what was written since the last time, with everything held back: whole chunks, which [`Replay::read_part`] reads.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn take(&mut self) -> io::Result<Vec<u8>> {
        self.flush()?;
        Ok(std::mem::take(&mut self.to))
    }
}

impl Replay {
    /// The replay as a file, with what was changed in it since it was read. The file of an altered replay is a good one, so check
    /// before.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn written(&self) -> io::Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), &self.header)?;
        let mut notes: Vec<_> =
            self.notes.iter().flat_map(|(seat, own)| own.iter().map(|note| (*seat, note))).collect();
        notes.sort_by_key(|(_, note)| note.step);
        let mut notes = notes.into_iter().peekable();
        for number in 0..=self.steps.len() as u32 {
            while let Some((seat, note)) = notes.next_if(|(_, note)| note.step <= number) {
                writer.note(seat, &note.kind, &note.text);
            }
            let Some(step) = self.steps.get(number as usize) else { break };
            for (seat, _) in &step.answers {
                if let Some(timing) = self.timing.get(&(number, *seat)) {
                    writer.timing(*seat, *timing);
                }
                if let Some(counted) = self.counted.get(&(number, *seat)) {
                    writer.counted(*seat, *counted);
                }
            }
            writer.step(&step.answers, step.check.into())?;
        }
        match &self.end {
            Some(end) => writer.finish(end.clone()),
            // A replay that was cut off stays so.
            None => writer.take(),
        }
    }
}
