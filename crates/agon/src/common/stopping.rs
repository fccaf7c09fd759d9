//! Ctrl-C: what runs ends in good order, and at once when it is pressed again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_bot::sys;
use rustix::process::Signal;

static STOP: AtomicBool = AtomicBool::new(false);

/// A signal that comes sooner after the first is the same one: `timeout` sends it to the program and to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// Becomes true when the user presses Ctrl-C, or sends SIGINT or SIGTERM. A second time ends the program at once. SIGINT counts even where it
/// was inherited as ignored: a shell does that to each program that a script starts with `&`, and `kill -INT` would have no effect for ever. A
/// program started by `nohup` goes on ignoring the end of its terminal.
pub fn stop_on_ctrl_c() -> &'static AtomicBool {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        sys::but_for_ignored(&[Signal::HUP], || {
            let mut first: Option<Instant> = None;
            let _ = ctrlc::set_handler(move || {
                STOP.store(true, Ordering::SeqCst);
                if first.get_or_insert_with(Instant::now).elapsed() >= SAME_SIGNAL {
                    std::process::exit(130);
                }
            });
        });
    });
    &STOP
}
