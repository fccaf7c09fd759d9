//! Workloads in addition to those of every game.

use agon_game::session::random_answers;
use agon_game::{Dialect as _, Game, Ignored, RulesChoice, Seeded, Setup, Workload};

use crate::DeerhuntOf;
use crate::dialect::Dialect;
use crate::rules::PRESETS;
use crate::state::State;

/// State messages of positions spread over a random match: fog and text.
pub fn messages<const BLOCKS: usize>() -> Workload {
    // The small state plays the first preset, the document's; the large one plays the last.
    let preset = if BLOCKS == crate::SMALL { PRESETS.first() } else { PRESETS.last() };
    let preset = preset.map_or("", |preset| preset.name).to_owned();
    let rules = RulesChoice { preset, ..RulesChoice::default() };
    let game = DeerhuntOf::<BLOCKS>::set_up(&Setup { rules, seats: 2, seed: 1, ..Setup::default() })
        .expect("a preset sets up");
    let positions = positions(&game);
    let mut dialect = Dialect::new(&game);
    let mut out = Vec::new();
    let run = move || {
        for state in &positions {
            out.clear();
            let seat = state.mover().seat();
            dialect.ask(&game, seat, &game.view(state, seat), &mut out);
            std::hint::black_box(&out);
        }
        positions.len() as u64
    };
    Workload { name: "message", about: "one state message, fog included", run: Box::new(run) }
}

fn positions<const BLOCKS: usize>(game: &DeerhuntOf<BLOCKS>) -> Vec<State<BLOCKS>> {
    let mut chance = Seeded::stream(4, "bench");
    let (mut state, mut answers, mut positions) = (game.start(), Vec::new(), Vec::new());
    while game.outcome(&state).is_none() {
        positions.push(state);
        random_answers(game, &state, &mut chance, &mut answers);
        game.play(&mut state, &mut (), &answers, &mut chance, &mut Ignored);
    }
    positions
}
