//! The congestion state: reductions of the window, repair of losses, and undo.

use dumbbell_algorithm::{CaState, CwndEvent, SSTHRESH_INFINITE};
use dumbbell_network::{Span, Time};

use super::acknowledge::AckEvent;
use super::{Congestion, Observer, Sender};
use crate::frto::{self, Frto};
use crate::recovery::Recovery;
use crate::scoreboard::NewLosses;
use crate::tick::TIMER_MIN;
use crate::usage::ssthresh_to_keep;

/// With fewer outstanding segments three SACKs are impossible (RFC 5827).
const EARLY_SEGS: u64 = 4;

/// Longest time after which Linux sends a segment again that its host has refused, if no ACK comes
/// (`TCP_RESOURCE_PROBE_INTERVAL`).
const LOCAL_RETRY_MAX: Span = Span::from_millis(500);

impl Sender {
    /// Update the state for an ACK and return the new losses.
    pub(super) fn update_state(
        &mut self,
        event: &AckEvent,
        observer: &mut impl Observer,
    ) -> NewLosses {
        if event.ece {
            // A mark is congestion even if no segment was lost (tcp_fastretrans_alert clears
            // prior_ssthresh).
            self.undo.forbid();
        }
        if self.state() == CaState::Loss {
            self.judge_timeout(event, observer);
        }
        if self.is_over() {
            self.finish(event, observer);
        }
        match self.state() {
            CaState::Recovery => self.continue_recovery(event, observer),
            CaState::Loss => self.infer_losses(event.now),
            _ => self.look_for_losses(event, observer),
        }
    }

    /// Return whether all segments that were outstanding at the start of the reduction are
    /// acknowledged.
    fn is_over(&self) -> bool {
        let una = self.board.una();
        match self.state() {
            CaState::Open | CaState::Disorder => false,
            // The segment with CWR must have arrived, too.
            CaState::Cwr => una > self.high_seq,
            // Duplicate ACKs of retransmissions must not begin another recovery.
            _ if self.board.counts_duplicate_acks() => una > self.high_seq,
            _ => una >= self.high_seq,
        }
    }

    fn finish(&mut self, event: &AckEvent, observer: &mut impl Observer) {
        self.frto = Frto::Idle;
        if self.state() == CaState::Cwr {
            self.end_reduction();
            self.set_state(CaState::Open);
        } else if self.is_spurious(event) {
            let was_reducing = self.recovery.is_some();
            self.take_back(observer);
            self.set_state(CaState::Open);
            if was_reducing {
                self.algorithm.cwnd_event(&mut self.conn, CwndEvent::CompleteCwr);
            }
        } else {
            self.board.on_recovery_end();
            // As in Linux, the algorithm hears the new state before the window is set.
            self.set_state(CaState::Open);
            self.end_reduction();
        }
        observer.recovered(self.conn.cwnd_segs, self.conn.ssthresh_segs);
    }

    /// Return whether an ACK proves the reduction spurious.
    fn is_spurious(&self, event: &AckEvent) -> bool {
        self.stack.undo
            && self.undo.prior_ssthresh().is_some()
            && (self.undo.is_proved_by_echo(event.echo) || self.undo.is_proved_by_duplicates())
    }

    fn continue_recovery(&mut self, event: &AckEvent, observer: &mut impl Observer) -> NewLosses {
        if event.advanced() && self.is_spurious(event) {
            self.board.on_late(event.delivery.advanced_segs);
            // The other segments are late, too. All retransmissions must leave the network first.
            if self.board.resent_segs() == 0 {
                self.board.lose_nothing();
                self.reopen(event, observer);
            }
            return NewLosses::default();
        }
        if self.is_disproved_by_duplicates() {
            self.reopen(event, observer);
            return NewLosses::default();
        }
        if event.advanced() && self.board.counts_duplicate_acks() {
            // A partial ACK: the next hole is lost as well (RFC 6582, section 3.2).
            self.board.lose_first();
        }
        self.infer_losses(event.now)
    }

    /// End a recovery that proved spurious.
    fn reopen(&mut self, event: &AckEvent, observer: &mut impl Observer) {
        self.take_back(observer);
        self.try_open(event, observer);
        observer.recovered(self.conn.cwnd_segs, self.conn.ssthresh_segs);
    }

    /// Return whether every retransmission was reported as a duplicate.
    fn is_disproved_by_duplicates(&self) -> bool {
        self.stack.undo
            && self.undo.prior_ssthresh().is_some()
            && self.undo.is_proved_by_duplicates()
    }

    /// Check whether the last timeout was spurious, and undo it if so.
    fn judge_timeout(&mut self, event: &AckEvent, observer: &mut impl Observer) {
        let has_new_data = self.has_new_data() && self.board.una() < self.high_seq;
        let step = self.frto.judge(frto::LossAck {
            original: event.delivery.original,
            high_seq: self.high_seq,
            advanced: event.advanced(),
            has_new_data,
        });
        let proved = event.advanced() && self.is_spurious(event);
        if proved || step == frto::Step::Spurious {
            self.frto = Frto::Idle;
            self.board.lose_nothing();
            self.take_back(observer);
            self.set_state(CaState::Open);
            observer.recovered(self.conn.cwnd_segs, self.conn.ssthresh_segs);
        } else if step == frto::Step::Probe {
            // Originals below this number were sent before the probes, so they prove the timeout
            // spurious. Probes prove nothing (RFC 5682, section 3.1; tcp_process_loss).
            self.high_seq = self.board.next();
        }
    }

    /// Look for a first loss.
    fn look_for_losses(&mut self, event: &AckEvent, observer: &mut impl Observer) -> NewLosses {
        // Linux undoes a finished reduction if D-SACKs disprove it later (tcp_try_undo_dsack).
        if self.state() != CaState::Cwr && self.is_disproved_by_duplicates() {
            self.take_back(observer);
        }
        let losses = self.infer_losses(event.now);
        if self.board.lost_segs() > 0 {
            self.enter_recovery(event.ece, observer);
        } else {
            if self.may_retransmit_early() {
                self.reorder_deadline = event.now + self.early_delay();
            }
            self.try_open(event, observer);
        }
        losses
    }

    /// Enter Open if nothing is missing, Disorder if something may be, or CWR on a mark.
    fn try_open(&mut self, event: &AckEvent, observer: &mut impl Observer) {
        if self.state() == CaState::Cwr {
            return;
        }
        if event.ece {
            self.conn.is_marked = 1;
            self.enter_cwr(observer);
            self.conn.is_marked = 0;
        } else if self.board.sacked_segs() + self.board.lost_segs() > 0 {
            self.set_state(CaState::Disorder);
        } else {
            self.set_state(CaState::Open);
        }
    }

    /// Reduce the window without a loss.
    fn enter_cwr(&mut self, observer: &mut impl Observer) {
        // The network or the host requested the reduction, so no undo is allowed (tcp_enter_cwr).
        self.undo.end();
        self.reduce(CaState::Cwr, observer);
        self.begin_reduction();
        self.set_state(CaState::Cwr);
    }

    /// Reduce the window because the host's own queue has refused a segment, which is then not
    /// sent. This is congestion without a loss, as in Linux (`tcp_transmit_skb`).
    pub fn on_refusal(&mut self, now: Time, observer: &mut impl Observer) {
        self.counters.local_drops += 1;
        self.look(now);
        self.undo.forbid();
        if matches!(self.state(), CaState::Open | CaState::Disorder) {
            self.enter_cwr(observer);
        }
        if self.conn.in_flight_segs == 0 {
            self.shaper.retry_at(now + self.rtt.rto().min(LOCAL_RETRY_MAX));
        }
        self.settle();
    }

    pub(super) fn infer_losses(&mut self, now: Time) -> NewLosses {
        let losses = self.board.infer_losses(&self.context(now));
        self.conn.lost_segs += losses.segs;
        let recheck = self.board.recheck();
        self.reorder_deadline =
            if recheck == Time::NEVER { Time::NEVER } else { recheck + TIMER_MIN };
        losses
    }

    /// Return whether early retransmit applies (RFC 5827, section 3.2). All but the first of a few
    /// segments are SACKed, and no new segment can provoke further SACKs.
    pub(super) fn may_retransmit_early(&self) -> bool {
        let board = &self.board;
        let outstanding = board.outstanding_segs();
        self.stack.early_retransmit
            && (2..EARLY_SEGS).contains(&outstanding)
            && board.sacked_segs() + 1 == outstanding
            && board.resent_segs() == 0
            && !self.has_new_data()
    }

    /// Return the delay of early retransmit: a quarter of a round trip, so that reordering does not
    /// count as a loss.
    fn early_delay(&self) -> Span {
        Span::from_micros(u64::from(self.rtt.srtt_us() / 4)).max(TIMER_MIN)
    }

    pub(super) fn enter_recovery(&mut self, ece: bool, observer: &mut impl Observer) {
        let outstanding = self.board.resent_segs();
        if self.state() == CaState::Cwr {
            // The window already falls, and there is one reduction for each round trip.
            self.undo.begin(None, self.board.una(), outstanding);
            self.high_seq = self.board.next();
        } else {
            let prior_ssthresh = ssthresh_to_keep(&self.conn);
            // With a mark in the same ACK the reduction is right even if the segment was not lost
            // (tcp_enter_recovery).
            let prior_ssthresh = (!ece).then_some(prior_ssthresh);
            self.undo.begin(prior_ssthresh, self.board.una(), outstanding);
            self.reduce(CaState::Recovery, observer);
            self.begin_reduction();
        }
        self.tail_probe.abandon();
        self.set_state(CaState::Recovery);
    }

    /// Reduce the window once for a loss that a probe repaired. The reduction ends at once.
    pub(super) fn reduce_for_probe(&mut self, observer: &mut impl Observer) {
        if !matches!(self.state(), CaState::Open | CaState::Disorder) {
            return;
        }
        self.undo.end();
        // CWR and then Open, as in tcp_process_tlp_ack: the loss is already repaired.
        self.reduce(CaState::Cwr, observer);
        self.begin_reduction();
        self.set_state(CaState::Cwr);
        self.end_reduction();
        self.set_state(CaState::Open);
        observer.recovered(self.conn.cwnd_segs, self.conn.ssthresh_segs);
    }

    /// Get the new ssthresh from the algorithm.
    pub(super) fn reduce(&mut self, state: CaState, observer: &mut impl Observer) {
        self.conn.prior_cwnd_segs = self.conn.cwnd_segs;
        self.conn.cwnd_cnt = 0;
        // Losses were just found, and the algorithm may use the number in flight.
        self.conn.in_flight_segs = self.in_flight();
        self.conn.ssthresh_segs = self.algorithm.ssthresh(&mut self.conn);
        if let Some(start) = &mut self.slow_start {
            self.conn.ssthresh_segs = start.cut(&self.conn, self.conn.ssthresh_segs);
        }
        self.high_seq = self.board.next();
        self.ecn.on_reduction();
        self.counters.congestion_events += 1;
        observer.congestion(Congestion {
            state,
            cwnd_segs: self.conn.prior_cwnd_segs,
            ssthresh_segs: self.conn.ssthresh_segs,
        });
    }

    /// Begin to lower the window, unless the algorithm sets the window itself.
    fn begin_reduction(&mut self) {
        let (prior, ssthresh) = (self.conn.prior_cwnd_segs, self.conn.ssthresh_segs);
        let sets_window = self.algorithm.has_cong_control();
        let is_reno_s = self.algorithm.has_renos_bound();
        self.recovery = (!sets_window)
            .then(|| Recovery::begin(self.stack.reduction, is_reno_s, prior, ssthresh));
    }

    /// End a reduction at its ssthresh, unless the algorithm sets the window itself.
    fn end_reduction(&mut self) {
        if self.recovery.take().is_none() {
            return;
        }
        // An algorithm without ssthresh keeps its window (tcp_end_cwnd_reduction).
        if self.conn.ssthresh_segs < SSTHRESH_INFINITE {
            self.conn.cwnd_segs = match self.stack.burst_after_recovery_segs {
                None => self.conn.ssthresh_segs,
                Some(_) => self.moderated(self.conn.cwnd_segs.min(self.conn.ssthresh_segs)),
            };
        }
        self.algorithm.cwnd_event(&mut self.conn, CwndEvent::CompleteCwr);
        if let Some(start) = &mut self.slow_start {
            start.repaired(&mut self.conn);
        }
    }

    /// Return the window bounded so that no burst follows, if the stack does that.
    fn moderated(&self, cwnd_segs: u32) -> u32 {
        match self.stack.burst_after_recovery_segs {
            None => cwnd_segs,
            Some(burst) => cwnd_segs.min(self.in_flight() + burst),
        }
    }

    /// Undo a reduction that proved spurious. If the network has reported congestion since, keep
    /// the reduced window.
    fn take_back(&mut self, observer: &mut impl Observer) {
        self.recovery = None;
        if let Some(prior_ssthresh) = self.undo.prior_ssthresh() {
            let cwnd_segs = self.algorithm.undo_cwnd(&mut self.conn);
            self.conn.cwnd_segs = self.moderated(cwnd_segs);
            // The receiver need not hear of a reduction that is undone (tcp_ecn_withdraw_cwr).
            if prior_ssthresh > self.conn.ssthresh_segs {
                self.conn.ssthresh_segs = prior_ssthresh;
                self.ecn.on_undo();
            }
            self.counters.spurious_recoveries += 1;
            observer.undone(self.conn.cwnd_segs, self.conn.ssthresh_segs);
        }
        self.undo.end();
    }

    pub(super) fn set_state(&mut self, state: CaState) {
        if self.state() != state {
            self.enter_state(state);
        }
    }

    /// Set the state even if it does not change, because each timeout is reported to the algorithm.
    pub(super) fn enter_state(&mut self, state: CaState) {
        // The algorithm is called first, so it still finds the old state (tcp_set_ca_state).
        self.algorithm.set_state(&mut self.conn, state);
        self.conn.state = state;
        if let Some(recovery) = &mut self.recovery {
            recovery.aim_at(self.conn.ssthresh_segs);
        }
    }
}
