//! The emulator's view of a flow.

use dumbbell_network::{Ecn, OneWay, Packet, Time};
use dumbbell_record::DatagramSample;
use dumbbell_workload::datagram_sample;

use super::headers::Content;

/// Counters of a flow's data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounters {
    /// Sent by the host, retransmissions included.
    pub sent_packets: u64,
    /// Their payload, in bytes.
    pub sent_bytes: u64,
    /// Retransmissions among them.
    pub retransmitted_packets: u64,
    /// Delivered to the receiver.
    pub received_packets: u64,
    /// Dropped by queues.
    pub dropped_packets: u64,
    /// Lost at random.
    pub lost_packets: u64,
    /// Duplicated by links.
    pub duplicated_packets: u64,
    /// Delivered to the receiver with a congestion mark.
    pub marked_packets: u64,
    /// In the network, or between host and network, at the end.
    pub in_flight_packets: u64,
}

/// A flow as the network sees it.
#[derive(Debug)]
pub struct Wire {
    /// Its counters.
    pub counters: WireCounters,
    /// One-way delays; none: it is not a flow of datagrams.
    pub one_way: Option<OneWay>,
    /// ECN field of the packets that the kernel sends as ECN-capable.
    pub capable: Ecn,
    /// True if its handshake passes queues and losses.
    opens: bool,
    mss_bytes: u64,
    /// Sequence number of the first byte of payload.
    first: u32,
    /// Payload ever sent, in bytes.
    sent_to: u64,
    /// True once the sender has sent data.
    in_use: bool,
}

/// Kind of a sender's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A part of the handshake that bypasses queues and losses.
    Greeting,
    /// A part of the handshake that is like any other packet.
    Opening,
    /// An acknowledgement.
    Answer,
    /// A data segment, new or retransmitted.
    Data {
        /// Number of the segment.
        segment: u64,
        /// True if it was sent before.
        again: bool,
    },
}

impl Sent {
    /// Number of the packet, and true if it was sent before. Packets without data have a number
    /// that no segment has, as a loss may name segments.
    pub const fn number(self) -> (u64, bool) {
        match self {
            Self::Data { segment, again } => (segment % Packet::NUMBERS, again),
            Self::Opening | Self::Greeting | Self::Answer => (Packet::NUMBERS - 1, false),
        }
    }
}

impl Wire {
    /// A flow that has sent nothing.
    pub fn new(mss_bytes: u32, one_way: Option<OneWay>, capable: Ecn, opens: bool) -> Self {
        Self {
            counters: WireCounters::default(),
            one_way,
            capable,
            opens,
            mss_bytes: u64::from(mss_bytes),
            first: 0,
            sent_to: 0,
            in_use: false,
        }
    }

    /// A sample of the flow number `flow`; none: it is not a flow of datagrams.
    pub fn sample(&self, time: Time, flow: u32) -> Option<DatagramSample> {
        let received = self.one_way.as_ref()?.counters();
        let sent = (self.counters.sent_packets, self.counters.sent_bytes);
        let lost = self.counters.dropped_packets + self.counters.lost_packets;
        let received_bytes = received.packets * self.mss_bytes;
        Some(datagram_sample(time, flow, sent, lost, (received, received_bytes)))
    }

    /// Note a packet of the sender with `bytes`.
    pub fn sends(&mut self, content: Content, bytes: u16) -> Sent {
        match content {
            Content::Segment { opens: true, sequence, .. } => {
                self.first = sequence.wrapping_add(1);
                self.greeting()
            }
            Content::Segment { payload: 0, .. } if !self.in_use => self.greeting(),
            Content::Segment { payload: 0, .. } => Sent::Answer,
            Content::Segment { sequence, payload, .. } => self.sends_data(sequence, payload),
            Content::Datagram => {
                let segment = self.counters.sent_packets;
                self.count(u64::from(bytes).saturating_sub(28), false);
                Sent::Data { segment, again: false }
            }
        }
    }

    /// Find the kind of a receiver's packet: an acknowledgement or a part of the handshake.
    pub const fn receiver_sends(&self, content: Content) -> Sent {
        match content {
            Content::Segment { opens: true, .. } => self.greeting(),
            _ => Sent::Answer,
        }
    }

    const fn greeting(&self) -> Sent {
        if self.opens { Sent::Opening } else { Sent::Greeting }
    }

    fn sends_data(&mut self, sequence: u32, payload: u16) -> Sent {
        self.in_use = true;
        let expected = self.first.wrapping_add(self.sent_to as u32);
        let distance = i64::from(sequence.wrapping_sub(expected) as i32);
        let begin = self.sent_to.saturating_add_signed(distance);
        let again = begin < self.sent_to;
        self.sent_to = self.sent_to.max(begin + u64::from(payload));
        self.count(u64::from(payload), again);
        Sent::Data { segment: begin / self.mss_bytes, again }
    }

    fn count(&mut self, payload: u64, again: bool) {
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += payload;
        self.counters.retransmitted_packets += u64::from(again);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(sequence: u32, payload: u16) -> Content {
        Content::Segment { sequence, payload, opens: false }
    }

    #[test]
    fn segments_are_numbered_from_the_first_even_across_the_end_of_the_numbers() {
        let mut wire = Wire::new(1_000, None, Ecn::Ect0, false);
        let syn = Content::Segment { sequence: u32::MAX - 999, payload: 0, opens: true };
        assert_eq!(wire.sends(syn, 60), Sent::Greeting);
        assert_eq!(wire.sends(segment(u32::MAX - 998, 0), 52), Sent::Greeting);
        let mut opening = Wire::new(1_000, None, Ecn::Ect0, true);
        assert_eq!([opening.sends(syn, 60), opening.receiver_sends(syn)], [Sent::Opening; 2]);
        let first = u32::MAX - 998;
        let data = |wire: &mut Wire, number: u32| {
            wire.sends(segment(first.wrapping_add(number * 1_000), 1_000), 1_052)
        };
        assert_eq!(data(&mut wire, 0), Sent::Data { segment: 0, again: false });
        assert_eq!(data(&mut wire, 1), Sent::Data { segment: 1, again: false });
        assert_eq!(data(&mut wire, 2), Sent::Data { segment: 2, again: false });
        assert_eq!(data(&mut wire, 1), Sent::Data { segment: 1, again: true });
        let answer = wire.sends(segment(first, 0), 52);
        assert_eq!(answer, Sent::Answer);
        assert_ne!(answer.number().0, 0, "a loss of segment 0 would hit it");
        let counters = wire.counters;
        assert_eq!((counters.sent_packets, counters.retransmitted_packets), (4, 1));
        assert_eq!(counters.sent_bytes, 4_000);
    }

    #[test]
    fn datagrams_are_numbered_as_they_come() {
        let mut wire = Wire::new(1_472, None, Ecn::Ect0, false);
        assert_eq!(wire.sends(Content::Datagram, 1_500), Sent::Data { segment: 0, again: false });
        assert_eq!(wire.sends(Content::Datagram, 1_500), Sent::Data { segment: 1, again: false });
        assert_eq!(wire.counters.sent_bytes, 2 * 1_472);
    }
}
