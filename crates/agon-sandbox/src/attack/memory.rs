//! Attacks on memory: 128 MB, in every way there is, where 64 MB are allowed.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, poll};

use super::{Attack, AttackTry, Control, held};
use crate::sys::{self, Arg, Forked};
use crate::{Level, Wall};

/// How much is asked for.
const MUCH: usize = 128 << 20;
const PAGE: usize = 4096;
const GROUP: &str = "memory of the cgroup";

pub fn list() -> Vec<Attack> {
    let new = |name, attempt, wall, run| Attack::new(name, attempt, wall, run).control(Control::Roomy);
    let limits = Control::Without(&[Wall::Limits]);
    vec![
        new("private-memory", "touch 128 MB of private memory", GROUP, |_| occupy(libc::MAP_PRIVATE))
            .at(Level::B),
        new("shared-memory", "touch 128 MB of shared memory", GROUP, |_| occupy(libc::MAP_SHARED))
            .at(Level::B),
        new("heap", "fill 128 MB of the heap", GROUP, |_| {
            let mut all = Vec::new();
            for _ in 0..128 {
                let mut block: Vec<u8> = Vec::new();
                block.try_reserve_exact(1 << 20).map_err(io::Error::other)?;
                block.resize(1 << 20, 1);
                all.push(block);
            }
            Ok(format!("{} MB", std::hint::black_box(&all).len()))
        })
        .at(Level::B),
        new("memory-file", "put 128 MB into a file in memory (memfd)", GROUP, |_| {
            let name = c"much";
            let file = sys::descriptor(libc::SYS_memfd_create, &mut [Arg::Text(name), Arg::Int(0)])?;
            let size = &mut [Arg::Int(file.as_raw_fd().into()), Arg::Int(MUCH as i64)];
            sys::call(libc::SYS_ftruncate, size)?;
            sys::occupy(MUCH, PAGE, libc::MAP_SHARED, Some(file.as_raw_fd())).map(|()| "128 MB".into())
        })
        .at(Level::B),
        new("system-v-memory", "touch 128 MB of System V memory", "filter", |_| {
            let make = i64::from(libc::IPC_CREAT) | 0o600;
            let make = &mut [Arg::Int(0), Arg::Int(MUCH as i64), Arg::Int(make)];
            let id = sys::call(libc::SYS_shmget, make)?;
            // Marked for removal at once, so that it ends with this process.
            let attached = sys::attach(id as i32, 1);
            let _ = sys::call(
                libc::SYS_shmctl,
                &mut [Arg::Int(id), Arg::Int(libc::IPC_RMID.into()), Arg::Int(0)],
            );
            attached.map(|()| "128 MB".into())
        })
        .control(Control::Outside),
        new("files-in-memory", "fill /tmp with 60 MB and touch 60 MB", GROUP, |_| {
            let home = std::env::var_os("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
            let block = vec![1; 1 << 20];
            (0..60).try_for_each(|number| fs::write(home.join(format!("part-{number}")), &block))?;
            sys::occupy(60 << 20, PAGE, libc::MAP_PRIVATE, None).map(|()| "120 MB".into())
        })
        .at(Level::B),
        new("eight-children", "touch 16 MB in each of eight children", GROUP, |_| children(8, 16 << 20))
            .at(Level::A),
        new("grandchildren", "touch 8 MB in each of sixteen generations", GROUP, |_| generations(16))
            .at(Level::A),
        new("thread-stacks", "touch 8 MB in each of sixteen threads", GROUP, |_| {
            let touch = || sys::occupy(8 << 20, PAGE, libc::MAP_PRIVATE, None).is_ok();
            let threads: Vec<_> =
                (0..16).map(|_| std::thread::Builder::new().spawn(touch)).collect::<io::Result<_>>()?;
            let done =
                threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|done| *done).count();
            if done == 16 { Ok("128 MB".into()) } else { held(format!("{done} of 16 threads")) }
        })
        .at(Level::B),
        new(
            "page-tables",
            "touch one page in every 2 MB, so that the kernel needs a table for each",
            GROUP,
            |_| {
                let flags = libc::MAP_PRIVATE | libc::MAP_NORESERVE;
                // 12,000 pages of ours and 12,000 of the kernel's: 94 MB.
                sys::occupy(12_000 << 21, 1 << 21, flags, None).map(|()| "94 MB".into())
            },
        )
        .at(Level::B),
        new("many-sparse-mappings", "touch a page in each of 30,000 mappings", GROUP, |_| {
            for _ in 0..30_000 {
                sys::occupy(PAGE, PAGE, libc::MAP_SHARED, None)?;
            }
            Ok("117 MB and as many mappings".into())
        })
        .at(Level::B),
        new("pipes", "fill pipes until there is no memory", "open files, memory of the cgroup", |_| {
            let mut all = Vec::new();
            let block = vec![1_u8; 64 << 10];
            while all.len() < 400 {
                let pipe = rustix::pipe::pipe()?;
                rustix::io::write(&pipe.1, &block)?;
                all.push(pipe);
            }
            Ok(format!("{} pipes of 64 KB", all.len()))
        }),
        new(
            "socket-buffers",
            "fill sockets until there is no memory",
            "open files, memory of the cgroup",
            |_| {
                let mut all = Vec::new();
                while all.len() < 400 {
                    let (here, there) = std::os::unix::net::UnixStream::pair()?;
                    here.set_nonblocking(true)?;
                    let block = vec![1_u8; 64 << 10];
                    while io::Write::write(&mut &here, &block).is_ok() {}
                    all.push((here, there));
                }
                Ok(format!("{} full sockets", all.len()))
            },
        ),
        new("descriptors", "open 600 files", "open files", |_| {
            let all: io::Result<Vec<fs::File>> = (0..600).map(|_| fs::File::open("/dev/null")).collect();
            all.map(|all| format!("{} files", all.len()))
        }),
        new("lock-memory", "keep 1 MB from ever being swapped out", "locked memory", |_| {
            let block = vec![1_u8; 1 << 20];
            sys::call(libc::SYS_mlock, &mut [Arg::In(&block), Arg::Int(1 << 20)]).map(|_| "1 MB".into())
        })
        .control(limits),
        new("queued-signals", "queue 2,000 signals to itself", "waiting signals", |_| {
            let mut info = [0_u8; 128];
            info[8..12].copy_from_slice(&(-1_i32).to_ne_bytes());
            let own = i64::from(std::process::id());
            let signal = libc::SIGRTMIN();
            info[..4].copy_from_slice(&signal.to_ne_bytes());
            sys::block_signal(signal);
            for _ in 0..2_000 {
                let send = &mut [Arg::Int(own), Arg::Int(signal.into()), Arg::In(&info)];
                sys::call(libc::SYS_rt_sigqueueinfo, send)?;
            }
            Ok("2,000 signals".into())
        })
        .control(limits),
        new("deep-stack", "use a stack of 64 MB", "size of the stack", |_| {
            let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
            let much = Some(64 << 20);
            let more = rustix::process::Rlimit { current: much, maximum: limit.maximum };
            rustix::process::setrlimit(rustix::process::Resource::Stack, more)?;
            Ok("the stack may grow to 64 MB".into())
        })
        .control(limits),
        new("raise-limits", "raise its own limit of open files", "limits", |_| {
            let resource = rustix::process::Resource::Nofile;
            let more = rustix::process::Rlimit { current: Some(900), maximum: Some(900) };
            rustix::process::setrlimit(resource, more).map_err(Into::into).map(|()| "900 files".into())
        })
        .control(limits),
        new("dump-core", "leave its memory as a file", "no core dumps", |_| {
            let resource = rustix::process::Resource::Core;
            let limit = rustix::process::getrlimit(resource);
            match limit.maximum {
                Some(most) if most < 1 << 20 => held(format!("at most {most} bytes")),
                _ => Ok("as large as it likes".into()),
            }
        })
        .control(limits),
    ]
}

fn occupy(flags: i32) -> AttackTry {
    sys::occupy(MUCH, PAGE, flags, None).map(|()| "128 MB".into())
}

/// Processes that each touch some memory, report it, hold it until all have, and report that they are still alive:
/// one killed to make room for another does not count.
struct Holders {
    heard: OwnedFd,
    tell: OwnedFd,
    wait: OwnedFd,
    go: OwnedFd,
}

impl Holders {
    fn new() -> io::Result<Self> {
        let ((heard, tell), (wait, go)) = (rustix::pipe::pipe()?, rustix::pipe::pipe()?);
        Ok(Self { heard, tell, wait, go })
    }

    /// A process's life up to its first report.
    fn touch(&self, bytes: usize) {
        if sys::occupy(bytes, PAGE, libc::MAP_PRIVATE, None).is_err() {
            sys::leave(1);
        }
        let _ = rustix::io::write(&self.tell, b"!");
    }

    /// The rest of its life.
    fn hold(self) -> ! {
        drop(self.go);
        let _ = rustix::io::read(&self.wait, &mut [0_u8; 1]);
        let _ = rustix::io::write(&self.tell, b"!");
        sys::leave(0)
    }

    /// How many hold their memory at the same time.
    fn count(self, most: usize) -> usize {
        drop(self.tell);
        let hear = || {
            let patience = rustix::time::Timespec { tv_sec: 2, tv_nsec: 0 };
            let mut heard = 0;
            let mut waits = [PollFd::new(&self.heard, PollFlags::IN)];
            while heard < most
                && poll(&mut waits, Some(&patience)).is_ok_and(|ready| ready > 0)
                && rustix::io::read(&self.heard, &mut [0_u8; 1]) == Ok(1)
            {
                heard += 1;
            }
            heard
        };
        let first = hear();
        drop(self.go);
        if first < most { first } else { hear() }
    }
}

/// Children that touch `each` bytes.
fn children(count: usize, each: usize) -> AttackTry {
    let holders = Holders::new()?;
    for _ in 0..count {
        if let Forked::Child = sys::fork()? {
            holders.touch(each);
            holders.hold();
        }
    }
    match holders.count(count) {
        done if done == count => Ok(format!("{count} children with {} MB", each >> 20)),
        done => held(format!("{done} of {count} at a time")),
    }
}

/// A chain of processes, each of which touches 8 MB and starts the next.
fn generations(count: usize) -> AttackTry {
    let holders = Holders::new()?;
    for generation in 0..count {
        match sys::fork() {
            Ok(Forked::Child) => holders.touch(8 << 20),
            _ if generation == 0 => break,
            _ => holders.hold(),
        }
        if generation + 1 == count {
            holders.hold();
        }
    }
    match holders.count(count) {
        done if done == count => Ok(format!("{count} generations with 8 MB")),
        done => held(format!("{done} of {count} at a time")),
    }
}
