//! Uploading a bot.

use agon_server::{Upload, UploadOutcome};
use agon_store::acts::{Added, MakeTeam, TeamMade};
use agon_store::reads::AllowanceUse;
use agon_store::{EntrantId, Time, VersionState};
use axum::extract::Multipart;
use axum::extract::multipart::Field;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::api::versions;
use crate::gate::Visit;
use crate::incoming::{self, UploadedBody, cut_off};
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, token, wrong};
use crate::pages::{mail, rulings, words};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// The longest field before the file, in bytes.
pub const LONGEST_FIELD: usize = 4096;

pub async fn form(ask: Visit) -> Result<Markup, Refused> {
    page(&ask, None).await
}

/// When there is room again under a quota.
pub fn until(ask: &Visit, at: Time) -> String {
    format!("from {}, in {}", ask.settings.told(at, "%H:%M"), words::span(at.0 - ask.now.0))
}

/// How much the team may still upload, told before it reaches the limit.
async fn room(ask: &Visit) -> Result<Option<String>, Refused> {
    let Some(team) = ask.person().and_then(|person| person.team) else { return Ok(None) };
    let quota = ask.site.store().quota(team, ask.now).await?;
    let full = |used: &AllowanceUse| used.used >= used.most;
    let uploads = [(&quota.uploads_an_hour, "this hour"), (&quota.uploads_a_day, "today")];
    if let Some((used, when)) = uploads.into_iter().find(|(used, _)| full(used)) {
        let again = used
            .until
            .map_or_else(String::new, |at| format!(". The next upload is possible {}", until(ask, at)));
        return Ok(Some(format!("Upload limit reached ({} {when}){again}.", used.used)));
    }
    let mib = |bytes: i64| bytes.div_euclid(1 << 20);
    Ok(Some(format!(
        "Uploads: {} of {} this hour, {} of {} today, {} of {} MiB in all.",
        quota.uploads_an_hour.used,
        quota.uploads_an_hour.most,
        quota.uploads_a_day.used,
        quota.uploads_a_day.most,
        mib(quota.bytes.used),
        mib(quota.bytes.most)
    )))
}

/// The link to this page; none once uploads are over.
pub fn way(ask: &Visit, label: &str) -> Markup {
    html! { @if !ask.settings.is_over(ask.now) { a.button.main href="/upload" { (icon("up")) (label) } } }
}

async fn page(ask: &Visit, why: Option<&str>) -> Result<Markup, Refused> {
    if let Some(closed) = ask.settings.closed(ask.now).filter(|_| why.is_none()) {
        let content = html! { a.button href="/" { "Home" } };
        return Ok(frame::page(ask, Here::Home, "Uploads are closed", &closed, content));
    }
    rulings::admit(ask).await?;
    mail::admit(ask).await?;
    let alone = ask.person().is_some_and(|person| person.team.is_none());
    let room = room(ask).await?;
    let shown = ask.site.shown().await?;
    let own = ask.person().and_then(|person| person.team);
    let name = shown.teams.values().find(|team| Some(team.id) == own).map(|team| &team.name);
    let mut versions = shown.board.versions.iter();
    let has_live =
        versions.any(|version| version.state == VersionState::Live && Some(&version.entrant) == name);
    let content = html! {
        form.card.form method="post" action="/upload" enctype="multipart/form-data" {
            (wrong(why))
            (token(ask))
            // Before the file, which is read last.
            @if has_live { label.check {
                input type="checkbox" name="only_if_better" value="yes";
                span { "Go live only if better: it replaces the live version only after a trial shows that it is better" }
            } }
            label.field {
                span { "Your bot" }
                input type="file" name="file" required;
                small { "A zip or tar.gz of its folder, with " code { "agon.toml" } " at the top, or a single file like " code { "bot.py" } ". Up to 20 MiB." }
            }
            @if alone { p.faint { "You are not in a team yet: one will be created under your name." } }
            @if let Some(room) = &room { p.faint { (room) } }
            button.main { "Submit" }
        }
        (frame::way_to_code())
        section.prose {
            h2 { "What happens next" }
            ol {
                li { "It is unpacked, and built if there is something to build, without a network." }
                li { "It plays a check match. Its page shows how that goes and, if it fails, why and whose fault it is." }
                li { "It goes live and plays on the ladder for your team. A version that fails changes nothing." }
            }
        }
    };
    let says = match has_live {
        true => "Your live version stays until the new one has passed its check.",
        false => "It goes live once it has passed its check.",
    };
    Ok(frame::page(ask, Here::Home, "Submit a version", says, content))
}

/// A short field of a form.
pub async fn short(mut field: Field<'_>, longest: usize) -> Result<String, Refused> {
    let mut bytes = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(|_| cut_off())? {
        if bytes.len() + piece.len() > longest {
            return Err(Refused::wrong("A field of the form is too long."));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes in an upload.
pub async fn upload(ask: Visit, mut form: Multipart) -> Result<Response, Refused> {
    if let Some(closed) = ask.settings.closed(ask.now) {
        return Err(Refused::new(StatusCode::FORBIDDEN, "Uploads are closed", closed).then("Home", "/"));
    }
    rulings::admit(&ask).await?;
    mail::admit(&ask).await?;
    let (mut is_ours, mut only_if_better) = (false, false);
    while let Some(field) = form.next_field().await.map_err(|_| cut_off())? {
        match field.name() {
            Some("form") => {
                ask.check_form(&short(field, LONGEST_FIELD).await?)?;
                is_ours = true;
            }
            // The token comes first: if the form is not ours, nothing more of it is read.
            Some("file") if is_ours => return take(&ask, field, only_if_better).await,
            Some("file") => ask.check_form("")?,
            Some("only_if_better") => only_if_better = short(field, LONGEST_FIELD).await? == "yes",
            _ => {
                short(field, LONGEST_FIELD).await?;
            }
        }
    }
    again(&ask, "Choose a file first.").await
}

/// The form again, with what was wrong.
async fn again(ask: &Visit, why: &str) -> Result<Response, Refused> {
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page(ask, Some(why)).await?).into_response())
}

async fn take(ask: &Visit, field: Field<'_>, only_if_better: bool) -> Result<Response, Refused> {
    let name = field.file_name().unwrap_or("bot").to_owned();
    let UploadedBody { file, place } =
        incoming::take(ask, field).await.map_err(|problem| problem.then("Submit a version", "/upload"))?;
    if file.size() == 0 {
        return again(ask, "The file is empty.").await;
    }
    let team = match team(ask).await? {
        Ok(team) => team,
        Err(why) => return again(ask, &why).await,
    };
    let team = ask.site.store().entrant(team).await?.ok_or_else(Refused::ours)?;
    let actor = &ask.whoever()?.name;
    let upload = Upload { entrant: &team.name, name: &name, file, only_if_better, actor };
    let uploaded = ask.site.server.upload(upload, ask.now).await?;
    drop(place);
    if let UploadOutcome::Added(Added::Same(version, n, state)) = uploaded {
        let text = match state {
            VersionState::Failed => "It is byte for byte the same, and it failed: its page says why.",
            _ => "It is the same file, byte for byte, so nothing was changed.",
        };
        let title = format!("You have already submitted this as v{n}");
        let same = Refused::new(StatusCode::CONFLICT, title, text);
        return Err(same.then(&format!("v{n}"), &format!("/version/{version}")));
    }
    match versions::outcome(ask, uploaded) {
        Err(problem) if problem.status == StatusCode::FORBIDDEN => Err(problem.then("Home", "/")),
        Ok((_, version)) => Ok(redirect::to(&format!("/version/{version}")).into_response()),
        Err(problem) => again(ask, &problem.text).await,
    }
}

/// The team somebody uploads for: those without one play alone, under their own name.
pub async fn team(ask: &Visit) -> Result<Result<EntrantId, String>, Refused> {
    let person = ask.whoever()?;
    if let Some(team) = person.team {
        return Ok(Ok(team));
    }
    let name = person.name.clone();
    let act = MakeTeam {
        contest: ask.site.contest(),
        account: person.account,
        name,
        code: secrets::code(),
        now: ask.now,
    };
    Ok(match ask.site.store().act(act).await? {
        TeamMade::New(team) | TeamMade::Member(team) => Ok(team),
        TeamMade::Taken(other) => Err(format!(
            "A team or a built-in bot is called `{other}`, which looks like your name. Create a team with another name first, then submit."
        )),
    })
}
