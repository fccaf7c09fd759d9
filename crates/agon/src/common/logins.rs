//! The contests logged in to from here, with their tokens: a file that only its user can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::common::Failure;
use crate::common::fingerprint::Fingerprint;

/// A larger file is not ours.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Logins {
    /// The address of the contest used when none is named.
    current: Option<String>,
    #[serde(default)]
    logins: Vec<Login>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Login {
    /// The contest's address.
    pub url: String,
    /// The token. It is never shown.
    pub token: String,
    /// The name of its owner.
    pub name: String,
    /// The title of the contest.
    pub title: String,
    /// Whether the token may go unencrypted to a public address.
    #[serde(default)]
    pub plain_http: bool,
    /// The fingerprint of its certificate, if nobody else vouches for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// Maximum length of a token, in bytes.
pub const LONGEST: u64 = 1024;

/// The token in a file; `-` for standard input.
///
/// # Errors
/// When it cannot be read.
pub fn token(file: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| Failure::usage(format!("--token-file {}: {error}", file.display()));
    let mut text = String::new();
    match file == Path::new("-") {
        true => io::stdin().lock().take(LONGEST).read_to_string(&mut text).map_err(failed)?,
        false => File::open(file).map_err(failed)?.take(LONGEST).read_to_string(&mut text).map_err(failed)?,
    };
    Ok(text.trim().to_owned())
}

/// Where logins are kept.
///
/// # Errors
/// When there is no place for them.
pub fn path() -> Result<PathBuf, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let place = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let place = place
        .ok_or_else(|| Failure::own("neither HOME nor XDG_CONFIG_HOME says where tokens can be kept"))?;
    Ok(place.join("agon/logins.json"))
}

impl Logins {
    /// The kept logins.
    ///
    /// # Errors
    /// When the file cannot be read, or others can read it.
    pub fn read() -> Result<Self, Failure> {
        let Ok(path) = path() else { return Ok(Self::default()) };
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(error)),
        };
        if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
            return Err(Failure::usage(format!(
                "{0}: other users of this machine can read your tokens in it: run `chmod 600 {0}`, and end the tokens on the contest's account page if somebody did",
                path.display()
            )));
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
        serde_json::from_str(&text).map_err(|error| {
            Failure::usage(format!("{}: {error}; remove the file, and log in again", path.display()))
        })
    }

    fn write(&self) -> Result<(), Failure> {
        let path = path()?;
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", path.display()));
        let folder = path.parent().unwrap_or(&path);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let draft = path.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_vec_pretty(self).map_err(|error| Failure::own(error.to_string()))?;
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map_err(failed)
    }

    /// The login used when no contest is named.
    pub fn current(&self) -> Option<&Login> {
        self.of(self.current.as_deref()?)
    }

    /// The login at an address.
    pub fn of(&self, url: &str) -> Option<&Login> {
        self.logins.iter().find(|login| login.url == url)
    }

    /// Keeps a login, which becomes the current one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&mut self, login: Login) -> Result<(), Failure> {
        self.current = Some(login.url.clone());
        self.keep_beside(login)
    }

    /// Keeps a login. The current one stays current.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_beside(&mut self, login: Login) -> Result<(), Failure> {
        self.logins.retain(|other| other.url != login.url);
        self.logins.push(login);
        self.write()
    }

    /// Forgets a login. Returns whether there was one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn forget(&mut self, url: &str) -> Result<bool, Failure> {
        let before = self.logins.len();
        self.logins.retain(|login| login.url != url);
        if self.logins.len() == before {
            return Ok(false);
        }
        if self.current.as_deref() == Some(url) {
            self.current = self.logins.last().map(|login| login.url.clone());
        }
        self.write()?;
        Ok(true)
    }
}
