//! Before any handler runs: who is asking, whether they may, and whether the request came from one of our own pages. After
//! it: the headers of every answer.
//!
//! What does not depend on this site is in [`agon_web::gate`]. Longer than 500 lines: what every request passes is read in one go.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_api::contest::ContestState;
use agon_store::reads::Pulse;
use agon_store::{EntrantId, LoginKind, Time, VersionId};
use agon_web::gate::{self, Unwhole, names_loopback};
use axum::body::Body as AxumBody;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

mod device;
mod who;

use crate::limits::PER_ACCOUNT;
use crate::problem::Refused;
use crate::rights::{Actor, Object, Person, Verb, may};
use crate::routes::{Body, Door, Route, RouteObject};
use crate::settings::Settings;
use crate::site::{Site, Way};
use crate::{answers, pages, redirect, routes, secrets};

pub use device::Device;
pub use who::known;
use who::{at_work, cookie, meter};
pub use who::{bearer, set_cookie};

/// The most bytes of a form or of JSON.
pub const SMALL: usize = 64 << 10;
/// The most bytes of JSON with a bot's files: signs in them may be escaped.
pub const TEXT: usize = 2 << 20;
/// The header in which scripts of our own pages send the token that forms have in a field.
const FORM: &str = "x-agon-form";
/// The most bytes of an upload, including what a form adds to it.
pub const LARGE: usize = (20 << 20) + SMALL;
/// How long a request may take, except uploads.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an upload may take: 35 kB a second for 20 MiB on a slow line.
pub const PATIENCE_OF_UPLOADS: Duration = Duration::from_secs(600);
/// Our own scripts, styles and pictures, nothing from elsewhere, and not in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The address a connection comes from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Who asks for what: the input of handlers.
#[derive(Clone)]
pub struct Visit {
    pub site: Arc<Site>,
    /// What holds.
    pub settings: Arc<Settings>,
    pub actor: Actor,
    /// The object named by the path.
    pub object: Object,
    /// The number in the path, if there is one.
    pub id: i64,
    /// When the request arrived.
    pub now: Time,
    /// The address it came from.
    pub from: IpAddr,
    /// The path with its query.
    pub path: String,
    /// The token in forms made for the caller; empty without a session.
    pub form: String,
    /// How people reach this site: `http://127.0.0.1:8080`.
    pub address: String,
    /// The organiser's latest announcement.
    pub announced: Option<String>,
    /// Whether matches are played, for pages.
    pub state: ContestState,
    /// What was known before anything was read, so that a live page hears of what has changed since.
    pub seen: Pulse,
}

impl Visit {
    /// The caller, if signed in.
    pub fn person(&self) -> Option<&Person> {
        match &self.actor {
            Actor::Person(person) => Some(person),
            Actor::Nobody | Actor::Worker(_) | Actor::Meter => None,
        }
    }

    /// The caller, in a handler whose right requires somebody signed in.
    ///
    /// # Errors
    /// When nobody is, which the right should have caught.
    pub fn whoever(&self) -> Result<&Person, Refused> {
        self.person().ok_or_else(Refused::ours)
    }

    /// The caller for the log, by number: names are personal.
    fn who(&self) -> String {
        match &self.actor {
            Actor::Nobody => "nobody".to_owned(),
            Actor::Person(person) => format!("account {}", person.account),
            Actor::Worker(worker) => format!("worker {}", worker.id),
            Actor::Meter => "meter".to_owned(),
        }
    }

    /// Checks that an upload comes from a form of this session.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_form(&self, token: &str) -> Result<(), Refused> {
        if self.form.is_empty() || secrets::same(token, &self.form) { Ok(()) } else { Err(old_form()) }
    }

    /// What the viewer may see of matches.
    pub fn eyes(&self) -> agon_store::reads::Eyes {
        use agon_store::reads::Eyes;
        match self.person() {
            Some(person) if person.organiser => Eyes::Organiser,
            Some(Person { team: Some(team), .. }) => Eyes::Team(*team),
            _ => Eyes::Public,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Visit {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        parts.extensions.get::<Visit>().cloned().ok_or_else(Refused::ours)
    }
}

/// The gate of a route.
pub async fn pass(
    State((site, route)): State<(Arc<Site>, Route)>,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let id = params.iter().find(|(name, _)| *name == "id").map(|(_, value)| value.parse::<i64>());
    match admit(site, route, id.transpose().ok(), request).await {
        Ok((ask, request)) => {
            let mut response = next.run(request).await;
            response.extensions_mut().insert(ask);
            response
        }
        Err(refused) => *refused,
    }
}

/// A refusal; boxed, because it is large and rare.
type RefusedResponse = Box<Response>;

/// Identifies the caller, and returns the request with whatever may come with it.
async fn admit(
    site: Arc<Site>,
    route: Route,
    id: Option<Option<i64>>,
    request: Request,
) -> Result<(Visit, Request), RefusedResponse> {
    let now = site.now();
    let headers = request.headers();
    let from = address(&site, &request);
    let token = if route.is_for_programs() { bearer(headers) } else { None };
    let by_session = !route.is_for_programs() || route.of_pages && token.is_none();
    let secret = if by_session { cookie(&site, headers) } else { token };
    let secret = secret.as_deref();
    let kind = if by_session { LoginKind::Session } else { LoginKind::Token };
    let actor = match secret {
        _ if route.verb == Verb::Measure => meter(&site, headers, from, secret),
        Some(secret) if route.verb == Verb::Work => at_work(&site, secret, now).await.map_err(refuse)?,
        Some(secret) => known(&site, secret, kind, now).await.map_err(refuse)?,
        None => Actor::Nobody,
    };
    let form = match (&actor, secret) {
        (Actor::Person(_), Some(secret)) if by_session => secrets::form_token(secret),
        _ => String::new(),
    };
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let address = own_address(&site, headers);
    let settings = site.settings();
    let seen = site.pulse().borrow().clone().unwrap_or_default();
    let mut ask = Visit {
        site,
        settings,
        actor,
        object: Object::Contest,
        id: 0,
        now,
        from,
        path,
        form,
        address,
        announced: None,
        state: ContestState::Running,
        seen,
    };
    let refused = |ask: &Visit, problem: Refused| {
        let mut response = problem.into_response();
        response.extensions_mut().insert(ask.clone());
        Box::new(response)
    };
    // A worker asks as often as it plays; a caller that is not one is counted at the workers' routes too.
    let is_door = matches!(route.verb, Verb::Work | Verb::Measure) && ask.actor == Actor::Nobody;
    if !route.still || is_door {
        let account = ask.person().map(|person| person.account);
        if let Err(until) = ask.site.limits.request(account, from, now) {
            let wait = (until.0 - now.0) / 1000 + 1;
            return Err(refused(
                &ask,
                Refused::too_much("More pages were requested than anyone can read.", wait),
            ));
        }
    }
    if !route.still && !route.is_for_programs() {
        match ask.site.store().announced().await {
            Ok(announced) => ask.announced = announced.map(|(.., text)| text),
            Err(error) => return Err(refused(&ask, error.into())),
        }
    }
    // Workers ask too often for that; what counts for them is read where their results are kept.
    if !route.still && !matches!(route.verb, Verb::Work | Verb::Measure) {
        match ask.site.server.now().await {
            Ok(contest) => (ask.state, ask.settings) = (contest.state(), ask.site.settings()),
            Err(error) => return Err(refused(&ask, error.into())),
        }
    }
    // An invalid number names nothing.
    let Some(id) = id else { return Err(refused(&ask, Refused::nothing())) };
    ask.id = id.unwrap_or(0);
    match find(&ask, route.of).await {
        Ok(Some(object)) => ask.object = object,
        Ok(None) => return Err(refused(&ask, hidden(&ask, &route))),
        Err(problem) => return Err(refused(&ask, problem)),
    }
    if !may(&ask.actor, route.verb, ask.object) {
        return Err(denied(&ask, &route));
    }
    let request = match whole(&ask, &route, request).await {
        Ok(request) => request,
        Err(problem) => return Err(refused(&ask, problem)),
    };
    let (mut head, body) = request.into_parts();
    head.extensions.insert(ask.clone());
    Ok((ask, Request::from_parts(head, body)))
}

fn refuse(problem: Refused) -> RefusedResponse {
    Box::new(problem.into_response())
}

/// The object named by the path; none if it does not exist.
async fn find(ask: &Visit, of: RouteObject) -> Result<Option<Object>, Refused> {
    let store = ask.site.store();
    Ok(match of {
        RouteObject::Contest => Some(Object::Contest),
        RouteObject::OwnTeam => {
            Some(ask.person().and_then(|person| person.team).map_or(Object::Contest, Object::Team))
        }
        RouteObject::Team => {
            let found = store.entrant(EntrantId(ask.id)).await?;
            found.map(|team| Object::Team(team.id))
        }
        RouteObject::Version => store.owner_of(VersionId(ask.id)).await?.map(Object::Team),
        RouteObject::Login => match ask.person() {
            Some(person) => {
                let own = store.logins(person.account, ask.now).await?;
                own.iter().any(|login| login.id.0 == ask.id).then_some(Object::Account(person.account))
            }
            None => None,
        },
    })
}

/// The answer does not reveal whether something exists.
fn hidden(ask: &Visit, route: &Route) -> Refused {
    match ask.actor {
        Actor::Nobody if route.verb != Verb::See => sign_in_first(route),
        _ => Refused::nothing(),
    }
}

fn sign_in_first(route: &Route) -> Refused {
    if route.verb == Verb::Work {
        let text = "The request has no worker's token, or an unknown one. The organiser makes one on the page \
                    /organise/workers of this contest, or with `agon serve worker`.";
        return Refused::new(StatusCode::UNAUTHORIZED, "A worker's token is needed", text);
    }
    if route.verb == Verb::Measure {
        let text = "Figures are only for programs on the server's own machine, and for those with the token in the file that \
                    `agon serve --metrics-token-file` names.";
        return Refused::new(StatusCode::UNAUTHORIZED, "Figures are not public", text);
    }
    if route.is_for_programs() {
        let text = "The request has no token, or one that is unknown or has expired. Make one on the page /account of this contest; \
                    `agon login` says how.";
        return Refused::new(StatusCode::UNAUTHORIZED, "A token is needed", text);
    }
    Refused::new(StatusCode::UNAUTHORIZED, "Sign in first", "You must be signed in to do this.")
        .then("Sign in", "/sign-in")
}

fn denied(ask: &Visit, route: &Route) -> RefusedResponse {
    let mut response = match (&ask.actor, route.verb, ask.object) {
        (Actor::Nobody, ..) if route.method == routes::Method::Get && !route.is_for_programs() => {
            redirect::to(&format!("/sign-in?next={}", encoded(&ask.path))).into_response()
        }
        (Actor::Nobody, ..) => sign_in_first(route).into_response(),
        (Actor::Worker(_), ..) => {
            let text =
                "The organiser has revoked this worker's token. Other workers play what it had in hand.";
            Refused::new(StatusCode::FORBIDDEN, "This worker's token was revoked", text).into_response()
        }
        (_, Verb::Organise, _) => Refused::new(
            StatusCode::FORBIDDEN,
            "Organisers only",
            "You are signed in, but your account is not an organiser's.",
        )
        .then("Home", "/")
        .into_response(),
        (_, Verb::Act, Object::Contest) => Refused::new(
            StatusCode::FORBIDDEN,
            "You are not in a team yet",
            "Create one, or join one with the code that its members have.",
        )
        .then("Team", "/team")
        .into_response(),
        _ => Refused::nothing().into_response(),
    };
    response.extensions_mut().insert(ask.clone());
    Box::new(response)
}

/// A text encoded for a query.
pub fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes().take(512) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The request with its whole body, if that is small, once it is proven that one of our pages sent it.
async fn whole(ask: &Visit, route: &Route, request: Request) -> Result<Request, Refused> {
    if route.method == routes::Method::Get {
        return Ok(request);
    }
    // Of a program that a token speaks for, no browser sends anything by itself.
    let is_of_page = !route.is_for_programs() || !ask.form.is_empty();
    if is_of_page && !gate::is_ours(request.headers(), &ask.address, true) {
        let text = "This was sent by a page of another site, or by something that is not a browser. Nothing was done.";
        return Err(Refused::new(StatusCode::FORBIDDEN, "Not sent from here", text));
    }
    if route.body == Body::Upload {
        return Ok(request);
    }
    let (head, body) = request.into_parts();
    let most = if route.body == Body::Text { TEXT } else { SMALL };
    let bytes = gate::whole(body, most, PATIENCE).await.map_err(|why| match why {
        Unwhole::TooLarge => {
            let text = format!("What is sent here holds {} KiB at most. Nothing was done.", most >> 10);
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text)
        }
        Unwhole::CutOff => {
            Refused::new(StatusCode::BAD_REQUEST, "Cut off", "The request was cut off. Nothing was done.")
        }
    })?;
    let bears = || match route.is_for_programs() {
        true => {
            head.headers.get(FORM).is_some_and(|own| secrets::same(own.to_str().unwrap_or(""), &ask.form))
        }
        false => bears(&bytes, &ask.form),
    };
    if !ask.form.is_empty() && !bears() {
        return Err(old_form());
    }
    Ok(Request::from_parts(head, AxumBody::from(bytes)))
}

fn old_form() -> Refused {
    let text = "It was made before you signed in, or in another browser. Nothing was done: open the page again and send it from there.";
    Refused::new(StatusCode::FORBIDDEN, "This form is too old", text)
}

/// Whether a form's body contains the token: `form=...`, in which nothing needs escaping.
fn bears(body: &[u8], token: &str) -> bool {
    let fields = body.split(|byte| *byte == b'&');
    let mut found = fields.filter_map(|field| field.strip_prefix(b"form="));
    let first = found.next().and_then(|value| std::str::from_utf8(value).ok());
    first.is_some_and(|value| secrets::same(value, token)) && found.next().is_none()
}

/// How the browser reaches this site.
fn own_address(site: &Site, headers: &HeaderMap) -> String {
    match &site.way {
        Way::Proxy(address) => address.clone(),
        _ => {
            let scheme = if site.is_secure() { "https" } else { "http" };
            format!("{scheme}://{}", gate::host(headers).map_or(String::new(), |host| host.to_string()))
        }
    }
}

/// The address of the client. Behind a proxy it is what our own proxies say: each appends the address of whoever asked it to
/// `X-Forwarded-For`, so the last that is no proxy of ours is the client's. Anybody may have written what stands before it.
fn address(site: &Site, request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>().map_or(Ipv4Addr::LOCALHOST.into(), |peer| peer.0);
    if !site.is_proxy(peer) {
        return peer;
    }
    forwarded(peer, request.headers(), |address| site.is_proxy(address))
}

fn forwarded(peer: IpAddr, headers: &HeaderMap, is_proxy: impl Fn(IpAddr) -> bool) -> IpAddr {
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.to_str().unwrap_or("?").rsplit(','));
    let mut nearest = peer;
    for hop in hops {
        // No proxy of ours has written what cannot be read.
        let Some(address) = hop_address(hop.trim()) else { break };
        nearest = address;
        if !is_proxy(address) {
            break;
        }
    }
    nearest
}

/// An address as proxies write it, some with a port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let alone = bare.parse::<IpAddr>().ok();
    alone.or_else(|| text.parse::<SocketAddr>().ok().map(|at| at.ip())).map(|address| address.to_canonical())
}

/// Around everything: nobody waits for ever.
pub async fn patience(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let uploads = routes::all().any(|route| route.body == Body::Upload && route.path == path);
    let patience = if uploads { PATIENCE_OF_UPLOADS } else { PATIENCE };
    match tokio::time::timeout(patience, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let says = format!("The request took longer than {} s.", patience.as_secs());
            Refused::new(StatusCode::REQUEST_TIMEOUT, "Too slow", says).into_response()
        }
    }
}

/// Around every handler: what comes through a proxy is counted for the address that it was forwarded for, until the answer has been
/// taken. Where there is no proxy connections are counted.
pub async fn share(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if !matches!(site.way, Way::Proxy(_)) {
        return next.run(request).await;
    }
    match site.limits.under_way(address(&site, &request)) {
        Some(place) => next.run(request).await.map(|body| answers::held(body, place)),
        None => Refused::too_much("Too many requests of your address are under way.", 5).into_response(),
    }
}

/// Around handlers that need the database: while it does not answer, nobody waits for it. A request under way is left, and what it asked for may
/// yet be done.
pub async fn reach(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut away = site.away();
    tokio::select! {
        biased;
        // The sender is the site's own.
        _ = away.wait_for(|away| *away) => Refused::away().into_response(),
        response = next.run(request) => response,
    }
}

/// Around everything: error pages, and the headers of every answer.
pub async fn finish(State((site, door)): State<(Arc<Site>, Door)>, request: Request, next: Next) -> Response {
    let (began, method, path) = (Instant::now(), request.method().clone(), request.uri().path().to_owned());
    let is_for_programs = routes::is_for_programs(&path);
    // A worker is known by a token that no browser has, so its address may have any name.
    let is_meant = door == Door::Workers || host_is_meant(&site, request.headers());
    let mut response = match gate::check_target(&request) {
        Err((status, why)) => Refused::new(status, "Not understood", why).into_response(),
        Ok(()) if is_meant => next.run(request).await,
        Ok(()) => {
            let text = "This server answers only to its own address, the one that agon printed.";
            Refused::new(StatusCode::MISDIRECTED_REQUEST, "Wrong address", text).into_response()
        }
    };
    let visit = response.extensions().get::<Visit>();
    let who = visit.map_or_else(|| "nobody".to_owned(), Visit::who);
    let room = visit.and_then(Visit::person).map(|person| site.limits.room(person.account, site.now()));
    if let Some(problem) = response.extensions_mut().remove::<Refused>() {
        let ask = response.extensions_mut().remove::<Visit>();
        let again = response.headers().get(header::RETRY_AFTER).cloned();
        response = match is_for_programs {
            true => problem.json(),
            false => (problem.status, pages::problem(&site, ask.as_ref(), &problem)).into_response(),
        };
        if let Some(again) = again {
            response.headers_mut().insert(header::RETRY_AFTER, again);
        }
    }
    response = answers::aside(&site, response).await;
    let headers = response.headers_mut();
    if let Some((left, until)) = room.filter(|_| is_for_programs) {
        // A program that has much to ask can leave room for the pages of whoever started it.
        let seconds = (until.0 - site.now().0).max(0) / 1000 + 1;
        headers.insert(agon_api::LIMIT, PER_ACCOUNT.into());
        headers.insert(agon_api::LEFT, left.into());
        headers.insert(agon_api::RESET, seconds.into());
    }
    // Not `no-referrer`: browsers would then not tell us that a form was ours.
    gate::finish(headers, "same-origin", POLICY);
    // Browsers complain about it at addresses they do not trust, such as a network without encryption.
    if site.is_secure() || matches!(site.way, Way::Loopback) {
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("same-origin"));
    }
    if site.is_for_good() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    site.requests.count(&path, status, took);
    // Without the query, which may hold secrets.
    tracing::info!(target: "agon::request", %method, %path, status, ms = took.as_secs_f64() * 1e3, %who);
    response
}

/// Around a server without pages: refuses what names no one address of it, and says every refusal as a program reads it.
pub async fn targeted(request: Request, next: Next) -> Response {
    let mut response = match gate::check_target(&request) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => Refused::new(status, "Not understood", why).into_response(),
    };
    let problem = response.extensions_mut().remove::<Refused>();
    problem.map_or(response, |problem| problem.json())
}

/// On the loopback only loopback names are accepted: a foreign name can be made to resolve here.
fn host_is_meant(site: &Site, headers: &HeaderMap) -> bool {
    !matches!(site.way, Way::Loopback) || names_loopback(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ipnet::IpNet;

    #[test]
    fn the_last_hop_that_is_no_proxy_of_ours_is_the_client() {
        let proxies: Vec<IpNet> =
            ["10.0.0.0/8", "2001:db8:1::/48"].map(|text| text.parse().expect("one")).into();
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        for (lines, client) in [
            (&[][..], "127.0.0.1"),
            (&["1.2.3.4"], "1.2.3.4"),
            // Whoever asks may have written what stands before.
            (&["9.9.9.9, 1.2.3.4"], "1.2.3.4"),
            (&["9.9.9.9", "1.2.3.4"], "1.2.3.4"),
            (&["127.0.0.1, 1.2.3.4"], "1.2.3.4"),
            // Our proxies, one behind the other.
            (&["9.9.9.9, 1.2.3.4, 10.1.1.1"], "1.2.3.4"),
            (&["1.2.3.4", "10.1.1.1, 127.0.0.1"], "1.2.3.4"),
            (&["2001:db8:2::7, 2001:db8:1::1"], "2001:db8:2::7"),
            (&["10.2.2.2, 10.1.1.1"], "10.2.2.2"),
            (&["9.9.9.9, nobody, 10.1.1.1"], "10.1.1.1"),
            (&["9.9.9.9, "], "127.0.0.1"),
            (&["1.2.3.4:5678"], "1.2.3.4"),
            (&["[2001:db8:2::7]:5678"], "2001:db8:2::7"),
            (&["[2001:db8:2::7]"], "2001:db8:2::7"),
            (&["::ffff:1.2.3.4, ::ffff:10.1.1.1"], "1.2.3.4"),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", HeaderValue::from_static(line));
            }
            let is_proxy = |address| crate::site::is_proxy(address, &proxies);
            assert_eq!(forwarded(here, &headers, is_proxy).to_string(), client, "{lines:?}");
        }
    }
}
