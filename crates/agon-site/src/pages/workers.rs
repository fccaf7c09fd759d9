//! The organiser's page of the machines that play: who they are, what each has leased, and their tokens.

use agon_server::ServerError;
use agon_store::acts::{Annul, Enlist, Enlisted, LetPlayOn, Revoke, WhatAgain};
use agon_store::reads::Working;
use agon_store::{Time, WorkerId};
use agon_worker::wire::PlayingMachine;
use axum::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::draw::chip;
use crate::pages::frame::{self, Here, token, wrong};
use crate::pages::words;
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// After how long without a word a worker counts as silent, in milliseconds.
pub const SILENT: i64 = 60_000;
const HOUR: i64 = 3_600_000;
/// The path of the page.
const BACK: &str = "/organise/workers";

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    worker: i64,
    #[serde(default)]
    reason: String,
}

/// What a worker said about its machine.
fn machine(worker: &Working) -> Option<PlayingMachine> {
    serde_json::from_str(worker.about.as_deref()?).ok()
}

fn state(ask: &Visit, worker: &Working) -> Markup {
    let quiet = ask.now.0 - worker.seen.0 > SILENT;
    let ago = || words::ago(worker.seen, ask.now);
    match worker {
        Working { revoked: Some(_), .. } => chip("", "cross", "revoked"),
        Working { paused: Some(_), .. } => chip("bad", "pause", "paused"),
        Working { seen: Time(0), .. } => chip("", "clock", "never connected"),
        Working { playing: 1.., .. } if is_silent(worker, ask.now) => {
            chip("bad", "warn", &format!("no contact for {}", ago()))
        }
        Working { playing: 1.., .. } => chip("good", "play", "playing"),
        // The built-in worker has no token, and is asked nothing while there is nothing to play.
        Working { made: Some(_), .. } if quiet => chip("", "pause", &format!("disconnected {} ago", ago())),
        _ => chip("", "pause", "idle"),
    }
}

/// Whether a machine that has matches in hand has not been heard from for too long. The built-in worker has no token: it is this
/// very program, which is asked nothing while there is nothing to play.
pub fn is_silent(worker: &Working, now: Time) -> bool {
    worker.made.is_some() && worker.revoked.is_none() && worker.playing > 0 && now.0 - worker.seen.0 > SILENT
}

/// How many of its tries of the last hour came to nothing.
fn void(worker: &Working) -> String {
    match worker.posted + worker.wasted {
        0 => "–".to_owned(),
        _ if worker.wasted == 0 => "0".to_owned(),
        tries => format!(
            "{} ({})",
            words::count(worker.wasted),
            words::percent(worker.wasted as f64 / tries as f64)
        ),
    }
}

/// The card in the cockpit.
pub fn card(ask: &Visit, workers: &[Working]) -> Markup {
    html! {
        section.card {
            header { h2 { "Workers" } a href="/organise/workers" { "All machines and tokens" } }
            table.dense {
                thead { tr { th scope="col" { "Machine" } th.number scope="col" { "Running" } th.number scope="col" { "Last hour" } th.number.desk scope="col" { "Void" } th scope="col" { "State" } } }
                tbody { @for worker in workers.iter().filter(|worker| worker.revoked.is_none()) { tr {
                    td { b { (worker.name) } @if worker.lies > 0 { " " (chip("bad", "warn", "alarm")) } }
                    td.number { (worker.playing) }
                    td.number { (words::count(worker.posted)) }
                    td.number.desk { (void(worker)) }
                    td { (state(ask, worker)) }
                } } }
            }
        }
    }
}

/// All machines.
pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    whole(&ask, None, None).await
}

async fn whole(ask: &Visit, why: Option<&str>, made: Option<(&str, &str)>) -> Result<Markup, Refused> {
    let workers = ask.site.store().working(Time(ask.now.0 - HOUR)).await?;
    // A worker whose token was never used, or that is away, plays nothing.
    let plays = |worker: &&Working| {
        worker.made.is_some()
            && worker.revoked.is_none()
            && worker.paused.is_none()
            && ask.now.0 - worker.seen.0 <= SILENT
    };
    let elsewhere = workers.iter().filter(plays).count();
    let lying = workers.iter().find(|worker| worker.lies > 0 && worker.revoked.is_none());
    let silent = workers.iter().find(|worker| is_silent(worker, ask.now));
    let paused = workers.iter().find(|worker| worker.paused.is_some() && worker.revoked.is_none());
    let answer = match (lying.or(paused), silent, elsewhere) {
        (Some(worker), ..) if worker.paused.is_some() => format!("{} is paused", worker.name),
        (Some(worker), ..) => format!("{} posted results that its replays contradict", worker.name),
        (_, Some(worker), _) => format!("{} has gone quiet", worker.name),
        (_, _, 0) => "Matches run on this machine only".to_owned(),
        _ => format!("{} besides this one", words::many(elsewhere as i64, "machine plays", "machines play")),
    };
    let lead = match lying.or(paused) {
        Some(worker) if worker.paused.is_some() => {
            "Its results differ too much from the other machines', so it gets no more matches. It may be overloaded, broken or cheating. Results so far still count."
        }
        Some(_) => {
            "None of them counted: those matches were played again. Such a machine is broken or cheating; revoke its token."
        }
        None => {
            "Another machine needs the address of this site and a token; it needs no open port. It proves its sandbox and its speed when it joins, and may leave at any moment."
        }
    };
    let content = html! {
        @if let Some((name, secret)) = made { section.card {
            header { h2 { "The token of " (name) } }
            div.in {
                p { code.secret { (secret) } }
                p { "It is shown only once. Put it in a file on that machine, which needs " a href="/get" { "agon" } ", and run there:" }
                pre { "agon work " (ask.site.workers_at().unwrap_or(&ask.address)) " --token-file FILE" }
                (frame::alone(ask))
            }
        } }
        section.card {
            header { h2 { "Machines" } span.faint { "counts are for the last hour" } }
            table.dense {
                thead { tr {
                    th scope="col" { "Machine" } th scope="col" { "State" } th.number scope="col" { "Running" } th.number scope="col" { "Results" }
                    th.number scope="col" { "Void" } th.number.wide scope="col" { "Alarms (total)" } th.wide scope="col" { "Sandbox" } th.number.wide scope="col" { "Speed" }
                    th.number.wide scope="col" { "Last contact" } th scope="col" { "" }
                } }
                tbody { @for worker in &workers { (line(ask, worker)) } }
            }
            @for worker in workers.iter().filter(|worker| worker.revoked.is_none()) {
                @if let Some(why) = &worker.paused { div.in { p { b { (worker.name) } " is paused: " (why) "." } } }
            }
        }
        @if workers.iter().any(|worker| worker.revoked.is_some()) { (again_form(ask, &workers)) }
        form.card.form method="post" action="/organise/workers" {
            h2 { "Another machine" }
            (wrong(why))
            (token(ask))
            (frame::field("Name", "Each machine has a token of its own.", html! { input name="name" required maxlength="32" placeholder="hall-3"; }))
            button.main { "Create its token" }
        }
        p.faint.foot { "Speed: benchmark runs per second on one CPU. Machines outside the contest's allowed range are refused, with the figures. The range is set in contest.toml: [workers] speed, tolerance." }
    };
    Ok(frame::page(ask, Here::Organise, &answer, lead, content))
}

fn line(ask: &Visit, worker: &Working) -> Markup {
    let machine = machine(worker);
    html! { tr {
        td { b { (worker.name) } @if worker.made.is_none() { " " span.faint { "this machine" } } }
        td { (state(ask, worker)) }
        td.number { (worker.playing) @if let Some(machine) = &machine { span.faint { " of " (machine.jobs) } } }
        td.number { (words::count(worker.posted)) }
        td.number { (void(worker)) }
        td.number.wide { @if worker.lies > 0 { b { (words::count(worker.lies)) } } @else { "0" } }
        td.wide { (worker.level) @if let Some(attacks) = machine.as_ref().and_then(|machine| machine.attacks) { span.faint { ", " (attacks) " attacks held" } } }
        td.number.wide { @if let Some(machine) = &machine { (format!("{:.0}", machine.speed)) } @else { "–" } }
        td.number.wide { @if worker.seen.0 > 0 && worker.made.is_some() { (words::ago(worker.seen, ask.now)) " ago" } @else { "–" } }
        td.number { @if worker.made.is_some() && worker.revoked.is_none() {
            @if worker.paused.is_some() {
                form method="post" action="/organise/workers/on" { (token(ask)) input type="hidden" name="worker" value=(worker.id); button.plain { "Resume" } }
            }
            form method="post" action="/organise/workers/revoke" { (token(ask)) input type="hidden" name="worker" value=(worker.id); button.plain { "Revoke" } }
        } }
    } }
}

/// The form that takes back what a machine with a revoked token has posted.
fn again_form(ask: &Visit, workers: &[Working]) -> Markup {
    html! {
        form.card.form method="post" action="/organise/workers/again" {
            h2 { "Play its results again" }
            (token(ask))
            (frame::field("Machine", "One whose token was revoked.", html! { select name="worker" required { @for worker in workers.iter().filter(|worker| worker.revoked.is_some()) {
                option value=(worker.id) { (worker.name) }
            } } }))
            (frame::field("Reason", "One line, for everyone to read. Every block with a match that it reported no longer counts and is played again with other seeds. This cannot be undone.", html! { input name="reason" required maxlength="300"; }))
            button.danger { "Play again" }
        }
    }
}

/// Makes a token.
pub async fn enrol(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let again = async |why: &str| -> Result<Response, Refused> {
        Ok((StatusCode::UNPROCESSABLE_ENTITY, whole(&ask, Some(why), None).await?).into_response())
    };
    let name = match agon_server::check_name(typed.name.trim(), "a machine") {
        Ok(name) => name,
        Err(why) => return again(&why).await,
    };
    let (secret, actor) = (secrets::fresh(), ask.whoever()?.name.clone());
    let (contest, sha, now) = (ask.site.contest(), secrets::sha(&secret), ask.now);
    match ask.site.store().act(Enlist { contest, name: name.clone(), sha, actor, now }).await? {
        Enlisted::New(_) => Ok(whole(&ask, None, Some((&name, &secret))).await?.into_response()),
        Enlisted::Taken(other) => again(&format!("There is already a machine {other}.")).await,
        Enlisted::TooMany => again("There are already as many machines as allowed: revoke some.").await,
    }
}

/// Revokes a token.
pub async fn revoke(ask: Visit, Form(typed): Form<Typed>) -> Result<Redirect, Refused> {
    let (contest, now, actor) = (ask.site.contest(), ask.now, ask.whoever()?.name.clone());
    ask.site.store().act(Revoke { contest, worker: WorkerId(typed.worker), actor, now }).await?;
    Ok(redirect::to(BACK))
}

/// Lets a paused machine play on.
pub async fn on(ask: Visit, Form(typed): Form<Typed>) -> Result<Redirect, Refused> {
    let (contest, now, actor) = (ask.site.contest(), ask.now, ask.whoever()?.name.clone());
    ask.site.store().act(LetPlayOn { contest, worker: WorkerId(typed.worker), actor, now }).await?;
    Ok(redirect::to(BACK))
}

/// Annuls what a machine has posted, to be played again.
pub async fn again(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let workers = ask.site.store().working(ask.now).await?;
    let found =
        workers.into_iter().find(|worker| worker.id == WorkerId(typed.worker) && worker.revoked.is_some());
    let worker = found.ok_or_else(|| {
        Refused::wrong("Revoke the machine's token first: otherwise it would go on posting.")
            .then("Workers", BACK)
    })?;
    let (contest, now, actor) = (ask.site.contest(), ask.now, ask.whoever()?.name.clone());
    let annul = Annul { contest, what: WhatAgain::Worker(worker.name), reason: typed.reason, actor, now };
    match ask.site.server.annul(annul, now).await {
        Ok(0) => Err(Refused::wrong("None of its matches count. Nothing was done.").then("Workers", BACK)),
        Ok(_) => Ok(redirect::to("/rulings").into_response()),
        Err(ServerError::Wrong(why)) => {
            Err(Refused::wrong(format!("Not done: {why}.")).then("Workers", BACK))
        }
        Err(error) => Err(error.into()),
    }
}
