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
        let stamp = clock(now);
        while let Some((segment, payload, ends_message)) = self.next_segment(now, index) {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let data = || Packet::new(index as u32, Direction::Forward, bytes, segment.number);
            let Some(at) = network.pass(&lanes.data, now, bytes) else {
                self.drop_data(lanes.data.reaches_link(now), data());
                continue;
            };
            if at > network.end() {
                network.keep_late(data());
                continue;
            }
            if self.timers.is_behind(lanes.group, at) {
                self.catch_up(lanes.group, at, network);
            }
            let arrival = Arrival {
                number: segment.number,
                stamp,
                ce: false,
                cwr: segment.cwr,
                full: bytes == self.flows[index].spec.packet_bytes,
                ends_message,
            };
            self.receive_in_express(at, index, arrival, u64::from(payload), lanes, network);
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

    #[inline]
    fn receive_in_express(
        &mut self,
        now: Time,
        index: usize,
        arrival: Arrival,
        payload: u64,
        lanes: &Lanes,
        network: &mut Network,
    ) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("a connection is TCP") };
        flow.counters.received_packets += 1;
        let receiver = &mut connection.receiver;
        let before = receiver.received_segs();
        let ack = receiver.on_data(now, arrival);
        flow.counters.received_bytes += payload * (receiver.received_segs() - before);
        match ack {
            Some(ack) if !ack.has_blocks && !receiver.has_more() && lanes.acks.is_open(now) => {
                let bytes = flow.spec.header_bytes;
                self.acknowledge_in_express(now, index, ack, bytes, lanes, network);
            }
            Some(ack) => self.send_acks(now, index, ack, network),
            None => {}
        }
        self.plan_receiver(index, network);
    }

    #[inline]
    fn acknowledge_in_express(
        &mut self,
        now: Time,
        index: usize,
        ack: Ack,
        bytes: u16,
        lanes: &Lanes,
        network: &mut Network,
    ) {
        if let Some(at) = network.pass(&lanes.acks, now, bytes) {
            let packet = Packet::new(index as u32, Direction::Reverse, bytes, ack.cumulative)
                .with_flags(Flags::ECE.when(ack.ece))
                .with_note(ack.echo & (Packet::NOTES - 1));
            network.line_up(&lanes.acks, at, packet);
        }
    }
}
