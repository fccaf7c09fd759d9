//! Replay files: what is written can be read back, recorded files come back unchanged, and foreign bytes never do harm.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::session::random_answers;
use agon_game::{Absence, Answer, Answers, Facts, Game as _, Ignored, RulesChoice, Seat, Seeded, Setup};
use terminal::orders::Commands;
use terminal::work::Work;
use terminal::{Terminal, replay};

/// A random match: the game, and both answers of each turn.
fn random_match(seed: i64) -> (Terminal, Vec<Answers<Commands>>) {
    let game = Terminal::set_up(&Setup { seats: 2, seed, ..Setup::default() }).expect("the default setup");
    let (mut state, mut work, mut turns) = (game.start(), Work::default(), Vec::new());
    let mut chance = Seeded::stream(seed, "replay test");
    let mut answers = Vec::new();
    while game.outcome(&state).is_none() {
        random_answers(&game, &state, &mut chance, &mut answers);
        if turns.len() == 30 {
            answers[0].1 = Answer::Malformed { why: "a crash".to_owned(), think_ms: 12 };
        }
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
        turns.push(answers.clone());
    }
    (game, turns)
}

#[test]
fn a_written_replay_is_a_record_without_difference() {
    for seed in 0..5 {
        let (game, turns) = random_match(seed);
        let facts = Facts { wall_ms: 5, names: vec!["one".to_owned(), "two \"2\"".to_owned()] };
        let mut bytes = Vec::new();
        replay::export(&game, &turns, &facts, &mut bytes);
        let mut report = ConformReport::default();
        assert_eq!(Terminal::conform(&bytes, &mut report), Recognised::Record);
        assert_eq!(report.differ(), 0, "{:#?}", report.differences);
        let read = replay::import(&bytes).expect("our own replay");
        assert_eq!(read.steps.len(), turns.len());
        assert_eq!((read.names, read.whole, read.notes), (facts.names.clone(), true, Vec::new()));
        assert_eq!(read.setup.rules.file.as_ref().expect("a file").0, "document");
        // Refused orders are not in a replay, so the commands may differ; writing it again gives the same bytes.
        let twin = Terminal::set_up(&read.setup).expect("the same rules");
        let mut again = Vec::new();
        replay::export(&twin, &read.steps, &facts, &mut again);
        assert_eq!(again, bytes);
    }
}

/// The replay of a match in which the second player is stopped in turn `stop`, under the rules of `sets`.
fn stopped(sets: &[(&str, &str)], stop: usize) -> Vec<u8> {
    let sets = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let rules = RulesChoice { preset: "citadel-2026".to_owned(), sets, ..RulesChoice::default() };
    let game = Terminal::set_up(&Setup { seats: 2, rules, ..Setup::default() }).expect("rules that can be");
    let (mut state, mut work, mut turns) = (game.start(), Work::default(), Vec::new());
    let mut chance = Seeded::stream(1, "replay test");
    while game.outcome(&state).is_none() {
        let given = Answer::Given { order: Commands::default(), think_ms: 40 };
        let other = match turns.len().cmp(&stop) {
            std::cmp::Ordering::Less => given.clone(),
            std::cmp::Ordering::Equal => Answer::Missing(Absence::TimedOut),
            std::cmp::Ordering::Greater => Answer::Missing(Absence::Gone),
        };
        let answers = vec![(Seat::new(0), given), (Seat::new(1), other)];
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
        turns.push(answers);
    }
    let mut bytes = Vec::new();
    replay::export(&game, &turns, &Facts::default(), &mut bytes);
    bytes
}

#[test]
fn a_stop_for_time_is_read_back_into_the_turn_it_was_in() {
    let mild = [("waitTimeBotSoft", "100"), ("waitTimeBotMax", "1500")];
    let ends = [("waitTimeBotSoft", "100"), ("waitTimeBotMax", "1500"), ("maxTurns", "4")];
    let deadly = [("waitTimeBotSoft", "0"), ("waitTimeBotMax", "900000")];
    // With health left it crashes one turn later, unless no turn follows; without health, the stop is the end.
    for (sets, stop, turns) in [(&mild[..], 3, 5), (&mild, 0, 2), (&ends, 3, 4), (&deadly, 2, 3)] {
        let bytes = stopped(sets, stop);
        let mut report = ConformReport::default();
        assert_eq!(Terminal::conform(&bytes, &mut report), Recognised::Record);
        assert_eq!(report.differ(), 0, "{sets:?} {:#?}", report.differences);
        let read = replay::import(&bytes).expect("our own replay");
        let missing: Vec<usize> = (0..read.steps.len())
            .filter(|&turn| read.steps[turn][1].1 == Answer::Missing(Absence::TimedOut))
            .collect();
        assert_eq!((read.steps.len(), missing, read.notes), (turns, vec![stop], Vec::new()));
        let twin = Terminal::set_up(&read.setup).expect("the same rules");
        let mut again = Vec::new();
        replay::export(&twin, &read.steps, &Facts::default(), &mut again);
        assert_eq!(again, bytes);
    }
}

#[test]
fn hostile_bytes_are_foreign_or_damaged() {
    let (game, turns) = random_match(9);
    let mut bytes = Vec::new();
    replay::export(&game, &turns[..2], &Facts::default(), &mut bytes);
    let config = bytes.iter().position(|&byte| byte == b'\n').expect("several lines");
    for (cut, place) in [(0, 1), (config / 2, 7), (config + 40, 3), (bytes.len() - 9, 11)] {
        assert!(!matches!(replay::import(&bytes[..cut]), Ok(read) if read.steps.len() > 2));
        let mut changed = bytes.clone();
        for at in (cut..changed.len()).step_by(997 + place) {
            changed[at] = changed[at].wrapping_add(place as u8);
        }
        let _ = Terminal::conform(&changed, &mut ConformReport::default());
    }
    for text in
        ["", "{}", "[]", "\n\n", "{\"unitInformation\":[]}", "{\"unitInformation\":[]}\n{}", "\u{0}\u{1}"]
    {
        assert_ne!(
            Terminal::conform(text.as_bytes(), &mut ConformReport::default()),
            Recognised::Record,
            "{text:?}"
        );
    }
    let deep = format!("{{\"unitInformation\":{}", "[".repeat(200_000));
    assert_ne!(Terminal::conform(deep.as_bytes(), &mut ConformReport::default()), Recognised::Record);
}

#[test]
fn a_replay_that_was_cut_is_compared_up_to_its_last_whole_line() {
    let (game, turns) = random_match(3);
    let mut bytes = Vec::new();
    replay::export(&game, &turns, &Facts::default(), &mut bytes);
    let mut whole = ConformReport::default();
    assert_eq!(Terminal::conform(&bytes, &mut whole), Recognised::Record);
    let cut = &bytes[..bytes.len() * 2 / 3];
    assert_ne!(cut.last(), Some(&b'\n'), "it ends inside of a line");
    let mut report = ConformReport::default();
    let Recognised::Cut(told) = Terminal::conform(cut, &mut report) else { panic!("a cut record") };
    let read = replay::import(cut).expect("what is there");
    assert_eq!(told, format!("it ends in turn {}, before the end of the match", read.steps.len()));
    assert_eq!((report.differ(), read.whole), (0, false));
    assert!(0 < report.kinds["turn info"].compared, "{report:?}");
    assert!(report.kinds["turn info"].compared < whole.kinds["turn info"].compared, "{report:?}");
    // A line damaged in the middle is not a cut.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 3] = b'\n';
    assert!(matches!(Terminal::conform(&damaged, &mut ConformReport::default()), Recognised::Damaged(_)));
}

#[test]
fn orders_are_read_back_into_the_lines_that_carry_them_out_in_that_order() {
    use terminal::arena::Tile;
    use terminal::orders::{Action, Order};
    use terminal::rules::Kind;
    let game = Terminal::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default setup");
    let order = |action, x, y| Order::new(action, Tile::at(x, y).expect("a tile"));
    let (wall, scout) = (Action::Place(Kind::Wall), Action::Place(Kind::Scout));
    let one = Commands {
        build: vec![order(wall, 13, 13)],
        deploy: vec![order(Action::Upgrade, 13, 13), order(scout, 13, 0), order(Action::Remove, 13, 13)],
    };
    let two = Commands {
        build: vec![order(wall, 14, 14)],
        deploy: vec![order(scout, 14, 27), order(wall, 12, 14)],
    };
    let given =
        |seat, order: &Commands| (Seat::new(seat), Answer::Given { order: order.clone(), think_ms: 1 });
    let turn = vec![given(0, &one), given(1, &two)];
    let mut bytes = Vec::new();
    replay::export(&game, std::slice::from_ref(&turn), &Facts::default(), &mut bytes);
    assert_eq!(replay::import(&bytes).expect("our own replay").steps, [turn]);
    let text = String::from_utf8(bytes).expect("text");
    let spawns = r#""spawn":[[[13,13],0,"1",1],[[14,14],0,"2",2],[[13,13],7,"3",1],[[13,0],3,"4",1],[[13,13],6,"3",1],[[14,27],3,"5",2],[[12,14],0,"6",2]]"#;
    assert!(text.contains(spawns), "{text}");
    // Orders cannot have come in this order: a unit of player 1 after one of player 2.
    let (ours, theirs) = (r#"[[13,0],3,"4",1]"#, r#"[[14,27],3,"5",2]"#);
    let mixed = text.replace(ours, "@").replace(theirs, ours).replace('@', theirs);
    assert!(matches!(replay::import(mixed.as_bytes()), Err(agon_game::Unreadable::Damaged(_))));
}
