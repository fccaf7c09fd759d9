//! The part of a match that belongs to one seat alone: taken from the replay, bounded, and without this machine's
//! paths.

use std::path::{Path, PathBuf};

use agon_api::TriedInPosition;
use agon_bot::excerpt::Excerpt;
use agon_game::Seat;
use agon_match::MatchRecord;
use agon_replay::{Replay, SeatNote};

use crate::protocol::{MOST_PRIVATE, Private, ToldFault};

/// Longest single note, in bytes; its end is kept.
const LONGEST: usize = 16 << 10;

/// What belongs to the program of `seat`, whose files are in `folder`.
pub fn of(record: &MatchRecord, replay: &Replay, seat: Seat, folder: &Path) -> Private {
    let tell = |fault: &agon_match::Fault| ToldFault {
        step: fault.step,
        turn: fault.turn.clone(),
        kind: fault.kind.word().to_owned(),
        breaks: fault.kind.breaks(),
        what: without(fault.happened(), folder),
        fix: fault.fix().map(|fix| without(fix, folder)),
    };
    let faults: Vec<ToldFault> = record.faults_of(seat).map(tell).collect();
    let all = replay.notes.get(&seat).map_or(&[][..], Vec::as_slice);
    let mut own = Private { faults, ..Private::default() };
    let mut left = MOST_PRIVATE.saturating_sub(size(&own) + 64);
    for note in all.iter().rev() {
        let note = SeatNote { text: without(&excerpt(&note.text), folder), ..note.clone() };
        match left.checked_sub(size(&note) + 1) {
            Some(rest) => left = rest,
            None => break,
        }
        own.notes.push(note);
    }
    own.notes.reverse();
    own.left_out = all.len() - own.notes.len();
    own
}

impl Private {
    /// Adds what it did in its team's positions; earlier notes make room for that.
    pub(crate) fn fits_beside(&mut self, tried: Vec<TriedInPosition>, folder: &Option<PathBuf>) {
        let told = |text: Option<String>| match folder {
            Some(folder) => text.map(|text| without(&text, folder)),
            None => text,
        };
        let tried = tried.into_iter().map(|one| TriedInPosition { why: told(one.why.clone()), ..one });
        self.positions = tried.collect();
        while size(self) > MOST_PRIVATE && !self.notes.is_empty() {
            let gone = self.notes.len().div_ceil(4);
            self.notes.drain(..gone);
            self.left_out += gone;
        }
    }
}

/// Size as JSON, in bytes.
fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 2, |json| json.len())
}

/// The beginning and the end of a long text.
fn excerpt(text: &str) -> String {
    match text.len() > LONGEST {
        true => String::from_utf8_lossy(&Excerpt::of(text.as_bytes(), LONGEST).text()).into_owned(),
        false => text.to_owned(),
    }
}

/// A text that may name a bot's files, with their names as the bot's author knows them.
pub fn without(text: &str, folder: &Path) -> String {
    let place = folder.to_string_lossy();
    if place.is_empty() || place == "/" {
        return text.to_owned();
    }
    text.replace(&format!("bot `{place}`: "), "").replace(&format!("{place}/"), "").replace(&*place, ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_their_author_knows_them() {
        let folder = Path::new("/srv/cup/bots/ab12/bot");
        let told = |text: &str| without(text, folder);
        assert_eq!(
            told("File \"/srv/cup/bots/ab12/bot/lib/plan.py\", line 3"),
            "File \"lib/plan.py\", line 3"
        );
        assert_eq!(told("bot `/srv/cup/bots/ab12/bot`: the folder holds"), "the folder holds");
        assert_eq!(told("cd /srv/cup/bots/ab12/bot"), "cd .");
        assert_eq!(without("/a/b", Path::new("/")), "/a/b");
    }

    #[test]
    fn of_a_long_text_the_beginning_and_the_end_are_kept() {
        let text = format!("the beginning{}the end", "ü".repeat(LONGEST));
        let kept = excerpt(&text);
        assert!(kept.len() <= LONGEST + 100, "{}", kept.len());
        assert!(kept.starts_with("the beginning") && kept.ends_with("the end"));
        assert_eq!(excerpt("short"), "short");
    }
}
