//! Other futures of a match: the same up to some step, and different from there on.

use std::io;
use std::sync::atomic::AtomicBool;

use agon_game::{AnyGame as _, Face, PackedAnswer, Seat, Seats, Session, Setup};
use agon_match::{Clock, Future, Observer, Player, Ponder, StepReport, Terms, play_on};
use cultist_wars::CultistWars;

/// The answers of each step.
#[derive(Default)]
struct Played(Vec<Vec<(Seat, PackedAnswer)>>);

impl Observer for Played {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.0.push(step.answers.to_vec());
        Ok(())
    }
}

const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];

/// A match of two built-ins, in one of its futures.
fn played(given: &[Vec<(Seat, PackedAnswer)>], future: Option<Future>) -> Vec<Vec<(Seat, PackedAnswer)>> {
    let game = Face::<CultistWars>::new();
    let setup = Setup { seats: 2, seed: 5, ..Setup::default() };
    let mut session = game.open(&setup).expect("a game");
    for seat in SEATS {
        session.seat_builtin(seat, "greedy", &[], 1).expect("it is there");
    }
    let (mut seen, stop) = (Played::default(), AtomicBool::new(false));
    let terms = Terms { given, future, ..Terms::new(Clock::ORIGINAL, Ponder::Stop, &stop) };
    let mut players = [Player::Builtin, Player::Builtin];
    let names = ["a".to_owned(), "b".to_owned()];
    play_on(session.as_mut(), &mut players, &names, &mut seen, &terms);
    seen.0
}

#[test]
fn a_future_is_another_from_its_step_on_and_the_same_again() {
    let future = |seed, straying| Some(Future { from: 20, seed, straying, one_in: 3 });
    let recorded = played(&[], None);
    let both = Seats::first(2);
    let one = played(&[], future(1, both));
    assert_eq!(recorded[..20], one[..20], "nothing is changed before");
    assert!(recorded != one, "and something after");
    assert!(one == played(&[], future(1, both)));
    assert!(one != played(&[], future(2, both)));
}

#[test]
fn rules_draw_anew_and_nothing_else_changes() {
    let setup = Setup { seats: 2, seed: 5, ..Setup::default() };
    let mut session = Face::<CultistWars>::new().open(&setup).expect("a game");
    let before = session.position();
    session.redraw(3);
    assert_eq!(format!("{:?}", session.position()), format!("{:?}", before.clone().redrawn(3)));
    assert!(before.drawn(5) == Some(0) && session.position().drawn(5).is_none());
}

#[test]
fn given_answers_and_other_seats_never_stray() {
    let recorded = played(&[], None);
    // Every answer of the second seat from step 20 on strays, except those given up to step 30.
    let future = Future { from: 20, seed: 1, straying: Seats::one(SEATS[1]), one_in: 1 };
    let other = played(&recorded[..30], Some(future));
    assert_eq!(recorded[..30], other[..30]);
    let own = |steps: &[Vec<(Seat, PackedAnswer)>], seat| {
        let all = steps[30..].iter().flatten().filter(move |(other, _)| *other == seat);
        all.map(|(_, answer)| answer.order().cloned()).collect::<Vec<_>>()
    };
    assert_ne!(own(&recorded, SEATS[1]), own(&other, SEATS[1]));
}
