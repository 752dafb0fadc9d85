//! Shared parts of the tests of disciplines: queues from JSON, and a small link.

use std::collections::VecDeque;

use super::{
    Admission, AnyScheduler, Backlog, Parameters, QueueConfig, Queued, Scheduler, Verdict,
};
use crate::packet::{Direction, Packet};
use crate::random::Random;
use crate::serializer::Serializer;
use crate::units::{Rate, Span, Time};

/// Size of a test's packets on the wire, in bytes.
pub const SIZE: u32 = 1500;

/// A packet of [`SIZE`].
pub fn packet(flow: u32, number: u64) -> Packet {
    Packet::new(flow, Direction::Forward, SIZE as u16, number)
}

/// A packet of [`SIZE`] that joins at a time.
pub fn queued(now: u64, packet: Packet) -> Queued {
    Queued { packet, wire_bytes: packet.bytes().into(), since: Time(now) }
}

fn config(limit: &str, discipline: &str) -> QueueConfig {
    let json = format!(r#"{{"limit":{limit},"discipline":{discipline}}}"#);
    let config: QueueConfig = serde_json::from_str(&json).unwrap();
    config.check().unwrap();
    config
}

/// Change `from` to `to` in the first example of a discipline that has it. Return the key that is
/// refused.
pub fn refused<Config: Parameters>(from: &str, to: &str) -> String {
    let example = Config::EXAMPLES.iter().find(|example| example.queue.contains(from));
    let queue = example.expect("an example with it").queue.replace(from, to);
    serde_json::from_str::<QueueConfig>(&queue).unwrap().check().unwrap_err().0
}

/// An admission whose packets take a millisecond to send.
pub fn admission(limit: &str, discipline: &str) -> Admission {
    let config = config(limit, discipline);
    Admission::new(&config, Span::from_millis(1), Random::new(17, 0)).expect("an admission")
}

/// A scheduler.
pub fn schedules(limit: &str, discipline: &str) -> Box<dyn Scheduler> {
    let QueueConfig { limit, discipline } = config(limit, discipline);
    Box::new(AnyScheduler::new(&discipline, limit, Random::new(17, 0)).expect("a scheduler"))
}

/// Take the next packet of a scheduler at a time. Return it with the number of packets dropped.
pub fn take(queue: &mut dyn Scheduler, now: u64) -> Option<(Queued, usize)> {
    let mut dropped = Vec::new();
    queue.dequeue(Time(now), &mut dropped).map(|queued| (queued, dropped.len()))
}

/// Add packets to a scheduler and return the number of packets dropped.
pub fn put(
    queue: &mut dyn Scheduler,
    now: u64,
    packets: impl IntoIterator<Item = Packet>,
) -> usize {
    let mut dropped = Vec::new();
    for packet in packets {
        queue.enqueue(Time(now), queued(now, packet), &mut dropped);
    }
    dropped.len()
}

/// An admission in front of a constant rate.
pub struct Sink {
    admission: Admission,
    serializer: Serializer,
    /// End of each packet's transmission.
    ends: VecDeque<Time>,
}

impl Sink {
    pub fn new(admission: Admission, bits_per_s: u64) -> Self {
        let rate = Rate(bits_per_s.try_into().unwrap());
        Self { admission, serializer: Serializer::new(rate), ends: VecDeque::new() }
    }

    /// Offer a packet of [`SIZE`].
    pub fn offer(&mut self, now: Time, packet: Packet) -> Verdict {
        let backlog = self.backlog(now);
        let verdict = self.admission.admit(now, &backlog, packet, SIZE);
        if verdict != Verdict::Drop {
            self.ends.push_back(self.serializer.send(now, SIZE).1);
        }
        verdict
    }

    /// Return the state of the queue for an arriving packet.
    pub fn backlog(&mut self, now: Time) -> Backlog {
        while self.ends.front().is_some_and(|&end| end <= now) {
            self.ends.pop_front();
        }
        let packets = self.ends.len() as u32;
        let free_at = self.serializer.free_at();
        Backlog {
            packets,
            bytes: u64::from(packets * SIZE),
            sending_bytes: SIZE * u32::from(packets > 0),
            wait: free_at.max(now).since(now),
            idle: now.since(free_at.min(now)),
        }
    }
}
