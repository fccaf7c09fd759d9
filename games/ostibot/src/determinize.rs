//! Draws what a team cannot know anew: a state that it cannot tell from the real one.

use agon_game::{Chance as _, Seat, Seeded};

use crate::Ostibot;
use crate::geometry::{Cell, Rows};
use crate::map::Tile;
use crate::state::{Phase, State};

/// Where an adventurer was last known to be, and how many turns it has had since.
struct Trace {
    who: usize,
    from: Rows,
    turns: u16,
}

/// Puts each adventurer of another team that `seat` does not see where it could be by now. Their possessions and the
/// things out of sight stay as they are. In the shop nobody has left the spawners yet.
pub(crate) fn determinize(
    game: &Ostibot,
    state: &mut State,
    seat: Seat,
    shown: &mut dyn Iterator<Item = State>,
    chance: &mut Seeded,
) {
    if state.phase == Phase::Shop {
        return;
    }
    let seen = game.seen(state, seat);
    let traces = traces(game, state, seat, &seen, shown);
    let left: Rows = traces.iter().map(|trace| state.adventurers[trace.who].cell).collect();
    for trace in &traces {
        state.adventurers[trace.who].cell = Cell::NOWHERE;
    }
    let free = standable(game, state).without(&seen);
    for trace in &traces {
        let others = state.adventurers.iter().filter(|one| one.is_here());
        let taken: Rows = others.map(|one| one.cell).collect();
        let near = reach(game, trace).and(&free.or(&trace.from.without(&seen))).without(&taken);
        // Nobody stays in the fire who can be elsewhere. The last choice always has room: all stood out of sight.
        let choices = [near.without(&state.fire), near, free.without(&taken), left.without(&taken)];
        let cells: Vec<Cell> =
            choices.iter().find(|cells| !cells.is_empty()).into_iter().flat_map(Rows::iter).collect();
        state.adventurers[trace.who].cell = cells[chance.below(cells.len() as u32) as usize];
    }
}

/// The cells on which somebody can stand.
fn standable(game: &Ostibot, state: &State) -> Rows {
    let map = game.map();
    let open = |&cell: &Cell| match map.tile(cell) {
        Tile::Wall | Tile::Health => false,
        Tile::Spawner(_) => state.fire.contains(cell),
        _ => map.object_at(cell).is_none_or(|object| state.object_hp(object).is_none()),
    };
    map.cells().filter(open).collect()
}

/// Where an adventurer may have got to. Ice and treadmills carry it on in the same turn.
fn reach(game: &Ostibot, trace: &Trace) -> Rows {
    let map = game.map();
    let ground: Rows = map.cells().filter(|&cell| map.tile(cell) != Tile::Wall).collect();
    let carries = |&cell: &Cell| matches!(map.tile(cell), Tile::Ice | Tile::Treadmill(_));
    let slides: Rows = map.cells().filter(carries).collect();
    let mut reach = trace.from;
    for _ in 0..trace.turns {
        let mut grown = reach.grown().and(&ground);
        loop {
            let carried = grown.or(&grown.and(&slides).grown().and(&ground));
            if carried == grown {
                break;
            }
            grown = carried;
        }
        if grown == reach {
            break;
        }
        reach = grown;
    }
    reach
}

/// The adventurers of other teams that `seat` does not see, each with the cell where it was last seen in this round, or
/// else with its team's spawners.
fn traces(
    game: &Ostibot,
    state: &State,
    seat: Seat,
    seen: &Rows,
    shown: &mut dyn Iterator<Item = State>,
) -> Vec<Trace> {
    let others = (0..game.places()).filter(|&who| game.team_of(who) != seat);
    let hidden = others.filter(|&who| {
        let adventurer = &state.adventurers[who];
        adventurer.is_here() && !seen.contains(adventurer.cell)
    });
    let mut traces: Vec<Trace> =
        hidden.map(|who| Trace { who, from: Rows::NONE, turns: state.turn }).collect();
    let mut open = traces.len();
    let mut shown = shown.take_while(|before| before.round == state.round && before.phase != Phase::Shop);
    while open > 0
        && let Some(before) = shown.next()
    {
        let seen = game.seen(&before, seat);
        for trace in traces.iter_mut().filter(|trace| trace.from.is_empty()) {
            let adventurer = &before.adventurers[trace.who];
            if adventurer.is_here() && seen.contains(adventurer.cell) {
                trace.from.insert(adventurer.cell);
                trace.turns = state.turn - before.turn;
                open -= 1;
            }
        }
    }
    for trace in traces.iter_mut().filter(|trace| trace.from.is_empty()) {
        trace.from = game.map().homes[game.team_of(trace.who).index()].iter().copied().collect();
    }
    traces
}

#[cfg(test)]
mod tests {
    use agon_game::session::random_answers;
    use agon_game::{Game as _, Ignored, MapChoice, Setup};

    use super::*;

    /// The real position must be among the possible ones, and the drawn one must not always be the real one.
    #[test]
    fn what_is_is_among_what_could_be() {
        let (mut looked, mut moved) = (0, 0);
        for (seed, map) in ["glacier", "foundry", "crossing", "vaults"].into_iter().enumerate() {
            let map = MapChoice::Named(map.to_owned());
            let setup = Setup { seats: 2, seed: seed as i64, map, ..Setup::default() };
            let game = Ostibot::set_up(&setup).expect("a map of ours");
            let mut chance = Seeded::stream(seed as i64, "determinize");
            let (mut state, mut answers) = (game.start(), Vec::new());
            let mut shown: Vec<State> = Vec::new();
            while !game.deciding(&state).is_empty() {
                let seat = Seat::new(0);
                if game.deciding(&state).contains(seat) && state.phase != Phase::Shop {
                    let before = || shown.iter().rev().copied();
                    for trace in traces(&game, &state, seat, &game.seen(&state, seat), &mut before()) {
                        let cell = state.adventurers[trace.who].cell;
                        assert!(reach(&game, &trace).contains(cell), "turn {}: {cell:?}", state.turn);
                        looked += 1;
                    }
                    let mut other = state;
                    determinize(&game, &mut other, seat, &mut before(), &mut chance);
                    moved += u32::from(other != state);
                    shown.push(state);
                }
                random_answers(&game, &state, &mut chance, &mut answers);
                game.play(&mut state, &mut (), &answers, &mut chance, &mut Ignored);
            }
        }
        assert!(looked > 100 && moved > 50, "{looked} places, {moved} draws that differ");
    }
}
