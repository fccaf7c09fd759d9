//! A contest in the browser.
//!
//! Pages work without scripts: HTML from here, forms that post and redirect. What each person may do is decided in one place ([`rights`]),
//! by one line per route of one table ([`routes`]); who is asking is found out once, before any handler runs ([`gate`]). Each page
//! ([`pages`]) opens with its answer as a sentence and then proves it.
//!
//! Nothing here knows a game by name, and the only clock read is the one given to [`Site`].

#![forbid(unsafe_code)]

// In reading order.
pub mod rights;
pub mod routes;

pub mod gate;
pub mod site;

pub mod answers;
pub mod api;
pub mod health;
pub mod metrics;
pub mod pages;

pub mod beats;
pub mod bench;
pub mod fleet;
pub mod work;

pub mod downloads;
pub mod exports;
pub mod guesses;
pub mod incoming;
pub mod limits;
pub mod mail;
pub mod nights;
pub mod outbox;
pub mod passwords;
pub mod problem;
pub mod redirect;
pub mod secrets;
pub mod settings;
pub mod throttle;
pub mod totp;
pub mod webhook;

pub mod listen;
pub mod tls;

pub use listen::{Listening, is_private, listen, listen_apart};
pub use settings::Settings;
pub use site::{Site, Way};
pub use tls::Tls;
