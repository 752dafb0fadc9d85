//! Actions of timers: timeouts, probes, and losses that are overdue.

use dumbbell_algorithm::{CaState, CwndEvent};
use dumbbell_network::Time;

use super::{Burst, Observer, Sender};
use crate::frto::Frto;
use crate::recovery::Progress;
use crate::tail_probe::Outstanding;
use crate::tick::TIMER_MIN;
use crate::usage::ssthresh_to_keep;

impl Sender {
    /// Run the timers that are due. Return whether to call [`Self::next_burst`] afterwards.
    pub fn on_timer(&mut self, now: Time, observer: &mut impl Observer) -> bool {
        if self.loss_deadline() > now {
            return self.shaper.wake() <= now;
        }
        self.act_on_losses(now, observer);
        true
    }

    fn act_on_losses(&mut self, now: Time, observer: &mut impl Observer) {
        self.end_with_ticks(now);
        // The probe comes first, because it replaces a timeout that is due at the same time.
        if self.tail_probe.deadline().min(self.rto_deadline) <= now {
            self.consider_probe(now);
        }
        if self.reorder_deadline <= now {
            self.on_overdue(now, observer);
        }
        if self.rto_deadline <= now {
            if self.board.outstanding_segs() == 0 {
                self.probe_window(now);
            } else {
                self.time_out(now, observer);
            }
        }
        self.conn.in_flight_segs = self.in_flight();
        self.settle();
    }

    /// Move expired timers to the ends of their ticks.
    fn end_with_ticks(&mut self, now: Time) {
        if self.rto_deadline <= now {
            self.rto_deadline = self.tick.end(self.rto_deadline, self.rtt.rto());
        }
        if self.reorder_deadline <= now {
            self.reorder_deadline = self.tick.end(self.reorder_deadline, TIMER_MIN);
        }
    }

    /// Time at which the next of these timers is due.
    #[inline]
    pub(super) fn loss_deadline(&self) -> Time {
        self.rto_deadline.min(self.tail_probe.deadline()).min(self.reorder_deadline)
    }

    /// The next lost segment to send again. None if there is none, or if new segments must first
    /// show whether the last timeout was spurious.
    #[inline]
    pub(super) fn next_repair(&mut self) -> Option<u64> {
        if self.frto == Frto::Probes { None } else { self.board.next_lost() }
    }

    /// Start the timers for new segments that were just sent.
    #[inline]
    pub(super) fn on_new_sent(&mut self, now: Time) {
        if self.rto_deadline == Time::NEVER {
            self.rto_deadline = now + self.rtt.rto();
        }
        self.tail_probe.on_new_sent(now, self.rtt.srtt_us());
    }

    /// Send the tail loss probe: a new segment, or otherwise the last one again (RFC 8985, section
    /// 7.3). The window does not limit it.
    #[cold]
    pub(super) fn send_probe(&mut self, now: Time) -> Burst {
        self.shaper.hand_over();
        let probe = if self.has_new_data() {
            self.send_new(now, 1)
        } else {
            self.send_again(now, self.board.next() - 1, 1)
        };
        self.tail_probe.on_sent(self.board.next(), probe.is_retransmission);
        self.counters.tail_probes += 1;
        // The answer to the probe gets a full timeout (RFC 8985, section 7.3).
        self.rto_deadline = now + self.rtt.rto();
        self.settle();
        probe
    }

    /// Check whether the tail loss probe is due. It replaces a timeout that is due first.
    fn consider_probe(&mut self, now: Time) {
        let outstanding = Outstanding {
            segs: self.board.outstanding_segs(),
            first_expires: self.board.first_sent().map_or(now, |sent| sent + self.rtt.rto()),
        };
        // Otherwise SACKs will find the loss (RFC 8985, section 7.2; tcp_schedule_loss_probe).
        let may_probe = matches!(self.state(), CaState::Open | CaState::Cwr)
            && self.board.sacked_segs() == 0
            && !self.board.counts_duplicate_acks();
        let probe_at = self.tail_probe.probe_at(self.rtt.srtt_us(), outstanding);
        match probe_at.filter(|_| outstanding.segs > 0 && may_probe) {
            None => self.tail_probe.cancel(),
            Some(probe_at) if probe_at.min(self.rto_deadline) > now => {
                self.tail_probe.wait_until(probe_at)
            }
            Some(_) => {
                self.tail_probe.expire();
                self.rto_deadline = now + self.rtt.rto();
            }
        }
    }

    #[inline]
    pub(super) fn arm_rto(&mut self, now: Time) {
        let outstanding = self.board.outstanding_segs() > 0;
        // From now, not from the time at which the segment was sent (RFC 6298, rules 5.2 and 5.3).
        self.rto_deadline = if outstanding { now + self.rtt.rto() } else { Time::NEVER };
    }

    /// Infer losses again, because reordered segments have not arrived in time.
    fn on_overdue(&mut self, now: Time, observer: &mut impl Observer) {
        self.look(now);
        if self.may_retransmit_early() {
            self.board.lose_first();
        }
        let losses = self.infer_losses(now);
        let is_repairing = matches!(self.state(), CaState::Recovery | CaState::Loss);
        if self.board.lost_segs() == 0 || is_repairing {
            return;
        }
        self.enter_recovery(false, observer);
        if let Some(recovery) = &mut self.recovery {
            let progress = Progress {
                // Nothing has arrived. Linux counts one segment, so that something may be sent
                // (tcp_rack_reo_timeout).
                delivered_segs: 1,
                lost_segs: losses.segs,
                advanced: false,
                repaired: false,
                in_flight_segs: self.board.in_flight_segs(),
            };
            self.conn.cwnd_segs = recovery.on_ack(self.conn.cwnd_segs, progress);
        }
    }

    fn time_out(&mut self, now: Time, observer: &mut impl Observer) {
        self.look(now);
        self.counters.timeouts += 1;
        let cwnd_segs = self.conn.cwnd_segs;
        let was_growing = matches!(self.state(), CaState::Open | CaState::Disorder);
        // F-RTO excludes timeouts within a recovery (RFC 5682, section 3.1, step 1) but includes
        // repeated ones (tcp_enter_loss).
        let may_be_late = was_growing || self.state() == CaState::Cwr || self.timeouts_in_row > 0;
        if was_growing {
            self.board.distrust_reordering();
        }
        if self.timeout_is_new() {
            let prior_ssthresh = Some(ssthresh_to_keep(&self.conn));
            self.undo.begin(prior_ssthresh, self.board.una(), self.board.resent_segs());
            self.reduce(CaState::Loss, observer);
            self.algorithm.cwnd_event(&mut self.conn, CwndEvent::Loss);
        }
        observer.timeout(cwnd_segs, self.conn.ssthresh_segs);
        self.recovery = None;
        self.tail_probe.abandon();
        self.conn.lost_segs += u64::from(self.in_flight());
        self.board.lose_all();
        self.reorder_deadline = Time::NEVER;
        self.frto = if self.stack.frto && may_be_late { Frto::Suspects } else { Frto::Idle };
        self.conn.in_flight_segs = self.in_flight();
        // Nothing is in flight, so this is one segment (RFC 5681, section 3.1). tcp_enter_loss
        // computes the same sum.
        self.conn.cwnd_segs = self.conn.in_flight_segs + 1;
        self.conn.cwnd_cnt = 0;
        self.high_seq = self.board.next();
        self.enter_state(CaState::Loss);
        self.timeouts_in_row += 1;
        self.rtt.back_off();
        self.rto_deadline = now + self.rtt.rto();
        self.shaper.restart(now);
    }

    /// Return whether a timeout needs a new reduction of the window.
    const fn timeout_is_new(&self) -> bool {
        let was_growing = matches!(self.conn.state, CaState::Open | CaState::Disorder);
        // As in tcp_enter_loss: a timeout in Loss before anything was acknowledged is the same
        // loss.
        let moved_on = matches!(self.conn.state, CaState::Loss) && self.timeouts_in_row == 0;
        was_growing || moved_on || self.board.una() >= self.high_seq
    }
}
