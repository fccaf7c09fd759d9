//! Deerhunt: two armies of workers and melees mine, multiply and fight in the fog.
//!
//! The rules are in `RULES.md`; [`turn`] lists the stages of a half-turn.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::sync::Arc;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{
    Answer, Builtin, Chance, Game, GameInfo, Kit, Outcome, Picture, Recipe, Seat, Seats, Seeded, Setup,
};
use agon_game::{SeatAdvantages, SetupError, Sink};
use serde::Serialize;

// In reading order.
pub mod rules;
pub mod state;
pub mod turn;

pub mod orders;
pub mod validation;

mod attack;
mod countdown;
mod duplicate;
mod mine;
mod stun;
mod walk;

pub mod event;
pub mod outcome;
pub mod view;

pub mod generate;
pub mod map;

pub mod dialect;
pub mod hand;

mod advantage;
mod bench;
mod builtin;
mod chance;
mod conform;
mod determinize;
mod face;
mod info;
mod pack;
mod picture;
mod scene;
mod sets;
mod setup;
mod starters;
mod weights;

pub use face::FACE;

use crate::event::Event;
use crate::orders::{Moves, Reason};
use crate::rules::Rules;
use crate::state::{Player, State, Unit};
use crate::view::View;

/// The game, with states that hold 64 units per block.
#[derive(Clone, Debug)]
pub struct DeerhuntOf<const BLOCKS: usize> {
    /// The rules.
    pub rules: Arc<Rules>,
    /// The ground.
    pub map: Arc<map::Map>,
    recipe: Recipe,
}

/// Blocks of the small game: 64 units, enough for the document's rules.
pub const SMALL: usize = 1;
/// Blocks of the large game: 1,024 units, enough for the events.
pub const LARGE: usize = 16;

/// The game under the document's rules. [`FACE`] uses the large one where the rules need it.
pub type Deerhunt = DeerhuntOf<SMALL>;

impl<const BLOCKS: usize> Game for DeerhuntOf<BLOCKS> {
    const INFO: GameInfo = info::INFO;

    type State = State<BLOCKS>;
    type Work = ();
    type View<'a> = View<'a>;
    type Order = Moves;
    type Event = Event;
    type Reason = Reason;
    type Dialect = dialect::Dialect;
    type Hand = hand::Hand;
    type Prepared = setup::Prepared;

    fn prepare(setup: &Setup) -> Result<setup::Prepared, SetupError> {
        setup::prepare(setup, State::<BLOCKS>::CAPACITY)
    }

    fn begin(prepared: &setup::Prepared, seed: i64) -> Result<Self, SetupError> {
        setup::begin(prepared, seed)
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// DH-TURN-4: the units of the map, healthy and idle; every hub full.
    fn start(&self) -> State<BLOCKS> {
        let mut state = State::empty();
        state.resources = [self.rules.start_resources; 2];
        if self.rules.hub_capacity > 0 {
            state.stock[..self.map.hubs()].fill(self.rules.hub_capacity);
        }
        for &(owner, kind, at) in &self.map.units {
            let unit = Unit { at, owner, kind, hp: self.full_hp(kind), ..Unit::default() };
            state.add(unit, self.map.cell(at));
        }
        state
    }

    fn deciding(&self, state: &State<BLOCKS>) -> Seats {
        match self.ending(state) {
            None => Seats::one(state.mover().seat()),
            Some(_) => Seats::NONE,
        }
    }

    fn view<'a>(&'a self, state: &'a State<BLOCKS>, seat: Seat) -> View<'a> {
        self.view_of(state, Player::of(seat))
    }

    /// DH-WIRE-4: the time for a reply.
    fn limit_ms(&self, _: &State<BLOCKS>, _: Seat) -> u32 {
        self.rules.reply_timeout_ms
    }

    /// DH-TURN-3: no reply, or one that is not a list of moves, counts as an empty list.
    fn play(
        &self,
        state: &mut State<BLOCKS>,
        (): &mut (),
        answers: &[(Seat, Answer<Moves>)],
        _: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        let moves = answers.first().and_then(|(_, answer)| answer.order());
        self.half_turn(state, moves.map_or(&[], Vec::as_slice), out);
    }

    fn outcome(&self, state: &State<BLOCKS>) -> Option<Outcome> {
        self.result(state)
    }

    fn moment(&self, state: &State<BLOCKS>) -> String {
        match self.ending(state) {
            None => format!("round {}, {}", state.round(), state.mover()),
            Some(_) => format!("the end, after round {}", state.half.div_ceil(2)),
        }
    }

    fn standing(&self, state: &State<BLOCKS>) -> SeatAdvantages {
        self.advantage(state)
    }

    fn pack(&self, moves: &Moves, out: &mut Vec<u8>) {
        pack::put_moves(moves, out);
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Moves> {
        pack::get_moves(bytes)
    }

    fn save(&self, state: &State<BLOCKS>, out: &mut Vec<u8>) {
        self.put_state(state, out);
    }

    fn load(&self, bytes: &[u8]) -> Option<State<BLOCKS>> {
        self.get_state(bytes)
    }

    fn random_order(&self, state: &State<BLOCKS>, _: Seat, chance: &mut impl Chance) -> Moves {
        self.random_moves(state, chance)
    }

    fn scramble_hidden(&self, state: &mut State<BLOCKS>, seat: Seat, chance: &mut impl Chance) {
        self.scramble(state, seat, chance);
    }

    fn determinize(
        &self,
        state: &mut State<BLOCKS>,
        seat: Seat,
        shown: &mut dyn Iterator<Item = State<BLOCKS>>,
        chance: &mut Seeded,
    ) {
        self.determinize(state, Player::of(seat), shown, chance);
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        builtin::seat(self, name, options, seed)
    }

    /// The client modules of the event whose message form the rules use.
    fn kit(&self) -> Kit {
        dialect::kit(&self.rules)
    }

    fn picture(&self, state: &State<BLOCKS>, eyes: Option<Seat>) -> Picture {
        self.draw(state, eyes.map(Player::of))
    }

    fn scene(&self, state: &State<BLOCKS>) -> impl Serialize {
        self.stage(state)
    }

    fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
        conform::conform(record, report)
    }

    fn workloads() -> Vec<agon_game::Workload> {
        vec![bench::messages::<BLOCKS>()]
    }
}
