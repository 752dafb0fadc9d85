//! The sending end: a pure state machine around a congestion-control algorithm.
//!
//! The caller passes events (an ACK, a timer) with their times, and gets the segments to send.
//! Linux (`tcp_ack`) determines the order of the steps for an ACK and of the calls to the
//! algorithm.

mod acknowledge;
mod burst;
mod congestion;
mod sampling;
mod sending;
mod steering;
mod timers;
mod window;

use std::num::NonZeroU64;

use dumbbell_algorithm::{CaState, Conn, INFO_MAX, Instance, SAMPLED_INFO, SlowStart, StartChoice};
use dumbbell_network::Time;

use crate::accecn::MarkCounts;
use crate::config::SenderConfig;
use crate::controller::Controller;
use crate::ecn::EcnSender;
use crate::frto::Frto;
use crate::rate::RateSampler;
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::shaping::Shaper;
use crate::stack::Stack;
use crate::tail_probe::TailProbe;
use crate::tcp_bpf::Limits;
use crate::tick::Tick;
use crate::undo::Undo;
use crate::usage::WindowUsage;

pub use burst::Burst;

/// One reduction of the window, at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Recovery, CWR or, after a timeout, Loss.
    pub state: CaState,
    /// The window before the reduction, in segments.
    pub cwnd_segs: u32,
    /// The window to fall to, in segments.
    pub ssthresh_segs: u32,
}

/// Receiver of a sender's reports.
pub trait Observer {
    /// The sender begins to reduce the window.
    fn congestion(&mut self, congestion: Congestion);
    /// The retransmission timer expired. The window was `cwnd_segs` before.
    fn timeout(&mut self, cwnd_segs: u32, ssthresh_segs: u32);
    /// The sender is back in the open state.
    fn recovered(&mut self, cwnd_segs: u32, ssthresh_segs: u32);
    /// The sender took a reduction back that proved spurious.
    fn undone(&mut self, _cwnd_segs: u32, _ssthresh_segs: u32) {}
}

/// Counts over the life of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data segments sent, with retransmissions.
    pub sent_segs: u64,
    /// Retransmissions among them.
    pub retransmitted_segs: u64,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Reductions that proved spurious and were taken back.
    pub spurious_recoveries: u32,
    /// Tail loss probes sent.
    pub tail_probes: u32,
    /// Refusals of segments by the host's own queue; a segment that it refuses twice counts twice.
    pub local_drops: u32,
}

/// The sender of one connection.
#[derive(Debug)]
pub struct Sender {
    conn: Conn,
    algorithm: Controller,
    board: Scoreboard,
    rtt: RttEstimator,
    recovery: Option<Recovery>,
    stack: Stack,
    config: SenderConfig,
    /// The application has supplied the segments below this number.
    end: u64,
    /// True if the application will supply no more.
    stopped: bool,
    /// True if nothing is lost, SACKed or uncertain. The next ACK is then predicted if it advances
    /// and carries nothing else. [`Self::settle`] updates this.
    is_in_order: bool,
    /// [`Self::is_in_order`] and [`Self::is_window_based`].
    is_fast: bool,
    /// True if an ACK concerns only the windows: there are no rate samples, no slow start of the
    /// stack, no pacing and no chunks.
    is_window_based: bool,
    predicts_nothing: bool,
    /// The next new segment at the start of the current reduction.
    high_seq: u64,
    tick: Tick,
    rto_deadline: Time,
    /// Time at which losses are inferred again even if no ACK arrives.
    reorder_deadline: Time,
    tail_probe: TailProbe,
    frto: Frto,
    undo: Undo,
    ecn: EcnSender,
    /// Timeouts since the cumulative ACK last advanced.
    timeouts_in_row: u32,
    /// Limits of buffers on outstanding segments, and the smallest of them.
    limits: Limits,
    outstanding_max_segs: u64,
    /// Number of probes since the receiver closed its window, and whether one must be sent now.
    window_probes: u32,
    probes_window: bool,
    /// Time of the last retransmission.
    resent_at: Time,
    /// Time of the last restart of the window after idle time.
    restarted_at: Time,
    usage: WindowUsage,
    shaper: Shaper,
    /// None unless the stack has a separate slow start.
    slow_start: Option<Box<SlowStart>>,
    /// None unless the algorithm needs rate samples.
    rates: Option<Box<RateSampler>>,
    counters: SenderCounters,
}

impl Sender {
    /// A sender of a new connection, with no data yet. Its algorithm draws random numbers from
    /// `seed`.
    #[must_use]
    pub fn new(
        stack: &Stack,
        config: SenderConfig,
        algorithm: Instance,
        now: Time,
        seed: u64,
    ) -> Self {
        let ecn = EcnSender::new(stack, &algorithm, config.mss_bytes);
        let is_user_defined = algorithm.algorithm().is_user_defined();
        let algorithm = Controller::new(algorithm, seed);
        let tcp_bpf = config.tcp_bpf.unwrap_or_default();
        let limits = tcp_bpf.limits(stack, config.mss_bytes);
        let rtt = RttEstimator::after(&config.handshake, stack, now);
        let mut conn = Conn {
            cwnd_segs: config.handshake.initial_window_segs(stack),
            srtt_us: rtt.srtt_us(),
            min_rtt_us: rtt.min_us(),
            mss_bytes: config.mss_bytes,
            stack: stack.flags(),
            ..Conn::default()
        };
        tcp_bpf.apply(&mut conn);
        let outstanding_max_segs = limits.outstanding_segs(is_user_defined);
        let mut sender = Self {
            shaper: Shaper::new(stack, &config, algorithm.sets_rate()),
            rates: algorithm.needs_rates().then(|| Box::new(RateSampler::new(now, &mut conn))),
            conn,
            algorithm,
            board: Scoreboard::new(stack),
            rtt,
            recovery: None,
            stack: stack.clone(),
            config,
            end: 0,
            stopped: false,
            is_in_order: false,
            is_fast: false,
            is_window_based: false,
            predicts_nothing: false,
            high_seq: 0,
            tick: Tick::of(stack),
            rto_deadline: Time::NEVER,
            reorder_deadline: Time::NEVER,
            tail_probe: TailProbe::new(stack),
            frto: Frto::Idle,
            undo: Undo::default(),
            ecn,
            timeouts_in_row: 0,
            limits,
            outstanding_max_segs,
            window_probes: 0,
            probes_window: false,
            resent_at: now,
            restarted_at: now,
            usage: WindowUsage::default(),
            slow_start: stack
                .start()
                .filter(StartChoice::watches_acks)
                .map(|choice| Box::new(SlowStart::new(choice))),
            counters: SenderCounters::default(),
        };
        sender.equip();
        sender.look(now);
        // This comes before `init`, so the algorithm finds the stack's rate and may replace it.
        sender.shaper.on_ack(now, &mut sender.conn, 0);
        sender.algorithm.init(&mut sender.conn);
        sender
    }

    /// Disable the prediction of ACKs, and send segments one by one. The results do not change.
    pub fn predict_nothing(&mut self) {
        self.predicts_nothing = true;
        self.board.predict_nothing();
        self.equip();
    }

    /// Make the last of every `segs` segments shorter than a full one, because a message ends
    /// there.
    pub fn shorten_every(&mut self, segs: NonZeroU64) {
        if let Some(rates) = &mut self.rates {
            rates.shorten_every(segs);
        }
    }

    /// Stop sending new data. Outstanding segments are still repaired.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.end = self.end.min(self.board.next());
    }

    /// Set the end of the application's data: the first segment without data, or `u64::MAX` for no
    /// end. Segments that were sent remain sent. After [`Self::stop`] this has no effect.
    pub fn supply(&mut self, end: u64) {
        if !self.stopped {
            // Data that was sent cannot be taken back, even if the application now has less.
            self.end = end.max(self.board.next());
        }
    }

    /// Return whether all supplied data has been acknowledged.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.board.una() >= self.end
    }

    /// Set the receiver's timestamp and the echo of the next ACK. Call this before [`Self::on_ack`]
    /// if the algorithm needs timestamps.
    pub fn take_stamp(&mut self, stamp: u32, echo: u32) {
        (self.conn.stamp_ms, self.conn.echo_ms) = (stamp, echo);
    }

    /// Set the counts of marks of the next ACK. Call this before [`Self::on_ack`] if the stack
    /// counts marks.
    pub fn take_marks(&mut self, counts: MarkCounts) {
        self.ecn.take(counts);
    }

    /// Time at which to call [`Self::on_timer`], if nothing happens before.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.loss_deadline().min(self.shaper.wake())
    }

    /// Return whether segments leave in chunks, as with segmentation offload.
    #[inline]
    #[must_use]
    pub const fn sends_chunks(&self) -> bool {
        self.stack.tso
    }

    /// Return whether routers may mark a segment instead of dropping it (ECN-capable transport).
    #[inline]
    #[must_use]
    pub const fn is_ecn_capable(&self, is_retransmission: bool) -> bool {
        self.ecn.is_capable(is_retransmission)
    }

    /// Report that the next `segs` sent segments leave their host until `at`, or are dropped there
    /// then. Return whether [`Self::deadline`] may have changed.
    #[inline]
    pub fn on_tx_completion(&mut self, segs: u32, at: Time) -> bool {
        self.shaper.on_tx_completion(segs, at)
    }

    /// Count since the connection began.
    #[must_use]
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The connection in the view of its algorithm.
    #[must_use]
    pub const fn conn(&self) -> &Conn {
        &self.conn
    }

    /// The round-trip times.
    #[must_use]
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The next segment that was never sent.
    #[inline]
    #[must_use]
    pub const fn next_new_segment(&self) -> u64 {
        self.board.next()
    }

    /// Number of segments acknowledged cumulatively.
    #[must_use]
    pub const fn acked_segs(&self) -> u64 {
        self.board.una()
    }

    /// Estimated number of segments in the network.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight_segs() as u32
    }

    /// Sampled internal values of the algorithm, in the order of its description.
    #[must_use]
    pub fn algorithm_info(&self) -> [u32; SAMPLED_INFO] {
        self.algorithm.info(&self.conn)
    }

    /// Mode of the algorithm and all its internal values. None if it has no modes.
    #[must_use]
    pub fn algorithm_mode(&self) -> Option<(u32, [u32; INFO_MAX])> {
        self.algorithm.mode(&self.conn)
    }

    /// Update the algorithm's view of the connection.
    #[inline]
    fn look(&mut self, now: Time) {
        self.look_in_order(now);
        self.conn.in_flight_segs = self.in_flight();
        self.conn.resent_segs = self.counters.retransmitted_segs as u32;
        self.conn.pacing_wait_us = self.shaper.pacing_wait_us(now);
    }

    /// Update the view as [`Self::look`] does, if all outstanding segments are in flight.
    #[inline(always)]
    fn look_in_order(&mut self, now: Time) {
        let mss = self.config.mss_bytes;
        self.conn.now_us = now.as_micros();
        // Sequence numbers are modulo 2^32.
        self.conn.snd_una = (self.board.una() as u32).wrapping_mul(mss);
        self.conn.snd_nxt = (self.board.next() as u32).wrapping_mul(mss);
        self.conn.in_flight_segs = self.board.outstanding_segs() as u32;
    }

    /// Time at which data was last sent; before the first data, the start of the connection.
    fn last_sent(&self) -> Time {
        // Retransmissions end idle time, too, because Linux's lsndtime counts any data segment.
        self.resent_at.max(self.board.last_new_sent())
    }

    const fn state(&self) -> CaState {
        self.conn.state
    }

    /// Return whether the window is below ssthresh, by the rule of the stack.
    #[inline]
    const fn in_slow_start(&self) -> bool {
        let Conn { cwnd_segs, ssthresh_segs, .. } = self.conn;
        // RFC 5681 allows either choice at ssthresh. Old kernels still used slow start.
        cwnd_segs < ssthresh_segs || (self.stack.slow_start_inclusive && cwnd_segs == ssthresh_segs)
    }

    /// Update whether the next ACK may be predicted.
    #[inline]
    fn settle(&mut self) {
        // With an open probe each ACK may prove a loss, and with counted marks each ACK may carry
        // new ones.
        self.is_in_order = self.state() == CaState::Open
            && self.board.is_in_order()
            && !self.tail_probe.is_open()
            && !self.predicts_nothing
            && !self.ecn.is_counted();
        self.is_fast = self.is_in_order && self.is_window_based;
    }

    /// Determine the needs of this connection beyond its windows.
    fn equip(&mut self) {
        self.is_window_based = !self.predicts_nothing
            && self.rates.is_none()
            && !self.algorithm.sets_rate()
            && !self.shaper.watches_acks()
            && self.slow_start.is_none();
        self.settle();
    }
}
