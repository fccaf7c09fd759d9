//! A version, for whoever it belongs to: does it play, why not, and is there a way back.

use agon_store::acts::Return;
use agon_store::reads::Filter;
use agon_store::{Stage, Version, VersionId, VersionState, Whose};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};

use crate::gate::Ask;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, act};
use crate::pages::{matches, words};
use crate::problem::Problem;
use crate::rights::{Verb, may};

async fn found(ask: &Ask) -> Result<Version, Problem> {
    let versions = ask.site.store().versions(ask.site.contest()).await?;
    versions.into_iter().find(|version| version.id == VersionId(ask.id)).ok_or_else(Problem::nothing)
}

/// The page.
pub async fn page(ask: Ask) -> Result<Markup, Problem> {
    let version = found(&ask).await?;
    let shown = ask.site.shown().await?;
    let team = shown.teams.get(&version.entrant).ok_or_else(Problem::nothing)?;
    let (store, contest) = (ask.site.store(), ask.site.contest());
    let filter = Filter { version: Some(version.id), ..Filter::default() };
    let played = store.matches(contest, ask.eyes(), &filter).await?;
    let live = shown
        .board
        .versions
        .iter()
        .find(|other| other.entrant == version.entrant && other.state == VersionState::Live);
    let rated = shown.board.table.places.iter().find(|place| place.version == version.id.0);
    let n = version.n;
    let (answer, lead) = match version.state {
        VersionState::Live => (
            format!("v{n} is live"),
            format!(
                "It stands for {}: {} so far.",
                version.entrant,
                words::many(rated.map_or(0, |place| place.matches as i64), "rated match", "rated matches")
            ),
        ),
        VersionState::Former => (
            format!("v{n} does not play any more"),
            "A later version stands for the team. This one keeps all its matches.".to_owned(),
        ),
        VersionState::Failed => (
            format!("v{n} cannot play"),
            live.map_or_else(
                || {
                    "Nothing of yours is on the ladder: change what is said below, and hand it in again."
                        .to_owned()
                },
                |live| {
                    format!(
                        "v{} goes on playing as before. Change what is said below, and hand it in again.",
                        live.n
                    )
                },
            ),
        ),
        VersionState::Trial => (
            format!("v{n} plays against the version before"),
            "It takes that one's place when it is better.".to_owned(),
        ),
        VersionState::Draft => return Err(Problem::nothing()),
        VersionState::Received | VersionState::Building | VersionState::Checking => (
            format!(
                "v{n} is being {}",
                if version.state == VersionState::Building { "built" } else { "checked" }
            ),
            "It is made ready and plays one match; when that goes without a fault it is live.".to_owned(),
        ),
    };
    let may_act = may(&ask.actor, Verb::Act, ask.object);
    let heading = html! {
        p.crumbs { a href=(format!("/team/{}", team.id)) { (team.name) } " / Versions" }
        div.heading {
            h1 { (answer) }
            div.row {
                @if may_act && version.state == VersionState::Former {
                    (act(&ask, &format!("/version/{}/live", version.id), "main", html! { (icon("back")) "Go back to v" (n) }))
                }
                @if may_act && version.state == VersionState::Failed { a.button.main href="/upload" { (icon("up")) "Hand in again" } }
            }
        }
        p.lead { (lead) }
    };
    let content = html! {
        ol.steps { (steps(&ask, &version)) }
        (why(&version))
        section.card {
            header { h2 { "Matches of v" (n) } }
            @if played.is_empty() { p.empty { "No matches yet. Its check match comes first." } }
            @else { (matches::table(&ask, &played[..played.len().min(20)], Some(team.id))) }
        }
        dl.facts {
            dt { "Handed in" } dd { (ask.settings.told(version.received, "%a %-d %b %Y %H:%M:%S")) " " span.faint { (ask.settings.zone_name()) } }
            dt { "SHA-256" } dd { code { (version.source) } }
        }
    };
    Ok(frame::with_heading(&ask, Here::Home, &answer, heading, content))
}

/// Why it failed: whose doing it is comes first.
fn why(version: &Version) -> Markup {
    let Some(cause) = &version.cause else {
        return html! {
            @if let Some(reason) = &version.reason {
                section.card { header { h2 { "What happened" } } div.in { pre.said { (reason) } } }
            }
        };
    };
    let whose = match cause.whose {
        Whose::Yours => chip("warn", "warn", "yours"),
        Whose::Ours => chip("bad", "warn", "ours"),
    };
    html! {
        section.card {
            header { div.row { h2 { "What happened" } (whose) } span.faint { (stage(cause.stage)) } }
            div.in {
                pre.said { (cause.what) }
                @if let Some(fix) = &cause.fix { p.fix { b { "What to do: " } (fix) } }
                @if cause.whose == Whose::Ours { p.fix { "Nothing is wrong with what you handed in. Hand it in again; if it stays so, tell an organiser." } }
            }
        }
    }
}

/// At which step.
fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Unpacking => "while it was unpacked",
        Stage::Building => "in its build",
        Stage::Starting => "when it was started",
        Stage::Match => "in its check match",
    }
}

/// How many of the steps from upload to ladder are over, and whether the next failed.
fn progress(version: &Version) -> (usize, bool) {
    match (version.state, version.cause.as_ref().map(|cause| cause.stage)) {
        (VersionState::Received | VersionState::Building | VersionState::Draft, _) => (1, false),
        (VersionState::Checking, _) => (2, false),
        (VersionState::Trial, _) => (3, false),
        (VersionState::Live | VersionState::Former, _) => (4, false),
        (VersionState::Failed, Some(Stage::Unpacking | Stage::Building)) => (1, true),
        (VersionState::Failed, _) => (2, true),
    }
}

/// The steps from upload to ladder.
fn steps(ask: &Ask, version: &Version) -> Markup {
    let (over, failed) = progress(version);
    let received = format!(
        "{}, {} ago",
        ask.settings.told(version.received, "%H:%M:%S"),
        words::ago(version.received, ask.now)
    );
    let last = match version.only_if_better {
        true => "when it is better than the one before",
        false => "as soon as it passed",
    };
    let texts = [
        ("Handed in", received.as_str()),
        ("Built", "unpacked and made ready, without a network"),
        ("Check match", "one match without a fault"),
        ("Live", last),
    ];
    html! {
        @for (number, (title, text)) in texts.into_iter().enumerate() {
            @let (class, name) = match number {
                _ if number < over => ("done-step", "check"),
                _ if number == over && failed => ("failed", "cross"),
                _ if number == over => ("now", "clock"),
                _ => ("", "clock"),
            };
            li.(class) { h3 { (icon(name)) (title) } p { (text) } }
        }
    }
}

/// A version that stood for its team before does so again.
pub async fn live(ask: Ask) -> Result<Response, Problem> {
    let actor = ask.whoever()?.name.clone();
    let act = Return { version: VersionId(ask.id), actor, now: ask.now };
    if !ask.site.store().act(act).await? {
        let text = "Only a version that has been live before can be gone back to, and this one is live now or never was.";
        return Err(Problem::wrong(text).then("The version", &format!("/version/{}", ask.id)));
    }
    Ok(Redirect::to(&format!("/version/{}", ask.id)).into_response())
}
