//! Stack profiles: how the TCP of a given kernel differs from the others, as data.
//!
//! A profile is a set of named switches. A scenario names a profile and may override
//! any single switch of it.

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_algorithm::{Algorithm, Need, STACK_COUNT_ACKS, STACK_SLOW_START_INCLUSIVE};
use dumbbell_network::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The switches of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Window of a new connection in segments.
    pub initial_window_segs: NonZeroU32,
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
    /// The algorithm is told of acknowledgements that only SACK, and the round-trip times of
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
    /// Most bytes of a flow that may wait in its own host; none: no such limit.
    pub tsq_bytes: Option<NonZeroU64>,
    /// How the window grows below ssthresh.
    pub slow_start: SlowStart,
    /// Window from which limited slow start slows down, in segments.
    pub limited_slow_start_segs: NonZeroU32,
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
    /// Segments carry timestamps (RFC 7323), which leave room for three blocks of four.
    pub timestamps: bool,
    /// Explicit congestion notification, and how it is echoed.
    pub ecn: Ecn,
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
    /// By what is acknowledged.
    Standard,
    /// HyStart++ (RFC 9406): slower from when the round-trip time rises.
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// Limited slow start (RFC 3742): slower from a certain window on.
    Limited,
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
    /// retransmission is lost if segments first sent that much later are SACKed.
    Fack,
    /// As `Fack`, and what RACK finds with a window of 1 ms (Linux 4.10 to 4.14).
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

/// A named profile.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// What it stands for.
    pub summary: &'static str,
    /// What its systems had as queue of a network card.
    pub host_queue: HostDiscipline,
    /// Its switches.
    pub stack: fn() -> Stack,
}

/// The queue discipline of a host's network cards unless it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostDiscipline {
    /// `pfifo_fast`, the kernel's own default: first in, first out, with room for the 1000 packets
    /// of an Ethernet card's `txqueuelen`.
    Fifo,
    /// What systemd has set since its version 217 of 2014.
    FqCodel,
}

/// Every profile, the oldest first.
pub const PROFILES: [Profile; 6] = [
    Profile {
        name: "linux-2.6.6",
        summary: "Linux 2.6.6 with the altAIMD patches of Li, Leith and Shorten 2007: \
                  SACK and FACK, rate halving, appropriate byte counting",
        host_queue: HostDiscipline::Fifo,
        stack: linux_2_6_6,
    },
    Profile {
        name: "linux-2.6.26",
        summary: "Linux 2.6.26: as 2.6.6 but growth by ACKs, F-RTO, undo and DSACK",
        host_queue: HostDiscipline::Fifo,
        stack: linux_2_6_26,
    },
    Profile {
        name: "linux-3.16",
        summary: "Linux 3.16: FACK, early retransmit and tail loss probe, PRR with its \
                  slow-start bound, growth by ACKs, initial window 10",
        host_queue: HostDiscipline::Fifo,
        stack: linux_3_16,
    },
    Profile {
        name: "linux-4.14",
        summary: "Linux 4.14: FACK and RACK, tail loss probe, cautious PRR, growth by \
                  acknowledged segments",
        host_queue: HostDiscipline::FqCodel,
        stack: linux_4_14,
    },
    Profile {
        name: "linux-6",
        summary: "Linux 6: RACK-TLP, PRR, growth by acknowledged segments, initial window 10",
        host_queue: HostDiscipline::FqCodel,
        stack: linux_6,
    },
    Profile {
        name: "rfc",
        summary: "The RFCs to the letter: SACK recovery (6675), PRR (9937), F-RTO (5682), \
                  byte counting (3465), a timeout of at least 1 s (6298)",
        host_queue: HostDiscipline::Fifo,
        stack: rfc,
    },
];

/// What each switch means, for documentation.
pub const SWITCHES: [(&str, &str); 47] = [
    ("initial_window_segs", "window of a new connection, in segments"),
    ("growth", "what the window's growth counts: acks, segments or bytes (RFC 3465)"),
    (
        "byte_counting_segs",
        "segments that an ACK adds in slow start at most, with growth by bytes: 2 (RFC 3465) or 1 \
         (tcp_abc = 1 of Linux 2.6)",
    ),
    ("slow_start_inclusive", "slow start while cwnd <= ssthresh, rather than cwnd < ssthresh"),
    (
        "reduction",
        "how the window falls during recovery: rate-halving (Linux until 2.6.12), \
         rate-halving-bounded (2.6.13 to 3.1), prr-slow-start (3.2 to 4.2), prr-cautious (4.3 to \
         5.13) or prr (RFC 9937)",
    ),
    (
        "loss_detection",
        "when a segment is taken for lost: fack, fack-rack (Linux 4.14), sacked (RFC 6675), \
         rack (RFC 8985) or new-reno (no SACK, RFC 6582)",
    ),
    ("reordering_segs", "segments that may arrive out of order before a loss is inferred"),
    ("reordering_max_segs", "up to how many that rises once reordering has been seen"),
    ("early_retransmit", "fewer SACKs suffice where few segments are outstanding (RFC 5827)"),
    (
        "tail_probe",
        "whether a lost tail is probed for before a timeout: off, draft (Linux 3.10 to 4.12) \
         or rfc8985",
    ),
    ("frto", "whether a timeout may prove spurious by what arrives next (RFC 5682)"),
    ("undo", "whether a reduction that proves spurious is taken back (RFC 4015, RFC 3708)"),
    ("rto_rule", "how the retransmission timeout is computed: linux or rfc6298"),
    ("rtt_from_timestamps", "echoed timestamps tell the RTT of what was sent again (RFC 7323)"),
    (
        "tells_of_all_acks",
        "the algorithm hears of ACKs that only SACK, and RTTs of timestamps (Linux since 4.2)",
    ),
    (
        "ack_event_first",
        "the algorithm hears that there is an ACK before it hears what that says (Linux until 6.15)",
    ),
    ("min_rtt_window_ns", "how long the smallest RTT is remembered, in ns; none: for ever"),
    ("burst_after_recovery_segs", "window beyond the flight when recovery ends; none: ssthresh"),
    ("pacing", "which flows are paced: off (those whose algorithm sets a rate) or fq (all)"),
    ("pacing_free_segs", "segments of a new connection that pacing lets go at once"),
    ("pacing_credit", "a late chunk shortens the wait for the next, by at most half its length"),
    ("pacing_late_ns", "how late the timer is that a paced chunk waits for, in ns"),
    ("tso", "segments leave in chunks of about a millisecond, as with segmentation offload"),
    ("tso_push", "a chunk's last segment says PSH and is acknowledged at once (Linux since 5.4)"),
    ("tsq_bytes", "most bytes of a flow that may wait in its own host; none: no limit"),
    ("slow_start", "growth below ssthresh: standard, hystart++ (RFC 9406) or limited (RFC 3742)"),
    ("limited_slow_start_segs", "window from which limited slow start slows down, in segments"),
    ("slow_start_after_idle", "each timeout's length of idle time halves the window"),
    (
        "window_validation",
        "a window that for a timeout's length was neither used nor about to grow falls towards its use",
    ),
    ("receive_window_bytes", "payload that the receiver lets be outstanding; none: no limit"),
    (
        "receive_buffer_bytes",
        "receive buffer of a new connection (tcp_rmem): segments that raise the window which it \
         allows are acknowledged at once",
    ),
    ("receive_buffer_max_bytes", "what that buffer may grow to; 0: the window is never raised"),
    (
        "rto_min_ns",
        "shortest variance term of the retransmission timeout, or with rfc6298 shortest \
         timeout, in ns",
    ),
    ("rto_max_ns", "longest retransmission timeout, in ns"),
    ("delayed_ack_ns", "how long an acknowledgement may wait for a second segment, in ns"),
    ("quick_acks", "segments acknowledged one by one when a connection starts"),
    ("delayed_ack", "how the wait of an acknowledgement is found: fixed or adaptive"),
    ("delayed_ack_max_ns", "longest wait of an acknowledgement if it is adaptive, in ns"),
    (
        "timer_tick_ns",
        "tick of the kernel's timers, in ns (1 s / HZ), with which they end; none: they end exactly",
    ),
    ("sack", "ACKs report what has arrived out of order (RFC 2018); if not, use new-reno"),
    ("dsack", "they also report what has arrived twice (RFC 2883)"),
    ("timestamps", "segments carry timestamps (RFC 7323), which cost one SACK block of four"),
    (
        "ecn",
        "congestion marks: off, classic (RFC 3168) or dctcp (RFC 8257), which algorithms that need marks have whatever is set",
    ),
    ("sack_compression_ns", "how long the ACK of a segment out of order may wait, in ns; 0: not"),
    ("sack_compression_segs", "most segments out of order that wait for one ACK"),
    ("gro_segs", "segments that receive offload merges into one; 0 or 1: none"),
    ("gro_flush_ns", "how long the first of them may wait for the others, in ns"),
];

/// Its loss recovery is that of the published runs: no switch is on of which their
/// description says nothing.
fn linux_2_6_6() -> Stack {
    Stack {
        initial_window_segs: segments(3),
        growth: Growth::Bytes,
        slow_start_inclusive: true,
        reduction: Reduction::RateHalving,
        loss_detection: LossDetection::Fack,
        reordering_max_segs: segments(127),
        tail_probe: ProbeRule::Off,
        frto: false,
        undo: false,
        rtt_from_timestamps: false,
        tells_of_all_acks: false,
        ack_event_first: true,
        min_rtt_window_ns: None,
        burst_after_recovery_segs: Some(3),
        pacing_free_segs: 0,
        pacing_credit: false,
        pacing_late_ns: Span::ZERO,
        tso_push: false,
        tsq_bytes: None,
        delayed_ack: AckDelay::Fixed,
        receive_buffer_bytes: 87_380,
        receive_buffer_max_bytes: 0,
        dsack: false,
        sack_compression_ns: Span::ZERO,
        ..linux_6()
    }
}

fn linux_2_6_26() -> Stack {
    Stack {
        growth: Growth::Acks,
        frto: true,
        undo: true,
        reduction: Reduction::RateHalvingBounded,
        rtt_from_timestamps: true,
        delayed_ack: AckDelay::Adaptive,
        receive_buffer_max_bytes: 4 << 20,
        dsack: true,
        ..linux_2_6_6()
    }
}

fn linux_3_16() -> Stack {
    Stack {
        growth: Growth::Acks,
        slow_start_inclusive: true,
        reduction: Reduction::PrrSlowStart,
        loss_detection: LossDetection::Fack,
        reordering_max_segs: segments(127),
        early_retransmit: true,
        tail_probe: ProbeRule::Draft,
        tells_of_all_acks: false,
        min_rtt_window_ns: None,
        // tcp_limit_output_bytes was 128 KB.
        tsq_bytes: bytes(1 << 17),
        ..linux_4_14()
    }
}

fn linux_4_14() -> Stack {
    Stack {
        reduction: Reduction::PrrCautious,
        loss_detection: LossDetection::FackRack,
        ack_event_first: true,
        // The earliest departure time came with 4.20, SACK compression with 4.18.
        pacing_free_segs: 0,
        pacing_credit: false,
        pacing_late_ns: Span::ZERO,
        sack_compression_ns: Span::ZERO,
        tso_push: false,
        // tcp_limit_output_bytes was 256 KB.
        tsq_bytes: bytes(1 << 18),
        ..linux_6()
    }
}

fn rfc() -> Stack {
    Stack {
        growth: Growth::Bytes,
        loss_detection: LossDetection::Sacked,
        tail_probe: ProbeRule::Off,
        rto_rule: RtoRule::Rfc6298,
        rto_min_ns: Span::from_millis(1_000),
        min_rtt_window_ns: None,
        pacing_free_segs: 0,
        pacing_credit: false,
        pacing_late_ns: Span::ZERO,
        tso_push: false,
        tsq_bytes: None,
        window_validation: false,
        delayed_ack: AckDelay::Fixed,
        receive_buffer_max_bytes: 0,
        sack_compression_ns: Span::ZERO,
        ..linux_6()
    }
}

const fn bytes(count: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(count)
}

const fn segments(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("a count above zero")
}

pub(crate) const fn linux_6() -> Stack {
    Stack {
        initial_window_segs: segments(10),
        growth: Growth::Segments,
        byte_counting_segs: segments(2),
        slow_start_inclusive: false,
        reduction: Reduction::Prr,
        loss_detection: LossDetection::Rack,
        reordering_segs: segments(3),
        reordering_max_segs: segments(300),
        early_retransmit: false,
        tail_probe: ProbeRule::Rfc8985,
        frto: true,
        undo: true,
        rto_rule: RtoRule::Linux,
        rtt_from_timestamps: true,
        tells_of_all_acks: true,
        ack_event_first: false,
        min_rtt_window_ns: Some(Span::from_millis(300_000)),
        burst_after_recovery_segs: None,
        pacing: Pacing::Off,
        pacing_free_segs: 10,
        pacing_credit: true,
        pacing_late_ns: Span::ZERO,
        tso: false,
        tso_push: true,
        tsq_bytes: bytes(1 << 20),
        slow_start: SlowStart::Standard,
        limited_slow_start_segs: segments(100),
        slow_start_after_idle: true,
        window_validation: true,
        receive_window_bytes: None,
        receive_buffer_bytes: 1 << 17,
        receive_buffer_max_bytes: 6 << 20,
        rto_min_ns: Span::from_millis(200),
        rto_max_ns: Span::from_millis(120_000),
        delayed_ack_ns: Span::from_millis(40),
        quick_acks: 16,
        delayed_ack: AckDelay::Adaptive,
        delayed_ack_max_ns: Span::from_millis(200),
        timer_tick_ns: None,
        sack: true,
        dsack: true,
        timestamps: true,
        ecn: Ecn::Off,
        sack_compression_ns: Span::from_millis(1),
        sack_compression_segs: 44,
        gro_segs: 0,
        gro_flush_ns: Span::from_micros(20),
    }
}

impl Stack {
    /// What an algorithm must know of the stack, as bits of `enum cc_stack`.
    #[must_use]
    pub const fn flags(&self) -> u8 {
        let inclusive = if self.slow_start_inclusive { STACK_SLOW_START_INCLUSIVE } else { 0 };
        let acks = if matches!(self.growth, Growth::Acks) { STACK_COUNT_ACKS } else { 0 };
        inclusive | acks
    }

    /// The stack under an algorithm: where that needs congestion marks, Linux negotiates
    /// them and echoes each as it is, whatever is set otherwise.
    #[must_use]
    pub fn serving(self, algorithm: &Algorithm) -> Self {
        let needs_marks = algorithm.flags.contains(&Need::Ecn);
        Self { ecn: if needs_marks { Ecn::Dctcp } else { self.ecn }, ..self }
    }
}

/// A profile's name and overrides of single switches, as the scenario gives them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// Name of the profile.
    pub profile: String,
    /// Switches with other values than the profile's.
    #[serde(default)]
    pub switches: Map<String, Value>,
}

impl StackChoice {
    /// The profile with the overrides applied.
    ///
    /// # Errors
    /// An unknown profile or switch, or a value that the switch cannot take; as the
    /// key below `stack` and what is wrong with it.
    pub fn resolve(&self) -> Result<Stack, (String, String)> {
        let profile = PROFILES.iter().find(|profile| profile.name == self.profile);
        let Some(profile) = profile else {
            let known: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            let problem =
                format!("no stack profile {:?}; there are {}", self.profile, known.join(", "));
            return Err(("profile".into(), problem));
        };
        let mut stack = (profile.stack)();
        for (switch, value) in &self.switches {
            stack = with_switch(&stack, switch, value)
                .map_err(|problem| (format!("switches.{switch}"), problem))?;
        }
        if !stack.sack && stack.loss_detection != LossDetection::NewReno {
            let detection = json!(stack.loss_detection);
            let problem =
                format!("sack = false needs loss_detection = \"new-reno\", which is {detection}");
            return Err(("switches.sack".into(), problem));
        }
        Ok(stack)
    }
}

fn with_switch(stack: &Stack, switch: &str, value: &Value) -> Result<Stack, String> {
    let mut switches = json!(stack);
    match switches.get_mut(switch) {
        Some(slot) => *slot = value.clone(),
        None => {
            let known: Vec<_> = SWITCHES.iter().map(|(name, _)| *name).collect();
            return Err(format!("no switch {switch:?}; there are {}", known.join(", ")));
        }
    }
    serde_json::from_value(switches).map_err(|error| error.to_string())
}

/// All profiles and switches as JSON:
/// `{"profiles": {name: {"summary", "host_queue", "switches"}}, "switches": {name: meaning}}`.
#[must_use]
pub fn describe_profiles() -> Value {
    let profiles: Map<_, _> = PROFILES
        .iter()
        .map(|profile| {
            let entry = json!({
                "summary": profile.summary,
                "host_queue": profile.host_queue,
                "switches": (profile.stack)(),
            });
            (profile.name.to_owned(), entry)
        })
        .collect();
    let switches: Map<_, _> =
        SWITCHES.iter().map(|&(name, what)| (name.to_owned(), json!(what))).collect();
    json!({"profiles": profiles, "switches": switches})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_described_and_every_description_is_a_switch() {
        let stack = json!(linux_6());
        let mut switches: Vec<_> = stack.as_object().unwrap().keys().map(String::as_str).collect();
        switches.sort_unstable();
        let mut described: Vec<_> = SWITCHES.iter().map(|(name, _)| *name).collect();
        described.sort_unstable();
        assert_eq!(switches, described);
    }

    #[test]
    fn a_switch_can_be_overridden_and_a_wrong_one_is_refused() {
        let choice = |switches: Value| StackChoice {
            profile: "linux-6".into(),
            switches: switches.as_object().unwrap().clone(),
        };
        let stack = choice(json!({"growth": "acks"})).resolve().unwrap();
        assert_eq!(stack, Stack { growth: Growth::Acks, ..linux_6() });
        let (key, problem) = choice(json!({"grow": 1})).resolve().unwrap_err();
        assert_eq!(key, "switches.grow");
        assert!(problem.contains("growth"), "{problem}");
        for (switch, value) in [
            ("growth", json!("ack")),
            ("initial_window_segs", json!(0)),
            ("reordering_segs", json!(0)),
        ] {
            let (key, _) = choice(json!({switch: value})).resolve().unwrap_err();
            assert_eq!(key, format!("switches.{switch}"));
        }
        let (key, problem) = choice(json!({"sack": false})).resolve().unwrap_err();
        assert_eq!(key, "switches.sack");
        assert!(problem.contains("loss_detection") && problem.contains("rack"), "{problem}");
        let counting = choice(json!({"sack": false, "loss_detection": "new-reno"}));
        assert!(!counting.resolve().unwrap().sack);
    }
}
