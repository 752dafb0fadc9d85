//! What a flow has waiting in its own host (TCP small queues).
//!
//! The interface is the flow's own and first in, first out, so the moment at which a
//! chunk will have left is known when it is handed over.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use dumbbell_network::{Rate, Serializer, Time};

/// The queue before the sender's own interface.
#[derive(Debug)]
pub struct HostQueue {
    interface: Serializer,
    /// Chunks that have not left yet, as of the last look, the oldest first.
    chunks: VecDeque<Waiting>,
    waiting_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    gone: Time,
    bytes: u64,
}

impl HostQueue {
    /// An empty queue before an interface of this rate.
    pub fn new(rate_bps: NonZeroU64) -> Self {
        let interface = Serializer::new(Rate(rate_bps));
        Self { interface, chunks: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Hands over a chunk of packets, each of `wire_bytes` on the wire.
    pub fn push(&mut self, now: Time, packets: u32, wire_bytes: u32) {
        let mut gone = now;
        for _ in 0..packets {
            gone = self.interface.send(now, wire_bytes).1;
        }
        let bytes = u64::from(packets) * u64::from(wire_bytes);
        self.waiting_bytes += bytes;
        self.chunks.push_back(Waiting { gone, bytes });
    }

    /// Bytes of the chunks that have not left as a whole.
    pub fn waiting_bytes(&mut self, now: Time) -> u64 {
        while let Some(chunk) = self.chunks.front() {
            if chunk.gone > now {
                break;
            }
            self.waiting_bytes -= chunk.bytes;
            self.chunks.pop_front();
        }
        self.waiting_bytes
    }

    /// When no more than `limit` bytes will be waiting, if nothing is added.
    pub fn drained_to(&self, limit: u64) -> Time {
        let mut left = self.waiting_bytes;
        let mut gone = Time::ZERO;
        for chunk in &self.chunks {
            if left <= limit {
                break;
            }
            left -= chunk.bytes;
            gone = chunk.gone;
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> HostQueue {
        HostQueue::new(NonZeroU64::new(1_000_000_000).unwrap())
    }

    #[test]
    fn a_chunk_waits_until_its_last_packet_has_left() {
        let mut queue = queue();
        queue.push(Time(100), 2, 1500);
        assert_eq!(queue.waiting_bytes(Time(24_099)), 3000);
        assert_eq!(queue.waiting_bytes(Time(24_100)), 0);
    }

    #[test]
    fn the_time_of_draining_is_known_in_advance() {
        let mut queue = queue();
        for _ in 0..4 {
            queue.push(Time(0), 1, 1500);
        }
        assert_eq!(queue.drained_to(6000), Time::ZERO);
        assert_eq!(queue.drained_to(3000), Time(24_000));
        assert_eq!(queue.drained_to(2999), Time(36_000));
        assert_eq!(queue.waiting_bytes(Time(24_000)), 3000);
        assert_eq!(queue.drained_to(0), Time(48_000));
    }
}
