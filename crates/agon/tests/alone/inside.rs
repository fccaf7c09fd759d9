//! What runs in a sandbox besides matches: builds, and the unpacking of archives. Without a sandbox on this machine the
//! tests say so and pass.
//! Longer than 500 lines: what a bot finds inside is tested with the same few bots and ways to ask for a sandbox.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{WAITER, command, err, folder, good, json, mode, out, write_program as write};
use serde_json::Value;

/// Whether this machine has a sandbox.
fn has_one() -> bool {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > agon_sandbox::Level::B {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
    }
    found.level <= agon_sandbox::Level::B
}

/// The level here.
fn level_of_sandbox() -> agon_sandbox::Level {
    agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon"))).level
}

fn agon(at: &Path, words: &[&str]) -> Output {
    command(at, words)
        .env("AGON_CACHE", at.join("cache"))
        .env("HOME", at.join("home"))
        .output()
        .expect("agon")
}

/// The folder that an archive was unpacked into.
fn unpacked(at: &Path) -> std::path::PathBuf {
    let below = |folder: &Path| {
        let mut entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries.next().expect("an entry").path()
    };
    below(&below(&below(&at.join("cache/unpacked"))))
}

/// A build that tries to get out and leaves traps behind: links, a pipe, a set-user-id bit, a process.
const HOSTILE: &str = r#"#!/bin/sh
exec 2>&1
echo built > made
mkdir -p deep/er; echo kept > deep/er/file
ln -s /etc/passwd passwd; ln -s SECRET secret; ln made made-twice
mkfifo pipe; chmod 6755 made
(setsid sleep 1000 </dev/null >/dev/null 2>&1 &)
[ -r SECRET ] && echo LEAK: a file outside
(echo > OUTSIDE/written) 2>/dev/null && echo LEAK: wrote outside
grep : /proc/net/dev 2>/dev/null | grep -qv ' lo:' && echo LEAK: interfaces
[ -n "$AGON_TEST_HIDDEN" ] && echo LEAK: the environment
kill -0 PARENT 2>/dev/null && echo LEAK: a process outside
echo "as $(id -u)"
"#;

#[test]
fn a_strangers_build_runs_inside_and_only_files_come_out() {
    if !has_one() {
        return;
    }
    let at = folder();
    let outside = crate::common::folder_not_in_tmp();
    mode(outside.path(), 0o777);
    write(outside.path(), "secret", "do not read me");
    let secret = outside.path().join("secret");
    let build = HOSTILE
        .replace("SECRET", &secret.display().to_string())
        .replace("OUTSIDE", &outside.path().display().to_string())
        .replace("PARENT", &std::process::id().to_string());
    write(at.path(), "bot/build.sh", &build);
    write(at.path(), "bot/bot", WAITER);
    write(at.path(), "bot/agon.toml", "build = './build.sh'\nrun = './bot'\n");
    let tar = Command::new("tar").args(["czf", "bot.tar.gz", "bot"]).current_dir(at.path()).status();
    assert!(tar.expect("tar").success());
    let words = ["build", "bot.tar.gz"];
    let mut build = command(at.path(), &words);
    build.env("AGON_CACHE", at.path().join("cache")).env("AGON_TEST_HIDDEN", "x");
    let built = good(build.output().expect("agon starts"));
    assert!(err(&built).contains("in a sandbox"), "{}", err(&built));
    assert!(err(&built).contains("as 1000"), "{}", err(&built));
    assert!(!err(&built).contains("LEAK"), "{}", err(&built));
    let place = unpacked(at.path());
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_default();
    assert_eq!((read("made").as_str(), read("deep/er/file").as_str()), ("built\n", "kept\n"));
    for trap in ["passwd", "secret", "pipe"] {
        assert!(place.join(trap).symlink_metadata().is_err(), "{trap} came out");
    }
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!(place.join("made").metadata().expect("there").mode() & 0o7777, 0o755);
    assert!(!outside.path().join("written").exists());
    // It is built once, and it plays.
    assert!(out(&agon(at.path(), &words)).contains("up to date"));
    let words = ["play", "cultist-wars", "bot.tar.gz", "builtin:idle", "--no-replay", "--json"];
    let played: Value = json(&agon(at.path(), &words));
    assert_eq!(played["seats"][0]["faults"].as_array().map(Vec::len), Some(0), "{played:#}");
}

/// Looks at the system from inside.
const LOOKS: &str = r#"#!/bin/sh
exec 2>&1
echo "shell $(stat -Lc %i /bin/sh)"
for place in /usr/share/doc /usr/games /usr/src /home /root/.cargo /usr/bin/passwd; do
    [ -e $place ] && echo "LEAK: $place"
done
touch /usr/new 2>/dev/null && echo LEAK: changed
echo built > made
"#;

#[test]
fn strangers_see_an_image_in_place_of_this_machine() {
    if !has_one() {
        return;
    }
    use std::os::unix::fs::MetadataExt as _;
    let at = folder();
    write(at.path(), "bot/build.sh", LOOKS);
    write(at.path(), "bot/bot", WAITER);
    write(at.path(), "bot/agon.toml", "build = './build.sh'\nrun = './bot'\n");
    let tar = |name: &str| {
        let tar = Command::new("tar").args(["czf", name, "bot"]).current_dir(at.path()).status();
        assert!(tar.expect("tar").success());
    };
    tar("bot.tar.gz");
    let built = good(agon(at.path(), &["build", "bot.tar.gz"]));
    let said = err(&built);
    assert!(!said.contains("LEAK"), "{said}");
    assert_eq!(said.matches("making an image").count(), 1, "{said}");
    let shell = std::fs::metadata("/bin/sh").expect("a shell").ino();
    let seen: u64 =
        said.lines().find_map(|line| line.strip_prefix("shell ")).expect("a line").parse().expect("a number");
    assert_ne!(seen, shell, "a file of its own");
    // The second time it is there.
    write(at.path(), "bot/more", "another archive");
    tar("again.tar.gz");
    let built = good(agon(at.path(), &["build", "again.tar.gz"]));
    assert!(!err(&built).contains("making an image"), "{}", err(&built));
    let listed = json(&good(agon(at.path(), &["image", "--json"])));
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let seen = agon(at.path(), &["image", "rm", "--old"]);
    assert!(out(&good(seen)).contains("no old images"));
}

#[test]
fn each_result_names_the_image_that_it_was_played_in() {
    if !has_one() {
        return;
    }
    let at = folder();
    write(at.path(), "bot/bot", WAITER);
    write(at.path(), "bot/agon.toml", "run = './bot'\n");
    let images = |sandbox: &str| -> Vec<Value> {
        let words = ["gauntlet", "cultist-wars", "bot", "builtin:idle", "-n", "2", "--seed", "3", "-q"];
        let more = ["--replays", "none", "--sandbox", sandbox, "--journal", sandbox];
        good(agon(at.path(), &[&words[..], &more].concat()));
        let journal = std::fs::read_to_string(at.path().join(sandbox)).expect("a journal");
        let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line.get("ranks").is_some()).map(|mut line| line["images"].take()).collect()
    };
    assert_eq!(images("on"), [Value::Null, Value::Null]);
    let played = images("stranger");
    let listed = json(&good(agon(at.path(), &["image", "--json"])));
    let image = serde_json::json!([listed[0]["image"]]);
    assert_eq!(played, [image.clone(), image]);
}

#[test]
fn a_build_that_takes_too_much_says_of_what() {
    if !has_one() {
        return;
    }
    let at = folder();
    let cases = [
        ("disk", "head -c 2000000000 /dev/zero > big", "out of disk"),
        ("fails", "echo no compiler here; exit 7", "7"),
        ("network", "exec python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))'", "exit"),
        ("missing", "", "needs `no-such-compiler`"),
    ];
    for (name, what, wanted) in cases {
        write(at.path(), &format!("{name}/build.sh"), &format!("#!/bin/sh\n{what}\n"));
        write(at.path(), &format!("{name}/bot"), WAITER);
        let command = if name == "missing" { "no-such-compiler" } else { "./build.sh" };
        write(at.path(), &format!("{name}/agon.toml"), &format!("build = '{command}'\nrun = './bot'\n"));
        let built = agon(at.path(), &["build", name, "--sandbox", "on"]);
        assert_eq!(built.status.code(), Some(1), "{name}: {}{}", out(&built), err(&built));
        assert!(out(&built).contains(wanted), "{name}: {}{}", out(&built), err(&built));
    }
}

/// Compilers of single files, if installed: the same program comes out, and plays.
#[test]
fn compilers_work_inside() {
    if !has_one() {
        return;
    }
    let at = folder();
    let sources = [
        (
            "gcc",
            "bot.c",
            "#include <stdio.h>\nint main(void){int n;char l[999];for(int i=0;i<9;i++)fgets(l,999,stdin);while(fgets(l,999,stdin)){sscanf(l,\"%d\",&n);while(n--)fgets(l,999,stdin);puts(\"WAIT\");fflush(stdout);}}\n",
        ),
        (
            "g++",
            "bot.cpp",
            "#include <iostream>\n#include <string>\nint main(){std::string l;for(int i=0;i<9;i++)std::getline(std::cin,l);while(std::getline(std::cin,l)){int n=std::stoi(l);while(n--)std::getline(std::cin,l);std::cout<<\"WAIT\"<<std::endl;}}\n",
        ),
        (
            "rustc",
            "bot.rs",
            "use std::io::*;fn main(){let mut l=stdin().lines().map(|l|l.unwrap()).skip(9);while let Some(n)=l.next(){for _ in 0..n.trim().parse::<usize>().unwrap(){l.next();}println!(\"WAIT\");}}\n",
        ),
        (
            "javac",
            "Bot.java",
            "import java.util.*;class Bot{public static void main(String[] a){Scanner s=new Scanner(System.in);for(int i=0;i<9;i++)s.nextLine();while(s.hasNextLine()){int n=Integer.parseInt(s.nextLine().trim());while(n-->0)s.nextLine();System.out.println(\"WAIT\");}}}\n",
        ),
        (
            "go",
            "bot.go",
            "package main\nimport (\"bufio\";\"fmt\";\"os\";\"strconv\";\"strings\")\nfunc main(){s:=bufio.NewScanner(os.Stdin);for i:=0;i<9;i++{s.Scan()};for s.Scan(){n,_:=strconv.Atoi(strings.TrimSpace(s.Text()));for ;n>0;n--{s.Scan()};fmt.Println(\"WAIT\")}}\n",
        ),
    ];
    for (compiler, name, text) in sources {
        if !agon_bot::tools::is_installed(compiler) {
            println!("skipped: {compiler} is not installed");
            continue;
        }
        write(at.path(), name, text);
        let words = ["play", "cultist-wars", name, "builtin:idle", "--seed", "7", "--no-replay", "--json"];
        // With the home of the user who runs the tests: compilers are found through it.
        let mut play = command(at.path(), &[&words[..], &["--sandbox", "on"]].concat());
        let played = play.env("AGON_CACHE", at.path().join("cache")).output().expect("agon starts");
        assert!(err(&played).contains("in a sandbox"), "{name}: {}", err(&played));
        let seat = crate::common::played_well(&played, name);
        assert_ne!(seat["sandbox"], "off", "{name}");
    }
}

/// Archives that try to write elsewhere are refused as they are outside, with the same sentences.
#[test]
fn hostile_archives_are_unpacked_inside_and_refused() {
    if !has_one() {
        return;
    }
    let at = folder();
    let entry = |name: &str, kind: tar::EntryType, link: Option<&str>| {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(0);
        if let Some(link) = link {
            header.set_link_name(link).expect("a name");
        }
        header.set_cksum();
        let mut archive = tar::Builder::new(Vec::new());
        archive.append(&header, &b""[..]).expect("a vector takes all");
        archive.into_inner().expect("a vector takes all")
    };
    let cases = [
        (entry("../out", tar::EntryType::Regular, None), "points outside the archive"),
        (entry("link", tar::EntryType::Symlink, Some("/etc")), "is a link or a device"),
        (b"no archive at all".to_vec(), "not a readable archive"),
    ];
    for (number, (bytes, wanted)) in cases.into_iter().enumerate() {
        for sandbox in ["auto", "off"] {
            let name = format!("bad-{number}-{sandbox}.tar");
            std::fs::write(at.path().join(&name), &bytes).expect("a file");
            let built = agon(at.path(), &["build", &name, "--sandbox", sandbox]);
            assert_eq!(built.status.code(), Some(2), "{name}: {}{}", out(&built), err(&built));
            assert!(err(&built).contains(&name) && err(&built).contains(wanted), "{name}: {}", err(&built));
        }
    }
    let left = std::fs::read_dir(at.path().join("cache/unpacked")).map_or(0, |entries| entries.count());
    assert_eq!(left, 0, "nothing is left of what was refused");
}

/// Files of a stranger that only their owner may read are still shown: the sandbox runs as nobody's user.
#[test]
fn files_that_only_their_owner_reads_play() {
    if !has_one() {
        return;
    }
    let at = folder();
    write(at.path(), "home/Downloads/bot/bot", WAITER);
    write(at.path(), "home/Downloads/bot/agon.toml", "run = './bot'\n");
    mode(&at.path().join("home/Downloads/bot/bot"), 0o700);
    mode(&at.path().join("home/Downloads/bot/agon.toml"), 0o600);
    mode(&at.path().join("home/Downloads/bot"), 0o700);
    let bot = at.path().join("home/Downloads/bot").display().to_string();
    let played = agon(at.path(), &["play", "cultist-wars", &bot, "builtin:idle", "--no-replay", "--json"]);
    let seat = crate::common::played_well(&played, "a download");
    assert_ne!(seat["sandbox"], "off");
}

/// A bot that reads a file of its folder and writes another.
const AT_HOME: &str = "#!/usr/bin/env python3
import sys
rd = sys.stdin.readline
rd(); w, h = map(int, rd().split())
for _ in range(h): rd()
open('written', 'w').write(open('data').read())
while l := rd():
    for _ in range(int(l)): rd()
    print('WAIT', flush=True)
";

/// Plays a bot inside; returns its turns, and what it did wrong.
fn plays(at: &Path, bot: &str) -> (u64, String) {
    let words = ["play", "cultist-wars", bot, "builtin:idle", "--seed", "3", "--sandbox", "on"];
    let played = agon(at, &[&words[..], &["--time-scale", "50", "--no-replay", "--json"]].concat());
    if !played.status.success() {
        return (0, err(&played));
    }
    let played: Value = json(&played);
    (played["turns"].as_u64().unwrap_or(0), played["seats"][0]["faults"].to_string())
}

#[test]
fn a_bot_plays_wherever_it_lies() {
    if !has_one() || !agon_bot::tools::is_installed("python3") {
        return;
    }
    let at = folder();
    let put = |name: &str| {
        write(at.path(), &format!("{name}/bot.py"), AT_HOME);
        write(at.path(), &format!("{name}/data"), "x");
    };
    for name in [
        "a",
        "b",
        "x/y",
        "x/z",
        "with space",
        "o'dd \"$é\\",
        "a:b,c=d",
        "m700",
        "up/m700/in",
        "-dash",
        "home/b",
    ] {
        put(name);
    }
    mode(&at.path().join("m700"), 0o700);
    mode(&at.path().join("up/m700"), 0o700);
    std::os::unix::fs::symlink("x/y", at.path().join("link")).expect("a link");
    let lying = [
        "a/../b",
        "b/../a/bot.py",
        "./x//y/",
        "link",
        "link/../z",
        "with space",
        "o'dd \"$é\\",
        "./a:b,c=d",
        "m700",
        "up/m700/in",
        "./-dash",
        "home/b",
    ];
    for bot in lying {
        let (turns, faults) = plays(at.path(), bot);
        assert_eq!(turns, 150, "{bot}: {faults}");
    }
    // From the folder beside it.
    assert_eq!(plays(&at.path().join("b"), "../a").0, 150);
    // In places that a sandbox has of its own.
    for place in ["/tmp", "/dev/shm", "/var/tmp"] {
        let Ok(own) = tempfile::tempdir_in(place) else { continue };
        write(own.path(), "bot/bot.py", AT_HOME);
        write(own.path(), "bot/data", "x");
        let (turns, faults) = plays(at.path(), &own.path().join("bot").display().to_string());
        assert_eq!(turns, 150, "{place}: {faults}");
    }
    // A single file in a folder that is everybody's, or the home, is shown alone.
    let waits = AT_HOME.replace("open('written', 'w').write(open('data').read())", "");
    let single = tempfile::Builder::new().suffix(".py").tempfile_in("/tmp").expect("a file");
    std::fs::write(single.path(), &waits).expect("written");
    write(at.path(), "home/single.py", &waits);
    for file in [single.path().to_owned(), at.path().join("home/single.py")] {
        mode(&file, 0o644);
        let (turns, faults) = plays(at.path(), &file.display().to_string());
        assert_eq!(turns, 150, "{}: {faults}", file.display());
    }
}

#[test]
fn a_kits_start_script_gets_the_python_of_the_path() {
    if !has_one() || !agon_bot::tools::is_installed("python3") {
        return;
    }
    let at = folder();
    // A Python that only the path leads to.
    let real =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3");
    let python = format!("#!/bin/sh\nOF_THE_PATH=1 exec {} \"$@\"\n", out(&real).trim());
    write(at.path(), "own/bin/python3", &python);
    write(at.path(), "bot/run.sh", "#!/bin/sh\n${PYTHON_CMD:-python3} -u bot.py\n");
    write(
        at.path(),
        "bot/bot.py",
        &AT_HOME.replace("open('data').read()", "__import__('os').environ['OF_THE_PATH']"),
    );
    let path =
        format!("{}:{}", at.path().join("own/bin").display(), std::env::var("PATH").unwrap_or_default());
    let words =
        ["play", "cultist-wars", "bot", "builtin:idle", "--sandbox", "on", "--time-scale", "50", "--json"];
    let played = command(at.path(), &words).env("HOME", at.path().join("home")).env("PATH", path).output();
    let played: Value = json(&good(played.expect("agon")));
    assert_eq!(played["turns"], 150, "{played:#}");
}

#[test]
fn node_finds_the_packages_above() {
    if !has_one() || !agon_bot::tools::is_installed("node") {
        return;
    }
    let at = folder();
    write(at.path(), "p/node_modules/one/index.js", "module.exports = 'WAIT';");
    write(at.path(), "p/package.json", "{ \"type\": \"module\" }");
    write(
        at.path(),
        "p/dist/b.js",
        "import one from 'one'; import rl from 'node:readline';
let n = 0, left = -1; let skip = 2;
rl.createInterface({ input: process.stdin }).on('line', (l) => {
  n += 1;
  if (n === 2) skip = 2 + Number(l.split(' ')[1]);
  if (n <= skip) return;
  if (left <= 0) left = Number(l); else left -= 1;
  if (left === 0) console.log(one);
});\n",
    );
    let (turns, faults) = plays(at.path(), "p/dist/b.js");
    assert_eq!(turns, 150, "{faults}");
}

/// What runtimes are told of the memory, and that garbage is collected in time.
#[test]
fn runtimes_know_how_much_memory_they_have() {
    if !has_one() || level_of_sandbox() != agon_sandbox::Level::A {
        return;
    }
    let at = folder();
    // Twenty megabytes of data, and more garbage in a match than there is memory.
    let garbage = "import java.util.*;
class Player { static byte[][] keep = new byte[20][];
  public static void main(String[] a) { Scanner in = new Scanner(System.in); in.nextInt(); in.nextInt(); int h = in.nextInt();
    for (int i = 0; i < h; i++) in.next();
    while (in.hasNextInt()) { int n = in.nextInt(); for (int i = 0; i < n * 6; i++) in.nextInt();
      for (int k = 0; k < 8; k++) keep[k] = new byte[1 << 20];
      System.out.println(\"WAIT\"); } } }
";
    if agon_bot::tools::is_installed("javac") {
        write(at.path(), "java/Player.java", garbage);
        write(at.path(), "java/run.sh", "#!/bin/sh\nexec java Player\n");
        for run in ["./run.sh", "java -cp . Player"] {
            let about = format!("build = 'javac -d . Player.java'\nrun = '{run}'\n[sandbox]\nmemory = 256\n");
            write(at.path(), "java/agon.toml", &about);
            good(agon(at.path(), &["build", "java"]));
            let (turns, faults) = plays(at.path(), "java");
            assert_eq!(turns, 150, "{run}: {faults}");
        }
    } else {
        println!("SKIPPED: Java (javac is not installed)");
    }
    if agon_bot::tools::is_installed("node") {
        let told = "console.error(require('os').totalmem() >> 20, require('v8').getHeapStatistics().heap_size_limit >> 20); process.exitCode = 3";
        write(at.path(), "node/bot.js", told);
        for (memory, wanted) in [("", "768 "), ("[sandbox]\nmemory = 200\n", "200 ")] {
            write(at.path(), "node/agon.toml", &format!("run = 'node bot.js'\n{memory}"));
            let (_, faults) = plays(at.path(), "node");
            assert!(faults.contains(wanted), "{faults}");
        }
    } else {
        println!("SKIPPED: Node (it is not installed)");
    }
}

/// When a download is a single file, the other files beside it are not shown.
#[test]
fn a_single_download_does_not_see_the_others() {
    if !has_one() {
        return;
    }
    let at = folder();
    let looks = WAITER.replacen('\n', "\nls >&2; cat letter.txt >&2\n", 1);
    write(at.path(), "home/Downloads/bot.sh", &looks);
    write(at.path(), "home/Downloads/letter.txt", "not for bots");
    mode(&at.path().join("home/Downloads/bot.sh"), 0o755);
    let bot = at.path().join("home/Downloads/bot.sh").display().to_string();
    let words = ["play", "cultist-wars", &bot, "builtin:idle", "--json", "--replay", "seen.agrp"];
    crate::common::played_well(&agon(at.path(), &words), "a single download");
    let said = agon(at.path(), &["replay", "show", "seen.agrp", "--stderr", "1"]);
    let said = out(&said) + &err(&said);
    assert!(said.contains("bot.sh") && said.contains("letter.txt: No such file"), "{said}");
    assert!(!said.contains("not for bots"), "{said}");
}

#[test]
fn what_cannot_be_shown_is_wrong_and_says_why() {
    let at = folder();
    write(at.path(), "bot/bot", WAITER);
    std::fs::create_dir(at.path().join("home")).expect("a folder");
    let many = (0..40).map(|_| "'/usr'").collect::<Vec<_>>().join(", ");
    for (read, wanted) in [
        ("'/etc'", "`/etc` cannot be shown"),
        ("'/'", "`/` cannot be shown"),
        ("'/proc/self'", "cannot be shown"),
        ("'/tmp'", "cannot be shown"),
        ("'~/'", "is your home"),
        ("'/no/such'", "`/no/such`: no such file or folder"),
        (&many, "40 places are named, but at most 32"),
        ("7", "agon.toml:3:"),
    ] {
        write(at.path(), "bot/agon.toml", &format!("run = './bot'\n[sandbox]\nread = [{read}]\n"));
        let words = ["play", "cultist-wars", "bot", "builtin:idle", "--no-replay", "--sandbox", "on"];
        let played = agon(at.path(), &words);
        assert_eq!(played.status.code(), Some(2), "{read}: {}", err(&played));
        assert!(err(&played).contains(wanted), "{read}: {}", err(&played));
    }
}

/// A process that a bot leaves computing during its opponent's turns is frozen with it; the opponent is not.
#[test]
fn what_computes_in_the_opponents_turns_is_frozen() {
    if !has_one() {
        return;
    }
    let at = folder();
    let spins = WAITER.replacen('\n', "\n(while :; do :; done) </dev/null >/dev/null 2>&1 &\n", 1);
    // Long enough, on a quick machine too, that what passes before it is frozen is a small part.
    let count = "i=0; while [ $i -lt 80000 ]; do i=$((i+1)); done; echo WAIT";
    write(at.path(), "spins/bot", &spins);
    write(at.path(), "thinks/bot", &WAITER.replace("echo WAIT", count));
    for bot in ["spins", "thinks"] {
        write(at.path(), &format!("{bot}/agon.toml"), "run = './bot'\n");
        mode(&at.path().join(bot).join("bot"), 0o755);
    }
    let words = ["play", "cultist-wars", "spins", "thinks", "--no-replay", "--json", "--sandbox", "on"];
    // On a busy machine we may once come too late to see that it computes.
    let frozen = (0..3).any(|_| {
        let result = json(&agon(at.path(), &[&words[..], &["--time-scale", "20"]].concat()));
        let [spinner, thinker] = [0, 1].map(|seat| &result["seats"][seat]);
        assert!(result["notes"].to_string().contains("seat 1 used"), "{result:#}");
        assert_eq!(thinker["faults"].as_array().map(Vec::len), Some(0), "{result:#}");
        let stolen = spinner["time"]["between_ms"].as_f64().expect("known");
        let thought = thinker["time"]["cpu_ms"].as_f64().expect("known");
        println!("{stolen} ms of {thought} ms");
        stolen < 0.2 * thought
    });
    assert!(frozen, "it went on");
}

/// Plays Cultist Wars in Python: `before` runs once at the start, `thinks` before each answer.
fn in_python(before: &str, thinks: &str) -> String {
    format!(
        r#"import os, sys, time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass

def forks(until):
    while time.monotonic() < until:
        if os.fork() == 0:
            burn(0.001)
            os._exit(0)
        os.wait()

read = sys.stdin.readline
{before}
for _ in range(9): read()
turn = 0
while True:
    line = read()
    if not line: break
    for _ in range(int(line)): read()
    {thinks}
    print("WAIT", flush=True)
    turn += 1
"#
    )
}

/// Attacks on the clock by bots whose CPU time no sample of their processes shows. Each must gain nothing.
#[test]
fn processes_that_come_and_go_gain_no_time() {
    if !has_one() || level_of_sandbox() != agon_sandbox::Level::A {
        println!("skipped: CPU time is not counted here");
        return;
    }
    let at = folder();
    let supervisors = "until = time.monotonic() + 0.14
    if turn > 2:
        kids = []
        for _ in range(12):
            kid = os.fork()
            if kid == 0:
                forks(until)
                os._exit(0)
            kids.append(kid)
        for kid in kids: os.waitpid(kid, 0)";
    let ponders = "if turn > 2 and os.fork() == 0:
        os.setsid()
        forks(time.monotonic() + 30)
        os._exit(0)";
    let java = "if os.fork() == 0:
    os.setsid()
    open('/proc/self/comm', 'w').write('java')
    forks(time.monotonic() + 30)
    os._exit(0)";
    for (name, before, thinks) in [
        ("past", "", supervisors),
        ("ponders", "", ponders),
        ("java", java, "pass"),
        ("honest", "", "burn(0.02)"),
    ] {
        write(at.path(), &format!("{name}/bot.py"), &in_python(before, thinks));
        write(at.path(), &format!("{name}/agon.toml"), "run = 'python3 bot.py'\n");
    }
    let play = |one: &str, other: &str| -> Value {
        let words = ["play", "cultist-wars", one, other, "--json", "--sandbox", "on", "--seed", "3"];
        let played = agon(at.path(), &words);
        json(&played)
    };
    // Answers after 140 ms of 50, all of it computed by itself.
    let late = play("past", "builtin:idle");
    let fault = late["seats"][0]["faults"][0]["message"].as_str().unwrap_or_default();
    assert!(fault.contains("within 50 ms"), "{late:#}");
    // What computes in the opponent's turn stands still there, whatever it is called, from its first beat on.
    for name in ["ponders", "java"] {
        let result = play("honest", name);
        let ms = |seat: usize, key: &str| result["seats"][seat]["time"][key].as_f64().expect("known");
        let (stolen, thought) = (ms(1, "between_ms"), ms(0, "cpu_ms"));
        println!("{name}: {stolen} ms in the {thought} ms of its opponent");
        assert!(stolen < thought / 2.0, "{name}: {result:#}");
        assert_eq!(result["seats"][0]["faults"].as_array().map(Vec::len), Some(0), "{name}: {result:#}");
        assert!(result["notes"].to_string().contains("seat 2 used"), "{name}: {result:#}");
    }
    // What was counted stands in the replays, and each charge follows from it.
    let replays = std::fs::read_dir(at.path().join("agon-replays")).expect("replays").flatten();
    let replays = replays.map(|entry| entry.path().display().to_string());
    let replays: Vec<String> = replays.filter(|path| !path.ends_with("LAST.replay")).collect();
    let words: Vec<&str> =
        ["replay", "verify"].into_iter().chain(replays.iter().map(String::as_str)).collect();
    let verified = agon(at.path(), &words);
    assert!(verified.status.success() && replays.len() == 3, "{}{}", out(&verified), err(&verified));
}

/// Every starter whose language is installed: built inside, and played inside and outside with the same result.
#[test]
fn every_starter_plays_inside_as_outside() {
    if !has_one() {
        return;
    }
    let at = folder();
    let run = |folder: &Path, words: &[&str]| command(folder, words).output().expect("agon starts");
    let listed: Value = json(&run(at.path(), &["new", "--json"]));
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut played = 0;
    for starter in listed.as_array().expect("a list") {
        let (game, language, needs) =
            (text(starter, "game"), text(starter, "language"), text(starter, "needs"));
        if !agon_bot::tools::is_installed(&needs) {
            println!("skipped: {game} {language}: {needs} is not installed");
            continue;
        }
        let bot = format!("{game}-{language}");
        let made = run(at.path(), &["new", &game, &language, &bot]);
        assert!(made.status.success(), "{bot}: {}", err(&made));
        let built = run(at.path(), &["build", &bot, "--sandbox", "on"]);
        assert!(built.status.success(), "{bot}: {}{}", out(&built), err(&built));
        // Where time decides between equals, it would decide a match against itself.
        let opponent = starter["opponents"][0].as_str().expect("an opponent");
        let mut words =
            vec!["play", &game, &bot, opponent, "--seed", "5", "--no-replay", "--json", "--time-scale", "20"];
        // Their steps are all alike; a few are enough.
        match &*game {
            "jungle-blitz" => words.extend(["--set", "totalTick=60"]),
            "deerhunt" => words.extend(["--set", "max_rounds=30"]),
            _ => {}
        }
        let of = |sandbox: &str| -> Value {
            let done = run(at.path(), &[&words[..], &["--sandbox", sandbox]].concat());
            json(&done)
        };
        let outside = of("off");
        for sandbox in ["on", "stranger"] {
            let inside = of(sandbox);
            for key in ["turns", "outcome"] {
                assert_eq!(inside[key], outside[key], "{bot}, {sandbox}: {inside:#}");
            }
            for seat in 0..2 {
                assert_eq!(
                    inside["seats"][seat]["score"], outside["seats"][seat]["score"],
                    "{bot}, {sandbox}: {inside:#} {outside:#}"
                );
            }
            let own = &inside["seats"][0];
            assert_ne!(own["sandbox"], "off", "{bot}");
            // On a busy machine, a runtime's threads may run a little past their turn.
            let faults = own["faults"].as_array().expect("a list").iter();
            let worse: Vec<_> = faults.filter(|fault| fault["kind"] != "pondering").collect();
            assert!(worse.is_empty(), "{bot}, {sandbox}: {worse:#?}");
        }
        played += 1;
    }
    println!("{played} starters played inside as outside");
    assert!(played > 0 || !agon_bot::tools::is_installed("python3"));
}
