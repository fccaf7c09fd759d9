//! The local server: the app, films, recent matches, and matches played from the page.
//!
//! It shows private things and can start programs, so it listens on the loopback only, and answers
//! only who knows the token in the address it printed. A browser gets it as a cookie that other
//! sites' requests do not carry; a foreign `Host` is refused, so that no name can be pointed here.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_game::Seat;
use agon_replay::{Replay, ReplayError};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Query, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::app;
use crate::film::{self, Privacy, Showing};
use crate::live::Live;
use crate::shelf::{LARGEST, Shelf, ShelfError};

/// What a server is for.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; the loopback unless the user asks for more.
    pub address: IpAddr,
    /// The port; 0 for a free one.
    pub port: u16,
    /// The token; none for a fresh one.
    pub token: Option<String>,
    /// The replays and journals the user named.
    pub files: Vec<PathBuf>,
    /// The folder of recent matches.
    pub folder: PathBuf,
    /// The folder of series.
    pub series: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            token: None,
            files: Vec::new(),
            folder: PathBuf::new(),
            series: PathBuf::new(),
        }
    }
}

/// A match that the page asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The game.
    pub game: String,
    /// The bots, as on the command line, in the order of their seats.
    pub bots: Vec<String>,
    /// A preset, or empty.
    #[serde(default)]
    pub rules: String,
    /// A map, `generate`, or empty.
    #[serde(default)]
    pub map: String,
    /// The seed, or empty for a fresh one.
    #[serde(default)]
    pub seed: String,
}

/// Plays matches for the page: the command line, which knows how.
pub trait Host: Send + Sync + 'static {
    /// Starts a match on a thread of its own and films it.
    ///
    /// # Errors
    /// A sentence for the user, when it cannot be played.
    fn play(&self, request: Request, live: Live) -> Result<(), String>;

    /// Starts a match from the command that plays it, as a journal has it, and films it.
    ///
    /// # Errors
    /// A sentence for the user, when it cannot be played.
    fn again(&self, command: &str, live: Live) -> Result<(), String>;
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    desk: Arc<Desk>,
}

/// A way to a server that answers already, on another thread.
#[derive(Clone)]
pub struct Handle(Arc<Desk>);

impl Handle {
    /// The address to open, with the token. `place` is what to show there: `replay=...`.
    pub fn address(&self, place: &str) -> String {
        let (mut address, token) = (self.0.address, &self.0.token);
        if address.ip().is_unspecified() {
            // Every address of this machine is meant; this one works here.
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let hash = if place.is_empty() { String::new() } else { format!("#{place}") };
        format!("http://{address}/?token={token}{hash}")
    }

    /// Adds a match that is being played; gives its address.
    pub fn add(&self, live: Live) -> String {
        let name = self.0.add(live);
        self.address(&format!("live={name}"))
    }
}

/// What all requests share.
struct Desk {
    token: String,
    address: SocketAddr,
    shelf: Shelf,
    host: Box<dyn Host>,
    running: Mutex<HashMap<String, Live>>,
}

/// So many films of matches played here are kept.
const KEPT: usize = 20;

impl Server {
    /// Takes the port.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn bind(config: Config, host: Box<dyn Host>) -> io::Result<Self> {
        let listener = TcpListener::bind((config.address, config.port))?;
        let address = listener.local_addr()?;
        let shelf = Shelf { named: config.files, folder: config.folder, series: config.series };
        let token = config.token.unwrap_or_else(fresh_token);
        let desk = Desk { token, address, shelf, host, running: Mutex::default() };
        Ok(Self { listener, desk: Arc::new(desk) })
    }

    /// A way to this server for other threads.
    pub fn handle(&self) -> Handle {
        Handle(self.desk.clone())
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When the system gives no threads or events.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let stopped = async {
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::select! {
                served = async { axum::serve(listener, routes(self.desk)).await } => served,
                () = stopped => Ok(()),
            }
        });
        runtime.shutdown_background();
        done
    }
}

impl Desk {
    fn add(&self, live: Live) -> String {
        let name = fresh_token()[..12].to_owned();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= KEPT {
            running.retain(|_, live| !live.since(usize::MAX).1);
        }
        running.insert(name.clone(), live);
        name
    }

    fn cookie(&self) -> String {
        // Cookies do not tell ports apart, so the name does: two viewers do not log each other out.
        format!("agon-{}", self.address.port())
    }
}

/// 128 bits nobody can guess.
///
/// # Panics
/// When the system has no random numbers: then nothing here could be kept private.
fn fresh_token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn routes(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/", get(page))
        .route(
            "/app.js",
            get(|| async { packed("text/javascript; charset=utf-8", app::PACKED_SCRIPT.bytes()) }),
        )
        .route("/app.css", get(|| async { packed("text/css; charset=utf-8", app::PACKED_STYLE.bytes()) }))
        .route("/icon.svg", get(|| async { ([(header::CONTENT_TYPE, "image/svg+xml")], app::ICON) }))
        .route("/api/start", get(start))
        .route("/api/film", get(film_of_name).post(film_of_bytes))
        .route("/api/file", get(file))
        .route("/api/journal", get(journal))
        .route("/api/message", get(message_of_name).post(message_of_bytes))
        .route("/api/play", post(play))
        .layer(DefaultBodyLimit::max(LARGEST as usize))
        .layer(middleware::from_fn_with_state(desk.clone(), gate))
        .with_state(desk)
}

/// Lets in who knows the token and means this server.
async fn gate(State(desk): State<Arc<Desk>>, request: HttpRequest, next: Next) -> Response {
    let mut answer = admit(&desk, request, next).await;
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

async fn admit(desk: &Desk, request: HttpRequest, next: Next) -> Response {
    let headers = request.headers();
    if !host_is_ours(headers, desk.address) {
        let text = "This server answers only to its own address, the one agon printed.";
        return refuse(StatusCode::MISDIRECTED_REQUEST, "Wrong address", text);
    }
    let query = request.uri().query().unwrap_or_default();
    let given = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    if let Some(given) = given {
        if !same(given, &desk.token) {
            let text =
                "The token in this address belongs to another run of agon. Open the address it printed last.";
            return refuse(StatusCode::FORBIDDEN, "Old address", text);
        }
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", desk.cookie(), desk.token);
        return ([(header::SET_COOKIE, cookie)], next.run(request).await).into_response();
    }
    if !headers.get_all(header::COOKIE).iter().any(|value| carries(value, desk)) {
        let text = "This viewer may show private output of bots and can start programs, so it opens only with \
                    the address that agon printed, the one with `token=` in it.";
        return refuse(StatusCode::FORBIDDEN, "Open the address that agon printed", text);
    }
    next.run(request).await
}

/// The app loads nothing from elsewhere and runs no script that is written into a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: \
                      blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Whether the browser meant this server. On the loopback only names of the loopback do: a name that
/// somebody else can point there does not.
fn host_is_ours(headers: &HeaderMap, address: SocketAddr) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let Some((name, port)) = host.rsplit_once(':') else { return false };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let local = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    (local || !address.ip().is_loopback()) && port.parse() == Ok(address.port())
}

fn carries(cookies: &HeaderValue, desk: &Desk) -> bool {
    let cookies = cookies.to_str().unwrap_or_default().split(';');
    let mut pairs = cookies.filter_map(|cookie| cookie.trim().split_once('='));
    pairs.any(|(name, value)| name == desk.cookie() && same(value, &desk.token))
}

/// Whether two texts are equal, without telling by the time it takes where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

fn refuse(code: StatusCode, title: &str, text: &str) -> Response {
    (code, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], app::notice(title, text)).into_response()
}

async fn page() -> Response {
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    if app::is_built() {
        return (html, app::PAGE).into_response();
    }
    let text = format!(
        "This agon was built without its web app: {} Everything else works; `agon replay show FILE` draws \
         a match in the terminal.",
        app::MISSING.trim()
    );
    (html, app::notice("The viewer is not in this program", &text)).into_response()
}

fn packed(kind: &'static str, bytes: &'static [u8]) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CONTENT_ENCODING, "gzip")], bytes).into_response()
}

fn problem(code: StatusCode, why: &str) -> Response {
    (code, [(header::CONTENT_TYPE, "application/json")], json!({ "error": why }).to_string()).into_response()
}

/// What the start page shows.
async fn start(State(desk): State<Arc<Desk>>) -> Response {
    let listed = tokio::task::spawn_blocking(move || {
        let games: Vec<Value> = agon_games::ALL.iter().map(|game| describe(game.info())).collect();
        let named: Vec<String> = desk.shelf.named.iter().map(|path| path.display().to_string()).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "named": named,
            "folder": desk.shelf.folder.display().to_string(),
            "recent": desk.shelf.recent(),
            "series": desk.shelf.recent_series(),
            "games": games,
        })
    });
    match listed.await {
        Ok(list) => ([(header::CONTENT_TYPE, "application/json")], list.to_string()).into_response(),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed while it listed the matches"),
    }
}

fn describe(info: &agon_game::GameInfo) -> Value {
    json!({
        "name": info.name,
        "title": info.title,
        "summary": info.summary,
        "seats": info.seats,
        "presets": info.presets.iter().map(|it| json!({ "name": it.name, "about": it.about })).collect::<Vec<_>>(),
        "maps": info.maps.iter().map(|it| json!({ "name": it.name, "seats": it.seats })).collect::<Vec<_>>(),
        "generates": info.generates_maps,
        "builtins": info.builtins.iter().map(|it| json!({ "name": it.name, "about": it.about })).collect::<Vec<_>>(),
    })
}

/// Which film: a replay on the shelf, a match of a journal, or a match played here.
#[derive(Deserialize)]
struct Which {
    replay: Option<String>,
    live: Option<String>,
    journal: Option<String>,
    block: Option<u64>,
    game: Option<u32>,
}

impl Which {
    fn read(&self, shelf: &Shelf) -> Result<Replay, ShelfError> {
        match (&self.journal, self.block, self.game) {
            (Some(journal), Some(block), Some(game)) => shelf.match_of(journal, block, game),
            _ => shelf.read(self.replay.as_deref().unwrap_or_default()),
        }
    }
}

async fn film_of_name(State(desk): State<Arc<Desk>>, Query(which): Query<Which>) -> Response {
    if let Some(name) = &which.live {
        let live = desk.running.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        return match live {
            Some(live) => stream_live(live),
            None => problem(StatusCode::NOT_FOUND, "this match was played in another run of agon"),
        };
    }
    stream(move || which.read(&desk.shelf).map_err(Refusal::from)).await
}

async fn film_of_bytes(bytes: Bytes) -> Response {
    let refuse =
        |error: ReplayError| Refusal { foreign: error == ReplayError::Foreign, why: error.to_string() };
    stream(move || Replay::read(&bytes).map_err(refuse)).await
}

/// Why there is no film.
struct Refusal {
    why: String,
    /// Whether the file is no replay of ours: then the page looks whether it knows it.
    foreign: bool,
}

impl From<ShelfError> for Refusal {
    fn from(error: ShelfError) -> Self {
        Self { why: error.to_string(), foreign: error.is_foreign() }
    }
}

/// A file as it is, for records that the page reads by itself.
async fn file(State(desk): State<Arc<Desk>>, Query(which): Query<Which>) -> Response {
    let name = which.replay.unwrap_or_default();
    match tokio::task::spawn_blocking(move || desk.shelf.bytes(&name)).await {
        Ok(Ok(bytes)) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this file; please report it"),
    }
}

/// A journal with its matches.
async fn journal(State(desk): State<Arc<Desk>>, Query(which): Query<Which>) -> Response {
    let name = which.journal.unwrap_or_default();
    match tokio::task::spawn_blocking(move || desk.shelf.journal(&name)).await {
        Ok(Ok(journal)) => {
            ([(header::CONTENT_TYPE, "application/json")], journal.to_string()).into_response()
        }
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this journal; please report it"),
    }
}

/// Sends a film as it is computed. What is computed ahead is bounded by the channel.
async fn stream(read: impl FnOnce() -> Result<Replay, Refusal> + Send + 'static) -> Response {
    let (line, lines) = mpsc::channel::<Bytes>(8);
    let (ready, begun) = tokio::sync::oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let opened = read().and_then(|replay| {
            Showing::new(replay, Privacy::Private)
                .map_err(|error| Refusal { why: error.to_string(), foreign: false })
        });
        let showing = match opened {
            Ok(showing) => showing,
            Err(why) => {
                let _ = ready.send(Some(why));
                return;
            }
        };
        let _ = ready.send(None);
        // Lines go out in larger pieces, but the first one at once.
        let mut piece = Vec::new();
        for (number, text) in showing.enumerate() {
            piece.extend_from_slice(text.as_bytes());
            piece.push(b'\n');
            let enough = number < 2 || piece.len() > 64 << 10;
            if enough && line.blocking_send(std::mem::take(&mut piece).into()).is_err() {
                return;
            }
        }
        let _ = line.blocking_send(piece.into());
    });
    match begun.await {
        Ok(None) => ndjson(lines),
        Ok(Some(Refusal { why, foreign })) => {
            let text = json!({ "error": why, "foreign": foreign }).to_string();
            (StatusCode::UNPROCESSABLE_ENTITY, [(header::CONTENT_TYPE, "application/json")], text)
                .into_response()
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

fn stream_live(live: Live) -> Response {
    let (line, lines) = mpsc::channel::<Bytes>(8);
    tokio::spawn(async move {
        let (mut changes, mut sent) = (live.changes(), 0);
        loop {
            changes.mark_unchanged();
            let (more, done) = live.since(sent);
            sent += more.len();
            let piece: String = more.iter().flat_map(|text| [text, "\n"]).collect();
            if !piece.is_empty() && line.send(piece.into()).await.is_err() {
                return;
            }
            if done || changes.changed().await.is_err() {
                return;
            }
        }
    });
    ndjson(lines)
}

fn ndjson(lines: mpsc::Receiver<Bytes>) -> Response {
    let pieces = ReceiverStream::new(lines).map(Ok::<Bytes, Infallible>);
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pieces)).into_response()
}

/// Which message: that which asked `seat` at `step`.
#[derive(Deserialize)]
struct Asked {
    step: usize,
    seat: u8,
}

async fn message_of_name(
    State(desk): State<Arc<Desk>>,
    Query(asked): Query<Asked>,
    Query(which): Query<Which>,
) -> Response {
    message(asked, move || which.read(&desk.shelf).map_err(|error| error.to_string())).await
}

async fn message_of_bytes(Query(asked): Query<Asked>, bytes: Bytes) -> Response {
    message(asked, move || Replay::read(&bytes).map_err(|error| error.to_string())).await
}

async fn message(asked: Asked, read: impl FnOnce() -> Result<Replay, String> + Send + 'static) -> Response {
    let found = tokio::task::spawn_blocking(move || {
        let replay = read()?;
        if !(1..=replay.header.seats.len()).contains(&usize::from(asked.seat)) {
            return Err(format!("this match has no seat {}", asked.seat));
        }
        film::message(&replay, asked.step, Seat::new(asked.seat - 1))
    });
    match found.await {
        Ok(Ok(Some(text))) => ([(header::CONTENT_TYPE, "application/octet-stream")], text).into_response(),
        Ok(Ok(None)) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

/// What the page wants played.
#[derive(Deserialize)]
#[serde(untagged)]
enum Wanted {
    /// A match of a journal, once more.
    Again { journal: String, block: u64, game: u32 },
    /// A new match.
    New(Request),
}

/// Starts a match. The body is JSON, which no plain form of another site can send.
async fn play(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Response {
    let json_body = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let wanted: Wanted = match serde_json::from_slice(&body) {
        Ok(wanted) if json_body => wanted,
        Ok(_) => return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"),
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let live = Live::default();
    let film = live.clone();
    let host = desk.clone();
    let started = tokio::task::spawn_blocking(move || match wanted {
        Wanted::Again { journal, block, game } => {
            let command = host.shelf.command_of(&journal, block, game).map_err(|error| error.to_string())?;
            host.host.again(&command, film)
        }
        Wanted::New(request) => host.host.play(request, film),
    });
    match started.await {
        Ok(Ok(())) => {
            let name = desk.add(live);
            ([(header::CONTENT_TYPE, "application/json")], json!({ "live": name }).to_string())
                .into_response()
        }
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed to start this match; please report it")
        }
    }
}
