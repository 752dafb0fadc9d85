//! The sender's book of its window: what is sent, SACKed, lost and sent again.
//!
//! Segments between `una` and `next` are outstanding. Loss is inferred from what was
//! delivered above, so the segments first taken for lost are always those below one
//! mark, `lost_below`, that are not SACKed. Only segments below that mark can have
//! been sent again, so only they need marks of their own; a window without loss is
//! two numbers and the times at which its segments were sent.

use std::collections::VecDeque;
use std::ops::Range;

use dumbbell_network::Time;

use crate::ack::{Ack, SackBlocks};
use crate::ranges::RangeSet;
use crate::ring::SegmentRing;
use crate::stack::LossDetection;

/// A retransmission is outstanding.
const RESENT: u8 = 1;
/// The segment was sent again at some time, so its round trip is ambiguous.
const EVER_RESENT: u8 = 2;

/// The window of one sender.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    detection: LossDetection,
    reordering: u64,
    una: u64,
    next: u64,
    sent_at: SegmentRing<Time>,
    sacked: RangeSet,
    sacked_segs: u64,
    /// Every segment below that is not SACKed was taken for lost.
    lost_below: u64,
    lost_segs: u64,
    marks: SegmentRing<u8>,
    resent_segs: u64,
    /// Lowest segment below `lost_below` that may not have been sent again yet.
    next_resend: u64,
    /// Segments whose retransmission was lost too, in the order of that finding.
    resend_again: VecDeque<u64>,
    /// Outstanding retransmissions in the order of sending, with some that arrived.
    resent: VecDeque<Resent>,
    /// Losses found since [`Self::infer_losses`] was last asked.
    found_lost: u64,
    /// Kept for its allocation.
    gaps: Vec<Range<u64>>,
    /// What the latest acknowledgement newly delivered, where that is recorded.
    arrivals: Option<Vec<Range<u64>>>,
}

#[derive(Clone, Copy, Debug)]
struct Resent {
    segment: u64,
    /// The next new segment at the time of the retransmission.
    sent_before: u64,
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Segments newly known to have arrived.
    pub delivered_segs: u64,
    /// Segments by which the cumulative acknowledgement moved.
    pub advanced_segs: u64,
    /// When the earliest of them was sent, for the retransmission timeout: only
    /// where no retransmission makes the round trip ambiguous.
    pub first_sent: Option<Time>,
    /// When the latest of them was sent, under the same condition.
    pub last_sent: Option<Time>,
}

impl Scoreboard {
    /// An empty window.
    #[must_use]
    pub fn new(detection: LossDetection, reordering_segs: u32) -> Self {
        Self {
            detection,
            reordering: u64::from(reordering_segs),
            una: 0,
            next: 0,
            sent_at: SegmentRing::new(),
            sacked: RangeSet::default(),
            sacked_segs: 0,
            lost_below: 0,
            lost_segs: 0,
            marks: SegmentRing::new(),
            resent_segs: 0,
            next_resend: 0,
            resend_again: VecDeque::new(),
            resent: VecDeque::new(),
            found_lost: 0,
            gaps: Vec::new(),
            arrivals: None,
        }
    }

    /// Chooses whether [`Self::drain_arrivals`] will be asked.
    pub fn record_arrivals(&mut self, wanted: bool) {
        self.arrivals = wanted.then(Vec::new);
    }

    /// Calls `visit` with every range that the acknowledgement of `delivery`, the
    /// latest, newly delivered.
    pub fn drain_arrivals(&mut self, delivery: &Delivery, visit: impl FnMut(Range<u64>)) {
        let arrivals = self.arrivals.as_mut().expect("arrivals are recorded");
        if arrivals.is_empty() && delivery.delivered_segs > 0 {
            // All in order, and not recorded.
            arrivals.push(self.una - delivery.delivered_segs..self.una);
        }
        arrivals.drain(..).for_each(visit);
    }

    /// The lowest segment not yet acknowledged.
    #[inline]
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// The next segment never sent.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    #[must_use]
    pub const fn outstanding_segs(&self) -> u64 {
        self.next - self.una
    }

    /// Segments SACKed above the cumulative acknowledgement.
    #[inline]
    #[must_use]
    pub const fn sacked_segs(&self) -> u64 {
        self.sacked_segs
    }

    /// Segments taken for lost and not known to have arrived since.
    #[inline]
    #[must_use]
    pub const fn lost_segs(&self) -> u64 {
        self.lost_segs
    }

    /// Segments believed to be in the network.
    #[inline]
    #[must_use]
    pub const fn in_flight_segs(&self) -> u64 {
        self.outstanding_segs() - self.sacked_segs - self.lost_segs + self.resent_segs
    }

    /// When the latest new segment was sent; zero before the first.
    #[must_use]
    pub fn last_new_sent(&self) -> Time {
        self.next.checked_sub(1).map_or(Time::ZERO, |segment| self.sent_at.get(segment))
    }

    /// Adds the next new segment to the window.
    #[inline]
    pub fn send_new(&mut self, now: Time) -> u64 {
        let segment = self.next;
        self.next += 1;
        self.sent_at.reserve(self.una, self.next);
        *self.sent_at.get_mut(segment) = now;
        segment
    }

    /// The lost segment to send next, if there is one.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost_segs == self.resent_segs {
            return None;
        }
        while let Some(&segment) = self.resend_again.front() {
            if segment >= self.una && !self.sacked.contains(segment) {
                return Some(segment);
            }
            self.resend_again.pop_front();
        }
        self.next_resend = self.sacked.next_absent(self.next_resend.max(self.una));
        (self.next_resend < self.lost_below).then_some(self.next_resend)
    }

    /// Records that the segment named by [`Self::next_lost`] was sent again.
    pub fn resend(&mut self, segment: u64) {
        if self.resend_again.front() == Some(&segment) {
            self.resend_again.pop_front();
        } else {
            self.next_resend = segment + 1;
        }
        *self.marks.get_mut(segment) = RESENT | EVER_RESENT;
        self.resent_segs += 1;
        self.resent.push_back(Resent { segment, sent_before: self.next });
    }

    /// Takes what an acknowledgement says has arrived.
    ///
    /// # Panics
    /// If it acknowledges what was never sent.
    #[inline]
    pub fn acknowledge(&mut self, ack: &Ack, sacked: &SackBlocks) -> Delivery {
        assert!(ack.cumulative <= self.next, "{ack:?} beyond {}", self.next);
        if self.sacked_segs + self.lost_segs == 0 && !ack.has_blocks {
            return self.acknowledge_in_order(ack.cumulative);
        }
        self.acknowledge_selectively(ack, sacked)
    }

    #[inline]
    fn acknowledge_in_order(&mut self, cumulative: u64) -> Delivery {
        if cumulative <= self.una {
            return Delivery::default();
        }
        let segs = cumulative - self.una;
        let first_sent = Some(self.sent_at.get(self.una));
        let last_sent = Some(self.sent_at.get(cumulative - 1));
        self.una = cumulative;
        Delivery { delivered_segs: segs, advanced_segs: segs, first_sent, last_sent }
    }

    fn acknowledge_selectively(&mut self, ack: &Ack, sacked: &SackBlocks) -> Delivery {
        let mut by_cumulative = Arrived::default();
        let old_una = self.una;
        if ack.cumulative > old_una {
            self.arrive(old_una..ack.cumulative, &mut by_cumulative);
            self.advance(ack.cumulative);
        }
        let mut by_sack = Arrived::default();
        for block in sacked.as_slice() {
            let block = block.start.max(self.una)..block.end;
            assert!(block.end <= self.next, "{ack:?} beyond {}", self.next);
            if block.start < block.end {
                let before = by_sack.segs;
                self.arrive(block.clone(), &mut by_sack);
                self.sacked_segs += by_sack.segs - before;
                self.sacked.insert(block);
            }
        }
        let unambiguous = (!by_cumulative.resent).then_some(by_cumulative.first_last).flatten();
        let first = unambiguous.or(by_sack.first_last).map(|(first, _)| first);
        let last = by_sack.first_last.or(unambiguous).map(|(_, last)| last);
        Delivery {
            delivered_segs: by_cumulative.segs + by_sack.segs,
            advanced_segs: self.una - old_una,
            first_sent: first.map(|segment| self.sent_at.get(segment)),
            last_sent: last.map(|segment| self.sent_at.get(segment)),
        }
    }

    /// Books the segments of `span` that were not known to have arrived.
    fn arrive(&mut self, span: Range<u64>, arrived: &mut Arrived) {
        let mut gaps = std::mem::take(&mut self.gaps);
        self.sacked.for_each_gap(span, |gap| gaps.push(gap));
        for gap in gaps.drain(..) {
            arrived.segs += gap.end - gap.start;
            if let Some(arrivals) = &mut self.arrivals {
                arrivals.push(gap.clone());
            }
            let marked_end = self.lost_below.clamp(gap.start, gap.end);
            for segment in gap.start..marked_end {
                self.arrive_lost(segment, arrived);
            }
            if marked_end < gap.end {
                arrived.note(marked_end, gap.end - 1);
            }
        }
        self.gaps = gaps;
    }

    /// Books the arrival of a segment that had been taken for lost.
    fn arrive_lost(&mut self, segment: u64, arrived: &mut Arrived) {
        self.lost_segs -= 1;
        let marks = self.marks.get_mut(segment);
        if *marks & RESENT != 0 {
            *marks &= !RESENT;
            self.resent_segs -= 1;
            if self.detection == LossDetection::Sacked {
                self.lose_resent_before(segment);
            }
        }
        if self.marks.get(segment) & EVER_RESENT == 0 {
            arrived.note(segment, segment);
        } else {
            arrived.resent = true;
        }
    }

    /// Moves the lower edge of the window.
    fn advance(&mut self, una: u64) {
        for segment in self.una..una.min(self.lost_below) {
            *self.marks.get_mut(segment) = 0;
        }
        self.sacked_segs -= self.sacked.remove_below(una);
        self.una = una;
        self.lost_below = self.lost_below.max(una);
        if self.lost_segs == 0 {
            self.resent.clear();
            self.resend_again.clear();
        }
    }

    /// Infers losses from what has arrived; gives how many were found.
    pub fn infer_losses(&mut self) -> u64 {
        if let Some(highest) = self.sacked.end() {
            let mark = match self.detection {
                LossDetection::Fack => highest.saturating_sub(self.reordering),
                LossDetection::Sacked => self.sacked.from_top(self.reordering - 1).unwrap_or(0),
            };
            self.lose_below(mark);
            self.lose_overtaken(highest);
        }
        std::mem::take(&mut self.found_lost)
    }

    /// Takes every segment below `mark` for lost that is not SACKed.
    fn lose_below(&mut self, mark: u64) {
        let from = self.lost_below.max(self.una);
        if mark <= from {
            return;
        }
        let mut lost = 0;
        self.sacked.for_each_gap(from..mark, |gap| lost += gap.end - gap.start);
        self.marks.reserve(self.una, mark);
        self.lost_below = mark;
        self.lost_segs += lost;
        self.found_lost += lost;
    }

    /// Takes retransmissions for lost that data first sent later has overtaken.
    fn lose_overtaken(&mut self, highest_sacked_end: u64) {
        let margin = match self.detection {
            LossDetection::Fack => self.reordering,
            LossDetection::Sacked => 0,
        };
        while let Some(&Resent { segment, sent_before }) = self.resent.front() {
            if self.is_resent(segment) {
                if highest_sacked_end <= sent_before + margin {
                    break;
                }
                self.lose_resent(segment);
            }
            self.resent.pop_front();
        }
    }

    /// Takes retransmissions for lost that were sent before that of `segment`.
    fn lose_resent_before(&mut self, segment: u64) {
        while let Some(resent) = self.resent.pop_front() {
            if resent.segment == segment {
                break;
            }
            if self.is_resent(resent.segment) {
                self.lose_resent(resent.segment);
            }
        }
    }

    fn is_resent(&self, segment: u64) -> bool {
        segment >= self.una && self.marks.get(segment) & RESENT != 0
    }

    fn lose_resent(&mut self, segment: u64) {
        *self.marks.get_mut(segment) &= !RESENT;
        self.resent_segs -= 1;
        self.found_lost += 1;
        self.resend_again.push_back(segment);
    }

    /// Takes everything outstanding for lost, as after a retransmission timeout.
    pub fn lose_all(&mut self) {
        for segment in self.una..self.lost_below {
            *self.marks.get_mut(segment) &= !RESENT;
        }
        self.marks.reserve(self.una, self.next);
        self.lost_below = self.next;
        self.lost_segs = self.outstanding_segs() - self.sacked_segs;
        self.resent_segs = 0;
        self.resent.clear();
        self.resend_again.clear();
        self.next_resend = self.una;
    }
}

/// Segments that newly arrived, while an acknowledgement is being read.
#[derive(Default)]
struct Arrived {
    segs: u64,
    /// Lowest and highest of them that were sent only once.
    first_last: Option<(u64, u64)>,
    /// Some of them had been sent again.
    resent: bool,
}

impl Arrived {
    fn note(&mut self, first: u64, last: u64) {
        self.first_last = Some(match self.first_last {
            None => (first, last),
            Some((lowest, highest)) => (lowest.min(first), highest.max(last)),
        });
    }
}
