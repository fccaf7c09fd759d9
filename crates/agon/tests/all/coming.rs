//! Newcomers from the original contests: every command in the tables of `docs/coming.md` is run with a bot of that shape.

use std::path::Path;

use crate::common::{agon, err, folder, out};

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming.md"))
        .expect("the page")
}

/// The commands in the tables of the section with the heading `title`.
fn commands(title: &str) -> Vec<String> {
    let page = page();
    let section = page.split("\n## ").find(|section| section.starts_with(title)).expect("a section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.filter(|row| *row != "you have | you type");
    let command = |row: &str| {
        let (_, cell) = row.split_once(" | ")?;
        Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned()).filter(|line| line.starts_with("agon "))
    };
    // Every row of the tables must hold a command that can be run.
    rows.map(|row| command(row).unwrap_or_else(|| panic!("{title}: no command in `{row}`"))).collect()
}

/// A bot of Cultist Wars in each form that a table names; all wait.
const PYTHON: &str = "for _ in range(9): input()\nwhile True:\n    for _ in range(int(input())): input()\n    print('WAIT', flush=True)\n";
const JAVA: &str = "import java.util.*;\nclass Player { public static void main(String[] a) { Scanner in = new Scanner(System.in); for (int \
    i = 0; i < 9; i++) in.nextLine();\nwhile (in.hasNextLine()) { int n = Integer.parseInt(in.nextLine()); while (n-- > 0) in.nextLine(); \
    System.out.println(\"WAIT\"); } } }\n";
const CPP: &str = "#include <iostream>\nusing namespace std;\nint main() { string s; for (int i = 0; i < 9; i++) getline(cin, s);\nwhile \
    (getline(cin, s)) { int n = stoi(s); while (n--) getline(cin, s); cout << \"WAIT\" << endl; } }\n";
const SCRIPT: &str = "for (let i = 0; i < 9; i++) readline();\nfor (;;) { const n = readline(); if (!n) break; for (let i = 0; i < +n; i++) \
    readline(); console.log('WAIT'); }\n";

/// An algo of Terminal that does nothing.
const ALGO: &str = "import java.util.*;\nclass Algo { public static void main(String[] a) { Scanner in = new Scanner(System.in);\nwhile \
    (in.hasNextLine()) if (in.nextLine().contains(\"\\\"turnInfo\\\":[0\")) System.out.println(\"[]\\n[]\"); } }\n";

/// Runs an agon command, which must succeed.
fn run(folder: &Path, words: &[&str]) -> String {
    let mut command = crate::common::command(folder, words);
    let done = command.env("AGON_CACHE", folder.join("cache")).output().expect("agon starts");
    assert!(done.status.success(), "agon {}: {}{}", words.join(" "), out(&done), err(&done));
    out(&done)
}

/// Runs every command of a section. Commands whose needs are missing are skipped with a message.
fn run_all(folder: &Path, title: &str, needs: &[(&str, &str)]) {
    let lines = commands(title);
    assert!(lines.len() >= 3, "{title}: {lines:?}");
    for line in lines {
        let words = shlex::split(&line).expect("a command");
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words.remove(0), "agon", "{line}");
        let missing =
            needs.iter().find(|(part, tool)| line.contains(part) && !agon_bot::tools::is_installed(tool));
        if let Some((_, tool)) = missing {
            println!("skipped: `{line}` needs {tool}");
            continue;
        }
        // Test machines may be slow.
        match words[0] {
            "play" => words.extend(["--time-scale", "20", "--fail-on-fault", "--no-replay", "--quiet"]),
            "gauntlet" | "referee" => words.extend(["--time-scale", "20"]),
            _ => {}
        }
        // A few steps of the longest games are enough.
        match words[1] {
            "jungle-blitz" if words[0] == "play" => words.extend(["--set", "totalTick=30"]),
            "deerhunt" => words.extend(["--set", "max_rounds=20"]),
            _ => {}
        }
        run(folder, &words);
    }
}

#[test]
fn cultist_wars() {
    let folder = folder();
    for (name, text) in [("bot.py", PYTHON), ("Player.java", JAVA), ("bot.cpp", CPP), ("bot.js", SCRIPT)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let needs = [(".py", "python3"), (".java", "javac"), (".cpp", "g++"), (".js", "node")];
    run_all(folder.path(), "Cultist Wars", &needs);
}

#[test]
fn terminal() {
    let folder = folder();
    run(folder.path(), &["new", "terminal", "python", "my-algo"]);
    if !agon_bot::tools::is_installed("python3") {
        println!("skipped: python3 is not installed here");
        return;
    }
    run(folder.path(), &["pack", "my-algo"]);
    let rules = run(folder.path(), &["rules", "terminal", "--preset", "europe-2025"]);
    std::fs::write(folder.path().join("game-configs.json"), rules).expect("a file");
    let bots = ["builtin:rush", "builtin:rush"];
    run(folder.path(), &["play", "terminal", bots[0], bots[1], "--replay", "ours.replay", "--quiet"]);
    run(folder.path(), &["replay", "export", "ours.replay", "--format", "terminal", "-o", "match.replay"]);
    std::fs::rename(folder.path().join("my-algo.zip"), folder.path().join("handed-in.zip"))
        .expect("our own file");
    std::fs::copy(folder.path().join("handed-in.zip"), folder.path().join("my-algo.zip"))
        .expect("our own file");
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("old-configs.json", include_str!("../../../../games/terminal/tests/first-season.json"));
    let run_sh = "#!/bin/sh\nwhile read -r line; do case $line in *'\"turnInfo\":[0'*) printf '[]\\n[]\\n';; esac; done\n";
    write("old-algo/run.sh", run_sh);
    write("built-algo/algo-target/run.sh", run_sh);
    write("java-algo/algo.json", "{\"language\": \"java\"}");
    write("java-algo/src/Algo.java", ALGO);
    run_all(folder.path(), "Terminal", &[("java-algo", "javac")]);
}

#[test]
fn jungle_blitz() {
    let folder = folder();
    run(folder.path(), &["new", "jungle-blitz", "python", "my-bot"]);
    let map = run(folder.path(), &["maps", "jungle-blitz", "easy-glade"]);
    std::fs::write(folder.path().join("mine.txt"), map).expect("a file");
    run_all(folder.path(), "Jungle Blitz", &[("my-bot", "python3")]);
}

#[test]
fn deerhunt() {
    let folder = folder();
    run(folder.path(), &["new", "deerhunt", "python", "my-bot"]);
    run_all(folder.path(), "Deerhunt", &[("my-bot", "python3")]);
}

#[test]
fn ostibot() {
    let folder = folder();
    run(folder.path(), &["new", "ostibot", "javascript", "my-bot"]);
    std::fs::copy(folder.path().join("my-bot/bot.js"), folder.path().join("bot.js")).expect("our own file");
    run_all(folder.path(), "Ostibot", &[("node", "node")]);
}

#[test]
fn a_bot_on_another_machine() {
    if !agon_bot::tools::is_installed("python3") {
        println!("skipped: python3 is not installed here");
        return;
    }
    let folder = folder();
    std::fs::write(folder.path().join("bot.py"), PYTHON).expect("a file");
    std::fs::write(folder.path().join("token"), "a token of the tests, long enough\n").expect("a file");
    let secret = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(folder.path().join("token"), secret).expect("our own file");
    // Both sides are this machine, on a free port.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = free.local_addr().expect("an address").to_string();
    drop(free);
    let lines = commands("A bot on another machine");
    let [play, join] = &lines[..] else { panic!("two lines: {lines:?}") };
    let words = |line: &str, of: &str| {
        assert!(line.contains(of), "{line}");
        let mut words = shlex::split(&line.replace(of, &place)).expect("a command");
        assert_eq!(words.remove(0), "agon", "{line}");
        words
    };
    let play = words(play, "0.0.0.0:7878");
    let mut play: Vec<&str> = play.iter().map(String::as_str).collect();
    play.extend(["--time-scale", "20", "--fail-on-fault", "--no-replay", "--quiet"]);
    let mut playing = crate::common::command(folder.path(), &play)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("agon starts");
    let join = words(join, "192.168.1.20:7878");
    let join: Vec<&str> = join.iter().map(String::as_str).collect();
    let began = std::time::Instant::now();
    let joined = loop {
        let joined = agon(folder.path(), &join);
        let early = err(&joined).contains("nobody waits") && playing.try_wait().expect("our child").is_none();
        if !early || began.elapsed() > std::time::Duration::from_secs(60) {
            break joined;
        }
    };
    let played = playing.wait_with_output().expect("agon ends");
    assert!(joined.status.success(), "{}{}", err(&joined), err(&played));
    assert!(played.status.success(), "{}{}", out(&played), err(&played));
}

#[test]
fn messages_that_people_search_for_are_found() {
    for text in [
        "has been compiled by a more recent version of the Java Runtime",
        "engine.jar",
        "'py' is not recognized",
        "JSONDecodeError",
        "JsonSyntaxException",
    ] {
        let found = out(&agon(Path::new("."), &["docs", "--find", text]));
        assert!(found.contains("coming"), "{text}: {found}");
    }
}
