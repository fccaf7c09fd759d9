//! What holds for all bots of a run: decided once, by the command, and handed down with their [names](crate::BotName).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What holds for all bots of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Packages for all sandboxed bots and builds.
    pub packages: Packages,
    /// The memory of each sandboxed bot, in bytes; the usual if nothing else was said.
    pub memory: Option<u64>,
    /// The image, by its hash, that strangers' bots and builds run in; if nothing else was said, one of what each needs.
    pub image: Option<String>,
    /// Where files are kept that the user's own sandboxed bots write in their folders.
    pub kept: Option<PathBuf>,
    /// Whether the next sandbox of each bot is built while the current one plays: for many matches.
    pub ahead: bool,
    /// Whether advice is meant for authors who can only submit bots, and install nothing: on a contest's machines.
    pub for_others: bool,
    /// Where bots dial in instead of the usual port of this machine: a port, and an address if it is not this machine's own.
    pub port: Option<(Option<IpAddr>, u16)>,
    /// Whether seats open to anybody also take bots of other users and other machines.
    pub any_user: bool,
    /// The file with the token of those who join.
    pub token_file: Option<PathBuf>,
}

/// Packages made once by whoever runs it, and never written by bots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packages {
    /// Folders to show, read-only.
    pub places: Vec<PathBuf>,
    /// Variables that point to them.
    pub variables: BTreeMap<String, String>,
}

impl Run {
    /// Where bots dial in: the port in their name, that of this run, or the usual one.
    pub fn address(&self, named: Option<u16>, usual: Option<u16>) -> Option<SocketAddr> {
        let (ip, port) = self.port.map_or((None, None), |(ip, port)| (ip, Some(port)));
        let port = named.or(port).or(usual)?;
        Some(SocketAddr::new(ip.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), port))
    }
}
