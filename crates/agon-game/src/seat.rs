//! A place in a match, and sets of places.

use std::fmt;

/// A place in a match. Stored from 0, shown from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(u8);

impl Seat {
    /// The largest number of seats in any game here.
    pub const MAX: u8 = 16;

    /// The seat with this index, from 0.
    ///
    /// # Panics
    /// When `index` is [`Seat::MAX`] or more.
    pub const fn new(index: u8) -> Self {
        assert!(index < Self::MAX, "more seats than any game has");
        Self(index)
    }

    /// The index of the seat, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number people read, from 1.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// The first `count` seats in order.
    pub fn first(count: u8) -> impl ExactSizeIterator<Item = Seat> + Clone {
        (0..count).map(Seat::new)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.number())
    }
}

/// A set of seats.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Seats(u16);

impl Seats {
    /// No seat.
    pub const NONE: Self = Self(0);

    /// One seat.
    pub const fn one(seat: Seat) -> Self {
        Self(1 << seat.0)
    }

    /// The first `count` seats.
    pub const fn first(count: u8) -> Self {
        assert!(count <= Seat::MAX, "more seats than any game has");
        Self(((1u32 << count) - 1) as u16)
    }

    /// Whether `seat` is in the set.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> seat.0 & 1 == 1
    }

    /// Puts `seat` into the set.
    pub const fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat.0;
    }

    /// Takes `seat` out of the set.
    pub const fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat.0);
    }

    /// How many seats are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no seat is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Seat> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = (rest != 0).then(|| Seat(rest.trailing_zeros() as u8));
            rest &= rest.wrapping_sub(1);
            next
        })
    }
}

impl FromIterator<Seat> for Seats {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = Self::NONE;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Debug for Seats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it() {
        let mut set = Seats::first(3);
        set.remove(Seat::new(1));
        set.insert(Seat::new(15));
        assert_eq!(set.iter().map(Seat::number).collect::<Vec<_>>(), [1, 3, 16]);
        assert_eq!(set.len(), 3);
        assert!(!set.contains(Seat::new(1)));
        assert!(Seats::NONE.is_empty() && Seats::first(16).len() == 16);
    }
}
