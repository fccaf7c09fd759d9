//! Nobody else reads what the program makes. Every command that makes files is run, whatever the umask, and another user of
//! the machine goes through all of it: what is not meant for others is closed to them.
//!
//! Longer than 500 lines: the list of all commands that make files is one.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{Running, address_after, err, folder, mode, out, site_of, token_of, wait_until};

/// What is meant for others, below the folder in which the commands run: a bot of the user's own and its parts, pages and
/// files to be sent around. A folder stands for all that is in it.
const FOR_OTHERS: &[&str] = &[
    "my-bot",
    "blitz",
    "blitz.zip",
    "one.py",
    "man",
    "site",
    "ratings",
    "page.html",
    "turn.md",
    "theirs.record",
    "m.public.replay",
    "cup.agon",
    // The test that `replay keep` makes, a file of the bot like any other; not the replay beside it.
    "bot/tests",
];
/// What is private within those.
const BUT: &[&str] = &["bot/tests/kept.replay"];

/// Commands that make no file.
const MAKE_NOTHING: &[&str] = &[
    "analyse",
    "back",
    "bench",
    "challenge",
    "completions",
    "conform",
    "explain",
    "games",
    // An image is made for the archive that is played here.
    "image",
    "image build",
    "image get",
    "image rm",
    "join",
    "logout",
    "logs",
    "maps",
    "maps check",
    "replay",
    "replay feed",
    "replay info",
    "replay show",
    "replay verify",
    "rules",
    "sandbox",
    "serve drain",
    "serve fsck",
    "serve clock",
    "serve link",
    "serve pause",
    "serve play-on",
    "serve resume",
    "serve revoke",
    "serve status",
    "serve token",
    "serve workers",
    "status",
    "test",
    "try",
    "verify",
    "versions",
    "watch",
    "why",
];

/// A user's machine: a folder to work in, a home, a cache.
struct Place {
    path: PathBuf,
    umask: &'static str,
    ran: std::cell::RefCell<BTreeSet<String>>,
}

impl Place {
    fn command(&self, words: &[&str]) -> Command {
        let named = match words {
            [first @ ("serve" | "replay" | "sandbox"), second, ..] if !second.starts_with('-') => {
                format!("{first} {second}")
            }
            [first, ..] => (*first).to_owned(),
            [] => String::new(),
        };
        // `agon serve DIR` has no second word of its own.
        self.ran.borrow_mut().extend([named, words[0].to_owned()]);
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("umask {}; exec \"$0\" \"$@\"", self.umask),
            env!("CARGO_BIN_EXE_agon"),
        ]);
        command.args(words).current_dir(&self.path).env("NO_COLOR", "1").stdin(Stdio::null());
        command.env("HOME", self.path.join("home")).env("AGON_CACHE", self.path.join("cache"));
        command.env("XDG_CONFIG_HOME", self.path.join("home/config")).env("TMPDIR", self.path.join("tmp"));
        command.env_remove("AGON_URL").env_remove("AGON_TOKEN").env_remove("XDG_RUNTIME_DIR");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("agon starts")
    }

    /// Runs it, and it does what was asked.
    fn well(&self, words: &[&str]) -> Output {
        let output = self.run(words);
        // The answer of a test is its exit code.
        let is_answer = words[0] == "sprt" && matches!(output.status.code(), Some(10..=15));
        assert!(output.status.success() || is_answer, "{words:?}: {}{}", out(&output), err(&output));
        output
    }

    fn all(&self) -> Vec<PathBuf> {
        let (mut found, mut open) = (Vec::new(), vec![self.path.clone()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).expect("ours").map(|entry| entry.expect("ours")) {
                if entry.file_type().expect("it is there").is_dir() {
                    open.push(entry.path());
                }
                found.push(entry.path().strip_prefix(&self.path).expect("below").to_owned());
            }
        }
        found.sort();
        found
    }

    /// Whether others could read this, by the modes on the way to it.
    fn is_open(&self, path: &Path) -> bool {
        let mode = |path: &Path| std::fs::symlink_metadata(self.path.join(path)).expect("it is there").mode();
        let way = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        mode(path) & 0o170000 != 0o120000
            && mode(path) & 0o066 != 0
            && way.into_iter().all(|above| mode(above) & 0o011 != 0)
    }

    /// What another user gets to read by trying.
    fn read_by_another(&self) -> Vec<PathBuf> {
        if !rustix::process::getuid().is_root() {
            return Vec::new();
        }
        let look = "find . -type f -exec head -c 1 {} \\; -exec echo found {} \\; 2>/dev/null";
        let mut find = Command::new("sh");
        let found = find
            .args(["-c", look])
            .current_dir(&self.path)
            .uid(65_534)
            .gid(65_534)
            .output()
            .expect("find is there");
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        let names = text.lines().filter_map(|line| line.split_once("found ./"));
        names.map(|(_, name)| PathBuf::from(name)).collect()
    }
}

fn is_for_others(path: &Path) -> bool {
    // What other programs that we start keep for themselves is made with the user's umask.
    if path.starts_with("home/.rustup") {
        return true;
    }
    let named = |list: &[&str]| list.iter().any(|name| path.starts_with(name));
    named(FOR_OTHERS) && !named(BUT)
}

const BOT: &str = "#!/bin/sh
echo 'a note' > wrote
echo 'a secret thought' >&2
i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
while read -r n; do
    while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
    echo WAIT
done
";

fn place(umask: &'static str) -> (tempfile::TempDir, Place) {
    let folder = folder();
    mode(folder.path(), 0o755);
    let path = folder.path().to_owned();
    for name in ["home", "tmp", "bot"] {
        std::fs::create_dir(path.join(name)).expect("a folder");
        mode(&path.join(name), 0o755);
    }
    let manifest =
        "build = \"sh -c 'echo built > made'\"\nrun = \"sh run.sh\"\n[defaults]\ngame = \"cultist-wars\"\n";
    for (name, text) in
        [("bot/run.sh", BOT), ("bot/agon.toml", manifest), ("a.c", "int main(void) { return 0; }\n")]
    {
        std::fs::write(path.join(name), text).expect("a file");
        mode(&path.join(name), 0o644);
    }
    (folder, Place { path, umask, ran: std::cell::RefCell::default() })
}

/// What authors do at home.
fn at_home(place: &Place) {
    place.well(&["new", "cultist-wars", "python", "my-bot"]);
    place.well(&["build", "bot"]);
    place.run(&["build", "a.c"]);
    let played = ["play", "cultist-wars", "bot", "builtin:greedy", "-d", "5", "--time-scale", "20"];
    place.well(&played);
    place.well(&[&played[..], &["--replay", "m.replay", "--sandbox", "auto"]].concat());
    place.run(&[&played[..], &["--no-replay", "--sandbox", "on", "--keep-files", "kept"]].concat());
    place.well(&[
        "referee",
        "cultist-wars",
        "-p1",
        "sh bot/run.sh",
        "-p2",
        "sh bot/run.sh",
        "-l",
        "log.json",
        "--time-scale",
        "20",
    ]);
    place.run(&["check", "cultist-wars", "bot"]);
    place.well(&["pin", "bot", "first"]);
    place.well(&["new", "jungle-blitz", "python", "blitz"]);
    place.well(&["pack", "blitz"]);
    place.well(&["docs", "--man", "man"]);
    place.well(&["pack", "my-bot", "-o", "one.py"]);
    place.well(&["replay", "export", "m.replay", "--format", "html", "-o", "page.html"]);
    place.well(&["replay", "export", "m.replay", "--format", "html", "--private", "-o", "private.html"]);
    place.well(&["replay", "export", "m.replay", "--format", "json", "-o", "all.json"]);
    place.well(&[
        "replay",
        "export",
        "m.replay",
        "--format",
        "spec",
        "--turn",
        "2",
        "--rule",
        "CW-SHOOT-4",
        "-o",
        "turn.md",
    ]);
    place.well(&["replay", "export", "m.replay", "--input", "--seat", "1", "-o", "input.txt"]);
    place.well(&["replay", "redact", "m.replay"]);
    place.well(&["replay", "redact", "m.replay", "--keep-seat", "1", "-o", "mine.replay"]);
    place.well(&[
        "replay", "keep", "m.replay", "--seat", "1", "--turn", "3", "--bot", "bot", "--name", "kept",
        "--is-not", "WAIT",
    ]);
    place.well(&[
        "replay",
        "fork",
        "m.replay",
        "bot",
        "--seat",
        "1",
        "--turn",
        "3",
        "--against",
        "builtin:greedy",
        "--replay",
        "f.replay",
    ]);
    let series = ["-n", "2", "-j", "1", "--time-scale", "20", "--replays", "all"];
    place.well(&[&["gauntlet", "cultist-wars", "bot", "builtin:greedy"][..], &series].concat());
    place.well(
        &[&["sprt", "cultist-wars", "bot", "builtin:greedy", "--journal", "s/journal.jsonl"][..], &series]
            .concat(),
    );
    place.run(&["ci", "bot", "--minutes", "0", "--junit", "ci.xml", "--summary", "ci.md"]);
    let tournament = ["tournament", "cultist-wars", "bot", "builtin:greedy", "--journal", "t/journal.jsonl"];
    place.well(&[&tournament[..], &series].concat());
    place.run(&["rate", "t/journal.jsonl", "--html", "ratings"]);
    place.run(
        &[&["tournament", "cultist-wars", "bot", "builtin:greedy", "--html", "site"][..], &series].concat(),
    );
    place.run(&["doctor"]);
    // One of a game that has a form of its own for records.
    place.well(&[
        "play",
        "terminal",
        "builtin:fortress",
        "builtin:rush",
        "--set",
        "maxTurns=5",
        "--replay",
        "t.replay",
    ]);
    place.well(&["replay", "export", "t.replay", "--format", "terminal", "-o", "theirs.record"]);
    place.well(&["replay", "import", "theirs.record", "-o", "imported.replay"]);
}

/// What organisers and their machines do.
fn a_contest(place: &Place) {
    let begun = ["serve", "cup", "--new", "cultist-wars", "--matches", "2", "-j", "1", "--no-site"];
    if err(&place.run(&begun)).contains("cannot contain strangers' bots") {
        trust(place);
        place.well(&["serve", "cup", "--matches", "2", "-j", "1", "--no-site"]);
    }
    place.well(&["serve", "add", "cup", "bot", "--team", "Ann"]);
    place.well(&["serve", "marks", "cup", "-o", "marks.csv"]);
    place.well(&["serve", "set", "cup", "sign_up=open", "tolerance=90", "trust_bots=true"]);
    place.well(&["serve", "backup", "cup", "cup.backup"]);
    place.well(&["serve", "restore", "cup.backup", "again"]);
    place.well(&["serve", "export", "cup", "cup.agon"]);
    place.well(&["serve", "move", "again", "--objects", &place.path.join("elsewhere").to_string_lossy()]);

    let mut serve = place.command(&["serve", "cup", "-j", "0", "--port", "0"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    let url = site_of(&mut server.0, Duration::from_secs(120));
    let token = token_of(&url, "Bob");
    private(place, "bob.token", token.as_bytes());
    place.well(&["login", &url, "--token-file", "bob.token"]);
    place.well(&["serve", "worker", "cup", "hall", "--out", "hall.token"]);
    // A file that the shell makes, with its own umask.
    let shell = format!("umask {}; exec \"$0\" serve worker cup other > other.token", place.umask);
    let mut redirected = Command::new("sh");
    redirected.args(["-c", &shell, env!("CARGO_BIN_EXE_agon")]).current_dir(&place.path);
    assert!(redirected.output().expect("agon starts").status.success());
    let mut work = place.command(&["work", &url, "--token-file", "hall.token", "-j", "1", "--trust-bots"]);
    let mut worker = Running(work.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("agon starts"));
    place.well(&["submit", "bot"]);
    wait_until("the machine plays a version that was handed in", || {
        std::fs::read_dir(place.path.join("cache/work")).into_iter().flatten().flatten().any(|contest| {
            std::fs::read_dir(contest.path().join("bots")).is_ok_and(|mut bots| bots.next().is_some())
        })
    });
    interrupt(&mut worker);
    place.run(&["replay", "get", "--all", "-o", "got"]);
    interrupt(&mut server);

    let mut serve = place.command(&[
        "serve",
        "encrypted",
        "--new",
        "cultist-wars",
        "-j",
        "0",
        "--tls-self-signed",
        "--port",
        "0",
    ]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut server.0, Duration::from_secs(120));
    interrupt(&mut server);
    let mut serve = place.command(&["serve", "fleet", "--fleet", "--port", "0"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    address_after("Its address: ", &mut server.0, Duration::from_secs(60));
    interrupt(&mut server);
}

/// Marks the contest's bots as trusted: its worker then needs no proof of the walls.
fn trust(place: &Place) {
    let file = place.path.join("cup/contest.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    if !text.contains("\ntrust_bots = true") {
        // The section is there once the contest has played: with the level that it was founded at.
        let text = match text.contains("\n[sandbox]\n") {
            true => text.replace("\n[sandbox]\n", "\n[sandbox]\ntrust_bots = true\n"),
            false => text + "\n[sandbox]\ntrust_bots = true\n",
        };
        std::fs::write(file, text).expect("written");
    }
}

fn private(place: &Place, name: &str, bytes: &[u8]) {
    std::fs::write(place.path.join(name), bytes).expect("written");
    mode(&place.path.join(name), 0o600);
}

fn interrupt(running: &mut Running) {
    let pid = rustix::process::Pid::from_raw(running.0.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("ours");
    running.0.wait().expect("a child");
}

/// Only what is meant for others is open to them, of all that was made since.
fn nobody_else_reads(place: &Place, before: &[PathBuf]) {
    let made: Vec<PathBuf> = place.all().into_iter().filter(|path| !before.contains(path)).collect();
    let open: Vec<&PathBuf> =
        made.iter().filter(|path| !is_for_others(path) && place.is_open(path)).collect();
    assert_eq!(open, Vec::<&PathBuf>::new(), "umask {}: others can read these", place.umask);
    let read = place.read_by_another();
    let read: Vec<&PathBuf> =
        read.iter().filter(|path| !is_for_others(path) && !before.contains(path)).collect();
    assert_eq!(read, Vec::<&PathBuf>::new(), "umask {}: another user has read these", place.umask);
}

#[test]
fn nobody_else_reads_what_any_command_makes() {
    for umask in ["022", "000"] {
        let (_folder, place) = place(umask);
        let before = [place.all(), ["bot/made", "bot/wrote", "wrote"].map(PathBuf::from).to_vec()].concat();
        at_home(&place);
        a_contest(&place);
        nobody_else_reads(&place, &before);
        // All that is meant for others is there, and they can read it: with this umask as any file of the user's.
        for name in FOR_OTHERS {
            assert!(place.path.join(name).exists(), "{name} was not made");
            let own =
                std::fs::metadata(place.path.join(name)).expect("it is there").permissions().mode() & 0o777;
            let all = if place.path.join(name).is_dir() { 0o777 } else { 0o666 };
            assert_eq!(own, all & !u32::from_str_radix(umask, 8).expect("octal"), "{name}, umask {umask}");
        }
        for name in [
            "m.replay",
            "log.json",
            "agon-replays",
            "agon-series",
            "agon-bots/first",
            "all.json",
            "ci.xml",
            "ci.md",
            "cup.backup",
            "got",
        ] {
            assert!(place.path.join(name).exists(), "{name} was not made");
        }
        let run = std::fs::metadata(place.path.join("bot/made")).expect("the bot's own build").mode() & 0o777;
        assert_eq!(
            run,
            0o666 & !u32::from_str_radix(umask, 8).expect("octal"),
            "a build has the user's umask"
        );
        every_command_was_thought_of(&place);
    }
}

/// A command that is new in the reference is run here, or listed as one that makes nothing.
fn every_command_was_thought_of(place: &Place) {
    let reference = include_str!("../../../../docs/reference.md");
    let mut missing: Vec<&str> = reference.lines().filter_map(|line| line.strip_prefix("## agon ")).collect();
    missing.retain(|name| !MAKE_NOTHING.contains(name) && !place.ran.borrow().contains(*name));
    assert_eq!(missing, ["sandbox test"], "is it private, what these make?");
}

#[test]
fn what_stood_open_before_is_closed() {
    let (_folder, place) = place("022");
    let played = [
        "play",
        "cultist-wars",
        "bot",
        "builtin:greedy",
        "-d",
        "5",
        "--time-scale",
        "20",
        "--replay",
        "m.replay",
    ];
    let series = [
        "sprt",
        "cultist-wars",
        "bot",
        "builtin:greedy",
        "-n",
        "2",
        "-j",
        "1",
        "--time-scale",
        "20",
        "--journal",
        "s/j.jsonl",
    ];
    let again = |resume: &[&str]| {
        place.well(&played);
        place.well(&[
            "referee",
            "cultist-wars",
            "-p1",
            "sh bot/run.sh",
            "-p2",
            "sh bot/run.sh",
            "-l",
            "log.json",
            "--time-scale",
            "20",
        ]);
        place.well(&["replay", "export", "m.replay", "--format", "json", "-o", "all.json"]);
        place.well(&["replay", "redact", "m.replay", "--keep-seat", "1", "-o", "mine.replay"]);
        place.well(&[&series[..], resume].concat());
    };
    again(&[]);
    let made = ["m.replay", "log.json", "all.json", "mine.replay", "s/j.jsonl"];
    for name in made {
        mode(&place.path.join(name), 0o666);
    }
    mode(&place.path.join("s"), 0o755);
    again(&["--resume"]);
    for name in made {
        assert!(!place.is_open(Path::new(name)), "{name} is still open");
    }

    // A contest as earlier versions left it.
    let mut serve = place.command(&["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut server.0, Duration::from_secs(120));
    interrupt(&mut server);
    place.well(&["serve", "add", "cup", "bot", "--team", "Ann"]);
    for path in place.all().iter().filter(|path| path.starts_with("cup")) {
        let path = place.path.join(path);
        mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    std::fs::create_dir(place.path.join("cup/packages")).expect("a folder");
    mode(&place.path.join("cup/packages"), 0o755);
    let start = || {
        let mut serve = place.command(&["serve", "cup", "-j", "0", "--port", "0"]);
        let child = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("agon starts");
        let mut server = Running(child);
        site_of(&mut server.0, Duration::from_secs(120));
        let mut said = server.0.stderr.take().expect("piped");
        interrupt(&mut server);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut said, &mut text).expect("text");
        text
    };
    let said = start();
    assert_eq!(
        said.lines().filter(|line| line.contains("other users of this machine could read")).count(),
        1,
        "{said}"
    );
    for path in place.all().iter().filter(|path| path.starts_with("cup")) {
        let own = std::fs::metadata(place.path.join(path)).expect("it is there").mode() & 0o777;
        let wanted = if path.ends_with("packages") {
            0o755
        } else if place.path.join(path).is_dir() {
            0o700
        } else {
            0o600
        };
        assert_eq!(own, wanted, "{}", path.display());
    }
    assert!(!start().contains("could read"), "it is said once");
}

/// Whoever may not write to a contest's folder is told that, not that some file of it is missing.
#[test]
fn a_folder_that_cannot_be_written_to_says_so() {
    let (_folder, place) = place("022");
    let mut serve = place.command(&["serve", "cup", "--new", "cultist-wars", "-j", "0", "--port", "0"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut server.0, Duration::from_secs(120));
    interrupt(&mut server);
    let cup = place.path.join("cup");
    let is_root = rustix::process::getuid().is_root();
    if is_root {
        // Nothing keeps root from writing but a disk that is read-only.
        let unshared =
            Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
        if !unshared {
            println!("SKIPPED: root cannot make a read-only disk here");
            return;
        }
    } else {
        mode(&cup, 0o500);
    }
    for words in [
        &["serve", "cup", "--no-site", "-j", "0"][..],
        &["serve", "status", "cup"],
        &["serve", "backup", "cup", "b"],
    ] {
        let output = if is_root {
            let script = "mount --bind cup cup && mount -o remount,ro,bind cup && exec \"$0\" \"$@\"";
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_agon")]).args(words);
            command.current_dir(&place.path).env("NO_COLOR", "1").output().expect("unshare is there")
        } else {
            place.run(words)
        };
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}{}", out(&output), err(&output));
        assert!(err(&output).contains("cup cannot be written to: "), "{words:?}: {}", err(&output));
        assert!(!err(&output).contains("panicked"), "{words:?}: {}", err(&output));
    }
    mode(&cup, 0o700);
}
