//! What is played next. Matches are planned when work is wanted, and in ladders of hundreds a little ahead: no queue grows old.

use std::collections::{BTreeMap, VecDeque};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use agon_ladder::{Contender, Lane};
use agon_store::acts::{Plan, Release};
use agon_store::{Contest, Kind, Time, Version, VersionId, VersionState};

use tokio::sync::{Mutex, MutexGuard};

use crate::{Server, ServerError, number};

/// With more results that nobody has checked nothing is planned: who recomputes falls behind. A thousand machines with batches bring in
/// hundreds within a moment, which is no reason to stop.
const MOST_UNCHECKED: i64 = 2_048;
/// No more matches are planned at once, however many wait for some.
const MOST_AT_ONCE: usize = 512;
/// So many blocks are written together: a machine that asks meanwhile waits for no more than these.
const TOGETHER: usize = 32;
/// Who plans looks at all versions. In a long ladder matches for this part of them are planned at once, one for each, and as many are kept
/// ahead, with as many more as machines took in [`AHEAD_MS`], so that they do not take all while the next plan is made.
const PART: usize = 20;
/// How long what machines take is counted for [`PART`], in milliseconds.
const AHEAD_MS: i64 = 1_000;
/// A ladder in which that is less plans when somebody asks, and not ahead.
const SHORT: usize = 20;

/// A block of the ladder that is planned: its map, and who plays.
type Lineup = (i64, Vec<VersionId>);

/// How many matches are wanted by those who wait.
#[derive(Default)]
pub struct Wanted(AtomicUsize);

/// Somebody who waits for matches, until this is dropped.
pub struct Wants<'a> {
    all: &'a Wanted,
    own: usize,
}

impl Wanted {
    /// Somebody waits for so many.
    pub fn wait(&self, own: usize) -> Wants<'_> {
        self.0.fetch_add(own, Ordering::Relaxed);
        Wants { all: self, own }
    }
}

impl Wants<'_> {
    /// How many are wanted by all who wait.
    pub fn all(&self) -> usize {
        self.all.0.load(Ordering::Relaxed).clamp(self.own, self.own.max(MOST_AT_ONCE))
    }
}

impl Drop for Wants<'_> {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// The plans that were made, and whose turn it is to make one because nothing is left.
#[derive(Default)]
pub struct Plans {
    turn: Mutex<()>,
    tried: AtomicU64,
    /// How many matches the last one came to.
    last: AtomicUsize,
    pace: std::sync::Mutex<Pace>,
}

/// How many matches machines take.
#[derive(Default)]
struct Pace {
    /// So many were taken since then.
    since: Time,
    taken: usize,
    /// So many in the time before.
    before: usize,
}

impl Plans {
    /// How many were tried so far.
    pub fn tried(&self) -> u64 {
        self.tried.load(Ordering::Acquire)
    }

    /// A machine takes so many.
    pub fn take(&self, matches: usize, now: Time) {
        self.counted(now).taken += matches;
    }

    /// How many all machines took in the last [`AHEAD_MS`].
    fn pace(&self, now: Time) -> usize {
        self.counted(now).before
    }

    /// What they take, with what is counted beginning anew after [`AHEAD_MS`].
    fn counted(&self, now: Time) -> std::sync::MutexGuard<'_, Pace> {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.0 - pace.since.0;
        if passed >= AHEAD_MS {
            let before = if passed < 2 * AHEAD_MS { pace.taken } else { 0 };
            *pace = Pace { since: now, taken: 0, before };
        }
        pace
    }

    fn made(&self, matches: usize) {
        self.last.store(matches, Ordering::Relaxed);
        self.tried.fetch_add(1, Ordering::Release);
    }
}

impl Server {
    /// Plans for all who wait, unless another one has done so since there were `seen` plans: whether there may be something to play. One
    /// at a time, for who plays next depends on what was planned just now; who waited behind another plan only looks again.
    pub(crate) async fn plan_for_all(
        &self,
        seen: u64,
        wants: &Wants<'_>,
        now: Time,
    ) -> Result<bool, ServerError> {
        let turn = self.plans.turn.lock().await;
        if self.plans.tried() == seen {
            self.plan(&turn, wants.all(), now).await?;
        }
        Ok(self.plans.last.load(Ordering::Relaxed) > 0)
    }

    /// Where somebody plays in a long ladder, keeps so much planned that whoever asks need not wait for that.
    pub(crate) async fn plan_ahead(&self, now: Time) -> Result<(), ServerError> {
        let ahead = self.learnt.lock().await.ahead;
        if ahead < SHORT {
            return Ok(());
        }
        let turn = self.plans.turn.lock().await;
        let kept = (ahead + self.plans.pace(now)) as i64;
        if self.store.waiting(self.contest, kept).await? < kept {
            self.plan(&turn, ahead, now).await?;
        }
        Ok(())
    }

    /// Plans what comes next, `most` matches or one block more, as far as somebody needs them: how many were planned. Of several servers one
    /// plans at a time, and of those who want plans from this one who has the turn.
    async fn plan(&self, _turn: &MutexGuard<'_, ()>, most: usize, now: Time) -> Result<usize, ServerError> {
        let began = Instant::now();
        let alone = self.store.alone().await?;
        let planned = match self.contest_now().await? {
            Some(contest) if !contest.paused && !contest.draining => {
                let (planned, blocks) = self.choose(&contest, most, now).await?;
                for blocks in blocks.chunks(TOGETHER) {
                    let (contest, kind, rotations) = (self.contest, Kind::Ladder, self.policy.seats);
                    self.store.act(Plan { contest, kind, blocks: blocks.to_vec(), rotations, now }).await?;
                }
                planned
            }
            _ => 0,
        };
        alone.over().await?;
        self.plans.made(planned);
        tracing::debug!(most, planned, ms = began.elapsed().as_millis() as u64, "a plan");
        Ok(planned)
    }

    /// What is played next, each kind of work with its share: how many matches, and the blocks of the ladder among them, which are to be
    /// written. What is learnt meanwhile waits until all is chosen, but not until it is written.
    async fn choose(
        &self,
        contest: &Contest,
        most: usize,
        now: Time,
    ) -> Result<(usize, Vec<Lineup>), ServerError> {
        if self.store.unchecked().await? > MOST_UNCHECKED {
            return Ok((0, Vec::new()));
        }
        // Whoever begins or ceases to play is an act, after which all are read anew: in a ladder of thousands that takes long.
        let known = self.known(std::iter::empty()).await?;
        let plays = |version: &&Version| matches!(version.state, VersionState::Live | VersionState::Trial);
        let mut playing: Vec<_> =
            known.values().filter(plays).map(|version| (version.id, version.state)).collect();
        let mut learnt = self.learnt.lock().await;
        let learnt = &mut *learnt;
        // Who is out plays no more.
        let out = self.out(&learnt.facts).await?;
        learnt.facts.leave_out(&out);
        playing.retain(|(version, _)| !out.contains(version));
        learnt.ahead = (playing.len() / PART).min(MOST_AT_ONCE);
        let most = most.max(learnt.ahead);
        let (mut planned, mut idle, mut blocks) = (0, Vec::new(), Vec::new());
        // What the ladder would play, chosen when it has its turn, and anew when something else was planned in between.
        let mut next: Option<VecDeque<Vec<i64>>> = None;
        while planned < most {
            let Some(lane) = learnt.shares.next(|lane| !idle.contains(&lane)) else { break };
            let ladder = &mut learnt.facts.ladder;
            let matches = match lane {
                Lane::Ladder => {
                    let number = contest.blocks + blocks.len() as i64;
                    if next.is_none() {
                        let contenders = self.contenders(&playing, &blocks).await?;
                        let count = (most - planned).div_ceil(self.policy.seats);
                        next = Some(ladder.next_blocks(&contenders, &self.policy, number + 1, count).into());
                    }
                    match next.as_mut().and_then(VecDeque::pop_front) {
                        Some(lineup) => {
                            let lineup: Vec<VersionId> = lineup.into_iter().map(VersionId).collect();
                            blocks.push((self.map(number), lineup));
                            self.policy.seats
                        }
                        None => 0,
                    }
                }
                Lane::Promotion => self.plan_trial(ladder, &playing, now).await?,
                Lane::Asked => self.store.act(Release { contest: self.contest, now }).await?,
            };
            if lane != Lane::Ladder && matches > 0 {
                next = None;
            }
            match matches {
                0 => idle.push(lane),
                matches => learnt.shares.count(lane, matches),
            }
            planned += matches;
        }
        Ok((planned, blocks))
    }

    /// Those who may play on the ladder, with their matches in flight, of which these blocks are not written yet.
    async fn contenders(
        &self,
        playing: &[(VersionId, VersionState)],
        blocks: &[Lineup],
    ) -> Result<Vec<Contender>, ServerError> {
        let mut flying: BTreeMap<VersionId, u32> = self.store.in_flight(self.contest).await?;
        for version in blocks.iter().flat_map(|(_, lineup)| lineup) {
            *flying.entry(*version).or_default() += self.policy.seats as u32;
        }
        let suspended = self.store.suspended(self.contest).await?;
        let is_on = |(version, state): &&(VersionId, VersionState)| {
            *state == VersionState::Live && !suspended.contains_key(version)
        };
        let contender = |(version, _): &(VersionId, VersionState)| Contender {
            version: number(*version),
            in_flight: flying.get(version).copied().unwrap_or(0),
        };
        Ok(playing.iter().filter(is_on).map(contender).collect())
    }

    /// The maps come in turn.
    pub(crate) fn map(&self, block: i64) -> i64 {
        block % (self.table.maps() as i64).max(1)
    }
}
