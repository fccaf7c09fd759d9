//! The workshop: the script named at start-up, and the box that scripts run in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::gate;
use super::state::AppState;
use super::telling::problem;
use crate::app;
use crate::script::ScriptError;

/// The page without an origin that scripts run in.
pub async fn script_box() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, gate::BOX_POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    ];
    (headers, app::BOX).into_response()
}

/// The script named at start-up; nothing if none was.
pub async fn script(State(app): State<Arc<AppState>>) -> Response {
    match &app.script {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(script) => match script.read() {
            Ok(text) => Json(text).into_response(),
            Err(error) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        },
    }
}

/// The stamp that a script had when the page read it.
#[derive(Deserialize)]
pub struct Was {
    was: String,
}

/// Saves the script; answers with its new stamp.
pub async fn save(
    State(app): State<Arc<AppState>>,
    Query(Was { was }): Query<Was>,
    text: String,
) -> Response {
    let saved =
        tokio::task::spawn_blocking(move || app.script.as_ref().ok_or(ScriptError::None)?.write(&text, &was));
    match saved.await {
        Ok(Ok(stamp)) => Json(stamp).into_response(),
        Ok(Err(error @ ScriptError::Changed(_))) => problem(StatusCode::CONFLICT, &error.to_string()),
        Ok(Err(error)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed to save this; please report it"),
    }
}
