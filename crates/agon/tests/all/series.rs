//! Series as the user sees them: real processes, killed at any moment, with bots that change meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{err, folder, good, json, last_event, out, write};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", folder.join("agon-replays/cache"));
    command
}

/// Runs agon in `folder`.
fn agon(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("agon starts")
}

/// The entries of a journal by block and game; none may appear twice. A torn last line is ignored.
fn entries(journal: &Path) -> BTreeMap<(u64, u64), Value> {
    let text = std::fs::read_to_string(journal).expect("a journal");
    let mut found = BTreeMap::new();
    for line in text.split_inclusive('\n').skip(1).filter(|line| line.ends_with('\n')) {
        let entry: Value = serde_json::from_str(line).expect("every whole line is JSON");
        let key = (entry["block"].as_u64().expect("a block"), entry["game"].as_u64().expect("a game"));
        assert!(found.insert(key, entry).is_none(), "match {key:?} stands there twice");
    }
    found
}

/// The decisive fields: not the durations.
fn decisive(entry: &Value) -> String {
    ["seed", "bots", "scores", "ranks", "reason", "steps", "answers"]
        .map(|key| entry[key].to_string())
        .join(" ")
}

/// A bot that always waits and starts quickly.
const QUICK: &str = "
i=0; while [ $i -lt 9 ]; do read line; i=$((i+1)); done
while read n; do while [ $n -gt 0 ]; do read line; n=$((n-1)); done; echo WAIT; done
";

/// The same in Python.
const WAITER: &str = "
import sys
def block(n):
    for _ in range(n): sys.stdin.readline()
block(9)
while True:
    line = sys.stdin.readline()
    if not line: break
    block(int(line))
    print('WAIT', flush=True)
";

#[test]
fn fifty_kills_lose_and_double_nothing() {
    let folder = folder();
    let journal = folder.path().join("killed.jsonl");
    let base = ["gauntlet", "cultist-wars", "builtin:random", "builtin:random", "--seed", "5", "--set"];
    let base = [&base[..], &["number_of_turns=30", "--json", "--replays", "none"]].concat();
    let with = |more: &[&'static str]| [&base[..], more].concat();
    // A generator of moments; their exact values do not matter.
    let mut state = u64::from(std::process::id());
    let mut before: BTreeMap<(u64, u64), Value> = BTreeMap::new();
    for _ in 0..50 {
        let mut arguments = with(&["--journal", "killed.jsonl", "-n", "100000000", "-j", "3"]);
        if journal.exists() {
            arguments.push("--resume");
        }
        let mut running = command(folder.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("agon starts");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((state >> 33) % 60_000));
        running.kill().expect("it is killed");
        running.wait().expect("it is gone");
        if journal.exists() {
            let now = entries(&journal);
            for (key, entry) in &before {
                assert_eq!(now.get(key), Some(entry), "a finished match was lost or altered");
            }
            before = now;
        }
    }
    assert!(before.len() > 50, "the machine played {} matches only", before.len());
    // To the end, with nothing doubled, and equal to an undisturbed run.
    let games = before.keys().map(|(block, _)| block * 2).max().expect("matches").to_string();
    let last = with(&["--journal", "killed.jsonl", "--resume"]);
    let last = good(agon(folder.path(), &[&last[..], &["-n", &games]].concat()));
    let quiet =
        good(agon(folder.path(), &[&with(&["--journal", "quiet.jsonl"])[..], &["-n", &games]].concat()));
    let (killed, quiet_entries) = (entries(&journal), entries(&folder.path().join("quiet.jsonl")));
    assert_eq!(killed.len().to_string(), games);
    let decisive = |all: &BTreeMap<(u64, u64), Value>| all.values().map(decisive).collect::<Vec<_>>();
    assert_eq!(decisive(&killed), decisive(&quiet_entries));
    assert_eq!(last_event(&last)["pairings"], last_event(&quiet)["pairings"], "the same numbers in the end");
    assert_eq!(last_event(&last)["games"].to_string(), games);
}

#[test]
fn the_same_command_goes_on_where_it_was() {
    let folder = folder();
    let base = ["gauntlet", "cultist-wars", "builtin:greedy", "builtin:random", "-q"];
    let first = good(agon(folder.path(), &[&base[..], &["-n", "6"]].concat()));
    assert!(out(&first).contains("greedy against"), "{}", out(&first));
    let longer = agon(folder.path(), &[&base[..], &["-n", "10", "--resume", "--json"]].concat());
    let longer = last_event(&longer);
    assert_eq!((&longer["games"], &longer["resumed"]), (&10.into(), &6.into()));
    let folders = std::fs::read_dir(folder.path().join("agon-series")).expect("the folder of series");
    assert_eq!(
        folders.count(),
        2,
        "the series and LAST, which leads to it: it went on and did not begin anew"
    );
    let again = agon(folder.path(), &[&base[..], &["-n", "10", "--resume", "--json"]].concat());
    assert_eq!(last_event(&again)["games"], 10, "nothing was left to play");
    let anew = agon(folder.path(), &[&base[..], &["-n", "2"]].concat());
    assert!(out(&anew).contains("agon-series/cultist-wars-gauntlet-2/journal.jsonl"), "{}", out(&anew));
}

#[test]
fn what_changed_is_refused_and_named() {
    let folder = folder();
    write(folder.path(), "a.sh", QUICK);
    let base = ["gauntlet", "cultist-wars", "a.sh", "builtin:random", "-q", "-n", "2"];
    let base = [&base[..], &["--journal", "x.jsonl", "--seed", "3", "--set", "number_of_turns=4"]].concat();
    good(agon(folder.path(), &base));
    let refused = |arguments: &[&str]| {
        let output = agon(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}{}", out(&output), err(&output));
        err(&output)
    };
    let text = refused(&base);
    assert!(text.contains("x.jsonl already exists: add --resume"), "{text}");
    let resumed = [&base[..], &["--resume"]].concat();
    let with = |from: &str, to: &'static str| -> Vec<String> {
        resumed.iter().map(|word| if *word == from { to.to_owned() } else { (*word).to_owned() }).collect()
    };
    let refused_with = |from: &str, to: &'static str| {
        let words = with(from, to);
        refused(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let text = refused_with("number_of_turns=4", "number_of_turns=6");
    assert!(text.contains("rules: number_of_turns: was 4, is 6"), "{text}");
    let text = refused_with("3", "4");
    assert!(text.contains("seed: was 3, is 4"), "{text}");
    let text = refused_with("builtin:random", "builtin:greedy");
    assert!(text.contains("bot 2: was `builtin:random`, is `builtin:greedy`"), "{text}");
    write(folder.path(), "a.sh", &format!("{QUICK}\n# better\n"));
    let text = refused(&resumed);
    assert!(text.contains("bot 1, `a.sh`, has changed") && text.contains("agon pin"), "{text}");
    write(folder.path(), "a.sh", QUICK);
    assert!(agon(folder.path(), &resumed).status.success(), "the change was undone");
    let nothing = refused(&["gauntlet", "cultist-wars", "a.sh", "builtin:greedy", "--resume"]);
    assert!(nothing.contains("begin without --resume"), "{nothing}");
}

#[test]
fn wrong_usage_is_told_before_the_first_match() {
    let folder = folder();
    let refused = |arguments: &[&str]| {
        let output = agon(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}{}", out(&output), err(&output));
        assert!(!folder.path().join("agon-series").exists(), "{arguments:?} left a series behind");
        err(&output)
    };
    let text = refused(&["gauntlet", "cultist-wars", "builtin:greedy", "no/such/bot"]);
    assert!(text.contains("no such file or folder"), "{text}");
    let text = refused(&["gauntlet", "cultist-wars", "builtin:greedy", "builtin:greedi"]);
    assert!(text.contains("greedi"), "{text}");
    let text = refused(&["gauntlet", "cultist-wars", "builtin:greedy", "builtin:random", "-n", "0"]);
    assert!(text.contains("nothing to play"), "{text}");
    let text = refused(&["tournament", "cultist-wars", "builtin:greedy"]);
    assert!(text.contains("name at least 2 bots"), "{text}");
    let text =
        refused(&["sprt", "cultist-wars", "builtin:greedy", "builtin:random", "--field", "builtin:random"]);
    assert!(text.contains("--seats N"), "{text}");
    let text = refused(&["sprt", "cultist-wars", "builtin:greedy", "builtin:random", "--elo1", "-5"]);
    assert!(text.contains("elo1"), "{text}");
    let text = refused(&["sprt", "cultist-wars", "builtin:greedy", "ws:"]);
    assert!(text.contains("starts its bots itself"), "{text}");
    let text = refused(&["tournament", "no.toml"]);
    assert!(text.contains("no.toml"), "{text}");
    write(folder.path(), "c.toml", "game = 'cultist-wars'\nseed = 1\ngames = 2\nboots = []\n");
    let text = refused(&["tournament", "c.toml"]);
    assert!(text.contains("c.toml:4:1") && text.contains("did you mean `bots`?"), "{text}");
    write(folder.path(), "c.toml", "game = 'cultist-wars'\nseed = 1\ngames = 2\nbots = ['builtin:greedy']\n");
    let text = refused(&["tournament", "c.toml", "--seed", "2"]);
    assert!(text.contains("--seed cannot be given with c.toml"), "{text}");
    let text = refused(&["rate", "c.toml"]);
    assert!(text.contains("c.toml is not a journal of agon"), "{text}");
    let text = refused(&["rate", "nothing.jsonl"]);
    assert!(text.contains("nothing.jsonl"), "{text}");
    let many = agon(folder.path(), &["play", "cultist-wars", "builtin:greedy", "builtin:random", "-n", "50"]);
    assert!(
        err(&many).contains("agon gauntlet cultist-wars builtin:greedy builtin:random"),
        "{}",
        err(&many)
    );
}

#[test]
fn a_test_finds_the_better_bot() {
    let folder = folder();
    let arguments = ["sprt", "cultist-wars", "builtin:hunter?nodes=2000", "builtin:greedy", "--elo1", "50"];
    let tested = agon(folder.path(), &[&arguments[..], &["-q", "--fail-unless-better"]].concat());
    let text = out(&tested);
    assert!(tested.status.success(), "{text}{}", err(&tested));
    assert!(text.starts_with("Yes: hunter?nodes=2000 is better than greedy (H1 accepted"), "{text}");
    let arguments = ["sprt", "cultist-wars", "builtin:random", "builtin:greedy", "--elo1", "50", "-q"];
    let tested = agon(folder.path(), &[&arguments[..], &["--fail-unless-better"]].concat());
    assert_eq!(tested.status.code(), Some(1), "{}", out(&tested));
    assert!(out(&tested).starts_with("No: random is worse than greedy"), "{}", out(&tested));
}

#[test]
fn a_bot_is_not_tested_against_itself() {
    let folder = folder();
    let arguments = ["sprt", "cultist-wars", "builtin:greedy", "builtin:greedy", "--elo1", "60", "--json"];
    let refused = agon(folder.path(), &arguments);
    assert_eq!((refused.status.code(), &last_event(&refused)["decision"]), (Some(14), &"equal".into()));
    let refused = agon(folder.path(), &arguments[..6]);
    assert_eq!(refused.status.code(), Some(14));
    assert!(err(&refused).starts_with("NEW is OLD: "), "{}", err(&refused));
    assert!(!folder.path().join("agon-series").exists(), "nothing was begun");
}

#[test]
fn bots_that_know_few_games_are_told_so() {
    let folder = folder();
    write(folder.path(), "a.sh", QUICK);
    write(folder.path(), "b.sh", &format!("{QUICK}# the other\n"));
    // Both always answer WAIT on the same map, so all matches are equal.
    let mut arguments = vec!["sprt", "cultist-wars", "a.sh", "b.sh", "--elo1", "5", "--map", "one.txt"];
    arguments.extend(["--set", "number_of_turns=2", "-q", "--time-scale", "20"]);
    let map =
        format!("{0}{0}{0}0..2...3....1\n{0}{0}{0}unit 2 player 1\nunit 3 player 2\n", ".............\n");
    write(folder.path(), "one.txt", &map);
    let tested = agon(folder.path(), &arguments);
    // Sentences are folded.
    let text = out(&tested).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(tested.status.code(), Some(13), "{text}{}", err(&tested));
    assert!(text.contains("scores 1 of 2 against b.sh, as far as 21 repeats show"), "{text}");
    assert!(
        text.matches("vary maps (--map generate makes one of each seed), seeds or opponents").count() == 2
            && text.contains("20 of 21 rounds make nothing more certain: from 1 start these")
            && text.contains("gave the same answers in 100 % of pairs"),
        "{text}"
    );
}

#[test]
fn faults_are_counted_and_their_match_can_be_played_again() {
    let folder = folder();
    write(folder.path(), "crash.py", "import sys\nprint('oops', file=sys.stderr)\nsys.exit(3)\n");
    let arguments =
        ["gauntlet", "cultist-wars", "crash.py", "builtin:random", "-n", "2", "--seed", "77", "-q"];
    let played = agon(folder.path(), &[&arguments[..], &["--set", "number_of_turns=8", "-j", "1"]].concat());
    let text = out(&played);
    assert!(played.status.success(), "{text}{}", err(&played));
    assert!(text.contains("crash.py: 2 × crash in 2 matches"), "{text}");
    let again = "agon play cultist-wars crash.py builtin:random --seed 77 --set 'number_of_turns=8'";
    let line = text.lines().find(|line| line.contains("agon play")).unwrap_or_default().trim();
    assert_eq!(line.replace('\'', ""), again.replace('\'', ""), "{text}");
    let words = shlex::split(line).expect("a command line");
    let words: Vec<&str> = words.iter().map(String::as_str).skip(1).collect();
    let single = agon(folder.path(), &words);
    assert!(out(&single).contains("with exit code 3"), "{}", out(&single));
    // The replays of lost matches are kept and complete.
    let replays = folder.path().join("agon-series/cultist-wars-gauntlet-1/replays");
    let kept: Vec<PathBuf> =
        std::fs::read_dir(&replays).expect("replays").map(|file| file.expect("a file").path()).collect();
    assert_eq!(kept.len(), 2);
    good(agon(folder.path(), &["replay", "verify", kept[0].to_str().expect("a name")]));
    // A bot that cannot even be started gives no result.
    write(folder.path(), "bot", "#!/no/such/interpreter\n");
    let made = Command::new("chmod").args(["+x", "bot"]).current_dir(folder.path()).status();
    assert!(made.is_ok_and(|status| status.success()));
    let never = agon(folder.path(), &["sprt", "cultist-wars", "bot", "builtin:random", "-q"]);
    assert_eq!(never.status.code(), Some(2), "{}", err(&never));
    assert!(err(&never).contains("/no/such/interpreter"), "{}", err(&never));
}

#[test]
fn a_tournament_and_its_journal_give_the_same_table() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("cup")).expect("a folder");
    write(
        folder.path(),
        "cup/contest.toml",
        "game = 'cultist-wars'\nseed = 9\ngames = 4\nset = { number_of_turns = 40 }\n\
         bots = ['builtin:greedy', { bot = 'builtin:random', label = 'Lucky' }, 'builtin:random']\n",
    );
    let played = agon(folder.path(), &["tournament", "cup/contest.toml", "--json"]);
    let cup = last_event(&played);
    assert!(played.status.success(), "{}", err(&played));
    assert_eq!((&cup["games"], &cup["complete"]), (&12.into(), &true.into()));
    let journal = "agon-series/cultist-wars-tournament-1";
    let rated = json(&agon(folder.path(), &["rate", journal, "--json"]));
    assert_eq!(rated, cup["tables"], "the table is made from the journal alone");
    assert_eq!(rated[0]["ratings"]["bots"][0]["bot"], "greedy");
    let csv = out(&agon(folder.path(), &["rate", journal, "--csv"]));
    // The name of the rules contains a comma, so it is in quotes.
    let bots = csv.lines().skip(1).filter_map(|line| line.rsplit('"').next()?.split(',').nth(3));
    assert_eq!(bots.collect::<BTreeSet<&str>>(), BTreeSet::from(["Lucky", "greedy", "random"]), "{csv}");
    let shown = out(&agon(folder.path(), &["rate", journal]));
    assert!(shown.contains("12 matches in 6 blocks") && shown.contains("ahead-level-behind"), "{shown}");
    // Other rules get their own table; a journal that is named twice counts once.
    let other = ["tournament", "cultist-wars", "builtin:greedy", "builtin:random", "-n", "2", "-q"];
    good(agon(folder.path(), &other));
    let both =
        agon(folder.path(), &["rate", journal, "agon-series/cultist-wars-tournament-2", journal, "--json"]);
    let tables = json(&both);
    assert_eq!(tables.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_cut_journal_is_read_as_far_as_it_goes() {
    let folder = folder();
    let arguments = ["gauntlet", "cultist-wars", "builtin:greedy", "builtin:random", "-n", "6", "-j", "1"];
    let arguments = [&arguments[..], &["--journal", "x.jsonl", "-q"]].concat();
    good(agon(folder.path(), &arguments));
    let whole = std::fs::read(folder.path().join("x.jsonl")).expect("a journal");
    std::fs::write(folder.path().join("x.jsonl"), &whole[..whole.len() - 20]).expect("written");
    let rated = agon(folder.path(), &["rate", "x.jsonl"]);
    assert!(rated.status.success() && out(&rated).contains("4 matches in 2 blocks"), "{}", out(&rated));
    let notes = err(&rated);
    assert!(
        notes.contains("its last line was incomplete")
            && notes.contains("1 match does not count, because its block"),
        "{notes}"
    );
    let resumed = agon(folder.path(), &[&arguments[..], &["--resume", "--json"]].concat());
    assert_eq!(last_event(&resumed)["resumed"], 5);
    assert_eq!(entries(&folder.path().join("x.jsonl")).len(), 6);
    let lines = String::from_utf8(whole).expect("text").replace("\"steps\"", "\"stops\"");
    write(folder.path(), "x.jsonl", &lines);
    let damaged = agon(folder.path(), &["rate", "x.jsonl"]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(err(&damaged).contains("x.jsonl, line 2: its chain does not continue"), "{}", err(&damaged));
}

#[test]
fn a_bot_is_frozen_and_an_old_commit_plays() {
    let folder = folder();
    let git = |arguments: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done = Command::new("git").args(author).args(arguments).current_dir(folder.path()).output();
        assert!(done.is_ok_and(|done| done.status.success()), "git {arguments:?}");
    };
    std::fs::create_dir(folder.path().join("mine")).expect("a folder");
    write(folder.path(), "mine/bot.py", WAITER);
    git(&["init", "-q"]);
    git(&["add", "mine"]);
    git(&["commit", "-qm", "one"]);
    write(folder.path(), "mine/bot.py", &WAITER.replace("'WAIT'", "'wait?'"));
    git(&["commit", "-qam", "two"]);
    let own = folder.path().join("mine");
    let arguments = [
        "sprt",
        "cultist-wars",
        ".",
        "git:HEAD~1",
        "-n",
        "2",
        "--set",
        "number_of_turns=4",
        "-q",
        "--time-scale",
        "20",
    ];
    let tested = agon(&own, &arguments);
    let text = out(&tested);
    assert_eq!(tested.status.code(), Some(15), "{text}{}", err(&tested));
    assert!(text.starts_with("No answer: mine never gave one in the form of the game"), "{text}");
    assert!(text.contains("mine: 2 × malformed answer"), "only the new one is broken: {text}");
    assert!(text.contains("agon play cultist-wars . git:") && !text.contains("mine@HEAD~1: "), "{text}");
    let refused = |arguments: &[&str]| {
        let output = agon(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}{}", out(&output), err(&output));
        err(&output)
    };
    assert!(refused(&["play", "cultist-wars", "git:nope", "builtin:random"]).contains("no revision `nope`"));
    let text = refused(&["play", "cultist-wars", "git:HEAD:other", "builtin:random"]);
    assert!(text.contains("has no `other`"), "{text}");
    let pinned = agon(folder.path(), &["pin", "mine", "v2"]);
    assert!(pinned.status.success() && out(&pinned).contains("agon-bots/v2: 1 file"), "{}", err(&pinned));
    good(agon(folder.path(), &["pin", "git:HEAD~1:mine/bot.py", "v1"]));
    write(folder.path(), "mine/bot.py", "broken");
    let played =
        json(&agon(folder.path(), &["play", "cultist-wars", "agon-bots/v1", "agon-bots/v2", "--json"]));
    assert_eq!(played["outcome"]["winner"], 1, "{played}");
    assert!(refused(&["pin", "mine", "v1"]).contains("agon-bots/v1 is there already"));
    assert!(refused(&["pin", "builtin:greedy", "v3"]).contains("nothing to freeze"));
    assert!(refused(&["pin", "mine", "../v3"]).contains("write letters"));
}

#[test]
fn an_interrupted_series_says_how_to_go_on() {
    let folder = folder();
    let arguments = ["gauntlet", "cultist-wars", "builtin:random", "builtin:random", "-n", "100000000", "-q"];
    let running = command(folder.path(), &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("agon starts");
    let journal = folder.path().join("agon-series/cultist-wars-gauntlet-1/journal.jsonl");
    for _ in 0..1_000 {
        if journal.metadata().is_ok_and(|about| about.len() > 10_000) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupted = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|status| status.success()));
    let done = running.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    assert!(
        err(&done).contains("finished matches are in") && err(&done).contains("--resume"),
        "{}",
        err(&done)
    );
    assert!(out(&done).contains("random against"), "what is known is shown: {}", out(&done));
}

#[test]
fn a_tournament_becomes_a_site_of_plain_files() {
    let folder = folder();
    let play = |games: &str| {
        let bots = ["builtin:greedy", "builtin:random", "builtin:idle"];
        let how = [
            "-n",
            games,
            "--seed",
            "5",
            "--replays",
            "all",
            "--html",
            "site",
            "--set",
            "number_of_turns=20",
            "-q",
        ];
        let name = ["--name", "2=<b>&\"quoted\""];
        let words = ["tournament", "cultist-wars"].iter().chain(&bots).chain(&how).chain(&name);
        good(agon(folder.path(), &words.copied().collect::<Vec<_>>()));
    };
    play("4");
    let site = folder.path().join("site");
    let stray = site.join("matches/notes.html");
    std::fs::write(&stray, "somebody's own").expect("a file is written");
    play("2");
    let page = std::fs::read_to_string(site.join("index.html")).expect("a page");
    assert!(page.contains("<h1>Tournament of Cultist Wars</h1>"), "{page}");
    assert!(page.contains("&lt;b&gt;&amp;&quot;quoted&quot;") && !page.contains("<b>"), "{page}");
    let mut links: Vec<&str> =
        page.split("href=\"").skip(1).map(|rest| &rest[..rest.find('"').expect("an end")]).collect();
    links.sort_unstable();
    assert_eq!(links.len(), 6, "three pairings of two matches");
    let mut files: Vec<String> = std::fs::read_dir(site.join("matches"))
        .expect("matches")
        .map(|file| format!("matches/{}", file.expect("a file").file_name().to_string_lossy()))
        .filter(|name| name != "matches/notes.html")
        .collect();
    files.sort_unstable();
    assert_eq!(links, files, "the pages of the first run are gone, others' files are left");
    assert!(stray.is_file());
    for link in links {
        let text = std::fs::read_to_string(site.join(link)).expect("the page of a match");
        assert!(text.contains("../app.js") && !text.contains("<b>"), "{link}");
    }
}
