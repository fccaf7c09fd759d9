//! Gets a browser to the viewer without letting anybody else on this machine see the link.
//!
//! Every user can read the command lines of all programs. So the browser is started with the name of a
//! file that only its user can read and that redirects to the link.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use agon_web::Handle;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::common::{Failure, screen};

/// Opens the viewer in a browser; removes the files it made for that when dropped.
pub struct Opener {
    handle: Handle,
    redirect: Option<Redirect>,
    /// Where further links lead; none until the user may ask for one.
    place: Option<Arc<Mutex<String>>>,
}

impl Opener {
    /// An opener of the viewer behind `handle`.
    pub fn new(handle: Handle) -> Self {
        Self { handle, redirect: None, place: None }
    }

    /// Opens `place` in the user's browser, or says how to; then prints a link whenever the user asks for one.
    pub fn open(&mut self, place: &str, no_open: bool) {
        let dim = |text: &str| screen::errors().dim(text);
        self.redirect = if no_open { None } else { browser().and_then(|opener| self.lead(opener, place)) };
        let asks = io::stdin().is_terminal();
        if self.redirect.is_none() && (io::stderr().is_terminal() || !no_open) {
            eprintln!("{} {}", dim("open in a browser:"), self.handle.link(place));
        }
        if self.redirect.is_some() || io::stderr().is_terminal() || !no_open {
            let more = if asks {
                "Enter prints another link, Ctrl-C ends the viewer"
            } else {
                "Ctrl-C ends the viewer"
            };
            eprintln!("{}", dim(more));
        }
        if let Some(shown) = &self.place {
            place.clone_into(&mut shown.lock().unwrap_or_else(PoisonError::into_inner));
        } else if asks {
            let shown = Arc::new(Mutex::new(place.to_owned()));
            self.place = Some(shown.clone());
            let handle = self.handle.clone();
            thread::spawn(move || {
                while entered() {
                    eprintln!("{}", handle.link(&shown.lock().unwrap_or_else(PoisonError::into_inner)));
                }
            });
        }
    }

    fn lead(&self, opener: &str, place: &str) -> Option<Redirect> {
        let redirect = Redirect::to(&self.handle.link(place)).ok()?;
        let mut command = Command::new(opener);
        command.arg(&redirect.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        agon_bot::rights::restore(&mut command);
        let mut child = command.spawn().ok()?;
        // It may run as long as the browser does.
        thread::spawn(move || child.wait());
        Some(redirect)
    }
}

/// A file that redirects to a link and that only its user can read.
struct Redirect(PathBuf);

impl Redirect {
    fn to(link: &str) -> io::Result<Self> {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
        Self::within(&folder.unwrap_or_else(std::env::temp_dir), link)
    }

    fn within(folder: &Path, link: &str) -> io::Result<Self> {
        let mut number = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut number)?;
        let path = folder.join(format!("agon-{:016x}.html", u64::from_ne_bytes(number)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let redirect = Self(path);
        // A link is an address of ours: nothing in it is special in markup.
        writeln!(
            file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>Agon</title>\n<a href=\"{link}\">Agon</a>"
        )?;
        Ok(redirect)
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The program that opens a file in the user's browser, if there is a screen to open it on.
fn browser() -> Option<&'static str> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !io::stdout().is_terminal() {
        None
    } else if cfg!(target_os = "macos") {
        Some("open")
    } else if set("WSL_DISTRO_NAME") {
        Some("wslview")
    } else if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        Some("xdg-open")
    } else {
        None
    }
}

/// Waits until the user presses Enter; false at the end of the input. While this program runs in the background, it
/// must not read the terminal.
fn entered() -> bool {
    let input = io::stdin();
    loop {
        let ours = rustix::termios::tcgetpgrp(&input).is_ok_and(|group| group == rustix::process::getpgrp());
        if !ours {
            thread::sleep(Duration::from_millis(500));
            continue;
        }
        let pause = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
        let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&pause));
        if !ready.is_ok_and(|ready| ready > 0) {
            continue;
        }
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => return true,
        }
    }
}

/// The key in a file made by the user that nobody else may read.
pub fn key(file: &Path) -> Result<String, Failure> {
    const LEAST: usize = 16;
    let name = file.display();
    let failed = |error: io::Error| Failure::usage(format!("--token-file {name}: {error}"));
    let open = agon_replay::file::open(file).map_err(failed)?;
    if open.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        return Err(Failure::usage(format!(
            "--token-file {name}: other users of this machine can read it; make it yours alone: chmod 600 {name}"
        )));
    }
    let mut text = String::new();
    open.take(1 << 10).read_to_string(&mut text).map_err(failed)?;
    let key = text.trim();
    if key.len() < LEAST || !key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Failure::usage(format!(
            "--token-file {name}: it must hold at least {LEAST} letters and digits, and nothing else"
        )));
    }
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_led_by_a_file_that_nobody_else_can_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = "http://127.0.0.1:1/start?link=secret";
        let redirect = Redirect::within(folder.path(), link).expect("written");
        assert!(!redirect.0.display().to_string().contains("secret"));
        assert_eq!(std::fs::metadata(&redirect.0).expect("a file").mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(&redirect.0).expect("a file").contains(&format!("url={link}\"")));
        drop(redirect);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "it goes with the viewer");
    }

    #[test]
    fn a_key_is_read_from_a_file_of_the_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        let tried = |text: &str, mode: u32| {
            std::fs::write(&file, text).expect("written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("own file");
            key(&file).map_err(|failure| format!("{failure:?}"))
        };
        assert_eq!(tried("abcdefgh12345678\n", 0o600).expect("good"), "abcdefgh12345678");
        assert!(tried("abcdefgh12345678\n", 0o640).expect_err("readable").contains("chmod 600"));
        assert!(tried("short", 0o600).expect_err("short").contains("at least 16"));
        assert!(tried("abcdefgh 12345678", 0o600).expect_err("a space").contains("nothing else"));
        assert!(
            key(folder.path())
                .map_err(|failure| format!("{failure:?}"))
                .expect_err("a folder")
                .contains("folder")
        );
    }
}
