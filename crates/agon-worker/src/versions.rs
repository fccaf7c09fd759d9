//! Submitted versions, made ready to play: fetched, unpacked and built once per machine.
//!
//! Longer than 500 lines: the shelf, what can be wrong with a version, and the tests of both share one server that has every object.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use agon_bot::advised::NextCommand;
use agon_bot::build::Build;
use agon_bot::manifest::Manifest;
use agon_bot::program::ProgramEnd;
use agon_bot::{BotName, Confined, Launch, LaunchError, Run, advice, inside, rights};

use crate::private::without;
use crate::protocol::{Away, BotSource, Hall, Stage, Unfit};
use crate::unpack::{ArchiveFormat, ArchiveLimits, unpack, unpack_inside};

/// Time limit of a build.
const LONGEST_BUILD: Duration = Duration::from_secs(300);
/// How much of the end of a build's output is kept, in bytes.
pub const MOST_LOG: u64 = 64 << 10;

const TOO_MUCH: &str = "it printed too much";

/// Why a version cannot play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// The author's fault: the archive, the manifest, the build.
    Unfit(Unfit),
    /// Our fault, or the server is away.
    Ours(String),
}

impl From<Away> for Unready {
    fn from(away: Away) -> Self {
        Self::Ours(away.to_string())
    }
}

fn unfit(stage: Stage, what: impl Into<String>, fix: Option<String>) -> Unready {
    Unready::Unfit(Unfit { stage, what: what.into(), fix })
}

/// The folder of versions that are ready.
pub struct VersionShelf {
    folder: PathBuf,
    /// How versions are held while they are unpacked, built and played.
    confined: Confined,
    /// The game of the contest.
    game: String,
    /// What holds for all bots here.
    run: Arc<Run>,
    /// Size limit in bytes, above which the least recently used versions are removed.
    most: u64,
    /// Versions in use, which are kept. Who makes one ready holds its lock: only those who need the same one wait for it.
    used: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    /// Held while one is unpacked and built, because a build takes the whole machine; not while its archive is fetched, however slow
    /// the server is.
    making: Mutex<()>,
}

/// A bot that is ready. Its files stay while this value lives.
pub struct ReadyBot {
    pub bot: BotName,
    _held: Option<Arc<Mutex<()>>>,
}

impl VersionShelf {
    /// The memory that a match of this many bots may take, in bytes; 0 where nothing holds them to it.
    pub fn memory(&self, seats: usize) -> u64 {
        match self.confined {
            Confined::No => 0,
            _ => inside::memory_of(&self.run).saturating_mul(seats as u64),
        }
    }

    /// The versions in this folder; it may be removed while nobody plays.
    pub fn new(folder: PathBuf, confined: Confined, game: &str) -> Self {
        Self {
            folder,
            confined,
            game: game.to_owned(),
            run: Arc::default(),
            most: u64::MAX,
            used: Mutex::default(),
            making: Mutex::default(),
        }
    }

    /// The same with what holds for all bots here.
    pub fn under(self, run: Run) -> Self {
        Self { run: Arc::new(run), ..self }
    }

    /// The same with at most `most` bytes, in addition to the versions being played.
    pub fn bounded(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// The bot to start for a program.
    ///
    /// # Errors
    /// When it cannot be made ready, with whose fault that is.
    pub fn ready(&self, hall: &dyn Hall, program: &BotSource) -> Result<ReadyBot, Unready> {
        let sha = match program {
            BotSource::Builtin(name) => {
                return BotName::parse(name).map(|bot| ReadyBot { bot, _held: None }).map_err(Unready::Ours);
            }
            BotSource::Source(sha) => sha,
        };
        let place = self.folder.join(sha);
        // From here on nobody removes it.
        let held = locked(&self.used).entry(sha.clone()).or_default().clone();
        let own = locked(&held);
        let was_there = fs::read_to_string(place.join(READY)).is_ok_and(|image| image == self.image());
        if !was_there && let Err(why) = self.make(hall, sha, &place) {
            // Nothing half done stays, except the build's output.
            let _ = fs::remove_dir_all(place.join(BOT));
            return Err(why);
        }
        drop(own);
        if self.most < u64::MAX {
            // Its date is that of its last use.
            let _ = fs::File::options()
                .append(true)
                .open(place.join(READY))
                .and_then(|file| file.set_modified(SystemTime::now()));
            if !was_there {
                self.make_room(&mut locked(&self.used));
            }
        }
        if let Some(contest) = self.folder.parent().filter(|_| self.confined != Confined::No) {
            inside::let_through(&place, contest);
        }
        let bot = self.name_of(&place.join(BOT)).map_err(Unready::Ours)?;
        Ok(ReadyBot { bot, _held: Some(held) })
    }

    /// Removes the least recently used versions until the rest fits the limit.
    fn make_room(&self, held: &mut BTreeMap<String, Arc<Mutex<()>>>) {
        held.retain(|_, holds| Arc::strong_count(holds) > 1);
        let mut all: Vec<(SystemTime, PathBuf, u64)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| {
                let used = fs::metadata(entry.path().join(READY)).and_then(|about| about.modified());
                (used.unwrap_or(SystemTime::UNIX_EPOCH), entry.path(), size(&entry.path()))
            })
            .collect();
        all.sort();
        let mut sum: u64 = all.iter().map(|(.., bytes)| bytes).sum();
        for (_, place, bytes) in all {
            let name = place.file_name().map(|name| name.to_string_lossy().into_owned());
            let is_held = name.is_some_and(|name| held.contains_key(&name));
            if sum > self.most && !is_held && fs::remove_dir_all(&place).is_ok() {
                sum -= bytes;
            }
        }
    }

    /// The sources that are unpacked here.
    pub fn unpacked(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Removes what was unpacked and built of these sources, as far as nobody plays them.
    pub fn remove(&self, sources: &[String]) {
        let mut used = locked(&self.used);
        used.retain(|_, holds| Arc::strong_count(holds) > 1);
        for source in sources {
            // Names from the other side never lead out of the folder.
            if source.contains(['/', '.']) || used.contains_key(source) {
                continue;
            }
            // What stays after an error is named again the next time.
            let _ = fs::remove_dir_all(self.folder.join(source));
        }
    }

    /// The end of the output of a version's last build; empty if nothing was built.
    pub fn log(&self, sha: &str) -> Vec<u8> {
        let place = self.folder.join(sha);
        let said = tail(&place.join(LOG)).unwrap_or_default();
        without(&said, &place.join(BOT)).into_bytes()
    }

    fn make(&self, hall: &dyn Hall, sha: &str, place: &Path) -> Result<(), Unready> {
        let ours = |error: io::Error| Unready::Ours(format!("{}: {error}", place.display()));
        // Anything there was left by a process that was killed midway.
        match fs::remove_dir_all(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(ours(error)),
            _ => {}
        }
        let archive = hall.fetch(sha)?;
        let _making = locked(&self.making);
        let bot = place.join(BOT);
        rights::create_shown_folder(&bot).map_err(ours)?;
        let damaged = |why: String| {
            unfit(
                Stage::Unpacking,
                format!("The archive was not accepted: {why}."),
                Some(ZIP_AGAIN.to_owned()),
            )
        };
        let form =
            ArchiveFormat::of(&archive).ok_or_else(|| damaged("it is neither a zip nor a tar".to_owned()))?;
        let unpacked = match self.confined {
            Confined::Foreign => unpack_inside(&bot, form, ArchiveLimits::UPLOAD, &archive[..]),
            _ => unpack(&bot, form, ArchiveLimits::UPLOAD, io::Cursor::new(archive)),
        };
        unpacked.map_err(damaged)?;
        self.look(&bot)?;
        let told = |why: String| without(&why, &bot);
        let wrong = |why: String| unfit(Stage::Unpacking, told(why), None);
        let name = self.name_of(&bot).map_err(wrong)?;
        if let Some(build) = Build::of(&name).map_err(wrong)?
            && !build.is_there()
        {
            self::build(&build, self.confined, &place.join(LOG), &bot)?;
        }
        Launch::of(&name).map_err(|error| match error {
            LaunchError::Manifest(why) => unfit(Stage::Unpacking, told(why), None),
            LaunchError::NotBuilt { missing, .. } => unfit(
                Stage::Building,
                format!("The build succeeded, but `{missing}`, which `run` needs, does not exist."),
                Some("Have `build` in agon.toml make it, or name in `run` what the build makes.".to_owned()),
            ),
            LaunchError::UnknownFolder { hint, .. } => {
                unfit(Stage::Unpacking, NO_BOT, Some(told(hint)).filter(|hint| !hint.is_empty()))
            }
            other => unfit(Stage::Starting, told(other.to_string()), None),
        })?;
        fs::write(place.join(READY), self.image()).map_err(ours)
    }

    /// The image that versions are built in; what was built in another one is built again.
    fn image(&self) -> &str {
        self.run.image.as_deref().unwrap_or_default()
    }

    /// Checks for mistakes that everybody makes once: nothing in it, everything one folder too deep, a bot for
    /// another game.
    fn look(&self, bot: &Path) -> Result<(), Unready> {
        let ours = |error: io::Error| Unready::Ours(error.to_string());
        let mut entries = fs::read_dir(bot).map_err(ours)?.flatten();
        let Some(first) = entries.next() else {
            return Err(unfit(Stage::Unpacking, "The archive holds no files.", Some(ZIP_AGAIN.to_owned())));
        };
        let (name, alone) = (first.file_name().to_string_lossy().into_owned(), entries.next().is_none());
        if alone && first.path().is_dir() {
            return Err(unfit(
                Stage::Unpacking,
                format!(
                    "The archive holds no bot. Expected `agon.toml` or `bot.py` at its top; found one folder, `{name}/`."
                ),
                Some(format!(
                    "Zip what is inside `{name}`, not the folder itself; `{}` does so.",
                    NextCommand::Submit.about([&name])
                )),
            ));
        }
        let head = || {
            fs::File::open(first.path()).and_then(|file| {
                let mut head = Vec::new();
                file.take(1024).read_to_end(&mut head).map(|_| head)
            })
        };
        if alone && head().is_ok_and(|head| ArchiveFormat::of(&head).is_some()) {
            return Err(unfit(
                Stage::Unpacking,
                format!("The archive holds no bot, but another archive, `{name}`."),
                Some(format!("Hand in `{name}` itself.")),
            ));
        }
        // Errors in a manifest are reported by whoever needs it.
        let other = Manifest::read(bot).ok().flatten().and_then(|manifest| manifest.defaults.game);
        match other.filter(|game| *game != self.game) {
            None => Ok(()),
            Some(game) => Err(unfit(
                Stage::Unpacking,
                format!("Its agon.toml says that it plays `{game}`; this contest plays `{}`.", self.game),
                Some(format!("Hand in the bot for {0}, or write [defaults] game = \"{0}\".", self.game)),
            )),
        }
    }

    /// A single file is the bot, as on the command line; otherwise the folder is.
    fn name_of(&self, folder: &Path) -> Result<BotName, String> {
        let mut entries = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
        let only = entries
            .next()
            .map(|entry| entry.path())
            .filter(|path| path.is_file() && entries.next().is_none());
        let path = only.unwrap_or_else(|| folder.to_owned());
        Ok(BotName {
            confined: self.confined,
            run: Arc::clone(&self.run),
            ..BotName::parse(&path.to_string_lossy())?
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Size in bytes of the files below a folder. Unreadable files count as empty.
fn size(folder: &Path) -> u64 {
    let mut sum = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        sum += match entry.metadata() {
            Ok(about) if about.is_dir() => size(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        };
    }
    sum
}

/// The bot's folder, within that of a version.
const BOT: &str = "bot";
/// The file that marks a version as ready, and holds the name of its image.
const READY: &str = "ready";
/// The file with the output of its build.
const LOG: &str = "build.log";

const ZIP_AGAIN: &str =
    "Zip the bot's own files, agon.toml or bot.py at the top; `agon submit FOLDER` does so.";
const NO_BOT: &str = "The archive holds no bot: none of agon.toml, run.sh, application.py, grid_player.py, package.json, \
                      bot.py and bot.js is at its top.";

/// Builds; on failure says what went wrong, with the end of the build's output.
fn build(build: &Build, confined: Confined, log: &Path, bot: &Path) -> Result<(), Unready> {
    let done = match confined {
        Confined::No => build.run_by(|command| supervised(command, log)),
        _ => build_inside(build, confined, log),
    };
    let (why, code) = match done {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => (format!("The build failed ({status})."), status.code()),
        Err(why) => (format!("The build failed: {why}."), None),
    };
    let said = tail(log).unwrap_or_default();
    let fix = advice::of_end(said.as_bytes(), ProgramEnd::Code(code.unwrap_or(1)), build.run.for_others);
    let end: Vec<&str> = said.lines().rev().take(20).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    let what = if end.is_empty() { why } else { format!("{why} Last output:\n{}", end.join("\n")) };
    Err(unfit(Stage::Building, without(&what, bot), fix))
}

fn build_inside(build: &Build, confined: Confined, log: &Path) -> Result<ExitStatus, String> {
    let mut file = fs::File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut room = MOST_LOG * 64;
    build.run_inside(confined, &mut |bytes| {
        room = room.checked_sub(bytes.len() as u64).ok_or_else(|| io::Error::other(TOO_MUCH))?;
        file.write_all(bytes)
    })
}

/// The end of a file.
fn tail(file: &Path) -> io::Result<String> {
    let mut open = fs::File::open(file)?;
    let length = open.metadata()?.len();
    open.seek(io::SeekFrom::Start(length.saturating_sub(MOST_LOG)))?;
    let mut bytes = Vec::new();
    open.take(MOST_LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a command in its own process group, and ends the group when it takes too long or prints too much.
fn supervised(command: &mut Command, log: &Path) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt as _;
    let file = fs::File::create(log)?;
    command.stdout(Stdio::from(file.try_clone()?)).stderr(Stdio::from(file)).process_group(0);
    let mut child = command.spawn()?;
    let until = Instant::now() + LONGEST_BUILD;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let too_much = fs::metadata(log).is_ok_and(|about| about.len() > MOST_LOG * 64);
        if Instant::now() >= until || too_much {
            let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            let why = if too_much { TOO_MUCH } else { "it took longer than 300 s" };
            return Err(io::Error::other(why));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::protocol::{Granted, Nothing, Posted, Try, Whole};

    /// A server that has every object: a bot archive whose only file contains the object's name, 10 kB long. For the object `slow` it
    /// waits until it is told to answer.
    struct Shelf(Mutex<mpsc::Receiver<()>>);

    impl Hall for Shelf {
        fn lease(&self, _: &str, _: usize) -> Result<Granted, Away> {
            Ok(Granted::default())
        }
        fn start(&self, _: Try) -> Result<bool, Away> {
            Ok(true)
        }
        fn beat(&self, _: i64, _: &[(Try, u32)]) -> Result<bool, Away> {
            Ok(true)
        }
        fn building(&self, _: Try) -> Result<bool, Away> {
            Ok(true)
        }
        fn built(&self, _: Try, _: &[u8]) -> Result<(), Away> {
            Ok(())
        }
        fn post(&self, over: &[(Try, Whole)]) -> Result<Vec<Posted>, Away> {
            Ok(vec![Posted::Kept; over.len()])
        }
        fn void(&self, _: Try, _: &Nothing) -> Result<(), Away> {
            Ok(())
        }
        fn abort(&self, _: i64) -> Result<(), Away> {
            Ok(())
        }
        fn fetch(&self, sha: &str) -> Result<Vec<u8>, Away> {
            if sha == "slow" {
                locked(&self.0).recv_timeout(Duration::from_secs(60)).expect("told to answer");
            }
            let content = format!("# {sha}{}", " ".repeat(10_000));
            Ok(crate::pack::of_files([("bot.py", content.as_bytes())].into_iter()).expect("a name"))
        }
    }

    #[test]
    fn a_server_that_answers_slowly_keeps_only_those_waiting_who_need_that_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let versions = VersionShelf::new(folder.path().join("work"), Confined::No, "any");
        let (answer, told) = mpsc::channel();
        let (shelf, source) = (Shelf(Mutex::new(told)), |name: &str| BotSource::Source(name.to_owned()));
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| versions.ready(&shelf, &source("slow")).is_ok());
            // Once it has asked for the archive.
            while locked(&versions.used).get("slow").is_none_or(|held| held.try_lock().is_ok()) {
                std::thread::yield_now();
            }
            let (done, others) = mpsc::channel();
            let (versions, shelf) = (&versions, &shelf);
            scope.spawn(move || {
                for name in ["new", "new"] {
                    let _ = done.send(versions.ready(shelf, &source(name)).is_ok());
                }
            });
            let others: Vec<_> = (0..2).map(|_| others.recv_timeout(Duration::from_secs(30))).collect();
            answer.send(()).expect("it waits");
            assert_eq!(others, [Ok(true), Ok(true)], "nobody else waits");
            assert!(slow.join().expect("no panic"));
        });
    }

    #[test]
    fn what_belongs_to_nobody_goes_once_nobody_plays_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let versions = VersionShelf::new(folder.path().join("work"), Confined::No, "any");
        let shelf = Shelf(Mutex::new(mpsc::channel().1));
        let ready = |name: &str| versions.ready(&shelf, &BotSource::Source(name.to_owned())).expect("a bot");
        let (held, _) = (ready("one"), ready("two"));
        let unpacked = || {
            let mut all = versions.unpacked();
            all.sort();
            all
        };
        fs::write(folder.path().join("else"), "").expect("written");
        let gone = ["one", "two", "never", "../else"].map(str::to_owned);
        assert_eq!(unpacked(), ["one", "two"]);
        versions.remove(&gone);
        assert_eq!(unpacked(), ["one"], "it is played");
        drop(held);
        versions.remove(&gone);
        assert_eq!(unpacked(), Vec::<String>::new());
        assert!(folder.path().join("else").exists(), "nothing elsewhere");
    }

    #[test]
    fn what_was_not_needed_for_longest_goes_and_what_is_played_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("work");
        let versions = VersionShelf::new(place.clone(), Confined::No, "any").bounded(25_000);
        let shelf = Shelf(Mutex::new(mpsc::channel().1));
        let ready = |name: &str| match versions.ready(&shelf, &BotSource::Source(name.to_owned())) {
            Ok(standing) => standing,
            Err(why) => panic!("{name}: {why:?}"),
        };
        let there = |name: &str| place.join(name).join(READY).is_file();
        let played = ready("a");
        drop(ready("b"));
        drop(ready("c"));
        assert!(there("a") && !there("b") && there("c"), "three are too many, and the first is held");
        drop(ready("b"));
        assert!(there("a") && there("b") && !there("c"));
        drop(played);
        drop(ready("c"));
        assert!(!there("a") && there("b") && there("c"), "nobody holds it any more");
    }
}
