//! The kernel's record of each socket: the mirror of `struct cc_flow` (`bpf/flow.h`).

use dumbbell_algorithm::{CaState, Conn};

/// Bytes of an algorithm's own state (`CC_STATE_BYTES`).
pub const STATE_BYTES: usize = 104;
/// Bytes after it that only the kernel's side uses: marks, and the stack's slow start.
const REST_BYTES: usize = 8 + 184 + 8;
/// Size of `struct cc_flow`.
pub const FLOW_BYTES: usize = 64 + size_of::<Conn>() + STATE_BYTES + REST_BYTES;

/// Measurements of a socket since its connection was established.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowWatch {
    /// Round-trip times; none: no sample yet.
    pub rtt: Option<RttWatch>,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Reductions that proved spurious and were undone.
    pub spurious: u32,
    /// RTT of the empty path as set with TCP-BPF, in microseconds; none: not set.
    pub base_rtt_us: Option<u32>,
    /// The connection after its algorithm's last call. All zeros unless the algorithm is our build
    /// and keeps it.
    pub conn: Conn,
    /// The algorithm's own state at that time.
    pub state: [u8; STATE_BYTES],
}

/// Samples of a connection's round-trip time, in microseconds. There is one for each
/// acknowledgement that delivered something and no retransmission (Karn). It is taken when the next
/// segment arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttWatch {
    /// Their number.
    pub samples: u32,
    /// The latest sample.
    pub latest_us: u32,
    /// The smallest sample.
    pub min_us: u32,
    /// The largest sample.
    pub max_us: u32,
    /// Their sum.
    pub sum_us: u64,
}

impl FlowWatch {
    /// Read the kernel's data.
    ///
    /// # Panics
    /// If it does not have [`FLOW_BYTES`] bytes.
    pub(super) fn read(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), FLOW_BYTES, "bytes of a struct cc_flow");
        let mut fields = Fields(bytes);
        let sum_us = fields.u64();
        let [samples, latest_us, min_us, max_us] = fields.u32s();
        let [congestion_events, timeouts, spurious, base_rtt_us] = fields.u32s();
        // Only the kernel's side uses these.
        let [_port, _timeout_cwnd_segs, _delivered_segs, _state] = fields.u32s();
        let [_ce_rcv_nxt, _resent_back_segs] = fields.u32s();
        Self {
            rtt: (samples > 0).then_some(RttWatch { samples, latest_us, min_us, max_us, sum_us }),
            congestion_events,
            timeouts,
            spurious,
            base_rtt_us: (base_rtt_us > 0).then_some(base_rtt_us),
            conn: read_conn(&mut fields),
            state: fields.take(),
        }
    }
}

fn read_conn(fields: &mut Fields<'_>) -> Conn {
    let [cwnd_segs, cwnd_cnt, ssthresh_segs, cwnd_clamp_segs] = fields.u32s();
    let pacing_rate_bytes_per_s = fields.u64();
    let [app_limited_segs, prior_cwnd_segs] = fields.u32s();
    let [now_us, delivered_segs, delivered_ce_segs, lost_segs] = [(); 4].map(|()| fields.u64());
    let [resent_segs, in_flight_segs, srtt_us, min_rtt_us] = fields.u32s();
    let [mss_bytes, snd_una, snd_nxt, random] = fields.u32s();
    let [state, cwnd_limited, stack, is_marked] = fields.take();
    let [base_rtt_us, pacing_wait_us, stamp_ms, echo_ms] = fields.u32s();
    let [last_sent_ms] = fields.u32s();
    Conn {
        cwnd_segs,
        cwnd_cnt,
        ssthresh_segs,
        cwnd_clamp_segs,
        pacing_rate_bytes_per_s,
        app_limited_segs,
        prior_cwnd_segs,
        now_us,
        delivered_segs,
        delivered_ce_segs,
        lost_segs,
        resent_segs,
        in_flight_segs,
        srtt_us,
        min_rtt_us,
        mss_bytes,
        snd_una,
        snd_nxt,
        random,
        state: ca_state(state),
        cwnd_limited,
        stack,
        is_marked,
        base_rtt_us,
        pacing_wait_us,
        stamp_ms,
        echo_ms,
        last_sent_ms,
    }
}

fn ca_state(number: u8) -> CaState {
    CaState::of(number).expect("a congestion state")
}

/// Fields in this machine's byte order, read one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().expect("another field");
        self.0 = rest;
        *field
    }

    fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.take())
    }

    fn u32s<const N: usize>(&mut self) -> [u32; N] {
        [(); N].map(|()| u32::from_ne_bytes(self.take()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read_and_nothing_is_left() {
        let mut bytes = vec![0; FLOW_BYTES];
        bytes[..8].copy_from_slice(&70u64.to_ne_bytes());
        for (index, field) in bytes[8..64].chunks_exact_mut(4).enumerate() {
            field.copy_from_slice(&(index as u32 + 1).to_ne_bytes());
        }
        bytes[64..68].copy_from_slice(&9u32.to_ne_bytes());
        bytes[64 + std::mem::offset_of!(Conn, state)] = CaState::Loss.code();
        bytes[FLOW_BYTES - REST_BYTES - 1] = 5;
        let flow = FlowWatch::read(&bytes);
        let rtt = RttWatch { samples: 1, latest_us: 2, min_us: 3, max_us: 4, sum_us: 70 };
        assert_eq!(flow.rtt, Some(rtt));
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (5, 6, 7));
        assert_eq!(flow.base_rtt_us, Some(8));
        assert_eq!((flow.conn.cwnd_segs, flow.conn.state), (9, CaState::Loss));
        assert_eq!(flow.state[STATE_BYTES - 1], 5);
    }

    #[test]
    fn nothing_sampled_and_nothing_reported_is_nothing() {
        let flow = FlowWatch::read(&[0; FLOW_BYTES]);
        assert_eq!((flow.rtt, flow.base_rtt_us), (None, None));
    }
}
