//! What is left of bots: nothing, after a match, after very many, and after agon was killed outright. These are the short
//! forms; `cargo xtask long walls` sets the numbers. Without a sandbox on this machine the tests say so and pass.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{WAITER, command, err, folder, good, json, number, out, write_program as write};
use agon_sandbox::Level;
use rustix::process::{Pid, Signal};

const PATIENCE: Duration = Duration::from_secs(60);
/// For what takes a moment.
const SOON: Duration = Duration::from_secs(10);

fn level() -> Level {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > Level::B {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
    }
    found.level
}

/// Processes with this mark in their command line.
fn running(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(mark.len()).any(|part| part == mark.as_bytes())
    };
    pids.filter(|pid| *pid != own).filter(has).collect()
}

/// Waits until something holds, or its time is over.
fn await_that(patience: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() && begun.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many are left after what dies has had time to.
fn left(mark: &str, patience: Duration) -> usize {
    await_that(patience, || running(mark).is_empty());
    running(mark).len()
}

/// Every way to hide combined with every way to live on.
fn breeders(mark: &str) -> Vec<String> {
    let hides = ["", "setsid ", "env -i ", "env -i setsid ", "nohup ", "setsid -f ", "env -i nohup setsid "];
    let lives = [
        format!("sleep {mark}"),
        format!("sh -c 'trap \"\" TERM HUP INT; while true; do sleep {mark}; done'"),
        format!("sh -c '(sleep {mark} &) ; (sh -c \"sleep {mark}\" &)'"),
        format!("sh -c 'kill -STOP $$; : {mark}'"),
        format!("sh -c 'n=0; while [ $n -lt 5 ]; do sleep {mark} & n=$((n+1)); done; wait'"),
        // One that becomes another process every moment.
        format!(
            "sh -c 'echo \"sleep 0.05; exec sh /tmp/chain {mark}\" > /tmp/chain; exec sh /tmp/chain {mark}'"
        ),
    ];
    let all = hides.iter().flat_map(|hide| lives.iter().map(move |live| format!("{hide}{live}")));
    all.map(|line| format!("{line} </dev/null >/dev/null 2>&1 &")).take(38).collect()
}

/// Has every breeder play a match, and then run while agon is killed, `kills` times. Returns the number of processes left
/// after each.
fn breed(at: &Path, without: &str, breeders: &[String], kills: usize, mark: &str) -> (usize, usize) {
    let (mut after_match, mut after_kill) = (0, 0);
    let end = |left: usize| {
        for pid in running(mark) {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
        left
    };
    for (number, breeder) in breeders.iter().enumerate() {
        let bot = format!("bot-{number}");
        write(at, &format!("{bot}/agon.toml"), "run = './bot'");
        write(at, &format!("{bot}/bot"), &WAITER.replace("#!/bin/sh\n", &format!("#!/bin/sh\n{breeder}\n")));
        let words =
            ["play", "cultist-wars", &bot, "builtin:idle", "--no-timeouts", "--no-replay", "--sandbox", "on"];
        let mut agon = command(at, &words);
        agon.env("AGON_SANDBOX_WITHOUT", without);
        let played = agon.output().expect("agon starts");
        assert!(played.status.success(), "{breeder}: {}", err(&played));
        after_match +=
            end(left(mark, Duration::from_secs(if without.contains("namespaces") { 1 } else { 10 })));
        write(
            at,
            &format!("{bot}/bot"),
            &format!("#!/bin/sh\n{breeder}\nread -r nothing; exec sleep {mark}\n"),
        );
        for kill in 0..kills {
            let mut agon = command(at, &words);
            agon.env("AGON_SANDBOX_WITHOUT", without).stdout(Stdio::null()).stderr(Stdio::null());
            let mut agon = agon.spawn().expect("agon starts");
            let begun = Instant::now();
            while running(mark).is_empty() {
                assert!(begun.elapsed() < PATIENCE, "{breeder}: it breeds");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(kill as u64 * 7));
            agon.kill().expect("it runs");
            agon.wait().expect("it ended");
            after_kill +=
                end(left(mark, Duration::from_secs(if without.contains("namespaces") { 1 } else { 10 })));
        }
    }
    (after_match, after_kill)
}

#[test]
fn nothing_of_bots_that_breed_and_hide_outlives_a_match_or_agon() {
    let level = level();
    if level > Level::B {
        return;
    }
    let (bots, kills) = (number("AGON_BREEDERS", 4), number("AGON_KILLS", 1));
    let at = folder();
    let mark = format!("{}.{}", 900_000 + std::process::id() % 90_000, 7);
    let mut all = breeders(&mark);
    assert_eq!(all.len(), 38);
    if bots < all.len() {
        all = all.into_iter().step_by(38 / bots).take(bots).collect();
    }
    for (name, without) in [("A", ""), ("B", "cgroup"), ("C", "namespaces,cgroup")] {
        if name == "A" && level != Level::A {
            println!("skipped: level {level} here");
            continue;
        }
        let (after_match, after_kill) = breed(at.path(), without, &all, kills, &mark);
        println!(
            "level {name}: {} bots; left after their matches: {after_match}; after {} kills of agon: {after_kill}",
            all.len(),
            all.len() * kills
        );
        // Without namespaces, survivors are only counted and printed.
        assert!(name == "C" || after_match + after_kill == 0, "level {name}");
    }
}

/// Two native bots that wait: `AGON_NATIVE_BOT`, or compiled here if there is a compiler.
fn native(at: &Path) -> Option<()> {
    const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agon-contest/benches/waiter.c");
    let built = std::env::var_os("AGON_NATIVE_BOT");
    if built.is_none() && !agon_bot::tools::is_installed("gcc") {
        println!("skipped: gcc is not installed");
        return None;
    }
    for bot in ["one", "two"] {
        write(at, &format!("{bot}/agon.toml"), "run = './bot'");
        let place = at.join(bot).join("bot");
        if let Some(built) = &built {
            std::fs::copy(built, place).expect("a copy");
        } else {
            let made = Command::new("gcc").args(["-O1", SOURCE, "-o"]).arg(place).status();
            assert!(made.expect("gcc").success());
        }
    }
    Some(())
}

/// Cgroups made by this process's sandboxes, in the hierarchies where they live.
fn groups() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(std::path::PathBuf::from("/sys/fs/cgroup"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && depth < 12 {
                if entry.file_name().to_string_lossy().starts_with("agon-") {
                    found.insert(entry.path().display().to_string());
                }
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// Those of one agon, by their names.
fn groups_of(claim: Option<&str>) -> usize {
    let Some(claim) = claim else { return 0 };
    let own = format!("/{claim}");
    groups().iter().filter(|group| group.contains(&own)).count()
}

/// The spawner of an agon that runs, and how the names of its cgroups begin.
fn spawner_of(agon: u32) -> Option<(u32, String)> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).find_map(|pid| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
        let words = read("cmdline")?;
        let mut words = words.split('\0').skip(1);
        let is_one = words.next() == Some("__sandbox") && words.next() == Some("spawner");
        let claim = words.next().filter(|_| is_one)?;
        let is_its = read("status")?
            .lines()
            .any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == agon.to_string()));
        is_its.then(|| (pid, claim.to_owned()))
    })
}

/// Namespaces of the whole machine, where others come and go.
fn namespaces() -> usize {
    let kinds = ["net", "mnt", "pid", "user", "ipc", "uts", "cgroup"];
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let links = processes.flat_map(|entry| kinds.map(|kind| entry.path().join("ns").join(kind)));
    links.filter_map(|link| std::fs::read_link(link).ok()).collect::<BTreeSet<_>>().len()
}

fn entries(folder: impl AsRef<Path>) -> usize {
    std::fs::read_dir(folder).map_or(0, |entries| entries.count())
}

fn mounts() -> usize {
    std::fs::read_to_string("/proc/self/mountinfo").expect("mounts").lines().count()
}

#[test]
fn very_many_matches_leave_nothing_behind() {
    let at = folder();
    if level() > Level::B || native(at.path()).is_none() {
        return;
    }
    let many = number("AGON_MATCHES", 60);
    let matches = many.to_string();
    let own = at.path().join("tmp");
    std::fs::create_dir(&own).expect("a folder");
    let before = (mounts(), namespaces());
    let words = ["gauntlet", "cultist-wars", "one", "two", "-n", &matches, "-j", "2", "--sandbox", "on"];
    let words = [&words[..], &["--journal", "j", "--replays", "none", "-q", "--json"]].concat();
    let mut agon = command(at.path(), &words);
    let begun = Instant::now();
    let said = at.path().join("said");
    let errors = std::fs::File::create(&said).expect("a file");
    agon.env("TMPDIR", &own).stdout(Stdio::piped()).stderr(errors);
    let mut agon = agon.spawn().expect("agon starts");
    // Open files of agon and its spawner, early and late.
    let (mut first, mut most) = (0, 0);
    let (pid, mut claim) = (agon.id(), None);
    while agon.try_wait().expect("asked").is_none() {
        let spawner = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let spawners =
            spawner.split_ascii_whitespace().map(|pid| entries(format!("/proc/{pid}/fd"))).sum::<usize>();
        let open = entries(format!("/proc/{pid}/fd")) + spawners;
        claim = claim.or_else(|| spawner_of(pid).map(|(_, claim)| claim));
        if begun.elapsed() < Duration::from_secs(5) {
            first = first.max(open);
        } else {
            most = most.max(open);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = agon.wait_with_output().expect("its output");
    let said = std::fs::read_to_string(&said).expect("what it said");
    assert!(done.status.success(), "{}: {said}{}", done.status, out(&done));
    let took = begun.elapsed().as_secs_f64();
    let path = at.path().display().to_string();
    // Its spawner notices a moment later that it has ended.
    let claim = Some(claim.expect("it had a spawner"));
    await_that(SOON, || groups_of(claim.as_deref()) == 0);
    let after = (mounts(), namespaces(), running(&path).len(), groups_of(claim.as_deref()), entries(&own));
    println!(
        "{matches} matches in {took:.0} s; mounts {} before, {} after; namespaces of the machine {} and {}; left of agon: \
         {} processes, {} cgroups, {} temporary folders; descriptors: at most {first} in the first 5 s, {most} later",
        before.0, after.0, before.1, after.1, after.2, after.3, after.4
    );
    assert_eq!((after.0, after.2, after.3, after.4), (before.0, 0, 0, 0));
    // What a match leaves open adds up; what varies is how many sandboxes are being ended.
    assert!(most < first + many / 2, "descriptors grow: {first}, then {most}");
    assert!(out(&done).contains("in a sandbox of level"), "{}", out(&done));
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a process");
    rustix::process::kill_process(pid, signal).expect("it is there");
}

#[test]
fn what_a_killed_agon_leaves_is_swept() {
    let (at, level) = (folder(), level());
    if level > Level::B || native(at.path()).is_none() {
        return;
    }
    let kills = number("AGON_MOMENTS", 3);
    let path = at.path().display().to_string();
    let said = at.path().join("said");
    let start = |journal: &str| {
        let words = ["gauntlet", "cultist-wars", "one", "two", "-n", "100000", "-j", "2", "--sandbox", "on"];
        let words = [&words[..], &["--replays", "none", "-q", "--journal", journal]].concat();
        // A file: waiting for the end of a pipe would be waiting for what is left.
        let errors = std::fs::File::create(&said).expect("a file");
        command(at.path(), &words).stdout(Stdio::null()).stderr(errors).spawn().expect("agon starts")
    };
    // One that had ended by itself would prove nothing.
    let kill = |mut agon: Child| {
        agon.kill().expect("killed");
        let status = agon.wait().expect("it is gone");
        let said = std::fs::read_to_string(&said).expect("what it said");
        assert_eq!(status.signal(), Some(9), "{status}: {said}");
    };
    let (mut chance, mut left_running, mut left_groups) = (u64::from(std::process::id()) * 2 + 1, 0, 0);
    for round in 0..kills {
        let agon = start(&format!("{round}.jsonl"));
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(50 + (chance >> 33) % 900));
        // It may not have one yet.
        let claim = spawner_of(agon.id()).map(|(_, claim)| claim);
        kill(agon);
        left_running += left(&path, SOON);
        // The spawner notices that its host is gone, and removes its groups.
        await_that(SOON, || groups_of(claim.as_deref()) == 0);
        left_groups += groups_of(claim.as_deref());
    }
    // With its spawner gone too, nobody is left to do that: the next start does.
    let agon = start("last.jsonl");
    let dead = agon.id();
    let mut spawner = None;
    await_that(SOON, || {
        spawner = spawner_of(dead);
        spawner.as_ref().is_some_and(|(_, claim)| level == Level::B || groups_of(Some(claim)) > 0)
    });
    let (spawner, claim) = spawner.expect("a spawner");
    signal(dead, Signal::STOP);
    signal(spawner, Signal::KILL);
    kill(agon);
    left_running += left(&path, SOON);
    let of_both = groups_of(Some(&claim));
    let words = ["play", "cultist-wars", "one", "two", "--no-replay", "--json", "--sandbox", "on"];
    good(command(at.path(), &words).output().expect("agon starts"));
    let unswept = groups_of(Some(&claim));
    println!(
        "{kills} kills: {left_running} processes left, {left_groups} cgroups left; one more with its spawner: {of_both} \
         cgroups left, after the next start {unswept}"
    );
    assert_eq!((left_running, left_groups, unswept), (0, 0, 0));
    assert!(level == Level::B || of_both > 0, "with nobody to remove them, they stay");
}

/// Memory that belongs to no single process, and daemons detached from their parents, count all the same.
#[test]
fn shared_memory_of_daemons_stays_within_the_limit() {
    if level() != Level::A || !agon_bot::tools::is_installed("python3") {
        return println!("skipped: nothing counts all processes together here, or no python3");
    }
    let at = folder();
    let takes = "import mmap, os
m = mmap.mmap(-1, 1 << 30)
for i in range(0, 1 << 30, 4096): m[i] = 1
";
    write(at.path(), "bot/takes.py", takes);
    write(at.path(), "bot/agon.toml", "run = './bot'\n[sandbox]\nmemory = 256\n");
    // The brackets keep `grep` from finding itself.
    let starts = "#!/bin/sh
P=$(command -v python3)
(env -i setsid -f $P takes.py </dev/null >/dev/null 2>&1)
sleep 1
while grep -qs 'takes[.]py' /proc/[0-9]*/cmdline; do sleep 0.1; done
";
    write(at.path(), "bot/bot", &WAITER.replace("#!/bin/sh\n", starts));
    let words = ["play", "cultist-wars", "bot", "builtin:idle", "--no-replay", "--json", "--no-timeouts"];
    let result =
        json(&command(at.path(), &[&words[..], &["--sandbox", "on"]].concat()).output().expect("agon"));
    let fault = result["seats"][0]["faults"][0]["message"].as_str().unwrap_or_default();
    assert!(fault.starts_with("out of memory, 256 MB"), "{result:#}");
    let peak = result["seats"][0]["time"]["memory_mib"].as_f64().expect("counted");
    assert!(peak <= 256.5, "{peak}");
}
