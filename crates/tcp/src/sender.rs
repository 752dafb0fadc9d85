//! The sending end: a pure state machine around a congestion-control algorithm.
//!
//! It is called with what happened and when (an acknowledgement, a timer) and gives the
//! segments to send. The order in which an acknowledgement is worked through, and in
//! which the algorithm is called, is that of Linux (`tcp_ack`).

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
    /// The reduction proved spurious and was taken back.
    fn undone(&mut self, _cwnd_segs: u32, _ssthresh_segs: u32) {}
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
    /// Reductions that proved spurious and were taken back.
    pub spurious_recoveries: u32,
    /// Tail loss probes sent.
    pub tail_probes: u32,
    /// Segments that the host's own queue refused, each as often as it did.
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
    /// The application has supplied the segments below.
    end: u64,
    /// No more will be supplied.
    stopped: bool,
    /// Nothing is amiss: an acknowledgement that advances and says nothing else is predicted.
    /// Kept by [`Self::settle`].
    is_in_order: bool,
    /// Both: [`Self::is_in_order`] and [`Self::is_window_based`].
    is_fast: bool,
    /// Neither rates, nor slow starts that slow down, nor pacing, nor chunks need a look at ACKs.
    is_window_based: bool,
    predicts_nothing: bool,
    /// Next new segment when the current reduction began.
    high_seq: u64,
    tick: Tick,
    rto_deadline: Time,
    /// When losses are to be inferred again although nothing arrives.
    reorder_deadline: Time,
    tail_probe: TailProbe,
    frto: Frto,
    undo: Undo,
    ecn: EcnSender,
    /// Timeouts since the cumulative acknowledgement last moved.
    timeouts_in_row: u32,
    /// Segments that buffers let be outstanding, and the least of them.
    limits: Limits,
    outstanding_max_segs: u64,
    /// Probes since the receiver closed its window, and whether one is to be sent now.
    window_probes: u32,
    probes_window: bool,
    /// When a segment was last sent again.
    resent_at: Time,
    /// When the window was last restarted after idle time.
    restarted_at: Time,
    usage: WindowUsage,
    shaper: Shaper,
    /// There only if the stack gives the algorithm one.
    slow_start: Option<Box<SlowStart>>,
    /// There only if the algorithm looks at rates.
    rates: Option<Box<RateSampler>>,
    counters: SenderCounters,
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
        let ecn = EcnSender::new(stack, &algorithm, config.mss_bytes);
        let is_own = algorithm.algorithm().is_own();
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
        let outstanding_max_segs = limits.outstanding_segs(is_own);
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
        // Before `init`, so that an algorithm finds the stack's rate there and may replace it.
        sender.shaper.on_ack(now, &mut sender.conn, 0);
        sender.algorithm.init(&mut sender.conn);
        sender
    }

    /// Predicts no acknowledgement, and sends segments one by one, which comes to the same.
    pub fn predict_nothing(&mut self) {
        self.predicts_nothing = true;
        self.board.predict_nothing();
        self.equip();
    }

    /// Makes the last of each `segs` segments one below full size, as a message ends there.
    pub fn shorten_every(&mut self, segs: NonZeroU64) {
        if let Some(rates) = &mut self.rates {
            rates.shorten_every(segs);
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
            // Data that was sent cannot be taken back, even if the application now says that it has
            // less.
            self.end = end.max(self.board.next());
        }
    }

    /// Whether everything that was supplied has been acknowledged.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.board.una() >= self.end
    }

    /// The next acknowledgement carries the receiver's timestamp and echoes that of a
    /// segment; to be called before [`Self::on_ack`], where the algorithm asks for it.
    pub fn take_stamp(&mut self, stamp: u32, echo: u32) {
        (self.conn.stamp_ms, self.conn.echo_ms) = (stamp, echo);
    }

    /// The next acknowledgement says this of marks; to be called before [`Self::on_ack`], where the
    /// stack counts them.
    pub fn take_marks(&mut self, counts: MarkCounts) {
        self.ecn.take(counts);
    }

    /// When [`Self::on_timer`] wants to be called, if nothing else happens.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.loss_deadline().min(self.shaper.wake())
    }

    /// Whether segments leave in chunks, as with segmentation offload.
    #[inline]
    #[must_use]
    pub const fn sends_chunks(&self) -> bool {
        self.stack.tso
    }

    /// The next `segs` segments of those sent leave their host until `at`, or are given up there
    /// then. Gives whether [`Self::deadline`] may be another.
    #[inline]
    pub fn on_tx_completion(&mut self, segs: u32, at: Time) -> bool {
        self.shaper.on_tx_completion(segs, at)
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

    /// The algorithm's internal values that are sampled, in the order of its description.
    #[must_use]
    pub fn algorithm_info(&self) -> [u32; SAMPLED_INFO] {
        self.algorithm.info(&self.conn)
    }

    /// Which mode the algorithm is in, and all its internal values; none: it has no modes.
    #[must_use]
    pub fn algorithm_mode(&self) -> Option<(u32, [u32; INFO_MAX])> {
        self.algorithm.mode(&self.conn)
    }

    /// Brings the algorithm's view of the connection up to date.
    #[inline]
    fn look(&mut self, now: Time) {
        self.look_in_order(now);
        self.conn.in_flight_segs = self.in_flight();
        self.conn.resent_segs = self.counters.retransmitted_segs as u32;
        self.conn.pacing_wait_us = self.shaper.pacing_wait_us(now);
    }

    /// As [`Self::look`], where all that is outstanding is in flight.
    #[inline(always)]
    fn look_in_order(&mut self, now: Time) {
        let mss = self.config.mss_bytes;
        self.conn.now_us = now.as_micros();
        // Sequence numbers are modulo 2^32.
        self.conn.snd_una = (self.board.una() as u32).wrapping_mul(mss);
        self.conn.snd_nxt = (self.board.next() as u32).wrapping_mul(mss);
        self.conn.in_flight_segs = self.board.outstanding_segs() as u32;
    }

    /// When data was last sent; before the first when the connection began.
    fn last_sent(&self) -> Time {
        // Retransmissions end idle time, too: lsndtime in Linux is of any data segment.
        self.resent_at.max(self.board.last_new_sent())
    }

    const fn state(&self) -> CaState {
        self.conn.state
    }

    /// Whether the window is below the threshold, as the stack sees it.
    #[inline]
    const fn in_slow_start(&self) -> bool {
        let Conn { cwnd_segs, ssthresh_segs, .. } = self.conn;
        // At the threshold RFC 5681 leaves the choice. Old kernels still took slow start.
        cwnd_segs < ssthresh_segs || (self.stack.slow_start_inclusive && cwnd_segs == ssthresh_segs)
    }

    /// Notes whether the next acknowledgement may be predicted.
    #[inline]
    fn settle(&mut self) {
        // An open probe makes each ACK a possible proof of loss, and counted marks may change with
        // each.
        self.is_in_order = self.state() == CaState::Open
            && self.board.is_in_order()
            && !self.tail_probe.is_open()
            && !self.predicts_nothing
            && !self.ecn.is_counted();
        self.is_fast = self.is_in_order && self.is_window_based;
    }

    /// Works out what this connection needs beyond its windows.
    fn equip(&mut self) {
        self.is_window_based = !self.predicts_nothing
            && self.rates.is_none()
            && !self.algorithm.sets_rate()
            && !self.shaper.watches_acks()
            && self.slow_start.is_none();
        self.settle();
    }
}
