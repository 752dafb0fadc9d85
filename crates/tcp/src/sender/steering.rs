//! A connection that a learner steers: what it sets, and what it sees of each step.

use dumbbell_algorithm::NO_RTT;
use dumbbell_network::Time;

use super::Sender;

impl Sender {
    /// Begins a step of a learner: the window in segments, no larger than its clamp, and the rate
    /// of payload in bytes per second, 0: not paced. Gives whether either has changed; then ask
    /// [`Self::next_burst`].
    pub fn steer(&mut self, now: Time, cwnd_segs: u32, rate_bytes_per_s: u64) -> bool {
        self.look(now);
        let conn = &mut self.conn;
        let set = (cwnd_segs.min(conn.cwnd_clamp_segs).max(1), rate_bytes_per_s);
        let has_changed = set != (conn.cwnd_segs, conn.pacing_rate_bytes_per_s);
        (conn.cwnd_segs, conn.pacing_rate_bytes_per_s) = set;
        self.algorithm.init(conn);
        has_changed
    }

    /// The smallest RTT since the step began, microseconds, if there was a sample.
    #[must_use]
    pub fn step_min_rtt_us(&self) -> Option<u32> {
        let [min_rtt_us, ..] = self.algorithm_info();
        Some(min_rtt_us).filter(|&rtt_us| rtt_us != NO_RTT)
    }
}
