//! Terminal: two players, a diamond of structures, and mobile units that run for the far edge.
//!
//! The rules are in `RULES.md`; each rule's id is at the function that decides it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order: the words, the state, a turn and its stages, then everything around it.
pub mod arena;
pub mod rules;

pub mod orders;
pub mod state;

pub mod turn;

pub mod clock;
pub mod deploy;

pub mod work;

pub mod attack;
pub mod health;
pub mod melee;
pub mod movement;
pub mod path;
pub mod self_destruct;
pub mod shield;

pub mod outcome;
pub mod restore;

pub mod change;
pub mod config;
pub mod frame;
pub mod view;

pub mod conform;

mod advantage;
mod bench;
pub mod builtin;
pub mod dialect;
pub mod hand;
pub mod line;
pub mod picture;
mod random;
pub mod replay;
pub mod scene;
mod starters;
mod weights;

use std::sync::Arc;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{
    Answer, Answers, Builtin, Chance, Cpus, Facts, Game, GameInfo, HandIn, Import, MapChoice, Outcome,
    Picture, Preset, Recipe, Seat, SeatAdvantages, Seats, Setup, SetupError, Sink, Transport, Unreadable,
};
use include_dir::include_dir;
use serde::Serialize;

use crate::change::Told;
use crate::dialect::Wire;
use crate::frame::Event;
use crate::orders::{Commands, Refusal};
use crate::rules::Rules;
use crate::state::State;
use crate::view::View;
use crate::work::Work;

/// What is known of the game before a match.
pub const INFO: GameInfo = GameInfo {
    name: "terminal",
    title: "Terminal",
    summary: "build a defence on a diamond, and send units across it to the other's edge",
    rules_version: 2,
    seats: (2, 2),
    step: "turn",
    alternating: false,
    stops_late_bots: true,
    transport: Transport::Lines,
    longest_message: 1 << 20,
    time_is_played: true,
    presets: &[
        Preset {
            name: "document",
            about: "the 2025 special competition, as its rules document writes it",
            text: include_str!("../rules/document.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "europe-2025",
            about: "the 2025 special competition, as its matches were played",
            text: include_str!("../rules/europe-2025.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "base-2025",
            about: "the base game of 2025",
            text: include_str!("../rules/base-2025.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "citadel-2026",
            about: "the 2026 competition with slow removals and strong upgrades",
            text: include_str!("../rules/citadel-2026.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "kit-2020",
            about: "the starter kit of 2020, whose supports make resources",
            text: include_str!("../rules/kit-2020.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "season-2019",
            about: "the season at the turn of 2018 and 2019, before there were upgrades",
            text: include_str!("../rules/season-2019.json"),
            cpus: Cpus::All,
        },
        Preset {
            name: "season-2018",
            about: "the season of 2018: the same with more time, and an earlier engine",
            text: include_str!("../rules/season-2018.json"),
            cpus: Cpus::All,
        },
    ],
    builtins: builtin::BUILTINS,
    rulebook: agon_game::with_tools(include_str!("../RULES.md"), ""),
    sources: agon_game::with_tools(
        &[
            ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
            ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
        ],
        &[],
    ),
    example_set: "maxTurns=50",
    looks_like_answer,
    hand_in: HandIn::Folder(&["run.sh", "algo.json"]),
    starters: agon_game::with_tools(crate::starters::STARTERS, &[]),
    recordings: "Terminal's replay files (.replay)",
    advantage: crate::weights::FEATURES,
    policy: "fortress",
    judge: "planner?nodes=40",
    ..GameInfo::PLAIN
};

/// Whether a text looks like an answer: a list of lists, each with a unit in front.
fn looks_like_answer(text: &str) -> bool {
    text.starts_with("[[\"") || text == "[]"
}

/// The game with the rules of one match.
#[derive(Debug)]
pub struct Terminal {
    rules: Arc<Rules>,
    recipe: Recipe,
}

/// What the matches of one configuration share: its numbers, and a recipe without its seed.
pub struct Prepared {
    rules: Arc<Rules>,
    recipe: Recipe,
}

impl Terminal {
    /// The rules of the match.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The configuration as one line of JSON.
    pub fn config_line(&self) -> &str {
        &self.recipe.rules
    }
}

impl Game for Terminal {
    const INFO: GameInfo = INFO;

    type State = State;
    type Work = Work;
    type View<'a> = View<'a>;
    type Order = Commands;
    type Event = Event;
    type Reason = Refusal;
    type Dialect = Wire;
    type Hand = hand::Hand;
    type Prepared = Prepared;

    fn prepare(setup: &Setup) -> Result<Prepared, SetupError> {
        match &setup.map {
            MapChoice::Default => {}
            MapChoice::Named(name) if name == ARENA => {}
            MapChoice::Named(name) => {
                let nearest = Some(ARENA.to_owned());
                return Err(SetupError::UnknownMap { game: INFO.name, name: name.clone(), nearest });
            }
            MapChoice::File(name, _) => return Err(one_arena(name)),
            MapChoice::Generated => return Err(one_arena("generate")),
        }
        INFO.check_seats(setup.seats.into())?;
        let config = config::load(&setup.rules)?;
        let recipe = Recipe {
            rules_name: config.name,
            rules: config.line,
            map_name: ARENA.to_owned(),
            map: String::new(),
            seats: 2,
            seed: 0,
        };
        Ok(Prepared { rules: Arc::new(config.rules), recipe })
    }

    fn begin(prepared: &Prepared, seed: i64) -> Result<Self, SetupError> {
        Ok(Self { rules: prepared.rules.clone(), recipe: Recipe { seed, ..prepared.recipe.clone() } })
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn start(&self) -> State {
        State::new(&self.rules)
    }

    fn deciding(&self, state: &State) -> Seats {
        if state.ending.is_some() { Seats::NONE } else { Seats::first(2) }
    }

    fn view<'a>(&'a self, state: &'a State, seat: Seat) -> View<'a> {
        View::new(self, state, seat)
    }

    fn limit_ms(&self, _: &State, _: Seat) -> u32 {
        self.rules.timing.wait_time_bot_max
    }

    fn soft_limit_ms(&self) -> Option<u32> {
        Some(self.rules.timing.wait_time_bot_soft)
    }

    fn pauses_ms(&self) -> [u32; 2] {
        self.rules.timing.pauses_ms
    }

    fn play(
        &self,
        state: &mut State,
        work: &mut Work,
        answers: &[(Seat, Answer<Commands>)],
        _: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        turn::play(self, state, work, answers, out);
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        outcome::outcome(state)
    }

    fn moment(&self, state: &State) -> String {
        format!("turn {}", state.turn)
    }

    fn standing(&self, state: &State) -> SeatAdvantages {
        advantage::standing(&self.rules, state)
    }

    fn pack(&self, order: &Commands, out: &mut Vec<u8>) {
        order.pack(out);
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Commands> {
        Commands::unpack(bytes)
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        state.save(out);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        State::load(&self.rules, bytes)
    }

    fn random_order(&self, state: &State, seat: Seat, chance: &mut impl Chance) -> Commands {
        random::random_order(&self.rules, state, seat, chance)
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        builtin::builtin(name, options, seed)
    }

    fn picture(&self, state: &State, eyes: Option<Seat>) -> Picture {
        picture::picture(state, eyes)
    }

    fn scene(&self, state: &State) -> impl Serialize {
        scene::Scene::new(state)
    }

    fn frame(&self, event: &Event, eyes: Option<Seat>) -> Option<Picture> {
        match event {
            Event::Frame(frame) => Some(picture::frame(frame, eyes)),
            Event::Restored(_) | Event::Over(_) => None,
        }
    }

    fn frame_count(&self, state: &State) -> u32 {
        state.last_frames.into()
    }

    fn frame_change<'a>(
        &'a self,
        event: &'a Event,
        before: Option<&'a Event>,
    ) -> Option<impl Serialize + 'a> {
        Some(Told { frame: event.frame()?, before: before.and_then(Event::frame) })
    }

    const IMPORTS: bool = true;

    fn import(record: &[u8]) -> Result<Import<Commands>, Unreadable> {
        replay::import(record)
    }

    fn export(&self, steps: &[Answers<Commands>], facts: &Facts, out: &mut Vec<u8>) -> bool {
        replay::export(self, steps, facts, out);
        true
    }

    fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
        conform::conform(record, report)
    }

    fn workloads() -> Vec<agon_game::Workload> {
        bench::workloads()
    }
}

/// The name of the one arena.
const ARENA: &str = "arena";

fn one_arena(place: &str) -> SetupError {
    let why = "Terminal is always played in its one arena; leave the map out".to_owned();
    SetupError::BadMap { place: place.to_owned(), why }
}
