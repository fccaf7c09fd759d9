//! Rulings: the list that all can read, and the organiser's form.

use agon_server::ServerError;
use agon_store::acts::Rule;
use agon_store::{EntrantId, Ruled, Ruling, VersionId, VersionState};
use axum::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Ask;
use crate::pages::draw::{chip, icon};
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::words;
use crate::problem::Problem;
use crate::site::Shown;

/// What the form sends.
#[derive(Clone, Default, Deserialize)]
pub struct Typed {
    /// The team's number, or `team/version` where it is about a version alone.
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

/// Whom a ruling is about, as people know them.
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

/// A table of rulings, the newest first.
pub fn table(ask: &Ask, shown: &Shown, rulings: &[Ruled]) -> Markup {
    html! {
        table.dated {
            thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Why" } th.number.wide scope="col" { "Row of the log" } } }
            tbody { @for ruled in rulings.iter().rev().take(200) { tr {
                td.time { (ask.settings.told(ruled.at, "%a %-d %b %H:%M")) }
                td { (whom(shown, ruled)) }
                td { (what(ruled)) }
                td { (ruled.reason) }
                td.number.wide { (words::count(ruled.seq)) }
            } } }
        }
    }
}

/// The list, for all.
pub async fn page(ask: Ask) -> Result<Markup, Problem> {
    let shown = ask.site.shown().await?;
    let rulings = ask.site.store().rulings(ask.site.contest()).await?;
    let out = agon_store::out(&rulings).len() as i64;
    let answer = match (rulings.is_empty(), out) {
        (true, _) => "No ruling was made".to_owned(),
        (_, 0) => "Nobody is out".to_owned(),
        (_, out) => format!("{} out", words::many(out, "team or version is", "teams or versions are")),
    };
    let content = html! {
        section.card {
            @if rulings.is_empty() { p.empty { "When an organiser takes a team or a version out of the ratings, it stands here with the reason." } }
            @else { (table(&ask, &shown, &rulings)) }
        }
        p.faint.foot { "A ruling is a row of the sealed log: it takes a team or a version out of the ratings from the first match on, and nothing out of the log. Made again from the log, the table is the same." }
    };
    let lead = "What organisers have decided about teams and versions, and why.";
    Ok(frame::page(&ask, Here::Ladder, &answer, lead, content))
}

/// The organiser's form.
pub async fn form(ask: Ask) -> Result<Markup, Problem> {
    form_page(&ask, &Typed::default(), None).await
}

async fn form_page(ask: &Ask, typed: &Typed, why: Option<&str>) -> Result<Markup, Problem> {
    let shown = ask.site.shown().await?;
    let rulings = ask.site.store().rulings(ask.site.contest()).await?;
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
        @if teams.is_empty() { p.empty { "No team is there yet." } }
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
                    (choice("out", "Out of the ratings", "It plays no more, and no match of it counts, as if it had never played. The log keeps them all."))
                    (choice("back", "Reinstate", "Its matches count again, and it plays on where it stands for its team."))
                }
                (field("Reason", "One line, for all to read.", html! { input name="reason" value=(typed.reason) required maxlength="300"; }))
                button.main { (icon("flag")) "Rule" }
            }
        }
        section.card {
            header { h2 { "Rulings" } a href="/rulings" { "As all see them" } }
            @if rulings.is_empty() { p.empty { "None yet." } } @else { (table(ask, &shown, &rulings)) }
        }
    };
    let lead = "A ruling is written into the sealed log, changes the table at once, and can be taken back by another one.";
    Ok(frame::page(ask, Here::Organise, "Disqualify, take out, reinstate", lead, content))
}

/// A ruling is made.
pub async fn rule(ask: Ask, Form(typed): Form<Typed>) -> Result<Response, Problem> {
    let again = async |why: &str| -> Result<Response, Problem> {
        let page = form_page(&ask, &typed, Some(why)).await?;
        Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
    };
    let (Some((entrant, version)), Ok(ruling)) = (typed.about(), Ruling::of(&typed.ruling)) else {
        return again("Choose a team or version, and what is decided.").await;
    };
    let (contest, reason, actor) = (ask.site.contest(), typed.reason.clone(), ask.whoever()?.name.clone());
    let rule = Rule { contest, ruling, entrant, version, reason, actor, now: ask.now };
    match ask.site.server.rule(rule, ask.now).await {
        Ok(true) => Ok(Redirect::to("/organise/rulings").into_response()),
        Ok(false) => {
            again("That is so already, or there is no such team or version. Nothing was done.").await
        }
        Err(ServerError::Wrong(why)) => again(&format!("Not done: {why}.")).await,
        Err(error) => Err(error.into()),
    }
}
