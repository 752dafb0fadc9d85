//! What lies between the windows and the wire: why nothing more is sent now, when a
//! segment leaves, and what is remembered of it.

use dumbbell_algorithm::{CaState, CwndEvent};
use dumbbell_network::Time;

use crate::chunks::Room;
use crate::rate::{Acknowledged, DeliveryRate, Sending};
use crate::scoreboard::Delivery;
use crate::sender::Sender;
use crate::shaping::{Request, Verdict};
use crate::slow_start::Round;
use crate::usage::{Transmitted, restart_after_idle, validate};

impl Sender {
    /// The latest rate of delivery, where the algorithm looks at rates.
    #[must_use]
    pub fn delivery_rate(&self) -> Option<DeliveryRate> {
        self.rates.as_ref().and_then(|rates| rates.rate())
    }

    /// Whether the application, not the network, limits sending now, where the
    /// algorithm looks at rates.
    #[must_use]
    pub fn is_app_limited(&self) -> Option<bool> {
        self.rates.as_ref().map(|rates| rates.is_app_limited())
    }

    /// The first segment that must not be sent yet.
    #[inline]
    pub(crate) fn sendable_end(&self) -> u64 {
        self.end.min(self.board.una() + self.receive_window_segs)
    }

    /// The window stopped the transmission.
    #[inline]
    pub(crate) fn note_full(&mut self, now: Time) {
        self.usage.note_full(now, self.transmitted());
    }

    /// There is nothing to send, or the receiver has no room for it.
    pub(crate) fn note_no_data(&mut self, now: Time, in_flight: u32) {
        self.note_room(now);
        if self.board.next() < self.end {
            return;
        }
        if let Some(rates) = &mut self.rates {
            if self.shaper.is_host_empty(now) {
                rates.mark_app_limited(&self.conn, in_flight);
            }
        }
    }

    /// Something else than the window stopped the transmission.
    fn note_room(&mut self, now: Time) {
        if self.usage.note_room(self.transmitted()) && self.stack.window_validation {
            self.validate_window(now);
        }
    }

    fn validate_window(&mut self, now: Time) {
        let (limited, outstanding) = (self.is_cwnd_limited(), self.board.outstanding_segs());
        let unused = self.usage.unused_for(self.rtt.rto(), now, limited, outstanding);
        let Some(used_segs) = unused else { return };
        // A connection that still has data is held back by something else.
        let is_applicable = self.conn.state == CaState::Open
            && self.board.next() >= self.end
            && !self.algorithm.has_cong_control();
        if is_applicable {
            validate(&mut self.conn, used_segs, self.stack.initial_window_segs.get());
            self.usage.restart(now);
        }
    }

    #[inline]
    fn transmitted(&self) -> Transmitted {
        let (una, next) = (self.board.una(), self.board.next());
        Transmitted { una, next, sent_segs: self.counters.sent_segs }
    }

    #[inline]
    pub(crate) fn is_cwnd_limited(&self) -> bool {
        self.usage.is_limited(self.conn.cwnd_segs, self.in_slow_start())
    }

    /// Gives up a part of the window that idle time has made stale.
    #[cold]
    pub(crate) fn restart_if_idle(&mut self, now: Time) {
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        let is_idle = self.board.outstanding_segs() == 0 && idle > rto;
        if !is_idle || !self.stack.slow_start_after_idle || self.algorithm.has_cong_control() {
            return;
        }
        self.look(now);
        self.algorithm.cwnd_event(&mut self.conn, CwndEvent::CwndRestart);
        restart_after_idle(&mut self.conn, idle, rto, self.stack.initial_window_segs.get());
        self.usage.restart(now);
        self.last_sent = now;
    }

    /// Whether a segment that the windows let go may leave its host now.
    pub(crate) fn may_leave(&mut self, now: Time, in_flight: u32, is_retransmission: bool) -> bool {
        let (next, cwnd) = (self.board.next(), u64::from(self.conn.cwnd_segs));
        let room = Room {
            window_segs: cwnd - u64::from(in_flight),
            receiver_segs: (self.board.una() + self.receive_window_segs).saturating_sub(next),
            data_segs: self.end.saturating_sub(next),
        };
        let request = Request {
            room,
            whole_segs: cwnd.min(self.receive_window_segs),
            is_retransmission,
            sent_segs: self.counters.sent_segs,
        };
        match self.shaper.admit(now, &self.conn, request) {
            Verdict::Leave => return true,
            Verdict::Gather if room.is_window_limited() => self.note_full(now),
            Verdict::Wait | Verdict::Gather => self.note_room(now),
        }
        false
    }

    /// Remembers what rate samples need of a segment that is being sent.
    #[inline]
    pub(crate) fn note_sent(&mut self, now: Time, segment: u64, is_retransmission: bool) {
        if let Some(rates) = &mut self.rates {
            let window = (self.board.una(), self.board.next());
            let is_alone = !is_retransmission && window.1 - window.0 == 1;
            rates.on_sent(now, Sending { segment, window, is_alone }, self.conn.delivered_segs);
        }
    }

    /// Tells the rate sampler what an ACK delivered.
    #[inline]
    pub(crate) fn note_deliveries(&mut self, delivery: &Delivery) {
        let Some(rates) = &mut self.rates else { return };
        self.board.drain_arrivals(delivery, |segments| rates.on_delivered(segments));
    }

    /// Segments delivered while the latest sent of those that an ACK delivered was in
    /// flight; without rate samples what is in flight after the ACK.
    #[inline]
    pub(crate) fn delivered_in_flight_segs(&self) -> u32 {
        let delivered = self.conn.delivered_segs;
        let sampled = self.rates.as_ref().and_then(|rates| rates.delivered_in_flight(delivered));
        sampled.map_or(self.conn.in_flight_segs, |segs| segs as u32)
    }

    /// Lets an algorithm with cong_control set window and rate; says whether it did.
    #[inline]
    pub(crate) fn control_by_rate(
        &mut self,
        now: Time,
        delivery: &Delivery,
        lost_segs: u64,
        prior_in_flight_segs: u32,
    ) -> bool {
        let Some(rates) = &mut self.rates else { return false };
        let rtt_us = delivery.last_sent.map(|sent| now.since(sent).as_micros() as u32);
        let delivered_segs = delivery.delivered_segs;
        let ack = Acknowledged { delivered_segs, lost_segs, prior_in_flight_segs, rtt_us };
        let sample = rates.sample(now, &self.conn, ack);
        if self.algorithm.has_cong_control() {
            self.conn.cwnd_limited = self.is_cwnd_limited();
            self.algorithm.cong_control(&mut self.conn, &sample);
            return true;
        }
        false
    }

    /// Growth in a slow start that slows down.
    pub(crate) fn grow_slowly(&mut self, delivery: &Delivery, acked_segs: u32) {
        if self.counters.congestion_events > 0 {
            self.slow_start.end_initial();
        }
        let is_paced = self.conn.pacing_rate_bytes_per_s > 0;
        let share = self.slow_start.share(acked_segs, self.conn.cwnd_segs, is_paced);
        if share > 0 {
            self.algorithm.cong_avoid(&mut self.conn, share);
        }
        let rtt_us = delivery.last_sent.and(self.rtt.latest_us());
        let (una, next) = (self.board.una(), self.board.next());
        if self.slow_start.is_over(Round { rtt_us, una, next }) {
            self.conn.ssthresh_segs = self.conn.cwnd_segs;
            self.slow_start.end_initial();
        }
    }
}
