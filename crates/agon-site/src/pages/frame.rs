//! The frame of every page: where the viewer is, how long uploads are open, and who is signed in.

use agon_store::reads::Pulse;
use maud::{DOCTYPE, Markup, html};

use crate::gate::Visit;
use crate::pages::draw::icon;
use crate::pages::{events, words};
use crate::site::Way;

/// The navigation entry that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// The first page.
    Home,
    /// The ladder, teams and versions.
    Ladder,
    Matches,
    /// What is learnt from losses.
    Puzzles,
    Rules,
    /// Where to get agon.
    Get,
    /// The organiser's pages.
    Organise,
    /// None of them.
    Elsewhere,
}

/// A page: its answer as the heading, what it means in a sentence or two, and the proof.
pub fn page(ask: &Visit, here: Here, answer: &str, lead: &str, content: Markup) -> Markup {
    let heading = html! {
        h1 { (answer) }
        @if !lead.is_empty() { p.lead { (words::told(lead)) } }
    };
    with_heading(ask, here, answer, heading, content)
}

/// A page with a heading of its own.
pub fn with_heading(ask: &Visit, here: Here, title: &str, heading: Markup, content: Markup) -> Markup {
    let settings = &ask.settings;
    let person = ask.person();
    let entry = |own: Here, address: &str, label: &str| {
        html! { a href=(address) aria-current=[(own == here).then_some("page")] { (label) } }
    };
    document(
        &format!("{title} · {}", settings.title),
        Some(&ask.seen),
        html! {
            a.skip href="#content" { "Skip to content" }
            header.top {
                nav aria-label="Pages" {
                    a.brand href="/" { (brand()) b { "Agon" } span { (settings.title) } }
                    (entry(Here::Home, "/", "Home"))
                    (entry(Here::Ladder, "/ladder", "Ladder"))
                    (entry(Here::Matches, "/matches", "Matches"))
                    (entry(Here::Puzzles, "/losses", "Puzzles"))
                    (entry(Here::Rules, "/rules", "Rules"))
                    (entry(Here::Get, "/get", "Get agon"))
                    @if person.is_some_and(|person| person.organiser) {
                        (entry(Here::Organise, "/organise", "Cockpit"))
                    }
                }
                div.who {
                    @if let Some(told) = deadline(ask) { span.deadline { (icon("flag")) (told) } }
                    // Shown by the script, on pages with live parts.
                    button.live #live type="button" hidden aria-pressed="true" title="Whether this page updates itself" { "Live" }
                    @match person {
                        Some(person) => a href="/account" { (person.name) @if person.organiser { ", organiser" } },
                        None => { a href="/sign-in" { "Sign in" } }
                    }
                }
            }
            @if let Some(means) = ask.state.means() {
                aside.announced aria-label="The contest's state" { (icon("pause")) p { (means) } }
            }
            @if let Some(text) = &ask.announced {
                aside.announced aria-label="Announcement" { (icon("bell")) p { (text) } }
            }
            main #content { (heading) (content) }
        },
    )
}

/// A page for a viewer who was never identified.
pub fn bare(contest: &str, answer: &str, lead: &str, content: Markup) -> Markup {
    document(
        &format!("{answer} · {contest}"),
        None,
        html! {
            header.top { nav { a.brand href="/" { (brand()) b { "Agon" } } } }
            main #content { h1 { (answer) } p.lead { (words::told(lead)) } (content) }
        },
    )
}

fn document(title: &str, seen: Option<&Pulse>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
                script src="/live.js" defer {}
            }
            body data-seen=[seen.map(events::id)] { (body) }
        }
    }
}

fn brand() -> Markup {
    html! {
        svg width="26" height="16" viewBox="0 0 26 16" aria-hidden="true" {
            circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="2.4" {}
            rect x="11" y="1" width="14" height="14" fill="currentColor" {}
        }
    }
}

/// The end of uploads, as clock time and time left.
fn deadline(ask: &Visit) -> Option<String> {
    let settings = &ask.settings;
    if let Some(opens) = settings.opens.filter(|opens| *opens > ask.now) {
        let left = words::span(opens.0 - ask.now.0);
        return Some(format!("uploads open {} · in {left}", settings.deadline(opens)));
    }
    let closes = settings.closes?;
    if closes <= ask.now {
        return Some(format!("uploads closed {}", settings.deadline(closes)));
    }
    let left = words::span(closes.0 - ask.now.0);
    Some(format!("uploads close {} · {left} left", settings.deadline(closes)))
}

/// A live part of a page: `of` says which hints refresh it (`board`, `acts`, `work`), `pace` how often at most, in seconds.
/// With an empty `of` nothing changes here any more: a page that is open finds the final state under the same `id`.
pub fn live(id: &str, of: &str, pace: u32, content: Markup) -> Markup {
    html! { div id=(id) data-live=[(!of.is_empty()).then_some(of)] data-pace=(pace) { (content) } }
}

/// The field that every form contains.
pub fn token(ask: &Visit) -> Markup {
    html! { input type="hidden" name="form" value=(ask.form); }
}

/// A form that is only a button.
pub fn act(ask: &Visit, address: &str, class: &str, content: Markup) -> Markup {
    html! { form method="post" action=(address) { (token(ask)) button.(class) { (content) } } }
}

/// What was wrong with a form, shown above it.
pub fn wrong(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { p.wrong role="alert" { (icon("warn")) span { (words::told(text)) } } } }
}

/// A field with its label and a hint for filling it in.
pub fn field(label: &str, help: &str, input: Markup) -> Markup {
    html! {
        label.field {
            span { (label) }
            (input)
            @if !help.is_empty() { small { (words::told(help)) } }
        }
    }
}

/// The remark beside an address that nobody else can open.
pub fn alone(ask: &Visit) -> Markup {
    html! {
        @if matches!(ask.site.way, Way::Loopback) {
            p.note { (icon("warn")) span {
                "This address works only on this machine. To let others in, restart " code { "agon serve" } " with " code { "--lan" }
                " (other ways: " code { "agon docs contest" } ")."
            } }
        }
    }
}

/// The remark wherever a password is typed without encryption.
pub fn unencrypted(ask: &Visit) -> Markup {
    html! {
        @if matches!(ask.site.way, Way::Lan) {
            p.note { (icon("warn")) "Passwords cross this network unencrypted: choose one that you use nowhere else." }
        }
    }
}
