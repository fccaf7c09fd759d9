//! Our static files.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The style sheet: first the colours, which the viewer shares.
const STYLE: &str = concat!(include_str!("../../../../web/src/tokens.css"), include_str!("style.css"));

/// The script of live pages.
const LIVE: &str = include_str!("live.js");

/// A file that browsers cache for a while.
fn file(kind: &'static str, text: &'static str) -> Response {
    let kind = HeaderValue::from_static(kind);
    let keep = HeaderValue::from_static("public, max-age=300");
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], text).into_response()
}

/// The style sheet.
pub async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

/// The script that refreshes live pages.
pub async fn live() -> Response {
    file("text/javascript; charset=utf-8", LIVE)
}

/// The icon in the browser's tab.
pub async fn icon() -> Response {
    file("image/svg+xml", agon_web::app::ICON)
}

/// A packed file of the viewer: it is large, and stays the same for as long as the program runs.
fn packed(kind: &'static str, bytes: &'static [u8]) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
    ];
    (headers, bytes).into_response()
}

/// The viewer's script.
pub async fn viewer_script() -> Response {
    packed("text/javascript; charset=utf-8", agon_web::app::PACKED_FOLDER_SCRIPT.bytes())
}

/// The viewer's style sheet.
pub async fn viewer_style() -> Response {
    packed("text/css; charset=utf-8", agon_web::app::PACKED_FOLDER_STYLE.bytes())
}

/// The script of the pages of puzzles.
pub async fn puzzle_script() -> Response {
    packed("text/javascript; charset=utf-8", agon_web::app::PACKED_PUZZLE_SCRIPT.bytes())
}

/// Its style sheet.
pub async fn puzzle_style() -> Response {
    packed("text/css; charset=utf-8", agon_web::app::PACKED_PUZZLE_STYLE.bytes())
}

/// The engines for the viewer's pages; nothing if the program has none.
pub async fn viewer_engine() -> Response {
    static ENGINE: LazyLock<Vec<u8>> =
        LazyLock::new(|| agon_web::app::gzip(agon_web::app::engine_script().as_bytes()));
    packed("text/javascript; charset=utf-8", &ENGINE)
}
