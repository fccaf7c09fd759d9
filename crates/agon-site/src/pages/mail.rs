//! The mail address of an account: asked for where this machine sends mail, confirmed by its owner, and a way back to the account.

use agon_server::mail::{MailAddress, MailMessage};
use agon_store::acts::{ConfirmMail, MakeLink, SetMail, Tell};
use agon_store::{Account, AccountId, LinkKind, StoreError, Time};
use axum::Form;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::account::{WRONG, account, again, proven};
use crate::pages::frame::{self, Here, act, field, token, wrong};
use crate::problem::Refused;
use crate::{mail, redirect, secrets};

const HOUR: i64 = 3_600_000;
/// How long the link that confirms an address is valid.
const CONFIRMS: i64 = 24 * HOUR;
/// How long the link that sets a password is valid.
const RESETS: i64 = HOUR;
/// How many accounts with one address get a link each.
const MOST: i64 = 5;

/// The fields of the forms here.
#[derive(Default, Deserialize)]
pub(crate) struct Typed {
    #[serde(default)]
    mail: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    link: String,
}

/// The field for an address in a form.
fn address_field(mail: &str, help: &str, required: bool) -> Markup {
    field(
        "Mail address",
        help,
        html! { input name="mail" type="email" value=(mail) required[required] maxlength="254" autocomplete="email" spellcheck="false"; },
    )
}

/// The domains of the addresses that the contest takes, as the end of a sentence; empty for any.
fn domains(ask: &Visit) -> String {
    ask.settings.held.mail_domains.join(" or ")
}

/// The field for an address at sign-up.
pub fn first_field(ask: &Visit, mail: &str) -> Markup {
    let domains = domains(ask);
    let needed = match domains.as_str() {
        "" => "You may leave it empty.".to_owned(),
        _ => format!("One at {domains}. You confirm it by a link before you can submit."),
    };
    let help = format!(
        "{needed} If you forget your password, a link sent there sets a new one. Only you and the organisers see it."
    );
    address_field(mail, &help, !domains.is_empty())
}

/// The address that somebody has typed at sign-up; none for nothing, or where no mail is sent.
///
/// # Errors
/// A sentence that says it is none, or not one that the contest takes.
pub fn first(ask: &Visit, text: &str) -> Result<Option<MailAddress>, String> {
    if !ask.settings.sends_mail() {
        return Ok(None);
    }
    match typed(ask, text)? {
        None if !domains(ask).is_empty() => {
            Err(format!("A mail address at {} is needed here.", domains(ask)))
        }
        address => Ok(address),
    }
}

fn typed(ask: &Visit, text: &str) -> Result<Option<MailAddress>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let address = MailAddress::of(text)?;
    match ask.settings.held.takes_mail(address.as_str()) {
        true => Ok(Some(address)),
        false => Err(format!("Only mail addresses at {} are taken here.", domains(ask))),
    }
}

/// Refuses an upload of somebody who has not confirmed an address that the contest takes, before it is read. Whoever accepts it
/// looks again.
///
/// # Errors
/// Where to confirm one.
pub async fn admit(ask: &Visit) -> Result<(), Refused> {
    if domains(ask).is_empty() {
        return Ok(());
    }
    let known = ask.site.store().account(ask.whoever()?.account).await?.ok_or_else(Refused::ours)?;
    let confirmed = known.mail.filter(|_| known.confirmed.is_some());
    match confirmed.is_some_and(|mail| ask.settings.held.takes_mail(&mail)) {
        true => Ok(()),
        false => Err(unconfirmed(ask)),
    }
}

/// The refusal of an upload of somebody who has to confirm an address first.
pub fn unconfirmed(ask: &Visit) -> Refused {
    let text = format!(
        "To submit here you need a confirmed mail address at {}. The page of your account says how; nothing was taken in.",
        domains(ask)
    );
    Refused::new(StatusCode::FORBIDDEN, "Confirm your mail address first", text).then("Account", "/account")
}

fn sends(ask: &Visit) -> Result<(), Refused> {
    match ask.settings.sends_mail() {
        true => Ok(()),
        false => Err(Refused::wrong("This contest sends no mail.")),
    }
}

/// Counts a message to an address that somebody asks for.
fn count(ask: &Visit, to: &MailAddress) -> Result<(), Refused> {
    ask.site.mailer.count(to, ask.from, ask.now).map_err(|until| {
        let what = "Too many messages to this address, or from this network, were asked for.";
        Refused::too_much(what, (until.0 - ask.now.0) / 1000)
    })
}

/// A link of the site with a secret for an account, which is valid for so long.
async fn link(
    ask: &Visit,
    kind: LinkKind,
    account: AccountId,
    lasts: i64,
    page: &str,
) -> Result<String, StoreError> {
    let (secret, now) = (secrets::fresh(), ask.now);
    let (sha, ends) = (secrets::sha(&secret), Time(now.0 + lasts));
    ask.site.store().act(MakeLink { sha, kind, account: Some(account), now, ends }).await?;
    let address =
        ask.site.people_at().ok_or_else(|| StoreError::Wrong("the site has no address".to_owned()))?;
    Ok(format!("{address}{page}?link={secret}"))
}

/// Gives an account this address, and sends a link there that confirms it.
///
/// # Errors
/// Those of the store.
pub async fn give(ask: &Visit, account: AccountId, name: &str, to: MailAddress) -> Result<(), Refused> {
    set(ask, account, Some(&to)).await?;
    // Whoever asks too often has the address all the same, and asks for the link later.
    if count(ask, &to).is_ok() {
        confirm_by_mail(ask, account, name.to_owned(), to);
    }
    Ok(())
}

async fn set(ask: &Visit, account: AccountId, to: Option<&MailAddress>) -> Result<(), Refused> {
    let (contest, mail, now) = (ask.site.contest(), to.map(|to| to.as_str().to_owned()), ask.now);
    Ok(ask.site.store().act(SetMail { contest, account, mail, now }).await?)
}

fn confirm_by_mail(ask: &Visit, account: AccountId, name: String, to: MailAddress) {
    let own = ask.clone();
    mail::later(&ask.site.mailer, &ask.settings.mail, ask.now, async move {
        let link = link(&own, LinkKind::Address, account, CONFIRMS, "/account/mail").await?;
        let title = &own.settings.title;
        let text = format!(
            "{name} has given this mail address at {title}.\n\nTo confirm it, sign in there as {name} and open this link, within a day:\n\n\
             {link}\n\nIf that was not you, do nothing: an address that is not confirmed is used for nothing."
        );
        let subject = format!("{title}: confirm this mail address");
        Ok(vec![MailMessage { to, subject, text, at: own.now }])
    });
}

/// The card on the page of an account.
pub fn card(ask: &Visit, known: &Account) -> Markup {
    if !ask.settings.sends_mail() && known.mail.is_none() {
        return html! {};
    }
    let is_open = known.mail.is_some() && known.confirmed.is_none();
    html! {
        div.card {
            form.form method="post" action="/account/mail" {
                h2 { "Mail address" }
                p {
                    @match (&known.mail, known.confirmed) {
                        (None, _) => "You have given none.",
                        (Some(mail), Some(_)) => { b.long { (mail) } " is confirmed. If you forget your password, a link sent there sets a new one." },
                        (Some(mail), None) => { b.long { (mail) } " is not confirmed yet: open the link that was sent there, signed in as " (known.name) "." },
                    }
                }
                (token(ask))
                input name="user" value=(known.name) autocomplete="username" hidden;
                (address_field("", "Empty: the account has none from then on. Only you and the organisers see it.", false))
                (field("Your password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
                button { "Change the address" }
            }
            @if is_open && ask.settings.sends_mail() { div.in { (act(ask, "/account/mail/again", "plain", html! { "Send the link again" })) } }
        }
    }
}

/// Changes the address of the caller's account, or takes it away.
pub async fn change(ask: Visit, Form(answers): Form<Typed>) -> Result<Response, Refused> {
    let to = match typed(&ask, &answers.mail) {
        Ok(to) => to,
        Err(why) => return Ok(again(account(&ask, Some(&why)).await?)),
    };
    if to.is_some() {
        sends(&ask)?;
    }
    let Some(known) = proven(&ask, &answers.password).await? else {
        return Ok(again(account(&ask, Some(WRONG)).await?));
    };
    if let Some(to) = &to {
        count(&ask, to)?;
    }
    set(&ask, known.id, to.as_ref()).await?;
    if let Some(to) = to {
        confirm_by_mail(&ask, known.id, known.name, to);
    }
    Ok(redirect::to("/account").into_response())
}

/// Sends the link that confirms the caller's address once more.
pub async fn once_more(ask: Visit) -> Result<Response, Refused> {
    sends(&ask)?;
    let known = ask.site.store().account(ask.whoever()?.account).await?.ok_or_else(Refused::ours)?;
    let to = known.mail.filter(|_| known.confirmed.is_none());
    let Some(to) = to.and_then(|mail| MailAddress::of(&mail).ok()) else {
        return Err(Refused::wrong("There is no address to be confirmed.").then("Account", "/account"));
    };
    count(&ask, &to)?;
    confirm_by_mail(&ask, known.id, known.name, to);
    Ok(redirect::to("/account").into_response())
}

/// The page behind the link that confirms an address. Opening it uses nothing up: programs look at links before people do.
pub async fn confirm_form(ask: Visit, Query(opened): Query<Typed>) -> Result<Markup, Refused> {
    let person = ask.whoever()?;
    let known = ask.site.store().link(&secrets::sha(&opened.link), ask.now).await?;
    if known != Some((LinkKind::Address, Some(person.account))) {
        return Err(invalid(&person.name));
    }
    let mail = ask.site.store().account(person.account).await?.and_then(|account| account.mail);
    let content = html! {
        form.card.form method="post" action="/account/mail/confirm" {
            (token(&ask))
            input type="hidden" name="link" value=(opened.link);
            p { b.long { (mail.unwrap_or_default()) } }
            button.main { "Confirm" }
        }
    };
    let title = format!("Is this the mail address of {}?", person.name);
    let lead = "If you forget your password, a link sent there sets a new one.";
    Ok(frame::page(&ask, Here::Elsewhere, &title, lead, content))
}

fn invalid(name: &str) -> Refused {
    let text = format!(
        "It has already been used, has expired, has been replaced by a newer one, or is not for {name}. The page of your account sends \
         another."
    );
    Refused::new(StatusCode::GONE, "This link is no longer valid", text).then("Account", "/account")
}

/// Confirms the address of the caller's account.
pub async fn confirm(ask: Visit, Form(answers): Form<Typed>) -> Result<Response, Refused> {
    let (person, contest, now) = (ask.whoever()?, ask.site.contest(), ask.now);
    let act = ConfirmMail { contest, account: person.account, sha: secrets::sha(&answers.link), now };
    match ask.site.store().act(act).await? {
        true => Ok(redirect::to("/account").into_response()),
        false => Err(invalid(&person.name)),
    }
}

/// The form for whoever has forgotten the password and has confirmed an address.
pub fn reset_card(ask: &Visit, mail: &str, why: Option<&str>) -> Markup {
    html! {
        @if ask.settings.sends_mail() {
            form.card.form method="post" action="/recover/mail" {
                h2 { "By mail" }
                (wrong(why))
                (token(ask))
                (address_field(mail, "The one that you have confirmed on the page of your account.", true))
                button { "Send a link" }
            }
        }
    }
}

/// Sends links that set a password to an address, if it is confirmed anywhere. The answer is the same, and comes as fast, if it is not.
pub async fn reset(ask: &Visit, to: MailAddress) -> Result<Markup, Refused> {
    sends(ask)?;
    count(ask, &to)?;
    let own = ask.clone();
    mail::later(&ask.site.mailer, &ask.settings.mail, ask.now, async move {
        let mut messages = Vec::new();
        for known in own.site.store().accounts_with_mail(to.as_str(), MOST).await? {
            let Some(to) = known.mail.as_deref().and_then(|mail| MailAddress::of(mail).ok()) else {
                continue;
            };
            let link = link(&own, LinkKind::Mailed, known.id, RESETS, "/password").await?;
            let (name, title) = (&known.name, &own.settings.title);
            let text = format!(
                "Somebody, probably you, has forgotten the password of {name} at {title}.\n\nThis link sets a new one. It works once, \
                 within an hour, and signs {name} out everywhere:\n\n{link}\n\nIf that was not you, do nothing: the password stays as it is."
            );
            messages.push(MailMessage { to, subject: format!("{title}: a new password"), text, at: own.now });
            let tell = Tell::own(own.site.contest(), known.id, ["mail link", ""], own.now);
            own.site.store().act(tell).await?;
        }
        Ok(messages)
    });
    let content = html! {
        p { "The link works once, within an hour. If nothing comes within some minutes, look among unwanted mail; or it is another address, or one that was never confirmed." }
        p { a.button href="/recover" { "Back" } }
    };
    let lead =
        "If an account here has confirmed this address, a link that sets a new password is on its way there.";
    Ok(frame::page(ask, Here::Elsewhere, "Look into your mail", lead, content))
}

/// Takes the address of whoever has forgotten the password.
pub async fn forgotten(ask: Visit, Form(answers): Form<Typed>) -> Result<Response, Refused> {
    match MailAddress::of(&answers.mail) {
        Ok(to) => Ok(reset(&ask, to).await?.into_response()),
        Err(why) => {
            sends(&ask)?;
            Ok(again(super::recovery::by_mail_again(&ask, &answers.mail, &why)))
        }
    }
}
