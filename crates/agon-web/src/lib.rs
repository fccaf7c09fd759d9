//! The viewer's side of the program: films of matches, a server on the loopback, single pages.
//!
//! A [`film`] is a match as the viewer needs it, one JSON line a step, computed again from the
//! answers. It is the only way anything reaches the web app: a replay, a running match and an
//! exported page are all films. The web app itself (`web/`) is built into the binary ([`app`]).

#![forbid(unsafe_code)]

// In reading order.
pub mod film;

pub mod delta;
pub mod live;

pub mod api;
pub mod app;
pub mod page;
pub mod server;

mod shelf;

pub use film::{Film, Notes, Privacy, Showing, Unshowable};
pub use live::Live;
pub use server::{Config, Handle, Host, Server};
