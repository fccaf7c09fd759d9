//! Flat containers of a state: sets of units and queues of them.
//!
//! Equal content means equal bytes: unused parts are zero.

use crate::state::UnitId;

/// A set of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSet<const BLOCKS: usize>([u64; BLOCKS]);

impl<const BLOCKS: usize> Default for UnitSet<BLOCKS> {
    fn default() -> Self {
        Self([0; BLOCKS])
    }
}

impl<const BLOCKS: usize> UnitSet<BLOCKS> {
    /// Adds a unit and returns whether it is new.
    #[inline]
    pub fn insert(&mut self, id: UnitId) -> bool {
        let (block, bit) = (usize::from(id / 64), 1 << (id % 64));
        let new = self.0[block] & bit == 0;
        self.0[block] |= bit;
        new
    }

    /// Removes a unit.
    #[inline]
    pub fn remove(&mut self, id: UnitId) {
        self.0[usize::from(id / 64)] &= !(1 << (id % 64));
    }

    /// Whether a unit is in the set.
    #[inline]
    pub fn contains(&self, id: UnitId) -> bool {
        self.0.get(usize::from(id / 64)).is_some_and(|block| block >> (id % 64) & 1 == 1)
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; BLOCKS]
    }

    /// The number of units in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|block| block.count_ones() as usize).sum()
    }

    /// The units in either set.
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|block| self.0[block] | other.0[block]))
    }

    /// The units, lowest id first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = UnitId> + Clone {
        let (mut block, mut rest) = (0, self.0[0]);
        std::iter::from_fn(move || {
            while rest == 0 {
                block += 1;
                rest = *self.0.get(block)?;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some((block * 64) as UnitId + bit as UnitId)
        })
    }
}

/// A list in the order of insertion, with a place for every unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue<T, const BLOCKS: usize> {
    len: u16,
    items: [[T; 64]; BLOCKS],
}

impl<T: Copy + Default, const BLOCKS: usize> Default for Queue<T, BLOCKS> {
    fn default() -> Self {
        Self { len: 0, items: [[T::default(); 64]; BLOCKS] }
    }
}

impl<T: Copy + Default, const BLOCKS: usize> Queue<T, BLOCKS> {
    /// Appends an item. No unit is in a queue twice, so there is always room.
    pub fn push(&mut self, item: T) {
        self.items.as_flattened_mut()[usize::from(self.len)] = item;
        self.len += 1;
    }

    /// The items, oldest first.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items.as_flattened()[..usize::from(self.len)]
    }

    /// The items, oldest first, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items.as_flattened_mut()[..usize::from(self.len)]
    }

    /// Keeps the items for which `keep` returns true, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(T) -> bool) {
        let mut kept = 0;
        let items = &mut self.items.as_flattened_mut()[..usize::from(self.len)];
        for index in 0..items.len() {
            let item = items[index];
            if keep(item) {
                items[kept] = item;
                kept += 1;
            }
        }
        items[kept..].fill(T::default());
        self.len = kept as u16;
    }
}
