//! Players: programs of our own that answer a referee and try to gain time, or to cost another player some.
//!
//! Longer than 500 lines: the players are one list.
//!
//! A question is a line. The answer to it is two numbers: how many microseconds the player has used, by its own count, for
//! this answer and since its last one. Whatever computes enters that in a ledger, a pipe, piece by piece: so the count holds
//! for processes that come, go, are stopped, or are nobody's children. Who won is for the referee's side to say; every loop
//! here is bounded.

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, setsid, waitpid};
use rustix::thread::set_name;
use rustix::time::ClockId;

use crate::sys::{self, Arg, Forked};

/// This file.
pub const SOURCE: &str = include_str!("player.rs");

#[derive(Clone, Copy)]
pub struct AttackPlayer {
    pub name: &'static str,
    /// Before its first question.
    begin: fn(&Desk) -> io::Result<()>,
    /// When it is asked.
    think: fn(&Desk) -> io::Result<()>,
    /// When it has answered.
    after: fn(&Desk) -> io::Result<()>,
}

/// One piece of work, after which it is entered.
const PIECE: Duration = Duration::from_micros(500);
/// What an attack uses, or waits for, in one answer.
const TURN: Duration = Duration::from_millis(16);
/// How long anything goes on that nobody stops.
const LIFE: Duration = Duration::from_secs(5);
/// No question is longer.
const LONGEST_QUESTION: usize = 1 << 20;

fn nothing(_: &Desk) -> io::Result<()> {
    Ok(())
}

/// All of them.
pub fn all() -> Vec<AttackPlayer> {
    let new = |name| AttackPlayer { name, begin: nothing, think: |desk| desk.burn(PIECE), after: nothing };
    let thinks = |name, think| AttackPlayer { think, ..new(name) };
    let goes_on = |name, after| AttackPlayer { after, ..new(name) };
    vec![
        // The others, who do nothing wrong.
        thinks("sleeps", |_| {
            std::thread::sleep(TURN);
            Ok(())
        }),
        thinks("sleeps-long", |_| {
            std::thread::sleep(4 * TURN);
            Ok(())
        }),
        thinks("works-long", |desk| desk.burn(2 * TURN)),
        thinks("races", |desk| desk.burn_until(Instant::now() + 3 * TURN)),
        // Work in an answer by something that hardly anybody sees, while what is seen waits for a CPU.
        thinks("supervisors", |desk| beside(desk, || short_lived(desk))),
        thinks("sharing-children", |desk| {
            beside(desk, || {
                (0..3).try_for_each(|_| {
                    let child = sys::start_sharing(|| {
                        let _ = desk.burn(PIECE);
                        0
                    })?;
                    end_of(child)
                })
            })
        }),
        thinks("daemons", |desk| {
            // Each child leaves a grandchild and ends at once: nobody's child computes.
            beside(desk, || (0..3).try_for_each(|_| until_all_are_gone(|| leave_behind(|| desk.burn(PIECE)))))
        }),
        thinks("heirs", |desk| {
            // Each computes a little and leaves the rest to its child.
            beside(desk, || {
                until_all_are_gone(|| {
                    for _ in 0..3 {
                        desk.burn(PIECE)?;
                        if let Forked::Parent(..) = sys::fork()? {
                            sys::leave(0);
                        }
                    }
                    Ok(())
                })
            })
        }),
        thinks("own-sessions", |desk| {
            beside(desk, || {
                setsid()?;
                short_lived(desk)
            })
        }),
        thinks("low-priority", |desk| {
            // What is seen goes to the end of the queue, as far as it may.
            let lowest = &mut [Arg::Int(0), Arg::Int(0), Arg::Int(19)];
            let _ = sys::call(libc::SYS_setpriority, lowest);
            beside(desk, || short_lived(desk))
        }),
        thinks("page-faults", |desk| {
            in_children(desk, || sys::occupy(2 << 20, 4096, libc::MAP_PRIVATE, None))
        }),
        thinks("disk", |desk| {
            in_children(desk, || {
                let file = Path::new("/tmp").join(std::process::id().to_string());
                std::fs::write(&file, vec![1; 256 << 10])?;
                std::fs::File::open(&file)?.sync_all()?;
                std::fs::remove_file(&file)
            })
        }),
        thinks("kernel", |desk| {
            in_children(desk, || {
                let before = cpu();
                while cpu() - before < PIECE {
                    let _ = std::fs::metadata("/proc/self/maps");
                }
                Ok(())
            })
        }),
        // Waiting for oneself.
        thinks("sleep", |desk| desk.waits(|| std::thread::sleep(TURN))),
        thinks("own-pipe", |desk| {
            let (from, to) = rustix::pipe::pipe()?;
            let child = start(|| {
                std::thread::sleep(TURN);
                write(&to, b"!")?;
                Ok(())
            })?;
            desk.waits(|| {
                let _ = read(&from, &mut [0_u8; 1]);
            })?;
            end_of(child)
        }),
        thinks("full-pipe", |desk| {
            let (from, to) = rustix::pipe::pipe()?;
            let child = start(|| {
                std::thread::sleep(TURN);
                let mut taken = 0;
                while taken < 128 << 10 {
                    taken += read(&from, &mut [0_u8; 4096])?;
                }
                Ok(())
            })?;
            desk.waits(|| {
                let mut given = 0;
                while let Ok(count @ 1..) = write(&to, &[1_u8; 4096]) {
                    given += count;
                    if given >= 128 << 10 {
                        break;
                    }
                }
            })?;
            end_of(child)
        }),
        thinks("stopped-by-child", |desk| {
            let own = getpid();
            let child = start(|| {
                kill_process(own, Signal::STOP)?;
                std::thread::sleep(TURN);
                kill_process(own, Signal::CONT)?;
                Ok(())
            })?;
            desk.waits(|| drop(end_of(child)))
        }),
        thinks("behind-vfork", |desk| {
            desk.waits(|| {
                let child = sys::start_sharing(|| {
                    std::thread::sleep(TURN);
                    0
                });
                let _ = child.and_then(end_of);
            })
        }),
        // Work in the other's turn.
        goes_on("spins", |desk| {
            while !is_asked() && desk.is_young() {
                desk.burn(PIECE)?;
            }
            Ok(())
        }),
        AttackPlayer {
            begin: |desk| {
                let mine = Desk { to: desk.to.try_clone()?, ..Desk::new()? };
                std::thread::spawn(move || go_on(&mine));
                Ok(())
            },
            ..new("spinning-threads")
        },
        AttackPlayer {
            begin: |desk| leave_behind(|| children_of_children(desk)),
            ..new("short-lived-children")
        },
        AttackPlayer {
            begin: |desk| {
                set_name(c"java")?;
                leave_behind(|| {
                    set_name(c"java")?;
                    go_on(desk)
                })
            },
            ..new("called-java")
        },
        AttackPlayer {
            begin: |desk| {
                end_of(start(|| {
                    setsid()?;
                    leave_behind(|| go_on(desk))
                })?)
            },
            ..new("spinning-daemon")
        },
        AttackPlayer {
            begin: |desk| desk.keep(start(|| go_on(desk))?),
            think: |desk| {
                // Stopped in its own turn, where it would be seen.
                desk.tell_helper(Signal::STOP);
                desk.burn(PIECE)
            },
            after: |desk| {
                desk.tell_helper(Signal::CONT);
                Ok(())
            },
            ..new("woken-helper")
        },
        goes_on("after-the-beat", |desk| {
            std::thread::sleep(Duration::from_millis(6));
            while !is_asked() && desk.is_young() {
                desk.burn(PIECE)?;
            }
            Ok(())
        }),
        goes_on("before-the-beat", |desk| {
            // Until the other has been asked.
            std::thread::sleep(PIECE / 2);
            desk.burn(4 * PIECE)
        }),
        AttackPlayer {
            begin: |desk| {
                while !is_asked() && desk.is_young() {
                    desk.burn(PIECE)?;
                }
                Ok(())
            },
            ..new("head-start")
        },
        AttackPlayer {
            begin: |desk| desk.keep(start(|| children_of_children(desk))?),
            think: |desk| {
                desk.tell_helper(Signal::KILL);
                desk.burn(PIECE)
            },
            ..new("head-start-of-children")
        },
        // Taking the CPU from one who thinks at the same time.
        thinks("crowd-of-sessions", |desk| crowd(desk, || Ok(setsid().map(drop)?))),
        thinks("crowd-of-priorities", |desk| {
            crowd(desk, || {
                setsid()?;
                // Whatever of this is allowed.
                let _ = sys::call(libc::SYS_setpriority, &mut [Arg::Int(0), Arg::Int(0), Arg::Int(-20)]);
                let first = 1_u32.to_ne_bytes();
                for policy in [libc::SCHED_FIFO, libc::SCHED_RR, libc::SCHED_BATCH] {
                    let set = &mut [Arg::Int(0), Arg::Int(policy.into()), Arg::In(&first)];
                    let _ = sys::call(libc::SYS_sched_setscheduler, set);
                }
                let _ = sys::call(libc::SYS_ioprio_set, &mut [Arg::Int(1), Arg::Int(0), Arg::Int(1 << 13)]);
                let _ = std::fs::write("/proc/self/autogroup", "-20");
                Ok(())
            })
        }),
        thinks("crowd-of-sleepers", |desk| {
            // Who has just slept is served first.
            let until = Instant::now() + 3 * TURN;
            crowd_of(desk, || {
                setsid()?;
                while Instant::now() < until {
                    desk.burn(2 * PIECE)?;
                    std::thread::sleep(Duration::from_micros(50));
                }
                Ok(())
            })
        }),
        AttackPlayer {
            begin: |desk| {
                (0..24).try_for_each(|_| {
                    leave_behind(|| {
                        setsid()?;
                        children_of_children(desk)
                    })
                })
            },
            ..new("crowd-afterwards")
        },
        // Making it the machine's fault, or the other's.
        thinks("stops-itself", |desk| {
            desk.enter(Duration::from_micros(1))?;
            Ok(kill_process(getpid(), Signal::STOP)?)
        }),
        AttackPlayer {
            begin: |_| {
                std::thread::sleep(LIFE);
                Ok(())
            },
            ..new("does-not-read")
        },
    ]
}

/// Twelve processes at once that do this, and the player itself, which computes until they are done.
fn beside(desk: &Desk, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let children: Vec<Pid> = (0..12).map(|_| start(&act)).collect::<io::Result<_>>()?;
    let mut left = children;
    let until = Instant::now() + LIFE;
    while !left.is_empty() && Instant::now() < until {
        desk.burn(PIECE / 5)?;
        left.retain(|child| matches!(waitpid(Some(*child), WaitOptions::NOHANG), Ok(None)));
    }
    Ok(())
}

/// Has work of any kind done by children of children, who enter what it took.
fn in_children(desk: &Desk, work: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let enter = || {
        let before = cpu();
        work()?;
        desk.enter(cpu() - before)
    };
    beside(desk, || (0..3).try_for_each(|_| end_of(start(enter)?)))
}

/// Three children, one after the other.
fn short_lived(desk: &Desk) -> io::Result<()> {
    (0..3).try_for_each(|_| end_of(start(|| desk.burn(PIECE))?))
}

/// The same without end.
fn children_of_children(desk: &Desk) -> io::Result<()> {
    while desk.is_young() {
        end_of(start(|| desk.burn(2 * PIECE))?)?;
    }
    Ok(())
}

fn go_on(desk: &Desk) -> io::Result<()> {
    while desk.is_young() {
        desk.burn(PIECE)?;
    }
    Ok(())
}

/// Twelve processes that prepare like this and then compute, with the player itself, for a while.
fn crowd(desk: &Desk, prepare: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let until = Instant::now() + 3 * TURN;
    crowd_of(desk, || {
        prepare()?;
        desk.burn_until(until)
    })
}

/// Twelve processes that do this while the player itself computes.
fn crowd_of(desk: &Desk, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let until = Instant::now() + 3 * TURN;
    let children: Vec<Pid> = (0..12).map(|_| start(&act)).collect::<io::Result<_>>()?;
    desk.burn_until(until)?;
    children.into_iter().try_for_each(end_of)
}

/// Starts a process that does this, and waits for it and all that it has started.
fn until_all_are_gone(act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let (closed, open) = rustix::pipe::pipe()?;
    let child = start(act)?;
    drop(open);
    end_of(child)?;
    read(&closed, &mut [0_u8; 1])?;
    Ok(())
}

/// Starts a process that does this and ends.
fn start(act: impl Fn() -> io::Result<()>) -> io::Result<Pid> {
    match sys::fork()? {
        Forked::Parent(child, _) => Ok(child),
        Forked::Child => sys::leave(i32::from(act().is_err())),
    }
}

/// The same with nobody waiting for its end.
fn leave_behind(act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    start(act).map(drop)
}

fn end_of(child: Pid) -> io::Result<()> {
    waitpid(Some(child), WaitOptions::empty())?;
    Ok(())
}

/// CPU time of this thread; a process that was just forked has one thread and has used nothing.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Whether the next question is here.
fn is_asked() -> bool {
    let input = rustix::stdio::stdin();
    let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// What a player has before it: its questions, and the ledger in which all of its processes enter what they use.
struct Desk {
    from: OwnedFd,
    to: OwnedFd,
    born: Instant,
    helper: Cell<Option<Pid>>,
}

impl Desk {
    fn new() -> io::Result<Self> {
        // A process that is frozen, or one more than the ledger holds, must not make others wait.
        let (from, to) = pipe_with(PipeFlags::NONBLOCK)?;
        Ok(Self { from, to, born: Instant::now(), helper: Cell::new(None) })
    }

    fn is_young(&self) -> bool {
        self.born.elapsed() < LIFE
    }

    fn keep(&self, helper: Pid) -> io::Result<()> {
        self.helper.set(Some(helper));
        Ok(())
    }

    fn tell_helper(&self, signal: Signal) {
        let _ = self.helper.get().map(|helper| kill_process(helper, signal));
    }

    /// Uses that much CPU time.
    fn burn(&self, time: Duration) -> io::Result<()> {
        let end = cpu() + time;
        loop {
            let begun = cpu();
            let piece = end.saturating_sub(begun).min(PIECE);
            if piece.is_zero() {
                return Ok(());
            }
            while cpu() - begun < piece {
                std::hint::black_box(0);
            }
            self.enter(piece)?;
        }
    }

    fn burn_until(&self, until: Instant) -> io::Result<()> {
        while Instant::now() < until {
            self.burn(PIECE / 5)?;
        }
        Ok(())
    }

    /// Enters how long something took.
    fn waits(&self, act: impl FnOnce()) -> io::Result<()> {
        let begun = Instant::now();
        act();
        self.enter(begun.elapsed())
    }

    fn enter(&self, time: Duration) -> io::Result<()> {
        match write(&self.to, &(time.as_micros() as u64).to_ne_bytes()) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What was entered since this was last asked.
    fn take(&self) -> Duration {
        let (mut sum, mut entry) = (0, [0_u8; 8]);
        while read(&self.from, &mut entry) == Ok(entry.len()) {
            sum += u64::from_ne_bytes(entry);
        }
        Duration::from_micros(sum)
    }

    /// Reads a question; false when there are no more.
    fn is_asked(&self) -> bool {
        let (mut read_so_far, mut bytes) = (0, [0_u8; 4096]);
        while read_so_far < LONGEST_QUESTION {
            match read(rustix::stdio::stdin(), &mut bytes) {
                Ok(count @ 1..) if bytes[count - 1] == b'\n' => return true,
                Ok(count @ 1..) => read_so_far += count,
                _ => return false,
            }
        }
        false
    }
}

/// The life of a player.
pub fn live(name: &str) -> bool {
    let Some(player) = all().into_iter().find(|player| player.name == name) else { return false };
    let played = Desk::new().and_then(|desk| {
        (player.begin)(&desk)?;
        while desk.is_asked() {
            let since = desk.take();
            (player.think)(&desk)?;
            let answer = format!("{} {}\n", desk.take().as_micros(), since.as_micros());
            write(rustix::stdio::stdout(), answer.as_bytes())?;
            (player.after)(&desk)?;
        }
        Ok(())
    });
    if let Err(error) = &played {
        eprintln!("{error}");
    }
    played.is_ok()
}
