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

/// Largest tolerated error of a clock, in milliseconds: leases and deadlines end by it.
pub const APART_MS: i64 = 5_000;
/// For how long clocks must run alike before they are trusted again, in milliseconds.
pub const ALIKE_MS: i64 = 60_000;
/// A clock that is set by less than [`APART_MS`] now and then is a good clock: the time by which it is judged follows it, by one second in
/// this many.
const FOLLOWS: i64 = 2_000;
/// How long the database may take to answer the simplest of questions.
const ANSWERS: Duration = Duration::from_millis(2_300);
/// How long after its answer it is asked again. Together, visitors wait for three seconds at most.
const LOOKS: Duration = Duration::from_millis(500);
/// The two clocks of a reading are read within this many milliseconds: a process can be stopped between any two steps.
const AT_ONCE_MS: i64 = 100;
/// How often it is tried to read them so.
const TRIES: usize = 20;

/// What two clocks of a machine show, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The machine's clock, since 1970.
    pub wall: i64,
    /// The time since boot, in which the machine may have slept. Nobody can set it.
    pub boot: i64,
}

/// Tells whether a clock can be trusted, from readings in their order.
#[derive(Debug)]
pub struct ClockWatch {
    /// How far a clock that is right is ahead of the time since boot.
    right: i64,
    /// When it was last let follow, in time since boot.
    followed: i64,
    doubt: Option<Doubting>,
}

/// A clock is in doubt.
#[derive(Clone, Copy, Debug)]
struct Doubting {
    since: Time,
    ahead: i64,
    apart: Option<i64>,
    confirmed: bool,
    /// How far the clock has been ahead of the time since boot,
    offset: i64,
    /// from this time since boot on: since then all clocks have run alike.
    alike: i64,
}

impl ClockWatch {
    /// Trusts the clock as it is.
    pub fn new(first: ClockReading) -> Self {
        Self { right: first.wall - first.boot, followed: first.boot, doubt: None }
    }

    /// The time: what the clock shows, or while it is in doubt, what it would show.
    pub fn read(&mut self, now: ClockReading) -> Time {
        let offset = now.wall - now.boot;
        let Some(doubt) = &mut self.doubt else {
            if (offset - self.right).abs() > APART_MS {
                self.doubt(now);
                return Time(now.boot + self.right);
            }
            let most = (now.boot - self.followed) / FOLLOWS;
            if most > 0 {
                self.right += (offset - self.right).clamp(-most, most);
                self.followed = now.boot;
            }
            return Time(now.wall);
        };
        doubt.ahead = offset - self.right;
        if (offset - doubt.offset).abs() > APART_MS {
            (doubt.offset, doubt.alike, doubt.confirmed) = (offset, now.boot, false);
        }
        let is_right = doubt.apart.is_none() && (doubt.ahead.abs() <= APART_MS || doubt.confirmed);
        if is_right && now.boot - doubt.alike >= ALIKE_MS {
            *self = Self::new(now);
            return Time(now.wall);
        }
        Time(now.boot + self.right)
    }

    /// The database's clock was found this far behind the machine's, in milliseconds.
    pub fn compare(&mut self, apart: i64, now: ClockReading) {
        self.read(now);
        if apart.abs() > APART_MS {
            let doubt = self.doubt(now);
            (doubt.apart, doubt.alike) = (Some(apart), now.boot);
        } else if let Some(doubt) = &mut self.doubt {
            doubt.apart = None;
        }
    }

    /// What the clock shows is right, says an organiser to whom it was shown when it was so far ahead. Nothing is said of where it has jumped
    /// since.
    pub fn confirm(&mut self, ahead: i64) {
        if let Some(doubt) = &mut self.doubt {
            doubt.confirmed |= (doubt.ahead - ahead).abs() <= APART_MS;
        }
    }

    /// Doubts it from the beginning, as this says.
    fn begin(&mut self, known: &ClockDoubt, now: ClockReading) {
        self.right = now.wall - now.boot - known.ahead_ms;
        let doubt = self.doubt(now);
        (doubt.since, doubt.confirmed) = (known.since, known.confirmed);
    }

    fn doubt(&mut self, now: ClockReading) -> &mut Doubting {
        let offset = now.wall - now.boot;
        self.doubt.get_or_insert(Doubting {
            since: Time(now.boot + self.right),
            ahead: offset - self.right,
            apart: None,
            confirmed: false,
            offset,
            alike: now.boot,
        })
    }
}

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
    let mut boot = sys::since_boot_ms();
    for _ in 0..TRIES {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let began = std::mem::replace(&mut boot, sys::since_boot_ms());
        if boot - began <= AT_ONCE_MS {
            return ClockReading { wall: i64::try_from(wall).unwrap_or(i64::MAX), boot };
        }
    }
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    ClockReading { wall: i64::try_from(wall).unwrap_or(i64::MAX), boot }
}

impl ContestServer {
    /// Goes by this clock from now on, which was compared with the database's. It is in doubt from the beginning if this server doubted it when it ended, or if it is behind what it
    /// has written already.
    ///
    /// # Errors
    /// Store errors.
    pub async fn goes_by(&self, clock: Arc<ServerClock>) -> Result<(), ServerError> {
        let (now, last) = ((clock.clocks)(), self.store.last_time().await?);
        let is_behind = |time: i64| time < last.0 - APART_MS;
        let mut known = self.store.clock_doubts().await?.into_iter().find(|doubt| doubt.server == clock.server);
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

    /// Whether its clock is in doubt.
    pub(crate) fn doubts_clock(&self) -> bool {
        self.clock.get().is_some_and(|clock| clock.doubt().is_some())
    }

    /// Says in the database that its clock is in doubt, or no longer, and hears from there whether an organiser has confirmed it.
    pub(crate) async fn tell_clock(&self) -> Result<(), ServerError> {
        let Some(clock) = self.clock.get() else { return Ok(()) };
        let (mut told, contest) = (clock.told.lock().await, self.contest());
        match (clock.doubt(), told.as_ref()) {
            (None, None) => {}
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
        Ok(())
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

/// A difference of clocks: `1 h 0 min`.
pub fn exact_span(ms: i64) -> String {
    let seconds = ms.unsigned_abs() / 1000;
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

    const START: i64 = 1_795_416_000_000;
    const HOUR: i64 = 3_600_000;

    /// A machine whose clocks the test moves.
    struct Machine {
        now: ClockReading,
        watch: ClockWatch,
    }

    impl Machine {
        fn new() -> Self {
            let now = ClockReading { wall: START, boot: 7_000 };
            Self { now, watch: ClockWatch::new(now) }
        }

        /// Time passes on both clocks, in rounds of half a second, or while nobody reads them.
        fn runs(&mut self, ms: i64) {
            for _ in 0..ms / 500 {
                self.passes(500);
                self.read();
            }
        }

        fn passes(&mut self, ms: i64) {
            (self.now.wall, self.now.boot) = (self.now.wall + ms, self.now.boot + ms);
        }

        fn jumps(&mut self, ms: i64) {
            self.now.wall += ms;
        }

        fn read(&mut self) -> i64 {
            self.watch.read(self.now).0
        }

        /// By how much the clock is ahead, and the database's apart, if it is in doubt.
        fn doubt(&mut self) -> Option<(i64, Option<i64>)> {
            self.read();
            self.watch.doubt.map(|doubt| (doubt.ahead, doubt.apart))
        }
    }

    #[test]
    fn a_clock_that_jumps_is_in_doubt_from_the_first_reading_on_and_time_goes_on() {
        for jump in [HOUR, -HOUR, APART_MS + 1, -APART_MS - 1] {
            let mut machine = Machine::new();
            machine.runs(10_000);
            machine.jumps(jump);
            assert_eq!(machine.read(), START + 10_000, "{jump}: nothing is ever done by the new time");
            assert_eq!(machine.doubt(), Some((jump, None)));
            machine.runs(2 * HOUR);
            assert_eq!(machine.read(), START + 10_000 + 2 * HOUR, "{jump}: nobody confirms it");
            machine.watch.confirm(jump + 2 * APART_MS);
            assert!(machine.doubt().is_some(), "{jump}: another time was confirmed");
            machine.watch.confirm(jump);
            assert_eq!((machine.doubt(), machine.read()), (None, machine.now.wall), "{jump}");
        }
        let mut machine = Machine::new();
        machine.jumps(APART_MS);
        assert_eq!((machine.doubt(), machine.read()), (None, START + APART_MS), "good clocks are set, too");
    }

    #[test]
    fn a_confirmed_clock_runs_alike_for_a_minute_first_and_another_jump_has_to_be_confirmed_again() {
        let mut machine = Machine::new();
        machine.jumps(HOUR);
        machine.read();
        machine.watch.confirm(HOUR);
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((HOUR, None)));
        machine.jumps(-2 * HOUR);
        machine.runs(2 * ALIKE_MS);
        assert_eq!(machine.doubt(), Some((-HOUR, None)), "what was confirmed is another time");
        machine.watch.confirm(HOUR);
        assert!(machine.doubt().is_some(), "the page was made before the second jump");
        machine.watch.confirm(-HOUR);
        assert_eq!(machine.doubt(), None);
        machine.runs(ALIKE_MS);
        assert_eq!(machine.read(), machine.now.wall, "it is trusted as it is now");
    }

    #[test]
    fn a_clock_that_is_where_it_was_needs_no_confirmation() {
        let mut machine = Machine::new();
        machine.jumps(HOUR);
        machine.runs(HOUR);
        machine.jumps(-HOUR + 900);
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((900, None)), "not at once: it may jump again");
        machine.runs(500);
        assert_eq!(machine.doubt(), None);
    }

    #[test]
    fn neither_sleep_nor_a_stopped_process_is_a_jump_but_one_meanwhile_is() {
        let mut machine = Machine::new();
        machine.passes(9 * HOUR);
        assert_eq!((machine.doubt(), machine.read()), (None, START + 9 * HOUR));
        machine.passes(HOUR);
        machine.jumps(6_000);
        assert_eq!(machine.doubt(), Some((6_000, None)));
    }

    #[test]
    fn a_clock_that_is_set_a_little_each_day_is_good_and_one_that_creeps_is_not() {
        let mut machine = Machine::new();
        for day in 0..30 {
            machine.passes(24 * HOUR);
            machine.jumps(-4_300);
            assert_eq!(machine.doubt(), None, "day {day}: 50 ppm");
        }
        // In steps, each of which is tolerated.
        let mut machine = Machine::new();
        let noticed = (1..10).find(|_| {
            machine.runs(1_000);
            machine.jumps(1_000);
            machine.doubt().is_some()
        });
        assert_eq!(noticed, Some(6));
        // 500 ppm, as much as the kernel ever corrects by itself, for a day.
        let mut machine = Machine::new();
        for _ in 0..24 * 360 {
            machine.passes(10_000);
            machine.jumps(5);
            assert_eq!(machine.doubt(), None);
        }
    }

    #[test]
    fn a_clock_that_is_not_the_databases_waits_until_they_agree() {
        let mut machine = Machine::new();
        machine.runs(1_000);
        // Which of them jumped, or drifted, does not matter.
        machine.watch.compare(-HOUR, machine.now);
        assert_eq!(machine.doubt(), Some((0, Some(-HOUR))));
        assert_eq!(machine.read(), START + 1_000);
        machine.watch.confirm(0);
        machine.runs(2 * ALIKE_MS);
        assert_eq!(machine.doubt(), Some((0, Some(-HOUR))), "nobody can confirm two times");
        machine.watch.compare(-HOUR, machine.now);
        machine.watch.compare(4_000, machine.now);
        machine.runs(ALIKE_MS - 500);
        assert_eq!(machine.doubt(), Some((0, None)));
        machine.runs(500);
        assert_eq!(machine.doubt(), None);
        // This machine was wrong, and is set.
        machine.watch.compare(HOUR, machine.now);
        machine.jumps(-HOUR);
        machine.watch.compare(0, machine.now);
        machine.runs(ALIKE_MS);
        assert_eq!(machine.doubt(), Some((-HOUR, None)), "its own time has changed");
        machine.watch.confirm(-HOUR);
        assert_eq!(machine.doubt(), None);
    }

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
            (HOUR, None, "jumped ahead by 1 h 0 min"),
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
        assert!(other.boot >= one.boot && one.wall > START, "{one:?} {other:?}");
        assert_eq!(clock.doubt(), None);
    }
}
