//! A line on standard error that moves while something takes its time.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar as _;

/// How often it is drawn.
const PAUSE: Duration = Duration::from_millis(100);
/// Of a step that takes longer it is said for how long.
const LONG: Duration = Duration::from_secs(2);
/// The bar's width in characters.
const WIDTH: u64 = 20;
/// What turns where nobody knows how much there is to do.
const TURNING: [char; 4] = ['◐', '◓', '◑', '◒'];

/// Such a line, cleared when it is dropped. Where standard error is no terminal nothing is drawn.
pub struct Bar {
    line: Arc<Line>,
    drawing: Option<JoinHandle<()>>,
}

struct Line {
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    began: Instant,
    /// When the text last changed.
    since: Instant,
    done: u64,
    of: Option<u64>,
    text: String,
    is_over: bool,
}

impl Bar {
    /// A line that is empty until something is [shown](Self::show).
    pub fn new(is_wanted: bool) -> Self {
        let now = Instant::now();
        let state = State { began: now, since: now, done: 0, of: None, text: String::new(), is_over: false };
        let line = Arc::new(Line { state: Mutex::new(state), over: Condvar::new() });
        let drawn = line.clone();
        let drawing =
            (is_wanted && io::stderr().is_terminal()).then(|| std::thread::spawn(move || drawn.draw()));
        Self { line, drawing }
    }

    /// Whether anybody sees it.
    pub fn is_seen(&self) -> bool {
        self.drawing.is_some()
    }

    /// So much is done, of so much where that is known; the text stands behind the bar.
    pub fn show(&self, done: u64, of: Option<u64>, text: impl Into<String>) {
        let (mut state, text) = (self.line.state(), text.into());
        if text != state.text {
            state.since = Instant::now();
        }
        (state.done, state.of, state.text) = (done, of, text);
    }

    /// Prints above the line, or asks something there.
    pub fn above<T>(&self, say: impl FnOnce() -> T) -> T {
        let _state = self.line.state();
        if self.is_seen() {
            clear();
        }
        say()
    }

    /// About how long the rest takes, in words, if what was done so far tells.
    pub fn left(&self, done: u64, of: u64) -> String {
        let began = self.line.state().began;
        match (done, of.saturating_sub(done)) {
            (0, _) | (_, 0) => String::new(),
            (done, rest) => {
                format!(", {:.0} s left", (began.elapsed().as_secs_f64() * rest as f64 / done as f64).ceil())
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.line.state().is_over = true;
        self.line.over.notify_all();
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.join();
            clear();
        }
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let mut state = self.state();
        for turn in 0.. {
            state = self.over.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            if !state.text.is_empty() {
                let columns =
                    rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| size.ws_col.into());
                let _ = write!(io::stderr(), "\r{}\x1b[K", state.drawn(turn, columns));
            }
        }
    }
}

impl State {
    /// The line in less than so many columns, so that no terminal folds it.
    fn drawn(&self, turn: usize, columns: usize) -> String {
        let bar = match self.of {
            None => TURNING[turn / 2 % TURNING.len()].to_string(),
            Some(of) => {
                let full = (self.done.min(of) * WIDTH).checked_div(of).unwrap_or(0);
                (0..WIDTH).map(|at| if at < full { '█' } else { '░' }).collect()
            }
        };
        let took = self.since.elapsed();
        let took = if took < LONG { String::new() } else { format!(" · {} s", took.as_secs()) };
        let mut used = 0;
        let fits = |sign: &char| {
            used += sign.width().unwrap_or(0);
            used < columns
        };
        format!("{bar} {}{took}", self.text).chars().take_while(fits).collect()
    }
}

fn clear() {
    let _ = write!(io::stderr(), "\r\x1b[K");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_how_far_it_is_and_fits() {
        let drawn = |done, of, columns| {
            let (now, text) = (Instant::now(), "3/4 日本".to_owned());
            State { began: now, since: now, done, of, text, is_over: false }.drawn(2, columns)
        };
        assert_eq!(drawn(3, Some(4), 80), "███████████████░░░░░ 3/4 日本");
        assert_eq!(drawn(9, Some(4), 80), "████████████████████ 3/4 日本");
        assert_eq!(drawn(0, Some(0), 80), "░░░░░░░░░░░░░░░░░░░░ 3/4 日本");
        assert_eq!(drawn(3, None, 80), "◓ 3/4 日本");
        assert_eq!(drawn(3, None, 9), "◓ 3/4 日", "a wide sign is not cut in two");
    }
}
