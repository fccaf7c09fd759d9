//! A contest on another machine, through its API alone.
//!
//! Longer than 500 lines: a request, its bounded answer, and what can go wrong are one thing, with its tests.
//!
//! Every answer comes from a stranger: it is bounded in size and time, read strictly, and shown as text only. A token goes
//! to the address for which it was kept and nowhere else: no redirection is followed, and without encryption it goes only
//! to private networks, unless the user allows more.

use agon_bot::advised::NextCommand;
use agon_bot::image::{self, Images};
use jiff::Timestamp;
use std::fmt;
use std::io::Read as _;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_api::{LARGEST_ANSWER, LEFT, LIMIT, Problem, RESET};
use agon_site::listen::is_private;
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, Uri, header};
use ureq::{Agent, Body, Proxy};

use crate::common::fingerprint::{Fingerprint, untrusted};
use crate::common::logins::{Login, Logins};
use crate::common::{ErrorCode, Failure, screen};

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Time limit for a whole answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Time limit when a file goes either way.
const FILE: Duration = Duration::from_secs(600);
/// How long following something survives an absent server: it may be restarting.
const AWAY: Duration = Duration::from_secs(60);
/// How long one of many requests waits for its turn, where others use up what the account may ask for.
const CROWDED: Duration = Duration::from_secs(600);
/// The longest wait that a server is believed.
const LONGEST_WAIT: u64 = 60;

/// Which contest to use.
#[derive(Args, Debug, Clone, Default)]
pub struct OnlineOptions {
    /// The contest's address; with AGON_TOKEN no login is needed [default: that of the last `agon login`]
    #[arg(long, value_name = "URL", env = "AGON_URL", hide_env_values = true, help_heading = "Contest")]
    pub url: Option<String>,
    /// How it may be reached.
    #[command(flatten)]
    pub line: Line,
}

/// How a contest may be reached when the usual way is not available.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Line {
    /// Lets the token travel unencrypted to a public address
    #[arg(long, help_heading = "Contest")]
    pub plain_http: bool,
    /// The SHA-256 fingerprint of the contest's certificate, if it is self-signed (`agon serve --tls-self-signed` prints it)
    #[arg(long, value_name = "SHA256", env = "AGON_FINGERPRINT", help_heading = "Contest")]
    pub fingerprint: Option<Fingerprint>,
}

impl Line {
    /// The options given here, else those of the login.
    fn or(&self, kept: Option<&Login>) -> Self {
        Self {
            plain_http: self.plain_http || kept.is_some_and(|login| login.plain_http),
            fingerprint: self.fingerprint.or_else(|| kept.and_then(|login| login.fingerprint)),
        }
    }

    /// The options of the login at an address, for data that is public there.
    ///
    /// # Errors
    /// When the logins cannot be read.
    pub fn kept(address: &Address) -> Result<Self, Failure> {
        Ok(Self::default().or(Logins::read()?.of(&address.0)))
    }
}

impl OnlineOptions {
    /// The contest, with the user's token for it.
    ///
    /// # Errors
    /// When nobody has logged in there.
    pub fn connect(&self) -> Result<Online, Failure> {
        let logins = Logins::read()?;
        let token = std::env::var("AGON_TOKEN").ok().filter(|token| !token.trim().is_empty());
        let address = match (&self.url, &token) {
            (Some(url), _) => Address::parse(url)?,
            (None, Some(_)) => {
                return Err(Failure::usage(
                    "AGON_TOKEN is set, but not which contest it is for: set AGON_URL to its address",
                ));
            }
            (None, None) => logins.current().map(|login| Address::parse(&login.url)).transpose()?.ok_or_else(|| {
                Failure::usage(
                    "you are not logged in to a contest: run `agon login URL`, or set AGON_URL and AGON_TOKEN",
                )
            })?,
        };
        let kept = logins.of(&address.0);
        let line = self.line.or(kept);
        let token =
            token.map(|token| token.trim().to_owned()).or_else(|| kept.map(|login| login.token.clone()));
        let Some(token) = token else {
            return Err(Failure::usage(format!(
                "{address}: no token is kept for it here: `{}`",
                NextCommand::Login.about([&address.0])
            )));
        };
        Online::new(address, Some(token), &line)
    }
}

/// The address of a contest: `https://cup.example`, without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(pub String);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Address {
    /// Parses an address as typed, perhaps with the path of some page.
    ///
    /// # Errors
    /// When it is not an address.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let shown: String = screen::harmless(text).chars().take(200).collect();
        let wrong = |why: &str| Failure::usage(format!("`{shown}` is not the address of a server: {why}"));
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = whole.trim().parse().map_err(|_| wrong("write it as https://cup.example"))?;
        let authority = uri.authority().ok_or_else(|| wrong("write it as https://cup.example"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("leave out the name before the `@`"));
        }
        let scheme = match uri.scheme_str() {
            // An address outside private networks typed without a scheme is meant to be encrypted.
            Some("http") if !text.contains("://") && !is_near(&uri) => "https",
            Some(scheme @ ("http" | "https")) => scheme,
            _ => return Err(wrong("it begins with https:// or http://")),
        };
        Ok(Self(format!("{scheme}://{}", authority.as_str().to_lowercase())))
    }

    fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Whether the address is on a private network.
    fn is_near(&self) -> bool {
        self.0.parse::<Uri>().is_ok_and(|uri| is_near(&uri))
    }
}

fn is_near(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return is_private(ip);
    }
    let found = (host, uri.port_u16().unwrap_or(80)).to_socket_addrs();
    let found: Vec<IpAddr> = found.into_iter().flatten().map(|address| address.ip()).collect();
    !found.is_empty() && found.into_iter().all(is_private)
}

/// Why a request to a server failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It cannot be reached, or not now.
    Away(String),
    Refused(Problem),
    /// Whatever answers there is not agon, or a version we do not understand.
    Strange(String),
}

impl Trouble {
    /// Whether waiting may help: it cannot be reached, has trouble of its own, or is overloaded.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Away(_) => true,
            Self::Refused(problem) => problem.status == 429 || problem.status >= 500,
            Self::Strange(_) => false,
        }
    }

    /// How long to wait before the next try.
    fn wait(&self) -> Duration {
        let asked = match self {
            Self::Refused(problem) => problem.retry_after.and_then(|seconds| u64::try_from(seconds).ok()),
            _ => None,
        };
        Duration::from_secs(asked.unwrap_or(1).clamp(1, LONGEST_WAIT))
    }

    /// How long it is worth to try again.
    fn patience(&self) -> Duration {
        match self {
            Self::Refused(problem) if problem.status == 429 => CROWDED,
            _ => AWAY,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(why) | Self::Strange(why) => f.write_str(why),
            Self::Refused(problem) => f.write_str(&said(problem)),
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        let may_pass = trouble.may_pass();
        match trouble {
            Trouble::Away(why) | Trouble::Strange(why) => ErrorCode::Network.of(why),
            // An error that passes, or that is the server's, is not wrong usage.
            Trouble::Refused(problem) if may_pass => ErrorCode::Network.of(said(&problem)),
            Trouble::Refused(problem) if problem.status == 404 => ErrorCode::NotFound.of(said(&problem)),
            Trouble::Refused(problem) => ErrorCode::Refused.of(said(&problem)),
        }
    }
}

/// A refusal as a sentence.
fn said(problem: &Problem) -> String {
    let text: String = problem.detail.chars().take(2000).collect();
    match problem.title.as_str() {
        "" => text,
        title => format!("{}: {text}", title.chars().take(200).collect::<String>()),
    }
}

/// A contest that can be called.
pub struct Online {
    pub address: Address,
    agent: Agent,
    /// Whether only the certificate of a given fingerprint is accepted.
    is_pinned: bool,
    token: Option<String>,
    /// The path below which everything is requested.
    root: &'static str,
    /// What it last said that this account may still ask for.
    room: Mutex<Option<Room>>,
}

/// What an account may still ask for.
#[derive(Clone, Copy)]
struct Room {
    of: u64,
    left: u64,
    /// When all of it is there again.
    whole: Instant,
}

impl Room {
    fn read(answer: &Response<Body>) -> Option<Self> {
        let number = |name: &str| answer.headers().get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
        let seconds = number(RESET)?.clamp(1, LONGEST_WAIT);
        Some(Self {
            of: number(LIMIT)?,
            left: number(LEFT)?,
            whole: Instant::now() + Duration::from_secs(seconds),
        })
    }

    /// How long one of many requests has to wait: half of what the account may ask for is kept for the pages and commands of whoever it
    /// belongs to.
    fn wait(self) -> Duration {
        if self.left > self.of / 2 {
            Duration::ZERO
        } else {
            self.whole.saturating_duration_since(Instant::now())
        }
    }
}

impl Online {
    /// The contest at an address.
    ///
    /// # Errors
    /// When the token would go over the open net without encryption, or the certificate there is not the expected one.
    pub fn new(address: Address, token: Option<String>, line: &Line) -> Result<Self, Failure> {
        let is_encrypted = address.is_encrypted();
        if token.is_some() && !is_encrypted && !line.plain_http && !address.is_near() {
            return Err(Failure::usage(format!(
                "{address}: your token would travel unencrypted over the internet. Use its https:// address; \
                 if it has none and you accept that, add --plain-http"
            )));
        }
        // A proxy is for distant servers, and would read an unencrypted token.
        let proxy = if is_encrypted && line.fingerprint.is_none() { Proxy::try_from_env() } else { None };
        if line.fingerprint.is_some() && !is_encrypted {
            return Err(Failure::usage(format!(
                "{address}: a fingerprint belongs to a certificate, and only an https:// address has one"
            )));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(is_encrypted)
            .proxy(proxy)
            .timeout_connect(Some(CONNECT))
            .user_agent(agon_replay::data::PROGRAM)
            .build();
        let agent = match &line.fingerprint {
            Some(fingerprint) => fingerprint.agent(config, &address, CONNECT)?,
            None => config.new_agent(),
        };
        let is_pinned = line.fingerprint.is_some();
        Ok(Self { address, agent, is_pinned, token, root: agon_api::ROOT, room: Mutex::default() })
    }

    /// The same below another path.
    pub fn below(self, root: &'static str) -> Self {
        Self { root, ..self }
    }

    /// Requests something, with this query.
    ///
    /// # Errors
    /// When there is no valid answer.
    pub fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T, Trouble> {
        self.json(self.call(path, query, None, ANSWER)?)
    }

    /// The same, but waits for a server that is away for a moment.
    ///
    /// # Errors
    /// When there is no valid answer.
    pub fn patiently<T: DeserializeOwned>(&self, path: &str) -> Result<T, Trouble> {
        let began = Instant::now();
        loop {
            match self.get(path, &[]) {
                Err(trouble) if trouble.may_pass() && began.elapsed() < AWAY => {
                    std::thread::sleep(trouble.wait());
                }
                answer => return answer,
            }
        }
    }

    /// Asks one thing of many. `rest` waits for this long, and says whether to go on; it leaves the account enough for its owner's own pages
    /// and commands, and sits out refusals that pass.
    ///
    /// # Errors
    /// When there is no valid answer, or `rest` gave up: then it is the last refusal, or none.
    pub fn paced<T>(
        &self,
        mut rest: impl FnMut(Duration) -> bool,
        ask: impl Fn(&Self) -> Result<T, Trouble>,
    ) -> Result<T, Option<Trouble>> {
        let began = Instant::now();
        let room = *self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = room.map_or(Duration::ZERO, Room::wait);
        if !wait.is_zero() && !rest(wait) {
            return Err(None);
        }
        loop {
            match ask(self) {
                Err(trouble) if trouble.may_pass() && began.elapsed() < trouble.patience() => {
                    if !rest(trouble.wait()) {
                        return Err(Some(trouble));
                    }
                }
                answer => return answer.map_err(Some),
            }
        }
    }

    /// Sends a file.
    ///
    /// # Errors
    /// When it was not accepted.
    pub fn send<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
        file: &[u8],
    ) -> Result<T, Trouble> {
        self.json(self.call(path, query, Some(file), FILE)?)
    }

    /// Sends JSON.
    ///
    /// # Errors
    /// When it was not accepted.
    pub fn tell<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
        what: &impl Serialize,
    ) -> Result<T, Trouble> {
        let json = serde_json::to_vec(what).map_err(|error| Trouble::Strange(error.to_string()))?;
        self.json(self.call(path, query, Some(&json), ANSWER)?)
    }

    /// Sends JSON, and receives a file of at most `most` bytes.
    ///
    /// # Errors
    /// When it was not accepted, or the file is incomplete.
    pub fn trade(
        &self,
        path: &str,
        query: &[(&str, String)],
        what: &impl Serialize,
        most: u64,
    ) -> Result<Vec<u8>, Trouble> {
        let json = serde_json::to_vec(what).map_err(|error| Trouble::Strange(error.to_string()))?;
        self.bytes(self.call(path, query, Some(&json), ANSWER)?, most)
    }

    /// Fetches a file of at most `most` bytes.
    ///
    /// # Errors
    /// When the file is incomplete.
    pub fn fetch(&self, path: &str, query: &[(&str, String)], most: u64) -> Result<Vec<u8>, Trouble> {
        self.bytes(self.call(path, query, None, FILE)?, most)
    }

    /// Sees to it that the image of this name is here: what is missing of it is fetched. `say` gets a line with the size first.
    ///
    /// # Errors
    /// When it is not there, or not what its name says, or cannot be written.
    pub fn fetch_image(&self, name: &str, say: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let images = Images::own();
        if images.keep(name).is_ok() {
            return Ok(());
        }
        let list = self.fetch("/image", &[], image::LONGEST)?;
        let mut get = |file: &str, from: u64| {
            let query = [("file", file.to_owned()), ("from", from.to_string())];
            self.fetch("/image", &query, image::MOST_PART).map_err(|trouble| match trouble {
                Trouble::Away(why) | Trouble::Strange(why) => why,
                Trouble::Refused(problem) => format!("{}: {}", problem.title, problem.detail),
            })
        };
        let fetched = images.fetch(name, &list, say, &mut get);
        fetched.map_err(|error| Failure::own(screen::harmless(&error.to_string()).to_string()))?;
        Ok(())
    }

    /// Sends a request, perhaps with a file.
    fn call(
        &self,
        path: &str,
        query: &[(&str, String)],
        file: Option<&[u8]>,
        patience: Duration,
    ) -> Result<Response<Body>, Trouble> {
        let mut address = format!("{}{}{path}", self.address, self.root);
        for (number, (name, value)) in query.iter().enumerate() {
            address += &format!("{}{name}={}", if number == 0 { '?' } else { '&' }, escaped(value));
        }
        let away = |error: ureq::Error| self.away(&error, patience);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let answer = match file {
            None => {
                let mut request = self.agent.get(&address).config().timeout_global(Some(patience)).build();
                if let Some(bearer) = bearer {
                    request = request.header(header::AUTHORIZATION, bearer);
                }
                request.call().map_err(away)?
            }
            Some(file) => {
                let mut request = self.agent.post(&address).config().timeout_global(Some(patience)).build();
                if let Some(bearer) = bearer {
                    request = request.header(header::AUTHORIZATION, bearer);
                }
                request.header(header::CONTENT_TYPE, "application/octet-stream").send(file).map_err(away)?
            }
        };
        if let Some(room) = Room::read(&answer) {
            *self.room.lock().unwrap_or_else(PoisonError::into_inner) = Some(room);
        }
        self.accepted(answer)
    }

    fn away(&self, error: &ureq::Error, patience: Duration) -> Trouble {
        use ureq::Error;
        let address = &self.address;
        if let Some(why) = untrusted(error) {
            if self.is_pinned {
                return Trouble::Strange(format!(
                    "{address} shows another certificate than a moment ago: somebody else may be answering. Ask the organiser; nothing \
                     was sent"
                ));
            }
            return Trouble::Strange(format!(
                "{address}: its certificate cannot be trusted ({why}). If the organiser has told you its fingerprint, add \
                 --fingerprint"
            ));
        }
        match error {
            Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Trouble::Away(format!(
                "{address} cannot be reached: no answer within {} s",
                CONNECT.as_secs()
            )),
            Error::Timeout(_) => {
                Trouble::Away(format!("{address} took longer than {} s to answer", patience.as_secs()))
            }
            Error::HostNotFound => {
                Trouble::Away(format!("{address} cannot be reached: no machine has this name"))
            }
            Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Trouble::Away(
                format!("{address} cannot be reached: nothing is listening there (is the contest running?)"),
            ),
            Error::Io(error) if error.to_string().contains("failed to lookup address") => {
                Trouble::Away(format!("{address} cannot be reached: no machine has this name"))
            }
            Error::Io(_) | Error::ConnectionFailed => {
                Trouble::Away(format!("{address} cannot be reached, or broke the connection: {error}"))
            }
            Error::BodyExceedsLimit(_) => self.strange("its answer is larger than any that agon gives"),
            Error::LargeResponseHeader(..) => self.strange("its answer is larger than any that agon gives"),
            error => Trouble::Away(format!("{address}: {error}")),
        }
    }

    fn strange(&self, why: &str) -> Trouble {
        Trouble::Strange(format!("{} answers, but not like agon: {why}", self.address))
    }

    /// A positive answer, or its refusal.
    fn accepted(&self, mut answer: Response<Body>) -> Result<Response<Body>, Trouble> {
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        if status.is_redirection() {
            let to =
                answer.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("elsewhere");
            let to: String = to.chars().take(200).collect();
            return Err(Trouble::Strange(format!(
                "{} redirects to {to}, but your token goes only where you logged in: run `agon login` with that address if it is the same server",
                self.address
            )));
        }
        let is_problem = kind(&answer).starts_with("application/problem+json");
        let read = answer.body_mut().with_config().limit(64 << 10).read_to_vec();
        let problem = read.ok().filter(|_| is_problem).and_then(|body| serde_json::from_slice(&body).ok());
        match problem {
            Some(problem) if status == 401 => {
                let again = format!("`{}` keeps a new one", NextCommand::Login.about([&self.address.0]));
                let detail = format!("your token is not known there, or has ended; {again}");
                Err(Trouble::Refused(Problem { title: String::new(), detail, ..problem }))
            }
            Some(problem) => Err(Trouble::Refused(Problem { status: status.as_u16(), ..problem })),
            None if status.is_server_error() => {
                Err(Trouble::Away(format!("{} has a problem of its own: {status}", self.address)))
            }
            None => Err(self.strange(&format!("{status}"))),
        }
    }

    fn json<T: DeserializeOwned>(&self, answer: Response<Body>) -> Result<T, Trouble> {
        let kind = kind(&answer);
        if !kind.starts_with("application/json") {
            let kind: String = kind.chars().take(80).collect();
            return Err(self.strange(&format!("it sends `{kind}`")));
        }
        let bytes = self.bytes(answer, LARGEST_ANSWER)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            self.strange(&format!(
                "{error}. It may run a different version of agon from this one ({})",
                agon_replay::data::PROGRAM
            ))
        })
    }

    fn bytes(&self, answer: Response<Body>, most: u64) -> Result<Vec<u8>, Trouble> {
        let mut bytes = Vec::new();
        let mut body = answer.into_body().into_reader().take(most + 1);
        body.read_to_end(&mut bytes)
            .map_err(|error| Trouble::Away(format!("{}: its answer was cut off: {error}", self.address)))?;
        if bytes.len() as u64 > most {
            return Err(self.strange("its answer is larger than any that agon gives"));
        }
        Ok(bytes)
    }
}

fn kind(answer: &Response<Body>) -> String {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}

/// A value escaped for a query.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// A moment on the clock of a contest: `Sun 14 Mar 2027, 18:00 EDT (America/New_York)`.
pub fn clock_time(ms: i64, zone: &str) -> String {
    let zoned = Timestamp::from_millisecond(ms).and_then(|at| at.in_tz(zone));
    let zoned = zoned.or_else(|_| Timestamp::from_millisecond(ms).and_then(|at| at.in_tz("UTC")));
    match zoned {
        Ok(at) if at.time_zone().iana_name() == Some("UTC") => {
            at.strftime("%a %-d %b %Y, %H:%M UTC").to_string()
        }
        Ok(at) => format!("{} ({})", at.strftime("%a %-d %b %Y, %H:%M %Z"), screen::harmless(zone)),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_has_its_date_and_its_zone() {
        assert_eq!(
            clock_time(1_805_061_600_000, "America/New_York"),
            "Sun 14 Mar 2027, 18:00 EDT (America/New_York)"
        );
        assert_eq!(clock_time(1_805_061_600_000, "UTC"), "Sun 14 Mar 2027, 22:00 UTC");
        assert_eq!(clock_time(1_805_061_600_000, "Nowhere/At_All"), "Sun 14 Mar 2027, 22:00 UTC");
    }

    #[test]
    fn an_address_is_read_as_people_type_it() {
        let parse = |text: &str| {
            Address::parse(text).map(|address| address.0).map_err(|failure| match failure {
                Failure::Usage(why) => why,
                other => panic!("{other:?}"),
            })
        };
        for (text, wanted) in [
            ("https://Cup.Example/ladder?x=1", "https://cup.example"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("192.168.1.7", "http://192.168.1.7"),
            ("http://[::1]:80", "http://[::1]:80"),
            ("localhost:8080", "http://localhost:8080"),
            ("8.8.8.8", "https://8.8.8.8"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(wanted), "{text}");
        }
        for wrong in ["", "ftp://cup", "http://", "https://ann@cup.example", "a b"] {
            assert!(parse(wrong).is_err_and(|why| why.contains("is not the address of a server")), "{wrong}");
        }
    }

    #[test]
    fn a_token_goes_unencrypted_only_to_networks_of_ones_own() {
        let new = |text: &str, token: bool, plain| {
            let address = Address(text.to_owned());
            let line = Line { plain_http: plain, fingerprint: None };
            Online::new(address, token.then(|| "secret".to_owned()), &line).is_ok()
        };
        assert!(new("http://127.0.0.1:1", true, false) && new("http://10.1.2.3", true, false));
        assert!(new("http://[fd00::1]:8080", true, false) && new("https://8.8.8.8", true, false));
        assert!(!new("http://8.8.8.8", true, false) && !new("http://[2001:db8::1]", true, false));
        assert!(new("http://8.8.8.8", true, true), "where one says so");
        assert!(new("http://8.8.8.8", false, false), "what all may see needs no token");
    }
}
