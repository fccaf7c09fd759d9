//! The protocol of the events: a JSON message with the state, a JSON list of moves in reply.
//!
//! The length prefix of both (ten characters over TCP) belongs to the transport.

mod kit;
mod message;
mod reply;

use agon_game::{Answer, Dialect as DialectTrait, Heard, Seat};

use crate::DeerhuntOf;
use crate::orders::Moves;
use crate::view::View;

pub use kit::kit;
pub use reply::read_reply;

/// The conversations of a match.
#[derive(Clone, Debug)]
pub struct Dialect {
    ground: message::Ground,
    /// The number of questions to each seat not yet answered by a message, the last one included.
    unanswered: [u32; 2],
}

impl<const BLOCKS: usize> DialectTrait<DeerhuntOf<BLOCKS>> for Dialect {
    fn new(_: &DeerhuntOf<BLOCKS>) -> Self {
        Self { ground: message::Ground::default(), unanswered: [0; 2] }
    }

    /// DH-WIRE-1: the state message.
    fn ask(&mut self, _: &DeerhuntOf<BLOCKS>, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        self.unanswered[seat.index()] += 1;
        message::write(view, self.ground.of(view), out);
    }

    /// DH-WIRE-3: the reply. DH-WIRE-5: replies carry no turn number, so each message answers the
    /// oldest open question; a reply to any but the last question came too late and is dropped,
    /// unless the rules ask for the behaviour of the events.
    fn hear(&mut self, game: &DeerhuntOf<BLOCKS>, seat: Seat, message: &[u8]) -> Heard<Moves> {
        let open = &mut self.unanswered[seat.index()];
        if *open > 1 && !game.rules.compat_late_reply {
            *open -= 1;
            return Heard::Ignore(Some("a late reply to an earlier half-turn; it is ignored".to_owned()));
        }
        *open = 0;
        match read_reply(message) {
            Ok(moves) => Heard::Answer(moves),
            Err(why) => Heard::Malformed(why),
        }
    }

    /// A reply that the transport could not read still counts as an answer.
    fn missed(&mut self, _: &DeerhuntOf<BLOCKS>, seat: Seat, answer: &Answer<Moves>) {
        if matches!(answer, Answer::Malformed { .. }) {
            self.unanswered[seat.index()] = 0;
        }
    }

    fn say(&self, _: &DeerhuntOf<BLOCKS>, _: Seat, moves: &Moves, out: &mut Vec<u8>) {
        reply::write(moves, out);
    }
}
