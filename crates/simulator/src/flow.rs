//! Both ends of one flow, and what the simulator counts about it.

use dumbbell_algorithm::{AlgorithmError, Instance};
use dumbbell_network::Time;
use dumbbell_tcp::{Receiver, Sender, SenderConfig, Stack};
use dumbbell_workload::Flow;

/// A flow of a running simulation.
#[derive(Debug)]
pub struct FlowState {
    pub spec: Flow,
    /// Absent until the flow begins.
    pub sender: Option<Sender>,
    pub receiver: Receiver,
    pub ended: Option<Time>,
    pub stop_pending: bool,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub received_packets: u64,
    pub dropped_packets: u64,
    pub lost_packets: u64,
}

impl FlowState {
    /// A flow that has not begun.
    pub fn new(spec: Flow, stack: &Stack) -> Self {
        Self {
            sender: None,
            receiver: Receiver::new(stack),
            ended: None,
            stop_pending: spec.stop_ns.is_some(),
            sent_bytes: 0,
            received_bytes: 0,
            received_packets: 0,
            dropped_packets: 0,
            lost_packets: 0,
            spec,
        }
    }

    /// The flow's algorithm, fresh.
    pub fn algorithm(spec: &Flow) -> Result<Instance, AlgorithmError> {
        Instance::new(&spec.algorithm, spec.preset.as_deref(), &spec.parameters)
    }

    /// Establishes the connection.
    pub fn begin(&mut self, now: Time, stack: &Stack, algorithm: Instance, seed: u64) {
        let config = SenderConfig {
            mss_bytes: self.spec.mss_bytes(),
            packet_bytes: u32::from(self.spec.packet_bytes),
            overhead_bytes: 0,
            host_rate_bps: None,
        };
        let mut sender = Sender::new(stack, config, algorithm, now, seed);
        sender.supply(self.spec.transfer_segs().unwrap_or(u64::MAX));
        self.sender = Some(sender);
    }

    /// When the flow next wants to act on its own.
    #[inline]
    pub fn deadline(&self) -> Time {
        let Some(sender) = &self.sender else { return self.spec.start_ns };
        let stop = if self.stop_pending { self.spec.stop_ns } else { None };
        let timers = sender.deadline().min(self.receiver.deadline().unwrap_or(Time::NEVER));
        timers.min(stop.unwrap_or(Time::NEVER))
    }

    /// Size of a data packet at the IP layer; the last of a transfer may be short.
    #[inline]
    pub fn packet_bytes(&self, segment: u64) -> u16 {
        let Some(bytes) = self.spec.bytes else { return self.spec.packet_bytes };
        let left = bytes.get() - segment * u64::from(self.spec.mss_bytes());
        left.min(u64::from(self.spec.mss_bytes())) as u16 + self.spec.header_bytes
    }

    /// Payload cumulatively acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.as_ref().map_or(0, |sender| self.spec.payload_bytes(sender.acked_segs()))
    }
}
