//! All routes of the site, each with the right it needs. A route that is not in the table does not exist.

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, any};

use crate::rights::Verb;
use crate::site::Site;
use crate::{api, gate, health, metrics, pages, work};

/// The method of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// To see something. Changes nothing.
    Get,
    /// To change something.
    Post,
    /// To keep something in place of what there was.
    Put,
    /// To delete something.
    Delete,
}

/// The object of a route, from its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteObject {
    Contest,
    /// The team with the number `{id}`.
    Team,
    /// The team of the version with the number `{id}`.
    Version,
    /// The team of the caller; without one, the contest.
    OwnTeam,
    /// The account of the session or token with the number `{id}`: only the caller's own are found.
    Login,
}

/// The body that may come with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing, or a form or JSON of at most [`gate::SMALL`] bytes.
    Small,
    /// JSON with a bot's files, of at most [`gate::TEXT`] bytes.
    Text,
    /// A file of at most [`gate::LARGE`] bytes, which the handler streams. In a page's form the field `form` with the form's
    /// token comes first, and the handler checks it ([`gate::Visit::check_form`]).
    Upload,
}

#[derive(Clone, Copy)]
pub struct Route {
    pub method: Method,
    /// Its path, in axum's syntax.
    pub path: &'static str,
    /// What it does.
    pub verb: Verb,
    pub of: RouteObject,
    /// What may come with it.
    pub body: Body,
    /// Whether it is exempt from the request limits: its answer is the same for everybody and can be cached, or it has a
    /// limit of its own.
    pub still: bool,
    /// Whether scripts of our own pages ask here, too, for whom a browser's session speaks.
    pub of_pages: bool,
    pub make: fn() -> MethodRouter<Arc<Site>>,
}

pub const fn get(
    path: &'static str,
    verb: Verb,
    of: RouteObject,
    make: fn() -> MethodRouter<Arc<Site>>,
) -> Route {
    Route { method: Method::Get, path, verb, of, body: Body::Small, still: false, of_pages: false, make }
}

/// A submitted form.
pub const fn post(
    path: &'static str,
    verb: Verb,
    of: RouteObject,
    make: fn() -> MethodRouter<Arc<Site>>,
) -> Route {
    Route { method: Method::Post, ..get(path, verb, of, make) }
}

/// What takes the place of something.
pub const fn put(
    path: &'static str,
    verb: Verb,
    of: RouteObject,
    make: fn() -> MethodRouter<Arc<Site>>,
) -> Route {
    Route { method: Method::Put, ..get(path, verb, of, make) }
}

/// One of our files, which never changes while the program runs.
pub const fn still(path: &'static str, make: fn() -> MethodRouter<Arc<Site>>) -> Route {
    Route { still: true, ..get(path, Verb::See, RouteObject::Contest, make) }
}

impl Route {
    /// The same route with a limit of its own.
    pub const fn apart(self) -> Self {
        Self { still: true, ..self }
    }

    /// The same route, accepting a file.
    pub const fn uploads(self) -> Self {
        Self { body: Body::Upload, ..self }
    }

    /// The same route, which scripts of our own pages ask as well.
    pub const fn for_pages(self) -> Self {
        Self { of_pages: true, ..self }
    }

    /// The same route, accepting a bot's files as JSON.
    pub const fn texts(self) -> Self {
        Self { body: Body::Text, ..self }
    }

    /// Whether its answer comes from the database: not our files, nor what says how the process is.
    fn needs_database(&self) -> bool {
        !matches!((self.verb, self.still), (Verb::See, true) | (Verb::Measure, _))
    }

    /// Whether it is part of the API.
    pub fn is_api(&self) -> bool {
        self.path.starts_with(api::ROOT)
    }

    /// Whether programs ask here rather than browsers: answers are JSON, and the caller is known by a token.
    pub fn is_for_programs(&self) -> bool {
        is_for_programs(self.path)
    }
}

/// Whether programs ask at this path, on behalf of people or machines.
pub fn is_for_programs(path: &str) -> bool {
    path.starts_with(api::ROOT)
        || path.starts_with(agon_worker::wire::ROOT)
        || [metrics::PATH, health::LIVE, health::READY].contains(&path)
}

/// Who is answered at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Everybody.
    Both,
    /// People and their programs: workers have a port of their own.
    Site,
    Workers,
}

impl Door {
    fn has(self, route: &Route) -> bool {
        match self {
            Self::Both => true,
            Self::Site => route.verb != Verb::Work,
            Self::Workers => route.verb == Verb::Work,
        }
    }
}

pub fn all() -> impl Iterator<Item = Route> {
    let pages =
        pages::ROUTES.iter().chain(work::ROUTES).chain(metrics::ROUTES).chain(health::ROUTES).copied();
    pages.chain(api::ACTS.iter().map(|act| act.route))
}

/// The router of a port, built from the table.
pub fn router(site: Arc<Site>, door: Door) -> Router {
    let mut router = Router::new();
    for route in all().filter(|route| door.has(route)) {
        let door = from_fn_with_state((site.clone(), route), gate::pass);
        let mut answered = (route.make)().route_layer(door);
        if route.needs_database() {
            answered = answered.route_layer(from_fn_with_state(site.clone(), gate::reach));
        }
        router = router.route(route.path, answered);
    }
    if door == Door::Site {
        for path in [agon_worker::wire::ROOT.to_owned(), format!("{}/{{*rest}}", agon_worker::wire::ROOT)] {
            router = router.route(&path, any(work::elsewhere));
        }
    }
    let nothing = get("/", Verb::See, RouteObject::Contest, || any(pages::nothing));
    let nothing = match door {
        Door::Workers => any(work::workers_only),
        _ => (nothing.make)()
            .layer(from_fn_with_state((site.clone(), nothing), gate::pass))
            .layer(from_fn_with_state(site.clone(), gate::reach)),
    };
    router
        .fallback_service(nothing.with_state(site.clone()))
        .method_not_allowed_fallback(pages::wrong_method)
        .layer(from_fn_with_state(site.clone(), gate::share))
        .layer(from_fn_with_state((site.clone(), door), gate::finish))
        .layer(from_fn(gate::patience))
        .with_state(site)
}
