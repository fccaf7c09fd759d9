//! Results, computed again from their replays: the server believes nobody.

use std::collections::BTreeMap;
use std::io;

use agon_store::{
    Attempt, Contest, Entry, Leased, Objects, Outcome, Posted, Sealed, Store, Version, VersionId,
};
use agon_worker::{Report, Table, verify};

use crate::{ServerError, asked, json, read};

/// What the replay of a result says, or why it is not the match.
///
/// # Errors
/// When a version that sat there is not known.
pub fn judge(
    table: &Table,
    objects: &Objects,
    result: &Posted,
    versions: &BTreeMap<VersionId, Version>,
) -> Result<Result<Outcome, String>, ServerError> {
    judge_replay(table, objects.get(&result.replay, verify::LARGEST as u64), result, versions)
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
    let job = asked::job(&Leased { attempt, kind, map, seed, seats: result.seats.clone() }, versions)?;
    let Ok(report) = serde_json::from_str::<Report>(&result.result) else {
        return Ok(Err("its report cannot be read".to_owned()));
    };
    if report.faults.len() != job.seats.len() || report.max_ms.len() != job.seats.len() {
        return Ok(Err("its report is of another number of seats".to_owned()));
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
    }))
}

/// Computes every match of the log again, and says what is not as it stands there.
///
/// # Errors
/// Those of the store.
pub async fn log(
    store: &Store,
    objects: &Objects,
    contest: &Contest,
    table: &Table,
) -> Result<Vec<String>, ServerError> {
    let versions =
        store.versions(contest.id).await?.into_iter().map(|version| (version.id, version)).collect();
    let (mut after, mut wrong) = (0, Vec::new());
    loop {
        let rows = store.log(contest.id, after, 500).await?;
        let Some(last) = rows.last().map(|row| row.seq) else { return Ok(wrong) };
        for row in rows {
            let Entry::Result(sealed) = read(&row.body)? else { continue };
            let replay = objects.get(&sealed.replay, verify::LARGEST as u64);
            wrong.extend(sealed_row(table, *sealed, replay, &versions)?);
        }
        after = last;
    }
}

/// What is not in a row of the log as its replay says; none when all is.
///
/// # Errors
/// When a version that sat there is not known.
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
