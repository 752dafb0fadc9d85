//! Processing of an ACK, in Linux's order (`tcp_ack`).

use dumbbell_algorithm::{ACK_ECE, ACK_SLOWPATH, ACK_WIN_UPDATE, AckSample, CaState};
use dumbbell_network::{Span, Time};

use super::{Observer, Sender};
use crate::ack::{Ack, SackBlocks};
use crate::rack::LossContext;
use crate::rate::Acknowledged;
use crate::recovery::Progress;
use crate::round_trip::{rtt_of_echo, rtt_us};
use crate::scoreboard::{Delivery, NewLosses};
use crate::stack::Growth;
use crate::tail_probe;

/// An ACK after the scoreboard has read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckEvent {
    pub now: Time,
    pub delivery: Delivery,
    /// True if the receiver saw a congestion mark.
    pub ece: bool,
    /// The echoed timestamp; None if there is none or the stack uses none.
    pub echo: Option<u32>,
}

impl AckEvent {
    pub const fn advanced(&self) -> bool {
        self.delivery.advanced_segs > 0
    }
}

impl Sender {
    /// Process an ACK. `blocks` is empty unless the ACK has blocks.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        ack: Ack,
        blocks: &SackBlocks,
        observer: &mut impl Observer,
    ) {
        if self.predicts(ack.cumulative) && !(ack.ece | ack.has_blocks) {
            self.on_predicted_ack(now, ack.cumulative);
        } else {
            self.take_slowly(now, ack, blocks, observer);
        }
    }

    /// Return whether an ACK of all below `cumulative` that carries nothing else is as expected
    /// (header prediction). It must advance, and no segment may be SACKed, lost or sent again.
    #[inline]
    #[must_use]
    pub const fn predicts(&self, cumulative: u64) -> bool {
        self.is_in_order && cumulative > self.board.una()
    }

    /// Return whether an ACK is as [`Self::predicts`] describes and concerns only the windows.
    #[inline]
    #[must_use]
    pub const fn is_on_fast_path(&self, cumulative: u64) -> bool {
        self.is_fast && cumulative > self.board.una()
    }

    /// Process an ACK that was predicted.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    #[inline(always)]
    pub fn on_predicted_ack(&mut self, now: Time, cumulative: u64) {
        if self.is_window_based {
            self.on_fast_ack(now, cumulative);
        } else {
            self.take_predicted_beyond_windows(now, cumulative);
        }
    }

    /// Process an ACK that [`Self::is_on_fast_path`] predicted.
    ///
    /// # Panics
    /// If it acknowledges a segment that was never sent.
    #[inline(always)]
    pub fn on_fast_ack(&mut self, now: Time, cumulative: u64) {
        self.take_predicted::<true>(now, cumulative);
    }

    #[inline(never)]
    fn take_predicted_beyond_windows(&mut self, now: Time, cumulative: u64) {
        self.take_predicted::<false>(now, cumulative);
    }

    #[inline(always)]
    fn take_predicted<const IS_FAST: bool>(&mut self, now: Time, cumulative: u64) {
        let prior_in_flight_segs = self.conn.in_flight_segs;
        let (segs, first_sent, last_sent) = self.board.advance_in_order(cumulative);
        self.look_in_order(now);
        self.conn.delivered_segs += segs;
        if !IS_FAST {
            self.conn.pacing_wait_us = self.shaper.pacing_wait_us(now);
            if let Some(rates) = &mut self.rates {
                rates.on_delivered(cumulative - 1);
            }
        }
        if self.stack.ack_event_first {
            self.algorithm.in_ack_event(&mut self.conn, ACK_WIN_UPDATE);
        }
        let micros_since = |sent: Time| rtt_us(now.since(sent));
        let first_us = micros_since(first_sent);
        let last_us = if segs == 1 { first_us } else { micros_since(last_sent) };
        self.rtt.sample(first_us, self.board.una(), self.board.next());
        self.note_rtt(now, last_us, segs);
        self.conn.srtt_us = self.rtt.srtt_us();
        let in_flight_segs =
            if IS_FAST { self.conn.in_flight_segs } else { self.delivered_in_flight_segs() };
        let sample = AckSample {
            pkts_acked: segs as u32,
            rtt_us: last_us as i32,
            in_flight_bytes: in_flight_segs.saturating_mul(self.config.mss_bytes),
        };
        self.algorithm.pkts_acked(&mut self.conn, &sample);
        if !self.stack.ack_event_first {
            self.algorithm.in_ack_event(&mut self.conn, ACK_WIN_UPDATE);
        }
        self.timeouts_in_row = 0;
        self.arm_rto(now);
        self.tail_probe.on_delivery(now, self.rtt.srtt_us());
        if IS_FAST {
            return self.grow(now, segs as u32, None);
        }
        let rtt_us = Some(last_us);
        let ack = Acknowledged { delivered_segs: segs, lost_segs: 0, prior_in_flight_segs, rtt_us };
        self.sample_rate(now, ack);
        if !self.algorithm.has_cong_control() {
            self.grow(now, segs as u32, rtt_us);
        }
        self.follow_rate(now);
    }

    /// Update the stack's own rate, unless the slow start sets the rate.
    #[inline]
    fn follow_rate(&mut self, now: Time) {
        let rate = self.conn.pacing_rate_bytes_per_s;
        self.shaper.on_ack(now, &mut self.conn, self.board.outstanding_segs());
        if self.slow_start.as_ref().is_some_and(|start| start.holds()) {
            self.conn.pacing_rate_bytes_per_s = rate;
        }
    }

    /// Record the round-trip time of the last sent segment among those delivered.
    #[inline]
    fn note_rtt(&mut self, now: Time, rtt_us: u32, advanced_segs: u64) {
        let last_one = advanced_segs == 1 && self.board.outstanding_segs() == 0;
        self.rtt.record(now, rtt_us, last_one);
        self.conn.min_rtt_us = self.rtt.min_us();
    }

    #[cold]
    #[inline(never)]
    fn take_slowly(
        &mut self,
        now: Time,
        ack: Ack,
        blocks: &SackBlocks,
        observer: &mut impl Observer,
    ) {
        // This comes before the scoreboard reads the ACK, because rate samples carry the flight
        // before it.
        let prior_in_flight_segs = self.in_flight();
        let echo = (self.stack.timestamps && ack.echo > 0).then_some(ack.echo);
        let context = LossContext { echo, ..self.context(now) };
        let delivery = self.board.acknowledge(&context, &ack, blocks);
        let marked_segs = self.ecn.marked_segs(ack.ece, delivery.delivered_segs);
        let ece = self.ecn.reports_marks(ack.ece, marked_segs);
        self.look(now);
        self.count_deliveries(&delivery, marked_segs);
        let flags = ack_flags(&delivery, ack.has_blocks, ece);
        if self.stack.ack_event_first {
            self.algorithm.in_ack_event(&mut self.conn, flags);
        }
        if let (Some(rates), Some(newest)) = (&mut self.rates, delivery.newest) {
            rates.on_delivered(newest);
        }
        let echoed = echo.filter(|_| self.stack.rtt_from_timestamps);
        let rtt_us = self.sample_rtt(now, &delivery, echoed);
        if !self.stack.ack_event_first {
            self.algorithm.in_ack_event(&mut self.conn, flags);
        }
        let losses = if self.leaves_state(ece, ack.has_blocks) {
            NewLosses::default()
        } else {
            let blocks = ack.has_blocks.then_some(blocks);
            self.take_event(&AckEvent { now, delivery, ece, echo }, blocks, observer)
        };
        if delivery.advanced_segs > 0 {
            self.timeouts_in_row = 0;
            self.arm_rto(now);
        }
        if delivery.delivered_segs > 0 {
            self.tail_probe.on_delivery(now, self.rtt.srtt_us());
        }
        let (delivered_segs, lost_segs) = (delivery.delivered_segs, losses.segs);
        let ack = Acknowledged { delivered_segs, lost_segs, prior_in_flight_segs, rtt_us };
        self.sample_rate(now, ack);
        if !self.algorithm.has_cong_control() {
            self.control(now, &delivery, losses);
        }
        self.follow_rate(now);
        self.settle();
    }

    /// Return the context in which losses are inferred.
    #[inline]
    pub(crate) fn context(&self, now: Time) -> LossContext {
        let span = |us: u32| Span::from_micros(u64::from(us));
        LossContext {
            now,
            min_rtt: span(self.rtt.min_us()),
            srtt: span(self.rtt.srtt_us()),
            state: self.state(),
            echo: None,
        }
    }

    #[inline]
    const fn count_deliveries(&mut self, delivery: &Delivery, marked_segs: u64) {
        self.conn.delivered_segs += delivery.delivered_segs;
        self.conn.delivered_ce_segs += marked_segs;
    }

    /// Take the round-trip times of an ACK and return the one for the algorithm. If a
    /// retransmission makes them ambiguous (Karn's algorithm), the echoed timestamp replaces them.
    fn sample_rtt(&mut self, now: Time, delivery: &Delivery, echo: Option<u32>) -> Option<u32> {
        if delivery.delivered_segs == 0 {
            return None;
        }
        let since = |sent: Time| rtt_us(now.since(sent));
        let (first_us, last_us) = (delivery.first_sent.map(since), delivery.last_sent.map(since));
        let is_ambiguous = first_us.is_none() && delivery.advanced_segs > 0;
        let echoed_us = echo.filter(|_| is_ambiguous).map(|echo| rtt_of_echo(now, echo));
        if let Some(rtt_us) = first_us.or(echoed_us) {
            self.rtt.sample(rtt_us, self.board.una(), self.board.next());
        }
        if let Some(rtt_us) = last_us {
            self.note_rtt(now, rtt_us, delivery.advanced_segs);
        }
        let echoed_us = echoed_us.filter(|_| self.stack.reports_all_acks);
        if let Some(rtt_us) = echoed_us {
            self.rtt.note_echoed(now, rtt_us);
            self.conn.min_rtt_us = self.rtt.min_us();
        }
        self.conn.srtt_us = self.rtt.srtt_us();
        let latest_us = last_us.or(echoed_us);
        let sample = AckSample {
            // Segments that a SACK delivered earlier count again here, as in tcp_clean_rtx_queue.
            pkts_acked: delivery.advanced_segs as u32,
            rtt_us: latest_us.map_or(-1, |rtt_us| rtt_us as i32),
            in_flight_bytes: self.delivered_in_flight_segs().saturating_mul(self.config.mss_bytes),
        };
        if delivery.advanced_segs > 0 || self.stack.reports_all_acks {
            self.algorithm.pkts_acked(&mut self.conn, &sample);
        }
        latest_us
    }

    /// Return whether an ACK does not affect the congestion state.
    #[inline]
    fn leaves_state(&self, ece: bool, has_blocks: bool) -> bool {
        self.state() == CaState::Open
            && self.board.is_in_order()
            && !has_blocks
            && !ece
            && !self.tail_probe.is_open()
    }

    /// Update the congestion state and return the new losses.
    fn take_event(
        &mut self,
        event: &AckEvent,
        blocks: Option<&SackBlocks>,
        observer: &mut impl Observer,
    ) -> NewLosses {
        let reads_blocks = !self.board.counts_duplicate_acks();
        let duplicate = blocks.filter(|_| reads_blocks).and_then(SackBlocks::duplicate);
        if let Some(duplicate) = &duplicate {
            self.board.on_duplicate();
            // `una` before this ACK: a duplicate below it is of data that was acknowledged earlier.
            let una = self.board.una() - event.delivery.advanced_segs;
            self.undo.on_duplicate(duplicate, una, self.counters.retransmitted_segs);
        }
        let repaired = self.tail_probe.on_ack(tail_probe::Reply {
            una: self.board.una(),
            duplicate: duplicate.is_some(),
            is_repeated: event.delivery.delivered_segs == 0,
        });
        if repaired {
            self.reduce_for_probe(observer);
        }
        let losses = self.update_state(event, observer);
        self.conn.in_flight_segs = self.in_flight();
        losses
    }

    /// Set the window by recovery or by the algorithm.
    pub(crate) fn control(&mut self, now: Time, delivery: &Delivery, losses: NewLosses) {
        // In Loss there is no `recovery`, so the window grows while losses are repaired
        // (tcp_cong_control).
        if let Some(recovery) = &mut self.recovery {
            let progress = Progress {
                delivered_segs: delivery.delivered_segs,
                lost_segs: losses.segs,
                advanced: delivery.advanced_segs > 0,
                repaired: delivery.resent_acked && !losses.any_resent,
                in_flight_segs: self.board.in_flight_segs(),
            };
            self.conn.cwnd_segs = recovery.on_ack(self.conn.cwnd_segs, progress);
        } else if self.may_raise_cwnd(delivery) {
            let rtt_us = delivery.last_sent.and(self.rtt.latest_us());
            // Delivered segments count, not acknowledged ones: tcp_cong_avoid gets acked_sacked.
            self.grow(now, delivery.delivered_segs as u32, rtt_us);
        }
    }

    /// Let the algorithm grow the window.
    #[inline(always)]
    fn grow(&mut self, now: Time, delivered_segs: u32, rtt_us: Option<u32>) {
        let acked = self.counted(delivered_segs);
        self.conn.cwnd_limited = u8::from(self.is_cwnd_limited());
        // Linux sets snd_cwnd_stamp whether the window grows or not (tcp_cong_avoid).
        self.usage.note_growth(now);
        if self.is_window_based || self.slow_start.is_none() {
            self.algorithm.cong_avoid(&mut self.conn, acked);
        } else {
            self.grow_slowly(rtt_us, acked);
        }
    }

    /// Return whether the window may grow. It grows with the cumulative ACK. If there is much
    /// reordering, the cumulative ACK often does not advance, and the window grows with any
    /// delivery.
    #[inline]
    fn may_raise_cwnd(&self, delivery: &Delivery) -> bool {
        // The two cases of tcp_may_raise_cwnd.
        delivery.advanced_segs > 0
            || (delivery.delivered_segs > 0 && self.board.reordering().is_raised())
    }

    /// Grow the window with the stack's own slow start.
    #[inline(never)]
    fn grow_slowly(&mut self, rtt_us: Option<u32>, acked_segs: u32) {
        let start = self.slow_start.as_mut().filter(|start| start.rules(&self.conn));
        let Some(start) = start else {
            return self.algorithm.cong_avoid(&mut self.conn, acked_segs);
        };
        let part_segs = start.part_of(&mut self.conn, acked_segs, rtt_us);
        if part_segs > 0 {
            self.algorithm.cong_avoid(&mut self.conn, part_segs);
        }
        start.grown(&mut self.conn, rtt_us);
    }

    /// Return the number of acknowledged segments that count for the stack's growth.
    #[inline(always)]
    fn counted(&self, delivered_segs: u32) -> u32 {
        match self.stack.growth {
            Growth::Acks => 1,
            Growth::Segments => delivered_segs,
            Growth::Bytes if self.in_slow_start() => {
                let after_timeout = self.state() == CaState::Loss;
                // RFC 3465: one segment for each ACK after a timeout, because ACKs then cover
                // segments that had arrived before it.
                let limit = if after_timeout { 1 } else { self.stack.byte_counting_segs.get() };
                delivered_segs.min(limit)
            }
            Growth::Bytes => delivered_segs,
        }
    }
}

/// Return the flags for the algorithm's `in_ack_event`. An ACK that fills a hole takes Linux's slow
/// path like one with blocks. The receiver had stored the segments above, so the offered window
/// differs from the one that header prediction expects.
#[inline]
const fn ack_flags(delivery: &Delivery, has_blocks: bool, ece: bool) -> u32 {
    let fills_hole = delivery.advanced_segs > delivery.delivered_segs;
    match (has_blocks || fills_hole, ece) {
        (false, false) if delivery.advanced_segs > 0 => ACK_WIN_UPDATE,
        (_, false) => ACK_SLOWPATH,
        (_, true) => ACK_SLOWPATH | ACK_ECE,
    }
}
