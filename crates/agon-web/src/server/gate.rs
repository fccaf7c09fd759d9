//! Who is let in.
//!
//! The page itself is for everybody: it contains nothing. What is private requires the key in a header, which no other site
//! can make a browser send. A browser gets the key once, by a link that can be opened once, and keeps it for this tab and
//! this origin. There is no cookie, because one would go to every port of this machine.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tokio_stream::StreamExt as _;

use super::{AppState, answers, check_target, fresh_secret};
use crate::app;
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
    let headers = answer.headers_mut();
    for (name, value) in
        [(header::X_CONTENT_TYPE_OPTIONS, "nosniff"), (header::REFERRER_POLICY, "no-referrer")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    answer
}

/// Around what is private: only for callers that have the key and come from our own page.
pub async fn private(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let key = headers.get(KEY).and_then(|key| key.to_str().ok()).unwrap_or_default();
    if !same(key, &app.key) {
        let why = "this page has no key for this viewer, or an old one";
        return answers::problem(StatusCode::FORBIDDEN, why);
    }
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    if !origin_is_ours(headers, changes) {
        return answers::problem(StatusCode::FORBIDDEN, "this did not come from the viewer's own page");
    }
    match whole(request, app.patience).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    }
}

/// Around what belongs to a seat: only for callers that have its token and come from our own page.
pub async fn seated(State(app): State<Arc<AppState>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    let token = headers.get(SEAT).and_then(|token| token.to_str().ok()).unwrap_or_default();
    let Some(seat) = app.seat(token) else {
        let why = "this link opens no seat: its match is over, or it belongs to another run of agon";
        return answers::problem(StatusCode::FORBIDDEN, why);
    };
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    if !origin_is_ours(headers, changes) {
        return answers::problem(StatusCode::FORBIDDEN, "this did not come from the viewer's own page");
    }
    request.extensions_mut().insert(seat);
    match whole(request, app.patience).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    }
}

/// The request with its whole body; no part of it may take too long to arrive.
async fn whole(request: Request, patience: Duration) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    let (mut body, mut content) = (body.into_data_stream(), Vec::new());
    loop {
        match tokio::time::timeout(patience, body.next()).await {
            Ok(None) => return Ok(Request::from_parts(head, Body::from(Bytes::from(content)))),
            Ok(Some(Ok(piece))) if content.len() + piece.len() <= LARGEST as usize => {
                content.extend_from_slice(&piece);
            }
            Ok(Some(Ok(_))) => {
                return Err(answers::problem(StatusCode::PAYLOAD_TOO_LARGE, "larger than 256 MiB"));
            }
            Ok(Some(Err(_))) | Err(_) => {
                return Err(answers::problem(
                    StatusCode::REQUEST_TIMEOUT,
                    "the request was cut off or too slow",
                ));
            }
        }
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
        return refuse(StatusCode::FORBIDDEN, "This link is used up", text);
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

/// Whether the browser meant this server. On the loopback only loopback names count: a foreign name could be made to resolve
/// there.
fn host_is_ours(headers: &HeaderMap, address: SocketAddr) -> bool {
    let Some((name, port)) = text(headers, &header::HOST).rsplit_once(':') else { return false };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let local = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    (local || !address.ip().is_loopback()) && port.parse() == Ok(address.port())
}

/// Whether a page of this server is asking. Browsers say where a request comes from whenever it can change something, and
/// otherwise when it comes from another site.
fn origin_is_ours(headers: &HeaderMap, must: bool) -> bool {
    match headers.get(header::ORIGIN) {
        None => !must,
        Some(origin) => origin.as_bytes() == format!("http://{}", text(headers, &header::HOST)).as_bytes(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether two texts are equal, in a time that does not reveal where they differ.
pub fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn refuse(code: StatusCode, title: &str, text: &str) -> Response {
    (code, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], app::notice(title, text)).into_response()
}
