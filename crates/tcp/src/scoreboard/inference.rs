//! Losses, inferred from what has arrived.

use dumbbell_algorithm::CaState;
use dumbbell_network::Time;

use super::{EVER_RESENT, NewLosses, RESENT, Resent, Scoreboard};
use crate::rack::{LossContext, Order, Signs, Transmission};
use crate::stack::LossDetection;

impl Scoreboard {
    /// Infers losses from what has arrived; gives what was found since the last call.
    pub fn infer_losses(&mut self, context: &LossContext) -> NewLosses {
        self.recheck = Time::NEVER;
        if self.counts_duplicate_acks() {
            // In a recovery partial acknowledgements find the next loss instead (RFC 6582, section
            // 3.2).
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
        std::mem::take(&mut self.found)
    }

    /// When losses should be inferred again although nothing arrived.
    #[inline]
    #[must_use]
    pub const fn recheck(&self) -> Time {
        self.recheck
    }

    /// Every segment below has enough delivered above it to be taken for lost.
    fn overtaken_below(&self, top: u64) -> u64 {
        let degree = self.reordering.degree_segs();
        let counted = |board: &Self| board.sacked.nth_from_top(degree - 1).unwrap_or(0);
        match self.detection {
            // How far ahead the highest is says little once the order changes.
            LossDetection::Fack | LossDetection::FackRack if !self.reordering.is_seen() => {
                top.saturating_sub(degree)
            }
            LossDetection::Fack | LossDetection::FackRack | LossDetection::Sacked => counted(self),
            LossDetection::Rack | LossDetection::NewReno => 0,
        }
    }

    /// Takes the first outstanding segment for lost, if there is one.
    pub fn lose_first(&mut self) {
        self.lose_below((self.una + 1).min(self.next));
    }

    /// Takes every segment below `mark` for lost that is not SACKed.
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
        self.found.segs += lost;
        if self.counts_duplicate_acks() {
            self.limit_counted();
        }
    }

    /// Whether a retransmission is lost once anything first sent after it has arrived. Linux with
    /// FACK asks for no margin, but leaves to the timeout what a timeout sent again and what is
    /// lost after reordering was seen (tcp_mark_lost_retrans, 2.6.26 to 4.3).
    fn judges_resent_by_order(&self, context: &LossContext) -> bool {
        match self.detection {
            LossDetection::Fack => context.state != CaState::Loss && !self.reordering.is_seen(),
            LossDetection::Sacked => true,
            LossDetection::FackRack | LossDetection::Rack | LossDetection::NewReno => false,
        }
    }

    /// Takes retransmissions for lost that data first sent later has overtaken.
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

    /// Takes retransmissions for lost that were made before one.
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

    /// RACK (RFC 8985, section 6.2, step 5).
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
            // One timer for all: none of them was sent after `latest`. Linux takes the longest
            // wait, too (tcp_rack_detect_loss).
            self.recheck = latest.1 + patience;
        }
    }

    /// Below which segment all are overdue, and whether one above will be soon. What
    /// was sent again has its own time, but was first sent before its successor.
    fn overdue_below(&self, judge: impl Fn(Transmission) -> Lateness) -> (u64, bool) {
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

    /// Takes overdue retransmissions for lost; gives whether one will be soon.
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

    /// Whether an entry is the last transmission of its segment, and outstanding.
    fn is_outstanding(&self, resent: Resent) -> bool {
        self.is_resent(resent.segment) && self.resent_order.get(resent.segment) == resent.order
    }

    fn lose_resent(&mut self, segment: u64) {
        *self.marks.get_mut(segment) &= !RESENT;
        self.resent_segs -= 1;
        // Otherwise a tail loss probe sent it again, or its loss was taken back meanwhile.
        if segment < self.lost_below {
            self.pending_segs += 1;
            self.resend_again.push_back(segment);
            self.found.segs += 1;
            self.found.any_resent = true;
        }
    }

    /// Takes everything outstanding for lost, as after a retransmission timeout.
    pub fn lose_all(&mut self) {
        for segment in self.una..self.marked_below.max(self.una) {
            *self.marks.get_mut(segment) &= !RESENT;
        }
        // Duplicates prove no single segment. SACKed ones stay: RFC 2018 (section 8) forgets them
        // on a timeout only because receivers may renege.
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

    /// Takes nothing for lost any more: it was late only. Retransmissions stay
    /// outstanding.
    pub fn lose_nothing(&mut self) {
        self.lost_below = self.una;
        self.lost_segs = 0;
        self.pending_segs = 0;
        self.resend_again.clear();
        self.next_resend = self.una;
        self.recheck = Time::NEVER;
    }

    /// A timeout while the window grew: less reordering than was thought.
    pub fn distrust_reordering(&mut self) {
        self.reordering.distrust(self.sacked_segs);
    }

    /// What was acknowledged at last had been late: it, not what was sent again, has arrived.
    pub fn on_late(&mut self, advanced_segs: u64) {
        let top = self.sacked.end().unwrap_or(self.una);
        // The whole distance to the highest SACK, as in tcp_try_undo_partial.
        self.reordering.note(top + advanced_segs - 1 - self.una);
    }

    /// The receiver reports a needless retransmission.
    pub fn on_duplicate(&mut self) {
        let (una, next) = (self.una, self.next);
        if let Some(rack) = self.rack.as_mut().filter(|_| self.reordering.is_seen()) {
            rack.on_duplicate(una, next);
        }
    }

    /// Recovery or Loss ended without an undo.
    pub fn on_recovery_end(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.on_recovery_end();
        }
    }
}

/// What time says about a transmission.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lateness {
    Lost,
    /// It was overtaken, but may still arrive.
    Waits,
    NotOvertaken,
}
