//! Rulings: the public list, and the organiser's form.

use agon_server::ServerError;
use agon_store::acts::{Annul, GiveRuling, WhatAgain};
use agon_store::{Annulled, EntrantId, LogEntry, MatchId, Ruled, Ruling, VersionId, VersionState};
use axum::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::words;
use crate::problem::Refused;
use crate::redirect;
use crate::site::Shown;

/// The fields of the form on a match's page.
#[derive(Deserialize)]
pub struct Again {
    #[serde(default, rename = "match")]
    game: i64,
    #[serde(default)]
    reason: String,
}

/// The fields of the form.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Typed {
    /// The team's number, or `team/version` for a single version.
    #[serde(default)]
    about: String,
    #[serde(default)]
    ruling: String,
    #[serde(default)]
    reason: String,
}

impl Typed {
    fn about(&self) -> Option<(EntrantId, Option<VersionId>)> {
        let (team, version) = match self.about.split_once('/') {
            Some((team, version)) => (team, Some(version.parse().ok()?)),
            None => (self.about.as_str(), None),
        };
        Some((EntrantId(team.parse().ok()?), version.map(VersionId)))
    }
}

/// The subject of a ruling, as people know it.
fn whom(shown: &Shown, ruled: &Ruled) -> Markup {
    let name = shown
        .teams
        .values()
        .find(|team| team.id == ruled.entrant)
        .map_or("a team", |team| team.name.as_str());
    let version = shown.board.versions.iter().find(|version| Some(version.id) == ruled.version);
    html! {
        a href=(format!("/team/{}", ruled.entrant)) { b { (name) } }
        @if let Some(version) = version { " v" (version.n) }
    }
}

fn what(ruled: &Ruled) -> Markup {
    match (ruled.ruling, ruled.version) {
        (Ruling::Out, None) => chip("bad", "cross", "disqualified"),
        (Ruling::Out, Some(_)) => chip("warn", "cross", "taken out"),
        (Ruling::Back, _) => chip("good", "check", "reinstated"),
    }
}

/// What was played again, as people know it: the log holds the number of a version.
fn annulled(shown: &Shown, row: &Annulled) -> String {
    let number = row.what.strip_prefix("version ").and_then(|number| number.parse().ok());
    let version =
        number.and_then(|number| shown.board.versions.iter().find(|version| version.id == VersionId(number)));
    version.map_or_else(|| row.what.clone(), |version| format!("{} v{}", version.entrant, version.n))
}

/// A ruling: when, who, what, why, and its row of the log.
fn row(ask: &Visit, shown: &Shown, decided: &LogEntry) -> Markup {
    let (at, who, what, why) = match decided {
        LogEntry::Ruling(ruled) => (ruled.at, whom(shown, ruled), what(ruled), &ruled.reason),
        LogEntry::Annulment(row) => {
            let who = html! { b { (annulled(shown, row)) } ", " (words::many(row.blocks.len() as i64, "block", "blocks")) };
            (row.at, who, chip("warn", "back", "played again"), &row.reason)
        }
        LogEntry::Result(_) | LogEntry::Settings(_) => return html! {},
    };
    html! {
        tr {
            td.time { (ask.settings.told(at, "%a %-d %b %H:%M")) }
            td { (who) }
            td { (what) }
            td { (why) }
            td.number.wide { (words::count(decided.seq())) }
        }
    }
}

/// A table of rulings, the newest first.
fn table(ask: &Visit, shown: &Shown, decided: &[LogEntry]) -> Markup {
    html! {
        table.dated {
            thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Why" } th.number.wide scope="col" { "Log entry" } } }
            tbody { @for one in decided.iter().rev().take(200) { (row(ask, shown, one)) } }
        }
    }
}

/// The rulings, and a sentence that sums them up.
async fn decided(ask: &Visit) -> Result<(Vec<LogEntry>, String), Refused> {
    let store = ask.site.store();
    let (rulings, decided) = (store.rulings().await?, store.decisions().await?);
    let out = agon_store::out(&rulings).len() as i64;
    let answer = match (decided.is_empty(), out) {
        (true, _) => "No rulings yet".to_owned(),
        (_, 0) => "Nobody is disqualified".to_owned(),
        (_, out) => {
            format!("{} disqualified", words::many(out, "team or version is", "teams or versions are"))
        }
    };
    Ok((decided, answer))
}

/// The public list.
pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let (decided, answer) = decided(&ask).await?;
    let content = html! {
        section.card {
            @if decided.is_empty() { p.empty { "When an organiser takes a team or a version out of the ratings, or has matches played again, it is listed here with the reason." } }
            @else { (table(&ask, &shown, &decided)) }
        }
        p.faint.foot { "Rulings are entries in the sealed log. They take a team, a version or some matches out of the ratings, also in retrospect; the log keeps everything, so that anyone can recompute the table from it." }
    };
    let lead = "What organisers have decided about teams and versions, and why.";
    Ok(frame::page(&ask, Here::Ladder, &answer, lead, content))
}

/// The organiser's form.
pub async fn form(ask: Visit) -> Result<Markup, Refused> {
    form_page(&ask, &Typed::default(), None).await
}

async fn form_page(ask: &Visit, typed: &Typed, why: Option<&str>) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let (decided, answer) = decided(ask).await?;
    let teams: Vec<_> = shown.teams.values().filter(|team| !team.boss).take(500).collect();
    let choice = |ruling: &str, label: &str, what: &str| {
        html! {
            label.choice {
                input type="radio" name="ruling" value=(ruling) checked[typed.ruling == ruling] required;
                span { b { (label) } " " span.faint { (what) } }
            }
        }
    };
    let content = html! {
        @if teams.is_empty() { p.empty { "There are no teams yet." } }
        @else {
            form.card.form method="post" action="/organise/rulings" {
                (wrong(why))
                (token(ask))
                (field("Team or version", "", html! { select name="about" required { @for team in &teams {
                    option value=(team.id) selected[typed.about == team.id.to_string()] { (team.name) ", all versions" }
                    @for version in shown.board.versions.iter().rev().filter(|version| version.entrant == team.name && !version.state.is_waiting() && version.state != VersionState::Failed).take(10) {
                        @let value = format!("{}/{}", team.id, version.id);
                        option value=(value) selected[typed.about == value] { (team.name) " v" (version.n) @if version.state == VersionState::Live { ", live" } }
                    }
                } } }))
                fieldset {
                    legend { "What" }
                    (choice("out", "Out of the ratings", "It no longer plays, and none of its matches count, as if it had never played. The log keeps them all."))
                    (choice("back", "Reinstate", "Its matches count again. A version that was taken out does not go live by itself: its team chooses it again."))
                    (choice("again", "Play again", "What it has played so far no longer counts, for anyone; if it is live, the same number of matches is played again. This cannot be undone."))
                }
                (field("Reason", "One line, for everyone to read.", html! { input name="reason" value=(typed.reason) required maxlength="300"; }))
                button.main { (icon("flag")) "Record the ruling" }
            }
        }
        section.card {
            header { h2 { "Rulings" } a href="/rulings" { "Public page" } }
            @if decided.is_empty() { p.empty { "None yet." } } @else { (table(ask, &shown, &decided)) }
        }
    };
    let lead = "Each ruling is recorded in the sealed log and takes effect immediately. To have a single match played again, open its page.";
    Ok(frame::page(ask, Here::Organise, &answer, lead, content))
}

/// Makes a ruling.
pub async fn rule(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let again = async |why: &str| -> Result<Response, Refused> {
        let page = form_page(&ask, &typed, Some(why)).await?;
        Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
    };
    let (contest, reason, actor) = (ask.site.contest(), typed.reason.clone(), ask.whoever()?.name.clone());
    if let (Some((_, version)), "again") = (typed.about(), typed.ruling.as_str()) {
        let Some(version) = version else {
            return again("Choose a single version: a team's matches are those of its versions.").await;
        };
        let annul = Annul { contest, what: WhatAgain::Version(version), reason, actor, now: ask.now };
        return match ask.site.server.annul(annul, ask.now).await {
            Ok(0) => again("None of this version's matches count. Nothing was done.").await,
            Ok(_) => Ok(redirect::to("/organise/rulings").into_response()),
            Err(ServerError::Wrong(why)) => again(&words::sentence(&why)).await,
            Err(error) => Err(error.into()),
        };
    }
    let (Some((entrant, version)), Ok(ruling)) = (typed.about(), Ruling::of(&typed.ruling)) else {
        return again("Choose a team or version, and a ruling.").await;
    };
    let rule = GiveRuling { contest, ruling, entrant, version, reason, actor, now: ask.now };
    match ask.site.server.rule(rule, ask.now).await {
        Ok(true) => Ok(redirect::to("/organise/rulings").into_response()),
        Ok(false) => {
            again("Nothing was changed: that ruling applies already, or there is no such team or version.")
                .await
        }
        Err(ServerError::Wrong(why)) => again(&words::sentence(&why)).await,
        Err(error) => Err(error.into()),
    }
}

/// The organiser's form on a match's page.
pub fn again_form(ask: &Visit, game: MatchId) -> Markup {
    html! {
        form.card.form method="post" action="/organise/again" {
            h2 { "Play it again" }
            (token(ask))
            input type="hidden" name="match" value=(game);
            (field("Reason", "One line, for everyone to read. The whole block no longer counts, whoever played in it, and is played again with another seed. This cannot be undone.", html! { input name="reason" required maxlength="300"; }))
            button.danger { (icon("back")) "Play again" }
        }
    }
}

/// Has the block of a match played again.
pub async fn again(ask: Visit, Form(typed): Form<Again>) -> Result<Response, Refused> {
    let (contest, actor) = (ask.site.contest(), ask.whoever()?.name.clone());
    let what = WhatAgain::Match(MatchId(typed.game));
    let annul = Annul { contest, what, reason: typed.reason, actor, now: ask.now };
    let back = format!("/match/{}", typed.game);
    match ask.site.server.annul(annul, ask.now).await {
        Ok(0) => {
            let text = "Only a finished ladder match that counts can be played again. Nothing was done.";
            Err(Refused::wrong(text).then("The match", &back))
        }
        Ok(_) => Ok(redirect::to("/rulings").into_response()),
        Err(ServerError::Wrong(why)) => Err(Refused::wrong(words::sentence(&why)).then("The match", &back)),
        Err(error) => Err(error.into()),
    }
}

/// Refuses what a team hands in that would never play: an organiser has disqualified it.
///
/// # Errors
/// When it is disqualified.
pub async fn admit(ask: &Visit) -> Result<(), Refused> {
    let Some(team) = ask.person().and_then(|person| person.team) else { return Ok(()) };
    let rulings = ask.site.store().rulings().await?;
    if !agon_store::out(&rulings).contains(&(team, None)) {
        return Ok(());
    }
    let reason = rulings.iter().rev().find(|ruled| ruled.entrant == team && ruled.version.is_none());
    let reason = reason.map_or("", |ruled| ruled.reason.as_str());
    let text = format!(
        "Reason: {} Your team cannot submit until it is reinstated. If you disagree, talk to the organiser.",
        words::sentence(reason)
    );
    Err(Refused::new(StatusCode::FORBIDDEN, "Your team is disqualified", text).then("Rulings", "/rulings"))
}
