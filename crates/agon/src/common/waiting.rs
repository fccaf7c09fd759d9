//! Bots that dial in: at which port, and which seats are still awaited.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use agon_bot::Run;
use agon_game::Seat;
use agon_match::arrival::Awaited;
use clap::Args;

use crate::common::bar::Bar;
use crate::common::screen::harmless;

/// How many rejected clients are reported.
const MOST_TOLD: usize = 20;

/// Options of the port.
#[derive(Args, Debug, Clone, Default)]
pub struct PortOptions {
    /// Address and port on which to wait for bots that connect by themselves; with --any-user, an address other
    /// than 127.0.0.1 lets other machines connect [default: the game's usual port on 127.0.0.1]
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = place, help_heading = "Match")]
    port: Option<Place>,
    /// Lets bots of other users and of other machines take the seats `tcp:` and `ws:`; by default only this user's may
    #[arg(long, help_heading = "Match")]
    any_user: bool,
    /// The token that a bot must present to take a `join:` seat (see `agon join`); the file must not be readable by others
    #[arg(long, value_name = "FILE", help_heading = "Match")]
    join_token: Option<PathBuf>,
}

/// A port, optionally with an address.
type Place = (Option<IpAddr>, u16);

/// Reads `9000` or `0.0.0.0:9000`.
fn place(text: &str) -> Result<Place, String> {
    let place = match text.parse::<SocketAddr>() {
        Ok(address) => Some((Some(address.ip()), address.port())),
        Err(_) => text.parse().ok().map(|port| (None, port)),
    };
    place.filter(|(_, port)| *port > 0).ok_or_else(|| {
        "write a port from 1 to 65535, as in --port 9000, or an address and a port, as in --port 0.0.0.0:9000"
            .to_owned()
    })
}

impl PortOptions {
    /// Bots that dial in there.
    pub fn at(&self, run: Run) -> Run {
        Run { port: self.port, any_user: self.any_user, token_file: self.join_token.clone(), ..run }
    }
}

/// Shows which seats are awaited: a line for each seat that somebody else has to fill, and on a terminal a moving
/// line.
#[derive(Default)]
pub struct Waiting {
    told: Vec<Seat>,
    /// The rejections that were reported.
    sent_away: Vec<(Seat, String)>,
    bar: Option<Bar>,
}

impl Waiting {
    /// Shows the seats still awaited.
    pub fn show(&mut self, seats: &[Awaited], waited: Duration) {
        for awaited in seats.iter().filter(|awaited| awaited.elsewhere) {
            if !self.told.contains(&awaited.seat) {
                self.told.push(awaited.seat);
                let (seat, address) = (awaited.seat, &awaited.address);
                let limit = awaited
                    .limit
                    .map_or_else(String::new, |limit| format!(", for {} s at most", limit.as_secs()));
                eprintln!("Seat {seat} waits for a bot to connect to {address}{limit}");
            }
        }
        for awaited in seats.iter().filter(|awaited| awaited.elsewhere) {
            let Some(why) = &awaited.trouble else { continue };
            let known = (awaited.seat, why.clone());
            if self.sent_away.len() < MOST_TOLD && !self.sent_away.contains(&known) {
                self.sent_away.push(known);
                let line = format!("Seat {}: a connection was turned away: {}", awaited.seat, harmless(why));
                match &self.bar {
                    Some(bar) => bar.above(|| eprintln!("{line}")),
                    None => eprintln!("{line}"),
                }
            }
        }
        if waited < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| Bar::new(true));
        let missing = seats.iter().map(|awaited| awaited.seat.to_string()).collect::<Vec<_>>().join(", ");
        let whose = if seats.len() == 1 { "the bot of seat" } else { "the bots of seats" };
        let limit = seats.iter().filter_map(|awaited| awaited.limit).min();
        let limit = limit.map_or_else(String::new, |limit| format!(" of {}", limit.as_secs()));
        bar.show(
            0,
            None,
            format!("waited {}{limit} s for {whose} {missing}; Ctrl-C stops", waited.as_secs()),
        );
    }

    /// Called when all are here.
    pub fn done(&mut self) {
        self.bar = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_addresses_are_read() {
        assert_eq!(place("9000"), Ok((None, 9000)));
        assert_eq!(place("0.0.0.0:9000"), Ok((Some("0.0.0.0".parse().expect("an address")), 9000)));
        for wrong in ["0", "-1", "65536", "here", "0.0.0.0", "0.0.0.0:0", ""] {
            assert!(place(wrong).is_err_and(|why| why.contains("--port 9000")), "{wrong}");
        }
    }
}
