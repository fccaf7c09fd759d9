//! A match that the server is told of while it is played.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_bot::BotName;
use agon_game::Session;
use agon_match::{Observer, StepReport};
use agon_replay::data::note;
use agon_replay::{Timing, Writer};
use serde_json::json;

use crate::play::{PreparedGame, folders};
use crate::private;
use crate::protocol::{Hall, Job, MOST_PIECE, MOST_TOLD, Try};

/// The steps of a match, as its replay will have them, with what its bots' authors will be told.
pub struct Telling {
    /// For each seat, the folder with its program's files; none for a seat without an author.
    folders: Vec<Option<PathBuf>>,
    writer: Mutex<Writer<Vec<u8>>>,
}

impl Telling {
    /// Of a match that begins.
    pub fn of(table: &PreparedGame, job: &Job, bots: &[BotName]) -> Self {
        let timed = table.game().info().time_is_played;
        let writer = Mutex::new(Writer::without_header(timed, job.seats.len()));
        Self { folders: folders(job, bots), writer }
    }

    /// What was played since the last time, as chunks of a replay; empty if nothing was.
    fn next(&self) -> Vec<u8> {
        self.writer().take().unwrap_or_default()
    }

    fn writer(&self) -> MutexGuard<'_, Writer<Vec<u8>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for &Telling {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let mut writer = self.writer();
        for ((seat, _), take) in step.answers.iter().zip(step.takes).filter(|(_, take)| take.timed) {
            let cpu_us = take.cpu.map(|cpu| cpu.as_micros() as u64);
            writer.timing(*seat, Timing { wall_us: take.wall.as_micros() as u64, cpu_us });
            let Some(folder) = &self.folders[seat.index()] else { continue };
            let mut keep = |kind, text: &[u8]| {
                let text = private::excerpt(&String::from_utf8_lossy(text));
                writer.note(*seat, kind, &private::without(&text, folder));
            };
            if !take.stderr.is_empty() {
                keep(note::STDERR, &take.stderr);
            }
            if let Some(raw) = &take.raw {
                keep(note::RAW, raw);
            }
        }
        for fault in step.faults {
            let Some(folder) = &self.folders[fault.seat.index()] else { continue };
            let message = private::without(&fault.message, folder);
            let told = json!({ "seat": fault.seat.number(), "kind": fault.kind.word(), "message": message });
            writer.note(fault.seat, note::FAULT, &told.to_string());
        }
        writer.step(step.answers, 0)
    }
}

/// What the server has been told of a match. All of it is kept while the match is played: behind one address there may be several
/// servers, and one that lacks the beginning asks for it.
#[derive(Default)]
pub struct ToldSoFar {
    pieces: Vec<Vec<u8>>,
    bytes: usize,
    /// The piece that the server wants next.
    next: u64,
    is_over: bool,
}

impl ToldSoFar {
    /// Tells the server what is new. Nothing is lost if that fails: it is told the next time.
    pub fn tell(&mut self, hall: &dyn Hall, attempt: Try, telling: &Telling) {
        if self.is_over {
            return;
        }
        let piece = telling.next();
        // The first one may be empty: it says that the match begins.
        if !piece.is_empty() || self.pieces.is_empty() {
            self.bytes += piece.len();
            self.is_over = piece.len() > MOST_PIECE || self.bytes > MOST_TOLD;
            self.pieces.push(piece);
        }
        // However often it changes its mind.
        for _ in 0..=self.pieces.len() {
            let Some(piece) = self.pieces.get(self.next as usize).filter(|_| !self.is_over) else { break };
            match hall.tell(attempt, self.next, piece) {
                Ok(Some(next)) if next <= self.pieces.len() as u64 => self.next = next,
                Ok(_) => self.is_over = true,
                Err(_) => break,
            }
        }
        if self.is_over {
            self.pieces = Vec::new();
        }
    }
}
