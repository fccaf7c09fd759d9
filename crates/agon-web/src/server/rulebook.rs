//! The wording of rules, for pages that name one.

use axum::extract::Query;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::telling::problem;

/// Which rule of which game.
#[derive(Deserialize)]
pub struct OneRule {
    game: String,
    id: String,
}

/// The wording of a rule, from its rulebook.
pub async fn rule(Query(OneRule { game, id }): Query<OneRule>) -> Response {
    let Some(game) = agon_games::find(&game) else {
        return problem(StatusCode::NOT_FOUND, &format!("there is no game called {game}"));
    };
    match agon_rulebook::explain(game.info(), &id) {
        Some(found) => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], found.rule.text).into_response()
        }
        None => problem(StatusCode::NOT_FOUND, &format!("{} has no rule {id}", game.info().title)),
    }
}
