//! Results recomputed from their replays: the server trusts no worker.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use agon_contest::{MatchResult, Observed};
use agon_store::acts::Judgement;
use agon_store::{
    Attempt, ContestStore, EntrantVersion, Leased, LogEntry, Objects, PostedMatch, Sealed, StoreError,
    VersionId,
};
use agon_worker::{PreparedGame, verify};

use crate::{ServerError, asked, behind, read};

/// How many replays to hold in memory: each may be large, so the next ones are fetched only after these are judged.
const TOGETHER: usize = 32;

/// What the replays of results say, or why they are not of their matches.
///
/// # Errors
/// When a version that sat there is not known, or objects cannot be read for now, which is not the worker's fault.
pub async fn judge(
    table: &Arc<PreparedGame>,
    objects: &Objects,
    posted: Vec<PostedMatch>,
    versions: &Arc<BTreeMap<VersionId, EntrantVersion>>,
) -> Result<Vec<(Attempt, Judgement)>, ServerError> {
    let (mut posted, mut judged) = (posted.into_iter(), Vec::new());
    while posted.len() > 0 {
        let next: Vec<PostedMatch> = posted.by_ref().take(TOGETHER).collect();
        let replays = next.iter().map(|result| result.replay).collect();
        let away = |error| StoreError::File("objects".to_owned(), error);
        let replays = objects.get_all(replays, verify::LARGEST as u64).await.map_err(away)?;
        let is_theirs =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData);
        if let Some(error) =
            replays.iter().filter_map(|replay| replay.as_ref().err()).find(|error| !is_theirs(error))
        {
            return Err(away(io::Error::other(error.to_string())).into());
        }
        let fetched: Vec<_> = next.into_iter().zip(replays).collect();
        let (table, versions) = (table.clone(), versions.clone());
        let work = move || {
            let judge = |(result, replay): (PostedMatch, io::Result<Vec<u8>>)| {
                let PostedMatch { attempt, kind, map, seed, rules, seats, .. } = result;
                let judged = match serde_json::from_str(&result.result) {
                    Ok(observed) => {
                        let leased = Leased { attempt, kind, map, seed, rules, seats, void_by: Vec::new() };
                        judge_replay(&table, replay, &leased, observed, &versions)?
                    }
                    Err(_) => Err("its report cannot be read".to_owned()),
                };
                Ok((attempt, judged.map_or_else(Judgement::Mismatch, Judgement::Valid)))
            };
            fetched.into_iter().map(judge).collect::<Result<Vec<_>, ServerError>>()
        };
        judged.extend(behind::compute("judge", "computing results again", work).await??);
    }
    Ok(judged)
}

/// What a replay says of a match of which this was observed, or why it is not of that match.
fn judge_replay(
    table: &PreparedGame,
    replay: io::Result<Vec<u8>>,
    leased: &Leased,
    observed: Observed,
    versions: &BTreeMap<VersionId, EntrantVersion>,
) -> Result<Result<MatchResult, String>, ServerError> {
    let replay = match replay {
        Ok(replay) => replay,
        Err(error) => return Ok(Err(format!("its replay cannot be read: {error}"))),
    };
    let job = asked::job(leased, versions)?;
    let seats = job.seats.len();
    if observed.faults.public().len() != seats || observed.max_ms.len() != seats {
        return Ok(Err("its report has a different number of seats".to_owned()));
    }
    // How long it took is in no log.
    let observed = Observed { wall_us: 0, ..observed };
    Ok(verify::verify(table, &job, &replay).map(|proven| MatchResult { proven, observed }))
}

/// Recomputes every match of the log, and returns what differs from the log.
///
/// # Errors
/// Store errors.
pub async fn log(
    store: &ContestStore,
    objects: &Objects,
    table: &PreparedGame,
) -> Result<Vec<String>, ServerError> {
    let versions = store.versions().await?.into_iter().map(|version| (version.id, version)).collect();
    let (mut after, mut wrong) = (0, Vec::new());
    loop {
        let rows = store.log(after, 500).await?;
        let Some(last) = rows.last().map(|row| row.seq) else { return Ok(wrong) };
        for row in rows {
            let LogEntry::Result(sealed) = read(&row.body)? else { continue };
            let replay = objects.get(&sealed.replay, verify::LARGEST as u64).await;
            wrong.extend(sealed_row(table, *sealed, replay, &versions)?);
        }
        after = last;
    }
}

/// How a row of the log differs from its replay; none if it does not.
///
/// # Errors
/// When one of its versions is not known.
pub fn sealed_row(
    table: &PreparedGame,
    sealed: Sealed,
    replay: io::Result<Vec<u8>>,
    versions: &BTreeMap<VersionId, EntrantVersion>,
) -> Result<Option<String>, ServerError> {
    let (seq, told) = (sealed.seq, sealed.outcome);
    let leased = Leased {
        attempt: Attempt { game: sealed.game, n: 0 },
        kind: sealed.kind,
        map: sealed.map,
        seed: sealed.seed,
        rules: None,
        seats: sealed.seats,
        void_by: Vec::new(),
    };
    let found = judge_replay(table, replay, &leased, told.observed.clone(), versions)?.map(|mut found| {
        // Rows of before this was in them.
        if told.proven.silent.is_empty() {
            found.proven.silent.clear();
        }
        found
    });
    Ok(match found {
        Ok(outcome) if outcome == told => None,
        Ok(_) => Some(format!("a match is what its replay says: not so: log row {seq}")),
        Err(why) => Some(format!("a match is what its replay says: not so: log row {seq}: {why}")),
    })
}
