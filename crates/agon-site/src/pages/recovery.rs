//! A forgotten password: recovery codes are shown once, and each is good for one new password.

use agon_store::acts::{Recover, RenewCodes, Tell};
use agon_store::names::likeness;
use agon_store::{Account, AccountId, Sha};
use axum::Form;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::{Device, Visit};
use crate::pages::account::{WRONG, account, again, proven, sign_in_after};
use crate::pages::frame::{self, Here, field, token, unencrypted, wrong};
use crate::pages::people::{self, held_up};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// How many codes an account gets at a time.
const CODES: usize = 10;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    fresh: String,
    #[serde(default)]
    password: String,
}

/// The hash of a code. The number is in it, so that a thief of hashes has to guess for each account apart.
fn hash(account: AccountId, code: &str) -> Sha {
    Sha::of(format!("agon recovery\n{account}\n{code}"))
}

/// Makes new codes for the caller, and shows them once.
pub async fn shown_once(ask: &Visit, next: &str) -> Result<Markup, Refused> {
    let person = ask.whoever()?;
    let account = person.account;
    let codes: Vec<String> = (0..CODES).map(|_| secrets::recovery_code()).collect();
    let hashes = codes.iter().map(|code| hash(account, code)).collect();
    ask.site.store().act(RenewCodes { account, codes: hashes }).await?;
    let content = html! {
        section.card {
            header { h2 { (person.name) " at " (ask.settings.title) } span.faint { (ask.address) } }
            div.in {
                pre.secret aria-label="Recovery codes" { (codes.join("\n")) }
                p { "If you forget your password, follow " b { "Forgotten your password?" } " on the page for signing in: your name and one of these codes set a new one. Each code works once." }
                p { "They are shown only now, and open your account to whoever has one: print this page or copy the codes (one click selects them all), and keep them where only you can read them. New ones can be made on the page of your account." }
                p { a.button.main href=(redirect::own(next)) { "I have kept them" } }
            }
        }
    };
    Ok(frame::page(
        ask,
        Here::Elsewhere,
        "Your recovery codes",
        "Nobody can show them to you again.",
        content,
    ))
}

/// The card on the page of an account.
pub async fn card(ask: &Visit, account: AccountId, name: &str) -> Result<Markup, Refused> {
    let left = ask.site.store().recovery_codes(account).await?;
    Ok(html! {
        form.card.form method="post" action="/account/codes" {
            h2 { "Recovery codes" }
            p {
                @match left {
                    0 => "You have none. With one you can set a new password if you forget yours.",
                    1 => "One is left. Make new ones before you need it.",
                    left => { (left) " are left. Each sets a new password once, if you forget yours." },
                }
            }
            (token(ask))
            input name="user" value=(name) autocomplete="username" hidden;
            (field("Your password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
            (unencrypted(ask))
            button { "Make " (CODES) " new codes" }
            @if left > 0 { p.faint { "The old ones end." } }
        }
    })
}

/// Makes new codes, if the password is right.
pub async fn renew(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    if proven(&ask, &typed.password).await?.is_none() {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    }
    let page = shown_once(&ask, "/account").await?;
    let who = format!("account {}", ask.whoever()?.account);
    let (verb, detail) = ("recovery codes".to_owned(), "new ones were made".to_owned());
    let (contest, actor, object) = (ask.site.contest(), who.clone(), who);
    ask.site.store().act(Tell { contest, actor, verb, object, detail, now: ask.now }).await?;
    Ok(page.into_response())
}

/// The page for whoever has forgotten the password.
pub async fn form(ask: Visit) -> Markup {
    form_page(&ask, &Typed::default(), None)
}

fn form_page(ask: &Visit, typed: &Typed, why: Option<&str>) -> Markup {
    let content = html! {
        form.card.form method="post" action="/recover" {
            (wrong(why))
            (token(ask))
            (field("Name", "", html! { input name="name" value=(typed.name) required maxlength="128" autocomplete="username" spellcheck="false"; }))
            (field("Recovery code", "One of the ten you were shown when you signed up, for example K7PQ-M3XW-DA2B-9CDE. It works once.",
                html! { input name="code" value=(typed.code) required maxlength="64" autocomplete="off" autocapitalize="characters" spellcheck="false"; }))
            (field("New password", "12 characters or more; four unrelated words make a good one.", html! { input name="fresh" type="password" required autocomplete="new-password" minlength="12"; }))
            p { "You are signed out in every browser, and all tokens of the account end." }
            (unencrypted(ask))
            button.main { "Set password" }
        }
        p { "No code? Ask an organiser for a link that sets a new password." }
    };
    frame::page(ask, Here::Elsewhere, "Forgotten your password?", "", content)
}

/// Sets a password by means of a code. Wrong ones count as wrong passwords do.
pub async fn recover(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let known = ask.site.store().account_like(&typed.name).await?;
    let device = known.as_ref().and_then(|account| Device::known(&ask.site, &headers, account, ask.now));
    let (name, tries) = (likeness(&typed.name), ask.settings.wrong_passwords);
    let attempt = ask.site.throttle.sign_in(&name, ask.from, device.as_ref(), tries, ask.now).await;
    let attempt = attempt.map_err(|held| held_up(held, ask.now))?;
    let code = secrets::typed_recovery_code(&typed.code);
    let holder = match known {
        Some(account) => {
            let code = hash(account.id, &code);
            ask.site.store().is_recovery_code(account.id, &code).await?.then_some((account, code))
        }
        None => None,
    };
    let Some((known, code)) = holder else {
        ask.site.throttle.wrong(attempt, ask.now);
        let why = "Wrong name or code. Each code works once, and making new ones ends the old.";
        return Ok(again(form_page(&ask, &typed, Some(why))));
    };
    ask.site.throttle.right(&attempt);
    if let Err(why) = people::judge(&ask, &typed.fresh, &known.name).await? {
        return Ok(again(form_page(&ask, &typed, Some(&why))));
    }
    let password = ask.site.passwords.hash(typed.fresh.clone()).await;
    let (contest, account, now) = (ask.site.contest(), known.id, ask.now);
    let done =
        ask.site.store().act(Recover { contest, account, code, password: password.clone(), now }).await?;
    let Some(ended) = done else {
        let why = "This code was used a moment ago.";
        return Ok(again(form_page(&ask, &typed, Some(why))));
    };
    // Whoever had the code gets in, however many guess at the name.
    let known = Account { password: Some(password), ..known };
    let known = Device::remembered(&ask.site, &headers, &known, now);
    Ok((known, sign_in_after(0, ended)).into_response())
}
