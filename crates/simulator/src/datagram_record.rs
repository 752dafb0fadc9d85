//! Samples of flows of datagrams: what sender, network and receiver know, each by its own time.

use std::collections::BTreeMap;

use dumbbell_network::{OneWayCounters, Span, Time};
use dumbbell_record::DatagramSamples;
use dumbbell_workload::datagram_sample;

use crate::flow::{Counters, FlowState};

/// What is known of datagrams at the sampling times.
#[derive(Debug)]
pub struct DatagramRecord {
    interval: Option<Span>,
    /// What the senders have counted.
    sent: Vec<(Time, u32, Counters)>,
    /// How many of a flow were lost since the sampling time before.
    lost: BTreeMap<(u32, u64), u64>,
    /// What the receiver of each flow has seen of delays, and bytes of payload.
    received: BTreeMap<u32, Vec<(OneWayCounters, u64)>>,
}

impl DatagramRecord {
    /// Nothing known.
    pub const fn new(interval: Option<Span>) -> Self {
        Self { interval, sent: Vec::new(), lost: BTreeMap::new(), received: BTreeMap::new() }
    }

    /// Samples the sending end of a flow, if it has begun.
    pub fn sample_sender(&mut self, now: Time, flow: u32, state: &FlowState) {
        if state.datagrams().is_some() && state.spec.start_ns <= now {
            self.sent.push((now, flow, state.counters));
        }
    }

    /// Samples the receiving end of a flow.
    pub fn sample_receiver(&mut self, flow: u32, state: &FlowState) {
        if let Some(datagrams) = state.datagrams() {
            let received = (datagrams.one_way.counters(), state.counters.received_bytes);
            self.received.entry(flow).or_default().push(received);
        }
    }

    /// Counts one that is lost.
    pub fn lose(&mut self, now: Time, flow: u32) {
        if let Some(interval) = self.interval {
            *self.lost.entry((flow, number_of(now, interval))).or_insert(0) += 1;
        }
    }

    /// Puts it all together, in order.
    pub fn finish(mut self) -> DatagramSamples {
        let mut table = DatagramSamples::default();
        let Some(interval) = self.interval else { return table };
        self.sent.sort_by_key(|&(time, flow, _)| (time, flow));
        // Of each flow, up to which sample losses are counted, and how many there were.
        let mut counted = BTreeMap::new();
        for (time, flow, sender) in self.sent {
            let number = number_of(time, interval);
            let (next, lost) = counted.entry(flow).or_insert((0, 0));
            *lost +=
                self.lost.range((flow, *next)..=(flow, number)).map(|entry| entry.1).sum::<u64>();
            *next = number + 1;
            let sent = (sender.sent_packets, sender.sent_bytes);
            let received = self.received[&flow][number as usize];
            table.push(datagram_sample(time, flow, sent, *lost, received));
        }
        table
    }
}

/// The number of the first sample that is not taken before `time`.
const fn number_of(time: Time, interval: Span) -> u64 {
    time.0.saturating_sub(1) / interval.0
}
