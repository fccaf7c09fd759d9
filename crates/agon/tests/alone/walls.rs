//! Matches of bots in a sandbox. If this machine cannot contain them, the tests say so and pass.
//!
//! Longer than 500 lines: each test begins with the same few bots, and one with a whole home.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Output;

use crate::common::{WAITER, command, err, folder, good, json, out, write_program as write};
use serde_json::Value;

/// A match of Cultist Wars between `bot` and a built-in that waits, as JSON.
fn play(at: &Path, bot: &str, more: &[&str]) -> Output {
    let mut words = vec!["play", "cultist-wars", bot, "builtin:idle", "--seed", "7", "--no-replay", "--json"];
    words.extend(more);
    command(at, &words).env("HOME", at).output().expect("agon starts")
}

/// The level at which bots are contained here; none if they are not.
fn level() -> Option<String> {
    let at = folder();
    write(at.path(), "bot/bot", WAITER);
    write(at.path(), "bot/agon.toml", "run = './bot'");
    let output = play(at.path(), "bot", &["--sandbox", "on"]);
    let level = serde_json::from_slice::<Value>(&output.stdout)
        .ok()
        .and_then(|result| result["seats"][0]["sandbox"].as_str().map(str::to_owned))
        .filter(|level| level.starts_with(['A', 'B']));
    if level.is_none() {
        println!("skipped: no namespaces here: {}", err(&output));
    }
    level
}

fn first_fault(result: &Value) -> String {
    result["seats"][0]["faults"][0]["message"].as_str().unwrap_or_else(|| panic!("{result:#}")).to_owned()
}

/// A bot that first does something and then plays on.
fn doing(what: &str) -> String {
    WAITER.replace("#!/bin/sh\n", &format!("#!/bin/sh\n{what}\n"))
}

#[test]
fn a_match_inside_ends_as_outside_and_says_how_its_bots_were_held() {
    let Some(level) = level() else { return };
    let at = folder();
    write(at.path(), "bot/bot", WAITER);
    write(at.path(), "bot/agon.toml", "run = './bot'");
    let inside = json(&play(at.path(), "bot", &["--sandbox", "on"]));
    let outside = json(&play(at.path(), "bot", &["--sandbox", "off"]));
    let auto = json(&play(at.path(), "bot", &[]));
    for key in ["turns", "outcome", "seed"] {
        assert_eq!(inside[key], outside[key], "{key}");
    }
    assert_eq!(inside["seats"][0]["score"], outside["seats"][0]["score"]);
    assert_eq!(inside["seats"][0]["sandbox"], Value::from(level.clone()));
    let (letter, open) = level
        .split_once(", ")
        .map_or((&*level, String::new()), |(letter, open)| (letter, format!(" ({open})")));
    assert_eq!(inside["containment"], format!("bots ran in a sandbox of level {letter}{open}"));
    for own in [outside, auto] {
        assert_eq!(own["seats"][0]["sandbox"], "off");
        assert_eq!(own["containment"], "bots ran with the rights of the user who started agon");
    }
    let words =
        ["play", "cultist-wars", "bot", "builtin:idle", "--replay", "r.replay", "--sandbox", "on", "-q"];
    let played = command(at.path(), &words).output().expect("agon starts");
    let line = format!("Note: bots ran in a sandbox of level {level}.");
    assert!(out(&played).contains(&line), "{}{}", out(&played), err(&played));
    let replay = std::fs::read(at.path().join("r.replay")).expect("a replay");
    assert!(!replay.is_empty());
    let words = ["gauntlet", "cultist-wars", "bot", "builtin:idle", "--games", "2", "--journal", "j", "-q"];
    let words = [&words[..], &["--sandbox", "on"]].concat();
    let series = command(at.path(), &words).output().expect("agon starts");
    assert!(out(&series).contains(&format!("sandbox of level {level}")), "{}{}", out(&series), err(&series));
    let journal = std::fs::read_to_string(at.path().join("j")).expect("a journal");
    assert_eq!(journal.matches(&format!("\"sandbox\":[\"{level}\",\"\"]")).count(), 1, "{journal}");
}

#[test]
fn what_a_bot_runs_out_of_is_a_fault_read_from_the_counters() {
    match level().as_deref() {
        Some("A") => {}
        Some(level) => return println!("skipped: nothing counts at level {level}"),
        None => return,
    }
    let at = folder();
    let bots = [
        ("memory", "x=$(head -c 900000000 /dev/zero | tr '\\0' x)", "out of memory, 768 MB"),
        (
            "processes",
            "i=0; while [ $i -lt 80 ]; do sleep 100 </dev/null >/dev/null 2>&1 & i=$((i+1)); done",
            "out of processes, 64",
        ),
        ("disk", "head -c 90000000 /dev/zero | split -b 1000000 - /tmp/x; sync", "out of disk, 64 MB"),
    ];
    for (name, what, wanted) in bots {
        write(at.path(), &format!("{name}/bot"), &doing(what));
        write(at.path(), &format!("{name}/agon.toml"), "run = './bot'");
        let played = play(at.path(), name, &["--sandbox", "on", "--no-timeouts"]);
        let fault = first_fault(&json(&played));
        assert!(fault.starts_with(wanted), "{name}: {fault}");
    }
}

#[test]
fn what_a_bot_writes_goes_to_a_copy_and_is_listed() {
    if level().is_none() {
        return;
    }
    let at = folder();
    write(at.path(), "bot/bot", &doing("echo new > log; echo more >> data; mkdir sub; echo x > sub/y"));
    write(at.path(), "bot/data", "old\n");
    write(at.path(), "bot/agon.toml", "run = './bot'");
    let notes = |result: &Value| result["notes"].to_string();
    let listed = notes(&json(&play(at.path(), "bot", &["--sandbox", "on"])));
    assert!(listed.contains("seat 1 wrote files in its folder: data, log, sub/y"), "{listed}");
    assert!(listed.contains("--keep-files"), "{listed}");
    assert_eq!(std::fs::read_to_string(at.path().join("bot/data")).expect("a file"), "old\n");
    assert!(!at.path().join("bot/log").exists());
    let kept = notes(&json(&play(at.path(), "bot", &["--sandbox", "on", "--keep-files", "kept"])));
    assert!(kept.contains("kept in kept/1-seat-1"), "{kept}");
    let read =
        |name: &str| std::fs::read_to_string(at.path().join("kept/1-seat-1").join(name)).expect("kept");
    assert_eq!((read("data").as_str(), read("log").as_str()), ("old\nmore\n", "new\n"));
    assert!(!at.path().join("kept/1-seat-1/bot").exists(), "what did not change is not kept");
}

#[test]
fn what_is_not_shown_is_named_and_can_be_shown() {
    if level().is_none() {
        return;
    }
    let (at, models) = (folder(), crate::common::folder_not_in_tmp());
    let file = models.path().join("weights");
    std::fs::write(&file, "1").expect("a file");
    let what = format!("cat {} >&2 || exit 1", file.display());
    write(at.path(), "bot/bot", &doing(&what));
    write(at.path(), "bot/agon.toml", "run = './bot'");
    let fault = first_fault(&json(&play(at.path(), "bot", &["--sandbox", "on"])));
    let told = format!("[sandbox] read = [\"{}\"]", models.path().display());
    assert!(fault.contains(&file.display().to_string()), "{fault}");
    assert!(fault.contains(&told), "{fault}");
    let toml = format!("run = './bot'\n[sandbox]\nread = [\"{}\"]\n", models.path().display());
    write(at.path(), "bot/agon.toml", &toml);
    let shown = json(&play(at.path(), "bot", &["--sandbox", "on"]));
    assert_eq!(shown["seats"][0]["faults"].as_array().map(Vec::len), Some(0), "{shown:#}");
    write(at.path(), "bot/agon.toml", "run = './bot'\n[sandbox]\nread = [\"/no/such/place\"]\n");
    let wrong = play(at.path(), "bot", &["--sandbox", "on"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("[sandbox] read: `/no/such/place`"), "{}", err(&wrong));
}

/// Twelve places for an interpreter besides the system's, with stand-ins: each runs the bot's file.
#[test]
fn interpreters_beside_the_systems_are_found_and_shown() {
    if level().is_none() {
        return;
    }
    let at = folder();
    let home = at.path().join("home");
    // A stand-in for an interpreter: a copy of the shell, so that no system interpreter takes its place.
    let shell = |name: &str| {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::copy("/bin/sh", file).expect("a copy");
    };
    let link = |target: &str, name: &str| {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::os::unix::fs::symlink(target, file).expect("a link");
    };
    let script = |name: &str, text: &str| write(&home, name, text);
    shell("python/3.12/bin/python3.12");
    link("python3.12", "python/3.12/bin/python3");
    link("../../../python/3.12/bin/python3", "work/venv/bin/python3");
    script("work/venv/pyvenv.cfg", &format!("home = {}/python/3.12/bin\n", home.display()));
    shell(".pyenv/versions/3.11/bin/python3");
    script(".pyenv/shims/python3", "#!/bin/sh\nexec \"$PYENV_ROOT/versions/3.11/bin/python3\" \"$@\"\n");
    shell(".nvm/versions/node/v20/bin/node");
    shell("miniconda3/envs/bots/bin/python3");
    shell(".rustup/toolchains/stable/bin/cargo");
    script(".cargo/bin/cargo", "#!/bin/sh\nexec \"$RUSTUP_HOME/toolchains/stable/bin/cargo\" \"$@\"\n");
    // A JVM takes its memory first.
    let jvm = "#!/bin/sh\ncase \"$1\" in -Xmx*) shift;; esac\nexec sh \"$@\"\n";
    script(".sdkman/candidates/java/21/bin/java", jvm);
    link("21", ".sdkman/candidates/java/current");
    shell(".volta/tools/node/bin/node");
    script(".volta/bin/node", "#!/bin/sh\nexec \"$VOLTA_HOME/tools/node/bin/node\" \"$@\"\n");
    script("jdk-17/bin/java", jvm);
    link(&format!("{}/jdk-17/bin/java", home.display()), "alternatives/java");
    shell(".local/share/uv/python/cpython-3.13/bin/python3.13");
    link("../share/uv/python/cpython-3.13/bin/python3.13", ".local/bin/python3");
    shell(".deno/bin/deno");
    shell("tools/bin/lua");
    script("tools/bin/wrapped", "#!/usr/bin/env -S lua\n");
    let line = |program: &str| format!("run = '{program} bot'");
    let setups = [
        ("a virtual environment", line(&home.join("work/venv/bin/python3").display().to_string()), ""),
        ("pyenv", line("python3"), ".pyenv/shims"),
        ("nvm", line("node"), ".nvm/versions/node/v20/bin"),
        ("conda", line("python3"), "miniconda3/envs/bots/bin"),
        ("rustup", line("cargo"), ".cargo/bin"),
        ("sdkman", line("java"), ".sdkman/candidates/java/current/bin"),
        ("volta", line("node"), ".volta/bin"),
        ("a JDK behind a link", line(&home.join("alternatives/java").display().to_string()), ""),
        ("uv", line("python3"), ".local/bin"),
        ("deno", line("deno"), ".deno/bin"),
        ("a #! line with env", "run = './bot'".to_owned(), "tools/bin"),
        ("a script that calls it", "run = './run.sh'".to_owned(), "tools/bin"),
    ];
    let mut wrong = Vec::new();
    for (number, (what, toml, path)) in setups.iter().enumerate() {
        let bot = format!("bots/{number}");
        write(at.path(), &format!("{bot}/agon.toml"), toml);
        let with = if what.starts_with("a #!") { "#!/usr/bin/env lua\n" } else { "#!/bin/sh\n" };
        write(at.path(), &format!("{bot}/bot"), &WAITER.replace("#!/bin/sh\n", with));
        write(at.path(), &format!("{bot}/run.sh"), "#!/bin/sh\nexec lua bot\n");
        let words =
            ["play", "cultist-wars", &bot, "builtin:idle", "--no-replay", "--json", "--sandbox", "on"];
        let path = format!("{}:/usr/bin:/bin", home.join(path).display());
        let played = command(at.path(), &words).env("HOME", &home).env("PATH", path).output().expect("agon");
        let all: Value = serde_json::from_slice(&played.stdout).unwrap_or_default();
        let seat = all.pointer("/seats/0").cloned().unwrap_or_default();
        if seat["faults"].as_array().map(Vec::len) != Some(0) || seat["sandbox"] == "off" {
            wrong.push(format!("{what}: {seat:#} {}", err(&played)));
        }
    }
    assert_eq!(setups.len(), 12);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A home with all the tools that somebody may have installed there, and a secret in each of their folders. The tools are
/// copies of the shell, and managers of versions that name them.
fn home_with_secrets(home: &Path) -> String {
    let shell = |name: &str| {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::copy("/bin/sh", file).expect("a copy");
    };
    let manager = |name: &str, place: &str| {
        let line = format!("#!/bin/sh\n[ $1 = which ] && echo {}/$2\n", home.join(place).display());
        write(home, name, &line);
    };
    shell(".pyenv/versions/3.12/bin/python3");
    write(home, ".pyenv/shims/python3", "#!/bin/sh\necho planted; exec pyenv exec python3\n");
    manager(".pyenv/bin/pyenv", ".pyenv/versions/3.12/bin");
    shell(".rustup/toolchains/stable/bin/cargo");
    shell(".rustup/toolchains/stable/bin/rustc");
    write(home, ".cargo/bin/cargo", "#!/bin/sh\necho planted\n");
    write(home, ".cargo/bin/rustc", "#!/bin/sh\necho planted\n");
    manager(".cargo/bin/rustup", ".rustup/toolchains/stable/bin");
    shell(".volta/tools/image/node/20/bin/npm");
    write(home, ".volta/bin/npm", "#!/bin/sh\necho planted\n");
    manager(".volta/bin/volta", ".volta/tools/image/node/20/bin");
    shell(".asdf/installs/ruby/3.3/bin/ruby");
    write(home, ".asdf/shims/ruby", "#!/bin/sh\necho planted\n");
    manager(".asdf/bin/asdf", ".asdf/installs/ruby/3.3/bin");
    shell(".local/share/mise/installs/go/1.22/bin/go");
    write(home, ".local/share/mise/shims/go", "#!/bin/sh\necho planted\n");
    manager(".local/bin/mise", ".local/share/mise/installs/go/1.22/bin");
    shell(".sdkman/candidates/java/21/bin/java");
    shell(".nvm/versions/node/v20/bin/node");
    write(home, ".nvm/versions/node/v20/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n");
    shell("work/venv/bin/lua");
    shell(".local/bin/php");
    for folder in [
        ".cargo",
        ".cargo/bin",
        ".cargo/registry/src",
        ".rustup",
        ".rustup/toolchains",
        ".rustup/toolchains/stable",
        ".pyenv",
        ".pyenv/shims",
        ".pyenv/bin",
        ".pyenv/versions/3.12",
        ".pyenv/versions/3.12/lib/python3.12/site-packages",
        ".volta",
        ".volta/bin",
        ".volta/tools/image/node/20",
        ".asdf",
        ".asdf/shims",
        ".asdf/installs/ruby/3.3",
        ".sdkman",
        ".sdkman/etc",
        ".sdkman/candidates/java/21",
        ".local",
        ".local/bin",
        ".local/lib/python3.12/site-packages",
        ".local/share/mise",
        ".local/share/mise/installs/go/1.22",
        ".nvm",
        ".nvm/versions/node/v20",
        ".nvm/versions/node/v20/lib/node_modules",
        ".nvm/versions/node/v20/lib/node_modules/private",
        "work/venv",
        ".ssh",
        ".config/agon",
        "",
    ] {
        write(home, &format!("{folder}/credentials.toml"), "token = 'planted'\n");
    }
    let path = [
        ".pyenv/shims",
        ".pyenv/bin",
        ".cargo/bin",
        ".volta/bin",
        ".volta/tools/image",
        ".asdf/shims",
        ".asdf/bin",
        ".local/share/mise/shims",
        ".local/bin",
        ".sdkman/candidates/java/21/bin",
        ".nvm/versions/node/v20/bin",
        "work/venv/bin",
    ];
    let path: Vec<_> = path.iter().map(|part| home.join(part).display().to_string()).collect();
    path.join(":") + ":/usr/bin:/bin"
}

/// Looks for the secret everywhere but among the system's programs, and says what else it can see of the home.
const SEARCH: &str = "for place in /*; do case $place in /usr|/proc|/lib*|/dev) ;; *) \
                      grep -rsq \"token = 'plan\"\"ted'\" \"$place\" && echo LEAK: a secret in $place >&2 ;; esac; done
                      for file in HOME/.*/credentials.toml HOME/.ssh HOME/.config HOME/.local/share/mise/shims; do \
                      [ -e $file ] && echo LEAK: $file >&2; done";

/// Secrets in all places where tools keep theirs, looked for by a stranger in its build and in its match; and what it may
/// name as its program and its build.
#[test]
fn a_stranger_sees_of_tools_what_is_executed_and_no_secret() {
    if level().is_none() {
        return;
    }
    let at = folder();
    let home = at.path().join("home");
    let path = home_with_secrets(&home);
    let search = SEARCH.replace("HOME", &home.display().to_string());
    // Each tool is called by its name: those that cannot be found fail the build.
    let tools = "for tool in python3 cargo rustc npm ruby go java node lua php; do \
                 $tool -c 'echo ran '$tool >&2 || exit 9; done";
    write(at.path(), "bot/build.sh", &format!("{search}\n{tools}\nexec 2>&1\n"));
    write(at.path(), "bot/bot", &doing(&search));
    write(at.path(), "bot/agon.toml", "build = 'cargo build.sh'\nrun = 'python3 bot'\n");
    let opt = tempfile::Builder::new()
        .prefix("elsewhere-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .expect("a folder");
    write(opt.path(), "there", "#!planted first line\n");
    let archive = |name: &str| {
        let packed = format!("{name}.tar.gz");
        let tar =
            std::process::Command::new("tar").args(["czf", &packed, name]).current_dir(at.path()).status();
        assert!(tar.expect("tar").success());
        packed
    };
    let bot = archive("bot");
    let program = at.path().join("agon");
    std::fs::copy(env!("CARGO_BIN_EXE_agon"), &program).expect("a copy");
    crate::common::mode(at.path(), 0o755);
    let run = |user: Option<u32>, words: &[&str]| {
        let mut agon = std::process::Command::new(&program);
        agon.args(words).current_dir(at.path()).env("NO_COLOR", "1").env("HOME", &home).env("PATH", &path);
        agon.stdin(std::process::Stdio::null());
        for name in ["CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"] {
            agon.env_remove(name);
        }
        agon.env("AGON_CACHE", at.path().join(format!("cache-{user:?}")));
        if let Some(user) = user {
            use std::os::unix::process::CommandExt as _;
            agon.gid(user).uid(user);
        }
        agon.output().expect("agon starts")
    };
    let mut users = vec![None];
    if rustix::process::geteuid().is_root() {
        let chown = std::process::Command::new("chown").args(["-R", "60123:60123"]).arg(at.path()).status();
        assert!(chown.expect("chown").success());
        users.push(Some(60_123));
    } else {
        println!("skipped as root: the tests run as an ordinary user");
    }
    for user in users {
        let built = run(user, &["build", &bot]);
        let said = out(&built) + &err(&built);
        assert!(
            built.status.success() && said.contains("ran python3") && said.contains("ran php"),
            "{user:?}: {said}"
        );
        assert!(!said.contains("LEAK") && !said.contains("planted"), "{user:?}: {said}");
        let played = run(user, &["play", "cultist-wars", &bot, "builtin:idle", "--no-replay", "--json"]);
        let said = out(&played) + &err(&played);
        assert!(played.status.success(), "{user:?}: {said}");
        assert!(!said.contains("LEAK") && !said.contains("planted"), "{user:?}: {said}");
        let seat = &json(&played)["seats"][0];
        assert_eq!(seat["faults"].as_array().map(Vec::len), Some(0), "{user:?}: {said}");
    }
    // Whatever is named elsewhere gets one and the same answer.
    for key in ["run", "build"] {
        let mut told = std::collections::BTreeSet::new();
        for name in ["there", "not-there"] {
            let file = opt.path().join(name).display().to_string();
            let toml = if key == "run" {
                format!("run = '{file}'")
            } else {
                format!("build = '{file}'\nrun = './bot'")
            };
            write(at.path(), "other/bot", WAITER);
            write(at.path(), "other/agon.toml", &toml);
            write(at.path(), "other/name", name);
            let other = archive("other");
            let answered = match key {
                "run" => run(None, &["play", "cultist-wars", &other, "builtin:idle", "--no-replay"]),
                _ => run(None, &["build", &other]),
            };
            let said = (out(&answered) + &err(&answered)).replace(&file, "FILE");
            assert!(
                said.contains("neither a file of the bot's own folder nor a program"),
                "{key} {name}: {said}"
            );
            let line = said.lines().find(|line| line.contains("neither")).unwrap_or_default().to_owned();
            told.insert(line.split("FILE").last().unwrap_or_default().to_owned());
        }
        assert_eq!(told.len(), 1, "{told:?}");
    }
}

#[test]
fn archives_are_held_unless_somebody_says_otherwise() {
    let Some(level) = level() else { return };
    let at = folder();
    // The paths that its agon.toml asks for are shown to one's own bot, and not to a stranger's.
    write(at.path(), "mine/bot", &doing("[ -e /var/lib ] && exit 9"));
    write(at.path(), "mine/agon.toml", "run = './bot'\n[sandbox]\nread = ['/var']\n");
    let mut tar = std::process::Command::new("tar");
    tar.args(["czf", "mine.tar.gz", "mine"]).current_dir(at.path());
    assert!(tar.status().expect("tar").success());
    let cache = at.path().join("cache");
    let of = |more: &[&str], without: &str| {
        let mut words = vec!["play", "cultist-wars", "mine.tar.gz", "builtin:idle", "--no-replay", "--json"];
        words.extend(more);
        let mut agon = command(at.path(), &words);
        agon.env("AGON_CACHE", &cache).env("AGON_SANDBOX_WITHOUT", without).output().expect("agon starts")
    };
    let held = |output: &Output| json(output)["seats"][0]["sandbox"].as_str().map(str::to_owned);
    let stranger = of(&[], "");
    assert_eq!(held(&stranger), Some(level));
    assert_eq!(json(&stranger)["seats"][0]["faults"].as_array().map(Vec::len), Some(0));
    assert_eq!(held(&of(&["--sandbox", "off"], "")).as_deref(), Some("off"));
    assert_eq!(held(&of(&[], "cgroup")).as_deref(), Some("B, CPU sampled"), "without a cgroup");
    assert_eq!(held(&of(&[], "landlock")), held(&stranger), "namespaces do without Landlock");
    for (means, level) in [("namespaces", "C"), ("userns", "C"), ("filter", "D"), ("seccomp,cgroup", "D")] {
        let refused = of(&[], means);
        assert_eq!(refused.status.code(), Some(3), "{means}: {}", err(&refused));
        let wanted = format!("cannot contain a stranger's bot (level {level}");
        assert!(
            err(&refused).contains(&wanted) && err(&refused).contains("--sandbox off"),
            "{}",
            err(&refused)
        );
    }
    let own = play(at.path(), "mine", &["--sandbox", "on"]);
    assert!(first_fault(&json(&own)).contains("exit code 9"), "{}", err(&own));
    // One's own bot is contained as well as possible, and each result says how well that is.
    write(at.path(), "own/bot", WAITER);
    write(at.path(), "own/agon.toml", "run = './bot'");
    for (means, wanted) in [
        ("landlock", "in a sandbox of level"),
        ("cgroup", "in a sandbox of level B (CPU sampled)"),
        ("userns", "in a sandbox of level C (CPU sampled), which contains mistakes but not enemies"),
    ] {
        let words =
            ["play", "cultist-wars", "own", "builtin:idle", "--no-replay", "--json", "--sandbox", "on"];
        let played = command(at.path(), &words).env("AGON_SANDBOX_WITHOUT", means).output().expect("agon");
        let said = json(&played)["containment"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains(wanted), "{means}: {said}");
    }
    let words = ["play", "cultist-wars", "own", "builtin:idle", "--no-replay", "--sandbox", "on"];
    let refused = command(at.path(), &words).env("AGON_SANDBOX_WITHOUT", "seccomp").output().expect("agon");
    assert_eq!(refused.status.code(), Some(3), "{}", err(&refused));
    assert!(err(&refused).contains("cannot contain"), "{}", err(&refused));
}

/// Bots that breed, daemonise, hide and ignore signals: no process of them is left when the match is over, nor when
/// agon is killed outright.
#[test]
fn nothing_of_a_bot_outlives_a_match_or_agon() {
    if level().is_none() {
        return;
    }
    let at = folder();
    let mark = format!("{}.{}", 900_000 + std::process::id() % 90_000, 7);
    let breeds = format!(
        "trap '' TERM INT HUP
for i in 1 2 3 4 5 6; do
  env -i setsid sleep {mark} </dev/null >/dev/null 2>&1 &
  (env -i setsid sh -c 'trap \"\" TERM HUP; while true; do sleep {mark}; done' </dev/null >/dev/null 2>&1 &)
done"
    );
    write(at.path(), "bot/bot", &doing(&breeds));
    write(at.path(), "bot/agon.toml", "run = './bot'");
    let left = || {
        let found = std::process::Command::new("pgrep").args(["-f", &format!("sleep {mark}")]).output();
        String::from_utf8_lossy(&found.expect("pgrep").stdout).lines().count()
    };
    good(play(at.path(), "bot", &["--sandbox", "on"]));
    assert_eq!(left(), 0, "after a match");
    write(at.path(), "bot/bot", &format!("#!/bin/sh\n{breeds}\nwhile true; do sleep {mark}; done\n"));
    for _ in 0..3 {
        let words = ["play", "cultist-wars", "bot", "builtin:idle", "--no-timeouts", "--no-replay"];
        let mut agon = command(at.path(), &[&words[..], &["--sandbox", "on"]].concat());
        agon.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut agon = agon.spawn().expect("agon starts");
        let begun = std::time::Instant::now();
        let patience = std::time::Duration::from_secs(60);
        while left() < 12 {
            assert!(begun.elapsed() < patience, "its children run");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        agon.kill().expect("it runs");
        agon.wait().expect("it ended");
        let begun = std::time::Instant::now();
        while left() > 0 {
            assert!(begun.elapsed() < patience, "{} are left", left());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Whoever runs it beside other work with `nice`, or with another umask, loses no control.
#[test]
fn attacks_and_their_controls_are_the_same_under_nice() {
    if level().is_none() {
        return;
    }
    let attacks =
        ["slow-", "read-foreign-file", "append-to-journal", "change-foreign-mode", "change-own-program"];
    for started in ["nice -n 5", "umask 077; exec nice -n 19", "umask 000; exec env"] {
        let mut command = std::process::Command::new("sh");
        command.args([
            "-c",
            &format!("{started} \"$0\" sandbox test --controls \"$@\""),
            env!("CARGO_BIN_EXE_agon"),
        ]);
        let output = command.args(attacks).env("NO_COLOR", "1").output().expect("sh is there");
        assert_eq!(output.status.code(), Some(0), "{started}: {}{}", out(&output), err(&output));
        assert!(out(&output).contains(" won, 0 did not, "), "{started}: {}", out(&output));
    }
}
