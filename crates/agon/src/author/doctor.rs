//! `agon doctor`: what this machine has, what it allows, and what to do about the rest.

use std::fs;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use agon_bot::tools::Tool;
use agon_bot::{Images, build, sys};
use agon_sandbox::{Level, Shortcoming};
use clap::Args;
use serde::Serialize;

use crate::author::json;
use crate::common::languages::{self, Answer};
use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str =
    "Exit code 0: matches can be played here (there may be warnings); 1: something stands in the way.

Examples:
  agon doctor
  agon doctor --json";

/// Options of `agon doctor`.
#[derive(Args, Debug)]
pub struct DoctorOptions {
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// The state of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum State {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Matches are played, but worse than they could be.
    Warning,
    /// Matches cannot be played.
    Bad,
}
use State::{Bad, Good, Note, Warning};

/// One thing that was examined.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DoctorFinding"))]
pub(crate) struct Finding {
    group: &'static str,
    what: String,
    state: State,
    seen: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// Runs `agon doctor`.
pub fn run(options: &DoctorOptions) -> Done {
    let mut findings = Vec::new();
    let mut add = |group, what: &str, (state, seen, fix): Seen| {
        findings.push(Finding { group, what: what.to_owned(), state, seen, fix });
    };
    let languages = languages();
    for (what, seen) in languages {
        add("languages", what, seen);
    }
    add("machine", "CPUs", cpus());
    add("machine", "load", load());
    add("machine", "CPU governor", governor());
    add("machine", "clock", clock());
    add("machine", "waking up", waking());
    add("machine", "memory", memory());
    add("machine", "swap", swap());
    add("limits", "open files", open_files());
    add("limits", "temporary folder", folder(&std::env::temp_dir(), "TMPDIR"));
    add("limits", "cache", folder(&build::cache(), "AGON_CACHE"));
    add("limits", "images", images());
    add("limits", "ports", port());
    add("containment", "leftovers", die_with_parent());
    add("containment", "busy machine", counters());
    add("containment", "CPU pinning", pinning());
    if let Ok(program) = std::env::current_exe() {
        let found = agon_sandbox::probe(&program);
        for (what, seen) in sandbox(&found) {
            add("containment", what, seen);
        }
        for (what, seen) in measured(found.level) {
            add("measured", what, seen);
        }
    }
    let bad = findings.iter().any(|finding| finding.state == Bad);
    let mut out = io::stdout().lock();
    if options.json {
        common::print_json(&mut out, &json::Doctor { program: agon_replay::data::PROGRAM, findings })?;
        return if bad { Err(Failure::Check) } else { Ok(()) };
    }
    let screen = screen::output();
    let mut group = "";
    for finding in &findings {
        if finding.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            group = finding.group;
            writeln!(out, "{gap}{}", screen.strong(group))?;
        }
        let sign = match finding.state {
            Good => screen.good("✓"),
            Note => screen.dim("·"),
            Warning => screen.strong("!"),
            Bad => screen.bad("✗"),
        };
        writeln!(out, "{sign} {:<20} {}", finding.what, screen::harmless(&finding.seen))?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "  {:<20} {}", "", screen.dim(&format!("-> {fix}")))?;
        }
    }
    if bad { Err(Failure::Check) } else { Ok(()) }
}

/// A state, what was found, and what to do.
type Seen = (State, String, Option<String>);

fn good(seen: impl Into<String>) -> Seen {
    (Good, seen.into(), None)
}

fn with(state: State, seen: impl Into<String>, fix: &str) -> Seen {
    (state, seen.into(), Some(fix.to_owned()))
}

fn file(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn languages() -> Vec<(&'static str, Seen)> {
    let told = |(tool, answer): (&'static Tool, Answer)| {
        let seen = match answer {
            Answer::Version(version) => good(format!("{}: {version}", tool.program)),
            Answer::Fails(why) => with(
                Warning,
                format!("{} is installed, but does not run: {why}", tool.program),
                &format!(
                    "`{} {}` says more; {}",
                    tool.program,
                    tool.version,
                    match tool.program {
                        "rustc" | "cargo" => "where it is rustup's: rustup default stable",
                        _ => "install it again, or take it off the PATH",
                    }
                ),
            ),
            Answer::Missing => with(
                Note,
                format!("{} is not installed", tool.program),
                &format!("apt install {}, if your bots need it", tool.package),
            ),
        };
        (tool.language, seen)
    };
    languages::ask().into_iter().map(told).collect()
}

fn images() -> Seen {
    let images = Images::own();
    let all = images.list();
    let disk = all.iter().filter_map(|(image, _)| image.size().ok()).map(|(_, bytes)| bytes).sum::<u64>();
    let old = all.iter().filter(|(_, used)| !used).count();
    let seen = match all.len() {
        0 => "none yet; one is made when a stranger's bot first needs it".to_owned(),
        1 => format!("1 for strangers' bots, {} MB", disk >> 20),
        count => format!("{count} for strangers' bots, {} MB", disk >> 20),
    };
    match old {
        0 => (Note, seen, None),
        _ => with(Note, format!("{seen}; {old} old"), "agon image rm --old"),
    }
}

fn cpus() -> Seen {
    let own = sys::cpus().len();
    let all = std::fs::read_dir("/sys/devices/system/cpu").into_iter().flatten().flatten();
    let all = all.filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.strip_prefix("cpu")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    });
    let all = all.count().max(own);
    match own {
        1 => with(
            Warning,
            "1 CPU: bots that think at the same time disturb each other",
            "play series with -j 1",
        ),
        _ if own < all => {
            (Note, format!("{own} of {all} CPUs may be used (taskset, a container, or cgroups)"), None)
        }
        _ => good(format!("{own} CPUs")),
    }
}

fn load() -> Seen {
    let text = file("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let cpus = sys::cpus().len() as f64;
    match load {
        load if load > cpus => with(
            Warning,
            format!("{load:.1}, more than there are CPUs"),
            "matches may have to be played again: stop other programs, or play fewer at once (-j)",
        ),
        load if load > cpus / 2.0 => (Note, format!("{load:.1} on {cpus} CPUs"), None),
        load => good(format!("{load:.1} on {cpus} CPUs")),
    }
}

fn governor() -> Seen {
    let place = format!("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", sys::cpus()[0]);
    match file(place).as_deref() {
        None => (Note, "not reported (a virtual machine, or fixed frequency)".to_owned(), None),
        Some("performance") => good("performance"),
        Some(other) => with(
            Warning,
            format!("{other}: the CPU may be slow when a bot starts to think"),
            "for measurements: sudo cpupower frequency-set -g performance",
        ),
    }
}

fn clock() -> Seen {
    let source = file("/sys/devices/system/clocksource/clocksource0/current_clocksource").unwrap_or_default();
    let began = Instant::now();
    for _ in 0..1_000 {
        std::hint::black_box(Instant::now());
    }
    let each = began.elapsed().as_nanos() / 1_000;
    match each {
        0..=500 => good(format!("{source}, {each} ns to read")),
        _ => with(
            Warning,
            format!("{source}, {each} ns to read, which is slow"),
            "make the kernel use tsc or kvm-clock",
        ),
    }
}

/// How late this process wakes from sleeps of 2 ms.
fn waking() -> Seen {
    let mut late: Vec<Duration> = (0..50)
        .map(|_| {
            let began = Instant::now();
            std::thread::sleep(Duration::from_millis(2));
            began.elapsed().saturating_sub(Duration::from_millis(2))
        })
        .collect();
    late.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (median, worst) = (ms(late[25]), ms(late[49]));
    let seen = format!("{median:.2} ms late, at most {worst:.1} ms");
    match worst {
        worst if worst > 5.0 => with(
            Warning,
            seen,
            "this machine is busy, or a guest on a busy host; matches that suffer are void and played again",
        ),
        _ => good(seen),
    }
}

fn memory() -> Seen {
    let all = sys::machine_memory() >> 20;
    let text = file("/proc/meminfo").unwrap_or_default();
    let free = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.trim().split(' ').next()?.parse::<u64>().ok());
    let free = free.unwrap_or(0) >> 10;
    match free {
        free if free < 512 => with(Warning, format!("{free} of {all} MiB are free"), "end other programs"),
        free => good(format!("{free} of {all} MiB are free")),
    }
}

fn swap() -> Seen {
    let text = file("/proc/swaps").unwrap_or_default();
    let used: u64 =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok()).sum();
    match (text.lines().count() > 1, used >> 10) {
        (false, _) => good("none"),
        (true, 0) => good("there is some, none in use"),
        (true, used) => with(
            Warning,
            format!("{used} MiB in use: a bot whose memory was swapped out is late"),
            "free memory, or for measurements: sudo swapoff -a",
        ),
    }
}

fn open_files() -> Seen {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit {
        Some(limit) if limit < 256 => with(Warning, format!("at most {limit}"), "ulimit -n 4096"),
        Some(limit) => good(format!("at most {limit}")),
        None => good("no limit"),
    }
}

fn folder(path: &Path, variable: &str) -> Seen {
    let test = path.join(format!("agon-doctor-{}", std::process::id()));
    let written =
        fs::create_dir_all(path).and_then(|()| fs::write(&test, "x")).and_then(|()| fs::remove_file(&test));
    let shown = path.display();
    match written {
        Ok(()) => good(format!("{shown}")),
        Err(error) => with(Bad, format!("{shown}: {error}"), &format!("set {variable} to a writable folder")),
    }
}

fn port() -> Seen {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(_) => good("local ports can be opened: agon watch works"),
        Err(error) => with(
            Warning,
            format!("no local port can be opened: {error}"),
            "agon watch needs the loopback network",
        ),
    }
}

fn die_with_parent() -> Seen {
    match rustix::process::child_subreaper() {
        Ok(_) => good("none: bots and all that they start end with their match, and with agon"),
        Err(error) => with(Warning, format!("orphans cannot be adopted: {error}"), "use Linux 3.4 or later"),
    }
}

fn counters() -> Seen {
    match sys::Counters::own().and_then(|counters| counters.read()) {
        Some(_) => good("the time that a bot waits for a CPU is measured and not charged"),
        None => with(
            Warning,
            "this kernel does not count how long a process waits for a CPU",
            "use a kernel with CONFIG_SCHED_INFO; until then run nothing else beside matches",
        ),
    }
}

fn pinning() -> Seen {
    let own = sys::cpus();
    let set = std::thread::spawn(move || {
        sys::stay_on(&own[..1]);
        sys::cpus() == own[..1]
    });
    match set.join() {
        Ok(true) => good("bots stay on the CPUs they are given"),
        _ => with(
            Warning,
            "programs cannot be pinned to a CPU here",
            "allow sched_setaffinity in the container's profile",
        ),
    }
}

/// How well a sandbox would contain a bot here, found out by making one; and what the next level needs.
fn sandbox(found: &agon_sandbox::Found) -> Vec<(&'static str, Seen)> {
    let seen = format!("level {}: {}", found.level, found.level.meaning());
    let state = if found.level == Level::A { Good } else { Note };
    let mut all = vec![("sandbox", (state, seen, None))];
    let lacks = |missing: &Shortcoming| {
        with(Note, format!("{} is missing: {}", missing.what, missing.why), &missing.fix)
    };
    all.extend(found.missing.iter().map(|missing| ("sandbox", lacks(missing))));
    if !found.own_users && found.level < Level::D {
        let seen = "all bots run as your user: only namespaces keep them apart".to_owned();
        all.push(("sandbox", with(Note, seen, "run agon as root, and each bot gets a user of its own")));
    }
    all
}

/// What a match measures of its bots here, and what nobody measures.
fn measured(level: Level) -> [(&'static str, Seen); 4] {
    let inside = match level {
        Level::A => good("counted by the kernel, for all processes of a bot together"),
        _ => with(
            Note,
            "sampled: processes that begin and end between two looks are missed; results say `CPU sampled`",
            "level A counts it; the lines above say what it needs",
        ),
    };
    let memory = match level {
        Level::A => good("limited and counted, for all processes of a bot together"),
        Level::B | Level::C => (Note, "limited for each process of a bot, and not counted".to_owned(), None),
        Level::D => (Note, "neither limited nor counted".to_owned(), None),
    };
    let own = "sampled, and memory is not limited: bots with your own rights (--sandbox off) are trusted";
    let never = "how fast the CPU ran: its frequency, caches, and who else was on the core or the host";
    [
        ("CPU time", inside),
        ("memory of bots", memory),
        ("outside of it", (Note, own.to_owned(), None)),
        ("not measured", (Note, never.to_owned(), None)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_follows_from_the_level() {
        for level in [Level::A, Level::B, Level::C, Level::D] {
            let [(_, cpu), (_, memory), (_, outside), (_, never)] = measured(level);
            assert_eq!(cpu.1.starts_with("counted by the kernel"), level == Level::A, "{level}: {}", cpu.1);
            assert_eq!(cpu.2.is_some(), level != Level::A, "below A it says what A needs");
            assert_eq!(memory.1.starts_with("limited"), level < Level::D, "{level}: {}", memory.1);
            assert!(outside.1.contains("--sandbox off") && never.1.contains("frequency"));
        }
    }
}
