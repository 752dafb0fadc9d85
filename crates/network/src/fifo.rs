//! A first-in, first-out queue in a ring.

/// Number of slots that the first entry allocates.
const FIRST: usize = 4;

/// Entries in the order of their push, numbered from zero.
#[derive(Clone, Debug, Default)]
pub struct Fifo<T> {
    slots: Vec<T>,
    pushed: u64,
    popped: u64,
}

impl<T: Copy + Default> Fifo<T> {
    /// An empty queue. It allocates no memory before its first entry.
    #[must_use]
    pub const fn new() -> Self {
        Self { slots: Vec::new(), pushed: 0, popped: 0 }
    }

    /// Add an entry at the end.
    #[inline(always)]
    pub fn push(&mut self, entry: T) {
        if self.pushed - self.popped == self.slots.len() as u64 {
            self.grow();
        }
        let slot = self.slot(self.pushed);
        self.slots[slot] = entry;
        self.pushed += 1;
    }

    #[inline]
    fn get(&self, number: u64) -> T {
        self.slots[self.slot(number)]
    }

    /// The next entry to pop; None if there is none.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<T> {
        (self.popped < self.pushed).then(|| self.get(self.popped))
    }

    /// Insert an entry before all entries at the end that are `after` it. Return false and insert
    /// nothing if these are `most` or more.
    #[inline]
    pub fn insert_by(&mut self, entry: T, most: usize, after: impl Fn(&T) -> bool) -> bool {
        if self.len() >= most && after(&self.get(self.pushed - most as u64)) {
            return false;
        }
        self.push(entry);
        let mut place = self.pushed - 1;
        while place > self.popped && after(&self.get(place - 1)) {
            self.set(place, self.get(place - 1));
            place -= 1;
        }
        self.set(place, entry);
        true
    }

    /// Insert several entries in their order, as [`Self::insert_by`] does. Return false and insert
    /// nothing if `most` or more entries are after the first. Each waiting entry moves once.
    pub fn merge(&mut self, entries: &[T], most: usize, after: impl Fn(&T, &T) -> bool) -> bool {
        let Some(first) = entries.first() else { return true };
        if self.len() >= most && after(&self.get(self.pushed - most as u64), first) {
            return false;
        }
        // From the end, as in merge sort: each entry finds its final place at once.
        let mut old = self.pushed;
        entries.iter().for_each(|&entry| self.push(entry));
        let mut place = self.pushed;
        for &entry in entries.iter().rev() {
            while old > self.popped && after(&self.get(old - 1), &entry) {
                (old, place) = (old - 1, place - 1);
                self.set(place, self.get(old));
            }
            place -= 1;
            self.set(place, entry);
        }
        true
    }

    #[inline]
    fn set(&mut self, number: u64, entry: T) {
        let slot = self.slot(number);
        self.slots[slot] = entry;
    }

    /// Return the number of the first entry that is `after` something; all later entries must be,
    /// too. If none is, return the number of the next entry to push.
    #[must_use]
    pub fn first_after(&self, after: impl Fn(&T) -> bool) -> u64 {
        let (mut low, mut high) = (self.popped, self.pushed);
        while low < high {
            let middle = low + (high - low) / 2;
            if after(&self.get(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// The number of the next entry to pop, or of the next to push if there is none.
    #[inline]
    #[must_use]
    pub const fn front_number(&self) -> u64 {
        self.popped
    }

    /// Number of entries.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        (self.pushed - self.popped) as usize
    }

    /// Remove the entry at the front. There must be one.
    #[inline]
    pub const fn skip(&mut self) {
        self.popped += 1;
    }

    /// Remove all entries.
    #[inline]
    pub const fn skip_all(&mut self) {
        self.popped = self.pushed;
    }

    /// Remove and return the entry at the front; None if there is none.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let entry = self.front()?;
        self.popped += 1;
        Some(entry)
    }

    /// All entries, from the oldest to the newest.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (self.popped..self.pushed).map(|number| self.get(number))
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        // The number of slots is a power of two.
        number as usize & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let mut grown = vec![T::default(); (2 * self.slots.len()).max(FIRST)];
        let mask = grown.len() - 1;
        // Entries keep their numbers, so numbers that callers store stay valid.
        for number in self.popped..self.pushed {
            grown[number as usize & mask] = self.get(number);
        }
        self.slots = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_queue(pops in prop::collection::vec(any::<bool>(), 1..400)) {
            let (mut fifo, mut model) = (Fifo::new(), VecDeque::new());
            for (value, pop) in (0u64..).zip(pops) {
                if pop && !model.is_empty() {
                    prop_assert_eq!(fifo.pop(), model.pop_front());
                } else {
                    prop_assert_eq!(fifo.iter().count(), model.len());
                    fifo.push(value);
                    model.push_back(value);
                }
                prop_assert_eq!(fifo.front(), model.front().copied());
                prop_assert!(fifo.iter().eq(model.iter().copied()));
            }
        }
    }
}
