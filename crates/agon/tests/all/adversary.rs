//! Bots made to mislead, played by the real programs: a pair of each kind of the attack suite for statistics
//! (`cargo test -p agon-contest --test attacks`), whose true score is known. And whatever is said of them fits 80 columns.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::common::{command, err, folder, good, json, last_event, out};

/// A bot of Cultist Wars in a shell that waits until the turn in which it gives up, by a rule in `lose`. The rule knows its seat (`me`), the
/// map (`map`, from 0), the number of its match (`n`, from 0) and its opponent (`other`). It loses by an answer that is not allowed, after one that is.
const BOT: &str = "#!/bin/sh
n=0; if [ -e COUNT ]; then read -r n < COUNT; fi; echo $((n + 1)) > COUNT
read -r me; read -r size; read -r row
case $row in x*) map=0;; .x*) map=1;; ..x*) map=2;; ...x*) map=3;; *) map=4;; esac
i=1; while [ $i -lt 7 ]; do read -r line; i=$((i + 1)); done
echo ID > SEAT$me; turn=0
while read -r units; do
    while [ $units -gt 0 ]; do read -r line; units=$((units - 1)); done
    turn=$((turn + 1))
    # Both have answered by now, so each has said who it is.
    if [ $turn = 2 ]; then read -r other < SEAT$((1 - me)); lose=$((RULE)); fi
    if [ $turn = \"$lose\" ]; then echo LOSE; else echo WAIT; fi
done
";

/// Gives up late, whatever happens: who has not lost before has won.
const LATE: &str = "6";
/// The same, but every match takes another number of turns.
const LATE_AND_NOISY: &str = "6 + n * 5 % 7";

struct Pair {
    folder: tempfile::TempDir,
    maps: Vec<String>,
}

impl Pair {
    /// NEW and OLD with these rules, and this many maps.
    fn new(new: &str, old: &str, maps: usize) -> Self {
        let pair = Self {
            folder: folder(),
            maps: (0..maps).flat_map(|map| ["--map".to_owned(), format!("map{map}.txt")]).collect(),
        };
        pair.add("new", 1, new);
        pair.add("old", 2, old);
        for map in 0..maps {
            let mut rows = vec![vec!['.'; 13]; 7];
            (rows[0][map], rows[0][12 - map]) = ('x', 'x');
            rows[3] = "0..2...3....1".chars().collect();
            let text: String = rows.iter().map(|row| row.iter().collect::<String>() + "\n").collect();
            let text = text + "unit 2 player 1\nunit 3 player 2\n";
            std::fs::write(pair.folder.path().join(format!("map{map}.txt")), text).expect("written");
        }
        pair
    }

    fn add(&self, name: &str, number: u32, rule: &str) {
        let path = self.folder.path();
        let count = path.join(format!("count-{name}"));
        let bot = BOT
            .replace("COUNT", &count.to_string_lossy())
            .replace("SEAT", &path.join("seat").to_string_lossy())
            .replace("ID", &number.to_string())
            .replace("RULE", rule);
        let file = path.join(format!("{name}.sh"));
        std::fs::write(&file, bot).expect("written");
        crate::common::mode(&file, 0o755);
    }

    fn run(&self, words: &[&str]) -> Output {
        let same =
            ["-j", "1", "-q", "--set", "number_of_turns=60", "--time-scale", "20", "--replays", "none"];
        let words = [words, &same].concat();
        let words = words.into_iter().chain(self.maps.iter().map(String::as_str)).collect::<Vec<_>>();
        let output = command(self.folder.path(), &words).env("COLUMNS", "80").output().expect("agon starts");
        fits(&output, self.folder.path());
        output
    }

    /// What a gauntlet of this many rounds says of NEW.
    fn gauntlet(&self, rounds: usize) -> Said {
        let games = (rounds * 2 * (self.maps.len() / 2).max(1)).to_string();
        let played =
            good(self.run(&["gauntlet", "cultist-wars", "./new.sh", "./old.sh", "-n", &games, "--json"]));
        let result = last_event(&played);
        let journal = result_journal(self.folder.path());
        let text = self.run(&["sprt", "--from", &journal]);
        Said { estimate: result["pairings"][0]["estimate"].clone(), result, of_test: text.status.code() }
    }
}

/// The journal of the only series in this folder.
fn result_journal(folder: &Path) -> String {
    let mut all = std::fs::read_dir(folder.join("agon-series")).expect("a series");
    let only = all.next().expect("a series").expect("a folder").path();
    only.join("journal.jsonl").to_string_lossy().into_owned()
}

/// What people read fits 80 columns, but for commands to copy and paths.
fn fits(output: &Output, folder: &Path) {
    let folder = folder.to_string_lossy();
    for line in out(output).lines().filter(|line| !line.starts_with('{')) {
        let whole = line.trim_start().starts_with("agon ") || line.contains(&*folder);
        assert!(whole || line.width() <= 80, "{} columns: {line}", line.width());
    }
}

struct Said {
    estimate: Value,
    result: Value,
    /// The exit code of `sprt --from`.
    of_test: Option<i32>,
}

impl Said {
    /// The truth does not refute it: the interval holds it, and no certainty is on the wrong side.
    fn holds(&self, truth: f64) {
        let of =
            |key: &str| self.estimate[key].as_f64().unwrap_or_else(|| panic!("{key}: {}", self.estimate));
        assert!((of("score") - truth).abs() < 0.11, "{}", self.estimate);
        assert!(of("score_low") <= truth + 1e-9 && truth <= of("score_high") + 1e-9, "{}", self.estimate);
        let sure = of("superiority");
        assert!(truth > 0.5 || sure < 0.95, "{}", self.estimate);
        assert!(truth < 0.5 || sure > 0.05, "{}", self.estimate);
    }
}

#[test]
fn noise_on_wins_wins_nothing() {
    // It wins on one of five maps, and only there do matches vary.
    let pair = Pair::new("map == 0 ? 0 : 2", LATE_AND_NOISY, 5);
    let said = pair.gauntlet(6);
    said.holds(0.2);
    assert_eq!((said.result["pairings"][0]["rounds"].as_u64(), said.of_test), (Some(6), Some(12)));
    let tested = pair.run(&["sprt", "cultist-wars", "./new.sh", "./old.sh", "-n", "60"]);
    assert!(!out(&tested).starts_with("Yes"), "{}", out(&tested));
    assert_ne!(tested.status.code(), Some(0));
    // Nor a tournament: it stands below, with fewer points.
    let played = pair.run(&["tournament", "cultist-wars", "./new.sh", "./old.sh", "-n", "60", "--json"]);
    let table = &last_event(&played)["tables"][0]["ratings"]["bots"];
    assert_eq!(table[0]["bot"], "old.sh", "{table}");
    good(pair.run(&["tournament", "cultist-wars", "./new.sh", "./old.sh", "-n", "20"]));
}

#[test]
fn noise_on_losses_rejects_nobody() {
    // It loses on one of five maps, after another number of turns each time.
    let pair = Pair::new("map == 0 ? 2 + n * 5 % 3 : 0", LATE, 5);
    let said = pair.gauntlet(6);
    said.holds(0.8);
    let tested = pair.run(&["sprt", "cultist-wars", "./new.sh", "./old.sh", "--elo1", "100", "-n", "400"]);
    assert_eq!(tested.status.code(), Some(0), "{}{}", out(&tested), err(&tested));
    assert!(out(&tested).starts_with("Yes: new.sh is better than old.sh"), "{}", out(&tested));
}

#[test]
fn strength_on_one_map_counts_as_one_map() {
    // All on one map, three of eight on the others: even.
    Pair::new("map == 0 ? 0 : (n / 5 * 3 + n) % 8 < 3 ? 0 : 2 + n % 3", LATE_AND_NOISY, 5)
        .gauntlet(8)
        .holds(0.5);
}

#[test]
fn a_seat_is_no_strength() {
    Pair::new("me == 0 ? 0 : 2", LATE_AND_NOISY, 1).gauntlet(12).holds(0.5);
}

#[test]
fn the_number_of_a_match_is_no_strength() {
    Pair::new("n % 4 < 2 ? 0 : 2 + n % 3", LATE_AND_NOISY, 1).gauntlet(12).holds(0.5);
}

#[test]
fn a_bot_that_learns_is_noticed() {
    // It loses for twenty rounds, and wins from then on.
    let pair = Pair::new("n < 40 ? 2 + n % 3 : n % 9 == 0 ? 2 : 0", LATE_AND_NOISY, 1);
    let played = pair.run(&["gauntlet", "cultist-wars", "./new.sh", "./old.sh", "-n", "80"]);
    assert!(out(&played).contains("drift: about"), "{}", out(&played));
}

#[test]
fn a_bot_that_drifts_is_noticed() {
    let pair = Pair::new("n * 7 % 80 < n ? 0 : 2 + n % 3", LATE_AND_NOISY, 1);
    let played = pair.run(&["gauntlet", "cultist-wars", "./new.sh", "./old.sh", "-n", "80"]);
    assert!(out(&played).contains("drift: about"), "{}", out(&played));
}

#[test]
fn a_stale_build_is_no_test() {
    // Not the same byte for byte, as it counts in another file, but the same in what it does.
    let pair = Pair::new("me == 0 ? 0 : 2", "me == 0 ? 0 : 2", 1);
    let tested = pair.run(&["sprt", "cultist-wars", "./new.sh", "./old.sh", "-n", "60"]);
    assert!(matches!(tested.status.code(), Some(12 | 13)), "{}{}", out(&tested), err(&tested));
    let said = out(&tested).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("both bots gave the same answers in 100 % of pairs"), "{}", out(&tested));
    assert!(said.contains("the two bots gave exactly the same answers"), "{}", out(&tested));
    std::fs::copy(pair.folder.path().join("new.sh"), pair.folder.path().join("copy.sh")).expect("copied");
    let same = pair.run(&["sprt", "cultist-wars", "./new.sh", "./copy.sh", "-n", "60"]);
    assert_eq!(same.status.code(), Some(14), "{}{}", out(&same), err(&same));
}

#[test]
fn copies_are_even() {
    // Each match is decided by a coin of its number.
    Pair::new("(n * 7919 / 13 + n / 3) % 2 ? 0 : 2 + n % 3", LATE_AND_NOISY, 1).gauntlet(20).holds(0.5);
}

#[test]
fn of_a_bot_that_crashes_before_it_answers_nothing_is_stated() {
    let pair = Pair::new("0", LATE, 1);
    std::fs::write(pair.folder.path().join("new.sh"), "#!/bin/sh\nread -r line\nexit 3\n").expect("written");
    let tested = pair.run(&["sprt", "cultist-wars", "./new.sh", "./old.sh"]);
    assert_eq!(tested.status.code(), Some(15), "{}{}", out(&tested), err(&tested));
    assert!(out(&tested).contains("nothing is stated"), "{}", out(&tested));
    // Nor by what is left of it.
    let journal = result_journal(pair.folder.path());
    let read = pair.run(&["sprt", "--from", &journal]);
    assert_eq!(read.status.code(), Some(15), "{}{}", out(&read), err(&read));
    let played = pair.run(&["gauntlet", "cultist-wars", "./new.sh", "./old.sh", "-n", "4"]);
    assert!(out(&played).contains("Warning: new.sh never gave an answer"), "{}", out(&played));
}

#[test]
fn what_only_repeats_is_told_as_far_as_it_shows() {
    let pair = Pair::new("map < 3 ? 0 : 2", LATE, 5);
    let tested = pair.run(&["sprt", "cultist-wars", "./new.sh", "./old.sh"]);
    assert_eq!(tested.status.code(), Some(13), "{}{}", out(&tested), err(&tested));
    assert!(out(&tested).contains("new.sh scores 6 of 10 against old.sh"), "{}", out(&tested));
    let journal = result_journal(pair.folder.path());
    let read = pair.run(&["sprt", "--from", &journal, "--json"]);
    assert_eq!((read.status.code(), last_word(&read)), (Some(13), "repeated".to_owned()));
}

fn last_word(output: &Output) -> String {
    let json = json(output);
    json["decision"].as_str().expect("a word").to_owned()
}

#[test]
fn bots_that_depend_on_their_opponents_are_named_as_a_circle() {
    // Each gives up against the next.
    let rule = |next: u32| format!("other == {next} ? 3 + n % 3 : 7 + n * 5 % 7");
    let pair = Pair::new(&rule(2), &rule(3), 1);
    pair.add("third", 3, &rule(1));
    let words = ["tournament", "cultist-wars", "./new.sh", "./old.sh", "./third.sh"];
    let played = good(pair.run(&[&words[..], &["-n", "40"]].concat()));
    let shown = out(&played).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("old.sh beats new.sh (100 %)") && shown.contains("beyond noise"), "{shown}");
    // Every format is told in 80 columns.
    for format in [&["swiss", "--rounds", "3"][..], &["knockout"], &["double-elimination"], &["ladder"]] {
        let played = pair.run(&[&words[..], &["--format"], format].concat());
        assert!(played.status.success(), "{format:?}: {}", err(&played));
    }
}
