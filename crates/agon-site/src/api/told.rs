//! Converts what the store holds into the types of the API.

use agon_api::played::{Ended, Kind, MatchState, Note, OwnSeat, Seat, Told};
use agon_api::version::{Cause, Says, Stage, State, Step, Verdict, Whose};
use agon_api::{Match, Quota, Used, Version};
use agon_store::OwnVersion;
use agon_store::reads::Played;
use agon_worker::Private;

/// A number counted from 0 as one counted from 1.
pub fn from_one(number: i64) -> u32 {
    u32::try_from(number.saturating_add(1)).unwrap_or(0)
}

fn state(state: agon_store::VersionState) -> State {
    use agon_store::VersionState as Own;
    match state {
        Own::Received => State::Received,
        Own::Building => State::Building,
        Own::Checking => State::Checking,
        Own::Trial => State::Trial,
        Own::Live => State::Live,
        Own::Former => State::Former,
        Own::Failed => State::Failed,
        Own::Draft => State::Draft,
    }
}

/// Why something came to nothing.
pub fn cause(cause: agon_store::Cause) -> Cause {
    use agon_store::{Stage as Own, Whose as By};
    Cause {
        whose: match cause.whose {
            By::Yours => Whose::Yours,
            By::Ours => Whose::Ours,
        },
        stage: match cause.stage {
            Own::Unpacking => Stage::Unpacking,
            Own::Building => Stage::Building,
            Own::Starting => Stage::Starting,
            Own::Match => Stage::Match,
        },
        what: cause.what,
        fix: cause.fix,
    }
}

/// A version with its verdict, the number of the version before it, and whether the verdict is final.
pub fn version(own: OwnVersion, verdict: Option<(agon_ladder::Verdict, i64, bool)>) -> Version {
    let OwnVersion { version, steps, log, check } = own;
    let verdict = verdict.map(|(found, against, is_final)| Verdict {
        against,
        says: match found.says {
            agon_ladder::verdict::Says::Better => Says::Better,
            agon_ladder::verdict::Says::Worse => Says::Worse,
            agon_ladder::verdict::Says::Unknown => Says::Unknown,
        },
        text: found.to_string(),
        worse_on: found.worse_on.iter().map(|map| from_one(*map)).collect(),
        is_final,
    });
    Version {
        id: version.id.0,
        team: version.entrant,
        n: version.n,
        state: state(version.state),
        cause: version.cause.map(cause),
        reason: version.reason,
        only_if_better: version.only_if_better,
        received: version.received.0,
        sha256: version.source.to_string(),
        steps: steps.into_iter().map(|(step, at)| Step { state: state(step), at: at.0 }).collect(),
        has_log: log.is_some(),
        check: check.map(|game| game.0),
        verdict,
    }
}

/// A match.
pub fn game(played: Played) -> Match {
    use agon_store::{Kind as Own, MatchState as Is};
    let (reason, steps) = played.end.unzip();
    let seats = played.seats.into_iter().map(|seat| Seat {
        team: seat.team.0,
        name: seat.name,
        boss: seat.boss,
        version: seat.version.0,
        n: seat.n,
        rank: seat.rank,
        score: seat.score,
        fault: seat.fault,
        max_ms: seat.max_ms,
    });
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
        state: match played.state {
            Is::Planned => MatchState::Planned,
            Is::Leased => MatchState::Leased,
            Is::Posted => MatchState::Posted,
            Is::Valid => MatchState::Valid,
            Is::Dead => MatchState::Dead,
        },
        map: from_one(played.map),
        seed: played.seed.to_string(),
        planned: played.planned.0,
        settled: played.settled.map(|at| at.0),
        reason,
        steps,
        has_replay: played.replay.is_some(),
        void_tries: played.wasted,
        seats: seats.collect(),
    }
}

/// The ending of a match to search for.
pub fn ended(ended: Ended) -> agon_store::reads::Ended {
    match ended {
        Ended::Won => agon_store::reads::Ended::Won,
        Ended::Drawn => agon_store::reads::Ended::Drawn,
        Ended::Lost => agon_store::reads::Ended::Lost,
    }
}

/// What belongs to a seat, from 0.
pub fn own((seat, private): (usize, Private)) -> OwnSeat {
    let fault = |told: agon_worker::protocol::Told| Told {
        step: told.step.saturating_add(1),
        turn: told.turn,
        kind: told.kind,
        what: told.what,
        fix: told.fix,
    };
    let note = |note: agon_replay::Note| Note {
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
pub fn quota(quota: &agon_store::reads::Quota) -> Quota {
    let used = |used: &agon_store::reads::Used| Used {
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
