//! `agon replay keep`: makes a turn of a match a test of a bot, for `agon test`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_desk::kept::{BotTest, FOLDER, WantedAnswer, WantedLater};
use clap::Args;

use crate::common::screen::harmless;
use crate::common::{self, Done, Failure};
use crate::replay::json;

/// Examples for the help.
pub const EXAMPLES: &str = "The test goes to tests/NAME.toml in the bot's folder, with a copy of the replay beside it; `agon test` runs it. Without an
expectation, any answer passes except the one that was given then.

Examples:
  agon replay keep lost.replay --seat 2 --turn 17                            anything but what it did at turn 17
  agon replay keep lost.replay --seat 2 --turn 17 --is '3 SHOOT 5'           this, and nothing else
  agon replay keep lost.replay --seat 2 --turn 17 --later 20 --advantage 0.5 ahead again after 20 turns
  agon test";

/// Options of `agon replay keep`.
#[derive(Args, Debug)]
pub struct KeepOptions {
    /// The replay
    pub file: PathBuf,
    /// The seat that the bot takes
    #[arg(long, value_name = "N")]
    pub seat: u8,
    /// The turn, counted as in `agon replay show`
    #[arg(long, short, value_name = "T")]
    pub turn: u32,
    /// The bot must give this answer; if repeated, one of these answers
    #[arg(long, value_name = "ANSWER", allow_hyphen_values = true)]
    pub is: Vec<String>,
    /// The bot must not give this answer; if repeated, none of these answers
    #[arg(long, value_name = "ANSWER", allow_hyphen_values = true)]
    pub is_not: Vec<String>,
    /// The bot's answer must keep at least this chance of finishing first, from 0 to 1, as the game's judge plays on from it
    #[arg(long, value_name = "P")]
    pub keeps: Option<f64>,
    /// Plays on for this many turns; with --score or --advantage
    #[arg(long, value_name = "TURNS")]
    pub later: Option<u32>,
    /// The bot's score must be at least this by then
    #[arg(long, value_name = "X", requires = "later", allow_hyphen_values = true)]
    pub score: Option<f64>,
    /// The bot's chance of finishing first must be at least this by then, from 0 to 1
    #[arg(long, value_name = "P", requires = "later")]
    pub advantage: Option<f64>,
    /// The bots of the other seats from then on, in order [default: those of the replay]
    #[arg(long, value_name = "BOT", requires = "later")]
    pub against: Vec<String>,
    /// The name of the test [default: that of the replay, with the turn]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The folder of the bot
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub bot: PathBuf,
    /// Prints what was made as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon replay keep`.
pub fn keep(options: &KeepOptions) -> Done {
    if !options.bot.is_dir() {
        return Err(Failure::usage(format!("--bot {}: no such folder", options.bot.display())));
    }
    if options.later == Some(0) {
        return Err(Failure::usage("--later 0: at least one more turn is played, as with --later 20"));
    }
    if options.later.is_some() && options.score.is_none() && options.advantage.is_none() {
        return Err(Failure::usage("--later needs something to expect: add --score X or --advantage P"));
    }
    let (is, is_not, keeps) = (options.is.clone(), options.is_not.clone(), options.keeps);
    let answer = WantedAnswer { is, is_not, keeps };
    let later = options.later.map(|turns| WantedLater {
        turns,
        score: options.score,
        advantage: options.advantage,
        against: options.against.clone(),
    });
    let test = BotTest {
        replay: PathBuf::new(),
        seat: options.seat,
        turn: options.turn,
        answer: Some(answer).filter(|answer| *answer != WantedAnswer::default()),
        later,
    };
    let file = test.write(&options.file, &options.bot.join(FOLDER), &name(options)?)?;
    if options.json {
        return common::print_json(&mut io::stdout(), &json::KeptTest { file: &file });
    }
    writeln!(io::stdout(), "{}", file.display())?;
    Ok(())
}

/// The name of a test, made safe as a file name on any system.
fn name(options: &KeepOptions) -> Result<String, Failure> {
    let stem =
        || options.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let usual = || format!("{}-turn{}", stem(), options.turn);
    let is_good = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    match &options.name {
        None => Ok(usual().chars().map(|sign| if is_good(sign) { sign } else { '-' }).take(100).collect()),
        Some(name)
            if name.is_empty() || name.len() > 100 || !name.chars().all(is_good) || name.starts_with('.') =>
        {
            Err(Failure::usage(format!(
                "--name {}: a name has up to 100 letters, digits and - _ .",
                harmless(name)
            )))
        }
        Some(name) => Ok(name.clone()),
    }
}
