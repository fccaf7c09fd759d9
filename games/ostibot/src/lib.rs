//! Ostibot: adventurers, shops, fog and fire.
//!
//! Teams of adventurers come from spawners into a maze, break chests and vases for gold, and must
//! leave through one of too few portals before the fire gets them. Between rounds they buy weapons,
//! armor and potions. No engine of the original is public; `RULES.md` says what its document states
//! and what was decided where the document is silent.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order: what there is,
pub mod geometry;
pub mod items;
mod list;
pub mod map;
pub mod names;
pub mod rules;
pub mod state;

// what happens, with the order of all stages first,
mod act;
mod fire;
mod hit;
mod round;
mod shop;
mod turn;
mod walk;

// what is seen and said,
pub mod dialect;
pub mod event;
pub mod hand;
pub mod input;
pub mod orders;
mod pack;
mod sight;
pub mod view;

// and what is around a match.
mod advantage;
mod builtin;
mod determinize;
pub mod generate;
mod info;
mod outcome;
mod picture;
mod random;
mod scene;
mod starters;
mod weights;

use std::sync::Arc;

use agon_game::prepared::{Maps, SharedRules};
use agon_game::rules::load;
use agon_game::{
    Answer, Builtin, Chance, Game, GameInfo, Ignored, MapChoice, MapFindings, Outcome, Picture, Recipe, Seat,
    SeatAdvantages, Seats, Seeded, Setup, SetupError, Sink,
};
use serde::Serialize;

use map::Map;
pub use rules::Rules;
use sight::Sight;
use state::{ADVENTURERS, Phase, State};
use turn::Now;

/// A match of Ostibot: rules, map and the tables made from them.
#[derive(Clone)]
pub struct Ostibot {
    recipe: Recipe,
    rules: Arc<Rules>,
    tables: Arc<Tables>,
    map: Arc<Map>,
    /// By team: where its places in [`State::adventurers`] begin; then the end of the last team's places.
    first: Vec<usize>,
    /// By place: the team.
    team: [Seat; ADVENTURERS],
}

/// What follows from the rules alone.
struct Tables {
    told_rules: serde_json::Value,
    sight: Sight,
}

/// What the matches of one setup share.
pub struct Prepared {
    rules: SharedRules<Rules>,
    tables: Arc<Tables>,
    maps: Maps<Ground>,
}

/// A map with its name and text.
#[derive(Clone)]
struct Ground {
    name: String,
    text: String,
    map: Arc<Map>,
}

impl Ground {
    fn read(name: &str, text: String) -> Result<Self, SetupError> {
        let map = Map::read(&text).map_err(|why| SetupError::BadMap { place: name.to_owned(), why })?;
        Ok(Self { name: name.to_owned(), text, map: Arc::new(map) })
    }
}

impl std::fmt::Debug for Ostibot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ostibot on {}", self.recipe.map_name)
    }
}

impl Ostibot {
    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The map.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The number of teams.
    pub fn seats(&self) -> u8 {
        self.recipe.seats
    }

    /// The places of a team in [`State::adventurers`]: one for each adventurer it can have in a
    /// round, which is the rule or the number of its spawners (OB-SPAWN-1).
    pub fn members(&self, team: Seat) -> std::ops::Range<usize> {
        self.first[team.index()]..self.first[team.index() + 1]
    }

    /// The places of all teams.
    pub fn places(&self) -> usize {
        self.first[usize::from(self.seats())]
    }

    /// The team of a place in [`State::adventurers`].
    #[inline]
    pub fn team_of(&self, who: usize) -> Seat {
        self.team[who]
    }

    /// The rules as sent to bots.
    pub(crate) fn told_rules(&self) -> &serde_json::Value {
        &self.tables.told_rules
    }

    pub(crate) fn sight(&self) -> &Sight {
        &self.tables.sight
    }

    /// Builds a match on a map that was read (OB-GAME-8, OB-MAP-3).
    fn build(prepared: &Prepared, map: Arc<Map>, recipe: Recipe) -> Result<Self, String> {
        let (rules, tables) = (prepared.rules.rules.clone(), prepared.tables.clone());
        if map.homes.len() != usize::from(recipe.seats) {
            return Err(format!("has spawners of {} teams, and {} play", map.homes.len(), recipe.seats));
        }
        let mut first = vec![0];
        let mut team = [Seat::new(0); ADVENTURERS];
        for (seat, home) in Seat::first(recipe.seats).zip(&map.homes) {
            let begin = first[seat.index()];
            let end = begin + home.len().min(usize::from(rules.adventurers_per_round));
            if end > ADVENTURERS {
                return Err(format!("lets more than {ADVENTURERS} adventurers of all teams play at once"));
            }
            team[begin..end].fill(seat);
            first.push(end);
        }
        Ok(Self { recipe, rules, tables, map, first, team })
    }
}

/// Size limit of a map file, in bytes; a larger one is refused.
const LARGEST_MAP: usize = 64 << 10;

/// The text of a map file.
fn read_text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LARGEST_MAP);
    text.ok_or_else(|| format!("is not a text of at most {LARGEST_MAP} bytes"))
}

/// Where the map of a setup comes from.
fn choose_maps(setup: &Setup) -> Result<Maps<Ground>, SetupError> {
    let fits = |map: &&agon_game::BundledMap| (map.seats.0..=map.seats.1).contains(&setup.seats);
    match &setup.map {
        MapChoice::File(name, bytes) => {
            let bad = |why| SetupError::BadMap { place: name.clone(), why };
            Ok(Maps::One(Ground::read(name, read_text(bytes).map_err(bad)?.to_owned())?))
        }
        MapChoice::Named(name) => {
            let map = info::INFO.map(name)?;
            Ok(Maps::One(Ground::read(name, map.text.to_owned())?))
        }
        MapChoice::Default if map::MAPS.iter().any(|map| fits(&map)) => {
            Ok(Maps::picked(map::MAPS.iter().filter(fits)))
        }
        MapChoice::Default | MapChoice::Generated => Ok(Maps::Made),
    }
}

impl Game for Ostibot {
    const INFO: GameInfo = info::INFO;

    type State = State;
    type Work = ();
    type View<'a> = view::View<'a>;
    type Order = orders::Order;
    type Event = event::Event;
    type Reason = orders::Refusal;
    type Dialect = dialect::Talk;
    type Hand = hand::Hand;
    type Prepared = Prepared;

    fn prepare(setup: &Setup) -> Result<Prepared, SetupError> {
        info::INFO.check_seats(setup.seats.into())?;
        let loaded = load::<Rules>(&info::INFO, &setup.rules)?;
        loaded.rules.check(&loaded.name)?;
        let maps = choose_maps(setup)?;
        let (told_rules, sight) = (input::told_rules(&loaded.rules), Sight::new(&loaded.rules));
        let tables = Arc::new(Tables { told_rules, sight });
        Ok(Prepared { rules: SharedRules::new(loaded, setup.seats), tables, maps })
    }

    fn begin(prepared: &Prepared, seed: i64) -> Result<Self, SetupError> {
        let ground = prepared.maps.of(
            |count| Seeded::stream(seed, "map").below(count),
            |map| Ground::read(map.name, map.text.to_owned()),
            || Ground::read("generated", generate::generate(seed, prepared.rules.seats)),
        )?;
        let recipe = prepared.rules.recipe(&ground.name, &ground.text, seed);
        let bad = |why| SetupError::BadMap { place: ground.name.clone(), why };
        Self::build(prepared, ground.map, recipe).map_err(bad)
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Gives every team its gold (OB-GAME-2) and begins the first round.
    fn start(&self) -> State {
        let mut state = State::BLANK;
        state.gold[..usize::from(self.seats())].fill(self.rules().starting_gold);
        Now { game: self, state: &mut state, out: &mut Ignored }.begin_round(1);
        state
    }

    fn deciding(&self, state: &State) -> Seats {
        match state.phase {
            Phase::Shop => Seats::first(self.seats()),
            Phase::Play(place) => Seats::one(self.team_at(state.round, place)),
            Phase::Over => Seats::NONE,
        }
    }

    fn view<'a>(&'a self, state: &'a State, seat: Seat) -> view::View<'a> {
        self.look(state, seat)
    }

    /// The rule is in seconds (OB-GAME-6).
    fn limit_ms(&self, _: &State, _: Seat) -> u32 {
        self.rules().timeout * 1_000
    }

    fn play(
        &self,
        state: &mut State,
        (): &mut (),
        answers: &[(Seat, Answer<orders::Order>)],
        _: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        Now { game: self, state, out }.step(answers);
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        self.result(state)
    }

    fn moment(&self, state: &State) -> String {
        match state.phase {
            Phase::Shop => format!("round {}, shop", state.round),
            Phase::Play(place) => {
                format!(
                    "round {}, turn {}, team {}",
                    state.round,
                    state.turn,
                    self.team_at(state.round, place)
                )
            }
            Phase::Over => "the end".to_owned(),
        }
    }

    fn standing(&self, state: &State) -> SeatAdvantages {
        self.advantage(state)
    }

    fn pack(&self, order: &orders::Order, out: &mut Vec<u8>) {
        pack::pack(order, out);
    }

    /// An `error` is meant for the bot's author and may quote its code (OB-BOT-6).
    fn public(&self, order: &orders::Order) -> Option<orders::Order> {
        order.error.as_ref().map(|_| orders::Order { actions: order.actions.clone(), error: None })
    }

    fn unpack(&self, bytes: &[u8]) -> Option<orders::Order> {
        pack::unpack(bytes)
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        pack::save(self, state, out);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        pack::load(self, bytes)
    }

    fn random_order(&self, state: &State, seat: Seat, chance: &mut impl Chance) -> orders::Order {
        random::order(self, state, seat, chance)
    }

    fn scramble_hidden(&self, state: &mut State, seat: Seat, chance: &mut impl Chance) {
        random::scramble(self, state, seat, chance);
    }

    fn determinize(
        &self,
        state: &mut State,
        seat: Seat,
        shown: &mut dyn Iterator<Item = State>,
        chance: &mut Seeded,
    ) {
        determinize::determinize(self, state, seat, shown, chance);
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        builtin::seat(self, name, options, seed)
    }

    fn picture(&self, state: &State, eyes: Option<Seat>) -> Picture {
        picture::draw(self, state, eyes)
    }

    fn scene(&self, state: &State) -> impl Serialize {
        scene::Scene::new(self, state)
    }

    fn check_map(name: &str, content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        let bad = |why| SetupError::BadMap { place: name.to_owned(), why };
        let text = read_text(content).map_err(bad);
        Some(text.and_then(|text| Map::read(text).map_err(bad)).map(|map| map.findings()))
    }

    fn workloads() -> Vec<agon_game::Workload> {
        random::workloads()
    }
}
