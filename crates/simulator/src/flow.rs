//! Both ends of one flow, and what the simulator counts about it.

use dumbbell_network::{Ecn, LinkId, Network, OneWay, Packet, Periods, Random, Route, Span, Time};
use dumbbell_tcp::{
    Accepter, Handshake, Opener, Receiver, RttSummary, Sender, SenderConfig, SenderCounters,
    option_bytes,
};
use dumbbell_workload::{Datagrams, Flow, Scenario, Transport};

use crate::app::{App, Message};
use crate::choice::Choice;
use crate::shortcuts::Shortcuts;
use crate::traffic::{interface_of, small_queue};
use crate::under_way::UnderWay;

/// Index of the route that ends at a flow's receiver.
pub const fn receiver_of(flow: usize) -> usize {
    2 * flow
}

/// Index of the route that ends at a flow's sender.
pub const fn sender_of(flow: usize) -> usize {
    2 * flow + 1
}

/// A flow of a running simulation.
#[derive(Debug)]
pub struct FlowState {
    pub spec: Flow,
    /// Its algorithm and stack; none: it sends datagrams.
    pub choice: Option<Box<Choice>>,
    pub ends: Ends,
    /// Its host's interface, if its sender needs to know what leaves it.
    pub interface: Option<LinkId>,
    /// Its host's interface, if its sender keeps the segments for which the queue has no space.
    pub full_host: Option<FullHost>,
    /// The receiving end, until the ACK of its SYN-ACK arrives.
    pub accepter: Option<Box<Accepter>>,
    pub ended: Option<Time>,
    pub stop_pending: bool,
    pub counters: Counters,
}

/// Counters of a flow's packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub sent_packets: u64,
    /// Payload that they lack, as they are shorter than full packets.
    pub sent_short_bytes: u64,
    pub received_packets: u64,
    /// The same of received packets. Data that had arrived before does not count as payload.
    pub received_short_bytes: u64,
    pub dropped_packets: u64,
    pub lost_packets: u64,
    pub duplicated_packets: u64,
    pub marked_packets: u64,
}

/// The hosts' side of a flow. Of thousands of short flows, few exist at the same time.
#[derive(Debug)]
pub enum Ends {
    /// A connection that has not begun.
    Ahead(Ahead),
    Tcp(Box<Connection>),
    /// A connection that has nothing left to do.
    Over(Box<ConnectionTotals>),
    Udp(Box<DatagramEnds>),
}

/// State before a connection begins.
#[derive(Debug)]
pub struct Ahead {
    host: Host,
    shortcuts: Shortcuts,
    random: Random,
    /// Its opener, while a SYN is in flight or to be sent again.
    pub opener: Option<Box<Opener>>,
}

/// The ends of a TCP connection.
#[derive(Debug)]
pub struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
    pub app: App,
    /// True if the sender needs the receiver's timestamps.
    pub wants_stamps: bool,
    /// ECN field of ECN-capable packets.
    pub capable: Ecn,
    /// ECN field of acknowledgements.
    pub answering: Ecn,
    /// Size of an acknowledgement in bytes, without options that not every acknowledgement has.
    pub ack_bytes: u16,
}

/// The part of the summary that depends on the connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionTotals {
    pub counters: SenderCounters,
    pub rtt: Option<RttSummary>,
    pub acked_bytes: u64,
    /// Marked segments that acknowledgements have reported.
    pub reported_marks: u64,
}

/// The interface of a host whose queue may be full.
#[derive(Clone, Copy, Debug)]
pub struct FullHost {
    pub link: LinkId,
    /// Packets of the flow for which it has space in any case, since no other flow uses it.
    pub holds: u32,
}

/// Properties of a sender's host and path.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its interface, the first link that the flow's data passes.
    pub interface: Option<LinkId>,
    /// Its interface, if its sender keeps the segments for which the queue has no space.
    pub full_host: Option<FullHost>,
    /// Bytes that its first link adds to each packet.
    pub overhead_bytes: u32,
    /// Round-trip propagation time, as a handshake on the empty path would measure it.
    pub base_rtt: Span,
}

/// Both ends of a flow of datagrams.
#[derive(Debug)]
pub struct DatagramEnds {
    pub schedule: Datagrams,
    pub under_way: UnderWay,
    /// Delays at their receiver.
    pub one_way: OneWay,
    /// Number of the next datagram.
    pub number: u64,
}

impl Host {
    /// The sending host of a flow; `routes` has the number of routes over each link.
    pub fn of(
        flow: &Flow,
        choice: Option<&Choice>,
        scenario: &Scenario,
        routes: &[u32],
        network: &mut Network,
    ) -> Self {
        let links = &scenario.links;
        let delay = |route: &Route| {
            // Take the first of delays that change: the handshake without packets took place before
            // them.
            let hops = route.hops.iter().map(|hop| links[hop.link].delay.0[0].1 + hop.delay);
            hops.fold(route.delay, |total, delay| total + delay)
        };
        let interface =
            choice.and_then(|choice| small_queue(flow, choice, scenario)).map(|(link, _)| link);
        if let Some(link) = interface {
            network.report_departures(link);
        }
        let opens = choice.is_some_and(|choice| choice.stack.handshake);
        let full_host = choice
            .filter(|choice| choice.stack.local_drops)
            .and_then(|_| interface_of(flow, scenario))
            .filter(|&link| network.has_tail_drop(link))
            .map(|link| {
                // The ACK of a handshake may wait before data.
                let is_alone = routes[link] == 1 && !opens;
                // The queue is empty before the run, so this is all its space.
                let holds =
                    if is_alone { network.space(link, Time::ZERO, flow.packet_bytes) } else { 0 };
                FullHost { link, holds }
            });
        let overhead_bytes = u32::from(links[flow.forward.hops[0].link].overhead_bytes);
        let base_rtt = delay(&flow.forward) + delay(&flow.reverse);
        Self { interface, full_host, overhead_bytes, base_rtt }
    }
}

impl Ends {
    #[cold]
    fn due_without_connection(&self, start: Time) -> Time {
        match self {
            Self::Ahead(ahead) => ahead.opener.as_ref().map_or(start, |opener| opener.due()),
            Self::Udp(datagrams) => datagrams.schedule.due(),
            Self::Tcp(_) | Self::Over(_) => Time::NEVER,
        }
    }
}

impl FlowState {
    /// A flow that has not begun.
    pub fn new(
        spec: Flow,
        choice: Option<Box<Choice>>,
        host: Host,
        shortcuts: Shortcuts,
        random: Random,
        periods: Periods,
    ) -> Self {
        let ends = match &spec.transport {
            Transport::Tcp(_) => Ends::Ahead(Ahead { host, shortcuts, random, opener: None }),
            Transport::Udp(udp) => {
                let one_way = OneWay::new(periods);
                let (packet_bytes, start) = (spec.packet_bytes, spec.start_ns);
                let schedule = Datagrams::new(udp, packet_bytes, start, random);
                let under_way = UnderWay::default();
                Ends::Udp(Box::new(DatagramEnds { schedule, under_way, one_way, number: 0 }))
            }
        };
        let Host { interface, full_host, .. } = host;
        let (stop_pending, counters) = (spec.stop_ns.is_some(), Counters::default());
        let (accepter, ended) = (None, None);
        Self { spec, choice, ends, interface, full_host, accepter, ended, stop_pending, counters }
    }

    /// Payload sent so far, in bytes.
    pub fn sent_bytes(&self) -> u64 {
        let Counters { sent_packets, sent_short_bytes, .. } = self.counters;
        sent_packets * u64::from(self.spec.mss_bytes()) - sent_short_bytes
    }

    /// Distinct payload received so far, in bytes.
    pub fn received_bytes(&self) -> u64 {
        let Counters { received_packets, received_short_bytes, .. } = self.counters;
        received_packets * u64::from(self.spec.mss_bytes()) - received_short_bytes
    }

    /// Return true if its packets carry more than their numbers, or its host reports their
    /// departure.
    pub fn needs_packets(&self) -> bool {
        let needs_options = |choice: &Choice| choice.wants_stamps() || choice.stack.accecn;
        self.choice.as_deref().is_some_and(needs_options)
            || self.spec.reading().is_some()
            || self.interface.is_some()
            || self.full_host.is_some()
    }

    /// The connection, if the flow has one now.
    pub fn connection(&self) -> Option<&Connection> {
        match &self.ends {
            Ends::Tcp(connection) => Some(connection),
            Ends::Ahead(_) | Ends::Over(_) | Ends::Udp(_) => None,
        }
    }

    /// The connection, to change it.
    pub fn connection_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.ends {
            Ends::Tcp(connection) => Some(connection),
            Ends::Ahead(_) | Ends::Over(_) | Ends::Udp(_) => None,
        }
    }

    /// Totals of the connection, if the flow has one that has begun.
    pub fn totals(&self) -> Option<ConnectionTotals> {
        match &self.ends {
            Ends::Tcp(connection) => Some(connection.totals()),
            Ends::Over(totals) => Some(**totals),
            Ends::Ahead(_) | Ends::Udp(_) => None,
        }
    }

    /// Its datagrams, if it has any.
    pub fn datagrams(&self) -> Option<&DatagramEnds> {
        match &self.ends {
            Ends::Udp(datagrams) => Some(datagrams),
            Ends::Ahead(_) | Ends::Tcp(_) | Ends::Over(_) => None,
        }
    }

    /// Forget a connection that has nothing left to do, and of which no packet is in flight. Return
    /// true if it is forgotten.
    pub fn forget_if_over(&mut self) -> bool {
        let Ends::Tcp(connection) = &self.ends else { return false };
        // A later stop would record an event, so the connection waits for it.
        let is_over = connection.is_idle() && !self.stop_pending;
        if is_over {
            self.ends = Ends::Over(Box::new(connection.totals()));
        }
        is_over
    }

    /// Time when the sending end acts next without a packet.
    #[inline]
    pub fn sender_due(&self) -> Time {
        let stop = if self.stop_pending { self.spec.stop_ns } else { None };
        let end_due = match &self.ends {
            Ends::Tcp(connection) => connection.due(),
            others => others.due_without_connection(self.spec.start_ns),
        };
        end_due.min(stop.unwrap_or(Time::NEVER))
    }

    /// Deliver a datagram to the receiver.
    #[cold]
    pub fn datagram_arrives(&mut self, now: Time, number: u64) {
        let Ends::Udp(datagrams) = &mut self.ends else {
            unreachable!("segments are no datagrams")
        };
        let delay = datagrams.under_way.end(number, now);
        datagrams.one_way.arrives(now, delay);
    }
}

impl Ahead {
    /// A handshake without packets, over the empty path.
    pub const fn unseen(&self) -> Handshake {
        Handshake::of(self.host.base_rtt)
    }

    /// Open the connection with the measurements of `handshake`.
    pub fn begin(
        &mut self,
        now: Time,
        handshake: Handshake,
        spec: &Flow,
        choice: &Choice,
    ) -> Connection {
        let Transport::Tcp(tcp) = &spec.transport else { unreachable!("a connection is TCP") };
        let (algorithm, stack) = (choice.algorithm.clone(), &choice.stack);
        let config = SenderConfig {
            mss_bytes: spec.mss_bytes(),
            packet_bytes: u32::from(spec.packet_bytes),
            overhead_bytes: self.host.overhead_bytes,
            has_interface: self.host.interface.is_some(),
            tcp_bpf: tcp.tcp_bpf,
            handshake,
        };
        let mut app = App::new(tcp.demand.clone(), spec.mss_bytes(), now, self.random.split());
        let mut sender = Sender::new(stack, config, algorithm, now, self.random.next_u64());
        if !self.shortcuts.sender {
            sender.predict_nothing();
        }
        if let Some(segs) = app.short_every_segs() {
            sender.shorten_every(segs);
        }
        let mut receiver = Receiver::new(stack, handshake.rtt);
        if !self.shortcuts.receiver {
            receiver.predict_nothing();
        }
        if let Some(reading) = spec.reading() {
            receiver.read_as(stack, reading, spec.mss_bytes());
        }
        if stack.accecn {
            receiver.count_marks(stack, spec.mss_bytes(), app.last_bytes(), handshake.rtt);
        }
        // Before there is data: the first flight must fit into the window of the handshake.
        if let Some(segs) = receiver.window() {
            sender.take_window(0, segs);
        }
        sender.supply(app.begin(spec.start_ns, now));
        let (capable, answering) = (choice.capable(), choice.answering_ecn());
        let (wants_stamps, ack_bytes) =
            (choice.wants_stamps(), spec.header_bytes.saturating_sub(option_bytes(stack)));
        Connection { sender, receiver, app, wants_stamps, capable, answering, ack_bytes }
    }
}

impl Connection {
    /// ECN field of a segment's packet.
    #[inline]
    pub const fn ecn_of(&self, is_retransmission: bool) -> Ecn {
        if self.sender.is_ecn_capable(is_retransmission) { self.capable } else { Ecn::NotEct }
    }

    /// Payload cumulatively acknowledged, in bytes.
    pub fn acked_bytes(&self) -> u64 {
        self.app.payload_bytes(self.sender.acked_segs())
    }

    /// Return true if the acknowledgement in this packet is on the fast path.
    #[inline]
    pub fn expects(&self, packet: Packet) -> bool {
        packet.is_bare() && !self.app.has_messages() && self.sender.is_on_fast_path(packet.number())
    }

    /// The message that has just become complete, if one has.
    #[inline]
    pub fn complete(&mut self, now: Time) -> Option<Message> {
        self.app.complete(now, self.sender.acked_segs())
    }

    /// Time when the sender or its application acts next.
    #[inline]
    pub fn due(&self) -> Time {
        self.sender.deadline().min(self.app.due())
    }

    fn totals(&self) -> ConnectionTotals {
        let sender = &self.sender;
        let (counters, rtt) = (*sender.counters(), sender.rtt().summary());
        let reported_marks = sender.conn().delivered_ce_segs;
        ConnectionTotals { counters, rtt, acked_bytes: self.acked_bytes(), reported_marks }
    }

    /// True if neither end acts again before it receives a packet.
    fn is_idle(&self) -> bool {
        self.sender.is_done() && self.due() == Time::NEVER && self.receiver.deadline().is_none()
    }
}
