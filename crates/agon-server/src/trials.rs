//! Trials: each version is compared with the one before it, and gets a verdict.

use std::collections::BTreeMap;

use agon_ladder::verdict::{self, Evidence, Next, OPPONENTS, PATIENCE_MS, Says, Trial};
use agon_ladder::{LadderState, Row};
use agon_store::acts::{Decline, KeepVerdict, PlanTrial, Promote};
use agon_store::reads::{OpenTrial, TrialMatch};
use agon_store::{Time, VersionId, VersionState};

use crate::{ContestServer, ServerError, json, number};

/// Upper limit on the matches of a trial in flight, except that a block is always whole.
const IN_FLIGHT: u32 = 4;
/// How many rated matches a version plays before its trial begins: everybody is waiting for its place on the ladder.
const LADDER_FIRST: u32 = 10;

/// How many trials that have ended wait for whoever wants to hear of them.
pub const MOST_ENDED: usize = 64;

/// A trial that has just ended.
#[derive(Clone, Debug)]
pub struct EndedTrial {
    pub team: String,
    /// The number of the new version.
    pub n: i64,
    /// The number of the one before.
    pub against: i64,
    pub found: Evidence,
}

impl ContestServer {
    /// Plans the next block of the trial that has waited longest, and returns the number of its matches.
    pub(crate) async fn plan_trial(
        &self,
        ladder: &mut LadderState,
        playing: &[(VersionId, VersionState)],
        now: Time,
    ) -> Result<usize, ServerError> {
        let is = |id: VersionId, state: VersionState| playing.contains(&(id, state));
        let live: Vec<i64> = playing
            .iter()
            .filter(|(_, state)| *state == VersionState::Live)
            .map(|(version, _)| number(*version))
            .collect();
        for trial in self.store.open_trials().await? {
            let is_placed = |id: VersionId| {
                let alone = is(id, VersionState::Trial);
                alone || live.len() < self.seats() || ladder.matches(number(id)) >= LADDER_FIRST
            };
            let over = now.0 - trial.began.0 >= PATIENCE_MS || trial.planned >= self.most();
            let plays = is(trial.version, VersionState::Live) || is(trial.version, VersionState::Trial);
            if over || !plays || trial.open >= IN_FLIGHT || !is_placed(trial.version) {
                continue;
            }
            let (version, against) = (trial.version, trial.against);
            let others: Vec<i64> = live.iter().copied().filter(|other| *other != number(version)).collect();
            let opponents = ladder.nearest(number(against), &others, OPPONENTS);
            let field = match verdict::next(trial.planned, self.seats(), &opponents) {
                None => continue,
                Some(Next::Mirrored) => None,
                Some(Next::Twin(field)) => Some(field.into_iter().map(VersionId).collect()),
            };
            let map = verdict::map(trial.planned, self.seats(), self.table.maps() as i64);
            let plan = PlanTrial { contest: self.contest(), version, against, field, map, now };
            return Ok(self.store.act(plan).await?);
        }
        Ok(0)
    }

    /// Stores the verdicts of trials so far, and ends those that are over.
    pub(crate) async fn judge_trials(&self, now: Time) -> Result<(), ServerError> {
        let open = self.store.open_trials().await?;
        if open.is_empty() {
            return Ok(());
        }
        let versions = self.store.versions().await?;
        for trial in open {
            let Some(version) = versions.iter().find(|version| version.id == trial.version) else { continue };
            let stands = matches!(version.state, VersionState::Live | VersionState::Trial);
            let late = now.0 - trial.began.0 >= PATIENCE_MS;
            let over = !stands || late || (trial.planned >= self.most() && trial.open == 0);
            let played = self.store.trial_matches(trial.version).await?;
            let found = self.verdict_of(&trial, played);
            if over && version.state == VersionState::Trial {
                self.decide(&trial, &found, now).await?;
            }
            let kept = self.store.trial(trial.version).await?.and_then(|kept| kept.verdict);
            let verdict = json(&found);
            if over || kept.as_ref() != Some(&verdict) {
                let ended = over.then_some(now);
                self.store.act(KeepVerdict { version: trial.version, verdict, ended }).await?;
            }
            if over && let Some(before) = versions.iter().find(|version| version.id == trial.against) {
                let (team, n, against) = (version.entrant.clone(), version.n, before.n);
                // It fails when nobody listens.
                let _ = self.ended.send(EndedTrial { team, n, against, found });
            }
        }
        Ok(())
    }

    /// Lets a version that goes live only when it is better do so, or keeps the one before it.
    async fn decide(&self, trial: &OpenTrial, found: &Evidence, now: Time) -> Result<(), ServerError> {
        let version = trial.version;
        match found.says {
            Says::Better => self.store.act(Promote { version, now }).await.map(drop)?,
            Says::Worse | Says::Unknown => {
                let before = self.store.trial(version).await?.map_or(0, |kept| kept.against_n);
                let shown = match found.says {
                    Says::Worse => "worse than",
                    _ => "not shown to be better than",
                };
                let reason = format!("{shown} v{before}, which stays live: {}", found.figures());
                self.store.act(Decline { version, reason, now }).await.map(drop)?;
            }
        }
        Ok(())
    }

    /// How many blocks a trial has at most.
    fn most(&self) -> u32 {
        verdict::most(self.seats(), self.table.maps() as i64)
    }

    /// The verdict from the matches of a trial.
    fn verdict_of(&self, trial: &OpenTrial, played: Vec<TrialMatch>) -> Evidence {
        let mut blocks: BTreeMap<i64, Trial> = BTreeMap::new();
        for game in played {
            let own = blocks.entry(game.twin_of.unwrap_or(game.block)).or_insert_with(|| Trial {
                map: game.map,
                new: Vec::new(),
                old: Vec::new(),
            });
            let rows = if game.twin_of.is_some() { &mut own.old } else { &mut own.new };
            rows.push(Row {
                block: game.block,
                rotation: game.rotation,
                versions: game.seats.into_iter().map(number).collect(),
                ranks: game.outcome.proven.ranks,
                start: game.outcome.proven.start,
                answers: game.outcome.proven.answers,
            });
        }
        let (new, old, seats) = (number(trial.version), number(trial.against), self.seats());
        // The new version against others is half a block until its twin has played, too.
        let is_whole = |own: &Trial| {
            let met = own.new.first().is_some_and(|row| row.versions.contains(&old));
            own.new.len() == seats && (own.old.len() == seats || met && own.old.is_empty())
        };
        let whole: Vec<Trial> = blocks.into_values().filter(is_whole).collect();
        verdict::verdict(&whole, seats, self.table.maps() as i64, new, old)
    }
}
