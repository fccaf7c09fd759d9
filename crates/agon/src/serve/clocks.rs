//! Clocks of servers that are in doubt, and the organiser who confirms what they show.

use std::io::{self, Write as _};
use std::path::Path;

use agon_bot::advised::NextCommand;
use agon_server::status::look;
use agon_server::{ServerError, clock};
use agon_store::ClockDoubt;

use crate::common::screen::harmless;
use crate::common::{self, Done};
use crate::serve::{json, now, runtime};

/// Says which clocks are in doubt, after confirming what they show if that is wanted.
pub fn run(dir: &Path, confirm: bool, as_json: bool) -> Done {
    let (doubts, confirmed) = runtime()?.block_on(async {
        let (store, _) = look(dir).await?;
        let mut confirmed = 0;
        for doubt in
            store.clock_doubts().await?.iter().filter(|doubt| confirm && clock::is_unconfirmed(doubt))
        {
            confirmed += u32::from(clock::confirm(&store, doubt, ("organiser", now())).await?);
        }
        let doubts = store.clock_doubts().await?;
        store.close().await;
        Ok::<_, ServerError>((doubts, confirmed))
    })?;
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &json::Clocks { confirmed, doubts: &doubts });
    }
    if doubts.is_empty() {
        return Ok(writeln!(out, "No server's clock is in doubt.")?);
    }
    if confirm && confirmed == 0 {
        writeln!(out, "There was nothing to confirm.")?;
    }
    Ok(tell(&mut out, dir, &doubts)?)
}

/// Says which clocks are in doubt, what waits, and for what.
pub fn tell(out: &mut impl io::Write, dir: &Path, doubts: &[ClockDoubt]) -> io::Result<()> {
    for doubt in doubts {
        writeln!(
            out,
            "The clock of {} {}. That server accepts, hands out and seals nothing, and loses nothing, {}.",
            harmless(&doubt.server),
            clock::what(doubt),
            match (clock::is_unconfirmed(doubt), doubt.apart_ms.is_some()) {
                (_, true) => "until it and the database's agree (timedatectl set-ntp true)".to_owned(),
                (true, false) => format!(
                    "until somebody has compared it with another clock: `{}` confirms it",
                    NextCommand::ServeClock.at(dir)
                ),
                (false, false) => "until its clocks have agreed for a minute".to_owned(),
            }
        )?;
    }
    Ok(())
}
