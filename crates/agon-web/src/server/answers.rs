//! What is asked, and what is answered.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agon_game::Transport;
use agon_spec::MatchSpec;
use agon_view::{Ask, AskRefusal, Course};
use axum::body::Bytes;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use tokio::sync::mpsc;

use super::state::AppState;
use super::telling::{Which, beside, ndjson, octets, problem, sent};
use super::{code, files, gate, given, rulebook, trial, workshop};
use crate::api::{Causes, GameMap, GameOption, Listing, Named, PlayRequest, SeriesPage, StartedMatch, Swing};
use crate::hand::TakenSeat;
use crate::live::Live;

/// Everything that can be asked. Whatever is below `/api` requires the key; the rest contains nothing private.
pub fn routes(app: Arc<AppState>) -> Router {
    let private = Router::new()
        .route("/start", get(start))
        .route("/ask", post(ask))
        .route("/live", get(live_of_name))
        .route("/file", get(file))
        .route("/journal", get(journal))
        .route("/swing", get(swing))
        .route("/why", get(why))
        .route("/page", get(given::of_name).post(given::of_bytes))
        .route("/rule", get(rulebook::rule))
        .route("/play", post(play))
        .route("/trial", post(trial::begin))
        .route("/script", get(workshop::script).post(workshop::save))
        .route("/code", get(code::page))
        .route("/code/text", put(code::keep))
        .route("/code/texts", get(code::texts))
        .route("/code/texts/{id}", get(code::text))
        .route("/code/run", post(code::run))
        .route("/code/did", post(code::did))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(app.clone(), gate::private));
    let seat = Router::new()
        .route("/seat", post(ask_seat))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(app.clone(), gate::seated));
    Router::new()
        .route("/start", get(gate::start))
        .route("/box.html", get(workshop::script_box))
        .merge(files::routes())
        .nest("/api", private)
        .merge(seat)
        .layer(middleware::from_fn_with_state(app.clone(), gate::all))
        .with_state(app)
}

/// The content of the start page.
async fn start(State(app): State<Arc<AppState>>) -> Result<Json<Listing>, Response> {
    let listing = move || Listing {
        version: env!("CARGO_PKG_VERSION"),
        named: app.shelf.named.iter().map(|path| path.display().to_string()).collect(),
        folder: app.shelf.folder.display().to_string(),
        recent: app.shelf.recent(),
        series: app.shelf.recent_series(),
        games: agon_games::all().iter().map(|game| describe(game.info())).collect(),
    };
    beside("the list of matches", move || Ok::<_, AskRefusal>(listing())).await.map(Json)
}

fn describe(info: &agon_game::GameInfo) -> GameOption {
    GameOption {
        name: info.name,
        title: info.title,
        summary: info.summary,
        step: info.step,
        seats: info.seats,
        presets: info.presets.iter().map(|it| Named { name: it.name, about: it.about }).collect(),
        maps: info.maps.iter().map(|it| GameMap { name: it.name, seats: it.seats }).collect(),
        generates: info.generates_maps,
        scripts: info.transport == Transport::Script,
        builtins: info.builtins.iter().map(|it| Named { name: it.name, about: it.about }).collect(),
    }
}

/// A question of the viewer.
async fn ask(State(app): State<Arc<AppState>>, bytes: Bytes) -> Result<Response, Response> {
    beside("this match", move || app.engines.hear(&bytes)).await.map(sent)
}

async fn file(State(app): State<Arc<AppState>>, Query(which): Query<Which>) -> Result<Response, Response> {
    beside("this file", move || which.bytes(&app.shelf)).await.map(octets)
}

/// A journal with its matches.
async fn journal(
    State(app): State<Arc<AppState>>,
    Query(which): Query<Which>,
) -> Result<Json<SeriesPage>, Response> {
    let name = which.journal.unwrap_or_default();
    beside("this journal", move || app.shelf.journal(&name)).await.map(Json)
}

/// A bot of a journal, by index there, from 0.
#[derive(Deserialize)]
struct OfBot {
    journal: String,
    bot: usize,
}

/// What goes along with the losses of a bot.
async fn why(
    State(app): State<Arc<AppState>>,
    Query(OfBot { journal, bot }): Query<OfBot>,
) -> Result<Json<Causes>, Response> {
    let find = move || {
        let path = app.shelf.find(&journal)?;
        app.host.why(&path, bot).map_err(AskRefusal::from)
    };
    beside("this journal", find).await.map(Json)
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
async fn swing(
    State(app): State<Arc<AppState>>,
    Query(whose): Query<Whose>,
) -> Result<Json<Swing>, Response> {
    let find = move || {
        let Whose { journal, block, game, seat } = whose;
        let replay = app.shelf.match_of(&journal, block, game)?;
        if !(1..=replay.header.seats.len()).contains(&seat) {
            return Err(AskRefusal::from(format!("this match has no seat {seat}")));
        }
        let (step, change) = Course::of(&replay)?.swing(seat - 1).unwrap_or((0, 0.0));
        Ok(Swing { step, change })
    };
    beside("this match", find).await.map(Json)
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
            let piece: String = more.iter().map(AsRef::as_ref).collect::<Vec<&str>>().concat();
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

/// How long a page waits for the others before it asks again.
const PATIENT: Duration = Duration::from_secs(15);

/// A question of the page of a seat.
async fn ask_seat(Extension(seat): Extension<TakenSeat>, bytes: Bytes) -> Result<Response, Response> {
    let ask = beside("this question", move || Ask::read(&bytes).map(|(ask, _)| ask)).await?;
    if let Ask::Go { steps, .. } = ask {
        // Whether or not something was played by then, the page is told.
        let _ = tokio::time::timeout(PATIENT, seat.news(steps)).await;
    }
    let answer = move || seat.tell(ask)?.write();
    beside("this turn", answer).await.map(sent)
}

/// Starts a match. The body is JSON, which no plain form of another site can send.
async fn play(
    State(app): State<Arc<AppState>>,
    wanted: Result<Json<PlayRequest>, JsonRejection>,
) -> Result<Json<StartedMatch>, Response> {
    let wanted = match wanted {
        Ok(Json(wanted)) => wanted,
        Err(JsonRejection::MissingJsonContentType(_)) => {
            return Err(problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
        }
        Err(error) => return Err(problem(StatusCode::BAD_REQUEST, &error.body_text())),
    };
    let live = Live::default();
    let (shown, host) = (live.clone(), app.clone());
    let start = move || {
        let spec = match wanted {
            PlayRequest::Again { journal, block, game } => host.shelf.spec(&journal, block, game)?,
            PlayRequest::New(request) => MatchSpec::try_from(request)?,
        };
        host.host.play(&spec, shown).map_err(AskRefusal::from)
    };
    beside("this match", start).await?;
    Ok(Json(StartedMatch { live: app.add(live) }))
}
