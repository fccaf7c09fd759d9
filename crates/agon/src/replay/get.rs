//! `agon replay get`: downloads replays of a contest.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_api::{LARGEST_REPLAY, Match, Matches, Me};
use agon_bot::advised::NextCommand;
use agon_bot::rights;
use agon_replay::Replay;
use clap::Args;

use crate::common::bar::Bar;
use crate::common::online::{Online, OnlineOptions, Trouble};
use crate::common::{self, Done, Failure};
use crate::replay::json;

/// Examples for the help.
pub const EXAMPLES: &str = "A contest's replay holds nothing that is private to one bot: `agon logs --match N` shows what yours wrote. Replays that are
already there are not fetched again, so the same command resumes where it was stopped. It uses half of the requests that a contest lets an
account make; the rest is for your own pages and commands.

Examples:
  agon replay get 1042                     match-1042.replay in ./agon-replays
  agon replay get --all --since 2d -o new  all matches of your team of the last two days
  agon replay get --all --since 1042       all after match 1042";

/// Options of `agon replay get`.
#[derive(Args, Debug)]
pub struct GetOptions {
    /// The matches, by their numbers
    #[arg(value_name = "MATCH", required_unless_present = "all", conflicts_with = "all")]
    pub matches: Vec<i64>,
    /// All matches of your own team
    #[arg(long)]
    pub all: bool,
    /// Only those after a match (its number), or from the last hours or days (12h, 2d)
    #[arg(long, value_name = "WHEN", value_parser = since, requires = "all")]
    pub since: Option<Since>,
    /// The folder for the files
    #[arg(long, short, value_name = "DIR", default_value = "agon-replays")]
    pub output: PathBuf,
    #[command(flatten)]
    pub online: OnlineOptions,
    /// Lists the files as JSON
    #[arg(long)]
    pub json: bool,
}

/// The start of the wanted matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// After this match.
    Match(i64),
    /// From this many milliseconds ago until now.
    Ms(i64),
}

fn since(text: &str) -> Result<Since, String> {
    let of = |unit: char, ms: i64| {
        let number =
            text.strip_suffix(unit)?.parse::<i64>().ok().filter(|number| (1..=10_000).contains(number))?;
        Some(Since::Ms(number * ms))
    };
    let hours = || of('h', 3_600_000);
    let days = || of('d', 86_400_000);
    let number = || text.parse().ok().filter(|number: &i64| *number >= 0).map(Since::Match);
    hours()
        .or_else(days)
        .or_else(number)
        .ok_or_else(|| "write the number of a match, or 12h, or 2d".to_owned())
}

impl Since {
    fn takes(self, game: &Match, now: i64) -> bool {
        match self {
            Self::Match(after) => game.id > after,
            Self::Ms(ms) => game.planned >= now - ms,
        }
    }
}

/// Runs `agon replay get`.
pub fn run(options: &GetOptions) -> Done {
    let online = options.online.connect()?;
    let calls = Calls { online: &online, bar: Bar::new(!options.json), said: Cell::new(false) };
    let stop = common::stop_on_ctrl_c();
    let wanted = match options.all {
        true => all(&calls, options.since)?,
        false => options.matches.clone(),
    };
    fs::create_dir_all(&options.output)
        .map_err(|error| Failure::own(format!("{}: {error}", options.output.display())))?;
    let all = wanted.len();
    let missing: Vec<(i64, PathBuf)> = wanted
        .into_iter()
        .map(|id| (id, options.output.join(format!("match-{id}.replay"))))
        .filter(|(_, path)| !path.is_file())
        .collect();
    let (there, rest) = (all - missing.len(), missing.len() as u64);
    let mut written = Vec::new();
    for (done, (id, path)) in (0..).zip(missing) {
        calls.bar.show(done, Some(rest), format!("{done} of {rest} replays{}", calls.bar.left(done, rest)));
        let fetched = match stop.load(Ordering::Relaxed) {
            true => Err(stopped()),
            false => calls.fetch(id, &path),
        };
        if let Err(failure) = fetched {
            return Err(failure.with(&kept(written.len(), rest, &options.output)));
        }
        written.push(path.display().to_string());
    }
    drop(calls);
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &json::Fetched { written: &written, there });
    }
    match &written[..] {
        [only] if there == 0 => writeln!(out, "{only}\n  {}", NextCommand::ReplayInfo.about([only]))?,
        _ => {
            let before = if there > 0 { format!(", {there} were already there") } else { String::new() };
            writeln!(out, "{} replays fetched into {}{before}.", written.len(), options.output.display())?;
        }
    }
    Ok(())
}

/// What was fetched before it failed stays.
fn kept(written: usize, of: u64, folder: &Path) -> String {
    match written {
        0 => String::new(),
        written => format!(
            ". {written} of {of} replays were fetched into {} and stay there; the same command resumes",
            folder.display()
        ),
    }
}

fn stopped() -> Failure {
    Failure::own("stopped")
}

/// Many requests to one contest.
struct Calls<'a> {
    online: &'a Online,
    bar: Bar,
    /// Whether it was said why it waits.
    said: Cell<bool>,
}

impl Calls<'_> {
    /// Asks when it is this program's turn.
    fn ask<T>(&self, ask: impl Fn(&Online) -> Result<T, Trouble>) -> Result<T, Failure> {
        self.online.paced(|wait| self.rest(wait), ask).map_err(|trouble| match trouble {
            Some(trouble) if !common::stop_on_ctrl_c().load(Ordering::Relaxed) => trouble.into(),
            _ => stopped(),
        })
    }

    /// Waits; false if the user does not want to.
    fn rest(&self, wait: Duration) -> bool {
        if wait > Duration::from_secs(2) && !self.said.replace(true) {
            self.bar.above(|| {
                eprintln!(
                    "Waits {} s now and then: the contest limits what an account may ask for.",
                    wait.as_secs() + 1
                );
            });
        }
        let (stop, end) = (common::stop_on_ctrl_c(), Instant::now() + wait);
        while Instant::now() < end {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// Fetches one file: whole, or not at all.
    fn fetch(&self, id: i64, path: &Path) -> Done {
        let bytes = self.ask(|online| online.fetch(&format!("/matches/{id}/replay"), &[], LARGEST_REPLAY))?;
        Replay::read(&bytes).map_err(|error| {
            Failure::own(format!("match {id}: what came is not a replay: {error}; nothing was written"))
        })?;
        let part = path.with_extension("part");
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
        let written = rights::write_private(&part, &bytes).and_then(|()| fs::rename(&part, path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written.map_err(failed)
    }
}

/// The matches of the user's team whose replays are available, newest first.
fn all(calls: &Calls<'_>, since: Option<Since>) -> Result<Vec<i64>, Failure> {
    let me: Me = calls.ask(|online| online.get("/me", &[]))?;
    let Some(team) = me.team else { return Ok(Vec::new()) };
    let now = common::now_ms();
    let (mut found, mut before) = (Vec::new(), None::<i64>);
    loop {
        let mut query = vec![("team", team.id.to_string())];
        query.extend(before.map(|before| ("before", before.to_string())));
        let page: Matches = calls.ask(|online| online.get("/matches", &query))?;
        let total = page.matches.len();
        let wanted = page.matches.iter().filter(|game| since.is_none_or(|since| since.takes(game, now)));
        let kept = wanted.clone().count();
        found.extend(wanted.filter(|game| game.has_replay).map(|game| game.id));
        match page.next {
            // Each page must lead further, whatever the server answers.
            Some(next) if kept == total && total > 0 && before.is_none_or(|before| next < before) => {
                before = Some(next)
            }
            _ => return Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_when_is_a_match_or_a_time() {
        assert_eq!(since("1042"), Ok(Since::Match(1042)));
        assert_eq!(since("12h"), Ok(Since::Ms(43_200_000)));
        assert_eq!(since("2d"), Ok(Since::Ms(172_800_000)));
        for wrong in ["", "yesterday", "-1", "0d", "99999999999d", "2w"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
