//! A fleet: an author's own machines play the matches of a series that a command at home owns.
//!
//! The command has the journal, the statistics and the decision; a machine is a worker as in a contest and speaks as one
//! ([`agon_worker::wire`]). Between them stands a broker that remembers nothing: [`Fleet`] is plain data with the time as a
//! parameter, [`site`] puts it on the network. When it is killed, the command hands its matches out again and machines introduce
//! themselves anew; what was finished is in the journal, and nowhere else.

#![forbid(unsafe_code)]

// In reading order.
pub mod wire;

pub mod broker;
pub mod site;

pub use broker::Fleet;
