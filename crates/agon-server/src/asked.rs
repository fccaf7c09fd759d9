//! What happens when a worker asks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_store::acts::{
    Abort, Building, Lease, LeaseGrant, Meet, Reclaim, RecordBuild, RenewLease, ReportVoid, StandBy, Start,
};
use agon_store::{
    Attempt, EntrantVersion, Kind, LeaseId, Leased, MatchId, Sha, StoreError, Time, VersionId, VersionState,
    WorkerId,
};
use agon_worker::versions::MOST_LOG;
use agon_worker::{BotSource, Job, Nothing, Sitting, Try};

use crate::{ContestServer, ServerError, packed};

/// How long a lease holds without a heartbeat, in milliseconds.
pub const LEASE_MS: i64 = 60_000;
/// A lease request longer than this goes into the program's log where that is enabled.
const LONG: Duration = Duration::from_millis(30);
/// A request for work waits for at most this many plans: others may take what they yield.
const MOST_PLANS: usize = 3;
/// Upper limit on a reason, in characters; a longer one is cut.
const LONGEST_WHY: usize = 4_000;
/// Upper limit on what was counted of a void, as JSON; no match has seats for more.
const LONGEST_WAIT: usize = 4_000;

impl ContestServer {
    /// Registers a worker that introduces itself. Leases of an earlier process under its name end, because that is gone.
    ///
    /// # Errors
    /// Store errors.
    pub async fn meet(&self, name: &str, level: &str, now: Time) -> Result<WorkerId, ServerError> {
        let worker = self.store.act(Meet { name: name.to_owned(), level: level.to_owned(), now }).await?;
        self.store.act(Reclaim { worker, now }).await?;
        Ok(worker)
    }

    /// Records that a worker which was met plays nothing for now.
    ///
    /// # Errors
    /// Store errors.
    pub async fn stands_by(&self, worker: WorkerId) -> Result<(), ServerError> {
        Ok(self.store.act(StandBy { worker }).await?)
    }

    /// Leases matches to play.
    ///
    /// # Errors
    /// Store errors.
    pub async fn lease(
        &self,
        worker: WorkerId,
        request: &str,
        most: usize,
        now: Time,
    ) -> Result<agon_worker::Granted, ServerError> {
        if self.quotas.gives_back_all(worker, now) {
            return Ok(agon_worker::Granted::default());
        }
        let until = now.plus(LEASE_MS);
        let lease = Lease { contest: self.contest(), worker, request: request.to_owned(), most, now, until };
        let mut seen = self.plans.tried();
        let began = Instant::now();
        let mut granted = self.store.act(lease.clone()).await?;
        let first = began.elapsed();
        // Nothing is planned for a paused worker.
        if granted.matches.is_empty() && !self.store.is_paused(worker).await? {
            let wants = self.wanted.wait(most);
            for _ in 0..MOST_PLANS {
                if !self.plan_for_all(seen, &wants, now).await? {
                    break;
                }
                seen = self.plans.tried();
                granted = self.store.act(lease.clone()).await?;
                if !granted.matches.is_empty() {
                    break;
                }
            }
        }
        self.plans.take(granted.matches.len(), now);
        let planned = began.elapsed();
        let told = self.told(granted).await;
        let took = began.elapsed();
        if took >= LONG {
            tracing::debug!(
                ms = took.as_millis() as u64,
                first_ms = first.as_millis() as u64,
                planning_ms = (planned - first).as_millis() as u64,
                "a long lease"
            );
        }
        told
    }

    /// What was granted, in the worker's terms.
    async fn told(&self, granted: LeaseGrant) -> Result<agon_worker::Granted, ServerError> {
        if granted.matches.is_empty() {
            return Ok(agon_worker::Granted::default());
        }
        let versions = self.known(granted.matches.iter().flat_map(|leased| &leased.seats)).await?;
        let mut jobs = Vec::with_capacity(granted.matches.len());
        for leased in &granted.matches {
            let mut job = job(leased, &versions)?;
            if let (Kind::Check, Some(checked)) = (leased.kind, leased.seats.first()) {
                job.positions = self.positions_for(*checked).await?;
            }
            jobs.push(job);
        }
        Ok(agon_worker::Granted { lease: granted.lease.map(|lease| lease.0), jobs })
    }

    /// All versions, including these. Read again after any act since, such as a renamed team: nothing else about a version that a match
    /// needs ever changes.
    pub(crate) async fn known(
        &self,
        needed: impl Iterator<Item = &VersionId>,
    ) -> Result<Arc<BTreeMap<VersionId, EntrantVersion>>, ServerError> {
        let acts = self.store.last_event().await?;
        let mut known = self.known.lock().await;
        let (read_at, versions) = &*known;
        if *read_at == acts && { needed }.all(|version| versions.contains_key(version)) {
            return Ok(versions.clone());
        }
        let players = self.store.players().await?;
        let versions: BTreeMap<_, _> = players.into_iter().map(|version| (version.id, version)).collect();
        *known = (acts, Arc::new(versions));
        Ok(known.1.clone())
    }

    /// Records that a match begins.
    ///
    /// # Errors
    /// Store errors.
    pub async fn start(&self, worker: WorkerId, attempt: Try, now: Time) -> Result<bool, ServerError> {
        Ok(self.store.act(Start { worker, attempt: ours(attempt), now }).await?)
    }

    /// Records a worker's heartbeat.
    ///
    /// # Errors
    /// Store errors.
    pub async fn beat(&self, worker: WorkerId, lease: i64, now: Time) -> Result<bool, ServerError> {
        let until = now.plus(LEASE_MS);
        Ok(self.store.act(RenewLease { worker, lease: LeaseId(lease), now, until }).await?)
    }

    /// Records that the version that a check match is about is being unpacked and built.
    ///
    /// # Errors
    /// Store errors.
    pub async fn building(&self, worker: WorkerId, attempt: Try, now: Time) -> Result<bool, ServerError> {
        Ok(self.store.act(Building { worker, attempt: ours(attempt), now }).await?)
    }

    /// Records that this is over; the output of the build is kept for its author, once for each try that the worker holds.
    ///
    /// # Errors
    /// Store errors.
    pub async fn built(
        &self,
        worker: WorkerId,
        attempt: Try,
        log: &[u8],
        now: Time,
    ) -> Result<(), ServerError> {
        // Judged before anything is stored: whoever holds no such match, or has told of its build before, fills no disk.
        if self.quotas.is_built(attempt, now) || !self.store.may_tell_of_build(worker, ours(attempt)).await? {
            return Ok(());
        }
        let log = &log[log.len().saturating_sub(MOST_LOG as usize)..];
        let log = if log.is_empty() { None } else { Some(self.keep(&packed::pack(log)).await?) };
        self.store.act(RecordBuild { worker, attempt: ours(attempt), log }).await?;
        self.quotas.built(attempt, now);
        Ok(())
    }

    /// Keeps an object.
    pub(crate) async fn keep(&self, bytes: &[u8]) -> Result<Sha, ServerError> {
        let kept = self.objects.put(bytes).await;
        Ok(kept.map_err(|error| StoreError::File("objects".to_owned(), error))?)
    }

    /// Records that a match gave no result.
    ///
    /// # Errors
    /// Store errors.
    pub async fn void(
        &self,
        worker: WorkerId,
        attempt: Try,
        nothing: &Nothing,
        now: Time,
    ) -> Result<(), ServerError> {
        // The reason why a version cannot play is kept in parts, where it has any.
        let why = match &nothing.unfit {
            Some(unfit) => crate::json(&unfit.bounded(LONGEST_WHY)),
            // Not every database accepts a NUL.
            None => nothing.why.replace('\0', "\u{fffd}").chars().take(LONGEST_WHY).collect(),
        };
        // Only a version being tried out can turn out unfit: nobody may say that playing a ladder match is pointless.
        let kind = self.store.kind_of(MatchId(attempt.game)).await?;
        let hopeless = nothing.unfit.is_some() && matches!(kind, Some(Kind::Check | Kind::Draft));
        let by = nothing.doing().and_then(|by| i64::from(by).checked_sub(1)).filter(|by| *by >= 0);
        let counted = nothing.wait.as_ref().map(crate::json).filter(|text| text.len() <= LONGEST_WAIT);
        self.store
            .act(ReportVoid { worker, attempt: ours(attempt), why, hopeless, by, counted, now })
            .await?;
        self.brought.send_replace(());
        Ok(())
    }

    /// Gives back the unfinished matches of a lease.
    ///
    /// # Errors
    /// Store errors.
    pub async fn abort(&self, worker: WorkerId, lease: i64, now: Time) -> Result<(), ServerError> {
        self.quotas.give_back(worker, now);
        self.store.act(Abort { worker, lease: LeaseId(lease), now }).await?;
        Ok(())
    }

    /// The bytes that somebody handed in.
    ///
    /// # Errors
    /// When there is no such object.
    pub async fn fetch(&self, sha: &str) -> Result<Vec<u8>, ServerError> {
        let sha: Sha = sha.parse().map_err(ServerError::Wrong)?;
        self.objects
            .get(&sha, 2 * agon_worker::pack::MOST_PACKED)
            .await
            .map_err(|error| ServerError::Wrong(error.to_string()))
    }

    /// Which of the sources that a worker has unpacked belong to nobody any more: of accounts that were deleted, and of drafts.
    ///
    /// # Errors
    /// Store errors.
    pub async fn unneeded(&self, unpacked: &[String]) -> Result<Vec<String>, ServerError> {
        let needed = self.store.sources().await?;
        let is_needed = |source: &&String| source.parse::<Sha>().is_ok_and(|sha| needed.contains(&sha));
        Ok(unpacked.iter().filter(|source| !is_needed(source)).cloned().collect())
    }

    /// The same for a worker elsewhere: only what plays in a match that it holds; none otherwise.
    ///
    /// # Errors
    /// Store errors, and when the object is missing.
    pub async fn fetch_for(&self, worker: WorkerId, sha: &str) -> Result<Option<Vec<u8>>, ServerError> {
        let Ok(source) = sha.parse::<Sha>() else { return Ok(None) };
        match self.store.may_fetch(worker, &source).await? {
            true => self.fetch(sha).await.map(Some),
            false => Ok(None),
        }
    }
}

pub(crate) fn ours(attempt: Try) -> Attempt {
    Attempt { game: MatchId(attempt.game), n: attempt.n }
}

/// A match in the worker's terms.
pub(crate) fn job(
    leased: &Leased,
    versions: &BTreeMap<VersionId, EntrantVersion>,
) -> Result<Job, ServerError> {
    let seats = leased.seats.iter().map(|id| {
        let version = versions
            .get(id)
            .ok_or_else(|| ServerError::Wrong(format!("version {id} is not in this contest")))?;
        let program = match &version.builtin {
            Some(builtin) => BotSource::Builtin(builtin.clone()),
            None => BotSource::Source(version.source.to_string()),
        };
        let label = if version.boss {
            version.entrant.clone()
        } else {
            format!("{} v{}", version.entrant, version.n)
        };
        Ok(Sitting { label, program })
    });
    let mut disturbed = vec![0; leased.seats.len()];
    for seat in &leased.void_by {
        if let Some(times) = usize::try_from(*seat).ok().and_then(|seat| disturbed.get_mut(seat)) {
            *times += 1;
        }
    }
    if leased.void_by.is_empty() {
        disturbed.clear();
    }
    Ok(Job {
        attempt: Try { game: leased.attempt.game.0, n: leased.attempt.n },
        map: usize::try_from(leased.map).unwrap_or(usize::MAX),
        seed: leased.seed,
        seats: seats.collect::<Result<_, ServerError>>()?,
        tried: match leased.kind {
            Kind::Check => Some(0),
            Kind::Draft => {
                let draft = |id| {
                    versions.get(id).is_some_and(|own: &EntrantVersion| own.state == VersionState::Draft)
                };
                leased.seats.iter().position(draft)
            }
            _ => None,
        },
        disturbed,
        positions: Vec::new(),
    })
}
