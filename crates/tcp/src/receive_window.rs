//! The growth of the window that a receiver offers, as in Linux.
//!
//! Each segment raises the window by two segments, up to the limit of the buffer, and a segment
//! that raises it is acknowledged at once. The buffer itself grows with the data that arrives
//! within a round trip (dynamic right-sizing), so a window that doubles never has to wait. In slow
//! start most segments are therefore acknowledged one by one. An application that requests a buffer
//! of fixed size prevents this.
//!
//! The receiver learns here which segments raise the window. The window limits a sender only if the
//! application lags ([`crate::reader`]).

use dumbbell_network::{Span, Time};

use crate::stack::Stack;

/// Payload of a segment in bytes, where only the raises matter.
pub const SEGMENT_BYTES: u64 = 1_448;
/// Share of a buffer that is window: half of it, until full segments have shown how much memory
/// they take, and then five eighths.
const HALF: (u64, u64) = (1, 2);
const OF_FULL_SEGMENTS: (u64, u64) = (5, 8);
/// Segments that Linux expects in the first round trip.
const FIRST_ROUND_SEGS: u64 = 10;
/// Number of round trips without growth after which the buffer has its final size.
const ROUNDS_WITHOUT_GROWTH: u32 = 4;

/// The offered window in segments, and its possible growth.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    offered: u64,
    allowed: u64,
    /// Window that the largest buffer allows.
    most: u64,
    /// Space in addition to twice the arrivals of a round trip.
    spare: u64,
    /// Segments that fit in the buffer, without the limit of the window, now and at most.
    whole: u64,
    whole_most: u64,
    /// Most arrivals within a round trip, and arrivals in this one.
    round_most: u64,
    round: u64,
    round_began: Time,
    round_trip: Span,
    rounds_without_growth: u32,
}

impl ReceiveWindow {
    /// The window for a peer at the round-trip time `rtt` that sends segments of this payload.
    pub fn new(stack: &Stack, rtt: Span, segment_bytes: u64) -> Self {
        let window =
            |buffer_bytes: u64, (part, of): (u64, u64)| buffer_bytes / of * part / segment_bytes;
        let most_bytes = stack.receive_buffer_max_bytes;
        let first_bytes = stack.receive_buffer_bytes.min(most_bytes);
        let limit = stack.receive_window_bytes.map(|bytes| bytes.get() / segment_bytes);
        let limited = |window: u64| limit.map_or(window, |limit| window.min(limit));
        Self {
            offered: limited(window(first_bytes, HALF)),
            allowed: limited(window(first_bytes, OF_FULL_SEGMENTS)),
            most: limited(window(most_bytes, OF_FULL_SEGMENTS)),
            spare: stack.receive_spare_segs.into(),
            whole: window(first_bytes, OF_FULL_SEGMENTS),
            whole_most: window(most_bytes, OF_FULL_SEGMENTS),
            round_most: FIRST_ROUND_SEGS,
            round: 0,
            round_began: Time::ZERO,
            round_trip: rtt,
            rounds_without_growth: 0,
        }
    }

    /// Return whether no segment raises the window any more.
    pub const fn is_settled(&self) -> bool {
        let done = self.allowed == self.most || self.rounds_without_growth >= ROUNDS_WITHOUT_GROWTH;
        done && self.offered == self.allowed
    }

    /// Take segments in order, which the application reads at once. Return whether they raise the
    /// window.
    pub fn on_data(&mut self, now: Time, segs: u64) -> bool {
        if self.is_settled() {
            return false;
        }
        self.on_read(now, segs);
        self.raise(segs)
    }

    /// Count segments that the application has read.
    pub fn on_read(&mut self, now: Time, segs: u64) {
        if now.since(self.round_began) >= self.round_trip {
            self.end_round();
            self.round_began = now;
        }
        self.round += segs;
    }

    /// Take segments, in order or not. Return whether they raise the window.
    pub const fn raise(&mut self, segs: u64) -> bool {
        self.raise_within(segs, u64::MAX)
    }

    /// Take segments as [`Self::raise`] does, with a limit of `space` segments on the window.
    pub const fn raise_within(&mut self, segs: u64, space: u64) -> bool {
        let before = self.offered;
        // Two for each segment, so the window keeps up with a sender in slow start
        // (tcp_grow_window).
        let raised = before + 2 * segs;
        let most = if space < self.allowed { space } else { self.allowed };
        self.offered = if raised < most { raised } else { most };
        if self.offered <= before {
            self.offered = before;
        }
        self.offered > before
    }

    /// Window in segments to offer with an empty buffer.
    pub const fn offered(&self) -> u64 {
        self.offered
    }

    /// Segments that fit in the buffer.
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// Round-trip time to the peer.
    pub const fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// Size the buffer by the arrivals of a round trip: twice these, and more if they have grown.
    fn end_round(&mut self) {
        let arrived = std::mem::take(&mut self.round);
        self.rounds_without_growth += 1;
        if arrived <= self.round_most {
            return;
        }
        // tcp_rcv_space_adjust: a sender in slow start sends twice as much in the next round trip.
        // The second term reserves space for still faster growth.
        let twice = 2 * arrived + self.spare;
        let more = 2 * twice * (arrived - self.round_most) / self.round_most;
        self.round_most = arrived;
        self.whole = self.whole.max((twice + more).min(self.whole_most));
        let raised = (twice + more).min(self.most);
        if raised > self.allowed {
            self.allowed = raised;
            self.rounds_without_growth = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::linux_6;

    const RTT: Span = Span::from_millis(10);

    fn receiver(first_bytes: u64, most_bytes: u64) -> ReceiveWindow {
        receiver_with(0, first_bytes, most_bytes)
    }

    fn receiver_with(spare: u32, first_bytes: u64, most_bytes: u64) -> ReceiveWindow {
        let stack = Stack {
            receive_buffer_bytes: first_bytes,
            receive_buffer_max_bytes: most_bytes,
            receive_spare_segs: spare,
            ..linux_6()
        };
        ReceiveWindow::new(&stack, RTT, SEGMENT_BYTES)
    }

    /// Return the number of segments in each round trip that raise the window.
    fn raised(receiver: &mut ReceiveWindow, rounds: &[u64]) -> Vec<u64> {
        let round = |(number, segs): (usize, &u64)| {
            let now = Time::ZERO + Span((number as u64 + 1) * RTT.0);
            (0..*segs).filter(|_| receiver.on_data(now, 1)).count() as u64
        };
        rounds.iter().enumerate().map(round).collect()
    }

    #[test]
    fn in_slow_start_most_segments_raise_it() {
        // 131,072 bytes are 45 segments, then 56. Then 20, 40 and 80 segments a round trip allow
        // 120, 240 and 480, and with a spare of 16 rather 168, 288 and 528. A receiver of Linux
        // 6.18 allowed 117, 210 and 495 with an application that reads at once.
        for (spare, expected) in [(0, [6, 0, 32, 60, 120]), (16, [6, 0, 40, 76, 120])] {
            let mut receiver = receiver_with(spare, 1 << 17, 6 << 20);
            assert_eq!(raised(&mut receiver, &[10, 20, 40, 80, 160]), expected);
            assert!(!receiver.is_settled());
        }
    }

    #[test]
    fn a_flow_that_does_not_grow_settles_it() {
        let mut receiver = receiver(1 << 17, 6 << 20);
        let rounds = [&[10, 20, 40][..], &[40; 12]].concat();
        let raised = raised(&mut receiver, &rounds);
        assert_eq!(raised[5..], [0; 10]);
        assert!(receiver.is_settled());
    }

    #[test]
    fn a_buffer_of_one_size_lets_an_eighth_of_it_raise_the_window() {
        let bytes = 18_275_520;
        let mut receiver = receiver(bytes, bytes);
        assert_eq!(raised(&mut receiver, &[10_000]), [bytes.div_ceil(8 * 2 * SEGMENT_BYTES)]);
        assert!(receiver.is_settled());
    }

    #[test]
    fn without_a_buffer_or_beyond_a_limit_nothing_raises_it() {
        assert!(receiver(0, 0).is_settled());
        let stack = Stack {
            receive_buffer_bytes: 1 << 17,
            receive_buffer_max_bytes: 6 << 20,
            receive_window_bytes: std::num::NonZeroU64::new(30_000),
            ..linux_6()
        };
        assert!(ReceiveWindow::new(&stack, RTT, SEGMENT_BYTES).is_settled());
    }
}
