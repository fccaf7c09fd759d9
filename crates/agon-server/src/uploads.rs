//! What a team hands in, requests, and goes back to.

use std::io;

use agon_ladder::Evidence;
use agon_store::acts::asked::MOST_DRAFT_BYTES;
use agon_store::acts::{Add, Added, AskedBot, ForgetDrafts, Lift, MatchRequested, RequestMatch, Return};
use agon_store::{
    Cause, EntrantId, Incoming, MatchId, OwnVersion, Sha, Stage, StoreError, TextId, Time, VersionId,
    VersionState, Whose,
};
use agon_worker::pack::received;
use agon_worker::protocol::MOST_PRIVATE;
use agon_worker::versions::MOST_LOG;
use agon_worker::{ChangedGround, Private, RulesWish, Unfit};

use crate::{ContestServer, ServerError, causes, check_name, packed, read};

/// How long drafts are kept, in milliseconds.
const DRAFTS_MS: i64 = 86_400_000;

#[derive(Debug)]
pub struct Upload<'a> {
    /// The entrant it belongs to.
    pub entrant: &'a str,
    /// The name of its file.
    pub name: &'a str,
    /// The file: an archive, or a single one.
    pub file: Incoming,
    /// Whether it takes the place of the one before only if it is better.
    pub only_if_better: bool,
    /// Who hands it in.
    pub actor: &'a str,
}

/// The outcome of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadOutcome {
    /// It was stored now or before, or is one too many.
    Added(Added),
    /// The same was handed in before and stood for the team then: it stands for it again.
    Back(VersionId, i64),
    /// It cannot be a bot: why, and what to do about it.
    Refused(Cause),
}

impl UploadOutcome {
    /// The version that it is now, or was before.
    pub fn version(&self) -> Option<VersionId> {
        match self {
            Self::Added(Added::New(id, _) | Added::Same(id, ..)) | Self::Back(id, _) => Some(*id),
            Self::Added(_) | Self::Refused(_) => None,
        }
    }
}

/// The outcome of handing in a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drafted {
    /// Its bytes are stored, to be asked for.
    Kept(AskedBot),
    /// It cannot be a bot: why, and what to do about it.
    Refused(Cause),
    /// The team has requested all the matches it may; it may again at this time.
    TooMany(Time),
    /// Its drafts take up all the space they may; the oldest goes at this time.
    Full(Time),
    /// The opponent does not exist for them, or cannot play.
    NotThere,
}

/// A match that a team requests.
#[derive(Clone, Debug)]
pub struct Wish {
    pub entrant: EntrantId,
    /// The opponents, in the order of their seats; one alone takes all of them.
    pub against: Vec<AskedBot>,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    /// The seat that they want, from 0.
    pub seat: usize,
    /// What they change of the rules; only for drafts.
    pub rules: RulesWish,
    /// The kept text that their bot is.
    pub text: Option<TextId>,
}

impl Wish {
    /// Against this version, in the first seat on the first map.
    pub fn against(entrant: EntrantId, version: VersionId) -> Self {
        let against = vec![AskedBot::Version(version)];
        Self { entrant, against, map: 0, seed: 0, seat: 0, rules: RulesWish::default(), text: None }
    }
}

/// The error for objects that cannot be kept or read.
pub(crate) fn unkept(error: io::Error) -> ServerError {
    StoreError::File("objects".to_owned(), error).into()
}

fn refused(unfit: Unfit) -> Cause {
    Cause { whose: Whose::Yours, stage: Stage::Unpacking, what: unfit.what, fix: unfit.fix }
}

impl ContestServer {
    /// Takes in a team's upload, within its quota.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub async fn upload(&self, upload: Upload<'_>, now: Time) -> Result<UploadOutcome, ServerError> {
        let entrant = check_name(upload.entrant, "a team").map_err(ServerError::Wrong)?;
        let file = match self.framed(upload.name, upload.file).await? {
            Ok(file) => file,
            Err(cause) => return Ok(UploadOutcome::Refused(cause)),
        };
        let bytes = file.size() as i64;
        // Checked before anything is stored, so that an entrant without quota fills no disk. The act checks again.
        if !self.objects.has(&file.sha()).await.map_err(unkept)?
            && let Some(full) = self.full(&entrant, bytes, now).await?
        {
            return Ok(UploadOutcome::Added(Added::TooMany(full)));
        }
        let source = self.objects.finish(file).await.map_err(unkept)?;
        let add = Add {
            contest: self.contest(),
            entrant,
            boss: false,
            builtin: None,
            source,
            received: now,
            only_if_better: upload.only_if_better,
            bytes,
            counts: true,
            actor: upload.actor.to_owned(),
        };
        let added = self.store.act(add).await?;
        if let Added::Same(version, n, VersionState::Former) = added
            && self.go_back(version, upload.actor, now).await?
        {
            return Ok(UploadOutcome::Back(version, n));
        }
        Ok(UploadOutcome::Added(added))
    }

    /// The upload in the form in which it is stored, always an archive; or why it cannot be a bot.
    async fn framed(&self, name: &str, file: Incoming) -> Result<Result<Incoming, Cause>, ServerError> {
        Ok(match received(name, file.head(), file.size()) {
            Ok(frame) if frame.is_none() => Ok(file),
            Ok(frame) => Ok(self.objects.framed(file, &frame.before, &frame.after).await.map_err(unkept)?),
            Err(unfit) => Err(refused(unfit)),
        })
    }

    /// Whether an entrant has used up its quota, and until when.
    async fn full(&self, entrant: &str, bytes: i64, now: Time) -> Result<Option<Option<Time>>, ServerError> {
        let all = self.store.entrants().await?;
        let Some(entrant) = all.into_iter().find(|known| known.name == entrant) else { return Ok(None) };
        Ok(self.store.quota(entrant.id, now).await?.full(bytes))
    }

    /// Makes a version that stood for its team, or passed its check, stand for it again. Returns whether it does now and did not before. A
    /// version taken out by a ruling does not return; for a suspended one the suspension is lifted.
    ///
    /// # Errors
    /// Store errors.
    pub async fn go_back(&self, version: VersionId, actor: &str, now: Time) -> Result<bool, ServerError> {
        let out = self.out(&self.learnt.lock().await.facts).await?;
        if out.contains(&version) {
            return Ok(false);
        }
        let lifted = self.store.act(Lift { version, actor: actor.to_owned(), now }).await?;
        Ok(self.store.act(Return { version, actor: actor.to_owned(), now }).await? || lifted)
    }

    /// Keeps a draft that an entrant wants to play in a match.
    ///
    /// # Errors
    /// When it cannot be kept; a sentence, when there is no such map or seat.
    pub async fn draft(
        &self,
        wish: &Wish,
        name: &str,
        file: Incoming,
        now: Time,
    ) -> Result<Drafted, ServerError> {
        // All that would refuse the match is checked before anything is stored, so that nobody fills a disk with what is never played.
        // The act checks again.
        self.check_wish(wish)?;
        if let Some(until) = self.store.quota(wish.entrant, now).await?.asked_an_hour.until {
            return Ok(Drafted::TooMany(until));
        }
        for other in &wish.against {
            if let AskedBot::Version(other) = other
                && !self.store.may_meet(wish.entrant, *other).await?
            {
                return Ok(Drafted::NotThere);
            }
        }
        self.keep_draft(wish.entrant, name, file, now).await
    }

    /// Keeps bytes that are to sit in a match that can be played, and make no version.
    ///
    /// # Errors
    /// When they cannot be kept.
    pub async fn keep_draft(
        &self,
        entrant: EntrantId,
        name: &str,
        file: Incoming,
        now: Time,
    ) -> Result<Drafted, ServerError> {
        let file = match self.framed(name, file).await? {
            Ok(file) => file,
            Err(cause) => return Ok(Drafted::Refused(cause)),
        };
        let bytes = file.size() as i64;
        let (kept, oldest) = self.store.draft_bytes(entrant).await?;
        if kept + bytes > MOST_DRAFT_BYTES && !self.objects.has(&file.sha()).await.map_err(unkept)? {
            return Ok(Drafted::Full(oldest.unwrap_or(now).plus(DRAFTS_MS)));
        }
        let source = self.objects.finish(file).await.map_err(unkept)?;
        Ok(Drafted::Kept(AskedBot::Draft(source, bytes)))
    }

    /// Checks that a match can be played: its map, seat, rules and seed. Returns its ground, if it is not one of the contest's.
    pub(crate) fn check_wish(&self, wish: &Wish) -> Result<Option<ChangedGround>, ServerError> {
        let map = usize::try_from(wish.map).ok().filter(|map| *map < self.table.maps());
        let Some(map) = map else {
            let most = self.table.maps();
            return Err(ServerError::Wrong(format!("there is no map {}; there are {most}", wish.map + 1)));
        };
        if wish.seat >= self.table.seats() {
            let most = self.table.seats();
            return Err(ServerError::Wrong(format!("there is no seat {}; there are {most}", wish.seat + 1)));
        }
        // Checked now whether the seed makes a match, before anybody waits for it.
        let changed = ChangedGround::of(self.table.game(), &self.terms.grounds[map], &wish.rules, wish.seed);
        let changed = changed.map_err(ServerError::Wrong)?;
        if changed.is_none() {
            self.table.open(map, wish.seed).map_err(ServerError::Wrong)?;
        }
        Ok(changed)
    }

    /// Requests a match of one's own bot that is not rated.
    ///
    /// # Errors
    /// Store errors; a sentence, when there is no such map or seat.
    pub async fn ask(&self, own: AskedBot, wish: Wish, now: Time) -> Result<MatchRequested, ServerError> {
        let rules = self.check_wish(&wish)?.map(|changed| crate::json(&changed));
        let ask = RequestMatch {
            contest: self.contest(),
            entrant: wish.entrant,
            own,
            against: wish.against,
            map: wish.map,
            seed: wish.seed,
            seat: wish.seat,
            seats: self.table.seats(),
            rules,
            text: wish.text,
            now,
        };
        let asked = self.store.act(ask).await?;
        // A machine that waits need not wait for its next look.
        if let MatchRequested::Planned(_) = asked {
            self.done.send_replace(());
        }
        Ok(asked)
    }

    /// The output of a build.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn build_log(&self, version: &OwnVersion) -> Result<String, ServerError> {
        let Some(sha) = version.log else { return Ok(String::new()) };
        let log = self.text(&sha, MOST_LOG as usize).await?;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// What belongs to a team of a match, for each of its seats.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn own_of_match(
        &self,
        entrant: EntrantId,
        game: MatchId,
    ) -> Result<Vec<(usize, Private)>, ServerError> {
        let mut own = Vec::new();
        for (seat, sha) in self.store.own_of_match(entrant, game).await? {
            own.push((seat, self.private(&sha).await?));
        }
        Ok(own)
    }

    /// What belongs to the author of a seat.
    pub(crate) async fn private(&self, sha: &Sha) -> Result<Private, ServerError> {
        Ok(read(&self.text(sha, MOST_PRIVATE).await?)?)
    }

    /// A text of at most `most` bytes, which is stored packed.
    async fn text(&self, sha: &Sha, most: usize) -> Result<Vec<u8>, ServerError> {
        // Packed it is hardly ever longer, and then by little.
        let stored = self.objects.get(sha, 2 * most as u64).await.map_err(unkept)?;
        packed::unpack(stored, most).map_err(unkept)
    }

    /// The verdict on a version against the one before it, with that one's number, and whether it is final.
    ///
    /// # Errors
    /// Store errors.
    pub async fn verdict(&self, version: VersionId) -> Result<Option<(Evidence, i64, bool)>, ServerError> {
        let Some(trial) = self.store.trial(version).await? else { return Ok(None) };
        let verdict: Option<Evidence> = trial.verdict.map(read).transpose()?;
        Ok(verdict.map(|verdict| (verdict, trial.against_n, trial.ended.is_some())))
    }

    /// Why a requested match failed.
    pub fn why_not(&self, why: &str, unfit: bool) -> Cause {
        if unfit { causes::unfit(why) } else { causes::given_up(Some(why)) }
    }

    /// The bytes of an object, at most `most`.
    ///
    /// # Errors
    /// When it is missing.
    pub async fn object(&self, sha: &Sha, most: u64) -> Result<Vec<u8>, ServerError> {
        self.objects.get(sha, most).await.map_err(unkept)
    }

    /// Forgets drafts after a day.
    pub(crate) async fn forget_drafts(&self, now: Time) -> Result<(), ServerError> {
        self.tell_texts().await?;
        let before = Time(now.0 - DRAFTS_MS);
        for sha in self.store.act(ForgetDrafts { contest: self.contest(), before }).await? {
            self.objects.remove(&sha).await.map_err(unkept)?;
        }
        Ok(())
    }
}
