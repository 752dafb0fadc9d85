//! The sending end: a pure state machine around a congestion-control algorithm.
//!
//! It is told what happened and when (an acknowledgement, a timer) and asked which
//! segment to send. The order in which an acknowledgement is worked through, and in
//! which the algorithm is called, is that of Linux (`tcp_ack`).

use std::num::NonZeroU64;

use dumbbell_algorithm::{AckSample, CaState, Conn, CwndEvent, INFO_MAX, Instance};
use dumbbell_network::Time;

use crate::ack::{Ack, SackBlocks};
use crate::controller::Controller;
use crate::rate::RateSampler;
use crate::recovery::{Progress, Recovery};
use crate::rtt::RttEstimator;
use crate::scoreboard::{Delivery, Scoreboard};
use crate::shaping::Shaper;
use crate::slow_start::SlowStart;
use crate::stack::{Growth, Stack};
use crate::usage::WindowUsage;

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub number: u64,
    /// It has been sent before.
    pub is_retransmission: bool,
    /// Its packet says that it may be marked instead of dropped (ECT).
    pub ect: bool,
    /// It says that the window was reduced after a mark (CWR).
    pub cwr: bool,
}

/// One reduction of the window, as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Recovery, CWR or, after a timeout, Loss.
    pub state: CaState,
    /// The window before the reduction, in segments.
    pub cwnd_segs: u32,
    /// The window to fall to, in segments.
    pub ssthresh_segs: u32,
}

/// What a sender reports while it works.
pub trait Observer {
    /// The window is being reduced.
    fn congestion(&mut self, congestion: Congestion);
    /// The retransmission timer expired; the window was `cwnd_segs` before.
    fn timeout(&mut self, cwnd_segs: u32, ssthresh_segs: u32);
    /// The sender is back in the open state.
    fn recovered(&mut self, cwnd_segs: u32, ssthresh_segs: u32);
}

/// Counts over the life of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions included.
    pub sent_segs: u64,
    /// Retransmissions among them.
    pub retransmitted_segs: u64,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

/// What is fixed about a connection.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Size of its packet at the IP layer in bytes; what pacing counts.
    pub packet_bytes: u32,
    /// Bytes that the sender's own link adds to each packet.
    pub overhead_bytes: u32,
    /// Rate of that link, where it is the flow's alone; none: it never queues.
    pub host_rate_bps: Option<NonZeroU64>,
}

/// The sender of one connection.
#[derive(Debug)]
pub struct Sender {
    pub(crate) conn: Conn,
    pub(crate) algorithm: Controller,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    recovery: Option<Recovery>,
    pub(crate) stack: Stack,
    config: SenderConfig,
    /// The application has supplied the segments below.
    pub(crate) end: u64,
    /// No more will be supplied.
    stopped: bool,
    /// Next new segment when the current reduction began.
    high_seq: u64,
    rto_deadline: Option<Time>,
    /// Timeouts since the cumulative acknowledgement last moved.
    timeouts_in_row: u32,
    /// Segments that the receiver lets be outstanding.
    pub(crate) receive_window_segs: u64,
    /// When the window was last restarted or a segment sent again.
    pub(crate) idle_since: Time,
    pub(crate) usage: WindowUsage,
    pub(crate) shaper: Shaper,
    pub(crate) slow_start: SlowStart,
    /// Neither rates, nor slow starts that slow down, nor shaping need a look at ACKs.
    pub(crate) is_plain: bool,
    /// There only if the algorithm looks at rates.
    pub(crate) rates: Option<Box<RateSampler>>,
    pub(crate) counters: SenderCounters,
}

impl Sender {
    /// A connection that has just been established, with nothing to send yet; `seed`
    /// is what its algorithm draws random numbers from.
    #[must_use]
    pub fn new(
        stack: &Stack,
        config: SenderConfig,
        algorithm: Instance,
        now: Time,
        seed: u64,
    ) -> Self {
        let algorithm = Controller::new(algorithm, seed);
        let mut sender = Self {
            conn: Conn {
                cwnd_segs: stack.initial_window_segs.get(),
                mss_bytes: config.mss_bytes,
                stack: stack.flags(),
                ..Conn::default()
            },
            shaper: Shaper::new(stack, &config, algorithm.sets_rate()),
            rates: algorithm.needs_rates().then(|| Box::new(RateSampler::new(now))),
            algorithm,
            board: Scoreboard::new(stack.loss_detection, stack.reordering_segs.get()),
            rtt: RttEstimator::new(stack.rto_min_ns, stack.rto_max_ns, stack.rto_initial_ns),
            recovery: None,
            stack: stack.clone(),
            config,
            end: 0,
            stopped: false,
            high_seq: 0,
            rto_deadline: None,
            timeouts_in_row: 0,
            is_plain: true,
            receive_window_segs: receive_window_segs(stack, &config),
            idle_since: now,
            usage: WindowUsage::default(),
            slow_start: SlowStart::new(stack.slow_start, stack.limited_slow_start_segs.get()),
            counters: SenderCounters::default(),
        };
        sender.settle();
        sender.look(now);
        sender.algorithm.init(&mut sender.conn);
        sender
    }

    /// Works through an acknowledgement; `sacked` is empty unless it has blocks.
    ///
    /// # Panics
    /// If it acknowledges what was never sent.
    #[inline]
    pub fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        sacked: &SackBlocks,
        observer: &mut impl Observer,
    ) {
        let prior_in_flight = if self.is_plain { 0 } else { self.in_flight() };
        let delivery = self.board.acknowledge(ack, sacked);
        self.look(now);
        self.conn.delivered_segs += delivery.delivered_segs;
        self.algorithm.in_ack_event(&mut self.conn, 0);
        if !self.is_plain {
            self.note_deliveries(&delivery);
        }
        self.sample_rtt(now, &delivery);
        let mut lost_segs = 0;
        if self.needs_state_machine() {
            lost_segs = self.board.infer_losses();
            self.update_state(observer);
            self.conn.in_flight_segs = self.in_flight();
        }
        if delivery.advanced_segs > 0 {
            self.timeouts_in_row = 0;
            self.arm_rto(now);
        }
        if self.is_plain {
            self.control(&delivery, lost_segs);
        } else {
            self.control_beyond_windows(now, &delivery, lost_segs, prior_in_flight);
        }
    }

    /// Stops sending new data; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.end = self.end.min(self.board.next());
    }

    /// The application has data below the segment `end`; `u64::MAX`: there is no end.
    /// What was sent already remains sent. Nothing happens after [`Self::stop`].
    pub fn supply(&mut self, end: u64) {
        if !self.stopped {
            self.end = end.max(self.board.next());
        }
    }

    /// Whether everything that was supplied has been acknowledged.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.board.una() >= self.end
    }

    /// The segment to send now, if any may be sent. To be asked until it gives none.
    #[inline]
    pub fn next_segment(&mut self, now: Time) -> Option<Segment> {
        self.shaper.forget_wait();
        // Counted anew by ACKs and timers, and along while sending.
        let in_flight = self.conn.in_flight_segs;
        debug_assert_eq!(in_flight, self.in_flight());
        if in_flight >= self.conn.cwnd_segs {
            self.note_full();
            return None;
        }
        let lost = self.board.next_lost();
        if lost.is_none() && self.board.next() >= self.sendable_end() {
            self.note_no_data(now, in_flight);
            return None;
        }
        if in_flight == 0 {
            self.restart_if_idle(now);
        }
        if self.shaper.is_active(&self.conn) && !self.may_leave(now, in_flight, lost.is_some()) {
            return None;
        }
        Some(self.send(now, in_flight, lost))
    }

    /// When [`Self::on_timer`] wants to be called, if nothing else happens.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.rto_deadline.unwrap_or(Time::NEVER).min(self.shaper.wake())
    }

    /// Acts on timers that are due; [`Self::next_segment`] is to be asked afterwards.
    pub fn on_timer(&mut self, now: Time, observer: &mut impl Observer) {
        if self.rto_deadline.is_some_and(|deadline| deadline <= now) {
            self.time_out(now, observer);
            self.conn.in_flight_segs = self.in_flight();
        }
    }

    /// Counts since the connection began.
    #[must_use]
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The connection as its algorithm sees it.
    #[must_use]
    pub const fn conn(&self) -> &Conn {
        &self.conn
    }

    /// The round-trip times.
    #[must_use]
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The next segment never sent.
    #[inline]
    #[must_use]
    pub const fn next_new_segment(&self) -> u64 {
        self.board.next()
    }

    /// Segments cumulatively acknowledged.
    #[must_use]
    pub const fn acked_segs(&self) -> u64 {
        self.board.una()
    }

    /// Segments believed to be in the network.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight_segs() as u32
    }

    /// The algorithm's internal values, in the order of its description.
    #[must_use]
    pub fn algorithm_info(&self) -> [u32; INFO_MAX] {
        self.algorithm.info(&self.conn)
    }

    /// Brings the algorithm's view of the connection up to date.
    #[inline]
    pub(crate) fn look(&mut self, now: Time) {
        let mss = self.config.mss_bytes;
        self.conn.now_us = now.as_micros();
        // Sequence numbers are modulo 2^32.
        self.conn.snd_una = (self.board.una() as u32).wrapping_mul(mss);
        self.conn.snd_nxt = (self.board.next() as u32).wrapping_mul(mss);
        self.conn.in_flight_segs = self.in_flight();
    }

    #[inline]
    fn sample_rtt(&mut self, now: Time, delivery: &Delivery) {
        if delivery.delivered_segs == 0 {
            return;
        }
        if let Some(sent) = delivery.first_sent {
            let rtt_us = now.since(sent).as_micros() as u32;
            self.rtt.sample(rtt_us, self.board.una(), self.board.next());
        }
        let latest = delivery.last_sent.map(|sent| now.since(sent).as_micros() as u32);
        if let Some(rtt_us) = latest {
            self.rtt.record(rtt_us);
            self.conn.srtt_us = self.rtt.srtt_us().unwrap_or(rtt_us);
            self.conn.min_rtt_us = self.rtt.min_us().unwrap_or(rtt_us);
        }
        let sample = AckSample {
            pkts_acked: delivery.delivered_segs as u32,
            rtt_us: latest.map_or(-1, |rtt_us| rtt_us as i32),
            in_flight_bytes: self.delivered_in_flight_segs().saturating_mul(self.config.mss_bytes),
        };
        self.algorithm.pkts_acked(&mut self.conn, &sample);
    }

    #[inline]
    fn needs_state_machine(&self) -> bool {
        self.conn.state != CaState::Open || self.board.sacked_segs() + self.board.lost_segs() > 0
    }

    fn update_state(&mut self, observer: &mut impl Observer) {
        let repairing = self.state() == CaState::Recovery || self.state() == CaState::Loss;
        if repairing && self.board.una() >= self.high_seq {
            self.leave_recovery(observer);
        }
        if self.state() == CaState::Recovery || self.state() == CaState::Loss {
            return;
        }
        if self.board.lost_segs() > 0 {
            self.enter_recovery(observer);
        } else if self.board.sacked_segs() > 0 {
            self.set_state(CaState::Disorder);
        } else {
            self.set_state(CaState::Open);
        }
    }

    fn enter_recovery(&mut self, observer: &mut impl Observer) {
        self.reduce(CaState::Recovery, observer);
        let (prior, ssthresh) = (self.conn.prior_cwnd_segs, self.conn.ssthresh_segs);
        self.recovery = Some(Recovery::begin(self.stack.reduction, prior, ssthresh));
        self.set_state(CaState::Recovery);
    }

    /// Asks the algorithm for the window to fall to.
    fn reduce(&mut self, state: CaState, observer: &mut impl Observer) {
        self.conn.prior_cwnd_segs = self.conn.cwnd_segs;
        self.conn.cwnd_cnt = 0;
        self.conn.in_flight_segs = self.in_flight();
        self.conn.ssthresh_segs = self.algorithm.ssthresh(&mut self.conn);
        self.high_seq = self.board.next();
        self.counters.congestion_events += 1;
        observer.congestion(Congestion {
            state,
            cwnd_segs: self.conn.prior_cwnd_segs,
            ssthresh_segs: self.conn.ssthresh_segs,
        });
    }

    fn leave_recovery(&mut self, observer: &mut impl Observer) {
        if self.recovery.take().is_some() && !self.algorithm.has_cong_control() {
            self.conn.cwnd_segs = match self.stack.burst_after_recovery_segs {
                None => self.conn.ssthresh_segs,
                Some(burst) => {
                    let reduced = self.conn.cwnd_segs.min(self.conn.ssthresh_segs);
                    reduced.min(self.in_flight() + burst)
                }
            };
            self.algorithm.cwnd_event(&mut self.conn, CwndEvent::CompleteCwr);
        }
        self.set_state(CaState::Open);
        observer.recovered(self.conn.cwnd_segs, self.conn.ssthresh_segs);
    }

    fn set_state(&mut self, state: CaState) {
        if self.state() != state {
            self.algorithm.set_state(&mut self.conn, state);
            self.conn.state = state;
        }
    }

    const fn state(&self) -> CaState {
        self.conn.state
    }

    /// Whether the window is below the threshold, as the stack sees it.
    #[inline]
    pub(crate) const fn in_slow_start(&self) -> bool {
        let Conn { cwnd_segs, ssthresh_segs, .. } = self.conn;
        cwnd_segs < ssthresh_segs || (self.stack.slow_start_inclusive && cwnd_segs == ssthresh_segs)
    }

    /// Lets recovery or the algorithm set the window.
    #[inline]
    pub(crate) fn control(&mut self, delivery: &Delivery, lost_segs: u64) {
        if let Some(recovery) = &mut self.recovery {
            let progress = Progress {
                delivered_segs: delivery.delivered_segs,
                lost_segs,
                advanced: delivery.advanced_segs > 0,
                in_flight_segs: self.board.in_flight_segs(),
            };
            self.conn.cwnd_segs = recovery.on_ack(self.conn.cwnd_segs, progress);
        } else if delivery.advanced_segs > 0 {
            let acked = self.counted(delivery.delivered_segs as u32);
            self.conn.cwnd_limited = self.is_cwnd_limited();
            if self.is_plain || !self.in_slow_start() {
                self.algorithm.cong_avoid(&mut self.conn, acked);
            } else {
                self.grow_slowly(delivery, acked);
            }
        }
    }

    /// Acknowledged segments as the stack's growth counts them.
    #[inline]
    fn counted(&self, delivered_segs: u32) -> u32 {
        match self.stack.growth {
            Growth::Acks => 1,
            Growth::Segments => delivered_segs,
            Growth::Bytes if self.in_slow_start() => {
                let limit = if self.state() == CaState::Loss { 1 } else { 2 };
                delivered_segs.min(limit)
            }
            Growth::Bytes => delivered_segs,
        }
    }

    #[inline]
    fn send(&mut self, now: Time, in_flight: u32, lost: Option<u64>) -> Segment {
        if in_flight == 0 {
            self.look(now);
            self.algorithm.cwnd_event(&mut self.conn, CwndEvent::TxStart);
        }
        let number = if let Some(segment) = lost {
            self.board.resend(segment);
            self.counters.retransmitted_segs += 1;
            self.idle_since = now;
            segment
        } else {
            self.board.send_new(now)
        };
        self.conn.in_flight_segs = in_flight + 1;
        self.counters.sent_segs += 1;
        if self.rates.is_some() {
            self.note_sent(now, number, lost.is_some());
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.on_sent();
        }
        if self.rto_deadline.is_none() || lost == Some(self.board.una()) {
            self.rto_deadline = Some(now + self.rtt.rto());
        }
        Segment { number, is_retransmission: lost.is_some(), ect: false, cwr: false }
    }

    #[inline]
    fn arm_rto(&mut self, now: Time) {
        let outstanding = self.board.outstanding_segs() > 0;
        self.rto_deadline = outstanding.then(|| now + self.rtt.rto());
    }

    fn time_out(&mut self, now: Time, observer: &mut impl Observer) {
        self.look(now);
        self.counters.timeouts += 1;
        let cwnd_segs = self.conn.cwnd_segs;
        if self.timeout_is_new() {
            self.reduce(CaState::Loss, observer);
            self.algorithm.cwnd_event(&mut self.conn, CwndEvent::Loss);
        }
        observer.timeout(cwnd_segs, self.conn.ssthresh_segs);
        self.recovery = None;
        self.board.lose_all();
        self.conn.cwnd_segs = self.in_flight() + 1;
        self.conn.cwnd_cnt = 0;
        self.high_seq = self.board.next();
        self.set_state(CaState::Loss);
        self.timeouts_in_row += 1;
        self.rtt.back_off();
        self.rto_deadline = Some(now + self.rtt.rto());
        self.shaper.restart(now);
    }

    /// Whether a timeout calls for a reduction of its own, rather than ending one.
    const fn timeout_is_new(&self) -> bool {
        let undisturbed = matches!(self.conn.state, CaState::Open | CaState::Disorder);
        let moved_on = matches!(self.conn.state, CaState::Loss) && self.timeouts_in_row == 0;
        undisturbed || moved_on || self.board.una() >= self.high_seq
    }
}

/// The receive window in whole segments, one at least.
fn receive_window_segs(stack: &Stack, config: &SenderConfig) -> u64 {
    // So large that no sum with a segment number overflows.
    const UNLIMITED: u64 = u64::MAX / 2;
    let segs = |bytes: NonZeroU64| bytes.get() / u64::from(config.mss_bytes);
    stack.receive_window_bytes.map_or(UNLIMITED, |bytes| segs(bytes).clamp(1, UNLIMITED))
}
