//! The clock by which a server goes: the machine's, for as long as it can be trusted.
//!
//! Each time that it is read it is compared with the time since boot, and twice a second with the clock of a database on a server. Once it
//! is off by more than [`APART_MS`], time goes on as if nothing had happened: sessions last and pages show what is true. But no act that
//! depends on the time is done ([`agon_store::Store::heeds`]), until the clocks have run alike for [`ALIKE_MS`] and an organiser has
//! confirmed what the clock shows. What shows the old time again by then needs no confirmation: nothing was decided by another one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_bot::sys;
use agon_store::acts::{ConfirmClock, DoubtClock, TrustClock};
use agon_store::{ClockDoubt, ContestStore, Lookout, StoreError, Time};

use crate::asked::LEASE_MS;
use crate::{ContestServer, ServerError};

mod watch;

pub use watch::{ALIKE_MS, APART_MS, ClockReading, ClockWatch};

/// How long the database may take to answer the simplest of questions.
const ANSWERS: Duration = Duration::from_millis(2_300);
/// How long after its answer it is asked again. Together, visitors wait for three seconds at most.
const LOOKS: Duration = Duration::from_millis(500);
/// The two clocks of a reading are read within this many milliseconds: a process can be stopped between any two steps.
const AT_ONCE_MS: i64 = 100;
/// How often it is tried to read them so.
const TRIES: usize = 20;

/// The clock of a server.
pub struct ServerClock {
    /// The server's name.
    server: String,
    clocks: Box<dyn Fn() -> ClockReading + Send + Sync>,
    watch: Mutex<ClockWatch>,
    /// What the database was last told.
    told: tokio::sync::Mutex<Option<ClockDoubt>>,
}

impl ServerClock {
    /// The clock of this machine, for the server with this name.
    pub fn of_machine(server: String) -> Self {
        Self::of(server, of_machine)
    }

    /// The same from other clocks.
    pub fn of(server: String, clocks: impl Fn() -> ClockReading + Send + Sync + 'static) -> Self {
        let watch = Mutex::new(ClockWatch::new(clocks()));
        Self { server, clocks: Box::new(clocks), watch, told: tokio::sync::Mutex::default() }
    }

    /// The name of its server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.read().1
    }

    /// Whether it is in doubt now, and how.
    pub fn doubt(&self) -> Option<ClockDoubt> {
        self.read().0.doubt.map(|doubt| ClockDoubt {
            server: self.server.clone(),
            since: doubt.since,
            ahead_ms: doubt.ahead,
            apart_ms: doubt.apart,
            confirmed: doubt.confirmed,
        })
    }

    /// How far it is ahead of the database's clock, in milliseconds: 0 where that may show what this one did between question and answer.
    /// None for a file, which has no clock.
    ///
    /// # Errors
    /// When the database does not answer within this time.
    pub async fn ahead_of(
        &self,
        database: &mut Lookout,
        patience: Duration,
    ) -> Result<Option<i64>, StoreError> {
        let before = (self.clocks)().wall;
        let theirs = database.ask(patience).await?;
        let after = (self.clocks)().wall;
        Ok(theirs.map(|theirs| (before - theirs).max(0) + (after - theirs).min(0)))
    }

    fn read(&self) -> (MutexGuard<'_, ClockWatch>, Time) {
        let mut watch = self.watch();
        let time = watch.read((self.clocks)());
        (watch, time)
    }

    fn watch(&self) -> MutexGuard<'_, ClockWatch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the clocks of this machine show, at one moment.
fn of_machine() -> ClockReading {
    let (mut boot, mut tries) = (sys::since_boot_ms(), 0);
    loop {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let before = std::mem::replace(&mut boot, sys::since_boot_ms());
        tries += 1;
        if boot - before <= AT_ONCE_MS || tries == TRIES {
            return ClockReading { wall: i64::try_from(wall).unwrap_or(i64::MAX), boot };
        }
    }
}

impl ContestServer {
    /// Goes by this clock from now on, which was compared with the database's. It is in doubt from the beginning if this server doubted it
    /// when it ended, or if it is behind what was written already.
    ///
    /// # Errors
    /// Store errors.
    pub async fn goes_by(&self, clock: Arc<ServerClock>) -> Result<(), ServerError> {
        let (now, last) = ((clock.clocks)(), self.store.last_time().await?);
        let is_behind = |time: i64| time < last.0 - APART_MS;
        let mut known =
            self.store.clock_doubts().await?.into_iter().find(|doubt| doubt.server == clock.server);
        *clock.told.lock().await = known.clone();
        if let Some(doubt) = &mut known {
            // It was set while the server was away: it agrees with the database's now, or would be behind if it was still ahead.
            if doubt.apart_ms.is_some() || is_behind(now.wall - doubt.ahead_ms) {
                doubt.ahead_ms = 0;
            }
        } else if is_behind(now.wall) {
            let (server, ahead_ms) = (clock.server.clone(), now.wall - last.0);
            known = Some(ClockDoubt { server, since: last, ahead_ms, apart_ms: None, confirmed: false });
        }
        if let Some(doubt) = known {
            clock.watch().begin(&doubt, now);
        }
        let asked = clock.clone();
        self.store.heeds(move || asked.doubt().as_ref().map(what));
        let _ = self.clock.set(clock);
        Ok(())
    }

    /// Whether its clock is in doubt, or the database was not told yet that it no longer is: leases were not renewed then.
    pub(crate) async fn doubts_clock(&self) -> bool {
        match self.clock.get() {
            Some(clock) => clock.told.lock().await.is_some() || clock.doubt().is_some(),
            None => false,
        }
    }

    /// Says in the database that its clock is in doubt, or no longer, and hears from there whether an organiser has confirmed it. Returns
    /// whether times that were read before this are good.
    pub(crate) async fn tell_clock(&self) -> Result<bool, ServerError> {
        let Some(clock) = self.clock.get() else { return Ok(true) };
        let (mut told, contest) = (clock.told.lock().await, self.contest());
        match (clock.doubt(), told.as_ref()) {
            (None, None) => return Ok(true),
            (None, Some(_)) => {
                let (server, now) = (clock.server.clone(), clock.now());
                self.store.act(TrustClock { contest, server, now, until: now.plus(LEASE_MS) }).await?;
                tracing::warn!("the clock of this server is trusted again; it is resumed");
                *told = None;
            }
            (Some(doubt), Some(known)) if is_known(&doubt, known) => {
                for row in self.store.clock_doubts().await? {
                    if row.server == doubt.server && row.confirmed {
                        clock.watch().confirm(row.ahead_ms);
                    }
                }
            }
            (Some(doubt), known) => {
                if known.is_none() {
                    tracing::warn!("{}", StoreError::Clock(what(&doubt)));
                }
                self.store.act(DoubtClock { contest, why: what(&doubt), doubt: doubt.clone() }).await?;
                *told = Some(doubt);
            }
        }
        Ok(false)
    }

    /// Looks out for the database again and again, and says each time whether it answers. Compares its clock with the server's.
    pub async fn look_out(&self, mut tell: impl FnMut(Result<(), StoreError>)) {
        let mut lookout = self.store.lookout();
        loop {
            tell(match self.clock.get() {
                None => lookout.ask(ANSWERS).await.map(drop),
                Some(clock) => clock.ahead_of(&mut lookout, ANSWERS).await.map(|apart| {
                    if let Some(apart) = apart {
                        clock.watch().compare(apart, (clock.clocks)());
                    }
                }),
            });
            tokio::time::sleep(LOOKS).await;
        }
    }
}

/// Whether what the database was told still holds. Whether it is confirmed is decided there, unless the clock has jumped since.
fn is_known(doubt: &ClockDoubt, told: &ClockDoubt) -> bool {
    let is_near = |one: i64, other: i64| (one - other).abs() <= APART_MS;
    is_near(doubt.ahead_ms, told.ahead_ms)
        && match (doubt.apart_ms, told.apart_ms) {
            (None, None) => true,
            (Some(one), Some(other)) => is_near(one, other),
            _ => false,
        }
}

/// An organiser confirms the time of this server, as it was shown when the clock was so far ahead. Returns whether that was to be confirmed.
///
/// # Errors
/// Store errors.
pub async fn confirm(
    store: &ContestStore,
    doubt: &ClockDoubt,
    (actor, now): (&str, Time),
) -> Result<bool, StoreError> {
    let (contest, server, actor) = (store.id(), doubt.server.clone(), actor.to_owned());
    let (ahead_ms, why) = (doubt.ahead_ms, what(doubt));
    let act = ConfirmClock { contest, server, ahead_ms, tolerance_ms: APART_MS, why, actor, now };
    store.act(act).await
}

/// Whether this has to be confirmed: a clock that is where it was only has to run alike with the others.
pub fn is_unconfirmed(doubt: &ClockDoubt) -> bool {
    !doubt.confirmed && doubt.ahead_ms.abs() > APART_MS
}

/// What is wrong with the clock: `jumped ahead by 1 h 0 min`.
pub fn what(doubt: &ClockDoubt) -> String {
    let direction = |ms: i64, ahead, behind| if ms > 0 { ahead } else { behind };
    let mut all = Vec::new();
    if doubt.ahead_ms.abs() > APART_MS {
        let way = direction(doubt.ahead_ms, "ahead", "back");
        all.push(format!("jumped {way} by {}", exact_span(doubt.ahead_ms)));
    }
    if let Some(apart) = doubt.apart_ms {
        let way = direction(apart, "ahead of", "behind");
        all.push(format!("is {} {way} the database's", exact_span(apart)));
    }
    if all.is_empty() {
        return "was off, and is right again".to_owned();
    }
    all.join(" and ")
}

/// A difference of clocks: `1 h 0 min`. Two readings may be a millisecond apart from each other.
pub fn exact_span(ms: i64) -> String {
    let seconds = ms.unsigned_abs().saturating_add(500) / 1000;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn directions_are_the_right_way_round() {
        let doubt = |ahead_ms, apart_ms| ClockDoubt {
            server: "cup".to_owned(),
            since: Time(0),
            ahead_ms,
            apart_ms,
            confirmed: false,
        };
        for (ahead, apart, words) in [
            (HOUR - 1, None, "jumped ahead by 1 h 0 min"),
            (-HOUR - 90_000, None, "jumped back by 1 h 1 min"),
            (0, Some(4_368_000), "is 1 h 12 min ahead of the database's"),
            (0, Some(-65_000), "is 1 min 5 s behind the database's"),
            (-7_000, Some(-7_000), "jumped back by 7 s and is 7 s behind the database's"),
            (30 * HOUR, None, "jumped ahead by 1 d 6 h"),
            (1_000, None, "was off, and is right again"),
        ] {
            assert_eq!(what(&doubt(ahead, apart)), words);
        }
    }

    #[test]
    fn the_clocks_of_this_machine_run_alike() {
        let clock = ServerClock::of_machine("cup".to_owned());
        let (one, other) = (of_machine(), of_machine());
        assert!(other.boot >= one.boot && one.wall > 1_790_000_000_000, "{one:?} {other:?}");
        assert_eq!(clock.doubt(), None);
    }
}
