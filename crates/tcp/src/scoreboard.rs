//! The sender's book of its window: what is sent, SACKed, lost and sent again.
//!
//! Segments between `una` and `next` are outstanding. Loss is inferred from what was delivered
//! above or sent later, and first transmissions are sent in order. So the segments whose first
//! transmission was taken for lost are always those below one mark, `lost_below`, without a SACK.
//! Only segments that were sent again need separate marks, and they are below `marked_below`. A
//! window without loss is two numbers and the times at which its segments were sent.

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

/// A retransmission is outstanding.
const RESENT: u8 = 1;
/// The segment was sent again at some time, so its round trip is ambiguous.
const EVER_RESENT: u8 = 2;

/// Losses newly found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLosses {
    /// Transmissions taken for lost.
    pub segs: u64,
    /// Some of them were retransmissions.
    pub any_resent: bool,
}

/// The window of one sender.
///
/// The receiver keeps what it has SACKed, so SACKs are never taken back (RFC 2018,
/// section 8, lets it discard data; ours does not).
#[derive(Clone, Debug)]
pub struct Scoreboard {
    detection: LossDetection,
    reordering: Reordering,
    rack: Option<Rack>,
    una: u64,
    next: u64,
    /// When each segment was last sent.
    sent_at: SegmentRing<Time>,
    sacked: RangeSet,
    /// Segments in `sacked`; without SACK, duplicate ACKs instead.
    sacked_segs: u64,
    /// Every segment below that is not SACKed was taken for lost.
    lost_below: u64,
    lost_segs: u64,
    /// Lost segments without an outstanding retransmission.
    pending_segs: u64,
    /// No segment from here on has marks.
    marked_below: u64,
    marks: SegmentRing<u8>,
    /// The last retransmission of each segment that was ever sent again.
    resent_order: SegmentRing<Order>,
    retransmissions: u64,
    resent_segs: u64,
    /// Lowest segment below `lost_below` that may not have been sent again yet.
    next_resend: u64,
    /// Segments whose retransmission was lost too, in the order of that finding.
    resend_again: VecDeque<u64>,
    /// Outstanding retransmissions in the order of transmission, with some that arrived.
    resent: VecDeque<Resent>,
    /// Losses found since [`Self::infer_losses`] was last asked.
    found: NewLosses,
    /// When segments that were overtaken will be overdue.
    recheck: Time,
    /// What the latest acknowledgement with blocks said, all of which is in `sacked` or below.
    said: SackBlocks,
    /// The last segment that was sent again while it was the latest new one, and when
    /// it was new.
    latest_resent: Option<(u64, Time)>,
    predicts_nothing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Resent {
    segment: u64,
    order: Order,
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
    /// The lowest of them that was sent only once.
    pub original: Option<u64>,
    /// The one that was sent last.
    pub newest: Option<u64>,
    /// The cumulative acknowledgement moved over something sent again.
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
            found: NewLosses::default(),
            recheck: Time::NEVER,
            said: SackBlocks::default(),
            latest_resent: None,
            predicts_nothing: false,
        }
    }

    /// Takes every acknowledgement for one that may say anything, which comes to the same.
    pub const fn predict_nothing(&mut self) {
        self.predicts_nothing = true;
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

    /// When the first segment that is not cumulatively acknowledged was last sent; none: all are.
    #[must_use]
    pub fn first_sent(&self) -> Option<Time> {
        (self.una < self.next).then(|| self.sent_at.get(self.una))
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    #[must_use]
    pub const fn outstanding_segs(&self) -> u64 {
        self.next - self.una
    }

    /// Segments SACKed above the cumulative acknowledgement; without SACK, as many as
    /// duplicate ACKs stand for.
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

    /// Retransmissions believed to be in the network.
    #[inline]
    #[must_use]
    pub const fn resent_segs(&self) -> u64 {
        self.resent_segs
    }

    /// Segments believed to be in the network.
    #[inline]
    #[must_use]
    pub const fn in_flight_segs(&self) -> u64 {
        // The pipe of RFC 6675, counted as in tcp_packets_in_flight.
        self.outstanding_segs() - self.sacked_segs - self.lost_segs + self.resent_segs
    }

    /// What is known of the path's reordering.
    #[inline]
    #[must_use]
    pub const fn reordering(&self) -> &Reordering {
        &self.reordering
    }

    /// Whether nothing is SACKed, lost or sent again.
    #[inline]
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        self.sacked_segs == 0 && self.marked_below <= self.una
    }

    /// Whether duplicate ACKs stand for SACKs.
    #[inline]
    #[must_use]
    pub const fn counts_duplicate_acks(&self) -> bool {
        matches!(self.detection, LossDetection::NewReno)
    }

    /// When the latest new segment was sent first; zero before the first.
    #[must_use]
    pub fn last_new_sent(&self) -> Time {
        let Some(segment) = self.next.checked_sub(1) else { return Time::ZERO };
        match self.latest_resent {
            Some((resent, time)) if resent == segment => time,
            _ => self.sent_at.get(segment),
        }
    }

    /// Adds new segments to the window; gives the first.
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

    /// The lost segment to send next, if there is one.
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

    /// How many segments, at most `segs_max`, are to be sent again like the lost one at `first`,
    /// follow it and left at the same time: they are of one chunk.
    #[must_use]
    pub fn lost_chunk_segs(&self, first: u64, segs_max: u32) -> u32 {
        let sent = self.sent_at.get(first);
        let is_same = |segment| self.is_pending(segment) && self.sent_at.get(segment) == sent;
        (1..segs_max).find(|&segs| !is_same(first + u64::from(segs))).unwrap_or(segs_max)
    }

    fn is_pending(&self, segment: u64) -> bool {
        (self.una..self.lost_below).contains(&segment)
            && !self.is_resent(segment)
            && !self.sacked.contains(segment)
    }

    /// Records that a segment was sent again: the one named by [`Self::next_lost`], or
    /// any other that is outstanding.
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
        // Its place in `sent_at` is about to be taken, and `last_new_sent` still needs the first
        // time.
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

    /// Takes an acknowledgement if nothing is SACKed, lost or sent again, before or
    /// after it.
    ///
    /// # Panics
    /// If it acknowledges what was never sent.
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

    /// Takes an acknowledgement that advances and has no blocks, where nothing is
    /// SACKed, lost or sent again. Gives how many segments it delivers, and when the
    /// first and the last of them were sent.
    ///
    /// # Panics
    /// If it acknowledges what was never sent.
    #[inline(always)]
    pub fn advance_in_order(&mut self, cumulative: u64) -> (u64, Time, Time) {
        assert!(cumulative <= self.next, "{cumulative} acknowledged beyond {}", self.next);
        debug_assert!(self.is_in_order() && cumulative > self.una);
        let first = std::mem::replace(&mut self.una, cumulative);
        (cumulative - first, self.sent_at.get(first), self.sent_at.get(cumulative - 1))
    }

    /// Takes what an acknowledgement says has arrived.
    ///
    /// # Panics
    /// If it acknowledges what was never sent.
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
            // Most blocks repeat what acknowledgements before have said.
            if self.said.as_slice().get(place) == Some(block) {
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
            self.said = blocks.clone();
        }
        // After what is SACKed, as in Linux: the round-trip time that counts is that of the last.
        let delivery = if una > old_una {
            let mut by_cumulative = Arrived::default();
            self.arrive(context, old_una..una, &mut by_cumulative);
            self.advance(una);
            self.delivery(&by_cumulative, &by_sack, una - old_una)
        } else {
            self.delivery(&Arrived::default(), &by_sack, 0)
        };
        // Compared with what was SACKed before: within one acknowledgement the order is not known.
        if let (Some(segment), Some(top)) = (delivery.original, old_top) {
            if segment + 1 < top {
                self.reordering.note(top - 1 - segment);
            }
        }
        delivery
    }

    /// Without SACK: each duplicate ACK says that one segment above has arrived, and
    /// an advance that all but the first of what it covers may have done so before.
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
        // One segment filled the hole, the others had caused duplicates (tcp_remove_reno_sacks).
        self.sacked_segs = counted.saturating_sub(arrived.segs - 1);
        self.limit_counted();
        let mut delivery = self.delivery(&arrived, &Arrived::default(), cumulative - old_una);
        // What duplicates stood for was counted as delivered with them. One at least is new.
        delivery.delivered_segs = arrived.segs.saturating_sub(counted).max(1);
        if delivery.resent_acked {
            // Without SACK nobody knows which of them were originals, so F-RTO must not count on
            // one (tcp_clean_rtx_queue).
            delivery.original = None;
        }
        delivery
    }

    /// Duplicate ACKs stand for no more segments than there are outside the holes.
    fn limit_counted(&mut self) {
        // As in tcp_limit_reno_sacked: at least one segment is missing, or there would be no
        // duplicates.
        let holes = self.lost_segs.max(1).min(self.outstanding_segs());
        self.sacked_segs = self.sacked_segs.min(self.outstanding_segs() - holes);
    }

    #[inline(always)]
    fn delivery(&self, by_cumulative: &Arrived, by_sack: &Arrived, advanced: u64) -> Delivery {
        let unambiguous = by_cumulative.first_last.filter(|_| !by_cumulative.resent);
        // The timeout needs the longest time, the algorithm the latest: Linux prefers the first
        // segment acknowledged for the former (tcp_ack_update_rtt), the last SACKed for the latter.
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

    /// Books the segments of `span` that were not known to have arrived.
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

    /// Books the arrival of a segment that may be lost or sent again.
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
        // A segment that was ever sent again gives no time, as its ACK is ambiguous (Karn's
        // algorithm).
        let was_resent = marks & EVER_RESENT != 0;
        if was_resent {
            arrived.resent = true;
        } else {
            arrived.note(segment, segment);
        }
        self.arrive_last(context, segment, was_resent, arrived);
    }

    /// Notes the last sent of some segments that arrived.
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

    /// Moves the lower edge of the window.
    fn advance(&mut self, una: u64) {
        // Slots of the ring are used again, so marks must go before their segments do.
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

/// Segments that newly arrived, while an acknowledgement is being read.
#[derive(Default)]
struct Arrived {
    segs: u64,
    /// Lowest and highest of them that were sent only once.
    first_last: Option<(u64, u64)>,
    /// The one that was sent last.
    newest: Option<(Transmission, u64)>,
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
