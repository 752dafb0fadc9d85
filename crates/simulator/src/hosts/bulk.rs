//! The common case: an acknowledgement of bulk data lets new segments go, and each is received.
//!
//! All that happens is what the general functions would do; what is left out is looking for what
//! else might happen. What is not routine is left to them.

use dumbbell_network::{Direction, Network, Packet, Time};

use super::AllHosts;
use super::sending::note_of;
use crate::flow::{Connection, Ends, FlowState, ecn_of};

impl AllHosts<'_> {
    /// Works through an acknowledgement of bulk data that says nothing else (header prediction),
    /// with all that it lets go; false: it is none.
    #[inline(always)]
    pub(super) fn take_routine_ack(
        &mut self,
        now: Time,
        packet: Packet,
        network: &mut Network,
    ) -> bool {
        let index = packet.flow() as usize;
        let FlowState { spec, ends: Ends::Tcp(connection), counters, .. } = &mut self.flows[index]
        else {
            return false;
        };
        let Connection { sender, app, .. } = &mut **connection;
        if !packet.is_bare() || app.has_messages() || !sender.expects(packet.number()) {
            return false;
        }
        sender.on_routine_ack(now, packet.number());
        let Some((first, count)) = sender.next_run(now) else {
            self.transmit(now, index, network);
            self.plan_sender(index, network);
            return true;
        };
        counters.count_sent(spec, count);
        self.send_run(now, index, first, count, network);
        self.plan_sender(index, network);
        true
    }

    /// Sends `count` new full segments that are alike.
    #[inline]
    pub(super) fn send_run(
        &mut self,
        now: Time,
        index: usize,
        first: u64,
        count: u32,
        network: &mut Network,
    ) {
        let flow = &self.flows[index];
        let Ends::Tcp(connection) = &flow.ends else { return };
        let mut data = Packet::new(index as u32, Direction::Forward, flow.spec.packet_bytes, first)
            .with_ecn(ecn_of(connection.sender.marks_new()))
            .with_note(note_of(now));
        for _ in 0..count {
            let outcome = network.send(now, data);
            self.follow(outcome, network);
            data = data.following();
        }
    }
}
