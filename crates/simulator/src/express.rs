//! The common case without detours: a connection whose data and whose acknowledgements
//! each pass a single link in express, the receiver hearing at once.
//!
//! All that happens is what would happen packet by packet; what is left out is asking
//! at every step where a packet goes next.

use dumbbell_network::{Direction, Express, Flags, GroupId, Network, Packet, Time};
use dumbbell_record::EventKind;
use dumbbell_tcp::{Ack, Arrival, Segment};

use crate::flow::{Connection, Ends};
use crate::hosts::{AllHosts, receiver_of, sender_of};
use crate::wire::clock;

/// The two ways of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    data: Express,
    acks: Express,
    /// That of the receiver.
    group: GroupId,
}

impl Lanes {
    /// The lanes of a flow, if it has such.
    pub fn of(flow: usize, group: GroupId, network: &Network) -> Option<Self> {
        let data = network.express(receiver_of(flow))?;
        let acks = network.express(sender_of(flow))?;
        let right = data.ends_at_host() && !acks.ends_at_host();
        right.then_some(Self { data, acks, group })
    }

    /// Whether data sent at `now` can take them.
    #[inline]
    pub fn are_open(&self, now: Time) -> bool {
        self.data.is_open(now)
    }
}

impl AllHosts {
    /// Sends all that a connection may send now.
    pub fn transmit_in_express(
        &mut self,
        now: Time,
        index: usize,
        lanes: &Lanes,
        network: &mut Network,
    ) {
        if let Some((first, count)) = self.next_run(now, index) {
            return self.send_run(now, index, first, count, lanes, network);
        }
        while let Some((segment, payload, ends_message)) = self.next_segment(now, index) {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let arrival = Arrival {
                number: segment.number,
                stamp: clock(now),
                ce: false,
                cwr: segment.cwr,
                full: bytes == self.flows[index].spec.packet_bytes,
                ends_message,
            };
            let admitted = network.admit_run(&lanes.data, now, 1) > 0;
            let at = admitted.then(|| network.pass_admitted(&lanes.data, now, bytes));
            self.arrive_in_express(now, at, index, arrival, bytes, lanes, network);
        }
    }

    /// The new segments that a connection sends now, as far as they are alike.
    #[inline]
    fn next_run(&mut self, now: Time, index: usize) -> Option<(u64, u32)> {
        let flow = &mut self.flows[index];
        let Ends::Tcp(Connection { sender: Some(sender), app, .. }) = &mut flow.ends else {
            return None;
        };
        if app.has_messages() {
            return None;
        }
        let (first, count) = sender.next_run(now)?;
        flow.counters.sent_packets += u64::from(count);
        flow.counters.sent_bytes += u64::from(count) * u64::from(flow.spec.mss_bytes());
        Some((first, count))
    }

    #[inline]
    fn send_run(
        &mut self,
        now: Time,
        index: usize,
        first: u64,
        count: u32,
        lanes: &Lanes,
        network: &mut Network,
    ) {
        let bytes = self.flows[index].spec.packet_bytes;
        let admitted = network.admit_run(&lanes.data, now, count);
        let stamp = clock(now);
        for (number, place) in (first..).zip(0..count) {
            let arrival =
                Arrival { number, stamp, ce: false, cwr: false, full: true, ends_message: false };
            let at = (place < admitted).then(|| network.pass_admitted(&lanes.data, now, bytes));
            self.arrive_in_express(now, at, index, arrival, bytes, lanes, network);
        }
    }

    /// The next segment to send, its payload, and whether it ends a message.
    #[inline]
    pub fn next_segment(&mut self, now: Time, index: usize) -> Option<(Segment, u32, bool)> {
        let flow = &mut self.flows[index];
        let Ends::Tcp(Connection { sender: Some(sender), app, .. }) = &mut flow.ends else {
            return None;
        };
        let segment = sender.next_segment(now)?;
        let ends_message = app.ends_message(segment.number);
        let payload = if ends_message { app.last_bytes() as u32 } else { flow.spec.mss_bytes() };
        flow.counters.sent_packets += 1;
        flow.counters.sent_bytes += u64::from(payload);
        if segment.is_retransmission {
            let kind = EventKind::Retransmit;
            self.recorder.event(now, kind, index as u32, segment.number, sender);
        }
        Some((segment, payload, ends_message))
    }

    /// Takes a segment that was sent at `now` to its receiver at `at`; none: it was lost.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "what a packet would say, without the packet")]
    fn arrive_in_express(
        &mut self,
        now: Time,
        at: Option<Time>,
        index: usize,
        arrival: Arrival,
        bytes: u16,
        lanes: &Lanes,
        network: &mut Network,
    ) {
        let packet = || Packet::new(index as u32, Direction::Forward, bytes, arrival.number);
        let Some(at) = at else {
            return self.drop_data(lanes.data.reaches_link(now), packet());
        };
        if at > network.end() {
            return network.keep_late(packet());
        }
        if self.timers.is_behind(lanes.group, at) {
            self.catch_up(lanes.group, at, network);
        }
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("a connection is TCP") };
        let header_bytes = flow.spec.header_bytes;
        flow.counters.received_packets += 1;
        let receiver = &mut connection.receiver;
        let before = receiver.received_segs();
        let ack = receiver.on_data(at, arrival);
        let new_segs = receiver.received_segs() - before;
        flow.counters.received_bytes += u64::from(bytes - header_bytes) * new_segs;
        if let Some(deadline) = receiver.deadline() {
            self.timers.at_latest(receiver_of(index), deadline, network);
        }
        match ack {
            Some(ack) if !ack.has_blocks && !receiver.has_more() && lanes.acks.is_open(at) => {
                acknowledge(at, index, ack, header_bytes, lanes, network);
            }
            Some(ack) => {
                self.send_acks(at, index, ack, network);
                self.plan_receiver(index, network);
            }
            None => {}
        }
    }
}

#[inline]
fn acknowledge(
    now: Time,
    index: usize,
    ack: Ack,
    bytes: u16,
    lanes: &Lanes,
    network: &mut Network,
) {
    if network.admit_run(&lanes.acks, now, 1) > 0 {
        let at = network.pass_admitted(&lanes.acks, now, bytes);
        let packet = Packet::new(index as u32, Direction::Reverse, bytes, ack.cumulative)
            .with_flags(Flags::ECE.when(ack.ece))
            .with_note(ack.echo & (Packet::NOTES - 1));
        network.line_up(&lanes.acks, at, packet);
    }
}
