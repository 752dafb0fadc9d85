//! A path for rate-based algorithms: it delivers a window per round trip.

use dumbbell_algorithm::{CaState, Conn, Instance, RateSample};

/// A connection of an algorithm with `cong_control`, and its path.
pub struct Path {
    pub algorithm: Instance,
    pub conn: Conn,
    pub rtt_us: u32,
    /// Segments per second.
    pub rate: f64,
    /// Segments in flight at each acknowledgement; none: the smaller one of window and pipe.
    pub in_flight_segs: Option<u32>,
}

impl Path {
    pub fn new(mut algorithm: Instance, rate: f64, rtt_us: u32) -> Self {
        let mut conn = Conn { srtt_us: rtt_us, min_rtt_us: rtt_us, ..Conn::default() };
        algorithm.init(&mut conn);
        Self { algorithm, conn, rtt_us, rate, in_flight_segs: None }
    }

    /// Capacity of the pipe, segments.
    pub fn pipe(&self) -> f64 {
        self.rate * f64::from(self.rtt_us) / 1e6
    }

    /// The sample of a round trip in which the path delivered at its full rate.
    pub fn sample(&self) -> RateSample {
        let segs = self.pipe().round() as u32;
        RateSample {
            prior_delivered_segs: self.conn.delivered_segs,
            interval_us: i64::from(self.rtt_us),
            delivered_segs: segs as i32,
            rtt_us: self.rtt_us as i32,
            acked_sacked_segs: segs,
            prior_in_flight_segs: self.in_flight_segs.unwrap_or(segs),
            ..RateSample::default()
        }
    }

    /// Play one round trip as one acknowledgement.
    pub fn round(&mut self) {
        let sample = self.sample();
        self.after(u64::from(self.rtt_us), sample);
    }

    pub fn rounds(&mut self, count: usize) {
        (0..count).for_each(|_| self.round());
    }

    /// Take an acknowledgement with a sample, `us` later.
    pub fn after(&mut self, us: u64, sample: RateSample) {
        self.conn.now_us += us;
        self.conn.delivered_segs += u64::from(sample.acked_sacked_segs);
        self.conn.lost_segs += u64::from(sample.losses_segs);
        self.conn.in_flight_segs = self.in_flight_segs.unwrap_or(self.conn.cwnd_segs);
        self.algorithm.cong_control(&mut self.conn, &sample);
    }

    /// Change the congestion state as the stack does.
    pub fn state(&mut self, state: CaState) {
        if !matches!(state, CaState::Open) {
            self.conn.prior_cwnd_segs = self.conn.cwnd_segs;
            self.conn.ssthresh_segs = self.algorithm.ssthresh(&self.conn);
        }
        if state == CaState::Loss {
            self.conn.cwnd_segs = 1;
        }
        self.algorithm.set_state(&mut self.conn, state);
        self.conn.state = state;
    }

    pub fn info(&self) -> [u32; 4] {
        self.algorithm.info(&self.conn)
    }

    /// Pacing relative to the path's rate.
    pub fn pace(&self) -> f64 {
        let rate = self.conn.pacing_rate_bytes_per_s as f64 / f64::from(self.conn.mss_bytes);
        rate / self.rate
    }
}
