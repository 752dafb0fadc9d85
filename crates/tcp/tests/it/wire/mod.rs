//! A wire between a sender and a plain receiver. Tests decide about each packet.

mod segment;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use dumbbell_algorithm::{Algorithm, CaState, Instance, find};
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{
    Ack, Burst, Congestion, Handshake, Observer, PROFILES, SackBlocks, Sender, SenderConfig, Stack,
};

pub use self::segment::{Segment, segments};

pub fn stack(name: &str) -> Stack {
    (PROFILES.iter().find(|profile| profile.name == name).expect("a profile").stack)()
}

pub const fn ms(count: u64) -> Span {
    Span::from_millis(count)
}

/// A receiver that acknowledges everything at once and reports all that it knows: SACK blocks,
/// duplicates, timestamps (RFC 7323, section 4.3) and marks (RFC 3168).
#[derive(Default)]
pub struct Peer {
    next: u64,
    pub above: BTreeSet<u64>,
    recent: Vec<u64>,
    stamp: u32,
    ece: bool,
    pub has_sack: bool,
}

impl Peer {
    fn on_data(&mut self, segment: Segment, stamp: u32, is_marked: bool) -> (Ack, SackBlocks) {
        let number = segment.number;
        self.ece = is_marked || (self.ece && !segment.cwr);
        if number <= self.next {
            self.stamp = self.stamp.max(stamp);
        }
        let mut blocks = SackBlocks::default();
        if number < self.next || !self.above.insert(number) {
            blocks.report_duplicate(number..number + 1);
        }
        while self.above.remove(&self.next) {
            self.next += 1;
        }
        self.recent.retain(|&member| member >= self.next && member != number);
        if self.above.contains(&number) {
            self.recent.insert(0, number);
        }
        self.report(&mut blocks);
        if !self.has_sack {
            blocks = SackBlocks::default();
        }
        let Self { next: cumulative, stamp: echo, ece, .. } = *self;
        (Ack { cumulative, echo, ece, has_blocks: !blocks.is_empty() }, blocks)
    }

    fn report(&self, blocks: &mut SackBlocks) {
        let mut reported: Vec<Range<u64>> = Vec::new();
        for &member in &self.recent {
            if blocks.is_full() {
                return;
            }
            if !reported.iter().any(|range| range.contains(&member)) {
                let start = (0..=member).rev().take_while(|number| self.above.contains(number));
                let end = (member..).take_while(|number| self.above.contains(number));
                let range = start.last().unwrap_or(member)..end.last().unwrap_or(member) + 1;
                blocks.push(range.clone());
                reported.push(range);
            }
        }
    }
}

/// Events of a sender, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Reduced { state: CaState, cwnd: u32, ssthresh: u32 },
    TimedOut,
    Recovered { cwnd: u32, ssthresh: u32 },
    Undone { cwnd: u32, ssthresh: u32 },
}

#[derive(Default)]
pub struct Events(pub Vec<Event>);

impl Observer for Events {
    fn congestion(&mut self, congestion: Congestion) {
        let Congestion { state, cwnd_segs, ssthresh_segs } = congestion;
        self.0.push(Event::Reduced { state, cwnd: cwnd_segs, ssthresh: ssthresh_segs });
    }
    fn timeout(&mut self, _: u32, _: u32) {
        self.0.push(Event::TimedOut);
    }
    fn recovered(&mut self, cwnd: u32, ssthresh: u32) {
        self.0.push(Event::Recovered { cwnd, ssthresh });
    }
    fn undone(&mut self, cwnd: u32, ssthresh: u32) {
        self.0.push(Event::Undone { cwnd, ssthresh });
    }
}

/// Treatment of one packet: a delay for each copy that arrives.
#[derive(Clone, Debug)]
pub struct WireOutcome {
    pub delays: Vec<Span>,
    pub is_marked: bool,
}

impl WireOutcome {
    pub fn after(delay: Span) -> Self {
        Self { delays: vec![delay], is_marked: false }
    }

    pub fn lost() -> Self {
        Self { delays: Vec::new(), is_marked: false }
    }

    pub fn marked(delay: Span) -> Self {
        Self { delays: vec![delay], is_marked: true }
    }
}

enum OnWire {
    Data { segment: Segment, stamp: u32, is_marked: bool },
    Ack(Ack, SackBlocks),
}

/// A transfer under way. `rtt` was that of the handshake, and `data` and `acks` decide about
/// packets.
pub struct Wire<D, A> {
    pub sender: Sender,
    /// A second sender with the same input, which predicts no ACK and sends segments one by one.
    twin: Sender,
    /// Number of bursts of several segments.
    pub bursts: u64,
    pub peer: Peer,
    pub events: Events,
    /// All transmissions and their times.
    pub sent: Vec<(Time, Segment)>,
    pub now: Time,
    data: D,
    acks: A,
    packets: BTreeMap<(Time, u64), OnWire>,
    count: u64,
    segs: Option<u64>,
}

impl<D: FnMut(Time, Segment) -> WireOutcome, A: FnMut(Time) -> WireOutcome> Wire<D, A> {
    pub fn new(
        stack: &Stack,
        algorithm: &str,
        segs: Option<u64>,
        rtt: Span,
        data: D,
        acks: A,
    ) -> Self {
        Self::of(stack, find(algorithm).expect("an algorithm"), segs, rtt, data, acks)
    }

    /// A wire as by [`Self::new`], with any algorithm, even one of a test.
    pub fn of(
        stack: &Stack,
        algorithm: &'static Algorithm,
        segs: Option<u64>,
        rtt: Span,
        data: D,
        acks: A,
    ) -> Self {
        let config = SenderConfig {
            mss_bytes: 1448,
            packet_bytes: 1500,
            overhead_bytes: 0,
            has_interface: false,
            tcp_bpf: None,
            handshake: Handshake::of(rtt),
        };
        let algorithm = Instance::of(algorithm, None, &BTreeMap::new()).expect("defaults");
        let established = || {
            let mut sender = Sender::new(stack, config, algorithm.clone(), Time::ZERO, 1);
            sender.supply(segs.unwrap_or(u64::MAX));
            sender
        };
        let mut slow = established();
        slow.predict_nothing();
        Self {
            sender: established(),
            twin: slow,
            bursts: 0,
            peer: Peer { has_sack: true, ..Peer::default() },
            events: Events::default(),
            sent: Vec::new(),
            now: Time::ZERO,
            data,
            acks,
            packets: BTreeMap::new(),
            count: 0,
            segs,
        }
    }

    fn put(&mut self, delay: Span, packet: OnWire) {
        self.count += 1;
        self.packets.insert((self.now + delay, self.count), packet);
    }

    /// Send all segments that may be sent.
    pub fn transmit(&mut self) {
        let (mut next, acked) = (self.sender.next_new_segment(), self.sender.acked_segs());
        let first = self.sent.len();
        while let Some(burst) = next_burst(&mut self.sender, self.now) {
            self.bursts += u64::from(burst.segs > 1);
            for segment in segments(&self.sender, burst) {
                assert_eq!(segment.is_retransmission, segment.number != next, "{segment:?}");
                assert!(segment.number >= acked, "{segment:?} was acknowledged");
                let is_data = self.segs.is_none_or(|segs| segment.number < segs);
                assert!(is_data, "{segment:?} is no data");
                next += u64::from(!segment.is_retransmission);
                self.sent.push((self.now, segment));
                let outcome = (self.data)(self.now, segment);
                let stamp = dumbbell_tcp::clock(self.now);
                for delay in outcome.delays {
                    self.put(delay, OnWire::Data { segment, stamp, is_marked: outcome.is_marked });
                }
            }
            if burst.is_last {
                break;
            }
        }
        self.transmit_slowly(first);
        assert!(self.sender.conn().cwnd_segs >= 1);
        let outstanding = next - self.sender.acked_segs();
        assert!(u64::from(self.sender.in_flight()) <= 2 * outstanding, "{:?}", self.sender);
    }

    /// Check that the twin, which takes the slow path, sends the segments that were sent since
    /// `first`.
    fn transmit_slowly(&mut self, first: usize) {
        let mut sent = self.sent[first..].iter().map(|(_, segment)| *segment);
        while let Some(burst) = next_burst(&mut self.twin, self.now) {
            for segment in segments(&self.twin, burst) {
                assert_eq!(sent.next(), Some(segment));
            }
        }
        assert_eq!(sent.next(), None, "the twin does not send it");
        assert_eq!(self.twin.conn(), self.sender.conn());
        assert_eq!(self.twin.counters(), self.sender.counters());
        assert_eq!(self.twin.rtt().summary(), self.sender.rtt().summary());
        assert_eq!(self.twin.deadline(), self.sender.deadline());
    }

    /// Set the end of the data: the first segment without data.
    pub fn supply(&mut self, end: u64) {
        self.segs = Some(end);
        self.sender.supply(end);
        self.twin.supply(end);
    }

    /// Stop the data.
    pub fn stop(&mut self) {
        self.sender.stop();
        self.twin.stop();
    }

    /// Run the next event. Return whether there was one until `end`.
    pub fn step(&mut self, end: Time) -> bool {
        let arrival = self.packets.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
        let next = arrival.min(self.sender.deadline());
        if next > end {
            return false;
        }
        assert!(next >= self.now, "a deadline in the past: {:?}", self.sender);
        self.now = next;
        if next < arrival {
            self.sender.on_timer(next, &mut self.events);
            self.twin.on_timer(next, &mut Events::default());
        } else {
            match self.packets.pop_first().expect("the packet that arrives").1 {
                OnWire::Data { segment, stamp, is_marked } => {
                    let (ack, blocks) = self.peer.on_data(segment, stamp, is_marked);
                    for delay in (self.acks)(self.now).delays {
                        self.put(delay, OnWire::Ack(ack, blocks.clone()));
                    }
                }
                OnWire::Ack(ack, blocks) => {
                    self.sender.on_ack(self.now, ack, &blocks, &mut self.events);
                    self.twin.on_ack(self.now, ack, &blocks, &mut Events::default());
                }
            }
        }
        true
    }

    /// Run until `end`, or until all data is acknowledged.
    pub fn run(&mut self, end: Time) {
        loop {
            self.transmit();
            if self.sender.is_done() || !self.step(end) {
                return;
            }
        }
    }

    /// Run a transfer to its end, which must come within two days.
    pub fn finish(&mut self) {
        self.run(Time::ZERO + ms(172_800_000));
        assert!(self.sender.is_done(), "stuck at {:?}: {:?}", self.now, self.sender);
    }

    /// Return the numbers of all retransmissions.
    pub fn retransmitted(&self) -> Vec<u64> {
        let again = self.sent.iter().filter(|(_, segment)| segment.is_retransmission);
        again.map(|(_, segment)| segment.number).collect()
    }
}

fn next_burst(sender: &mut Sender, now: Time) -> Option<Burst> {
    sender.next_fast_burst(now).or_else(|| sender.next_burst(now))
}

/// Delay every packet by the same time.
pub fn steady(delay: Span) -> impl FnMut(Time) -> WireOutcome {
    move |_| WireOutcome::after(delay)
}
