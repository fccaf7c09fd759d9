//! Play choice by choice: a move for a unit. What is out of sight is left out.

use agon_game::{Seat, Sink};
use serde::{Deserialize, Serialize};

use crate::DeerhuntOf;
use crate::event::Event;
use crate::orders::{Move, Moves, Verb, Words};
use crate::state::{At, Direction, Player, State, Unit, UnitId};
use crate::view::View;

/// See [`agon_game::Hand`].
pub enum Hand {}

/// A move of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The unit.
    pub unit: UnitId,
    /// What it is to do.
    #[serde(rename = "do")]
    pub verb: Verb,
    /// The words after the verb.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Direction>,
}

impl Choice {
    fn order(&self) -> Move {
        Move::new(self.unit, self.verb, self.words.iter().map(|&word| Some(word)).collect::<Words>())
    }
}

impl<const BLOCKS: usize> agon_game::Hand<DeerhuntOf<BLOCKS>> for Hand {
    type Choice = Choice;

    const HIDES: bool = true;

    /// The units in sight with their own numbers. Of hubs and the other player's resources it holds what may be known.
    fn seen(game: &DeerhuntOf<BLOCKS>, view: &View<'_>) -> State<BLOCKS> {
        let mut state = State::empty();
        let rounds = game.rules.max_rounds - view.turns_left;
        state.half = 2 * rounds + u16::from(view.player == Player::Two);
        state.resources[view.player as usize] = view.resources;
        state.resources[view.player.other() as usize] = view.their_resources.unwrap_or(0);
        for hub in 0..game.map.hubs().min(view.saturated.len()) {
            state.stock[hub] = if view.saturated[hub] { 0 } else { game.rules.hub_capacity };
        }
        for seen in view.mine.iter().chain(&view.theirs) {
            place(game, &mut state, seen.id, seen.unit);
        }
        state
    }

    fn choices(
        game: &DeerhuntOf<BLOCKS>,
        seat: Seat,
        seen: &State<BLOCKS>,
        chosen: &[Choice],
    ) -> Vec<Choice> {
        let mut state = *seen;
        for choice in chosen {
            // A refused move changes nothing, and is reported when the list is tried.
            let _ = game.alone(&mut state, &choice.order(), &mut agon_game::Ignored);
        }
        let free = seen
            .army(Player::of(seat))
            .filter(|(id, unit)| unit.lock().is_none() && !chosen.iter().any(|choice| choice.unit == *id));
        let mut found = Vec::new();
        for (id, _) in free {
            for choice in game.candidates(&state, id) {
                let mut copy = state;
                if game.alone(&mut copy, &choice.order(), &mut agon_game::Ignored).is_ok() && copy != state {
                    found.push(choice);
                }
            }
        }
        found
    }

    fn order(_: &DeerhuntOf<BLOCKS>, _: Seat, _: &State<BLOCKS>, chosen: &[Choice]) -> Moves {
        chosen.iter().map(Choice::order).collect()
    }

    fn chosen(_: &DeerhuntOf<BLOCKS>, _: Seat, order: &Moves) -> Vec<Choice> {
        let choice = |one: &Move| {
            let words: Option<Vec<Direction>> = one.words.all().collect();
            Some(Choice { unit: one.unit?, verb: one.verb, words: words? })
        };
        order.iter().filter_map(choice).collect()
    }

    /// Tries the moves alone: the effects of timers depend on things out of sight.
    fn tried(
        game: &DeerhuntOf<BLOCKS>,
        _: Seat,
        seen: &State<BLOCKS>,
        order: Moves,
        mut out: &mut dyn Sink<DeerhuntOf<BLOCKS>>,
    ) -> State<BLOCKS> {
        let mut state = *seen;
        game.carry_out(&mut state, &order, &mut out);
        state
    }

    fn scene(game: &DeerhuntOf<BLOCKS>, seat: Seat, seen: &State<BLOCKS>) -> impl Serialize {
        let mut scene = game.stage(seen);
        let (own, other) = (Player::of(seat), Player::of(seat).other());
        // Units out of sight do not count as lost: the real end is reported.
        let goes_on = seen.army(own).next().is_some() && seen.round() <= game.rules.max_rounds;
        scene.mover = goes_on.then_some(own);
        // Stocks are not told, only which hubs are saturated (DH-FOG-4).
        scene.stock = None;
        if seen.resources[other as usize] == 0 {
            scene.players[other as usize].resources = None;
        }
        scene
    }

    fn notices(
        _: &DeerhuntOf<BLOCKS>,
        seat: Seat,
        before: &State<BLOCKS>,
        after: &State<BLOCKS>,
        event: &Event,
    ) -> bool {
        let own = Player::of(seat);
        let lives =
            |state: &State<BLOCKS>, id: UnitId| state.living[0].contains(id) || state.living[1].contains(id);
        let mine = |id: UnitId| [before, after].iter().any(|state| state.living[own as usize].contains(id));
        let then = |id| lives(before, id);
        let through = |id| mine(id) || lives(before, id) && lives(after, id);
        match *event {
            Event::Moved { unit, .. } => through(unit),
            Event::Attacked { unit, target, .. } | Event::Stunned { unit, target } => {
                then(unit) && then(target)
            }
            Event::Died { unit, .. } => then(unit),
            Event::DuplicationBegan { unit, .. } | Event::MiningBegan { unit } => through(unit),
            Event::Born { unit, parent, .. } => lives(after, unit) && through(parent),
            Event::ChildLost { parent, .. } => through(parent),
            Event::Mined { owner, .. } => owner == own,
            Event::HubSaturated { .. } => true,
            Event::ListVoid { player } => player == own,
        }
    }
}

/// Puts a unit on the board under its own number.
fn place<const BLOCKS: usize>(game: &DeerhuntOf<BLOCKS>, state: &mut State<BLOCKS>, id: UnitId, unit: Unit) {
    *state.unit_mut(id) = unit;
    state.made = state.made.max(id + 1);
    state.living[unit.owner as usize].insert(id);
    state.occupied.insert(game.map.cell(unit.at));
    if unit.mining > 0 || unit.duplication > 0 {
        state.working.push(id);
    }
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Candidate moves of a unit: every tile within its steps by the first path that leads there, and all other
    /// verbs in every direction.
    fn candidates(&self, state: &State<BLOCKS>, unit: UnitId) -> Vec<Choice> {
        let choice = |verb, words: &[Direction]| Choice { unit, verb, words: words.to_vec() };
        let mut all = vec![choice(Verb::Mine, &[])];
        for direction in Direction::ALL {
            for verb in
                [Verb::Attack, Verb::Duplicate, Verb::DuplicateMelee, Verb::DuplicateWorker, Verb::Mine]
            {
                all.push(choice(verb, &[direction]));
            }
        }
        all.extend(
            self.paths(state, state.unit(unit).at, self.rules.max_steps)
                .iter()
                .map(|path| choice(Verb::Walk, path)),
        );
        if self.rules.stun {
            all.extend(ways(self.rules.stun_range).iter().map(|way| choice(Verb::Stun, way)));
        }
        all
    }

    /// A path to every tile within this many steps.
    fn paths(&self, state: &State<BLOCKS>, from: At, most: u8) -> Vec<Vec<Direction>> {
        let mut reached = vec![from];
        let mut paths: Vec<(At, Vec<Direction>)> = vec![(from, Vec::new())];
        let mut next = 0;
        while let Some((at, path)) = paths.get(next).cloned() {
            next += 1;
            if path.len() >= usize::from(most) {
                continue;
            }
            for direction in Direction::ALL {
                let to = at.step(direction);
                if !reached.contains(&to)
                    && !self.map.is_wall(to)
                    && !state.occupied.contains(self.map.cell(to))
                {
                    reached.push(to);
                    paths.push((to, [&path[..], &[direction]].concat()));
                }
            }
        }
        paths.into_iter().skip(1).map(|(_, path)| path).collect()
    }
}

/// The words that point at every tile at most this far away, columns first.
fn ways(range: u8) -> Vec<Vec<Direction>> {
    let range = i16::from(range);
    let mut ways = Vec::new();
    for x in -range..=range {
        for y in x.abs() - range..=range - x.abs() {
            let column = if x < 0 { Direction::Left } else { Direction::Right };
            let row = if y < 0 { Direction::Up } else { Direction::Down };
            let words = std::iter::repeat_n(column, usize::from(x.unsigned_abs()))
                .chain(std::iter::repeat_n(row, usize::from(y.unsigned_abs())));
            ways.push(words.collect());
        }
    }
    ways
}
