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
