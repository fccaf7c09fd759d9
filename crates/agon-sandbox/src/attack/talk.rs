//! Ways to leave something for the next match or to talk to another one, and what is accepted.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::{Attack, AttackTry, Control, Judge, held};
use crate::Wall;
use crate::sys::{self, Arg};

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    let accepted = |name, attempt, run| {
        Attack::new(name, attempt, "accepted: nothing", run).control(Control::Everywhere)
    };
    let mut list = vec![
        new(
            "file-in-tmp-for-next-match",
            "leave a file in /tmp",
            "own root (mount namespace), Landlock",
            |to| leave(PathBuf::from(format!("/tmp/{}-left", to.name))),
        )
        .judge(Judge::Twice),
        new(
            "memory-for-next-match",
            "leave a file in /dev/shm",
            "own root (mount namespace), Landlock",
            |to| leave(PathBuf::from(format!("/dev/shm/{}-left", to.name))),
        )
        .judge(Judge::Twice),
        new(
            "file-in-bot-for-next-match",
            "leave a file in the bot's folder",
            "read-only mounts, Landlock",
            |to| leave(to.own.join("left")),
        )
        .judge(Judge::Twice),
        new("queue-for-next-match", "leave a message queue", "own queues (ipc namespace), filter", |to| {
            let name = std::ffi::CString::new(format!("{}-left", to.name))?;
            let open = |flags: i32| {
                let open = &mut [Arg::Text(&name), Arg::Int(flags.into()), Arg::Int(0o600), Arg::Int(0)];
                sys::descriptor(libc::SYS_mq_open, open)
            };
            if open(libc::O_RDWR).is_ok() {
                let _ = sys::call(libc::SYS_mq_unlink, &mut [Arg::Text(&name)]);
                return Ok("it was still there".into());
            }
            open(libc::O_RDWR | libc::O_CREAT).and_then(|_| held("it is left"))
        })
        .judge(Judge::Twice),
        new(
            "shared-lock",
            "see a lock that another one holds on a file both may read",
            "filter (locks do nothing)",
            |to| {
                let file = fs::File::open(&to.program)?;
                let mine = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
                match mine {
                    Err(rustix::io::Errno::WOULDBLOCK) => Ok("one bit of another match".into()),
                    Err(error) => Err(error.into()),
                    Ok(()) => held("a lock that locks nothing"),
                }
            },
        )
        .control(Control::Without(&[Wall::Filter])),
        new(
            "shared-range-lock",
            "see a lock (fcntl) that another one holds on a file both may read",
            "filter",
            |to| {
                let file = fs::File::open(&to.program)?;
                match fcntl_getlk(&file, &Flock::from(FlockType::WriteLock))? {
                    Some(_) => Ok("one bit of another match".into()),
                    None => held("the kernel tells of none"),
                }
            },
        )
        .control(Control::Without(&[Wall::Filter])),
        new(
            "cached-file-seen",
            "see whether a file that others read is in memory (RWF_NOWAIT)",
            "filter",
            |to| {
                let mut page = [0_u8; 4096];
                let buffers = &mut [io::IoSliceMut::new(&mut page)];
                let file = fs::File::open(&to.program)?;
                match rustix::io::preadv2(file, buffers, 0, rustix::io::ReadWriteFlags::NOWAIT) {
                    Ok(_) => Ok("it is".into()),
                    Err(rustix::io::Errno::AGAIN) => Ok("it is not".into()),
                    Err(error) => Err(error.into()),
                }
            },
        )
        .control(Control::Without(&[Wall::Filter])),
        new("cached-file-dropped", "have the kernel forget a file that others read", "filter", |to| {
            let file = fs::File::open(&to.program)?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
            Ok("it was asked to".into())
        })
        .control(Control::Without(&[Wall::Filter])),
        new("lease", "be told when another one opens a file (F_SETLEASE)", "filter", |_| {
            let home = std::env::var_os("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
            let path = home.join("leased");
            fs::write(&path, "x")?;
            let file = fs::File::open(&path)?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&file);
            let ask = &mut [Arg::Int(number.into()), Arg::Int(1024), Arg::Int(libc::F_RDLCK.into())];
            sys::call(libc::SYS_fcntl, ask).map(|_| "leased".into())
        })
        .control(Control::Without(&[Wall::Filter])),
        accepted("machine-load", "read the load of the machine (sysinfo)", |_| {
            let info = rustix::system::sysinfo();
            Ok(format!("{} processes, load {}", info.procs, info.loads[0] >> 16))
        }),
        accepted("free-blocks", "read how much of the disk is free (statfs)", |_| {
            let data = rustix::fs::statfs("/usr")?;
            Ok(format!("{} blocks", data.f_bfree))
        }),
        accepted("cpu-timing", "feel by its own speed whether others compute", |_| {
            let begun = Instant::now();
            let mut sum = 0_u64;
            while begun.elapsed() < Duration::from_millis(2) {
                sum = std::hint::black_box(sum + 1);
            }
            Ok(format!("{sum} rounds in 2 ms"))
        }),
    ];
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    list.push(accepted("time-stamp-counter", "read the processor's counter of time", |_| {
        let before = sys::time_stamp();
        Ok(format!("{} steps between two readings", sys::time_stamp().saturating_sub(before)))
    }));
    list
}

/// Leaves a file; wins if it finds the one left before.
fn leave(path: PathBuf) -> AttackTry {
    if path.exists() {
        let _ = fs::remove_file(&path);
        return Ok("it was still there".into());
    }
    fs::write(&path, "left").and_then(|()| held("it is left"))
}
