//! Recorded matches of the original server: zero differences.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{Chance as _, Game as _, MapChoice, RulesChoice, Seeded, Setup};
use agon_testkit::golden;
use jungle_blitz::map::Map;
use jungle_blitz::{JungleBlitz, bitmap};

#[test]
fn recorded_matches_are_the_same() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let (mut whole, mut records) = (ConformReport::default(), 0);
    for path in golden::files(&folder).expect("a readable folder") {
        let bytes = golden::read(&path).expect("a readable file");
        let mut report = ConformReport::default();
        match JungleBlitz::conform(&bytes, &mut report) {
            Recognised::Record => records += 1,
            Recognised::Foreign => {}
            Recognised::Cut(why) | Recognised::Damaged(why) => panic!("{}: {why}", path.display()),
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

/// Records are foreign bytes: any damage is reported, and never panics.
#[test]
fn damaged_records_are_told() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let mut chance = Seeded::stream(1, "damage");
    for file in ["games/g012.json.gz", "wire/run2/conn1.jsonl.gz", "wire/run1/replay.json.gz"] {
        let record = golden::read(&folder.join(file)).expect("a readable record");
        // For conversations the beginning is enough, and quicker.
        let beginning;
        let record = match file {
            "wire/run2/conn1.jsonl.gz" => &record[..record.len() / 20],
            "wire/run1/replay.json.gz" => {
                let frames: Vec<serde_json::Value> = serde_json::from_slice(&record).expect("frames");
                beginning = serde_json::to_vec(&frames[..40]).expect("JSON");
                &beginning
            }
            _ => &record[..],
        };
        for _ in 0..60 {
            let mut damaged = record.to_vec();
            for _ in 0..=chance.below(3) {
                let at = chance.below(damaged.len() as u32) as usize;
                let values: [&[u8]; 8] = [b"null", b"-1", b"[]", b"{}", b"99999999999", b"\"9\"", b"7", b""];
                let value = values[chance.below(8) as usize];
                // Replaces a number or a word, so that the record often remains JSON.
                let word = |byte: &u8| byte.is_ascii_alphanumeric();
                let Some(start) = damaged[at..].iter().position(word).map(|offset| at + offset) else {
                    continue;
                };
                let length = damaged[start..].iter().position(|byte| !word(byte)).unwrap_or(0);
                damaged.splice(start..start + length, value.iter().copied());
            }
            let _ = JungleBlitz::conform(&damaged, &mut ConformReport::default());
            let _ = JungleBlitz::import(&damaged);
        }
    }
}

/// Every official map can be played, with the units of the contest and with four teams of four.
#[test]
fn official_maps_fit() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let maps = golden::read(&folder.join("maps.json")).expect("the maps");
    let maps: serde_json::Value = serde_json::from_slice(&maps).expect("JSON");
    let maps = maps.as_object().expect("maps by name");
    assert_eq!(maps.len(), 27);
    for (name, map) in maps {
        let rows = map["rows"].as_array().expect("rows").iter();
        let text: String = rows.map(|row| row.as_str().expect("a row").to_owned() + "\n").collect();
        let image = bitmap::write(&Map::parse(&text).expect("a map"));
        let teams = map["units_per_team"].as_object().expect("units by teams").iter();
        let played =
            teams.map(|(teams, units)| (teams.parse().expect("a number of teams"), units.to_string()));
        for (seats, units) in played.chain([(4, "4".to_owned())]) {
            let map = MapChoice::File(name.clone(), image.clone());
            let rules =
                RulesChoice { sets: vec![("unitsPerTeam".to_owned(), units)], ..RulesChoice::default() };
            let game = JungleBlitz::set_up(&Setup { map, rules, seats, seed: 0 });
            assert_eq!(game.unwrap_or_else(|error| panic!("{name}: {error}")).map.text(), text);
        }
    }
}

/// The original's viewer recorded this match; its commands are found again from what the frames show.
#[test]
fn a_recording_of_the_viewer_is_a_match() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let record = golden::read(&folder.join("wire/run1/replay.json.gz")).expect("a readable record");
    let mut report = ConformReport::default();
    assert_eq!(JungleBlitz::conform(&record, &mut report), Recognised::Record);
    assert_eq!(report.differ(), 0, "{:#?}", report.differences);
    assert!(report.kinds["unit position"].compared > 10_000);

    let import = JungleBlitz::import(&record).expect("a match");
    assert!(import.whole);
    assert_eq!((import.steps.len(), import.names.len()), (300, 4));
    assert_eq!(import.names[0], "UwUBot");
    let refused = "were refused by the original";
    assert!(import.notes.len() == 1 && import.notes[0].contains(refused), "{:?}", import.notes);

    // Cut between two frames it is the beginning of a match, cut inside one it is damaged.
    let frames: Vec<serde_json::Value> = serde_json::from_slice(&record).expect("frames");
    let beginning = serde_json::to_vec(&frames[..52]).expect("JSON");
    let import = JungleBlitz::import(&beginning).expect("a beginning");
    assert!(!import.whole);
    assert_eq!(import.steps.len(), 10);
    let why = JungleBlitz::import(&record[..record.len() / 2]).expect_err("cut");
    assert!(matches!(why, agon_game::Unreadable::Damaged(_)), "{why:?}");
}
