//! Recorded matches of the original server: zero differences.

use agon_game::conform::{Recognised, Report};
use agon_game::{Chance as _, Game as _, Seeded};
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

/// Records are foreign bytes: whatever is wrong with them is told, and never a panic.
#[test]
fn damaged_records_are_told() {
    let Some(folder) = golden::folder("jungle-blitz") else { return };
    let mut chance = Seeded::stream(1, "damage");
    for file in ["games/g012.json.gz", "wire/run2/conn1.jsonl.gz"] {
        let record = golden::read(&folder.join(file)).expect("a readable record");
        // The beginning is enough for the conversations, and quicker.
        let record = if file.starts_with("wire") { &record[..record.len() / 20] } else { &record[..] };
        for _ in 0..60 {
            let mut damaged = record.to_vec();
            for _ in 0..=chance.below(3) {
                let at = chance.below(damaged.len() as u32) as usize;
                let values: [&[u8]; 8] = [b"null", b"-1", b"[]", b"{}", b"99999999999", b"\"9\"", b"7", b""];
                let value = values[chance.below(8) as usize];
                // Replaces a number or a word, so that the record often stays JSON.
                let word = |byte: &u8| byte.is_ascii_alphanumeric();
                let Some(start) = damaged[at..].iter().position(word).map(|offset| at + offset) else {
                    continue;
                };
                let length = damaged[start..].iter().position(|byte| !word(byte)).unwrap_or(0);
                damaged.splice(start..start + length, value.iter().copied());
            }
            let _ = JungleBlitz::conform(&damaged, &mut Report::default());
        }
    }
}
