//! The filter of system calls: what is on its list is what bots and their builds make, and programs that it was not made
//! for run inside as they do outside.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_sandbox::{Level, RecordedCall, recorded};

use crate::common::{command, err, folder, good, json, out, write_program as write};

/// Whether this machine has a sandbox that strangers' bots run in.
fn has_one() -> bool {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > Level::B {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
    }
    found.level <= Level::B
}

/// A bot that makes calls of which the filter refuses two, and waits.
const ODD: &str = "import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(206, 1, 0)
libc.syscall(999, 0)
for _ in range(9): sys.stdin.readline()
while line := sys.stdin.readline():
    for _ in range(int(line)): sys.stdin.readline()
    print('WAIT', flush=True)
";

#[test]
#[cfg(target_arch = "x86_64")]
fn a_check_names_the_calls_that_were_refused() {
    if !has_one() {
        return;
    }
    let at = folder();
    write(at.path(), "odd.py", ODD);
    write(at.path(), "plain.py", &ODD.replace("libc.", "#"));
    let check = |bot: &str, more: &[&str]| {
        let words = [&["check", "cultist-wars", bot, "--json"], more].concat();
        let checked = json(&command(at.path(), &words).output().expect("agon"));
        let findings = checked["findings"].as_array().cloned().unwrap_or_default();
        let calls = findings.into_iter().find(|finding| finding["what"] == "system calls");
        calls.map(|finding| finding["seen"].as_str().unwrap_or_default().to_owned())
    };
    let told = check("odd.py", &["--sandbox", "on"]).expect("a note of the calls");
    assert!(told.contains("`io_setup` (asynchronous input and output"), "{told}");
    assert!(told.contains("`call 999` (no list has it"), "{told}");
    assert_eq!(check("plain.py", &["--sandbox", "on"]), None, "a plain bot meets no refusal worth a note");
    assert_eq!(check("odd.py", &["--sandbox", "off"]), None, "nothing refuses outside");
}

/// What was recorded, checked in: `call: who makes it`, refused ones with the answer.
const CALLS: &str = include_str!("../../../agon-sandbox/src/calls.txt");

/// A line's beginning in the record: the call, with its face and answer where it has them.
fn shown(call: &RecordedCall) -> String {
    let face = if call.face == 0 { String::new() } else { format!(" {:#x}", call.face) };
    let answer = match call.refused {
        None => "",
        Some(0) => " (done in appearance)",
        Some(1) => " (refused: EPERM)",
        Some(22) => " (refused: EINVAL)",
        Some(25) => " (refused: ENOTTY)",
        Some(38) => " (refused: ENOSYS)",
        Some(97) => " (refused: EAFNOSUPPORT)",
        Some(_) => " (refused)",
    };
    // Who starts a thread or a process in which way is of no interest here.
    let face = if call.name == "clone" { String::new() } else { face };
    format!("{}{face}{answer}", call.name)
}

/// Runs agon with all calls recorded; none if it failed.
fn record(at: &Path, words: &[&str]) -> Option<BTreeSet<RecordedCall>> {
    let file = at.join("calls");
    let _ = std::fs::remove_file(&file);
    let mut agon = command(at, &[words, &["--sandbox", "on"]].concat());
    let done =
        agon.env("AGON_SANDBOX_CALLS", &file).env("AGON_CACHE", at.join("cache")).output().expect("agon");
    if !done.status.success() {
        println!("SKIPPED: {words:?}: {}{}", out(&done), err(&done));
        return None;
    }
    Some(recorded(&std::fs::read_to_string(&file).unwrap_or_default()))
}

/// Builds that no starter has: package managers, without a network.
const BUILDS: &[(&str, &str, &str)] = &[
    ("C build", "gcc", "printf 'int main(void){return 0;}' > a.c && gcc -O2 -o a a.c -lm -lpthread"),
    (
        "npm",
        "npm",
        "mkdir -p dep && printf '{\"name\":\"dep\",\"version\":\"1.0.0\"}' > dep/package.json && printf \
         '{\"name\":\"bot\",\"dependencies\":{\"dep\":\"file:dep\"}}' > package.json && npm install --offline --no-audit",
    ),
    (
        "pip",
        "python3",
        "mkdir -p w/own-1.dist-info && echo 'x = 1' > w/own.py && cd w && printf 'Metadata-Version: 2.1\\nName: own\\nVersion: 1\\n' > \
         own-1.dist-info/METADATA && printf 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > own-1.dist-info/WHEEL && \
         touch own-1.dist-info/RECORD && python3 -m zipfile -c ../own-1-py3-none-any.whl own.py own-1.dist-info/ && cd .. && \
         python3 -m venv v && v/bin/python -m pip install --no-index --target lib own-1-py3-none-any.whl",
    ),
    ("make", "make", "printf 'a: b\\n\\ttrue\\nb:\\n\\ttouch b\\n' > Makefile && make -j2"),
    (
        "cargo",
        "cargo",
        "mkdir -p src && echo 'fn main(){}' > src/main.rs && printf '[package]\\nname=\"a\"\\nversion=\"1.0.0\"\\n' > Cargo.toml && cargo build --offline",
    ),
];

/// Records what starters call when they are built and play, what builds of package managers and the probes of languages
/// call, and what the bots of a folder do (`AGON_BOTS`, for the game that their agon.toml names, or `AGON_GAME`). Recording is slow, so without
/// `AGON_CALLS=1` it is one starter and one build. `UPDATE_CALLS=1` with it writes the list.
#[test]
fn bots_and_builds_call_what_is_listed() {
    if !has_one() {
        return;
    }
    let whole = std::env::var_os("AGON_CALLS").is_some();
    let at = folder();
    let mut who: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut note = |name: &str, calls: Option<BTreeSet<RecordedCall>>| {
        let Some(calls) = calls else { return };
        println!("{name}: {} kinds of calls", calls.len());
        for call in calls {
            who.entry(shown(&call)).or_default().insert(name.to_owned());
        }
    };
    let starters = json(&command(at.path(), &["new", "--json"]).output().expect("agon"));
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let starters = starters.as_array().expect("a list");
    let here = starters.iter().filter(|starter| agon_bot::tools::is_installed(&text(&starter["needs"])));
    for starter in here.take(if whole { usize::MAX } else { 1 }) {
        let (game, language) = (text(&starter["game"]), text(&starter["language"]));
        let bot = format!("{game}-{language}");
        good(command(at.path(), &["new", &game, &language, &bot]).output().expect("agon"));
        note(&format!("{language} build"), record(at.path(), &["build", &bot]));
        let opponent = text(&starter["opponents"][0]);
        let words =
            ["play", &game, &bot, &opponent, "--no-timeouts", "--no-replay", "--quiet", "--seed", "5"];
        note(&language, record(at.path(), &words));
    }
    for (name, needs, line) in BUILDS.iter().take(if whole { BUILDS.len() } else { 1 }) {
        if !agon_bot::tools::is_installed(needs) {
            println!("SKIPPED: {name} ({needs} is not installed)");
            continue;
        }
        write(at.path(), &format!("{needs}/build.sh"), &format!("#!/bin/sh\nset -e\n{line}\n"));
        write(at.path(), &format!("{needs}/agon.toml"), "build = './build.sh'\nrun = './build.sh'\n");
        note(name, record(at.path(), &["build", needs]));
    }
    for probe in super::probes::PROBES.iter().filter(|_| whole) {
        if agon_bot::tools::is_installed(probe.needs) {
            let bot = super::probes::prepare(at.path(), probe);
            let words =
                ["play", "cultist-wars", &bot, "builtin:idle", "--no-timeouts", "--no-replay", "--quiet"];
            note(&format!("{} probe", probe.language), record(at.path(), &words));
        }
    }
    let folder_of_bots = std::env::var_os("AGON_BOTS").map(PathBuf::from);
    let game = std::env::var("AGON_GAME").unwrap_or_else(|_| "terminal".to_owned());
    for entry in folder_of_bots.iter().flat_map(std::fs::read_dir).flatten().flatten() {
        let bot = entry.path().display().to_string();
        let own = std::fs::read_to_string(entry.path().join("agon.toml")).unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("game = \"")?.strip_suffix('"'));
        let game = own.unwrap_or(&game);
        let opponent = starters.iter().find(|starter| starter["game"] == game);
        let opponent = opponent.map_or("builtin:idle".to_owned(), |starter| text(&starter["opponents"][0]));
        let words = ["play", game, &bot, &opponent, "--no-timeouts", "--no-replay", "--quiet"];
        note("bots of a folder", record(at.path(), &words));
    }
    let known: BTreeMap<&str, &str> = CALLS
        .lines()
        .filter(|line| !line.starts_with('#'))
        // The answer of a refused call has a colon, too.
        .filter_map(|line| match line.find("): ") {
            Some(at) => Some((&line[..=at], &line[at + 3..])),
            None => line.split_once(": "),
        })
        .collect();
    if whole && std::env::var_os("UPDATE_CALLS").is_some() {
        let head: String =
            CALLS.lines().filter(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
        let lines = who.iter().map(|(call, who)| {
            let who: Vec<&str> = who.iter().map(String::as_str).collect();
            format!("{call}: {}\n", who.join(", "))
        });
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agon-sandbox/src/calls.txt");
        std::fs::write(file, head + &lines.collect::<String>()).expect("the list is written");
        return;
    }
    let refused = who.iter().filter(|(call, _)| call.contains('(') && !known.contains_key(call.as_str()));
    let refused: Vec<_> = refused.map(|(call, who)| format!("{call}: {who:?}")).collect();
    assert!(refused.is_empty(), "refused, and nobody knew that it is called:\n{}", refused.join("\n"));
    let new: Vec<_> = who.keys().filter(|call| !known.contains_key(call.as_str())).collect();
    println!(
        "{} kinds of calls, {} of them not in the list, all of those allowed: {new:?}",
        who.len(),
        new.len()
    );
}

/// What is run, and what must be installed for it.
const PROGRAMS: &str = include_str!("../probes/programs.txt");
const POEM: &str = "the fog comes\non little cat feet\nit sits looking\nover harbor and city\non silent haunches\nand then moves on\n";
const TABLE: &str = "name,points\nada,3\nbob,5\neve,8\n";

/// A script that runs the programs that are here, each in a fresh folder, and prints what each said and its exit code.
fn script(programs: &[(usize, &str)]) -> String {
    let one = |(number, line): &(usize, &str)| {
        format!("echo '== {number}'; rm -rf made; mkdir made; (\n{line}\n) 2>&1 </dev/null; echo \"-- $?\"\n")
    };
    let all: String = programs.iter().map(one).collect();
    format!("#!/bin/sh\n{all}rm -rf made\n")
}

#[test]
fn other_programs_run_inside_as_outside() {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > Level::A {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
        return;
    }
    let lines: Vec<(&str, &str)> = PROGRAMS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(" | ").expect("a program and a line"))
        .collect();
    assert!(lines.len() >= 120, "{}", lines.len());
    let is_systems = |program: &str| {
        ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
            || ["test", "kill", "printf"].contains(&program)
    };
    let here: Vec<(usize, &str)> = lines
        .iter()
        .enumerate()
        .filter(|(_, (needs, _))| is_systems(needs))
        .map(|(index, (_, line))| (index, *line))
        .collect();
    let at = folder();
    write(at.path(), "bot/poem", POEM);
    write(at.path(), "bot/table.csv", TABLE);
    write(at.path(), "bot/programs.sh", &script(&here));
    write(at.path(), "bot/run.sh", "#!/bin/sh\n./programs.sh > answers 2>&1 </dev/null\n");
    write(at.path(), "bot/agon.toml", "run = './run.sh'\n");
    // Outside in a copy, with the same five variables.
    good(Command::new("cp").args(["-r", "bot", "outside"]).current_dir(at.path()).output().expect("cp"));
    let mut outside = Command::new("./programs.sh");
    outside.current_dir(at.path().join("outside")).env_clear();
    outside.envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/tmp"), ("TMPDIR", "/tmp")]);
    let told =
        outside.envs([("LANG", "C.UTF-8"), ("OPENSSL_CONF", "/dev/null")]).output().expect("a shell").stdout;
    let words = ["play", "cultist-wars", "bot", "builtin:idle", "--sandbox", "on", "--no-timeouts"];
    let more = ["--no-replay", "--quiet", "--keep-files", "kept"];
    good(command(at.path(), &[&words[..], &more].concat()).output().expect("agon"));
    let kept = super::probes::walk(&at.path().join("kept"), "answers").expect("the answers are kept");
    let told = String::from_utf8_lossy(&told).into_owned();
    let answer = |text: &str, number: usize| {
        let (_, rest) = text.split_once(&format!("== {number}\n"))?;
        Some(rest.split("\n== ").next().unwrap_or_default().trim_end().to_owned())
    };
    let mut different = Vec::new();
    for (number, line) in &here {
        let (outside, inside) = (answer(&told, *number), answer(&kept, *number));
        assert!(outside.is_some(), "{line} was not run outside");
        if outside != inside {
            different.push(format!("{line}\n  outside: {outside:?}\n  inside:  {inside:?}"));
        }
    }
    let runtimes =
        ["go", "ruby", "php", "lua5.4", "ocaml", "guile", "pypy3", "mono", "perl", "swipl", "tclsh"];
    let runtimes: Vec<&str> = runtimes.into_iter().filter(|runtime| is_systems(runtime)).collect();
    println!(
        "{} programs, {} skipped (not installed), runtimes {runtimes:?}: {} differences",
        here.len(),
        lines.len() - here.len(),
        different.len()
    );
    for (needs, _) in lines.iter().filter(|(needs, _)| !is_systems(needs)) {
        println!("SKIPPED: {needs} is not installed");
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
