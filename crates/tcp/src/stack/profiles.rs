//! The stacks that a scenario can name: the differences between the TCP of kernels.

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_network::Span;
use serde::Serialize;

use super::{
    AccEcnOption, AckDelay, Ecn, EcnPeer, Growth, LossDetection, Pacing, ProbeRule, Reduction,
    RtoRule, SlowStart, Stack,
};

/// A named profile.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// Kernel or standard that it describes.
    pub summary: &'static str,
    /// Queue discipline of its systems' network cards.
    pub host_queue: HostDiscipline,
    /// Its switches.
    pub stack: fn() -> Stack,
}

/// The default queue discipline of a host's network cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostDiscipline {
    /// `pfifo_fast`, the kernel's own default: first in, first out, with space for the 1000 packets
    /// of an Ethernet card's `txqueuelen`.
    Fifo,
    /// The default of systemd since its version 217 of 2014.
    FqCodel,
}

/// Every profile, from the oldest to the newest.
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

/// The loss recovery is that of the published runs: no switch is on that their description does not
/// mention.
fn linux_2_6_6() -> Stack {
    Stack {
        // 4,380 bytes (RFC 3390).
        initial_window_segs: segments(3),
        // Both exist since Linux 3.1.
        syn_timeout_ns: Span::from_millis(3_000),
        syn_retries_free: None,
        syn_linear_timeouts: 0,
        growth: Growth::Bytes,
        slow_start_inclusive: true,
        reduction: Reduction::RateHalving,
        loss_detection: LossDetection::Fack,
        // TCP_MAX_REORDERING; later a sysctl, and 300.
        reordering_max_segs: segments(127),
        tail_probe: ProbeRule::Off,
        frto: false,
        undo: false,
        rtt_from_timestamps: false,
        reports_all_acks: false,
        ack_event_first: true,
        min_rtt_window_ns: None,
        // tcp_max_burst, by which tcp_moderate_cwnd limited the window.
        burst_after_recovery_segs: Some(3),
        pacing_free_segs: 0,
        pacing_credit: false,
        pacing_late_ns: Span::ZERO,
        tso_push: false,
        window_push: false,
        tsq_bytes: None,
        delayed_ack: AckDelay::Fixed,
        receive_buffer_bytes: 87_380,
        receive_buffer_max_bytes: 0,
        receive_spare_segs: 16,
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
        // tcp_rmem of hosts with enough memory.
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
        reports_all_acks: false,
        min_rtt_window_ns: None,
        // tcp_limit_output_bytes was 128 KB.
        tsq_bytes: bytes(1 << 17),
        ..linux_4_14()
    }
}

fn linux_4_14() -> Stack {
    Stack {
        syn_linear_timeouts: 0,
        reduction: Reduction::PrrCautious,
        loss_detection: LossDetection::FackRack,
        ack_event_first: true,
        // The earliest departure time exists since 4.20, and SACK compression since 4.18.
        pacing_free_segs: 0,
        pacing_credit: false,
        pacing_late_ns: Span::ZERO,
        sack_compression_ns: Span::ZERO,
        tso_push: false,
        window_push: false,
        // tcp_limit_output_bytes was 256 KB.
        tsq_bytes: bytes(1 << 18),
        receive_spare_segs: 16,
        ..linux_6()
    }
}

fn rfc() -> Stack {
    Stack {
        syn_linear_timeouts: 0,
        syn_retries_free: Some(0),
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
        window_push: false,
        tsq_bytes: None,
        local_drops: false,
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
        handshake: false,
        // TCP_TIMEOUT_INIT (RFC 6298, rule 2.1).
        syn_timeout_ns: Span::from_millis(1_000),
        syn_linear_timeouts: 4,
        syn_retries_free: Some(1),
        growth: Growth::Segments,
        byte_counting_segs: segments(2),
        slow_start_inclusive: false,
        reduction: Reduction::Prr,
        loss_detection: LossDetection::Rack,
        // tcp_reordering and tcp_max_reordering.
        reordering_segs: segments(3),
        reordering_max_segs: segments(300),
        early_retransmit: false,
        tail_probe: ProbeRule::Rfc8985,
        frto: true,
        undo: true,
        rto_rule: RtoRule::Linux,
        rtt_from_timestamps: true,
        reports_all_acks: true,
        ack_event_first: false,
        // tcp_min_rtt_wlen: 300 s.
        min_rtt_window_ns: Some(Span::from_millis(300_000)),
        burst_after_recovery_segs: None,
        pacing: Pacing::Off,
        // The ten of tcp_update_skb_after_send.
        pacing_free_segs: 10,
        pacing_credit: true,
        pacing_late_ns: Span::ZERO,
        tso: false,
        tso_push: true,
        window_push: true,
        // tcp_limit_output_bytes: 1 MB.
        tsq_bytes: bytes(1 << 20),
        local_drops: true,
        slow_start: SlowStart::Own,
        limited_slow_start_segs: segments(100),
        resume_window_segs: None,
        resume_rtt_ns: None,
        slow_start_after_idle: true,
        window_validation: true,
        receive_window_bytes: None,
        // The second and the third value of tcp_rmem.
        receive_buffer_bytes: 1 << 17,
        receive_buffer_max_bytes: 6 << 20,
        receive_spare_segs: 0,
        // TCP_RTO_MIN and TCP_RTO_MAX.
        rto_min_ns: Span::from_millis(200),
        rto_max_ns: Span::from_millis(120_000),
        // TCP_DELACK_MIN, TCP_MAX_QUICKACKS and, below, TCP_DELACK_MAX.
        delayed_ack_ns: Span::from_millis(40),
        quick_acks: 16,
        delayed_ack: AckDelay::Adaptive,
        delayed_ack_max_ns: Span::from_millis(200),
        timer_tick_ns: None,
        sack: true,
        dsack: true,
        timestamps: true,
        ecn: Ecn::Off,
        accecn: false,
        accecn_option: AccEcnOption::Always,
        ecn_peer: EcnPeer::Same,
        // tcp_comp_sack_delay_ns and tcp_comp_sack_nr.
        sack_compression_ns: Span::from_millis(1),
        sack_compression_segs: 44,
        gro_segs: 0,
        gro_flush_ns: Span::from_micros(20),
    }
}
