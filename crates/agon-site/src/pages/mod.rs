//! The pages. Each opens with its answer, and is whole without scripts.

pub mod draw;
pub mod frame;
pub mod words;

mod home;
mod ladder;
mod people;
mod still;

use axum::http::StatusCode;
use axum::routing::{get as asked, post as sent};
use maud::{Markup, html};

use crate::gate::Ask;
use crate::problem::Problem;
use crate::rights::Verb;
use crate::routes::{Of, Route, get, post, still};
use crate::site::Site;

use frame::Here;

/// The stream of events.
pub const EVENTS: &str = "/events";

/// The routes of the pages.
pub const ROUTES: &[Route] = &[
    get("/", Verb::See, Of::Contest, || asked(home::page)),
    get("/ladder", Verb::See, Of::Contest, || asked(ladder::page)),
    // People.
    get("/sign-up", Verb::Enter, Of::Contest, || asked(people::sign_up_form)),
    post("/sign-up", Verb::Enter, Of::Contest, || sent(people::sign_up)),
    get("/sign-in", Verb::Enter, Of::Contest, || asked(people::sign_in_form)),
    post("/sign-in", Verb::Enter, Of::Contest, || sent(people::sign_in)),
    post("/sign-out", Verb::Enter, Of::Contest, || sent(people::sign_out)),
    get("/organiser", Verb::Enter, Of::Contest, || asked(people::organiser_form)),
    post("/organiser", Verb::Enter, Of::Contest, || sent(people::organiser)),
    // Files of ours.
    still("/style.css", || asked(still::style)),
    still("/icon.svg", || asked(still::icon)),
];

/// What answers where no route is.
pub async fn nothing() -> Problem {
    Problem::nothing()
}

/// What answers to a method that a route does not have.
pub async fn wrong_method() -> Problem {
    let text = "This address is there, but not for this kind of request. Open it in the browser, or use the form that leads here.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "Not this way", text)
}

/// The page of a refusal.
pub fn problem(site: &Site, ask: Option<&Ask>, problem: &Problem) -> Markup {
    let content = html! {
        @if let Some((label, address)) = &problem.then {
            p { a.button href=(address) { (label) } }
        }
    };
    match ask {
        Some(ask) => frame::page(ask, Here::Elsewhere, &problem.title, &problem.text, content),
        None => frame::bare(&site.settings().title, &problem.title, &problem.text, content),
    }
}
