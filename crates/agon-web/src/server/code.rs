//! The bot's folder that somebody writes in the page, and the matches that its text plays.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_spec::MatchSpec;
use agon_view::AskRefusal;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::state::AppState;
use super::telling::{beside, problem};
use crate::bench::Bench;
use crate::folder::{FolderError, FolderFile};
use crate::live::Live;

/// The text that a page has, in place of the one it began with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextToKeep {
    base: Option<String>,
    files: Vec<FolderFile>,
    #[serde(default)]
    note: Option<String>,
}

/// A match that a text is to play.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunWanted {
    text: String,
    /// From 1.
    seat: usize,
    against: Vec<RunAgainst>,
    map: Option<String>,
    seed: Option<String>,
    rules: Option<RunRules>,
}

/// A bot as `agon play` takes it.
#[derive(Deserialize)]
struct RunAgainst {
    version: String,
}

#[derive(Deserialize)]
struct RunRules {
    #[serde(default)]
    preset: String,
    #[serde(default)]
    set: BTreeMap<String, String>,
}

/// What came of a text.
#[derive(Deserialize)]
pub struct RunEnded {
    text: String,
    did: String,
}

/// A match that has begun.
#[derive(Serialize)]
pub struct RunBegun {
    /// The name that its lines are asked by.
    r#match: String,
    /// The file of its replay, once it is over.
    replay: Option<String>,
    /// The address of a seat that somebody takes.
    seat: Option<String>,
}

impl RunWanted {
    /// The match, with the folder in its seat.
    fn spec(self, bench: &Bench) -> Result<MatchSpec, String> {
        let mut bots: Vec<String> = self.against.into_iter().map(|bot| bot.version).collect();
        let place = self.seat.checked_sub(1).filter(|place| *place <= bots.len());
        bots.insert(
            place.ok_or_else(|| format!("this match has no seat {}", self.seat))?,
            bench.folder.name.clone(),
        );
        let seed = match self.seed.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(seed) => Some(seed.parse().map_err(|_| format!("seed `{seed}`: write a 64-bit integer"))?),
        };
        let rules = self.rules.unwrap_or(RunRules { preset: bench.rules.clone(), set: BTreeMap::new() });
        Ok(MatchSpec {
            rules: rules.preset.as_str().into(),
            sets: rules.set.into_iter().collect(),
            map: self.map.as_deref().unwrap_or_default().into(),
            seed,
            ..MatchSpec::new(bench.info.name, bots)
        })
    }
}

fn bench(app: &AppState) -> Result<&Bench, FolderError> {
    let none = || {
        FolderError::Refused("this viewer was started without a bot's folder: agon watch FOLDER".to_owned())
    };
    app.bench.as_ref().ok_or_else(none)
}

/// Does something with the folder, beside other requests.
async fn with<T: Serialize + Send + 'static>(
    app: Arc<AppState>,
    work: impl FnOnce(&Bench) -> Result<T, FolderError> + Send + 'static,
) -> Response {
    match tokio::task::spawn_blocking(move || work(bench(&app)?)).await {
        Ok(Ok(done)) => Json(done).into_response(),
        Ok(Err(FolderError::Newer(text))) => (StatusCode::CONFLICT, Json(text)).into_response(),
        Ok(Err(error @ FolderError::Io(..))) => problem(StatusCode::INSUFFICIENT_STORAGE, &error.to_string()),
        Ok(Err(error @ FolderError::Gone)) => problem(StatusCode::NOT_FOUND, &error.to_string()),
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this folder; please report it"),
    }
}

/// Everything that the page begins with.
pub async fn page(State(app): State<Arc<AppState>>) -> Response {
    with(app, |bench| bench.page()).await
}

/// Keeps a text.
pub async fn keep(State(app): State<Arc<AppState>>, Json(wanted): Json<TextToKeep>) -> Response {
    with(app, move |bench| bench.folder.keep(wanted.base.as_deref(), &wanted.files, wanted.note)).await
}

/// The last texts.
pub async fn texts(State(app): State<Arc<AppState>>) -> Response {
    with(app, |bench| bench.folder.rows()).await
}

/// One of them.
pub async fn text(State(app): State<Arc<AppState>>, Path(id): Path<String>) -> Response {
    with(app, move |bench| bench.folder.text(&id)).await
}

/// Notes what came of a text.
pub async fn did(State(app): State<Arc<AppState>>, Json(ended): Json<RunEnded>) -> Response {
    with(app, move |bench| bench.folder.ran(&ended.text, Some(&ended.did))).await
}

/// Builds the bot if it must be, and starts a match of it.
pub async fn run(
    State(app): State<Arc<AppState>>,
    Json(wanted): Json<RunWanted>,
) -> Result<Json<RunBegun>, Response> {
    let live = Live::default();
    let (shown, host) = (live.clone(), app.clone());
    let start = move || {
        let bench = bench(&host).map_err(AskRefusal::from)?;
        bench.folder.ran(&wanted.text, None).map_err(AskRefusal::from)?;
        host.host.build(&bench.folder.name).map_err(AskRefusal::from)?;
        host.host.play(&wanted.spec(bench)?, shown).map_err(AskRefusal::from)
    };
    let begun = beside("this match", start).await?;
    let replay = begun.replay.map(|path| path.display().to_string());
    Ok(Json(RunBegun { r#match: app.add(live), replay, seat: begun.seats.into_iter().next() }))
}
