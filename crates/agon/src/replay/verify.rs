//! `agon replay verify`: is a replay what it claims to be?

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_desk::replays::{OriginalRecord, load, open};
use agon_replay::Replay;

use crate::common::screen::{self, Screen, harmless};
use crate::common::{self, Done, Failure};
use crate::replay::json::{Verified, Word};

/// The result of verifying.
pub(crate) enum Finding {
    /// The match is what the replay claims.
    Good,
    /// Good, but cut off.
    Cut,
    /// Our engine disagrees with a record of the original: where first.
    Differs(String),
    /// The replay is wrong from this step on, for this reason.
    Broken(usize, String),
    /// It cannot be read, or this program cannot compute it: why.
    Unreadable(String),
}

/// Recomputes a replay.
pub fn check(replay: &Replay) -> Result<Finding, Failure> {
    let mut session = open(replay)?;
    if let Some((step, seat)) = replay.wrong_charge() {
        let why = format!("seat {seat}: its thinking time does not follow from what was counted");
        return Ok(Finding::Broken(step as usize, why));
    }
    for number in 0..replay.steps.len() {
        if let Err(why) = replay.play_step(number, session.as_mut()) {
            return Ok(Finding::Broken(number, why));
        }
    }
    if replay.end.is_none() {
        return Ok(Finding::Cut);
    }
    let (state, outcome) = (session.hash(), session.outcome());
    let wrong = replay.wrong_end(state, outcome);
    Ok(wrong.map_or(Finding::Good, |why| Finding::Broken(replay.steps.len(), format!("end: {why}"))))
}

/// The finding for a replay of an original, from comparing our engine with it.
fn against_record(imported: &OriginalRecord) -> Finding {
    match imported.first_difference() {
        None => Finding::Good,
        Some(first) => Finding::Differs(first),
    }
}

impl Finding {
    /// The word for the finding.
    fn word(&self) -> Word {
        match self {
            Self::Good => Word::Verified,
            Self::Cut => Word::CutOff,
            Self::Differs(_) => Word::Differs,
            Self::Broken(..) => Word::Altered,
            Self::Unreadable(_) => Word::Unreadable,
        }
    }

    /// The sentence about a replay of this many steps.
    fn text(&self, steps: usize) -> String {
        match self {
            Self::Good if steps == 1 => "1 step".to_owned(),
            Self::Good => format!("{steps} steps"),
            Self::Cut if steps == 1 => "the first step is verified, the end is missing".to_owned(),
            Self::Cut => format!("the first {steps} steps are verified, the end is missing"),
            Self::Broken(step, why) => format!("breaks at step {} of {steps}: {why}", step + 1),
            Self::Differs(why) | Self::Unreadable(why) => why.clone(),
        }
    }
}

/// The finding for one file, and its number of steps.
fn judge(file: &Path) -> Result<(Finding, usize), Failure> {
    let (replay, imported) = load(file)?;
    let finding = match imported {
        None => check(&replay)?,
        Some(imported) => against_record(&imported),
    };
    Ok((finding, replay.steps.len()))
}

/// Runs `agon replay verify`. When one of several files cannot be read, the others are still checked.
pub fn run(files: &[PathBuf], as_json: bool) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let mut findings = Vec::new();
    // By word, the good ones first.
    let mut counts: Vec<(Word, usize)> = vec![(Word::Verified, 0)];
    for file in files {
        let (finding, steps) = match judge(file) {
            Ok(judged) => judged,
            Err(failure) if files.len() == 1 => return Err(failure),
            Err(failure) => {
                let Some(why) = failure.message() else { return Err(failure) };
                // The message begins with the file's name, which is printed already.
                let name = format!("{}: ", file.display());
                (Finding::Unreadable(why.strip_prefix(&name).unwrap_or(why).to_owned()), 0)
            }
        };
        let (word, text) = (finding.word(), finding.text(steps));
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
        if as_json {
            findings.push(Verified { file, finding: word, text, steps });
        } else {
            let paint = if word == Word::Verified { Screen::good } else { Screen::bad };
            let word = paint(screen, word.text());
            writeln!(out, "{}: {word}: {}", harmless(&file.display().to_string()), harmless(&text))?;
        }
    }
    if as_json {
        common::print_json_line(&mut out, &findings)?;
    } else if files.len() > 1 {
        let counts: Vec<String> =
            counts.iter().map(|(word, count)| format!("{count} {}", word.text())).collect();
        writeln!(out, "\n{} files: {}", files.len(), counts.join(", "))?;
    }
    if counts[0].1 == files.len() { Ok(()) } else { Err(Failure::Check) }
}
