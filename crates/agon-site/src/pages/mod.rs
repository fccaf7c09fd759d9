//! The pages. Each opens with its answer, and works without scripts.

pub mod draw;
pub mod events;
mod export;
mod factor;
pub mod frame;
pub mod pace;
pub mod words;

mod account;
mod audit;
mod challenge;
mod clocks;
mod codes;
mod download;
mod everybody;
mod home;
mod ladder;
pub(crate) mod mail;
mod matches;
mod membership;
mod numbers;
mod organise;
mod own;
mod people;
pub(crate) mod puzzle;
mod puzzle_kept;
mod recovery;
mod rules;
pub(crate) mod rulings;
mod settings;
mod sought;
mod still;
mod team;
mod trial;
pub(crate) mod upload;
pub(crate) mod version;
mod workers;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{get as asked, post as sent};
use maud::{Markup, html};

use crate::gate::{LARGE, Visit};
use crate::problem::Refused;
use crate::rights::Verb;
use crate::routes::{Route, RouteObject, get, post, still};
use crate::site::Site;

use frame::Here;
pub use matches::replay;

/// The routes of the pages.
pub const ROUTES: &[Route] = &[
    get("/", Verb::See, RouteObject::Contest, || asked(home::page)),
    get("/ladder", Verb::See, RouteObject::Contest, || asked(ladder::page)),
    // People.
    get("/sign-up", Verb::Enter, RouteObject::Contest, || asked(people::sign_up_form)),
    post("/sign-up", Verb::Enter, RouteObject::Contest, || sent(people::sign_up)),
    get("/sign-in", Verb::Enter, RouteObject::Contest, || asked(people::sign_in_form)),
    post("/sign-in", Verb::Enter, RouteObject::Contest, || sent(people::sign_in)),
    post("/sign-in/code", Verb::Enter, RouteObject::Contest, || sent(factor::sign_in)),
    post("/sign-out", Verb::Enter, RouteObject::Contest, || sent(people::sign_out)),
    get("/organiser", Verb::Enter, RouteObject::Contest, || asked(people::organiser_form)),
    post("/organiser", Verb::Enter, RouteObject::Contest, || sent(people::organiser)),
    get("/password", Verb::Enter, RouteObject::Contest, || asked(account::reset_form)),
    post("/password", Verb::Enter, RouteObject::Contest, || sent(account::reset)),
    get("/recover", Verb::Enter, RouteObject::Contest, || asked(recovery::form)),
    post("/recover", Verb::Enter, RouteObject::Contest, || sent(recovery::recover)),
    post("/recover/mail", Verb::Enter, RouteObject::Contest, || sent(mail::forgotten)),
    // What is played.
    get("/matches", Verb::See, RouteObject::Contest, || asked(matches::list)),
    get("/match/{id}", Verb::See, RouteObject::Contest, || asked(matches::page)),
    get("/match/{id}/view", Verb::See, RouteObject::Contest, || asked(matches::view)),
    get("/match/{id}/output", Verb::See, RouteObject::Contest, || asked(own::output)),
    get("/match/{id}/replay", Verb::See, RouteObject::Contest, || asked(matches::replay)),
    get("/get", Verb::See, RouteObject::Contest, || asked(download::page)),
    get("/get/{file}", Verb::See, RouteObject::Contest, || asked(download::file)),
    get("/rules", Verb::See, RouteObject::Contest, || asked(rules::page)),
    get("/rulings", Verb::See, RouteObject::Contest, || asked(rulings::page)),
    get("/team/{id}", Verb::See, RouteObject::Team, || asked(team::page)),
    get("/version/{id}", Verb::Look, RouteObject::Version, || asked(version::page)),
    get("/version/{id}/log", Verb::Look, RouteObject::Version, || asked(version::log)),
    post("/version/{id}/live", Verb::Act, RouteObject::Version, || sent(version::live)),
    get("/challenge", Verb::Own, RouteObject::Contest, || asked(challenge::form)),
    post("/challenge", Verb::Act, RouteObject::OwnTeam, || sent(challenge::challenge)),
    get("/draft", Verb::Own, RouteObject::Contest, || asked(challenge::draft_form)),
    post("/draft", Verb::Own, RouteObject::Contest, || {
        sent(challenge::draft).layer(DefaultBodyLimit::max(LARGE))
    })
    .uploads(),
    get("/events", Verb::See, RouteObject::Contest, || asked(events::events)).apart(),
    get("/upload", Verb::Own, RouteObject::Contest, || asked(upload::form)),
    post("/upload", Verb::Own, RouteObject::Contest, || {
        sent(upload::upload).layer(DefaultBodyLimit::max(LARGE))
    })
    .uploads(),
    // One's own.
    get("/account", Verb::Own, RouteObject::Contest, || asked(account::page)),
    post("/account/password", Verb::Own, RouteObject::Contest, || sent(account::password)),
    post("/account/codes", Verb::Own, RouteObject::Contest, || sent(recovery::renew)),
    get("/account/mail", Verb::Own, RouteObject::Contest, || asked(mail::confirm_form)),
    post("/account/mail", Verb::Own, RouteObject::Contest, || sent(mail::change)),
    post("/account/mail/again", Verb::Own, RouteObject::Contest, || sent(mail::once_more)),
    post("/account/mail/confirm", Verb::Own, RouteObject::Contest, || sent(mail::confirm)),
    post("/account/factor", Verb::Organise, RouteObject::Contest, || sent(factor::offer)),
    post("/account/factor/on", Verb::Organise, RouteObject::Contest, || sent(factor::turn_on)),
    post("/account/factor/off", Verb::Organise, RouteObject::Contest, || sent(factor::turn_off)),
    post("/account/delete", Verb::Own, RouteObject::Contest, || sent(account::delete)),
    post("/account/others", Verb::Own, RouteObject::Contest, || sent(account::others)),
    post("/account/tokens", Verb::Own, RouteObject::Contest, || sent(account::make_token)),
    post("/account/logins/{id}/end", Verb::Own, RouteObject::Login, || sent(account::end)),
    get("/team", Verb::Own, RouteObject::Contest, || asked(membership::team)),
    post("/team/new", Verb::Own, RouteObject::Contest, || sent(membership::make_team)),
    post("/team/join", Verb::Own, RouteObject::Contest, || sent(membership::join_team)),
    post("/team/leave", Verb::Act, RouteObject::OwnTeam, || sent(membership::leave_team)),
    post("/team/code", Verb::Act, RouteObject::OwnTeam, || sent(membership::new_code)),
    // What is learnt from losses.
    get("/losses", Verb::See, RouteObject::Contest, || asked(puzzle::losses)),
    get("/puzzle/{id}", Verb::See, RouteObject::Contest, || asked(puzzle::page)),
    post("/losses", Verb::Act, RouteObject::OwnTeam, || sent(puzzle_kept::learn)),
    post("/losses/answer", Verb::Act, RouteObject::OwnTeam, || sent(puzzle_kept::answer)),
    post("/losses/test", Verb::Act, RouteObject::OwnTeam, || sent(puzzle_kept::test)),
    post("/losses/test/drop", Verb::Act, RouteObject::OwnTeam, || sent(puzzle_kept::drop_test)),
    // The organiser's pages.
    get("/organise", Verb::Organise, RouteObject::Contest, || asked(organise::page)),
    post("/organise/pause", Verb::Organise, RouteObject::Contest, || sent(organise::pause)),
    post("/organise/resume", Verb::Organise, RouteObject::Contest, || sent(organise::resume)),
    post("/organise/drain", Verb::Organise, RouteObject::Contest, || sent(organise::drain)),
    post("/organise/clock", Verb::Organise, RouteObject::Contest, || sent(clocks::confirm)),
    post("/organise/lift", Verb::Organise, RouteObject::Contest, || sent(organise::lift)),
    post("/organise/announce", Verb::Organise, RouteObject::Contest, || sent(organise::announce)),
    post("/organise/invite", Verb::Organise, RouteObject::Contest, || sent(organise::invite)),
    post("/organise/freeze", Verb::Organise, RouteObject::Contest, || sent(organise::freeze)),
    get("/organise/rulings", Verb::Organise, RouteObject::Contest, || asked(rulings::form)),
    post("/organise/rulings", Verb::Organise, RouteObject::Contest, || sent(rulings::rule)),
    post("/organise/again", Verb::Organise, RouteObject::Contest, || sent(rulings::again)),
    get("/organise/people", Verb::Organise, RouteObject::Contest, || asked(everybody::people)),
    post("/organise/people", Verb::Organise, RouteObject::Contest, || sent(everybody::enrol)),
    post("/organise/reset", Verb::Organise, RouteObject::Contest, || sent(everybody::reset)),
    get("/organise/workers", Verb::Organise, RouteObject::Contest, || asked(workers::page)),
    post("/organise/workers", Verb::Organise, RouteObject::Contest, || sent(workers::enrol)),
    post("/organise/workers/again", Verb::Organise, RouteObject::Contest, || sent(workers::again)),
    post("/organise/workers/on", Verb::Organise, RouteObject::Contest, || sent(workers::on)),
    post("/organise/workers/revoke", Verb::Organise, RouteObject::Contest, || sent(workers::revoke)),
    get("/organise/export", Verb::Organise, RouteObject::Contest, || asked(export::page)),
    post("/organise/export", Verb::Organise, RouteObject::Contest, || sent(export::begin)),
    get("/organise/export/{id}", Verb::Organise, RouteObject::Contest, || asked(export::file)),
    get("/organise/puzzle", Verb::Organise, RouteObject::Contest, || asked(puzzle_kept::set_form)),
    post("/organise/puzzle", Verb::Organise, RouteObject::Contest, || sent(puzzle_kept::set)),
    post("/organise/puzzle/drop", Verb::Organise, RouteObject::Contest, || sent(puzzle_kept::drop_set)),
    get("/organise/marks", Verb::Organise, RouteObject::Contest, || asked(export::marks)),
    get("/organise/settings", Verb::Organise, RouteObject::Contest, || asked(settings::page)),
    post("/organise/settings", Verb::Organise, RouteObject::Contest, || sent(settings::write)),
    // Our files.
    still("/style.css", || asked(still::style)),
    still("/live.js", || asked(still::live)),
    still("/icon.svg", || asked(still::icon)),
    still("/viewer/app.js", || asked(still::viewer_script)),
    still("/viewer/app.css", || asked(still::viewer_style)),
    still("/viewer/puzzle.js", || asked(still::puzzle_script)),
    still("/viewer/puzzle.css", || asked(still::puzzle_style)),
    still("/viewer/engine.js", || asked(still::viewer_engine)),
];

/// The answer where there is no route.
pub async fn nothing() -> Refused {
    Refused::nothing()
}

/// The answer to a method that a route does not have.
pub async fn wrong_method() -> Refused {
    let text = "This address does not accept that kind of request. Open it in the browser, or use the form that leads here.";
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", text)
}

/// The page of a refusal.
pub fn problem(site: &Site, ask: Option<&Visit>, problem: &Refused) -> Markup {
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
