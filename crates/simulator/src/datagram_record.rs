//! Samples of flows of datagrams: what sender, network and receiver know, each by its own time.

use std::collections::BTreeMap;

use dumbbell_network::{OneWayCounters, Span, Time};
use dumbbell_record::DatagramSamples;
use dumbbell_workload::datagram_sample;

use crate::flow::FlowState;

/// Counts of datagrams at the sampling times.
#[derive(Debug)]
pub struct DatagramRecord {
    interval: Option<Span>,
    /// Packets and bytes of payload that each sender had sent.
    sent: Vec<(Time, u32, (u64, u64))>,
    /// Datagrams of each flow that were lost since the sampling time before.
    lost: BTreeMap<(u32, u64), u64>,
    /// Delays at the receiver of each flow, and its bytes of payload.
    received: BTreeMap<u32, Vec<(OneWayCounters, u64)>>,
}

impl DatagramRecord {
    /// An empty record.
    pub const fn new(interval: Option<Span>) -> Self {
        Self { interval, sent: Vec::new(), lost: BTreeMap::new(), received: BTreeMap::new() }
    }

    /// Sample the sending end of a flow, if it has begun.
    pub fn sample_sender(&mut self, now: Time, flow: u32, state: &FlowState) {
        if state.datagrams().is_some() && state.spec.start_ns <= now {
            self.sent.push((now, flow, (state.counters.sent_packets, state.sent_bytes())));
        }
    }

    /// Sample the receiving end of a flow.
    pub fn sample_receiver(&mut self, flow: u32, state: &FlowState) {
        if let Some(datagrams) = state.datagrams() {
            let received = (datagrams.one_way.counters(), state.received_bytes());
            self.received.entry(flow).or_default().push(received);
        }
    }

    /// Count a lost datagram.
    pub fn lose(&mut self, now: Time, flow: u32) {
        if let Some(interval) = self.interval {
            *self.lost.entry((flow, number_of(now, interval))).or_insert(0) += 1;
        }
    }

    /// Combine all counts, in the order of the table.
    pub fn finish(mut self) -> DatagramSamples {
        let mut table = DatagramSamples::default();
        let Some(interval) = self.interval else { return table };
        self.sent.sort_by_key(|&(time, flow, _)| (time, flow));
        // For each flow: the sample up to which losses are counted, and their number.
        let mut counted = BTreeMap::new();
        for (time, flow, sent) in self.sent {
            let number = number_of(time, interval);
            let (next, lost) = counted.entry(flow).or_insert((0, 0));
            *lost +=
                self.lost.range((flow, *next)..=(flow, number)).map(|entry| entry.1).sum::<u64>();
            *next = number + 1;
            let received = self.received[&flow][number as usize];
            table.push(datagram_sample(time, flow, sent, *lost, received));
        }
        table
    }
}

/// The number of the first sample at or after `time`.
const fn number_of(time: Time, interval: Span) -> u64 {
    time.0.saturating_sub(1) / interval.0
}
