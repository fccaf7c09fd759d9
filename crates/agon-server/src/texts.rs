//! Texts of the workbench: the files of a bot as somebody types them. They are kept for their author, run as drafts, and handed in as
//! versions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_store::acts::{AskedBot, HandInText, KeepText, MatchRequested, NoteText, TellText, TextReply};
use agon_store::reads::{Ended, Eyes, SeatOutcome, StoredMatch};
use agon_store::{
    Cause, EntrantId, Incoming, Kind, MatchId, MatchState, OwnVersion, StoreError, TextId, TextOwner,
    TextRow, Time, VersionId,
};
use agon_worker::{pack, unpack};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::uploads::unkept;
use crate::{ContestServer, Drafted, ServerError, Upload, UploadOutcome, Wish, behind, packed, read};

/// Upper limit on the files of a text.
pub const MOST_FILES: usize = 64;
/// Upper limit on the bytes of all its files together.
pub const MOST_BYTES: usize = 512 << 10;
/// The longest path of a file, and the longest note, in bytes.
const LONGEST_NAME: usize = 200;
/// Upper limit on a stored text before it is packed: signs of its files may need escaping.
const MOST_STORED: usize = 4 << 20;
/// What an upload of a text is called.
const ARCHIVE: &str = "text.tar";

/// The files of a bot, by their paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFiles(BTreeMap<String, Vec<u8>>);

/// Why files cannot be a text: a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextRefusal {
    TooLarge(String),
    Wrong(String),
}

/// A file as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredFile {
    Text(String),
    Bytes { base64: String },
}

impl BotFiles {
    /// These files.
    ///
    /// # Errors
    /// When they are too many, too large, or their paths could not be those of an archive.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self, TextRefusal> {
        let (mut own, mut names, mut bytes) = (BTreeMap::new(), BTreeSet::new(), 0);
        for (path, content) in files {
            let shown: String = path.chars().filter(|sign| !sign.is_control()).take(60).collect();
            let place = unpack::place_of(Path::new(&path)).map_err(TextRefusal::Wrong)?;
            if path.len() > LONGEST_NAME || place.is_none_or(|place| place.to_str() != Some(&path)) {
                return Err(TextRefusal::Wrong(format!(
                    "`{shown}` is not a path that a bot's file can have"
                )));
            }
            bytes += content.len();
            if own.len() == MOST_FILES || bytes > MOST_BYTES {
                return Err(TextRefusal::TooLarge(format!(
                    "A text has at most {MOST_FILES} files, {} KiB together. Hand larger bots in as a file.",
                    MOST_BYTES >> 10
                )));
            }
            if !names.insert(path.to_lowercase()) {
                let why = format!("`{shown}` is there twice, perhaps in upper and lower case");
                return Err(TextRefusal::Wrong(why));
            }
            own.insert(path, content);
        }
        let is_folder = |name: &&String| {
            let mut above = Path::new(name).ancestors().skip(1).filter_map(Path::to_str);
            above.any(|above| names.contains(above))
        };
        match names.iter().find(is_folder) {
            _ if own.is_empty() => Err(TextRefusal::Wrong("A text has at least one file".to_owned())),
            Some(name) => Err(TextRefusal::Wrong(format!("`{name}` lies in a file"))),
            None => Ok(Self(own)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The content of a file that cannot be edited, if it has this size.
    pub fn binary(&self, path: &str, bytes: u64) -> Option<&[u8]> {
        let found = self.0.get(path)?;
        (found.len() as u64 == bytes && as_text(found).is_none()).then_some(found)
    }

    fn stored(&self) -> String {
        let file = |(path, bytes)| match as_text(bytes) {
            Some(text) => (path, StoredFile::Text(text.to_owned())),
            None => (path, StoredFile::Bytes { base64: STANDARD.encode(bytes) }),
        };
        let all: BTreeMap<&str, StoredFile> = self.iter().map(file).collect();
        STANDARD.encode(packed::pack(crate::json(&all).as_bytes()))
    }

    fn read(stored: &str) -> Result<Self, ServerError> {
        let damaged = |why: String| StoreError::Damaged(format!("a kept text: {why}"));
        let bytes = STANDARD.decode(stored).map_err(|error| damaged(error.to_string()))?;
        let json = packed::unpack(bytes, MOST_STORED).map_err(|error| damaged(error.to_string()))?;
        let file = |(path, file)| match file {
            StoredFile::Text(text) => Ok((path, text.into_bytes())),
            StoredFile::Bytes { base64 } => Ok((path, STANDARD.decode(base64)?)),
        };
        let all = read::<BTreeMap<String, StoredFile>>(json)?.into_iter().map(file);
        let all =
            all.collect::<Result<_, base64::DecodeError>>().map_err(|error| damaged(error.to_string()))?;
        Ok(Self(all))
    }

    /// The archive that is handed in: the same for the same files.
    fn archive(&self) -> Result<Vec<u8>, ServerError> {
        pack::of_files(self.iter()).map_err(|error| ServerError::Wrong(error.to_string()))
    }

    /// How many lines it has that `before` does not have, and how many of `before` it has no more, wherever they moved.
    fn lines_beside(&self, before: Option<&Self>) -> (i64, i64) {
        let mut counts: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        for (files, one) in [(Some(self), 1), (before, -1)] {
            let texts = files.into_iter().flat_map(Self::iter);
            for (path, text) in texts.filter_map(|(path, bytes)| Some((path, as_text(bytes)?))) {
                text.lines().for_each(|line| *counts.entry((path, line)).or_default() += one);
            }
        }
        let sum = |sign: i64| counts.values().map(|count| (sign * count).max(0)).sum();
        (sum(1), sum(-1))
    }
}

/// The content of a file as text; none for one that cannot be edited.
pub fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// A kept text, with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnText {
    pub row: TextRow,
    pub files: BotFiles,
}

impl OwnText {
    fn of(row: TextRow) -> Result<Self, ServerError> {
        Ok(Self { files: BotFiles::read(&row.files)?, row })
    }
}

/// What became of a text that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextKept {
    /// It is the newest one, under this number, kept then.
    Kept(TextId, Time),
    /// This one was kept from elsewhere.
    Newer(Box<OwnText>),
}

/// Whom a text meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOpponent {
    Version(VersionId),
    /// Another kept text of the same author.
    Text(TextId),
}

/// What became of a text that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextRun {
    /// It plays, or has played, in this match.
    In(MatchId),
    /// The team has asked for all the matches it may; it may again at this time.
    TooMany(Time),
    /// Its drafts take up all the space they may, until this time.
    Full(Time),
    /// An opponent is not there for it, or cannot play.
    NotThere,
    /// It cannot be a bot.
    Refused(Cause),
}

impl ContestServer {
    /// The newest text of somebody.
    ///
    /// # Errors
    /// Store errors.
    pub async fn newest_text(&self, owner: TextOwner) -> Result<Option<OwnText>, ServerError> {
        self.store.newest_texts(owner).await?.into_iter().next().map(OwnText::of).transpose()
    }

    /// A text of somebody.
    ///
    /// # Errors
    /// Store errors.
    pub async fn own_text(&self, owner: TextOwner, id: TextId) -> Result<Option<OwnText>, ServerError> {
        self.store.text(owner, id).await?.map(OwnText::of).transpose()
    }

    /// The texts of somebody, newest first, each with what came of it, once that is known.
    ///
    /// # Errors
    /// Store errors.
    pub async fn told_texts(&self, owner: TextOwner) -> Result<Vec<(TextRow, Option<String>)>, ServerError> {
        let mut all = Vec::new();
        for row in self.store.texts(owner).await? {
            let told = match (row.version, &row.did, row.run, owner.team) {
                (Some((_, n)), ..) => Some(format!("handed in as v{n}")),
                (None, Some(did), ..) => Some(did.clone()),
                (None, None, Some((game, seat)), Some(team)) => self.came_of(team, game, seat).await?,
                _ => None,
            };
            all.push((row, told));
        }
        Ok(all)
    }

    /// What came of a draft for the bot in a seat; none while it goes on, or when it is forgotten.
    async fn came_of(
        &self,
        team: EntrantId,
        game: MatchId,
        seat: usize,
    ) -> Result<Option<String>, ServerError> {
        let played = self.store.one_match(Eyes::Team(team), game).await?;
        Ok(played.and_then(|played| told(&played, seat, self.table.game().info().step)))
    }

    /// Writes down what came of texts before their matches are forgotten.
    pub(crate) async fn tell_texts(&self) -> Result<(), ServerError> {
        for (text, team, game, seat) in self.store.untold_texts().await? {
            if let Some(did) = self.came_of(team, game, seat).await? {
                self.store.act(TellText { text, did }).await?;
            }
        }
        Ok(())
    }

    /// Keeps a text that was made from `base`.
    ///
    /// # Errors
    /// Store errors.
    pub async fn keep_text(
        &self,
        owner: TextOwner,
        base: Option<TextId>,
        files: &BotFiles,
        note: Option<String>,
        now: Time,
    ) -> Result<TextKept, ServerError> {
        let note = note.filter(|note| !note.is_empty());
        let known = self.store.newest_texts(owner).await?.into_iter().map(OwnText::of);
        let known: Vec<OwnText> = known.collect::<Result<_, _>>()?;
        if let Some(newest) = known.first().filter(|newest| newest.files == *files) {
            // Sent again because its answer was lost, or nothing was typed since.
            let text = newest.row.id;
            if note.is_some() && note != newest.row.note {
                self.store.act(NoteText { text, note }).await?;
            }
            return Ok(TextKept::Kept(text, newest.row.kept));
        }
        let lines = [0, 1].map(|at| files.lines_beside(known.get(at).map(|text| &text.files)));
        // Texts that were made from one which is gone have nothing to write over.
        let base = base.filter(|_| !known.is_empty());
        let keep = KeepText { owner, base, files: files.stored(), note, lines, now };
        match self.store.act(keep).await? {
            TextReply::Kept(id) => Ok(TextKept::Kept(id, now)),
            TextReply::Newer => {
                let newer = self.newest_text(owner).await?;
                let gone = || StoreError::Damaged("a text was deleted while it was kept".to_owned());
                Ok(TextKept::Newer(Box::new(newer.ok_or_else(gone)?)))
            }
        }
    }

    async fn incoming(&self, files: &BotFiles) -> Result<Incoming, ServerError> {
        let mut file = self.objects.begin().map_err(unkept)?;
        file.add(&files.archive()?).await.map_err(unkept)?;
        Ok(file)
    }

    /// Runs a text: it plays one match that is not rated, as a draft. `wish` is without opponents. The same wish of the same text again gives
    /// the match that is there.
    ///
    /// # Errors
    /// Store errors; a sentence, when the wish is for something that cannot be played.
    pub async fn run_text(
        &self,
        text: &OwnText,
        (owner, against): (TextOwner, &[TextOpponent]),
        wish: Wish,
        now: Time,
    ) -> Result<TextRun, ServerError> {
        let versions: Vec<AskedBot> = against
            .iter()
            .filter_map(|one| match one {
                TextOpponent::Version(version) => Some(AskedBot::Version(*version)),
                TextOpponent::Text(_) => None,
            })
            .collect();
        let mut wish = Wish { against: versions, text: Some(text.row.id), ..wish };
        if let Some(same) = self.same_run(text, against.len(), &wish).await? {
            return Ok(TextRun::In(same));
        }
        let own = match self.draft(&wish, ARCHIVE, self.incoming(&text.files).await?, now).await? {
            Drafted::Kept(own) => own,
            other => return Ok(not_kept(other)),
        };
        let mut all = Vec::new();
        for one in against {
            all.push(match one {
                TextOpponent::Version(version) => AskedBot::Version(*version),
                TextOpponent::Text(id) => {
                    let Some(other) = self.own_text(owner, *id).await? else { return Ok(TextRun::NotThere) };
                    let file = self.incoming(&other.files).await?;
                    match self.keep_draft(wish.entrant, ARCHIVE, file, now).await? {
                        Drafted::Kept(other) => other,
                        other => return Ok(not_kept(other)),
                    }
                }
            });
        }
        wish.against = all;
        Ok(match self.ask(own, wish, now).await? {
            MatchRequested::Planned(game) => TextRun::In(game),
            MatchRequested::TooMany(at) => TextRun::TooMany(at),
            MatchRequested::NotThere => TextRun::NotThere,
        })
    }

    /// The last match of a text, if it is the one that is wanted now: against versions only, because texts change.
    async fn same_run(
        &self,
        text: &OwnText,
        opponents: usize,
        wish: &Wish,
    ) -> Result<Option<MatchId>, ServerError> {
        let Some((game, seat)) = text.row.run else { return Ok(None) };
        let Some(asked) = self.store.asked(wish.entrant, game).await? else { return Ok(None) };
        let rules = self.check_wish(wish)?.map(|changed| crate::json(&changed));
        let wanted = (Kind::Draft, wish.map, wish.seed, wish.seat, rules);
        let same = (asked.kind, asked.map, asked.seed, seat, asked.rules) == wanted
            && asked.state != MatchState::Dead
            && wish.against.len() == opponents;
        let mut others = asked.seats.clone();
        others.remove(seat.min(others.len() - 1));
        let met = |(other, own): (&VersionId, &AskedBot)| *own == AskedBot::Version(*other);
        let met = others.iter().zip(wish.against.iter().cycle()).all(met);
        Ok((same && met && others.len().is_multiple_of(opponents.max(1))).then_some(game))
    }

    /// Hands a text in, as [`upload`](Self::upload) does; the text remembers as which version, and by which request.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub async fn hand_in_text(
        &self,
        text: &OwnText,
        (entrant, actor): (&str, &str),
        request: String,
        now: Time,
    ) -> Result<UploadOutcome, ServerError> {
        let file = self.incoming(&text.files).await?;
        let upload = Upload { entrant, name: ARCHIVE, file, only_if_better: false, actor };
        let uploaded = self.upload(upload, now).await?;
        if let Some(version) = uploaded.version() {
            self.store.act(HandInText { text: text.row.id, version, request }).await?;
        }
        Ok(uploaded)
    }

    /// The files of a version of one's own.
    ///
    /// # Errors
    /// Store errors; a sentence, when they are more than a text holds, or cannot be unpacked here.
    pub async fn source(&self, version: &OwnVersion) -> Result<BotFiles, ServerError> {
        let archive = self.fetch(&version.version.source.to_string()).await?;
        let is_trusted = self.settings().trust_bots;
        let most = (MOST_FILES, MOST_BYTES as u64);
        let work = move || unpack::files_of(&archive, is_trusted, most);
        let files = behind::compute("source", "unpacking a version", work).await?;
        let wrong =
            |why: String| ServerError::Wrong(format!("v{} cannot be opened here: {why}", version.version.n));
        BotFiles::new(files.map_err(wrong)?)
            .map_err(|(TextRefusal::TooLarge(why) | TextRefusal::Wrong(why))| wrong(why))
    }
}

fn not_kept(drafted: Drafted) -> TextRun {
    match drafted {
        Drafted::Refused(cause) => TextRun::Refused(cause),
        Drafted::TooMany(at) => TextRun::TooMany(at),
        Drafted::Full(at) => TextRun::Full(at),
        Drafted::Kept(_) | Drafted::NotThere => TextRun::NotThere,
    }
}

/// What came of a match for the bot in a seat: `lost to hunter, turn 78`.
fn told(played: &StoredMatch, seat: usize, step: &str) -> Option<String> {
    if played.state == MatchState::Dead {
        return Some("could not be played".to_owned());
    }
    let (_, steps) = played.end.as_ref()?;
    let firsts = played.seats.iter().filter(|seat| seat.rank == Some(1)).count();
    let word = match Ended::with(played.seats.get(seat)?.rank?, firsts) {
        Ended::Won => "won against",
        Ended::Drawn => "drew with",
        Ended::Lost => "lost to",
    };
    let others = played.seats.iter().enumerate().filter(|(at, _)| *at != seat).map(|(_, other)| other);
    let name = |other: &SeatOutcome| match other.n < 1 && !other.boss {
        true => "a draft".to_owned(),
        false => other.called(),
    };
    let others = match others.map(name).collect::<Vec<_>>() {
        few if few.len() < 3 => few.join(" and "),
        many => format!("{} others", many.len()),
    };
    Some(format!("{word} {others}, {step} {steps}"))
}
