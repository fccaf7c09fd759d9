//! What the server does by itself: ends leases, admits versions, recomputes results, seals them, and computes the table. If it is killed
//! between any two of these, the next start goes on from there.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use agon_ladder::{Admission, Check, Table, admission};
use agon_store::acts::{
    Demote, Drained, DropRecheck, Expire, FailRecheck, JudgeAll, Judgement, KeepBoard, PassRecheck,
    PlanBlocks, Promote, Seal, SeeServer, Suspend,
};
use agon_store::reads::{CheckState, MOST_POSTED};
use agon_store::{Cause, EntrantVersion, Kind, MatchState, StoreError, Time, VersionId, VersionState};
use agon_worker::Private;
use futures_util::future::try_join;

use crate::facts::Facts;
use crate::{ContestServer, Learnt, ServerError, behind, causes, json, recomputed};

/// What a tick did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticked {
    /// Recomputed results that hold.
    pub valid: u64,
    /// Recomputed results that do not.
    pub mismatches: u64,
    /// Rows that went into the log.
    pub sealed: u64,
    /// Versions that went live, or failed their check.
    pub admitted: u64,
}

/// The shortest time between two stored tables, in milliseconds.
const BOARD_MS: i64 = 5_000;
/// The oldest that a table may be when the next one is ready.
const OLDEST: Duration = Duration::from_secs(10);
/// How often to check whether a table is due.
const LOOK: Duration = Duration::from_millis(200);
/// How often to look for leases that nobody renewed, in milliseconds: they last a hundred times as long.
const EXPIRE_MS: i64 = 500;
/// How often a server says that it is there, in milliseconds.
const SAY_MS: i64 = 5_000;
/// How long ago a server may have said so last, in milliseconds.
pub const GONE_MS: i64 = 4 * SAY_MS;
/// How often to look for what has expired, in milliseconds.
const TIDY_MS: i64 = 60_000;
/// How often to look for unnamed objects, and the age at which they are removed.
const SWEEP_MS: i64 = 24 * 3_600_000;

/// How long to rest after computing a table that took this long: as long again, so that half a core is left to others, but no longer than
/// lets the next one be in time.
pub fn rest(took: Duration) -> Duration {
    took.min(OLDEST.saturating_sub(2 * took)).max(LOOK)
}

impl ContestServer {
    /// Does everything that is due, one thing after the other.
    ///
    /// # Errors
    /// Store errors.
    pub async fn tick(&self, now: Time) -> Result<Ticked, ServerError> {
        let ticked = self.look_after(now).await?;
        self.rate(now).await?;
        Ok(ticked)
    }

    /// Does everything that is due except the table, which takes seconds in a long ladder. Of several servers one does it; the others only
    /// read what it has sealed, until one of them takes over.
    ///
    /// # Errors
    /// Store errors.
    pub async fn look_after(&self, now: Time) -> Result<Ticked, ServerError> {
        let mut ticked = Ticked::default();
        let is_good = self.tell_clock().await?;
        if is_good && let Some(count) = self.quotas.due(now) {
            let day = count.day;
            self.quotas.counted(day, self.store.act(count).await?, now);
        }
        self.say_file(now).await?;
        let contest = self.now().await?;
        if !self.keeps().await? || !is_good {
            self.learnt.lock().await.facts.read(&self.store, i64::MAX).await?;
            return Ok(ticked);
        }
        self.expire(now).await?;
        // Neither waits for the other: writing what is played next takes as long as writing what was played.
        try_join(self.take_in(now, &mut ticked), self.plan_ahead(now)).await?;
        self.judge_trials(now).await?;
        self.tidy(now).await?;
        if contest.draining {
            self.store.act(Drained { contest: self.contest(), now }).await?;
        }
        Ok(ticked)
    }

    /// Whether this server looks after the contest: not while its clock is in doubt, so that another can.
    ///
    /// # Errors
    /// Store errors.
    pub async fn keeps(&self) -> Result<bool, ServerError> {
        if self.doubts_clock().await {
            self.store.leaves().await;
            return Ok(false);
        }
        Ok(self.store.keeps().await?)
    }

    /// Says that this server is there, and what its file says.
    async fn say_file(&self, now: Time) -> Result<(), ServerError> {
        if !begin_if_due(&mut self.learnt.lock().await.said, SAY_MS, now) {
            return Ok(());
        }
        let said = self.file.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((name, file)) = said else { return Ok(()) };
        let (contest, file) = (self.contest(), file.published(&self.settings()));
        self.store.act(SeeServer { contest, name, file, now }).await?;
        Ok(())
    }

    /// Ends leases that nobody renewed.
    async fn expire(&self, now: Time) -> Result<(), ServerError> {
        if begin_if_due(&mut self.learnt.lock().await.expired, EXPIRE_MS, now) {
            self.store.act(Expire { now }).await?;
        }
        Ok(())
    }

    /// Accepts, seals and admits what it can. While more results wait than are recomputed at once, those of the previous round are sealed
    /// beside the next.
    async fn take_in(&self, now: Time, ticked: &mut Ticked) -> Result<(), ServerError> {
        let unsealed = self.unsealed.swap(false, Ordering::Relaxed);
        let before = async { if unsealed { self.seal(now).await } else { Ok(0) } };
        let (judged, sealed) = try_join(self.recompute(now), before).await?;
        (ticked.valid, ticked.mismatches) = judged;
        ticked.sealed = sealed;
        if ticked.valid + ticked.mismatches < MOST_POSTED as u64 {
            ticked.sealed += self.seal(now).await?;
        } else {
            self.unsealed.store(true, Ordering::Relaxed);
        }
        self.admit(now, ticked).await?;
        self.check_again(now, ticked).await?;
        if *ticked != Ticked::default() {
            self.done.send_replace(());
        }
        Ok(())
    }

    /// Computes the table when it is due. The server that looks after the contest stores it; another computes the same from what it has
    /// read.
    ///
    /// # Errors
    /// Store errors.
    pub async fn rate(&self, now: Time) -> Result<(), ServerError> {
        if self.keeps().await? {
            return self.keep_board(now, false).await;
        }
        if self.learnt.lock().await.is_due(now) {
            self.make_board(now).await?;
        }
        Ok(())
    }

    /// Recomputes posted results, and accepts those that hold. Returns how many hold and how many do not.
    async fn recompute(&self, now: Time) -> Result<(u64, u64), ServerError> {
        let posted = self.store.posted().await?;
        if posted.is_empty() {
            return Ok((0, 0));
        }
        let versions = self.known(posted.iter().flat_map(|posted| &posted.seats)).await?;
        let judged = recomputed::judge(&self.table, &self.objects, posted, &versions).await?;
        let valid = judged.iter().filter(|(_, judgement)| matches!(judgement, Judgement::Valid(_))).count();
        let all = judged.len();
        self.store.act(JudgeAll { judged, now }).await?;
        Ok((valid as u64, (all - valid) as u64))
    }

    /// Gives valid results their places in the log, and returns their number.
    async fn seal(&self, now: Time) -> Result<u64, ServerError> {
        let mut all = 0;
        loop {
            let sealed = self.store.act(Seal { contest: self.contest() }).await?;
            self.draw_again(&sealed, now).await?;
            let mut learnt = self.learnt.lock().await;
            all += sealed.len() as u64;
            sealed.iter().for_each(|row| learnt.facts.feed(row));
            if sealed.len() < Seal::MOST {
                // There may be rulings in between, and results that another server of this contest has sealed.
                learnt.facts.read(&self.store, i64::MAX).await?;
                return Ok(all);
            }
        }
    }

    /// Removes what is kept for a limited time.
    async fn tidy(&self, now: Time) -> Result<(), ServerError> {
        let mut learnt = self.learnt.lock().await;
        if !begin_if_due(&mut learnt.forgot, TIDY_MS, now) {
            return Ok(());
        }
        let sweeps = begin_if_due(&mut learnt.swept, SWEEP_MS, now);
        drop(learnt);
        self.forget_drafts(now).await?;
        self.store.act(Suspend { contest: self.contest(), now }).await?;
        self.watch(now).await?;
        if sweeps { self.sweep(now).await } else { Ok(()) }
    }

    /// Removes objects that nothing has named for a day: uploads refused in the end, and leftovers of killed processes.
    async fn sweep(&self, now: Time) -> Result<(), ServerError> {
        let named = self.store.named_objects().await?.into_iter().map(|(sha, _)| sha).collect();
        let before = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0 - SWEEP_MS).unwrap_or(0));
        let swept = self.objects.sweep(&named, before).await;
        swept.map_err(|error| StoreError::File("objects".to_owned(), error))?;
        // After a deletion this is done at once; a server that was killed just then has not.
        if let Err(error) = self.store.scrub().await {
            tracing::warn!(
                "what was deleted may still be in the database's files: {error}; it is tried again in a day"
            );
        }
        Ok(())
    }

    async fn admit(&self, now: Time, ticked: &mut Ticked) -> Result<(), ServerError> {
        if !self.store.is_anybody_waiting().await? {
            return Ok(());
        }
        let versions = self.store.versions().await?;
        // While the contest drains, uploads wait.
        let draining = self.store.now().await?.draining;
        let checks = self.store.checks().await?;
        for version in versions.iter().filter(|version| version.state.is_waiting()) {
            let its = checks.get(&version.id).map(Vec::as_slice).unwrap_or_default();
            let cause = match admission(&its.iter().map(check).collect::<Vec<_>>()) {
                Admission::Wait => continue,
                Admission::Plan if draining => continue,
                Admission::Plan => {
                    self.plan_check(version.id, &versions, now).await?;
                    continue;
                }
                Admission::Live => {
                    self.store.act(Promote { version: version.id, now }).await?;
                    ticked.admitted += 1;
                    continue;
                }
                Admission::Failed => self.why_failed(its.last()).await,
                Admission::GivenUp => causes::given_up(its.last().and_then(|last| last.why.as_deref())),
            };
            self.store.act(Demote { version: version.id, cause, now }).await?;
            ticked.admitted += 1;
        }
        Ok(())
    }

    /// Why a version failed in its last check match.
    async fn why_failed(&self, last: Option<&CheckState>) -> Cause {
        match last {
            Some(last) if last.unfit => causes::unfit(last.why.as_deref().unwrap_or("")),
            last => causes::broke(
                self.told_to_author(last).await.as_ref(),
                last.and_then(|last| last.fault.as_deref()),
            ),
        }
    }

    /// Checks versions that stand for their teams again, in the image that the contest has now. One that fails there no longer does.
    async fn check_again(&self, now: Time, ticked: &mut Ticked) -> Result<(), ServerError> {
        let checks = self.store.rechecks().await?;
        if checks.is_empty() {
            return Ok(());
        }
        let (versions, draining) = (self.store.versions().await?, self.now().await?.draining);
        for version in &versions {
            let Some(its) = checks.get(&version.id) else { continue };
            let (version, stands) =
                (version.id, matches!(version.state, VersionState::Live | VersionState::Trial));
            let pass = |given_up| PassRecheck { version, given_up, now };
            match admission(&its.iter().map(check).collect::<Vec<_>>()) {
                // It left of its own accord; it is checked again when it comes back.
                _ if !stands => self.store.act(DropRecheck { version }).await?,
                Admission::Wait => continue,
                Admission::Plan if draining => continue,
                Admission::Plan => {
                    self.plan_check(version, &versions, now).await?;
                    continue;
                }
                Admission::Live => drop(self.store.act(pass(None)).await?),
                Admission::GivenUp => {
                    let why = its.last().and_then(|last| last.why.clone()).unwrap_or_default();
                    self.store.act(pass(Some(why))).await?;
                }
                Admission::Failed => {
                    let cause = causes::in_new_image(self.why_failed(its.last()).await);
                    self.store.act(FailRecheck { version, cause, now }).await?;
                }
            }
            ticked.admitted += 1;
        }
        Ok(())
    }

    /// What a check match told the author of its version.
    async fn told_to_author(&self, check: Option<&CheckState>) -> Option<Private> {
        self.private(&check?.own?).await.ok()
    }

    /// Plans a check match: in the first seat, against a boss if there is one, else against itself.
    async fn plan_check(
        &self,
        version: VersionId,
        versions: &[EntrantVersion],
        now: Time,
    ) -> Result<(), ServerError> {
        let boss = versions.iter().find(|other| other.boss && other.state == VersionState::Live);
        let other = boss.map_or(version, |boss| boss.id);
        let lineup = std::iter::once(version).chain(std::iter::repeat_n(other, self.seats() - 1)).collect();
        let plan = PlanBlocks {
            contest: self.contest(),
            kind: Kind::Check,
            blocks: vec![(0, lineup)],
            rotations: 1,
            now,
        };
        self.store.act(plan).await?;
        Ok(())
    }

    /// Stores the current table, so that readers need not compute it. With `at_once`, even if the last one is recent.
    ///
    /// # Errors
    /// Store errors.
    pub async fn keep_board(&self, now: Time, at_once: bool) -> Result<(), ServerError> {
        let is_due = {
            let learnt = self.learnt.lock().await;
            let is_due = at_once || learnt.is_due(now);
            is_due && learnt.facts.upto != learnt.board.0
        };
        // Asked without the table in hand: it may wait for the database, and pages for the table.
        if !is_due || self.doubts_clock().await {
            return Ok(());
        }
        let (upto, table) = self.make_board(now).await?;
        let (program, board) = (crate::method(), json(table.as_ref()));
        self.store.act(KeepBoard { contest: self.contest(), upto, program, board, now }).await?;
        Ok(())
    }

    /// Computes the table from the log.
    async fn make_board(&self, now: Time) -> Result<(i64, Arc<Table>), ServerError> {
        let mut rated = self.rated.lock().await;
        // If the caller gives up on the table, the log is read again from its beginning.
        let mut facts = std::mem::replace(&mut *rated, Facts::new());
        facts.read(&self.store, i64::MAX).await?;
        let (out, key) = (self.out(&facts).await?, self.key.clone());
        let versions = self.store.versions().await?;
        let bosses = crate::bosses_of(&self.terms.game, &versions);
        let work = move || {
            let table = Arc::new(facts.table(&key, &out, &bosses));
            (facts, table)
        };
        let (facts, table) = behind::compute("table", "making the table", work).await?;
        let upto = facts.upto;
        *rated = facts;
        drop(rated);
        let mut learnt = self.learnt.lock().await;
        (learnt.table, learnt.board) = (table.clone(), (upto, now));
        Ok((upto, table))
    }

    /// The last row of the log that was read, and how many rated matches count.
    pub async fn learnt(&self) -> (i64, usize) {
        let learnt = self.learnt.lock().await;
        (learnt.facts.upto, learnt.facts.ladder.blocks())
    }
}

impl Learnt {
    /// Whether the board is due to show something new.
    fn is_due(&self, now: Time) -> bool {
        let (upto, made) = self.board;
        self.facts.upto != upto && made.is_past(BOARD_MS, now)
    }
}

/// Whether something is due that is done every so many milliseconds, and was begun `last`. If so, it begins now.
pub(crate) fn begin_if_due(last: &mut Time, every_ms: i64, now: Time) -> bool {
    let due = last.is_past(every_ms, now);
    if due {
        *last = now;
    }
    due
}

fn check(state: &CheckState) -> Check {
    match state.state {
        MatchState::Valid if state.fault.is_some() => Check::Broke,
        MatchState::Valid => Check::Passed,
        MatchState::Dead if state.unfit => Check::Unfit,
        MatchState::Dead => Check::Dead,
        MatchState::Planned | MatchState::Leased | MatchState::Posted => Check::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_makes_tables_rests_as_long_while_the_next_one_still_comes_in_time() {
        let rest = |ms| super::rest(Duration::from_millis(ms)).as_millis();
        assert_eq!([rest(1), rest(1_000), rest(3_000), rest(4_000)], [200, 1_000, 3_000, 2_000]);
        assert_eq!([rest(5_000), rest(60_000)], [200, 200], "too slow already: it hardly rests");
    }
}
