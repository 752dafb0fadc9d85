//! The kernel's report of a connection, translated to the terms of the record.

use dumbbell_record::FlowSample;

use crate::traffic::output::{FlowEnd, Limits, Seen};

/// A value that does not exist yet.
const NONE_U32: u32 = u32::MAX;

/// The used part of `struct tcp_info`. The kernel cuts a longer one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpInfo {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    wscale: u8,
    flags: u8,
    rto_us: u32,
    ato_us: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt_us: u32,
    rttvar_us: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt_us: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt_us: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_us: u64,
    rwnd_limited_us: u64,
    sndbuf_limited_us: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
}

/// Measurements of a connection at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// TCP_INFO of its sending end.
    pub sender: TcpInfo,
    /// Payload that has reached the receiving end, in bytes.
    pub received_bytes: u64,
    /// Measurements that TCP_INFO does not have.
    pub seen: Option<Seen>,
}

impl TcpInfo {
    /// Payload that a receiving end has received in order, in bytes.
    pub const fn received_bytes(&self) -> u64 {
        self.bytes_received
    }

    /// Congestion window.
    pub const fn cwnd_segs(&self) -> u32 {
        self.snd_cwnd
    }

    /// Slow-start threshold. The kernel's value for none is the record's.
    pub const fn ssthresh_segs(&self) -> u32 {
        self.snd_ssthresh
    }

    /// The next segment that was never sent.
    pub const fn next_segment(&self) -> u64 {
        (self.data_segs_out - self.total_retrans) as u64
    }

    /// Retransmitted segments, those without data included.
    pub const fn retransmitted_segs(&self) -> u32 {
        self.total_retrans
    }

    /// Subtract so many retransmitted segments.
    pub const fn without(self, retransmitted_segs: u32) -> Self {
        Self { total_retrans: self.total_retrans - retransmitted_segs, ..self }
    }

    /// Payload acknowledged, in bytes. The end that connects also counts the acknowledgement of its
    /// SYN.
    const fn acked_bytes(&self) -> u64 {
        self.bytes_acked.saturating_sub(1)
    }

    /// Segments in flight, as the kernel estimates them.
    const fn in_flight_segs(&self) -> u32 {
        (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost)
    }
}

impl Moment {
    /// The row of the table of flows.
    pub fn sample(&self, time_ns: u64, flow: u32, paced: bool) -> FlowSample {
        let info = &self.sender;
        let seen = self.seen.unwrap_or_default();
        FlowSample {
            time_ns,
            flow,
            state: info.ca_state,
            cwnd_segs: info.snd_cwnd,
            ssthresh_segs: info.snd_ssthresh,
            in_flight_segs: info.in_flight_segs(),
            srtt_us: if info.rtt_us == 0 { NONE_U32 } else { info.rtt_us },
            rtt_us: seen.rtt_us.unwrap_or(NONE_U32),
            min_rtt_us: info.min_rtt_us,
            rto_us: u64::from(info.rto_us),
            sent_segs: u64::from(info.data_segs_out),
            retransmitted_segs: u64::from(info.total_retrans),
            sent_bytes: info.bytes_sent,
            acked_bytes: info.acked_bytes(),
            received_bytes: self.received_bytes,
            congestion_events: seen.congestion_events,
            // Without pacing the kernel still has a rate, or reports it as unlimited.
            pacing_rate_bytes_per_s: match info.pacing_rate {
                u64::MAX => 0,
                rate if paced => rate,
                _ => 0,
            },
        }
    }

    /// State of the flow at its end.
    pub fn end(&self, end_ns: Option<u64>) -> FlowEnd {
        let info = &self.sender;
        FlowEnd {
            end_ns,
            sent_segs: u64::from(info.data_segs_out),
            sent_bytes: info.bytes_sent,
            retransmitted_segs: u64::from(info.total_retrans),
            acked_bytes: info.acked_bytes(),
            received_bytes: self.received_bytes,
            reported_marks: info.delivered_ce.into(),
            limits: Limits {
                busy_us: info.busy_us,
                window_us: info.rwnd_limited_us,
                buffer_us: info.sndbuf_limited_us,
            },
            seen: self.seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn fields_lie_where_the_kernel_puts_them() {
        // As `pahole -C tcp_info` prints them.
        assert_eq!(offset_of!(TcpInfo, total_retrans), 100);
        assert_eq!(offset_of!(TcpInfo, pacing_rate), 104);
        assert_eq!(offset_of!(TcpInfo, min_rtt_us), 148);
        assert_eq!(offset_of!(TcpInfo, busy_us), 168);
        assert_eq!(offset_of!(TcpInfo, bytes_sent), 200);
    }

    #[test]
    fn what_the_kernel_does_not_know_is_marked() {
        let sender = TcpInfo {
            min_rtt_us: u32::MAX,
            snd_ssthresh: 0x7fff_ffff,
            pacing_rate: u64::MAX,
            ..TcpInfo::default()
        };
        let moment = Moment { sender, received_bytes: 0, seen: None };
        let row = moment.sample(5, 1, true);
        assert_eq!((row.srtt_us, row.rtt_us, row.min_rtt_us), (u32::MAX, u32::MAX, u32::MAX));
        assert_eq!((row.ssthresh_segs, row.pacing_rate_bytes_per_s), (2_147_483_647, 0));
        assert_eq!(row.acked_bytes, 0);
    }

    #[test]
    fn what_is_known_is_in_the_terms_of_the_record() {
        let sender = TcpInfo {
            unacked: 20,
            sacked: 5,
            lost: 3,
            retrans: 2,
            bytes_acked: 1_001,
            data_segs_out: 30,
            total_retrans: 5,
            pacing_rate: 7,
            ..TcpInfo::default()
        };
        let seen = Seen { rtt_us: Some(9), congestion_events: 4, ..Seen::default() };
        let moment = Moment { sender: sender.without(1), received_bytes: 8, seen: Some(seen) };
        let row = moment.sample(5, 1, false);
        assert_eq!((row.in_flight_segs, row.acked_bytes, row.received_bytes), (14, 1_000, 8));
        assert_eq!((row.sent_segs, row.retransmitted_segs), (30, 4));
        assert_eq!((row.rtt_us, row.congestion_events), (9, 4));
        assert_eq!(row.pacing_rate_bytes_per_s, 0);
        assert_eq!(moment.sample(5, 1, true).pacing_rate_bytes_per_s, 7);
    }
}
