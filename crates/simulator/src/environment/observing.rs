//! Measurements of a learner in one step: differences of what its sender counts.

use dumbbell_network::Span;
use dumbbell_tcp::RttSummary;

use crate::engine::Engine;

/// A quantity that is measured in each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its unit; empty: it is a ratio.
    pub unit: &'static str,
    /// Its meaning.
    pub what: &'static str,
}

/// The measured quantities, in this order.
pub const FIELDS: [Field; 14] = [
    field("interval_ms", "ms", "length of the step"),
    field("delivered_bytes", "bytes", "payload newly acknowledged, selectively or not"),
    field("send_mbit_per_s", "Mbit/s", "payload sent, retransmissions included"),
    field("delivery_mbit_per_s", "Mbit/s", "payload delivered"),
    field("loss_share", "", "segments newly taken for lost, of these and the delivered ones"),
    field("mark_share", "", "delivered segments whose acknowledgement carried a congestion mark"),
    field("rtt_min_ms", "ms", "smallest round-trip time; without a sample the latest known"),
    field("rtt_mean_ms", "ms", "mean round-trip time; likewise"),
    field("rtt_ms", "ms", "latest round-trip time; likewise"),
    field("path_rtt_min_ms", "ms", "smallest round-trip time of the episode"),
    field("in_flight_segs", "segments", "in flight at the end of the step"),
    field("cwnd_segs", "segments", "congestion window at the end of the step"),
    field("pacing_mbit_per_s", "Mbit/s", "pacing rate at the end of the step; 0: not paced"),
    field("others_mbit_per_s", "Mbit/s", "payload acknowledged of flows that no learner steers"),
];

/// The values of [`FIELDS`].
pub type Observation = [f64; FIELDS.len()];

const fn field(name: &'static str, unit: &'static str, what: &'static str) -> Field {
    Field { name, unit, what }
}

/// A sender's counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    delivered_segs: u64,
    marked_segs: u64,
    lost_segs: u64,
    sent_segs: u64,
    rtt_sum_us: u64,
    rtt_samples: u64,
    others_bytes: u64,
}

/// Reads one flow's counters at its sender.
#[derive(Debug)]
pub struct Observer<'a> {
    engine: &'a Engine,
    flow: usize,
    learners: &'a [usize],
}

impl<'a> Observer<'a> {
    pub const fn new(engine: &'a Engine, flow: usize, learners: &'a [usize]) -> Self {
        Self { engine, flow, learners }
    }

    /// Read the counters.
    pub fn look(&self) -> Seen {
        let hosts = &self.engine.hosts;
        let others = (0..hosts.flows.len()).filter(|flow| !self.learners.contains(flow));
        let others_bytes = others.map(|flow| hosts.acked_bytes(flow)).sum();
        let Some(sender) = hosts.sender(self.flow) else {
            return Seen { others_bytes, ..Seen::default() };
        };
        let conn = sender.conn();
        let (rtt_sum_us, rtt_samples) =
            sender.rtt().summary().map_or((0, 0), |rtt| (rtt.sum_us, rtt.samples));
        Seen {
            delivered_segs: conn.delivered_segs,
            marked_segs: conn.delivered_ce_segs,
            lost_segs: conn.lost_segs,
            sent_segs: sender.counters().sent_segs,
            rtt_sum_us,
            rtt_samples,
            others_bytes,
        }
    }

    /// Compute the measurements between two readings.
    pub fn between(&self, before: &Seen, after: &Seen, lasted: Span) -> Observation {
        let per_s = |bytes: f64| if lasted.0 == 0 { 0.0 } else { bytes * 8e3 / lasted.0 as f64 };
        let others = after.others_bytes.saturating_sub(before.others_bytes) as f64;
        let interval_ms = lasted.0 as f64 / 1e6;
        let Some(sender) = self.engine.hosts.sender(self.flow) else {
            let mut nothing = [0.0; FIELDS.len()];
            (nothing[0], nothing[FIELDS.len() - 1]) = (interval_ms, per_s(others));
            return nothing;
        };
        let (conn, rtt) = (sender.conn(), sender.rtt());
        let mss = f64::from(conn.mss_bytes);
        let since = |count: fn(&Seen) -> u64| count(after).saturating_sub(count(before)) as f64;
        let delivered = since(|seen| seen.delivered_segs);
        let lost = since(|seen| seen.lost_segs);
        let samples = since(|seen| seen.rtt_samples);
        // Before the first sample of data, only the smoothed RTT has a value, from the handshake.
        let latest_us = f64::from(rtt.latest_us().unwrap_or_else(|| rtt.srtt_us()));
        let mean_us = share(since(|seen| seen.rtt_sum_us), samples).unwrap_or(latest_us);
        let least_us = |rtt: RttSummary| f64::from(rtt.min_us);
        [
            interval_ms,
            delivered * mss,
            per_s(since(|seen| seen.sent_segs) * mss),
            per_s(delivered * mss),
            share(lost, lost + delivered).unwrap_or(0.0),
            share(since(|seen| seen.marked_segs), delivered).unwrap_or(0.0),
            sender.step_min_rtt_us().map_or(latest_us, f64::from) / 1e3,
            mean_us / 1e3,
            latest_us / 1e3,
            rtt.summary().map_or(latest_us, least_us) / 1e3,
            f64::from(sender.in_flight()),
            f64::from(conn.cwnd_segs),
            conn.pacing_rate_bytes_per_s as f64 * 8e-6,
            per_s(others),
        ]
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
