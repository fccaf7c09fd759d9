//! All recorded matches of the original, without a difference.

use agon_game::Game as _;
use agon_game::conform::{ConformReport, Recognised};
use agon_testkit::golden;
use terminal::Terminal;

/// Compares the records of a folder, and counts whole matches, matches cut short, and files that are neither.
fn compare(folder: &str) -> Option<(ConformReport, [usize; 3])> {
    let files = golden::files(&golden::folder(folder)?).expect("a readable folder");
    let halves: Vec<(ConformReport, [usize; 3])> = std::thread::scope(|scope| {
        let run = |part: usize| {
            let (mut report, mut counts) = (ConformReport::default(), [0; 3]);
            for path in files.iter().skip(part).step_by(2) {
                let mut own = ConformReport::default();
                let record = golden::read(path).expect("a readable record");
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                counts[match Terminal::conform(&record, &mut own) {
                    Recognised::Record => 0,
                    Recognised::Cut(_) => 1,
                    Recognised::Foreign if record.is_empty() => 2,
                    other => panic!("{name}: {other:?}"),
                }] += 1;
                report.absorb(own, &name);
            }
            (report, counts)
        };
        let other = scope.spawn(move || run(1));
        vec![run(0), other.join().expect("the comparison does not panic")]
    });
    let (mut report, mut counts) = (ConformReport::default(), [0; 3]);
    for (half, own) in halves {
        report.absorb(half, "");
        counts.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    println!("{folder}, {} files, whole, cut and none {counts:?}: {:#?}", files.len(), report.kinds);
    assert_eq!(report.differ(), 0, "{:#?}", report.differences);
    Some((report, counts))
}

#[test]
fn the_engine_plays_as_the_original_did() {
    let Some((report, [whole, cut, none])) = compare("terminal") else { return };
    assert!(whole > cut && none == 0, "whole {whole}, cut {cut}, none {none}");
    for kind in
        ["healths", "move", "attack", "damage", "death", "shield", "self-destruct", "end stats", "winner"]
    {
        assert!(report.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} was compared");
    }
}

/// Upgrades in second lines, victims that share a tile, a hit of exactly the health shown, marks after the last turn.
#[test]
fn what_hardly_ever_happens_goes_as_in_the_original() {
    let Some((_, [whole, _, none])) = compare("terminal-rare") else { return };
    assert!(whole >= 7 && none >= 1, "whole {whole}, none {none}");
}

/// The seasons of 2018 and 2019: other reaches, shields that decay, two numbers a structure.
#[test]
fn the_first_seasons_are_played_as_then() {
    let Some((report, [whole, cut, _])) = compare("terminal-2018") else { return };
    assert!(whole >= 18 && cut >= 3, "whole {whole}, cut {cut}");
    for kind in ["healths", "move", "attack", "damage", "death", "shield", "melee", "end stats", "winner"] {
        assert!(report.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} was compared");
    }
}

/// What no rule explains (TM-SEASON-7): all choices among equals that the original made otherwise than this engine, by
/// record. The original kept units in a set without an order, and its shield events show that it hit them in that
/// order; of the steps, all by Interceptors, we know no reason.
const UNEXPLAINED: [(&str, &str); 4] = [
    (
        "season-09.replay.gz",
        "[[3,104],[4,111],[5,123],[5,120],[6,139],[7,145],[8,155],[8,150],[8,154],[10,175],\
         [11,180],[11,186],[11,189],[12,211],[2,7,98,6,18],[2,11,98,6,17],[2,15,98,6,16],\
         [2,19,98,6,15],[2,23,98,6,14],[2,27,98,6,13],[8,3,158,8,21],[11,23,191,6,14],\
         [11,99,190,22,11],[11,103,190,23,11],[11,107,190,24,11],[11,111,190,25,11]]",
    ),
    ("season-15.replay.gz", "[[3,112],[3,110]]"),
    ("season-18.replay.gz", "[[5,156],[5,155],[5,152],[5,150],[7,173],[3,111,124,1,15]]"),
    (
        "season-22.replay.gz",
        "[[13,218],[13,228],[13,224],[17,294],[17,286],[17,281],[17,290],[19,316],[19,311],\
         [19,319],[17,51,293,14,15],[19,3,313,25,12]]",
    ),
];

#[test]
fn the_choices_among_equals_that_are_not_ours_are_these() {
    let Some(folder) = golden::folder("terminal-2018") else { return };
    let mut found = Vec::new();
    for path in golden::files(&folder).expect("a readable folder") {
        let record = golden::read(&path).expect("a readable record");
        let recorded = terminal::replay::recorded(&record).expect("a record");
        let (_, config) = recorded.setup.rules.file.expect("the record's own");
        let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
        if let Some(picks) = config["agon"].get("picks") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, picks.to_string()));
        }
    }
    let known: Vec<_> = UNEXPLAINED.map(|(name, picks)| (name.to_owned(), picks.to_owned())).into();
    assert_eq!(found, known);
}
