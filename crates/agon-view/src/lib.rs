//! A match as a viewer needs it: what it is ([`Head`]), and any step of it ([`Line`]), computed again from the replay
//! when it is looked at.
//!
//! Playing the rules costs almost nothing; writing down what they did is the work. So a [`View`] plays a match through
//! once when it is opened, keeps the position every few steps, and makes the line of a step from there. Each line can be
//! understood on its own: its scene is given as the [`delta`] to the scene before the first step, which is in the head.
//!
//! Pure: no file, clock, thread or network, so that the same code serves the server, exported pages and a browser.

#![forbid(unsafe_code)]

// In reading order.
mod line;

mod ask;
mod engines;
mod maker;
mod outlook;
mod view;

pub mod analysis;
mod course;
pub mod delta;
pub mod future;
pub mod lesson;
pub mod play;
pub mod record;

pub use ask::{Ask, AskRefusal, Begun, LONGEST_ASK, Opened, Reply};
pub use course::Course;
pub use engines::Engines;
pub use lesson::{JudgedOrder, Lesson, LessonSoFar, LossSearch, Puzzle};
pub use line::{AnswerLine, End, EndWord, FaultLine, Head, Line, Missing, Outcome, RejectionLine, SeatLine};
pub use maker::{Maker, Notes, OtherRules, Privacy, RecordingState, Unshowable};
pub use outlook::{Outlook, WinChance, Worth};
pub use play::{Play, Sitter, Turn, WantedMatch};
pub use view::{View, message, section};
