//! The receiving end: what has arrived, and when to say so.

use std::ops::Range;

use dumbbell_network::{Span, Time};

use crate::ack::{Ack, SackBlocks};
use crate::ranges::RangeSet;
use crate::stack::Stack;

/// The receiver of one connection. Data is consumed as it arrives, so its window
/// never limits the sender.
#[derive(Clone, Debug)]
pub struct Receiver {
    delay: Span,
    quick_acks: u32,
    next: u64,
    above: RangeSet,
    /// A member of each block reported lately, the latest first.
    recent: Vec<u64>,
    unacknowledged: u32,
    deadline: Option<Time>,
    received_segs: u64,
}

/// Full segments that may wait for an acknowledgement (RFC 5681, section 4.2).
const DELAYED_SEGS_MAX: u32 = 2;

impl Receiver {
    /// A receiver that has seen nothing.
    #[must_use]
    pub fn new(stack: &Stack) -> Self {
        Self {
            delay: stack.delayed_ack_ns,
            quick_acks: stack.quick_acks,
            next: 0,
            above: RangeSet::default(),
            recent: Vec::new(),
            unacknowledged: 0,
            deadline: None,
            received_segs: 0,
        }
    }

    /// Takes a data segment; gives the acknowledgement to send at once, if any.
    #[inline]
    pub fn on_data(&mut self, now: Time, segment: u64) -> Option<(Ack, SackBlocks)> {
        if segment == self.next && self.above.is_empty() {
            self.received_segs += 1;
            self.next += 1;
            return self.on_data_in_order(now);
        }
        self.on_data_out_of_order(segment);
        Some(self.acknowledge())
    }

    #[inline]
    fn on_data_in_order(&mut self, now: Time) -> Option<(Ack, SackBlocks)> {
        self.unacknowledged += 1;
        if self.unacknowledged >= DELAYED_SEGS_MAX || self.quick_acks > 0 {
            self.quick_acks = self.quick_acks.saturating_sub(1);
            return Some(self.acknowledge());
        }
        self.deadline = Some(now + self.delay);
        None
    }

    fn on_data_out_of_order(&mut self, segment: u64) {
        if segment < self.next || self.above.contains(segment) {
            return;
        }
        self.received_segs += 1;
        self.above.insert(segment..segment + 1);
        if segment == self.next {
            self.next = self.above.next_absent(segment);
            self.above.remove_below(self.next);
        } else {
            self.report_first(segment);
        }
    }

    /// Puts the block of `segment` before all others reported (RFC 2018, section 4).
    fn report_first(&mut self, segment: u64) {
        let block = self.above.range_of(segment).expect("the block of a segment just added");
        self.recent.retain(|member| !block.contains(member));
        self.recent.insert(0, segment);
        // As many as can be reported, and as many that may be acknowledged meanwhile.
        self.recent.truncate(8);
    }

    /// When a waiting acknowledgement is due.
    #[inline]
    #[must_use]
    pub const fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Gives the waiting acknowledgement if it is due.
    pub fn on_timer(&mut self, now: Time) -> Option<(Ack, SackBlocks)> {
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        due.then(|| self.acknowledge())
    }

    #[inline]
    fn acknowledge(&mut self) -> (Ack, SackBlocks) {
        self.unacknowledged = 0;
        self.deadline = None;
        let sacked = if self.above.is_empty() { SackBlocks::default() } else { self.blocks() };
        let has_blocks = !sacked.is_empty();
        (Ack { cumulative: self.next, has_blocks, ..Ack::default() }, sacked)
    }

    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let (above, mut reported) = (&self.above, Vec::<Range<u64>>::new());
        self.recent.retain(|&member| {
            let Some(block) = above.range_of(member) else { return false };
            if reported.contains(&block) {
                return false;
            }
            if !blocks.is_full() {
                blocks.push(block.clone());
            }
            reported.push(block);
            true
        });
        blocks
    }

    /// Distinct segments that have arrived, in order or not.
    #[must_use]
    pub const fn received_segs(&self) -> u64 {
        self.received_segs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::PROFILES;

    fn receiver(quick_acks: u32) -> Receiver {
        Receiver::new(&Stack { quick_acks, ..(PROFILES[1].stack)() })
    }

    fn blocks((_, blocks): &(Ack, SackBlocks)) -> Vec<Range<u64>> {
        blocks.as_slice().to_vec()
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
        let mut receiver = receiver(0);
        assert_eq!(receiver.on_data(Time(0), 0), None);
        assert_eq!(receiver.on_data(Time(1), 1).map(|(ack, _)| ack.cumulative), Some(2));
        assert_eq!(receiver.on_data(Time(2), 2), None);
        assert_eq!(receiver.deadline(), Some(Time(40_000_002)));
        assert_eq!(receiver.on_timer(Time(40_000_001)), None);
        assert_eq!(receiver.on_timer(Time(40_000_002)).map(|(ack, _)| ack.cumulative), Some(3));
        assert_eq!(receiver.deadline(), None);
    }

    #[test]
    fn the_first_segments_are_acknowledged_at_once() {
        let mut receiver = receiver(3);
        let acks: Vec<_> =
            (0..6).map(|segment| receiver.on_data(Time(segment), segment).is_some()).collect();
        assert_eq!(acks, [true, true, true, false, true, false]);
    }

    #[test]
    fn blocks_come_latest_first_and_grow() {
        let mut receiver = receiver(0);
        assert_eq!(blocks(&receiver.on_data(Time(0), 2).unwrap()), vec![2..3; 1]);
        assert_eq!(blocks(&receiver.on_data(Time(0), 5).unwrap()), [5..6, 2..3]);
        assert_eq!(blocks(&receiver.on_data(Time(0), 3).unwrap()), [2..4, 5..6]);
        assert_eq!(blocks(&receiver.on_data(Time(0), 7).unwrap()), [7..8, 2..4, 5..6]);
        assert_eq!(blocks(&receiver.on_data(Time(0), 9).unwrap()), [9..10, 7..8, 2..4]);
        let ack = receiver.on_data(Time(0), 0).unwrap();
        assert_eq!((ack.0.cumulative, blocks(&ack)), (1, vec![9..10, 7..8, 2..4]));
        let ack = receiver.on_data(Time(0), 1).unwrap();
        assert_eq!((ack.0.cumulative, blocks(&ack)), (4, vec![9..10, 7..8, 5..6]));
        assert_eq!(receiver.received_segs(), 7);
    }

    #[test]
    fn a_duplicate_is_acknowledged_at_once_and_not_counted() {
        let mut receiver = receiver(0);
        receiver.on_data(Time(0), 0);
        assert!(receiver.on_data(Time(1), 0).is_some());
        assert_eq!(receiver.received_segs(), 1);
    }
}
