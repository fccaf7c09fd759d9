//! Recovery codes: made, shown once, and counted.

use agon_store::acts::RenewCodes;
use agon_store::{AccountId, Sha};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::factor;
use crate::pages::frame::{self, Here, field, token};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;

/// How many codes an account gets at a time.
const CODES: usize = 10;

/// The hash of a code. The number is in it, so that a thief of hashes has to guess for each account apart.
pub fn hash(account: AccountId, code: &str) -> Sha {
    Sha::of(format!("agon recovery\n{account}\n{code}"))
}

/// Makes new codes for the caller, and shows them once.
pub async fn shown_once(ask: &Visit, next: &str) -> Result<Markup, Refused> {
    let person = ask.whoever()?;
    let account = person.account;
    let codes: Vec<String> = (0..CODES).map(|_| secrets::recovery_code()).collect();
    let hashes = codes.iter().map(|code| hash(account, code)).collect();
    ask.site.store().act(RenewCodes { account, codes: hashes }).await?;
    let known = ask.site.store().account(account).await?.ok_or_else(Refused::ours)?;
    let is_on = factor::asked_for(ask, account).await?.is_some();
    let unconfirmed = known.mail.filter(|_| known.confirmed.is_none());
    let content = html! {
        section.card {
            header { h2 { (person.name) " at " (ask.settings.title) } span.faint { (ask.address) } }
            div.in {
                pre.secret aria-label="Recovery codes" { (codes.join("\n")) }
                @if is_on { p { "If your app is lost, type one of these codes in its place after the password. Each code works once." } }
                @else { p { "If you forget your password, follow " b { "Forgotten your password?" } " on the page for signing in: your name and one of these codes set a new one. Each code works once." } }
                p { "They are shown only now, and " (if is_on { "with the password " } else { "" }) "open your account to whoever has one: print this page or copy the codes (one click selects them all), and keep them where only you can read them. New ones can be made on the page of your account." }
                @if let Some(mail) = unconfirmed { p { "A link is on its way to " b.long { (mail) } ": open it, signed in here, to confirm the address." } }
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

/// The card on the page of an account, which has a second factor or none.
pub async fn card(ask: &Visit, account: AccountId, name: &str, has_factor: bool) -> Result<Markup, Refused> {
    let left = ask.site.store().recovery_codes(account).await?;
    let use_of = match has_factor {
        true => "stands once for a code of your app",
        false => "sets a new password once, if you forget yours",
    };
    Ok(html! {
        form.card.form method="post" action="/account/codes" {
            h2 { "Recovery codes" }
            p {
                @match left {
                    0 => { "You have none: the next time you sign in, you are shown ten. Each " (use_of) "." },
                    1 => "One is left. Make new ones before you need it.",
                    left => { (left) " are left. Each " (use_of) "." },
                }
            }
            (token(ask))
            input name="user" value=(name) autocomplete="username" hidden;
            (field("Your password", "", html! { input name="password" type="password" required autocomplete="current-password"; }))
            button { "Make " (CODES) " new codes" }
            @if left > 0 { p.faint { "The old ones end." } }
        }
    })
}
