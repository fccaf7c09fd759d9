//! `agon why`: what goes with the losses of a bot, from the journal of a series.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::advised::NextCommand;
use agon_contest::{JournalHeader, SeriesKind};
use agon_desk::DeskError;
use agon_desk::losses::{GroupedLoss, LossGroup, Losses};
use agon_web::api::{CauseSort, Causes, GroupOfLosses, LostMatch};
use clap::Args;

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, harmless};
use crate::common::{self, Done};

/// Examples for the help.
pub const EXAMPLES: &str = "Each sentence names something that is more common among a bot's losses than among its other matches: map, seat and opponent,
faults, endings, and, if replays of all matches were kept, when it was decided and what the bot was behind in. Only
what is beyond noise is named, given everything that was tried (agon docs statistics). A match counts as lost if
another bot finished ahead of it.

Examples:
  agon why agon-series/cultist-wars-gauntlet-1
  agon why agon-series/cultist-wars-gauntlet-1 --json
  agon why agon-series/deerhunt-tournament-2 --bot alice
  agon gauntlet deerhunt . builtin:rusher -n 400 --replays all      keeps all replays, so that it can also say when matches were decided";

/// Options of `agon why`.
#[derive(Args, Debug)]
pub struct WhyOptions {
    /// The journal, or the folder of the series
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
    /// The bot whose losses to explain, by its label [default: the first of the series]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// Prints the result as JSON, each group with all of its matches
    #[arg(long)]
    pub json: bool,
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
    let path = &options.journal;
    let path = if path.is_dir() { path.join(JOURNAL) } else { path.clone() };
    let losses = Losses::of(&path, |header| about(header, options.bot.as_deref()))?;
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
    if !losses.notes.is_empty() {
        writeln!(out)?;
    }
    losses.notes.iter().try_for_each(|note| writeln!(out, "{}", screen::folded(&format!("{note}."))))?;
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
