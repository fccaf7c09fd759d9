//! What takes long to compute: in a thread of its own with low priority, so that requests are served meanwhile. There is only one for each
//! such task, because bots may be playing on the other CPUs.

use std::fmt::Display;
use std::thread;

use agon_bot::sys;
use tokio::sync::oneshot;

use crate::ServerError;

/// By how many steps such a thread lowers its priority.
const BEHIND: i32 = 10;

/// Computes this in a thread with this name.
///
/// # Errors
/// When it panics, or no thread can be started: a sentence that begins with `what` is being done.
pub async fn compute<T: Send + 'static>(
    name: &str,
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServerError> {
    let (to, done) = oneshot::channel();
    let work = move || {
        sys::stand_back(BEHIND);
        // The caller may have gone.
        let _ = to.send(work());
    };
    let wrong = |why: &dyn Display| ServerError::Wrong(format!("{what}: {why}"));
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|error| wrong(&error))?;
    done.await.map_err(|_| wrong(&"its thread panicked"))
}
