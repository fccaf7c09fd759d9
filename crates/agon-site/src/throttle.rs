//! How fast passwords can be guessed, so that nobody who guesses locks anybody else out.
//!
//! Wrong passwords count for a name and a network together: whoever has none left there has them elsewhere. The bounds for a name
//! and for a network alone only slow down: beyond them attempts take their turn. Browsers in which the account signed in before
//! ([`crate::gate::Device`]) and owners who are signed in have counts of their own, which nobody else can use up.
//!
//! Counted in memory, by each server for itself: after a restart everybody starts afresh, and two servers allow twice as much. A
//! row in the database for every wrong password would let strangers write there as fast as they can ask.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_store::{AccountId, LoginId, Time};

use crate::gate::Device;
use crate::limits::{Places, QUARTER, Whose, Windows, neighbourhood, network};

/// Wrong passwords for one name from everywhere in [`QUARTER`], before attempts take turns. An owner who has forgotten it does
/// not come near this.
const PER_NAME: u32 = 100;
/// The same from one network for all names: sixty people behind one address, each ten times wrong.
const PER_NETWORK: u32 = 600;
/// One turn. Two a second are 172,800 a day: for the weakest password that is accepted (10⁸ guesses) more than a year.
const TURN: Duration = Duration::from_millis(500);
/// How many wait for their turn at once: ten seconds.
const WAITING: u32 = 20;
/// How many of them in one neighbourhood, where the turns are those of a name: somebody who has many networks of one
/// neighbourhood does not take the places of all others.
const WAITING_NEAR: u32 = 2;
/// Wrong codes of a second factor for one account from everywhere in an hour, by somebody who has the password. Three of a million are right
/// at a time: guessing takes years.
const CODES: u32 = 10;
/// Names are compared by their beginnings.
const COMPARED: usize = 64;

/// An attempt that was let through.
pub struct SignInTry {
    key: Key,
    name: String,
    from: IpAddr,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A network and a name.
    Stranger(IpAddr, String),
    /// A browser in which the account signed in before.
    Device(String),
}

/// Why an attempt was not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Too many were wrong; again from this time on.
    Wrong(Time),
    /// Too many wait for their turn.
    Busy,
}

/// All counts.
pub struct Throttle {
    tries: Windows<Key>,
    names: Windows<String>,
    networks: Windows<IpAddr>,
    owners: Windows<LoginId>,
    codes: Windows<AccountId>,
    turns_of_names: Turns<String>,
    turns_of_networks: Turns<IpAddr>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            tries: Windows::new(QUARTER),
            names: Windows::new(QUARTER),
            networks: Windows::new(QUARTER),
            owners: Windows::new(QUARTER),
            codes: Windows::new(4 * QUARTER),
            turns_of_names: Turns::default(),
            turns_of_networks: Turns::default(),
        }
    }
}

impl Throttle {
    /// Lets somebody try a password for the account whose name has this likeness. `tries` is the number of wrong ones for a name
    /// from one network. What comes of it is told by [`Self::right`] or [`Self::wrong`].
    ///
    /// # Errors
    /// When it has to wait.
    pub async fn sign_in(
        &self,
        likeness: &str,
        from: IpAddr,
        device: Option<&Device>,
        tries: u32,
        now: Time,
    ) -> Result<SignInTry, Denial> {
        let (name, from) = (likeness.chars().take(COMPARED).collect::<String>(), network(from));
        let key = match device {
            Some(device) => Key::Device(device.id().to_owned()),
            None => Key::Stranger(from, name.clone()),
        };
        self.tries.count(key.clone(), tries, now).map_err(Denial::Wrong)?;
        let attempt = SignInTry { key, name, from };
        if device.is_none() && self.take_turns(&attempt, now).await.is_err() {
            self.tries.give_back(&attempt.key);
            return Err(Denial::Busy);
        }
        Ok(attempt)
    }

    async fn take_turns(&self, attempt: &SignInTry, now: Time) -> Result<(), NoPlace> {
        if self.names.is_full(&attempt.name, PER_NAME, now) {
            let near = neighbourhood(attempt.from);
            self.turns_of_names.take(attempt.name.clone(), near, WAITING_NEAR).await?;
        }
        if self.networks.is_full(&attempt.from, PER_NETWORK, now) {
            self.turns_of_networks.take(attempt.from, attempt.from, WAITING).await?;
        }
        Ok(())
    }

    /// The password was right: what was tried there before is forgotten.
    pub fn right(&self, attempt: &SignInTry) {
        self.tries.forget(&attempt.key);
    }

    /// The password was wrong.
    pub fn wrong(&self, attempt: SignInTry, now: Time) {
        if let Key::Stranger(..) = attempt.key {
            // Where it is full, it is full already.
            let _ = self.names.count(attempt.name, PER_NAME, now);
            let _ = self.networks.count(attempt.from, PER_NETWORK, now);
        }
    }

    /// Lets an owner who is signed in confirm something with the password.
    ///
    /// # Errors
    /// When there is room again.
    pub fn confirm(&self, login: LoginId, tries: u32, now: Time) -> Result<(), Time> {
        self.owners.count(login, tries, now)
    }

    /// Whether codes of an app are accepted for this account: wrong ones of others close that, and leave its owner the recovery codes.
    pub fn is_code_open(&self, account: AccountId, now: Time) -> bool {
        !self.codes.is_full(&account, CODES, now)
    }

    /// A code was wrong.
    pub fn wrong_code(&self, account: AccountId, now: Time) {
        // Where it is full, it is full already.
        let _ = self.codes.count(account, CODES, now);
    }

    /// The owner has confirmed it.
    pub fn confirmed(&self, login: LoginId) {
        self.owners.forget(&login);
    }
}

/// Nobody more can wait.
#[derive(Debug)]
struct NoPlace;

/// Turns, one after the other for each key, in the order in which they are asked for.
struct Turns<K> {
    open: Mutex<HashMap<K, Arc<Queue>>>,
}

struct Queue {
    places: Places,
    turn: tokio::sync::Mutex<()>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self { open: Mutex::default() }
    }
}

impl<K: Hash + Eq> Turns<K> {
    /// Waits for a turn, unless too many do; of those at `near` at most this many.
    async fn take(&self, key: K, near: IpAddr, most: u32) -> Result<(), NoPlace> {
        let queue = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, queue| Arc::strong_count(queue) > 1);
            let made =
                || Arc::new(Queue { places: Places::new(WAITING), turn: tokio::sync::Mutex::default() });
            open.entry(key).or_insert_with(made).clone()
        };
        let _place = queue.places.take(Whose::Address(near), most).ok_or(NoPlace)?;
        let _turn = queue.turn.lock().await;
        tokio::time::sleep(TURN).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIES: u32 = 10;
    const NOW: Time = Time(5);

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// A wrong password; whether it was let through.
    async fn wrong(throttle: &Throttle, name: &str, from: IpAddr) -> Result<(), Denial> {
        let attempt = throttle.sign_in(name, from, None, TRIES, NOW).await?;
        throttle.wrong(attempt, NOW);
        Ok(())
    }

    #[tokio::test]
    async fn wrong_passwords_count_where_they_are_tried() {
        let (throttle, thief) = (Throttle::default(), address("192.0.2.1"));
        for _ in 0..TRIES {
            assert_eq!(wrong(&throttle, "ann", thief).await, Ok(()));
        }
        assert_eq!(wrong(&throttle, "ann", thief).await, Err(Denial::Wrong(Time(5 + QUARTER))));
        assert_eq!(wrong(&throttle, "bob", thief).await, Ok(()), "other names");
        assert_eq!(wrong(&throttle, "ann", address("192.0.2.2")).await, Ok(()), "other addresses");
        let device = Device::with_id("one");
        for _ in 0..TRIES {
            assert!(throttle.sign_in("ann", thief, Some(&device), TRIES, NOW).await.is_ok());
        }
        let full = throttle.sign_in("ann", thief, Some(&device), TRIES, NOW).await;
        assert_eq!(
            full.err(),
            Some(Denial::Wrong(Time(5 + QUARTER))),
            "a known browser has a bound of its own"
        );
        let other = throttle.sign_in("ann", thief, Some(&Device::with_id("two")), TRIES, NOW).await;
        throttle.right(&other.expect("another one has another"));
        assert!(wrong(&throttle, "ann", thief).await.is_err(), "and makes no room for strangers");
        for _ in 0..TRIES {
            assert_eq!(throttle.confirm(LoginId(1), TRIES, NOW), Ok(()), "nor do they take its owner's");
        }
        assert_eq!(throttle.confirm(LoginId(1), TRIES, NOW), Err(Time(5 + QUARTER)));
        assert_eq!(throttle.confirm(LoginId(2), TRIES, NOW), Ok(()));
        throttle.confirmed(LoginId(1));
        assert_eq!(throttle.confirm(LoginId(1), TRIES, NOW), Ok(()));
    }

    #[tokio::test]
    async fn addresses_of_one_household_are_one_network() {
        let throttle = Throttle::default();
        for last in 0..TRIES {
            assert_eq!(wrong(&throttle, "ann", address(&format!("2001:db8::{last:x}"))).await, Ok(()));
        }
        assert!(wrong(&throttle, "ann", address("2001:db8::ffff:1")).await.is_err());
        assert_eq!(wrong(&throttle, "ann", address("2001:db8:0:1::1")).await, Ok(()));
    }

    /// Somebody with any number of networks guesses at one name.
    #[tokio::test(start_paused = true)]
    async fn many_networks_are_slow_for_one_name_and_lock_nobody_out() {
        let throttle = Arc::new(Throttle::default());
        let thief = |n: u32| IpAddr::from((0x2001_0db8_u128 << 96 | u128::from(n) << 64).to_be_bytes());
        for n in 0..PER_NAME {
            assert_eq!(wrong(&throttle, "ann", thief(n)).await, Ok(()));
        }
        let began = tokio::time::Instant::now();
        for n in PER_NAME..PER_NAME + 20 {
            assert_eq!(wrong(&throttle, "ann", thief(n)).await, Ok(()));
        }
        assert_eq!(began.elapsed(), TURN * 20, "one at a time");
        // All at once: of one neighbourhood two wait, and Ann waits behind them.
        let flood: Vec<_> = (1_000..1_200)
            .map(|n| {
                let throttle = throttle.clone();
                tokio::spawn(async move { wrong(&throttle, "ann", thief(n)).await })
            })
            .collect();
        tokio::task::yield_now().await;
        let began = tokio::time::Instant::now();
        let own = throttle.sign_in("ann", address("198.51.100.7"), None, TRIES, NOW).await;
        throttle.right(&own.expect("she gets in"));
        assert!(began.elapsed() <= TURN * 3, "{:?}", began.elapsed());
        let mut through = 0;
        for one in flood {
            match one.await.expect("no panic") {
                Ok(()) => through += 1,
                Err(held) => assert_eq!(held, Denial::Busy),
            }
        }
        assert_eq!(through, WAITING_NEAR);
        assert_eq!(wrong(&throttle, "ann", thief(1_199)).await, Ok(()), "who found no place has lost no try");
        let began = tokio::time::Instant::now();
        assert_eq!(wrong(&throttle, "bob", thief(1_199)).await, Ok(()));
        assert!(began.elapsed().is_zero(), "other names are not slower");
    }

    /// Somebody in a classroom guesses at everybody's.
    #[tokio::test(start_paused = true)]
    async fn one_network_is_slow_for_many_names_and_locks_nobody_out() {
        let (throttle, class) = (Throttle::default(), address("203.0.113.1"));
        for n in 0..PER_NETWORK {
            assert_eq!(wrong(&throttle, &format!("name {n}"), class).await, Ok(()));
        }
        let began = tokio::time::Instant::now();
        let own = throttle.sign_in("ann", class, None, TRIES, NOW).await;
        throttle.right(&own.expect("she gets in"));
        assert_eq!(began.elapsed(), TURN);
        assert_eq!(wrong(&throttle, "ann", address("198.51.100.7")).await, Ok(()));
        assert_eq!(began.elapsed(), TURN, "other networks are not slower");
        assert!(throttle.turns_of_names.open.lock().expect("not poisoned").is_empty());
    }

    /// Sixty people behind one address, each of whom types the password wrong nine times.
    #[tokio::test(start_paused = true)]
    async fn a_classroom_behind_one_address_gets_in_at_once() {
        let (throttle, class) = (Throttle::default(), address("203.0.113.1"));
        let began = tokio::time::Instant::now();
        for person in 0..60 {
            for _ in 1..TRIES {
                assert_eq!(wrong(&throttle, &format!("person {person}"), class).await, Ok(()));
            }
            let own = throttle.sign_in(&format!("person {person}"), class, None, TRIES, NOW).await;
            throttle.right(&own.expect("the tenth is right"));
        }
        assert!(began.elapsed().is_zero());
    }
}
