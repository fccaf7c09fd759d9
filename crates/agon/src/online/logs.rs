//! `agon logs`: the output of a build, and what the user's bot wrote in a match.

use std::io::{self, Write};

use agon_api::played::OwnSeat;
use agon_api::{BuildLog, Contest, Own};
use agon_bot::advised::NextCommand;
use agon_desk::replays::TurnCount;
use clap::Args;

use crate::common::online::OnlineOptions;
use crate::common::screen::{self, harmless, harmless_lines};
use crate::common::{self, Done, Failure};
use crate::online::{shown, told, version};

/// Examples for the help.
pub const EXAMPLES: &str = "For a version: where it is, why it failed, and the last 64 KiB of its build's output. For a match: your bots' faults,
and the last 256 KiB they wrote to standard error. Besides you, only the organisers see these.

Examples:
  agon logs                        of the newest version
  agon logs v3                     of the third
  agon logs --match 1042           what your bot wrote in a match
  agon logs --match 1042 --turn 17";

/// Options of `agon logs`.
#[derive(Args, Debug)]
pub struct LogsOptions {
    /// The version, such as v3 [default: the newest]
    #[arg(value_name = "VERSION", conflicts_with = "of_match")]
    pub of_version: Option<String>,
    /// Shows what your own bots wrote in this match
    #[arg(long = "match", value_name = "N")]
    pub of_match: Option<i64>,
    /// Only this turn of the match, as the game counts them
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
        let contest: Contest = online.get("/contest", &[])?;
        let turns = Turns::of(&contest.game)?;
        if let Some(turn) = options.turn {
            let step = turns.count.step(turn).saturating_add(1);
            for seat in &mut own.seats {
                seat.notes.retain(|note| note.step == step);
                seat.faults.retain(|fault| fault.step == step);
            }
        }
        if options.json {
            return common::print_json(&mut out, &own);
        }
        for seat in &own.seats {
            writeln!(out, "{}", screen.strong(&format!("seat {}", seat.seat)))?;
            faults(&mut out, seat)?;
            notes(&mut out, seat, &turns, usize::MAX)?;
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
        writeln!(out, "Its build printed nothing.")?;
    }
    log.text.lines().try_for_each(|line| writeln!(out, "{} {}", screen.dim("|"), harmless(line)))?;
    if let Some(check) = own.check {
        writeln!(
            out,
            "What it wrote in its check match: {}",
            NextCommand::LogsOfMatch.about([check.to_string()])
        )?;
    }
    Ok(())
}

/// Prints what a bot did wrong, and what to do.
pub fn faults(out: &mut impl Write, own: &OwnSeat) -> Done {
    let screen = screen::output();
    for fault in &own.faults {
        let (kind, turn) = (screen.bad(&shown(&fault.kind)), shown(&fault.turn));
        writeln!(out, "{kind} {turn}: {}", harmless_lines(&fault.what))?;
        if let Some(fix) = &fault.fix {
            writeln!(out, "  {}", harmless_lines(fix))?;
        }
    }
    Ok(())
}

/// How a game counts its turns, and what it calls them.
pub struct Turns {
    count: TurnCount,
    word: &'static str,
}

impl Turns {
    /// Those of the game of this name.
    ///
    /// # Errors
    /// When this program does not have it.
    pub fn of(game: &str) -> Result<Self, Failure> {
        let game = common::game(game)?;
        Ok(Self { count: TurnCount::of_game(game), word: game.info().step })
    }

    /// The name of a step, from 1.
    fn name(&self, step: u32) -> String {
        format!("{} {}", self.word, self.count.turn(step.saturating_sub(1)))
    }
}

/// Prints the last `most` lines a bot wrote to standard error, turn by turn. Returns whether that is all.
pub fn notes(out: &mut impl Write, own: &OwnSeat, turns: &Turns, most: usize) -> Result<bool, Failure> {
    let screen = screen::output();
    if own.left_out > 0 {
        writeln!(out, "{}", screen.dim(&format!("the first {} notes were left out", own.left_out)))?;
    }
    let written = own.notes.iter().filter(|note| note.kind == "stderr");
    let lines: Vec<(u32, &str)> =
        written.flat_map(|note| note.text.lines().map(move |line| (note.step, line))).collect();
    let first = lines.len().saturating_sub(most);
    let mut before = None;
    for (step, line) in &lines[first..] {
        // The turn is printed only where it begins.
        let label = if before == Some(*step) { String::new() } else { turns.name(*step) };
        before = Some(*step);
        writeln!(out, "{} {}", screen.dim(&format!("{label:>9} |")), harmless(line))?;
    }
    Ok(first == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turns_that_are_printed_are_those_to_type() {
        for (game, first) in [("cultist-wars", "turn 1"), ("terminal", "turn 0")] {
            let turns = Turns::of(game).unwrap_or_else(|_| panic!("{game}"));
            assert_eq!(turns.name(1), first);
            let number: u32 = first.rsplit(' ').next().and_then(|text| text.parse().ok()).expect("a number");
            assert_eq!(turns.count.step(number) + 1, 1);
            assert_eq!(turns.name(18), format!("turn {}", number + 17));
        }
    }
}
