//! Versions: uploading, what became of it, and going back.

use agon_api::version::UploadedWord;
use agon_api::{BuildLog, UploadQuery, Uploaded, Version, Versions};
use agon_server::{Upload, UploadOutcome as Done};
use agon_store::acts::Added;
use agon_store::{Cause, EntrantId, OwnVersion, VersionId};
use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;

use crate::api::read::ReadQuery;
use crate::api::told;
use crate::gate::Visit;
use crate::incoming::{self, UploadedBody};
use crate::pages::upload::{team, until};
use crate::pages::version::CANNOT_GO_LIVE;
use crate::pages::{mail, rulings};
use crate::problem::Refused;
use crate::rights::Object;

/// The versions of the caller's team.
pub async fn list(ask: Visit) -> Result<Json<Versions>, Refused> {
    let Some(team) = ask.whoever()?.team else { return Ok(Json(Versions { versions: Vec::new() })) };
    let mut versions = Vec::new();
    for own in ask.site.store().own_versions(team).await? {
        versions.push(told_of(&ask, own).await?);
    }
    Ok(Json(Versions { versions }))
}

async fn told_of(ask: &Visit, own: OwnVersion) -> Result<Version, Refused> {
    let verdict = ask.site.server.verdict(own.version.id).await?;
    Ok(told::version(own, verdict))
}

/// The version with this number, if it is this team's.
async fn of_team(ask: &Visit, team: EntrantId, id: VersionId) -> Result<OwnVersion, Refused> {
    let own = ask.site.store().own_versions(team).await?;
    own.into_iter().find(|own| own.version.id == id).ok_or_else(Refused::nothing)
}

/// The version named by the path, whose team the right has checked.
///
/// # Errors
/// When it is not there.
pub async fn found(ask: &Visit) -> Result<OwnVersion, Refused> {
    match ask.object {
        Object::Team(team) => of_team(ask, team, VersionId(ask.id)).await,
        _ => Err(Refused::nothing()),
    }
}

pub async fn one(ask: Visit) -> Result<Json<Version>, Refused> {
    let own = found(&ask).await?;
    Ok(Json(told_of(&ask, own).await?))
}

/// The output of its build.
pub async fn log(ask: Visit) -> Result<Json<BuildLog>, Refused> {
    let own = found(&ask).await?;
    Ok(Json(BuildLog { text: ask.site.server.build_log(&own).await? }))
}

/// Makes a former version live again.
pub async fn live(ask: Visit) -> Result<Json<Version>, Refused> {
    rulings::admit(&ask).await?;
    let actor = ask.whoever()?.name.clone();
    if !ask.site.server.go_back(VersionId(ask.id), &actor, ask.now).await? {
        return Err(Refused::new(StatusCode::CONFLICT, "Nothing to go back to", CANNOT_GO_LIVE));
    }
    one(ask).await
}

/// Receives an upload, and returns it with the team it is for.
///
/// # Errors
/// When it does not arrive whole, or is too large, or no team can be made for the caller.
pub async fn received(ask: &Visit, body: Body) -> Result<(UploadedBody, EntrantId, String), Refused> {
    let came = incoming::take(ask, body.into_data_stream()).await?;
    let team = team(ask).await?.map_err(Refused::wrong)?;
    let found = ask.site.store().entrant(team).await?.ok_or_else(Refused::ours)?;
    Ok((came, team, found.name))
}

/// The refusal of something that cannot be a bot.
pub fn unfit(cause: Cause) -> Refused {
    let fix = cause.fix.map_or_else(String::new, |fix| format!(" {fix}"));
    Refused::new(StatusCode::UNPROCESSABLE_ENTITY, "This cannot be a bot", format!("{}{fix}", cause.what))
}

/// What became of an upload: the version that it is, or why it is none. The page says the same.
///
/// # Errors
/// When it is none.
pub fn outcome(ask: &Visit, uploaded: Done) -> Result<(UploadedWord, VersionId), Refused> {
    match uploaded {
        Done::Added(Added::New(id, _)) => Ok((UploadedWord::New, id)),
        Done::Added(Added::Same(id, ..)) => Ok((UploadedWord::Same, id)),
        Done::Back(id, _) => Ok((UploadedWord::Back, id)),
        Done::Refused(cause) => Err(unfit(cause)),
        Done::Added(Added::TooMany(Some(at))) => {
            let what =
                format!("The team has used its uploads for now; the next is possible {}.", until(ask, at));
            Err(Refused::too_much(&what, (at.0 - ask.now.0) / 1000 + 1))
        }
        Done::Added(Added::TooMany(None)) => Err(Refused::wrong(
            "The team's versions take up all the space they may. Ask the organiser for more.",
        )),
        Done::Added(Added::Closed(uploads)) => {
            let why = ask.settings.why_closed(uploads, ask.now).unwrap_or_default();
            Err(Refused::new(StatusCode::FORBIDDEN, "Uploads are closed", why))
        }
        Done::Added(Added::Unconfirmed) => Err(mail::unconfirmed(ask)),
        Done::Added(Added::Taken(other)) => {
            Err(Refused::wrong(format!("The team's name looks like `{other}`, which is another team.")))
        }
    }
}

/// Checks that the caller may hand something in now.
///
/// # Errors
/// When uploads are closed, the team is out, or the caller's mail address is not confirmed where that is asked for.
pub async fn admit_upload(ask: &Visit) -> Result<(), Refused> {
    if let Some(why) = ask.settings.closed(ask.now) {
        return Err(Refused::new(StatusCode::FORBIDDEN, "Uploads are closed", why));
    }
    rulings::admit(ask).await?;
    mail::admit(ask).await
}

/// Takes in an upload.
pub async fn upload(
    ask: Visit,
    ReadQuery(asked): ReadQuery<UploadQuery>,
    body: Body,
) -> Result<Json<Uploaded>, Refused> {
    admit_upload(&ask).await?;
    let (UploadedBody { file, place }, team, entrant) = received(&ask, body).await?;
    let actor = &ask.whoever()?.name;
    let UploadQuery { name, only_if_better } = asked;
    let upload = Upload { entrant: &entrant, name: &name, file, only_if_better, actor };
    let uploaded = ask.site.server.upload(upload, ask.now).await?;
    drop(place);
    let (what, id) = outcome(&ask, uploaded)?;
    let own = of_team(&ask, team, id).await?;
    Ok(Json(Uploaded { what, version: told_of(&ask, own).await? }))
}
