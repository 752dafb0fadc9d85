//! The sending end: a pure state machine around a congestion-control algorithm.
//!
//! It is told what happened and when (an acknowledgement, a timer) and asked which
//! segment to send. The order in which an acknowledgement is worked through, and in
//! which the algorithm is called, is that of Linux (`tcp_ack`).

mod acknowledge;
mod congestion;
mod timers;

use dumbbell_algorithm::{CaState, Conn, CwndEvent, INFO_MAX, Instance, SAMPLED_INFO};
use dumbbell_network::{Span, Time};

use crate::arrival::clock;
use crate::controller::Controller;
use crate::ecn::EcnSender;
use crate::frto::Frto;
use crate::rate::RateSampler;
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::shaping::Shaper;
use crate::slow_start::SlowStart;
use crate::stack::Stack;
use crate::tail_probe::TailProbe;
use crate::tcp_bpf::{Limits, TcpBpf};
use crate::tick::Tick;
use crate::undo::Undo;
use crate::usage::WindowUsage;

/// Segments to put on the wire, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The number of the first.
    pub first: u64,
    /// How many there are: one, if it has been sent before.
    pub segs: u32,
    /// They have been sent before.
    pub is_retransmission: bool,
    /// Routers may mark them instead of dropping them (ECN-capable transport).
    pub ect: bool,
    /// The first tells the receiver that the window was reduced (RFC 3168).
    pub cwr: bool,
    /// The last ends a chunk of several, and says so (PSH).
    pub pushed: bool,
    /// The sender has nothing more to send now.
    pub is_last: bool,
}

impl Burst {
    /// Whether its segments say nothing but their numbers.
    #[inline]
    #[must_use]
    pub const fn is_alike(&self) -> bool {
        !(self.is_retransmission | self.cwr | self.pushed)
    }

    /// Its segments, in their order.
    pub fn segments(self) -> impl Iterator<Item = Segment> {
        let last = self.segs - 1;
        (0..self.segs).map(move |place| Segment {
            number: self.first + u64::from(place),
            is_retransmission: self.is_retransmission,
            ect: self.ect,
            cwr: self.cwr && place == 0,
            pushed: self.pushed && place == last,
        })
    }
}

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub number: u64,
    /// It has been sent before.
    pub is_retransmission: bool,
    /// Routers may mark it instead of dropping it (ECN-capable transport).
    pub ect: bool,
    /// It tells the receiver that the window was reduced (RFC 3168).
    pub cwr: bool,
    /// It ends a chunk of several, and says so (PSH).
    pub pushed: bool,
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
}

/// What is fixed about a connection.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Size of its packet at the IP layer in bytes.
    pub packet_bytes: u32,
    /// Bytes that the sender's own link adds to each packet.
    pub overhead_bytes: u32,
    /// That link is its host's interface, of which [`Sender::leaves_host`] hears.
    pub has_interface: bool,
    /// What was set of it while it was set up; none: nothing.
    pub tcp_bpf: Option<TcpBpf>,
    /// Round-trip time of the handshake.
    pub handshake_rtt: Span,
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
    /// Nothing is amiss: an acknowledgement that advances and says nothing else is predicted.
    /// Kept by [`Self::settle`].
    is_in_order: bool,
    /// Both: [`Self::is_in_order`] and [`Self::is_plain`].
    is_in_plain_order: bool,
    /// Neither rates, nor slow starts that slow down, nor pacing, nor chunks need a look at ACKs.
    pub(crate) is_plain: bool,
    takes_slow_path: bool,
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
    pub(crate) limits: Limits,
    pub(crate) outstanding_max_segs: u64,
    /// When a segment was last sent again.
    resent_at: Time,
    /// When the window was last restarted after idle time.
    pub(crate) restarted_at: Time,
    pub(crate) usage: WindowUsage,
    pub(crate) shaper: Shaper,
    pub(crate) slow_start: SlowStart,
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
        let ecn = EcnSender::new(stack, &algorithm);
        let is_own = algorithm.algorithm().is_own();
        let algorithm = Controller::new(algorithm, seed);
        let tcp_bpf = config.tcp_bpf.unwrap_or_default();
        let limits = tcp_bpf.limits(stack, config.mss_bytes);
        let rtt = RttEstimator::new(stack, now, config.handshake_rtt);
        let mut conn = Conn {
            cwnd_segs: stack.initial_window_segs.get(),
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
            is_in_plain_order: false,
            is_plain: false,
            takes_slow_path: false,
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
            resent_at: now,
            restarted_at: now,
            usage: WindowUsage::default(),
            slow_start: SlowStart::new(stack.slow_start, stack.limited_slow_start_segs.get()),
            counters: SenderCounters::default(),
        };
        sender.equip();
        sender.look(now);
        sender.shaper.on_ack(now, &mut sender.conn, 0);
        sender.algorithm.init(&mut sender.conn);
        sender
    }

    /// Predicts no acknowledgement, and sends segments one by one, which comes to the same.
    pub fn take_slow_path(&mut self) {
        self.takes_slow_path = true;
        self.board.take_slow_path();
        self.equip();
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

    /// What to send now, if anything may be sent. To be asked until it gives none, or the last.
    #[inline(always)]
    pub fn next_burst(&mut self, now: Time) -> Option<Burst> {
        let in_flight = self.conn.in_flight_segs;
        let is_simple = self.is_in_plain_order
            && !self.shaper.is_active(&self.conn)
            && in_flight > 0
            && in_flight < self.conn.cwnd_segs
            && !self.tail_probe.is_due()
            && !self.ecn.is_reduced();
        let segs = if is_simple { self.sendable_segs(in_flight) } else { 0 };
        if segs == 0 {
            return self.next_burst_of_any_kind(now);
        }
        self.shaper.forget_wait();
        let first = self.add_new(now, segs);
        self.counters.sent_segs += u64::from(segs);
        let is_last = self.is_stopped(now);
        let (is_retransmission, cwr, pushed) = (false, false, false);
        let ect = self.ecn.is_capable(false);
        Some(Burst { first, segs, is_retransmission, ect, cwr, pushed, is_last })
    }

    #[inline(never)]
    fn next_burst_of_any_kind(&mut self, now: Time) -> Option<Burst> {
        self.shaper.forget_wait();
        if self.tail_probe.is_due() {
            return Some(self.send_probe(now));
        }
        // Counted anew by ACKs and timers, and along while sending.
        let in_flight = self.conn.in_flight_segs;
        debug_assert_eq!(in_flight, self.in_flight());
        if in_flight >= self.conn.cwnd_segs {
            self.note_full();
            return None;
        }
        let lost = self.next_repair();
        if lost.is_none() && !self.has_new_data() {
            self.note_no_data(now, in_flight);
            return None;
        }
        if in_flight == 0 {
            self.restart_if_idle(now);
        }
        let is_one = lost.is_some() || in_flight == 0 || self.takes_slow_path;
        let mut segs = if is_one { 1 } else { self.sendable_segs(in_flight) };
        if self.shaper.is_active(&self.conn) {
            segs = self.may_leave(now, in_flight, lost.is_some(), segs)?;
        }
        Some(match lost {
            None => self.send_new(now, segs),
            Some(segment) => self.send_again(now, segment),
        })
    }

    /// The next acknowledgement carries the receiver's timestamp and echoes that of a
    /// segment; to be told before [`Self::on_ack`], where the algorithm asks for it.
    pub fn hear_stamp(&mut self, stamp: u32, echo: u32) {
        (self.conn.stamp_ms, self.conn.echo_ms) = (stamp, echo);
    }

    /// When [`Self::on_timer`] wants to be called, if nothing else happens.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.loss_deadline().min(self.shaper.wake())
    }

    /// The next segment leaves its host at `at`, or is given up there then. To be told of each
    /// that was sent, in their order.
    pub fn leaves_host(&mut self, at: Time) {
        self.shaper.leaves_host(at);
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
    pub(crate) fn look(&mut self, now: Time) {
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
    pub(crate) fn last_sent(&self) -> Time {
        self.resent_at.max(self.board.last_new_sent())
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

    /// There is new data that buffers have room for.
    #[inline]
    pub(crate) fn has_new_data(&self) -> bool {
        self.board.next() < self.sendable_end()
    }

    /// Sends new segments.
    #[inline]
    fn send_new(&mut self, now: Time, segs: u32) -> Burst {
        let in_flight = self.conn.in_flight_segs;
        if in_flight == 0 {
            self.begin_transmission(now);
        }
        let first = self.add_new(now, segs);
        let (ect, cwr) = (self.ecn.is_capable(false), self.ecn.take_reduced());
        self.note_sent(now, first, segs, false);
        let pushed = self.shaper.ends_chunk();
        let is_last = self.is_stopped(now);
        Burst { first, segs, is_retransmission: false, ect, cwr, pushed, is_last }
    }

    /// Adds new segments to the window; gives the first.
    #[inline(always)]
    fn add_new(&mut self, now: Time, segs: u32) -> u64 {
        self.conn.in_flight_segs += segs;
        let first = self.board.send_new(now, segs);
        self.on_new_sent(now);
        first
    }

    /// Sends a segment again.
    #[inline(never)]
    fn send_again(&mut self, now: Time, segment: u64) -> Burst {
        if self.conn.in_flight_segs == 0 {
            self.begin_transmission(now);
        }
        self.board.resend(now, segment);
        self.conn.in_flight_segs = self.in_flight();
        self.counters.retransmitted_segs += 1;
        self.resent_at = now;
        self.undo.on_resent(now, segment);
        if self.rto_deadline == Time::NEVER || segment == self.board.una() {
            self.rto_deadline = now + self.rtt.rto();
        }
        self.note_sent(now, segment, 1, true);
        Burst {
            first: segment,
            segs: 1,
            is_retransmission: true,
            ect: self.ecn.is_capable(true),
            cwr: false,
            pushed: false,
            is_last: false,
        }
    }

    /// Something is sent while nothing is in flight.
    #[cold]
    fn begin_transmission(&mut self, now: Time) {
        self.look(now);
        self.conn.last_sent_ms = clock(self.last_sent());
        self.algorithm.cwnd_event(&mut self.conn, CwndEvent::TxStart);
    }

    /// Counts and remembers segments that are being sent.
    #[inline]
    fn note_sent(&mut self, now: Time, first: u64, segs: u32, is_retransmission: bool) {
        self.counters.sent_segs += u64::from(segs);
        if let Some(rates) = &mut self.rates {
            let una = self.board.una();
            let is_alone = !is_retransmission && first == una;
            let window = una..self.board.next();
            rates.on_sent(now, first..first + u64::from(segs), window, is_alone, &self.conn);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.on_sent(segs);
        }
    }

    /// Notes whether the next acknowledgement may be predicted.
    #[inline]
    fn settle(&mut self) {
        self.is_in_order = self.state() == CaState::Open
            && self.board.is_in_order()
            && !self.tail_probe.is_open()
            && !self.takes_slow_path;
        self.is_in_plain_order = self.is_in_order && self.is_plain;
    }

    /// Works out what this connection needs beyond its windows.
    pub(crate) fn equip(&mut self) {
        self.board.record_arrivals(self.rates.is_some());
        self.is_plain = !self.takes_slow_path
            && self.rates.is_none()
            && !self.algorithm.sets_rate()
            && !self.shaper.watches_acks()
            && matches!(self.slow_start, SlowStart::Standard);
        self.settle();
    }
}
