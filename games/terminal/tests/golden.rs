//! The recorded matches of the original, all of them, without a difference.

use agon_game::Game as _;
use agon_game::conform::{Recognised, Report};
use agon_testkit::golden;
use terminal::Terminal;

#[test]
fn the_engine_plays_as_the_original_did() {
    let Some(folder) = golden::folder("terminal") else { return };
    let files = golden::files(&folder).expect("a readable folder");
    let halves: Vec<Report> = std::thread::scope(|scope| {
        let run = |part: usize| {
            let mut report = Report::default();
            for path in files.iter().skip(part).step_by(2) {
                let mut own = Report::default();
                let record = golden::read(path).expect("a readable record");
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                assert_eq!(Terminal::conform(&record, &mut own), Recognised::Record, "{name}");
                report.absorb(own, &name);
            }
            report
        };
        let other = scope.spawn(move || run(1));
        vec![run(0), other.join().expect("the comparison does not panic")]
    });
    let mut report = Report::default();
    halves.into_iter().for_each(|half| report.absorb(half, ""));
    println!("{} records: {:#?}", files.len(), report.kinds);
    assert_eq!(report.differ(), 0, "{:#?}", report.differences);
    for kind in
        ["healths", "move", "attack", "damage", "death", "shield", "self-destruct", "end stats", "winner"]
    {
        assert!(report.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} was compared");
    }
}
