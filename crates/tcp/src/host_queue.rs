//! The segments that wait in the flow's own host (TCP small queues).
//!
//! The flow hands over chunks, and the owner of the host's interface reports when each of their
//! packets leaves. If the interface is first in, first out, it reports in advance, and otherwise at
//! the departure.

use std::collections::VecDeque;

use dumbbell_network::Time;

/// The flow's part of the queue before its host's interface.
#[derive(Debug, Default)]
pub struct HostQueue {
    /// Chunks that had not left completely at the last call, from the oldest to the newest.
    chunks: VecDeque<Chunk>,
    /// Number of chunks, from the front, whose departures are known.
    known: usize,
    waiting_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    bytes: u64,
    /// Number of packets whose departure is unknown.
    unknown: u32,
    /// Latest known departure of its packets.
    gone: Time,
}

impl HostQueue {
    /// Add a chunk of packets, each of `wire_bytes` on the wire.
    pub fn push(&mut self, packets: u32, wire_bytes: u32) {
        let bytes = u64::from(packets) * u64::from(wire_bytes);
        self.waiting_bytes += bytes;
        self.chunks.push_back(Chunk { bytes, unknown: packets, gone: Time::ZERO });
    }

    /// Add packets that are each a separate chunk.
    #[inline]
    pub fn push_packets(&mut self, packets: u32, wire_bytes: u32) {
        (0..packets).for_each(|_| self.push(1, wire_bytes));
    }

    /// Record that the next packets leave until `at`, or are dropped then.
    #[inline]
    pub fn leave(&mut self, mut packets: u32, at: Time) {
        while packets > 0
            && let Some(chunk) = self.chunks.get_mut(self.known)
        {
            let some = packets.min(chunk.unknown);
            packets -= some;
            chunk.unknown -= some;
            chunk.gone = chunk.gone.max(at);
            self.known += usize::from(chunk.unknown == 0);
        }
    }

    /// Return the bytes of the chunks that have not left completely.
    pub fn waiting_bytes(&mut self, now: Time) -> u64 {
        while self.known > 0 && self.chunks[0].gone <= now {
            // A buffer of the kernel frees its memory as a whole, so a chunk counts until its last
            // packet has left (sk_wmem_alloc).
            self.waiting_bytes -= self.chunks[0].bytes;
            self.chunks.pop_front();
            self.known -= 1;
        }
        self.waiting_bytes
    }

    /// Return the time at which at most `limit` bytes wait, if nothing is added. [`Time::NEVER`] if
    /// this depends on packets whose departure is unknown.
    pub fn drained_to(&self, limit: u64) -> Time {
        let mut left = self.waiting_bytes;
        let mut gone = Time::ZERO;
        for (index, chunk) in self.chunks.iter().enumerate() {
            if left <= limit {
                break;
            }
            if index >= self.known {
                return Time::NEVER;
            }
            left -= chunk.bytes;
            // A dropped packet may be gone before an earlier one, so the latest time counts.
            gone = gone.max(chunk.gone);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_waits_until_its_last_packet_has_left() {
        let mut queue = HostQueue::default();
        queue.push(2, 1500);
        queue.leave(1, Time(12_100));
        assert_eq!(queue.waiting_bytes(Time(20_000)), 3000);
        queue.leave(1, Time(24_100));
        assert_eq!(queue.waiting_bytes(Time(24_099)), 3000);
        assert_eq!(queue.waiting_bytes(Time(24_100)), 0);
    }

    #[test]
    fn the_time_of_draining_is_known_as_far_as_departures_are() {
        let mut queue = HostQueue::default();
        for packet in 1..=4 {
            queue.push(1, 1500);
            queue.leave(1, Time(12_000 * packet));
        }
        queue.push(1, 1500);
        assert_eq!(queue.drained_to(7500), Time::ZERO);
        assert_eq!(queue.drained_to(4500), Time(24_000));
        assert_eq!(queue.drained_to(4499), Time(36_000));
        assert_eq!(queue.waiting_bytes(Time(24_000)), 4500);
        assert_eq!(queue.drained_to(1500), Time(48_000));
        assert_eq!(queue.drained_to(0), Time::NEVER);
        queue.leave(1, Time(60_000));
        assert_eq!(queue.drained_to(0), Time(60_000));
    }

    #[test]
    fn what_is_given_up_frees_its_room_once_what_came_before_has_left() {
        let mut queue = HostQueue::default();
        for at in [24_000, 12_000] {
            queue.push(1, 1500);
            queue.leave(1, Time(at));
        }
        assert_eq!(queue.drained_to(0), Time(24_000));
        assert_eq!(queue.waiting_bytes(Time(23_999)), 3000);
        assert_eq!(queue.waiting_bytes(Time(24_000)), 0);
    }

    #[test]
    fn nobody_hears_of_what_was_not_handed_over() {
        let mut queue = HostQueue::default();
        queue.leave(1, Time(5));
        queue.push(1, 1500);
        assert_eq!(queue.waiting_bytes(Time(10)), 1500);
    }
}
