//! Exports that an organiser asks for on the site: made one at a time in the background, and the last few kept in the folder
//! `exports` of the contest.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agon_server::export;
use agon_store::Time;
use agon_store::acts::Tell;
use tokio::runtime::Handle;

use crate::site::Site;

/// The folder in a contest's folder.
const FOLDER: &str = "exports";
/// How many are kept, the newest.
pub const KEPT: usize = 3;

/// The export in progress, and why the last one failed.
#[derive(Default)]
pub struct Exports {
    now: Mutex<State>,
}

#[derive(Default)]
struct State {
    making: Option<Arc<Making>>,
    failed: Option<String>,
}

/// An export that is being made.
pub struct Making {
    /// When it began.
    pub began: Time,
    done: AtomicI64,
    of: AtomicI64,
}

impl Making {
    /// How many replays are in it, and how many there will be.
    pub fn progress(&self) -> (i64, i64) {
        (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed))
    }
}

/// A finished export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedExport {
    /// When it began: its name.
    pub began: Time,
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Exports {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The export in progress.
    pub fn making(&self) -> Option<Arc<Making>> {
        self.state().making.clone()
    }

    /// Why the last one failed.
    pub fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }
}

/// The exports that are kept, the newest first.
pub fn made(contest: &Path) -> Vec<FinishedExport> {
    let mut all: Vec<FinishedExport> = fs::read_dir(contest.join(FOLDER))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let name = entry.file_name().into_string().ok()?;
            let began = Time(name.strip_suffix(".agon")?.parse().ok()?);
            Some(FinishedExport { began, path: entry.path(), bytes: about.len() })
        })
        .collect();
    all.sort_by_key(|made| std::cmp::Reverse(made.began));
    all
}

/// Begins an export, with the secret of the seeds if that is to be revealed; false while another is in progress.
pub fn begin(site: &Arc<Site>, reveal: bool, actor: String, now: Time) -> bool {
    let making = Arc::new(Making { began: now, done: AtomicI64::new(0), of: AtomicI64::new(0) });
    {
        let mut state = site.exports.state();
        if state.making.is_some() {
            return false;
        }
        *state = State { making: Some(making.clone()), failed: None };
    }
    let (site, runtime) = (site.clone(), Handle::current());
    tokio::task::spawn_blocking(move || {
        let made = make(&site, &runtime, reveal, &making);
        // It exists before it is reported, so that whoever looks finds it.
        let (object, detail) = match &made {
            Ok(rows) => (format!("{rows} results"), if reveal { "with the secret of the seeds" } else { "" }),
            Err(why) => ("failed".to_owned(), why.as_str()),
        };
        let (verb, detail) = ("export".to_owned(), detail.to_owned());
        *site.exports.state() = State { making: None, failed: made.err() };
        let tell = Tell { contest: site.contest(), actor, verb, object, detail, now: site.now() };
        if let Err(error) = runtime.block_on(site.store().act(tell)) {
            tracing::warn!("an export was made, and that could not be written down: {error}");
        }
    });
    true
}

/// Makes an export and removes the surplus ones; returns how many rows of the log are in it.
fn make(site: &Site, runtime: &Handle, reveal: bool, making: &Making) -> Result<i64, String> {
    let folder = site.folder().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join(format!("{}.agon", making.began.0));
    let seen = |done, of| {
        making.done.store(done, Ordering::Relaxed);
        making.of.store(of, Ordering::Relaxed);
    };
    let report = runtime.block_on(export::export(site.folder(), &file, reveal, seen));
    let report = report.map_err(|error| error.to_string())?;
    for old in made(site.folder()).into_iter().skip(KEPT) {
        // Somebody who is downloading it can still read it to its end.
        let _ = fs::remove_file(old.path);
    }
    Ok(report.rows)
}
