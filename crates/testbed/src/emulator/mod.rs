//! The emulator: the simulator's network in real time, between the devices of all hosts.
//!
//! It never sleeps during a run, because waking up takes longer than a packet may be late. A packet
//! is stamped when it is taken from its host's device, after everything that was due before, so the
//! network sees what the simulator's would. Only the delivery can be late. That lateness is
//! measured for every packet. While the emulator is stalled, the network's time stops.

mod greetings;
mod headers;
mod network_clock;
mod slots;
mod wire;

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{
    Direction, Drive, DropCause, Ecn, Flags, LinkCounters, LinkId, Network, NetworkConfig, OneWay,
    Outcome, Packet, Path, QueueDelays, Span, Time,
};
use dumbbell_record::{DatagramSample, Event, EventKind, RowLimits, Rows};
use dumbbell_workload::{Flow, Scenario, Transport};
use hdrhistogram::Histogram;

use self::greetings::Greetings;
use self::headers::Headers;
use self::network_clock::NetworkClock;
use self::slots::Slots;
use self::wire::Sent;
use crate::clock::Clock;
use crate::host::Host;
use crate::ports::flow_of_port;

pub use self::greetings::propagation;
pub use self::wire::Wire;

/// Rounds between two checks of the flag that ends a run early.
const ROUNDS_PER_LOOK: u32 = 1 << 10;

/// ECN field of a flow's ECN-capable packets; and true if its handshake passes queues and losses.
/// The kernel's sockets never send ECT(1), so the emulator sets it for flows with L4S.
fn opening(flow: &Flow) -> (Ecn, bool) {
    let Transport::Tcp(tcp) = &flow.transport else { return (Ecn::Ect0, false) };
    let Ok(stack) = tcp.stack.resolve() else { return (Ecn::Ect0, false) };
    let capable = if stack.ecn == dumbbell_tcp::Ecn::L4s { Ecn::Ect1 } else { Ecn::Ect0 };
    (capable, stack.handshake)
}

/// The two hosts of all flows with the same stack.
pub struct Pair {
    /// The host of the senders.
    pub sender: Host,
    /// The host of the receivers.
    pub receiver: Host,
}

/// Measurements of the emulator.
#[derive(Debug)]
pub struct Emulated {
    /// Counters, by flow.
    pub flows: Vec<Wire>,
    /// Samples of flows of datagrams, in order of time, then flow.
    pub datagrams: Vec<DatagramSample>,
    /// Drops, losses and retransmissions, if the scenario requests them.
    pub events: Rows<Event>,
    /// Counters of the sampled links, in their order: at the end, and at every interval before.
    pub links: Vec<(LinkCounters, Vec<LinkCounters>)>,
    /// Waiting times of packets at these links, if they were kept.
    pub delays: Vec<QueueDelays>,
    /// The network after its last packet.
    pub network: Network,
    /// Lateness of delivered packets, in ns.
    pub lateness: Histogram<u64>,
    /// Longest time that packets may have waited for their timestamp, in ns.
    pub waiting: Histogram<u64>,
    /// Share of the time in which the emulator had work to do, in 1/1000.
    pub busy_permille: u32,
    /// Sum of the emulator's stalls in ns, ...
    pub stalled_ns: u64,
    /// ... and the longest one.
    pub stalled_max_ns: u64,
    /// Packets that a host refused.
    pub refused: u64,
}

/// The network between all hosts.
pub struct Emulator<'a> {
    scenario: &'a Scenario,
    paths: Vec<Path>,
    pairs: &'a [Pair],
    /// Index of each flow's pair of hosts.
    pair_of: &'a [usize],
    clock: NetworkClock,
    network: Network,
    greetings: Greetings,
    slots: Slots,
    wires: Vec<Wire>,
    datagrams: Vec<DatagramSample>,
    /// Time of the next sample of flows of datagrams.
    next_sample: Time,
    events: Rows<Event>,
    kinds: u16,
    lateness: Histogram<u64>,
    waiting: Histogram<u64>,
    /// Time when each device was last empty, in ns.
    empty_ns: Vec<i64>,
    refused: u64,
}

/// Largest packet that hosts send, in bytes.
pub fn mtu(scenario: &Scenario) -> u16 {
    scenario.flows.iter().map(|flow| flow.packet_bytes).fold(MTU_MIN, u16::max)
}

/// Every host must be able to send packets of this size (RFC 791).
const MTU_MIN: u16 = 576;

/// Upper end of the histogram of lateness: a minute. Later packets mean another fault.
const LATEST_NS: u64 = 60_000_000_000;

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATEST_NS, 3).expect("valid bounds")
}

impl<'a> Emulator<'a> {
    /// An emulator before its first packet.
    pub fn new(
        scenario: &'a Scenario,
        pairs: &'a [Pair],
        pair_of: &'a [usize],
        clock: Clock,
    ) -> Self {
        let end = Time::ZERO + scenario.duration_ns;
        let interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        let paths: Vec<Path> = scenario
            .flows
            .iter()
            .map(|flow| Path { forward: flow.forward.clone(), reverse: Some(flow.reverse.clone()) })
            .collect();
        let (seed, drive) = (scenario.seed, Drive::Real);
        let config = NetworkConfig { seed, end, interval, drive, shortcuts: true };
        let mut network = Network::new(&scenario.links, &paths, &[], config);
        if let Some(delays) = scenario.queue_delays() {
            for link in sampled_links(scenario) {
                network.keep_delays(link, delays.clone());
            }
        }
        let wire = |flow: &Flow| {
            let is_datagrams = matches!(flow.transport, Transport::Udp(_));
            let one_way = is_datagrams.then(|| OneWay::new(scenario.delay_periods()));
            let (capable, opens) = opening(flow);
            Wire::new(flow.mss_bytes(), one_way, capable, opens)
        };
        let kinds = scenario.record.events.iter().fold(0, |kinds, kind| kinds | 1 << *kind as u8);
        let mut network_clock = NetworkClock::new(clock);
        let now_ns = network_clock.now_ns();
        Self {
            scenario,
            paths,
            pairs,
            pair_of,
            clock: network_clock,
            network,
            greetings: Greetings::default(),
            slots: Slots::new(mtu(scenario)),
            wires: scenario.flows.iter().map(wire).collect(),
            datagrams: Vec::new(),
            next_sample: next_sample(scenario, Time::ZERO),
            events: Rows::new(RowLimits::default().events),
            kinds,
            lateness: histogram(),
            waiting: histogram(),
            empty_ns: vec![now_ns; 2 * pairs.len()],
            refused: 0,
        }
    }

    /// Run the network until the end of the scenario, or until `stop`.
    pub fn run(mut self, stop: &Arc<AtomicBool>) -> Emulated {
        let end_ns = self.network.end().0 as i64;
        let mut busy_ns = 0;
        let mut round_ns = self.clock.now_ns();
        for round in 0u32.. {
            let worked = self.round();
            let now_ns = self.clock.now_ns();
            if worked && round_ns >= 0 {
                busy_ns += now_ns - round_ns;
            }
            round_ns = now_ns;
            let look = round % ROUNDS_PER_LOOK == 0;
            if now_ns > end_ns || look && stop.load(Ordering::Relaxed) {
                break;
            }
        }
        let busy_permille = (1_000 * busy_ns / end_ns) as u32;
        self.finish(busy_permille)
    }

    /// Deliver everything that is due and take one packet of each host; return false if there was
    /// nothing.
    fn round(&mut self) -> bool {
        let now_ns = self.clock.now_ns();
        let mut worked = self.deliver(now_ns);
        for device in 0..2 * self.pairs.len() {
            worked |= self.take(device);
        }
        worked
    }

    fn host(&self, device: usize) -> &'a Host {
        let pair = &self.pairs[device / 2];
        if device % 2 == 0 { &pair.sender } else { &pair.receiver }
    }

    /// Deliver everything that is due at `now_ns`.
    #[inline]
    fn deliver(&mut self, now_ns: i64) -> bool {
        let mut worked = false;
        while let Some((slot, device)) = self.greetings.arrived(now_ns) {
            self.give(device, slot);
            worked = true;
        }
        let Ok(now) = u64::try_from(now_ns) else { return worked };
        while Time(now) > self.next_sample {
            worked |= self.carry(self.next_sample);
            self.sample();
        }
        worked | self.carry(Time(now))
    }

    /// Run the network until `time`; return false if it had no event.
    #[inline]
    fn carry(&mut self, time: Time) -> bool {
        let mut worked = false;
        while self.network.due() <= time {
            let Some(outcome) = self.network.until(time) else { break };
            self.meet(outcome);
            worked = true;
        }
        worked
    }

    /// Sample the flows of datagrams.
    #[cold]
    fn sample(&mut self) {
        let time = self.next_sample;
        let flows = (0..).zip(&self.wires).zip(&self.scenario.flows);
        let sampled = flows.filter(|(_, spec)| spec.sampled && spec.start_ns <= time);
        let rows = sampled.filter_map(|((index, wire), _)| wire.sample(time, index));
        self.datagrams.extend(rows);
        self.next_sample = next_sample(self.scenario, time);
    }

    /// Take a packet from a host into the network.
    fn take(&mut self, device: usize) -> bool {
        let slot = self.slots.vacant();
        let bytes = self.host(device).device.take(self.slots.space(slot));
        let now_ns = self.clock.now_ns();
        let Some(bytes) = bytes else {
            self.empty_ns[device] = now_ns;
            self.slots.release(slot);
            return false;
        };
        self.waiting.saturating_record((now_ns - self.empty_ns[device]) as u64);
        match self.read(slot, bytes) {
            Some((flow, headers)) => {
                self.deliver(now_ns);
                self.route(device, flow, headers, slot, bytes as u16, now_ns);
            }
            None => self.slots.release(slot),
        }
        true
    }

    /// Find the flow and the headers of the packet in a slot; none: no flow's host sends such a
    /// packet.
    #[inline]
    fn read(&mut self, slot: u32, bytes: usize) -> Option<(usize, Headers)> {
        let headers = headers::read(&self.slots.space(slot)[..bytes])?;
        let flow = flow_of_port(headers.port).filter(|flow| *flow < self.wires.len())?;
        Some((flow, headers))
    }

    fn route(
        &mut self,
        device: usize,
        flow: usize,
        headers: Headers,
        slot: u32,
        bytes: u16,
        now_ns: i64,
    ) {
        let (direction, sent) = if device % 2 == 0 {
            (Direction::Forward, self.wires[flow].sends(headers.content, bytes))
        } else {
            (Direction::Reverse, self.wires[flow].receiver_sends(headers.content))
        };
        let left = Time(now_ns.max(0) as u64);
        self.slots.fill(slot, bytes, matches!(sent, Sent::Data { .. }), left);
        let Some(now) = u64::try_from(now_ns).ok().filter(|_| sent != Sent::Greeting) else {
            let path = &self.paths[flow];
            let route = match direction {
                Direction::Forward => &path.forward,
                Direction::Reverse => path.reverse.as_ref().expect("a way back"),
            };
            let delay = propagation(route, &self.scenario.links, left);
            return self.greetings.send(now_ns + delay.0 as i64, slot, device ^ 1);
        };
        let (number, again) = sent.number();
        if again {
            self.event(EventKind::Retransmit, Time(now), flow, number);
        }
        let ecn = if headers.ecn == Ecn::Ect0 { self.wires[flow].capable } else { headers.ecn };
        let packet = Packet::new(flow as u32, direction, bytes, number)
            .with_ecn(ecn)
            .with_flags(Flags::RESENT.when(again))
            .with_note(slot);
        let outcome = self.network.send(Time(now), packet);
        self.meet(outcome);
    }

    /// Note the outcome of a packet.
    #[inline]
    fn meet(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::UnderWay | Outcome::Several | Outcome::Departs(..) => {}
            Outcome::Delivered(arrival) => self.arrive(arrival.time, arrival.packet),
            Outcome::Lost(arrival, _, cause) => self.lose(arrival.time, arrival.packet, cause),
            Outcome::Duplicated(packet) => {
                self.slots.hold(packet.note());
                if self.slots.info(packet.note()).is_data {
                    self.wires[packet.flow() as usize].counters.duplicated_packets += 1;
                }
            }
            Outcome::Reaches(..) => unreachable!("`Network::send` goes on there"),
        }
    }

    fn arrive(&mut self, due: Time, packet: Packet) {
        let (slot, flow) = (packet.note(), packet.flow() as usize);
        let is_marked = packet.ecn() == Ecn::Ce;
        if is_marked {
            headers::mark(self.slots.packet(slot));
        }
        let info = self.slots.info(slot);
        if info.is_data {
            let Wire { counters, one_way, .. } = &mut self.wires[flow];
            counters.received_packets += 1;
            counters.marked_packets += u64::from(is_marked);
            if let Some(one_way) = one_way {
                one_way.arrives(due, due.since(info.sent));
            }
        }
        let late_ns = self.clock.now_ns() - due.0 as i64;
        self.lateness.saturating_record(late_ns.max(0) as u64);
        let to_receiver = usize::from(packet.direction() == Direction::Forward);
        self.give(2 * self.pair_of[flow] + to_receiver, slot);
    }

    fn lose(&mut self, time: Time, packet: Packet, cause: DropCause) {
        let (slot, flow) = (packet.note(), packet.flow() as usize);
        if self.slots.info(slot).is_data {
            let counters = &mut self.wires[flow].counters;
            let kind = match cause {
                DropCause::Overflow => {
                    counters.dropped_packets += 1;
                    EventKind::Drop
                }
                DropCause::Random => {
                    counters.lost_packets += 1;
                    EventKind::Loss
                }
            };
            self.event(kind, time, flow, packet.number());
        }
        self.slots.release(slot);
    }

    fn event(&mut self, kind: EventKind, time: Time, flow: usize, segment: u64) {
        if self.kinds & (1 << kind as u8) != 0 {
            self.events.push(Event {
                time_ns: time.0,
                kind: kind as u8,
                flow: flow as u32,
                segment,
                cwnd_segs: 0,
                ssthresh_segs: 0,
            });
        }
    }

    fn give(&mut self, device: usize, slot: u32) {
        let is_taken = self.host(device).device.give(self.slots.packet(slot));
        self.refused += u64::from(!is_taken);
        self.slots.release(slot);
    }

    fn finish(mut self, busy_permille: u32) -> Emulated {
        for device in 0..2 * self.pairs.len() {
            self.drain(device);
        }
        for packet in self.network.under_way() {
            if self.slots.info(packet.note()).is_data {
                self.wires[packet.flow() as usize].counters.in_flight_packets += 1;
            }
        }
        while self.next_sample < Time::NEVER {
            self.sample();
        }
        let sampled: Vec<_> = sampled_links(self.scenario).collect();
        let delays = sampled.iter().filter_map(|&link| self.network.take_delays(link)).collect();
        let links = sampled.iter().map(|&link| self.network.counters(link)).collect();
        Emulated {
            flows: self.wires,
            datagrams: self.datagrams,
            events: self.events,
            links,
            delays,
            network: self.network,
            lateness: self.lateness,
            waiting: self.waiting,
            busy_permille,
            stalled_ns: self.clock.stalls().total_ns.load(Ordering::Relaxed),
            stalled_max_ns: self.clock.stalls().longest_ns.load(Ordering::Relaxed),
            refused: self.refused,
        }
    }

    /// Count the packets that a host has sent and the network will not carry any more.
    fn drain(&mut self, device: usize) {
        let slot = self.slots.vacant();
        while let Some(bytes) = self.host(device).device.take(self.slots.space(slot)) {
            let Some((flow, headers)) = self.read(slot, bytes).filter(|_| device % 2 == 0) else {
                continue;
            };
            let wire = &mut self.wires[flow];
            if let Sent::Data { .. } = wire.sends(headers.content, bytes as u16) {
                wire.counters.in_flight_packets += 1;
            }
        }
    }
}

/// Time of the sample after that at `time`, or never if the run ends before.
fn next_sample(scenario: &Scenario, time: Time) -> Time {
    let interval = scenario.record.interval_ns.map_or(u64::MAX, NonZeroU64::get);
    let next = time.saturating_add(Span(interval));
    if next > Time::ZERO + scenario.duration_ns { Time::NEVER } else { next }
}

fn sampled_links(scenario: &Scenario) -> impl Iterator<Item = LinkId> {
    let links = scenario.links.iter().enumerate();
    links.filter(|(_, link)| link.sampled).map(|(link, _)| link)
}
