//! The caller's own account, its sessions and tokens.

use std::collections::BTreeMap;

use agon_store::acts::{Begin, EndSecrets, SetPassword, TakeLink, TokensToEnd, Which, Withdraw};
use agon_store::{Account, LinkKind, Login, LoginId, LoginKind, Time};
use axum::Form;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::{Device, Visit, set_cookie};
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, act, field, token, unencrypted, wrong};
use crate::pages::{codes, factor, mail, people, words};
use crate::passwords;
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    fresh: String,
    #[serde(default)]
    link: String,
}

/// How the names of the boxes begin that end a token; its number follows.
const END: &str = "end-";

/// The fields of the form for a new password.
#[derive(Deserialize)]
pub(crate) struct Changed {
    #[serde(default)]
    password: String,
    #[serde(default)]
    fresh: String,
    #[serde(flatten)]
    ticked: BTreeMap<String, String>,
}

impl Changed {
    /// The tokens that are to end.
    fn ended(&self) -> Vec<LoginId> {
        let number = |name: &String| name.strip_prefix(END)?.parse().ok().map(LoginId);
        self.ticked.keys().filter_map(number).collect()
    }
}

/// The link that was opened.
#[derive(Deserialize)]
pub(crate) struct Opened {
    #[serde(default)]
    link: String,
}

pub(super) fn again(page: Markup) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
}

/// The caller's whole account.
pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    account(&ask, None).await
}

pub(super) async fn account(ask: &Visit, why: Option<&str>) -> Result<Markup, Refused> {
    let person = ask.whoever()?;
    let known = ask.site.store().account(person.account).await?.ok_or_else(Refused::ours)?;
    let has_factor = factor::asked_for(ask, person.account).await?.is_some();
    let logins = ask.site.store().logins(person.account, ask.now).await?;
    let of = |kind| logins.iter().filter(move |login| login.kind == kind);
    let content = html! {
        (wrong(why))
        div.row { a.button href="/team" { (icon("people")) "Team" } (act(ask, "/sign-out", "", html! { "Sign out" })) }
        div.halves {
            section.card {
                header { h2 { "Tokens" } a href="/get" { "For agon in a terminal" } }
                @if of(LoginKind::Token).next().is_none() { p.empty { "None yet." } }
                @else { (table(ask, of(LoginKind::Token), person.login)) }
                div.in {
                    form.row method="post" action="/account/tokens" {
                        (token(ask))
                        input name="name" placeholder="What it is for" aria-label="What the token is for" required maxlength="40";
                        button { "Create a token" }
                    }
                }
            }
            section.card {
                header { h2 { "Where you are signed in" } }
                (table(ask, of(LoginKind::Session), person.login))
                div.in { (act(ask, "/account/others", "", html! { "Sign out everywhere else" })) }
            }
        }
        div.halves {
            form.card.form method="post" action="/account/password" {
                h2 { "New password" }
                (token(ask))
                input name="user" value=(person.name) autocomplete="username" hidden;
                (field("Current password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
                (field("New password", "12 characters or more; four unrelated words make a good one.", html! { input name="fresh" type="password" required autocomplete="new-password" minlength="12"; }))
                p { "You are signed out in every browser, this one too." @if of(LoginKind::Token).next().is_some() { " Tokens stay valid, unless you end them here:" } }
                @for kept in of(LoginKind::Token) {
                    label.check { input type="checkbox" name={ (END) (kept.id) } value="yes"; span { "End the token " b { (kept.name) } " too" } }
                }
                (unencrypted(ask))
                button { "Change password" }
            }
            (codes::card(ask, person.account, &person.name, has_factor).await?)
        }
        div.halves {
            @if person.organiser { (factor::card(ask, &person.name, has_factor)) }
            (mail::card(ask, &known))
            form.card.form method="post" action="/account/delete" {
                h2 { "Delete the account" }
                p { "Your name is replaced by a number on all pages, in the log and in replays. If nobody else is in your team, its bot leaves the ladder, and its uploads and what was unpacked of them are removed here and on the machines that play, on one that is away when it is back; the matches it played stay in the log. This cannot be undone." }
                p { "It does not reach copies that the organiser made before: backups, exports, and what was left behind when the contest was moved. Ask the organiser about those." }
                (token(ask))
                input name="user" value=(person.name) autocomplete="username" hidden;
                (field("Your password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
                button.danger { "Delete the account" }
            }
        }
    };
    let lead = "Only you see this page.";
    Ok(frame::page(ask, Here::Elsewhere, &person.name, lead, content))
}

fn table<'a>(ask: &Visit, logins: impl Iterator<Item = &'a Login>, own: LoginId) -> Markup {
    html! {
        table.dense {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Last used" } th scope="col" { "Expires" } th scope="col" { "" } } }
            tbody { @for login in logins { tr {
                td { (login.name) @if login.id == own { " " span.chip { "this one" } } }
                td.time { @if ask.now.0 - login.seen.0 < 600_000 { "just now" } @else { (words::ago(login.seen, ask.now)) " ago" } }
                td.time { (ask.settings.told(login.ends, "%-d %b %Y")) }
                td.number { @if login.id != own { (act(ask, &format!("/account/logins/{}/end", login.id), "plain", html! { (end_label(login.kind)) })) } }
            } } }
        }
    }
}

/// The label of the button that ends a session or a token.
fn end_label(kind: LoginKind) -> &'static str {
    match kind {
        LoginKind::Session => "Sign out",
        LoginKind::Token => "Revoke",
    }
}

/// Makes a token and shows it once.
pub async fn make_token(ask: Visit, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let name: String = typed.name.trim().chars().filter(|sign| !sign.is_control()).take(40).collect();
    if name.is_empty() {
        return Ok(again(
            account(&ask, Some("Say what the token is for, so that you know later which one to revoke."))
                .await?,
        ));
    }
    let (secret, person) = (secrets::fresh(), ask.whoever()?);
    let act = Begin {
        account: person.account,
        sha: secrets::sha(&secret),
        kind: LoginKind::Token,
        name: name.clone(),
        now: ask.now,
        ends: Time(ask.now.0 + secrets::TOKEN),
        idle_ms: secrets::TOKEN,
    };
    if ask.site.store().act(act).await?.is_none() {
        return Ok(again(
            account(&ask, Some("You have 30 tokens, the most allowed: revoke one that you no longer use."))
                .await?,
        ));
    }
    let content = html! {
        p { code.secret { (secret) } }
        p { "It is shown only once: keep it where only you can read it. It is valid for 90 days, and you can revoke it at any time." }
        p { "Run this in a terminal, and paste the token when asked:" }
        pre { "agon login " (ask.address) }
        p { a.button href="/account" { "Back to the account" } }
    };
    let lead = "Anyone who has it can act in your name.";
    Ok(frame::page(&ask, Here::Elsewhere, &format!("The token for {name}"), lead, content).into_response())
}

/// Ends one of the caller's sessions or tokens.
pub async fn end(ask: Visit) -> Result<Redirect, Refused> {
    let account = ask.whoever()?.account;
    ask.site.store().act(EndSecrets { account, which: Which::One(LoginId(ask.id)) }).await?;
    Ok(redirect::to("/account"))
}

/// Ends all sessions but this one.
pub async fn others(ask: Visit) -> Result<Redirect, Refused> {
    let person = ask.whoever()?;
    ask.site
        .store()
        .act(EndSecrets { account: person.account, which: Which::OtherSessions(person.login) })
        .await?;
    Ok(redirect::to("/account"))
}

/// The caller's account, if the password is right. Wrong ones count for this session: nobody else can use them up.
pub(super) async fn proven(ask: &Visit, password: &str) -> Result<Option<Account>, Refused> {
    let person = ask.whoever()?;
    let account = ask.site.store().account(person.account).await?.ok_or_else(Refused::ours)?;
    if let Err(until) = ask.site.throttle.confirm(person.login, ask.settings.wrong_passwords, ask.now) {
        let what = "Too many wrong passwords were typed here.";
        return Err(Refused::too_much(what, (until.0 - ask.now.0) / 1000));
    }
    let short: String = password.chars().take(*passwords::LENGTH.end() + 1).collect();
    let is_right = ask.site.passwords.is(short, account.password.clone()).await;
    if is_right {
        ask.site.throttle.confirmed(person.login);
    }
    Ok(Some(account).filter(|_| is_right))
}

pub(super) const WRONG: &str = "That is not your password. Nothing was changed.";

/// Where somebody signs in who has set a password, and is told what became of the tokens.
pub(super) fn sign_in_after(kept: i64, ended: i64) -> Redirect {
    redirect::to(&format!("/sign-in?after=password&kept={kept}&ended={ended}"))
}

/// Changes the password, and signs out everywhere.
pub async fn password(
    ask: Visit,
    headers: HeaderMap,
    Form(typed): Form<Changed>,
) -> Result<Response, Refused> {
    let Some(known) = proven(&ask, &typed.password).await? else {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    };
    if let Err(why) = people::judge(&ask, &typed.fresh, &known.name).await? {
        return Ok(again(account(&ask, Some(&why)).await?));
    }
    let tokens = TokensToEnd::These(typed.ended());
    let password = ask.site.passwords.hash(typed.fresh).await;
    let set = SetPassword {
        contest: ask.site.contest(),
        account: known.id,
        password: password.clone(),
        tokens,
        now: ask.now,
    };
    let left = ask.site.store().act(set).await?;
    let cookie = set_cookie(&ask.site, &headers, None, 0);
    let known = Account { password: Some(password), ..known };
    let known = Device::remembered(&ask.site, &headers, &known, ask.now);
    Ok((cookie, known, sign_in_after(left.kept, left.ended)).into_response())
}

/// Deletes the account.
pub async fn delete(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let Some(known) = proven(&ask, &typed.password).await? else {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    };
    let act = Withdraw { contest: ask.site.contest(), account: known.id, now: ask.now };
    for sha in ask.site.store().act(act).await? {
        if let Err(error) = ask.site.server.objects().remove(&sha).await {
            tracing::warn!("the upload {sha} of a deleted account is still there: {error}");
        }
    }
    let store = ask.site.store().clone();
    // Whoever leaves does not wait for it; what fails is done again within a day.
    tokio::spawn(async move {
        if let Err(error) = store.scrub().await {
            tracing::warn!(
                "what was deleted may still be in the database's files: {error}; it is tried again in a day"
            );
        }
    });
    let cookie = set_cookie(&ask.site, &headers, None, 0);
    Ok((cookie, redirect::to("/")).into_response())
}

/// The page behind a link that sets a password.
pub async fn reset_form(ask: Visit, Query(opened): Query<Opened>) -> Result<Markup, Refused> {
    let (known, _) = reset_for(&ask, &opened.link).await?;
    Ok(reset_page(&ask, &known, &opened.link, None))
}

/// The account whose password a link sets, and who sent the link.
async fn reset_for(ask: &Visit, link: &str) -> Result<(Account, LinkKind), Refused> {
    let known = ask.site.store().link(&secrets::sha(link), ask.now).await?;
    if let Some((kind @ (LinkKind::Password | LinkKind::Mailed), Some(account))) = known
        && let Some(account) = ask.site.store().account(account).await?
    {
        return Ok((account, kind));
    }
    let text = match ask.settings.sends_mail() {
        false => {
            "It has already been used, has expired, or has been replaced by a newer one. Ask an organiser for another."
        }
        true => {
            "It has already been used, has expired, or has been replaced by a newer one. Have another sent to you, or ask an organiser for one."
        }
    };
    let gone = Refused::new(StatusCode::GONE, "This link is no longer valid", text);
    Err(gone.then("Forgotten your password?", "/recover"))
}

fn reset_page(ask: &Visit, known: &Account, link: &str, why: Option<&str>) -> Markup {
    let content = html! {
        form.card.form method="post" action="/password" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="link" value=(link);
            (field("New password", "12 characters or more; four unrelated words make a good one.", html! { input name="fresh" type="password" required autocomplete="new-password" minlength="12"; }))
            (unencrypted(ask))
            @if known.password.is_some() { p { "You are signed out in every browser, and all tokens and recovery codes of the account end: its page makes new ones." } }
            button.main { "Set password" }
        }
    };
    frame::page(
        ask,
        Here::Elsewhere,
        &match known.password.is_some() {
            true => format!("A new password for {}", known.name),
            false => format!("Welcome, {}: choose a password", known.name),
        },
        "The link works once.",
        content,
    )
}

/// Sets the password by means of a link.
pub async fn reset(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let (known, kind) = reset_for(&ask, &typed.link).await?;
    if let Err(why) = people::judge(&ask, &typed.fresh, &known.name).await? {
        return Ok(again(reset_page(&ask, &known, &typed.link, Some(&why))));
    }
    let password = ask.site.passwords.hash(typed.fresh).await;
    let (contest, now) = (ask.site.contest(), ask.now);
    let take = TakeLink { contest, sha: secrets::sha(&typed.link), account: known.id, kind, now };
    // Taking the link ends them all, so they are counted before.
    let logins = ask.site.store().logins(known.id, now).await?;
    let ended = logins.iter().filter(|login| login.kind == LoginKind::Token).count();
    if !ask.site.store().act(take).await? {
        return Ok(redirect::to("/sign-in?after=password").into_response());
    }
    let tokens = TokensToEnd::All;
    ask.site
        .store()
        .act(SetPassword { contest, account: known.id, password: password.clone(), tokens, now })
        .await?;
    let next = sign_in_after(0, ended.try_into().unwrap_or_default());
    // Whoever had the link gets in, however many guess at the name.
    let known = Account { password: Some(password), ..known };
    Ok((Device::remembered(&ask.site, &headers, &known, now), next).into_response())
}
