//! Machines that play: the protocol of [`agon_worker::wire`], over HTTP, for a contest and for a fleet. The caller is known by a worker's
//! token, and must introduce itself before it gets anything.
//!
//! Every act has a name (a request, a try of a match), so that an act whose answer was lost can be repeated. Nothing that
//! arrives is trusted: a result counts only after its replay was recomputed.

use std::sync::Arc;
use std::time::Duration;

use agon_api::contest::ImageQuery;
use agon_server::asked::LEASE_MS;
use agon_server::fleet;
use agon_store::WorkerId;
use agon_store::acts::Admit;
use agon_store::reads::AtWork;
use agon_worker::fit::Requirements;
use agon_worker::protocol::MOST_PIECE;
use agon_worker::wire::{
    Admitted, Back, Beat, Hello, LARGEST_RESULT, LONGEST_WAIT_MS, LeaseRequest, MOST_LEASED, MOST_UNPACKED,
    NextPiece, OTHER_CONDITIONS, OTHER_IMAGE, PlayingMachine, PostedResult as Sent, ReceivedAll,
    SeriesWelcome, Unpacked, Voided, Yours, check_name,
};
use agon_worker::{Granted, Posted, Try};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get as asked_for, post as sent};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use crate::api::about;
use crate::api::read::{self, ReadQuery, Sent as Told};
use crate::fleet::FleetSite as Fleet;
use crate::gate::Visit;
use crate::incoming;
use crate::problem::Refused;
use crate::rights::{Actor, Verb};
use crate::routes::{Route, RouteObject as What, get, post};
use crate::site::Site;

/// The routes.
pub const ROUTES: &[Route] = &[
    get("/work/v1", Verb::Work, What::Contest, || asked_for(welcome)).apart(),
    post("/work/v1/hello", Verb::Work, What::Contest, || sent(hello)).apart(),
    post("/work/v1/lease", Verb::Work, What::Contest, || sent(lease)).apart(),
    post("/work/v1/start", Verb::Work, What::Contest, || sent(start)).apart(),
    post("/work/v1/told", Verb::Work, What::Contest, || sent(told)).apart().uploads(),
    post("/work/v1/beat", Verb::Work, What::Contest, || sent(beat)).apart(),
    post("/work/v1/building", Verb::Work, What::Contest, || sent(building)).apart(),
    post("/work/v1/built", Verb::Work, What::Contest, || sent(built)).apart().uploads(),
    post("/work/v1/results", Verb::Work, What::Contest, || sent(results)).apart().uploads(),
    post("/work/v1/void", Verb::Work, What::Contest, || sent(void)).apart(),
    post("/work/v1/abort", Verb::Work, What::Contest, || sent(abort)).apart(),
    post("/work/v1/unpacked", Verb::Work, What::Contest, || sent(unpacked)).apart(),
    get("/work/v1/source", Verb::Work, What::Contest, || asked_for(source)).apart(),
    get("/work/v1/image", Verb::Work, What::Contest, || asked_for(image)).apart(),
];

/// The program of the caller.
#[derive(Deserialize)]
pub struct CallerProgram {
    program: String,
}

/// The process that asks.
#[derive(Deserialize)]
pub struct CallerRun {
    run: String,
}

/// The build.
#[derive(Deserialize)]
pub struct BuildOutput {
    run: String,
    game: i64,
    n: i64,
}

#[derive(Deserialize)]
pub struct CallerSource {
    run: String,
    sha: String,
}

/// The answer to a worker where only people are answered.
pub async fn elsewhere(State(site): State<Arc<Site>>) -> Refused {
    let text = match site.workers_at() {
        Some(address) => {
            format!("Workers of this contest come to {address}: agon work {address} --token-file FILE.")
        }
        None => "Workers of this contest have an address of their own: ask its organiser.".to_owned(),
    };
    Refused::new(StatusCode::NOT_FOUND, "Workers are answered elsewhere", text)
}

/// The answer to anything else where only workers are answered.
pub async fn workers_only() -> (StatusCode, &'static str) {
    (
        StatusCode::NOT_FOUND,
        "Only workers are answered here (agon work). The site of the contest has another address.\n",
    )
}

/// Whom the caller works for.
pub enum Employer {
    Contest(Box<Visit>),
    Fleet(Arc<Fleet>),
}

impl<S: Sync> FromRequestParts<S> for Employer {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let contest = parts.extensions.get::<Visit>().cloned().map(|ask| Self::Contest(Box::new(ask)));
        contest.or_else(|| parts.extensions.get().cloned().map(Self::Fleet)).ok_or_else(Refused::ours)
    }
}

fn worker(ask: &Visit) -> Result<&AtWork, Refused> {
    match &ask.actor {
        Actor::Worker(worker) => Ok(worker),
        _ => Err(Refused::ours()),
    }
}

/// The worker, if this process of it is the one that was admitted.
fn admitted(ask: &Visit, run: &str) -> Result<WorkerId, Refused> {
    let worker = worker(ask)?;
    if worker.run.as_deref() == Some(run) {
        return Ok(worker.id);
    }
    if worker.run.as_deref() == Some("") {
        let text = "The organiser has changed what bots run in, or what a machine must be like. An agon work that goes on registers again.";
        return Err(Refused::new(StatusCode::CONFLICT, OTHER_CONDITIONS, text));
    }
    let text = "This process has not registered, or another one has since done so with the same token: each machine needs a token \
                of its own.";
    Err(Refused::new(StatusCode::CONFLICT, "Not admitted", text))
}

/// Programs of two different versions cannot play one contest, or one series.
///
/// # Errors
/// When theirs is not ours; `get` is where to get the right one.
pub fn same_program(theirs: &str, get: Option<&str>) -> Result<(), Refused> {
    let own = agon_replay::data::PROGRAM;
    if theirs == own {
        return Ok(());
    }
    let theirs: String = theirs.chars().filter(|sign| !sign.is_control()).take(60).collect();
    let text = match get {
        Some(at) => format!(
            "This contest needs {own}, and the worker is {theirs}. {at}/get says where to get the right one."
        ),
        None => format!("This fleet runs {own}, but this is {theirs}: use the same program everywhere."),
    };
    Err(Refused::new(StatusCode::CONFLICT, "Another agon is wanted", text))
}

impl Employer {
    fn same_program(&self, theirs: &str) -> Result<(), Refused> {
        match self {
            Self::Contest(ask) => same_program(theirs, Some(&ask.address)),
            Self::Fleet(_) => same_program(theirs, None),
        }
    }
}

/// What is played.
pub async fn welcome(
    hall: Employer,
    ReadQuery(theirs): ReadQuery<CallerProgram>,
) -> Result<Json<SeriesWelcome>, Refused> {
    hall.same_program(&theirs.program)?;
    let program = agon_replay::data::PROGRAM.to_owned();
    Ok(Json(match hall {
        Employer::Contest(ask) => SeriesWelcome {
            program,
            title: ask.settings.title.clone(),
            worker: worker(&ask)?.name.clone(),
            terms: Some(ask.site.server.terms().clone()),
            trusts_bots: ask.settings.trusts_bots,
            packages: ask.settings.packages.clone(),
            memory: ask.settings.memory,
            image: ask.settings.image.clone(),
            beat_ms: (LEASE_MS / 3).unsigned_abs(),
        },
        Employer::Fleet(fleet) => SeriesWelcome {
            program,
            title: fleet.title().to_owned(),
            worker: "this machine".to_owned(),
            terms: None,
            trusts_bots: true,
            packages: Vec::new(),
            memory: None,
            image: None,
            beat_ms: fleet::LEASE_MS / 3,
        },
    }))
}

/// A process introduces itself; its machine must be fit.
pub async fn hello(hall: Employer, Told(hello): Told<Hello>) -> Result<Json<Admitted>, Refused> {
    hall.same_program(&hello.program)?;
    check_name(&hello.run).map_err(Refused::wrong)?;
    let unfit = |whom: &str, why| {
        Refused::new(StatusCode::FORBIDDEN, format!("This machine does not fit the {whom}"), why)
    };
    let ask = match hall {
        Employer::Contest(ask) => ask,
        Employer::Fleet(fleet) => {
            let worker = fleet.act(|fleet, now| fleet.hello(&hello.run, hello.machine, now));
            return worker.map(|worker| Json(Admitted { worker })).map_err(|why| unfit("fleet", why));
        }
    };
    let worker = worker(&ask)?;
    let machine = hello.machine;
    if let Some(why) = needs(&ask, worker.id).await?.unmet_by(&machine) {
        return Err(unfit("contest", why));
    }
    // Another process under its name gives back what the one before it had.
    ask.site.server.quotas().give_back(worker.id, ask.now);
    let about = serde_json::to_string(&machine).map_err(|_| Refused::ours())?;
    let admit = Admit { worker: worker.id, run: hello.run, level: machine.level, about, now: ask.now };
    match ask.site.store().act(admit).await? {
        true => Ok(Json(Admitted { worker: worker.name.clone() })),
        // Revoked a moment ago: the next request will say so.
        false => Err(Refused::nothing()),
    }
}

/// What a machine needs to play here.
async fn needs(ask: &Visit, worker: WorkerId) -> Result<Requirements, Refused> {
    let own = ask.site.machine();
    let speed = match (ask.settings.workers.speed, own.and_then(|own| own.speed)) {
        (Some(speed), _) => Some((speed, "the contest's settings")),
        (None, Some(speed)) => Some((speed, "the server's machine")),
        (None, None) => {
            let first = ask.site.store().first_machine(worker).await?;
            let first = first.and_then(|about| serde_json::from_str::<PlayingMachine>(&about).ok());
            first.map(|first| (first.speed, "the first machine that joined"))
        }
    };
    // A machine that holds strangers' bots fetches the contest's image.
    let fetches = ask.settings.image.is_some() && !ask.settings.trusts_bots;
    let languages = own.filter(|_| !fetches).map(|own| own.languages.as_slice()).unwrap_or_default();
    Ok(Requirements {
        trusts_bots: ask.settings.trusts_bots,
        level: ask.settings.level,
        speed: speed.map(|(speed, whose)| (speed, whose.to_owned())),
        tolerance: ask.settings.workers.tolerance,
        set_by: "the organiser sets the band: `agon serve set`, speed and tolerance",
        packages: ask.settings.packages.clone(),
        languages: languages.iter().map(|language| language.name.clone()).collect(),
    })
}

/// How long a paused worker waits before it asks again.
const PAUSED: Duration = Duration::from_secs(1);

/// Leases matches.
pub async fn lease(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(wanted): Told<LeaseRequest>,
) -> Result<Json<Granted>, Refused> {
    check_name(&wanted.request).map_err(Refused::wrong)?;
    let granted = match hall {
        Employer::Contest(ask) => of_contest(&ask, &own.run, &wanted).await?,
        Employer::Fleet(fleet) => of_fleet(&fleet, &own.run, &wanted).await?,
    };
    Ok(Json(granted.unwrap_or_default()))
}

async fn of_contest(ask: &Visit, run: &str, wanted: &LeaseRequest) -> Result<Option<Granted>, Refused> {
    let worker = admitted(ask, run)?;
    let is_paused = self::worker(ask)?.paused;
    let until = Instant::now() + Duration::from_millis(wanted.wait_ms.min(LONGEST_WAIT_MS));
    // A paused worker does not block others: it gets what it already has, and otherwise nothing after a while.
    let (until, rests) = match is_paused {
        true => (Instant::now(), until.min(Instant::now() + PAUSED)),
        false => (until, Instant::now()),
    };
    let most = wanted.most.min(MOST_LEASED);
    let asks = || async {
        let granted = ask.site.server.lease(worker, &wanted.request, most, ask.site.now()).await?;
        Ok::<_, Refused>(granted.lease.is_some().then_some(granted))
    };
    let granted = ask.site.bench.wait(until, ask.site.server.done(), asks).await?;
    if granted.is_none() {
        sleep_until(rests).await;
    }
    Ok(granted)
}

async fn of_fleet(fleet: &Fleet, run: &str, wanted: &LeaseRequest) -> Result<Option<Granted>, Refused> {
    // Until there is something, or nothing more can come.
    let asked =
        fleet.wait(wanted.wait_ms, |fleet, now| match fleet.lease(run, &wanted.request, wanted.most, now) {
            Some(granted) => granted.lease.is_some().then_some(Ok(granted)),
            None => {
                let text = "This series is over for this machine: ask for another one.";
                Some(Err(Refused::new(StatusCode::GONE, "Over", text)))
            }
        });
    asked.await.transpose()
}

/// A match begins.
pub async fn start(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(attempt): Told<Try>,
) -> Result<Json<Yours>, Refused> {
    let yours = match hall {
        Employer::Contest(ask) => ask.site.server.start(admitted(&ask, &own.run)?, attempt, ask.now).await?,
        Employer::Fleet(fleet) => fleet.fleet().holds(&own.run, attempt),
    };
    Ok(Json(Yours { yours }))
}

/// The part of a match that a worker tells of.
#[derive(Deserialize)]
pub struct TellsOf {
    run: String,
    game: i64,
    n: i64,
    piece: u64,
}

/// A match that is being played, as far as the body says. A fleet's matches are followed by nobody.
pub async fn told(
    hall: Employer,
    ReadQuery(of): ReadQuery<TellsOf>,
    body: Body,
) -> Result<Json<NextPiece>, Refused> {
    let Employer::Contest(ask) = hall else { return Ok(Json(NextPiece { next: None })) };
    let (worker, attempt) = (admitted(&ask, &of.run)?, Try { game: of.game, n: of.n });
    let chunks = read::file(body, MOST_PIECE as u64).await?;
    let next = ask.site.server.tell(worker, attempt, of.piece, &chunks, ask.now).await?;
    Ok(Json(NextPiece { next }))
}

/// A lease is renewed.
pub async fn beat(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(beat): Told<Beat>,
) -> Result<Json<Yours>, Refused> {
    let yours = match hall {
        Employer::Contest(ask) => {
            ask.site.server.beat(admitted(&ask, &own.run)?, beat.lease, ask.now).await?
        }
        Employer::Fleet(fleet) => fleet.act(|fleet, now| fleet.beat(&own.run, beat.lease, now)),
    };
    Ok(Json(Yours { yours }))
}

/// Which of the sources that are unpacked at a worker belong to nobody any more.
pub async fn unpacked(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(unpacked): Told<Unpacked>,
) -> Result<Json<Unpacked>, Refused> {
    if unpacked.sources.len() > MOST_UNPACKED {
        return Err(Refused::wrong(format!("At most {MOST_UNPACKED} sources are asked about at once.")));
    }
    let sources = match hall {
        Employer::Contest(ask) => {
            admitted(&ask, &own.run)?;
            ask.site.server.unneeded(&unpacked.sources).await?
        }
        // All bots are the owner's own.
        Employer::Fleet(_) => Vec::new(),
    };
    Ok(Json(Unpacked { sources }))
}

/// A build has begun.
pub async fn building(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(attempt): Told<Try>,
) -> Result<Json<Yours>, Refused> {
    let yours = match hall {
        Employer::Contest(ask) => {
            ask.site.server.building(admitted(&ask, &own.run)?, attempt, ask.now).await?
        }
        Employer::Fleet(fleet) => fleet.fleet().holds(&own.run, attempt),
    };
    Ok(Json(Yours { yours }))
}

/// A build has ended; its output comes as it is. In a fleet it is of no interest after success, and comes with the reason after failure.
pub async fn built(
    hall: Employer,
    ReadQuery(own): ReadQuery<BuildOutput>,
    body: Body,
) -> Result<Json<()>, Refused> {
    let worker = match &hall {
        Employer::Contest(ask) => Some((ask, admitted(ask, &own.run)?)),
        Employer::Fleet(_) => None,
    };
    let log = read::file(body, agon_worker::versions::MOST_LOG).await?;
    if let Some((ask, worker)) = worker {
        let attempt = Try { game: own.game, n: own.n };
        ask.site.server.built(worker, attempt, &log, ask.now).await?;
    }
    Ok(Json(()))
}

/// Matches are over.
pub async fn results(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    body: Body,
) -> Result<Json<ReceivedAll>, Refused> {
    let posted = match hall {
        Employer::Contest(ask) => {
            let worker = admitted(&ask, &own.run)?;
            let place = incoming::place(&ask, worker)?;
            let post = incoming::whole(ask.site.folder(), body, LARGEST_RESULT, Some(place)).await?;
            let all = Sent::read_all(&post.bytes).map_err(|why| read::wrong(&why))?;
            let mut images = all.iter().flat_map(|(line, _)| &line.observed.images);
            let other = images.find(|other| ask.settings.image.as_ref().is_some_and(|image| image != *other));
            // Nothing of it is stored.
            if other.is_some() {
                return Err(other_image(&ask, other));
            }
            let parts =
                all.iter().map(|(line, replay)| (line.attempt, (&line.observed, *replay, &line.own[..])));
            let posted = ask.site.server.post_all(worker, &parts.collect::<Vec<_>>(), ask.now).await?;
            // The image was changed a moment ago, or there was none.
            if posted.contains(&Posted::OtherImage) {
                let mut images = all.iter().flat_map(|(line, _)| &line.observed.images);
                return Err(other_image(&ask, images.next()));
            }
            posted
        }
        Employer::Fleet(fleet) => {
            let post = incoming::whole(fleet.folder(), body, LARGEST_RESULT, None).await?;
            let all = Sent::read_all(&post.bytes).map_err(|why| read::wrong(&why))?;
            fleet.act(|fleet, _| {
                let each = all
                    .into_iter()
                    .map(|(line, replay)| fleet.post(&own.run, line.attempt, line.observed, replay));
                each.collect()
            })
        }
    };
    Ok(Json(ReceivedAll { posted }))
}

/// The refusal of what was not played in the contest's image.
fn other_image(ask: &Visit, other: Option<&String>) -> Refused {
    let held = ask.site.settings();
    let image = held.image.as_deref().unwrap_or("another");
    let was = match other {
        Some(other) => format!("in the image {}", other.chars().take(64).collect::<String>()),
        None => "in no image".to_owned(),
    };
    let text = format!(
        "This was played {was}, and the contest's is {image}. The match is played again; an agon work that goes on fetches that image."
    );
    Refused::new(StatusCode::CONFLICT, OTHER_IMAGE, text)
}

/// A match came to nothing.
pub async fn void(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(voided): Told<Voided>,
) -> Result<Json<()>, Refused> {
    let Voided { attempt, nothing } = voided;
    match hall {
        Employer::Contest(ask) => {
            ask.site.server.void(admitted(&ask, &own.run)?, attempt, &nothing, ask.now).await?;
        }
        Employer::Fleet(fleet) => fleet.act(|fleet, _| fleet.void(&own.run, attempt, nothing)),
    }
    Ok(Json(()))
}

/// Gives something back.
pub async fn abort(
    hall: Employer,
    ReadQuery(own): ReadQuery<CallerRun>,
    Told(back): Told<Back>,
) -> Result<Json<()>, Refused> {
    match hall {
        Employer::Contest(ask) => {
            ask.site.server.abort(admitted(&ask, &own.run)?, back.lease, ask.now).await?;
        }
        Employer::Fleet(fleet) => fleet.act(|fleet, _| fleet.abort(&own.run, back.lease)),
    }
    Ok(Json(()))
}

/// The source of a version, for a match that the worker has leased, or of a bot of the series that it plays.
pub async fn source(hall: Employer, ReadQuery(own): ReadQuery<CallerSource>) -> Result<Response, Refused> {
    let bytes = match hall {
        Employer::Contest(ask) => {
            let bytes = ask.site.server.fetch_for(admitted(&ask, &own.run)?, &own.sha).await?;
            bytes.ok_or_else(Refused::nothing)?
        }
        Employer::Fleet(fleet) => {
            let bytes = fleet.fleet().source(&own.run, &own.sha).map(|bytes| bytes.to_vec());
            let none = "No such bot is being played.";
            bytes.ok_or_else(|| Refused::new(StatusCode::NOT_FOUND, "Nothing is here", none))?
        }
    };
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// The contest's image, for a machine that is about to join.
pub async fn image(hall: Employer, wanted: ReadQuery<ImageQuery>) -> Result<Response, Refused> {
    let Employer::Contest(ask) = hall else { return Err(Refused::nothing()) };
    about::image(*ask, wanted).await
}
