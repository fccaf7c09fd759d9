//! The broker on the network: machines use the routes of any contest, commands those of [`crate::wire`]. Each side has a token; without one
//! there is only a sentence that says what this is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_api::Problem;
use agon_worker::wire::{
    self as work, Admitted, Arriving, Back, Beat, Hello, LARGEST_RESULT, LARGEST_SOURCE, LONGEST_WAIT_MS,
    Playing, ReceivedAll, Result as Sent, Voided, Wanted, Welcome, Yours, check_name, framed,
};
use agon_worker::{Granted, Try};
use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, watch};
use tokio_stream::StreamExt as _;

use crate::broker::{Fleet, LEASE_MS, Leased, Refused, Unknown};
use crate::wire::{self, Exchange, Line, Open, Opened, Overview};

/// Upper limit on a body, in bytes, apart from bots and results: it includes the maps and rules of a series.
const LARGEST: u64 = 8 << 20;
/// How long to wait for a complete body.
const PATIENCE: Duration = Duration::from_secs(600);
/// How many of the large bodies are taken in at once: each is then in memory whole. Nobody holds a permit while bytes arrive.
const AT_ONCE: usize = 8;
/// How often a waiting request looks in any case: leases expire without anybody acting.
const LOOK: Duration = Duration::from_secs(1);

/// A fleet that answers requests.
pub struct Site {
    fleet: Mutex<Fleet>,
    title: String,
    author: [u8; 32],
    machines: [u8; 32],
    began: Instant,
    room: Semaphore,
    /// Where large bodies wait until all of them is there.
    folder: PathBuf,
    /// Notified when there may be something for waiting requests.
    changed: watch::Sender<()>,
    stopped: watch::Sender<bool>,
}

impl Site {
    /// A fleet called `title` in a folder, with the tokens of its author and of its machines.
    pub fn new(fleet: Fleet, title: String, folder: &Path, author: &str, machines: &str) -> Arc<Self> {
        Arc::new(Self {
            fleet: Mutex::new(fleet),
            title,
            author: hash(author.as_bytes()),
            machines: hash(machines.as_bytes()),
            began: Instant::now(),
            room: Semaphore::new(AT_ONCE),
            folder: folder.to_owned(),
            changed: watch::Sender::new(()),
            stopped: watch::Sender::new(false),
        })
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

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Does something after which others may be able to go on.
    fn act<T>(&self, act: impl FnOnce(&mut Fleet, u64) -> T) -> T {
        let now = self.now();
        let done = act(&mut self.fleet(), now);
        self.changed.send_replace(());
        done
    }

    /// Asks until there is an answer, or the time is up.
    async fn wait<T>(&self, wait_ms: u64, mut ask: impl FnMut(&mut Fleet, u64) -> Option<T>) -> Option<T> {
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

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn hex(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All routes.
pub fn router(site: Arc<Site>) -> Router {
    let machines = Router::new()
        .route("/", get(welcome))
        .route("/hello", post(hello))
        .route("/series", get(playing))
        .route("/lease", post(lease))
        .route("/start", post(yours))
        .route("/building", post(yours))
        .route("/built", post(built))
        .route("/beat", post(beat))
        .route("/results", post(results))
        .route("/void", post(void))
        .route("/abort", post(abort))
        .route("/source", get(source))
        .layer(from_fn_with_state((site.clone(), Side::Machine), enter));
    let commands = Router::new()
        .route("/", get(overview))
        .route("/open", post(open))
        .route("/source", post(supply))
        .route("/exchange", post(exchange))
        .route("/close", post(close))
        .layer(from_fn_with_state((site.clone(), Side::Author), enter));
    Router::new()
        .nest(work::ROOT, machines)
        .nest(wire::ROOT, commands)
        .route("/", get(nobody))
        .fallback(async || {
            refused(StatusCode::NOT_FOUND, "Nothing is here", "This is an agon fleet, not a contest.")
        })
        .with_state(site)
}

async fn nobody() -> &'static str {
    "This is an agon fleet: machines that play for their owner. It has no pages.\n"
}

/// A refusal, which is sent as `application/problem+json`.
struct No {
    status: StatusCode,
    title: &'static str,
    text: String,
}

impl IntoResponse for No {
    fn into_response(self) -> Response {
        let problem = Problem {
            kind: "about:blank".to_owned(),
            title: self.title.to_owned(),
            status: self.status.as_u16(),
            detail: self.text,
            retry_after: None,
        };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response()
    }
}

fn refused(status: StatusCode, title: &'static str, text: impl Into<String>) -> No {
    No { status, title, text: text.into() }
}

fn wrong(text: impl Into<String>) -> No {
    refused(StatusCode::UNPROCESSABLE_ENTITY, "That cannot be done", text)
}

/// The machine has not introduced itself to this process.
fn unknown(_: Unknown) -> No {
    refused(StatusCode::CONFLICT, "Not admitted", "This machine has not introduced itself.")
}

/// Which side may enter.
#[derive(Clone, Copy)]
enum Side {
    Machine,
    Author,
}

/// Checks the token before anything is read.
async fn enter(State((site, side)): State<(Arc<Site>, Side)>, request: Request, next: Next) -> Response {
    let (own, whose) = match side {
        Side::Machine => (&site.machines, "a machine of this fleet"),
        Side::Author => (&site.author, "the author who owns this fleet"),
    };
    match bearer(request.headers()).is_some_and(|token| hash(token.as_bytes()).ct_eq(own).into()) {
        true => next.run(request).await,
        false => {
            let text = format!("This token does not belong to {whose}.");
            refused(StatusCode::UNAUTHORIZED, "Not known", text).into_response()
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Reads a body of at most `most` bytes.
async fn read(body: Body, most: u64) -> Result<Vec<u8>, No> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    match tokio::time::timeout(PATIENCE, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Ok(Err(_)) => Err(not_taken(most)),
        Err(_) => Err(too_slow()),
    }
}

/// Receives something large. It may come slowly, without keeping anybody else waiting.
async fn arriving(site: &Site, body: Body, most: u64) -> Result<Arriving, No> {
    let (mut arriving, mut pieces) = (Arriving::new(&site.folder, most), body.into_data_stream());
    let all = async {
        while let Some(piece) = pieces.next().await {
            if !arriving.add(&piece.map_err(|_| not_taken(most))?).map_err(unwritten)? {
                return Err(not_taken(most));
            }
        }
        Ok(arriving)
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap_or_else(|_| Err(too_slow()))
}

fn not_taken(most: u64) -> No {
    let text = format!("The request was cut off, or is larger than {} KiB. Nothing was changed.", most >> 10);
    refused(StatusCode::PAYLOAD_TOO_LARGE, "Not taken", text)
}

fn too_slow() -> No {
    refused(StatusCode::REQUEST_TIMEOUT, "Too slow", "The request did not arrive in time.")
}

fn unwritten(error: io::Error) -> No {
    let text = format!("The fleet's folder cannot be written: {error}.");
    refused(StatusCode::INSUFFICIENT_STORAGE, "Not taken", text)
}

async fn told<T: DeserializeOwned>(body: Body) -> Result<T, No> {
    let bytes = read(body, LARGEST).await?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(format!("The request cannot be read: {error}")))
}

/// Refuses another version of the program: all programs in a series must be the same.
fn same_program(theirs: &str) -> Result<(), No> {
    let own = agon_replay::data::PROGRAM;
    if theirs == own {
        return Ok(());
    }
    let theirs: String = theirs.chars().filter(|sign| !sign.is_control()).take(60).collect();
    let text = format!("This fleet runs {own}, but this is {theirs}: use the same program everywhere.");
    Err(refused(StatusCode::CONFLICT, "Another agon is wanted", text))
}

// Machines.

#[derive(Deserialize)]
struct Program {
    program: String,
}

#[derive(Deserialize)]
struct Run {
    run: String,
}

async fn welcome(State(site): State<Arc<Site>>, Query(theirs): Query<Program>) -> Result<Json<Welcome>, No> {
    same_program(&theirs.program)?;
    Ok(Json(Welcome {
        program: agon_replay::data::PROGRAM.to_owned(),
        title: site.title.clone(),
        worker: "this machine".to_owned(),
        terms: None,
        trusts_bots: true,
        packages: Vec::new(),
        beat_ms: LEASE_MS / 3,
    }))
}

async fn hello(State(site): State<Arc<Site>>, body: Body) -> Result<Json<Admitted>, No> {
    let hello: Hello = told(body).await?;
    same_program(&hello.program)?;
    check_name(&hello.run).map_err(wrong)?;
    match site.act(|fleet, now| fleet.hello(&hello.run, hello.machine, now)) {
        Ok(worker) => Ok(Json(Admitted { worker })),
        Err(why) => Err(refused(StatusCode::FORBIDDEN, "This machine does not fit the fleet", why)),
    }
}

#[derive(Deserialize)]
struct Waits {
    run: String,
    #[serde(default)]
    wait_ms: u64,
}

async fn playing(State(site): State<Arc<Site>>, Query(own): Query<Waits>) -> Result<Json<Playing>, No> {
    let asked = site.wait(own.wait_ms, |fleet, now| match fleet.playing(&own.run, now) {
        Ok(None) => None,
        other => Some(other),
    });
    match asked.await {
        Some(Err(error)) => Err(unknown(error)),
        Some(Ok(series)) => Ok(Json(Playing { series })),
        None => Ok(Json(Playing { series: None })),
    }
}

async fn lease(
    State(site): State<Arc<Site>>,
    Query(own): Query<Run>,
    body: Body,
) -> Result<Json<Granted>, No> {
    let wanted: Wanted = told(body).await?;
    check_name(&wanted.request).map_err(wrong)?;
    let asked = site.wait(wanted.wait_ms, |fleet, now| {
        match fleet.lease(&own.run, &wanted.request, wanted.most, now) {
            Ok(Leased::Granted(Granted { lease: None, .. })) => None,
            other => Some(other),
        }
    });
    match asked.await {
        None => Ok(Json(Granted::default())),
        Some(Ok(Leased::Granted(granted))) => Ok(Json(granted)),
        Some(Ok(Leased::Elsewhere) | Err(Unknown)) => Err(refused(
            StatusCode::GONE,
            "Over",
            "This series is over for this machine: ask for another one.",
        )),
    }
}

/// Called when a match begins, or a bot of it is built. Answers whether the machine still holds it.
async fn yours(State(site): State<Arc<Site>>, Query(own): Query<Run>, body: Body) -> Result<Json<Yours>, No> {
    let attempt: Try = told(body).await?;
    Ok(Json(Yours { yours: site.fleet().holds(&own.run, attempt) }))
}

/// Ignores the output of a build: it is of no interest after success, and comes with the reason after failure.
async fn built(body: Body) -> Result<Json<()>, No> {
    read(body, agon_worker::versions::MOST_LOG).await.map(|_| Json(()))
}

async fn beat(State(site): State<Arc<Site>>, Query(own): Query<Run>, body: Body) -> Result<Json<Yours>, No> {
    let beat: Beat = told(body).await?;
    Ok(Json(Yours { yours: site.act(|fleet, now| fleet.beat(&own.run, beat.lease, now)) }))
}

async fn results(
    State(site): State<Arc<Site>>,
    Query(own): Query<Run>,
    body: Body,
) -> Result<Json<ReceivedAll>, No> {
    let arriving = arriving(&site, body, LARGEST_RESULT).await?;
    let _room = site.room.acquire().await;
    let bytes = arriving.whole().map_err(unwritten)?;
    let all = Sent::read_all(&bytes).map_err(wrong)?;
    let posted = site.act(|fleet, _| {
        let each = all.into_iter().map(|(line, replay)| {
            fleet.post(&own.run, line.attempt, (line.report, line.all.unwrap_or_default()), replay)
        });
        each.collect()
    });
    Ok(Json(ReceivedAll { posted }))
}

async fn void(State(site): State<Arc<Site>>, Query(own): Query<Run>, body: Body) -> Result<Json<()>, No> {
    let voided: Voided = told(body).await?;
    site.act(|fleet, _| fleet.void(&own.run, voided.attempt, voided.nothing));
    Ok(Json(()))
}

async fn abort(State(site): State<Arc<Site>>, Query(own): Query<Run>, body: Body) -> Result<Json<()>, No> {
    let back: Back = told(body).await?;
    site.act(|fleet, _| fleet.abort(&own.run, back.lease));
    Ok(Json(()))
}

#[derive(Deserialize)]
struct Bot {
    run: String,
    sha: String,
}

async fn source(State(site): State<Arc<Site>>, Query(own): Query<Bot>) -> Result<Vec<u8>, No> {
    let bytes = site.fleet().source(&own.run, &own.sha);
    let bytes = bytes
        .ok_or_else(|| refused(StatusCode::NOT_FOUND, "Nothing is here", "No such bot is being played."))?;
    Ok(bytes.to_vec())
}

// Commands.

async fn overview(State(site): State<Arc<Site>>) -> Json<Overview> {
    Json(site.overview())
}

async fn open(State(site): State<Arc<Site>>, body: Body) -> Result<Json<Opened>, No> {
    let open: Open = told(body).await?;
    same_program(&open.program)?;
    site.act(|fleet, now| fleet.open(open, now)).map(Json).map_err(wrong)
}

#[derive(Deserialize)]
struct Of {
    series: i64,
}

async fn supply(State(site): State<Arc<Site>>, body: Body) -> Result<Json<()>, No> {
    let arriving = arriving(&site, body, LARGEST_SOURCE).await?;
    let _room = site.room.acquire().await;
    let bytes = arriving.whole().map_err(unwritten)?;
    let sha = hex(hash(&bytes));
    site.act(|fleet, _| fleet.supply(&sha, bytes)).map(Json).map_err(wrong)
}

async fn exchange(State(site): State<Arc<Site>>, Query(of): Query<Of>, body: Body) -> Result<Vec<u8>, No> {
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
    framed(lines.iter().map(|(line, bytes)| (line, &bytes[..]))).map_err(|error| wrong(error.to_string()))
}

fn standing(lines: &[(Line, Vec<u8>)]) -> Option<wire::Standing> {
    match lines.first() {
        Some((Line::Standing(standing), _)) => Some(*standing),
        _ => None,
    }
}

fn no(refusal: Refused) -> No {
    match refusal {
        Refused::Unknown => refused(
            StatusCode::GONE,
            "Over",
            "This series is unknown: the fleet was restarted, or has not heard of it for too long.",
        ),
        Refused::Wrong(why) => wrong(why),
    }
}

async fn close(State(site): State<Arc<Site>>, Query(of): Query<Of>) -> Json<()> {
    site.act(|fleet, _| fleet.close(of.series));
    Json(())
}
