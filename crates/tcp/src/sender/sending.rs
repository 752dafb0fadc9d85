//! Sending: the segments that windows, data and shaper release, and the reasons why they stop.

use dumbbell_algorithm::{CaState, CwndEvent};
use dumbbell_network::Time;

use super::{Burst, Sender};
use crate::arrival::clock;
use crate::chunks::Space;
use crate::rate;
use crate::shaping::{Departure, Request};
use crate::usage::{Transmitted, restart_after_idle, validate};

impl Sender {
    /// Return all new segments to send now on the fast path. After None, call [`Self::next_burst`].
    #[inline(always)]
    pub fn next_fast_burst(&mut self, now: Time) -> Option<Burst> {
        let in_flight = self.conn.in_flight_segs;
        debug_assert_eq!(in_flight, self.in_flight());
        let is_fast = self.is_fast
            // With nothing in flight the window may have to restart, and the algorithm must hear of
            // it.
            && in_flight > 0
            && in_flight < self.conn.cwnd_segs
            && !self.tail_probe.is_due()
            && !self.ecn.is_reduced()
            && !self.shaper.is_active(&self.conn);
        if !is_fast {
            return None;
        }
        let segs = self.data_segs().min((self.conn.cwnd_segs - in_flight).into()) as u32;
        if segs == 0 {
            return None;
        }
        self.shaper.forget_wait();
        let first = self.add_new(now, segs);
        self.counters.sent_segs += u64::from(segs);
        if self.conn.in_flight_segs >= self.conn.cwnd_segs {
            self.note_full();
        } else {
            self.note_no_data(now, in_flight + segs);
        }
        let (is_retransmission, cwr, pushed, is_last) = (false, false, false, true);
        Some(Burst { first, segs, is_retransmission, cwr, pushed, is_last })
    }

    /// Return the next segments to send now. Call this again until it returns None or a burst with
    /// `is_last`.
    #[inline]
    pub fn next_burst(&mut self, now: Time) -> Option<Burst> {
        self.shaper.forget_wait();
        if self.tail_probe.is_due() {
            return self.shaper.fits_host().then(|| self.send_probe(now));
        }
        // ACKs and timers count this again, and each transmission updates it.
        let in_flight = self.conn.in_flight_segs;
        debug_assert_eq!(in_flight, self.in_flight());
        if in_flight >= self.conn.cwnd_segs {
            self.note_full();
            return None;
        }
        let data_segs = self.data_segs();
        // Every following segment, new or not, waits for pacing.
        if in_flight > 0 && data_segs > 0 && self.shaper.is_early(now, &self.conn, false) {
            self.note_space(now);
            return None;
        }
        let lost = self.next_repair();
        if lost.is_none() && data_segs == 0 {
            self.note_no_data(now, in_flight);
            return None;
        }
        if in_flight == 0 {
            self.restart_if_idle(now);
        }
        let mut segs = match lost {
            Some(first) => self.repair_segs(first, in_flight),
            None if in_flight == 0 || self.predicts_nothing => 1,
            None => data_segs.min((self.conn.cwnd_segs - in_flight).into()) as u32,
        };
        if self.shaper.may_refuse(&self.conn) {
            segs = self.may_leave(now, in_flight, lost.is_some(), segs)?;
        }
        // Two calls: a burst from a common place would be in memory and copied from there.
        if let Some(first) = lost {
            return Some(self.send_again(now, first, segs));
        }
        Some(self.send_new(now, segs))
    }

    /// Set the number of segments that the host's queue has space for now.
    #[inline]
    pub const fn set_host_space(&mut self, segs: u32) {
        self.shaper.set_host_space(segs);
    }

    /// Return whether the last [`Self::next_burst`] returned None because that space was too small.
    /// The caller must then call [`Self::on_refusal`].
    #[inline]
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        self.shaper.is_refused()
    }

    /// Return an upper bound of the segments that consecutive calls of [`Self::next_burst`] would
    /// send now.
    #[inline]
    #[must_use]
    pub fn burst_segs_max(&self) -> u32 {
        // A tail loss probe is sent in addition.
        self.conn.cwnd_segs.saturating_sub(self.conn.in_flight_segs).saturating_add(1)
    }

    /// Send new segments.
    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Time, segs: u32) -> Burst {
        let in_flight = self.conn.in_flight_segs;
        if in_flight == 0 {
            self.begin_transmission(now);
        }
        let first = self.add_new(now, segs);
        let cwr = self.ecn.take_reduced();
        self.note_sent(now, first, segs, false);
        let pushed = self.shaper.ends_chunk();
        let is_last = self.is_stopped(now);
        Burst { first, segs, is_retransmission: false, cwr, pushed, is_last }
    }

    /// Add new segments to the window and return the first.
    #[inline(always)]
    fn add_new(&mut self, now: Time, segs: u32) -> u64 {
        self.conn.in_flight_segs += segs;
        let first = self.board.send_new(now, segs);
        self.on_new_sent(now);
        first
    }

    /// Send segments again.
    #[inline(never)]
    pub(super) fn send_again(&mut self, now: Time, first: u64, segs: u32) -> Burst {
        if self.conn.in_flight_segs == 0 {
            self.begin_transmission(now);
        }
        for segment in first..first + u64::from(segs) {
            self.board.resend(now, segment);
            self.undo.on_resent(now, segment);
        }
        self.conn.in_flight_segs = self.in_flight();
        self.counters.retransmitted_segs += u64::from(segs);
        self.resent_at = now;
        // The timer is for the first outstanding segment, so others do not move it
        // (tcp_xmit_retransmit_queue).
        if self.rto_deadline == Time::NEVER || first == self.board.una() {
            self.rto_deadline = now + self.rtt.rto();
        }
        self.note_sent(now, first, segs, true);
        Burst { first, segs, is_retransmission: true, cwr: false, pushed: false, is_last: false }
    }

    /// Report to the algorithm that a transmission starts with nothing in flight.
    #[cold]
    fn begin_transmission(&mut self, now: Time) {
        self.look(now);
        self.conn.last_sent_ms = clock(self.last_sent());
        self.algorithm.cwnd_event(&mut self.conn, CwndEvent::TxStart);
    }

    /// Count and record segments that are being sent.
    #[inline]
    fn note_sent(&mut self, now: Time, first: u64, segs: u32, is_retransmission: bool) {
        self.counters.sent_segs += u64::from(segs);
        if let Some(rates) = &mut self.rates {
            let window = self.board.una()..self.board.next();
            let segments = first..first + u64::from(segs);
            rates.on_sent(now, segments, window, is_retransmission, &self.conn);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.on_sent(segs);
        }
    }

    /// Return whether there is new data that buffers have space for.
    #[inline]
    pub(super) fn has_new_data(&self) -> bool {
        self.data_segs() > 0
    }

    /// Return the number of new segments that buffers have space for.
    #[inline(always)]
    fn data_segs(&self) -> u64 {
        let sendable_end = self.end.min(self.board.una() + self.outstanding_max_segs);
        sendable_end.saturating_sub(self.board.next())
    }

    #[inline]
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited(self.conn.cwnd_segs, || self.in_slow_start())
    }

    /// Return how many lost segments are sent again together. These are the segments of one chunk,
    /// which segmentation offload sends as a whole.
    fn repair_segs(&mut self, first: u64, in_flight: u32) -> u32 {
        let goal_segs = self.shaper.repair_segs_max(&self.conn);
        let segs_max = goal_segs.min(self.conn.cwnd_segs - in_flight);
        if segs_max > 1 { self.board.lost_chunk_segs(first, segs_max) } else { 1 }
    }

    /// The first segment for which the application has no data, or its buffer no space.
    fn written_end(&self) -> u64 {
        self.end.min(self.board.una() + self.limits.sender_segs)
    }

    /// Return whether transmission stops here, and record the reason. This must be clear before
    /// packets have left.
    #[inline(always)]
    fn is_stopped(&mut self, now: Time) -> bool {
        let in_flight = self.conn.in_flight_segs;
        if in_flight >= self.conn.cwnd_segs {
            self.note_full();
            return true;
        }
        if !self.has_new_data() {
            let is_clear = !self.shaper.watches_host();
            if is_clear {
                self.note_no_data(now, in_flight);
            }
            return is_clear;
        }
        let is_early = self.shaper.is_early(now, &self.conn, false);
        if is_early {
            self.note_space(now);
        }
        is_early
    }

    /// Record that the window stopped the transmission.
    #[inline]
    fn note_full(&mut self) {
        self.usage.note_full(self.board.next());
    }

    /// Record that there is nothing to send, or that a buffer has no space.
    #[inline(never)]
    fn note_no_data(&mut self, now: Time, in_flight: u32) {
        self.note_space(now);
        if self.board.next() < self.written_end() {
            return self.persist(now);
        }
        // Packets in the host still leave, so the pipe may be full (tcp_rate_check_app_limited).
        if self.rates.is_some() && self.shaper.is_host_empty(now) {
            rate::mark_app_limited(&mut self.conn, in_flight);
        }
    }

    /// Record that something else than the window stopped the transmission.
    #[inline]
    fn note_space(&mut self, now: Time) {
        let (una, next) = (self.board.una(), self.board.next());
        let sent = Transmitted { una, next, sent_segs: self.counters.sent_segs };
        // Algorithms that set their window keep it, however little of it is used.
        let is_validated = self.stack.window_validation && !self.algorithm.has_cong_control();
        if self.usage.note_space(now, sent) && is_validated {
            self.validate_window(now);
        }
    }

    fn validate_window(&mut self, now: Time) {
        let (limited, outstanding) = (self.is_cwnd_limited(), self.board.outstanding_segs());
        let unused = self.usage.unused_for(self.rtt.rto(), now, limited, outstanding);
        let Some(used_segs) = unused else { return };
        // If the connection still has data, something else limits it.
        let is_applicable = self.conn.state == CaState::Open && self.board.next() >= self.end;
        if is_applicable {
            validate(&mut self.conn, used_segs, self.stack.initial_window_segs.get());
            self.usage.restart(now);
        }
    }

    /// Reduce a window that idle time has made stale.
    #[cold]
    fn restart_if_idle(&mut self, now: Time) {
        let idle_since = self.restarted_at.max(self.last_sent());
        let (idle, rto) = (now.since(idle_since), self.rtt.rto());
        // The conditions of tcp_slow_start_after_idle_check. Algorithms that set their window (BBR)
        // keep it.
        let is_idle = self.board.outstanding_segs() == 0 && idle > rto;
        if !is_idle || !self.stack.slow_start_after_idle || self.algorithm.has_cong_control() {
            return;
        }
        self.look(now);
        self.algorithm.cwnd_event(&mut self.conn, CwndEvent::CwndRestart);
        restart_after_idle(&mut self.conn, idle, rto, self.stack.initial_window_segs.get());
        self.usage.restart(now);
        self.restarted_at = now;
    }

    /// Return how many of up to `segs` segments that the windows allow may leave their host now.
    /// None if no segment may.
    #[inline(always)]
    fn may_leave(
        &mut self,
        now: Time,
        in_flight: u32,
        is_retransmission: bool,
        segs: u32,
    ) -> Option<u32> {
        if self.shaper.is_early(now, &self.conn, is_retransmission) {
            self.note_space(now);
            return None;
        }
        let (next, cwnd) = (self.board.next(), u64::from(self.conn.cwnd_segs));
        let space = Space {
            window_segs: cwnd - u64::from(in_flight),
            receiver_segs: (self.board.una() + self.limits.receiver_segs).saturating_sub(next),
            data_segs: self.written_end().saturating_sub(next),
        };
        let request = Request {
            space,
            whole_segs: cwnd.min(self.limits.receiver_segs),
            segs,
            is_retransmission,
            sent_segs: self.counters.sent_segs,
        };
        match self.shaper.admit(now, &self.conn, request) {
            Departure::Now(segs) => return Some(segs),
            Departure::Gather if space.is_window_limited() => self.note_full(),
            Departure::Wait | Departure::Gather | Departure::Refused => self.note_space(now),
        }
        None
    }
}
