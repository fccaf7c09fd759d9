//! A contest in the browser.
//!
//! Pages are whole without scripts: HTML from here, forms that post and lead on. What somebody may do is decided in one
//! place ([`rights`]), for each route by one line of one table ([`routes`]); who asks is found out once, before any
//! handler runs ([`gate`]). The pages ([`pages`]) open with their answer as a sentence and then prove it.
//!
//! Nothing here knows a game by name, and no clock is read but the one that [`Site`] was given.

#![forbid(unsafe_code)]

// In reading order.
pub mod rights;
pub mod routes;

pub mod gate;
pub mod site;

pub mod api;
pub mod metrics;
pub mod pages;

pub mod bench;
pub mod work;

pub mod downloads;
pub mod exports;
pub mod incoming;
pub mod limits;
pub mod passwords;
pub mod problem;
pub mod secrets;
pub mod settings;

pub mod listen;
pub mod tls;

pub use listen::{Listening, is_private, listen};
pub use settings::Settings;
pub use site::{Site, Way};
pub use tls::Tls;
