//! What is written comes back; what is cut, altered or foreign is read as far as it is true.

use agon_game::{Absence, Answer, PackedAnswer, Recipe, Seat};
use agon_replay::{End, Header, Replay, ReplayError, SeatInfo, Timing, Writer};

fn header(timed: bool) -> Header {
    let recipe = Recipe {
        rules_name: "standard".to_owned(),
        rules: "turns = 150\n".to_owned(),
        map_name: "seed".to_owned(),
        map: String::new(),
        seats: 2,
        seed: i64::MIN,
    };
    let seat = |bot: &str| SeatInfo { bot: bot.to_owned(), label: bot.to_owned(), hash: None };
    Header {
        program: "agon test".to_owned(),
        game: "cultist-wars".to_owned(),
        rules_version: 1,
        recipe,
        seats: vec![seat("a"), seat("b")],
        started: 1,
        timed,
        clock: "original".to_owned(),
    }
}

fn given(order: &[u8], think_ms: u32) -> PackedAnswer {
    Answer::Given { order: order.to_vec(), think_ms }
}

fn steps(count: u32, timed: bool) -> Vec<Vec<(Seat, PackedAnswer)>> {
    let think = |ms| if timed { ms } else { 0 };
    (0..count)
        .map(|step| {
            let second = match step % 5 {
                0 => Answer::Missing(Absence::TimedOut),
                1 => Answer::Malformed { why: "not a number: `ü`".to_owned(), think_ms: think(7) },
                2 => Answer::Missing(Absence::Gone),
                3 => given(&[], think(1)),
                _ => given(&[step as u8; 300], think(40_000)),
            };
            vec![(Seat::new(0), given(&step.to_le_bytes(), think(step))), (Seat::new(1), second)]
        })
        .collect()
}

fn written(timed: bool, count: u32, finish: bool) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(timed)).expect("a vector takes all");
    for (number, answers) in steps(count, timed).into_iter().enumerate() {
        writer.note(Seat::new(1), "stderr", "thinking…");
        writer.timing(Seat::new(0), Timing { wall_us: 12, cpu_us: (number % 2 == 0).then_some(0) });
        writer.step(&answers, number as u64 * 77).expect("a vector takes all");
        if number % 100 == 99 {
            writer.flush().expect("a vector takes all");
        }
    }
    let end = End {
        steps: 0,
        outcome: None,
        state: "0".to_owned(),
        chain: String::new(),
        facts: serde_json::Value::Null,
    };
    if finish { writer.finish(end).expect("a vector takes all") } else { panic!("not used") }
}

#[test]
fn what_is_written_comes_back() {
    for timed in [false, true] {
        let replay = Replay::read(&written(timed, 250, true)).expect("a good replay");
        assert_eq!(replay.header, header(timed));
        let answers: Vec<_> = replay.steps.iter().map(|step| step.answers.clone()).collect();
        assert_eq!(answers, steps(250, timed));
        assert_eq!(replay.steps[3].check, (3 * 77) as u8 & 15);
        assert_eq!(replay.timing[&(2, Seat::new(0))], Timing { wall_us: 12, cpu_us: Some(0) });
        assert_eq!(replay.timing[&(3, Seat::new(0))], Timing { wall_us: 12, cpu_us: None });
        assert_eq!(replay.notes_of(Seat::new(1), 249, "stderr").collect::<Vec<_>>(), ["thinking…"]);
        let end = replay.end.expect("it was finished");
        assert_eq!((end.steps, end.chain), (250, format!("{:016x}", replay.chain)));
    }
}

#[test]
fn a_cut_replay_is_read_as_far_as_it_goes() {
    let whole = written(false, 250, true);
    let mut lengths = Vec::new();
    for cut in 0..whole.len() {
        if let Ok(replay) = Replay::read(&whole[..cut]) {
            assert!(replay.end.is_none());
            lengths.push(replay.steps.len());
        }
    }
    assert!(lengths.is_sorted() && lengths.contains(&100) && lengths.contains(&200), "chunk by chunk");
}

#[test]
fn no_altered_byte_goes_unnoticed_or_panics() {
    let whole = written(true, 30, true);
    let good = Replay::read(&whole).expect("a good replay");
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 0x10;
        match Replay::read(&altered) {
            Err(_) => {}
            Ok(replay) => {
                assert!(replay.end.is_none() && replay.steps.len() <= good.steps.len(), "byte {at}")
            }
        }
    }
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    assert_eq!(Replay::read(b"PK\x03\x04 something"), Err(ReplayError::Foreign));
    assert_eq!(Replay::read(b""), Err(ReplayError::Foreign));
    assert_eq!(Replay::read(b"AGONRPL2 something"), Err(ReplayError::Newer));
    assert!(matches!(Replay::read(b"AGONRPL1"), Err(ReplayError::Damaged(_))));
}

#[test]
fn what_belongs_to_a_seat_can_be_taken_out() {
    let mut writer = Writer::new(Vec::new(), &header(false)).expect("a vector takes all");
    for (number, answers) in steps(120, false).into_iter().enumerate() {
        for seat in 0..2 {
            writer.note(Seat::new(seat), "stderr", &format!("secret of {seat}"));
        }
        writer.timing(Seat::new(0), Timing { wall_us: 12, cpu_us: None });
        writer.step(&answers, number as u64).expect("a vector takes all");
    }
    let fault = |seat: u8| serde_json::json!({ "seat": seat, "kind": "crash", "message": format!("secret of {}", seat - 1) });
    let end = End {
        steps: 0,
        outcome: None,
        state: "0".to_owned(),
        chain: String::new(),
        facts: serde_json::json!({ "faults": [fault(1), fault(2)], "void": null }),
    };
    let whole = writer.finish(end).expect("a vector takes all");
    let before = Replay::read(&whole).expect("a good replay");
    for (keep, secrets, gone) in
        [(&[][..], [false, false], (240, 2)), (&[Seat::new(1)][..], [false, true], (120, 1))]
    {
        let (bytes, redacted) = agon_replay::redact(&whole, keep).expect("a good replay");
        assert_eq!((redacted.notes, redacted.sentences), gone);
        let after = Replay::read(&bytes).expect("a good replay");
        assert_eq!(
            (&after.header, &after.steps, &after.timing),
            (&before.header, &before.steps, &before.timing)
        );
        assert_eq!(after.chain, before.chain);
        let end = after.end.clone().expect("it has an end");
        assert_eq!(end.chain, before.end.as_ref().expect("it has an end").chain);
        let all = format!("{after:?}");
        assert_eq!([all.contains("secret of 0"), all.contains("secret of 1")], secrets);
        assert_eq!(
            agon_replay::redact(&bytes, keep).expect("a good replay").1,
            Default::default(),
            "nothing is left"
        );
    }
    // One that was cut off stays readable as far as it went.
    let (cut, _) = agon_replay::redact(&whole[..whole.len() - 3], &[]).expect("a cut replay");
    assert!(Replay::read(&cut).expect("a cut replay").end.is_none());
}
