//! Planning what is played next. Matches are planned when work is wanted, and in ladders of hundreds a little ahead, so that no queue grows
//! old.

use std::collections::{BTreeMap, VecDeque};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use agon_ladder::{Contender, Lane};
use agon_store::acts::{PlanBlocks, Release};
use agon_store::{ContestRow, EntrantVersion, Kind, Time, VersionId, VersionState};

use tokio::sync::{Mutex, MutexGuard};

use crate::tick::begin_if_due;
use crate::{ContestServer, ServerError, number};

/// Upper limit on unchecked results; above it nothing is planned, because recomputing falls behind. A thousand machines with batches bring
/// in hundreds within a moment, which is no reason to stop.
const MOST_UNCHECKED: i64 = 2_048;
/// Upper limit on the matches planned at once.
const MOST_AT_ONCE: usize = 1024;
/// How many blocks are written in one act: the longest that a machine asking meanwhile must wait.
const TOGETHER: usize = 32;
/// Planning scans every version. In a long ladder a plan therefore has a match for one in this many versions, and as many matches are kept
/// ahead, plus as many as machines took in [`AHEAD_MS`], so that they do not take them all while the next plan is made.
const PART: usize = 20;
/// The period over which the matches that machines take are counted for [`PART`], in milliseconds.
const AHEAD_MS: i64 = 1_000;
/// How often to look whether as many are planned, in milliseconds: a part of the period that they are for.
const LOOK_AHEAD_MS: i64 = AHEAD_MS / 5;
/// A ladder in which that is less plans only on request, not ahead.
const SHORT: usize = 20;

/// A planned block of the ladder: its map, and who plays.
type Lineup = (i64, Vec<VersionId>);

/// How many matches the waiting requests want.
#[derive(Default)]
pub(crate) struct Wanted(AtomicUsize);

/// A waiting request, until this is dropped.
pub struct Wants<'a> {
    all: &'a Wanted,
    own: usize,
}

impl Wanted {
    /// Adds a request for this many matches.
    pub fn wait(&self, own: usize) -> Wants<'_> {
        self.0.fetch_add(own, Ordering::Relaxed);
        Wants { all: self, own }
    }
}

impl Wants<'_> {
    /// How many matches all waiting requests want.
    pub fn all(&self) -> usize {
        self.all.0.load(Ordering::Relaxed).clamp(self.own, self.own.max(MOST_AT_ONCE))
    }
}

impl Drop for Wants<'_> {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// The plans made so far, and whose turn it is to make one because nothing is left.
#[derive(Default)]
pub struct Plans {
    turn: Mutex<()>,
    tried: AtomicU64,
    /// The number of matches in the last plan.
    last: AtomicUsize,
    pace: std::sync::Mutex<Pace>,
}

/// How many matches machines take.
#[derive(Default)]
struct Pace {
    /// The number taken since then.
    since: Time,
    taken: usize,
    /// The number taken in the period before.
    before: usize,
}

impl Plans {
    /// The number of plans tried so far.
    pub fn tried(&self) -> u64 {
        self.tried.load(Ordering::Acquire)
    }

    /// Counts matches taken by a machine.
    pub fn take(&self, matches: usize, now: Time) {
        self.counted(now).taken += matches;
    }

    /// How many all machines took in the last [`AHEAD_MS`].
    fn pace(&self, now: Time) -> usize {
        self.counted(now).before
    }

    /// The counter, restarted after [`AHEAD_MS`].
    fn counted(&self, now: Time) -> std::sync::MutexGuard<'_, Pace> {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.0 - pace.since.0;
        if pace.since.is_past(AHEAD_MS, now) {
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

impl ContestServer {
    /// Plans for all waiting requests, unless another caller has done so since there were `seen` plans. Returns whether there may be
    /// something to play. One at a time, because the next choice depends on what was planned just now; a caller that waited behind another
    /// plan only looks again.
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

    /// Keeps enough planned while a long ladder is being played, so that requests need not wait for planning.
    pub(crate) async fn plan_ahead(&self, now: Time) -> Result<(), ServerError> {
        let ahead = {
            let mut learnt = self.learnt.lock().await;
            if learnt.ahead < SHORT || !begin_if_due(&mut learnt.looked_ahead, LOOK_AHEAD_MS, now) {
                return Ok(());
            }
            learnt.ahead
        };
        let turn = self.plans.turn.lock().await;
        let taken = self.plans.pace(now);
        let kept = (ahead + taken) as i64;
        if self.store.waiting(kept).await? < kept {
            // As many as a second takes, so that there is about one plan a second: each counts what every version has in flight.
            self.plan(&turn, ahead.max(taken.min(MOST_AT_ONCE)), now).await?;
        }
        Ok(())
    }

    /// Plans what comes next, as far as versions need it: `most` matches, or up to one block more. Returns how many were planned. Of
    /// several servers one plans at a time, and within this one whoever has the turn.
    async fn plan(&self, _turn: &MutexGuard<'_, ()>, most: usize, now: Time) -> Result<usize, ServerError> {
        let began = Instant::now();
        let alone = self.store.alone().await?;
        let (mut planned, contest) = (0, self.now().await?);
        if !contest.paused && !contest.draining {
            let blocks;
            (planned, blocks) = self.choose(&contest, most, now).await?;
            for blocks in blocks.chunks(TOGETHER) {
                let (contest, kind, rotations) = (contest.id, Kind::Ladder, self.seats());
                self.store.act(PlanBlocks { contest, kind, blocks: blocks.to_vec(), rotations, now }).await?;
            }
        }
        alone.over().await?;
        self.plans.made(planned);
        tracing::debug!(most, planned, ms = began.elapsed().as_millis() as u64, "a plan");
        Ok(planned)
    }

    /// Chooses what is played next, each kind of work with its share: the number of matches, and the ladder blocks among them, which are
    /// still to be written. Updates from the log wait until the choice is made, but not until it is written.
    async fn choose(
        &self,
        contest: &ContestRow,
        most: usize,
        now: Time,
    ) -> Result<(usize, Vec<Lineup>), ServerError> {
        if self.store.unchecked().await? > MOST_UNCHECKED {
            return Ok((0, Vec::new()));
        }
        // Starting or stopping to play is recorded as an act, after which all versions are read again; in a ladder of thousands that takes
        // long.
        let known = self.known(std::iter::empty()).await?;
        let plays =
            |version: &&EntrantVersion| matches!(version.state, VersionState::Live | VersionState::Trial);
        let mut playing: Vec<_> =
            known.values().filter(plays).map(|version| (version.id, version.state)).collect();
        let mut learnt = self.learnt.lock().await;
        let learnt = &mut *learnt;
        // Versions that are out play no more.
        let out = self.out(&learnt.facts).await?;
        learnt.facts.leave_out(&out);
        playing.retain(|(version, _)| !out.contains(version));
        learnt.ahead = (playing.len() / PART).min(MOST_AT_ONCE);
        let most = most.max(learnt.ahead);
        let (mut planned, mut idle, mut blocks) = (0, Vec::new(), Vec::new());
        // What the ladder would play: chosen when its turn comes, and again when something else was planned in between.
        let mut next: Option<VecDeque<Vec<i64>>> = None;
        while planned < most {
            let Some(lane) = learnt.shares.next(|lane| !idle.contains(&lane)) else { break };
            let ladder = &mut learnt.facts.ladder;
            let matches = match lane {
                Lane::Ladder => {
                    let number = contest.blocks + blocks.len() as i64;
                    if next.is_none() {
                        let contenders = self.contenders(&playing, &blocks).await?;
                        let count = (most - planned).div_ceil(self.seats());
                        next =
                            Some(ladder.next_blocks(&contenders, &self.policy(), number + 1, count).into());
                    }
                    match next.as_mut().and_then(VecDeque::pop_front) {
                        Some(lineup) => {
                            let map = ladder.deal(&lineup, number, self.table.maps() as i64);
                            let lineup: Vec<VersionId> = lineup.into_iter().map(VersionId).collect();
                            blocks.push((map, lineup));
                            self.seats()
                        }
                        None => 0,
                    }
                }
                Lane::Promotion => self.plan_trial(ladder, &playing, now).await?,
                Lane::Asked => self.store.act(Release { contest: self.contest(), now }).await?,
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

    /// The versions that may play on the ladder, with their matches in flight, including those of these unwritten blocks.
    async fn contenders(
        &self,
        playing: &[(VersionId, VersionState)],
        blocks: &[Lineup],
    ) -> Result<Vec<Contender>, ServerError> {
        let mut flying: BTreeMap<VersionId, u32> = self.store.in_flight().await?;
        for version in blocks.iter().flat_map(|(_, lineup)| lineup) {
            *flying.entry(*version).or_default() += self.seats() as u32;
        }
        let suspended = self.store.suspended().await?;
        let is_on = |(version, state): &&(VersionId, VersionState)| {
            *state == VersionState::Live && !suspended.contains_key(version)
        };
        let contender = |(version, _): &(VersionId, VersionState)| Contender {
            version: number(*version),
            in_flight: flying.get(version).copied().unwrap_or(0),
        };
        Ok(playing.iter().filter(is_on).map(contender).collect())
    }
}
