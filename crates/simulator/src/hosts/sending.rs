//! The sending ends: acknowledgements that arrive, and data that leaves its host.

use dumbbell_network::{Arrival, Direction, Flags, LinkId, Network, Outcome, Packet, Time};
use dumbbell_record::{EventKind, Request};
use dumbbell_tcp::{Segment, clock};

use super::AllHosts;
use crate::app::Message;
use crate::flow::{Connection, Ends, ecn_of, sender_of};
use crate::wire::ack_of;

impl AllHosts<'_> {
    /// Takes an acknowledgement that reaches its sender.
    #[inline]
    pub fn hear_ack(&mut self, Arrival { time, packet }: Arrival, network: &mut Network) {
        self.get_to(sender_of(packet.flow() as usize), time, network);
        if self.is_watched || !self.take_routine_ack(time, packet, network) {
            self.take_other_ack(time, packet, network);
        }
    }

    /// Takes an acknowledgement, whatever it says and whatever it ends.
    #[inline(never)]
    fn take_other_ack(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let index = packet.flow() as usize;
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.arrives(now, packet),
        };
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("an ACK of no connection") };
        let sender = &mut connection.sender;
        let fetched;
        let (ack, blocks) = if packet.has(Flags::PARKED) {
            fetched = self.parked.fetch(packet);
            if let Some(capture) = &self.capture {
                capture.assert_sent_with(packet, &fetched.blocks);
            }
            if let Some(stamp) = fetched.stamp {
                sender.hear_stamp(stamp, fetched.ack.echo);
            }
            (fetched.ack, &fetched.blocks)
        } else {
            (ack_of(packet, now), &self.parked.none)
        };
        let mut observer = self.recorder.observer(now, packet.flow(), sender.next_new_segment());
        sender.on_ack(now, ack, blocks, &mut observer);
        if flow.spec.sampled {
            self.recorder.note_mode(now, packet.flow(), sender);
        }
        if let Some(message) = connection.app.complete(now, sender.acked_segs()) {
            self.completed(now, index, message);
        }
        self.transmit(now, index, network);
        self.plan_sender(index, network);
    }

    #[cold]
    fn completed(&mut self, now: Time, index: usize, message: Message) {
        self.recorder.request(Request {
            time_ns: message.issued.0,
            flow: index as u32,
            number: message.number,
            bytes: message.bytes,
            latency_ns: now.since(message.issued).0,
        });
        let flow = &mut self.flows[index];
        let Some(connection) = flow.connection() else { return };
        if connection.app.due() == Time::NEVER {
            self.recorder.event_of(now, EventKind::Done, index as u32, &connection.sender);
            flow.ended.get_or_insert(now);
            if !flow.spec.sampled {
                self.done.push(index as u32);
            }
        }
    }

    /// Sends all that a connection may send now.
    pub fn transmit(&mut self, now: Time, index: usize, network: &mut Network) {
        while !self.is_cancelled()
            && let Some((segment, payload)) = self.next_segment(now, index)
        {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let flags = Flags::RESENT
                .when(segment.is_retransmission)
                .and(Flags::PSH.when(segment.pushed))
                .and(Flags::CWR.when(segment.cwr));
            let packet = Packet::new(index as u32, Direction::Forward, bytes, segment.number)
                .with_flags(flags)
                .with_ecn(ecn_of(segment.ect))
                .with_note(note_of(now));
            self.send_data(now, packet, network);
        }
    }

    /// The next segment to send, and its payload.
    #[inline]
    fn next_segment(&mut self, now: Time, index: usize) -> Option<(Segment, u32)> {
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

    /// Sends data of either kind.
    pub(super) fn send_data(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.sends_data(now, packet),
        };
        let outcome = network.send(now, packet);
        if self.flows[packet.flow() as usize].interface.is_some() {
            self.note_departure(packet, outcome, network);
        }
        self.follow(outcome, network);
    }

    /// Says to a sender when the packet leaves that it has just sent, where its host's interface
    /// has decided that, and has not turned it away.
    fn note_departure(&mut self, packet: Packet, outcome: Outcome, network: &Network) {
        let flow = &mut self.flows[packet.flow() as usize];
        let Some(link) = flow.interface else { return };
        let is_lost = matches!(outcome, Outcome::Lost(_, at, _) if at == link);
        if let Ends::Tcp(connection) = &mut flow.ends
            && let Some(departs) = network.departs_by(link)
            && !is_lost
        {
            connection.sender.leaves_host(departs);
        }
    }

    /// Says to a sender that a packet leaves the interface of its host, or is lost there.
    pub(super) fn departs(&mut self, arrival: Arrival, link: LinkId, network: &mut Network) {
        let Arrival { time, packet } = arrival;
        let index = packet.flow() as usize;
        let flow = &mut self.flows[index];
        if packet.direction() == Direction::Reverse || flow.interface != Some(link) {
            return;
        }
        if let Ends::Tcp(connection) = &mut flow.ends {
            connection.sender.leaves_host(time);
            self.plan_sender(index, network);
        }
    }

    /// Makes sure that a sender is not late for what it wants.
    #[inline]
    pub(super) fn plan_sender(&mut self, index: usize, network: &mut Network) {
        let due = self.flows[index].sender_due();
        self.timers.at_latest(sender_of(index), due, network);
    }
}

/// The timestamp of a segment that is sent at `now`, as far as a packet has room for it.
#[inline]
pub(super) const fn note_of(now: Time) -> u32 {
    clock(now) & (Packet::NOTES - 1)
}
