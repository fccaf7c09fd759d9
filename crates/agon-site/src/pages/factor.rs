//! The second factor of an organiser: after the password, a code of an app or a recovery code.

use agon_store::acts::{DropFactor, EndSecrets, OfferFactor, UseCode, UseFactor, Which};
use agon_store::names::likeness;
use agon_store::{Account, AccountId, SecondFactor, Time};
use axum::Form;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::{Device, Visit};
use crate::pages::account::{WRONG, account, again, proven};
use crate::pages::codes;
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::people::{self, held_up};
use crate::problem::Refused;
use crate::totp::TotpSecret;
use crate::{redirect, secrets};

/// How long the second page waits for a code, in milliseconds.
const WAITS: i64 = 5 * 60_000;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    password: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    pass: String,
    #[serde(default)]
    next: String,
}

/// The second factor that sign-in asks for, if the account has one.
pub async fn asked_for(ask: &Visit, account: AccountId) -> Result<Option<SecondFactor>, Refused> {
    Ok(ask.site.store().factor(account).await?.filter(|factor| factor.on.is_some()))
}

/// The field for a code.
fn code_field(help: &str) -> Markup {
    field(
        "Code",
        help,
        html! { input name="code" required maxlength="64" inputmode="text" autocomplete="one-time-code" spellcheck="false"; },
    )
}

/// The page after a right password. What its form bears says that it was right, for some minutes.
pub fn code_page(ask: &Visit, known: &Account, next: &str, why: Option<&str>) -> Markup {
    let ends = Time(ask.now.0 + WAITS);
    let content = html! {
        form.card.form method="post" action="/sign-in/code" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="pass" value=(pass(known, ends));
            input type="hidden" name="next" value=(next);
            (code_field("The six digits that your app shows now, or one of your recovery codes."))
            button.main { "Sign in" }
        }
        p { "Neither? Whoever runs the server makes a new organiser with " code { "agon serve DIR --organiser" } "." }
    };
    let title = format!("A code for {}", known.name);
    frame::page(ask, Here::Elsewhere, &title, "Your password was right.", content)
}

/// `account.ends.signature`, signed with the hash of the password: worth nothing once that is changed.
fn pass(known: &Account, ends: Time) -> String {
    let words = format!("agon second factor\n{}\n{}", known.id, ends.0);
    let signature = secrets::signed(known.password.as_deref().unwrap_or_default(), &words);
    format!("{}.{}.{signature}", known.id, ends.0)
}

/// The account whose password somebody has typed a moment ago.
async fn passed(ask: &Visit, typed: &str) -> Result<Option<Account>, Refused> {
    let mut parts = typed.splitn(3, '.').map(str::parse::<i64>);
    let (Some(Ok(id)), Some(Ok(ends))) = (parts.next(), parts.next()) else { return Ok(None) };
    let known = ask.site.store().account(AccountId(id)).await?;
    let is_it = |known: &Account| known.password.is_some() && secrets::same(typed, &pass(known, Time(ends)));
    Ok(known.filter(|known| is_it(known) && ask.now.0 < ends))
}

/// Whether this is a code of the account's app or a recovery code, neither of them used before. It is used up.
async fn is_code(ask: &Visit, known: &Account, factor: &SecondFactor, typed: &str) -> Result<bool, Refused> {
    let (contest, account, now) = (ask.site.contest(), known.id, ask.now);
    let step = TotpSecret::of(&factor.secret).and_then(|secret| secret.step_of(typed, now));
    // Six digits may be guessed, so they are counted wherever they come from; the 80 bits of the other kind may not.
    if let Some(step) = step.filter(|_| ask.site.throttle.is_code_open(account, now)) {
        return Ok(ask.site.store().act(UseFactor { contest, account, step, now }).await?);
    }
    let code = codes::hash(account, &secrets::typed_recovery_code(typed));
    if ask.site.store().act(UseCode { contest, account, code, now }).await? {
        return Ok(true);
    }
    ask.site.throttle.wrong_code(account, now);
    Ok(false)
}

/// Signs somebody in whose password was right.
pub async fn sign_in(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let Some(known) = passed(&ask, &typed.pass).await? else {
        return Ok(redirect::to("/sign-in").into_response());
    };
    let device = Device::known(&ask.site, &headers, &known, ask.now);
    let (name, tries) = (likeness(&known.name), ask.settings.wrong_passwords);
    let attempt = ask.site.throttle.sign_in(&name, ask.from, device.as_ref(), tries, ask.now).await;
    let attempt = attempt.map_err(|held| held_up(held, ask.now))?;
    let is_right = match asked_for(&ask, known.id).await? {
        Some(factor) => is_code(&ask, &known, &factor, &typed.code).await?,
        // Turned off meanwhile.
        None => true,
    };
    if !is_right {
        ask.site.throttle.wrong(attempt, ask.now);
        let why = "That is not the code. Each is accepted once; if the clock of your phone is wrong, so are its codes. After ten wrong ones \
                   in an hour only recovery codes are accepted.";
        return Ok(again(code_page(&ask, &known, &typed.next, Some(why))));
    }
    ask.site.throttle.right(&attempt);
    people::signed_in(&ask, &headers, &known, &typed.next).await
}

/// The card on the page of an organiser's account, where it is on or off.
pub fn card(ask: &Visit, name: &str, is_on: bool) -> Markup {
    let action = if is_on { "/account/factor/off" } else { "/account/factor" };
    html! {
        form.card.form method="post" action=(action) {
            h2 { "Second factor" }
            p {
                @if is_on { "On: after the password, sign-in asks for a code of your app. Tokens are not asked for one, and recovery codes set no password." }
                @else { "Off. With one, your password alone lets nobody in: sign-in also asks for a code that an app on your phone shows." }
            }
            (token(ask))
            input name="user" value=(name) autocomplete="username" hidden;
            (field("Your password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
            @if is_on { (code_field("Of your app, or a recovery code.")) }
            button { @if is_on { "Turn off" } @else { "Turn on" } }
        }
    }
}

/// Makes a secret for an app, if the password is right.
pub async fn offer(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let Some(known) = proven(&ask, &typed.password).await? else {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    };
    let secret = TotpSecret::fresh().kept();
    ask.site.store().act(OfferFactor { account: known.id, secret }).await?;
    match offered(&ask, None).await? {
        Some(page) => Ok(page.into_response()),
        None => Ok(redirect::to("/account").into_response()),
    }
}

/// The page that shows the secret until a code of it was right; none if there is nothing to be shown.
async fn offered(ask: &Visit, why: Option<&str>) -> Result<Option<Markup>, Refused> {
    let person = ask.whoever()?;
    let factor = ask.site.store().factor(person.account).await?.filter(|factor| factor.on.is_none());
    let Some(secret) = factor.and_then(|factor| TotpSecret::of(&factor.secret)) else { return Ok(None) };
    let shown = secret.shown();
    let fours: Vec<&str> = shown.as_bytes().chunks(4).filter_map(|four| str::from_utf8(four).ok()).collect();
    let address = secret.address(&ask.settings.title, &person.name);
    let content = html! {
        form.card.form method="post" action="/account/factor/on" {
            (wrong(why))
            (token(ask))
            p { "Type this key into an app for codes (TOTP), as one of the kind that counts with the time:" }
            pre.secret aria-label="Key" { (fours.join(" ")) }
            p { "On the phone itself " a href=(address) { "this link" } " opens the app. The same as text:" }
            pre.secret aria-label="Address" { (address) }
            (code_field("The six digits that the app shows then."))
            button.main { "Turn on" }
        }
        p.faint { "Nothing is asked for before a code was right. All your other sessions end then, and you get new recovery codes." }
    };
    let lead = "The key is shown only now.";
    Ok(Some(frame::page(ask, Here::Elsewhere, "Add the key to your app", lead, content)))
}

/// Turns the second factor on with its first code, and shows new recovery codes.
pub async fn turn_on(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let (person, contest, now) = (ask.whoever()?, ask.site.contest(), ask.now);
    let account = person.account;
    let factor = ask.site.store().factor(account).await?.filter(|factor| factor.on.is_none());
    let secret = factor.and_then(|factor| TotpSecret::of(&factor.secret));
    let Some(secret) = secret else {
        return Err(Refused::wrong("There is no key to be turned on.").then("Account", "/account"));
    };
    let step = secret.step_of(&typed.code, now);
    let is_on = match step {
        Some(step) => ask.site.store().act(UseFactor { contest, account, step, now }).await?,
        None => false,
    };
    if !is_on {
        let why = "That is not the code that the app should show now. Is the clock of your phone right?";
        return Ok(again(offered(&ask, Some(why)).await?.ok_or_else(Refused::ours)?));
    }
    // They began without it.
    ask.site.store().act(EndSecrets { account, which: Which::OtherSessions(person.login) }).await?;
    Ok(codes::shown_once(&ask, "/account").await?.into_response())
}

/// Turns it off, for whoever has the password and a code.
pub async fn turn_off(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let Some(known) = proven(&ask, &typed.password).await? else {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    };
    if let Some(factor) = asked_for(&ask, known.id).await?
        && !is_code(&ask, &known, &factor, &typed.code).await?
    {
        return Ok(again(account(&ask, Some("That is not the code. Nothing was changed.")).await?));
    }
    ask.site.store().act(DropFactor { contest: ask.site.contest(), account: known.id, now: ask.now }).await?;
    Ok(redirect::to("/account").into_response())
}
