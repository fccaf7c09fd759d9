//! The recorded games: no difference at all.

use agon_game::AnyGame as _;
use agon_game::conform::{ConformReport, Recognised};
use agon_testkit::golden;

#[test]
fn recorded_games_have_no_difference() {
    let Some(folder) = golden::folder("deerhunt") else { return };
    let mut report = ConformReport::default();
    let mut records = 0;
    for path in golden::files(&folder).expect("a readable folder") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = golden::read(&path).expect("a readable record");
        let mut own = ConformReport::default();
        assert_eq!(deerhunt::FACE.conform(&bytes, &mut own), Recognised::Record, "{name}");
        report.absorb(own, &name);
        records += 1;
    }
    for (kind, tally) in &report.kinds {
        println!("{kind}: {} compared, {} differ", tally.compared, tally.differ);
    }
    for difference in &report.differences {
        println!(
            "{} at {}\n  recorded {}\n  got      {}",
            difference.kind, difference.place, difference.expected, difference.got
        );
    }
    assert_eq!(report.differ(), 0);
    for kind in
        ["units before", "units after", "fog", "verdicts", "error texts", "winners", "state message bytes"]
    {
        assert!(report.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} compared");
    }
    assert_eq!(records, 138);
}
