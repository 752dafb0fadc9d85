//! The counters of links, in the form of the record.

use dumbbell_network::{LinkCounters, Span, Time};
use dumbbell_record::{QueueSample, QueueSummary};

/// Summary of the link `name` as of the run's end.
#[must_use]
pub fn summarise_queue(name: String, counters: &LinkCounters, end: Time) -> QueueSummary {
    QueueSummary {
        name,
        arrived_packets: counters.arrived_packets,
        duplicated_packets: counters.duplicated_packets,
        marked_packets: counters.marked_packets,
        departed_packets: counters.departed_packets,
        departed_bytes: counters.departed_bytes,
        dropped_packets: counters.dropped_packets,
        lost_packets: counters.lost_packets,
        backlog_packets: counters.backlog_packets,
        backlog_packets_max: counters.backlog_packets_max,
        waiting_bytes_mean: (counters.waiting_byte_ns / u128::from(end.0)) as u64,
    }
}

/// Samples of the sampled link number `queue`, one for each interval.
pub fn queue_samples(
    queue: u32,
    interval: Span,
    samples: &[LinkCounters],
) -> impl Iterator<Item = QueueSample> {
    (1..).zip(samples).map(move |(number, counters)| QueueSample {
        time_ns: number * interval.0,
        queue,
        backlog_packets: counters.backlog_packets,
        backlog_bytes: counters.backlog_bytes,
        arrived_packets: counters.arrived_packets,
        departed_packets: counters.departed_packets,
        departed_bytes: counters.departed_bytes,
        dropped_packets: counters.dropped_packets,
        lost_packets: counters.lost_packets,
        marked_packets: counters.marked_packets,
    })
}
