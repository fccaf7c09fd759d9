//! Acts of an organiser on a contest, whether it is running or not.

use std::io::{self, Write as _};
use std::path::Path;

use agon_bot::NameKind;
use agon_bot::advised::NextCommand;
use agon_server::status::look;
use agon_store::acts::{Added, Drain, Pause, Return};
use agon_store::{Objects, VersionState};

use crate::common::packed::packed;
use crate::common::sandbox::Bots;
use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use crate::serve::{json, now, private, runtime};

/// Submits a bot for a team.
pub fn add(dir: &Path, bot: &Path, team: &str, as_json: bool) -> Done {
    // The time of the command counts, however long packing takes.
    let received = now();
    let name = common::named(&bot.to_string_lossy(), &Bots::usual())?;
    if matches!(name.kind, NameKind::Builtin { .. }) {
        return Err(Failure::usage(format!("bot `{name}`: built-in bots belong in contest.toml, as bosses")));
    }
    private::is_whose(dir)?;
    let archive = packed(&name)?;
    let runtime = runtime()?;
    let added = runtime.block_on(async {
        let (store, _) = look(dir).await?;
        let by = ("organiser", received);
        let added =
            agon_server::hand_in(&store, &Objects::open_in_use(dir).await?, team, &archive, by).await?;
        let mut back = false;
        if let Added::Same(version, _, VersionState::Former) = added {
            back = store.act(Return { version, actor: "organiser".to_owned(), now: received }).await?;
        }
        store.close().await;
        Ok::<_, agon_server::ServerError>((added, back))
    })?;
    let (added, back) = added;
    let team = harmless(team);
    let mut out = io::stdout().lock();
    if let (true, Added::New(_, n) | Added::Same(_, n, _)) = (as_json, &added) {
        let state = match (&added, back) {
            (Added::New(..), _) => json::AddedState::New,
            (_, true) => json::AddedState::Back,
            _ => json::AddedState::Known,
        };
        let added = json::AddedBot { team, version: *n, state, bytes: archive.len() as u64 };
        return common::print_json(&mut out, &added);
    }
    match added {
        Added::New(_, n) => writeln!(
            out,
            "{team} v{n} has been submitted ({} bytes). It plays a check match first; `{}` shows the result.",
            archive.len(),
            NextCommand::ServeStatus.at(dir)
        )?,
        Added::Same(_, n, _) if back => {
            writeln!(
                out,
                "{team} has submitted this before: v{n} plays for the team again, with all its matches."
            )?;
        }
        Added::Same(_, n, state) => writeln!(
            out,
            "{team} has submitted this before: it is v{n}, which keeps its matches{}. Nothing was changed.",
            if state == VersionState::Failed {
                " (it failed its check; `agon serve status` says why)"
            } else {
                ""
            }
        )?,
        Added::TooMany(_) | Added::Closed(_) | Added::Unconfirmed => {
            return Err(Failure::own("an organiser's upload was counted; please report it".to_owned()));
        }
        Added::Taken(other) => {
            return Err(Failure::usage(format!(
                "--team {team}: that looks like `{}`, which is there already; write it the same way, or take another name",
                harmless(&other)
            )));
        }
    }
    Ok(())
}

/// Pauses or resumes a contest.
pub fn pause(dir: &Path, paused: bool, as_json: bool) -> Done {
    let runtime = runtime()?;
    let changed = runtime.block_on(async {
        let (store, contest) = look(dir).await?;
        let act = Pause { contest: contest.id, paused, actor: "organiser".to_owned(), now: now() };
        let changed = store.act(act).await?;
        store.close().await;
        Ok::<_, agon_server::ServerError>(changed)
    })?;
    if as_json {
        return common::print_json(&mut io::stdout(), &json::Pausing { paused, draining: false, changed });
    }
    let said = match (paused, changed) {
        (true, true) => "It is paused: matches that are being played finish, and no others start.",
        (true, false) => "It was paused already.",
        (false, true) => "It is resumed.",
        (false, false) => "It was not paused.",
    };
    Ok(writeln!(io::stdout(), "{said}")?)
}

/// Drains a contest: it plays what is planned, then pauses.
pub fn drain(dir: &Path, as_json: bool) -> Done {
    let runtime = runtime()?;
    let (changed, paused) = runtime.block_on(async {
        let (store, contest) = look(dir).await?;
        let act = Drain { contest: contest.id, actor: "organiser".to_owned(), now: now() };
        let changed = store.act(act).await?;
        store.close().await;
        Ok::<_, agon_server::ServerError>((changed, contest.paused))
    })?;
    if as_json {
        let draining = changed || !paused;
        return common::print_json(&mut io::stdout(), &json::Pausing { paused, draining, changed });
    }
    let said = match (changed, paused) {
        (true, _) => {
            "It comes to rest: what is planned is played, nothing more is planned, and then it is paused. This only happens while it runs.".to_owned()
        }
        (false, true) => format!("It is paused already; `{}` continues it.", NextCommand::ServeContinue.at(dir)),
        (false, false) => "It is already coming to rest.".to_owned(),
    };
    Ok(writeln!(io::stdout(), "{said}")?)
}
