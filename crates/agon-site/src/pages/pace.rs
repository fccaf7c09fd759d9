//! How many matches are still owed, and when they are played.

use agon_ladder::Policy;
use agon_server::Board;
use agon_store::{ContestId, Store, StoreError, Time, VersionState};

/// What was played lately says most, in milliseconds,
const LATELY: i64 = 10 * 60_000;
/// where it is as much as this.
const ENOUGH: i64 = 20;
/// And else what was played in this time.
const HOUR: i64 = 3_600_000;
/// What was played in less says nothing.
const SHORTEST: i64 = 5_000;

/// About how many rated matches live versions still want.
pub fn owed(policy: &Policy, board: &Board) -> i64 {
    let live = board.versions.iter().filter(|version| version.state == VersionState::Live);
    let matches = live.map(|version| {
        let place = board.table.places.iter().find(|place| place.version == version.id.0);
        place.map_or(0, |place| place.matches)
    });
    policy.owed(matches) as i64
}

/// How fast matches are played: so many in so many milliseconds. From the first of them on, for a contest may be younger than
/// the time that is looked at, and may have been at rest before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    matches: i64,
    ms: i64,
}

impl Pace {
    /// How fast they are played now.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn now(store: &Store, contest: ContestId, now: Time) -> Result<Self, StoreError> {
        let of = |(matches, first): (i64, Option<Time>)| {
            // Between so many lies one time less; a few that came at once say nothing of how fast they come.
            let times = if matches > 1 { matches - 1 } else { matches };
            Self { matches: times, ms: first.map_or(1, |first| (now.0 - first.0).max(SHORTEST)) }
        };
        let lately = of(store.settled_since(contest, Time(now.0 - LATELY)).await?);
        match lately.matches >= ENOUGH {
            true => Ok(lately),
            false => Ok(of(store.settled_since(contest, Time(now.0 - HOUR)).await?)),
        }
    }

    /// So many matches an hour.
    pub fn an_hour(self) -> i64 {
        (self.matches as f64 * HOUR as f64 / self.ms as f64) as i64
    }

    /// How long so many take, in milliseconds; none where nothing is played.
    pub fn needs(self, owed: i64) -> Option<i64> {
        match (owed, self.matches) {
            (0, _) => Some(0),
            (_, 0) => None,
            (owed, matches) => Some((owed as f64 * self.ms as f64 / matches as f64) as i64),
        }
    }
}
