//! Downloads: the program for taking part from a terminal, and the starters.

use std::path::PathBuf;

use agon_game::Starter;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tokio::fs::File;

use crate::answers;
use crate::downloads::{self, Download, OWN_NAME};
use crate::gate::Visit;
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here};
use crate::pages::words;
use crate::problem::Refused;

fn starters(ask: &Visit) -> &'static [Starter] {
    agon_games::find(&ask.settings.game).map_or(&[], |game| game.info().starters)
}

/// The command that puts a file's program into the current folder.
fn fetch(address: &str, Download { name, bare, .. }: &Download) -> String {
    if *bare {
        format!("curl -fsSLo agon {address}/get/{name} && chmod +x agon")
    } else {
        format!("curl -fsSL {address}/get/{name} | tar xz --strip-components=1")
    }
}

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let offers = downloads::offers(ask.site.folder());
    let own = offers.iter().find(|offer| offer.bare);
    let sha = match own {
        Some(_) => tokio::task::spawn_blocking(downloads::own_sha).await.ok().and_then(Result::ok),
        None => None,
    };
    let address = &ask.address;
    let game = &ask.settings.game;
    let fetch: Vec<(&str, String)> = downloads::for_machines(&offers)
        .map(|offer| (offer.machine.unwrap_or("Linux"), fetch(address, offer)))
        .collect();
    let (answer, lead) = match fetch.first() {
        Some(_) => (
            "Agon is one file",
            "It needs nothing else on any Linux machine of its kind. Everything here can also be done in the browser.",
        ),
        None => (
            "This server has no program to download",
            "The one running here was built for this machine only. Ask the organiser, or build it from source; everything here can also be done in the browser.",
        ),
    };
    let content = html! {
        @if !fetch.is_empty() {
            section.card {
                header { h2 { "In a terminal" } span.faint { "Linux; Windows through WSL 2" } }
                div.in.steps {
                    @for (machine, line) in &fetch {
                        p { "The program for " b { (machine) } ", into this folder:" }
                        pre { (line) }
                    }
                    p.faint { code { "uname -m" } " says what kind of machine yours is; " code { "aarch64" } " is arm64." }
                    p { "Connect it to this contest. The token is made on " a href="/account" { "your account's page" } "." }
                    pre { "./agon login " (address) }
                    p { "Start with a bot, try it out here, and submit it:" }
                    pre { "./agon new " (game) " python my-bot\ncd my-bot\n../agon try\n../agon submit" }
                }
            }
            section.card {
                header { h2 { "Files" } }
                table { tbody { @for offer in &offers { tr {
                    td { a href=(format!("/get/{}", offer.name)) { (icon("up")) (offer.name) } }
                    td { (offer.machine.unwrap_or("")) }
                    td.number { (words::bytes(offer.bytes)) }
                } } } }
                @if let Some(sha) = &sha { p.faint.in { "SHA-256 of " code { (OWN_NAME) } ": " code { (sha) } } }
            }
        }
        div.halves {
            section.card {
                header { h2 { "Starters" } span.faint { "a bot that plays, in each language" } }
                table { tbody { @for starter in starters(&ask) { tr {
                    td { b { (starter.language.title()) } }
                    td.faint { "the strategy is in " code { (starter.strategy) } }
                    td.number { a.button href=(format!("/get/starter-{}.tar.gz", starter.language.name())) { "Download" } }
                } } } }
                p.in { "Any other language works as well: " a href="/rules" { "the rules" } " say what a bot reads and writes." }
            }
            section.card {
                header { h2 { "Windows and macOS" } }
                div.in {
                    p { b { "Windows: " } "agon runs in WSL 2, the Linux that comes with Windows 10 and 11. In a terminal, once:" }
                    pre { "wsl --install" }
                    p { "Then open Ubuntu from the menu: everything on this page works there." }
                    p { b { "macOS, or nothing installed: " } "begin with a starter, try it out as a " a href="/draft" { "draft" } ", then submit it on " a href="/upload" { "this site" } "." }
                }
            }
        }
        p.faint.foot { "A machine that plays matches for this contest needs agon and a token from the organiser: " code { "agon work " (address) " --token-file FILE" } }
    };
    Ok(frame::page(&ask, Here::Get, answer, lead, content))
}

pub async fn file(ask: Visit, Path(name): Path<String>) -> Result<Response, Refused> {
    let wanted = name.strip_prefix("starter-").and_then(|name| name.strip_suffix(".tar.gz"));
    if let Some(language) = wanted {
        let starter = starters(&ask).iter().find(|starter| starter.language.name() == language);
        return packed(&ask, starter.ok_or_else(Refused::nothing)?);
    }
    let offers = downloads::offers(ask.site.folder());
    let offer = offers.into_iter().find(|offer| offer.name == name).ok_or_else(Refused::nothing)?;
    send(&offer.name, offer.path, offer.bytes).await
}

/// The header with which a browser saves what it gets under this name.
pub fn attached(name: &str) -> Result<HeaderValue, Refused> {
    HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).map_err(|_| Refused::nothing())
}

/// A starter as an archive, in a folder of its own.
fn packed(ask: &Visit, starter: &Starter) -> Result<Response, Refused> {
    let folder = format!("{}-{}", ask.settings.game, starter.language.name());
    let names: Vec<String> = starter.files.iter().map(|(name, _)| format!("{folder}/{name}")).collect();
    let files = names.iter().zip(starter.files).map(|(name, (_, text))| (name.as_str(), text.as_bytes()));
    let archive = agon_worker::pack::of_files_packed(files).map_err(|_| Refused::ours())?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/gzip")),
        (header::CONTENT_DISPOSITION, attached(&format!("{folder}.tar.gz"))?),
    ];
    Ok((headers, archive).into_response())
}

/// Sends this many bytes of a file under a name, piece by piece: it may be large, and the line slow.
pub async fn send(name: &str, path: PathBuf, bytes: u64) -> Result<Response, Refused> {
    // It was there a moment ago.
    let file = File::open(path).await.map_err(|_| Refused::nothing())?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_LENGTH, bytes.into()),
        (header::CONTENT_DISPOSITION, attached(name)?),
    ];
    Ok((headers, answers::of_file(file, bytes)).into_response())
}
