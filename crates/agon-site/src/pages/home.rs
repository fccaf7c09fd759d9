//! The first page.

use maud::{Markup, html};

use crate::gate::Ask;
use crate::pages::frame::{self, Here};
use crate::problem::Problem;

/// What somebody sees first.
pub async fn page(ask: Ask) -> Result<Markup, Problem> {
    let title = ask.settings.title.clone();
    let content = html! { p { a.button href="/ladder" { "See the ladder" } } };
    Ok(frame::page(&ask, Here::Home, &title, "", content))
}
