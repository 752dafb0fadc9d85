//! Flows that a learner steers: it reads them and sets window and rate at the network's alarm.

use dumbbell_network::{Network, Time};
use dumbbell_tcp::Sender;

use super::AllHosts;
use crate::flow::{Connection, sender_of};

impl AllHosts {
    /// The sender of a flow, if its connection is open.
    pub fn sender(&self, index: usize) -> Option<&Sender> {
        self.flows[index].connection().map(|connection| &connection.sender)
    }

    /// Return true if all data of a flow's application has arrived, and no more will come.
    pub fn is_over(&self, index: usize) -> bool {
        self.flows[index].ended.is_some()
    }

    /// Acknowledged payload of a flow, in bytes.
    pub fn acked_bytes(&self, index: usize) -> u64 {
        self.flows[index].totals().map_or(0, |totals| totals.acked_bytes)
    }

    /// Set window and rate of a flow, if its connection is open, at the alarm of that time.
    pub fn steer(
        &mut self,
        index: usize,
        alarm: Time,
        (cwnd_segs, rate_bytes_per_s): (u32, u64),
        network: &mut Network,
    ) {
        let now = network.at_alarm(self.timers.process_of(sender_of(index)), alarm);
        let Some(connection) = self.flows[index].connection_mut() else { return };
        let Connection { sender, .. } = connection;
        if sender.steer(now, cwnd_segs, rate_bytes_per_s) {
            self.transmit_slowly(now, index, network);
            self.schedule_sender(index, network);
        }
    }
}
