//! Memory that the queues of a switch share, by dynamic thresholds.
//!
//! A queue may hold at most alpha times the memory that is free (Choudhury and Hahne, IEEE/ACM
//! Transactions on Networking 6(2), 1998). So `n` queues that are always full hold
//! `alpha B / (1 + n alpha)` of `B` bytes each, and `B / (1 + n alpha)` stay free for those that
//! come next. As with every limit, packets being sent do not count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, not_zero, positive};
use crate::units::Time;

/// The memory that a link's queues draw on.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryConfig {
    /// Number of the switch; links of the same one share its memory.
    pub switch: u32,
    /// Size of the memory in bytes on the wire.
    pub bytes: u64,
    /// Largest ratio of a queue to the free memory.
    pub alpha: f64,
}

impl MemoryConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        not_zero("bytes", self.bytes)?;
        positive("alpha", self.alpha)
    }

    /// The most that one queue may hold, in bytes.
    #[must_use]
    pub fn largest_queue(&self) -> u64 {
        (self.alpha * self.bytes as f64 / (1.0 + self.alpha)) as u64
    }
}

/// A running memory.
#[derive(Debug)]
struct Memory {
    config: MemoryConfig,
    held_bytes: u64,
    /// Times at which packets with known departures begin to be sent, and their bytes.
    leaving: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Memory {
    fn release(&mut self, now: Time) {
        while let Some(&Reverse((time, bytes))) = self.leaving.peek()
            && time <= now
        {
            self.leaving.pop();
            self.held_bytes -= u64::from(bytes);
        }
    }
}

/// A link's access to the memory of its switch. Links of one switch must call in order of time.
#[derive(Debug)]
pub(crate) struct Port {
    // A network may move between threads, so the memory is behind a lock. One thread at a time uses
    // it.
    memory: Arc<Mutex<Memory>>,
    /// Time at which all packets with known departures have been sent.
    free_at: Time,
    /// Bytes that the link's scheduler holds.
    scheduled_bytes: u64,
}

impl Port {
    /// Return whether a queue of `queue_bytes` may take a packet at `now`.
    pub fn takes(&self, now: Time, queue_bytes: u64, wire_bytes: u32) -> bool {
        let mut memory = self.memory();
        memory.release(now);
        let free = memory.config.bytes - memory.held_bytes;
        let wire_bytes = u64::from(wire_bytes);
        // The packet has not joined yet, so its own bytes still count as free.
        let threshold = memory.config.alpha * free as f64;
        wire_bytes <= free && (queue_bytes + wire_bytes) as f64 <= threshold
    }

    /// Add a packet at `now` whose transmission ends at `end`. It waits until all packets before it
    /// have been sent.
    pub fn join(&mut self, now: Time, end: Time, wire_bytes: u32) {
        let begins = std::mem::replace(&mut self.free_at, end);
        // A packet that is sent at once waits in no queue, so it holds no memory.
        if begins > now {
            let mut memory = self.memory();
            memory.held_bytes += u64::from(wire_bytes);
            memory.leaving.push(Reverse((begins, wire_bytes)));
        }
    }

    /// Set the number of bytes that the link's scheduler holds from now on.
    pub fn hold(&mut self, bytes: u64) {
        let before = std::mem::replace(&mut self.scheduled_bytes, bytes);
        let mut memory = self.memory();
        memory.held_bytes = memory.held_bytes - before + bytes;
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memories of a network's switches.
#[derive(Debug, Default)]
pub(crate) struct Memories(Vec<(u32, Arc<Mutex<Memory>>)>);

impl Memories {
    /// Return a port of a switch's memory; the first port of a switch creates it.
    pub fn port(&mut self, config: MemoryConfig) -> Port {
        let known = self.0.iter().find(|(switch, _)| *switch == config.switch);
        let memory = known.map(|(_, memory)| Arc::clone(memory)).unwrap_or_else(|| {
            let memory = Memory { config, held_bytes: 0, leaving: BinaryHeap::new() };
            let memory = Arc::new(Mutex::new(memory));
            self.0.push((config.switch, Arc::clone(&memory)));
            memory
        });
        Port { memory, free_at: Time::ZERO, scheduled_bytes: 0 }
    }
}
