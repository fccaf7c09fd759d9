//! The app itself: its page, its scripts and style sheets, and the engines. Nothing in them is private.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::state::AppState;
use crate::app;

const SCRIPT: &str = "text/javascript; charset=utf-8";
/// For files whose name changes with their content.
const KEPT: &str = "private, max-age=31536000, immutable";

pub(super) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/", get(page))
        .route("/parts/{name}", get(part))
        .route("/editor.js", get(|| async { packed(SCRIPT, app::PACKED_EDITOR.bytes()) }))
        .route("/icon.svg", get(|| async { ([(header::CONTENT_TYPE, "image/svg+xml")], app::ICON) }))
        .route(&format!("/parts/{}", agon_module::NAME), get(engine))
}

async fn page() -> Response {
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    if app::is_built() {
        return (html, app::PAGE.as_str()).into_response();
    }
    let text = format!(
        "This agon was built without its web app: {} Everything else works; `agon replay show FILE` draws \
         a match in the terminal.",
        app::MISSING.trim()
    );
    (html, app::notice("The viewer is not in this program", &text)).into_response()
}

fn packed(kind: &'static str, bytes: &'static [u8]) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CONTENT_ENCODING, "gzip")], bytes).into_response()
}

/// A part of the app. Its name changes with its content, so the browser may cache it, and what it compiled from it.
async fn part(Path(name): Path<String>) -> Response {
    let Some((kind, bytes)) = app::part(&name) else { return StatusCode::NOT_FOUND.into_response() };
    ([(header::CACHE_CONTROL, KEPT)], packed(kind, bytes)).into_response()
}

/// The engines, in an encoding that the browser accepts. Their name changes with their content, so it may cache them.
async fn engine(headers: HeaderMap) -> Response {
    if !agon_module::is_built() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let takes_brotli = accepted.flat_map(|list| list.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some("br") && !parts.any(|part| part.trim_end_matches(['0', '.']) == "q=")
    });
    let (bytes, encoding) =
        if takes_brotli { (agon_module::BROTLI, "br") } else { (agon_module::GZIP, "gzip") };
    let headers = [
        (header::CONTENT_TYPE, "application/wasm"),
        (header::CONTENT_ENCODING, encoding),
        (header::VARY, "accept-encoding"),
        (header::CACHE_CONTROL, KEPT),
    ];
    (headers, bytes).into_response()
}
