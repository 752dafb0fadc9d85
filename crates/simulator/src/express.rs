//! The common case without detours: data, acknowledgements or both of a connection pass
//! a single link in express, and the receiver hears at once.
//!
//! All that happens is what would happen packet by packet; what is left out is asking
//! at every step where a packet goes next.

use dumbbell_network::{Direction, DropCause, Ecn, Express, GroupId, Network, Packet, Time};
use dumbbell_record::EventKind;
use dumbbell_tcp::{Ack, Arrival, Segment, clock};

use crate::flow::{Connection, Ends};
use crate::hosts::{AllHosts, ecn_of, receiver_of, sender_of};
use crate::wire::plain_packet;

/// The ways of a connection that are in express.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    pub data: Option<Express>,
    pub acks: Option<Express>,
    /// That of the receiver.
    pub group: GroupId,
}

impl Lanes {
    /// The lanes of a flow.
    pub fn of(flow: usize, group: GroupId, network: &Network) -> Self {
        let data = network.express(receiver_of(flow)).filter(Express::ends_at_host);
        let acks = network.express(sender_of(flow)).filter(|lane| !lane.ends_at_host());
        Self { data, acks: acks.filter(|lane| !lane.has_tail()), group }
    }

    /// Without that of the acknowledgements, which a packet alone cannot hold.
    pub const fn without_acks(self) -> Self {
        Self { acks: None, ..self }
    }

    /// Without that of the data.
    pub const fn without_data(self) -> Self {
        Self { data: None, ..self }
    }
}

impl AllHosts<'_> {
    /// Sends all that a connection may send now.
    pub fn transmit_in_express(
        &mut self,
        now: Time,
        index: usize,
        lane: &Express,
        network: &mut Network,
    ) {
        if let Some((first, count, _)) = self.next_run(now, index) {
            return self.send_run(now, index, first, count, lane, network);
        }
        while !self.is_cancelled()
            && let Some((segment, payload)) = self.next_segment(now, index)
        {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let arrival = Arrival {
                number: segment.number,
                stamp: clock(now),
                ce: false,
                cwr: segment.cwr,
                full: bytes == self.flows[index].spec.packet_bytes,
                pushed: segment.pushed,
            };
            self.send_in_express(now, index, arrival, bytes, lane, network);
        }
    }

    /// The new segments that a connection sends now, if they are alike: the first, how
    /// many, and what they say of ECN.
    #[inline(always)]
    pub fn next_run(&mut self, now: Time, index: usize) -> Option<(u64, u32, Ecn)> {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return None };
        let Connection { sender, app, .. } = &mut **connection;
        if app.has_messages() {
            return None;
        }
        let (first, count) = sender.next_run(now)?;
        flow.counters.count_sent(&flow.spec, count);
        Some((first, count, ecn_of(sender.marks_new())))
    }

    #[inline(always)]
    pub fn send_run(
        &mut self,
        now: Time,
        index: usize,
        first: u64,
        count: u32,
        lane: &Express,
        network: &mut Network,
    ) {
        let bytes = self.flows[index].spec.packet_bytes;
        let stamp = clock(now);
        for number in first..first + u64::from(count) {
            if self.is_cancelled() {
                return;
            }
            let arrival =
                Arrival { number, stamp, ce: false, cwr: false, full: true, pushed: false };
            self.send_in_express(now, index, arrival, bytes, lane, network);
        }
    }

    /// The next segment to send, and its payload.
    #[inline]
    pub fn next_segment(&mut self, now: Time, index: usize) -> Option<(Segment, u32)> {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return None };
        let Connection { sender, app, .. } = &mut **connection;
        let mut segment = sender.next_segment(now)?;
        if flow.spec.sampled {
            self.recorder.note_mode(now, index as u32, sender);
        }
        let ends_message = app.ends_message(segment.number);
        let payload = if ends_message { app.last_bytes() as u32 } else { flow.spec.mss_bytes() };
        flow.counters.sent_packets += 1;
        flow.counters.sent_bytes += u64::from(payload);
        if segment.is_retransmission {
            let kind = EventKind::Retransmit;
            self.recorder.event(now, kind, index as u32, segment.number, sender);
        }
        segment.pushed |= ends_message;
        Some((segment, payload))
    }

    /// Takes a segment to its receiver.
    #[inline(always)]
    fn send_in_express(
        &mut self,
        now: Time,
        index: usize,
        arrival: Arrival,
        bytes: u16,
        lane: &Express,
        network: &mut Network,
    ) {
        let packet = Packet::new(index as u32, Direction::Forward, bytes, arrival.number);
        let at = match network.pass(lane, now, packet) {
            Ok(at) => at,
            Err(cause) => return self.drop_data(lane.reaches_link(now), packet, cause),
        };
        if network.loses(lane, at, packet) {
            return self.drop_data(at, packet, DropCause::Random);
        }
        if at > network.end() {
            return network.keep_late(packet);
        }
        let group = self.lanes[index].group;
        if self.timers.is_behind(group, at) {
            self.catch_up(group, at, network);
        }
        self.receive(at, index, arrival, bytes, network);
    }

    /// Takes a data segment at its receiver.
    #[inline(always)]
    pub fn receive(
        &mut self,
        now: Time,
        index: usize,
        arrival: Arrival,
        bytes: u16,
        network: &mut Network,
    ) {
        let flow = &mut self.flows[index];
        let header_bytes = flow.spec.header_bytes;
        flow.counters.received_packets += 1;
        let Ends::Tcp(connection) = &mut flow.ends else {
            flow.counters.received_bytes += u64::from(bytes - header_bytes);
            return flow.datagram_arrives(now, arrival.number);
        };
        flow.counters.marked_packets += u64::from(arrival.ce);
        let receiver = &mut connection.receiver;
        let before = receiver.received_segs();
        let ack = receiver.on_data(now, arrival);
        let new_segs = receiver.received_segs() - before;
        flow.counters.received_bytes += u64::from(bytes - header_bytes) * new_segs;
        if let Some(deadline) = receiver.deadline() {
            self.timers.at_latest(receiver_of(index), deadline, network);
        }
        let Some(ack) = ack else { return };
        let plain = !ack.has_blocks && !receiver.has_more();
        match &self.lanes[index].acks {
            Some(lane) if plain && lane.is_open(now) => {
                acknowledge(now, index, ack, header_bytes, lane, network);
            }
            _ => {
                self.send_acks(now, index, ack, network);
                self.plan_receiver(index, network);
            }
        }
    }
}

#[inline]
fn acknowledge(
    now: Time,
    index: usize,
    ack: Ack,
    bytes: u16,
    lane: &Express,
    network: &mut Network,
) {
    let packet = plain_packet(index as u32, bytes, ack);
    if let Ok(at) = network.pass(lane, now, packet) {
        network.line_up(lane, at, packet);
    }
}
