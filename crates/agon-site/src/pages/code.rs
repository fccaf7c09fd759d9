//! The workbench: the page around the app that draws it, and what that begins with.

use agon_web::app;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};

use crate::api::code::workbench;
use crate::gate::Visit;
use crate::pages::frame::{self, Here};
use crate::pages::matches::VIEWER;
use crate::problem::Refused;

/// The workbench.
pub async fn page(ask: Visit, headers: HeaderMap) -> Result<Response, Refused> {
    let begin = serde_json::to_string(&workbench(&ask).await?).map_err(|_| Refused::ours())?;
    let page = drawn(&ask, &begin).into_string();
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let about =
        [(header::CONTENT_TYPE, html), (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(VIEWER))];
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    if !accepted.flat_map(|list| list.split(',')).any(|one| one.trim() == "gzip") {
        return Ok((about, page).into_response());
    }
    // Its starters are a quarter of a megabyte of program text, which packs to a tenth.
    let packed =
        tokio::task::spawn_blocking(move || app::gzip(page.as_bytes())).await.map_err(|_| Refused::ours())?;
    let encoding = [(header::CONTENT_ENCODING, "gzip"), (header::VARY, "accept-encoding")];
    Ok((about, encoding, packed).into_response())
}

fn drawn(ask: &Visit, begin: &str) -> Markup {
    let head = html! {
        meta name="agon-form" content=(ask.form);
        (PreEscaped(app::head("/viewer")))
    };
    let content = html! {
        div #code {
            // Data, which ends where a tag begins: none does.
            script type="application/json" { (PreEscaped(begin.replace('<', "\\u003c"))) }
            (without(ask))
        }
    };
    frame::app(ask, Here::Code, "Code", head, content)
}

/// What there is without scripts, or without the app.
fn without(ask: &Visit) -> Markup {
    let ways = html! {
        h1 { "Code" }
        p.lead { "This page needs JavaScript. Without it, write in a form, or hand a file in." }
        p.row {
            a.button.main href="/draft" { "Try a draft" }
            @if !ask.settings.is_over(ask.now) { a.button href="/upload" { "Submit a version" } }
        }
    };
    match app::is_built() {
        true => html! { noscript { (ways) } },
        false => ways,
    }
}
