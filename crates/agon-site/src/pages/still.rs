//! Files of ours.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The style sheet.
const STYLE: &str = include_str!("style.css");

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

/// The picture in the tab of the browser.
pub async fn icon() -> Response {
    file("image/svg+xml", agon_web::app::ICON)
}
