//! What is written comes back; what is cut, altered or foreign is read only as far as it is true.

use std::collections::BTreeMap;

use agon_game::{Absence, Answer, Outcome, PackedAnswer, Recipe, Seat};
use agon_replay::{Counted, EndInfo, Header, Replay, ReplayError, SeatInfo, SeatNote, Timing, Writer};

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
        id: None,
        clock: "original".to_owned().into(),
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

fn written(timed: bool, count: u32) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(timed)).expect("a vector takes all");
    for (number, answers) in steps(count, timed).into_iter().enumerate() {
        writer.note(Seat::new(1), "stderr", "thinking…");
        writer.timing(Seat::new(0), Timing { wall_us: 12, cpu_us: (number % 2 == 0).then_some(0) });
        writer.step(&answers, number as u64 * 77).expect("a vector takes all");
        if number % 100 == 99 {
            writer.flush().expect("a vector takes all");
        }
    }
    let end = EndInfo {
        steps: 0,
        outcome: None,
        state: "0".to_owned(),
        chain: String::new(),
        facts: serde_json::Value::Null,
    };
    writer.finish(end).expect("a vector takes all")
}

#[test]
fn what_is_written_comes_back() {
    for timed in [false, true] {
        let replay = Replay::read(&written(timed, 250)).expect("a good replay");
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
fn what_was_read_can_be_written_again_and_changed() {
    for timed in [false, true] {
        let mut replay = Replay::read(&written(timed, 250)).expect("a good replay");
        let again = |replay: &Replay| {
            let again = replay.written().expect("a vector takes all");
            Replay::read(&again).expect("a good replay")
        };
        let same = again(&replay);
        assert!(same.steps == replay.steps && same.timing == replay.timing && same.notes == replay.notes);
        let end = same.end.expect("it was finished");
        assert_eq!((same.header, end.chain), (replay.header.clone(), format!("{:016x}", same.chain)));
        let note = |step| SeatNote { step, kind: "stderr".to_owned(), text: format!("of {step}") };
        replay.notes = BTreeMap::from([(Seat::new(0), vec![note(7), note(250), note(251)])]);
        // A replay that was cut off stays so.
        replay.end = None;
        let changed = again(&replay);
        assert_eq!((changed.end, changed.steps.len()), (None, 250));
        assert_eq!(changed.notes[&Seat::new(0)], [note(7), note(250)], "the last is of a step that never came");
    }
}

#[test]
fn a_part_is_read_by_whoever_knows_the_header() {
    for timed in [false, true] {
        let mut writer = Writer::without_header(timed, 2);
        let (all, mut from) = (steps(250, timed), 0);
        // The last one is long enough to be written in several chunks.
        for count in [0, 1, 3, 246] {
            for (number, answers) in (from..).zip(&all[from..from + count]) {
                writer.note(Seat::new(1), "stderr", &format!("step {number}"));
                writer.timing(Seat::new(0), Timing { wall_us: number as u64, cpu_us: None });
                writer.step(answers, 0).expect("a vector takes all");
            }
            let bytes = writer.take().expect("a vector takes all");
            let part = Replay::read_part(&header(timed), &bytes, 1 << 20).expect("as it was written");
            let answers: Vec<_> = part.steps.iter().map(|step| step.answers.clone()).collect();
            assert_eq!(answers, all[from..from + count]);
            assert_eq!((part.timing.len(), part.notes.values().map(Vec::len).sum::<usize>()), (count, count));
            if count > 0 {
                let last = (from + count - 1) as u32;
                assert_eq!(part.timing[&(last, Seat::new(0))].wall_us, u64::from(last));
                let told: Vec<_> = part.notes_of(Seat::new(1), last, "stderr").collect();
                assert_eq!(told, [format!("step {last}")]);
                assert!(Replay::read_part(&header(timed), &bytes, 10).is_err(), "there is no room for it");
            }
            from += count;
        }
    }
}

#[test]
fn a_cut_replay_is_read_as_far_as_it_goes() {
    let whole = written(false, 250);
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
    let whole = written(true, 30);
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
fn a_charge_follows_from_what_was_counted() {
    let charged = |cpus, cpu_us, waited_us, owed_us, wall_us| {
        Counted { cpus, cpu_us, waited_us, owed_us }.charged_us(wall_us)
    };
    assert_eq!(charged(1, 20_000, 30_000, 0, 50_000), 20_000, "it waited for others");
    assert_eq!(charged(1, 50_000, 40_000, 0, 50_000), 50_000, "it waited for its own processes");
    assert_eq!(charged(2, 60_000, 40_000, 0, 50_000), 30_000);
    assert_eq!(charged(1, 1_000, 0, 0, 50_000), 50_000, "it slept");
    assert_eq!(charged(1, 1_000, 0, 2_000, 3_000), 5_000, "it computed in another's turn");
    assert_eq!(charged(0, u64::MAX, u64::MAX, u64::MAX, 7), u64::MAX, "whatever a file says");
    let replay = |think_ms| {
        let mut writer = Writer::new(Vec::new(), &header(true)).expect("a vector takes all");
        let answers = [(Seat::new(0), given(b"x", 1)), (Seat::new(1), given(b"y", think_ms))];
        writer.timing(Seat::new(1), Timing { wall_us: 9_700, cpu_us: Some(2_000) });
        let counted = Counted { cpus: 1, cpu_us: 2_000, waited_us: 6_000, owed_us: 500 };
        writer.counted(Seat::new(1), counted);
        writer.step(&answers, 0).expect("a vector takes all");
        let (state, chain) = ("0".to_owned(), String::new());
        let end = EndInfo { steps: 0, outcome: None, state, chain, facts: serde_json::Value::Null };
        let replay = Replay::read(&writer.finish(end).expect("a vector takes all")).expect("a good replay");
        assert_eq!(replay.counted, [((0, Seat::new(1)), counted)].into());
        replay
    };
    assert_eq!(replay(4).wrong_charge(), None);
    assert_eq!(replay(3).wrong_charge(), Some((0, Seat::new(1))));
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
    let fault = |seat: u8| {
        let secret = format!("secret of {}", seat - 1);
        serde_json::json!({ "seat": seat, "kind": "crash", "message": secret, "stderr": [secret] })
    };
    let end = EndInfo {
        steps: 0,
        outcome: None,
        state: "0".to_owned(),
        chain: String::new(),
        facts: serde_json::json!({ "faults": [fault(1), fault(2)], "void": null }),
    };
    let whole = writer.finish(end).expect("a vector takes all");
    let before = Replay::read(&whole).expect("a good replay");
    for (keep, secrets, gone) in
        [(&[][..], [false, false], (240, 28)), (&[Seat::new(1)][..], [false, true], (120, 2))]
    {
        let (bytes, redacted) = agon_replay::redact(&whole, keep, &|_| None).expect("a good replay");
        assert_eq!((redacted.notes, redacted.sentences), gone);
        let after = Replay::read(&bytes).expect("a good replay");
        assert_eq!((&after.header, &after.timing), (&before.header, &before.timing));
        let mut expected = before.steps.clone();
        for (seat, answer) in expected.iter_mut().flat_map(|step| &mut step.answers) {
            if let (false, Answer::Malformed { why, .. }) = (keep.contains(seat), answer) {
                why.clear();
            }
        }
        assert_eq!(after.steps, expected);
        let end = after.end.clone().expect("it has an end");
        assert_eq!(end.chain, format!("{:016x}", after.chain), "it verifies as before");
        let all = format!("{after:?}");
        assert_eq!(all.contains("not a number"), !keep.is_empty());
        assert_eq!([all.contains("secret of 0"), all.contains("secret of 1")], secrets);
        assert_eq!(
            agon_replay::redact(&bytes, keep, &|_| None).expect("a good replay").1,
            Default::default(),
            "nothing is left"
        );
    }
    // A replay that was cut off stays readable as far as it went.
    let (cut, _) = agon_replay::redact(&whole[..whole.len() - 3], &[], &|_| None).expect("a cut replay");
    assert!(Replay::read(&cut).expect("a cut replay").end.is_none());
}

#[test]
fn seats_get_other_names_and_the_replay_verifies_as_before() {
    let whole = written(true, 30);
    let before = Replay::read(&whole).expect("a good replay");
    let named = |place: usize, _: &SeatInfo| format!("seat {place}");
    let (bytes, _) = agon_replay::redact_named(&whole, &[], &named, &|_| None).expect("a good replay");
    let after = Replay::read(&bytes).expect("a good replay");
    let labels =
        |replay: &Replay| replay.header.seats.iter().map(|seat| seat.label.clone()).collect::<Vec<_>>();
    assert_eq!(
        labels(&after),
        (0..before.header.seats.len()).map(|place| format!("seat {place}")).collect::<Vec<_>>()
    );
    assert_ne!(labels(&after), labels(&before));
    assert_eq!(after.steps.len(), before.steps.len());
    let end = after.end.clone().expect("it has an end");
    assert_eq!(end.chain, format!("{:016x}", after.chain), "it verifies as before");
    assert_ne!(after.chain, before.chain, "names are part of it");
}

#[test]
fn what_an_order_says_to_its_author_alone_can_be_taken_out() {
    let whole = written(true, 30);
    let public = |order: &[u8]| (order.len() == 300).then(Vec::new);
    let (bytes, redacted) = agon_replay::redact(&whole, &[], &public).expect("a good replay");
    assert_eq!(redacted.sentences, 6 + 6, "malformed answers and long orders");
    let after = Replay::read(&bytes).expect("a good replay");
    let orders = after.steps.iter().flat_map(|step| &step.answers).filter_map(|answer| answer.1.order());
    assert!(orders.clone().count() == 30 + 12 && orders.clone().all(|order| order.len() < 300));
    // An altered replay does not become a good one.
    let altered = rewritten(&whole, |end| end.chain = "0".repeat(16));
    let altered = agon_replay::redact(&altered, &[], &public).expect("it can be read").0;
    assert_eq!(Replay::read(&altered).expect("it can be read").end.expect("an end").chain, "0".repeat(16));
}

/// The replay with a changed end.
fn rewritten(whole: &[u8], change: impl Fn(&mut EndInfo)) -> Vec<u8> {
    let mut end = Replay::read(whole).expect("a good replay").end.expect("an end");
    change(&mut end);
    let cut = |at: usize| Replay::read(&whole[..at]).is_ok_and(|cut| cut.end.is_none());
    let begins = (0..whole.len()).rev().find(|&at| whole[at] == b'E' && whole[at + 1] <= 1 && cut(at));
    let begins = begins.expect("the end's tag");
    let mut bytes = whole[..begins].to_vec();
    chunk(&mut bytes, b'E', &serde_json::to_vec(&end).expect("JSON"), None);
    bytes
}

/// Appends a chunk; `claims` is the size it claims, if not the true one.
fn chunk(bytes: &mut Vec<u8>, tag: u8, raw: &[u8], claims: Option<u64>) {
    let packed = zstd::bulk::compress(raw, 3).expect("memory");
    framed(bytes, tag, &packed, claims.unwrap_or(raw.len() as u64));
}

fn framed(bytes: &mut Vec<u8>, tag: u8, stored: &[u8], length: u64) {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(&[tag, 1]);
    hash.update(stored);
    bytes.extend([tag, 1]);
    agon_game::pack::put_varint(bytes, length);
    agon_game::pack::put_varint(bytes, stored.len() as u64);
    bytes.extend_from_slice(stored);
    bytes.extend((hash.digest() as u32).to_le_bytes());
}

fn why(bytes: &[u8]) -> String {
    match Replay::read(bytes) {
        Err(ReplayError::Damaged(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// A magic and a header.
fn begun() -> Vec<u8> {
    let writer = Writer::new(Vec::new(), &header(false)).expect("a vector takes all");
    let end = EndInfo {
        steps: 0,
        outcome: None,
        state: String::new(),
        chain: String::new(),
        facts: serde_json::Value::Null,
    };
    let whole = writer.finish(end).expect("a vector takes all");
    let begins = whole.iter().rposition(|&byte| byte == b'E').expect("the end");
    whole[..begins].to_vec()
}

#[test]
fn what_unpacks_to_very_much_is_refused() {
    const CHUNK: usize = 64 << 20;
    let zeros = zstd::bulk::compress(&vec![0; CHUNK], 3).expect("memory");
    // Many large chunks.
    let mut bytes = begun();
    (0..5).for_each(|_| framed(&mut bytes, b'Z', &zeros, CHUNK as u64));
    assert!(bytes.len() < 64 << 10, "the file is small: {}", bytes.len());
    assert!(why(&bytes).contains("more than 256 MiB"), "{}", why(&bytes));
    // A chunk that claims to be small.
    let mut bytes = begun();
    framed(&mut bytes, b'Z', &zeros, 10);
    assert!(why(&bytes).contains("cannot be unpacked"), "{}", why(&bytes));
    // A chunk that claims to be larger than allowed.
    let mut bytes = begun();
    framed(&mut bytes, b'Z', &zeros, CHUNK as u64 + 1);
    assert!(why(&bytes).contains("impossible size"), "{}", why(&bytes));
    // A chunk that asks for a large window.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("memory");
    encoder.window_log(27).expect("a window");
    encoder.include_contentsize(false).expect("a flag");
    std::io::Write::write_all(&mut encoder, &[0; 10]).expect("memory");
    let mut bytes = begun();
    framed(&mut bytes, b'Z', &encoder.finish().expect("memory"), 10);
    assert!(why(&bytes).contains("cannot be unpacked"), "{}", why(&bytes));
    // Extra bytes behind the frame.
    let mut bytes = begun();
    let frame = zstd::bulk::compress(&[7; 10], 3).expect("memory");
    framed(&mut bytes, b'Z', &[&frame[..], b"more"].concat(), 10);
    assert!(why(&bytes).contains("cannot be unpacked"), "{}", why(&bytes));
}

#[test]
fn what_unpacks_to_very_many_things_is_refused() {
    let column = |raw: &mut Vec<u8>, byte: u8, count: usize| {
        agon_game::pack::put_varint(raw, count as u64);
        raw.resize(raw.len() + count, byte);
    };
    let steps = |count: usize| {
        let mut raw = Vec::new();
        agon_game::pack::put_varint(&mut raw, count as u64);
        column(&mut raw, 1, count);
        column(&mut raw, 4, count);
        column(&mut raw, 0, 0);
        column(&mut raw, 0, 0);
        column(&mut raw, 0, count.div_ceil(2));
        let mut bytes = begun();
        chunk(&mut bytes, b'S', &raw, None);
        bytes
    };
    assert_eq!(Replay::read(&steps(1_000_000)).expect("a good one").steps.len(), 1_000_000);
    assert!(why(&steps(1_100_000)).contains("2,097,152"), "{}", why(&steps(1_100_000)));
    let mut bytes = begun();
    chunk(&mut bytes, b'T', &[0; 9 << 20], None);
    assert!(why(&bytes).contains("2,097,152"), "{}", why(&bytes));
    let mut bytes = begun();
    chunk(&mut bytes, b'P', &[0; 9 << 20], None);
    assert!(why(&bytes).contains("2,097,152"), "{}", why(&bytes));
    let mut bytes = begun();
    chunk(&mut bytes, b'E', format!("[{}0]", "0,".repeat(3 << 20)).as_bytes(), None);
    assert!(why(&bytes).contains("2,097,152"), "{}", why(&bytes));
}

#[test]
fn what_does_not_fit_its_seats_is_refused() {
    let written = |header: &Header, outcome: Option<Outcome>| {
        let mut writer = Writer::new(Vec::new(), header).expect("a vector takes all");
        writer.step(&steps(1, false)[0], 0).expect("a vector takes all");
        let end = EndInfo {
            steps: 0,
            outcome,
            state: String::new(),
            chain: String::new(),
            facts: serde_json::Value::Null,
        };
        writer.finish(end).expect("a vector takes all")
    };
    let of = |scores: usize, ranks: usize| {
        Some(Outcome { scores: vec![1.0; scores], ranks: vec![1; ranks], reason: String::new() })
    };
    assert!(Replay::read(&written(&header(false), of(2, 2))).is_ok());
    for (scores, ranks) in [(0, 2), (2, 0), (1, 1), (3, 3)] {
        let why = why(&written(&header(false), of(scores, ranks)));
        assert!(why.contains("chunk of kind `E`"), "{why}");
    }
    let mut fewer = header(false);
    fewer.seats.pop();
    assert!(why(&written(&fewer, None)).contains("names 1 bots for a match of 2"));
    fewer.recipe.seats = 1;
    assert!(why(&written(&fewer, None)).contains("chunk of kind `S`"), "seat 2 answers");
}

#[test]
fn nothing_follows_the_end() {
    let whole = written(false, 3);
    for rest in [&b"x"[..], b"Z\0\0\0", &[0; 100]] {
        let bytes = [&whole[..], rest].concat();
        assert_eq!(why(&bytes), "something follows its end");
    }
}

#[test]
fn a_changed_reason_is_noticed() {
    let outcome = Outcome { scores: vec![1.0, 0.0], ranks: vec![1, 2], reason: "turn limit".to_owned() };
    let replay = |program: &str, recorded: Option<Outcome>, facts: serde_json::Value| {
        let mut header = header(false);
        header.program = program.to_owned();
        let writer = Writer::new(Vec::new(), &header).expect("a vector takes all");
        let state = format!("{:016x}", 5);
        let end = EndInfo { steps: 0, outcome: recorded, state, chain: String::new(), facts };
        Replay::read(&writer.finish(end).expect("a vector takes all")).expect("a good replay")
    };
    let ours = concat!("agon ", env!("CARGO_PKG_VERSION"));
    let null = serde_json::Value::Null;
    let mut other = outcome.clone();
    other.reason = "player 2 gave up".to_owned();
    let wrong = |program, recorded, facts| replay(program, recorded, facts).wrong_end(5, Some(&outcome));
    let no = Some("the outcome is not the recorded one");
    assert_eq!(wrong(ours, Some(outcome.clone()), null.clone()), None);
    assert_eq!(wrong(ours, Some(other.clone()), null.clone()), no);
    let record = format!("{ours}, from a record of the original");
    assert_eq!(wrong(&record, Some(other.clone()), null.clone()), no);
    assert_eq!(wrong("agon 0.0.1", Some(other), null.clone()), None, "words of another version");
    assert_eq!(wrong(ours, None, null), no, "an outcome that was taken out");
    assert_eq!(wrong(ours, None, serde_json::json!({ "void": "too busy" })), None);
    let replay = replay(ours, Some(outcome.clone()), serde_json::Value::Null);
    assert_eq!(replay.wrong_end(6, Some(&outcome)), Some("the last state is not the recorded one"));
}

#[test]
fn whose_doing_a_void_was_is_decided_again() {
    let wrong = |facts: serde_json::Value| {
        let state = format!("{:016x}", 5);
        let end = EndInfo { steps: 0, outcome: None, state, chain: String::new(), facts };
        let writer = Writer::new(Vec::new(), &header(false)).expect("a vector takes all");
        let replay = Replay::read(&writer.finish(end).expect("a vector takes all")).expect("a good replay");
        replay.wrong_end(5, None)
    };
    let void = |cpu_us: u64, by: Option<u8>| {
        let used = serde_json::json!([{ "seat": 2, "cpu_us": cpu_us, "beyond_us": cpu_us, "counted": true }]);
        let wait =
            serde_json::json!({ "seat": 1, "wall_us": 12_000_000, "waited_us": 11_000_000, "used": used });
        serde_json::json!({ "void": "it says", "void_by": by, "wait": wait })
    };
    assert_eq!(wrong(void(11_000_000, Some(2))), None);
    assert_eq!(wrong(void(1_000, None)), None, "the machine's");
    let no = "whose fault it is that the match is void does not follow from what was counted";
    for facts in [void(11_000_000, None), void(11_000_000, Some(1)), void(1_000, Some(2))] {
        assert_eq!(wrong(facts), Some(no));
    }
    assert_eq!(wrong(serde_json::json!({ "void": "it says", "wait": 7 })), Some(no));
    assert_eq!(wrong(serde_json::json!({ "void": "a signal", "void_by": 2, "wait": null })), None);
}

#[test]
fn bots_that_write_very_much_leave_a_replay_that_can_be_read() {
    let mut writer = Writer::new(Vec::new(), &header(false)).expect("a vector takes all");
    let much = "x".repeat(1 << 20);
    for answers in steps(300, false) {
        writer.note(Seat::new(0), "raw", &much);
        writer.step(&answers, 0).expect("a vector takes all");
    }
    let end = EndInfo {
        steps: 0,
        outcome: None,
        state: String::new(),
        chain: String::new(),
        facts: serde_json::Value::Null,
    };
    let replay = Replay::read(&writer.finish(end).expect("a vector takes all")).expect("it can be read");
    let notes = &replay.notes[&Seat::new(0)];
    assert_eq!((replay.steps.len(), notes.len()), (300, 128));
    assert!(notes[127].text.contains("nothing of it is kept"), "{}", notes[127].text);
}

#[test]
fn only_regular_files_are_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = |path: &std::path::Path| agon_replay::file::read(path, 10).map_err(|error| error.to_string());
    let file = folder.path().join("file");
    std::fs::write(&file, "0123456789").expect("written");
    assert_eq!(kind(&file).expect("a file"), b"0123456789");
    std::fs::write(&file, "0123456789a").expect("written");
    assert!(kind(&file).expect_err("too large").contains("larger than"));
    assert!(kind(folder.path()).expect_err("a folder").contains("a folder"));
    assert!(kind("/dev/zero".as_ref()).expect_err("a device").contains("a device"));
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(kind(&pipe).expect_err("a pipe").contains("a pipe"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).expect("a link");
        assert!(kind(&link).expect_err("a pipe").contains("a pipe"));
    } else {
        println!("SKIPPED: a pipe as a file (mkfifo is not installed)");
    }
}
