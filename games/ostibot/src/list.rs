//! A list of bounded length inside a flat value.

use std::ops::{Deref, DerefMut};

/// At most `N` values in order, without a heap allocation. Callers know that the values fit:
/// capacities are checked at set-up or before a purchase.
#[derive(Clone, Copy)]
pub struct List<T, const N: usize> {
    length: u16,
    slots: [T; N],
}

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty list; `filler` stands in the unused slots and never matters.
    pub const fn new(filler: T) -> Self {
        Self { length: 0, slots: [filler; N] }
    }

    /// Appends a value; returns it when the list is full.
    pub fn push(&mut self, value: T) -> Result<(), T> {
        let slot = self.slots.get_mut(usize::from(self.length)).ok_or(value)?;
        *slot = value;
        self.length += 1;
        Ok(())
    }

    /// Removes the value at `index`; those behind it move up.
    pub fn remove(&mut self, index: usize) -> T {
        let value = self[index];
        self.slots.copy_within(index + 1..usize::from(self.length), index);
        self.length -= 1;
        value
    }

    /// Keeps the values for which `keep` returns true, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for index in 0..usize::from(self.length) {
            if keep(&self.slots[index]) {
                self.slots[kept] = self.slots[index];
                kept += 1;
            }
        }
        self.length = kept as u16;
    }

    /// Whether the list is full.
    pub fn is_full(&self) -> bool {
        usize::from(self.length) == N
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.slots[..usize::from(self.length)]
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.slots[..usize::from(self.length)]
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

impl<T: std::fmt::Debug, const N: usize> std::fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_order_and_ignores_what_lies_behind_its_end() {
        let mut list = List::<u8, 4>::new(0);
        assert!([1, 2, 3, 4].into_iter().all(|value| list.push(value).is_ok()));
        assert!(list.is_full() && list.push(5) == Err(5));
        assert_eq!(list.remove(1), 2);
        list.retain(|&value| value != 3);
        let mut fresh = List::new(9);
        assert!(fresh.push(1).is_ok() && fresh.push(4).is_ok());
        assert_eq!(list, fresh);
    }
}
