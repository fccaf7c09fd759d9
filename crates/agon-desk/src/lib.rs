//! An author's desk: what somebody does who writes a bot, whoever asks for it.
//!
//! A bot is [checked](check) and [tested](mod@test), asked for its answers to a recorded match ([`feed`]), and tried with another order
//! ([`trial`]). A match is [analysed], and what goes with the losses of a series is found in its journal ([`losses`]), like [`ratings`]; each loss may
//! teach something ([`lesson`]). In the end the bot is made what its contest takes ([`hand_in`]).
//!
//! Each function takes what it needs and returns what it found. What is said of it on a screen or a page, what is typed, and where a
//! bot comes from is the business of whoever calls.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order.
mod error;
pub mod words;

pub mod replays;
pub mod seats;

pub mod check;

pub mod feed;
pub mod kept;
pub mod later;
pub mod test;

pub mod analysed;
pub mod trial;

pub mod lesson;
pub mod losses;
pub mod ratings;
mod signs;

pub mod hand_in;

pub mod conformance;
pub mod maps;

pub use error::DeskError;
