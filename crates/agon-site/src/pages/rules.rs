//! The rules of the game, from its rulebook, and the terms of this contest.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser};

use crate::gate::Visit;
use crate::pages::frame::{self, Here};
use crate::pages::words;
use crate::problem::Refused;

/// What decides results and cannot be changed while the contest runs: terms and their values, for a list of facts.
pub fn fixed(ask: &Visit) -> Markup {
    let settings = &ask.settings;
    let game = agon_games::find(&settings.game).map_or(settings.game.as_str(), |game| game.info().title);
    let rules = if settings.rules.is_empty() { "the game's own" } else { &settings.rules };
    let maps = match settings.maps.len() {
        0 => "generated from the seed".to_owned(),
        _ => (0..settings.maps.len() as i64).map(|map| settings.map(map)).collect::<Vec<_>>().join(", "),
    };
    let clock = ask.site.server.terms().clock.clock();
    html! {
        dt { "Game" } dd { (game) }
        dt { "Rules" } dd { (rules) }
        dt { "Maps" } dd { (maps) }
        dt { "Seats of a match" } dd { (ask.site.server.policy().seats) }
        dt { "Time for an answer" } dd { @match clock.cap {
            Some(cap) => { "as in the rules, and " (format!("{cap:?}")) " at most" }
            None => "as in the rules",
        } }
        dt { "Time for a match" } dd { @match clock.in_all() {
            Some(total) => { (format!("{total:?}")) " for all answers of a bot together" }
            None => "no limit but those of the answers",
        } }
    }
}

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let info = agon_games::find(&ask.settings.game).ok_or_else(Refused::ours)?.info();
    let settings = &ask.settings;
    let content = html! {
        section.card {
            header { h2 { "In this contest" } }
            div.in {
                dl.facts {
                    (fixed(&ask))
                    dt { "Rated matches" } dd { "about " (settings.matches) " for each version" }
                    dt { "Team size" } dd { @if settings.team_size == 1 { "one person" } @else { "up to " (settings.team_size) " people" } }
                    dt { "Seeds" } dd { "derived from a secret, published at the end; its SHA-256 is " code { (secret(&ask).await?) } }
                }
            }
        }
        article.prose { (PreEscaped(markdown(info.rulebook))) }
    };
    Ok(frame::page(
        &ask,
        Here::Rules,
        &format!("The rules of {}", info.title),
        &words::sentence(info.summary),
        content,
    ))
}

async fn secret(ask: &Visit) -> Result<String, Refused> {
    Ok(ask.site.store().now().await?.secret_sha)
}

/// Our own text; HTML in it is shown as text all the same.
fn markdown(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        // A page needs only one top-level heading.
        other => other,
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    // Column alignment does not matter on a page that allows no inline styles.
    html.replace(" style=\"text-align: right\"", "")
        .replace(" style=\"text-align: center\"", "")
        .replace(" style=\"text-align: left\"", "")
}
