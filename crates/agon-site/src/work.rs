//! Machines that play: the protocol of [`agon_worker::wire`], over HTTP. The caller is known by a worker's token, and must
//! introduce itself before it gets anything.
//!
//! Every act has a name (a request, a try of a match), so that an act whose answer was lost can be repeated. Nothing that
//! arrives is trusted: a result counts only after its replay was recomputed.

use std::sync::Arc;
use std::time::Duration;

use agon_server::asked::LEASE_MS;
use agon_store::WorkerId;
use agon_store::acts::Admit;
use agon_store::reads::AtWork;
use agon_worker::fit::Needs;
use agon_worker::wire::{
    Admitted, Back, Beat, Hello, LONGEST_WAIT_MS, MOST_LEASED, Machine, Received, ReceivedAll,
    Result as Sent, Voided, Wanted, Welcome, Yours, check_name,
};
use agon_worker::{Granted, Posted, Try};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get as asked_for, post as sent};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use crate::api::read::{self, Of, Sent as Told};
use crate::gate::Ask;
use crate::incoming;
use crate::problem::Problem;
use crate::rights::{Actor, Verb};
use crate::routes::{Of as What, Route, get, post};
use crate::site::Site;

/// The routes.
pub const ROUTES: &[Route] = &[
    get("/work/v1", Verb::Work, What::Contest, || asked_for(welcome)).apart(),
    post("/work/v1/hello", Verb::Work, What::Contest, || sent(hello)).apart(),
    post("/work/v1/lease", Verb::Work, What::Contest, || sent(lease)).apart(),
    post("/work/v1/start", Verb::Work, What::Contest, || sent(start)).apart(),
    post("/work/v1/beat", Verb::Work, What::Contest, || sent(beat)).apart(),
    post("/work/v1/building", Verb::Work, What::Contest, || sent(building)).apart(),
    post("/work/v1/built", Verb::Work, What::Contest, || sent(built)).apart().uploads(),
    post("/work/v1/result", Verb::Work, What::Contest, || sent(result)).apart().uploads(),
    post("/work/v1/results", Verb::Work, What::Contest, || sent(results)).apart().uploads(),
    post("/work/v1/void", Verb::Work, What::Contest, || sent(void)).apart(),
    post("/work/v1/abort", Verb::Work, What::Contest, || sent(abort)).apart(),
    get("/work/v1/source", Verb::Work, What::Contest, || asked_for(source)).apart(),
];

/// The program of the caller.
#[derive(Deserialize)]
pub struct Program {
    program: String,
}

/// The process that asks.
#[derive(Deserialize)]
pub struct Run {
    run: String,
}

/// The build.
#[derive(Deserialize)]
pub struct Built {
    run: String,
    game: i64,
    n: i64,
}

/// The source.
#[derive(Deserialize)]
pub struct Source {
    run: String,
    sha: String,
}

/// The answer to a worker where only people are answered.
pub async fn elsewhere(State(site): State<Arc<Site>>) -> Problem {
    let text = match site.workers_at() {
        Some(address) => {
            format!("Workers of this contest come to {address}: agon work {address} --token-file FILE.")
        }
        None => "Workers of this contest have an address of their own: ask its organiser.".to_owned(),
    };
    Problem::new(StatusCode::NOT_FOUND, "Workers are answered elsewhere", text)
}

/// The answer to anything else where only workers are answered.
pub async fn workers_only() -> (StatusCode, &'static str) {
    (
        StatusCode::NOT_FOUND,
        "Only workers are answered here (agon work). The site of the contest has another address.\n",
    )
}

fn worker(ask: &Ask) -> Result<&AtWork, Problem> {
    match &ask.actor {
        Actor::Worker(worker) => Ok(worker),
        _ => Err(Problem::ours()),
    }
}

/// The worker, if this process of it is the one that was admitted.
fn admitted(ask: &Ask, run: &str) -> Result<WorkerId, Problem> {
    let worker = worker(ask)?;
    if worker.run.as_deref() == Some(run) {
        return Ok(worker.id);
    }
    let text = "This process has not registered, or another one has since done so with the same token: each machine needs a token \
                of its own.";
    Err(Problem::new(StatusCode::CONFLICT, "Not admitted", text))
}

/// Programs of two different versions cannot play one contest.
fn same_program(ask: &Ask, theirs: &str) -> Result<(), Problem> {
    let own = agon_replay::data::PROGRAM;
    if theirs == own {
        return Ok(());
    }
    let theirs: String = theirs.chars().filter(|sign| !sign.is_control()).take(60).collect();
    let text = format!(
        "This contest needs {own}, and the worker is {theirs}. {}/get says where to get the right one.",
        ask.address
    );
    Err(Problem::new(StatusCode::CONFLICT, "Another agon is wanted", text))
}

/// What is played.
pub async fn welcome(ask: Ask, Of(theirs): Of<Program>) -> Result<Json<Welcome>, Problem> {
    same_program(&ask, &theirs.program)?;
    Ok(Json(Welcome {
        program: agon_replay::data::PROGRAM.to_owned(),
        title: ask.settings.title.clone(),
        worker: worker(&ask)?.name.clone(),
        terms: Some(ask.site.server.terms().clone()),
        trusts_bots: ask.settings.trusts_bots,
        packages: ask.settings.packages.clone(),
        beat_ms: (LEASE_MS / 3).unsigned_abs(),
    }))
}

/// A process introduces itself; its machine must be fit.
pub async fn hello(ask: Ask, Told(hello): Told<Hello>) -> Result<Json<Admitted>, Problem> {
    same_program(&ask, &hello.program)?;
    let worker = worker(&ask)?;
    check_name(&hello.run).map_err(Problem::wrong)?;
    let machine = hello.machine;
    if let Some(why) = needs(&ask, worker.id).await?.unmet_by(&machine) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "This machine does not fit the contest", why));
    }
    // Another process under its name gives back what the one before it had.
    ask.site.server.quotas().give_back(worker.id, ask.now);
    let about = serde_json::to_string(&machine).map_err(|_| Problem::ours())?;
    let admit = Admit { worker: worker.id, run: hello.run, level: machine.level, about, now: ask.now };
    match ask.site.store().act(admit).await? {
        true => Ok(Json(Admitted { worker: worker.name.clone() })),
        // Revoked a moment ago: the next request will say so.
        false => Err(Problem::nothing()),
    }
}

/// What a machine needs to play here.
async fn needs(ask: &Ask, worker: WorkerId) -> Result<Needs, Problem> {
    let own = ask.site.machine();
    let speed = match (ask.settings.workers.speed, own.and_then(|own| own.speed)) {
        (Some(speed), _) => Some((speed, "contest.toml")),
        (None, Some(speed)) => Some((speed, "the server's machine")),
        (None, None) => {
            let first = ask.site.store().first_machine(worker).await?;
            let first = first.and_then(|about| serde_json::from_str::<Machine>(&about).ok());
            first.map(|first| (first.speed, "the first machine that joined"))
        }
    };
    let languages = own.map(|own| own.languages.as_slice()).unwrap_or_default();
    Ok(Needs {
        trusts_bots: ask.settings.trusts_bots,
        level: ask.settings.level,
        speed: speed.map(|(speed, whose)| (speed, whose.to_owned())),
        tolerance: ask.settings.workers.tolerance,
        set_by: "the organiser sets the band in contest.toml, [workers] speed and tolerance",
        packages: ask.settings.packages.clone(),
        languages: languages.iter().map(|language| language.name.clone()).collect(),
    })
}

/// How long a paused worker waits before it asks again.
const PAUSED: Duration = Duration::from_secs(1);

/// Leases matches.
pub async fn lease(ask: Ask, Of(own): Of<Run>, Told(wanted): Told<Wanted>) -> Result<Json<Granted>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    check_name(&wanted.request).map_err(Problem::wrong)?;
    let is_paused = self::worker(&ask)?.paused;
    let until = Instant::now() + Duration::from_millis(wanted.wait_ms.min(LONGEST_WAIT_MS));
    // A paused worker does not block others: it gets what it already has, and otherwise nothing after a while.
    let (until, rests) = match is_paused {
        true => (Instant::now(), until.min(Instant::now() + PAUSED)),
        false => (until, Instant::now()),
    };
    let most = wanted.most.min(MOST_LEASED);
    let asks = || async {
        let granted = ask.site.server.lease(worker, &wanted.request, most, ask.site.now()).await?;
        Ok::<_, Problem>(granted.lease.is_some().then_some(granted))
    };
    let granted = ask.site.bench.wait(until, ask.site.server.done(), asks).await?;
    if granted.is_none() {
        sleep_until(rests).await;
    }
    Ok(Json(granted.unwrap_or_default()))
}

/// A match begins.
pub async fn start(ask: Ask, Of(own): Of<Run>, Told(attempt): Told<Try>) -> Result<Json<Yours>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    Ok(Json(Yours { yours: ask.site.server.start(worker, attempt, ask.now).await? }))
}

/// A lease is renewed.
pub async fn beat(ask: Ask, Of(own): Of<Run>, Told(beat): Told<Beat>) -> Result<Json<Yours>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    Ok(Json(Yours { yours: ask.site.server.beat(worker, beat.lease, ask.now).await? }))
}

/// A build has begun.
pub async fn building(ask: Ask, Of(own): Of<Run>, Told(attempt): Told<Try>) -> Result<Json<Yours>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    Ok(Json(Yours { yours: ask.site.server.building(worker, attempt, ask.now).await? }))
}

/// A build has ended; its output comes as it is.
pub async fn built(ask: Ask, Of(own): Of<Built>, body: Body) -> Result<Json<()>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    let log = read::file(body, agon_worker::versions::MOST_LOG).await?;
    let attempt = Try { game: own.game, n: own.n };
    ask.site.server.built(worker, attempt, &log, ask.now).await?;
    Ok(Json(()))
}

/// A match is over.
pub async fn result(ask: Ask, Of(own): Of<Run>, body: Body) -> Result<Json<Received>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    let post = incoming::results(&ask, worker, body).await?;
    let (line, replay) = Sent::read(&post.bytes).map_err(|why| read::wrong(&why))?;
    let parts = (&line.report, replay, &line.own[..]);
    let posted: Posted = ask.site.server.post(worker, line.attempt, parts, ask.now).await?;
    Ok(Json(Received { posted }))
}

/// Matches are over.
pub async fn results(ask: Ask, Of(own): Of<Run>, body: Body) -> Result<Json<ReceivedAll>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    let post = incoming::results(&ask, worker, body).await?;
    let all = Sent::read_all(&post.bytes).map_err(|why| read::wrong(&why))?;
    let over: Vec<_> =
        all.iter().map(|(line, replay)| (line.attempt, (&line.report, *replay, &line.own[..]))).collect();
    Ok(Json(ReceivedAll { posted: ask.site.server.post_all(worker, &over, ask.now).await? }))
}

/// A match came to nothing.
pub async fn void(ask: Ask, Of(own): Of<Run>, Told(voided): Told<Voided>) -> Result<Json<()>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    ask.site.server.void(worker, voided.attempt, &voided.nothing, ask.now).await?;
    Ok(Json(()))
}

/// Gives something back.
pub async fn abort(ask: Ask, Of(own): Of<Run>, Told(back): Told<Back>) -> Result<Json<()>, Problem> {
    let worker = admitted(&ask, &own.run)?;
    ask.site.server.abort(worker, back.lease, ask.now).await?;
    Ok(Json(()))
}

/// The source of a version, for a match that the worker has leased.
pub async fn source(ask: Ask, Of(own): Of<Source>) -> Result<Response, Problem> {
    let worker = admitted(&ask, &own.run)?;
    let bytes = ask.site.server.fetch_for(worker, &own.sha).await?.ok_or_else(Problem::nothing)?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}
