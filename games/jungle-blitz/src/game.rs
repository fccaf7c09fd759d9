//! The game as seen by the rest of the program.

use std::sync::Arc;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::prepared::{Maps, SharedRules};
use agon_game::{
    Answer, Builtin, BundledMap, Chance, Game, GameInfo, Import, Kit, MapChoice, MapFindings, Outcome,
    Picture, Recipe, Seat, SeatAdvantages, Seats, Seeded, Setup, SetupError, Sink, Transport, Unreadable,
};
use include_dir::include_dir;
use serde::Serialize;

use crate::arena::Arena;
use crate::dialect::Wire;
use crate::event::Event;
use crate::map::{Map, Tile};
use crate::orders::Command;
use crate::reason::Refusal;
use crate::rules::{DEFAULT_UNITS_PER_TEAM, MAX_DIAMONDS, MAX_TEAMS, MAX_UNITS, PRESETS, Rules};
use crate::scene::Scene;
use crate::schedule::{self, Schedule};
use crate::search::Search;
use crate::state::{Diamond, Owner, State, UnitIndex};
use crate::view::View;

/// What is known of the game before a match.
pub const INFO: GameInfo = GameInfo {
    name: "jungle-blitz",
    title: "Jungle Blitz",
    summary: "up to four teams gather diamonds, let them grow in their hands and drop them for points",
    rules_version: 1,
    seats: (1, MAX_TEAMS as u8),
    step: "tick",
    alternating: false,
    transport: Transport::WebSocket,
    longest_message: 1 << 20,
    presets: PRESETS,
    maps: crate::maps::BUNDLED,
    generates_maps: true,
    builtins: crate::builtin::KNOWN,
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(
        &[
            ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
            ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
        ],
        &[],
    ),
    example_set: "unitsPerTeam=3",
    looks_like_answer,
    recordings: "the recordings of Jungle Blitz's viewer (.json or .json.gz, a list of frames)",
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    advantage: crate::weights::FEATURES,
    policy: "collector",
    judge: "keeper?nodes=10",
    ..GameInfo::PLAIN
};

/// Whether a text looks like an answer: an object with its type or its actions in front.
fn looks_like_answer(text: &str) -> bool {
    text.starts_with("{\"type\"") || text.starts_with("{\"actions\"")
}

/// The rules, a map and the play order of a match.
#[derive(Clone, Debug)]
pub struct JungleBlitz {
    /// The numbers.
    pub rules: Arc<Rules>,
    /// The map as it was read.
    pub map: Arc<Map>,
    /// The map in the form the rules need.
    pub arena: Arc<Arena>,
    /// Units of each team.
    pub units_per_team: u8,
    schedule: Schedule,
    recipe: Recipe,
}

/// What the matches of one setup share.
pub struct Prepared {
    rules: SharedRules<Rules>,
    maps: Maps<Ground>,
}

/// A map that fits: its name and text, the map as it was read, and in the form the rules need.
#[derive(Clone)]
struct Ground {
    name: String,
    text: String,
    map: Arc<Map>,
    arena: Arc<Arena>,
    units_per_team: u8,
}

impl Ground {
    /// Checks that everything fits (JB-GAME-1, JB-MAP-4, JB-MAP-5).
    fn fit(rules: &Rules, seats: u8, name: &str, map: Map) -> Result<Self, SetupError> {
        INFO.check_seats(seats.into())?;
        if let Some(order) = rules.play_orders.iter().find(|order| order.len() != usize::from(seats)) {
            let why = format!("playOrders has {order:?}, but {seats} teams play");
            return Err(SetupError::BadRule { place: name.to_owned(), why });
        }
        let bad = |why: String| SetupError::BadMap { place: name.to_owned(), why };
        let units_per_team = match rules.units_per_team {
            0 => map.units_for(seats).unwrap_or(DEFAULT_UNITS_PER_TEAM),
            count => count,
        };
        let units = usize::from(units_per_team) * usize::from(seats);
        if units > MAX_UNITS {
            return Err(bad(format!(
                "{seats} teams of {units_per_team} units are {units} units; at most {MAX_UNITS} can play"
            )));
        }
        let diamonds = map.count(Tile::Diamond);
        if diamonds > MAX_DIAMONDS {
            return Err(bad(format!(
                "{diamonds} diamonds are more than the {MAX_DIAMONDS} that can be played"
            )));
        }
        if map.count(Tile::Spawn) == 0 {
            return Err(bad("no spawn tile (S), so no unit could ever come onto the board".to_owned()));
        }
        let arena = Arc::new(Arena::new(&map, units).map_err(bad)?);
        let text = map.text();
        Ok(Self { name: name.to_owned(), text, map: Arc::new(map), arena, units_per_team })
    }
}

impl JungleBlitz {
    /// Puts a match together: checks that everything fits (JB-GAME-1, JB-MAP-4, JB-MAP-5) and draws the play order.
    ///
    /// # Errors
    /// What does not fit.
    pub fn assemble(rules: Rules, map: Map, recipe: Recipe) -> Result<Self, SetupError> {
        let ground = Ground::fit(&rules, recipe.seats, &recipe.map_name, map)?;
        Ok(Self::on(Arc::new(rules), ground, recipe))
    }

    fn on(rules: Arc<Rules>, ground: Ground, recipe: Recipe) -> Self {
        let schedule = schedule::draw(recipe.seed, recipe.seats, rules.total_tick, &rules.play_orders);
        let Ground { map, arena, units_per_team, .. } = ground;
        Self { rules, map, arena, units_per_team, schedule, recipe }
    }

    /// The number of teams.
    #[inline]
    pub fn teams(&self) -> usize {
        usize::from(self.recipe.seats)
    }

    /// The number of units of all teams.
    #[inline]
    pub fn unit_count(&self) -> u8 {
        self.units_per_team * self.recipe.seats
    }

    /// The first unit of a team.
    #[inline]
    pub fn first_unit(&self, team: usize) -> UnitIndex {
        team as u8 * self.units_per_team
    }

    /// The team of a unit, from 0.
    #[inline]
    pub fn team_of(&self, unit: UnitIndex) -> usize {
        usize::from(unit / self.units_per_team)
    }

    /// The teams in the order in which they play in `tick`.
    pub fn play_order(&self, tick: u16) -> &[u8] {
        self.schedule.get(usize::from(tick)).map_or(&[], |order| &order[..self.teams()])
    }

    /// The same match with another play order, from a recorded match or an example.
    #[must_use]
    pub fn with_schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }
}

/// Where the map of a setup comes from.
fn choose_maps(rules: &Rules, setup: &Setup) -> Result<Maps<Ground>, SetupError> {
    let one = |name: &str, content: &[u8]| {
        Ok(Maps::One(Ground::fit(rules, setup.seats, name, Map::read(name, content)?)?))
    };
    match &setup.map {
        MapChoice::Default => {
            let fits = |map: &&BundledMap| (map.seats.0..=map.seats.1).contains(&setup.seats);
            let mut fitting: Vec<&BundledMap> = INFO.maps.iter().filter(fits).collect();
            if fitting.is_empty() {
                fitting.push(&INFO.maps[0]);
            }
            Ok(Maps::picked(fitting))
        }
        MapChoice::Named(name) => INFO.map(name).and_then(|map| one(map.name, map.text.as_bytes())),
        MapChoice::File(name, content) => one(name, content),
        MapChoice::Generated => Ok(Maps::Made),
    }
}

impl Game for JungleBlitz {
    const INFO: GameInfo = INFO;

    type State = State;
    type Work = Search;
    type View<'a> = View<'a>;
    type Order = Command;
    type Event = Event;
    type Reason = Refusal;
    type Dialect = Wire;
    type Hand = crate::hand::Hand;
    type Prepared = Prepared;

    fn prepare(setup: &Setup) -> Result<Prepared, SetupError> {
        let loaded = Rules::load(&setup.rules)?;
        let maps = choose_maps(&loaded.rules, setup)?;
        Ok(Prepared { rules: SharedRules::new(loaded, setup.seats), maps })
    }

    fn begin(prepared: &Prepared, seed: i64) -> Result<Self, SetupError> {
        let SharedRules { rules, seats, .. } = &prepared.rules;
        let read = |map: &BundledMap| {
            Ground::fit(rules, *seats, map.name, Map::read(map.name, map.text.as_bytes())?)
        };
        let make = || {
            let map = crate::generate::generate(&mut Seeded::stream(seed, "map"));
            Ground::fit(rules, *seats, &format!("generated from seed {seed}"), map)
        };
        let ground = prepared.maps.of(|count| Seeded::stream(seed, "map").below(count), read, make)?;
        let recipe = prepared.rules.recipe(&ground.name, &ground.text, seed);
        Ok(Self::on(rules.clone(), ground, recipe))
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// No unit is on the board; the diamonds lie where the map shows them (JB-GAME-1).
    fn start(&self) -> State {
        let mut state = State::EMPTY;
        let level = self.rules.initial_diamond_summon_level;
        for (diamond, &cell) in state.diamonds.iter_mut().zip(self.arena.diamonds()) {
            *diamond = Diamond { cell, points: 0, level, owner: Owner::NEVER };
        }
        state
    }

    /// All teams still connected, at the same time (JB-GAME-2).
    fn deciding(&self, state: &State) -> Seats {
        match state.tick < self.rules.total_tick {
            true => Seat::first(self.recipe.seats).filter(|seat| !state.is_dead(seat.index())).collect(),
            false => Seats::NONE,
        }
    }

    fn view<'a>(&'a self, state: &'a State, seat: Seat) -> View<'a> {
        View::new(self, state, seat)
    }

    /// The time to answer, with the extra time of the first ticks (JB-TIME-1).
    fn limit_ms(&self, state: &State, _seat: Seat) -> u32 {
        let rules = &self.rules;
        let extra = if state.tick < rules.extra_time_ticks { rules.extra_time } else { 0 };
        match rules.time_per_tick {
            0 => u32::MAX,
            limit => limit.saturating_add(extra),
        }
    }

    fn play(
        &self,
        state: &mut State,
        work: &mut Search,
        answers: &[(Seat, Answer<Command>)],
        chance: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        crate::turn::play(self, state, work, answers, chance, out);
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        crate::outcome::outcome(self, state)
    }

    fn moment(&self, state: &State) -> String {
        format!("tick {}", state.tick)
    }

    fn standing(&self, state: &State) -> SeatAdvantages {
        crate::advantage::standing(self, state)
    }

    fn pack(&self, order: &Command, out: &mut Vec<u8>) {
        crate::orders::pack(order, out);
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Command> {
        crate::orders::unpack(self, bytes)
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        crate::save::save(self, state, out);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        crate::save::load(self, bytes)
    }

    fn random_order(&self, state: &State, seat: Seat, chance: &mut impl Chance) -> Command {
        crate::orders::random(self, state, seat.index(), chance)
    }

    fn scramble_hidden(&self, state: &mut State, _seat: Seat, chance: &mut impl Chance) {
        crate::view::scramble_hidden(state, chance);
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        crate::builtin::seat(name, options, seed)
    }

    fn kit(&self) -> Kit {
        Kit::WebSocket(crate::dialect::KIT)
    }

    fn picture(&self, state: &State, _eyes: Option<Seat>) -> Picture {
        crate::picture::picture(self, state)
    }

    fn scene(&self, state: &State) -> impl Serialize {
        Scene::new(self, state)
    }

    fn check_map(name: &str, content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        Some(Map::read(name, content).map(|map| crate::map_check::check(&map)))
    }

    fn import(record: &[u8]) -> Result<Import<Command>, Unreadable> {
        crate::recording::import(record)
    }

    fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
        crate::conform::conform(record, report)
    }

    fn workloads() -> Vec<agon_game::Workload> {
        crate::bench::workloads()
    }
}
