//! Matches: those of the ladder, and those that teams ask for.

use serde::{Deserialize, Serialize};

use crate::version::Cause;
use crate::{Moment, words};

/// Which matches to find.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MatchQuery {
    /// Those in which the team with this number sat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<i64>,
    /// Those in which this team sat as well: with `team` or `version`, the matches of the two against each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<i64>,
    /// Those in which the version with this number sat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Those that ended for this reason, in the game's words, as in `reason` of a match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How they ended for that team or version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Those in which that team's or version's program did something wrong.
    #[serde(default)]
    pub faults: bool,
    /// Those on this map, by its number from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The cursor: matches with smaller numbers than this. It is `next` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

words! {
    /// How a match ended for a team or version.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    Ended {
        /// First alone.
        Won = "won",
        /// First with others.
        Drawn = "drawn",
        /// Somebody else was first.
        Lost = "lost",
    }
}

impl Ended {
    /// The result of this rank, where this many seats are first.
    pub fn with(rank: i64, firsts: usize) -> Self {
        match (rank, firsts) {
            (1, 1) => Self::Won,
            (1, _) => Self::Drawn,
            _ => Self::Lost,
        }
    }
}

/// A page of matches, the newest first: at most 50.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Matches {
    /// The matches.
    pub matches: Vec<Match>,
    /// The value of `before` for the next page; null on the last.
    pub next: Option<i64>,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Match {
    /// Its number, for requests about it.
    pub id: i64,
    /// What it is played for.
    pub kind: Kind,
    /// Its state.
    pub state: MatchState,
    /// The number of its map, from 1.
    pub map: u32,
    /// Its seed.
    pub seed: String,
    /// The name of that map: the contest's own, or the one that the seed makes or picks.
    pub map_name: String,
    /// What its rules have that the contest's have not, `startingHP 10000 (usually 30)`; null if they are the contest's. Only drafts are
    /// played by other rules.
    #[serde(default)]
    pub rules_changed: Option<String>,
    /// When it was planned.
    pub planned: Moment,
    /// When its result was accepted.
    pub settled: Option<Moment>,
    /// Why it ended, in the game's words.
    pub reason: Option<String>,
    /// The number of steps played.
    pub steps: Option<u32>,
    /// Whether its replay is available.
    pub has_replay: bool,
    /// The number of attempts that failed through the contest's own fault.
    pub void_tries: i64,
    /// Who sat where.
    pub seats: Vec<SeatOutcome>,
}

/// What a match is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// May this version go live?
    Check,
    /// Somebody tries out a bot without making a version.
    Draft,
    /// Somebody wants to see it.
    Challenge,
    /// Is this version better than the one before?
    Promotion,
    /// The ladder: the only kind that is rated.
    Ladder,
}

words! {
    /// The state of a match.
    #[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
    MatchState {
        /// It waits for its turn.
        Planned = "planned",
        /// It is being played.
        Leased = "leased",
        /// It was played, and will be recomputed before it counts.
        Posted = "posted",
        /// It is over.
        Valid = "valid",
        /// It was given up: three attempts failed, or a bot cannot be prepared.
        Dead = "dead",
    }
}

impl MatchState {
    /// Whether its state is final.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Valid | Self::Dead)
    }
}

/// A seat of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SeatOutcome {
    /// The team.
    pub team: i64,
    /// Its name.
    pub name: String,
    /// Whether it is one of the contest's own bots.
    pub boss: bool,
    /// The version that sat there.
    pub version: i64,
    /// Its number among those of the team; below 0 for a draft.
    pub n: i64,
    /// Its rank, the lowest being the best; null before the end.
    pub rank: Option<i64>,
    /// The score.
    pub score: Option<f64>,
    /// What its program did wrong; for other teams' bots only the kind.
    pub fault: Option<String>,
    /// Its longest answer, in milliseconds.
    pub max_ms: Option<f64>,
}

impl SeatOutcome {
    /// What it is called in a result: a built-in bot by its name, a team's bot with its version, as `Ann v3`; `Ann (draft)` is none.
    pub fn called(&self) -> String {
        match (self.boss, self.n) {
            (true, _) => self.name.clone(),
            (false, ..1) => format!("{} (draft)", self.name),
            (false, n) => format!("{} v{n}", self.name),
        }
    }
}

/// From whose point of view results are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewpoint {
    /// A team, by its number.
    Team(i64),
    /// A version, by its number: one team may have two of its versions in a match.
    Version(i64),
}

/// A match as seen from one of its seats. Who won, whose fault it was and who the others are is told by this type alone, so
/// that nothing of another seat can be taken for it.
#[derive(Clone, Copy, Debug)]
pub struct SeatView<'a> {
    seats: &'a [SeatOutcome],
    own: usize,
}

impl<'a> SeatView<'a> {
    /// The seat of a team or version. None if it has none, or several: then the match was won and lost by the same.
    pub fn of(seats: &'a [SeatOutcome], viewpoint: Viewpoint) -> Option<Self> {
        let is_own = |seat: &SeatOutcome| match viewpoint {
            Viewpoint::Team(team) => seat.team == team,
            Viewpoint::Version(version) => seat.version == version,
        };
        let mut own = seats.iter().enumerate().filter(|(_, seat)| is_own(seat)).map(|(number, _)| number);
        match (own.next(), own.next()) {
            (Some(own), None) => Some(Self { seats, own }),
            _ => None,
        }
    }

    /// The seat with this number, from 1.
    pub fn at(seats: &'a [SeatOutcome], number: u32) -> Option<Self> {
        let own = (number as usize).checked_sub(1).filter(|own| *own < seats.len())?;
        Some(Self { seats, own })
    }

    /// Its number, from 1.
    pub fn number(self) -> usize {
        self.own + 1
    }

    /// What became of it.
    pub fn own(self) -> &'a SeatOutcome {
        &self.seats[self.own]
    }

    /// The other seats.
    pub fn others(self) -> impl Iterator<Item = &'a SeatOutcome> {
        self.seats.iter().enumerate().filter(move |(number, _)| *number != self.own).map(|(_, seat)| seat)
    }

    /// How the match ended for it; none before the end.
    pub fn ended(self) -> Option<Ended> {
        let firsts = self.seats.iter().filter(|other| other.rank == Some(1)).count();
        Some(Ended::with(self.own().rank?, firsts))
    }
}

/// Why a match ended, as seen from a seat, from 1: `player 2 has no unit left` is `its opponent has no unit left` for seat 1.
pub fn reason_seen_from(seat: usize, seats: usize, reason: &str) -> String {
    const NAMED: &str = "player ";
    let (mut told, mut rest) = (String::new(), reason);
    while let Some(at) = rest.find(NAMED) {
        let (before, named) = (&rest[..at], &rest[at + NAMED.len()..]);
        let digits = named.bytes().take_while(u8::is_ascii_digit).count();
        let is_word = !before.ends_with(char::is_alphanumeric);
        let player =
            named[..digits].parse::<usize>().ok().filter(|player| is_word && (1..=seats).contains(player));
        told.push_str(before);
        match player {
            Some(player) if player == seat => told.push_str("it"),
            Some(_) if seats == 2 => told.push_str("its opponent"),
            Some(_) => told.push_str("an opponent"),
            None => told.push_str(&rest[at..at + NAMED.len() + digits]),
        }
        rest = &named[digits..];
    }
    told + rest
}

/// The part of a match that belongs to one's own team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Own {
    /// Each seat of the team.
    pub seats: Vec<OwnSeat>,
}

/// The part of a match that belongs to the owner of a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct OwnSeat {
    /// The seat, from 1.
    pub seat: u32,
    /// What the program did wrong, in order.
    pub faults: Vec<Told>,
    /// What it wrote, in order: the last 256 KiB.
    pub notes: Vec<Note>,
    /// How many of the first notes were left out.
    pub left_out: u64,
}

/// What a program did wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Told {
    /// The step, from 1.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// The kind of fault, in words.
    pub kind: String,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// What a program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Note {
    /// The step, from 1.
    pub step: u32,
    /// What it is: `stderr`, or `raw` for an answer as it was sent.
    pub kind: String,
    /// The text.
    pub text: String,
}

/// The query of a draft; the body is the file as it is. The match is not rated, and no version is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DraftQuery {
    /// The file's name. For a single file its ending says the language: `bot.py`.
    pub name: String,
    /// The team whose live bot it meets, by name; by default the one next above on the ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A version to meet instead: one that is live, or one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_version: Option<i64>,
    /// The map, from 1; by default the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The seed; by default a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The seat it takes, from 1; by default the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
}

/// A requested match: one's own version against a live bot, or against another of one's own. It is not rated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// One's own version; by default the live one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The team whose live bot it meets, by name; by default the one next above on the ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A version to meet instead: one that is live, or one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_version: Option<i64>,
    /// The map, from 1; by default the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The seed, a 64-bit integer; by default a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The seat it takes, from 1; by default the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
}

/// A match that a team asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Asked {
    /// The match.
    #[serde(rename = "match")]
    pub game: Match,
    /// Why it failed, if it did.
    pub cause: Option<Cause>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(team: i64, version: i64, rank: Option<i64>) -> SeatOutcome {
        SeatOutcome {
            team,
            name: format!("team {team}"),
            boss: false,
            version,
            n: version,
            rank,
            score: None,
            fault: None,
            max_ms: None,
        }
    }

    #[test]
    fn a_result_is_that_of_the_version_and_not_of_the_teams_first_seat() {
        // The third version of team 7 lost to the second in the second seat.
        let seats = [seat(7, 2, Some(1)), seat(7, 3, Some(2))];
        let seen = |viewpoint| SeatView::of(&seats, viewpoint);
        let third = seen(Viewpoint::Version(3)).unwrap();
        assert_eq!((third.ended(), third.number()), (Some(Ended::Lost), 2));
        assert_eq!(third.others().map(|seat| seat.version).collect::<Vec<_>>(), [2]);
        assert_eq!(seen(Viewpoint::Version(2)).unwrap().ended(), Some(Ended::Won));
        assert!(seen(Viewpoint::Team(7)).is_none(), "it won and lost");
        assert!(seen(Viewpoint::Team(8)).is_none() && SeatView::at(&seats, 3).is_none());
        assert_eq!(SeatView::at(&seats, 2).unwrap().own().version, 3);
        let drawn = [seat(1, 1, Some(1)), seat(2, 4, Some(1)), seat(3, 5, None)];
        assert_eq!(SeatView::of(&drawn, Viewpoint::Team(2)).unwrap().ended(), Some(Ended::Drawn));
        assert_eq!(SeatView::of(&drawn, Viewpoint::Team(3)).unwrap().ended(), None);
    }

    #[test]
    fn a_reason_names_players_as_the_reader_does() {
        let seen = |seat, seats, reason| reason_seen_from(seat, seats, reason);
        assert_eq!(seen(1, 2, "player 1 has no unit left"), "it has no unit left");
        assert_eq!(seen(2, 2, "player 1 has no unit left"), "its opponent has no unit left");
        assert_eq!(
            seen(2, 2, "player 1 crashed and player 2 crashed"),
            "its opponent crashed and it crashed"
        );
        assert_eq!(seen(3, 4, "player 1 left"), "an opponent left");
        for unchanged in ["no health left", "multiplayer 1 ends", "player 12 left", "player x", "player "] {
            assert_eq!(seen(1, 2, unchanged), unchanged);
        }
    }
}
