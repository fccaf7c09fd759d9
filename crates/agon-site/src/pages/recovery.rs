//! A forgotten password: a recovery code sets another, once.

use agon_store::Account;
use agon_store::acts::{Recover, Tell};
use agon_store::names::likeness;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::{Device, Visit};
use crate::pages::account::{WRONG, account, again, proven, sign_in_after};
use crate::pages::frame::{self, Here, field, token, unencrypted, wrong};
use crate::pages::people::{self, held_up};
use crate::pages::{codes, factor, mail};
use crate::problem::Refused;
use crate::secrets;

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

/// Makes new codes, if the password is right.
pub async fn renew(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    if proven(&ask, &typed.password).await?.is_none() {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    }
    let page = codes::shown_once(&ask, "/account").await?;
    let words = ["recovery codes", "new ones were made"];
    let tell = Tell::own(ask.site.contest(), ask.whoever()?.account, words, ask.now);
    ask.site.store().act(tell).await?;
    Ok(page.into_response())
}

/// The page for whoever has forgotten the password.
pub async fn form(ask: Visit) -> Markup {
    form_page(&ask, &Typed::default(), None)
}

fn form_page(ask: &Visit, typed: &Typed, why: Option<&str>) -> Markup {
    both(ask, typed, why, mail::reset_card(ask, "", None))
}

/// The page again, with what was wrong with the mail address.
pub fn by_mail_again(ask: &Visit, address: &str, why: &str) -> Markup {
    both(ask, &Typed::default(), None, mail::reset_card(ask, address, Some(why)))
}

fn both(ask: &Visit, typed: &Typed, why: Option<&str>, by_mail: Markup) -> Markup {
    let sends_mail = ask.settings.sends_mail();
    let content = html! {
        (by_mail)
        form.card.form method="post" action="/recover" {
            @if sends_mail { h2 { "With a recovery code" } }
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
        p { (if sends_mail { "Neither?" } else { "No code?" }) " Ask an organiser for a link that sets a new password." }
    };
    let lead = match sends_mail {
        true => "A link sent to your mail address sets a new one, or one of your recovery codes.",
        false => "One of your recovery codes sets a new one.",
    };
    frame::page(ask, Here::Elsewhere, "Forgotten your password?", lead, content)
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
            let code = codes::hash(account.id, &code);
            let is_code = ask.site.store().is_recovery_code(account.id, &code).await?;
            // Where the codes stand for a second factor, they do not stand for the first as well.
            let is_first = factor::asked_for(&ask, account.id).await?.is_none();
            (is_code && is_first).then_some((account, code))
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
