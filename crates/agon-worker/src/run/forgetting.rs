//! What was unpacked of authors who were deleted goes from this machine, too.

use std::time::{Duration, Instant};

use super::{LOOK, Shared};

/// How often what is unpacked here is compared with what still belongs to somebody.
const FORGETS: Duration = Duration::from_secs(30);

impl Shared<'_> {
    /// Removes what is unpacked here and belongs to nobody any more: at the start, from time to time, and at the end.
    pub(super) fn forget(&self) {
        loop {
            let unpacked = self.versions.unpacked();
            // While the server is away, nobody can say.
            if !unpacked.is_empty()
                && let Ok(gone) = self.hall.unneeded(&unpacked)
            {
                self.versions.remove(&gone);
            }
            let (began, mut state) = (Instant::now(), self.lock());
            loop {
                if state.threads == 0 && !state.posts {
                    return;
                }
                if began.elapsed() >= FORGETS {
                    break;
                }
                state = self.wait_for(state, LOOK);
            }
        }
    }
}
