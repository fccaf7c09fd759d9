//! How much anybody may ask for. Counted in memory: after a restart everybody starts afresh.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use agon_store::{AccountId, Time, WorkerId};
use agon_worker::wire::MOST_POSTS;

/// Requests of an account in [`MINUTE`].
pub const PER_ACCOUNT: u32 = 600;
/// Requests without a session from one address in [`MINUTE`]: a classroom of sixty shares one.
pub const PER_ADDRESS: u32 = 6_000;
/// Attempts to sign up from one address in [`QUARTER`].
pub const SIGN_UPS: u32 = 600;
/// Codes of teams that one account tries in [`QUARTER`].
pub const CODES: u32 = 60;

/// Texts that one account keeps, runs or hands in, and versions that it opens, in [`MINUTE`].
pub const TEXTS: u32 = 120;

/// Live pages open at once per account.
pub const STREAMS: u32 = 8;
/// The same without a session, per address.
pub const STREAMS_PER_ADDRESS: u32 = 240;
/// The total: fewer than connections, so that ordinary pages still get through.
pub const MOST_STREAMS: u32 = 1_200;

/// Connections that one address may have open at a port of a site: a classroom of sixty shares one, and a browser opens six.
pub const CONNECTIONS_PER_ADDRESS: u32 = 512;
/// The same at a port for workers only: a hall of a thousand machines shares one.
pub const WORKERS_PER_ADDRESS: u32 = 2_048;
/// Requests under way of one address behind a proxy, whose connections say nothing of whose they are.
pub const UNDER_WAY_PER_ADDRESS: u32 = CONNECTIONS_PER_ADDRESS;

/// Uploads in progress per account.
pub const UPLOADS: u32 = 4;
/// The total, each on disk until it is whole: there must be room for 8 GB.
pub const MOST_UPLOADS: u32 = 400;

const MINUTE: i64 = 60_000;
/// A quarter of an hour.
pub const QUARTER: i64 = 15 * MINUTE;
/// The most counted at once; beyond that, those whose windows began longest ago are forgotten first.
const MOST: usize = 20_000;

/// Counts within windows of a fixed length; a window begins with the first thing counted.
pub struct Windows<K> {
    length: i64,
    counts: Mutex<HashMap<K, (i64, u32)>>,
}

impl<K: Hash + Eq + Clone> Windows<K> {
    /// Windows of this length in milliseconds.
    pub fn new(length: i64) -> Self {
        Self { length, counts: Mutex::default() }
    }

    /// Counts one more, of at most this many.
    ///
    /// # Errors
    /// When there is room again.
    pub fn count(&self, key: K, most: u32, now: Time) -> Result<(), Time> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MOST && !counts.contains_key(&key) {
            counts.retain(|_, (begun, _)| self.lasts(*begun, now));
            if counts.len() >= MOST {
                // More than is ever legitimate: the oldest half is forgotten.
                let mut begun: Vec<i64> = counts.values().map(|(begun, _)| *begun).collect();
                begun.sort_unstable();
                let middle = begun[begun.len() / 2];
                counts.retain(|_, (begun, _)| *begun > middle);
            }
        }
        let (begun, count) = counts.entry(key).or_insert((now.0, 0));
        if !self.lasts(*begun, now) {
            (*begun, *count) = (now.0, 0);
        }
        if *count >= most {
            return Err(Time(*begun + self.length));
        }
        *count += 1;
        Ok(())
    }

    /// Whether what was begun then is still counted: not once the clock was set back by more than that takes.
    fn lasts(&self, begun: i64, now: Time) -> bool {
        !Time(begun).is_past(self.length, now)
    }

    /// How many of this many may still be counted, and when they are all there again.
    pub fn room(&self, key: &K, most: u32, now: Time) -> (u32, Time) {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get(key) {
            Some((begun, count)) if self.lasts(*begun, now) => {
                (most.saturating_sub(*count), Time(*begun + self.length))
            }
            _ => (most, now),
        }
    }

    /// Whether this many were counted.
    pub fn is_full(&self, key: &K, most: u32, now: Time) -> bool {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(key).is_some_and(|(begun, count)| self.lasts(*begun, now) && *count >= most)
    }

    /// Takes one back.
    pub fn give_back(&self, key: &K) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = counts.get_mut(key) {
            *count = count.saturating_sub(1);
        }
    }

    /// Takes all back.
    pub fn forget(&self, key: &K) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// The owner of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// Somebody who is signed in.
    Account(AccountId),
    /// A machine that plays.
    Worker(WorkerId),
    /// Everybody else there.
    Address(IpAddr),
}

/// How many places each holds.
type Counts = Arc<Mutex<HashMap<Whose, u32>>>;

/// Places for things that last a while, with a limit on the total.
pub struct Places {
    counts: Counts,
    most: u32,
}

impl Places {
    /// This many in all.
    pub fn new(most: u32) -> Self {
        Self { counts: Counts::default(), most }
    }

    /// One more place, if the owner has fewer than `most` and there is room.
    pub fn take(&self, whose: Whose, most: u32) -> Option<Ticket> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let held = counts.get(&whose).copied().unwrap_or(0);
        if held >= most || self.most < u32::MAX && counts.values().sum::<u32>() >= self.most {
            return None;
        }
        counts.insert(whose, held + 1);
        Some(Ticket { counts: self.counts.clone(), whose })
    }
}

/// A place that is taken; dropping it makes room for another.
pub struct Ticket {
    counts: Counts,
    whose: Whose,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.whose) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.whose);
            }
        }
    }
}

pub struct RequestLimits {
    accounts: Windows<AccountId>,
    addresses: Windows<IpAddr>,
    sign_ups: Windows<IpAddr>,
    codes: Windows<AccountId>,
    texts: Windows<AccountId>,
    streams: Places,
    uploads: Places,
    posts: Places,
    under_way: Places,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            accounts: Windows::new(MINUTE),
            addresses: Windows::new(MINUTE),
            sign_ups: Windows::new(QUARTER),
            codes: Windows::new(QUARTER),
            texts: Windows::new(MINUTE),
            streams: Places::new(MOST_STREAMS),
            uploads: Places::new(MOST_UPLOADS),
            // No total: nobody is to be kept waiting by another one's posts. How many workers there are is the organiser's business.
            posts: Places::new(u32::MAX),
            // No total either: the connections are counted at the port.
            under_way: Places::new(u32::MAX),
        }
    }
}

impl RequestLimits {
    /// Counts a request: for the account if somebody is signed in, otherwise for the address.
    ///
    /// # Errors
    /// When there is room again.
    pub fn request(&self, account: Option<AccountId>, from: IpAddr, now: Time) -> Result<(), Time> {
        match account {
            Some(account) => self.accounts.count(account, PER_ACCOUNT, now),
            None => self.addresses.count(network(from), PER_ADDRESS, now),
        }
    }

    /// How many requests an account has left, and when it has all of them again.
    pub fn room(&self, account: AccountId, now: Time) -> (u32, Time) {
        self.accounts.room(&account, PER_ACCOUNT, now)
    }

    /// Opens a stream; none if there is no room.
    pub fn stream(&self, account: Option<AccountId>, from: IpAddr) -> Option<Ticket> {
        match account {
            Some(account) => self.streams.take(Whose::Account(account), STREAMS),
            None => self.streams.take(Whose::Address(network(from)), STREAMS_PER_ADDRESS),
        }
    }

    /// Begins an upload; none if there is no room.
    pub fn upload(&self, account: AccountId) -> Option<Ticket> {
        self.uploads.take(Whose::Account(account), UPLOADS)
    }

    /// Begins to receive results from a worker; none if as many are under way as one may have.
    pub fn post(&self, worker: WorkerId) -> Option<Ticket> {
        self.posts.take(Whose::Worker(worker), MOST_POSTS)
    }

    /// Begins a request that came through a proxy; none if too many of this address are under way.
    pub fn under_way(&self, from: IpAddr) -> Option<Ticket> {
        self.under_way.take(Whose::Address(network(from)), UNDER_WAY_PER_ADDRESS)
    }

    /// An attempt to sign up, perhaps with a code.
    ///
    /// # Errors
    /// When there is room again.
    pub fn sign_up(&self, from: IpAddr, now: Time) -> Result<(), Time> {
        self.sign_ups.count(network(from), SIGN_UPS, now)
    }

    /// A text that is kept, run or handed in, or a version that is opened.
    ///
    /// # Errors
    /// When there is room again.
    pub fn text(&self, account: AccountId, now: Time) -> Result<(), Time> {
        self.texts.count(account, TEXTS, now)
    }

    /// An attempt to join a team with a code.
    ///
    /// # Errors
    /// When there is room again.
    pub fn code(&self, account: AccountId, now: Time) -> Result<(), Time> {
        self.codes.count(account, CODES, now)
    }
}

/// The connections at a port.
pub struct Connections {
    places: Places,
    per_address: u32,
}

impl Connections {
    /// None yet; at most this many of each address.
    pub fn new(per_address: u32) -> Self {
        // Their total is that of the port.
        Self { places: Places::new(u32::MAX), per_address }
    }

    /// One more from this address; none if it has too many already.
    pub fn open(&self, from: IpAddr) -> Option<Ticket> {
        self.places.take(Whose::Address(network(from)), self.per_address)
    }
}

/// For an IPv6 address, the network of a household: 64 bits.
pub fn network(address: IpAddr) -> IpAddr {
    first_bits(address, 32, 64)
}

/// The network from which somebody may easily have many addresses: 24 bits, or for an IPv6 address 48.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    first_bits(address, 24, 48)
}

fn first_bits(address: IpAddr, of_four: u32, of_six: u32) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => (u32::from(four) & u32::MAX << (32 - of_four)).to_be_bytes().into(),
        IpAddr::V6(six) => (u128::from(six) & u128::MAX << (128 - of_six)).to_be_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn an_account_may_ask_so_often_and_then_again() {
        let limits = RequestLimits::default();
        for _ in 0..PER_ACCOUNT {
            assert_eq!(limits.request(Some(AccountId(1)), HERE, Time(5)), Ok(()));
        }
        assert_eq!(limits.request(Some(AccountId(1)), HERE, Time(6)), Err(Time(60_005)));
        assert_eq!(limits.request(Some(AccountId(2)), HERE, Time(6)), Ok(()), "others are not held back");
        assert_eq!(limits.room(AccountId(1), Time(6)), (0, Time(60_005)));
        assert_eq!(limits.room(AccountId(1), Time(60_005)), (PER_ACCOUNT, Time(60_005)));
        assert_eq!(limits.request(Some(AccountId(1)), HERE, Time(60_005)), Ok(()));
        assert_eq!(limits.room(AccountId(1), Time(60_006)), (PER_ACCOUNT - 1, Time(120_005)));
    }

    /// Sixty people behind one address, each of whom opens a page a second, and signs up ten times.
    #[test]
    fn a_classroom_behind_one_address_passes() {
        let limits = RequestLimits::default();
        for second in 0..60 {
            for person in 0..60 {
                assert_eq!(limits.request(None, HERE, Time(second * 1000)), Ok(()), "{person}");
            }
        }
        for _ in 0..60 * 10 {
            assert_eq!(limits.sign_up(HERE, Time(0)), Ok(()));
        }
        assert_eq!(limits.sign_up(HERE, Time(1)), Err(Time(QUARTER)), "and yet there is an end");
    }

    #[test]
    fn streams_have_places_that_are_free_again() {
        let limits = RequestLimits::default();
        let ann = Some(AccountId(1));
        let mut open: Vec<Ticket> = (0..STREAMS).map(|_| limits.stream(ann, HERE).expect("room")).collect();
        assert!(limits.stream(ann, HERE).is_none());
        assert!(limits.stream(Some(AccountId(2)), HERE).is_some() && limits.stream(None, HERE).is_some());
        open.pop();
        assert!(limits.stream(ann, HERE).is_some());
        drop(open);
        assert!(
            limits.streams.counts.lock().expect("not poisoned").is_empty(),
            "nothing is remembered of who went"
        );
        let addresses = (0..=u8::MAX).map(|last| IpAddr::V4(Ipv4Addr::new(10, 0, 1, last)));
        let all: Vec<Ticket> = addresses
            .flat_map(|from| (0..STREAMS_PER_ADDRESS).map(move |_| from))
            .map_while(|from| limits.stream(None, from))
            .collect();
        assert_eq!(all.len(), MOST_STREAMS as usize);
    }

    #[test]
    fn memory_is_bounded_and_a_household_is_one_network() {
        let windows = Windows::new(MINUTE);
        for key in 0..3 * MOST {
            let _ = windows.count(key, 1, Time(key as i64 / 1000));
            assert!(windows.counts.lock().expect("not poisoned").len() <= MOST);
        }
        let six = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(six("2001:db8::1"), six("2001:db8::ffff"));
        assert_ne!(six("2001:db8::1"), six("2001:db8:1::1"));
        assert_eq!(six("::ffff:10.0.0.1"), HERE);
        let near = |text: &str| neighbourhood(text.parse().expect("an address"));
        assert_eq!(near("2001:db8::1"), near("2001:db8:0:ffff::1"));
        assert_ne!(near("2001:db8::1"), near("2001:db8:1::1"));
        assert_eq!(near("10.0.0.1"), near("10.0.0.255"));
        assert_ne!(near("10.0.0.1"), near("10.0.1.1"));
    }
}
