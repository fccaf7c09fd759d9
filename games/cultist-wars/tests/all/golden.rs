//! Recorded matches of the original referee: no difference at all.

use agon_game::Game as _;
use agon_game::conform::{ConformReport, Recognised};
use agon_testkit::golden;
use cultist_wars::CultistWars;

#[test]
fn recorded_matches_are_played_alike() {
    let Some(folder) = golden::folder("cultist-wars") else { return };
    let mut report = ConformReport::default();
    for path in golden::files(&folder).expect("a readable folder") {
        let name = path.display().to_string();
        let record = golden::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut own = ConformReport::default();
        assert_eq!(CultistWars::conform(&record, &mut own), Recognised::Record, "{name}");
        report.absorb(own, &name);
    }
    println!("{:#?}", report.kinds);
    assert_eq!(report.differ(), 0, "{:#?}", report.differences);
    for kind in ["games", "turns", "boards", "answer lines", "shot lines", "conversations"] {
        assert!(report.kinds.get(kind).is_some_and(|tally| tally.compared > 0), "no {kind} were compared");
    }
}
