//! Is everything as it must be? Each invariant is a query that finds violations.

use std::collections::BTreeMap;

use crate::checksums::Checksums;
use crate::{
    ContestStore, LARGEST_OBJECT, LogEntry, LogRow, Objects, Ruling, Store, StoreError, Time, VersionState,
    backend, chain, out,
};

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    /// What violates it.
    pub what: String,
}

/// An invariant: what must hold, and a query for violations, each with a name and a number.
struct Rule {
    holds: &'static str,
    breaks: &'static str,
}

/// Upper limit on the violations reported for one rule.
const TOLD: usize = 20;

/// All rules that a query can check.
const RULES: &[Rule] = &[
    Rule {
        holds: "a job exists exactly while its match is planned or leased",
        breaks: "SELECT 'match', m.id FROM matches m LEFT JOIN jobs j ON j.match_id = m.id \
                 WHERE (m.state IN ('planned', 'leased')) <> (j.id IS NOT NULL) LIMIT 20",
    },
    Rule {
        holds: "a match is leased exactly while its job has a lease",
        breaks: "SELECT 'match', m.id FROM matches m JOIN jobs j ON j.match_id = m.id \
                 WHERE (m.state = 'leased') <> (j.lease_id IS NOT NULL) LIMIT 20",
    },
    Rule {
        holds: "a lease that a job names exists",
        breaks: "SELECT 'job', j.id FROM jobs j LEFT JOIN leases l ON l.id = j.lease_id \
                 WHERE j.lease_id IS NOT NULL AND l.id IS NULL LIMIT 20",
    },
    Rule {
        holds: "an attempt is open exactly while its match is leased for it, by the worker of the lease",
        breaks: "SELECT 'match', a.match_id FROM attempts a JOIN matches m ON m.id = a.match_id \
                 LEFT JOIN jobs j ON j.match_id = m.id LEFT JOIN leases l ON l.id = j.lease_id \
                 WHERE (a.ended_ms IS NULL) <> (m.state = 'leased' AND m.attempt = a.n AND l.worker_id = a.worker_id) \
                 LIMIT 20",
    },
    Rule {
        holds: "an attempt says how it ended exactly when it has ended",
        breaks: "SELECT 'match', match_id FROM attempts WHERE (ended_ms IS NULL) <> (how IS NULL) LIMIT 20",
    },
    Rule {
        holds: "a match has at most one valid result, from an attempt that posted it",
        breaks: "SELECT 'match', m.id FROM matches m LEFT JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
                 WHERE m.state IN ('posted', 'valid') AND (a.how IS NULL OR a.how <> 'posted') LIMIT 20",
    },
    Rule {
        holds: "a posted match has a result and a replay, a valid one an outcome and a replay, any other neither",
        breaks: "SELECT 'match', id FROM matches WHERE (replay_sha IS NOT NULL) <> (state IN ('posted', 'valid')) \
                 OR (result IS NOT NULL) <> (state = 'posted') OR (outcome IS NOT NULL) <> (state = 'valid') \
                 OR (settled_ms IS NOT NULL) <> (state = 'valid') LIMIT 20",
    },
    Rule {
        holds: "a valid match has all its ranks, and any other has none",
        breaks: "SELECT 'match', m.id FROM matches m JOIN seats s ON s.match_id = m.id \
                 WHERE (s.rank IS NOT NULL) <> (m.state = 'valid') LIMIT 20",
    },
    Rule {
        holds: "failed attempts count: their match waits with that number of tries, or is dead after three",
        breaks: "SELECT 'match', j.match_id FROM jobs j WHERE j.tries <> (SELECT count(*) FROM attempts a \
                 WHERE a.match_id = j.match_id AND a.how IN ('lost', 'void', 'mismatch')) OR j.tries >= 3 LIMIT 20",
    },
    Rule {
        holds: "a dead match was tried three times, or its bot could not be prepared, or it was only a repeat",
        breaks: "SELECT 'match', m.id FROM matches m WHERE m.state = 'dead' AND (SELECT count(*) FROM attempts a \
                 WHERE a.match_id = m.id AND a.how IN ('lost', 'void', 'mismatch')) < 3 AND NOT EXISTS \
                 (SELECT 1 FROM attempts a WHERE a.match_id = m.id AND a.how = 'unfit') AND NOT EXISTS \
                 (SELECT 1 FROM blocks b WHERE b.id = m.block_id AND b.kind = 'again') LIMIT 20",
    },
    Rule {
        holds: "a ladder match has all its rotations in its block",
        breaks: "SELECT 'block', b.id FROM blocks b WHERE b.kind IN ('ladder', 'promotion') AND \
                 (SELECT count(*) FROM matches m WHERE m.block_id = b.id) <> (SELECT count(*) FROM seats s \
                 JOIN matches m ON m.id = s.match_id WHERE m.block_id = b.id AND m.rotation = 0) LIMIT 20",
    },
    Rule {
        holds: "over the rotations of a block, everybody sits in each seat once",
        breaks: "SELECT 'block', b.id FROM blocks b JOIN matches m ON m.block_id = b.id JOIN seats s ON s.match_id = m.id \
                 WHERE b.kind = 'ladder' GROUP BY b.id, s.seat, s.version_id HAVING count(*) <> \
                 (SELECT count(*) FROM seats s2 JOIN matches m2 ON m2.id = s2.match_id WHERE m2.block_id = b.id \
                 AND m2.rotation = 0 AND s2.version_id = s.version_id) LIMIT 20",
    },
    Rule {
        holds: "blocks of a contest are numbered without gaps",
        breaks: "SELECT 'contest', c.id FROM contests c WHERE c.blocks <> (SELECT count(*) FROM blocks b \
                 WHERE b.contest_id = c.id AND b.n > 0) OR c.blocks <> (SELECT coalesce(max(n), 0) FROM blocks b \
                 WHERE b.contest_id = c.id AND b.n > 0)",
    },
    Rule {
        holds: "a match in the log is valid, and knows its place there",
        breaks: "SELECT 'log row', l.seq FROM log l LEFT JOIN matches m ON m.id = l.match_id \
                 WHERE l.match_id IS NOT NULL AND (m.id IS NULL OR m.state <> 'valid' OR m.log_seq IS NULL OR m.log_seq <> l.seq) LIMIT 20",
    },
    Rule {
        holds: "a match that names a place in the log is there",
        breaks: "SELECT 'match', m.id FROM matches m LEFT JOIN log l ON l.match_id = m.id \
                 WHERE m.log_seq > 0 AND l.seq IS NULL LIMIT 20",
    },
    Rule {
        holds: "a valid match is kept out of the log exactly when it is a draft or a repeat",
        breaks: "SELECT 'match', m.id FROM matches m JOIN blocks b ON b.id = m.block_id WHERE (m.log_seq IS NOT NULL \
                 AND m.log_seq = 0) <> (b.kind IN ('draft', 'again') AND m.state = 'valid') LIMIT 20",
    },
    Rule {
        holds: "only challenges and drafts name who asked, and only they and repeats have numbers below 0",
        breaks: "SELECT 'block', id FROM blocks WHERE (asked_by IS NOT NULL) <> (kind IN ('challenge', 'draft')) \
                 OR (asked_by IS NOT NULL OR kind = 'again') <> (n < 0) LIMIT 20",
    },
    Rule {
        holds: "a repeat has the seed and map of its original, and only jobs of repeats leave a worker out",
        breaks: "SELECT 'block', b.id FROM blocks b LEFT JOIN blocks o ON o.contest_id = b.contest_id AND o.n = b.twin_of \
                 WHERE b.kind = 'again' AND (o.id IS NULL OR o.kind <> 'ladder' OR o.seed <> b.seed OR o.map <> b.map) UNION ALL \
                 SELECT 'job of match', j.match_id FROM jobs j JOIN matches m ON m.id = j.match_id \
                 JOIN blocks b ON b.id = m.block_id WHERE (j.but_id IS NOT NULL) <> (b.kind = 'again') LIMIT 20",
    },
    Rule {
        holds: "a match is compared once another worker has repeated it",
        breaks: "SELECT 'match', of_id FROM agains WHERE (at_ms IS NULL) <> (second_id IS NULL) \
                 OR (at_ms IS NULL) <> (differs IS NULL) OR second_id = first_id LIMIT 20",
    },
    Rule {
        holds: "only drafts have rules of their own",
        breaks: "SELECT 'block', b.id FROM own_rules r JOIN blocks b ON b.id = r.block_id WHERE b.kind <> 'draft' LIMIT 20",
    },
    Rule {
        holds: "promotion blocks belong to a trial, and no other block does",
        breaks: "SELECT 'block', b.id FROM blocks b LEFT JOIN trials t ON t.version_id = b.trial_id \
                 WHERE (b.trial_id IS NOT NULL) <> (b.kind = 'promotion') OR (b.trial_id IS NOT NULL AND t.version_id IS NULL) \
                 LIMIT 20",
    },
    Rule {
        holds: "a version in its trial has one that is still open",
        breaks: "SELECT 'version', v.id FROM versions v LEFT JOIN trials t ON t.version_id = v.id AND t.ended_ms IS NULL \
                 WHERE v.state = 'trial' AND t.version_id IS NULL LIMIT 20",
    },
    Rule {
        holds: "the log has no gaps",
        breaks: "SELECT 'contest', contest_id FROM log GROUP BY contest_id HAVING count(*) <> max(seq) OR min(seq) <> 1",
    },
    Rule {
        holds: "a team has at most one live version, and it is the one that is entered",
        breaks: "SELECT 'team', v.entrant_id FROM versions v LEFT JOIN entries e ON e.version_id = v.id AND e.to_ms IS NULL \
                 GROUP BY v.entrant_id HAVING sum(CASE WHEN v.state = 'live' THEN 1 ELSE 0 END) > 1 \
                 OR sum(CASE WHEN (v.state = 'live') <> (e.version_id IS NOT NULL) THEN 1 ELSE 0 END) > 0 LIMIT 20",
    },
    Rule {
        holds: "a version was received, and its state is among its steps",
        breaks: "SELECT 'version', v.id FROM versions v WHERE v.state <> 'draft' AND (NOT EXISTS (SELECT 1 FROM steps s \
                 WHERE s.version_id = v.id AND s.state = 'received') OR (v.state IN ('building', 'trial', 'live', 'failed') \
                 AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.version_id = v.id AND s.state = v.state) \
                 AND (v.state <> 'failed' OR v.cause IS NOT NULL))) LIMIT 20",
    },
    Rule {
        holds: "only a failed version has a cause",
        breaks: "SELECT 'version', id FROM versions WHERE cause IS NOT NULL AND state <> 'failed' LIMIT 20",
    },
    Rule {
        holds: "only a match with a result has reports for its authors",
        breaks: "SELECT 'match', m.id FROM matches m JOIN seats s ON s.match_id = m.id \
                 WHERE s.own_sha IS NOT NULL AND m.state NOT IN ('posted', 'valid') LIMIT 20",
    },
    Rule {
        holds: "only versions that were live play in the ladder",
        breaks: "SELECT 'version', s.version_id FROM seats s JOIN matches m ON m.id = s.match_id \
                 JOIN blocks b ON b.id = m.block_id LEFT JOIN entries e ON e.version_id = s.version_id \
                 WHERE b.kind = 'ladder' AND e.version_id IS NULL LIMIT 20",
    },
    Rule {
        holds: "a deleted account has no password, no mail address, no rights, no secrets and no texts left",
        breaks: "SELECT 'account', a.id FROM accounts a WHERE a.withdrawn_ms IS NOT NULL AND (a.password IS NOT NULL \
                 OR a.mail IS NOT NULL OR a.organiser OR EXISTS (SELECT 1 FROM factors f WHERE f.account_id = a.id) OR EXISTS (SELECT 1 FROM logins l WHERE l.account_id = a.id) \
                 OR EXISTS (SELECT 1 FROM recovery_codes r WHERE r.account_id = a.id) \
                 OR EXISTS (SELECT 1 FROM texts t WHERE t.account_id = a.id) \
                 OR EXISTS (SELECT 1 FROM members m WHERE m.account_id = a.id AND m.to_ms IS NULL)) LIMIT 20",
    },
    Rule {
        holds: "a person plays for one team at a time, in the team's contest, and never for a boss",
        breaks: "SELECT 'account', m.account_id FROM members m JOIN entrants e ON e.id = m.entrant_id WHERE e.boss \
                 OR e.contest_id <> m.contest_id OR EXISTS (SELECT 1 FROM members o WHERE o.account_id = m.account_id \
                 AND o.contest_id = m.contest_id AND o.to_ms IS NULL AND m.to_ms IS NULL \
                 AND o.entrant_id <> m.entrant_id) LIMIT 20",
    },
    Rule {
        holds: "a withdrawn team has no members and nothing on the ladder",
        breaks: "SELECT 'entrant', e.id FROM entrants e WHERE e.withdrawn_ms IS NOT NULL AND (e.join_code IS NOT NULL \
                 OR EXISTS (SELECT 1 FROM members m WHERE m.entrant_id = e.id AND m.to_ms IS NULL) \
                 OR EXISTS (SELECT 1 FROM versions v WHERE v.entrant_id = e.id \
                 AND v.state IN ('live', 'received', 'building', 'checking', 'trial'))) LIMIT 20",
    },
];

impl Store {
    /// Checks every invariant that a query can check, the chain of the log, the seeds, and that every object exists and matches its hash.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn fsck(&self, objects: &Objects) -> Result<Vec<Finding>, StoreError> {
        let mut found: Vec<Finding> = backend::integrity(&self.reader)
            .await?
            .into_iter()
            .map(|what| Finding { rule: "the database's files are intact", what })
            .collect();
        let broken = Checksums::new().await?.broken(&self.reader).await?;
        found.extend(broken.into_iter().map(|what| Finding { rule: "a row is as it was written", what }));
        for rule in RULES {
            let broken: Result<Vec<(String, i64)>, sqlx::Error> =
                sqlx::query_as(rule.breaks).fetch_all(&self.reader).await;
            let broken = match broken.map_err(StoreError::from) {
                Ok(broken) => broken,
                Err(away @ StoreError::Away(_)) => return Err(away),
                // A value that is not of its column's kind.
                Err(error) => {
                    found.push(Finding { rule: rule.holds, what: error.to_string() });
                    continue;
                }
            };
            let told = broken.into_iter().take(TOLD);
            found.extend(told.map(|(what, id)| Finding { rule: rule.holds, what: format!("{what} {id}") }));
        }
        for contest in self.contests().await? {
            let own = self.of(contest.id);
            own.check_log(chain::root(&contest.terms, &contest.secret_sha), &mut found).await?;
            own.check_seeds(&contest.secret, &mut found).await?;
            own.check_events(&mut found).await?;
            own.check_rulings(&mut found).await?;
            if crate::Sha::of(&contest.secret).to_string() != contest.secret_sha {
                found.push(Finding {
                    rule: "the published hash is that of the secret",
                    what: format!("contest {}", contest.id),
                });
            }
        }
        for (sha, what) in self.named_objects().await? {
            if let Err(error) = objects.get(&sha, LARGEST_OBJECT).await {
                let why = match error.kind() {
                    std::io::ErrorKind::NotFound => format!("{what}: the object {sha} is not there"),
                    _ => format!("{what}: {error}"),
                };
                found.push(Finding { rule: "every object is there and unchanged", what: why });
            }
        }
        Ok(found)
    }
}

impl ContestStore {
    /// Follows the chain, and compares each row with its match.
    async fn check_log(&self, root: crate::Sha, found: &mut Vec<Finding>) -> Result<(), StoreError> {
        const PAGE: i64 = 1000;
        let (mut before, mut after) = (root, 0);
        loop {
            let rows = self.log(after, PAGE).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
            let told: std::collections::BTreeMap<i64, (String, String)> = self.outcomes(after, last).await?;
            for LogRow { seq, body, sha } in rows {
                let own = chain::link(&before, &body);
                if own != sha {
                    found.push(Finding {
                        rule: "the log's chain is unbroken",
                        what: format!("log row {seq}"),
                    });
                    return Ok(());
                }
                before = sha;
                let same = match serde_json::from_str(&body) {
                    Ok(LogEntry::Result(row)) => {
                        let outcome = serde_json::to_string(&row.outcome).unwrap_or_default();
                        row.seq == seq && told.get(&seq) == Some(&(outcome, row.replay.to_string()))
                    }
                    Ok(row) => row.seq() == seq && !told.contains_key(&seq),
                    Err(_) => false,
                };
                if !same {
                    found.push(Finding {
                        rule: "the log agrees with its matches",
                        what: format!("log row {seq}"),
                    });
                    return Ok(());
                }
            }
            after = last;
        }
    }

    /// Follows the chain of the audit log, and compares it with the rows of the log that hold a hash of it.
    async fn check_events(&self, found: &mut Vec<Finding>) -> Result<(), StoreError> {
        type Row = (
            i64,
            i64,
            String,
            String,
            String,
            String,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<i64>,
        );
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT id, at_ms, actor, verb, object, detail, salt, words_sha, sha, log_seq FROM events \
             WHERE contest_id = $1 ORDER BY id",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut broken = |what: String| {
            found.push(Finding {
                rule: "the audit log's chain is unbroken, and its entries are those that were written",
                what,
            });
        };
        let mut before: Option<crate::Sha> = None;
        let mut held = BTreeMap::new();
        for (id, at, actor, verb, object, detail, salt, words_sha, sha, log_seq) in rows {
            let Some(sha) = sha else {
                // One of before there was a chain.
                if before.is_some() {
                    broken(format!("entry {id}"));
                }
                continue;
            };
            let words = words_sha.and_then(|words| words.parse::<crate::Sha>().ok());
            let own = words.map(|words| chain::link_event(before.as_ref(), self.id, Time(at), &words));
            let told = [actor.as_str(), &verb, &object, &detail];
            let is_told = match salt {
                Some(salt) => words == Some(chain::words(&salt, told)),
                // The salt goes with the words of who was deleted.
                None => actor.contains("withdrawn ") || object.contains("withdrawn "),
            };
            if own.is_none_or(|own| own.to_string() != sha) || !is_told {
                broken(format!("entry {id}"));
                return Ok(());
            }
            before = own;
            held.extend(log_seq.map(|seq| (seq, sha)));
        }
        let mut after = 0;
        loop {
            let rows = self.log(after, 1000).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            for LogRow { seq, body, .. } in rows {
                let Ok(LogEntry::Result(row)) = serde_json::from_str(&body) else { continue };
                if row.audit.map(|sha| sha.to_string()) != held.remove(&seq) {
                    broken(format!("an entry that log row {seq} holds"));
                }
            }
            after = last;
        }
        if let Some(seq) = held.keys().next() {
            broken(format!("an entry that log row {seq} should hold"));
        }
        Ok(())
    }

    async fn outcomes(
        &self,
        after: i64,
        upto: i64,
    ) -> Result<std::collections::BTreeMap<i64, (String, String)>, StoreError> {
        let rows: Vec<(i64, Option<String>, Option<String>)> = sqlx::query_as(
            "SELECT l.seq, m.outcome, m.replay_sha FROM log l JOIN matches m ON m.id = l.match_id \
             WHERE l.contest_id = $1 AND l.seq > $2 AND l.seq <= $3",
        )
        .bind(self.id.0)
        .bind(after)
        .bind(upto)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(seq, outcome, replay)| (seq, (outcome.unwrap_or_default(), replay.unwrap_or_default())))
            .collect())
    }

    /// Checks the rulings: each names a team and a version of it that exist, and changes something; and a version that is out on its own
    /// does not stand for its team.
    async fn check_rulings(&self, found: &mut Vec<Finding>) -> Result<(), StoreError> {
        let rulings = self.rulings().await?;
        if rulings.is_empty() {
            return Ok(());
        }
        let owners = self.owners().await?;
        for (at, ruled) in rulings.iter().enumerate() {
            let is_out = out(&rulings[..at]).contains(&(ruled.entrant, ruled.version));
            let owned = match ruled.version {
                Some(version) => owners.get(&version) == Some(&ruled.entrant),
                None => self.entrant(ruled.entrant).await?.is_some_and(|entrant| !entrant.boss),
            };
            if !owned || is_out == (ruled.ruling == Ruling::Out) {
                found.push(Finding {
                    rule: "a ruling names a team, or a version of it, that exists, and changes something",
                    what: format!("log row {}", ruled.seq),
                });
            }
        }
        let out = out(&rulings);
        let stands = |version: &crate::EntrantVersion| {
            let entrant = owners.get(&version.id);
            matches!(version.state, VersionState::Live | VersionState::Trial)
                && entrant.is_some_and(|entrant| out.contains(&(*entrant, Some(version.id))))
        };
        found.extend(self.versions().await?.iter().filter(|version| stands(version)).map(|version| {
            Finding {
                rule: "a version that a ruling took out does not play for its team",
                what: format!("version {}", version.id),
            }
        }));
        Ok(())
    }

    /// Checks that every seed is the one that the secret gives.
    async fn check_seeds(&self, secret: &str, found: &mut Vec<Finding>) -> Result<(), StoreError> {
        // Twins share the seed of the first of them.
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT n, coalesce(twin_of, n), seed FROM blocks WHERE contest_id = $1 AND n > 0 ORDER BY n",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let wrong =
            rows.into_iter().filter(|(_, of, seed)| crate::seeds::seed(secret, *of) != *seed).take(TOLD);
        found.extend(wrong.map(|(n, ..)| Finding {
            rule: "the seed of a block follows from the secret",
            what: format!("block {n}"),
        }));
        Ok(())
    }
}
