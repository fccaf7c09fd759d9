//! The settings of the contest: the organiser's form, and what the servers' files say of them.

use agon_contest::config::SignUpWord;
use agon_server::settings::{self, SettingKey, SettingsBy};
use agon_server::{ServerError, tick::GONE_MS};
use agon_store::acts::Invite;
use agon_store::acts::asked::MOST_ASKED;
use agon_store::{ContestSettings, Time};
use axum::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::gate::Visit;
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::rules;
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;
use crate::settings::{LARGEST_TEAM, SettingsForm};

/// The settings of the contest.
pub async fn page(ask: Visit) -> Markup {
    settings_page(&ask, &SettingsForm::of(&ask.settings.held), None)
}

fn settings_page(ask: &Visit, answers: &SettingsForm, why: Option<&str>) -> Markup {
    let choice = |word: SignUpWord, label: &str| {
        html! { label.choice {
            input type="radio" name="sign_up" value=(word.word()) checked[answers.sign_up == word.word()];
            span { (label) }
        } }
    };
    let content = html! {
        form.card.form method="post" action="/organise/settings" {
            (wrong(why))
            (token(ask))
            input type="hidden" name="seen" value=(answers.seen);
            (field("Name", "", html! { input name="title" value=(answers.title) required maxlength="60"; }))
            fieldset {
                legend { "Who may sign up" }
                (choice(SignUpWord::Invite, "Anyone with a code that I give them"))
                (choice(SignUpWord::Open, "Everybody who reaches this site"))
                (choice(SignUpWord::Closed, "Nobody, for now"))
            }
            (at_level(ask, answers))
            (field("Team size", "Maximum number of members of a team.", html! { input name="team_size" type="number" min="1" max=(LARGEST_TEAM) value=(answers.team_size) required; }))
            (field("Time zone", "Used for all dates, e.g. Europe/Vienna or UTC.", html! { input name="time_zone" value=(answers.time_zone) required spellcheck="false"; }))
            (field("Uploads open", "When bots can first be submitted. Leave empty for now.", html! { input name="opens" type="datetime-local" value=(answers.opens); }))
            (field("Uploads close", "Later uploads are refused; the ladder goes on. Leave empty for no end.", html! { input name="closes" type="datetime-local" value=(answers.closes); }))
            (field("Rated matches of a version", "More make places more certain, and take time.", html! { input name="matches" type="number" min="1" max="1000000" value=(answers.matches) required; }))
            (field("Drafts and challenges of a team in an hour", "Runs of the workbench are drafts. Machines play them in shares that the ladder leaves.", html! { input name="asked_an_hour" type="number" min="1" max=(MOST_ASKED) value=(answers.asked_an_hour) required; }))
            button.main { "Save" }
        }
        section.card {
            header { h2 { "More settings" } span.faint { "on a server: " code { "agon serve set DIR KEY=VALUE" } } }
            table.dense { tbody { @for key in MORE { tr {
                td { code { (key.word()) } }
                td.prose { (key.means()) }
                td.prose { @let told = key.told(&ask.settings.held); @if told.is_empty() { span.faint { "–" } } @else { code { (told.replace(',', ", ")) } } }
            } } } }
            @if let Some(since) = ask.settings.held.image_since { p.faint { "The image was changed on " (ask.settings.deadline(since)) ": each live version plays a check match in it." } }
        }
        section.card {
            header { h2 { "Fixed with the first run" } span.faint { "changes would mix two kinds of match in one table" } }
            div.in { dl.facts { (rules::fixed(ask)) } }
        }
        p.faint.foot { "For another clock, other rules or other maps, start a contest in a new folder and set them in its contest.toml before its first run." }
    };
    let (answer, lead) = match ask.settings.sign_up {
        None => (
            "Who may take part, and until when?",
            "Nobody can sign up until this is set. A change holds at once, on every server of the contest.",
        ),
        Some(_) => (
            "Settings",
            "A change holds at once, on every server of the contest, and is in its log. What its contest.toml says was for the founding.",
        ),
    };
    frame::page(ask, Here::Organise, answer, lead, content)
}

/// Settings that the form does not ask for.
const MORE: [SettingKey; 9] = [
    SettingKey::MailDomains,
    SettingKey::Image,
    SettingKey::Memory,
    SettingKey::Bosses,
    SettingKey::Level,
    SettingKey::TrustBots,
    SettingKey::DecideTop,
    SettingKey::Speed,
    SettingKey::Tolerance,
];

/// Asks whether matches are rated where CPU time is only sampled, if this machine is such a one.
fn at_level(ask: &Visit, answers: &SettingsForm) -> Markup {
    let is_b = ask.site.machine().is_some_and(|machine| machine.sandbox.as_deref() == Some("B"));
    let chosen = if answers.level.is_empty() {
        ask.settings.level.map(|level| level.to_string())
    } else {
        Some(answers.level.clone())
    };
    let choice = |level: &str, label: &str| {
        html! { label.choice {
            input type="radio" name="level" value=(level) checked[chosen.as_deref() == Some(level)] required;
            span { (label) }
        } }
    };
    html! {
        @if is_b {
            fieldset {
                legend { "Rated matches" }
                (choice("A", "Only on machines where the kernel counts CPU time (level A): this one plays nothing"))
                (choice("B", "On machines without cgroups too (level B): their results say “CPU sampled”, and a bot can hide what it uses"))
                small { "This machine has level B; " code { "agon doctor" } " on it names the line that leads to level A. A server whose own machine has another level plays on from its next start." }
            }
        }
    }
}

/// The organiser who asks, for the log.
pub fn by(ask: &Visit) -> Result<SettingsBy<'_>, Refused> {
    let person = ask.whoever()?;
    Ok(SettingsBy { actor: &person.name, account: Some(person.account) })
}

/// Changes the settings of the contest.
pub async fn write(ask: Visit, Form(answers): Form<SettingsForm>) -> Result<Response, Refused> {
    let (contest, now, store) = (ask.site.contest(), ask.now, ask.site.store());
    let make = |before: &ContestSettings| answers.change(before, &ask.settings.game);
    let after = match settings::change(store, by(&ask)?, make, now).await {
        Ok((_, after)) => after,
        Err(ServerError::Wrong(why)) => {
            let page = settings_page(&ask, &answers, Some(&why));
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
        Err(error) => return Err(error.into()),
    };
    if after.sign_up == Some(SignUpWord::Invite) && store.invite().await?.is_none() {
        let actor = ask.whoever()?.name.clone();
        store.act(Invite { contest, code: secrets::code(), actor, now }).await?;
    }
    Ok(redirect::to("/organise").into_response())
}

/// Servers whose files say something else than what holds.
pub async fn files(ask: &Visit) -> Result<Markup, Refused> {
    let held = &ask.settings.held;
    let servers = ask.site.store().servers(Time(ask.now.0 - GONE_MS)).await?;
    let differing = servers.into_iter().flat_map(|server| {
        let found = settings::differences_of(&server.file, held);
        found.into_iter().map(move |one| (server.name.clone(), one))
    });
    let differing: Vec<_> = differing.collect();
    let value =
        |text: &str| html! { @if text.is_empty() { span.faint { "none" } } @else { code { (text) } } };
    Ok(html! {
        @if !differing.is_empty() {
            section.card {
                header { h2 { "Servers whose files differ" } span.faint { "their contest.toml decides nothing" } }
                table.dense {
                    thead { tr { th { "Server" } th { "Key" } th { "Its file" } th { "Holds" } } }
                    tbody { @for (server, one) in &differing { tr {
                        td.prose { (server) } td { code { (one.key.word()) } } td.prose { (value(&one.says)) } td.prose { (value(&one.holds)) }
                    } } }
                }
                p.faint { "Since the contest was founded its settings are in its database. Change them in Settings, or with " code { "agon serve set DIR KEY=VALUE" } "; in the file, write what holds or take the line out." }
            }
        }
    })
}
