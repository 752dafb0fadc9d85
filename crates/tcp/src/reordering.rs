//! The degree of reordering that the path has shown.
//!
//! A segment that was sent once and arrives after later ones was overtaken, not lost. The degree is
//! the number of later segments that must arrive before a loss is inferred. RFC 4653 explains why
//! it must exceed the observed reordering.

/// The reordering of one path in the view of its sender.
#[derive(Clone, Debug)]
pub struct Reordering {
    initial: u64,
    max: u64,
    degree: u64,
    seen: bool,
}

impl Reordering {
    /// A path that has kept the order so far.
    #[must_use]
    pub fn new(initial_segs: u32, max_segs: u32) -> Self {
        let (initial, max) = (u64::from(initial_segs), u64::from(max_segs));
        Self { initial, max: max.max(initial), degree: initial, seen: false }
    }

    /// Number of segments delivered above a missing one before it counts as lost.
    #[inline]
    #[must_use]
    pub const fn degree_segs(&self) -> u64 {
        self.degree
    }

    /// Return whether reordering was ever observed.
    #[inline]
    #[must_use]
    pub const fn is_seen(&self) -> bool {
        self.seen
    }

    /// Return whether more reordering than the default was observed.
    #[inline]
    #[must_use]
    pub const fn is_raised(&self) -> bool {
        self.degree > self.initial
    }

    /// Record that a segment, sent once, has arrived after `later_segs` that were sent later.
    pub fn note(&mut self, later_segs: u64) {
        self.seen = true;
        self.degree = self.degree.max((later_segs + 1).min(self.max));
    }

    /// Record a timeout. If enough segments had been delivered above, the degree was too large.
    pub fn distrust(&mut self, sacked_segs: u64) {
        // As in tcp_enter_loss: even the default degree would have found this loss.
        if sacked_segs >= self.initial {
            self.degree = self.initial;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_degree_exceeds_what_was_seen_up_to_its_limit() {
        let mut reordering = Reordering::new(3, 300);
        reordering.note(1);
        assert_eq!((reordering.degree_segs(), reordering.is_seen()), (3, true));
        assert!(!reordering.is_raised());
        reordering.note(7);
        assert_eq!(reordering.degree_segs(), 8);
        assert!(reordering.is_raised());
        reordering.note(4_000);
        assert_eq!(reordering.degree_segs(), 300);
        reordering.distrust(2);
        assert_eq!(reordering.degree_segs(), 300);
        reordering.distrust(3);
        assert_eq!(reordering.degree_segs(), 3);
    }
}
