//! The part of a match that belongs to one seat alone: taken from the replay, bounded, and without this machine's
//! paths.

use std::path::Path;

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
        let note = SeatNote { text: without(end(&note.text), folder), ..note.clone() };
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

/// Size as JSON, in bytes.
fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 2, |json| json.len())
}

/// The end of a long text.
fn end(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST);
    &text[text.ceil_char_boundary(start)..]
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
    fn of_a_long_text_the_end_is_kept() {
        let text = format!("{}the end", "ü".repeat(LONGEST));
        assert!(end(&text).len() <= LONGEST && end(&text).ends_with("the end"));
    }
}
