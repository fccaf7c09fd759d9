//! The API: JSON for programs, under `/api/v1`. The caller is known by a token (`Authorization: Bearer ...`); cookies are
//! ignored here, but for the workbench, whose page asks as well. Refusals are `application/problem+json`.
//!
//! Requests and answers are the types of [`agon_api`]. Each act is one line of a table, with its right and its types; the
//! description, OpenAPI 3.1, is built from that table (`describe`) and kept in a file, which a test compares with it.

#[cfg(feature = "described")]
pub mod describe;

pub(crate) mod about;
mod asked;
pub(crate) mod code;
mod matches;
pub(crate) mod read;
mod told;
pub mod versions;

use agon_api::contest::ImageQuery;
use agon_api::{
    Asked, BuildLog, Challenge, CodeFile, Contest, DraftQuery, KeptAs, KeptText, Ladder, Match, MatchQuery,
    Matches, Me, Own, TextEntry, TextHandedIn, TextRuns, TextToHandIn, TextToKeep, TextToRun, UploadQuery,
    Uploaded, Version, Versions, Workbench,
};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get as asked_for, post as sent, put as placed};

use self::shape::{SchemaShape, Shaped};
use crate::rights::Verb;
use crate::routes::{Route, RouteObject, get, post, put, still};

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
    /// The same, of something that goes on.
    Begun(SchemaShape),
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
    // The workbench. Its page asks as well, for whom the session speaks.
    act::<Workbench>(
        get("/api/v1/code", Verb::Own, RouteObject::Contest, || asked_for(code::begin)).for_pages(),
        "What the workbench begins with: your newest text, starters, opponents, rules, and what you may still do.",
    ),
    act::<KeptAs>(
        put("/api/v1/code/text", Verb::Own, RouteObject::Contest, || placed(code::keep)).for_pages().texts(),
        "Keeps a text as the newest. Status 409 and that text, where a newer one was kept from elsewhere: nothing is written over.",
    )
    .sends::<TextToKeep>(),
    act::<Vec<TextEntry>>(
        get("/api/v1/code/texts", Verb::Own, RouteObject::Contest, || asked_for(code::list)).for_pages(),
        "Your last 20 texts, newest first, with what came of each.",
    ),
    act::<KeptText>(
        get("/api/v1/code/texts/{id}", Verb::Own, RouteObject::Contest, || asked_for(code::one)).for_pages(),
        "One of your texts.",
    ),
    act::<()>(
        post("/api/v1/code/run", Verb::Own, RouteObject::Contest, || sent(code::run)).for_pages(),
        "Runs a text: it plays one unrated match, on the contest's rules or on others. The same wish again may give the same match.",
    )
    .sends::<TextToRun>()
    .gives(Gives::Begun(shape::of::<TextRuns>())),
    act::<TextHandedIn>(
        post("/api/v1/code/hand-in", Verb::Own, RouteObject::Contest, || sent(code::hand_in)).for_pages(),
        "Hands a text in as a version, as an upload does. The same request gets the same answer.",
    )
    .sends::<TextToHandIn>(),
    act::<Vec<CodeFile>>(
        get("/api/v1/versions/{id}/source", Verb::Act, RouteObject::Version, || asked_for(code::source)).for_pages(),
        "The files of a version of your team.",
    ),
];
