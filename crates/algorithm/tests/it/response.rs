//! Mean windows with a loss in every 1/p segments, compared with closed forms.

use crate::{ack, avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance};

const RTT_US: u64 = 100_000;
/// Epochs from one loss to the next. The first half is discarded.
const EPOCHS: usize = 60;

/// One connection with single ACKs, in steps of a round trip.
struct Flow {
    algorithm: Instance,
    conn: Conn,
    /// Largest RTT, at the loss. H-TCP keeps less of its window the larger it is.
    rtt_max_us: u64,
}

impl Flow {
    fn new(name: &str, settings: &[(&str, u32)], rtt_max_us: u64) -> Self {
        let mut algorithm = instance(name, None, settings);
        let mut conn = avoiding(100);
        algorithm.init(&mut conn);
        let mut flow = Self { algorithm, conn, rtt_max_us };
        flow.sample_rtts();
        flow
    }

    /// Take the smallest RTT, then larger ones in steps too small for outliers.
    fn sample_rtts(&mut self) {
        for rtt_us in (RTT_US..=self.rtt_max_us).step_by(15_000) {
            self.algorithm.pkts_acked(&mut self.conn, &ack(1, rtt_us as i32));
        }
    }

    fn round_trip(&mut self) -> u64 {
        let window = u64::from(self.conn.cwnd_segs);
        let start_us = self.conn.now_us;
        for index in 1..=window {
            self.conn.now_us = start_us + RTT_US * index / window;
            self.conn.snd_una = self.conn.snd_una.wrapping_add(self.conn.mss_bytes);
            let flight_bytes = self.conn.cwnd_segs.wrapping_mul(self.conn.mss_bytes);
            self.conn.snd_nxt = self.conn.snd_una.wrapping_add(flight_bytes);
            self.algorithm.pkts_acked(&mut self.conn, &ack(1, RTT_US as i32));
            self.algorithm.cong_avoid(&mut self.conn, 1);
        }
        window
    }

    fn lose(&mut self) {
        self.sample_rtts();
        self.conn.cwnd_segs = self.algorithm.ssthresh(&self.conn);
        self.conn.cwnd_cnt = 0;
        for state in [CaState::Recovery, CaState::Open] {
            self.algorithm.set_state(&mut self.conn, state);
            self.conn.state = state;
        }
    }

    fn mean_window(&mut self, segs_per_loss: u64) -> f64 {
        let (mut since_loss, mut sent, mut round_trips) = (0, 0, 0_u64);
        for epoch in 0..EPOCHS {
            while since_loss < segs_per_loss {
                let window = self.round_trip();
                since_loss += window;
                if epoch >= EPOCHS / 2 {
                    sent += window;
                    round_trips += 1;
                }
            }
            since_loss -= segs_per_loss;
            self.lose();
        }
        sent as f64 / round_trips as f64
    }
}

/// Check windows against a closed form, with a relative tolerance of `within`. Closed forms are
/// continuous; windows and tables are not.
fn assert_response(name: &str, settings: &[(&str, u32)], expected: &[(f64, f64)], within: f64) {
    for (loss_rate, window) in expected {
        let mean = Flow::new(name, settings, RTT_US).mean_window((1.0 / loss_rate) as u64);
        let off = mean / window - 1.0;
        assert!(off.abs() <= within, "{name} at {loss_rate}: mean {mean}, expected {window}");
    }
}

#[test]
fn reno_is_the_square_root_of_three_halves_over_p() {
    assert_response("reno", &[], &[(1e-3, 38.7), (1e-4, 122.5), (1e-5, 387.3)], 0.03);
}

/// RFC 3649: w = 0.12 / p^0.835. Small windows exceed it, since the table rounds a(w) up, such as
/// from 2.1 to 3.
#[test]
fn highspeed_is_its_response_function() {
    assert_response("highspeed", &[], &[(1e-4, 263.0)], 0.18);
    assert_response("highspeed", &[], &[(1e-5, 1796.0), (1e-6, 12_280.0)], 0.12);
}

/// Kelly 2003: w = 0.08 / p with alpha 0.01 and a cut of 1/8; the mean of the sawtooth, not its
/// peak.
#[test]
fn scalable_is_inverse_to_p() {
    assert_response("scalable", &[], &[(1e-4, 800.0), (1e-5, 8_000.0), (1e-6, 80_000.0)], 0.08);
}

/// Linear growth by Smax per round trip: sqrt(Smax (2 - c) / (2 c p)), c = 0.2.
#[test]
fn bic_in_its_linear_region_is_an_aimd() {
    let settings = [("ack_ratio_correction", 0), ("smax", 16), ("fast_convergence", 0)];
    assert_response("bic", &settings, &[(1e-6, 8_485.0), (3e-7, 15_492.0)], 0.12);
}

/// RFC 9438: 1.054 (RTT / p)^0.75.
#[test]
fn cubic_is_its_response_function() {
    let settings = [("tcp_friendliness", 0)];
    assert_response("cubic", &settings, &[(1e-5, 1_054.0), (1e-6, 5_927.0)], 0.05);
}

/// Growth by W^0.75 / 8 per round trip and halving: 0.255 / p^0.8. dwnd grows after round trips.
/// The first round trip after a loss measures nothing yet, and neither does a later one if growth
/// is spread: 2 of 25 round trips at 1e-4, of 44 at 1e-5, of 78 at 1e-6.
#[test]
fn compound_on_an_empty_path_is_its_response_function() {
    for settings in [[("spread_growth", 0)], [("spread_growth", 1)]] {
        for (loss_rate, window, within) in
            [(1e-4, 404.2, 0.1), (1e-5, 2_550.0, 0.06), (1e-6, 16_090.0, 0.04)]
        {
            assert_response("compound", &settings, &[(loss_rate, window)], within);
        }
    }
}

/// The epoch solves W RTT = 2 F(epoch), with F the integral of f, at an RTT of 100 ms.
#[test]
fn htcp_that_halves_is_its_response_function() {
    for (loss_rate, window) in [(1e-4, 322.0), (1e-5, 1_705.0)] {
        let mut flow = Flow::new("htcp", &[], 3 * RTT_US);
        let mean = flow.mean_window((1.0_f64 / loss_rate) as u64);
        let off: f64 = mean / window - 1.0;
        assert!(off.abs() <= 0.1, "at {loss_rate}: mean {mean}, expected {window}");
    }
}
