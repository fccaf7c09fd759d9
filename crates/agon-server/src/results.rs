//! Results that workers post: judged before anything of them is stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use agon_contest::Observed;
use agon_replay::SeatNote;
use agon_replay::data::note;
use agon_store::acts::{PostAll, PostReply, PostResult, Tell};
use agon_store::reads::TryState;
use agon_store::{Attempt, MatchId, Sha, StoreError, Time, WorkerId};
use agon_worker::protocol::MOST_PRIVATE;
use agon_worker::{Posted, Private, Try};

use crate::asked::ours;
use crate::quotas::MOST_TOLD_A_DAY;
use crate::{ContestServer, ServerError, packed};

/// Upper limit on what was observed, in bytes of JSON, because it goes into the log; a longer one is refused.
const MOST_REPORT: usize = 16 << 10;
/// Upper limit on a word in it, in bytes, for the same reason.
const LONGEST_WORD: usize = 100;
/// How much of a fault is kept when an entrant has used up what is kept in a day, in characters.
const LITTLE: usize = 500;

/// What a worker posts of a match: what it observed, the replay, and what belongs to the author of each seat.
pub type Over<'a> = (&'a Observed, &'a [u8], &'a [Option<Private>]);

impl ContestServer {
    /// Posts the result of a match.
    ///
    /// # Errors
    /// Store errors.
    pub async fn post(
        &self,
        worker: WorkerId,
        attempt: Try,
        over: Over<'_>,
        now: Time,
    ) -> Result<Posted, ServerError> {
        let posted = self.post_all(worker, &[(attempt, over)], now).await?;
        Ok(posted.into_iter().next().unwrap_or(Posted::Refused))
    }

    /// Posts the results of several matches. What will be refused is found out first, and nothing of it is stored. Of the others replays
    /// and what belongs to authors are kept, then comes one short transaction. Of two different results for one try the first counts.
    ///
    /// # Errors
    /// Store errors. Nothing is kept then; each may be posted again.
    pub async fn post_all(
        &self,
        worker: WorkerId,
        over: &[(Try, Over<'_>)],
        now: Time,
    ) -> Result<Vec<Posted>, ServerError> {
        let mut fates = self.foresee(worker, over, now).await?;
        self.pack_own(over, &mut fates, now).await?;
        let posts = self.keep_results(worker, over, &mut fates, now).await?;
        let mut replies = match posts.is_empty() {
            true => Vec::new(),
            false => self.store.act(PostAll { posts }).await?,
        }
        .into_iter();
        self.brought.send_replace(());
        let posted = |fate: Fate| match fate {
            Fate::Known(posted) => posted,
            Fate::New(_) | Fate::Again(_) => match replies.next() {
                Some(PostReply::Kept | PostReply::Same) => Posted::Kept,
                Some(PostReply::Settled) => Posted::Settled,
                Some(PostReply::OtherImage) => Posted::OtherImage,
                Some(PostReply::Conflict | PostReply::Unknown) | None => Posted::Refused,
            },
        };
        Ok(fates.into_iter().map(posted).collect())
    }

    /// What is known of the fate of results before anything is stored. Raises an alarm about those that the worker was never asked for.
    async fn foresee(
        &self,
        worker: WorkerId,
        over: &[(Try, Over<'_>)],
        now: Time,
    ) -> Result<Vec<Fate>, ServerError> {
        let attempts: Vec<Attempt> = over.iter().map(|(attempt, _)| ours(*attempt)).collect();
        let tries = self.store.given(worker, &attempts).await?;
        let (mut strange, mut firsts) = (0, BTreeMap::new());
        let mut foresee = |(attempt, (_, over)): (&Attempt, &(Try, Over<'_>))| {
            let Some(tried) = tries.get(attempt) else {
                strange += 1;
                return Fate::Known(Posted::Refused);
            };
            let Some(fits) = Fitting::of(*over) else { return Fate::Known(Posted::Refused) };
            let sha = fits.sha();
            let is_same = match tried {
                TryState::Over => return Fate::Known(Posted::Settled),
                TryState::Posted(before) if *before == sha => return Fate::Known(Posted::Kept),
                TryState::Posted(_) => false,
                TryState::Open => match firsts.entry(*attempt) {
                    Entry::Vacant(first) => {
                        first.insert(sha);
                        return Fate::New(fits);
                    }
                    Entry::Occupied(first) => *first.get() == sha,
                },
            };
            // A contradiction raises an alarm; if there were many, another one says nothing new.
            match is_same || self.quotas.alarm(worker, now) {
                true => Fate::Again(fits),
                false => Fate::Known(Posted::Refused),
            }
        };
        let fates = attempts.iter().zip(over).map(&mut foresee).collect();
        if strange > 0 && self.quotas.alarm(worker, now) {
            let name = self.store.name_of_worker(worker).await?;
            let tell = Tell {
                contest: self.contest(),
                actor: "server".to_owned(),
                verb: "alarm".to_owned(),
                object: format!("worker {name}"),
                detail: format!("worker {name}: posted {strange} results of matches that it was never given"),
                now,
            };
            self.store.act(tell).await?;
        }
        Ok(fates)
    }

    /// Packs what belongs to authors. Of an entrant whose programs have written all that is kept in a day hardly anything is kept, and
    /// that is said in its place.
    async fn pack_own(
        &self,
        over: &[(Try, Over<'_>)],
        fates: &mut [Fate],
        now: Time,
    ) -> Result<(), ServerError> {
        let told = |((attempt, _), fate): (&(Try, Over<'_>), &Fate)| match fate {
            Fate::New(fits) if fits.own.iter().any(Option::is_some) => Some(MatchId(attempt.game)),
            _ => None,
        };
        let games: Vec<MatchId> = over.iter().zip(&*fates).filter_map(told).collect();
        let whose = self.store.whose_seats(&games).await?;
        for ((attempt, (.., own)), fate) in over.iter().zip(fates) {
            let Fate::New(fits) = fate else { continue };
            for (seat, (stored, own)) in fits.own.iter_mut().zip(*own).enumerate() {
                let (Some(text), Some(own)) = (stored.take(), own) else { continue };
                // Nobody sits there: a worker that makes up seats fills no disk.
                let Some(entrant) = whose.get(&(MatchId(attempt.game), seat)) else { continue };
                let text = match self.quotas.has_told_enough(*entrant, now) {
                    true => crate::json(&cut(own)).into_bytes(),
                    false => text,
                };
                let packed = packed::pack(&text);
                self.quotas.tell(*entrant, packed.len() as u64, now);
                *stored = Some(packed);
            }
        }
        Ok(())
    }

    /// Keeps the objects of new results, and returns what to post.
    async fn keep_results(
        &self,
        worker: WorkerId,
        over: &[(Try, Over<'_>)],
        fates: &mut [Fate],
        now: Time,
    ) -> Result<Vec<PostResult>, ServerError> {
        let (mut posts, mut objects) = (Vec::new(), Vec::new());
        for ((attempt, (_, replay, _)), fate) in over.iter().zip(fates) {
            let (Fate::New(fits) | Fate::Again(fits)) = &*fate else { continue };
            let mut post = PostResult {
                worker,
                attempt: ours(*attempt),
                result: fits.observed.clone(),
                replay: fits.replay,
                own: Vec::new(),
                now,
            };
            if let Fate::New(fits) = fate {
                objects.push(replay.to_vec());
                for own in &mut fits.own {
                    post.own.push(own.as_ref().map(Sha::of));
                    objects.extend(own.take());
                }
            }
            posts.push(post);
        }
        let kept = self.objects.put_all(objects).await;
        kept.map_err(|error| StoreError::File("objects".to_owned(), error))?;
        Ok(posts)
    }
}

/// What becomes of a result.
enum Fate {
    /// This, whatever it holds.
    Known(Posted),
    /// It is stored, and then posted.
    New(Fitting),
    /// Another one is there, or comes first. It is compared with that one, and never stored.
    Again(Fitting),
}

/// A result of which no part is too large.
struct Fitting {
    /// What was observed, as JSON.
    observed: String,
    replay: Sha,
    /// What belongs to authors, by seat: as JSON, and then packed.
    own: Vec<Option<Vec<u8>>>,
}

impl Fitting {
    fn of((observed, replay, own): Over<'_>) -> Option<Self> {
        let kinds = observed.faults.public().iter().flatten();
        let mut words = kinds.chain([&observed.level]).chain(&observed.suites).chain(&observed.images);
        let text = crate::json(observed);
        // What only the owner of all bots is told has no place in a log that everybody may read.
        let is_public = observed.faults.counted().is_empty()
            && observed.rejected.is_empty()
            && observed.sandbox.is_empty();
        if !is_public
            || replay.len() > agon_worker::verify::LARGEST
            || text.len() > MOST_REPORT
            || words.any(|word| word.len() > LONGEST_WORD)
        {
            return None;
        }
        let own: Vec<Option<Vec<u8>>> = own
            .iter()
            .take(usize::from(u8::MAX))
            .map(|own| own.as_ref().map(|own| crate::json(own).into_bytes()))
            .collect();
        let fits = own.iter().flatten().all(|own| own.len() <= MOST_PRIVATE);
        fits.then(|| Self { observed: text, replay: Sha::of(replay), own })
    }

    /// Tells it from another result of the same try.
    fn sha(&self) -> Sha {
        PostResult::sha_of(&self.replay, &self.observed)
    }
}

/// What is kept for an author whose programs have written enough for a day: the first fault, and that the rest is missing.
fn cut(own: &Private) -> Private {
    let mut faults = own.faults.clone();
    faults.truncate(1);
    for fault in &mut faults {
        for text in [&mut fault.turn, &mut fault.kind, &mut fault.what].into_iter().chain(&mut fault.fix) {
            *text = text.chars().take(LITTLE).collect();
        }
    }
    let step = own.notes.last().map_or(0, |note| note.step);
    let text = format!(
        "(agon kept nothing of what the bot wrote here: the team's bots have written more than the {} MiB, packed, that are \
         kept in a day. Let it write less; from midnight UTC on it is kept again.)\n",
        MOST_TOLD_A_DAY >> 20
    );
    let said = SeatNote { step, kind: note::STDERR.to_owned(), text };
    let missing = !own.notes.is_empty() || own.faults.len() > faults.len();
    Private {
        faults,
        notes: if missing { vec![said] } else { Vec::new() },
        left_out: own.left_out + own.notes.len(),
        positions: own.positions.clone(),
    }
}
