//! An algorithm's view of its connection: the mirrors of `cc.h`. C code has pointers to them, so
//! all bytes must be valid values of every field.

use serde::{Deserialize, Serialize};

/// `ssthresh_segs` of a connection that has not been congested yet.
pub const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;
/// `srtt_us` and `min_rtt_us` until the first sample.
pub const NO_RTT: u32 = u32::MAX;
/// Bit of [`Conn::stack`]: slow start while `cwnd <= ssthresh` (Linux until 3.18).
pub const STACK_SLOW_START_INCLUSIVE: u8 = 1;
/// Bit of [`Conn::stack`]: growth counts ACKs, not segments (Linux until 3.18).
pub const STACK_COUNT_ACKS: u8 = 2;
/// Bit of [`Conn::stack`]: the stack's own slow start replaces HyStart.
pub const STACK_ENDS_SLOW_START: u8 = 4;

/// Flag of `in_ack_event`: the ACK carries SACK blocks or ECE, or advances nothing.
pub const ACK_SLOWPATH: u32 = 1;
/// Flag of `in_ack_event`: the ACK advances and carries no SACK blocks or ECE.
pub const ACK_WIN_UPDATE: u32 = 2;
/// Flag of `in_ack_event`: the ACK carries ECN-Echo, and ECN was negotiated.
/// [`Conn::delivered_segs`] already counts the segments that it delivered.
pub const ACK_ECE: u32 = 4;

/// Linux's congestion state of a connection (`enum tcp_ca_state`). C code may write any byte;
/// stacks know the states below.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CaState(u8);

#[allow(non_upper_case_globals)] // they are named as the variants of an enumeration
impl CaState {
    /// All is in order.
    pub const Open: Self = Self(0);
    /// Duplicate ACKs or SACKs have been seen.
    pub const Disorder: Self = Self(1);
    /// The window is being reduced without a loss (ECN, local congestion).
    pub const Cwr: Self = Self(2);
    /// Fast retransmit and recovery.
    pub const Recovery: Self = Self(3);
    /// Retransmission timeout.
    pub const Loss: Self = Self(4);

    /// The state of a number; none: there is no such state.
    #[must_use]
    pub const fn of(code: u8) -> Option<Self> {
        if code <= Self::Loss.0 { Some(Self(code)) } else { None }
    }

    /// Its number, as in Linux.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

/// Events beyond ACKs for an algorithm (Linux's `enum tcp_ca_event`).
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CwndEvent {
    /// First segment sent while nothing was in flight.
    TxStart,
    /// Window restarted after idle.
    CwndRestart,
    /// End of [`CaState::Cwr`] or [`CaState::Recovery`].
    CompleteCwr,
    /// Retransmission timeout.
    Loss,
    /// Receiver: a segment without a congestion mark.
    EcnNoCe,
    /// Receiver: a segment with a congestion mark.
    EcnIsCe,
}

impl CwndEvent {
    /// The event of a number; none: there is no such event.
    #[must_use]
    pub fn of(number: u32) -> Option<Self> {
        const ALL: [CwndEvent; 6] = [
            CwndEvent::TxStart,
            CwndEvent::CwndRestart,
            CwndEvent::CompleteCwr,
            CwndEvent::Loss,
            CwndEvent::EcnNoCe,
            CwndEvent::EcnIsCe,
        ];
        ALL.get(number as usize).copied()
    }
}

/// The connection. The algorithm may write the first six fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conn {
    /// Congestion window, segments.
    pub cwnd_segs: u32,
    /// Acknowledged segments not yet turned into growth.
    pub cwnd_cnt: u32,
    /// Slow-start threshold, segments.
    pub ssthresh_segs: u32,
    /// Largest window that growth may reach, segments.
    pub cwnd_clamp_segs: u32,
    /// Pacing rate, payload bytes per second; 0: not paced. If the algorithm does not set it, the
    /// stack may pace and set it.
    pub pacing_rate_bytes_per_s: u64,
    /// Until more segments than this are delivered, modulo 2^32, rate samples of new segments count
    /// as limited by the application; 0: none do.
    pub app_limited_segs: u32,

    /// Window before the current or last reduction, segments.
    pub prior_cwnd_segs: u32,
    /// Time now, microseconds.
    pub now_us: u64,
    /// Segments delivered to the receiver so far, acknowledged or SACKed.
    pub delivered_segs: u64,
    /// Segments whose acknowledgement carried ECN-Echo.
    pub delivered_ce_segs: u64,
    /// Segments marked lost, each as often as it was.
    pub lost_segs: u64,
    /// Retransmissions.
    pub resent_segs: u32,
    /// Segments in flight.
    pub in_flight_segs: u32,
    /// Smoothed RTT, microseconds; [`NO_RTT`] until the first sample.
    pub srtt_us: u32,
    /// Smallest RTT, microseconds; [`NO_RTT`] until the first sample.
    pub min_rtt_us: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// First unacknowledged sequence number, bytes modulo 2^32.
    pub snd_una: u32,
    /// Next sequence number to send, bytes modulo 2^32.
    pub snd_nxt: u32,
    /// Random number, uniform and new for each call, if the algorithm needs
    /// [`crate::Need::Random`].
    pub random: u32,
    /// Congestion state.
    pub state: CaState,
    /// 1: the window, not the application, limits sending.
    pub cwnd_limited: u8,
    /// Differences of the stack from today's Linux: `STACK_*` bits.
    pub stack: u8,
    /// 1: congestion marks are the only sign of the congestion for which `ssthresh` is called.
    pub is_marked: u8,
    /// RTT of the empty path as a TCP-BPF program set it, microseconds; 0: none did.
    pub base_rtt_us: u32,
    /// Time until pacing lets the next segment leave, microseconds.
    pub pacing_wait_us: u32,
    /// Timestamp of the latest acknowledgement, in milliseconds of the receiver's clock; 0 without
    /// timestamps and without [`crate::Need::OneWay`].
    pub stamp_ms: u32,
    /// Timestamp that it echoes, in milliseconds of the sender's clock; 0 likewise.
    pub echo_ms: u32,
    /// With [`CwndEvent::TxStart`]: time when data was last sent before, milliseconds modulo 2^32.
    pub last_sent_ms: u32,
}

impl Default for Conn {
    /// A fresh connection on today's Linux: ten segments of 1448 bytes.
    fn default() -> Self {
        Self {
            cwnd_segs: 10,
            cwnd_cnt: 0,
            ssthresh_segs: SSTHRESH_INFINITE,
            cwnd_clamp_segs: u32::MAX,
            pacing_rate_bytes_per_s: 0,
            app_limited_segs: 0,
            prior_cwnd_segs: 0,
            now_us: 0,
            delivered_segs: 0,
            delivered_ce_segs: 0,
            lost_segs: 0,
            resent_segs: 0,
            in_flight_segs: 0,
            srtt_us: NO_RTT,
            min_rtt_us: NO_RTT,
            mss_bytes: 1448,
            snd_una: 0,
            snd_nxt: 0,
            random: 0,
            state: CaState::Open,
            cwnd_limited: 1,
            stack: 0,
            is_marked: 0,
            base_rtt_us: 0,
            pacing_wait_us: 0,
            stamp_ms: 0,
            echo_ms: 0,
            last_sent_ms: 0,
        }
    }
}

/// Measurements of one ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AckSample {
    /// Segments that it acknowledges cumulatively, SACKed before or not.
    pub pkts_acked: u32,
    /// RTT of the segment sent last, of those that it newly acknowledges or SACKs and that were
    /// never retransmitted, microseconds. If all were retransmitted, the RTT of timestamps, in
    /// whole milliseconds; -1: none.
    pub rtt_us: i32,
    /// Bytes delivered while that segment was in flight. Without [`crate::Need::Rates`], bytes in
    /// flight after this ACK.
    pub in_flight_bytes: u32,
}

/// Delivery rate as of one ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSample {
    /// Segments delivered when the sampled segment was sent.
    pub prior_delivered_segs: u64,
    /// Length of the sample, microseconds; negative: no valid sample.
    pub interval_us: i64,
    /// Segments delivered in the interval.
    pub delivered_segs: i32,
    /// RTT, microseconds; -1: none.
    pub rtt_us: i32,
    /// Segments newly marked lost on this ACK.
    pub losses_segs: u32,
    /// Segments newly acknowledged or SACKed on this ACK.
    pub acked_sacked_segs: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight_segs: u32,
    /// 1: the application, not the network, limited the rate.
    pub is_app_limited: u8,
    /// 1: the receiver may have delayed the ACK, which acknowledges one segment below full size.
    pub is_ack_delayed: u8,
    /// Zero.
    pub reserved: [u8; 2],
}
