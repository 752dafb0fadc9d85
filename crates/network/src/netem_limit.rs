//! Packets that a link holds, in its queue and under its delay: netem's limit counts them all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use crate::units::Time;

/// Arrival times at the far end of all packets that are under way, on a link of limited space.
#[derive(Clone, Debug)]
pub struct NetemLimit {
    most: u32,
    until: BinaryHeap<Reverse<Time>>,
}

impl NetemLimit {
    /// A count of held packets; None where a link holds any number of them.
    #[must_use]
    pub fn new(most: Option<NonZeroU32>) -> Option<Self> {
        most.map(|most| Self { most: most.get(), until: BinaryHeap::new() })
    }

    /// Return the number of further packets that have space at `now`, which never goes back.
    /// `waiting` packets are still in the queue.
    pub fn space(&mut self, now: Time, waiting: u32) -> u32 {
        // A heap, not a queue: with jitter or reordering, packets arrive in another order than they
        // depart.
        while self.until.peek().is_some_and(|first| first.0 <= now) {
            self.until.pop();
        }
        self.most.saturating_sub(waiting).saturating_sub(self.until.len() as u32)
    }

    /// Hold a packet until it is at the far end.
    pub fn hold(&mut self, until: Time) {
        self.until.push(Reverse(until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_for_so_many_packets_until_each_is_at_the_far_end() {
        let mut netem_limit = NetemLimit::new(NonZeroU32::new(2)).unwrap();
        netem_limit.hold(Time(30));
        netem_limit.hold(Time(20));
        assert_eq!([0, 19, 20, 29, 30].map(|now| netem_limit.space(Time(now), 0)), [0, 0, 1, 1, 2]);
        assert_eq!((netem_limit.space(Time(30), 1), netem_limit.space(Time(30), 9)), (1, 0));
        assert!(NetemLimit::new(None).is_none());
    }
}
