//! The sending end: a pure state machine around a congestion-control algorithm.
//!
//! It is told what happened and when (an acknowledgement, a timer) and asked which
//! segment to send. The order in which an acknowledgement is worked through, and in
//! which the algorithm is called, is that of Linux (`tcp_ack`).

mod acknowledge;
mod congestion;
mod timers;

use dumbbell_algorithm::{CaState, Conn, CwndEvent, INFO_MAX, Instance};
use dumbbell_network::{Span, Time};

use crate::ecn::EcnSender;
use crate::frto::Frto;
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::stack::Stack;
use crate::tail_probe::TailProbe;
use crate::undo::Undo;

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
    /// Segments whose acknowledgement carried ECN-Echo.
    pub delivered_ce_segs: u64,
}

/// What is fixed about a connection.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Size of its packet at the IP layer in bytes; what pacing counts.
    pub packet_bytes: u32,
    /// Number of segments to transfer; none: until stopped.
    pub transfer_segs: Option<u64>,
}

/// The sender of one connection.
#[derive(Debug)]
pub struct Sender {
    conn: Conn,
    algorithm: Instance,
    board: Scoreboard,
    rtt: RttEstimator,
    recovery: Option<Recovery>,
    stack: Stack,
    config: SenderConfig,
    /// Segments from here on will not be sent.
    end: u64,
    /// Next new segment when the current reduction began.
    high_seq: u64,
    rto_deadline: Option<Time>,
    /// When losses are to be inferred again although nothing arrives.
    reorder_deadline: Time,
    tail_probe: TailProbe,
    frto: Frto,
    undo: Undo,
    ecn: EcnSender,
    /// Timeouts since the cumulative acknowledgement last moved.
    timeouts_in_row: u32,
    /// Earliest time of the next segment, where the algorithm paces.
    paced_until: Time,
    pacing_blocked: bool,
    usage: WindowUsage,
    counters: SenderCounters,
}

/// Whether the window was the limit in the busiest recent round trip.
#[derive(Clone, Copy, Debug, Default)]
struct WindowUsage {
    limited: bool,
    outstanding_max: u64,
    round_ends: u64,
}

impl Sender {
    /// A connection that has just been established.
    #[must_use]
    pub fn new(stack: &Stack, config: SenderConfig, algorithm: Instance, now: Time) -> Self {
        let mut sender = Self {
            conn: Conn {
                cwnd_segs: stack.initial_window_segs.get(),
                mss_bytes: config.mss_bytes,
                stack: stack.flags(),
                ..Conn::default()
            },
            ecn: EcnSender::new(stack, &algorithm),
            algorithm,
            board: Scoreboard::new(stack),
            rtt: RttEstimator::new(stack),
            recovery: None,
            stack: stack.clone(),
            config,
            end: config.transfer_segs.unwrap_or(u64::MAX),
            high_seq: 0,
            rto_deadline: None,
            reorder_deadline: Time::NEVER,
            tail_probe: TailProbe::new(stack.tail_probe),
            frto: Frto::Idle,
            undo: Undo::default(),
            timeouts_in_row: 0,
            paced_until: Time::ZERO,
            pacing_blocked: false,
            usage: WindowUsage::default(),
            counters: SenderCounters::default(),
        };
        sender.look(now);
        sender.algorithm.init(&mut sender.conn);
        sender
    }

    /// Stops sending new data; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        self.end = self.end.min(self.board.next());
    }

    /// Whether everything that will ever be sent has been acknowledged.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.board.una() >= self.end
    }

    /// The segment to send now, if any may be sent. To be asked until it gives none.
    #[inline]
    pub fn next_segment(&mut self, now: Time) -> Option<Segment> {
        self.pacing_blocked = false;
        if self.tail_probe.is_due() {
            return Some(self.send_probe(now));
        }
        if self.in_flight() >= self.conn.cwnd_segs {
            self.note_usage(true);
            return None;
        }
        let lost = self.next_repair();
        if lost.is_none() && self.board.next() >= self.end {
            self.note_usage(false);
            return None;
        }
        if self.is_paced() && now < self.paced_until {
            self.pacing_blocked = true;
            return None;
        }
        Some(self.send(now, lost))
    }

    /// When [`Self::on_timer`] wants to be called, if nothing else happens.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        let loss = self.loss_deadline();
        if self.pacing_blocked { loss.min(self.paced_until) } else { loss }
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
    fn look(&mut self, now: Time) {
        let mss = u64::from(self.config.mss_bytes);
        self.conn.now_us = now.as_micros();
        self.conn.snd_una = (self.board.una() * mss) as u32;
        self.conn.snd_nxt = (self.board.next() * mss) as u32;
        self.conn.in_flight_segs = self.in_flight();
    }

    const fn state(&self) -> CaState {
        self.conn.state
    }

    /// Whether the window is below the threshold, as the stack sees it.
    #[inline]
    const fn in_slow_start(&self) -> bool {
        let Conn { cwnd_segs, ssthresh_segs, .. } = self.conn;
        cwnd_segs < ssthresh_segs || (self.stack.slow_start_inclusive && cwnd_segs == ssthresh_segs)
    }

    #[inline]
    fn is_cwnd_limited(&self) -> bool {
        let cwnd = u64::from(self.conn.cwnd_segs);
        self.usage.limited || (self.in_slow_start() && cwnd < 2 * self.usage.outstanding_max)
    }

    /// Remembers at the end of a transmission whether the window stopped it.
    #[inline]
    fn note_usage(&mut self, limited: bool) {
        let outstanding = self.board.outstanding_segs();
        let new_round = self.board.una() >= self.usage.round_ends;
        let busier = !self.usage.limited && outstanding > self.usage.outstanding_max;
        if new_round || limited || busier {
            let round_ends = self.board.next();
            self.usage = WindowUsage { limited, outstanding_max: outstanding, round_ends };
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Time, lost: Option<u64>) -> Segment {
        if self.board.outstanding_segs() == 0 {
            self.look(now);
            self.algorithm.cwnd_event(&mut self.conn, CwndEvent::TxStart);
        }
        let is_retransmission = lost.is_some();
        let number = if let Some(segment) = lost {
            self.board.resend(now, segment);
            self.counters.retransmitted_segs += 1;
            segment
        } else {
            self.board.send_new(now)
        };
        self.counters.sent_segs += 1;
        self.on_sent(now, number, is_retransmission);
        if self.is_paced() {
            self.pace(now);
        }
        let ect = self.ecn.is_capable(is_retransmission);
        let cwr = self.ecn.take_reduced(is_retransmission);
        Segment { number, is_retransmission, ect, cwr }
    }

    #[inline]
    const fn is_paced(&self) -> bool {
        self.conn.pacing_rate_bytes_per_s > 0
    }

    fn pace(&mut self, now: Time) {
        let bytes = u64::from(self.config.packet_bytes);
        let interval = Span(bytes * 1_000_000_000 / self.conn.pacing_rate_bytes_per_s);
        self.paced_until = self.paced_until.max(now) + interval;
    }
}
