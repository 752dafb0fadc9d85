//! The TCP stack of a host, as data: switches in which kernels differ.
//!
//! A profile is a set of them by name. A scenario names a profile and may override any single
//! switch of it.

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
    /// A flow begins with a SYN: it knows its round-trip time, and sends data, once that is
    /// answered. If not, it begins with a connection and the time of the empty path.
    pub handshake: bool,
    /// How long a SYN or SYN-ACK waits for its answer until it is sent again, in ns.
    pub syn_timeout_ns: Span,
    /// Timeouts of the SYN before they double, as in Linux since 6.5.
    pub syn_linear_timeouts: u32,
    /// Losses of the SYN after which the initial window is still whole and not one segment
    /// (RFC 5681, section 3.1); none: any.
    pub syn_retries_free: Option<u32>,
    /// What congestion avoidance and slow start count.
    pub growth: Growth,
    /// Segments that an ACK adds in slow start at most, where `growth` is by bytes (RFC 3465's
    /// L); one after a timeout.
    pub byte_counting_segs: NonZeroU32,
    /// Slow start while cwnd <= ssthresh, rather than cwnd < ssthresh.
    pub slow_start_inclusive: bool,
    /// How the window falls to ssthresh during recovery.
    pub reduction: Reduction,
    /// When a segment is taken for lost.
    pub loss_detection: LossDetection,
    /// Segments that may arrive out of order without a loss being inferred.
    pub reordering_segs: NonZeroU32,
    /// Up to how many that rises once reordering has been seen.
    pub reordering_max_segs: NonZeroU32,
    /// Fewer SACKs suffice where fewer than four segments are outstanding (RFC 5827).
    pub early_retransmit: bool,
    /// Whether a probe is sent before the retransmission timeout.
    pub tail_probe: ProbeRule,
    /// Whether a timeout may prove spurious by what arrives next (RFC 5682).
    pub frto: bool,
    /// Whether a reduction is taken back when it proves spurious.
    pub undo: bool,
    /// How the retransmission timeout is computed.
    pub rto_rule: RtoRule,
    /// Echoed timestamps tell the round-trip time of what was sent again (RFC 7323,
    /// section 4), where the segments carry them.
    pub rtt_from_timestamps: bool,
    /// The algorithm hears of acknowledgements that only SACK, and the round-trip times of
    /// echoed timestamps, as in Linux since 4.2.
    pub tells_of_all_acks: bool,
    /// The algorithm's `in_ack_event` comes before its `pkts_acked`, as in Linux until 6.15;
    /// 6.16 and the later fixes of 6.12 turned them round. What the acknowledgement delivered
    /// is counted in both orders.
    pub ack_event_first: bool,
    /// How long the smallest round-trip time is remembered, in ns; none: for ever.
    pub min_rtt_window_ns: Option<Span>,
    /// Window allowed beyond what is in flight when recovery ends; none: ssthresh.
    pub burst_after_recovery_segs: Option<u32>,
    /// Which flows are paced.
    pub pacing: Pacing,
    /// Segments of a new connection that pacing lets go at once.
    pub pacing_free_segs: u32,
    /// A late chunk shortens the wait for the next one, by at most half of its length.
    pub pacing_credit: bool,
    /// How late the timer is that a chunk waits for.
    pub pacing_late_ns: Span,
    /// Segments leave in chunks, as with segmentation offload.
    pub tso: bool,
    /// A chunk of several segments ends with PSH, so that its receiver acknowledges at once, as
    /// in Linux since 5.4.
    pub tso_push: bool,
    /// Without chunks, the receiver acknowledges at once each segment that exceeds half of its
    /// largest window since the last such, as senders push it, in Linux since 6.6.
    pub window_push: bool,
    /// Most bytes of a flow that may wait in its own host; none: no such limit.
    pub tsq_bytes: Option<NonZeroU64>,
    /// A segment that the full queue of its own host refuses stays with the sender, which reduces
    /// its window as after a congestion mark.
    pub local_drops: bool,
    /// How the window grows below ssthresh.
    pub slow_start: SlowStart,
    /// Window from which limited slow start slows down, in segments.
    pub limited_slow_start_segs: NonZeroU32,
    /// Window that Careful Resume knows from an earlier connection, in segments.
    pub resume_window_segs: Option<NonZeroU32>,
    /// Smallest round-trip time that it knows from there, in ns.
    pub resume_rtt_ns: Option<Span>,
    /// An idle time longer than the retransmission timeout costs half of the window,
    /// and as much for each further timeout that it lasts.
    pub slow_start_after_idle: bool,
    /// A window that was neither used nor about to grow for a retransmission timeout falls towards
    /// its use.
    pub window_validation: bool,
    /// Payload that the receiver lets be outstanding, in bytes; none: no limit.
    pub receive_window_bytes: Option<NonZeroU64>,
    /// Receive buffer of a new connection, in bytes: while it allows a larger window than is
    /// offered, each segment raises that and is acknowledged at once.
    pub receive_buffer_bytes: u64,
    /// What the buffer may grow to, in bytes; the same: it does not grow.
    pub receive_buffer_max_bytes: u64,
    /// Shortest variance term of the retransmission timeout, in ns.
    pub rto_min_ns: Span,
    /// Longest retransmission timeout, in ns.
    pub rto_max_ns: Span,
    /// How long an acknowledgement may wait for a second segment, in ns.
    pub delayed_ack_ns: Span,
    /// Segments acknowledged one by one when a connection starts.
    pub quick_acks: u32,

    /// How the wait of an acknowledgement is found.
    pub delayed_ack: AckDelay,
    /// The longest that it may become, in ns.
    pub delayed_ack_max_ns: Span,
    /// The tick of the kernel's timers, in ns (1 s / HZ), with which they end; none: they end
    /// when they are over, and adaptive waits are counted in ms.
    pub timer_tick_ns: Option<NonZeroU64>,
    /// Acknowledgements report what has arrived out of order (RFC 2018).
    pub sack: bool,
    /// They also report what has arrived twice (RFC 2883).
    pub dsack: bool,
    /// Segments carry timestamps (RFC 7323), which leave space for three blocks of four.
    pub timestamps: bool,
    /// Explicit congestion notification, and how it is echoed.
    pub ecn: Ecn,
    /// Acknowledgements count marks instead (RFC 9768).
    pub accecn: bool,
    /// Which of them then carry the option.
    pub accecn_option: AccEcnOption,
    /// What the receiver's end speaks of it.
    pub ecn_peer: EcnPeer,
    /// How long an acknowledgement of a segment out of order may wait, in ns; 0: not.
    pub sack_compression_ns: Span,
    /// Most of them that wait together.
    pub sack_compression_segs: u32,
    /// Segments that receive offload merges into one; 0 or 1: none.
    pub gro_segs: u32,
    /// How long the first of them may wait for the others, in ns.
    pub gro_flush_ns: Span,
}

/// How long an acknowledgement waits for a second segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckDelay {
    /// Always `delayed_ack_ns`; the quota of quick acknowledgements is used up once.
    Fixed,
    /// As Linux does: from `delayed_ack_ns` up, following the gaps between segments.
    /// Pauses, duplicates and congestion marks fill the quota again.
    Adaptive,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// Each mark is echoed as it is (RFC 8257, section 3.2).
    Dctcp,
    /// As `dctcp`, and packets ask for the service of L4S by ECT(1) (RFC 9331).
    L4s,
}

/// Which acknowledgements carry the AccECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccEcnOption {
    /// All of them with space for it, and segments too.
    Always,
    /// Those after a mark or a change, and three in a round trip.
    Changes,
    /// None.
    Never,
}

/// What the receiver's end of a connection speaks of explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPeer {
    /// What the sender's end asks for.
    Same,
    /// RFC 3168.
    Classic,
    /// Nothing.
    Off,
}

/// What an acknowledgement adds to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// One step for each ACK, however much it covers (Linux until 3.18).
    Acks,
    /// One step for each acknowledged segment (Linux since 4.0).
    Segments,
    /// Appropriate byte counting (RFC 3465): as `Segments`, but in slow start at most
    /// `byte_counting_segs` for each ACK, and one after a timeout.
    Bytes,
}

/// Which flows are paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Those whose algorithm sets a rate.
    Off,
    /// All: at the algorithm's rate, or else at 200 % of the window per round trip in
    /// slow start and 120 % later, as with Linux's fq.
    Fq,
}

/// How the window grows below ssthresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// As the algorithm has it: CUBIC and CDG leave it by their HyStart.
    Own,
    /// By what is acknowledged, until a loss or a mark (RFC 5681).
    Standard,
    /// Limited slow start (RFC 3742): slower from a certain window on.
    Limited,
    /// HyStart, as in Linux's CUBIC.
    Hystart,
    /// HyStart++ (RFC 9406): slower from when the round-trip time rises.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// SEARCH (draft-chung-ccwg-search): until less is delivered than was sent.
    Search,
    /// Careful Resume (RFC 9959): jumps to half of the window of an earlier connection.
    CarefulResume,
}

/// How the window falls during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// One segment less for every second ACK, down to half of ssthresh, to which slow start
    /// then leads back (Linux until 2.6.12).
    RateHalving,
    /// The same down to where the algorithm says: half of ssthresh for those that did as
    /// Reno, else ssthresh (Linux 2.6.13 to 3.1).
    RateHalvingBounded,
    /// Proportional rate reduction, always with its slow-start bound (Linux 3.2 to 4.2).
    PrrSlowStart,
    /// Proportional rate reduction with the slow-start bound only while retransmissions
    /// are delivered and none is lost (Linux 4.3 to 5.13).
    PrrCautious,
    /// Proportional rate reduction (RFC 9937).
    Prr,
}

/// When a segment is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// Forward acknowledgement (Mathis and Mahdavi 1996): lost if the highest SACKed
    /// segment is more than `reordering_segs` ahead, until reordering is seen. A
    /// retransmission in Recovery is lost once a segment first sent after it is SACKed.
    Fack,
    /// As `Fack` for what was sent once; RACK with a window of 1 ms finds this and lost
    /// retransmissions, too (Linux 4.10 to 4.14).
    FackRack,
    /// Lost if at least `reordering_segs` segments above are SACKed (RFC 6675). A
    /// retransmission is lost as soon as anything sent later arrives (RFC 8985 in a
    /// network that keeps the order).
    Sacked,
    /// RACK: lost if overdue, compared with what was sent later (RFC 8985).
    Rack,
    /// Without SACK: the first segment is lost after `reordering_segs` duplicate ACKs,
    /// and the next hole at each partial ACK (RFC 6582).
    NewReno,
}

/// When a probe is sent that may save a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeRule {
    /// Never.
    Off,
    /// After 2 SRTT, at least 10 ms (draft-dukkipati-tcpm-tcp-loss-probe; Linux 3.10
    /// to 4.12).
    Draft,
    /// After 2 SRTT and 2 ms (RFC 8985).
    Rfc8985,
}

/// How the retransmission timeout follows from round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT and a variance term of at least `rto_min_ns` that falls once per round trip.
    Linux,
    /// SRTT and four deviations, at least `rto_min_ns` together (RFC 6298).
    Rfc6298,
}

impl Stack {
    /// What an algorithm must know of the stack, as bits of `enum cc_stack`.
    #[must_use]
    pub const fn flags(&self) -> u8 {
        let inclusive = if self.slow_start_inclusive { STACK_SLOW_START_INCLUSIVE } else { 0 };
        let acks = if matches!(self.growth, Growth::Acks) { STACK_COUNT_ACKS } else { 0 };
        let ends =
            if matches!(self.slow_start, SlowStart::Own) { 0 } else { STACK_ENDS_SLOW_START };
        inclusive | acks | ends
    }

    /// The slow start that it gives to algorithms; none: their own.
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

    /// Checks that an algorithm can have this slow start.
    ///
    /// # Errors
    /// If it sets its window itself: the key below `stack`, and what is wrong with it.
    pub fn check_start(&self, algorithm: &Algorithm) -> Result<(), (String, String)> {
        if self.slow_start == SlowStart::Own || !algorithm.has_cong_control() {
            return Ok(());
        }
        let problem = format!(
            "slow_start = {}, but {} sets its window itself, by a start of its own; give this flow \
             slow_start = \"own\"",
            serde_json::json!(self.slow_start),
            algorithm.name
        );
        Err(("switches.slow_start".into(), problem))
    }

    /// Checks that both ends can agree on what marks mean to this algorithm.
    ///
    /// # Errors
    /// If there are none to count, or they are not those that it needs: the key below `stack`, and
    /// what is wrong with it.
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
            let problem =
                format!("{peer}, but {name} needs to know of each mark; set ecn_peer = \"same\"");
            return refuse("ecn_peer", problem);
        }
        if self.ecn == Ecn::Off {
            let problem =
                format!("{peer}, but ecn = \"off\" asks for nothing; set ecn = \"classic\"");
            return refuse("ecn_peer", problem);
        }
        Ok(())
    }

    /// The stack under an algorithm, as both ends agree on it: where that needs congestion marks,
    /// Linux negotiates them and echoes each as it is, whatever is set otherwise. A peer that
    /// speaks less than is asked for answers a SYN in the terms that it knows (RFC 9768, section
    /// 3.1.2), and the connection has no more.
    #[must_use]
    pub fn serving(self, algorithm: &Algorithm) -> Self {
        let needs_marks = algorithm.flags.contains(&Need::Ecn) && self.ecn != Ecn::L4s;
        let asked = if needs_marks { Ecn::Dctcp } else { self.ecn };
        let ecn = if self.ecn_peer == EcnPeer::Off { Ecn::Off } else { asked };
        let accecn = self.accecn && self.ecn_peer == EcnPeer::Same;
        Self { ecn, accecn, ..self }
    }
}
