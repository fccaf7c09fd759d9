//! The contract of `agon-game`, for any game, with random and hostile input.

use agon_game::session::random_answers;
use agon_game::{Absence, Answer, Chance, Dialect, Face, Game, Hand as _, Heard, Ignored, Outcome};
use agon_game::{AnyGame as _, session::RunningMatch};
use agon_game::{Seat, Seeded, Session, Setup};

use crate::choices::Choices;

/// Choices are checked in one position out of this many, because each choice is tried.
const HAND_EVERY: u32 = 24;

/// A match longer than this many steps counts as endless.
const LONGEST: u32 = 1_000_000;

/// Runs the suite: at least `cases` random positions are checked, cycling through the setups. Returns how many positions
/// were checked.
///
/// # Panics
/// When the game breaks the contract; the message names the setup, the seed and the step.
pub fn check<G: Game>(setups: &[Setup], cases: u32) -> u32 {
    let mut checked = 0;
    for round in 0.. {
        for setup in setups {
            let setup = Setup { seed: setup.seed.wrapping_add(i64::from(round)), ..setup.clone() };
            checked += one_match::<G>(&setup, round);
        }
        if checked >= cases {
            break;
        }
    }
    setups.iter().for_each(dead_seats::<G>);
    setups.iter().for_each(hostile_messages::<G>);
    setups.iter().for_each(rerun::<G>);
    checked
}

/// Plays one random match and checks every position of it.
fn one_match<G: Game>(setup: &Setup, round: u32) -> u32 {
    let game = G::set_up(setup).unwrap_or_else(|error| panic!("{setup:?}: {error}"));
    let twin = G::set_up(&game.recipe().setup()).expect("a recipe sets the same game up again");
    assert_eq!(twin.recipe(), game.recipe(), "the recipe of a recipe is the recipe");
    let (mut state, mut work) = (game.start(), G::Work::default());
    assert_eq!(state, twin.start(), "the same recipe starts in the same state: {setup:?}");
    let mut policy = Seeded::stream(setup.seed ^ i64::from(round), "conformance");
    let mut chance = Seeded::stream(setup.seed, "play");
    let mut dialect = G::Dialect::new(&game);
    let mut answers = Vec::new();
    let mut choices = Choices::<G>::default();
    // What each seat was shown, if anything is hidden.
    let mut shown: Vec<Vec<G::State>> = vec![Vec::new(); usize::from(game.recipe().seats)];
    let mut steps = 0;
    loop {
        let at = || format!("{}, {setup:?}, step {steps}", G::INFO.name);
        assert_eq!(
            game.outcome(&state).is_none(),
            !game.deciding(&state).is_empty(),
            "over or not: {}",
            at()
        );
        saved(&game, &state, &at);
        if game.deciding(&state).is_empty() {
            break;
        }
        assert!(steps < LONGEST, "the match does not end: {}", at());
        nothing_leaks(&game, &state, &mut policy, &at);
        for seat in game.deciding(&state).iter().filter(|_| G::Hand::HIDES) {
            let shown = &mut shown[seat.index()];
            determinized(&game, &state, seat, shown, &mut policy, &at);
            shown.push(state.clone());
        }
        if policy.happens(1, HAND_EVERY) {
            choices.check(&game, &state, &mut policy, &at);
        }
        random_answers(&game, &state, &mut policy, &mut answers);
        for (seat, answer) in &answers {
            let order = answer.order().expect("random answers are orders");
            packed(&game, order, &at);
            let mut sent = Vec::new();
            dialect.ask(&game, *seat, &game.view(&state, *seat), &mut sent);
            assert!(!sent.is_empty(), "an empty question: {}", at());
            said(&game, &mut dialect, *seat, order, &at);
        }
        if policy.happens(1, 200) {
            let index = policy.below(answers.len() as u32) as usize;
            answers[index].1 = Answer::Missing(Absence::TimedOut);
        }
        // The same step from a copy, with fresh scratch memory, gives the same state.
        let (mut copy, mut copied_chance) = (state.clone(), chance.clone());
        assert_eq!(copy, state);
        twin.play(&mut copy, &mut G::Work::default(), &answers, &mut copied_chance, &mut Ignored);
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
        assert_eq!(copy, state, "a step is not deterministic: {}", at());
        steps += 1;
    }
    steps
}

/// A state comes back from its bytes, and cut or altered bytes never panic.
fn saved<G: Game>(game: &G, state: &G::State, at: &impl Fn() -> String) {
    let mut bytes = Vec::new();
    game.save(state, &mut bytes);
    assert_eq!(game.load(&bytes).as_ref(), Some(state), "a state does not come back: {}", at());
    let _ = game.load(&bytes[..bytes.len() / 2]);
    if let Some(middle) = bytes.get_mut(3) {
        *middle ^= 0x55;
        let _ = game.load(&bytes);
    }
}

/// An order comes back from its bytes, and cut bytes never panic.
fn packed<G: Game>(game: &G, order: &G::Order, at: &impl Fn() -> String) {
    let mut bytes = Vec::new();
    game.pack(order, &mut bytes);
    assert_eq!(game.unpack(&bytes).as_ref(), Some(order), "an order does not come back: {}", at());
    let _ = game.unpack(&bytes[..bytes.len() / 2]);
}

/// A canonical message is heard as the order it was made from.
fn said<G: Game>(game: &G, dialect: &mut G::Dialect, seat: Seat, order: &G::Order, at: &impl Fn() -> String) {
    let mut message = Vec::new();
    dialect.say(game, seat, order, &mut message);
    let lines = G::INFO.transport == agon_game::Transport::Lines;
    let mut heard = Heard::More;
    for part in message.split(|&byte| lines && byte == b'\n') {
        heard = dialect.hear(game, seat, part);
    }
    match heard {
        Heard::Answer(again) | Heard::Failed { order: Some(again), .. } => {
            assert_eq!(again, *order, "{}: {}", String::from_utf8_lossy(&message), at())
        }
        other => panic!("`{}` is heard as {other:?}: {}", String::from_utf8_lossy(&message), at()),
    }
}

/// What a seat may not see has no influence on its view or on the bytes sent to it.
fn nothing_leaks<G: Game>(game: &G, state: &G::State, chance: &mut Seeded, at: &impl Fn() -> String) {
    for seat in Seat::first(game.recipe().seats) {
        let mut scrambled = state.clone();
        game.scramble_hidden(&mut scrambled, seat, chance);
        let (before, after) = (told(game, state, seat), told(game, &scrambled, seat));
        assert_eq!(before.0, after.0, "the view of seat {seat} holds what it may not see: {}", at());
        assert_eq!(before.1, after.1, "seat {seat} is sent what it may not see: {}", at());
    }
}

/// What a seat sees, and the bytes it is sent if it decides.
fn told<G: Game>(game: &G, state: &G::State, seat: Seat) -> (String, String) {
    let view = game.view(state, seat);
    let mut sent = Vec::new();
    if game.deciding(state).contains(seat) {
        G::Dialect::new(game).ask(game, seat, &view, &mut sent);
    }
    (format!("{view:?}"), String::from_utf8_lossy(&sent).into_owned())
}

/// A state that a seat cannot tell from the real one: it is told the same in both, byte for byte, and what is drawn does
/// not depend on what was hidden in the real one. It is a state like any other.
fn determinized<G: Game>(
    game: &G,
    state: &G::State,
    seat: Seat,
    shown: &[G::State],
    chance: &mut Seeded,
    at: &impl Fn() -> String,
) {
    let draw = |state: &G::State, chance: &mut Seeded| {
        let mut drawn = state.clone();
        game.determinize(&mut drawn, seat, &mut shown.iter().rev().cloned(), chance);
        drawn
    };
    let (one, twin) = (draw(state, &mut chance.clone()), &mut chance.clone());
    chance.bits();
    assert_eq!(
        told(game, state, seat),
        told(game, &one, seat),
        "seat {seat} can tell what is drawn: {}",
        at()
    );
    assert_eq!(draw(&draw(state, chance), twin), one, "what is drawn tells seat {seat} what is: {}", at());
    assert_eq!(game.deciding(&one), game.deciding(state), "others decide for seat {seat}: {}", at());
    saved(game, &one, at);
}

/// Matches end even if nobody, or only one seat, ever answers.
fn dead_seats<G: Game>(setup: &Setup) {
    let game = G::set_up(setup).expect("checked before");
    let mut living: Vec<Option<Seat>> = Seat::first(game.recipe().seats).map(Some).collect();
    living.push(None);
    for absence in [Absence::TimedOut, Absence::Gone, Absence::NeverStarted] {
        for &alive in &living {
            let (mut state, mut work) = (game.start(), G::Work::default());
            let mut chance = Seeded::stream(setup.seed, "play");
            let (mut answers, mut steps) = (Vec::new(), 0);
            while !game.deciding(&state).is_empty() {
                random_answers(&game, &state, &mut chance, &mut answers);
                for (seat, answer) in &mut answers {
                    if Some(*seat) != alive {
                        *answer = Answer::Missing(absence);
                    }
                }
                game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
                steps += 1;
                assert!(steps < LONGEST, "{}: no end with only {alive:?} answering", G::INFO.name);
            }
            let outcome = game.outcome(&state).expect("it is over");
            is_possible::<G>(&outcome);
        }
    }
}

fn is_possible<G: Game>(outcome: &Outcome) {
    let Outcome { scores, ranks, .. } = outcome;
    let follow = G::INFO.ranks_follow_scores;
    assert!(
        Outcome::is_possible(scores, ranks, follow),
        "{}: scores {scores:?}, ranks {ranks:?}",
        G::INFO.name
    );
}

/// No message can make a dialect panic, including canonical messages with changed bytes.
fn hostile_messages<G: Game>(setup: &Setup) {
    let game = G::set_up(setup).expect("checked before");
    let mut chance = Seeded::stream(setup.seed, "hostile");
    let (mut state, mut work, mut answers) = (game.start(), G::Work::default(), Vec::new());
    let mut dialect = G::Dialect::new(&game);
    for _ in 0..200 {
        if game.deciding(&state).is_empty() {
            (state, dialect) = (game.start(), G::Dialect::new(&game));
        }
        random_answers(&game, &state, &mut chance, &mut answers);
        for (seat, answer) in &mut answers {
            dialect.ask(&game, *seat, &game.view(&state, *seat), &mut Vec::new());
            for _ in 0..10 {
                let message = hostile(&game, &dialect, *seat, answer.order(), &mut chance);
                if let Heard::Answer(order) | Heard::Failed { order: Some(order), .. } =
                    dialect.hear(&game, *seat, &message)
                {
                    packed(&game, &order, &|| format!("after {:?}", String::from_utf8_lossy(&message)));
                    *answer = Answer::Given { order, think_ms: chance.below(100_000) };
                }
            }
        }
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
        let mut bytes: Vec<u8> = (0..chance.below(40)).map(|_| chance.below(256) as u8).collect();
        let _ = (game.unpack(&bytes), game.load(&bytes));
        bytes.fill(0xff);
        let _ = (game.unpack(&bytes), game.load(&bytes));
    }
}

fn hostile<G: Game>(
    game: &G,
    dialect: &G::Dialect,
    seat: Seat,
    order: Option<&G::Order>,
    chance: &mut Seeded,
) -> Vec<u8> {
    let mut message = Vec::new();
    if let Some(order) = order.filter(|_| chance.happens(9, 10)) {
        dialect.say(game, seat, order, &mut message);
    }
    const TOKENS: [&[u8]; 16] = [
        b"[",
        b"]",
        b"{",
        b"}",
        b"\"",
        b",",
        b":",
        b" ",
        b"-1",
        b"99999999999999999999",
        b"1e999",
        b"null",
        b"\xff",
        b"\0",
        b"\\u0000",
        "\u{0663}".as_bytes(),
    ];
    for _ in 0..=chance.below(4) {
        let at = chance.below(message.len() as u32 + 1) as usize;
        match chance.below(4) {
            0 => message.truncate(at),
            1 if at < message.len() => message[at] = chance.below(256) as u8,
            2 => drop(message.drain(at..(at + 3).min(message.len()))),
            _ => drop(message.splice(at..at, TOKENS[chance.below(16) as usize].iter().copied())),
        }
    }
    message
}

/// A match replayed from its packed answers, through the object-safe face, is the same match.
fn rerun<G: Game>(setup: &Setup) {
    let mut first = RunningMatch::new(G::set_up(setup).expect("checked before"));
    let mut second = Face::<G>::new().open(&first.recipe().setup()).expect("a recipe sets up");
    let mut chance = Seeded::stream(setup.seed, "rerun");
    let mut answers = Vec::new();
    while !first.deciding().is_empty() {
        random_answers(first.game(), first.state(), &mut chance, &mut answers);
        let packed: Vec<_> = answers
            .iter()
            .map(|(seat, answer)| {
                let mut order = Vec::new();
                first.game().pack(answer.order().expect("random answers are orders"), &mut order);
                (*seat, Answer::Given { order, think_ms: 0 })
            })
            .collect();
        first.play_typed(&answers);
        second.play(&packed).expect("answers of the deciding seats");
        assert_eq!(
            first.hash(),
            second.hash(),
            "{}: step {} differs when fed again",
            G::INFO.name,
            first.steps()
        );
    }
    assert_eq!(first.outcome(), second.outcome());
    is_possible::<G>(first.outcome().expect("it is over"));
    assert!(second.play(&[]).is_err(), "a match that is over takes no more answers");
}
