//! Both ends of one flow, and what the simulator counts about it.

use dumbbell_algorithm::{AlgorithmError, Instance, Need};
use dumbbell_network::{
    Ecn, LinkConfig, LinkId, Network, OneWay, Periods, Random, Rate, Route, Span, Time,
};
use dumbbell_tcp::{Receiver, RttSummary, Sender, SenderConfig, SenderCounters, Stack};
use dumbbell_workload::{Bursts, Flow, Scenario, Tcp, Transport, Udp};

use crate::app::App;
use crate::shortcuts::Shortcuts;
use crate::under_way::UnderWay;

/// What a sender's packet says of ECN.
pub const fn ecn_of(capable: bool) -> Ecn {
    if capable { Ecn::Ect0 } else { Ecn::NotEct }
}

/// The route at whose end a flow's receiver is.
pub const fn receiver_of(flow: usize) -> usize {
    2 * flow
}

/// The route at whose end a flow's sender is.
pub const fn sender_of(flow: usize) -> usize {
    2 * flow + 1
}

/// A flow of a running simulation.
#[derive(Debug)]
pub struct FlowState {
    pub spec: Flow,
    pub ends: Ends,
    /// That of its host, where its sender wants to know what leaves it.
    pub interface: Option<Interface>,
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

/// The hosts' side of a flow. Of thousands of short ones few are there at the same time.
#[derive(Debug)]
pub enum Ends {
    /// A connection that has not begun.
    Ahead(Ahead),
    Tcp(Box<Connection>),
    /// A connection of which nothing is left to do.
    Over(Box<Told>),
    Udp(Box<Datagrams>),
}

/// What a connection begins with.
#[derive(Debug)]
pub struct Ahead {
    host: Host,
    shortcuts: Shortcuts,
    random: Random,
}

/// The ends of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    pub app: App,
    /// The sender wants the receiver's timestamps.
    pub parks_acks: bool,
}

/// What the summary tells of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub counters: SenderCounters,
    pub rtt: Option<RttSummary>,
    pub acked_bytes: u64,
}

/// What a sender knows of its host and its path.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its interface.
    pub interface: Option<Interface>,
    /// What its first link adds to each packet.
    pub overhead_bytes: u32,
    /// Round-trip propagation time, as the handshake would measure.
    pub base_rtt: Span,
}

/// The interface of a sender's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its link, the first that the flow's data passes.
    pub link: LinkId,
    /// The network says of each packet when it departs; else that is known as soon as it joins.
    pub is_told: bool,
}

/// Both ends of a flow of datagrams.
#[derive(Debug)]
pub struct Datagrams {
    pub under_way: UnderWay,
    /// What their receiver sees of their delays.
    pub one_way: OneWay,
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
    pub fn all(scenario: &Scenario, network: &mut Network) -> Vec<Self> {
        let host = |flow: &Flow| Self::of(flow, &scenario.links, network);
        scenario.flows.iter().map(host).collect()
    }

    fn of(flow: &Flow, links: &[LinkConfig], network: &mut Network) -> Self {
        let delay = |route: &Route| {
            let hops = route.hops.iter().map(|hop| links[hop.link].delay.0[0].1 + hop.delay);
            hops.fold(route.delay, |total, delay| total + delay)
        };
        let first = flow.forward.hops[0];
        let watches = match &flow.transport {
            Transport::Tcp(tcp) => {
                tcp.stack.resolve().expect("a checked stack").tsq_bytes.is_some()
            }
            Transport::Udp(_) => false,
        };
        // What is some way off is not in the host.
        let has_interface = watches && links[first.link].interface && first.delay == Span::ZERO;
        let interface = has_interface
            .then(|| Interface { link: first.link, is_told: network.tell_departures(first.link) });
        Self {
            interface,
            overhead_bytes: u32::from(links[first.link].overhead_bytes),
            base_rtt: delay(&flow.forward) + delay(&flow.reverse),
        }
    }
}

impl Ends {
    #[cold]
    fn due_without_connection(&self, start: Time) -> Time {
        match self {
            Self::Ahead(_) => start,
            Self::Udp(datagrams) => datagrams.due(),
            Self::Tcp(_) | Self::Over(_) => Time::NEVER,
        }
    }
}

impl FlowState {
    /// A flow that has not begun.
    pub fn new(
        spec: Flow,
        host: Host,
        shortcuts: Shortcuts,
        random: Random,
        periods: Periods,
    ) -> Self {
        let ends = match &spec.transport {
            Transport::Tcp(_) => Ends::Ahead(Ahead { host, shortcuts, random }),
            Transport::Udp(udp) => {
                let one_way = OneWay::new(periods);
                Ends::Udp(Box::new(Datagrams::new(udp, spec.start_ns, random, one_way)))
            }
        };
        let (interface, stop_pending) = (host.interface, spec.stop_ns.is_some());
        let counters = Counters::default();
        Self { spec, ends, interface, ended: None, stop_pending, counters }
    }

    /// Whether each of its packets says more than its number, or is followed by its host.
    pub fn needs_packets(&self) -> bool {
        let parks = matches!(&self.spec.transport, Transport::Tcp(tcp) if parks_acks(tcp));
        parks || self.interface.is_some()
    }

    /// The connection, if the flow is one and under way.
    pub fn connection(&self) -> Option<&Connection> {
        match &self.ends {
            Ends::Tcp(connection) => Some(connection),
            Ends::Ahead(_) | Ends::Over(_) | Ends::Udp(_) => None,
        }
    }

    /// What there is to tell of the connection, if the flow is one that has begun.
    pub fn told(&self) -> Option<Told> {
        match &self.ends {
            Ends::Tcp(connection) => Some(connection.told()),
            Ends::Over(told) => Some(**told),
            Ends::Ahead(_) | Ends::Udp(_) => None,
        }
    }

    /// Its datagrams, if it has any.
    pub fn datagrams(&self) -> Option<&Datagrams> {
        match &self.ends {
            Ends::Udp(datagrams) => Some(datagrams),
            Ends::Ahead(_) | Ends::Tcp(_) | Ends::Over(_) => None,
        }
    }

    /// Forgets a connection if it has nothing to do any more; nothing of it may be under way.
    /// Gives whether it has.
    pub fn forget_if_over(&mut self) -> bool {
        let Ends::Tcp(connection) = &self.ends else { return false };
        let is_over = connection.is_idle() && !self.stop_pending;
        if is_over {
            self.ends = Ends::Over(Box::new(connection.told()));
        }
        is_over
    }

    /// When the sending end next wants to act on its own.
    #[inline]
    pub fn sender_due(&self) -> Time {
        let stop = if self.stop_pending { self.spec.stop_ns } else { None };
        let own = match &self.ends {
            Ends::Tcp(connection) => connection.due(),
            others => others.due_without_connection(self.spec.start_ns),
        };
        own.min(stop.unwrap_or(Time::NEVER))
    }

    /// The receiver takes a datagram.
    #[cold]
    pub fn datagram_arrives(&mut self, now: Time, number: u64) {
        let Ends::Udp(datagrams) = &mut self.ends else {
            unreachable!("segments are no datagrams")
        };
        let delay = datagrams.under_way.end(number, now);
        datagrams.one_way.arrives(now, delay);
    }
}

/// A connection's algorithm, fresh.
pub fn algorithm(tcp: &Tcp) -> Result<Instance, AlgorithmError> {
    Instance::of(tcp.chosen()?, tcp.preset.as_deref(), &tcp.parameters)
}

/// The stack of a connection's hosts.
pub fn stack(tcp: &Tcp) -> Stack {
    let algorithm = tcp.chosen().expect("a checked algorithm");
    tcp.stack.resolve().expect("a checked stack").serving(algorithm)
}

/// Whether a connection's sender wants the receiver's timestamps.
pub fn parks_acks(tcp: &Tcp) -> bool {
    let algorithm = tcp.chosen().expect("a checked algorithm");
    algorithm.flags.contains(&Need::OneWay) && stack(tcp).timestamps
}

impl Ahead {
    /// Establishes the connection.
    pub fn begin(&mut self, now: Time, spec: &Flow) -> Connection {
        let Transport::Tcp(tcp) = &spec.transport else { unreachable!("a connection is TCP") };
        let stack = stack(tcp);
        let config = SenderConfig {
            mss_bytes: spec.mss_bytes(),
            packet_bytes: u32::from(spec.packet_bytes),
            overhead_bytes: self.host.overhead_bytes,
            has_interface: self.host.interface.is_some(),
            tcp_bpf: tcp.tcp_bpf,
            handshake_rtt: self.host.base_rtt,
        };
        let mut app = App::new(tcp.demand.clone(), spec.mss_bytes(), self.random.split());
        let algorithm = algorithm(tcp).expect("a checked algorithm");
        let mut sender = Sender::new(&stack, config, algorithm, now, self.random.next_u64());
        if !self.shortcuts.sender {
            sender.take_long_way();
        }
        let mut receiver = Receiver::new(&stack, self.host.base_rtt);
        if !self.shortcuts.receiver {
            receiver.take_long_way();
        }
        sender.supply(app.act(now, 0));
        Connection { sender, receiver, app, parks_acks: parks_acks(tcp) }
    }
}

impl Connection {
    /// Payload cumulatively acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.app.payload_bytes(self.sender.acked_segs())
    }

    /// When the sender or its application next wants to act.
    #[inline]
    pub fn due(&self) -> Time {
        self.sender.deadline().min(self.app.due())
    }

    fn told(&self) -> Told {
        let sender = &self.sender;
        let (counters, rtt) = (*sender.counters(), sender.rtt().summary());
        Told { counters, rtt, acked_bytes: self.acked_bytes() }
    }

    /// Neither end will do anything before it hears something.
    fn is_idle(&self) -> bool {
        self.sender.is_done() && self.due() == Time::NEVER && self.receiver.deadline().is_none()
    }
}

impl Datagrams {
    fn new(udp: &Udp, start: Time, random: Random, one_way: OneWay) -> Self {
        let mut bursts = udp.on_off.map(|pattern| Bursts::new(pattern, random));
        let turns = bursts.as_mut().map_or(Time::NEVER, |bursts| start + bursts.turn());
        let (rate, next, under_way) = (udp.rate_bps, start, UnderWay::default());
        Self { under_way, one_way, rate, next, remainder: 0, number: 0, bursts, turns }
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
    use std::num::NonZeroU64;

    use super::*;

    #[test]
    fn datagrams_keep_their_rate_exactly() {
        // 7 Mbit/s and 1500 bytes: 1,714,285.71 ns between datagrams.
        let udp = Udp { rate_bps: Rate(NonZeroU64::new(7_000_000).unwrap()), on_off: None };
        let one_way = OneWay::new(Periods::whole(Time(1)));
        let mut datagrams = Datagrams::new(&udp, Time(5), Random::new(1, 1), one_way);
        for _ in 0..7_000 {
            assert!(datagrams.act(datagrams.due(), 1_500));
        }
        assert_eq!(datagrams.due(), Time(12_000_000_005));
    }
}
