//! Machines that join: their tokens, and which ones play.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_bot::rights;
use agon_server::status::look;
use agon_site::secrets;
use agon_store::acts::{Enlist, Enlisted, LetPlayOn, Revoke};
use agon_store::names::likeness;
use agon_store::reads::Working;
use agon_store::{ContestStore, StoreError, Time, WorkerId};

use crate::common::screen::{self, harmless};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::serve::{json, now, runtime};

/// The period over which results are counted, in milliseconds.
const HOUR: i64 = 3_600_000;

/// Makes a token, and prints nothing else on standard output, or writes it into a new file.
pub fn enrol(dir: &Path, name: &str, into: Option<&Path>, as_json: bool) -> Done {
    let failed = |file: &Path, error: io::Error| Failure::own(format!("{}: {error}", file.display()));
    let file = match into {
        None => None,
        Some(path) if path.exists() => {
            return Err(Failure::usage(format!("--out {}: that is there already", path.display())));
        }
        // Before there is a token, which could not be shown again.
        Some(path) => Some((path, rights::create_private(path).map_err(|error| failed(path, error))?)),
    };
    let enrolled = enlist(dir, name);
    match (file, enrolled) {
        (Some((path, mut file)), Ok((name, secret))) => {
            writeln!(file, "{secret}").map_err(|error| failed(path, error))?;
            if as_json {
                let told = json::WorkerToken { name: &name, token: None, file: Some(path) };
                return common::print_json(&mut io::stdout(), &told);
            }
            let work = NextCommand::Work.about(["URL", path.to_string_lossy().as_ref()]);
            Ok(writeln!(
                io::stdout(),
                "The token of {name} is in {}. On that machine: {work}",
                path.display()
            )?)
        }
        (Some((path, _)), Err(failure)) => {
            // It is empty.
            let _ = fs::remove_file(path);
            Err(failure)
        }
        (None, enrolled) => {
            let (name, secret) = enrolled?;
            keep_output_private()?;
            if as_json {
                let told = json::WorkerToken { name: &name, token: Some(&secret), file: None };
                return common::print_json(&mut io::stdout(), &told);
            }
            writeln!(io::stdout(), "{secret}")?;
            eprintln!(
                "The token of {name}, shown only once. On that machine, with the token in a file: agon work URL --token-file FILE"
            );
            Ok(())
        }
    }
}

/// Before a secret is printed: a shell makes the file with its own umask, and others could read it.
pub fn keep_output_private() -> io::Result<()> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(out) => rights::narrow(&File::from(out)).map(drop),
        Err(_) => Ok(()),
    }
}

/// Enlists a machine: its name as it is shown, and its token.
fn enlist(dir: &Path, name: &str) -> Result<(String, String), Failure> {
    let name = agon_server::check_name(name, "a machine").map_err(|why| Failure::usage(harmless(&why)))?;
    let secret = secrets::fresh();
    let sha = secrets::sha(&secret);
    let enrolled = runtime()?.block_on(async {
        let (store, contest) = look(dir).await?;
        let (name, actor) = (name.clone(), "organiser".to_owned());
        let enrolled = store.act(Enlist { contest: contest.id, name, sha, actor, now: now() }).await?;
        store.close().await;
        Ok::<_, agon_server::ServerError>(enrolled)
    })?;
    match enrolled {
        Enlisted::New(_) => {}
        Enlisted::Taken(other) => {
            return Err(Failure::usage(format!(
                "there is a machine `{}` already; `{}` ends its token",
                harmless(&other),
                NextCommand::ServeRevoke.about([dir.to_string_lossy().as_ref(), &harmless(&other)])
            )));
        }
        Enlisted::TooMany => {
            return Err(Failure::usage("too many machines have tokens: revoke some"));
        }
    }
    Ok((name, secret))
}

/// Revokes a token.
pub fn revoke(dir: &Path, name: &str, as_json: bool) -> Done {
    let actor = "organiser".to_owned();
    let revoke = async |store: &ContestStore, worker| {
        store.act(Revoke { contest: store.id(), worker, actor, now: now() }).await
    };
    with(dir, name, "has a valid token", revoke)?;
    if as_json {
        return common::print_json(&mut io::stdout(), &json::MachineNamed { machine: name });
    }
    Ok(writeln!(
        io::stdout(),
        "The token of {} is no longer valid. The matches it had in hand are played by others.",
        harmless(name)
    )?)
}

/// Lets a paused machine play again.
pub fn play_on(dir: &Path, name: &str, as_json: bool) -> Done {
    let actor = "organiser".to_owned();
    let lets = async |store: &ContestStore, worker| {
        store.act(LetPlayOn { contest: store.id(), worker, actor, now: now() }).await
    };
    with(dir, name, "is paused", lets)?;
    if as_json {
        return common::print_json(&mut io::stdout(), &json::MachineNamed { machine: name });
    }
    Ok(writeln!(
        io::stdout(),
        "{} plays on, and what it did before is no longer held against it.",
        harmless(name)
    )?)
}

/// Acts on the machine of that name; `needed` says what it has to be.
fn with(
    dir: &Path,
    name: &str,
    needed: &str,
    act: impl AsyncFnOnce(&ContestStore, WorkerId) -> Result<bool, StoreError>,
) -> Done {
    let done = runtime()?.block_on(async {
        let (store, _) = look(dir).await?;
        let own = likeness(name);
        let found = store.working(Time(0)).await?.into_iter().find(|worker| likeness(&worker.name) == own);
        let done = match found {
            Some(worker) => act(&store, worker.id).await?,
            None => false,
        };
        store.close().await;
        Ok::<_, agon_server::ServerError>(done)
    })?;
    if done {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "no machine `{}` {needed}; `{}` lists them",
        harmless(name),
        NextCommand::ServeWorkers.at(dir)
    )))
}

/// Lists the machines.
pub fn list(dir: &Path, as_json: bool) -> Done {
    let since = now().plus(-HOUR);
    let workers = runtime()?.block_on(async {
        let (store, _) = look(dir).await?;
        let workers = store.working(since).await?;
        store.close().await;
        Ok::<_, agon_server::ServerError>(workers)
    })?;
    let mut out = io::stdout().lock();
    if as_json {
        let all: Vec<json::Worker<'_>> = workers.iter().map(json::Worker::new).collect();
        return common::print_json(&mut out, &all);
    }
    if workers.is_empty() {
        return Ok(writeln!(out, "Nobody has played here yet.")?);
    }
    writeln!(out, "{}", table(&workers).text(screen::room()))?;
    for worker in workers.iter().filter(|worker| worker.revoked.is_none()) {
        if let Some(why) = &worker.paused {
            writeln!(out, "{} is paused: {why}.", harmless(&worker.name))?;
        }
    }
    Ok(())
}

fn table(workers: &[Working]) -> Table {
    let mut table = Table::new()
        .names("machine")
        .names("state")
        .numbers("in hand", 0)
        .numbers("last hour", 1)
        .numbers("void", 1)
        .numbers("speed", 2)
        .names("sandbox");
    for worker in workers {
        let told = json::Worker::new(worker);
        let state = match (worker.revoked, worker.seen) {
            (Some(_), _) => "revoked".to_owned(),
            (None, _) if worker.paused.is_some() => "paused".to_owned(),
            (None, Time(0)) => "not yet connected".to_owned(),
            (None, seen) => format!("{} s ago", (now().0 - seen.0).max(0) / 1000),
        };
        let speed = told.speed.map_or_else(String::new, |speed| format!("{speed:.0}"));
        table.row(vec![
            Cell::from(harmless(&worker.name)),
            Cell::from(state),
            Cell::from(worker.playing.to_string()),
            Cell::from(worker.posted.to_string()),
            Cell::from(worker.wasted.to_string()),
            Cell::from(speed),
            Cell::from(harmless(&worker.level)),
        ]);
    }
    table
}
