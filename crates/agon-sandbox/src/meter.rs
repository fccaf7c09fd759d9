//! What a cgroup counts, read through files that are held open: a match asks several times, and opening one of them costs
//! more than reading it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::group::{Hierarchies, counter};

/// What a group had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// CPU time of all that ever ran in it.
    pub cpu: Duration,
    /// The most memory at a time, in bytes; 0 where that is not known.
    pub peak: u64,
    /// Processes that were killed because the memory was used up.
    pub killed: u64,
    /// Times that a further process was refused.
    pub refused: u64,
}

/// The counters of one cgroup.
#[derive(Debug)]
pub struct Meter {
    /// CPU time in nanoseconds (version 1), or the text that has it in microseconds (version 2).
    cpu: Option<File>,
    peak: Option<File>,
    killed: File,
    refused: File,
    processes: File,
    two: bool,
    /// Whether the highest memory can be set back.
    forgets: bool,
}

impl Meter {
    /// Opens the counters of the group at `place`.
    ///
    /// # Errors
    /// The system's; without CPU time and the highest memory, which not every system counts, it goes on.
    pub fn open(place: &Hierarchies) -> io::Result<Self> {
        // Writing the peak sets it back; an older version 2 can only be read.
        let writable = |path: &Path| OpenOptions::new().read(true).write(true).open(path);
        let peak = |path: &Path| writable(path).or_else(|_| File::open(path)).ok();
        let (cpu, highest, killed, pids, two) = match place {
            Hierarchies::One { memory, pids, cpu, .. } => {
                let cpu = cpu.as_ref().map(|path| path.join("cpuacct.usage"));
                (
                    cpu,
                    memory.join("memory.max_usage_in_bytes"),
                    memory.join("memory.oom_control"),
                    pids,
                    false,
                )
            }
            Hierarchies::Two(path) => (
                Some(path.join("cpu.stat")),
                path.join("memory.peak"),
                path.join("memory.events"),
                path,
                true,
            ),
        };
        let meter = Self {
            cpu: cpu.and_then(|path| File::open(path).ok()),
            peak: peak(&highest),
            killed: File::open(killed)?,
            refused: File::open(pids.join("pids.events"))?,
            processes: File::open(pids.join("pids.current"))?,
            two,
            forgets: false,
        };
        let forgets = meter.forget_peak();
        Ok(Self { forgets, ..meter })
    }

    /// What the group had since it was made; the memory since [`forget_peak`](Self::forget_peak).
    pub fn charge(&self) -> Charge {
        let text = |file: &File| read(file).unwrap_or_default();
        let number = |file: &File| text(file).trim().parse::<u64>().unwrap_or(0);
        let cpu = self.cpu.as_ref().map_or(Duration::ZERO, |file| match self.two {
            true => Duration::from_micros(counter(&text(file), "usage_usec")),
            false => Duration::from_nanos(number(file)),
        });
        Charge {
            cpu,
            peak: self.peak.as_ref().map_or(0, number),
            killed: counter(&text(&self.killed), "oom_kill"),
            refused: counter(&text(&self.refused), "max"),
        }
    }

    /// Counts the highest memory from now on, where that can be done. Whether it can.
    pub fn forget_peak(&self) -> bool {
        self.peak.as_ref().is_some_and(|peak| peak.write_at(b"0", 0).is_ok())
    }

    /// What was had since the counters stood at `before`. A peak that cannot be set back and did not rise is not known.
    pub fn since(&self, before: Option<Charge>) -> Charge {
        let now = self.charge();
        let before = before.unwrap_or(now);
        Charge {
            cpu: now.cpu.saturating_sub(before.cpu),
            peak: if self.forgets || now.peak > before.peak { now.peak } else { 0 },
            killed: now.killed.saturating_sub(before.killed),
            refused: now.refused.saturating_sub(before.refused),
        }
    }

    /// How many processes and threads there are; some of them may just be dying.
    pub fn processes(&self) -> Option<usize> {
        read(&self.processes)?.trim().parse().ok()
    }
}

/// What a counter says now.
fn read(file: &File) -> Option<String> {
    let mut text = [0; 2048];
    let length = file.read_at(&mut text, 0).ok()?;
    Some(String::from_utf8_lossy(&text[..length]).into_owned())
}
