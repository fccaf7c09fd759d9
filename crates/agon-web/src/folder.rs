//! The folder of a bot that somebody writes in the page: its files, read and written as a whole, and its last texts, which are kept in
//! the folder itself.
//!
//! Whatever stands in the folder is its newest text, whoever wrote it: what another program has changed is kept like what the page
//! changes, and a page that began with an older text is told.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use agon_contest::content::{self, LEFT_OUT};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The most files of a text.
const MOST_FILES: usize = 64;
/// The most bytes of a text, all files together.
const LARGEST_TEXT: u64 = 512 << 10;
/// How many texts are kept.
const MOST_TEXTS: usize = 20;
/// A text younger than this, in milliseconds, that nothing came of is replaced by the next one.
const DRAFT: i64 = 60_000;
/// The longest note, and the longest account of what came of a text, in characters.
const LONGEST_NOTE: usize = 200;

/// A file of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderFile {
    /// Its path inside the folder, with slashes.
    pub path: String,
    /// Its content; none if it is no text, or too large to be edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its size, if it cannot be edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A text of the folder, as it is kept and as the page is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FolderText {
    /// Names this text; another content is another text.
    pub id: String,
    /// When it was kept, in milliseconds since 1970.
    pub kept_at: i64,
    /// What its author says of it.
    pub note: Option<String>,
    /// What came of it, in words.
    pub did: Option<String>,
    /// Whether it stays as it is: it was run, or the page found it.
    #[serde(default)]
    stays: bool,
    /// Its files.
    pub files: Vec<FolderFile>,
}

/// A text in the list of the last ones.
#[derive(Debug, Serialize)]
pub struct FolderRow {
    id: String,
    kept_at: i64,
    note: Option<String>,
    did: Option<String>,
    lines: LinesChanged,
}

/// By how many lines a text differs from the one before.
#[derive(Debug, Serialize)]
struct LinesChanged {
    more: usize,
    fewer: usize,
}

/// Why a text is not read or kept.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refuses.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// It holds too much, or has a name that cannot be.
    #[error("{0}")]
    Refused(String),
    /// Another text is the newest.
    #[error("this folder holds another text by now")]
    Newer(Box<FolderText>),
    /// There is no such text.
    #[error("this text is no longer kept")]
    Gone,
}

/// The folder of a bot.
#[derive(Debug)]
pub struct BotFolder {
    /// As it was named.
    pub name: String,
    /// Its real path, so that a link changed later leads nowhere else.
    path: PathBuf,
    /// One change at a time.
    changing: Mutex<()>,
}

impl BotFolder {
    /// The folder at `path`.
    ///
    /// # Errors
    /// When it is no folder, or its files cannot be read.
    pub fn new(path: &Path) -> Result<Self, FolderError> {
        let name = path.display().to_string();
        let real = path.canonicalize().map_err(|error| FolderError::Io(name.clone(), error))?;
        let own = Self { name, path: real, changing: Mutex::default() };
        own.read()?;
        Ok(own)
    }

    /// The text that stands in the folder.
    ///
    /// # Errors
    /// When it cannot be read, or not be kept.
    pub fn newest(&self) -> Result<FolderText, FolderError> {
        let _one = self.lock();
        self.found()
    }

    /// The last texts, the newest first.
    ///
    /// # Errors
    /// As [`newest`](Self::newest).
    pub fn rows(&self) -> Result<Vec<FolderRow>, FolderError> {
        let _one = self.lock();
        self.found()?;
        let texts: Vec<FolderText> =
            self.kept().into_iter().filter_map(|(_, path)| read_text(&path)).collect();
        let none = Vec::new();
        let row = |(at, text): (usize, &FolderText)| FolderRow {
            id: text.id.clone(),
            kept_at: text.kept_at,
            note: text.note.clone(),
            did: text.did.clone(),
            lines: match texts.get(at + 1) {
                Some(before) => difference(&before.files, &text.files),
                None => difference(&none, &none),
            },
        };
        Ok(texts.iter().enumerate().map(row).collect())
    }

    /// A kept text.
    ///
    /// # Errors
    /// When it is kept no longer.
    pub fn text(&self, id: &str) -> Result<FolderText, FolderError> {
        let found =
            self.kept().into_iter().filter_map(|(_, path)| read_text(&path)).find(|text| text.id == id);
        found.ok_or(FolderError::Gone)
    }

    /// Writes a text into the folder in place of `base`, and keeps it. Files that it does not name stay.
    ///
    /// # Errors
    /// [`FolderError::Newer`] when another text is the newest; otherwise when it is refused or cannot be written, and why.
    pub fn keep(
        &self,
        base: Option<&str>,
        files: &[FolderFile],
        note: Option<String>,
    ) -> Result<FolderText, FolderError> {
        check(files)?;
        let _one = self.lock();
        let before = self.found()?;
        if base != Some(&before.id) {
            return Err(FolderError::Newer(Box::new(before)));
        }
        for file in files {
            let Some(text) = &file.text else { continue };
            let known = before.files.iter().find(|known| known.path == file.path);
            match known {
                Some(known) if known.text.as_ref() == Some(text) => {}
                Some(known) if known.text.is_none() => {
                    return Err(FolderError::Refused(format!("{}: it is no text", file.path)));
                }
                _ => self.write(&file.path, text)?,
            }
        }
        let files = self.read()?;
        let note = note.map(|note| note.chars().take(LONGEST_NOTE).collect::<String>());
        let (now, kept) = (now(), self.kept());
        let began = kept.first().map_or(0, |(at, _)| *at);
        if files == before.files {
            let text = FolderText { note: note.or(before.note.clone()), ..before };
            self.put(began, &text)?;
            return Ok(text);
        }
        let is_draft = !before.stays && before.note.is_none() && now - began < DRAFT;
        let at = if is_draft { began } else { now.max(began + 1) };
        let text = FolderText { id: id(at, &files), kept_at: now, note, did: None, stays: false, files };
        self.put(at, &text)?;
        Ok(text)
    }

    /// Notes of a text that it was run, or what came of it.
    ///
    /// # Errors
    /// When it is kept no longer, or cannot be written.
    pub fn ran(&self, id: &str, did: Option<&str>) -> Result<(), FolderError> {
        let _one = self.lock();
        let (at, mut text) = self
            .kept()
            .into_iter()
            .filter_map(|(at, path)| Some((at, read_text(&path)?)))
            .find(|(_, text)| text.id == id)
            .ok_or(FolderError::Gone)?;
        text.stays = true;
        if let Some(did) = did {
            text.did = Some(did.chars().filter(|sign| !sign.is_control()).take(LONGEST_NOTE).collect());
        }
        self.put(at, &text)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text in the folder: the newest kept one, or a new one if something else has changed the files.
    fn found(&self) -> Result<FolderText, FolderError> {
        let files = self.read()?;
        let kept = self.kept();
        if let Some(newest) = kept.first().and_then(|(_, path)| read_text(path))
            && newest.files == files
        {
            return Ok(newest);
        }
        let now = now();
        let at = kept.first().map_or(now, |(last, _)| now.max(last + 1));
        let text = FolderText { id: id(at, &files), kept_at: now, note: None, did: None, stays: true, files };
        self.put(at, &text)?;
        Ok(text)
    }

    /// The files of the bot: those near the top first, if there are more than a text has.
    fn read(&self) -> Result<Vec<FolderFile>, FolderError> {
        let mut paths: Vec<String> = content::files(&self.path)
            .map_err(FolderError::Refused)?
            .iter()
            .filter_map(|path| path.to_str().map(str::to_owned))
            .filter(|path| is_plain(path))
            .collect();
        paths.sort_by_key(|path| (path.matches('/').count(), path.clone()));
        paths.truncate(MOST_FILES);
        let mut room = LARGEST_TEXT;
        let mut files = Vec::new();
        for path in paths {
            let place = self.path.join(&path);
            let failed = |error| FolderError::Io(path.clone(), error);
            let found = fs::symlink_metadata(&place).map_err(failed)?;
            if !found.is_file() {
                continue;
            }
            let bytes = if found.len() <= room { fs::read(&place).map_err(failed)? } else { vec![0] };
            let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            room -= text.as_ref().map_or(0, |text| text.len() as u64).min(room);
            let bytes = text.is_none().then_some(found.len());
            files.push(FolderFile { path, text, bytes });
        }
        Ok(files)
    }

    /// Writes a file, atomically; a new one with the folders above it.
    fn write(&self, path: &str, text: &str) -> Result<(), FolderError> {
        let failed = |error| FolderError::Io(path.to_owned(), error);
        let place = self.path.join(path);
        let folder = place.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(failed)?;
        let inside = folder.canonicalize().map_err(failed)?.starts_with(&self.path);
        let there = fs::symlink_metadata(&place).ok();
        if !inside || there.as_ref().is_some_and(|found| !found.is_file()) {
            return Err(FolderError::Refused(format!("{path}: this leads out of the bot's folder")));
        }
        let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        let permissions = there.map_or_else(new_file, |found| found.permissions());
        file.as_file().set_permissions(permissions).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&place).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// The kept texts, the newest first: when each was begun, and its file.
    fn kept(&self) -> Vec<(i64, PathBuf)> {
        let entries = fs::read_dir(self.texts()).into_iter().flatten().flatten();
        let number = |path: &Path| path.file_stem()?.to_str()?.parse().ok();
        let mut found: Vec<(i64, PathBuf)> =
            entries.map(|entry| entry.path()).filter_map(|path| Some((number(&path)?, path))).collect();
        found.sort_unstable_by(|one, two| two.cmp(one));
        found
    }

    /// Keeps a text, and of all texts the last ones.
    fn put(&self, at: i64, text: &FolderText) -> Result<(), FolderError> {
        let folder = self.texts();
        let failed = |error| FolderError::Io(folder.display().to_string(), error);
        fs::create_dir_all(&folder).map_err(failed)?;
        // They are nobody's business: neither git's nor a contest's.
        let ignore = folder.with_file_name(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(failed)?;
        }
        let mut file = NamedTempFile::new_in(&folder).map_err(failed)?;
        serde_json::to_writer(&mut file, text).map_err(|error| failed(error.into()))?;
        file.persist(folder.join(format!("{at}.json"))).map_err(|error| failed(error.error))?;
        for (_, old) in self.kept().into_iter().skip(MOST_TEXTS) {
            let _ = fs::remove_file(old);
        }
        Ok(())
    }

    fn texts(&self) -> PathBuf {
        self.path.join(".agon").join("texts")
    }
}

/// What a new file may be: as the system's own.
fn new_file() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o644)
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

fn id(at: i64, files: &[FolderFile]) -> String {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    format!("{at}-{:08x}", hasher.finish() as u32)
}

fn read_text(path: &Path) -> Option<FolderText> {
    // As JSON a text is at most six times as long.
    let found = fs::symlink_metadata(path).ok()?;
    let bounded = found.is_file() && found.len() <= 8 * LARGEST_TEXT;
    serde_json::from_slice(&fs::read(path).ok().filter(|_| bounded)?).ok()
}

/// Whether a path can be a file of a text: inside the folder, and nothing hidden.
fn is_plain(path: &str) -> bool {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => {
            let name = name.to_str().unwrap_or(".");
            !name.starts_with('.') && !LEFT_OUT.contains(&name)
        }
        _ => false,
    };
    let odd = |sign: char| sign.is_control() || matches!(sign, '\\' | ':');
    !path.is_empty() && path.len() <= 200 && !path.contains(odd) && Path::new(path).components().all(part)
}

fn check(files: &[FolderFile]) -> Result<(), FolderError> {
    let refused = |why: String| Err(FolderError::Refused(why));
    if files.len() > MOST_FILES {
        return refused(format!("a text has at most {MOST_FILES} files"));
    }
    let size: usize = files.iter().filter_map(|file| file.text.as_ref()).map(String::len).sum();
    if size as u64 > LARGEST_TEXT {
        return refused(format!("a text has at most {} KiB", LARGEST_TEXT >> 10));
    }
    match files.iter().find(|file| !is_plain(&file.path)) {
        Some(file) => refused(format!("{}: name a file inside the folder, as in bot/search.py", file.path)),
        None => Ok(()),
    }
}

/// The lines that one text has and another has not, wherever they stand.
fn difference(before: &[FolderFile], after: &[FolderFile]) -> LinesChanged {
    let mut count: HashMap<(&str, &str), i64> = HashMap::new();
    for (files, by) in [(before, -1), (after, 1)] {
        for file in files {
            for line in file.text.iter().flat_map(|text| text.lines()) {
                *count.entry((&file.path, line)).or_default() += by;
            }
        }
    }
    let sum = |sign: i64| count.values().map(|by| (by * sign).max(0) as usize).sum();
    LinesChanged { more: sum(1), fewer: sum(-1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, BotFolder) {
        let whole = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let place = whole.path().join(path);
            fs::create_dir_all(place.parent().expect("a parent")).expect("a folder");
            fs::write(place, text).expect("a file");
        }
        let own = BotFolder::new(whole.path()).expect("it is one");
        (whole, own)
    }

    fn file(path: &str, text: &str) -> FolderFile {
        FolderFile { path: path.to_owned(), text: Some(text.to_owned()), bytes: None }
    }

    #[test]
    fn a_text_is_the_files_of_the_bot_and_is_written_where_they_are() {
        let all =
            [("bot.py", "one\n"), ("lib/search.py", "two\n"), (".git/config", "x"), ("agon-replays/x", "x")];
        let (whole, own) = folder(&all);
        fs::write(whole.path().join("book.bin"), [0, 1, 2]).expect("a file");
        let first = own.newest().expect("read");
        let names: Vec<&str> = first.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["book.bin", "bot.py", "lib/search.py"]);
        assert_eq!((first.files[0].bytes, &first.files[0].text), (Some(3), &None));
        let wanted = [first.files[0].clone(), file("bot.py", "one\nmore\n"), file("lib/new.py", "three\n")];
        let kept = own.keep(Some(&first.id), &wanted, None).expect("kept");
        assert_ne!(kept.id, first.id);
        assert_eq!(fs::read_to_string(whole.path().join("bot.py")).expect("there"), "one\nmore\n");
        assert_eq!(fs::read_to_string(whole.path().join("lib/new.py")).expect("there"), "three\n");
        assert_eq!(fs::read(whole.path().join("book.bin")).expect("there"), [0, 1, 2]);
        let rows = own.rows().expect("listed");
        assert_eq!((rows.len(), rows[0].lines.more, rows[0].lines.fewer), (2, 2, 0));
        // What began is found again, and what is kept is no file of the bot.
        assert_eq!(own.text(&first.id).expect("kept").files, first.files);
        assert!(own.read().expect("read").iter().all(|file| !file.path.contains(".agon")));
    }

    #[test]
    fn nothing_that_another_program_wrote_is_written_over() {
        let (whole, own) = folder(&[("bot.py", "one")]);
        let first = own.newest().expect("read");
        fs::write(whole.path().join("bot.py"), "by somebody else").expect("written");
        let error = own.keep(Some(&first.id), &[file("bot.py", "mine")], None).expect_err("refused");
        let FolderError::Newer(newer) = error else { panic!("{error}") };
        assert_eq!(newer.files, [file("bot.py", "by somebody else")]);
        assert_eq!(fs::read_to_string(whole.path().join("bot.py")).expect("there"), "by somebody else");
        own.keep(Some(&newer.id), &[file("bot.py", "mine")], None).expect("chosen");
        assert_eq!(own.rows().expect("listed").len(), 3, "each of them is kept");
    }

    #[test]
    fn texts_that_follow_each_other_quickly_are_one_until_something_comes_of_it_and_the_last_stay() {
        let (_whole, own) = folder(&[("bot.py", "0")]);
        let mut text = own.newest().expect("read");
        let count = |own: &BotFolder| own.rows().expect("listed").len();
        for (at, rows) in [(1, 2), (2, 2), (3, 2)] {
            text = own.keep(Some(&text.id), &[file("bot.py", &at.to_string())], None).expect("kept");
            assert_eq!(count(&own), rows);
        }
        own.ran(&text.id, Some("lost to hunter, turn 78")).expect("noted");
        text = own.keep(Some(&text.id), &[file("bot.py", "4")], None).expect("kept");
        let noted =
            own.keep(Some(&text.id), &[file("bot.py", "4")], Some("bolder".to_owned())).expect("kept");
        assert_eq!((noted.id.as_str(), noted.note.as_deref()), (text.id.as_str(), Some("bolder")));
        let rows = own.rows().expect("listed");
        assert_eq!((rows.len(), rows[1].did.as_deref()), (3, Some("lost to hunter, turn 78")));
        for at in 5..40 {
            text = own.keep(Some(&text.id), &[file("bot.py", &at.to_string())], None).expect("kept");
            own.ran(&text.id, None).expect("noted");
        }
        assert_eq!(count(&own), MOST_TEXTS);
        assert!(matches!(own.ran("nothing", None), Err(FolderError::Gone)));
    }

    #[test]
    fn what_leads_out_of_the_folder_or_is_too_much_is_refused() {
        let (whole, own) = folder(&[("bot.py", "one")]);
        let elsewhere = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink(elsewhere.path(), whole.path().join("out")).expect("a link");
        let base = own.newest().expect("read").id;
        let tried = |path: &str, text: &str| {
            own.keep(Some(&base), &[file(path, text)], None).expect_err("refused").to_string()
        };
        for path in ["../x.py", "/etc/x", ".agon/x", "a/.ssh/x", "", "a\\b", "target/x", "a/../../x"] {
            assert!(tried(path, "x").contains("inside the folder"), "{path}");
        }
        assert!(tried("out/x.py", "x").contains("leads out"));
        assert!(tried("bot.py", &"x".repeat(600_000)).contains("512 KiB"));
        let many: Vec<FolderFile> = (0..65).map(|at| file(&format!("{at}.py"), "")).collect();
        assert!(own.keep(Some(&base), &many, None).expect_err("refused").to_string().contains("64 files"));
        assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
    }
}
