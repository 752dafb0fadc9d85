//! TCP-BPF: settings that a program makes while a connection opens (Brakmo 2017), with their effect
//! on Linux.

use std::num::NonZeroU32;

use dumbbell_algorithm::Conn;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::stack::Stack;

/// A limit so large that no sum with a segment number overflows.
const UNLIMITED: u64 = u64::MAX / 2;

/// Largest number of segments in flight for a user-defined algorithm, whatever its window is. This
/// is 24 GB, and each segment takes memory here.
const USER_DEFINED_MAX_SEGS: u64 = 1 << 24;

/// The settings; None leaves the value of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpBpf {
    /// Largest window that growth may reach; slow start ends there.
    pub cwnd_clamp_segs: Option<NonZeroU32>,
    /// The window to begin with.
    pub initial_window_segs: Option<NonZeroU32>,
    /// Size of the sender's buffer, as given to SO_SNDBUF.
    pub send_buffer_bytes: Option<NonZeroU32>,
    /// Size of the receiver's buffer, as given to SO_RCVBUF.
    pub receive_buffer_bytes: Option<NonZeroU32>,
    /// Round-trip time of the empty path, which some algorithms use.
    pub base_rtt_us: Option<NonZeroU32>,
}

/// Limits of outstanding segments, in addition to the window.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Segments that the receiver has space for.
    pub receiver_segs: u64,
    /// Segments that fit in the sender's buffer.
    pub sender_segs: u64,
}

impl Limits {
    /// Segments that both limits allow. A user-defined algorithm gets at most 2^24.
    #[must_use]
    pub fn outstanding_segs(&self, is_user_defined: bool) -> u64 {
        let both = self.receiver_segs.min(self.sender_segs);
        if is_user_defined { both.min(USER_DEFINED_MAX_SEGS) } else { both }
    }
}

impl TcpBpf {
    /// Set the values that concern the window of a new connection.
    pub fn apply(&self, conn: &mut Conn) {
        if let Some(clamp) = self.cwnd_clamp_segs {
            // The kernel sets both for TCP_BPF_SNDCWND_CLAMP.
            (conn.cwnd_clamp_segs, conn.ssthresh_segs) = (clamp.get(), clamp.get());
        }
        let initial = self.initial_window_segs.map_or(conn.cwnd_segs, NonZeroU32::get);
        conn.cwnd_segs = initial.min(conn.cwnd_clamp_segs);
        conn.base_rtt_us = self.base_rtt_us.map_or(0, NonZeroU32::get);
    }

    /// Limits of buffers on outstanding segments, at least one segment each.
    ///
    /// The kernel doubles both sizes, because packets take memory in addition to their payload. A
    /// receiver grants half of that. A sender fills all of it, because its segments wait in large
    /// chunks with little overhead.
    pub fn limits(&self, stack: &Stack, mss_bytes: u32) -> Limits {
        let segs = |bytes: u64| (bytes / u64::from(mss_bytes)).clamp(1, UNLIMITED);
        let buffer = self.receive_buffer_bytes.map(u64_of);
        let window = stack.receive_window_bytes.map(std::num::NonZeroU64::get);
        let receiver = buffer.into_iter().chain(window).min();
        let sender = self.send_buffer_bytes.map(|bytes| 2 * u64_of(bytes));
        Limits {
            receiver_segs: receiver.map_or(UNLIMITED, segs),
            sender_segs: sender.map_or(UNLIMITED, segs),
        }
    }
}

fn u64_of(bytes: NonZeroU32) -> u64 {
    bytes.get().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::PROFILES;

    fn some(value: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(value)
    }

    #[test]
    fn the_clamp_holds_the_initial_window_and_ends_slow_start() {
        let settings =
            TcpBpf { cwnd_clamp_segs: some(4), base_rtt_us: some(80), ..TcpBpf::default() };
        let mut conn = Conn::default();
        settings.apply(&mut conn);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs, conn.cwnd_clamp_segs), (4, 4, 4));
        assert_eq!(conn.base_rtt_us, 80);
        let mut conn = Conn::default();
        TcpBpf { initial_window_segs: some(32), ..TcpBpf::default() }.apply(&mut conn);
        assert_eq!(conn, Conn { cwnd_segs: 32, ..Conn::default() });
    }

    #[test]
    fn only_an_algorithm_of_a_users_own_is_bounded_without_buffers() {
        let stack = Stack { receive_window_bytes: None, ..(PROFILES[4].stack)() };
        let limits = TcpBpf::default().limits(&stack, 1448);
        assert_eq!(limits.outstanding_segs(true), 1 << 24);
        assert!(limits.outstanding_segs(false) >= u64::from(u32::MAX));
    }

    #[test]
    fn the_smaller_of_two_receive_windows_counts() {
        let stack = |bytes: Option<u64>| Stack {
            receive_window_bytes: bytes.and_then(std::num::NonZeroU64::new),
            ..(PROFILES[4].stack)()
        };
        let settings = TcpBpf {
            send_buffer_bytes: some(15_000),
            receive_buffer_bytes: some(20_999),
            ..TcpBpf::default()
        };
        for (window, expected) in [(None, 20), (Some(30_000), 20), (Some(10_000), 10), (Some(1), 1)]
        {
            let limits = settings.limits(&stack(window), 1_000);
            assert_eq!((limits.receiver_segs, limits.sender_segs), (expected, 30));
        }
        assert_eq!(TcpBpf::default().limits(&stack(None), 1_000).sender_segs, UNLIMITED);
    }
}
