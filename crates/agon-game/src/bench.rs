//! What `agon bench` runs. Nothing here reads a clock.

use crate::session::random_answers;
use crate::{Game, Ignored, Seeded, Setup, SetupError};

/// A game's workloads.
#[derive(Default)]
pub struct Bench {
    /// Size of a state in bytes.
    pub state_bytes: usize,
    /// `begin`, `clone`, `step` and `playout`, then the game's own.
    pub workloads: Vec<Workload>,
}

/// A workload.
pub struct Workload {
    /// Its name in the report.
    pub name: &'static str,
    /// One line: what a unit of work is.
    pub about: &'static str,
    /// Does some work and says how many units it was.
    pub run: Box<dyn FnMut() -> u64>,
}

impl Bench {
    /// The workloads of `G`.
    pub(crate) fn new<G: Game>(setup: &Setup) -> Result<Self, SetupError> {
        let mut workloads = vec![
            beginning::<G>(G::prepare(setup)?),
            cloning(G::set_up(setup)?),
            stepping(G::set_up(setup)?),
            playing(G::set_up(setup)?),
        ];
        workloads.extend(G::workloads());
        Ok(Self { state_bytes: size_of::<G::State>(), workloads })
    }

    /// Only whole random matches.
    pub(crate) fn bare<G: Game>(setup: &Setup) -> Result<Self, SetupError> {
        Ok(Self { state_bytes: size_of::<G::State>(), workloads: vec![playing(G::set_up(setup)?)] })
    }
}

/// Sets up matches from what they share, each with its own seed.
fn beginning<G: Game>(prepared: G::Prepared) -> Workload {
    let mut seed = 0;
    let run = move || {
        for _ in 0..100 {
            seed += 1;
            // A seed whose map cannot be played costs as much.
            let _ = std::hint::black_box(G::begin(&prepared, seed));
        }
        100
    };
    Workload {
        name: "begin",
        about: "one match set up from rules and maps that were read",
        run: Box::new(run),
    }
}

/// Copies of states spread over a random match.
fn cloning<G: Game>(game: G) -> Workload {
    let mut states = Vec::new();
    let mut chance = Seeded::stream(1, "bench");
    let (mut state, mut work, mut answers) = (game.start(), G::Work::default(), Vec::new());
    while states.len() < 64 && game.outcome(&state).is_none() {
        states.push(state.clone());
        random_answers(&game, &state, &mut chance, &mut answers);
        game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
    }
    let mut next = 0;
    let run = move || {
        for _ in 0..1_000 {
            std::hint::black_box(std::hint::black_box(&states[next]).clone());
            next = (next + 1) % states.len();
        }
        1_000
    };
    Workload { name: "clone", about: "one copy of a state", run: Box::new(run) }
}

/// Replays the steps of recorded random matches: the rules without the choice of orders.
fn stepping<G: Game>(game: G) -> Workload {
    let mut chance = Seeded::stream(2, "bench");
    let (mut state, mut work, mut answers) = (game.start(), G::Work::default(), Vec::new());
    let mut recorded = Vec::new();
    // The rules draw from their own stream, so that the second run draws the same.
    let first = Seeded::stream(2, "play");
    let mut drawn = first.clone();
    while game.outcome(&state).is_none() {
        random_answers(&game, &state, &mut chance, &mut answers);
        game.play(&mut state, &mut work, &answers, &mut drawn, &mut Ignored);
        recorded.push(answers.clone());
    }
    let run = move || {
        let mut state = game.start();
        chance.clone_from(&first);
        for answers in &recorded {
            game.play(&mut state, &mut work, answers, &mut chance, &mut Ignored);
        }
        std::hint::black_box(&state);
        recorded.len() as u64
    };
    Workload { name: "step", about: "one step of recorded answers", run: Box::new(run) }
}

/// Whole random matches.
fn playing<G: Game>(game: G) -> Workload {
    let mut chance = Seeded::stream(3, "bench");
    let (mut work, mut answers) = (G::Work::default(), Vec::new());
    let run = move || {
        let (mut state, mut steps) = (game.start(), 0);
        while !game.deciding(&state).is_empty() {
            random_answers(&game, &state, &mut chance, &mut answers);
            game.play(&mut state, &mut work, &answers, &mut chance, &mut Ignored);
            steps += 1;
        }
        std::hint::black_box(&state);
        steps
    };
    Workload { name: "playout", about: "one step of a random match, orders included", run: Box::new(run) }
}
