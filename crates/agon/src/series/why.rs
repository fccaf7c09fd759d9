//! `agon why`: what goes with the losses of a bot, from the journal of a series or of a team in a contest, and what they teach.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_api::TeamLosses;
use agon_bot::advised::NextCommand;
use agon_contest::{JournalHeader, SeriesKind};
use agon_desk::analysed::Estimated;
use agon_desk::losses::{GroupedLoss, LossGroup, Losses};
use agon_desk::{DeskError, lesson};
use agon_web::api::{CauseSort, Causes, GroupOfLosses, LostMatch};
use clap::Args;

use crate::common::folders::JOURNAL;
use crate::common::online::OnlineOptions;
use crate::common::screen::{self, harmless};
use crate::common::{self, Done};

/// Examples for the help.
pub const EXAMPLES: &str = "Each sentence names something that is more common among a bot's losses than among its other matches: map, seat and opponent,
faults, endings, and, if replays of all matches were kept, when it was decided and what the bot was behind in. Only
what is beyond noise is named, given everything that was tried (agon docs statistics). Where nothing stands out, the
usual course of won, drawn and lost matches is told, without a claim. A match counts as lost if another bot finished
ahead of it. With --puzzles each lost match is searched for the one order in whose place another would have kept at
least 15 points more chance, by 200 play-outs after each.

Examples:
  agon why agon-series/cultist-wars-gauntlet-1
  agon why agon-series/cultist-wars-gauntlet-1 --json
  agon why agon-series/deerhunt-tournament-2 --bot alice
  agon why agon-series/cultist-wars-gauntlet-1 --puzzles 10         what ten of the lost matches teach
  agon why --contest                                                your team's losses on the ladder
  agon gauntlet deerhunt . builtin:rusher -n 400 --replays all      keeps all replays, so that it can also say when matches were decided";

/// Options of `agon why`.
#[derive(Args, Debug)]
pub struct WhyOptions {
    /// The journal, or the folder of the series
    #[arg(value_name = "JOURNAL", required_unless_present = "contest")]
    pub journal: Option<PathBuf>,
    /// The losses of your team on the ladder of the contest you are logged in to
    #[arg(long, conflicts_with_all = ["journal", "bot", "puzzles"])]
    pub contest: bool,
    /// Searches so many of the lost matches, spread over the series, for the order that lost each
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub puzzles: Option<u16>,
    /// The built-in bot that judges the orders of puzzles, with its options [default: the strongest quick one]
    #[arg(long, value_name = "BOT", requires = "puzzles")]
    pub policy: Option<String>,
    /// The bot whose losses to explain, by its label [default: the first of the series]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// Prints the result as JSON, each group with all of its matches
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub online: OnlineOptions,
}

/// How many sentences of each kind are shown, and how many matches below each.
const LISTED: [usize; 2] = [5, 3];

/// The same for a page, for the bot at an index in the header of the journal.
///
/// # Errors
/// When the journal cannot be read or has no such bot.
pub fn for_page(journal: &Path, bot: usize) -> Result<Causes, DeskError> {
    let losses = Losses::of(journal, |header| match bot < header.bots.len() {
        true => Ok(bot),
        false => Err(DeskError::Impossible(format!("this series has no bot {bot}"))),
    })?;
    let lost = |loss: &GroupedLoss| LostMatch {
        block: loss.block,
        game: loss.game,
        step: loss.step,
        fell: loss.fell(),
    };
    let group = |group: &LossGroup| GroupOfLosses {
        sentence: format!("{}.", group.sentence),
        lost: group.matches.iter().map(lost).collect(),
    };
    let sorts = losses.sorts().map(|(heading, groups)| CauseSort {
        heading,
        causes: groups.iter().take(LISTED[0]).map(group).collect(),
    });
    Ok(Causes { heading: losses.heading(), sorts: sorts.into(), notes: losses.notes })
}

/// Runs `agon why`.
pub fn run(options: &WhyOptions) -> Done {
    let Some(path) = &options.journal else { return of_contest(options) };
    let path = if path.is_dir() { path.join(JOURNAL) } else { path.clone() };
    let losses = Losses::of(&path, |header| about(header, options.bot.as_deref()))?;
    if let Some(most) = options.puzzles {
        return puzzles(options, &losses, usize::from(most));
    }
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &losses);
    }
    let screen = screen::output();
    writeln!(out, "{}", screen::folded(&screen.strong(&losses.heading())))?;
    for (heading, groups) in losses.sorts() {
        if !groups.is_empty() {
            writeln!(out, "\n{}", screen.strong(heading))?;
        }
        for group in groups.iter().take(LISTED[0]) {
            writeln!(out, "{}", screen::folded(&format!("  {}.", group.sentence)))?;
            for loss in group.matches.iter().take(LISTED[1]) {
                let place = format!("{}.{}", loss.block, loss.game);
                let fell = loss.fell().map(|fell| screen.dim(&format!("  {fell}"))).unwrap_or_default();
                // Its replay, or the command that plays it again.
                let link = loss.replay.as_ref().map(|replay| NextCommand::Watch.about([replay]));
                writeln!(out, "    {place:<6} {}{fell}", harmless(link.as_ref().unwrap_or(&loss.command)))?;
            }
            if let more @ 1.. = group.matches.len().saturating_sub(LISTED[1]) {
                writeln!(out, "    {}", screen.dim(&format!("and {more} more; --json has all")))?;
            }
        }
    }
    ended(&mut out, &losses.notes, &losses.course_lines())
}

/// Prints what is said below the groups.
fn ended(out: &mut impl io::Write, notes: &[String], course: &[String]) -> Done {
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes.iter().try_for_each(|note| writeln!(out, "{}", screen::folded(&format!("{}.", harmless(note)))))?;
    if !course.is_empty() {
        writeln!(out, "\n{}", screen::output().strong("The usual course"))?;
    }
    course
        .iter()
        .try_for_each(|line| writeln!(out, "{}", screen::folded(&format!("  {}", harmless(line)))))?;
    Ok(())
}

/// The same for the user's team in a contest.
fn of_contest(options: &WhyOptions) -> Done {
    let losses: TeamLosses = options.online.connect()?.get("/losses", &[])?;
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &losses);
    }
    let screen = screen::output();
    writeln!(out, "{}", screen::folded(&screen.strong(&harmless(&losses.heading))))?;
    let mut heading = "";
    for cause in &losses.causes {
        if cause.heading != heading {
            heading = &cause.heading;
            writeln!(out, "\n{}", screen.strong(&harmless(heading)))?;
        }
        writeln!(out, "{}", screen::folded(&format!("  {}.", harmless(&cause.sentence))))?;
        let matches: Vec<String> = cause.matches.iter().take(LISTED[1]).map(i64::to_string).collect();
        writeln!(out, "    {}", screen.dim(&format!("agon replay get {}", matches.join(" "))))?;
    }
    ended(&mut out, &losses.notes, &losses.course)
}

/// Searches lost matches for what lost them.
fn puzzles(options: &WhyOptions, losses: &Losses, most: usize) -> Done {
    let taught = lesson::taught(losses, most, options.policy.as_deref(), common::stop_on_ctrl_c())?;
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &taught);
    }
    let screen = screen::output();
    let found = taught.iter().filter(|one| one.puzzle.is_some()).count();
    let heading = format!("{}: {found} of {} taught something", losses.heading(), taught.len());
    writeln!(out, "{}", screen::folded(&screen.strong(&heading)))?;
    for one in &taught {
        writeln!(out, "\n{}", screen.strong(&format!("{}.{}, seat {}", one.block, one.game, one.seat)))?;
        writeln!(out, "  {}", NextCommand::Watch.about([&one.replay]))?;
        let Some(puzzle) = &one.puzzle else {
            let behind = harmless(&one.behind);
            writeln!(out, "  No single order lost it; behind from {behind} on, by the position's features.")?;
            continue;
        };
        let percent =
            |chance: &Estimated| format!("{:.0} ± {:.0} %", 100.0 * chance.mean, 200.0 * chance.error);
        writeln!(out, "  {}:", harmless(&puzzle.moment))?;
        puzzle.position.iter().try_for_each(|line| writeln!(out, "    {}", harmless(line)))?;
        for (what, order, chance) in [
            ("played", &puzzle.played, &puzzle.played_chance),
            ("better", &puzzle.better, &puzzle.better_chance),
        ] {
            let order = if order.is_empty() { "no order".to_owned() } else { harmless(order) };
            writeln!(out, "  {what}: {order}, which keeps {}", percent(chance))?;
        }
        let futures = puzzle.better_chance.futures;
        writeln!(out, "{}", screen.dim(&format!("  by {futures} play-outs of {} after each", one.policy)))?;
    }
    Ok(())
}

/// The index in the header of the bot to explain.
fn about(header: &JournalHeader, label: Option<&str>) -> Result<usize, DeskError> {
    let labels = || {
        let labels: Vec<&str> = header.bots.iter().take(20).map(|bot| bot.label.as_str()).collect();
        harmless(&labels.join(", "))
    };
    match label {
        Some(label) => header.bots.iter().position(|bot| bot.label == label).ok_or_else(|| {
            DeskError::Impossible(format!("--bot {label}: not in this series; its bots are {}", labels()))
        }),
        None if header.kind == SeriesKind::Tournament => Err(DeskError::Impossible(format!(
            "say which bot to explain with --bot; the bots of this tournament are {}",
            labels()
        ))),
        None => Ok(0),
    }
}
