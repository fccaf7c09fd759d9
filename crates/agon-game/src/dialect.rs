//! [`Dialect`]: the original wire protocol of a game.

use crate::{Answer, Game, Heard, Outcome, Seat};

/// The original protocol of a game: what is sent to a bot and how its answers are read.
///
/// A value belongs to one match and remembers its conversations: whether the first message was sent, which tick is
/// being answered, which errors are still to be reported. It sees views, never states, so that nothing hidden can be
/// sent. A message is a text without its terminator; the transport frames it (a line feed, a WebSocket frame, a
/// length). On a line transport a message may contain line feeds: it is then several lines.
pub trait Dialect<G: Game>: Send + Sized {
    /// The memory at the start of a match.
    fn new(game: &G) -> Self;

    /// Appends the message that asks `seat` for an answer.
    fn ask(&mut self, game: &G, seat: Seat, view: &G::View<'_>, out: &mut Vec<u8>);

    /// Reads one message of `seat`. `message` is bounded in size by the transport, and may be hostile.
    fn hear(&mut self, game: &G, seat: Seat, message: &[u8]) -> Heard<G::Order>;

    /// Appends the canonical message for `order`: what a tidy bot would have sent. [`hear`](Dialect::hear) turns it
    /// back into `order`.
    fn say(&self, game: &G, seat: Seat, order: &G::Order, out: &mut Vec<u8>);

    /// Reports an event that bots may be told of (with the next question or at the end).
    fn tell(&mut self, _game: &G, _event: &G::Event) {}

    /// Reports that an order of `seat` was rejected. Protocols that report errors keep it, bounded.
    fn rejected(&mut self, _game: &G, _seat: Seat, _index: usize, _reason: &G::Reason) {}

    /// Reports that `seat` gave no valid answer: `answer` is malformed or missing. Protocols that report errors, or
    /// that must recognise a late reply when it comes, keep it, bounded.
    fn missed(&mut self, _game: &G, _seat: Seat, _answer: &Answer<G::Order>) {}

    /// The name under which the bot of `seat` registered, in protocols where bots give one. It is untrusted text.
    fn registered(&self, _seat: Seat) -> Option<String> {
        None
    }

    /// Appends what `seat` is told at the end of the match; nothing in most protocols.
    fn end(&mut self, _game: &G, _seat: Seat, _outcome: &Outcome, _facts: &Facts, _out: &mut Vec<u8>) {}
}

/// What the referee knows and an end message may carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The names of the bots, by seat.
    pub names: Vec<String>,
    /// The wall time of the match so far, in milliseconds.
    pub wall_ms: u64,
}
