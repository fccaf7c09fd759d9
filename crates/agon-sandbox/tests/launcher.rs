//! The launcher under any description and order: either it says why not, or the program is held, and nothing is left.
//!
//! A short form runs with every test; `cargo xtask long launcher` runs 5,000 cases (`AGON_SANDBOXES`).
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_sandbox::{
    Confinement, Launcher, Level, Means, Network, Order, Sandbox, ShownPath, StepRefusal, Wall, probe_with,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agon-sandbox");
/// Longer than anything here takes; the programs end by themselves well before that.
const PATIENCE: Duration = Duration::from_secs(60);

/// Content that no program may read, in a file no description names.
const SECRET: &str = "a secret of the machine";
/// The content of a readable file.
const OPEN: &str = "for the bot to read";

/// What the program tries. It ends whatever happens.
const PROBE: &str = "cat $1/secret 2>/dev/null; cat /bot/to-secret 2>/dev/null
for place in $2; do echo x >$place/written; rm -f $place/open; done 2>/dev/null
ls /proc | grep -c '^[0-9]' >/dev/null; mkdir -p /tmp/a/b; echo end";

/// The files outside: one folder that is shown, one that is not.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn make() -> Self {
        let root = tempfile::Builder::new().prefix("agon-world-").tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        for folder in ["bot/deep/deeper", "bot/empty", "other", "spare \n name"] {
            fs::create_dir_all(at(folder)).expect("a folder");
        }
        for file in ["bot/open", "bot/deep/open", "other/open"] {
            fs::write(at(file), OPEN).expect("a file");
        }
        fs::write(at("secret"), SECRET).expect("a file");
        fs::write(at("huge"), vec![7; 3 << 20]).expect("a file");
        symlink(at("secret"), at("bot/to-secret")).expect("a link");
        symlink("loop", at("bot/loop")).expect("a link");
        symlink("/", at("bot/to-root")).expect("a link");
        rustix::fs::mknodat(rustix::fs::CWD, at("bot/pipe"), rustix::fs::FileType::Fifo, 0o666.into(), 0)
            .expect("a named pipe");
        fs::set_permissions(root.path(), PermissionsExt::from_mode(0o755)).expect("open");
        Self { root }
    }

    /// Every file in it with its content, except in writable places.
    fn contents(&self, but: &[PathBuf]) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            if but.contains(&folder) {
                continue;
            }
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let kind = entry.file_type().expect("a kind");
                match kind.is_dir() {
                    true => folders.push(entry.path()),
                    false if kind.is_file() => {
                        found.insert(entry.path(), fs::read(entry.path()).expect("a file"));
                    }
                    false => {
                        found.insert(entry.path(), Vec::new());
                    }
                }
            }
        }
        found
    }
}

/// A case: what to show, where, with which limits, and what to run.
#[derive(Clone, Debug)]
struct Case {
    shown: Vec<(u8, &'static str, &'static str)>,
    limits: [u64; 5],
    processes: u32,
    files: u32,
    network: Network,
    folder: &'static str,
    variables: BTreeMap<String, String>,
    order: (&'static str, Vec<String>, Vec<usize>),
    /// Walls that are withdrawn, as for a lower level.
    without: Vec<Wall>,
}

fn cases() -> impl Strategy<Value = Case> {
    const OUTSIDE: &[&str] = &[
        "bot",
        "bot",
        "bot/deep",
        "bot/empty",
        "bot/open",
        "other",
        "spare \n name",
        "huge",
        "/etc/hostname",
        "/usr/lib",
        "/dev/null",
    ];
    const BAD_OUTSIDE: &[&str] = &["bot/loop", "bot/pipe", "missing", "/proc/self", "", "bot/../secret", "/"];
    const INSIDE: &[&str] = &[
        "/bot",
        "/bot",
        "/bot",
        "/bot/deep",
        "/bot/empty/more",
        "/bot/open",
        "/etc/x",
        "/tmp/x",
        "/a/b/c/d/e",
        "/old/x",
        "/old",
        "/spare \n name",
    ];
    const BAD_INSIDE: &[&str] = &[
        "/etc",
        "/tmp",
        "/proc/x",
        "/",
        "",
        "relative",
        "/bot/../x",
        "/bin",
        "/usr",
        "/usr/share/x",
        "/lib/x",
    ];
    const EDGES: &[u64] = &[0, 1, 8, 4096, 1 << 20, 16 << 20, 64 << 20, 1 << 44, u64::MAX];
    let outside = || prop_oneof![40 => prop::sample::select(OUTSIDE), 1 => prop::sample::select(BAD_OUTSIDE)];
    let inside = || prop_oneof![40 => prop::sample::select(INSIDE), 1 => prop::sample::select(BAD_INSIDE)];
    let limit = |usual: u64| prop_oneof![60 => Just(usual), 1 => prop::sample::select(EDGES)];
    let text = || prop_oneof![20 => "[a-zA-Z_/ =.-]{0,12}", 1 => Just("\0".to_owned()), 1 => Just("x".repeat(140_000)), 1 => any::<String>()];
    let network =
        prop_oneof![Just(Network::None), Just(Network::Loopback), any::<u16>().prop_map(Network::Port)];
    let program = prop::sample::select(vec![
        "",
        "/",
        "/bot",
        "/bot/open",
        "missing",
        "/bot/pipe",
        "a\0b",
        "/dev/null",
        "true",
    ]);
    let order = prop_oneof![
        6 => Just(("sh", Vec::new(), Vec::new())),
        1 => (program, prop::collection::vec(text(), 0..3), prop::collection::vec(any::<usize>(), 0..3)),
    ];
    (
        prop::collection::vec((0..3_u8, outside(), inside()), 0..4),
        [limit(64 << 20), limit(60), limit(8 << 20), limit(64), limit(16)],
        prop_oneof![30 => Just(16_u32), 1 => any::<u32>(), 1 => 0..4_u32],
        prop_oneof![30 => Just(512_u32), 1 => any::<u32>(), 1 => 0..40_u32],
        network,
        prop_oneof![20 => Just("/tmp"), 1 => inside()],
        prop_oneof![3 => Just(BTreeMap::new()), 1 => prop::collection::btree_map(text(), text(), 0..3)],
        order,
        prop_oneof![4 => Just(vec![]), 1 => prop::sample::subsequence(vec![Wall::Group, Wall::Landlock, Wall::Filter], 0..3)],
    )
        .prop_map(|(shown, limits, processes, files, network, folder, variables, order, without)| Case {
            shown,
            limits,
            processes,
            files,
            network,
            folder,
            variables,
            order,
            without,
        })
}

/// The description of a case, and the outside folders it may write to.
fn described(case: &Case, world: &World) -> (Confinement, Vec<PathBuf>) {
    let [memory, cpu, disk, descriptors, _] = case.limits;
    let mut with = Confinement {
        memory,
        cpu: Some(cpu),
        disk,
        descriptors,
        processes: case.processes,
        files: case.files,
        network: case.network,
        folder: case.folder.into(),
        variables: case.variables.clone(),
        ..Confinement::default()
    };
    let mut written = Vec::new();
    for (how, outside, inside) in &case.shown {
        let outside = if outside.starts_with('/') { outside.into() } else { world.root.path().join(outside) };
        let place = ShownPath { outside: outside.clone(), inside: inside.into() };
        match how {
            0 => with.readable.push(place),
            1 => {
                written.push(outside);
                with.writable.push(place);
            }
            _ => with.copied.push(place),
        }
    }
    (with, written)
}

/// Runs a case. Returns the program's output, or why there was none.
fn run(
    launcher: &Launcher,
    walls: &BTreeSet<Wall>,
    case: &Case,
    world: &World,
) -> Result<String, StepRefusal> {
    let (with, _) = described(case, world);
    let sandbox = launcher.prepare(&with, walls)?;
    let result = run_in(&sandbox, case, world);
    sandbox.end().expect("nothing is left");
    result
}

fn run_in(sandbox: &Sandbox, case: &Case, world: &World) -> Result<String, StepRefusal> {
    sandbox.ready()?;
    let (mut output, theirs) = std::io::pipe().expect("a pipe");
    let input = File::open("/dev/null").expect("nothing");
    let (program, arguments, cpus) = &case.order;
    let mut order = Order {
        program: program.into(),
        arguments: arguments.clone(),
        cpus: cpus.clone(),
        ..Order::default()
    };
    if *program == "sh" {
        let inside: Vec<&str> = case.shown.iter().map(|(_, _, inside)| *inside).collect();
        let root = world.root.path().display().to_string();
        order.arguments = vec!["-c".into(), PROBE.into(), "probe".into(), root, inside.join(" ")];
    }
    sandbox.run(&order, [input.as_fd(), theirs.as_fd(), theirs.as_fd()])?;
    drop(theirs);
    // If memory ran short, everything was killed at once: then there is no report, and nobody holds the pipe.
    sandbox.wait(PATIENCE);
    let mut text = Vec::new();
    output.read_to_end(&mut text).expect("what it wrote");
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// What we hold: mounts, children of this process, descriptors.
fn kept() -> [usize; 3] {
    let lines = |path: &str| fs::read_to_string(path).expect("a list").lines().count();
    let me = std::process::id();
    let mut children = 0;
    for task in fs::read_dir("/proc/self/task").expect("threads").flatten() {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in list.split_whitespace() {
            // The spawner, and whatever is below it.
            children += 1 + fs::read_to_string(format!("/proc/{child}/task/{child}/children"))
                .unwrap_or_default()
                .split_whitespace()
                .count();
        }
    }
    let open = fs::read_dir(format!("/proc/{me}/fd")).expect("descriptors").count();
    [lines("/proc/self/mountinfo"), children, open]
}

#[test]
fn whatever_is_described_is_refused_or_held_and_leaves_nothing() {
    let launcher = Launcher::start(Path::new(PROGRAM), Means::find()).expect("a spawner");
    let found = probe_with(&launcher, Path::new(PROGRAM));
    if found.level > Level::B {
        println!("skipped: no namespaces here: {:?}", found.missing);
        return;
    }
    let wanted = std::env::var("AGON_SANDBOXES").ok().and_then(|number| number.parse().ok());
    let config = Config {
        cases: wanted.unwrap_or(60),
        max_shrink_iters: 200,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    };
    let plain = Case {
        shown: vec![(0, "bot", "/bot")],
        limits: [64 << 20, 60, 8 << 20, 64, 16],
        processes: 16,
        files: 512,
        network: Network::None,
        folder: "/tmp",
        variables: BTreeMap::new(),
        order: ("sh", Vec::new(), Vec::new()),
        without: Vec::new(),
    };
    let world = World::make();
    // The first run creates the slot, whose connection and cgroup stay.
    assert_eq!(run(&launcher, &found.walls, &plain, &world), Ok("end\n".to_owned()));
    let before = kept();
    let (mut ran, mut refused) = (0, BTreeMap::<String, u32>::new());
    let counts = std::cell::RefCell::new((&mut ran, &mut refused));
    let result = TestRunner::new(config).run(&cases(), |case| {
        let world = World::make();
        let (_, written) = described(&case, &world);
        let contents = world.contents(&written);
        let walls = found.walls.iter().copied().filter(|wall| !case.without.contains(wall)).collect();
        match run(&launcher, &walls, &case, &world) {
            Ok(text) => {
                *counts.borrow_mut().0 += 1;
                prop_assert!(!text.contains(SECRET), "it read {text}");
            }
            Err(refusal) => {
                prop_assert!(!refusal.step.is_empty() && !refusal.why.is_empty(), "{refusal:?}");
                prop_assert!(!refusal.why.contains("it is gone"), "{refusal:?}");
                let step = refusal.step.split(" /").next().unwrap_or_default().to_owned();
                *counts.borrow_mut().1.entry(step).or_default() += 1;
            }
        }
        prop_assert_eq!(world.contents(&written), contents, "something outside was changed");
        // Whatever that case did, the next one is unaffected.
        prop_assert_eq!(run(&launcher, &found.walls, &plain, &world), Ok("end\n".to_owned()));
        prop_assert_eq!(kept(), before, "mounts, processes and descriptors");
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    println!("{ran} ran, {} were refused: {refused:?}", refused.values().sum::<u32>());
    assert!(ran > 0 && !refused.is_empty(), "the cases are of both kinds");
}
