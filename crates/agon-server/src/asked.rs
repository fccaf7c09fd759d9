//! What happens when a worker asks. Ladder matches are made here, when work is wanted, and not ahead: no queue
//! grows old.

use std::collections::BTreeMap;

use agon_ladder::{Contender, Ladder, Lane};
use agon_store::acts::{
    Abort, Beat, Building, Built, Granted, Lease, Meet, Plan, Post, PostReply, Reclaim, Release, Start, Void,
};
use agon_store::{
    Attempt, Contest, Kind, LeaseId, Leased, MatchId, Sha, Time, Version, VersionId, VersionState, WorkerId,
};
use agon_worker::protocol::MOST_PRIVATE;
use agon_worker::versions::MOST_LOG;
use agon_worker::{Job, Nothing, Private, Program, Report, Sitting, Try};
use futures_util::future::{try_join, try_join_all};

use crate::{Server, ServerError, number};

/// A lease holds so long without a beat, in milliseconds.
pub const LEASE_MS: i64 = 60_000;
/// With more results that nobody has checked nothing is leased: who recomputes falls behind.
const MOST_UNCHECKED: i64 = 512;
/// A longer report is refused, in bytes of JSON: it goes into the log.
const MOST_REPORT: usize = 16 << 10;
/// What a worker posts of a match: what it saw, the replay, and what belongs to the author of each seat.
pub type Over<'a> = (&'a Report, &'a [u8], &'a [Option<Private>]);
/// A longer reason is cut, in characters.
const LONGEST_WHY: usize = 4_000;

impl Server {
    /// A worker introduces itself. Leases of an earlier process under its name end, for it is gone.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn meet(&self, name: &str, level: &str, now: Time) -> Result<WorkerId, ServerError> {
        let worker = self.store.act(Meet { name: name.to_owned(), level: level.to_owned(), now }).await?;
        self.store.act(Reclaim { worker, now }).await?;
        Ok(worker)
    }

    /// Matches to play.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn lease(
        &self,
        worker: WorkerId,
        request: &str,
        most: usize,
        now: Time,
    ) -> Result<agon_worker::Granted, ServerError> {
        let until = now.plus(LEASE_MS);
        let lease = Lease { contest: self.contest, worker, request: request.to_owned(), most, now, until };
        let mut granted = self.store.act(lease.clone()).await?;
        if granted.matches.is_empty() && self.plan(most, now).await? > 0 {
            granted = self.store.act(lease).await?;
        }
        self.told(granted).await
    }

    /// Plans what comes next until `most` matches wait, as far as somebody needs them: how many were planned. Each kind of work
    /// has its share.
    async fn plan(&self, most: usize, now: Time) -> Result<usize, ServerError> {
        // One at a time: who plays next depends on what was planned just now.
        let mut learnt = self.learnt.lock().await;
        let Some(contest) = self.contest_now().await? else { return Ok(0) };
        let unchecked = self.store.unchecked().await?;
        if contest.paused || contest.draining || unchecked > MOST_UNCHECKED {
            return Ok(0);
        }
        let learnt = &mut *learnt;
        let (mut planned, mut idle) = (0, Vec::new());
        while planned < most {
            let Some(lane) = learnt.shares.next(|lane| !idle.contains(&lane)) else { break };
            let mut versions = self.store.versions(self.contest).await?;
            // Who is out plays no more.
            let out = self.out(&learnt.facts).await?;
            versions.retain(|version| !out.contains(&version.id));
            let ladder = &mut learnt.facts.ladder;
            let matches = match lane {
                Lane::Ladder => self.plan_block(ladder, &versions, now).await?,
                Lane::Promotion => self.plan_trial(ladder, &versions, now).await?,
                Lane::Asked => self.store.act(Release { contest: self.contest, now }).await?,
            };
            match matches {
                0 => idle.push(lane),
                matches => learnt.shares.count(lane, matches),
            }
            planned += matches;
        }
        Ok(planned)
    }

    /// Plans a block of the ladder: how many matches.
    async fn plan_block(
        &self,
        ladder: &mut Ladder,
        versions: &[Version],
        now: Time,
    ) -> Result<usize, ServerError> {
        let flying = self.store.in_flight(self.contest).await?;
        let suspended = self.store.suspended(self.contest).await?;
        let plays =
            |version: &&Version| version.state == VersionState::Live && !suspended.contains_key(&version.id);
        let live = versions.iter().filter(plays);
        let contenders: Vec<Contender> = live
            .map(|version| Contender {
                version: number(version.id),
                in_flight: flying.get(&version.id).copied().unwrap_or(0),
            })
            .collect();
        let blocks = self.blocks().await?;
        let Some(lineup) = ladder.next(&contenders, &self.policy, blocks + 1) else { return Ok(0) };
        let rotations = lineup.len();
        let plan = Plan {
            contest: self.contest,
            kind: Kind::Ladder,
            map: self.map(blocks),
            lineup: lineup.into_iter().map(VersionId).collect(),
            rotations,
            now,
        };
        self.store.act(plan).await?;
        Ok(rotations)
    }

    /// The number of the last block.
    async fn blocks(&self) -> Result<i64, ServerError> {
        Ok(self.contest_now().await?.map_or(0, |contest| contest.blocks))
    }

    /// The contest as it stands.
    pub(crate) async fn contest_now(&self) -> Result<Option<Contest>, ServerError> {
        let contests = self.store.contests().await?;
        Ok(contests.into_iter().find(|contest| contest.id == self.contest))
    }

    /// The maps come in turn.
    pub(crate) fn map(&self, block: i64) -> i64 {
        block % (self.table.maps() as i64).max(1)
    }

    /// What was granted, in the words of workers.
    async fn told(&self, granted: Granted) -> Result<agon_worker::Granted, ServerError> {
        if granted.matches.is_empty() {
            return Ok(agon_worker::Granted::default());
        }
        let versions = self.known().await?;
        let jobs = granted.matches.iter().map(|leased| job(leased, &versions)).collect::<Result<_, _>>()?;
        Ok(agon_worker::Granted { lease: granted.lease.map(|lease| lease.0), jobs })
    }

    pub(crate) async fn known(&self) -> Result<BTreeMap<VersionId, Version>, ServerError> {
        let players = self.store.players(self.contest).await?;
        Ok(players.into_iter().map(|version| (version.id, version)).collect())
    }

    /// A match begins.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn start(&self, worker: WorkerId, attempt: Try, now: Time) -> Result<bool, ServerError> {
        Ok(self.store.act(Start { worker, attempt: ours(attempt), now }).await?)
    }

    /// A worker lives.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn beat(&self, worker: WorkerId, lease: i64, now: Time) -> Result<bool, ServerError> {
        let until = now.plus(LEASE_MS);
        Ok(self.store.act(Beat { worker, lease: LeaseId(lease), now, until }).await?)
    }

    /// The version that a check match is about is unpacked and built.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn building(&self, worker: WorkerId, attempt: Try, now: Time) -> Result<bool, ServerError> {
        Ok(self.store.act(Building { worker, attempt: ours(attempt), now }).await?)
    }

    /// That is over; what the build said is kept for its author.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn built(&self, worker: WorkerId, attempt: Try, log: &[u8]) -> Result<(), ServerError> {
        let log = &log[log.len().saturating_sub(MOST_LOG as usize)..];
        let log = if log.is_empty() { None } else { Some(self.keep(log).await?) };
        self.store.act(Built { worker, attempt: ours(attempt), log }).await?;
        Ok(())
    }

    /// Keeps an object.
    pub(crate) async fn keep(&self, bytes: &[u8]) -> Result<Sha, ServerError> {
        let kept = self.objects.put(bytes).await;
        Ok(kept.map_err(|error| agon_store::StoreError::File("objects".to_owned(), error))?)
    }

    /// A match is over: its replay and what belongs to the authors are kept first, then one short transaction.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn post(
        &self,
        worker: WorkerId,
        attempt: Try,
        (report, replay, own): Over<'_>,
        now: Time,
    ) -> Result<agon_worker::Posted, ServerError> {
        if replay.len() > agon_worker::verify::LARGEST {
            return Ok(agon_worker::Posted::Refused);
        }
        let own: Vec<Option<String>> =
            own.iter().take(usize::from(u8::MAX)).map(|own| own.as_ref().map(crate::json)).collect();
        if own.iter().flatten().any(|own| own.len() > MOST_PRIVATE) {
            return Ok(agon_worker::Posted::Refused);
        }
        let report = crate::json(report);
        if report.len() > MOST_REPORT {
            return Ok(agon_worker::Posted::Refused);
        }
        let own = own.iter().map(|own| async move {
            match own {
                Some(own) => self.keep(own.as_bytes()).await.map(Some),
                None => Ok(None),
            }
        });
        let (own, replay) = try_join(try_join_all(own), self.keep(replay)).await?;
        let post = Post { worker, attempt: ours(attempt), result: report, replay, own, now };
        Ok(match self.store.act(post).await? {
            PostReply::Kept | PostReply::Same => agon_worker::Posted::Kept,
            PostReply::Settled => agon_worker::Posted::Settled,
            PostReply::Conflict | PostReply::Unknown => agon_worker::Posted::Refused,
        })
    }

    /// Matches are over: each as if it came alone, and all in one transaction where nothing hinders that.
    ///
    /// # Errors
    /// Those of the store. Some may be kept then; each may be posted again.
    pub async fn post_all(
        &self,
        worker: WorkerId,
        over: &[(Try, Over<'_>)],
        now: Time,
    ) -> Result<Vec<agon_worker::Posted>, ServerError> {
        // Of two that are of one try, and differ, the first counts: they go one after the other.
        let mut lines: Vec<Vec<usize>> = Vec::new();
        for (place, (attempt, _)) in over.iter().enumerate() {
            match lines.iter_mut().find(|line| over[line[0]].0 == *attempt) {
                Some(line) => line.push(place),
                None => lines.push(vec![place]),
            }
        }
        let posted = try_join_all(lines.iter().map(|line| async move {
            let mut posted = Vec::new();
            for &place in line {
                let (attempt, over) = over[place];
                posted.push((place, self.post(worker, attempt, over, now).await?));
            }
            Ok::<_, ServerError>(posted)
        }));
        let mut posted: Vec<_> = posted.await?.into_iter().flatten().collect();
        posted.sort_unstable_by_key(|(place, _)| *place);
        Ok(posted.into_iter().map(|(_, posted)| posted).collect())
    }

    /// A match came to nothing.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn void(
        &self,
        worker: WorkerId,
        attempt: Try,
        nothing: &Nothing,
        now: Time,
    ) -> Result<(), ServerError> {
        // Why a version cannot play is kept in parts, where there are such.
        let why = match &nothing.unfit {
            Some(unfit) => crate::json(&unfit.bounded(LONGEST_WHY)),
            // A database need not take a NUL.
            None => nothing.why.replace('\0', "\u{fffd}").chars().take(LONGEST_WHY).collect(),
        };
        // Only what is tried out can turn out to be unfit: of a match of the ladder nobody may say that it is of no use.
        let kind = self.store.kind_of(MatchId(attempt.game)).await?;
        let hopeless = nothing.unfit.is_some() && matches!(kind, Some(Kind::Check | Kind::Draft));
        self.store.act(Void { worker, attempt: ours(attempt), why, hopeless, now }).await?;
        Ok(())
    }

    /// What of a lease is not over is given back.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn abort(&self, worker: WorkerId, lease: i64, now: Time) -> Result<(), ServerError> {
        self.store.act(Abort { worker, lease: LeaseId(lease), now }).await?;
        Ok(())
    }

    /// What somebody handed in.
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

    /// The same for a worker elsewhere: only what plays in a match that it has in hand; none where nothing of that does.
    ///
    /// # Errors
    /// Those of the store, and when the object is not there.
    pub async fn fetch_for(&self, worker: WorkerId, sha: &str) -> Result<Option<Vec<u8>>, ServerError> {
        let Ok(source) = sha.parse::<Sha>() else { return Ok(None) };
        match self.store.may_fetch(worker, &source).await? {
            true => self.fetch(sha).await.map(Some),
            false => Ok(None),
        }
    }
}

fn ours(attempt: Try) -> Attempt {
    Attempt { game: MatchId(attempt.game), n: attempt.n }
}

/// A match in the words of workers.
pub(crate) fn job(leased: &Leased, versions: &BTreeMap<VersionId, Version>) -> Result<Job, ServerError> {
    let seats = leased.seats.iter().map(|id| {
        let version = versions
            .get(id)
            .ok_or_else(|| ServerError::Wrong(format!("version {id} is not in this contest")))?;
        let program = match &version.builtin {
            Some(builtin) => Program::Builtin(builtin.clone()),
            None => Program::Source(version.source.to_string()),
        };
        let label = if version.boss {
            version.entrant.clone()
        } else {
            format!("{} v{}", version.entrant, version.n)
        };
        Ok(Sitting { label, program })
    });
    Ok(Job {
        attempt: Try { game: leased.attempt.game.0, n: leased.attempt.n },
        map: usize::try_from(leased.map).unwrap_or(usize::MAX),
        seed: leased.seed,
        seats: seats.collect::<Result<_, ServerError>>()?,
        tried: match leased.kind {
            Kind::Check => Some(0),
            Kind::Draft => {
                let draft =
                    |id| versions.get(id).is_some_and(|own: &Version| own.state == VersionState::Draft);
                leased.seats.iter().position(draft)
            }
            _ => None,
        },
    })
}
