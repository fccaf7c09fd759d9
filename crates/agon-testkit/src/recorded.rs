//! Sections of spec files generated from recorded matches: each states what happened, and fails on what did not.

use agon_game::session::PackedAnswer;
use agon_game::{Absence, Answer, AnyGame as _, Chance as _, Face, Game, Seat, Seeded, Session, Setup};
use agon_replay::section::section;
use agon_replay::{EndInfo, Header, Replay, SeatInfo, Writer};
use agon_spec::Clock;
use serde_json::Value;

use crate::spec::{self, Adapter};

/// How many steps of the match are used at most.
const MOST_STEPS: usize = 60;

/// Generates a section from every step of a match of `setup` with random answers, and runs it like the game's spec
/// files: it holds, and fails with one fact inverted. `rule` is any rule of the game.
///
/// # Panics
/// On the first section that does not.
pub fn check<A: Adapter>(setup: &Setup, rule: &str) {
    let open = || Face::<A::Game>::new().open(setup).expect("a setup that can be played");
    let replay = random_match::<A::Game>(open(), setup);
    for step in 1..=replay.steps.len() as u32 {
        let made = section(&replay, open().as_mut(), step, Some(rule)).expect("a section of its own replay");
        let held = spec::check_text::<A>(&made);
        assert_eq!((held.sections, held.failures.as_slice()), (1, &[][..]), "step {step}:\n{made}");
        let turned = made.replace("```expect\n", "```expect\nnot ");
        assert_eq!(
            spec::check_text::<A>(&turned).failures.len(),
            1,
            "step {step} notices nothing:\n{turned}"
        );
    }
    println!("{} sections of a recorded match", replay.steps.len());
}

/// A match in which now and then no usable answer comes.
fn random_match<G: Game>(mut session: Box<dyn Session>, setup: &Setup) -> Replay {
    let game = G::set_up(setup).expect("a setup that can be played");
    let mut chance = Seeded::stream(setup.seed, "recorded");
    let seats = Seat::first(setup.seats).map(|seat| SeatInfo {
        bot: format!("random-{seat}"),
        label: format!("random {seat}"),
        hash: None,
    });
    let header = Header::new(session.as_ref(), seats.collect(), Clock::ORIGINAL);
    let mut writer = Writer::new(Vec::new(), &header).expect("written to memory");
    for _ in 0..MOST_STEPS {
        let state = game.load(session.position().state()).expect("a state of this match");
        let think_ms = if header.timed { 5_000 + chance.below(2_000) } else { 0 };
        let mut answer = |seat| -> PackedAnswer {
            match chance.below(60) {
                0 => Answer::Missing(Absence::TimedOut),
                1 => Answer::Malformed { why: "no answer".to_owned(), think_ms },
                _ => {
                    let mut order = Vec::new();
                    game.pack(&game.random_order(&state, seat, &mut chance), &mut order);
                    Answer::Given { order, think_ms }
                }
            }
        };
        let answers: Vec<_> = session.deciding().iter().map(|seat| (seat, answer(seat))).collect();
        if answers.is_empty() {
            break;
        }
        session.play(&answers).expect("answers of whoever decides");
        writer.step(&answers, session.hash()).expect("written to memory");
    }
    let outcome = session.outcome().cloned();
    let state = format!("{:016x}", session.hash());
    let end = EndInfo { steps: 0, outcome, state, chain: String::new(), facts: Value::Null };
    Replay::read(&writer.finish(end).expect("written to memory")).expect("what was just written")
}
