//! What teams learn from: why they lose on the ladder, and the positions in which their uploads are tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_contest::journal::RulesId;
use agon_contest::{
    BotId, Entry, FaultCount, FaultsTold, JournalHeader, MatchResult, Observed, Proven, SeriesKind,
};
use agon_desk::losses::Losses;
use agon_game::Seat;
use agon_replay::Replay;
use agon_store::reads::{Eyes, Filter, StoredMatch};
use agon_store::{EntrantId, Kind, MatchId, VersionId};
use agon_view::lesson::JUDGED;
use agon_view::{Course, LossSearch, WinChance};
use agon_worker::{PositionJob, verify};

use crate::{ContestServer, ServerError, behind};

/// How many of a team's last matches on the ladder are compared.
const MOST: usize = 200;
/// How many replays are in memory at once.
const AT_ONCE: usize = 20;
/// For how many teams the last result is kept.
const KEPT: usize = 50;

/// What was found of each team, as of its last match.
pub(crate) type KnownLosses = BTreeMap<EntrantId, (MatchId, Arc<Losses>)>;

impl ContestServer {
    /// The last matches of a team on the ladder that are over, newest first: at most `most`, and with `lost` those that it lost.
    ///
    /// # Errors
    /// Store errors.
    pub async fn ladder_matches(
        &self,
        team: EntrantId,
        lost: bool,
        most: usize,
    ) -> Result<Vec<StoredMatch>, ServerError> {
        let ended = lost.then_some(agon_store::reads::Ended::Lost);
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let filter = Filter { team: Some(team), ended, before, ..Filter::default() };
            let page = self.store.matches(Eyes::Team(team), &filter).await?;
            before = page.last().map(|last| last.id);
            let is_over = |played: &StoredMatch| {
                let is_own = |seat: &&agon_api::played::SeatOutcome| seat.team == team.0;
                // A match of two of its own versions was won and lost by the same.
                played.kind == Kind::Ladder
                    && played.end.is_some()
                    && played.seats.iter().filter(is_own).count() == 1
            };
            let is_last = page.len() <= agon_store::reads::PAGE as usize;
            all.extend(page.into_iter().filter(is_over));
            if all.len() >= most || is_last {
                all.truncate(most);
                return Ok(all);
            }
        }
    }

    /// What goes with the losses of a team on the ladder; `map` names the map of a match by its number and seed.
    ///
    /// # Errors
    /// Store errors, and when the program does not have the contest's game.
    pub async fn losses(
        &self,
        team: EntrantId,
        name: &str,
        map: impl Fn(i64, i64) -> String,
    ) -> Result<Arc<Losses>, ServerError> {
        // Held while it is computed: one at a time, since bots play meanwhile.
        let mut known = self.lessons.lock().await;
        let matches = self.ladder_matches(team, false, MOST).await?;
        let last = matches.first().map_or(MatchId(0), |played| played.id);
        if let Some((upto, losses)) = known.get(&team)
            && *upto == last
        {
            return Ok(losses.clone());
        }
        let mut opponents: Vec<String> = vec![name.to_owned()];
        let mut entries = Vec::new();
        for played in matches {
            let entry = entry(&played, team, &mut opponents, map(played.map, played.seed));
            entries.push((entry, played.replay));
        }
        let mut played = Vec::new();
        while !entries.is_empty() {
            let some: Vec<_> = entries.drain(..entries.len().min(AT_ONCE)).collect();
            let mut read = Vec::new();
            for (entry, replay) in some {
                let bytes = match replay {
                    Some(sha) => self.objects.get(&sha, verify::LARGEST as u64).await.ok(),
                    None => None,
                };
                read.push((entry, bytes));
            }
            let courses = move || -> Vec<(Entry, Option<Course>)> {
                let course = |bytes: Vec<u8>| Course::of(&Replay::read(&bytes).ok()?).ok();
                read.into_iter().map(|(entry, bytes)| (entry, bytes.and_then(course))).collect()
            };
            played.extend(behind::compute("losses", "looking at lost matches", courses).await?);
        }
        let header = self.header(opponents);
        let work = move || Losses::of_matches(header, played, 0);
        let losses = behind::compute("losses", "comparing lost matches", work).await?;
        let losses = Arc::new(losses.map_err(|why| ServerError::Wrong(why.to_string()))?);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(team, (last, losses.clone()));
        Ok(losses)
    }

    /// Judges an order in a position of a match, as its page does: in a seat, at a step, both from 1, by this built-in bot. The inner error
    /// is a sentence for whoever gave it.
    ///
    /// # Errors
    /// When the match cannot be read.
    pub async fn judged(
        &self,
        game: MatchId,
        policy: String,
        (seat, step): (u8, u32),
        order: String,
    ) -> Result<Result<WinChance, String>, ServerError> {
        let _one = self.lessons.lock().await;
        let played = self.store.one_match(Eyes::Public, game).await?;
        let sha = played.and_then(|played| played.replay);
        let sha = sha.ok_or_else(|| ServerError::Missing(format!("match {game} has no replay")))?;
        let bytes = self.objects.get(&sha, verify::LARGEST as u64).await;
        let bytes = bytes.map_err(|error| ServerError::Wrong(error.to_string()))?;
        let work = move || -> Result<WinChance, String> {
            let replay = Replay::read(&bytes).map_err(|error| error.to_string())?;
            let seat = Seat::new(seat.clamp(1, Seat::MAX) - 1);
            let search = LossSearch::open(&replay, seat, Some(&policy), Some(step));
            search.map_err(|why| why.to_string())?.judge(step, &order, JUDGED)
        };
        behind::compute("judge", "judging an order", work).await
    }

    /// The contest as a series of these bots, of which the first is looked at.
    fn header(&self, bots: Vec<String>) -> JournalHeader {
        let bot = |label: String| BotId { bot: label.clone(), play: None, label, hash: String::new() };
        JournalHeader {
            agon_journal: 0,
            program: String::new(),
            started: 0,
            plan: 0,
            format: None,
            kind: SeriesKind::Gauntlet,
            game: self.terms.game.clone(),
            rules_version: self.terms.rules_version,
            rules: RulesId { name: String::new(), hash: self.key.rules.clone(), text: String::new() },
            maps: Vec::new(),
            seats: u8::try_from(self.seats()).unwrap_or(u8::MAX),
            bots: bots.into_iter().map(bot).collect(),
            seed: 0,
            clock: self.terms.clock.clone(),
            ponder: self.terms.ponder,
            test: None,
            options: Vec::new(),
        }
    }

    /// The positions in which a version that is checked is tried.
    pub(crate) async fn positions_for(&self, version: VersionId) -> Result<Vec<PositionJob>, ServerError> {
        let Some(team) = self.store.owner_of(version).await? else { return Ok(Vec::new()) };
        let position = |kept: agon_store::reads::StoredPosition| PositionJob {
            id: kept.id,
            replay: kept.replay.to_string(),
            seat: u8::try_from(kept.seat + 1).unwrap_or(u8::MAX),
            step: kept.step,
            wanted: kept.wanted,
        };
        Ok(self.store.positions(team).await?.into_iter().map(position).collect())
    }
}

/// A match as an entry of a journal: `bots` are those known so far, the team itself first.
fn entry(played: &StoredMatch, team: EntrantId, bots: &mut Vec<String>, map: String) -> Entry {
    let mut index = |name: &str| {
        bots.iter().position(|known| known == name).unwrap_or_else(|| {
            bots.push(name.to_owned());
            bots.len() - 1
        })
    };
    let seats = &played.seats;
    let (reason, steps) = played.end.clone().unwrap_or_default();
    let fault = |(number, seat): (usize, &agon_api::played::SeatOutcome)| {
        let kind = seat.fault.as_ref()?.split(':').next().unwrap_or_default().to_owned();
        let seat = u8::try_from(number + 1).unwrap_or(u8::MAX);
        Some(FaultCount {
            seat,
            kind,
            count: 1,
            turn: String::new(),
            message: String::new(),
            stderr: Vec::new(),
        })
    };
    Entry {
        block: u64::try_from(played.id.0).unwrap_or(0),
        game: 1,
        seed: played.seed,
        map,
        bots: seats.iter().map(|seat| if seat.team == team.0 { 0 } else { index(&seat.name) }).collect(),
        result: MatchResult {
            proven: Proven {
                ranks: seats
                    .iter()
                    .map(|seat| seat.rank.and_then(|rank| u8::try_from(rank).ok()).unwrap_or(0))
                    .collect(),
                scores: seats.iter().map(|seat| seat.score.unwrap_or(0.0)).collect(),
                reason,
                steps,
                ..Proven::default()
            },
            observed: Observed {
                faults: FaultsTold::Counted(seats.iter().enumerate().filter_map(fault).collect()),
                ..Observed::default()
            },
        },
        replay: Some(played.id.to_string()),
        ..Entry::default()
    }
}
