//! Writes the replay of a match while it is played.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use agon_game::{Seat, Session};
use agon_replay::data::note;
use agon_replay::{EndInfo, Header, Timing, Writer};

use crate::record::{MatchRecord, Void};
use crate::referee::{Observer, StepReport};

/// A replay in progress is readable up to this long ago.
const FLUSH: Duration = Duration::from_secs(2);

/// Writes the replay of a match while it is played.
pub struct Recorder<W: Write> {
    writer: Writer<W>,
    flushed: Instant,
}

impl<W: Write> Recorder<W> {
    /// Begins a replay; the header is written at once, so that none of our files is ever empty.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn new(to: W, header: &Header) -> io::Result<Self> {
        let mut writer = Writer::new(to, header)?;
        writer.flush()?;
        Ok(Self { writer, flushed: Instant::now() })
    }

    /// Ends the replay, even of a match that does not count.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(self, session: &mut dyn Session, record: &MatchRecord) -> io::Result<W> {
        let facts = serde_json::json!({
            "registered": registered(session),
            "faults": record.faults,
            "times": record.times,
            "void": record.void_sentence(),
            "void_by": record.void.as_ref().and_then(Void::culprit).map(Seat::number),
            "wait": record.wait,
            "notes": record.notes,
            "containment": record.containment(),
            "wall_us": record.wall_us,
        });
        let state = format!("{:016x}", session.hash());
        let end = EndInfo { steps: 0, outcome: record.outcome.clone(), state, chain: String::new(), facts };
        self.writer.finish(end)
    }
}

/// The names the bots registered with, by seat; none if no bot gave one.
pub fn registered(session: &dyn Session) -> Option<Vec<Option<String>>> {
    let names: Vec<_> = Seat::first(session.recipe().seats).map(|seat| session.registered(seat)).collect();
    names.iter().any(Option::is_some).then_some(names)
}

impl<W: Write> Observer for Recorder<W> {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        for ((seat, _), take) in step.answers.iter().zip(step.takes).filter(|(_, take)| take.timed) {
            let mut keep = |kind: &str, text: &[u8]| {
                self.writer.note(*seat, kind, &String::from_utf8_lossy(text));
            };
            if !take.stderr.is_empty() {
                keep(note::STDERR, &take.stderr);
            }
            take.said.iter().for_each(|said| keep(said.when.note(), &said.text));
            if let Some(raw) = &take.raw {
                keep(note::RAW, raw);
            }
            let cpu_us = take.cpu.map(|cpu| cpu.as_micros() as u64);
            self.writer.timing(*seat, Timing { wall_us: take.wall.as_micros() as u64, cpu_us });
            // Where another answer was played instead, its thinking time is not what was measured.
            if let (Some(counted), None) = (take.counted, step.instead_of) {
                self.writer.counted(*seat, counted);
            }
        }
        self.writer.step(step.answers, session.hash())?;
        if self.flushed.elapsed() >= FLUSH {
            self.writer.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }
}
