//! Both ends of one flow, and what the simulator counts about it.

use std::num::NonZeroU64;

use dumbbell_algorithm::{AlgorithmError, Instance, Need};
use dumbbell_network::{LinkConfig, Random, Rate, RateConfig, Route, Span, Time};
use dumbbell_tcp::{Receiver, Sender, SenderConfig, Stack};
use dumbbell_workload::{Bursts, Flow, Scenario, Tcp, Transport, Udp};

use crate::app::App;

/// A flow of a running simulation.
#[derive(Debug)]
pub struct FlowState {
    pub spec: Flow,
    pub ends: Ends,
    pub ended: Option<Time>,
    pub stop_pending: bool,
    pub counters: Counters,
}

/// What happened to a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub received_packets: u64,
    pub dropped_packets: u64,
    pub lost_packets: u64,
    pub duplicated_packets: u64,
    pub marked_packets: u64,
}

impl Counters {
    /// Counts full segments of a flow that are being sent.
    #[inline]
    pub fn count_sent(&mut self, spec: &Flow, segs: u32) {
        self.sent_packets += u64::from(segs);
        self.sent_bytes += u64::from(segs) * u64::from(spec.mss_bytes());
    }
}

/// The hosts' side of a flow.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost all flows are TCP")]
pub enum Ends {
    Tcp(Connection),
    Udp(Datagrams),
}

/// The ends of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    /// Absent until the flow begins.
    pub sender: Option<Sender>,
    pub receiver: Receiver,
    pub app: App,
    pub stack: Stack,
    /// The sender wants the receiver's timestamps.
    pub parks_acks: bool,
    host: Host,
    random: Random,
}

/// What a sender knows of its host and its path.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Rate of its own link, if no other flow uses that and it never drops.
    pub rate_bps: Option<NonZeroU64>,
    /// What that link adds to each packet.
    pub overhead_bytes: u32,
    /// Round-trip propagation time, as the handshake would measure.
    pub base_rtt: Span,
}

/// A source of datagrams.
#[derive(Debug)]
pub struct Datagrams {
    rate: Rate,
    /// Time of the next datagram, and its fraction in units of one over the rate.
    next: Time,
    remainder: u64,
    pub number: u64,
    /// None: without a pause.
    bursts: Option<Bursts>,
    turns: Time,
}

impl Host {
    /// The sending hosts of a scenario's flows.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let mut users = vec![0u32; scenario.links.len()];
        for flow in &scenario.flows {
            flow.forward.hops.iter().chain(&flow.reverse.hops).for_each(|hop| users[hop.link] += 1);
        }
        let host = |flow: &Flow| {
            let first = flow.forward.hops[0].link;
            Self::behind(&scenario.links[first], users[first] == 1, flow, &scenario.links)
        };
        scenario.flows.iter().map(host).collect()
    }

    fn behind(first: &LinkConfig, alone: bool, flow: &Flow, links: &[LinkConfig]) -> Self {
        let delay = |route: &Route| {
            let hops = route.hops.iter().map(|hop| links[hop.link].delay.0[0].1 + hop.delay);
            hops.fold(route.delay, |total, delay| total + delay)
        };
        let rate_bps = match first.rate {
            Some(RateConfig::Constant(rate)) if alone && first.queue.limit.is_none() => {
                Some(rate.0)
            }
            _ => None,
        };
        Self {
            rate_bps,
            overhead_bytes: u32::from(first.overhead_bytes),
            base_rtt: delay(&flow.forward) + delay(&flow.reverse),
        }
    }
}

impl FlowState {
    /// A flow that has not begun.
    pub fn new(spec: Flow, host: Host, random: Random) -> Self {
        let ends = match &spec.transport {
            Transport::Tcp(tcp) => Ends::Tcp(Connection::new(tcp, spec.mss_bytes(), host, random)),
            Transport::Udp(udp) => Ends::Udp(Datagrams::new(udp, spec.start_ns, random)),
        };
        let stop_pending = spec.stop_ns.is_some();
        Self { spec, ends, ended: None, stop_pending, counters: Counters::default() }
    }

    /// The connection, if the flow is one and has begun.
    pub fn sender(&self) -> Option<(&Connection, &Sender)> {
        match &self.ends {
            Ends::Tcp(connection) => connection.sender.as_ref().map(|sender| (connection, sender)),
            Ends::Udp(_) => None,
        }
    }

    /// When the sending end next wants to act on its own.
    #[inline]
    pub fn sender_due(&self) -> Time {
        let stop = if self.stop_pending { self.spec.stop_ns } else { None };
        let own = match &self.ends {
            Ends::Tcp(Connection { sender: Some(sender), app, .. }) => {
                sender.deadline().min(app.due())
            }
            Ends::Tcp(_) => self.spec.start_ns,
            Ends::Udp(datagrams) => datagrams.due(),
        };
        own.min(stop.unwrap_or(Time::NEVER))
    }

    /// Payload cumulatively acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.sender()
            .map_or(0, |(connection, sender)| connection.app.payload_bytes(sender.acked_segs()))
    }
}

/// A connection's algorithm, fresh.
pub fn algorithm(tcp: &Tcp) -> Result<Instance, AlgorithmError> {
    Instance::of(tcp.chosen()?, tcp.preset.as_deref(), &tcp.parameters)
}

impl Connection {
    fn new(tcp: &Tcp, mss_bytes: u32, host: Host, mut random: Random) -> Self {
        let algorithm = tcp.chosen().expect("a checked algorithm");
        let stack = tcp.stack.resolve().expect("a checked stack").serving(algorithm);
        let receiver = Receiver::new(&stack);
        let app = App::new(tcp.demand, mss_bytes, random.split());
        let parks_acks = stack.timestamps && algorithm.flags.contains(&Need::OneWay);
        Self { sender: None, receiver, app, stack, parks_acks, host, random }
    }

    /// Establishes the connection.
    pub fn begin(&mut self, now: Time, spec: &Flow) -> &mut Sender {
        let Transport::Tcp(tcp) = &spec.transport else { unreachable!("a connection is TCP") };
        let config = SenderConfig {
            mss_bytes: spec.mss_bytes(),
            packet_bytes: u32::from(spec.packet_bytes),
            overhead_bytes: self.host.overhead_bytes,
            host_rate_bps: self.host.rate_bps,
            tcp_bpf: tcp.tcp_bpf,
        };
        let algorithm = algorithm(tcp).expect("a checked algorithm");
        let seed = self.random.next_u64();
        let mut sender = Sender::new(&self.stack, config, algorithm, now, seed);
        self.receiver.set_rtt(self.host.base_rtt);
        sender.supply(self.app.act(now, 0));
        self.sender.insert(sender)
    }
}

impl Datagrams {
    fn new(udp: &Udp, start: Time, random: Random) -> Self {
        let mut bursts = udp.on_off.map(|pattern| Bursts::new(pattern, random));
        let turns = bursts.as_mut().map_or(Time::NEVER, |bursts| start + bursts.turn());
        Self { rate: udp.rate_bps, next: start, remainder: 0, number: 0, bursts, turns }
    }

    /// When the next datagram is to be sent or the next turn is.
    fn due(&self) -> Time {
        self.next.min(self.turns)
    }

    /// Whether a datagram of `bytes` is to be sent at `now`.
    pub fn act(&mut self, now: Time, bytes: u16) -> bool {
        if self.turns <= now {
            let bursts = self.bursts.as_mut().expect("turns come from bursts");
            self.turns += bursts.turn();
            if bursts.on {
                (self.next, self.remainder) = (now, 0);
            } else {
                self.next = Time::NEVER;
            }
        }
        let sends = self.next <= now;
        if sends {
            self.number += 1;
            self.step(bytes);
        }
        sends
    }

    /// No datagrams any more.
    pub fn stop(&mut self) {
        (self.next, self.turns) = (Time::NEVER, Time::NEVER);
    }

    fn step(&mut self, bytes: u16) {
        let rate = self.rate.0.get();
        let bit_ns = u64::from(bytes) * 8 * 1_000_000_000 + self.remainder;
        self.next += Span(bit_ns / rate);
        self.remainder = bit_ns % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_keep_their_rate_exactly() {
        // 7 Mbit/s and 1500 bytes: 1,714,285.71 ns between datagrams.
        let udp = Udp { rate_bps: Rate(NonZeroU64::new(7_000_000).unwrap()), on_off: None };
        let mut datagrams = Datagrams::new(&udp, Time(5), Random::new(1, 1));
        for _ in 0..7_000 {
            assert!(datagrams.act(datagrams.due(), 1_500));
        }
        assert_eq!(datagrams.due(), Time(12_000_000_005));
    }
}
