//! The machine as a program in a sandbox sees it: as much memory as it may have, and nothing of what others do.
//!
//! Runtimes ask the system how much memory there is, and size their heaps by the answer. Of `/proc` a program sees its own
//! processes, and of the rest a few files: some are the kernel's, some are written here, and all others are empty. The
//! call `sysinfo`, from which the C library and so Java have their answer, is put to the init by the filter, and answered
//! here as well; so is the question who holds a lock.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_remount, move_mount, open_tree};
use rustix::time::{ClockId, clock_gettime};

use crate::filter;
use crate::message::{Step as _, StepRefusal};
use crate::record::CallRecorder;
use crate::sys::{self, Arg};

/// Files of `/proc` that are the same for all programs of this machine, or that clocks tell anyway.
const PLAIN: [&str; 4] = ["cpuinfo", "filesystems", "uptime", "version"];
/// What all other files and folders are covered with.
const EMPTY: &str = "empty file";
const FOLDER: &str = "empty folder";
/// How `/proc` and what covers it are mounted.
const OPTIONS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Mounts a `/proc` below `root` for a program that may have this much memory, in bytes.
pub fn show(root: &Path, memory: u64) -> Result<(), StepRefusal> {
    let proc = root.join("proc");
    let step = "a /proc of its own";
    // What will be put above the kernel's files lies below them.
    let texts = texts(memory);
    let ours = draft(&proc, &texts).step(step)?;
    if mount("proc", &proc, "proc", OPTIONS, c"hidepid=2").is_err() {
        // Where parts of the machine's own are covered, as in containers, the kernel lets only processes be shown.
        return mount("proc", &proc, "proc", OPTIONS, c"subset=pid,hidepid=2").step(step);
    }
    cover(&proc, &ours, &texts).step(step)
}

/// The files of ours, by their names in `/proc`. The one that all others are covered with is empty.
fn texts(memory: u64) -> [(&'static str, String); 4] {
    let load = "0.00 0.00 0.00 1/1 1\n".to_owned();
    [(EMPTY, String::new()), ("meminfo", memory_told(memory)), ("stat", times_told()), ("loadavg", load)]
}

/// Makes a folder in memory with these files, which cannot be changed, at a place that another mount will cover.
fn draft(place: &Path, texts: &[(&str, String)]) -> io::Result<OwnedFd> {
    mount("agon", place, "tmpfs", OPTIONS, c"size=64k,nr_inodes=16,mode=755")?;
    fs::create_dir(place.join(FOLDER))?;
    for (name, text) in texts {
        fs::write(place.join(name), text)?;
    }
    mount_remount(place, OPTIONS | MountFlags::RDONLY, c"")?;
    Ok(rustix::fs::open(place, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Puts files of ours, or empty ones, above all of `/proc` that is not about processes.
fn cover(proc: &Path, ours: &OwnedFd, texts: &[(&str, String)]) -> io::Result<()> {
    for entry in fs::read_dir(proc)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_string_lossy();
        let is_process = name.bytes().all(|byte| byte.is_ascii_digit());
        // `self` and the like are links to what belongs to the process.
        if is_process || kind.is_symlink() || PLAIN.contains(&&*name) {
            continue;
        }
        let told = texts.iter().map(|(told, _)| *told).find(|told| *told == name);
        let above = if kind.is_dir() { FOLDER } else { told.unwrap_or(EMPTY) };
        let copy = open_tree(ours, above, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
        move_mount(&copy, "", CWD, entry.path(), MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}

/// The text of `/proc/meminfo`.
fn memory_told(memory: u64) -> String {
    let all = memory >> 10;
    let lines = [("MemTotal", all), ("MemFree", all), ("MemAvailable", all)].into_iter();
    let none =
        ["Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree", "Shmem", "Slab"];
    lines
        .chain(none.map(|name| (name, 0)))
        .map(|(name, size)| format!("{:<16}{size:>8} kB\n", format!("{name}:")))
        .collect()
}

/// The text of `/proc/stat`: all CPUs of the machine, none of which has done anything.
fn times_told() -> String {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let cpus = online.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(number(first)?..=number(last)?)
    });
    let line = |name: String| format!("{name} 0 0 0 0 0 0 0 0 0 0\n");
    let all =
        std::iter::once(line("cpu ".to_owned())).chain(cpus.flatten().map(|cpu| line(format!("cpu{cpu}"))));
    let (now, up) = (clock_gettime(ClockId::Realtime).tv_sec, clock_gettime(ClockId::Boottime).tv_sec);
    let rest = format!(
        "intr 0\nctxt 0\nbtime {}\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n",
        now - up
    );
    all.chain([rest]).collect()
}

/// The questions that the filter puts to the init, and how much memory they are answered with.
pub struct Questions {
    listener: OwnedFd,
    memory: u64,
    /// What notes all questions, if the filter puts more than that of memory.
    recorder: Option<CallRecorder>,
}

// The kernel's structures and commands for them (`linux/seccomp.h`), the same on all 64-bit machines.
const QUESTION: usize = 80;
const RECEIVE: i64 = 0xc050_2100;
const ANSWER: i64 = 0xc018_2101;
const IS_VALID: i64 = 0x4008_2102;
/// Lets the kernel carry the call out.
const GO_ON: u32 = 1;
/// What a `struct flock` begins with when nobody holds the lock that was asked for.
const NOBODY: [u8; 2] = (libc::F_UNLCK as u16).to_ne_bytes();

impl Questions {
    pub fn new(listener: OwnedFd, memory: u64, recorder: Option<CallRecorder>) -> Self {
        Self { listener, memory, recorder }
    }

    /// Answers one question, which is there.
    pub fn answer(&self) {
        let own = i64::from(self.listener.as_raw_fd());
        let mut question = [0_u8; QUESTION];
        if sys::call(libc::SYS_ioctl, &mut [Arg::Int(own), Arg::Int(RECEIVE), Arg::Out(&mut question)])
            .is_err()
        {
            // Whoever asked has ended meanwhile.
            return;
        }
        let word = |at: usize| u64::from_ne_bytes(question[at..][..8].try_into().unwrap_or_default());
        let (id, process, number) = (word(0), word(8) as u32, word(16) as u32);
        let is_lock = i64::from(number) == libc::SYS_fcntl;
        let call = question.last_chunk();
        let outcome = self.recorder.as_ref().zip(call).map(|(recorder, call)| recorder.note(call));
        let mut answer = sys::bytes(&[id, 0]);
        let (error, flags) = match outcome {
            Some(outcome) if let Some(errno) = filter::refusal(outcome) => (-(errno as i32), 0_u32),
            Some(libc::SECCOMP_RET_ALLOW) => (0, GO_ON),
            _ if is_lock => match self.tell(id, process, word(48), &NOBODY) {
                Ok(()) => (0, 0),
                Err(_) => (-libc::EPERM, 0),
            },
            _ => match self.tell(id, process, word(32), &self.machine()) {
                Ok(()) => (0, 0),
                Err(_) => (0, GO_ON),
            },
        };
        answer.extend(error.to_ne_bytes());
        answer.extend(flags.to_ne_bytes());
        let _ = sys::call(libc::SYS_ioctl, &mut [Arg::Int(own), Arg::Int(ANSWER), Arg::In(&answer)]);
    }

    /// Writes an answer into the memory of the process that asked.
    fn tell(&self, id: u64, process: u32, place: u64, answer: &[u8]) -> io::Result<()> {
        let memory = fs::File::options().write(true).open(format!("/proc/{process}/mem"))?;
        // It still waits for us, so the memory opened is its own, and not that of another process with its number.
        let own = i64::from(self.listener.as_raw_fd());
        let valid = id.to_ne_bytes();
        sys::call(libc::SYS_ioctl, &mut [Arg::Int(own), Arg::Int(IS_VALID), Arg::In(&valid)])?;
        memory.write_all_at(answer, place)
    }

    /// `struct sysinfo`.
    fn machine(&self) -> Vec<u8> {
        let up = clock_gettime(ClockId::Boottime).tv_sec.unsigned_abs();
        let (loads, memory, others, swap) = ([0; 3], [self.memory; 2], [0; 2], [0; 2]);
        let processes_and_high = [1, 0, 0, 1];
        let words = [&[up][..], &loads, &memory, &others, &swap, &processes_and_high].concat();
        sys::bytes(&words)
    }
}

impl AsFd for Questions {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
