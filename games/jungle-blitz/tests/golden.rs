//! Recorded matches of the original server: zero differences.

use agon_game::Game as _;
use agon_game::conform::{Recognised, Report};
use agon_testkit::golden;
use jungle_blitz::JungleBlitz;

#[test]
fn recorded_matches_are_the_same() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let (mut whole, mut records) = (Report::default(), 0);
    for path in golden::files(&folder).expect("a readable folder") {
        let bytes = golden::read(&path).expect("a readable file");
        let mut report = Report::default();
        match JungleBlitz::conform(&bytes, &mut report) {
            Recognised::Record => records += 1,
            Recognised::Foreign => {}
            Recognised::Damaged(why) => panic!("{}: {why}", path.display()),
        }
        whole.absorb(report, &path.file_name().unwrap_or_default().to_string_lossy());
    }
    for (kind, tally) in &whole.kinds {
        println!("{kind}: {} compared, {} differ", tally.compared, tally.differ);
    }
    assert_eq!(whole.differ(), 0, "{:#?}", whole.differences);
    assert!(records >= 81 + 6, "only {records} records");
    for kind in ["unit path", "deaths", "errors of a team", "random picks", "TICK message", "COMMAND message"]
    {
        assert!(whole.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} was compared");
    }
}
