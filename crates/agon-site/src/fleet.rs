//! A fleet on the network: machines use the routes of any contest ([`crate::work`]), commands those of [`agon_worker::fleet`]. Each side
//! has a token; without one there is only a sentence that says what this is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_server::fleet::{Fleet, FleetRefusal, UnknownMachine};
use agon_store::Sha;
use agon_worker::fleet::{Exchange, FleetLine, FleetState, Open, Overview, ROOT, SeriesOpened};
use agon_worker::wire::{self, LARGEST_SOURCE, LONGEST_WAIT_MS, Playing, framed};
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::api::read;
use crate::gate::bearer;
use crate::problem::Refused;
use crate::{incoming, secrets, work};

/// Upper limit on what a command says at once, in bytes, apart from bots: it includes the maps and rules of a series.
const LARGEST: u64 = 8 << 20;
/// How long a request may take, with all that it brings.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often a waiting request looks in any case: leases expire without anybody acting.
const LOOK: Duration = Duration::from_secs(1);

/// A fleet that answers requests.
pub struct FleetSite {
    fleet: Mutex<Fleet>,
    title: String,
    author: Sha,
    machines: Sha,
    began: Instant,
    folder: PathBuf,
    /// Notified when there may be something for waiting requests.
    changed: watch::Sender<()>,
    stopped: watch::Sender<bool>,
}

impl FleetSite {
    /// A fleet called `title` in a folder, with the tokens of its author and of its machines.
    pub fn new(fleet: Fleet, title: String, folder: &Path, author: &str, machines: &str) -> Arc<Self> {
        Arc::new(Self {
            fleet: Mutex::new(fleet),
            title,
            author: secrets::sha(author),
            machines: secrets::sha(machines),
            began: Instant::now(),
            folder: folder.to_owned(),
            changed: watch::Sender::new(()),
            stopped: watch::Sender::new(false),
        })
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where large bodies wait until all of them is there.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The state of the fleet.
    pub fn overview(&self) -> Overview {
        self.fleet().overview(self.now())
    }

    /// Ends all waiting.
    pub fn farewell(&self) {
        self.stopped.send_replace(true);
        self.changed.send_replace(());
    }

    /// The fleet itself.
    pub fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Does something after which others may be able to go on.
    pub fn act<T>(&self, act: impl FnOnce(&mut Fleet, u64) -> T) -> T {
        let now = self.now();
        let done = act(&mut self.fleet(), now);
        self.changed.send_replace(());
        done
    }

    /// Asks until there is an answer, or the time is up.
    pub async fn wait<T>(
        &self,
        wait_ms: u64,
        mut ask: impl FnMut(&mut Fleet, u64) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + Duration::from_millis(wait_ms.min(LONGEST_WAIT_MS));
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let now = self.now();
            let answer = ask(&mut self.fleet(), now);
            let left = until.saturating_duration_since(Instant::now());
            if answer.is_some() || left.is_zero() || *self.stopped.borrow() {
                return answer;
            }
            let _ = tokio::time::timeout(left.min(LOOK), changed.changed()).await;
        }
    }
}

/// All routes.
pub fn router(site: Arc<FleetSite>) -> Router {
    let machines = Router::new()
        .route("/", get(work::welcome))
        .route("/hello", post(work::hello))
        .route("/series", get(playing))
        .route("/lease", post(work::lease))
        .route("/start", post(work::start))
        .route("/beat", post(work::beat))
        .route("/building", post(work::building))
        .route("/built", post(work::built))
        .route("/results", post(work::results))
        .route("/void", post(work::void))
        .route("/abort", post(work::abort))
        .route("/source", get(work::source))
        .layer(from_fn_with_state((site.clone(), Side::Machine), enter));
    let commands = Router::new()
        .route("/", get(overview))
        .route("/open", post(open))
        .route("/source", post(supply))
        .route("/exchange", post(exchange))
        .route("/close", post(close))
        .layer(from_fn_with_state((site.clone(), Side::Author), enter));
    Router::new()
        .nest(wire::ROOT, machines)
        .nest(ROOT, commands)
        .route(
            "/",
            get(async || "This is an agon fleet: machines that play for their owner. It has no pages.\n"),
        )
        .fallback(async || {
            let text = "This is an agon fleet, not a contest.";
            Refused::new(StatusCode::NOT_FOUND, "Not found", text)
        })
        .with_state(site)
}

/// Which side may enter.
#[derive(Clone, Copy)]
enum Side {
    Machine,
    Author,
}

/// Checks the token before anything is read.
async fn enter(
    State((site, side)): State<(Arc<FleetSite>, Side)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let (own, whose) = match side {
        Side::Machine => (site.machines, "a machine of this fleet"),
        Side::Author => (site.author, "the author who owns this fleet"),
    };
    let is_own = |token: String| secrets::same(&secrets::sha(&token).to_string(), &own.to_string());
    if !bearer(request.headers()).is_some_and(is_own) {
        let text = format!("This token does not belong to {whose}.");
        return Err(Refused::new(StatusCode::UNAUTHORIZED, "Not known", text));
    }
    request.extensions_mut().insert(site);
    let slow = |_| {
        let text = format!("The request took longer than {} s.", PATIENCE.as_secs());
        Refused::new(StatusCode::REQUEST_TIMEOUT, "Too slow", text)
    };
    tokio::time::timeout(PATIENCE, next.run(request)).await.map_err(slow)
}

#[derive(Deserialize)]
struct Waits {
    run: String,
    #[serde(default)]
    wait_ms: u64,
}

/// The series that a machine is to play.
async fn playing(
    State(site): State<Arc<FleetSite>>,
    Query(own): Query<Waits>,
) -> Result<Json<Playing>, Refused> {
    let asked = site.wait(own.wait_ms, |fleet, now| fleet.playing(&own.run, now).transpose());
    // It was restarted since.
    let text = "This machine has not introduced itself.";
    let unknown = |UnknownMachine| Refused::new(StatusCode::CONFLICT, "Not admitted", text);
    Ok(Json(Playing { series: asked.await.transpose().map_err(unknown)? }))
}

async fn overview(State(site): State<Arc<FleetSite>>) -> Json<Overview> {
    Json(site.overview())
}

async fn told<T: DeserializeOwned>(body: Body) -> Result<T, Refused> {
    let bytes = read::file(body, LARGEST).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Refused::wrong(format!("The request cannot be read: {error}")))
}

async fn open(State(site): State<Arc<FleetSite>>, body: Body) -> Result<Json<SeriesOpened>, Refused> {
    let open: Open = told(body).await?;
    work::same_program(&open.program, None)?;
    site.act(|fleet, now| fleet.open(open, now)).map(Json).map_err(Refused::wrong)
}

#[derive(Deserialize)]
struct Of {
    series: i64,
}

async fn supply(State(site): State<Arc<FleetSite>>, body: Body) -> Result<Json<()>, Refused> {
    let post = incoming::whole(site.folder(), body, LARGEST_SOURCE, None).await?;
    let sha = Sha::of(&post.bytes).to_string();
    site.act(|fleet, _| fleet.supply(&sha, post.bytes)).map(Json).map_err(Refused::wrong)
}

async fn exchange(
    State(site): State<Arc<FleetSite>>,
    Query(of): Query<Of>,
    body: Body,
) -> Result<Vec<u8>, Refused> {
    let mut exchange: Exchange = told(body).await?;
    let added = site.act(|fleet, now| fleet.exchange(of.series, &exchange, now)).map_err(no)?;
    (exchange.add, exchange.got) = (Vec::new(), Vec::new());
    let before = standing(&added);
    let lines = match added.len() > 1 {
        true => added,
        // Waits for a result, or another standing: a machine that joins needs more matches handed out.
        false => {
            let asked =
                site.wait(exchange.wait_ms, |fleet, now| match fleet.exchange(of.series, &exchange, now) {
                    Ok(lines) if lines.len() == 1 && standing(&lines) == before => None,
                    other => Some(other),
                });
            asked.await.transpose().map_err(no)?.unwrap_or(added)
        }
    };
    framed(lines.iter().map(|(line, bytes)| (line, &bytes[..])))
        .map_err(|error| Refused::wrong(error.to_string()))
}

fn standing(lines: &[(FleetLine, Vec<u8>)]) -> Option<FleetState> {
    match lines.first() {
        Some((FleetLine::Standing(standing), _)) => Some(*standing),
        _ => None,
    }
}

fn no(refusal: FleetRefusal) -> Refused {
    match refusal {
        FleetRefusal::Unknown => Refused::new(
            StatusCode::GONE,
            "Over",
            "This series is unknown: the fleet was restarted, or has not heard of it for too long.",
        ),
        FleetRefusal::Wrong(why) => Refused::wrong(why),
    }
}

async fn close(State(site): State<Arc<FleetSite>>, Query(of): Query<Of>) -> Json<()> {
    site.act(|fleet, _| fleet.close(of.series));
    Json(())
}
