//! The caller's own team: its members, and how one comes in and leaves.

use agon_store::acts::{JoinTeam, Joined, LeaveTeam, Left, MakeTeam, NewCode, TeamMade};
use axum::Form;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::account::again;
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, act, field, token, wrong};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Membership {
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
}

/// The caller's team.
pub async fn team(ask: Visit) -> Result<Markup, Refused> {
    team_page(&ask, None).await
}

async fn team_page(ask: &Visit, why: Option<&str>) -> Result<Markup, Refused> {
    let person = ask.whoever()?;
    let team = match person.team {
        Some(team) => ask.site.store().entrant(team).await?,
        None => None,
    };
    let most = ask.settings.team_size;
    let Some(team) = team else {
        let content = html! {
            (wrong(why))
            div.halves {
                form.card.form method="post" action="/team/new" {
                    h2 { "Create a team" }
                    (token(ask))
                    (field("Name", "Everybody sees it.", html! { input name="name" required maxlength="128" spellcheck="false"; }))
                    button.main { "Create" }
                }
                @if most > 1 {
                    form.card.form method="post" action="/team/join" {
                        h2 { "Join a team" }
                        (token(ask))
                        (field("Code", "Members see it on this page, for example K7PQM-3XWDA.", html! { input name="code" required autocomplete="off" spellcheck="false"; }))
                        button { "Join" }
                    }
                }
            }
        };
        let lead = match most {
            1 => "Everyone plays alone here. If you submit without a team, one is created with your name."
                .to_owned(),
            _ => format!(
                "Up to {most} people play together. If you submit without a team, one is created with your name."
            ),
        };
        return Ok(frame::page(ask, Here::Home, "You are not in a team yet", &lead, content));
    };
    let has_room = team.members.len() < usize::from(most);
    let content = html! {
        (wrong(why))
        div.halves {
            section.card {
                header { h2 { "Members" } span.faint { (members(team.members.len(), most)) } }
                ul.items { @for (_, name) in &team.members { li { (icon("people")) div { b { (name) } @if *name == person.name { " " span.chip { "you" } } } } } }
            }
            section.card {
                header { h2 { "Code" } }
                div.in {
                    @if most == 1 { p { @if team.members.len() > 1 { "Nobody else can join: the team size is 1." } @else { "Everyone plays alone here." } } }
                    @else {
                        @if let Some(code) = &team.code { p { code.secret { (code) } } }
                        p { @if has_room { "Anyone who has it can join." } @else { "The team is full, so nobody can join." } " A new code makes this one invalid." }
                        (act(ask, "/team/code", "", html! { "Make a new code" }))
                    }
                }
            }
        }
        div.row {
            a.button href=(format!("/team/{}", team.id)) { "The bot's page" }
            (act(ask, "/team/leave", "danger", html! { "Leave the team" }))
        }
    };
    Ok(frame::page(
        ask,
        Here::Home,
        &team.name,
        "All members can submit, go back to earlier versions, and see everything that belongs to the team.",
        content,
    ))
}

/// How many members a team has of how many it may have; the limit may have been lowered since they joined.
fn members(count: usize, most: u8) -> String {
    match count > usize::from(most) {
        true => format!("{count}, limit now {most}"),
        false => format!("{count} of {most}"),
    }
}

pub async fn make_team(ask: Visit, Form(typed): Form<Membership>) -> Result<Response, Refused> {
    let name = match agon_server::check_name(typed.name.trim(), "a team") {
        Ok(name) => name,
        Err(why) => return Ok(again(team_page(&ask, Some(&why)).await?)),
    };
    let account = ask.whoever()?.account;
    let act = MakeTeam { contest: ask.site.contest(), account, name, code: secrets::code(), now: ask.now };
    match ask.site.store().act(act).await? {
        TeamMade::New(_) | TeamMade::Member(_) => Ok(redirect::to("/team").into_response()),
        TeamMade::Taken(other) => {
            let why =
                format!("The name `{other}` is taken, and yours is the same or too similar. Choose another.");
            Ok(again(team_page(&ask, Some(&why)).await?))
        }
    }
}

pub async fn join_team(ask: Visit, Form(typed): Form<Membership>) -> Result<Response, Refused> {
    let account = ask.whoever()?.account;
    if let Err(until) = ask.site.limits.code(account, ask.now) {
        return Err(Refused::too_much("Too many codes were tried.", (until.0 - ask.now.0) / 1000));
    }
    let code = secrets::typed_code(&typed.code);
    let act = JoinTeam { contest: ask.site.contest(), account, code, now: ask.now };
    let why = match ask.site.store().act(act).await? {
        Joined::In(_) | Joined::Member(_) => return Ok(redirect::to("/team").into_response()),
        Joined::Unknown => {
            "No team has this code. Members see the current one on the team's page.".to_owned()
        }
        Joined::Full(name, most) => format!("{name} already has {most} members, the most a team may have."),
    };
    Ok(again(team_page(&ask, Some(&why)).await?))
}

pub async fn leave_team(ask: Visit) -> Result<Response, Refused> {
    let account = ask.whoever()?.account;
    let act = LeaveTeam { contest: ask.site.contest(), account, now: ask.now };
    match ask.site.store().act(act).await? {
        Left::Gone | Left::Nowhere => Ok(redirect::to("/team").into_response()),
        Left::Last => {
            let why = "You are the last member of a team with a bot, so you cannot leave it. To take the bot off the ladder, delete your account.";
            Ok(again(team_page(&ask, Some(why)).await?))
        }
    }
}

/// Makes a new code for the team.
pub async fn new_code(ask: Visit) -> Result<Redirect, Refused> {
    if let Some(team) = ask.whoever()?.team {
        ask.site.store().act(NewCode { team, code: secrets::code() }).await?;
    }
    Ok(redirect::to("/team"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_may_have_more_members_than_could_join_it_now() {
        assert_eq!([members(1, 2), members(2, 2), members(2, 1)], ["1 of 2", "2 of 2", "2, limit now 1"]);
    }
}
