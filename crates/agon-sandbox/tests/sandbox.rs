//! Sandboxes as far as this machine allows them. If a level is unavailable, a line says so and the test passes.
//! Longer than 500 lines: each promise of a sandbox is one short test, and all start programs in the same way.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::Duration;

use agon_sandbox::{Confinement, Found, Launcher, Level, Means, Order, Sandbox, ShownPath, Wall, probe_with};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agon-sandbox");
const PATIENCE: Duration = Duration::from_secs(60);

fn launcher() -> (Launcher, Found) {
    let launcher = Launcher::start(Path::new(PROGRAM), Means::find()).expect("a spawner");
    let found = probe_with(&launcher, Path::new(PROGRAM));
    (launcher, found)
}

/// The same for a test that needs this level; says that it is skipped where the machine has only a weaker one.
fn launcher_at(level: Level, lacks: &str) -> Option<(Launcher, Found)> {
    let (launcher, found) = launcher();
    if found.level > level {
        println!("skipped: {lacks} here: {:?}", found.missing);
        return None;
    }
    Some((launcher, found))
}

/// Runs a shell command; returns its output, and how it ended.
fn shell(
    launcher: &Launcher,
    walls: &BTreeSet<Wall>,
    with: &Confinement,
    line: &str,
) -> (String, Option<i32>, Sandbox) {
    let sandbox = launcher.prepare(with, walls).expect("a sandbox");
    sandbox.ready().expect("it is built");
    let (mut output, theirs) = std::io::pipe().expect("a pipe");
    let input = File::open("/dev/null").expect("nothing");
    let order = Order { program: "sh".into(), arguments: vec!["-c".into(), line.into()], ..Order::default() };
    sandbox.run(&order, [input.as_fd(), theirs.as_fd(), theirs.as_fd()]).expect("it runs");
    drop(theirs);
    let exit = sandbox.wait(PATIENCE).map(|exit| exit.code);
    let mut text = String::new();
    if exit.is_some() {
        output.read_to_string(&mut text).expect("a text");
    }
    (text, exit, sandbox)
}

#[test]
fn the_level_is_found_by_doing() {
    let (_launcher, found) = launcher();
    assert_eq!(found.walls.contains(&Wall::Namespaces), found.level <= Level::B);
    assert!(found.level != Level::A || found.walls.contains(&Wall::Group));
    assert!(found.missing.iter().all(|missing| !missing.fix.is_empty()));
}

#[test]
fn a_program_sees_its_own_world() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hello"), "from outside").expect("a file");
    let bot = ShownPath { outside: folder.path().to_owned(), inside: "/bot".into() };
    let with = Confinement { readable: vec![bot], folder: "/bot".into(), ..Confinement::default() };
    let see = |line: &str| shell(&launcher, &found.walls, &with, line).0;
    assert_eq!(see("cat hello; pwd"), "from outside/bot\n");
    assert_eq!(see("id -u; id -g; hostname"), "1000\n1000\nbot\n");
    assert_eq!(see("echo / /bot/* /etc/* | tr ' ' '\\n' | grep -c shadow"), "0\n");
    let own = "HOME LANG OPENSSL_CONF PATH PWD TMPDIR\n";
    assert_eq!(see("env | cut -d= -f1 | grep -v -e ^_$ -e OLDPWD | sort | xargs"), own);
    assert_eq!(see("echo x > /bot/y; echo x > /y; echo x > /tmp/y && cat /tmp/y").lines().last(), Some("x"));
    assert!(!folder.path().join("y").exists());
    assert_eq!(see("ls /tmp"), "", "a fresh one each time");
    assert_eq!(
        see("ls / | grep -x usr; echo x > /var/tmp/y && cat /tmp/y; getent hosts bot"),
        "usr\nx\n127.0.0.1       localhost bot\n"
    );
    // The first process is the init, the second the shell. Nobody else is visible, and the init only to members of
    // group 0, from whom the kernel hides nobody.
    let processes = see("echo /proc/[0-9]*");
    assert!(["/proc/2\n", "/proc/1 /proc/2\n"].contains(&processes.as_str()), "{processes}");
    assert_eq!(see("ls /proc/self/fd | wc -l"), "4\n", "three and the folder that is listed");
}

#[test]
fn the_machine_is_as_large_as_the_limit_and_nobody_else_uses_it() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    let with = Confinement { memory: 96 << 20, ..Confinement::default() };
    let see = |line: &str| shell(&launcher, &found.walls, &with, line).0;
    // What the C library asks with `sysinfo`.
    let pages = (96 << 20) / rustix::param::page_size();
    assert_eq!(see("getconf _PHYS_PAGES; getconf _AVPHYS_PAGES"), format!("{pages}\n{pages}\n"));
    if see("ls -d /proc/meminfo") == "/proc/meminfo\n" {
        let told = "MemTotal: 98304 kB\nMemFree: 98304 kB\nMemAvailable: 98304 kB\n";
        assert_eq!(see("head -3 /proc/meminfo | tr -s ' '"), told);
        assert_eq!(see("cat /proc/loadavg"), "0.00 0.00 0.00 1/1 1\n");
        assert_eq!(see("grep -c ^cpu[0-9] /proc/stat"), see("grep -c ^processor /proc/cpuinfo"));
        // All else is empty, and is no way to the kernel's settings or to other processes.
        let rest = "cd /proc; for f in *; do [ -L $f ] || [ -d $f ] || [ ! -s $f ] || echo $f; done";
        assert_eq!(
            see(&format!("{rest}; find sys fs bus irq driver -mindepth 1 2>&1")),
            "loadavg\nmeminfo\nstat\n"
        );
        assert_eq!(see("wc -c < /proc/kallsyms; cat /proc/cmdline /proc/locks | wc -c"), "0\n0\n");
    } else {
        println!("skipped: this machine shows nothing but processes in /proc");
    }
    assert!(see("readlink /proc/self/fd/1").starts_with("pipe:"));
}

#[test]
fn shared_memory_is_the_sandboxes_own_and_bounded() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    let with = Confinement { disk: 1 << 20, ..Confinement::default() };
    let see = |line: &str| shell(&launcher, &found.walls, &with, line).0;
    let name = format!("agon-test-{}", std::process::id());
    assert_eq!(
        see(&format!("echo mine > /dev/shm/{name}; cat /dev/shm/{name}; ls /dev/shm")),
        format!("mine\n{name}\n")
    );
    assert!(!Path::new("/dev/shm").join(&name).exists(), "it is nobody else's");
    assert_eq!(see("ls /dev/shm"), "", "nor the next one's");
    let (full, _, sandbox) =
        shell(&launcher, &found.walls, &with, "head -c 2000000 /dev/zero > /dev/shm/x; wc -c < /dev/shm/x");
    assert!(full.ends_with("1048576\n") && sandbox.is_full(), "{full}");
}

#[test]
fn calls_are_recorded_and_answered_as_without_a_record() {
    let Some((launcher, found)) = launcher_at(Level::C, "no filter") else { return };
    let line = "uname -s; getconf _PHYS_PAGES; flock /tmp/x echo locked; unshare -r true; ls /usr | wc -l; echo $((6 * 7)) | cat";
    let see = || shell(&launcher, &found.walls, &Confinement::default(), line).0;
    let plain = see();
    let folder = tempfile::tempdir().expect("a folder");
    let mut records = Vec::new();
    for all in [false, true] {
        let file = folder.path().join(format!("calls-{all}"));
        agon_sandbox::record_calls(Some(agon_sandbox::CallRecord { file: file.clone(), all }));
        let told = see();
        agon_sandbox::record_calls(None);
        assert_eq!(told, plain, "recorded: {all}");
        records.push(agon_sandbox::recorded(&std::fs::read_to_string(&file).expect("a record")));
    }
    let has = |all: usize, name: &str, refused: Option<u32>| {
        records[all].iter().any(|call| call.name == name && call.refused == refused)
    };
    assert!(has(0, "flock", Some(0)) && has(0, "unshare", Some(libc_enosys())), "{:?}", records[0]);
    assert!(
        records[0].iter().all(|call| call.refused.is_some() || call.name == "sysinfo"),
        "{:?}",
        records[0]
    );
    assert!(
        has(1, "flock", Some(0)) && has(1, "uname", None) && has(1, "getdents64", None),
        "{:?}",
        records[1]
    );
    assert!(records[0].is_subset(&records[1]));
}

/// The error of a call that is not there.
fn libc_enosys() -> u32 {
    rustix::io::Errno::NOSYS.raw_os_error() as u32
}

#[test]
fn places_in_shared_memory_and_settings_are_shown_where_they_are() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hello"), "from outside").expect("a file");
    for inside in ["/dev/shm/bot", "/etc/fonts-of-a-bot/deep", "/tmp/bot", "/var/tmp/bot", "/var/lib/bot"] {
        let place = ShownPath { outside: folder.path().to_owned(), inside: inside.into() };
        let with = Confinement { readable: vec![place], folder: inside.into(), ..Confinement::default() };
        let see = format!("cat hello {inside}/hello; head -1 /etc/passwd");
        let (text, ..) = shell(&launcher, &found.walls, &with, &see);
        assert_eq!(text, "from outsidefrom outsideroot:x:0:0::/:/bin/false\n", "{inside}");
    }
}

#[test]
fn memory_and_processes_are_counted_and_said() {
    let Some((launcher, found)) = launcher_at(Level::A, "no cgroup") else { return };
    let with = Confinement { memory: 32 << 20, processes: 12, ..Confinement::default() };
    let (_, code, sandbox) =
        shell(&launcher, &found.walls, &with, "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo $x");
    let charge = sandbox.charge().expect("a cgroup");
    assert!(charge.killed > 0 && charge.peak <= 32 << 20, "{charge:?} {code:?}");
    drop(sandbox);
    let many = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 100 & done";
    let (_, _, sandbox) = shell(&launcher, &found.walls, &with, &format!("({many}) >/dev/null 2>&1"));
    sandbox.end().expect("nothing is left");
    // The next one starts with nothing charged.
    let (text, code, sandbox) = shell(&launcher, &found.walls, &with, "echo here");
    assert_eq!((text.as_str(), code), ("here\n", Some(0)));
    let next = sandbox.charge().expect("a cgroup");
    assert_eq!(next.killed, 0);
    // A figure known for one is known for all, even if the system cannot reset the memory peak.
    assert!(
        next.peak < charge.peak.max(1) && (next.peak > 0) == (charge.peak > 0),
        "{next:?}, {charge:?} before"
    );
}

/// Everything that a program does to its own folder stays above it, whatever names and tricks it uses.
#[test]
fn a_layered_folder_is_changed_for_the_program_alone() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    // Names that an option of a mount could not hold.
    let outside = tempfile::Builder::new().prefix("a,b:c\\d e").tempdir().expect("a folder");
    let folder = outside.path().join("bot");
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(folder.join(name).parent().expect("above")).expect("a folder");
        std::fs::write(folder.join(name), text).expect("a file");
    };
    for name in ["kept", "sub/kept", "sub/deep/gone", "agon-series/journal"] {
        write(name, name);
    }
    let mode = |name: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).expect("set");
    };
    mode("kept", 0o600);
    mode("sub", 0o700);
    let all = || {
        let bounds = agon_sandbox::Bounds { bytes: 1 << 20, entries: 100 };
        agon_sandbox::walk(File::open(&folder).expect("a folder"), bounds, true).expect("it is read")
    };
    let before = all();
    let with = Confinement {
        layered: vec![ShownPath { outside: folder.clone(), inside: "/bot".into() }],
        hidden: vec!["/bot/agon-series".into()],
        folder: "/bot".into(),
        disk: 1 << 20,
        ..Confinement::default()
    };
    let built = launcher.prepare(&with, &found.walls).and_then(|sandbox| sandbox.ready());
    match built {
        Err(refusal) if refusal.step == agon_sandbox::LAYER => {
            println!("skipped: no layers on this file system: {refusal}");
            return;
        }
        ready => ready.expect("it is built"),
    }
    let line = "ls | xargs; cat kept sub/kept; echo; ls agon-series; \
        for it in kept sub/kept; do stat -c '%u %g' $it; done; \
        echo mine > kept && chmod 777 kept && echo new > new && mkdir -p sub/made && echo a >> sub/kept \
        && touch -d 2001-01-01 sub/kept && mv sub/deep elsewhere && rm elsewhere/gone && ln kept linked \
        && ln -s /etc link && truncate -s 3 kept && ls | xargs; cat kept; echo; cat linked; echo; \
        rm -r elsewhere sub && mkdir sub && ls sub; \
        (exec 3<>new; echo over >&3; dd if=/dev/zero of=new bs=1k conv=notrunc count=2 2>/dev/null); wc -c < new";
    let (text, code, sandbox) = shell(&launcher, &found.walls, &with, line);
    let expected = "agon-series kept sub\nkeptsub/kept\n1000 1000\n1000 1000\n\
        agon-series elsewhere kept link linked new sub\nmin\nmin\n2048\n";
    assert_eq!((text.as_str(), code), (expected, Some(0)));
    let bounds = agon_sandbox::Bounds { bytes: 1 << 20, entries: 100 };
    let wrote = agon_sandbox::walk(sandbox.layer(0).expect("its folder"), bounds, true).expect("it is read");
    let wrote: Vec<_> = wrote.iter().map(|entry| entry.path.to_str().expect("a name")).collect();
    assert_eq!(wrote, ["kept", "link", "linked", "new", "sub"]);
    sandbox.end().expect("nothing is left");
    assert_eq!(all(), before, "content, rights and dates are as they were");
    // What it writes is bounded, and seen to be full; the next one begins anew.
    let (text, _, sandbox) = shell(
        &launcher,
        &found.walls,
        &with,
        "for it in a b c; do head -c 700000 /dev/zero > $it; done; cat kept",
    );
    assert!(text.contains("No space left") && text.ends_with("kept"), "{text}");
    assert!(sandbox.is_full());
    sandbox.end().expect("nothing is left");
    // Neither the layers nor what lies below them can be reached beside it.
    let (text, ..) = shell(&launcher, &found.walls, &with, "ls -a /bot | grep -c -e upper -e lower -e work");
    assert_eq!(text, "0\n");
}

/// Folders are read inside, where they count: too large ones would otherwise kill what reads them.
#[test]
fn copies_that_do_not_fit_into_memory_are_refused() {
    let (launcher, found) = launcher();
    if found.level > Level::B {
        return;
    }
    let outside = tempfile::tempdir().expect("a folder");
    let mut with = Confinement { memory: 64 << 20, ..Confinement::default() };
    let mut tries = |name: &str, size: usize| {
        let folder = outside.path().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("file"), vec![1; size]).expect("a file");
        with.copied.push(ShownPath { outside: folder, inside: format!("/{name}").into() });
        let sandbox = launcher.prepare(&with, &found.walls)?;
        let ready = sandbox.ready();
        sandbox.end().expect("nothing is left");
        ready
    };
    assert_eq!(tries("one", 14 << 20), Ok(()));
    assert_eq!(tries("two", 13 << 20), Ok(()));
    // Together with the others.
    let refusal = tries("three", 2 << 20).expect_err("29 MiB, which are there twice");
    assert_eq!(refusal.step, "the files to be shown");
    assert!(refusal.why.contains("three: file too large"), "{}", refusal.why);
}

#[test]
fn what_is_stopped_stands_and_can_be_ended() {
    let (launcher, found) = launcher();
    let sandbox = launcher.prepare(&Confinement::default(), &found.walls).expect("a sandbox");
    sandbox.ready().expect("it is built");
    let nothing = File::options().read(true).write(true).open("/dev/null").expect("nothing");
    let order = Order { program: "sleep".into(), arguments: vec!["1000".into()], ..Order::default() };
    sandbox.run(&order, [nothing.as_fd(); 3]).expect("it runs");
    if sandbox.freeze(true).is_err() {
        println!("skipped in part: nothing to stop it with");
    }
    assert!(!sandbox.is_over());
    sandbox.end().expect("nothing is left");
}

/// With a limit, its clock of CPU time would jump by milliseconds: bots plan their answers by it.
#[test]
fn a_program_reads_its_cpu_time_exactly() {
    let Some((launcher, found)) = launcher_at(Level::C, "no sandbox") else { return };
    let (text, exit, _sandbox) = shell(&launcher, &found.walls, &Confinement::default(), "ulimit -t");
    assert_eq!((text.as_str(), exit), ("unlimited\n", Some(0)));
    let builds = Confinement { cpu: Some(7), ..Confinement::default() };
    assert_eq!(shell(&launcher, &found.walls, &builds, "ulimit -t").0, "7\n");
}

/// All concurrent computation has stopped when `freeze` returns, uses nothing until it is resumed, and can be
/// killed while frozen.
#[test]
fn what_is_frozen_computes_nothing() {
    let Some((launcher, found)) = launcher_at(Level::A, "no cgroup") else { return };
    let sandbox = launcher.prepare(&Confinement::default(), &found.walls).expect("a sandbox");
    sandbox.ready().expect("it is built");
    let nothing = File::options().read(true).write(true).open("/dev/null").expect("nothing");
    let spin = "for i in 1 2 3; do (while :; do :; done) & done; while :; do :; done";
    let order = Order { program: "sh".into(), arguments: vec!["-c".into(), spin.into()], ..Order::default() };
    sandbox.run(&order, [nothing.as_fd(); 3]).expect("it runs");
    let used = || sandbox.charge().expect("a cgroup").cpu;
    let grows = |from: Duration| {
        let begun = std::time::Instant::now();
        while used() <= from {
            assert!(begun.elapsed() < PATIENCE, "it computes nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for _ in 0..5 {
        grows(used());
        sandbox.freeze(true).expect("a freezer");
        let frozen = used();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(used(), frozen, "it went on");
        sandbox.freeze(false).expect("a freezer");
        grows(frozen);
    }
    sandbox.freeze(true).expect("a freezer");
    sandbox.end().expect("nothing is left");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let (launcher, found) = launcher();
    if found.level == Level::D {
        println!("skipped: nothing holds a program here");
        return;
    }
    let sandbox = launcher.prepare(&Confinement::default(), &found.walls).expect("a sandbox");
    sandbox.ready().expect("it is built");
    let nothing = File::options().read(true).write(true).open("/dev/null").expect("nothing");
    let order = Order { program: "/bot/missing".into(), ..Order::default() };
    let refusal = sandbox.run(&order, [nothing.as_fd(); 3]).expect_err("it is not there");
    assert_eq!(refusal.step, "running /bot/missing");
    let place = ShownPath::same("/nonexistent/bot");
    let with = Confinement { readable: vec![place], ..Confinement::default() };
    if found.level <= Level::B {
        let refusal = launcher
            .prepare(&with, &found.walls)
            .and_then(|sandbox| sandbox.ready())
            .expect_err("nothing to show");
        assert!(refusal.to_string().contains("/nonexistent/bot"), "{refusal}");
    }
}

#[test]
fn a_killed_host_leaves_nothing_that_runs() {
    let (launcher, found) = launcher();
    drop(launcher);
    if found.level > Level::B {
        println!("skipped: no namespaces here: {:?}", found.missing);
        return;
    }
    // The host is a role of the test's program, which reports its sandbox's process.
    let mut host = std::process::Command::new(PROGRAM)
        .args(["__sandbox", "sleeper"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("a host");
    let mut line = String::new();
    let output = host.stdout.take().expect("its output");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a line");
    let pid: i32 = line.trim().parse().expect("a process");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).expect("it lives");
    host.kill().expect("killed");
    host.wait().expect("gone");
    let patience = rustix::time::Timespec { tv_sec: 60, tv_nsec: 0 };
    let mut waits = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut waits, Some(&patience)), Ok(1), "the sandbox outlived its host");
}

#[test]
fn an_ordinary_user_has_a_sandbox_too() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the other tests run as an ordinary user");
        return;
    }
    let folder = tempfile::Builder::new().prefix("agon-user-").tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("open");
    let program = folder.path().join("agon-sandbox");
    std::fs::copy(PROGRAM, &program).expect("a copy");
    let mut command = std::process::Command::new(&program);
    // A user that needs no account.
    std::os::unix::process::CommandExt::uid(
        std::os::unix::process::CommandExt::gid(&mut command, 60_123),
        60_123,
    );
    let output = command
        .args(["A", "signal-opponent", "append-to-journal", "private-memory", "daemon", "tcp", "mount"])
        .current_dir("/")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return println!("skipped: this root may not act as another user: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().last().unwrap_or_default();
    if !last.starts_with("Ok((A") && !last.starts_with("Ok((B") {
        println!("skipped: an ordinary user has no namespaces here: {last}");
        return;
    }
    assert!(text.lines().count() > 6 && !text.contains("BAD"), "{text}{errors}");
}

#[test]
fn names_that_anybody_can_bind_take_nothing_away() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    // Each name takes a descriptor, and 1,024 are what a program usually has.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("a limit");
    let bind = |number: u32| {
        let name = SocketAddr::from_abstract_name(format!("agon-slot-{number}"))?;
        UnixDatagram::bind_addr(&name)
    };
    // Another run of this test may hold them already.
    let is_taken = |bound: &std::io::Result<UnixDatagram>| match bound {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::AddrInUse,
    };
    let taken: Vec<_> = (0..1_024).map(bind).take_while(is_taken).collect();
    let (launcher, found) = launcher();
    assert!(taken.len() > 900, "only {} names", taken.len());
    assert!(found.level < Level::D, "{:?}", found.missing);
    let (text, exit, _sandbox) = shell(&launcher, &found.walls, &Confinement::default(), "echo here");
    assert_eq!((text.as_str(), exit), ("here\n", Some(0)));
}

#[test]
fn what_is_missing_is_named_by_what_failed() {
    let why = || "/run/agon: it is not a folder of this user".to_owned();
    let means = Means { claims: Err(why()), groups: Err(why()), ..Means::find() };
    let launcher = Launcher::start(Path::new(PROGRAM), means).expect("a spawner");
    let found = probe_with(&launcher, Path::new(PROGRAM));
    assert_eq!(found.level, Level::D);
    let first = &found.missing[0];
    assert_eq!((first.what, first.wall), ("a place for a sandbox", None));
    assert!(first.why.contains("/run/agon") && first.fix.contains("XDG_RUNTIME_DIR"), "{first:?}");
    assert!(!found.missing.iter().any(|missing| missing.fix.contains("SECCOMP")), "{:?}", found.missing);
}

#[test]
fn a_program_that_sees_no_other_process_takes_nobody_for_dead() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can make a namespace of processes for all of its programs");
        return;
    }
    let (launcher, found) = launcher();
    let sandbox = launcher.prepare(&Confinement::default(), &found.walls).expect("a sandbox");
    sandbox.ready().expect("it is built");
    let (mut output, theirs) = std::io::pipe().expect("a pipe");
    let input = File::open("/dev/null").expect("nothing");
    let line = "sleep 3; echo alive";
    let order = Order { program: "sh".into(), arguments: vec!["-c".into(), line.into()], ..Order::default() };
    sandbox.run(&order, [input.as_fd(), theirs.as_fd(), theirs.as_fd()]).expect("it runs");
    drop(theirs);
    let mut other = std::process::Command::new("unshare");
    other.args(["-pf", "--mount-proc", PROGRAM, "B", "read-foreign-file"]);
    let told = other.output().expect("a program in a namespace of its own");
    assert!(told.status.success() && String::from_utf8_lossy(&told.stdout).starts_with("ok"), "{told:?}");
    assert_eq!(sandbox.wait(PATIENCE).map(|exit| exit.code), Some(0), "it was killed from there");
    let mut text = String::new();
    output.read_to_string(&mut text).expect("a text");
    assert_eq!(text, "alive\n");
    if found.walls.contains(&Wall::Group) {
        assert!(sandbox.charge().is_some_and(|charge| charge.cpu > Duration::ZERO), "its cgroup is gone");
    }
}

#[test]
fn a_part_of_what_is_shown_can_be_left_out_and_a_part_of_that_shown() {
    let Some((launcher, found)) = launcher_at(Level::B, "no namespaces") else { return };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let tool = folder.path().join("tool");
    for (name, text) in
        [("lib/std", "std"), ("lib/packages/secret", "secret"), ("lib/packages/npm/npm", "npm")]
    {
        let file = tool.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("a file");
    }
    let hidden = tool.join("lib/packages");
    let confinement = Confinement {
        readable: vec![ShownPath::same(&tool), ShownPath::same(hidden.join("npm"))],
        hidden: vec![hidden.clone(), tool.join("not-there")],
        ..Confinement::default()
    };
    let at = tool.join("lib").display().to_string();
    let line = format!(
        "cat {at}/std {at}/packages/npm/npm; ls {at}/packages; cat {at}/packages/secret 2>/dev/null; \
         chmod 777 {at}/packages 2>/dev/null; echo x 2>/dev/null > {at}/packages/made || echo closed"
    );
    let (text, exit, _sandbox) = shell(&launcher, &found.walls, &confinement, &line);
    assert_eq!((text.as_str(), exit), ("stdnpmnpm\nclosed\n", Some(0)));
    assert!(confinement.seen(&hidden.join("secret"), true).is_none());
    assert!(confinement.seen(&hidden.join("npm/npm"), true).is_some());
    let alone = Confinement { hidden: vec!["/usr/lib".into()], ..Confinement::default() };
    assert!(alone.check().is_err(), "what is the system's is not hidden this way");
}
