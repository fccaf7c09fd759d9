//! A fleet: an author's own machines play the matches of a series that a command at home owns.
//!
//! The command has the journal, the statistics and the decision; a machine is a worker as in a contest, and uses the same protocol
//! ([`agon_worker::wire`]). Between them stands a broker without persistent state: [`Fleet`] is plain data with the time as a parameter,
//! and [`site`] puts it on the network. If it is killed, the command hands its matches out again and the machines introduce themselves
//! anew; finished results are in the journal, and nowhere else.

#![forbid(unsafe_code)]

// In reading order.
pub mod wire;

pub mod broker;
pub mod site;

pub use broker::Fleet;
