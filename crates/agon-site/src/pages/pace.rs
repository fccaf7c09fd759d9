//! How many matches are still owed, and when they will have been played.

use std::collections::{BTreeMap, BTreeSet};

use agon_ladder::Policy;
use agon_server::Board;
use agon_store::reads::LatelyPlayed;
use agon_store::{ContestStore, StoreError, Time, VersionId, VersionState};

/// How many of the last matches tell how many are played at once.
const LATELY: usize = 60;
/// How many of a version's last matches tell how long its matches take.
const OWN: usize = 20;
/// How many recent matches are searched for those.
const MOST: u32 = 400;
/// How far back matches tell anything, in milliseconds.
const HOUR: i64 = 3_600_000;
/// The longest gap between two matches that counts, in milliseconds: the rest of it is idle time.
const BETWEEN: i64 = 1_000;

/// The matches that live versions still want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// Approximately how many they are in total.
    pub matches: i64,
    /// How many each version still wants; one match may serve several.
    pub wants: BTreeMap<VersionId, u64>,
}

/// What the live versions of a board still want.
pub fn owed(policy: &Policy, board: &Board) -> Owed {
    let live = board.versions.iter().filter(|version| version.state == VersionState::Live);
    let played: BTreeMap<i64, u64> =
        board.table.places.iter().map(|place| (place.version, place.matches)).collect();
    let had: Vec<(VersionId, u64)> =
        live.map(|version| (version.id, played.get(&version.id.0).copied().unwrap_or(0))).collect();
    let wants = had.iter().map(|(version, had)| (*version, u64::from(policy.enough).saturating_sub(*had)));
    Owed {
        matches: policy.owed(had.iter().map(|(_, had)| *had)) as i64,
        wants: wants.filter(|(_, wants)| *wants > 0).collect(),
    }
}

/// How fast the matches owed are played.
///
/// Not from the clock alone: an idle ladder plays nothing, and a slow bot plays fewer matches than those before it. So this
/// measures how long matches took, per version, and how many were played at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The number of matches owed.
    owed: i64,
    /// How long one of them takes, in milliseconds, divided by how many are played at once; none if nothing was played.
    each: Option<f64>,
}

impl Pace {
    /// How fast they are played now.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn now(store: &ContestStore, owed: &Owed, now: Time) -> Result<Self, StoreError> {
        let mut lately = store.lately_played(MOST).await?;
        lately.retain(|game| now.0 - game.settled.0 <= HOUR);
        Ok(Self::of(lately, owed))
    }

    fn of(mut lately: Vec<LatelyPlayed>, owed: &Owed) -> Self {
        lately.sort_by_key(|game| game.settled);
        let took = took(&lately);
        let recent = lately.len().saturating_sub(LATELY);
        let Some(at_once) = at_once(&lately[recent..], &took[recent..]) else {
            return Self { owed: owed.matches, each: None };
        };
        let all = mean(took[recent..].iter());
        // The newest of each version.
        let mut own: BTreeMap<VersionId, Vec<&Took>> = BTreeMap::new();
        for (game, took) in lately.iter().zip(&took).rev() {
            for version in game.versions.iter().collect::<BTreeSet<_>>() {
                own.entry(*version).or_default().push(took);
            }
        }
        let own = |version| mean(own.get(version)?.iter().copied().take(OWN));
        let wanted: f64 = owed.wants.values().map(|wants| *wants as f64).sum();
        let long: f64 = (owed.wants.iter())
            .map(|(version, wants)| own(version).or(all).unwrap_or_default() * *wants as f64)
            .sum();
        let one = if wanted > 0.0 { Some(long / wanted) } else { all };
        Self { owed: owed.matches, each: one.map(|one| one / at_once) }
    }

    /// Matches per hour.
    pub fn an_hour(self) -> i64 {
        self.each.map_or(0, |each| (HOUR as f64 / each) as i64)
    }

    /// How long the matches owed will take, in milliseconds; none if nothing is being played.
    pub fn needs(self) -> Option<i64> {
        match (self.owed, self.each) {
            (0, _) => Some(0),
            (owed, each) => Some((owed as f64 * each?) as i64),
        }
    }
}

/// How long a match took.
#[derive(Clone, Copy, Debug)]
struct Took {
    /// When it, or the group that ended with it, began to be played.
    from: i64,
    /// Its duration, in milliseconds.
    ms: f64,
}

/// How long each of these took; they are in the order in which they ended. A quick match is announced only when it is over:
/// matches that ended together share the time since the one before.
fn took(lately: &[LatelyPlayed]) -> Vec<Took> {
    let mut before = None;
    let mut all = Vec::with_capacity(lately.len());
    for together in lately.chunk_by(|one, next| one.settled == next.settled) {
        let ended = together[0].settled.0;
        let between: i64 = before.replace(ended).map_or(0, |before: i64| (ended - before).min(BETWEEN));
        let share = between as f64 / together.len() as f64;
        all.extend(together.iter().map(|game| Took {
            from: game.started.0.min(ended - between),
            ms: ((ended - game.started.0) as f64).max(share),
        }));
    }
    all
}

fn mean<'a>(took: impl Iterator<Item = &'a Took>) -> Option<f64> {
    let (sum, count) = took.fold((0.0, 0), |(sum, count), took| (sum + took.ms, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// How many rated matches were played at once, over the time in which anything was; of all matches if none was rated.
fn at_once(lately: &[LatelyPlayed], took: &[Took]) -> Option<f64> {
    let mut spans: Vec<(i64, i64)> =
        lately.iter().zip(took).map(|(game, took)| (took.from, game.settled.0)).collect();
    spans.sort_unstable();
    let (mut busy, mut upto) = (0, i64::MIN);
    for (from, to) in spans {
        busy += (to - from.max(upto)).max(0);
        upto = upto.max(to);
    }
    let sum = |rated: bool| -> f64 {
        let of = lately.iter().zip(took).filter(|(game, _)| !rated || game.kind.is_rated());
        of.map(|(_, took)| took.ms).sum()
    };
    let played = if sum(true) > 0.0 { sum(true) } else { sum(false) };
    (busy > 0 && played > 0.0).then(|| played / busy as f64)
}

#[cfg(test)]
mod tests {
    use agon_store::Kind;

    use super::*;

    /// Matches of a version of this duration, on this many places, starting at `from`.
    fn played(version: i64, count: i64, took: i64, places: i64, from: i64) -> Vec<LatelyPlayed> {
        let game = |number: i64| {
            let started = from + number / places * took;
            LatelyPlayed {
                kind: Kind::Ladder,
                started: Time(started),
                settled: Time(started + took),
                versions: vec![VersionId(version), VersionId(99)],
            }
        };
        (0..count).map(game).collect()
    }

    fn owed(matches: i64, wants: &[(i64, u64)]) -> Owed {
        Owed { matches, wants: wants.iter().map(|(version, wants)| (VersionId(*version), *wants)).collect() }
    }

    fn close(pace: Pace, wanted: i64) {
        let needs = pace.needs().expect("it is played");
        assert!((needs - wanted).abs() * 20 <= wanted, "{needs} in place of {wanted}");
    }

    #[test]
    fn a_rest_does_not_count_and_places_do() {
        close(Pace::of(played(1, 100, 500, 1, 0), &owed(300, &[(1, 300)])), 150_000);
        close(Pace::of(played(1, 100, 500, 4, 0), &owed(300, &[(1, 300)])), 37_500);
        let mut rested = played(1, 30, 500, 1, 0);
        rested.extend(played(1, 30, 500, 1, 1_800_000));
        close(Pace::of(rested, &owed(300, &[(1, 300)])), 150_000);
    }

    #[test]
    fn a_bot_that_takes_its_time_is_counted_by_its_own_matches() {
        // A ladder of quick bots, and the check match of one that takes three seconds.
        let mut lately = played(1, 200, 40, 1, 0);
        lately.extend(played(2, 1, 3_000, 1, 600_000));
        close(Pace::of(lately.clone(), &owed(400, &[(2, 400)])), 1_200_000);
        // A match never announced before it was over cost the time between two of them.
        lately[..200].iter_mut().for_each(|game| game.started = game.settled);
        close(Pace::of(lately.clone(), &owed(400, &[(1, 400)])), 16_000);
        // The same when five are accepted together.
        lately[..200].chunks_mut(5).for_each(|five| {
            let last = five[4].settled;
            five.iter_mut().for_each(|game| (game.started, game.settled) = (last, last));
        });
        close(Pace::of(lately, &owed(400, &[(1, 400)])), 16_000);
    }

    #[test]
    fn what_is_not_rated_takes_its_share_of_the_time() {
        let mut lately = played(1, 60, 500, 1, 0);
        lately.iter_mut().step_by(2).for_each(|game| game.kind = Kind::Promotion);
        close(Pace::of(lately, &owed(100, &[(1, 100)])), 100_000);
        assert_eq!(Pace::of(Vec::new(), &owed(5, &[(1, 5)])).needs(), None);
        assert_eq!(Pace::of(Vec::new(), &owed(0, &[])).needs(), Some(0));
    }
}
