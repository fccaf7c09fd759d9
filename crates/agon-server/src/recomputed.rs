//! Results recomputed from their replays: the server trusts no worker.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use agon_store::acts::Judgement;
use agon_store::{
    Attempt, ContestStore, Entry, Leased, Objects, Outcome, Posted, Sealed, StoreError, Version, VersionId,
};
use agon_worker::{Report, Table, verify};

use crate::{ServerError, asked, behind, json, read};

/// How many replays to hold in memory: each may be large, so the next ones are fetched only after these are judged.
const TOGETHER: usize = 32;

/// What the replays of results say, or why they are not of their matches.
///
/// # Errors
/// When a version that sat there is not known, or objects cannot be read for now, which is not the worker's fault.
pub async fn judge(
    table: &Arc<Table>,
    objects: &Objects,
    posted: Vec<Posted>,
    versions: &Arc<BTreeMap<VersionId, Version>>,
) -> Result<Vec<(Attempt, Judgement)>, ServerError> {
    let (mut posted, mut judged) = (posted.into_iter(), Vec::new());
    while posted.len() > 0 {
        let next: Vec<Posted> = posted.by_ref().take(TOGETHER).collect();
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
            let judge = |(result, replay): (Posted, io::Result<Vec<u8>>)| {
                let judgement = match judge_replay(&table, replay, &result, &versions)? {
                    Ok(outcome) => Judgement::Valid(outcome),
                    Err(why) => Judgement::Mismatch(why),
                };
                Ok((result.attempt, judgement))
            };
            fetched.into_iter().map(judge).collect::<Result<Vec<_>, ServerError>>()
        };
        judged.extend(behind::compute("judge", "computing results again", work).await??);
    }
    Ok(judged)
}

fn judge_replay(
    table: &Table,
    replay: io::Result<Vec<u8>>,
    result: &Posted,
    versions: &BTreeMap<VersionId, Version>,
) -> Result<Result<Outcome, String>, ServerError> {
    let replay = match replay {
        Ok(replay) => replay,
        Err(error) => return Ok(Err(format!("its replay cannot be read: {error}"))),
    };
    let (attempt, kind, map, seed) = (result.attempt, result.kind, result.map, result.seed);
    let job = asked::job(
        &Leased { attempt, kind, map, seed, seats: result.seats.clone(), void_by: Vec::new() },
        versions,
    )?;
    let Ok(report) = serde_json::from_str::<Report>(&result.result) else {
        return Ok(Err("its report cannot be read".to_owned()));
    };
    if report.faults.len() != job.seats.len() || report.max_ms.len() != job.seats.len() {
        return Ok(Err("its report has a different number of seats".to_owned()));
    }
    Ok(verify::verify(table, &job, &replay).map(|found| Outcome {
        ranks: found.ranks,
        scores: found.scores,
        reason: found.reason,
        steps: found.steps,
        start: found.start,
        answers: found.answers,
        faults: report.faults,
        max_ms: report.max_ms,
        level: report.level,
        suites: report.suites,
    }))
}

/// Recomputes every match of the log, and returns what differs from the log.
///
/// # Errors
/// Store errors.
pub async fn log(store: &ContestStore, objects: &Objects, table: &Table) -> Result<Vec<String>, ServerError> {
    let versions = store.versions().await?.into_iter().map(|version| (version.id, version)).collect();
    let (mut after, mut wrong) = (0, Vec::new());
    loop {
        let rows = store.log(after, 500).await?;
        let Some(last) = rows.last().map(|row| row.seq) else { return Ok(wrong) };
        for row in rows {
            let Entry::Result(sealed) = read(&row.body)? else { continue };
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
    table: &Table,
    sealed: Sealed,
    replay: io::Result<Vec<u8>>,
    versions: &BTreeMap<VersionId, Version>,
) -> Result<Option<String>, ServerError> {
    let (seq, told) = (sealed.seq, sealed.outcome);
    let report = Report {
        faults: told.faults.clone(),
        max_ms: told.max_ms.clone(),
        wall_us: 0,
        level: told.level.clone(),
        suites: told.suites.clone(),
    };
    let result = Posted {
        attempt: Attempt { game: sealed.game, n: 0 },
        worker: sealed.worker,
        kind: sealed.kind,
        map: sealed.map,
        seed: sealed.seed,
        seats: sealed.seats,
        result: json(&report),
        replay: sealed.replay,
    };
    Ok(match judge_replay(table, replay, &result, versions)? {
        Ok(outcome) if outcome == told => None,
        Ok(_) => Some(format!("a match is what its replay says: not so: log row {seq}")),
        Err(why) => Some(format!("a match is what its replay says: not so: log row {seq}: {why}")),
    })
}
