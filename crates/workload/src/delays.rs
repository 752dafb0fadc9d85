//! Delays of packets, as the record has them.

use std::sync::Arc;

use dumbbell_network::{DelayCount, OneWay, OneWayCounters, Periods, QueueDelays, Span, Time};
use dumbbell_record::{DatagramSample, DelayBucket, DelaySummary, NO_FLOW, NO_QUEUE};

use crate::Scenario;

impl Scenario {
    /// Periods for each of which delays are counted; one period unless the scenario requests
    /// several.
    #[must_use]
    pub fn delay_periods(&self) -> Periods {
        let length = self.record.delays_ns.map_or(self.duration_ns, |length| Span(length.get()));
        Periods { length, end: Time::ZERO + self.duration_ns }
    }

    /// The histogram of the delays in a sampled link's queue; none unless the scenario requests it.
    #[must_use]
    pub fn queue_delays(&self) -> Option<QueueDelays> {
        let is_separate: Arc<[bool]> = self.flows.iter().map(|flow| flow.sampled).collect();
        self.record.delays_ns.map(|_| QueueDelays::new(self.delay_periods(), is_separate))
    }
}

/// Summary of the one-way delays of a flow.
#[must_use]
pub fn summarise_delays(counters: OneWayCounters) -> Option<DelaySummary> {
    let OneWayCounters { packets, delay, delay_min, delay_max, variation } = counters;
    (packets > 0).then(|| DelaySummary {
        min_ns: delay_min.0,
        mean_ns: delay.0 / packets,
        max_ns: delay_max.0,
        jitter_ns: variation.0.checked_div(packets - 1),
    })
}

/// A sample of a flow of datagrams: the datagrams and bytes it has sent and those it has lost so
/// far, and the counters of its receiver.
#[must_use]
pub fn datagram_sample(
    time: Time,
    flow: u32,
    (sent_segs, sent_bytes): (u64, u64),
    lost_packets: u64,
    (received, received_bytes): (OneWayCounters, u64),
) -> DatagramSample {
    DatagramSample {
        time_ns: time.0,
        flow,
        sent_segs,
        sent_bytes,
        lost_packets,
        received_packets: received.packets,
        received_bytes,
        delay_sum_ns: received.delay.0,
        variation_sum_ns: received.variation.0,
    }
}

/// Histogram of all delays at the sampled link number `queue`.
pub fn queue_buckets(queue: u32, delays: QueueDelays) -> impl Iterator<Item = DelayBucket> {
    delays.finish().flat_map(move |(flow, counts)| buckets(queue, flow.unwrap_or(NO_FLOW), counts))
}

/// Histogram of all one-way delays of a flow.
pub fn one_way_buckets(flow: u32, one_way: OneWay) -> impl Iterator<Item = DelayBucket> {
    buckets(NO_QUEUE, flow, one_way.finish())
}

fn buckets(queue: u32, flow: u32, counts: Vec<DelayCount>) -> impl Iterator<Item = DelayBucket> {
    counts.into_iter().map(move |DelayCount { until, delay, packets }| DelayBucket {
        time_ns: until.0,
        queue,
        flow,
        delay_ns: delay.0,
        packets,
    })
}
