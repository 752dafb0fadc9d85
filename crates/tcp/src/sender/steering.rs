//! A connection that a learner steers: its actions and its observations in each step.

use dumbbell_algorithm::NO_RTT;
use dumbbell_network::Time;

use super::Sender;

impl Sender {
    /// Begin a step of a learner. `cwnd_segs` is limited by the window's clamp. The rate counts
    /// payload in bytes per second, and 0 means no pacing. Return whether either has changed; if
    /// so, call [`Self::next_burst`].
    pub fn steer(&mut self, now: Time, cwnd_segs: u32, rate_bytes_per_s: u64) -> bool {
        self.look(now);
        let conn = &mut self.conn;
        let set = (cwnd_segs.min(conn.cwnd_clamp_segs).max(1), rate_bytes_per_s);
        let has_changed = set != (conn.cwnd_segs, conn.pacing_rate_bytes_per_s);
        (conn.cwnd_segs, conn.pacing_rate_bytes_per_s) = set;
        self.algorithm.init(conn);
        has_changed
    }

    /// The smallest RTT since the step began, in microseconds. None if there was no sample.
    #[must_use]
    pub fn step_min_rtt_us(&self) -> Option<u32> {
        let [min_rtt_us, ..] = self.algorithm_info();
        Some(min_rtt_us).filter(|&rtt_us| rtt_us != NO_RTT)
    }
}
