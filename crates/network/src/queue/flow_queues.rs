//! Queues of flows that take turns (RFC 8290, section 4): flows are hashed onto them.

use super::Queued;
use super::pool::{List, Pool};
use super::rotation::Rotation;
use super::sparse::Sparse;
use crate::check::{Check, not_zero, require};
use crate::packet::Packet;
use crate::random::Random;

/// Largest number of queues. More would only take memory.
const QUEUES_MAX: u32 = 1 << 20;

/// Check the number of queues and the bytes that one may send in its turn.
pub fn check(queues: u32, quantum_bytes: u32) -> Check {
    require((1..=QUEUES_MAX).contains(&queues), "queues", || {
        format!("{queues}, but it must be in 1..{QUEUES_MAX}")
    })?;
    not_zero("quantum_bytes", quantum_bytes.into())
}

/// Hash a flow and a salt to a number below `count`, by the finaliser of SplitMix64 (Steele, Lea
/// and Flood 2014).
#[inline]
pub fn hashed(flow: u64, salt: u64, count: u32) -> usize {
    let mut mixed = flow ^ salt;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // A product instead of a remainder: it is nearly uniform for any count and needs no division.
    (((mixed >> 32) * u64::from(count)) >> 32) as usize
}

/// Queues that take turns, each with separate control state.
#[derive(Clone, Debug)]
pub struct FlowQueues<Control> {
    count: u32,
    queues: Sparse<FlowQueue<Control>>,
    rotation: Rotation,
    pool: Pool,
    quantum_bytes: u32,
    /// Random number that makes flows collide differently in every run.
    salt: u64,
}

/// The queue of all flows that hash onto it.
#[derive(Clone, Copy, Debug)]
pub struct FlowQueue<Control> {
    pub list: List,
    pub control: Control,
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
    /// True if it is in the rotation.
    waits: bool,
}

impl<Control: Copy> FlowQueues<Control> {
    /// Empty queues with this control state.
    pub fn new(count: u32, quantum_bytes: u32, control: Control, random: &mut Random) -> Self {
        let fresh = FlowQueue { list: List::default(), control, credit_bytes: 0, waits: false };
        Self {
            count,
            queues: Sparse::new(fresh),
            rotation: Rotation::default(),
            pool: Pool::default(),
            quantum_bytes,
            salt: random.next_u64(),
        }
    }

    /// The store of all waiting packets.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Return the number of the queue for a packet's flow and direction (section 4.1).
    #[inline]
    pub fn number_of(&self, packet: Packet) -> usize {
        hashed(packet.route() as u64, self.salt, self.count)
    }

    /// Return the queue of a number.
    #[inline]
    pub fn entry(&mut self, number: usize) -> &mut FlowQueue<Control> {
        self.queues.entry(number)
    }

    /// All queues that were ever used, and the store of all waiting packets.
    pub fn used(&mut self) -> (impl Iterator<Item = &mut FlowQueue<Control>>, &mut Pool) {
        (self.queues.iter_mut(), &mut self.pool)
    }

    /// Add a packet to the queue of a number.
    #[inline]
    pub fn push(&mut self, number: usize, queued: Queued) {
        let queue = self.queues.entry(number);
        self.pool.push(&mut queue.list, queued);
        if !queue.waits {
            queue.waits = true;
            // A new flow begins with a full quantum and precedes old ones (RFC 8290, section 4.1).
            queue.credit_bytes = self.quantum_bytes.into();
            self.rotation.join(number as u32);
        }
    }

    /// Remove and return the next packet (section 4.2). `take` gets the queue whose turn it is, and
    /// returns None only if it leaves that queue empty.
    #[inline]
    pub fn pop(
        &mut self,
        mut take: impl FnMut(&mut Control, (&mut Pool, &mut List)) -> Option<Queued>,
    ) -> Option<Queued> {
        loop {
            let queue = self.queues.entry(self.rotation.turn()? as usize);
            if queue.credit_bytes <= 0 {
                queue.credit_bytes += i64::from(self.quantum_bytes);
                self.rotation.next();
                continue;
            }
            if let Some(queued) = take(&mut queue.control, (&mut self.pool, &mut queue.list)) {
                queue.credit_bytes -= i64::from(queued.wire_bytes);
                return Some(queued);
            }
            queue.waits = !self.rotation.rest();
        }
    }

    /// Every packet in the queues.
    pub fn waiting(&self) -> Vec<Packet> {
        self.queues.iter().flat_map(|queue| self.pool.iter(&queue.list)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::packet;
    use super::*;

    #[test]
    fn flows_collide_as_hashing_has_it() {
        let used = |seed| {
            let queues = FlowQueues::new(1024, 1514, (), &mut Random::new(seed, 0));
            let used: std::collections::BTreeSet<_> =
                (0..1024).map(|flow| queues.number_of(packet(flow, 0))).collect();
            used.len()
        };
        // 1024 balls in 1024 bins leave a share of 1/e empty: 647 are used, with a standard
        // deviation of 10.
        let used: Vec<_> = (0..5).map(used).collect();
        assert!(used.iter().all(|used| (605..=690).contains(used)), "{used:?}");
        assert!(used.iter().any(|other| *other != used[0]));
    }
}
