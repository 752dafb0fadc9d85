//! The sender's record of its window: segments that are sent, SACKed, lost and sent again.
//!
//! Segments between `una` and `next` are outstanding. A loss is inferred from segments delivered
//! above or sent later, and first transmissions are in order. So the segments whose first
//! transmission counts as lost are always those below one mark, `lost_below`, without a SACK. Only
//! segments that were sent again need separate marks, and they are below `marked_below`. A window
//! without loss is two numbers and the times at which its segments were sent.

mod inference;

use std::collections::VecDeque;
use std::ops::Range;

use dumbbell_network::Time;

use crate::ack::{Ack, SackBlocks};
use crate::rack::{LossContext, Order, Rack, ReorderingWindow, Transmission};
use crate::ranges::RangeSet;
use crate::reordering::Reordering;
use crate::ring::SegmentRing;
use crate::stack::{LossDetection, Stack};

/// Mark of a segment with an outstanding retransmission.
const RESENT: u8 = 1;
/// Mark of a segment that was ever sent again, so its round trip is ambiguous.
const EVER_RESENT: u8 = 2;

/// Newly inferred losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLosses {
    /// Transmissions that now count as lost.
    pub segs: u64,
    /// True if some of them were retransmissions.
    pub any_resent: bool,
}

/// The window of one sender.
///
/// The receiver keeps segments that it has SACKed, so SACKs are never revoked. (RFC 2018, section
/// 8, allows a receiver to discard such data. Ours does not.)
#[derive(Clone, Debug)]
pub struct Scoreboard {
    detection: LossDetection,
    reordering: Reordering,
    rack: Option<Rack>,
    una: u64,
    next: u64,
    /// Time of each segment's last transmission.
    sent_at: SegmentRing<Time>,
    sacked: RangeSet,
    /// Segments in `sacked`. Without SACK, the number that duplicate ACKs imply.
    sacked_segs: u64,
    /// Every segment below that is not SACKed counts as lost.
    lost_below: u64,
    lost_segs: u64,
    /// Lost segments without an outstanding retransmission.
    pending_segs: u64,
    /// No segment from here on has marks.
    marked_below: u64,
    marks: SegmentRing<u8>,
    /// Place in the order of the last retransmission of each segment that was ever sent again.
    resent_order: SegmentRing<Order>,
    retransmissions: u64,
    resent_segs: u64,
    /// Lowest segment below `lost_below` that may not have been sent again yet.
    next_resend: u64,
    /// Segments whose retransmission was lost, too, in the order in which that was inferred.
    resend_again: VecDeque<u64>,
    /// Outstanding retransmissions in the order of transmission. Some of them may have arrived.
    resent: VecDeque<Resent>,
    /// Losses since the last call of [`Self::infer_losses`].
    new_losses: NewLosses,
    /// Time at which overtaken segments will be overdue.
    recheck: Time,
    /// Blocks of the last ACK that had any. All of them are in `sacked` or below.
    last_blocks: SackBlocks,
    /// The last segment that was sent again while it was the latest new one, and the time of its
    /// first transmission.
    latest_resent: Option<(u64, Time)>,
    predicts_nothing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Resent {
    segment: u64,
    order: Order,
}

/// Changes by an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Segments newly known to have arrived.
    pub delivered_segs: u64,
    /// Segments by which the cumulative ACK advanced.
    pub advanced_segs: u64,
    /// Time at which the earliest of them was sent, for the retransmission timeout. None if a
    /// retransmission makes the round trip ambiguous.
    pub first_sent: Option<Time>,
    /// Time at which the last of them was sent. None under the same condition.
    pub last_sent: Option<Time>,
    /// The lowest of them that was sent only once; None if there is none.
    pub original: Option<u64>,
    /// The one that was sent last; None if nothing was delivered.
    pub newest: Option<u64>,
    /// True if the cumulative ACK advanced over a segment that was sent again.
    pub resent_acked: bool,
}

impl Scoreboard {
    /// An empty window.
    #[must_use]
    pub fn new(stack: &Stack) -> Self {
        let detection = stack.loss_detection;
        let rack = match detection {
            LossDetection::Rack => Some(Rack::new(ReorderingWindow::Adaptive)),
            LossDetection::FackRack => Some(Rack::new(ReorderingWindow::Fixed)),
            LossDetection::Fack | LossDetection::Sacked | LossDetection::NewReno => None,
        };
        let (initial, max) = (stack.reordering_segs.get(), stack.reordering_max_segs.get());
        Self {
            detection,
            reordering: Reordering::new(initial, max),
            rack,
            una: 0,
            next: 0,
            sent_at: SegmentRing::new(),
            sacked: RangeSet::default(),
            sacked_segs: 0,
            lost_below: 0,
            lost_segs: 0,
            pending_segs: 0,
            marked_below: 0,
            marks: SegmentRing::new(),
            resent_order: SegmentRing::new(),
            retransmissions: 0,
            resent_segs: 0,
            next_resend: 0,
            resend_again: VecDeque::new(),
            resent: VecDeque::new(),
            new_losses: NewLosses::default(),
            recheck: Time::NEVER,
            last_blocks: SackBlocks::default(),
            latest_resent: None,
            predicts_nothing: false,
        }
    }

    /// Process every ACK in the general way. The results do not change.
    pub const fn predict_nothing(&mut self) {
        self.predicts_nothing = true;
    }

    /// The lowest segment that is not acknowledged.
    #[inline]
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// The next segment that was never sent.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Time of the last transmission of the first segment without a cumulative ACK. None if all are
    /// acknowledged.
    #[must_use]
    pub fn first_sent(&self) -> Option<Time> {
        (self.una < self.next).then(|| self.sent_at.get(self.una))
    }

    /// Segments that are sent and not cumulatively acknowledged.
    #[inline]
    #[must_use]
    pub const fn outstanding_segs(&self) -> u64 {
        self.next - self.una
    }

    /// Segments SACKed above the cumulative ACK. Without SACK, the number that duplicate ACKs
    /// imply.
    #[inline]
    #[must_use]
    pub const fn sacked_segs(&self) -> u64 {
        self.sacked_segs
    }

    /// Segments that count as lost and are not known to have arrived since.
    #[inline]
    #[must_use]
    pub const fn lost_segs(&self) -> u64 {
        self.lost_segs
    }

    /// Estimated number of retransmissions in the network.
    #[inline]
    #[must_use]
    pub const fn resent_segs(&self) -> u64 {
        self.resent_segs
    }

    /// Estimated number of segments in the network.
    #[inline]
    #[must_use]
    pub const fn in_flight_segs(&self) -> u64 {
        // The pipe of RFC 6675, computed as in tcp_packets_in_flight.
        self.outstanding_segs() - self.sacked_segs - self.lost_segs + self.resent_segs
    }

    /// The observed reordering of the path.
    #[inline]
    #[must_use]
    pub const fn reordering(&self) -> &Reordering {
        &self.reordering
    }

    /// Return whether no segment is SACKed, lost or sent again.
    #[inline]
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.sacked_segs == 0 && self.marked_below <= self.una
    }

    /// Return whether duplicate ACKs replace SACKs.
    #[inline]
    #[must_use]
    pub const fn counts_duplicate_acks(&self) -> bool {
        matches!(self.detection, LossDetection::NewReno)
    }

    /// Time of the first transmission of the latest new segment; zero before the first.
    #[must_use]
    pub fn last_new_sent(&self) -> Time {
        let Some(segment) = self.next.checked_sub(1) else { return Time::ZERO };
        match self.latest_resent {
            Some((resent, time)) if resent == segment => time,
            _ => self.sent_at.get(segment),
        }
    }

    /// Add new segments to the window and return the first.
    #[inline(always)]
    pub fn send_new(&mut self, now: Time, segs: u32) -> u64 {
        let first = self.next;
        self.next += u64::from(segs);
        self.sent_at.reserve(self.una, self.next);
        for segment in first..self.next {
            *self.sent_at.get_mut(segment) = now;
        }
        first
    }

    /// Return the next lost segment to send; None if there is none.
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.pending_segs == 0 { None } else { self.next_pending() }
    }

    fn next_pending(&mut self) -> Option<u64> {
        while let Some(&segment) = self.resend_again.front() {
            if self.is_pending(segment) {
                return Some(segment);
            }
            self.resend_again.pop_front();
        }
        loop {
            self.next_resend = self.sacked.next_absent(self.next_resend.max(self.una));
            if self.next_resend >= self.lost_below {
                return None;
            }
            if !self.is_resent(self.next_resend) {
                return Some(self.next_resend);
            }
            self.next_resend += 1;
        }
    }

    /// Return how many consecutive segments from `first` on, at most `segs_max`, must be sent again
    /// and were last sent at the same time. They belong to one chunk.
    #[must_use]
    pub fn lost_chunk_segs(&mut self, first: u64, segs_max: u32) -> u32 {
        let sent = self.sent_at.get(first);
        let mut is_same = |segment| self.is_pending(segment) && self.sent_at.get(segment) == sent;
        (1..segs_max).find(|&segs| !is_same(first + u64::from(segs))).unwrap_or(segs_max)
    }

    fn is_pending(&mut self, segment: u64) -> bool {
        (self.una..self.lost_below).contains(&segment)
            && !self.is_resent(segment)
            && !self.sacked.contains(segment)
    }

    /// Record that a segment was sent again: the one of [`Self::next_lost`], or any other that is
    /// outstanding.
    pub fn resend(&mut self, now: Time, segment: u64) {
        if self.resend_again.front() == Some(&segment) {
            self.resend_again.pop_front();
        } else if self.next_resend == segment && segment < self.lost_below {
            self.next_resend += 1;
        }
        self.marks.reserve(self.una, segment + 1);
        self.marked_below = self.marked_below.max(segment + 1);
        if !self.is_resent(segment) {
            self.resent_segs += 1;
            self.pending_segs -= u64::from(segment < self.lost_below);
        }
        // `last_new_sent` still needs the first time, which `sent_at` is about to lose.
        if segment + 1 == self.next && self.marks.get(segment) & EVER_RESENT == 0 {
            self.latest_resent = Some((segment, self.sent_at.get(segment)));
        }
        *self.marks.get_mut(segment) = RESENT | EVER_RESENT;
        *self.sent_at.get_mut(segment) = now;
        let order = Order::of_retransmission(self.next, self.retransmissions);
        self.retransmissions += 1;
        self.resent_order.reserve(self.una, segment + 1);
        *self.resent_order.get_mut(segment) = order;
        self.resent.push_back(Resent { segment, order });
    }

    /// The last transmission of a segment.
    fn last_transmission(&self, segment: u64) -> Transmission {
        let was_resent = segment < self.marked_below && self.marks.get(segment) & EVER_RESENT != 0;
        let order =
            if was_resent { self.resent_order.get(segment) } else { Order::of_new(segment) };
        (order, self.sent_at.get(segment))
    }

    fn is_resent(&self, segment: u64) -> bool {
        segment >= self.una && self.marks.get(segment) & RESENT != 0
    }

    /// Process an ACK if no segment is SACKed, lost or sent again before and after it. None if the
    /// ACK needs the general way.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    #[inline]
    pub fn acknowledge_in_order(&mut self, ack: Ack) -> Option<Delivery> {
        let Ack { cumulative, has_blocks, .. } = ack;
        assert!(cumulative <= self.next, "{ack:?} beyond {}", self.next);
        if has_blocks || !self.is_in_order() || cumulative <= self.una {
            return None;
        }
        let (first, last) = (self.una, cumulative - 1);
        let (segs, first_sent, last_sent) = self.advance_in_order(cumulative);
        Some(Delivery {
            delivered_segs: segs,
            advanced_segs: segs,
            first_sent: Some(first_sent),
            last_sent: Some(last_sent),
            original: Some(first),
            newest: Some(last),
            resent_acked: false,
        })
    }

    /// Process an ACK that advances and has no blocks, while no segment is SACKed, lost or sent
    /// again. Return the number of delivered segments, and the times at which the first and the
    /// last of them were sent.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    #[inline(always)]
    pub fn advance_in_order(&mut self, cumulative: u64) -> (u64, Time, Time) {
        assert!(cumulative <= self.next, "{cumulative} acknowledged beyond {}", self.next);
        debug_assert!(self.is_in_order() && cumulative > self.una);
        let first = std::mem::replace(&mut self.una, cumulative);
        (cumulative - first, self.sent_at.get(first), self.sent_at.get(cumulative - 1))
    }

    /// Process an ACK.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    pub fn acknowledge(
        &mut self,
        context: &LossContext,
        ack: &Ack,
        blocks: &SackBlocks,
    ) -> Delivery {
        if !self.predicts_nothing {
            if let Some(delivery) = self.acknowledge_in_order(*ack) {
                return delivery;
            }
        }
        if self.counts_duplicate_acks() {
            return self.acknowledge_counting(context, ack.cumulative);
        }
        self.acknowledge_selectively(context, ack.cumulative, blocks)
    }

    fn acknowledge_selectively(
        &mut self,
        context: &LossContext,
        cumulative: u64,
        blocks: &SackBlocks,
    ) -> Delivery {
        let (old_una, old_top) = (self.una, self.sacked.end());
        let una = cumulative.max(old_una);
        let mut by_sack = Arrived::default();
        for (place, block) in blocks.as_slice().iter().enumerate() {
            // Most blocks repeat those of earlier ACKs.
            if self.last_blocks.as_slice().get(place) == Some(block) {
                continue;
            }
            let block = block.start.max(una)..block.end;
            assert!(block.end <= self.next, "{blocks:?} beyond {}", self.next);
            let before = by_sack.segs;
            self.arrive(&LossContext { echo: None, ..*context }, block.clone(), &mut by_sack);
            if by_sack.segs > before {
                self.sacked_segs += by_sack.segs - before;
                self.sacked.insert(block);
            }
        }
        if !blocks.is_empty() {
            self.last_blocks = blocks.clone();
        }
        // SACKed segments first, as in Linux: the round-trip time that counts is that of the last.
        let delivery = if una > old_una {
            let mut by_cumulative = Arrived::default();
            self.arrive(context, old_una..una, &mut by_cumulative);
            self.advance(una);
            self.delivery(&by_cumulative, &by_sack, una - old_una)
        } else {
            self.delivery(&Arrived::default(), &by_sack, 0)
        };
        // Compared with the SACKs before, because the order within one ACK is unknown.
        if let (Some(segment), Some(top)) = (delivery.original, old_top) {
            if segment + 1 < top {
                self.reordering.note(top - 1 - segment);
            }
        }
        delivery
    }

    /// Process an ACK without SACK. A duplicate ACK shows that one segment above has arrived. After
    /// an advance, all segments but the first that it covers may have arrived before.
    fn acknowledge_counting(&mut self, context: &LossContext, cumulative: u64) -> Delivery {
        if cumulative <= self.una {
            let is_duplicate = cumulative == self.una && self.outstanding_segs() > 0;
            let before = self.sacked_segs;
            self.sacked_segs += u64::from(is_duplicate);
            self.limit_counted();
            return Delivery { delivered_segs: self.sacked_segs - before, ..Delivery::default() };
        }
        let old_una = self.una;
        let mut arrived = Arrived::default();
        self.arrive(context, old_una..cumulative, &mut arrived);
        self.advance(cumulative);
        let counted = self.sacked_segs;
        // One segment filled the hole, and the others had caused duplicates
        // (tcp_remove_reno_sacks).
        self.sacked_segs = counted.saturating_sub(arrived.segs - 1);
        self.limit_counted();
        let mut delivery = self.delivery(&arrived, &Arrived::default(), cumulative - old_una);
        // Segments of duplicate ACKs were counted as delivered with those. At least one is new.
        delivery.delivered_segs = arrived.segs.saturating_sub(counted).max(1);
        if delivery.resent_acked {
            // Without SACK it is unknown which of them were originals, so F-RTO must not rely on
            // one (tcp_clean_rtx_queue).
            delivery.original = None;
        }
        delivery
    }

    /// Limit the count of duplicate ACKs to the segments outside the holes.
    fn limit_counted(&mut self) {
        // As in tcp_limit_reno_sacked: at least one segment is missing, or there would be no
        // duplicates.
        let holes = self.lost_segs.max(1).min(self.outstanding_segs());
        self.sacked_segs = self.sacked_segs.min(self.outstanding_segs() - holes);
    }

    #[inline(always)]
    fn delivery(&self, by_cumulative: &Arrived, by_sack: &Arrived, advanced: u64) -> Delivery {
        let unambiguous = by_cumulative.first_last.filter(|_| !by_cumulative.resent);
        // The timeout needs the longest time, and the algorithm the latest. For the timeout Linux
        // prefers the first segment acknowledged (tcp_ack_update_rtt). For the algorithm it prefers
        // the last segment SACKed.
        let first = unambiguous.or(by_sack.first_last).map(|(first, _)| first);
        let last = by_sack.first_last.or(unambiguous).map(|(_, last)| last);
        let originals = [by_cumulative, by_sack].map(|arrived| arrived.first_last);
        Delivery {
            delivered_segs: by_cumulative.segs + by_sack.segs,
            advanced_segs: advanced,
            first_sent: first.map(|segment| self.sent_at.get(segment)),
            last_sent: last.map(|segment| self.sent_at.get(segment)),
            original: originals.into_iter().flatten().map(|(first, _)| first).min(),
            newest: by_cumulative.newest.max(by_sack.newest).map(|(_, segment)| segment),
            resent_acked: by_cumulative.resent,
        }
    }

    /// Record the arrival of segments of `span` that were not known to have arrived.
    fn arrive(&mut self, context: &LossContext, span: Range<u64>, arrived: &mut Arrived) {
        let mut from = span.start;
        while from < span.end
            && let Some(gap) = self.sacked.first_gap(from..span.end)
        {
            from = gap.end;
            arrived.segs += gap.end - gap.start;
            let marked_end = self.marked_below.clamp(gap.start, gap.end);
            for segment in gap.start..marked_end {
                self.arrive_marked(context, segment, arrived);
            }
            if marked_end < gap.end {
                arrived.note(marked_end, gap.end - 1);
                self.arrive_last(context, gap.end - 1, false, arrived);
            }
        }
    }

    /// Record the arrival of a segment that may be lost or sent again.
    fn arrive_marked(&mut self, context: &LossContext, segment: u64, arrived: &mut Arrived) {
        let marks = self.marks.get(segment);
        let is_outstanding = marks & RESENT != 0;
        if segment < self.lost_below {
            self.lost_segs -= 1;
            self.pending_segs -= u64::from(!is_outstanding);
        }
        if is_outstanding {
            *self.marks.get_mut(segment) &= !RESENT;
            self.resent_segs -= 1;
            if self.detection == LossDetection::Sacked {
                self.lose_resent_before(self.resent_order.get(segment));
            }
        }
        // A segment that was ever sent again gives no time, because its ACK is ambiguous (Karn's
        // algorithm).
        let was_resent = marks & EVER_RESENT != 0;
        if was_resent {
            arrived.resent = true;
        } else {
            arrived.note(segment, segment);
        }
        self.arrive_last(context, segment, was_resent, arrived);
    }

    /// Record the last sent of some segments that arrived.
    fn arrive_last(
        &mut self,
        context: &LossContext,
        segment: u64,
        was_resent: bool,
        arrived: &mut Arrived,
    ) {
        let transmission = self.last_transmission(segment);
        arrived.newest = arrived.newest.max(Some((transmission, segment)));
        if let Some(rack) = &mut self.rack {
            rack.on_delivery(context, transmission, was_resent);
        }
    }

    /// Advance the lower edge of the window.
    fn advance(&mut self, una: u64) {
        // Slots of the ring are reused, so marks must be cleared before their segments leave.
        for segment in self.una..una.min(self.marked_below) {
            *self.marks.get_mut(segment) = 0;
        }
        let removed = self.sacked.remove_below(una);
        if !self.counts_duplicate_acks() {
            self.sacked_segs -= removed;
        }
        self.una = una;
        self.lost_below = self.lost_below.max(una);
        if self.resent_segs == 0 {
            self.resent.clear();
        }
        if self.pending_segs == 0 {
            self.resend_again.clear();
        }
    }
}

/// Segments that newly arrived, while an ACK is processed.
#[derive(Default)]
struct Arrived {
    segs: u64,
    /// Lowest and highest of them that were sent only once; None if there is none.
    first_last: Option<(u64, u64)>,
    /// The one that was sent last.
    newest: Option<(Transmission, u64)>,
    /// True if some of them had been sent again.
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
