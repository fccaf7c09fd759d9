//! A cgroup's counters, read through files that are kept open: a match reads them several times, and opening one costs
//! more than reading it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::group::{Hierarchies, counter};

/// What a group has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// CPU time of everything that ever ran in it.
    pub cpu: Duration,
    /// Peak memory, in bytes; 0 if unknown.
    pub peak: u64,
    /// Processes killed because memory was used up.
    pub killed: u64,
    /// How often another process was refused.
    pub refused: u64,
}

/// The counters of one cgroup.
#[derive(Debug)]
pub struct Meter {
    /// CPU time in nanoseconds (version 1), or the text that contains it in microseconds (version 2).
    cpu: Option<File>,
    peak: Option<File>,
    killed: File,
    refused: File,
    processes: File,
    two: bool,
}

impl Meter {
    /// Opens the counters of the group at `place`.
    ///
    /// # Errors
    /// The system's. CPU time and peak memory, which not every system counts, may be missing.
    pub fn open(place: &Hierarchies) -> io::Result<Self> {
        // Writing to the peak resets it; older version 2 kernels only let it be read.
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
        Ok(Self {
            cpu: cpu.and_then(|path| File::open(path).ok()),
            peak: peak(&highest),
            killed: File::open(killed)?,
            refused: File::open(pids.join("pids.events"))?,
            processes: File::open(pids.join("pids.current"))?,
            two,
        })
    }

    /// CPU time of everything that ever ran in it; none where it is not counted.
    pub fn cpu(&self) -> Option<Duration> {
        let file = self.cpu.as_ref()?;
        match self.two {
            true => Some(Duration::from_micros(counter(&read(file)?, "usage_usec"))),
            false => Some(Duration::from_nanos(read(file)?.trim().parse().ok()?)),
        }
    }

    /// What the group has used since it was created; memory since [`forget_peak`](Self::forget_peak).
    pub fn charge(&self) -> Charge {
        let text = |file: &File| read(file).unwrap_or_default();
        Charge {
            cpu: self.cpu().unwrap_or_default(),
            peak: self.peak.as_ref().map_or(0, number),
            killed: counter(&text(&self.killed), "oom_kill"),
            refused: counter(&text(&self.refused), "max"),
        }
    }

    /// Starts a new memory peak. Returns whether that worked: an old peak may be there that cannot be reset.
    pub fn forget_peak(&self) -> bool {
        self.peak.as_ref().is_none_or(|peak| peak.write_at(b"0", 0).is_ok() || number(peak) == 0)
    }

    /// What was used since the counters stood at `before`; memory since the peak was reset.
    pub fn since(&self, before: Option<Charge>) -> Charge {
        let now = self.charge();
        let before = before.unwrap_or(now);
        Charge {
            cpu: now.cpu.saturating_sub(before.cpu),
            peak: now.peak,
            killed: now.killed.saturating_sub(before.killed),
            refused: now.refused.saturating_sub(before.refused),
        }
    }

    /// How many processes and threads there are; some may be dying.
    pub fn processes(&self) -> Option<usize> {
        read(&self.processes)?.trim().parse().ok()
    }
}

fn number(file: &File) -> u64 {
    read(file).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The current value of a counter.
fn read(file: &File) -> Option<String> {
    let mut text = [0; 2048];
    let length = file.read_at(&mut text, 0).ok()?;
    Some(String::from_utf8_lossy(&text[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_highest_memory_that_cannot_be_set_back_is_told_from_one_that_can() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            ("cpu.stat", "usage_usec 2500\nuser_usec 2000\n"),
            ("memory.peak", "4096\n"),
            ("memory.events", "oom 2\noom_kill 1\noom_group_kill 1\n"),
            ("pids.events", "max 3\n"),
            ("pids.current", "5\n"),
        ];
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let open = || Meter::open(&Hierarchies::Two(folder.path().to_owned())).expect("counters");
        let wanted = Charge { cpu: Duration::from_micros(2_500), peak: 4096, killed: 1, refused: 3 };
        assert_eq!((open().charge(), open().processes()), (wanted, Some(5)));
        assert!(open().forget_peak());
        // A counter nobody may write, as before Linux 6.12.
        let peak = folder.path().join("memory.peak");
        std::fs::remove_file(&peak).expect("it was there");
        std::os::unix::fs::symlink("/proc/sys/kernel/ngroups_max", &peak).expect("a link");
        assert!(!open().forget_peak());
    }
}
