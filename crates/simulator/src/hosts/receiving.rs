//! The receiving ends: data that arrives, and acknowledgements that leave.

use dumbbell_network::{Arrival, Flags, Network, Packet, Time};
use dumbbell_tcp::{Ack, clock};

use super::AllHosts;
use crate::flow::{Connection, Ends, FlowState, receiver_of};
use crate::side_table::More;
use crate::wire::{arrival_of, plain_packet, stamp_of};

impl AllHosts {
    /// Take data that reaches its receiver.
    #[inline(always)]
    pub fn receive_data(&mut self, Arrival { time, packet }: Arrival, network: &mut Network) {
        self.get_to(receiver_of(packet.flow() as usize), time, network);
        if self.is_watched || !self.take_predicted_data(time, packet, network) {
            self.take_other_data(time, packet, network);
        }
    }

    /// Take a full segment that is next in sequence and carries nothing else. Return false if the
    /// packet is not such a segment.
    #[inline(always)]
    fn take_predicted_data(&mut self, now: Time, packet: Packet, network: &mut Network) -> bool {
        let index = packet.flow() as usize;
        let FlowState { spec, ends: Ends::Tcp(connection), counters, .. } = &mut self.flows[index]
        else {
            return false;
        };
        let receiver = &mut connection.receiver;
        let stamp = stamp_of(packet.note(), now);
        let is_predicted = packet.is_plain()
            && packet.bytes() == spec.packet_bytes
            && receiver.predicts(now, packet.number(), stamp);
        // A plain packet has no space for the receiver's timestamp.
        if !is_predicted || connection.wants_stamps {
            return false;
        }
        counters.received_packets += 1;
        match receiver.on_predicted_data(now, stamp, false) {
            Some(ack) => {
                let ack = plain_packet(index as u32, spec.header_bytes, ack);
                let outcome = network.begin(now, ack);
                self.follow(outcome, network);
            }
            None => self.timers.at_latest(receiver_of(index), receiver.due(), network),
        }
        true
    }

    /// Take any other data: out of sequence, not full, with other content, or a datagram.
    #[inline(never)]
    fn take_other_data(&mut self, now: Time, packet: Packet, network: &mut Network) {
        if packet.has(Flags::OPENS) {
            return self.take_step(now, packet, network);
        }
        let index = packet.flow() as usize;
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.arrives(now, packet),
        };
        let flow = &mut self.flows[index];
        let payload = u64::from(packet.bytes() - flow.spec.header_bytes);
        let arrival = arrival_of(packet, now, flow.spec.packet_bytes);
        flow.counters.received_packets += 1;
        let Ends::Tcp(connection) = &mut flow.ends else {
            return flow.datagram_arrives(now, arrival.number);
        };
        flow.counters.marked_packets += u64::from(arrival.ce);
        let receiver = &mut connection.receiver;
        let before = receiver.received_segs();
        let ack = if payload > 0 { receiver.on_data(now, arrival) } else { receiver.on_probe() };
        // Distinct segments grow by one or not at all, so duplicates do not count.
        let distinct = payload * (receiver.received_segs() - before);
        flow.counters.received_short_bytes += u64::from(flow.spec.mss_bytes()) - distinct;
        if let Some(ack) = ack {
            self.send_acks(now, index, ack, network);
        }
        self.schedule_receiver(index, network);
    }

    /// Send an acknowledgement and those that follow it.
    #[inline(never)]
    pub(super) fn send_acks(&mut self, now: Time, index: usize, first: Ack, network: &mut Network) {
        let mut next = Some(first);
        while let Some(ack) = next {
            let flow = &mut self.flows[index];
            let Ends::Tcp(connection) = &mut flow.ends else { return };
            let blocks = connection.receiver.blocks();
            let stamp = connection.wants_stamps.then(|| clock(now));
            let more = More {
                stamp,
                window: connection.receiver.window(),
                marks: connection.receiver.marks(),
            };
            let bytes = connection.ack_bytes;
            let packet = self
                .side_table
                .packet_of(index as u32, bytes, ack, more, blocks)
                .with_ecn(connection.answering);
            let packet = match &mut self.capture {
                None => packet,
                Some(capture) => capture.sends_ack(now, packet, ack, blocks, more),
            };
            next = connection.receiver.also();
            let outcome = network.send(now, packet);
            self.follow(outcome, network);
        }
    }

    /// Let a receiver act on everything due at `now`.
    pub(super) fn receiver_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        let answers = match &self.flows[index].accepter {
            None => Time::NEVER,
            Some(_) => self.accepter_acts(now, index, network),
        };
        if let Ends::Tcp(connection) = &mut self.flows[index].ends
            && connection.receiver.due() <= now
            && let Some(ack) = connection.receiver.on_timer(now)
        {
            self.send_acks(now, index, ack, network);
        }
        let due = self.flows[index].connection().map_or(Time::NEVER, |ends| ends.receiver.due());
        self.timers.set(receiver_of(index), due.min(answers), network);
    }

    /// Set the timer so that a receiver can act in time.
    #[inline]
    pub(super) fn schedule_receiver(&mut self, index: usize, network: &mut Network) {
        if let Some(Connection { receiver, .. }) = self.flows[index].connection() {
            self.timers.at_latest(receiver_of(index), receiver.due(), network);
        }
    }
}
