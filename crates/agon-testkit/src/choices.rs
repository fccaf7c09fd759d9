//! The choices a game lists are those its rules carry out, and none they carry out is missing.

use agon_game::hand::Choice;
use agon_game::{Answer, Chance, Game, Hand, Seat, Seeded, Sink};

/// How many choices of a list are tried.
const TRIED: usize = 12;
/// How many choices of other positions are remembered, to be tried where they are not listed.
const REMEMBERED: usize = 64;
/// Upper limit on the choices combined into one order.
const PUT_TOGETHER: u32 = 5;

/// The choices seen so far in a match.
pub struct Choices<G: Game> {
    others: Vec<Choice<G>>,
}

impl<G: Game> Default for Choices<G> {
    fn default() -> Self {
        Self { others: Vec::new() }
    }
}

/// Collects refusals.
#[derive(Default)]
struct Refused {
    seat: Option<Seat>,
    why: Vec<String>,
}

impl<G: Game> Sink<G> for Refused {
    fn event(&mut self, _: G::Event) {}

    fn reject(&mut self, seat: Seat, _: usize, reason: G::Reason) {
        if self.seat.is_none_or(|own| own == seat) {
            self.why.push(reason.to_string());
        }
    }

    fn listens(&self) -> bool {
        false
    }
}

impl<G: Game> Choices<G> {
    /// Checks a position for every seat that decides:
    ///
    /// - what is listed is carried out and changes something, as the seat sees it, and in the real state where
    ///   nothing is hidden;
    /// - what is not listed is refused, changes nothing, or has the same effect as something listed;
    /// - choices that were listed one after another are carried out together;
    /// - choices come back from their order and from JSON.
    pub fn check(&mut self, game: &G, state: &G::State, chance: &mut Seeded, at: &impl Fn() -> String) {
        for seat in game.deciding(state).iter() {
            let seen = G::Hand::seen(game, &game.view(state, seat));
            let tried = |chosen: &[Choice<G>]| {
                let mut refused = Refused::default();
                let order = G::Hand::order(game, seat, &seen, chosen);
                (G::Hand::tried(game, seat, &seen, order, &mut refused), refused.why)
            };
            let (without, refused) = tried(&[]);
            assert!(refused.is_empty(), "nothing is refused: {refused:?}, {}", at());
            let listed = G::Hand::choices(game, seat, &seen, &[]);
            for _ in 0..TRIED.min(listed.len()) {
                let choice = &listed[chance.below(listed.len() as u32) as usize];
                let (with, refused) = tried(std::slice::from_ref(choice));
                assert!(refused.is_empty(), "{choice:?} is listed and refused: {refused:?}, {}", at());
                assert!(with != without, "{choice:?} is listed and does nothing: {}", at());
                truly(game, state, seat, std::slice::from_ref(choice), at);
                let text = serde_json::to_string(choice).expect("choices are JSON");
                let again: Choice<G> = serde_json::from_str(&text).expect("choices come back");
                assert_eq!(again, *choice, "{text}");
            }
            for other in self.others.iter().filter(|other| !listed.contains(other)).take(TRIED) {
                let (with, refused) = tried(std::slice::from_ref(other));
                let same = || listed.iter().any(|choice| tried(std::slice::from_ref(choice)).0 == with);
                assert!(
                    !refused.is_empty() || with == without || same(),
                    "{other:?} is not listed, yet it does something: {}",
                    at()
                );
            }
            let mut together: Vec<Choice<G>> = Vec::new();
            let mut next = listed.clone();
            for _ in 0..chance.below(PUT_TOGETHER) + 1 {
                if next.is_empty() {
                    break;
                }
                together.push(next.swap_remove(chance.below(next.len() as u32) as usize));
                let (_, refused) = tried(&together);
                assert!(refused.is_empty(), "{together:?} were listed, and: {refused:?}, {}", at());
                next = G::Hand::choices(game, seat, &seen, &together);
            }
            truly(game, state, seat, &together, at);
            let order = G::Hand::order(game, seat, &seen, &together);
            let again = G::Hand::order(game, seat, &seen, &G::Hand::chosen(game, seat, &order));
            assert_eq!(again, order, "choices come back from their order: {}", at());
            for choice in listed {
                let place = chance.below(REMEMBERED as u32) as usize;
                if self.others.len() < REMEMBERED {
                    self.others.push(choice);
                } else if chance.happens(1, 8) {
                    self.others[place] = choice;
                }
            }
        }
    }
}

/// Plays choices in the real state, where something hidden may be in their way.
fn truly<G: Game>(game: &G, state: &G::State, seat: Seat, chosen: &[Choice<G>], at: &impl Fn() -> String) {
    let given = |other| {
        let chosen = if other == seat { chosen } else { &[] };
        (other, Answer::Given { order: G::Hand::order(game, other, state, chosen), think_ms: 0 })
    };
    let answers: Vec<_> = game.deciding(state).iter().map(given).collect();
    let mut state = state.clone();
    let mut refused = Refused { seat: Some(seat), ..Refused::default() };
    let mut rest = Seeded::stream(1, "choices");
    game.play(&mut state, &mut G::Work::default(), &answers, &mut rest, &mut refused);
    if !G::Hand::HIDES {
        assert!(refused.why.is_empty(), "{chosen:?} were listed, and: {:?}, {}", refused.why, at());
    }
}
