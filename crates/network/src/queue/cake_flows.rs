//! CAKE's queues of flows and hosts: a set-associative hash finds the queue of a flow, and deficits
//! are split among the flows of a host.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Queued;
use super::flow_queues::hashed;
use super::pool::{List, Pool};
use super::rotation::Rotation;
use super::sparse::Sparse;
use crate::packet::{Direction, Packet};
use crate::random::Random;

/// Hosts or flows that get equal shares (tc-cake(8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nobody: all packets are in one queue (`flowblind`).
    Nothing,
    /// Sending hosts (`srchost`).
    Source,
    /// Receiving hosts (`dsthost`).
    Destination,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// Sending hosts, and the flows of each (`dual-srchost`).
    DualSource,
    /// Receiving hosts, and the flows of each (`dual-dsthost`).
    DualDestination,
    /// Sending and receiving hosts, and the flows of each (`triple-isolate`).
    Triple,
}

/// Number of queues of a link.
const QUEUES: u32 = 1024;
/// Number of queues that a flow can choose from (section III.B).
const WAYS: usize = 8;

/// Queues that take turns, each with separate control state.
#[derive(Clone, Debug)]
pub struct FlowTable<Control> {
    isolation: Isolation,
    hosts: Box<[[u32; 2]]>,
    quantum_bytes: u32,
    queues: Vec<FlowQueue<Control>>,
    rotation: Rotation,
    pool: Pool,
    /// Number of queues in the rotation, for each sending and each receiving host.
    loads: [Sparse<u32>; 2],
    /// Random number that makes flows collide differently in every run.
    salt: u64,
}

/// The queue of one flow, or of several flows whose set is full.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowQueue<Control> {
    pub list: List,
    pub control: Control,
    /// Tag of its last packet.
    tag: u64,
    /// The sending and the receiving host.
    ends: [u32; 2],
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
    /// True if it is in the rotation.
    waits: bool,
}

impl<Control: Copy + Default> FlowTable<Control> {
    /// Empty queues.
    pub fn new(
        isolation: Isolation,
        hosts: &[[u32; 2]],
        quantum_bytes: u32,
        random: &mut Random,
    ) -> Self {
        Self {
            isolation,
            hosts: hosts.into(),
            quantum_bytes,
            queues: vec![FlowQueue::default(); QUEUES as usize],
            rotation: Rotation::default(),
            pool: Pool::default(),
            loads: [Sparse::new(0), Sparse::new(0)],
            salt: random.next_u64(),
        }
    }

    /// The store of all waiting packets.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Return the sending and the receiving host of a packet.
    fn ends(&self, packet: Packet) -> [u32; 2] {
        let flow = packet.flow();
        let unique_hosts = || [flow.wrapping_mul(2), flow.wrapping_mul(2).wrapping_add(1)];
        let [sender, receiver] =
            self.hosts.get(flow as usize).copied().unwrap_or_else(unique_hosts);
        match packet.direction() {
            Direction::Forward => [sender, receiver],
            Direction::Reverse => [receiver, sender],
        }
    }

    fn tag(&self, packet: Packet, [source, destination]: [u32; 2]) -> u64 {
        match self.isolation {
            Isolation::Nothing => 0,
            Isolation::Source => source.into(),
            Isolation::Destination => destination.into(),
            Isolation::Hosts => u64::from(source) << 32 | u64::from(destination),
            Isolation::Flows
            | Isolation::DualSource
            | Isolation::DualDestination
            | Isolation::Triple => packet.route() as u64,
        }
    }

    /// Return the number of the queue for a tag: the tag's own, or a free one of its set, or a
    /// shared one by the hash.
    fn find(&self, tag: u64) -> usize {
        let direct = hashed(tag, self.salt, QUEUES);
        // Eight neighbours are the ways of one set. A collision needs nine active flows in it
        // (section III.B).
        let set = direct / WAYS * WAYS;
        let ways = || (0..WAYS).map(|way| set + (direct + way) % WAYS);
        let is_its = |&number: &usize| self.queues[number].waits && self.queues[number].tag == tag;
        ways()
            .find(is_its)
            .or_else(|| ways().find(|&number| !self.queues[number].waits))
            // The set is full, so the flow shares the queue of another, as with a plain hash.
            .unwrap_or(direct)
    }

    /// Add a packet to its queue and return the number of the queue.
    pub fn push(&mut self, queued: Queued) -> usize {
        let ends = self.ends(queued.packet);
        let tag = self.tag(queued.packet, ends);
        let number = self.find(tag);
        let queue = &mut self.queues[number];
        self.pool.push(&mut queue.list, queued);
        queue.tag = tag;
        if !queue.waits {
            (queue.waits, queue.ends) = (true, ends);
            for (loads, host) in self.loads.iter_mut().zip(ends) {
                *loads.entry(host as usize) += 1;
            }
            // This comes after the loads were raised, because the new flow shares its host's turn,
            // too.
            self.queues[number].credit_bytes = self.quantum(ends);
            self.rotation.join(number as u32);
        }
        number
    }

    /// Return the bytes that a queue between these hosts may send in its turn.
    fn quantum(&mut self, ends: [u32; 2]) -> i64 {
        let [sends, receives] = [0, 1].map(|end| *self.loads[end].entry(ends[end] as usize));
        let load = match self.isolation {
            Isolation::DualSource => sends,
            Isolation::DualDestination => receives,
            Isolation::Triple => sends.max(receives),
            _ => 1,
        };
        // Rounded up. Otherwise a host with many flows would get turns of zero and loop for ever.
        i64::from(self.quantum_bytes.div_ceil(load.max(1)))
    }

    /// Remove and return the next packet. `take` gets the queue whose turn it is, and returns None
    /// only if it leaves that queue empty.
    pub fn pop(
        &mut self,
        mut take: impl FnMut(&mut Control, (&mut Pool, &mut List)) -> Option<Queued>,
    ) -> Option<Queued> {
        loop {
            let number = self.rotation.turn()? as usize;
            let queue = &mut self.queues[number];
            if queue.credit_bytes <= 0 {
                let ends = queue.ends;
                self.queues[number].credit_bytes += self.quantum(ends);
                self.rotation.next();
                continue;
            }
            if let Some(queued) = take(&mut queue.control, (&mut self.pool, &mut queue.list)) {
                queue.credit_bytes -= i64::from(queued.wire_bytes);
                return Some(queued);
            }
            if self.rotation.rest() {
                queue.waits = false;
                for (loads, host) in self.loads.iter_mut().zip(queue.ends) {
                    *loads.entry(host as usize) -= 1;
                }
            }
        }
    }

    /// Remove and return the oldest ACK of a queue that the new `ack` covers, if more than `kept`
    /// of them are there. ACKs with any flag stay.
    pub fn filter(&mut self, number: usize, ack: Packet, kept: usize) -> Option<Packet> {
        let is_plain = |it: Packet| it.direction() == Direction::Reverse && it.is_bare();
        if !is_plain(ack) {
            return None;
        }
        let is_covered =
            |it: Packet| is_plain(it) && it.flow() == ack.flow() && it.number() < ack.number();
        let list = &mut self.queues[number].list;
        let covered = self.pool.iter(list).filter(|&it| is_covered(it)).count();
        (covered > kept).then(|| self.pool.remove(list, is_covered)).flatten()
    }

    /// The queue with the most bytes, and the store of all waiting packets.
    pub fn longest(&mut self) -> (&mut FlowQueue<Control>, &mut Pool) {
        let queue = self.queues.iter_mut().max_by_key(|queue| queue.list.bytes());
        (queue.expect("there are queues"), &mut self.pool)
    }

    /// Every packet in the queues.
    pub fn waiting(&self) -> Vec<Packet> {
        self.queues.iter().flat_map(|queue| self.pool.iter(&queue.list)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, queued};
    use super::*;

    /// Return the number of queues that `flows` flows use.
    fn used(flows: u32, seed: u64) -> usize {
        let mut random = Random::new(seed, 0);
        let mut table = FlowTable::<()>::new(Isolation::Flows, &[], 1514, &mut random);
        for flow in 0..flows {
            table.push(queued(0, packet(flow, 0)));
        }
        table.queues.iter().filter(|queue| queue.waits).count()
    }

    /// A set of eight ways is too small only if nine flows hash onto it. 100 flows in 128 sets are
    /// 0.8 a set, so the chance of a collision is 3e-5 (Poisson). With a plain hash onto 1024
    /// queues one of ten flows would collide.
    #[test]
    fn flows_rarely_collide() {
        assert!((0..20).all(|seed| used(100, seed) == 100));
        // 1024 flows: E[max(0, N - 8)] with a mean of 8 is 1.12 a set, so 881 queues are used.
        let used: Vec<_> = (0..10).map(|seed| used(1024, seed)).collect();
        let mean = used.iter().sum::<usize>() as f64 / 10.0;
        assert!((870.0..892.0).contains(&mean), "{used:?}");
    }

    #[test]
    fn hosts_are_counted_as_long_as_their_flows_have_queues() {
        let mut random = Random::new(1, 0);
        let hosts = [[0, 9], [0, 8]];
        let mut table = FlowTable::<()>::new(Isolation::Triple, &hosts, 1514, &mut random);
        for flow in [0, 1] {
            table.push(queued(0, packet(flow, 0)));
        }
        assert_eq!(table.quantum([0, 9]), 757);
        while table.pop(|(), (pool, list)| pool.pop(list)).is_some() {}
        assert_eq!(table.loads.each_mut().map(|loads| *loads.entry(0)), [0, 0]);
        // An ACK goes in the other direction.
        assert_eq!(table.ends(Packet::new(0, Direction::Reverse, 52, 0)), [9, 0]);
    }
}
