//! The settings of a contest, at the command line: whether it is running or not, they hold at once on every server of it.

use std::io::{self, Write as _};
use std::path::Path;

use agon_server::settings::{self, SettingKey, SettingsBy, changed, told_change};
use agon_server::status::look;
use agon_site::secrets;
use agon_store::acts::{Invite, TakeInSettings};
use agon_store::{ContestSettings, ContestStore};

use crate::common::screen::{self, harmless};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::serve::{founding, json, now, private, runtime};

/// Shows the settings of the contest in a folder, after changing some.
pub fn run(dir: &Path, changes: &[String], as_json: bool) -> Done {
    let wanted: Vec<(SettingKey, &str)> = changes.iter().map(|text| split(text)).collect::<Result<_, _>>()?;
    private::is_whose(dir)?;
    let (before, after) = runtime()?.block_on(async {
        let (store, contest) = look(dir).await?;
        let settings = match contest.settings {
            Some(settings) => settings,
            None => take_in(dir, &store).await?,
        };
        let done = match wanted.is_empty() {
            true => (settings.clone(), settings),
            false => {
                let make = |before: &ContestSettings| changed(before, &wanted, &contest.game);
                settings::change(&store, SettingsBy::COMMAND, make, now()).await?
            }
        };
        if done.1.sign_up == Some(agon_contest::config::SignUpWord::Invite)
            && store.invite().await.map_err(agon_server::ServerError::from)?.is_none()
        {
            let act = Invite {
                contest: contest.id,
                code: secrets::code(),
                actor: SettingsBy::COMMAND.actor.to_owned(),
                now: now(),
            };
            store.act(act).await.map_err(agon_server::ServerError::from)?;
        }
        store.close().await;
        Ok::<_, Failure>(done)
    })?;
    let mut out = io::stdout().lock();
    if as_json {
        common::print_json(&mut out, &json::Settings::new(&after))?;
        return Ok(());
    }
    if changes.is_empty() {
        return Ok(writeln!(out, "{}", table(&after).text(screen::room()))?);
    }
    let told = told_change(&before, &after);
    match told.is_empty() {
        true => writeln!(out, "Nothing changed: the settings are so already.")?,
        false => {
            writeln!(out, "{}\nThis holds from now on, on every server of the contest.", harmless(&told))?
        }
    }
    if before.image != after.image && after.image.is_some() {
        writeln!(
            out,
            "Every live version plays a check match in the new image; matches in play are played again."
        )?;
    }
    Ok(())
}

/// `KEY=VALUE`.
fn split(text: &str) -> Result<(SettingKey, &str), Failure> {
    let (word, value) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("`{text}`: write KEY=VALUE, such as team_size=3")))?;
    Ok((SettingKey::of(word.trim()).map_err(Failure::Usage)?, value))
}

/// The settings of a contest that a program before this one founded: those of its file.
async fn take_in(dir: &Path, store: &ContestStore) -> Result<ContestSettings, Failure> {
    let (setting, _) = founding::read(dir)?;
    let act = TakeInSettings { contest: store.id(), settings: setting.founding };
    store.act(act).await.map_err(agon_server::ServerError::from)?;
    let contest = store.now().await.map_err(agon_server::ServerError::from)?;
    Ok(contest.settings.unwrap_or_default())
}

fn table(settings: &ContestSettings) -> Table {
    let mut table = Table::new().names("key").names("value").names("");
    for key in SettingKey::ALL {
        let told = key.told(settings);
        let value = if told.is_empty() { "–".to_owned() } else { harmless(&told) };
        table.row([key.word().to_owned(), value, key.means().to_owned()].map(Cell::from).into());
    }
    table
}
