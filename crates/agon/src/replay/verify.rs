//! `agon replay verify`: is a replay what it says?

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_replay::Replay;

use crate::common::screen::{self, Screen, harmless};
use crate::common::{self, Done, Failure};
use crate::replay::import::Imported;
use crate::replay::json::{Verified, Word};
use crate::replay::{load, open};

/// What verifying found.
pub enum Finding {
    /// The match is what the replay says.
    Good,
    /// Good as far as it goes.
    Cut,
    /// Our engine does not do what a record of the original says: where first.
    Differs(String),
    /// From this step on it is not, for this reason.
    Broken(usize, String),
    /// It cannot be read, or not be computed by this program: why.
    Unreadable(String),
}

/// Computes a replay again.
pub fn check(replay: &Replay) -> Result<Finding, Failure> {
    let mut session = open(replay)?;
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

/// What a replay of an original says about our engine.
fn against_record(imported: &Imported) -> Finding {
    match imported.first_difference() {
        None => Finding::Good,
        Some(first) => Finding::Differs(first),
    }
}

impl Finding {
    /// The word for it.
    fn word(&self) -> Word {
        match self {
            Self::Good => Word::Verified,
            Self::Cut => Word::CutOff,
            Self::Differs(_) => Word::Differs,
            Self::Broken(..) => Word::Altered,
            Self::Unreadable(_) => Word::Unreadable,
        }
    }

    /// What there is to say of a replay of so many steps.
    fn text(&self, steps: usize) -> String {
        match self {
            Self::Good => format!("{steps} steps"),
            Self::Cut => format!("the first {steps} steps are verified, the end is missing"),
            Self::Broken(step, why) => format!("breaks at step {} of {steps}: {why}", step + 1),
            Self::Differs(why) | Self::Unreadable(why) => why.clone(),
        }
    }
}

/// What is to be said of one file, and how many steps it holds.
fn judge(file: &Path) -> Result<(Finding, usize), Failure> {
    let (replay, imported) = load(file)?;
    let finding = match imported {
        None => check(&replay)?,
        Some(imported) => against_record(&imported),
    };
    Ok((finding, replay.steps.len()))
}

/// Runs `agon replay verify`. One of several files that cannot be read keeps none of the others from being
/// looked at.
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
            Err(Failure::Usage(why) | Failure::Own(why)) => {
                // It begins with the name of the file, which stands before it already.
                let name = format!("{}: ", file.display());
                (Finding::Unreadable(why.strip_prefix(&name).unwrap_or(&why).to_owned()), 0)
            }
            Err(failure) => return Err(failure),
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
