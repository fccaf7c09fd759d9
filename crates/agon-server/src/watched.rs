//! Watching workers: a share of their results is played again by another one, and a worker that stands out too far is paused.

use agon_ladder::outliers::{Compared, Tries, outlier};
use agon_stats::exact::Share;
use agon_store::acts::{Compare, ForgetAgains, PauseWorker, PlayAgain};
use agon_store::reads::Conduct;
use agon_store::{Sealed, Time, WorkerId, seeds};

use crate::uploads::unkept;
use crate::{ContestServer, ServerError};

/// One rated match in this many is played again.
pub const SHARE: u64 = 100;
/// After this time, in milliseconds, a match that no other worker took is not played again, and a comparison is forgotten.
const AGAIN_MS: i64 = 3_600_000;
/// How long tries count as evidence about a worker, in milliseconds.
const LATELY_MS: i64 = 6 * 3_600_000;

impl ContestServer {
    /// Sets the share: one rated match in `share` is played again by another worker, in place of one in [`SHARE`]; none for 0.
    pub fn play_again_one_in(&mut self, share: u64) {
        self.share = share;
    }

    /// Draws a few of the matches sealed just now.
    pub(crate) async fn draw_again(&self, sealed: &[Sealed], now: Time) -> Result<(), ServerError> {
        let is_drawn =
            |row: &&Sealed| row.kind.is_rated() && seeds::is_drawn(&self.secret, row.game, self.share);
        let games: Vec<_> = sealed.iter().filter(is_drawn).map(|row| row.game).collect();
        if !games.is_empty() {
            self.store.act(PlayAgain { contest: self.contest(), games, now }).await?;
        }
        Ok(())
    }

    /// Compares the matches played again, and pauses workers that stand out.
    pub(crate) async fn watch(&self, now: Time) -> Result<(), ServerError> {
        self.store.act(Compare { now }).await?;
        let forget = ForgetAgains { contest: self.contest(), before: now.plus(-AGAIN_MS) };
        for sha in self.store.act(forget).await? {
            self.objects.remove(&sha).await.map_err(unkept)?;
        }
        // One by one: a paused worker is no longer evidence about others.
        loop {
            let conduct = self.store.conduct(now.plus(-LATELY_MS)).await?;
            let (tries, compared) = plain(&conduct);
            let Some(found) = outlier(&tries, &compared) else { return Ok(()) };
            let (worker, why) = (WorkerId(found.worker), found.why);
            if !self.store.act(PauseWorker { contest: self.contest(), worker, why, now }).await? {
                return Ok(());
            }
        }
    }
}

fn count(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// The same as plain data.
fn plain(conduct: &Conduct) -> (Vec<Tries>, Vec<Compared>) {
    let tries = conduct.tries.iter().map(|of| Tries {
        worker: of.worker.0,
        may_rest: of.has_token,
        void: Share { part: count(of.void), whole: count(of.ended) },
        minutes: count(of.minutes),
    });
    let compared = conduct.compared.iter().map(|of| Compared {
        workers: of.workers.map(|worker| worker.0),
        differ: Share { part: count(of.differ), whole: count(of.compared) },
    });
    (tries.collect(), compared.collect())
}
