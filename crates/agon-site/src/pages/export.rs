//! What organisers download: the page of exports, which are made, listed and kept, and marks.

use agon_store::Time;
use axum::Form;
use axum::extract::Query;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::exports::{self, FinishedExport, KEPT};
use crate::gate::Visit;
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, token, wrong};
use crate::pages::{download, words};
use crate::problem::Refused;
use crate::redirect;

/// The path of the page.
const BACK: &str = "/organise/export";

/// The fields of the form.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    reveal: String,
}

/// The file name of an export: the contest's name, and when it began.
fn name(ask: &Visit, made: &FinishedExport) -> String {
    file_name(ask, made.began, "agon")
}

/// A file name with the contest's name and a moment.
fn file_name(ask: &Visit, at: Time, ending: &str) -> String {
    let title: String = ask.settings.title.to_lowercase();
    let words = title.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join("-");
    let title = if title.is_empty() { "contest" } else { &title };
    format!("{title}-{}.{ending}", ask.settings.told(at, "%Y-%m-%d-%H%M%S"))
}

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let paused = ask.site.store().now().await?.paused;
    let (making, failed) = (ask.site.exports.making(), ask.site.exports.failed());
    let made = exports::made(ask.site.folder());
    let answer = match (&making, made.first()) {
        (Some(_), _) => "An export is being made".to_owned(),
        (None, Some(last)) => format!("The last export is from {} ago", words::ago(last.began, ask.now)),
        (None, None) => "Nothing has been exported yet".to_owned(),
    };
    let lead = "One file with the sealed log, the replays and the table. Anyone who has it can check all of that on their own machine; nothing private is in it.";
    let list = html! {
        (wrong(failed.as_deref().map(|why| format!("The last one could not be made: {why}")).as_deref()))
        @if let Some(making) = &making {
            @let (done, of) = making.progress();
            p.note { (icon("clock")) span {
                @if of == 0 { "The log is being written." }
                @else { (words::count(done)) " of " (words::many(of, "replay is", "replays are")) " in it." }
                " It continues if you leave this page."
            } }
        }
        section.card {
            header { h2 { "Exports" } span.faint { "the last " (KEPT) " are kept in the contest's folder, under " code { "exports" } } }
            @if made.is_empty() { p.empty { "None yet." } }
            @else {
                table.dense {
                    thead { tr { th scope="col" { "Started" } th.number scope="col" { "Size" } th scope="col" { "" } } }
                    tbody { @for one in &made { tr {
                        td { (ask.settings.told(one.began, "%a %-d %b %H:%M:%S")) }
                        td.number { (words::bytes(one.bytes)) }
                        td.number { a.link href=(format!("{BACK}/{}", one.began.0)) download=(name(&ask, one)) { "Download" } }
                    } } }
                }
                div.in { p { "Check it with " code { "agon verify " (name(&ask, &made[0])) } "." } }
            }
        }
        @if making.is_none() {
            form.card.form method="post" action=(BACK) {
                (token(&ask))
                @if paused {
                    label.check {
                        input type="checkbox" name="reveal" value="yes";
                        span { "With the secret of the seeds, for when the contest is over: it also reveals the seeds of all future matches" }
                    }
                } @else {
                    p.faint { "The secret of the seeds is not included: it would reveal the seeds of future matches. When the contest is over and paused, it can be published here." }
                }
                button.main { "Export the contest" }
            }
        }
    };
    let heading = frame::live("heading", "acts work", 2, html! { h1 { (answer) } p.lead { (lead) } });
    let content = frame::live("exports", "acts work", 2, list);
    Ok(frame::with_heading(&ask, Here::Organise, &answer, heading, content))
}

/// Begins an export.
pub async fn begin(ask: Visit, Form(typed): Form<Typed>) -> Result<Redirect, Refused> {
    let actor = ask.whoever()?.name.clone();
    if !exports::begin(&ask.site, typed.reveal == "yes", actor, ask.now) {
        let text = "Another export is being made: it will be ready in a moment.";
        return Err(Refused::wrong(text).then("Exports", BACK));
    }
    Ok(redirect::to(BACK))
}

/// A finished export, as a file.
pub async fn file(ask: Visit) -> Result<Response, Refused> {
    let made = exports::made(ask.site.folder()).into_iter().find(|one| one.began == Time(ask.id));
    let made = made.ok_or_else(Refused::nothing)?;
    let name = name(&ask, &made);
    Ok(download::send(&name, made.path, made.bytes).await?.into_response())
}

/// Which marks are wanted.
#[derive(Deserialize)]
pub(crate) struct WantedMarks {
    /// `csv` or `json`.
    form: String,
    /// Whether the built-in bots are left out.
    #[serde(default)]
    without_builtin: String,
}

/// The form that leads to marks.
pub fn marks_form() -> Markup {
    html! {
        form method="get" action="/organise/marks" {
            label.check {
                input type="checkbox" name="without_builtin" value="yes";
                span { "Without the built-in bots: places among the teams alone" }
            }
            p {}
            div.row { button name="form" value="csv" { "CSV" } button name="form" value="json" { "JSON" } }
        }
    }
}

/// The marks, as a file.
pub async fn marks(ask: Visit, Query(wanted): Query<WantedMarks>) -> Result<Response, Refused> {
    let marks = ask.site.server.marks(wanted.without_builtin != "yes").await?;
    let (kind, text) = match wanted.form.as_str() {
        "csv" => ("text/csv; charset=utf-8", agon_server::marks::csv(&marks)),
        "json" => ("application/json", serde_json::to_string_pretty(&marks).map_err(|_| Refused::ours())?),
        _ => return Err(Refused::nothing()),
    };
    let name = format!("marks-{}", file_name(&ask, ask.now, &wanted.form));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, download::attached(&name)?),
    ];
    Ok((headers, text).into_response())
}
