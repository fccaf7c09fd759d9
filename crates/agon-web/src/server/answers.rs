//! What is asked, and what is answered.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agon_game::{Seat, Transport};
use agon_replay::{Replay, ReplayError};
use agon_spec::MatchSpec;
use agon_view::{Course, Head, Privacy, View};
use axum::body::{Body, Bytes};
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use super::{AppState, files, gate, given, rulebook, trial, workshop};
use crate::api::{Game, GameMap, Listing, Named, PlayRequest, Refused, Started, Swing};
use crate::hand::TakenSeat;
use crate::live::Live;
use crate::shelf::{LARGEST, Shelf, ShelfError};

/// Everything that can be asked. Whatever is below `/api` requires the key; the rest contains nothing private.
pub fn routes(app: Arc<AppState>) -> Router {
    let private = Router::new()
        .route("/start", get(start))
        .route("/view", get(view_of_name).post(view_of_bytes))
        .route("/steps", get(steps))
        .route("/live", get(live_of_name))
        .route("/file", get(file))
        .route("/journal", get(journal))
        .route("/swing", get(swing))
        .route("/why", get(why))
        .route("/message", get(message_of_name).post(message_of_bytes))
        .route("/section", get(section_of_name).post(section_of_bytes))
        .route("/page", get(given::of_name).post(given::of_bytes))
        .route("/rule", get(rulebook::rule))
        .route("/play", post(play))
        .route("/trial", post(trial::begin))
        .route("/script", get(workshop::script).post(workshop::save))
        .layer(DefaultBodyLimit::max(LARGEST as usize))
        .layer(middleware::from_fn_with_state(app.clone(), gate::private));
    let seat = Router::new()
        .route("/begun", get(seat_begun))
        .route("/turn", get(seat_turn))
        .route("/prospect", post(seat_prospect))
        .route("/answer", post(seat_answer))
        .route("/replay", get(seat_replay))
        .layer(DefaultBodyLimit::max(LARGEST_CHOICE))
        .layer(middleware::from_fn_with_state(app.clone(), gate::seated));
    Router::new()
        .route("/start", get(gate::start))
        .route("/box.html", get(workshop::script_box))
        .merge(files::routes())
        .nest("/api", private)
        .nest("/seat", seat)
        .layer(middleware::from_fn_with_state(app.clone(), gate::all))
        .with_state(app)
}

/// A refusal in the form that the app reads.
pub(super) fn problem(code: StatusCode, why: &str) -> Response {
    (code, Json(Refused { error: why.to_owned(), foreign: false })).into_response()
}

/// The content of the start page.
async fn start(State(app): State<Arc<AppState>>) -> Response {
    let listed = tokio::task::spawn_blocking(move || Listing {
        version: env!("CARGO_PKG_VERSION"),
        named: app.shelf.named.iter().map(|path| path.display().to_string()).collect(),
        folder: app.shelf.folder.display().to_string(),
        recent: app.shelf.recent(),
        series: app.shelf.recent_series(),
        games: agon_games::all().iter().map(|game| describe(game.info())).collect(),
    });
    match listed.await {
        Ok(listing) => Json(listing).into_response(),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed to list the matches"),
    }
}

fn describe(info: &agon_game::GameInfo) -> Game {
    Game {
        name: info.name,
        title: info.title,
        summary: info.summary,
        seats: info.seats,
        presets: info.presets.iter().map(|it| Named { name: it.name, about: it.about }).collect(),
        maps: info.maps.iter().map(|it| GameMap { name: it.name, seats: it.seats }).collect(),
        generates: info.generates_maps,
        scripts: info.transport == Transport::Script,
        builtins: info.builtins.iter().map(|it| Named { name: it.name, about: it.about }).collect(),
    }
}

/// Which replay: one on the shelf, or a match of a journal.
#[derive(Deserialize)]
pub(super) struct Which {
    replay: Option<String>,
    journal: Option<String>,
    block: Option<u64>,
    game: Option<u32>,
}

impl Which {
    pub(super) fn read(&self, shelf: &Shelf) -> Result<Replay, ShelfError> {
        match (&self.journal, self.block, self.game) {
            (Some(journal), Some(block), Some(game)) => shelf.match_of(journal, block, game),
            _ => shelf.read(self.replay.as_deref().unwrap_or_default()),
        }
    }

    fn bytes(&self, shelf: &Shelf) -> Result<Vec<u8>, ShelfError> {
        match (&self.journal, self.block, self.game) {
            (Some(journal), Some(block), Some(game)) => shelf.bytes_of(journal, block, game),
            _ => shelf.bytes(self.replay.as_deref().unwrap_or_default()),
        }
    }
}

async fn view_of_name(State(app): State<Arc<AppState>>, Query(which): Query<Which>) -> Response {
    let shelf = app.clone();
    view(app, move || which.read(&shelf.shelf).map_err(Refusal::from)).await
}

async fn view_of_bytes(State(app): State<Arc<AppState>>, bytes: Bytes) -> Response {
    let refuse =
        |error: ReplayError| Refusal { foreign: error == ReplayError::Foreign, why: error.to_string() };
    view(app, move || Replay::read(&bytes).map_err(refuse)).await
}

/// Why there is nothing to see.
struct Refusal {
    why: String,
    /// Whether the file is not one of our replays: the page then checks whether it knows the format.
    foreign: bool,
}

impl From<ShelfError> for Refusal {
    fn from(error: ShelfError) -> Self {
        Self { why: error.to_string(), foreign: error.is_foreign() }
    }
}

/// A file as it is, for pages that compute their matches themselves.
async fn file(State(app): State<Arc<AppState>>, Query(which): Query<Which>) -> Response {
    match tokio::task::spawn_blocking(move || which.bytes(&app.shelf)).await {
        Ok(Ok(bytes)) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this file; please report it"),
    }
}

/// A journal with its matches.
async fn journal(State(app): State<Arc<AppState>>, Query(which): Query<Which>) -> Response {
    let name = which.journal.unwrap_or_default();
    match tokio::task::spawn_blocking(move || app.shelf.journal(&name)).await {
        Ok(Ok(journal)) => Json(journal).into_response(),
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this journal; please report it"),
    }
}

/// A bot of a journal, by index there, from 0.
#[derive(Deserialize)]
struct OfBot {
    journal: String,
    bot: usize,
}

/// What goes along with the losses of a bot.
async fn why(State(app): State<Arc<AppState>>, Query(OfBot { journal, bot }): Query<OfBot>) -> Response {
    let found = tokio::task::spawn_blocking(move || {
        let path = app.shelf.find(&journal).map_err(|error| error.to_string())?;
        app.host.why(&path, bot)
    });
    match found.await {
        Ok(Ok(causes)) => Json(causes).into_response(),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this journal; please report it"),
    }
}

/// Which match of a journal, and whose chance.
#[derive(Deserialize)]
struct Whose {
    journal: String,
    block: u64,
    game: u32,
    /// The seat, from 1.
    seat: usize,
}

/// The step of a match that changed a seat's chance most.
async fn swing(State(app): State<Arc<AppState>>, Query(whose): Query<Whose>) -> Response {
    let found = tokio::task::spawn_blocking(move || {
        let Whose { journal, block, game, seat } = whose;
        let replay = app.shelf.match_of(&journal, block, game).map_err(|error| error.to_string())?;
        if !(1..=replay.header.seats.len()).contains(&seat) {
            return Err(format!("this match has no seat {seat}"));
        }
        Ok(Course::of(&replay)?.swing(seat - 1))
    });
    match found.await {
        Ok(Ok(swing)) => {
            let (step, change) = swing.unwrap_or((0, 0.0));
            Json(Swing { step, change }).into_response()
        }
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this match; please report it"),
    }
}

/// An opened replay.
#[derive(Serialize)]
struct Opened<'a> {
    /// Its name in requests for steps.
    id: String,
    head: &'a Head,
}

/// Opens a replay, and keeps it open for the steps that will be requested.
async fn view(
    app: Arc<AppState>,
    read: impl FnOnce() -> Result<Replay, Refusal> + Send + 'static,
) -> Response {
    let opened = tokio::task::spawn_blocking(move || {
        let view = View::open(read()?, Privacy::Private)
            .map_err(|error| Refusal { why: error.to_string(), foreign: false })?;
        let head = view.head().clone();
        let opened = Opened { id: app.open(view), head: &head };
        serde_json::to_vec(&opened).map_err(|error| Refusal { why: error.to_string(), foreign: false })
    });
    match opened.await {
        Ok(Ok(head)) => ([(header::CONTENT_TYPE, "application/json")], head).into_response(),
        Ok(Err(Refusal { why, foreign })) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Json(Refused { error: why, foreign })).into_response()
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

/// Which steps, from 1, of which open replay.
#[derive(Deserialize)]
struct Steps {
    id: String,
    from: u32,
    to: u32,
}

/// Once this many bytes have gathered no more steps are sent; the page requests the rest.
const ENOUGH: usize = 512 << 10;

/// The lines of steps: at least the first, if there is such a step.
async fn steps(State(app): State<Arc<AppState>>, Query(Steps { id, from, to }): Query<Steps>) -> Response {
    let Some(view) = app.opened(&id) else {
        return problem(StatusCode::GONE, "this replay was put away; open it again");
    };
    let made = tokio::task::spawn_blocking(move || {
        let mut view = view.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for step in from..=to.min(view.steps()) {
            let Some(line) = view.line(step) else { break };
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
            if lines.len() > ENOUGH {
                break;
            }
        }
        Ok::<_, serde_json::Error>(lines)
    });
    match made.await {
        Ok(Ok(lines)) => ([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response(),
        _ => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

/// A match that is or was played here.
#[derive(Deserialize)]
struct Played {
    name: String,
}

/// A match as it is played: its head, its lines, its end.
async fn live_of_name(State(app): State<Arc<AppState>>, Query(Played { name }): Query<Played>) -> Response {
    let live = app.running.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
    match live {
        Some(live) => stream_live(live),
        None => problem(StatusCode::NOT_FOUND, "this match was played in another run of agon"),
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

pub(super) fn ndjson(lines: mpsc::Receiver<Bytes>) -> Response {
    let pieces = ReceiverStream::new(lines).map(Ok::<Bytes, Infallible>);
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pieces)).into_response()
}

/// The message that asked `seat` at `step`.
#[derive(Deserialize)]
struct Asked {
    step: usize,
    seat: u8,
}

async fn message_of_name(
    State(app): State<Arc<AppState>>,
    Query(asked): Query<Asked>,
    Query(which): Query<Which>,
) -> Response {
    message(asked, move || which.read(&app.shelf).map_err(|error| error.to_string())).await
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
        agon_view::message(&replay, asked.step, Seat::new(asked.seat - 1))
    });
    match found.await {
        Ok(Ok(Some(text))) => ([(header::CONTENT_TYPE, "application/octet-stream")], text).into_response(),
        Ok(Ok(None)) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

/// The step, from 1, that becomes a section of a spec file, and the rule it is about.
#[derive(Deserialize)]
struct Wanted {
    step: u32,
    rule: String,
}

async fn section_of_name(
    State(app): State<Arc<AppState>>,
    Query(wanted): Query<Wanted>,
    Query(which): Query<Which>,
) -> Response {
    section(wanted, move || which.read(&app.shelf).map_err(|error| error.to_string())).await
}

async fn section_of_bytes(Query(wanted): Query<Wanted>, bytes: Bytes) -> Response {
    section(wanted, move || Replay::read(&bytes).map_err(|error| error.to_string())).await
}

async fn section(wanted: Wanted, read: impl FnOnce() -> Result<Replay, String> + Send + 'static) -> Response {
    let made =
        tokio::task::spawn_blocking(move || agon_view::section(&read()?, wanted.step, Some(&wanted.rule)));
    match made.await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response(),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}

/// The largest list of choices, in bytes.
const LARGEST_CHOICE: usize = 1 << 20;
/// How long a page waits for the others before it asks again.
const PATIENT: Duration = Duration::from_secs(15);

async fn seat_begun(Extension(seat): Extension<TakenSeat>) -> Response {
    json(seat.begun())
}

/// The first step wanted.
#[derive(Deserialize)]
struct Since {
    steps: u32,
}

/// What was played since then; waits for it.
async fn seat_turn(Extension(seat): Extension<TakenSeat>, Query(Since { steps }): Query<Since>) -> Response {
    let mut changes = seat.changes();
    let waited = tokio::time::timeout(PATIENT, async {
        loop {
            changes.mark_unchanged();
            if let Some(turn) = seat.since(steps) {
                return Some(turn);
            }
            changes.changed().await.ok()?;
        }
    });
    match waited.await {
        Ok(Some(turn)) => json(turn),
        Ok(None) | Err(_) => StatusCode::NO_CONTENT.into_response(),
    }
}

/// The replay of a finished match.
async fn seat_replay(Extension(seat): Extension<TakenSeat>) -> Response {
    match seat.replay() {
        Some(bytes) => ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response(),
        None => problem(StatusCode::CONFLICT, "the replay will be there once the match is over"),
    }
}

async fn seat_prospect(
    Extension(seat): Extension<TakenSeat>,
    chosen: Result<Json<serde_json::Value>, JsonRejection>,
) -> Response {
    of_seat(chosen, move |chosen| seat.prospect(&chosen)).await
}

async fn seat_answer(
    Extension(seat): Extension<TakenSeat>,
    chosen: Result<Json<serde_json::Value>, JsonRejection>,
) -> Response {
    of_seat(chosen, move |chosen| seat.answer(&chosen).map(|()| b"null".to_vec())).await
}

async fn of_seat(
    chosen: Result<Json<serde_json::Value>, JsonRejection>,
    ask: impl FnOnce(serde_json::Value) -> Result<Vec<u8>, String> + Send + 'static,
) -> Response {
    let chosen = match chosen {
        Ok(Json(chosen)) => chosen,
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.body_text()),
    };
    match tokio::task::spawn_blocking(move || ask(chosen)).await {
        Ok(Ok(bytes)) => json(bytes),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed at this turn; please report it"),
    }
}

fn json(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes).into_response()
}

/// Starts a match. The body is JSON, which no plain form of another site can send.
async fn play(
    State(app): State<Arc<AppState>>,
    wanted: Result<Json<PlayRequest>, JsonRejection>,
) -> Response {
    let wanted = match wanted {
        Ok(Json(wanted)) => wanted,
        Err(JsonRejection::MissingJsonContentType(_)) => {
            return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
        }
        Err(error) => return problem(StatusCode::BAD_REQUEST, &error.body_text()),
    };
    let live = Live::default();
    let shown = live.clone();
    let host = app.clone();
    let started = tokio::task::spawn_blocking(move || {
        let spec = match wanted {
            PlayRequest::Again { journal, block, game } => {
                host.shelf.spec(&journal, block, game).map_err(|error| error.to_string())?
            }
            PlayRequest::New(request) => MatchSpec::try_from(request)?,
        };
        host.host.play(&spec, shown)
    });
    match started.await {
        Ok(Ok(())) => {
            let name = app.add(live);
            Json(Started { live: name }).into_response()
        }
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => {
            problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed to start this match; please report it")
        }
    }
}
