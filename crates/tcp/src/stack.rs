//! The TCP stack of a host, as data: switches for the differences between kernels.
//!
//! A profile is a set of switches with a name. A scenario names a profile and may override single
//! switches of it.

mod choice;
mod profiles;

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_algorithm::{
    Algorithm, Need, STACK_COUNT_ACKS, STACK_ENDS_SLOW_START, STACK_SLOW_START_INCLUSIVE,
    StartChoice,
};
use dumbbell_network::Span;
use serde::{Deserialize, Serialize};

pub use choice::{SWITCHES, StackChoice, describe_profiles};
pub use profiles::PROFILES;
#[cfg(test)]
pub(crate) use profiles::linux_6;

/// The switches of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Window of a new connection in segments.
    pub initial_window_segs: NonZeroU32,
    /// True if a flow begins with a SYN. It knows its round-trip time, and sends data, once the SYN
    /// is answered. If false, it begins with a connection and the time of the empty path.
    pub handshake: bool,
    /// Time that a SYN or SYN-ACK waits for its answer before it is sent again, in ns.
    pub syn_timeout_ns: Span,
    /// Timeouts of the SYN before they double, as in Linux since 6.5.
    pub syn_linear_timeouts: u32,
    /// Losses of the SYN after which the initial window is still whole and not one segment (RFC
    /// 5681, section 3.1); None for any number.
    pub syn_retries_free: Option<u32>,
    /// Unit of growth in congestion avoidance and slow start.
    pub growth: Growth,
    /// Largest number of segments that an ACK adds in slow start, where `growth` is by bytes (RFC
    /// 3465's L). It is one after a timeout.
    pub byte_counting_segs: NonZeroU32,
    /// True if slow start is cwnd <= ssthresh, and false if it is cwnd < ssthresh.
    pub slow_start_inclusive: bool,
    /// Rule by which the window falls to ssthresh during recovery.
    pub reduction: Reduction,
    /// Rule by which a segment counts as lost.
    pub loss_detection: LossDetection,
    /// Segments that may arrive out of order without a loss being inferred.
    pub reordering_segs: NonZeroU32,
    /// Upper bound of that number, which rises when reordering is observed.
    pub reordering_max_segs: NonZeroU32,
    /// True if fewer SACKs suffice while fewer than four segments are outstanding (RFC 5827).
    pub early_retransmit: bool,
    /// Rule for a probe before the retransmission timeout.
    pub tail_probe: ProbeRule,
    /// True if the next arrivals may prove a timeout spurious (RFC 5682).
    pub frto: bool,
    /// True if a reduction is undone when it proves spurious.
    pub undo: bool,
    /// Rule for the retransmission timeout.
    pub rto_rule: RtoRule,
    /// True if echoed timestamps give the round-trip time of retransmissions (RFC 7323, section 4),
    /// where segments carry them.
    pub rtt_from_timestamps: bool,
    /// True if the algorithm gets ACKs that only carry SACKs, and the round-trip times of echoed
    /// timestamps, as in Linux since 4.2.
    pub reports_all_acks: bool,
    /// True if the algorithm's `in_ack_event` comes before its `pkts_acked`, as in Linux until
    /// 6.15. Linux 6.16 and later fixes of 6.12 reversed the order. In both orders the delivery of
    /// the ACK is already counted.
    pub ack_event_first: bool,
    /// Time for which the smallest round-trip time is remembered, in ns; None for ever.
    pub min_rtt_window_ns: Option<Span>,
    /// Window beyond the number in flight when recovery ends; None for ssthresh.
    pub burst_after_recovery_segs: Option<u32>,
    /// Flows that are paced.
    pub pacing: Pacing,
    /// Segments of a new connection that pacing does not delay.
    pub pacing_free_segs: u32,
    /// True if a late chunk shortens the wait for the next one, by at most half of its length.
    pub pacing_credit: bool,
    /// Lateness of the timer of a paced chunk, in ns.
    pub pacing_late_ns: Span,
    /// True if segments leave in chunks, as with segmentation offload.
    pub tso: bool,
    /// True if a chunk of several segments ends with PSH, so that its receiver acknowledges at
    /// once, as in Linux since 5.4.
    pub tso_push: bool,
    /// True if a sender without chunks pushes segments, as in Linux since 6.6. It pushes each
    /// segment that exceeds half of the largest window since the last push, and the receiver
    /// acknowledges it at once.
    pub window_push: bool,
    /// Most bytes of a flow that may wait in its own host; None is unlimited.
    pub tsq_bytes: Option<NonZeroU64>,
    /// True if a segment stays with the sender when the full queue of its host refuses it. The
    /// sender then reduces its window as after a congestion mark.
    pub local_drops: bool,
    /// Rule by which the window grows below ssthresh.
    pub slow_start: SlowStart,
    /// Window from which limited slow start slows down, in segments.
    pub limited_slow_start_segs: NonZeroU32,
    /// Window that Careful Resume knows from an earlier connection, in segments.
    pub resume_window_segs: Option<NonZeroU32>,
    /// Smallest round-trip time of that connection, in ns.
    pub resume_rtt_ns: Option<Span>,
    /// True if idle time longer than the retransmission timeout halves the window, once for each
    /// timeout that it lasts.
    pub slow_start_after_idle: bool,
    /// True if a window falls towards its use after a retransmission timeout in which it was
    /// neither used nor about to grow.
    pub window_validation: bool,
    /// Largest payload in flight that the receiver allows, in bytes; None is unlimited.
    pub receive_window_bytes: Option<NonZeroU64>,
    /// Receive buffer of a new connection, in bytes. While it allows a larger window than the
    /// offered one, each segment raises the window and is acknowledged at once.
    pub receive_buffer_bytes: u64,
    /// Largest size of that buffer, in bytes. If it is the same, the buffer does not grow.
    pub receive_buffer_max_bytes: u64,
    /// Segments that a growing buffer has room for beyond those of the next round trip.
    pub receive_spare_segs: u32,
    /// Shortest variance term of the retransmission timeout, in ns.
    pub rto_min_ns: Span,
    /// Longest retransmission timeout, in ns.
    pub rto_max_ns: Span,
    /// Longest wait of an ACK for a second segment, in ns.
    pub delayed_ack_ns: Span,
    /// Segments acknowledged one by one when a connection starts.
    pub quick_acks: u32,

    /// Rule for the wait of an ACK.
    pub delayed_ack: AckDelay,
    /// Longest wait under an adaptive rule, in ns.
    pub delayed_ack_max_ns: Span,
    /// Tick of the kernel's timers, in ns (1 s / HZ). Timers end at a tick. If None, they end
    /// exactly, and adaptive waits are counted in ms.
    pub timer_tick_ns: Option<NonZeroU64>,
    /// True if ACKs report segments that arrived out of order (RFC 2018).
    pub sack: bool,
    /// True if they also report segments that arrived twice (RFC 2883).
    pub dsack: bool,
    /// True if segments carry timestamps (RFC 7323), which leave space for three blocks of four.
    pub timestamps: bool,
    /// Kind of explicit congestion notification.
    pub ecn: Ecn,
    /// True if ACKs count marks instead (RFC 9768).
    pub accecn: bool,
    /// ACKs that then carry the option.
    pub accecn_option: AccEcnOption,
    /// Kind of explicit congestion notification that the receiver's end supports.
    pub ecn_peer: EcnPeer,
    /// Longest wait of an ACK of a segment out of order, in ns; 0 for no wait.
    pub sack_compression_ns: Span,
    /// Largest number of such ACKs that wait together.
    pub sack_compression_segs: u32,
    /// Segments that receive offload merges into one; 0 or 1 merges none.
    pub gro_segs: u32,
    /// Longest wait of the first of them for the others, in ns.
    pub gro_flush_ns: Span,
}

/// Rule for the wait of an ACK for a second segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckDelay {
    /// Always `delayed_ack_ns`. The quota of quick ACKs is used once.
    Fixed,
    /// As in Linux: the wait follows the gaps between segments, from `delayed_ack_ns` up. Pauses,
    /// duplicates and congestion marks refill the quota.
    Adaptive,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until the sender reports that it has reduced its window (RFC 3168).
    Classic,
    /// Each ACK echoes the mark of its own segments (RFC 8257, section 3.2).
    Dctcp,
    /// As `dctcp`, and ECT(1) requests the service of L4S (RFC 9331).
    L4s,
}

/// ACKs that carry the AccECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccEcnOption {
    /// All ACKs with space for it, and segments too.
    Always,
    /// ACKs after a mark or a change, and three in a round trip.
    Changes,
    /// No ACKs.
    Never,
}

/// Support of explicit congestion notification at the receiver's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPeer {
    /// The kind that the sender's end requests.
    Same,
    /// RFC 3168.
    Classic,
    /// None.
    Off,
}

/// Growth of the window by an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// One step for each ACK, whatever it covers (Linux until 3.18).
    Acks,
    /// One step for each acknowledged segment (Linux since 4.0).
    Segments,
    /// Appropriate byte counting (RFC 3465): as `Segments`, but in slow start at most
    /// `byte_counting_segs` for each ACK, and one after a timeout.
    Bytes,
}

/// Flows that are paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Flows whose algorithm sets a rate.
    Off,
    /// All flows, at the algorithm's rate. Without one, the rate is 200 % of the window per round
    /// trip in slow start and 120 % later, as with Linux's fq.
    Fq,
}

/// Growth of the window below ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// The algorithm's own: CUBIC and CDG leave slow start by their HyStart.
    Own,
    /// Growth by acknowledged segments until a loss or a mark (RFC 5681).
    Standard,
    /// Limited slow start (RFC 3742), which is slower above a certain window.
    Limited,
    /// HyStart, as in Linux's CUBIC.
    Hystart,
    /// HyStart++ (RFC 9406), which is slower once the round-trip time rises.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// SEARCH (draft-chung-ccwg-search), which ends when less is delivered than was sent.
    Search,
    /// Careful Resume (RFC 9959), which jumps to half of the window of an earlier connection.
    CarefulResume,
}

/// Fall of the window during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// One segment less for every second ACK, down to half of ssthresh. Slow start then leads back
    /// to ssthresh (Linux until 2.6.12).
    RateHalving,
    /// The same, down to half of ssthresh for algorithms that kept Reno's bound, and down to
    /// ssthresh for others (Linux 2.6.13 to 3.1).
    RateHalvingBounded,
    /// Proportional rate reduction, always with its slow-start bound (Linux 3.2 to 4.2).
    PrrSlowStart,
    /// Proportional rate reduction. It has the slow-start bound only while retransmissions are
    /// delivered and none is lost (Linux 4.3 to 5.13).
    PrrCautious,
    /// Proportional rate reduction (RFC 9937).
    Prr,
}

/// Rule by which a segment counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// Forward acknowledgement (Mathis and Mahdavi 1996). A segment is lost if the highest SACKed
    /// segment is more than `reordering_segs` ahead, until reordering is observed. A retransmission
    /// in Recovery is lost once a segment first sent after it is SACKed.
    Fack,
    /// As `Fack` for segments that were sent once. RACK with a window of 1 ms also finds these, and
    /// lost retransmissions (Linux 4.10 to 4.14).
    FackRack,
    /// A segment is lost if at least `reordering_segs` segments above are SACKed (RFC 6675). A
    /// retransmission is lost as soon as a segment sent later arrives (RFC 8985 in a network that
    /// keeps the order).
    Sacked,
    /// RACK: a segment is lost if it is overdue compared with segments sent later (RFC 8985).
    Rack,
    /// Without SACK. The first segment is lost after `reordering_segs` duplicate ACKs, and the next
    /// hole at each partial ACK (RFC 6582).
    NewReno,
}

/// Time of a probe that may prevent a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeRule {
    /// Never.
    Off,
    /// After 2 SRTT, at least 10 ms (draft-dukkipati-tcpm-tcp-loss-probe; Linux 3.10 to 4.12).
    Draft,
    /// After 2 SRTT and 2 ms (RFC 8985).
    Rfc8985,
}

/// Rule for the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT and a variance term of at least `rto_min_ns` that falls once per round trip.
    Linux,
    /// SRTT and four deviations, at least `rto_min_ns` together (RFC 6298).
    Rfc6298,
}

impl Stack {
    /// Flags of the stack for algorithms, as bits of `enum cc_stack`.
    #[must_use]
    pub const fn flags(&self) -> u8 {
        let inclusive = if self.slow_start_inclusive { STACK_SLOW_START_INCLUSIVE } else { 0 };
        let acks = if matches!(self.growth, Growth::Acks) { STACK_COUNT_ACKS } else { 0 };
        let ends =
            if matches!(self.slow_start, SlowStart::Own) { 0 } else { STACK_ENDS_SLOW_START };
        inclusive | acks | ends
    }

    /// The slow start that the stack gives to algorithms. None if they use their own.
    #[must_use]
    pub fn start(&self) -> Option<StartChoice> {
        match self.slow_start {
            SlowStart::Own => None,
            SlowStart::Standard => Some(StartChoice::standard()),
            SlowStart::Limited => Some(StartChoice::limited(self.limited_slow_start_segs.get())),
            SlowStart::Hystart => Some(StartChoice::hystart()),
            SlowStart::HystartPlusPlus => Some(StartChoice::hystart_plus_plus()),
            SlowStart::Search => Some(StartChoice::search()),
            SlowStart::CarefulResume => {
                let window = self.resume_window_segs.map_or(0, NonZeroU32::get);
                let rtt = self.resume_rtt_ns.unwrap_or(Span::ZERO).as_micros();
                Some(StartChoice::resume(window, u32::try_from(rtt).unwrap_or(u32::MAX)))
            }
        }
    }

    /// Check that an algorithm can have this slow start.
    ///
    /// # Errors
    /// If it sets its window itself: the key below `stack`, and the fault.
    pub fn check_start(&self, algorithm: &Algorithm) -> Result<(), (String, String)> {
        if self.slow_start == SlowStart::Own || !algorithm.has_cong_control() {
            return Ok(());
        }
        let problem = format!(
            "slow_start = {}, but {} sets its window itself and has its own start; give this flow \
             slow_start = \"own\"",
            serde_json::json!(self.slow_start),
            algorithm.name
        );
        Err(("switches.slow_start".into(), problem))
    }

    /// Check that marks mean the same to both ends and to this algorithm.
    ///
    /// # Errors
    /// If there are no marks to count, or not those that it needs: the key below `stack`, and the
    /// fault.
    pub fn check_marks(&self, algorithm: &Algorithm) -> Result<(), (String, String)> {
        let refuse = |switch: &str, problem| Err((format!("switches.{switch}"), problem));
        let needs_marks = algorithm.flags.contains(&Need::Ecn);
        let name = algorithm.name;
        if self.ecn == Ecn::Off && !needs_marks && self.accecn {
            let problem = "true, but ecn = \"off\" leaves no marks to count; set ecn = \"classic\"";
            return refuse("accecn", problem.into());
        }
        if self.ecn_peer == EcnPeer::Same {
            return Ok(());
        }
        let peer = serde_json::json!(self.ecn_peer);
        if needs_marks || self.ecn == Ecn::L4s {
            let problem = format!("{peer}, but {name} needs every mark; set ecn_peer = \"same\"");
            return refuse("ecn_peer", problem);
        }
        if self.ecn == Ecn::Off {
            let problem =
                format!("{peer}, but ecn = \"off\" requests nothing; set ecn = \"classic\"");
            return refuse("ecn_peer", problem);
        }
        Ok(())
    }

    /// Return the stack under an algorithm, as both ends agree on it. If the algorithm needs
    /// congestion marks, Linux negotiates and echoes each mark, whatever else is set. A peer that
    /// supports less than requested answers a SYN with what it supports (RFC 9768, section 3.1.2),
    /// and the connection has no more.
    #[must_use]
    pub fn serving(self, algorithm: &Algorithm) -> Self {
        let needs_marks = algorithm.flags.contains(&Need::Ecn) && self.ecn != Ecn::L4s;
        let requested = if needs_marks { Ecn::Dctcp } else { self.ecn };
        let ecn = if self.ecn_peer == EcnPeer::Off { Ecn::Off } else { requested };
        let accecn = self.accecn && self.ecn_peer == EcnPeer::Same;
        Self { ecn, accecn, ..self }
    }
}
