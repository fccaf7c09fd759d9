//! Files of ours.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The style sheet: first the colours, which the viewer has as well.
const STYLE: &str = concat!(include_str!("../../../../web/src/tokens.css"), include_str!("style.css"));

/// The script of pages that are live.
const LIVE: &str = include_str!("live.js");

/// A file that browsers keep for a while.
fn file(kind: &'static str, text: &'static str) -> Response {
    let kind = HeaderValue::from_static(kind);
    let keep = HeaderValue::from_static("public, max-age=300");
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], text).into_response()
}

/// The style sheet.
pub async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

/// What keeps pages fresh that are looked at.
pub async fn live() -> Response {
    file("text/javascript; charset=utf-8", LIVE)
}

/// The picture in the tab of the browser.
pub async fn icon() -> Response {
    file("image/svg+xml", agon_web::app::ICON)
}

/// A file of the viewer, packed: it is large, and the same as long as the program is.
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

/// The engines, as the viewer's pages find them; nothing where the program has none.
pub async fn viewer_engine() -> Response {
    static ENGINE: LazyLock<Vec<u8>> =
        LazyLock::new(|| agon_web::app::gzip(agon_web::app::engine_script().as_bytes()));
    packed("text/javascript; charset=utf-8", &ENGINE)
}
