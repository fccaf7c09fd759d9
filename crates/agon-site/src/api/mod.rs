//! The API: JSON for programs, under `/api/v1`. The caller is known by a token (`Authorization: Bearer ...`); cookies are
//! ignored here. Refusals are `application/problem+json`.
//!
//! Requests and answers are the types of [`agon_api`]. Each act is one line of a table, with its right and its types; the
//! description, OpenAPI 3.1, is built from that table (`describe`) and kept in a file, which a test compares with it.

#[cfg(feature = "described")]
pub mod describe;

pub(crate) mod about;
mod asked;
mod lessons;
mod matches;
pub(crate) mod read;
mod told;
pub mod versions;

use agon_api::contest::ImageQuery;
use agon_api::{
    Asked, BuildLog, Challenge, Contest, DraftQuery, Ladder, Match, MatchQuery, Matches, Me, Own, TeamLosses,
    TeamTests, UploadQuery, Uploaded, Version, Versions,
};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get as asked_for, post as sent};

use self::shape::{SchemaShape, Shaped};
use crate::rights::Verb;
use crate::routes::{Route, RouteObject, get, post, still};

/// The path prefix of the whole API.
pub const ROOT: &str = "/api/";

/// The schemas of types, which only the test of the description needs.
#[cfg(feature = "described")]
mod shape {
    pub use schemars::JsonSchema as Shaped;

    /// Makes the schema of a type.
    pub type SchemaShape = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

    pub const fn of<T: Shaped>() -> SchemaShape {
        |schemas| schemas.subschema_for::<T>()
    }
}
#[cfg(not(feature = "described"))]
mod shape {
    /// Every type, where no schema is made.
    pub trait Shaped {}
    impl<T> Shaped for T {}

    /// Stands for the schema of a type.
    #[derive(Clone, Copy)]
    pub struct SchemaShape;

    pub const fn of<T: Shaped>() -> SchemaShape {
        SchemaShape
    }
}

/// Answers with the description.
async fn description() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json")).into_response()
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum Sends {
    Nothing,
    Json(SchemaShape),
    File,
}

/// The answer when all is well.
#[derive(Clone, Copy)]
pub enum Gives {
    Json(SchemaShape),
    Bytes,
    /// The description of the API.
    Description,
}

/// An act of the API.
#[derive(Clone, Copy)]
pub struct Operation {
    pub route: Route,
    /// What it does, for callers.
    pub about: &'static str,
    /// The query of its address: an object, each field of which is a parameter.
    pub query: Option<SchemaShape>,
    /// The body of the request.
    pub sends: Sends,
    pub gives: Gives,
}

const fn act<T: Shaped>(route: Route, about: &'static str) -> Operation {
    Operation { route, about, query: None, sends: Sends::Nothing, gives: Gives::Json(shape::of::<T>()) }
}

impl Operation {
    const fn query<T: Shaped>(self) -> Self {
        Self { query: Some(shape::of::<T>()), ..self }
    }

    const fn sends<T: Shaped>(self) -> Self {
        Self { sends: Sends::Json(shape::of::<T>()), ..self }
    }

    const fn takes_file(self) -> Self {
        Self { sends: Sends::File, ..self }
    }

    const fn gives(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }
}

/// The acts.
pub const ACTS: &[Operation] = &[
    act::<()>(still("/api/v1/openapi.json", || asked_for(description)), "This description.")
        .gives(Gives::Description),
    // What everybody may see.
    act::<Contest>(
        get("/api/v1/contest", Verb::See, RouteObject::Contest, || asked_for(about::contest)),
        "What is played, and under what conditions.",
    ),
    act::<Ladder>(
        get("/api/v1/ladder", Verb::See, RouteObject::Contest, || asked_for(about::ladder)),
        "The latest ladder.",
    ),
    act::<Matches>(
        get("/api/v1/matches", Verb::See, RouteObject::Contest, || asked_for(matches::list)),
        "Matches, newest first, in pages of 50: those of the ladder, and with a token all of your own team.",
    )
    .query::<MatchQuery>(),
    act::<Match>(
        get("/api/v1/matches/{id}", Verb::See, RouteObject::Contest, || asked_for(matches::one)),
        "A match.",
    ),
    act::<()>(
        get("/api/v1/matches/{id}/replay", Verb::See, RouteObject::Contest, || asked_for(matches::replay)),
        "The replay of a match, without what is private to a seat.",
    )
    .gives(Gives::Bytes),
    act::<()>(
        get("/api/v1/image", Verb::Own, RouteObject::Contest, || asked_for(about::image)),
        "The image that the contest's bots run in: its list, or a part of one of its files.",
    )
    .query::<ImageQuery>()
    .gives(Gives::Bytes),
    // One's own.
    act::<Me>(
        get("/api/v1/me", Verb::Own, RouteObject::Contest, || asked_for(about::me)),
        "Who the token belongs to, and what the team may still do.",
    ),
    act::<Own>(
        get("/api/v1/matches/{id}/own", Verb::Own, RouteObject::Contest, || asked_for(matches::own)),
        "What is private to your team in a match: what its programs wrote and did wrong.",
    ),
    act::<TeamLosses>(
        get("/api/v1/losses", Verb::Own, RouteObject::Contest, || asked_for(lessons::losses)),
        "What goes with the losses of your team on the ladder.",
    ),
    act::<TeamTests>(
        get("/api/v1/tests", Verb::Own, RouteObject::Contest, || asked_for(lessons::tests)),
        "The positions in which each upload of your team is tried.",
    ),
    act::<Versions>(
        get("/api/v1/versions", Verb::Own, RouteObject::Contest, || asked_for(versions::list)),
        "The versions of your team, newest first.",
    ),
    act::<Version>(
        get("/api/v1/versions/{id}", Verb::Look, RouteObject::Version, || asked_for(versions::one)),
        "A version: where it is, why it failed, how it is doing.",
    ),
    act::<BuildLog>(
        get("/api/v1/versions/{id}/log", Verb::Look, RouteObject::Version, || asked_for(versions::log)),
        "What the build of a version printed.",
    ),
    act::<Version>(
        post("/api/v1/versions/{id}/live", Verb::Act, RouteObject::Version, || sent(versions::live)),
        "Goes back to a version that stood for the team earlier.",
    ),
    act::<Uploaded>(
        post("/api/v1/upload", Verb::Own, RouteObject::Contest, || sent(versions::upload)).uploads(),
        "Hands a bot in: an archive or a single file as the body of the request, at most 20 MiB.",
    )
    .query::<UploadQuery>()
    .takes_file(),
    act::<Asked>(
        post("/api/v1/draft", Verb::Own, RouteObject::Contest, || sent(asked::draft)).uploads(),
        "Tries a bot out in one unrated match. No version is made.",
    )
    .query::<DraftQuery>()
    .takes_file(),
    act::<Asked>(
        post("/api/v1/challenge", Verb::Act, RouteObject::OwnTeam, || sent(asked::challenge)),
        "Plays one unrated match with a version of your own.",
    )
    .sends::<Challenge>(),
    act::<Asked>(
        get("/api/v1/asked/{id}", Verb::Own, RouteObject::Contest, || asked_for(asked::one)),
        "A match that your team asked for: how it is going, how it ended, or why it came to nothing.",
    ),
];
