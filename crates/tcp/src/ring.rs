//! One value per segment of the window, or per burst of segments, addressed by its number.

/// Values for the segments `base..base + capacity`. A slot has the default value until it is set,
/// and must be cleared before its segment leaves the window.
#[derive(Clone, Debug)]
pub struct SegmentRing<T> {
    slots: Vec<T>,
    mask: u64,
}

impl<T: Copy + Default> SegmentRing<T> {
    /// A ring with space for a small window.
    #[must_use]
    pub fn new() -> Self {
        let slots = vec![T::default(); 64];
        let mask = slots.len() as u64 - 1;
        Self { slots, mask }
    }

    /// Return the value of a segment.
    #[inline]
    #[must_use]
    pub fn get(&self, segment: u64) -> T {
        self.slots[(segment & self.mask) as usize]
    }

    /// Return the value of a segment by reference, to change it.
    #[inline]
    pub fn get_mut(&mut self, segment: u64) -> &mut T {
        &mut self.slots[(segment & self.mask) as usize]
    }

    /// Make space for every segment of `first..end`, which includes the whole window.
    #[inline]
    pub fn reserve(&mut self, first: u64, end: u64) {
        if end - first > self.slots.len() as u64 {
            self.grow(first, end);
        }
    }

    #[cold]
    fn grow(&mut self, first: u64, end: u64) {
        let capacity = (end - first).next_power_of_two() as usize;
        let mut grown = Self { slots: vec![T::default(); capacity], mask: capacity as u64 - 1 };
        // All old slots are in this range, because `first` is the lower end of the window.
        for segment in first..first + self.slots.len() as u64 {
            *grown.get_mut(segment) = self.get(segment);
        }
        *self = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keeps_the_values_of_the_window() {
        let mut ring = SegmentRing::new();
        let (first, end) = (1_000, 1_064);
        for segment in first..end {
            *ring.get_mut(segment) = segment;
        }
        ring.reserve(first, end + 1);
        assert!((first..end).all(|segment| ring.get(segment) == segment));
        assert_eq!(ring.get(end), 0);
    }
}
