//! The rules of the game, from its rulebook, and the terms of this contest.

use agon_game::{Answer, PackedAnswer, Seat, Seeded, Session};
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser};

use crate::gate::Visit;
use crate::pages::frame::{self, Here};
use crate::pages::numbers::{self, RuleField};
use crate::pages::words;
use crate::problem::Refused;

/// Steps of a match within which every game has come to its later limits.
const SHOWN_STEPS: usize = 24;

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
    let limit = ask.site.server.table().open(0, 1).map_or_else(|_| "not known".to_owned(), limits);
    html! {
        dt { "Game" } dd { (game) }
        dt { "Rules" } dd { (rules) }
        dt { "Maps" } dd { (maps) }
        dt { "Players in a match" } dd { (ask.site.server.policy().seats) }
        dt { "Time per answer" } dd { @match clock.cap {
            Some(cap) => { (limit) " by the rules, and " (words::count(cap.as_millis() as i64)) " ms at most here" }
            None => (limit),
        } }
        dt { "Time for a match" } dd { @match clock.in_all() {
            Some(total) => { (words::count(total.as_millis() as i64)) " ms per bot, all its answers together" }
            None => "no limit but those of the answers",
        } }
    }
}

/// The limits of the rules in numbers: `1,000 ms for the first answer, then 50 ms`. Some games give the first turns more.
fn limits(mut session: Box<dyn Session>) -> String {
    let mut chance = Seeded::stream(1, "limits");
    let mut seen = Vec::new();
    for _ in 0..SHOWN_STEPS {
        let deciding: Vec<Seat> = session.deciding().iter().collect();
        let Some(first) = deciding.first() else { break };
        seen.push(session.limit_ms(*first));
        let answers: Vec<(Seat, PackedAnswer)> = deciding
            .iter()
            .map(|seat| (*seat, Answer::Given { order: session.stray(*seat, &mut chance), think_ms: 0 }))
            .collect();
        if session.outcome().is_some() || session.play(&answers).is_err() {
            break;
        }
    }
    let ms = |limit: u32| match limit {
        0 => "no limit".to_owned(),
        limit => format!("{} ms", words::count(i64::from(limit))),
    };
    match (seen.first(), seen.last()) {
        (Some(first), Some(last)) if first != last => format!("{} at first, then {}", ms(*first), ms(*last)),
        (Some(first), _) => ms(*first),
        _ => "not known".to_owned(),
    }
}

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let info = agon_games::find(&ask.settings.game).ok_or_else(Refused::ours)?.info();
    let settings = &ask.settings;
    let grounds = &ask.site.server.terms().grounds;
    let own = grounds.first().map_or_else(Vec::new, |ground| numbers::fields(&ground.rules));
    let usual = usual(&settings.game, ask.site.server.policy().seats);
    let default = info.presets.first().map_or("the game's own", |preset| preset.name);
    let before = |field: &RuleField| usual.iter().find(|usual| usual.path == field.path);
    let changed =
        own.iter().filter(|field| before(field).is_some_and(|usual| usual.value != field.value)).count();
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
        section.card {
            header { h2 { "The numbers of this contest" } span.faint { @match changed { 0 => { "all as in the preset " (default) } n => { (words::many(n as i64, "differs", "differ")) " from the preset " (default) } } } }
            details.in open[changed > 0] {
                summary { "All " (words::many(own.len() as i64, "number", "numbers")) " of this contest's rules file" }
                table.dense {
                    thead { tr { th scope="col" { "Field" } th.number scope="col" { "Here" } th.number scope="col" { "In " (default) } } }
                    tbody { @for field in &own {
                        @let before = before(field).map(|usual| &usual.value);
                        tr {
                            td { code { (field.path) } }
                            td.number { @if before.is_some_and(|value| *value == field.value) { (field.value) } @else { b { (field.value) } } }
                            td.number.faint { @match before { Some(value) if *value != field.value => (value), Some(_) => "the same", None => "–" } }
                        }
                    } }
                }
            }
        }
        article.prose { (PreEscaped(markdown(&numbers::rulebook(info.rulebook, &own, &usual)))) }
    };
    Ok(frame::page(
        &ask,
        Here::Rules,
        &format!("The rules of {}", info.title),
        &words::sentence(info.summary),
        content,
    ))
}

/// The numbers of the game's default rules.
fn usual(game: &str, seats: usize) -> Vec<RuleField> {
    let setup = agon_game::Setup { seats: u8::try_from(seats).unwrap_or(2), ..agon_game::Setup::default() };
    let session = agon_games::find(game).and_then(|game| game.open(&setup).ok());
    session.map_or_else(Vec::new, |session| numbers::fields(&session.recipe().rules))
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
