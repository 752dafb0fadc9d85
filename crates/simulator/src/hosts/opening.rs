//! Handshakes: SYN, SYN-ACK and ACK as separate packets.
//!
//! The lower half of a packet's number is a clock: a SYN has its sender's, and a SYN-ACK the one
//! that it echoes. The note identifies the kind of packet.

use dumbbell_capture::Handshake as Step;
use dumbbell_network::{Direction, Ecn, Flags, Network, Packet, Time};
use dumbbell_tcp::{
    Accepter, Opener, clock, handshake_ace, opening_option_bytes, option_bytes, syn_bytes,
};

use super::AllHosts;
use crate::flow::{Ends, FlowState, receiver_of};

/// First number of handshake packets. No segment that an event names has such a number.
const NUMBERS: u64 = Packet::NUMBERS / 2;

impl AllHosts {
    /// Begin a connection, or act on the handshake before it.
    #[cold]
    pub(super) fn open(&mut self, now: Time, index: usize, network: &mut Network) {
        let FlowState { ends: Ends::Ahead(ahead), choice: Some(choice), .. } =
            &mut self.flows[index]
        else {
            return;
        };
        match &mut ahead.opener {
            None if !choice.stack.handshake => {
                if let Some(capture) = &mut self.capture {
                    capture.begins(now, index);
                }
                let unseen = ahead.unseen();
                return self.connection_begins(now, index, unseen, network);
            }
            opener @ None => *opener = Some(Box::new(Opener::new(&choice.stack, now))),
            Some(opener) => {
                if !opener.on_timer(now) {
                    return;
                }
            }
        }
        self.send_step(now, index, Step::Syn, (clock(now), Ecn::NotEct), network);
    }

    /// Send the SYN-ACK again if it may be lost; return the time when that is due.
    #[cold]
    pub(super) fn accepter_acts(&mut self, now: Time, index: usize, network: &mut Network) -> Time {
        let FlowState { accepter, ends, counters, .. } = &mut self.flows[index];
        // Data comes only from a sender that has received the SYN-ACK.
        let is_heard = counters.received_packets > 0 || matches!(ends, Ends::Over(_));
        accepter.take_if(|_| is_heard);
        let Some(accepter) = accepter else { return Time::NEVER };
        let (is_over, due) = (accepter.on_timer(now), accepter.due());
        let answer = (accepter.echo(), accepter.received());
        if is_over {
            self.send_step(now, index, Step::SynAck, answer, network);
        }
        due
    }

    /// Take a packet of a handshake.
    #[cold]
    pub(super) fn take_step(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let index = packet.flow() as usize;
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.arrives(now, packet),
        };
        // The lower half of the number is the clock: `NUMBERS` has none of these bits.
        let brought = (packet.number() as u32, packet.ecn());
        match Step::ALL[packet.note() as usize] {
            Step::Syn => self.take_syn(now, index, brought, network),
            Step::SynAck => self.take_syn_ack(now, index, brought, network),
            Step::Ack => {
                let flow = &mut self.flows[index];
                flow.accepter = None;
                if let (Ends::Tcp(connection), Ecn::Ce) = (&mut flow.ends, packet.ecn()) {
                    connection.receiver.on_marked_control();
                }
            }
        }
    }

    fn take_syn(
        &mut self,
        now: Time,
        index: usize,
        (stamp, received): (u32, Ecn),
        network: &mut Network,
    ) {
        let FlowState { accepter, ends, choice: Some(choice), .. } = &mut self.flows[index] else {
            return;
        };
        let accepter = match accepter {
            Some(accepter) => {
                accepter.on_syn(now, received);
                accepter
            }
            None if matches!(ends, Ends::Ahead(_)) => {
                accepter.insert(Box::new(Accepter::new(&choice.stack, now, stamp, received)))
            }
            // A duplicate of a packet that was answered.
            None => return,
        };
        let (answer, due) = ((accepter.echo(), accepter.received()), accepter.due());
        self.send_step(now, index, Step::SynAck, answer, network);
        self.timers.at_latest(receiver_of(index), due, network);
    }

    fn take_syn_ack(
        &mut self,
        now: Time,
        index: usize,
        (echo, received): (u32, Ecn),
        network: &mut Network,
    ) {
        let FlowState { ends, choice: Some(choice), .. } = &self.flows[index] else { return };
        let handshake = match ends {
            Ends::Ahead(ahead) => {
                ahead.opener.as_ref().map(|it| it.answered(now, echo, &choice.stack))
            }
            // The ACK may be lost, so send it again. The connection is already open.
            Ends::Tcp(_) => None,
            // The flow stopped meanwhile.
            Ends::Over(_) | Ends::Udp(_) => return,
        };
        self.send_step(now, index, Step::Ack, (0, received), network);
        if let Some(handshake) = handshake {
            self.connection_begins(now, index, handshake, network);
            self.schedule_sender(index, network);
        }
    }

    /// Send a packet with the clock that it carries or echoes. It answers a packet with this ECN
    /// field.
    fn send_step(
        &mut self,
        now: Time,
        index: usize,
        step: Step,
        (number, received): (u32, Ecn),
        network: &mut Network,
    ) {
        let FlowState { spec, choice: Some(choice), .. } = &self.flows[index] else { return };
        let stack = &choice.stack;
        let header_bytes = spec.header_bytes.saturating_sub(option_bytes(stack));
        let (syn_bytes, option_bytes) =
            (syn_bytes(stack, header_bytes), opening_option_bytes(stack));
        let (direction, ecn, bytes) = match step {
            Step::Syn => (Direction::Forward, choice.opening_ecn(), syn_bytes),
            // Never ECN-capable (RFC 3168, section 6.1.1).
            Step::SynAck => (Direction::Reverse, Ecn::NotEct, syn_bytes + option_bytes),
            Step::Ack if stack.accecn => {
                (Direction::Forward, choice.answering_ecn(), header_bytes + option_bytes)
            }
            Step::Ack => (Direction::Forward, choice.opening_ecn(), header_bytes),
        };
        let ace = handshake_ace(received);
        let packet = Packet::new(index as u32, direction, bytes, NUMBERS + u64::from(number))
            .with_flags(Flags::OPENS)
            .with_ecn(ecn)
            .with_note(step as u32);
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.sends_step(now, packet, ace),
        };
        let outcome = network.send(now, packet);
        self.follow_further(outcome, network);
    }
}
