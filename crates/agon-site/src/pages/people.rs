//! Signing up, in and out, and the link that makes an organiser.

use agon_contest::config::SignUpWord;
use agon_store::acts::{Begin, EndSecrets, SignUp, SignedUp, TakeLink, Which};
use agon_store::names::likeness;
use agon_store::{Account, AccountId, LinkKind, LoginKind, Time};
use axum::Form;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::{self, Device, Visit, set_cookie};
use crate::pages::draw::icon;
use crate::pages::frame::{self, Here, field, token, unencrypted, wrong};
use crate::pages::{codes, factor, mail};
use crate::passwords::{self, Known};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;
use crate::throttle::Denial;

const DAY: i64 = 86_400_000;
/// How long a session may stay unused.
const IDLE: i64 = 7 * DAY;
/// How long a session lasts at most.
const LONGEST: i64 = 30 * DAY;
/// The same for an organiser's.
const ORGANISER: i64 = DAY / 2;

/// The fields of the forms here.
#[derive(Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    mail: String,
    #[serde(default)]
    invite: String,
    #[serde(default)]
    next: String,
    #[serde(default)]
    link: String,
}

/// Where to go next, or which link was opened.
#[derive(Deserialize)]
pub struct Whither {
    #[serde(default)]
    next: String,
    #[serde(default)]
    link: String,
    /// What was done just before: `password`, when a new one was set.
    #[serde(default)]
    after: String,
    /// How many tokens were kept then, and how many ended.
    #[serde(default)]
    kept: u16,
    #[serde(default)]
    ended: u16,
}

/// A form again, with what was wrong with it.
fn again(page: Markup) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
}

pub async fn sign_up_form(ask: Visit, Query(whither): Query<Whither>) -> Markup {
    sign_up_page(&ask, ("", ""), &whither.next, None)
}

fn sign_up_page(ask: &Visit, (name, address): (&str, &str), next: &str, why: Option<&str>) -> Markup {
    let title = &ask.settings.title;
    let closed = || {
        let lead = match ask.settings.sign_up {
            None => "Sign-up has not opened yet.",
            _ => "The organiser has closed sign-up.",
        };
        frame::page(
            ask,
            Here::Elsewhere,
            "Nobody can sign up now",
            lead,
            html! { a.button href="/ladder" { "See the ladder" } },
        )
    };
    let invited = match ask.settings.sign_up {
        Some(SignUpWord::Open) => false,
        Some(SignUpWord::Invite) => true,
        Some(SignUpWord::Closed) | None => return closed(),
    };
    let content = html! {
        form.card.form method="post" action="/sign-up" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="next" value=(next);
            @if invited {
                (field("Code", "You get it from the organiser, for example K7PQM-3XWDA.",
                    html! { input name="invite" required autocomplete="off" spellcheck="false"; }))
            }
            (name_field(name))
            (password_field("new-password"))
            @if ask.settings.sends_mail() { (mail::first_field(ask, address)) }
            (unencrypted(ask))
            button.main { "Sign up" }
        }
        p { "Already have an account? " a href="/sign-in" { "Sign in" } "." }
    };
    let lead = match (ask.settings.sends_mail(), ask.settings.held.mail_domains.is_empty()) {
        (false, _) => "You only need a name and a password; no e-mail address.",
        (true, true) => "You only need a name and a password.",
        (true, false) => "You need a name, a password and a mail address.",
    };
    // Somebody with an account may still try drafts.
    let closed = ask.settings.closed(ask.now).unwrap_or_default();
    frame::page(
        ask,
        Here::Elsewhere,
        &format!("Take part in {title}"),
        format!("{closed} {lead}").trim(),
        content,
    )
}

fn name_field(name: &str) -> Markup {
    field(
        "Name",
        "Everyone sees it. 1 to 32 characters: letters, digits, single spaces, and - _ . ' ·",
        html! { input name="name" value=(name) required maxlength="128" autocomplete="username" spellcheck="false"; },
    )
}

fn password_field(kind: &str) -> Markup {
    let (least, most) = (passwords::LENGTH.start(), passwords::LENGTH.end());
    let help = match kind {
        "new-password" => "12 characters or more; four unrelated words make a good one.",
        _ => "",
    };
    let (least, most) = (least.to_string(), most.to_string());
    let minlength = (kind == "new-password").then_some(least);
    field(
        "Password",
        help,
        html! { input name="password" type="password" required autocomplete=(kind) minlength=[minlength] maxlength=(most); },
    )
}

/// Signs somebody up.
pub async fn sign_up(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let invite = match ask.settings.sign_up {
        Some(SignUpWord::Open) => Some(String::new()),
        Some(SignUpWord::Invite) => Some(secrets::typed_code(&typed.invite)),
        Some(SignUpWord::Closed) | None => return Ok(again(sign_up_page(&ask, ("", ""), "", None))),
    };
    if let Err(until) = ask.site.limits.sign_up(ask.from, ask.now) {
        let what = "Too many attempts to sign up came from this network.";
        return Err(Refused::too_much(what, (until.0 - ask.now.0) / 1000));
    }
    let wrong = |why: &str| Ok(again(sign_up_page(&ask, (&typed.name, &typed.mail), &typed.next, Some(why))));
    // An address is checked before there is an account, and given to it afterwards.
    let address = match mail::first(&ask, &typed.mail) {
        Ok(address) => address,
        Err(why) => return wrong(&why),
    };
    match make(&ask, &typed, invite).await? {
        Ok(account) => {
            if let Some(to) = address {
                mail::give(&ask, account, typed.name.trim(), to).await?;
            }
            begin(&ask, &headers, account, false, Then::Codes(&typed.next)).await
        }
        Err(why) => wrong(&why),
    }
}

/// Makes an account, or says why there is none.
async fn make(
    ask: &Visit,
    typed: &Typed,
    invite: Option<String>,
) -> Result<Result<AccountId, String>, Refused> {
    let name = match agon_server::check_name(typed.name.trim(), "an account") {
        Ok(name) => name,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = judge(ask, &typed.password, &name).await? {
        return Ok(Err(why));
    }
    let password = ask.site.passwords.hash(typed.password.clone()).await;
    let act = SignUp { contest: ask.site.contest(), name, password, invite, now: ask.now };
    Ok(match ask.site.store().act(act).await? {
        SignedUp::New(account) => Ok(account),
        SignedUp::Taken(other) => Err(format!(
            "The name `{other}` is taken, and yours is the same or too similar. Choose another, or sign in."
        )),
        SignedUp::Closed => Err("Sign-up was closed a moment ago.".to_owned()),
        SignedUp::Uninvited => {
            Err("That is not this contest's code. Ask the organiser; it may have been renewed.".to_owned())
        }
    })
}

/// Whether this can be the password of an account with this name, here and now; or why not.
pub async fn judge(ask: &Visit, password: &str, name: &str) -> Result<Result<(), String>, Refused> {
    let (site, settings) = (&ask.site, &ask.settings);
    let mut known = vec![name.to_owned(), settings.title.clone()];
    for game in agon_games::all() {
        known.extend([game.info().name, game.info().title].map(str::to_owned));
    }
    let year: i64 = settings.told(ask.now, "%Y").parse().unwrap_or_default();
    known.extend((year - 1..=year + 1).map(|year| year.to_string()));
    known.extend(site.shown().await?.teams.keys().cloned());
    Ok(site.passwords.judge(password.to_owned(), Known(known)).await)
}

/// What comes when a session has begun.
enum Then<'a> {
    /// This page.
    Go(&'a str),
    /// The recovery codes of somebody who has none, and then this page.
    Codes(&'a str),
}

/// Begins a session, and goes on to the next page.
async fn begin(
    ask: &Visit,
    headers: &HeaderMap,
    account: AccountId,
    organiser: bool,
    then: Then<'_>,
) -> Result<Response, Refused> {
    let secret = secrets::fresh();
    let lasts = if organiser { ORGANISER } else { LONGEST };
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("a browser");
    let act = Begin {
        account,
        sha: secrets::sha(&secret),
        kind: LoginKind::Session,
        name: browser(agent),
        now: ask.now,
        ends: Time(ask.now.0 + lasts),
        idle_ms: IDLE,
    };
    if ask.site.store().act(act).await?.is_none() {
        return Err(Refused::nothing());
    }
    // An earlier session ends: whoever knew of it gains nothing.
    if let Some(person) = ask.person() {
        ask.site.store().act(EndSecrets { account: person.account, which: Which::One(person.login) }).await?;
    }
    let cookie = set_cookie(&ask.site, headers, Some(&secret), lasts / 1000);
    let account = ask.site.store().account(account).await?.ok_or_else(Refused::nothing)?;
    let known = Device::remembered(&ask.site, headers, &account, ask.now);
    let then = match then {
        Then::Go(next) => redirect::to(next).into_response(),
        Then::Codes(next) => {
            let actor = gate::known(&ask.site, &secret, LoginKind::Session, ask.now).await?;
            let ask = Visit { actor, form: secrets::form_token(&secret), ..ask.clone() };
            codes::shown_once(&ask, next).await?.into_response()
        }
    };
    Ok((cookie, known, then).into_response())
}

/// A browser in a few words.
fn browser(agent: &str) -> String {
    let name =
        ["Firefox", "Edg", "OPR", "Chrome", "Safari", "curl"].into_iter().find(|name| agent.contains(name));
    let system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"]
        .into_iter()
        .find(|name| agent.contains(name));
    let name = match name {
        Some("Edg") => "Edge",
        Some("OPR") => "Opera",
        other => other.unwrap_or("a browser"),
    };
    system.map_or_else(|| name.to_owned(), |system| format!("{name} on {system}"))
}

pub async fn sign_in_form(ask: Visit, Query(whither): Query<Whither>) -> Markup {
    let done = (whither.after == "password").then(|| password_set(whither.kept, whither.ended));
    sign_in_page(&ask, "", &whither.next, done.as_deref(), None)
}

/// What a new password has changed.
fn password_set(kept: u16, ended: u16) -> String {
    let tokens = |count| if count == 1 { "1 token".to_owned() } else { format!("{count} tokens") };
    let mut text = "Your password is set. Sign in with it.".to_owned();
    if ended > 0 {
        let have = if ended == 1 { "has" } else { "have" };
        text += &format!(" {} {have} ended: programs that used them need new ones.", tokens(ended));
    }
    if kept > 0 {
        let stays = if kept == 1 { "stays" } else { "stay" };
        text += &format!(" {} {stays} valid.", tokens(kept));
    }
    text
}

fn sign_in_page(ask: &Visit, name: &str, next: &str, done: Option<&str>, why: Option<&str>) -> Markup {
    let content = html! {
        @if let Some(done) = done { p.done role="status" { (icon("check")) (done) } }
        form.card.form method="post" action="/sign-in" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="next" value=(next);
            (field("Name", "", html! { input name="name" value=(name) required autocomplete="username" spellcheck="false"; }))
            (password_field("current-password"))
            (unencrypted(ask))
            button.main { "Sign in" }
        }
        p {
            @if matches!(ask.settings.sign_up, Some(SignUpWord::Open | SignUpWord::Invite)) { "New here? " a href="/sign-up" { "Sign up" } ". " }
            a href="/recover" { "Forgotten your password?" }
        }
    };
    frame::page(ask, Here::Elsewhere, "Sign in", "", content)
}

/// Signs somebody in.
pub async fn sign_in(ask: Visit, headers: HeaderMap, Form(typed): Form<Typed>) -> Result<Response, Refused> {
    let account = ask.site.store().account_like(&typed.name).await?;
    let device = account.as_ref().and_then(|account| Device::known(&ask.site, &headers, account, ask.now));
    let (name, tries) = (likeness(&typed.name), ask.settings.wrong_passwords);
    let attempt = ask.site.throttle.sign_in(&name, ask.from, device.as_ref(), tries, ask.now).await;
    let attempt = attempt.map_err(|held| held_up(held, ask.now))?;
    // The same amount of work whether the account exists or not.
    let hash = account.as_ref().and_then(|account| account.password.clone());
    let short: String = typed.password.chars().take(*passwords::LENGTH.end() + 1).collect();
    let is_right = ask.site.passwords.is(short, hash).await;
    let Some(account) = account.filter(|_| is_right) else {
        ask.site.throttle.wrong(attempt, ask.now);
        let why = "Wrong name or password. Passwords are case-sensitive.";
        return Ok(again(sign_in_page(&ask, &typed.name, &typed.next, None, Some(why))));
    };
    if factor::asked_for(&ask, account.id).await?.is_some() {
        // The attempt counts until a code was right, too.
        return Ok(factor::code_page(&ask, &account, &typed.next, None).into_response());
    }
    ask.site.throttle.right(&attempt);
    signed_in(&ask, &headers, &account, &typed.next).await
}

/// Begins the session of somebody who has proven to be the owner. Whoever has no recovery codes is shown some first: an organiser's list
/// or link brought them here, or the last one was used.
pub(super) async fn signed_in(
    ask: &Visit,
    headers: &HeaderMap,
    known: &Account,
    next: &str,
) -> Result<Response, Refused> {
    let then = match ask.site.store().recovery_codes(known.id).await? {
        0 => Then::Codes(next),
        _ => Then::Go(next),
    };
    begin(ask, headers, known.id, known.organiser, then).await
}

pub(super) fn held_up(held: Denial, now: Time) -> Refused {
    match held {
        Denial::Wrong(until) => {
            let what = "Too many wrong passwords were tried for this name, from this network or in this browser. You can still sign in \
                        from a browser you used before, or ask an organiser for a link that sets a new password.";
            Refused::too_much(what, (until.0 - now.0) / 1000)
        }
        Denial::Busy => {
            Refused::too_much("Too many passwords are being tried for this name, or from this network.", 10)
        }
    }
}

pub async fn sign_out(ask: Visit, headers: HeaderMap) -> Result<Response, Refused> {
    if let Some(person) = ask.person() {
        ask.site.store().act(EndSecrets { account: person.account, which: Which::One(person.login) }).await?;
    }
    let cookie = set_cookie(&ask.site, &headers, None, 0);
    Ok((cookie, redirect::to("/")).into_response())
}

/// The page behind the link that makes an organiser. Opening it uses nothing up: programs look at links before people do.
pub async fn organiser_form(ask: Visit, Query(whither): Query<Whither>) -> Result<Markup, Refused> {
    organiser_page(&ask, "", &whither.link, None).await
}

async fn organiser_page(ask: &Visit, name: &str, link: &str, why: Option<&str>) -> Result<Markup, Refused> {
    let known = ask.site.store().link(&secrets::sha(link), ask.now).await?;
    if !matches!(known, Some((LinkKind::Organiser, _))) {
        let text = "It has already been used, has expired, or has been replaced by a newer one. Starting the contest with `agon serve DIR --organiser` prints a fresh one.";
        return Err(
            Refused::new(StatusCode::GONE, "This link is no longer valid", text).then("Sign in", "/sign-in")
        );
    }
    let content = html! {
        form.card.form method="post" action="/organiser" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="link" value=(link);
            @if let Some(person) = ask.person() {
                p { "You are signed in as " b { (person.name) } "." }
            } @else {
                (name_field(name))
                (password_field("new-password"))
                (unencrypted(ask))
            }
            button.main { "Become organiser" }
        }
        @if ask.person().is_none() {
            p { "Already have an account? " a href="/sign-in" { "Sign in" } ", then open the link again." }
        }
    };
    let lead = "Organisers see everything, including what is private to teams, and can pause the contest, post announcements and disqualify teams. The link works once.";
    Ok(frame::page(ask, Here::Elsewhere, "Run this contest", lead, content))
}

/// Makes somebody an organiser.
pub async fn organiser(
    ask: Visit,
    headers: HeaderMap,
    Form(typed): Form<Typed>,
) -> Result<Response, Refused> {
    // Rejects an invalid link before an account is made for it.
    organiser_page(&ask, "", &typed.link, None).await?;
    let account = match ask.person() {
        Some(person) => person.account,
        None => match make(&ask, &typed, None).await? {
            Ok(account) => account,
            Err(why) => return Ok(again(organiser_page(&ask, &typed.name, &typed.link, Some(&why)).await?)),
        },
    };
    let (contest, sha) = (ask.site.contest(), secrets::sha(&typed.link));
    let take = TakeLink { contest, sha, account, kind: LinkKind::Organiser, now: ask.now };
    if !ask.site.store().act(take).await? {
        // Somebody else was quicker; the account exists, with ordinary rights.
        return Err(Refused::new(
            StatusCode::GONE,
            "This link is no longer valid",
            "Somebody else has just used it.",
        ));
    }
    let next = if ask.settings.sign_up.is_none() { "/organise/settings" } else { "/organise" };
    let then = if ask.person().is_some() { Then::Go(next) } else { Then::Codes(next) };
    begin(&ask, &headers, account, true, then).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_password_says_what_became_of_tokens() {
        let set = "Your password is set. Sign in with it.";
        assert_eq!(password_set(0, 0), set);
        assert_eq!(password_set(2, 0), format!("{set} 2 tokens stay valid."));
        let ended = "1 token has ended: programs that used them need new ones. 1 token stays valid.";
        assert_eq!(password_set(1, 1), format!("{set} {ended}"));
    }

    #[test]
    fn browsers_are_named_in_a_few_words() {
        assert_eq!(browser("Mozilla/5.0 (X11; Linux x86_64) Chrome/140 Safari/537"), "Chrome on Linux");
    }
}
