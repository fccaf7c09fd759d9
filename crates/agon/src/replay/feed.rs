//! `agon replay feed`: what a bot answers to a recorded match; `agon check --against` runs it too.

use agon_desk::replays::TurnCount;
use std::io::{self, Write};
use std::path::PathBuf;

use agon_desk::feed::{FedTurn, Feed, check_turn, difference};
use agon_desk::replays::{game_of, read};
use agon_desk::seats::seat_of;
use agon_game::AnyGame;
use agon_match::Terms;
use clap::Args;

use crate::common::sandbox::SandboxOptions;
use crate::common::screen::{self, Screen, harmless, milliseconds};
use crate::common::seats::tell_notes;
use crate::common::{self, ClockOptions, Done, Failure};

/// Options of `agon replay feed`.
#[derive(Args, Debug)]
pub struct FeedOptions {
    /// The replay: ours, or one of the original
    pub file: PathBuf,
    /// The bot
    pub bot: String,
    /// The seat it takes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seat: u8,
    /// Only this turn, with both answers in full; counted as in `replay show`
    #[arg(long, short, value_name = "T")]
    pub turn: Option<u32>,
    #[command(flatten)]
    pub clock: ClockOptions,
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// Prints every answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// Feeds a recorded match to a bot and shows its answers beside the recorded ones.
///
/// Exit code 1 when the bot committed a fault; a different answer is not a fault. `wanted` is the game
/// that the match must be of.
pub fn run(options: &FeedOptions, wanted: Option<&dyn AnyGame>) -> Done {
    let replay = read(&options.file)?;
    let info = game_of(&replay.header)?.info();
    if let Some(wanted) = wanted.filter(|wanted| wanted.info().name != info.name) {
        let (file, wanted) = (options.file.display(), wanted.info().title);
        return Err(Failure::usage(format!("{file}: this is a match of {}, not of {wanted}", info.title)));
    }
    let seat = seat_of(&replay, options.seat)?;
    let count = TurnCount::of(&replay);
    let only = options.turn.map(|turn| count.step(turn));
    if let Some(step) = only {
        check_turn(&replay, seat, step)?;
    }
    let name = common::bot(&options.bot, &options.sandbox.bots())?;
    let until = only.map_or(replay.steps.len(), |step| step as usize + 1);
    let clock = options.clock.clock()?;
    tell_notes(&name);
    let feed = Feed::new(&replay, &name, seat, until, clock)?;
    let screen = screen::output();
    let mut out = io::stdout().lock();
    if !options.json {
        let then = harmless(&replay.header.seats[seat.index()].label);
        let title = format!("{} · seat {seat}, played by {then} in the recording", info.title);
        writeln!(out, "{}", screen.strong(&title))?;
    }
    let terms = Terms::new(clock, options.clock.ponder(), common::stop_on_ctrl_c());
    let mut fed = feed.compare(only, &terms, &mut |turn| match options.json {
        true => Ok(()),
        false => show(&mut out, screen, turn, options.turn.is_some()),
    });
    if options.json {
        fed.bot.clone_from(&options.bot);
        common::print_json_line(&mut out, &fed)?;
    } else {
        let faults = match fed.faults.len() {
            0 => "no fault".to_owned(),
            1 => screen.bad("1 fault"),
            many => screen.bad(&format!("{many} faults")),
        };
        let (same, differ) = (fed.same, fed.differ);
        let answers = if same + differ == 1 { "answer" } else { "answers" };
        writeln!(
            out,
            "\n{} {answers}: {same} same as recorded, {differ} different, {faults}",
            same + differ
        )?;
        if fed.unfed > 0 {
            let rest = fed.unfed;
            writeln!(out, "{}", screen.bad(&format!("the last {rest} turns were not fed: no answer came")))?;
        }
    }
    match fed.void {
        Some(_) if fed.stopped => Err(Failure::Stopped),
        Some(why) => Err(Failure::own(why)),
        None if fed.faults.is_empty() => Ok(()),
        None => Err(Failure::Check),
    }
}

/// Shows an answer beside the recorded one; both in full if it is the only one.
fn show(out: &mut impl Write, screen: Screen, turn: &FedTurn, in_full: bool) -> io::Result<()> {
    let verdict = if turn.same { screen.dim("same as recorded") } else { screen.strong("differs") };
    let time = turn.ms.map(|ms| format!("  {}", screen.dim(&milliseconds(ms)))).unwrap_or_default();
    writeln!(out, "{:<10} {verdict}{time}", turn.moment)?;
    if in_full {
        for (word, answer) in [("then", &turn.then), ("now", &turn.now)] {
            for line in answer.lines() {
                writeln!(out, "  {word:<5} {}", harmless(line))?;
            }
        }
        turn.stderr.lines().try_for_each(|line| writeln!(out, "  {}", screen.dim(&harmless(line))))?;
    } else if !turn.same {
        for line in difference(&turn.then, &turn.now) {
            writeln!(out, "  {}", harmless(&line))?;
        }
    }
    for fault in &turn.faults {
        writeln!(out, "  {} {}", screen.bad(fault.kind.word()), harmless(&fault.message))?;
        // In full, everything it wrote is shown already.
        if !in_full {
            screen::quote(out, screen, &fault.stderr)?;
        }
    }
    Ok(())
}
