//! Cultist Wars: two leaders convert neutral cultists and have them shoot at each other.
//!
//! The rules are in `RULES.md`; each function names, by id, those it decides.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order: what there is, what happens in a turn, mechanic by mechanic,
pub mod board;
pub mod rules;
pub mod state;

pub mod orders;
pub mod turn;

pub mod convert;
pub mod moving;
pub mod neutral;
pub mod outcome;
pub mod path;
pub mod shoot;

pub mod generate;
pub mod map;

// then what the world sees of it.
pub mod conform;
pub mod dialect;
pub mod event;
pub mod hand;
pub mod picture;
pub mod scene;
pub mod view;

mod advantage;
pub mod builtin;
pub mod info;
pub mod random;
mod starters;
mod weights;

use std::sync::Arc;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::prepared::SharedRules;
use agon_game::{
    Answer, Builtin, Chance, Game, GameInfo, Outcome, Picture, Recipe, Seat, SeatAdvantages, Seats, Setup,
    SetupError, Sink,
};
use serde::Serialize;

use board::{Tile, Tiles};
use map::Map;
use orders::{Order, Reason};
use rules::Rules;
use shoot::Lines;

pub use info::INFO;
pub use orders::Action;
pub use state::{Owner, State};

/// A match of Cultist Wars: its fixed parts.
pub struct CultistWars {
    rules: Arc<Rules>,
    map: Map,
    lines: Arc<Lines>,
    recipe: Recipe,
}

/// What the matches of one setup share.
pub struct Prepared {
    rules: SharedRules<Rules>,
    lines: Arc<Lines>,
    /// `None` where the map is generated from the seed.
    map: Option<map::Chosen>,
}

impl CultistWars {
    /// A match on a given board. The recipe's map is the board as a file.
    pub(crate) fn on_map(rules: Rules, map: Map) -> Self {
        let recipe = Recipe {
            rules_name: "record".to_owned(),
            rules: String::new(),
            map_name: "record".to_owned(),
            map: map.text(&rules),
            seats: outcome::PLAYERS,
            seed: 0,
        };
        Self { rules: Arc::new(rules), map, lines: Arc::new(Lines::new()), recipe }
    }

    /// The numbers of this match.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The board and the position at the start.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The tiles without an obstacle.
    pub(crate) fn floor(&self) -> Tiles {
        self.map.floor
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The tiles a shot between two tiles passes, nearest the shooter first. CW-SHOOT-4.
    pub fn line_of_fire(&self, from: Tile, to: Tile) -> impl Iterator<Item = Tile> + '_ {
        self.lines.between(from, to)
    }
}

impl Game for CultistWars {
    const INFO: GameInfo = INFO;

    type State = State;
    type Work = ();
    type View<'a> = view::View<'a>;
    type Order = Order;
    type Event = event::Event;
    type Reason = Reason;
    type Dialect = dialect::Lines;
    type Hand = hand::Hand;
    type Prepared = Prepared;

    fn prepare(setup: &Setup) -> Result<Prepared, SetupError> {
        INFO.check_seats(setup.seats.into())?;
        let loaded = rules::load(&setup.rules)?;
        let map = map::choose(&loaded.rules, &setup.map)?;
        let lines = Arc::new(Lines::new());
        Ok(Prepared { rules: SharedRules::new(loaded, setup.seats), lines, map })
    }

    fn begin(prepared: &Prepared, seed: i64) -> Result<Self, SetupError> {
        let rules = prepared.rules.rules.clone();
        let chosen = match &prepared.map {
            Some(chosen) => chosen.clone(),
            None => map::made(&rules, seed)?,
        };
        let recipe = prepared.rules.recipe(&chosen.name, &chosen.text, seed);
        Ok(Self { rules, map: chosen.map, lines: prepared.lines.clone(), recipe })
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn start(&self) -> State {
        self.map.start
    }

    fn deciding(&self, state: &State) -> Seats {
        match state.ending() {
            None => Seats::one(state.mover()),
            Some(_) => Seats::NONE,
        }
    }

    fn view<'a>(&'a self, state: &'a State, seat: Seat) -> view::View<'a> {
        view::View { seat, map: &self.map, state }
    }

    /// The first answer has a longer limit than later ones. CW-TIME-1.
    fn limit_ms(&self, state: &State, _: Seat) -> u32 {
        let first = state.turn < self.map.start.turn + u16::from(outcome::PLAYERS);
        if first { self.rules.first_response_time } else { self.rules.response_time }
    }

    fn play(
        &self,
        state: &mut State,
        (): &mut (),
        answers: &[(Seat, Answer<Order>)],
        _: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        for (seat, answer) in answers {
            self.play_turn(state, *seat, answer, out);
        }
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        outcome::outcome(state)
    }

    fn moment(&self, state: &State) -> String {
        match state.ending() {
            None => format!("turn {}, player {}", state.turn + 1, state.mover()),
            Some(_) => format!("the end, after {} turns", state.turn),
        }
    }

    fn standing(&self, state: &State) -> SeatAdvantages {
        advantage::standing(self, state)
    }

    fn pack(&self, order: &Order, out: &mut Vec<u8>) {
        order.pack(out);
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Order> {
        Order::unpack(bytes)
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        state.save(out);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        State::load(bytes, self.floor(), self.rules.number_of_turns)
    }

    fn random_order(&self, state: &State, seat: Seat, chance: &mut impl Chance) -> Order {
        random::order(state, seat, chance)
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        builtin::seat(name, options, seed)
    }

    fn picture(&self, state: &State, _: Option<Seat>) -> Picture {
        picture::picture(self, state)
    }

    fn scene(&self, state: &State) -> impl Serialize {
        scene::Scene::new(self, state)
    }

    fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
        conform::compare(record, report)
    }
}
