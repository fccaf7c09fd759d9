//! What surrounds a class: its bots come from one folder, and it gets its marks, whether the contest is running or not.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Running, agon, command, err, folder, good, json, out, site_of, waiter, write};

/// A contest with a few results, of which one team was ruled out.
fn contest(place: &Path) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.9/contest.backup");
    good(agon(place, &["serve", "restore", &kept.to_string_lossy(), "cup"]));
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn the_bots_of_a_class_come_from_one_folder() {
    let folder = folder();
    let place = folder.path();
    contest(place);
    waiter(place, "class/Ann");
    write(place, "class/Ann/more.txt", "another version of hers");
    waiter(place, "class/Cid");
    write(place, "class/Dora.py", "print('WAIT')\n");
    let packed = fs::File::create(place.join("class/Eve B.tar.gz")).expect("a file");
    let mut packed = tar::Builder::new(GzEncoder::new(packed, Compression::default()));
    packed.append_dir_all(".", place.join("class/Cid")).expect("packed");
    packed.into_inner().expect("written").finish().expect("written");
    write(place, "class/.DS_Store", "x");
    write(place, "class/__MACOSX/._Ann", "x");
    for (name, content) in
        [("Fay.zip", "no zip"), ("notes.txt", "Fay was ill"), ("g<h.py", "print()"), ("CID.py", "print()")]
    {
        write(place, &format!("class/{name}"), content);
    }
    write(place, "class/Greedy.py", "print('WAIT')\n");
    fs::create_dir(place.join("class/Hal")).expect("a folder");
    waiter(place, "class/Ida");
    std::os::unix::fs::symlink("/etc/passwd", place.join("class/Ida/passwd")).expect("a link");
    std::os::unix::fs::symlink("/etc", place.join("class/Jo")).expect("a link");
    let add = ["serve", "add", "cup", "class", "--each"];
    let added = agon(place, &add);
    assert_eq!(added.status.code(), Some(1), "{}{}", out(&added), err(&added));
    let said = out(&added);
    let line = |name: &str| {
        let found = said.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("{name} is not in {said}"))
    };
    for (name, what) in [
        ("Ann", "Ann v2 has been submitted ("),
        (
            "Cid",
            "refused (yours): `CID.py` is of the same team, or of one that looks like it, and came first",
        ),
        ("CID.py", "CID v1 has been submitted ("),
        ("Dora.py", "Dora v1 has been submitted ("),
        ("Eve B.tar.gz", "Eve B v1 has been submitted ("),
        (".DS_Store", "ignored: a hidden file, or what a system left there"),
        ("__MACOSX", "ignored"),
        ("Fay.zip", "refused (yours): "),
        ("notes.txt", "refused (yours): "),
        ("g<h.py", "refused (yours): `g<h` is not a name for a team: 1 to 32 letters"),
        ("Greedy.py", "refused (yours): `Greedy` looks like `greedy`, which is there already"),
        ("Hal", "refused (yours): "),
        ("Ida", "refused (yours): `passwd` in it is a link"),
        ("Jo", "refused (yours): it is neither a folder nor a file; a link is not followed"),
    ] {
        assert!(line(name).starts_with(what), "{name}: {}", line(name));
    }
    assert!(said.contains("\n4 submitted, 0 unchanged, 8 refused, 2 ignored.\n"), "{said}");
    assert!(said.contains("`agon serve status cup` shows the results."), "{said}");
    // The same again changes nothing; what was mended is new.
    fs::remove_file(place.join("class/Ida/passwd")).expect("removed");
    let again = agon(place, &[&add[..], &["--json"]].concat());
    assert_eq!(again.status.code(), Some(1), "{}", err(&again));
    let told = lines(&out(&again));
    let of = |name: &str| told.iter().find(|line| line["entry"] == name).expect("a line");
    let ann = of("Ann");
    assert_eq!(
        (&ann["bot"]["team"], &ann["bot"]["version"], &ann["bot"]["state"]),
        (&json!("Ann"), &json!(2), &json!("known"))
    );
    assert_eq!((&of("Ida")["bot"]["state"], &of("Ida")["bot"]["version"]), (&json!("new"), &json!(1)));
    assert_eq!((&of("Fay.zip")["whose"], of("Fay.zip")["why"].is_string()), (&json!("yours"), true));
    assert_eq!(of(".DS_Store"), &json!({ "entry": ".DS_Store" }));
    assert_eq!(told.last(), Some(&json!({ "submitted": 1, "unchanged": 4, "refused": 7, "ignored": 2 })));
    let status = json(&good(agon(place, &["serve", "status", "cup", "--json"])));
    let versions = status["versions"].as_array().expect("a list");
    assert_eq!(versions.iter().filter(|version| version["entrant"] == "Ann").count(), 2);
    // What is all in order ends well; what is no folder of bots is said to be none.
    waiter(place, "good/Kim");
    good(agon(place, &["serve", "add", "cup", "good", "--each"]));
    fs::create_dir(place.join("empty")).expect("a folder");
    for number in 0..501 {
        write(place, &format!("many/{number}.py"), "print()");
    }
    for (line, why) in [
        ("class/Ann --each", "has an agon.toml, so it is one bot; --team NAME submits it"),
        ("empty --each", "empty is empty"),
        ("many --each", "more than 500 are in many"),
        ("class/Dora.py --each", "class/Dora.py"),
        ("nowhere --each", "no such file or folder"),
        ("class --each --team Ann", "cannot be used with"),
        ("class", "--team <NAME>"),
    ] {
        let words: Vec<&str> = ["serve", "add", "cup"].into_iter().chain(line.split(' ')).collect();
        let refused = agon(place, &words);
        assert_eq!((refused.status.code(), out(&refused).as_str()), (Some(2), ""), "{line}");
        assert!(err(&refused).contains(why), "{line}: {}", err(&refused));
    }
}

#[test]
fn marks_come_in_every_form_whether_the_contest_runs_or_not() {
    let folder = folder();
    let place = folder.path();
    contest(place);
    let marks = |more: &[&str]| agon(place, &[&["serve", "marks", "cup"], more].concat());
    let told = json(&good(marks(&["--json"])));
    let board = json(&good(agon(place, &["serve", "status", "cup", "--json"])))["board"].clone();
    for (row, team) in
        board.as_array().expect("a board").iter().zip(told["teams"].as_array().expect("a list"))
    {
        for (key, value) in row.as_object().expect("a row") {
            assert_eq!(&team[key], value, "{key} of {team}");
        }
        let sum: u64 = ["won", "drawn", "lost"].iter().filter_map(|key| team[*key].as_u64()).sum();
        assert_eq!(team["matches"], sum, "{team}");
    }
    let bosses: Vec<&str> =
        told["bosses"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(!bosses.is_empty(), "{told}");
    let out_of_it = told["teams"].as_array().expect("a list").iter().find(|team| team["standing"] == "out");
    let out_of_it =
        out_of_it.unwrap_or_else(|| panic!("the ruling: {told}"))["name"].as_str().expect("a name");
    let csv = out(&good(marks(&["--csv"])));
    assert!(
        csv.starts_with("team,members,builtin,") && csv.contains(&format!(",{}_won,", bosses[0])),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), told["teams"].as_array().map_or(0, Vec::len) + 1);
    let written = good(marks(&["-o", "marks.csv"]));
    assert_eq!(
        (out(&written).as_str(), fs::read_to_string(place.join("marks.csv")).expect("written")),
        ("", csv.clone())
    );
    let fewer = out(&good(marks(&["--csv", "--without-builtin"])));
    assert!(!fewer.contains(",yes,") && csv.contains(",yes,"), "{fewer}");
    // For Gradescope.
    let points = format!("{}=1%:10", bosses[0]);
    let graded = json(&good(marks(&["--gradescope", &out_of_it.to_lowercase(), "--points", &points])));
    assert_eq!((&graded["score"], &graded["tests"][0]["max_score"]), (&json!(0.0), &json!(10.0)));
    assert_eq!(graded["output"], "No place on the ladder: out; 0 rated matches.");
    good(marks(&["--json", "--points", &points, "-o", "marks.json"]));
    let file: Value =
        serde_json::from_str(&fs::read_to_string(place.join("marks.json")).expect("written")).expect("JSON");
    assert_eq!(file["max_score"], 10.0);
    for (line, why) in [
        ("--gradescope Nobody --points", "there is no team `Nobody`"),
        ("--gradescope Ann", "--points <BOSS=PERCENT%:POINTS,...>"),
        ("--points gredy=60%:10", "no built-in bot `gredy` is on the ladder; those there: "),
        ("--csv --gradescope Ann --points", "cannot be used with"),
        ("-o no/where.csv", "no/where.csv: no such file or folder"),
    ] {
        let words = line.split(' ').chain(line.ends_with("--points").then_some(points.as_str()));
        let refused = marks(&words.collect::<Vec<_>>());
        assert_eq!((refused.status.code(), out(&refused).as_str()), (Some(2), ""), "{line}");
        assert!(err(&refused).contains(why), "{line}: {}", err(&refused));
    }
    let nothing = agon(place, &["serve", "marks", "nowhere"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(err(&nothing).contains("there is no contest in it"), "{}", err(&nothing));
    // While it runs.
    let mut serve = command(place, &["serve", "cup", "-j", "0", "--port", "0"]);
    let mut serve = Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    site_of(&mut serve.0, Duration::from_secs(120));
    assert_eq!(out(&good(marks(&["--csv"]))), csv);
}
