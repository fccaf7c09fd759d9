//! Servers whose clocks are in doubt: what is wrong, and the organiser's confirmation of the time.

use agon_server::clock;
use agon_store::{ClockDoubt, Time};
use axum::Form;
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::frame::token;
use crate::problem::Refused;
use crate::redirect;

/// What an organiser confirms.
#[derive(Deserialize)]
pub(crate) struct Seen {
    server: String,
    /// How far the clock was ahead when the page was made, in milliseconds.
    ahead: i64,
}

/// What the cockpit says first while clocks are in doubt.
pub fn answer(doubts: &[ClockDoubt]) -> Option<(String, String)> {
    let doubt = doubts.first()?;
    let next = match (clock::is_unconfirmed(doubt), doubt.apart_ms.is_some()) {
        (_, true) => {
            "Set it, or the database's: the server goes on by itself once they have agreed for a minute."
        }
        (true, false) => {
            "Compare what it shows with another clock, and confirm it below or set it: a minute later the server goes on."
        }
        (false, false) => "The server goes on by itself once its clocks have agreed for a minute.",
    };
    let text = format!(
        "It {}. That server accepts, hands out and seals nothing meanwhile; matches in play are finished, and nothing is lost. {next}",
        clock::what(doubt)
    );
    Some((format!("The clock of {} is in doubt", doubt.server), text))
}

/// The clocks in doubt.
pub fn card(ask: &Visit, doubts: &[ClockDoubt]) -> Markup {
    let time = |at: Time| ask.settings.told(at, "%a %-d %b %Y %H:%M:%S");
    html! {
        @if !doubts.is_empty() {
            section.card {
                header { h2 { "Clocks in doubt" } span.faint { "these servers wait" } }
                table.dense {
                    thead { tr { th { "Server" } th { "Its clock" } th { "Since" } th {} } }
                    tbody { @for doubt in doubts { tr {
                        td.prose { (doubt.server) } td.prose { (clock::what(doubt)) } td.prose { (time(doubt.since)) }
                        td.prose {
                            @if clock::is_unconfirmed(doubt) {
                                @let shown = Time(ask.now.0 + doubt.ahead_ms);
                                form method="post" action="/organise/clock" {
                                    (token(ask))
                                    input type="hidden" name="server" value=(doubt.server);
                                    input type="hidden" name="ahead" value=(doubt.ahead_ms);
                                    p { "It showed " b { (time(shown)) } " " (ask.settings.zone_name()) " when this page was made." }
                                    button { "This is right" }
                                }
                            } @else if doubt.confirmed { "confirmed" }
                        }
                    } } }
                }
            }
        }
    }
}

/// Confirms what the clock of a server shows.
pub async fn confirm(ask: Visit, Form(seen): Form<Seen>) -> Result<Redirect, Refused> {
    let actor = &ask.whoever()?.name;
    let doubts = ask.site.store().clock_doubts().await?;
    let doubt = doubts.into_iter().find(|doubt| doubt.server == seen.server);
    let confirmed = match doubt {
        None => false,
        Some(doubt) => {
            let doubt = ClockDoubt { ahead_ms: seen.ahead, ..doubt };
            clock::confirm(ask.site.store(), &doubt, (actor, ask.now)).await?
        }
    };
    if !confirmed {
        let text = "This clock is not in doubt any more, or it has jumped again: look at what it shows now.";
        return Err(Refused::wrong(text).then("Cockpit", "/organise"));
    }
    Ok(redirect::to("/organise"))
}
