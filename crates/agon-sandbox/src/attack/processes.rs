//! Attacks with processes, too many or outliving the end, and with CPU time.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::{Attack, AttackTry, Control, Judge, held};
use crate::sys::{self, Forked};
use crate::{Level, Wall};

const COUNT: &str = "number of processes";
const END: &str = "end of the init (pid namespace)";
/// More than the sandbox allows and less than a control allows.
const MANY: usize = 100;
/// A process that outlives its match lives until its input closes, but no longer than this.
const LIFE: Duration = Duration::from_secs(30);

pub fn list() -> Vec<Attack> {
    let new = Attack::new;
    let many =
        |name, attempt, run| Attack::new(name, attempt, COUNT, run).control(Control::Roomy).at(Level::B);
    let outlive = |name, attempt, run| {
        Attack::new(name, attempt, END, run)
            .control(Control::Without(&[Wall::Namespaces, Wall::Group, Wall::End]))
            .judge(Judge::Outlives)
    };
    vec![
        many("fork-bomb", "begin 100 processes", |_| bomb(|| false)),
        many("fork-bomb-of-generations", "100 processes, each the child of the one before", |_| line()),
        many("thread-bomb", "begin 100 threads", |_| {
            for number in 0..MANY {
                sys::sleeping_thread(Duration::from_secs(1))
                    .map_err(|error| io::Error::new(error.kind(), format!("after {number}: {error}")))?;
            }
            Ok(format!("{MANY} threads"))
        }),
        many("zombies", "100 processes that end and are not buried", |_| {
            for number in 0..MANY {
                match sys::fork() {
                    Ok(Forked::Child) => sys::leave(0),
                    Ok(Forked::Parent(..)) => {}
                    Err(error) => return held(format!("after {number}: {error}")),
                }
            }
            Ok(format!("{MANY} zombies"))
        }),
        many("sessions", "100 processes with sessions of their own", |_| {
            bomb(|| rustix::process::setsid().is_err())
        }),
        outlive("daemon", "leave a process with a session of its own", |_| {
            stay(|| rustix::process::setsid().is_ok())
        }),
        outlive("deep-daemon", "leave one that was forked three times", |_| {
            stay(|| {
                for _ in 0..2 {
                    if let Ok(Forked::Parent(..)) = sys::fork() {
                        sys::leave(0);
                    }
                    let _ = rustix::process::setsid();
                }
                true
            })
        }),
        outlive("deaf-daemon", "leave one that ignores every signal it can", |_| {
            stay(|| {
                (1..32).for_each(sys::ignore_signal);
                true
            })
        }),
        outlive("forgetful-daemon", "leave one that no longer dies with its parent", |_| {
            stay(|| rustix::process::set_parent_process_death_signal(None).is_ok())
        }),
        outlive("stopped-daemon", "leave one that is stopped", |_| {
            stay(|| {
                // If nobody ends it, it goes on by itself: a sibling wakes it.
                let own = rustix::process::getpid();
                if let Ok(Forked::Child) = sys::fork() {
                    std::thread::sleep(Duration::from_secs(1));
                    let _ = rustix::process::kill_process(own, rustix::process::Signal::CONT);
                    sys::leave(0);
                }
                let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
                true
            })
        }),
        outlive("renamed-daemon", "leave one that goes by another name", |_| {
            stay(|| rustix::thread::set_name(c"kworker/0:1").is_ok())
        }),
        outlive("running-daemon", "leave one that forks again and again and ends", |_| {
            stay(|| {
                let until = Instant::now() + LIFE;
                while Instant::now() < until && !is_over(5) {
                    if let Ok(Forked::Parent(..)) = sys::fork() {
                        sys::leave(0);
                    }
                }
                true
            })
        }),
        outlive("herd-of-daemons", "leave sixteen of them", |_| {
            for _ in 0..15 {
                stay(|| rustix::process::setsid().is_ok())?;
            }
            stay(|| true)
        }),
        new(
            "uncharged-children",
            "let children compute and do not wait for them",
            "CPU time of the cgroup",
            |_| spend(8, false),
        )
        .judge(Judge::Charge)
        .at(Level::A)
        .control(Control::Without(&[Wall::Group])),
        new("uncharged-orphans", "let orphans of orphans compute", "CPU time of the cgroup", |_| {
            spend(8, true)
        })
        .judge(Judge::Charge)
        .at(Level::A)
        .control(Control::Without(&[Wall::Group])),
        new("ponder", "compute while the opponent is to move", "freezer of the cgroup", |_| ponder())
            .judge(Judge::Ponder)
            .at(Level::A)
            .control(Control::Without(&[Wall::Group])),
        new(
            "flood-output",
            "write 8 MB to standard output",
            "bounded reading, and the end by the clock",
            |_| flood(&mut io::stdout()),
        )
        .judge(Judge::Flood),
        new(
            "flood-errors",
            "write 8 MB to standard error",
            "bounded reading, and the end by the clock",
            |_| flood(&mut io::stderr()),
        )
        .judge(Judge::Flood),
    ]
}

/// Starts many sleeping children. Each asks `fails`.
fn bomb(fails: fn() -> bool) -> AttackTry {
    let (wait, go) = rustix::pipe::pipe()?;
    for number in 0..MANY {
        match sys::fork() {
            Ok(Forked::Child) => {
                drop(go);
                if !fails() {
                    let _ = rustix::io::read(&wait, &mut [0_u8; 1]);
                }
                sys::leave(0)
            }
            Ok(Forked::Parent(..)) => {}
            Err(error) => return held(format!("after {number}: {error}")),
        }
    }
    Ok(format!("{MANY} processes"))
}

/// Many processes, each a child of the one before.
fn line() -> AttackTry {
    let (ready, tell) = rustix::pipe::pipe()?;
    for number in 0..MANY {
        match sys::fork() {
            Ok(Forked::Child) => {
                let _ = rustix::io::write(&tell, b"!");
            }
            Ok(Forked::Parent(..)) if number == 0 => break,
            Ok(Forked::Parent(child, _)) => {
                drop((ready, tell));
                let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
                sys::leave(0);
            }
            Err(_) => sys::leave(0),
        }
        if number + 1 == MANY {
            sys::leave(0);
        }
    }
    drop(tell);
    let mut done = 0;
    while rustix::io::read(&ready, &mut [0_u8; 1]) == Ok(1) {
        done += 1;
    }
    if done >= MANY - 1 { Ok(format!("{done} generations")) } else { held(format!("{done} generations")) }
}

/// Leaves a process behind, transformed by `how`, which holds our output open.
fn stay(how: fn() -> bool) -> AttackTry {
    if let Forked::Child = sys::fork()? {
        if how() {
            is_over(LIFE.as_millis() as i64);
        }
        sys::leave(0);
    }
    Ok("one is left".into())
}

/// Whether the input has closed within this many milliseconds: a survivor need not be watched longer.
fn is_over(patience: i64) -> bool {
    let patience = rustix::time::Timespec { tv_sec: patience / 1000, tv_nsec: patience % 1000 * 1_000_000 };
    let input = rustix::stdio::stdin();
    poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&patience)).is_ok_and(|ready| ready > 0)
}

/// Uses 40 ms of CPU time in each of `count` children nobody waits for; reports how much.
fn spend(count: usize, orphans: bool) -> AttackTry {
    let (ready, tell) = rustix::pipe::pipe()?;
    for _ in 0..count {
        if let Forked::Child = sys::fork()? {
            if orphans && let Forked::Parent(..) = sys::fork()? {
                sys::leave(0);
            }
            drop(ready);
            let until = cpu() + Duration::from_millis(40);
            while cpu() < until {
                std::hint::black_box(0);
            }
            let _ = rustix::io::write(&tell, b"!");
            sys::leave(0);
        }
    }
    drop(tell);
    let mut done = 0;
    while rustix::io::read(&ready, &mut [0_u8; 1]) == Ok(1) {
        done += 1;
    }
    Ok(format!("{} {}", done * 40, cpu().as_millis()))
}

/// CPU time of this process.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reports that it has answered, computes until the next question, and reports how long, in milliseconds.
fn ponder() -> AttackTry {
    let mut out = io::stdout();
    writeln!(out, "answered")?;
    out.flush()?;
    let asked = std::thread::spawn(|| io::stdin().read(&mut [0]).unwrap_or(0));
    let begun = (cpu(), Instant::now());
    while !asked.is_finished() && begun.1.elapsed() < Duration::from_secs(20) {
        std::hint::black_box(0);
    }
    Ok((cpu() - begun.0).as_millis().to_string())
}

fn flood(to: &mut dyn io::Write) -> AttackTry {
    let block = vec![b'x'; 64 << 10];
    for _ in 0..128 {
        to.write_all(&block)?;
    }
    Ok("8 MB written".into())
}
