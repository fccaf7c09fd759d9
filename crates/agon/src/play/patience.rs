//! Shows which bots a match waits for when it waits long: some rulebooks allow minutes for an answer.

use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agon_game::Session;
use agon_match::{Clock, Observer, StepReport};

use crate::common::screen;

/// Shorter waits are not worth mentioning.
const LONG: Duration = Duration::from_secs(2);
/// How often the line is refreshed.
const TICK: Duration = Duration::from_secs(1);

/// Watches a match from its own thread; a line appears on the terminal while it waits.
pub struct Patience {
    clock: Clock,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    labels: Vec<String>,
    wait: Mutex<Wait>,
    over: Condvar,
}

struct Wait {
    since: Instant,
    what: What,
    out: Box<dyn Write + Send>,
    shown: bool,
    over: bool,
}

/// Which seats are awaited, and for how long at most.
#[derive(Clone, Default)]
struct What {
    seats: Vec<usize>,
    limit: Option<Duration>,
}

impl Patience {
    /// Starts watching a match that is about to begin; none without a terminal.
    pub fn start(session: &dyn Session, labels: &[String], clock: Clock) -> Option<Self> {
        io::stderr().is_terminal().then(|| Self::with(session, labels, clock, LONG, Box::new(io::stderr())))
    }

    fn with(
        session: &dyn Session,
        labels: &[String],
        clock: Clock,
        long: Duration,
        out: Box<dyn Write + Send>,
    ) -> Self {
        let labels: Vec<String> = labels.iter().map(|label| screen::harmless(label)).collect();
        let wait = Wait { since: Instant::now(), what: What::default(), out, shown: false, over: false };
        let shared = Arc::new(Shared { labels, wait: Mutex::new(wait), over: Condvar::new() });
        let mut patience = Self { clock, shared, thread: None };
        // Before the thread reads it.
        patience.stepped_to(session);
        let own = Arc::clone(&patience.shared);
        patience.thread = Some(std::thread::spawn(move || own.tell(long)));
        patience
    }

    fn stepped_to(&self, session: &dyn Session) {
        let mut wait = self.shared.lock();
        wait.clear();
        wait.since = Instant::now();
        wait.what.seats.clear();
        wait.what.seats.extend(session.deciding().iter().map(|seat| seat.index()));
        let limits = session.deciding().iter().map(|seat| self.clock.limit(session.limit_ms(seat)));
        wait.what.limit = limits.max().flatten();
    }
}

impl Observer for Patience {
    fn stepped(&mut self, session: &mut dyn Session, _: &StepReport<'_>) -> io::Result<()> {
        self.stepped_to(session);
        Ok(())
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        let mut wait = self.shared.lock();
        wait.clear();
        wait.over = true;
        drop(wait);
        self.shared.over.notify_all();
        self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Wait> {
        self.wait.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Shows the line until the match is over.
    fn tell(&self, long: Duration) {
        let mut wait = self.lock();
        while !wait.over {
            let waited = wait.since.elapsed();
            let pause = if waited < long {
                long - waited
            } else {
                let line = wait.what.line(&self.labels, waited);
                // If the terminal is gone, that is not worth mentioning either.
                let _ = write!(wait.out, "\r\x1b[2K{line}").and_then(|()| wait.out.flush());
                wait.shown = true;
                TICK.min(long)
            };
            wait = self.over.wait_timeout(wait, pause).unwrap_or_else(|poison| poison.into_inner()).0;
        }
    }
}

impl Wait {
    /// Removes the line.
    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(self.out, "\r\x1b[2K").and_then(|()| self.out.flush());
        }
    }
}

impl What {
    fn line(&self, labels: &[String], waited: Duration) -> String {
        let names: Vec<&str> = self.seats.iter().map(|&seat| &*labels[seat]).collect();
        let names = match names.split_last() {
            Some((last, others @ [_, ..])) => format!("{} and {last}", others.join(", ")),
            Some((last, [])) => (*last).to_owned(),
            None => "the rules".to_owned(),
        };
        let allowed = match self.limit {
            None => "without a limit".to_owned(),
            Some(limit) => format!("of {} s allowed (--time-limit 1s shortens it)", limit.as_secs_f64()),
        };
        format!("waiting for {names}: {} s {allowed}", waited.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_wait_says_for_whom_and_how_to_shorten_it() {
        let game = agon_games::find("ostibot").expect("a game");
        let session =
            game.open(&agon_game::Setup { seats: 2, seed: 1, ..Default::default() }).expect("a match");
        let labels = ["slow.js".to_owned(), "other\x1b.py".to_owned()];
        let screen = Screen::default();
        let (long, out) = (Duration::from_millis(1), Box::new(screen.clone()));
        let patience = Patience::with(session.as_ref(), &labels, Clock::ORIGINAL, long, out);
        let shown = || String::from_utf8(screen.0.lock().expect("nobody panics").clone()).expect("text");
        while shown().is_empty() {
            std::thread::yield_now();
        }
        drop(patience);
        let shown = shown();
        let line = "\r\x1b[2Kwaiting for slow.js and other\u{fffd}.py: 0 s of 300 s allowed (--time-limit 1s shortens it)";
        assert!(shown.starts_with(line), "{shown:?}");
        assert!(shown.ends_with("\r\x1b[2K"), "the line goes away: {shown:?}");
    }

    #[test]
    fn every_number_of_names_is_a_sentence() {
        let labels = ["a", "b", "c"].map(str::to_owned);
        let line = |seats: &[usize], limit| What { seats: seats.to_vec(), limit }.line(&labels, LONG);
        assert_eq!(line(&[1], None), "waiting for b: 2 s without a limit");
        assert!(line(&[0, 1, 2], Some(LONG)).starts_with("waiting for a, b and c: 2 s of 2 s allowed"));
    }
}
