//! `agon logs`: what a build said, and what one's bot wrote in a match.

use std::io::{self, Write};

use agon_api::played::OwnSeat;
use agon_api::{BuildLog, Own};
use clap::Args;

use crate::common::online::OnlineOptions;
use crate::common::screen::{self, harmless, harmless_lines};
use crate::common::{self, Done, Failure};
use crate::online::{shown, told, version};

/// Examples for the help.
pub const EXAMPLES: &str = "Of a version: where it is, why it failed, and the last 64 KiB that its build said. Of a match: what your bots did wrong and
wrote on standard error, the last 256 KiB. Nobody else sees either, but for the organisers.

Examples:
  agon logs                        of the newest version
  agon logs v3                     of the third
  agon logs --match 1042           what your bot wrote in a match
  agon logs --match 1042 --turn 17";

/// Options of `agon logs`.
#[derive(Args, Debug)]
pub struct LogsOptions {
    /// The version, as v3 [default: the newest]
    #[arg(value_name = "VERSION", conflicts_with = "of_match")]
    pub of_version: Option<String>,
    /// What one's own bots wrote in this match
    #[arg(long = "match", value_name = "N")]
    pub of_match: Option<i64>,
    /// Of that only this step of the match, from 1
    #[arg(long, value_name = "T", requires = "of_match")]
    pub turn: Option<u32>,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon logs`.
pub fn run(options: &LogsOptions) -> Done {
    let online = options.online.connect()?;
    let (mut out, screen) = (io::stdout().lock(), screen::output());
    if let Some(game) = options.of_match {
        let mut own: Own = online.get(&format!("/matches/{game}/own"), &[])?;
        let pick = Pick { step: options.turn };
        for seat in &mut own.seats {
            seat.notes.retain(|note| pick.takes(note.step));
            seat.faults.retain(|fault| pick.takes(fault.step));
        }
        if options.json {
            return common::print_json(&mut out, &own);
        }
        for seat in &own.seats {
            writeln!(out, "{}", screen.strong(&format!("seat {}", seat.seat)))?;
            for fault in &seat.faults {
                writeln!(
                    out,
                    "{} {}: {}",
                    screen.bad(&shown(&fault.kind)),
                    shown(&fault.turn),
                    harmless_lines(&fault.what)
                )?;
            }
            notes(&mut out, seat, &pick)?;
        }
        if own.seats.iter().all(|seat| seat.notes.is_empty() && seat.faults.is_empty()) {
            writeln!(out, "Your bots wrote nothing there, and did nothing wrong.")?;
        }
        return Ok(());
    }
    let own = version(&online, options.of_version.as_deref())?;
    let log: BuildLog = online.get(&format!("/versions/{}/log", own.id), &[])?;
    if options.json {
        return common::print_json(&mut out, &log);
    }
    writeln!(out, "{} v{}: {}", shown(&own.team), own.n, own.state)?;
    match (&own.cause, &own.reason) {
        (Some(cause), _) => writeln!(out, "{}", told(screen, cause))?,
        (None, Some(reason)) => writeln!(out, "{}", harmless_lines(reason))?,
        (None, None) => {}
    }
    if log.text.is_empty() {
        writeln!(out, "Its build has said nothing.")?;
    }
    log.text.lines().try_for_each(|line| writeln!(out, "{} {}", screen.dim("|"), harmless(line)))?;
    if let Some(check) = own.check {
        writeln!(out, "What it wrote in its check match: agon logs --match {check}")?;
    }
    Ok(())
}

/// Which steps are wanted.
#[derive(Default)]
pub struct Pick {
    /// This one alone; all where there is none.
    pub step: Option<u32>,
}

impl Pick {
    fn takes(&self, step: u32) -> bool {
        self.step.is_none_or(|wanted| wanted == step)
    }
}

/// What a bot wrote, step by step.
pub fn notes(out: &mut impl Write, own: &OwnSeat, pick: &Pick) -> Result<(), Failure> {
    let screen = screen::output();
    if own.left_out > 0 && pick.step.is_none() {
        writeln!(out, "{}", screen.dim(&format!("the first {} notes were left out", own.left_out)))?;
    }
    let mut at = None;
    for note in own.notes.iter().filter(|note| note.kind == "stderr") {
        if at != Some(note.step) {
            at = Some(note.step);
            writeln!(out, "{}", screen.dim(&format!("step {}, standard error", note.step)))?;
        }
        note.text.lines().try_for_each(|line| writeln!(out, "  {} {}", screen.dim("|"), harmless(line)))?;
    }
    Ok(())
}
