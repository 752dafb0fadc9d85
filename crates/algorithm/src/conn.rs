//! An algorithm's view of its connection: the mirrors of `cc.h`. C code holds pointers to them, so
//! no field is of a type that some bytes are no value of.

use serde::{Deserialize, Serialize};

/// `ssthresh_segs` of a connection that has not been congested yet.
pub const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;
/// `srtt_us` and `min_rtt_us` until the first sample.
pub const NO_RTT: u32 = u32::MAX;
/// Bit of [`Conn::stack`]: slow start while `cwnd <= ssthresh` (Linux until 3.18).
pub const STACK_SLOW_START_INCLUSIVE: u8 = 1;
/// Bit of [`Conn::stack`]: growth counts ACKs, not segments (Linux until 3.18).
pub const STACK_COUNT_ACKS: u8 = 2;
/// Bit of [`Conn::stack`]: the stack has a slow start of its own, before which HyStart gives way.
pub const STACK_ENDS_SLOW_START: u8 = 4;

/// Flag of `in_ack_event`: the ACK carries SACK blocks or ECE, or advances nothing.
pub const ACK_SLOWPATH: u32 = 1;
/// Flag of `in_ack_event`: the ACK advances and says nothing else.
pub const ACK_WIN_UPDATE: u32 = 2;
/// Flag of `in_ack_event`: the ACK carries ECN-Echo, and ECN was negotiated.
/// [`Conn::delivered_segs`] counts what it delivered already.
pub const ACK_ECE: u32 = 4;

/// Linux's congestion state of a connection. Any byte is one, as C code may write it; those
/// below are all that a stack knows.
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

    /// The one of a number, if it is one of these.
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

/// Moments that an algorithm is told of beyond ACKs.
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
    /// The one of a number, if it is one of these.
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

/// The connection: the first six fields are the algorithm's to write.
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
    /// Rate at which to send, payload bytes per second; 0: not paced. Where the
    /// algorithm leaves it alone, the stack may pace and set it.
    pub pacing_rate_bytes_per_s: u64,
    /// Segments sent until more than so many are delivered, modulo 2^32, have rate samples
    /// that say that the application was the limit; 0: it is not.
    pub app_limited_segs: u32,

    /// Window before the current or last reduction, segments.
    pub prior_cwnd_segs: u32,
    /// Time now, microseconds.
    pub now_us: u64,
    /// Segments delivered to the receiver so far, acknowledged or SACKed.
    pub delivered_segs: u64,
    /// Those whose acknowledgement carried ECN-Echo.
    pub delivered_ce_segs: u64,
    /// Times that a segment was taken for lost.
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
    /// Fresh and uniform for each call where the algorithm needs [`crate::Need::Random`].
    pub random: u32,
    /// Congestion state.
    pub state: CaState,
    /// 1: the window, not the application, held sending back.
    pub cwnd_limited: u8,
    /// How the stack differs from today's Linux: `STACK_*` bits.
    pub stack: u8,
    /// 1: congestion marks are the only sign of the congestion that `ssthresh` is asked about.
    pub is_marked: u8,
    /// RTT of the empty path as somebody told (TCP-BPF), microseconds; 0: nobody did.
    pub base_rtt_us: u32,
    /// Time until pacing lets the next segment leave, microseconds.
    pub pacing_wait_us: u32,
    /// Timestamp of the latest acknowledgement, in milliseconds of the receiver's clock; 0
    /// without timestamps and without [`crate::Need::OneWay`].
    pub stamp_ms: u32,
    /// The timestamp that it echoes, in milliseconds of the sender's clock; likewise.
    pub echo_ms: u32,
    /// With [`CwndEvent::TxStart`]: when data was last sent before, milliseconds modulo 2^32.
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

/// What one ACK told.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AckSample {
    /// Segments that it acknowledges cumulatively, SACKed before or not.
    pub pkts_acked: u32,
    /// RTT of the latest sent, never retransmitted of what it newly acknowledges or SACKs,
    /// microseconds; where all were retransmitted what timestamps tell, in whole
    /// milliseconds; -1: nothing.
    pub rtt_us: i32,
    /// Bytes delivered while that segment was in flight; without
    /// [`crate::Need::Rates`] what is in flight after this ACK.
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
    /// 1: the receiver may have delayed the ACK, which is of one segment below full size.
    pub is_ack_delayed: u8,
    /// Zero.
    pub reserved: [u8; 2],
}
