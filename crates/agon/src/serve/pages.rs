//! The site of a running contest: how it is reached, and who becomes its organiser.

use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Arc;

use agon_server::ContestServer;
use agon_server::clock::ServerClock;
use agon_site::{Listening, Site, Tls, Way, secrets};
use agon_store::acts::MakeLink;
use agon_store::{LinkKind, Store, StoreError, Time};
use tokio::runtime::Runtime;

use crate::common::Failure;
use crate::serve::ServeOptions;

/// How long an organiser link is valid, in milliseconds.
const LINK: i64 = 24 * 3_600_000;

/// A running site.
pub struct Pages {
    /// The site itself.
    pub site: Arc<Site>,
    listening: Listening,
    /// Where workers are answered, if not there.
    workers: Option<Listening>,
    address: String,
    link: Option<String>,
}

/// Opens the site of a contest.
///
/// # Errors
/// When its address is invalid, its port cannot be had, or `contest.toml` has an error about it.
pub fn open(
    runtime: &Runtime,
    server: &Arc<ContestServer>,
    dir: &Path,
    (options, clock): (&ServeOptions, &Arc<ServerClock>),
) -> Result<Pages, Failure> {
    let own = clock.clone();
    let way = way(dir, options)?;
    let site = Site::new(server.clone(), dir, way.clone(), move || own.now()).map_err(Failure::usage)?;
    if let Some(file) = &options.metrics_token_file {
        site.measured_with(&metrics_token(file)?);
    }
    site.trust(&options.proxy).map_err(|why| Failure::usage(format!("--proxy: {why}")))?;
    let at = way.at(options.bind, options.port);
    if matches!(way, Way::Proxy(_)) && !at.ip().is_loopback() && !site.has_proxies() {
        return Err(Failure::usage(format!(
            "--bind {}: name the proxies that may connect, with --proxy ADDR or as trusted_proxies under [site] in contest.toml; \
             everybody else is turned away",
            at.ip()
        )));
    }
    let (listening, workers) = match options.workers {
        None => {
            let listening = runtime.block_on(agon_site::listen(site.clone(), at));
            (listening.map_err(|error| no_port(at, &error))?, None)
        }
        Some(workers) => {
            let both = runtime.block_on(agon_site::listen_apart(site.clone(), at, workers));
            let (listening, workers) = both.map_err(|error| no_ports(at, workers, &error))?;
            site.workers_come_to(workers_address(&way, workers.address()));
            (listening, Some(workers))
        }
    };
    let address = address(&way, listening.address());
    site.people_come_to(address.clone());
    let link = runtime
        .block_on(link(server, options.organiser, clock.now()))
        .map_err(|error| Failure::own(error.to_string()))?;
    let link = link.map(|secret| link_address(&address, &secret));
    Ok(Pages { site, listening, workers, address, link })
}

/// The address of a site that listens there.
pub fn address(way: &Way, at: SocketAddr) -> String {
    let seen = if at.ip().is_unspecified() { SocketAddr::new(own_address(), at.port()) } else { at };
    match way {
        Way::Proxy(address) => address.clone(),
        Way::Lan | Way::Loopback => format!("http://{seen}"),
        Way::Tls { tls, .. } => match tls.name().filter(|_| !tls.is_own()) {
            Some(name) => format!("https://{name}:{}", at.port()),
            None => format!("https://{seen}"),
        },
    }
}

/// The address at which workers are answered on this socket.
fn workers_address(way: &Way, at: SocketAddr) -> String {
    match way {
        Way::Tls { .. } if at.ip().is_unspecified() => address(way, at),
        Way::Tls { .. } => format!("https://{at}"),
        _ if at.ip().is_unspecified() => format!("http://{}", SocketAddr::new(own_address(), at.port())),
        _ => format!("http://{at}"),
    }
}

/// Why one of two ports cannot be had, and what to do.
fn no_ports(at: SocketAddr, workers: SocketAddr, error: &io::Error) -> Failure {
    // Taken a moment ago: it is tried again only to say which of them it is.
    match TcpListener::bind(workers) {
        Ok(_) => no_port(at, error),
        Err(error) => Failure::usage(format!(
            "--workers {workers}: {error}: give an address of this machine and a port that is free, such as 0.0.0.0:8090"
        )),
    }
}

/// Checks that the port can be had, on the loopback address unless another one is named.
///
/// # Errors
/// Why not, and what to do.
pub fn try_port(options: &ServeOptions) -> Result<(), Failure> {
    let at = Way::Loopback.at(options.bind, options.port);
    TcpListener::bind(at).map(drop).map_err(|error| no_port(at, &error))
}

/// Why a port cannot be had, and what to do.
pub fn no_port(at: SocketAddr, error: &io::Error) -> Failure {
    let mend = match error.kind() {
        io::ErrorKind::AddrInUse => "another program uses it; choose another one with --port",
        io::ErrorKind::AddrNotAvailable => {
            return Failure::usage(format!(
                "--bind {}: no network of this machine has this address (`ip address` lists them); 0.0.0.0 is all of them",
                at.ip()
            ));
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are the system's; choose another one with --port"
        }
        _ => "choose another one with --port, or none with --no-site",
    };
    Failure::usage(format!("port {}: {error}: {mend}", at.port()))
}

/// A shorter token could be guessed.
const SHORTEST_TOKEN: usize = 20;
/// Maximum length of a token, in bytes.
const LONGEST_TOKEN: u64 = 4096;

/// The token with which other machines read the metrics.
fn metrics_token(file: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::usage(format!("--metrics-token-file {}: {why}", file.display()));
    let mut text = String::new();
    let opened = File::open(file).and_then(|file| file.take(LONGEST_TOKEN).read_to_string(&mut text));
    opened.map_err(|error| failed(error.to_string()))?;
    let token = text.trim();
    let good = token.len() >= SHORTEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !good {
        return Err(failed(format!(
            "a token is one line of {SHORTEST_TOKEN} characters or more, as `openssl rand -hex 32` makes them"
        )));
    }
    Ok(token.to_owned())
}

/// The folder of the contest with self-made certificates.
const OWN: &str = "tls";

/// How the site is to be reached.
///
/// # Errors
/// When its certificate or its address is invalid.
pub fn way(dir: &Path, options: &ServeOptions) -> Result<Way, Failure> {
    let tls = match (&options.tls_cert, &options.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::given(certificate, key)),
        _ if options.tls_self_signed => {
            let named = options.bind.filter(|address| !address.is_unspecified());
            Some(Tls::own(&dir.join(OWN), &named.unwrap_or_else(own_address).to_string()))
        }
        _ => None,
    };
    if let Some(tls) = tls {
        let private = options.lan || options.tls_self_signed;
        return Ok(Way::Tls { tls: Arc::new(tls.map_err(Failure::usage)?), private });
    }
    let outside = options.bind.filter(|address| !address.is_loopback());
    let Some(address) = &options.behind_proxy else {
        return match outside {
            Some(address) if !options.lan => Err(Failure::usage(format!(
                "--bind {address}: say who may come there: --lan (private addresses, without encryption), --tls-self-signed (with it), \
                 --tls-cert and --tls-key (everybody), or --behind-proxy"
            ))),
            _ => Ok(if options.lan { Way::Lan } else { Way::Loopback }),
        };
    };
    if let Some(outside) = outside.filter(|_| options.fleet) {
        return Err(Failure::usage(format!(
            "--bind {outside}: the proxy of a fleet is on the same machine; without one use --lan or --tls-self-signed"
        )));
    }
    let address = address.trim_end_matches('/');
    let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let is_host = |host: &str| {
        !host.is_empty() && host.chars().all(|sign| sign.is_ascii_alphanumeric() || ".-:[]".contains(sign))
    };
    match host.is_some_and(is_host) {
        // Browsers write host names in lower case.
        true => Ok(Way::Proxy(address.to_lowercase())),
        false => Err(Failure::usage(format!(
            "--behind-proxy {address}: write the address that people open, as https://contest.example"
        ))),
    }
}

/// A fresh link, if one is wanted or there is no organiser yet.
async fn link(server: &ContestServer, wanted: bool, now: Time) -> Result<Option<String>, StoreError> {
    if !wanted && server.store().organisers().await? > 0 {
        return Ok(None);
    }
    Ok(Some(fresh_link(server.store(), now).await?.0))
}

/// The secret of a fresh link that makes whoever opens it an organiser, and when it expires. The one before ends.
pub async fn fresh_link(store: &Store, now: Time) -> Result<(String, Time), StoreError> {
    let secret = secrets::fresh();
    let (sha, ends) = (secrets::sha(&secret), now.plus(LINK));
    store.act(MakeLink { sha, kind: LinkKind::Organiser, account: None, now, ends }).await?;
    Ok((secret, ends))
}

/// The address of such a link on a site.
pub fn link_address(site: &str, secret: &str) -> String {
    format!("{site}/organiser?link={secret}")
}

/// Says who can reach a site, and what travels readable.
pub fn tell_way(way: &Way, out: &mut impl io::Write) -> io::Result<()> {
    match way {
        Way::Lan => writeln!(
            out,
            "It is not encrypted: anyone listening on this network can read passwords. Only private addresses are let in."
        )?,
        Way::Tls { tls, .. } if tls.is_own() => writeln!(
            out,
            "It is encrypted with a certificate of its own, which browsers warn about; only private addresses are let in. A browser \
             that shows this fingerprint is connected to this machine:\n  {}",
            tls.fingerprint()
        )?,
        Way::Loopback => {
            writeln!(out, "Only this machine can reach it; --lan opens it to private addresses.")?
        }
        Way::Tls { .. } | Way::Proxy(_) => {}
    }
    let own = own_address();
    if way.is_private() && !agon_site::is_private(own) {
        writeln!(
            out,
            "But {own} is not a private address, and anyone coming to it is turned away: give this machine one, or see --tls-cert and \
             --behind-proxy."
        )?;
    }
    Ok(())
}

/// The address of this machine in its network. Nothing is sent: the system only says which address it would use.
fn own_address() -> IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("10.255.255.255:9")?;
        socket.local_addr()
    });
    socket.map_or(IpAddr::from([127, 0, 0, 1]), |address| address.ip())
}

impl Pages {
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Prints its address.
    pub fn tell(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "Its site: {}", self.address)?;
        tell_way(&self.site.way, out)?;
        if let Some(address) = self.site.workers_at() {
            writeln!(out, "Workers come to: {address}")?;
        }
        if let Some(link) = &self.link {
            writeln!(out, "Organiser sign-up link (works once, expires in a day): {link}")?;
        }
        Ok(())
    }

    /// Stops it in good order.
    pub async fn stop(self) {
        self.listening.stop().await;
        if let Some(workers) = self.workers {
            workers.stop().await;
        }
    }
}
