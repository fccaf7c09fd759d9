//! The original wire protocol: one JSON document per message, the same over WebSocket and over lines.
//!
//! - [`ask`]: the TICK message.
//! - [`hear`]: REGISTER and COMMAND.
//! - [`Wire`]: the memory of a match's conversations.

mod ask;
mod hear;

use agon_game::{Answer, Chance, Dialect, Heard, Seat, Seeded, WebSocketKit};

use crate::JungleBlitz;
use crate::orders::Command;
use crate::reason::Refusal;
use crate::rules::{MAX_ACTIONS, MAX_TEAMS};
use crate::view::View;

pub use hear::{Registration, register};

/// The port that all kits of the contest connect to, and the token that identifies a seat (JB-WIRE-1).
pub(crate) const KIT: WebSocketKit = WebSocketKit {
    port: 8765,
    connect_ms: 30_000,
    token: "TOKEN",
    register: |message| {
        register(message).map(|registration| match registration {
            Registration::Name(_) => None,
            Registration::Token(token) => Some(token),
        })
    },
    answers_say_their_question: true,
};

/// The memory of the conversations of a match.
#[derive(Clone, Debug)]
pub struct Wire {
    seats: Vec<Remembered>,
    /// The id of each diamond, in quotes.
    diamond_ids: Vec<Vec<u8>>,
    /// The field `tiles` of every tick, which never changes.
    tiles: Vec<u8>,
}

/// What is remembered of a team.
#[derive(Clone, Debug)]
struct Remembered {
    /// Its id, in quotes, as JSON.
    id: Vec<u8>,
    /// Its name, in quotes, as JSON.
    name: Vec<u8>,
    /// Whether it has registered.
    registered: bool,
    /// The name it registered with, if not a token.
    called: Option<String>,
    /// The tick it was asked for last.
    asked: Option<u16>,
    /// Whether that tick is still unanswered and its limit has not passed.
    waited_for: bool,
    /// The ticks it was asked for and is not known to have answered.
    open: Vec<u16>,
    /// The errors to be sent with the next tick.
    errors: Vec<String>,
    /// Whether one of them has come since it was last asked.
    fresh: bool,
}

/// Upper limit on the errors sent to a team at once.
const MOST_ERRORS: usize = MAX_ACTIONS;

impl Wire {
    /// Replaces ids and names: those of a recorded match.
    pub(crate) fn rename(&mut self, teams: &[(String, String)], diamond_ids: &[String]) {
        for (seat, (id, name)) in self.seats.iter_mut().zip(teams) {
            (seat.id, seat.name) = (ask::quoted(id), ask::quoted(name));
        }
        self.diamond_ids = diamond_ids.iter().map(|id| ask::quoted(id)).collect();
    }
}

impl Dialect<JungleBlitz> for Wire {
    /// Ids are drawn from the match seed, stream `ids`, in the form of random UUIDs: teams, then diamonds (JB-WIRE-2).
    fn new(game: &JungleBlitz) -> Self {
        let mut chance = Seeded::stream(agon_game::Game::recipe(game).seed, "ids");
        let seats = (1..=game.teams()).map(|number| Remembered {
            id: ask::quoted(&uuid(&mut chance)),
            name: ask::quoted(&format!("Team {number}")),
            registered: false,
            called: None,
            asked: None,
            waited_for: false,
            open: Vec::new(),
            errors: Vec::new(),
            fresh: false,
        });
        let seats = seats.collect();
        let diamond_ids = game.arena.diamonds().iter().map(|_| ask::quoted(&uuid(&mut chance))).collect();
        Self { seats, diamond_ids, tiles: ask::tiles(game) }
    }

    fn ask(&mut self, game: &JungleBlitz, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        let own = &mut self.seats[seat.index()];
        if !own.fresh {
            own.errors.clear();
        }
        own.fresh = false;
        own.asked = Some(view.tick());
        own.waited_for = true;
        if own.open.last() != own.asked.as_ref() {
            own.open.extend(own.asked);
        }
        ask::tick(self, game, seat, view, out);
    }

    fn hear(&mut self, game: &JungleBlitz, seat: Seat, message: &[u8]) -> Heard<Command> {
        hear::message(self, game, seat, message)
    }

    fn say(&self, game: &JungleBlitz, seat: Seat, order: &Command, out: &mut Vec<u8>) {
        hear::command(game, self.seats[seat.index()].asked.unwrap_or(0), seat, order, out);
    }

    fn registered(&self, seat: Seat) -> Option<String> {
        self.seats[seat.index()].called.clone()
    }

    /// The errors of a command replace all earlier ones (JB-WIRE-7).
    fn rejected(&mut self, _game: &JungleBlitz, seat: Seat, _index: usize, reason: &Refusal) {
        let own = &mut self.seats[seat.index()];
        if !own.fresh {
            own.errors.clear();
            own.fresh = true;
        }
        own.note(reason.to_string());
    }

    /// Without a command nothing is replaced: the errors of missed ticks pile up (JB-WIRE-7).
    fn missed(&mut self, game: &JungleBlitz, seat: Seat, answer: &Answer<Command>) {
        let own = &mut self.seats[seat.index()];
        own.fresh = true;
        own.waited_for = false;
        let (tick, limit) = (own.asked.unwrap_or(0), game.rules.time_per_tick);
        let why = match answer {
            Answer::Malformed { why, .. } => &why[..why.floor_char_boundary(200)],
            _ => "it did not come in time",
        };
        own.note(format!("no command counted for tick {tick} (limit {limit} ms): {why}"));
    }
}

impl Remembered {
    fn note(&mut self, error: String) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        }
    }
}

/// A UUID of version 4.
fn uuid(chance: &mut Seeded) -> String {
    let mut bits = || {
        u128::from(chance.below(1 << 16)) << 112
            | u128::from(chance.bits()) << 48
            | u128::from(chance.bits() >> 16)
    };
    let bits = bits() & !(0xf << 76) & !(3 << 62) | 4 << 76 | 2 << 62;
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The teams of a match.
const _: () = assert!(MAX_TEAMS <= Seat::MAX as usize);
