//! What a bot's author does with agon: check, build, fork and redact.

use crate::common::json;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A bot that always waits, in a shell; `$1` (if any) is what it does in its tenth turn.
const WAITER: &str = "#!/bin/sh
i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
turn=0
while read -r n; do
    while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
    turn=$((turn+1))
    echo \"thinking about turn $turn\" >&2
    if [ $turn -eq 10 ] && [ -n \"$1\" ]; then eval \"$1\"; else echo WAIT; fi
done
";

struct Author {
    folder: TempDir,
}

impl Author {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let own = Self { folder };
        own.write("waiter.sh", WAITER);
        own
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command
            .args(arguments)
            .current_dir(self.path().join(folder))
            .env("NO_COLOR", "1")
            .env("AGON_CACHE", self.path().join("cache"));
        command
    }

    fn agon(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        self.agon_in("", arguments)
    }

    fn agon_in(&self, folder: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let Output { status, stdout, stderr } =
            self.command(folder, arguments).output().expect("agon starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (status.code(), text(stdout), text(stderr))
    }

    /// `agon check` with wide limits: the test is about what is reported.
    fn check(&self, bot: &str) -> (Option<i32>, Value) {
        let (code, out, err) =
            self.agon(&["check", "cultist-wars", bot, "--json", "--time-scale", "20", "--seed", "1"]);
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}")))
    }
}

fn finding<'a>(report: &'a Value, what: &str) -> &'a Value {
    let all = report["findings"].as_array().expect("a list");
    all.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("no `{what}` in {report:#}"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn a_good_bot_passes_its_check() {
    let author = Author::new();
    let (code, report) = author.check("waiter.sh");
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report["failed"], 0);
    let situations =
        ["with few units left", "on a crowded board", "on the last turn", "with the largest input"];
    let basics =
        ["starts in time", "answers every turn", "form of answers", "allowed orders", "no stray output"];
    for what in situations.iter().chain(&basics).chain(&["exits at end of input"]) {
        assert_eq!(finding(&report, what)["status"], "passed", "{what}: {report:#}");
    }
    assert!(text(finding(&report, "repeatable"), "seen").starts_with("yes"));
    // The same for people, with a summary readable at a glance.
    let (_, out, _) = author.agon(&["check", "cultist-wars", "waiter.sh", "--time-scale", "20"]);
    assert!(out.contains("✓ answers every turn") && out.contains("none failed"), "{out}");
    // Quietly, only what did not pass.
    let (code, out, _) = author.agon(&["check", "cultist-wars", "waiter.sh", "--time-scale", "20", "-q"]);
    assert!(code == Some(0) && !out.contains('✓') && out.contains("none failed"), "{out}");
}

#[test]
fn each_mistake_is_found_and_said() {
    let author = Author::new();
    let cases = [
        ("exit 4", "answers every turn", "exit code 4", None),
        ("echo hello", "form of answers", "`hello` is not an action", None),
        ("echo 13 SHOOT 0", "allowed orders", "rejected, which lost", Some("CW-ORDER-1")),
        ("echo WAIT; echo WAIT", "no stray output", "the answer arrived before the question", None),
        ("sleep 1000", "answers every turn", "no complete answer within", None),
    ];
    std::thread::scope(|scope| {
        for (number, (does, what, words, rule)) in cases.into_iter().enumerate() {
            let author = &author;
            scope.spawn(move || {
                let file = format!("bad-{number}.sh");
                author.write(&file, &WAITER.replacen("turn=0", &format!("turn=0; set -- '{does}'"), 1));
                let (code, report) = author.check(&file);
                let found = finding(&report, what);
                assert_eq!((code, found["status"].as_str()), (Some(1), Some("failed")), "{does}: {report:#}");
                assert!(text(found, "seen").contains(words), "{does}: {found}");
                assert!(text(found, "place").contains("turn"), "{does}: {found}");
                assert!(
                    !text(found, "change").is_empty() && text(found, "again").starts_with("agon "),
                    "{found}"
                );
                assert_eq!(found["rule"].as_str(), rule, "{does}: {found}");
            });
        }
    });
}

#[test]
fn a_bot_that_cannot_start_is_told_so_once() {
    let author = Author::new();
    author.write("empty", "");
    let (code, report) = author.check("./empty");
    assert_eq!(code, Some(1));
    let found = finding(&report, "starts in time");
    assert!(text(found, "seen").contains("the file is empty"), "{found}");
    // One that never answers does not start in time either.
    author.write("late.sh", "#!/bin/sh\nsleep 1000\n");
    let (_, late) = author.check("late.sh");
    let late = finding(&late, "starts in time");
    assert!(text(late, "seen").starts_with("no first answer in"), "{late}");
    // Without any answers, nothing about answers passes.
    let findings = report["findings"].as_array().expect("a list");
    assert!(findings.iter().all(|one| one["status"] != "passed"), "{report:#}");
    let failed =
        report["findings"].as_array().expect("a list").iter().filter(|one| one["status"] == "failed");
    assert_eq!(failed.count(), 1, "{report:#}");
    let (code, _, err) = author.agon(&["check", "cultist-wars", "no-such-bot"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no such file or folder"), "{err}");
}

/// A bot that hangs is waited for in a bounded number of questions, not in every match.
#[test]
fn a_bot_that_hangs_ends_its_check() {
    let author = Author::new();
    author.write("never.sh", "#!/bin/sh\nwhile read -r line; do :; done\n");
    // In the first game a late answer ends the match, in the other it goes on.
    for (game, bot) in [("cultist-wars", "never.sh"), ("jungle-blitz", "lines:sh never.sh")] {
        let (code, out, err) = author.agon(&["check", game, bot, "--json", "--seed", "1"]);
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        let played = report["matches"].as_u64().expect("a number");
        assert!(code == Some(1) && played <= 5, "{game} {bot}: {report:#}");
        let found = finding(&report, "answers every turn");
        let seen = text(found, "seen");
        assert!(seen.starts_with("timeout: no complete answer within "), "{game} {bot}: {seen}");
        let more = seen.rsplit_once("(and ").map_or("0", |(_, more)| more.trim_end_matches(" more)"));
        assert!(more.parse::<u32>().expect("a number") < 20, "{game} {bot}: {seen}");
        assert!(text(found, "again").starts_with("agon play"), "{game} {bot}: {found}");
        let cut = text(finding(&report, "cut short"), "seen");
        assert!(cut.starts_with(&format!("{played} of 1")), "{game} {bot}: {cut}");
    }
}

#[test]
fn a_folder_says_what_is_checked_and_played_in_it() {
    let author = Author::new();
    author.write("mein böt/run.sh", WAITER);
    author.write("mein böt/agon.toml", "[defaults]\ngame = 'cultist-wars'\nopponents = ['builtin:idle']\n");
    let (code, out, err) =
        author.agon_in("mein böt", &["play", "--time-scale", "20", "--json", "--no-replay"]);
    let result: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    assert_eq!((code, result["game"].as_str()), (Some(0), Some("cultist-wars")), "{err}");
    assert_eq!(result["seats"][1]["bot"], "idle");
    let (code, out, err) = author.agon_in("mein böt", &["check", "--time-scale", "20"]);
    assert_eq!(code, Some(0), "{out}{err}");
    // Where the defaults are missing, the message says what to do.
    let (code, _, err) = author.agon(&["play"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("whose agon.toml names it"), "{err}");
    author.write("half/agon.toml", "[defaults]\nopponents = []\n");
    let (_, _, err) = author.agon_in("half", &["check"]);
    assert!(err.contains("add [defaults] with game"), "{err}");
    author.write("half/agon.toml", "[defaults]\ngame = 'cultist-wars'\nopponent = 'x'\n");
    let (code, _, err) = author.agon_in("half", &["check"]);
    assert!(code == Some(2) && err.contains("agon.toml:3:1: there is no key `defaults.opponent`"), "{err}");
}

#[test]
fn a_change_is_checked_at_once() {
    let author = Author::new();
    author.write("bot.sh", &WAITER.replace("echo WAIT", "echo NO"));
    let arguments = ["check", "cultist-wars", "bot.sh", "--watch", "--json", "--time-scale", "20"];
    let mut child = author.command("", &arguments).stdout(Stdio::piped()).spawn().expect("agon starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let mut next = || -> Value {
        let line = lines.next().expect("a report").expect("text");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    };
    assert_eq!(finding(&next(), "form of answers")["status"], "failed");
    // Even within the same second, and with another length.
    author.write("bot.sh", WAITER);
    assert_eq!(finding(&next(), "form of answers")["status"], "passed");
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a process has an id");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("our own child");
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("our own child").is_none() {
        assert!(Instant::now() < until, "Ctrl-C ends it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_bot_is_built_once() {
    let author = Author::new();
    // The compiler leaves a trace of having run; its messages come unchanged.
    author.write("own/bot.sh", WAITER);
    author.write("own/agon.toml", "build = 'sh make.sh'\nrun = './bot'\nenv = { HOW = 'well' }\n");
    author.write("own/make.sh", "echo made $HOW; cp bot.sh bot; chmod +x bot; echo x >> ../made\n");
    let times = || std::fs::read_to_string(author.path().join("made")).unwrap_or_default().lines().count();
    let (code, out, err) = author.agon(&["build", "own"]);
    assert!(code == Some(0) && err.contains("made well") && out.contains("own: built in "), "{out}{err}");
    let (_, out, _) = author.agon(&["build", "own"]);
    assert!(out.contains("own: up to date"), "{out}");
    assert_eq!(times(), 1);
    author.write("own/bot.sh", &WAITER.replace("thinking", "pondering"));
    let play = [
        "play",
        "cultist-wars",
        "own",
        "builtin:idle",
        "--build",
        "--time-scale",
        "20",
        "--json",
        "--no-replay",
    ];
    assert_eq!(author.agon(&play).0, Some(0));
    assert_eq!(times(), 2, "it had changed");
    assert_eq!(author.agon(&["build", "own", "--force"]).0, Some(0));
    assert_eq!(times(), 3);
    author.write("own/make.sh", "echo 'bot.cpp:1: no such thing' >&2; exit 3\n");
    let (code, out, err) = author.agon(&["build", "own"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("bot.cpp:1: no such thing") && out.contains("ended with exit status: 3"),
        "{out}{err}"
    );
}

#[test]
fn a_change_after_the_build_is_told() {
    let author = Author::new();
    author.write("own/bot.py", "print('WAIT')");
    author.write("own/agon.toml", "build = 'sh make.sh'\nrun = 'sh made'\n");
    author.write("own/make.sh", "echo echo WAIT > made\n");
    let told = || {
        let (_, _, err) =
            author.agon(&["play", "cultist-wars", "own", "builtin:idle", "--no-replay", "--json"]);
        err.contains("note: own changed since it was built; `agon build own`")
    };
    assert_eq!(author.agon(&["build", "own"]).0, Some(0));
    assert!(!told(), "just built");
    author.write("own/bot.py", "print('MOVE')");
    assert!(told(), "changed since");
    // Building by hand counts as building, too.
    author.write("own/made", "echo MOVE\n");
    assert!(!told(), "the program is newer than its source");
    author.write("own/bot.py", "print('WAIT')");
    assert_eq!(author.agon(&["build", "own"]).0, Some(0));
    assert!(!told(), "built again");
}

#[test]
fn a_source_file_is_compiled_into_the_cache() {
    let author = Author::new();
    author.write("read only/mein böt.c", "int main(void) { return 7; }");
    let source = "read only/mein böt.c";
    let play = ["play", "cultist-wars", source, "builtin:idle", "--no-replay", "--json"];
    let folder = author.path().join("read only");
    let lock = |mode| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).expect("our own folder");
    };
    lock(0o555);
    let built = author.agon(&["build", source]);
    let played = author.agon(&play);
    lock(0o755);
    assert_eq!(built.0, Some(0), "{built:?}");
    assert!(played.1.contains("exit code 7") && !played.2.contains("building"), "{played:?}");
    // Once changed, it is no longer the one in the cache.
    author.write(source, "int main(void) { return 8; }");
    let played = author.agon(&play);
    assert!(
        played.1.contains("exit code 8") && played.2.contains("building read only/mein böt.c: gcc"),
        "{played:?}"
    );
    // A bot that does not compile does not play, and the compiler says why.
    author.write(source, "int main(void) { return x; }");
    let (code, _, err) = author.agon(&play);
    assert!(code == Some(2) && err.contains("mein böt.c:1:") && err.contains("cannot be built"), "{err}");
}

/// Plays a match that `waiter.sh` loses by its tenth turn, and returns its replay.
fn lost_match(author: &Author) -> &'static str {
    author.write("loser.sh", &WAITER.replacen("turn=0", "turn=0; set -- 'echo 13 SHOOT 0'", 1));
    let arguments = [
        "play",
        "cultist-wars",
        "loser.sh",
        "builtin:greedy",
        "--seed",
        "5",
        "--replay",
        "lost.replay",
        "--time-scale",
        "20",
    ];
    let (code, out, err) = author.agon(&arguments);
    assert!(code == Some(0) && out.contains("CW-ORDER-1"), "{out}{err}");
    "lost.replay"
}

#[test]
fn todays_bot_takes_up_yesterdays_match() {
    let author = Author::new();
    let lost = lost_match(&author);
    let fork = |turn: &str, bot: &str| {
        let arguments = [
            "replay",
            "fork",
            lost,
            bot,
            "--seat",
            "1",
            "--turn",
            turn,
            "--json",
            "--time-scale",
            "20",
            "--replay",
            "new.replay",
        ];
        let (code, out, err) = author.agon(&arguments);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{out}{err}"))
    };
    // A bot that does not make the mistake plays on where the match was lost.
    let result = fork("19", "waiter.sh");
    assert_eq!((&result["asked"], &result["same"]), (&Value::from(9), &Value::from(9)), "{result:#}");
    assert_eq!(result["first_difference"], Value::Null);
    let choice = &result["first_choice"];
    assert_eq!((text(choice, "now"), text(choice, "recorded")), ("WAIT", "13 SHOOT 0"), "{choice}");
    assert_eq!(result["recorded"]["scores"][0], -1.0);
    assert!(result["result"]["turns"].as_u64().expect("a number") > 19, "{result:#}");
    let (code, out, _) = author.agon(&["replay", "verify", "new.replay"]);
    assert!(code == Some(0) && out.contains("verified"), "{out}");
    // The same bot makes the same mistake again; up to the end of the record it is only compared.
    let result = fork("19", "loser.sh");
    assert_eq!(result["result"]["seats"][0]["score"], -1.0);
    let result = fork("last", "waiter.sh");
    assert_eq!((&result["asked"], &result["same"]), (&Value::from(10), &Value::from(9)));
    assert_eq!(text(&result["first_difference"], "recorded"), "13 SHOOT 0");
    // Another opponent from the turn on.
    let (code, out, err) = author.agon(&[
        "replay",
        "fork",
        lost,
        "waiter.sh",
        "--seat",
        "1",
        "--turn",
        "0",
        "--against",
        "builtin:idle",
        "--time-scale",
        "20",
    ]);
    assert!(code == Some(0) && out.contains("now       draw"), "{out}{err}");
    let (code, _, err) = author.agon(&["replay", "fork", lost, "waiter.sh", "--seat", "3", "--turn", "0"]);
    assert!(code == Some(2) && err.contains("a seat from 1 to 2"), "{err}");
    let (code, _, err) = author.agon(&["replay", "fork", lost, "waiter.sh", "--seat", "1", "--turn", "77"]);
    assert!(code == Some(2) && err.contains("a number from 1 to 20"), "{err}");
}

#[test]
fn a_redacted_replay_tells_no_secrets_and_verifies() {
    let author = Author::new();
    let lost = lost_match(&author);
    let export = |file: &str| author.agon(&["replay", "export", file, "--format", "json"]).1;
    assert!(export(lost).contains("thinking about turn 3"));
    let (code, out, err) = author.agon(&["replay", "redact", lost]);
    assert!(code == Some(0) && out.contains("lost.public.replay: 10 private notes"), "{out}{err}");
    assert!(!export("lost.public.replay").contains("thinking about turn"));
    let (code, _, _) = author.agon(&["replay", "redact", lost, "--keep-seat", "1", "-o", "mine.replay"]);
    assert_eq!(code, Some(0));
    assert!(export("mine.replay").contains("thinking about turn 3"));
    let (code, out, _) = author.agon(&["replay", "verify", "lost.public.replay", "mine.replay"]);
    assert!(code == Some(0) && out.matches(": verified:").count() == 2, "{out}");
}

#[test]
fn the_doctor_lists_what_there_is() {
    let author = Author::new();
    let (code, out, err) = author.agon(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    assert_eq!(code, Some(0), "{out}");
    for what in ["Python", "CPUs", "swap", "open files", "temporary folder", "sandbox"] {
        let found = finding(&report, what);
        assert!(!text(found, "seen").is_empty() && !text(found, "state").is_empty(), "{found}");
    }
    // Anything that prevents playing is a failed check.
    let mut command = author.command("", &["doctor"]);
    let output = command.env("AGON_CACHE", "/dev/null/cache").output().expect("agon starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("set AGON_CACHE to a writable folder"));
}

#[test]
fn the_doctor_has_no_tick_for_a_compiler_that_does_not_run() {
    let author = Author::new();
    let shim = "#!/bin/sh\necho 'error: rustup could not choose a version of rustc to run, 1 is needed' >&2\nexit 1\n";
    author.write("shims/rustc", shim);
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(author.path().join("shims/rustc"), runs).expect("our own file");
    let path =
        format!("{}:{}", author.path().join("shims").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = author.command("", &["doctor", "--json"]);
    let output = command.env("PATH", &path).output().expect("agon starts");
    let report = json(&output);
    let rust = finding(&report, "Rust");
    assert_eq!(text(rust, "state"), "warning", "{rust}");
    assert!(text(rust, "seen").contains("does not run: error: rustup could not choose"), "{rust}");
    assert!(text(rust, "fix").contains("rustup default stable"), "{rust}");
    let made = author
        .command("", &["new", "cultist-wars", "rust", "mine"])
        .env("PATH", path)
        .output()
        .expect("agon starts");
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{said}");
}
