//! Losses, inferred from the segments that have arrived.

use dumbbell_algorithm::CaState;
use dumbbell_network::Time;

use super::{EVER_RESENT, NewLosses, RESENT, Resent, Scoreboard};
use crate::rack::{LossContext, Order, Signs, Transmission};
use crate::stack::LossDetection;

impl Scoreboard {
    /// Infer losses from the segments that have arrived. Return the losses since the last call.
    pub fn infer_losses(&mut self, context: &LossContext) -> NewLosses {
        self.recheck = Time::NEVER;
        if self.counts_duplicate_acks() {
            // In a recovery partial ACKs find the next loss instead (RFC 6582, section 3.2).
            if self.sacked_segs >= self.reordering.degree_segs() && !context.is_repairing() {
                self.lose_first();
            }
        } else if let Some(top) = self.sacked.end() {
            self.lose_below(self.overtaken_below(top));
            if self.judges_resent_by_order(context) {
                self.lose_overtaken(top);
            }
        }
        self.lose_overdue(context);
        std::mem::take(&mut self.new_losses)
    }

    /// Time at which to infer losses again, even if nothing arrives.
    #[inline]
    #[must_use]
    pub const fn recheck(&self) -> Time {
        self.recheck
    }

    /// Return the segment below which every segment has enough deliveries above it to count as
    /// lost.
    fn overtaken_below(&self, top: u64) -> u64 {
        let degree = self.reordering.degree_segs();
        let counted = |board: &Self| board.sacked.nth_from_top(degree - 1).unwrap_or(0);
        match self.detection {
            // The distance to the highest SACK proves little once the order changes.
            LossDetection::Fack | LossDetection::FackRack if !self.reordering.is_seen() => {
                top.saturating_sub(degree)
            }
            LossDetection::Fack | LossDetection::FackRack | LossDetection::Sacked => counted(self),
            LossDetection::Rack | LossDetection::NewReno => 0,
        }
    }

    /// Mark the first outstanding segment lost, if there is one.
    pub fn lose_first(&mut self) {
        self.lose_below((self.una + 1).min(self.next));
    }

    /// Mark every segment below `mark` lost that is not SACKed.
    #[inline]
    fn lose_below(&mut self, mark: u64) {
        let from = self.lost_below.max(self.una);
        if from < mark {
            self.lose_all_of(from, mark);
        }
    }

    fn lose_all_of(&mut self, from: u64, mark: u64) {
        let (mut lost, mut resent, mut gap_from) = (0, 0, from);
        while let Some(gap) = self.sacked.first_gap(gap_from..mark) {
            lost += gap.end - gap.start;
            gap_from = gap.end;
            let marked = gap.start..gap.end.min(self.marked_below);
            resent += marked.filter(|&segment| self.marks.get(segment) & RESENT != 0).count();
        }
        self.marks.reserve(self.una, mark);
        self.lost_below = mark;
        self.marked_below = self.marked_below.max(mark);
        self.lost_segs += lost;
        self.pending_segs += lost - resent as u64;
        self.new_losses.segs += lost;
        if self.counts_duplicate_acks() {
            self.limit_counted();
        }
    }

    /// Return whether a retransmission is lost once a segment first sent after it has arrived.
    /// Linux with FACK requires no margin. It leaves retransmissions after a timeout, and losses
    /// after reordering, to the timeout (tcp_mark_lost_retrans, 2.6.26 to 4.3).
    fn judges_resent_by_order(&self, context: &LossContext) -> bool {
        match self.detection {
            LossDetection::Fack => context.state != CaState::Loss && !self.reordering.is_seen(),
            LossDetection::Sacked => true,
            LossDetection::FackRack | LossDetection::Rack | LossDetection::NewReno => false,
        }
    }

    /// Mark retransmissions lost that new data, sent later, has overtaken.
    fn lose_overtaken(&mut self, top: u64) {
        while let Some(&resent) = self.resent.front() {
            if self.is_outstanding(resent) {
                if top <= resent.order.next() {
                    break;
                }
                self.lose_resent(resent.segment);
            }
            self.resent.pop_front();
        }
    }

    /// Mark retransmissions lost that were made before `order`.
    pub(super) fn lose_resent_before(&mut self, order: Order) {
        while let Some(&resent) = self.resent.front() {
            if resent.order >= order {
                break;
            }
            if self.is_outstanding(resent) {
                self.lose_resent(resent.segment);
            }
            self.resent.pop_front();
        }
    }

    /// Mark overdue segments lost by RACK (RFC 8985, section 6.2, step 5).
    fn lose_overdue(&mut self, context: &LossContext) {
        let Some(rack) = &self.rack else { return };
        let signs = Signs {
            reordering_seen: self.reordering.is_seen(),
            many_sacked: self.sacked_segs >= self.reordering.degree_segs(),
            any_lost: self.lost_segs > 0,
        };
        let Some(latest) = rack.latest() else { return };
        let patience = rack.patience(context, signs);
        let judge = |transmission: Transmission| match transmission {
            transmission if transmission >= latest => Lateness::NotOvertaken,
            (_, sent) if context.now.since(sent) >= patience => Lateness::Lost,
            _ => Lateness::Waits,
        };
        let (mark, original_waits) = self.overdue_below(judge);
        self.lose_below(mark);
        let resent_waits = self.lose_overdue_resent(judge);
        if original_waits || resent_waits {
            // One timer for all, because none of them was sent after `latest`. Linux takes the
            // longest wait, too (tcp_rack_detect_loss).
            self.recheck = latest.1 + patience;
        }
    }

    /// Return the segment below which all are overdue, and whether one above soon will be. A
    /// segment that was sent again has its own time, but was first sent before its successor.
    fn overdue_below(&mut self, judge: impl Fn(Transmission) -> Lateness) -> (u64, bool) {
        let mut mark = self.lost_below.max(self.una);
        let (mut segment, mut waits) = (mark, false);
        loop {
            segment = self.sacked.next_absent(segment);
            if segment >= self.next {
                return (mark, waits);
            }
            let lateness = judge(self.last_transmission(segment));
            let has_successor_only =
                self.marked_below > segment && self.marks.get(segment) & EVER_RESENT != 0;
            waits |= lateness == Lateness::Waits;
            segment += 1;
            match lateness {
                Lateness::Lost => mark = segment,
                _ if has_successor_only => {}
                _ => return (mark, waits),
            }
        }
    }

    /// Mark overdue retransmissions lost. Return whether another one soon will be overdue.
    fn lose_overdue_resent(&mut self, judge: impl Fn(Transmission) -> Lateness) -> bool {
        while let Some(&resent) = self.resent.front() {
            if self.is_outstanding(resent) {
                match judge((resent.order, self.sent_at.get(resent.segment))) {
                    Lateness::Lost => self.lose_resent(resent.segment),
                    lateness => return lateness == Lateness::Waits,
                }
            }
            self.resent.pop_front();
        }
        false
    }

    /// Return whether an entry is the last transmission of its segment and outstanding.
    fn is_outstanding(&self, resent: Resent) -> bool {
        self.is_resent(resent.segment) && self.resent_order.get(resent.segment) == resent.order
    }

    fn lose_resent(&mut self, segment: u64) {
        *self.marks.get_mut(segment) &= !RESENT;
        self.resent_segs -= 1;
        // Otherwise a tail loss probe sent it again, or its loss was undone meanwhile.
        if segment < self.lost_below {
            self.pending_segs += 1;
            self.resend_again.push_back(segment);
            self.new_losses.segs += 1;
            self.new_losses.any_resent = true;
        }
    }

    /// Mark all outstanding segments lost, as after a retransmission timeout.
    pub fn lose_all(&mut self) {
        for segment in self.una..self.marked_below.max(self.una) {
            *self.marks.get_mut(segment) &= !RESENT;
        }
        // Duplicate ACKs prove no single segment. SACKed segments stay: RFC 2018 (section 8)
        // forgets them on a timeout only because receivers may renege.
        if self.counts_duplicate_acks() {
            self.sacked_segs = 0;
        }
        self.marks.reserve(self.una, self.next);
        self.lost_below = self.next;
        self.marked_below = self.next;
        self.lost_segs = self.outstanding_segs() - self.sacked_segs;
        self.pending_segs = self.lost_segs;
        self.resent_segs = 0;
        self.resent.clear();
        self.resend_again.clear();
        self.next_resend = self.una;
        self.recheck = Time::NEVER;
    }

    /// Mark no segment lost any more, because they were only late. Retransmissions stay
    /// outstanding.
    pub fn lose_nothing(&mut self) {
        self.lost_below = self.una;
        self.lost_segs = 0;
        self.pending_segs = 0;
        self.resend_again.clear();
        self.next_resend = self.una;
        self.recheck = Time::NEVER;
    }

    /// Record a timeout while the window grew: there is less reordering than assumed.
    pub fn distrust_reordering(&mut self) {
        self.reordering.distrust(self.sacked_segs);
    }

    /// Record that the segments of the last advance were late. They have arrived, and not their
    /// retransmissions.
    pub fn on_late(&mut self, advanced_segs: u64) {
        let top = self.sacked.end().unwrap_or(self.una);
        // The whole distance to the highest SACK, as in tcp_try_undo_partial.
        self.reordering.note(top + advanced_segs - 1 - self.una);
    }

    /// Record that the receiver reports a needless retransmission.
    pub fn on_duplicate(&mut self) {
        let (una, next) = (self.una, self.next);
        if let Some(rack) = self.rack.as_mut().filter(|_| self.reordering.is_seen()) {
            rack.on_duplicate(una, next);
        }
    }

    /// Record that Recovery or Loss ended without an undo.
    pub fn on_recovery_end(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.on_recovery_end();
        }
    }
}

/// State of a transmission by time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lateness {
    Lost,
    /// The transmission was overtaken, but may still arrive.
    Waits,
    NotOvertaken,
}
