//! Converts what the store holds into the types of the API.

use agon_api::played::{Kind, Note, OwnSeat, Told};
use agon_api::version::{Verdict, VersionStep};
use agon_api::{Match, Quota, Used, Version};
use agon_store::OwnVersion;
use agon_store::reads::StoredMatch;
use agon_worker::Private;

/// A number counted from 0 as one counted from 1.
pub fn from_one(number: i64) -> u32 {
    u32::try_from(number.saturating_add(1)).unwrap_or(0)
}

/// A version with its verdict, the number of the version before it, and whether the verdict is final.
pub fn version(own: OwnVersion, verdict: Option<(agon_ladder::Evidence, i64, bool)>) -> Version {
    let OwnVersion { version, steps, log, check } = own;
    let verdict = verdict.map(|(found, against, is_final)| Verdict {
        against,
        says: found.says,
        text: found.to_string(),
        worse_on: found.worse_on.iter().map(|map| from_one(*map)).collect(),
        is_final,
    });
    Version {
        id: version.id.0,
        team: version.entrant,
        n: version.n,
        state: version.state,
        cause: version.cause,
        reason: version.reason,
        only_if_better: version.only_if_better,
        received: version.received.0,
        sha256: version.source.to_string(),
        steps: steps.into_iter().map(|(step, at)| VersionStep { state: step, at: at.0 }).collect(),
        has_log: log.is_some(),
        check: check.map(|game| game.0),
        verdict,
    }
}

/// A match; `map_name` is that of its map.
pub fn game(played: StoredMatch, map_name: String) -> Match {
    use agon_store::Kind as Own;
    let rules_changed = agon_server::changed_rules(&played).map(|own| own.says);
    let (reason, steps) = played.end.unzip();
    Match {
        id: played.id.0,
        kind: match played.kind {
            Own::Check => Kind::Check,
            Own::Draft => Kind::Draft,
            Own::Challenge => Kind::Challenge,
            Own::Promotion => Kind::Promotion,
            // Matches played again as a check are shown to nobody as such.
            Own::Ladder | Own::Again => Kind::Ladder,
        },
        state: played.state,
        map: from_one(played.map),
        seed: played.seed.to_string(),
        map_name,
        rules_changed,
        planned: played.planned.0,
        settled: played.settled.map(|at| at.0),
        reason,
        steps,
        has_replay: played.replay.is_some(),
        void_tries: played.wasted,
        seats: played.seats,
    }
}

/// What belongs to a seat, from 0.
pub fn own((seat, private): (usize, Private)) -> OwnSeat {
    let fault = |told: agon_worker::protocol::ToldFault| Told {
        step: told.step.saturating_add(1),
        turn: told.turn,
        kind: told.kind,
        what: told.what,
        fix: told.fix,
    };
    let note = |note: agon_replay::SeatNote| Note {
        step: note.step.saturating_add(1),
        kind: note.kind,
        text: note.text,
    };
    OwnSeat {
        seat: from_one(seat as i64),
        faults: private.faults.into_iter().map(fault).collect(),
        notes: private.notes.into_iter().map(note).collect(),
        left_out: private.left_out as u64,
    }
}

/// What a team may still do.
pub fn quota(quota: &agon_store::reads::Allowances) -> Quota {
    let used = |used: &agon_store::reads::AllowanceUse| Used {
        used: used.used,
        most: used.most,
        until: used.until.map(|at| at.0),
    };
    Quota {
        uploads_an_hour: used(&quota.uploads_an_hour),
        uploads_a_day: used(&quota.uploads_a_day),
        bytes: used(&quota.bytes),
        asked_an_hour: used(&quota.asked_an_hour),
    }
}
