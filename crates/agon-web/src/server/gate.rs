//! Who is let in.
//!
//! The page itself is for everybody: it contains nothing. What is private requires the key in a header, which no other site
//! can make a browser send. A browser gets the key once, by a link that can be opened once, and keeps it for this tab and
//! this origin. There is no cookie, because one would go to every port of this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use agon_view::LONGEST_ASK;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::state::{AppState, fresh_secret};
use super::telling::problem;
use crate::app;
use crate::gate::{Unwhole, check_target, finish, host, is_ours, names_loopback, same, whole};
use crate::shelf::LARGEST;

/// The header that holds the key.
pub const KEY: &str = "x-agon-key";

/// The header that holds the token of a seat.
pub const SEAT: &str = "x-agon-seat";

/// The app loads nothing from elsewhere and runs no inline script. Its engines are a WebAssembly module in a worker, whose
/// script is inside the app's.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self' \
                      'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// What scripts written in the page run in: a page of its own without an origin, from which nothing gets out. Only there may
/// text become code.
pub const BOX_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; \
                              worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'; \
                              frame-ancestors 'self'";

/// Around every answer: only requests meant for this server are answered, and no answer is cached or framed.
pub async fn all(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let mut answer = match check_target(&request) {
        Err((status, why)) => refuse(status, "Not understood", why),
        Ok(()) if host_is_ours(request.headers(), app.address) => next.run(request).await,
        Ok(()) => {
            let text = "This server answers only to its own address, the one agon printed.";
            refuse(StatusCode::MISDIRECTED_REQUEST, "Wrong address", text)
        }
    };
    finish(answer.headers_mut(), "no-referrer", POLICY);
    answer
}

/// Around what is private: only for callers that have the key and come from our own page.
pub async fn private(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    if !same(secret(&request, KEY), &app.key) {
        return problem(StatusCode::FORBIDDEN, "this page has no key for this viewer, or an old one");
    }
    pass(&app, request, LARGEST as usize + LONGEST_ASK, next).await
}

/// Around what belongs to a seat: only for callers that have its token and come from our own page.
pub async fn seated(State(app): State<Arc<AppState>>, mut request: Request, next: Next) -> Response {
    let Some(seat) = app.seat(secret(&request, SEAT)) else {
        let why = "this link opens no seat: its match is over, or it belongs to another run of agon";
        return problem(StatusCode::FORBIDDEN, why);
    };
    request.extensions_mut().insert(seat);
    pass(&app, request, LONGEST_ASK, next).await
}

fn secret<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers().get(name).and_then(|secret| secret.to_str().ok()).unwrap_or_default()
}

/// Lets in what our own page sent, once all of it has arrived.
async fn pass(app: &AppState, request: Request, largest: usize, next: Next) -> Response {
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    let own = host(request.headers()).map_or(String::new(), |host| format!("http://{host}"));
    if !is_ours(request.headers(), &own, changes) {
        return problem(StatusCode::FORBIDDEN, "this did not come from the viewer's own page");
    }
    let (head, body) = request.into_parts();
    match whole(body, largest, app.patience).await {
        Ok(content) => next.run(Request::from_parts(head, Body::from(content))).await,
        Err(Unwhole::TooLarge) => {
            problem(StatusCode::PAYLOAD_TOO_LARGE, &format!("larger than {} MiB", largest >> 20))
        }
        Err(Unwhole::CutOff) => problem(StatusCode::REQUEST_TIMEOUT, "the request was cut off or too slow"),
    }
}

/// A link that opens the viewer.
#[derive(Deserialize)]
pub struct Link {
    #[serde(default)]
    link: String,
}

/// Gives the key to the first who opens a link, and redirects to an address without it.
pub async fn start(
    State(app): State<Arc<AppState>>,
    method: Method,
    Query(Link { link }): Query<Link>,
) -> Response {
    // Programs that look at links before people do request only the head.
    if method != Method::GET {
        return StatusCode::NO_CONTENT.into_response();
    }
    let Some(place) = app.take_link(&link) else {
        let text = "This link has already been opened, or belongs to another run of agon. For a new one, press \
                    Enter in the console where agon runs.";
        return refuse(StatusCode::FORBIDDEN, "This link has already been used", text);
    };
    let nonce = fresh_secret();
    let policy =
        format!("default-src 'none'; script-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'");
    // Both are inserted into a script: as JSON strings, in which nothing can end it.
    let text = |text: &str| serde_json::Value::from(text).to_string().replace('<', "\\u003c");
    let page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Agon</title>\n<script nonce=\"{nonce}\">\n\
         sessionStorage.setItem({}, {})\nlocation.replace({})\n</script>\n\
         <noscript>The viewer needs JavaScript.</noscript>\n",
        text(KEY),
        text(&app.key),
        text(&if place.is_empty() { "/".to_owned() } else { format!("/#{place}") }),
    );
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    ([(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, policy)], page).into_response()
}

/// Whether the browser meant this server.
fn host_is_ours(headers: &HeaderMap, address: SocketAddr) -> bool {
    let local = names_loopback(headers) || !address.ip().is_loopback();
    local && host(headers).and_then(|host| host.port_u16()) == Some(address.port())
}

fn refuse(code: StatusCode, title: &str, text: &str) -> Response {
    (code, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], app::notice(title, text)).into_response()
}
