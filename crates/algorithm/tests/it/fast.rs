//! FAST TCP: its equilibrium, its convergence, and the alpha that it takes.

use crate::{ack, avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance, SSTHRESH_INFINITE};

const MSS: u32 = 1448;

/// One flow over a path with an endless queue, ACK by ACK.
struct Path {
    fast: Instance,
    conn: Conn,
    rtt_us: f64,
    segs_per_us: f64,
    other_backlog_segs: f64,
    rest_us: f64,
}

impl Path {
    fn new(rtt_ms: u32, rate_mbit_per_s: u32, settings: &[(&str, u32)]) -> Self {
        let mut fast = instance("fast", None, settings);
        let mut conn = Conn { mss_bytes: MSS, ssthresh_segs: 100, ..Conn::default() };
        fast.init(&mut conn);
        Self {
            fast,
            conn,
            rtt_us: f64::from(rtt_ms) * 1e3,
            segs_per_us: f64::from(rate_mbit_per_s) / 8.0 / f64::from(MSS),
            other_backlog_segs: 0.0,
            rest_us: 0.0,
        }
    }

    fn backlog_segs(&self) -> f64 {
        (f64::from(self.conn.cwnd_segs) - self.rtt_us * self.segs_per_us).max(0.0)
    }

    /// One ACK for one segment.
    fn step(&mut self) {
        let queue_us = (self.backlog_segs() + self.other_backlog_segs) / self.segs_per_us;
        let rtt_us = self.rtt_us + queue_us;
        let gap_us = rtt_us / f64::from(self.conn.cwnd_segs) + self.rest_us;
        self.rest_us = gap_us.fract();
        self.conn.now_us += gap_us as u64;
        self.conn.delivered_segs += 1;
        self.conn.snd_una = self.conn.snd_una.wrapping_add(MSS);
        self.conn.snd_nxt = self.conn.snd_una.wrapping_add(self.conn.cwnd_segs.wrapping_mul(MSS));
        self.conn.srtt_us = rtt_us as u32;
        self.fast.pkts_acked(&mut self.conn, &ack(1, rtt_us as i32));
        self.fast.cong_avoid(&mut self.conn, 1);
    }

    fn run(&mut self, seconds: u64) {
        let end_us = self.conn.now_us + seconds * 1_000_000;
        while self.conn.now_us < end_us {
            self.step();
        }
    }
}

#[test]
fn rests_where_its_backlog_is_alpha() {
    for (rate_mbit_per_s, alpha) in [(5, 8), (50, 20), (250, 200)] {
        let mut path = Path::new(80, rate_mbit_per_s, &[]);
        path.run(60);
        assert_eq!(path.fast.info(&path.conn)[0], alpha);
        let backlog = path.backlog_segs();
        let tolerance = 1.0 + 0.01 * f64::from(alpha);
        assert!(
            (backlog - f64::from(alpha)).abs() <= tolerance,
            "{rate_mbit_per_s} Mbit/s: backlog {backlog}, alpha {alpha}"
        );
    }
}

#[test]
fn rests_at_alpha_at_any_gamma_and_period() {
    for settings in [[("gamma", 100)], [("gamma", 10)], [("update_rtts", 1)], [("update_rtts", 4)]]
    {
        let mut path = Path::new(80, 250, &settings);
        path.run(120);
        let backlog = path.backlog_segs();
        assert!((backlog - 200.0).abs() <= 10.0, "{settings:?}: backlog {backlog}");
    }
}

/// Rate alpha / T_q, whatever flow the queued segments belong to.
#[test]
fn keeps_its_alpha_next_to_the_queue_of_others() {
    let mut path = Path::new(80, 50, &[]);
    path.run(20);
    path.other_backlog_segs = 60.0;
    path.run(60);
    let [alpha, base_us, average_us, backlog] = path.fast.info(&path.conn);
    assert_eq!((alpha, base_us), (20, 80_000 + base_us % 1000));
    assert!(backlog.abs_diff(20) <= 1, "own backlog {backlog}");
    assert!(average_us > base_us);
}

/// The window after an update, with a backlog that the RTT shows.
fn update(preset_alpha: u32, cwnd: u32, base_us: i32, rtt_us: i32) -> u32 {
    let mut fast = instance("fast", None, &[("m0a", preset_alpha), ("m0u", u32::MAX)]);
    let mut conn = avoiding(cwnd);
    fast.init(&mut conn);
    fast.pkts_acked(&mut conn, &ack(1, base_us));
    for _ in 0..200 * cwnd {
        fast.pkts_acked(&mut conn, &ack(1, rtt_us));
    }
    for round in 1..=2 {
        conn.snd_una = round * 1000;
        conn.snd_nxt = conn.snd_una + 1000;
        fast.cong_avoid(&mut conn, 1);
    }
    conn.cwnd_segs
}

#[test]
fn update_follows_the_printed_law() {
    // (1 - 0.5) w + 0.5 (base / average w + alpha)
    assert_eq!(update(20, 100, 100_000, 125_000), 100);
    assert_eq!(update(100, 100, 100_000, 125_000), 140);
    assert_eq!(update(8, 100, 100_000, 200_000), 79);
    assert_eq!(update(200, 40, 100_000, 125_000), 80, "at most twice the window");
    assert_eq!(update(8, 100, 100_000, 100_700), 149, "no queueing: 1.5 w");
}

#[test]
fn window_is_frozen_between_updates() {
    let mut path = Path::new(80, 250, &[]);
    path.run(20);
    path.other_backlog_segs = 300.0;
    let mut windows = vec![path.conn.cwnd_segs];
    let start_us = path.conn.now_us;
    while path.conn.now_us < start_us + 2_000_000 {
        path.step();
        if windows.last() != Some(&path.conn.cwnd_segs) {
            windows.push(path.conn.cwnd_segs);
        }
    }
    assert!(windows.len() <= 2_000 / 160 + 1, "{windows:?}");
}

#[test]
fn alpha_has_hysteresis() {
    let mut fast = instance("fast", Some("li2007"), &[]);
    let mut conn = Conn { mss_bytes: 1000, ..avoiding(100) };
    fast.init(&mut conn);
    let mut seen = Vec::new();
    for rate_kb_per_s in [1400, 1501, 1300, 1249, 1400, 15_001, 13_000, 12_499, 14_000, 100] {
        for _ in 0..2 {
            conn.now_us += 1_000_000;
            conn.delivered_segs += rate_kb_per_s;
            conn.snd_una = conn.snd_nxt;
            conn.snd_nxt += 1000;
            fast.cong_avoid(&mut conn, 1);
        }
        seen.push(fast.info(&conn)[0]);
    }
    assert_eq!(seen, [8, 20, 20, 8, 8, 200, 200, 20, 20, 8]);
}

#[test]
fn slow_start_lasts_to_ssthresh_unless_it_may_feel_the_queue() {
    let mut felt = Path::new(80, 100, &[("slow_start_exit", 1)]);
    felt.conn.ssthresh_segs = SSTHRESH_INFINITE;
    let pipe_segs = 80_000.0 * felt.segs_per_us;
    while felt.conn.cwnd_segs < felt.conn.ssthresh_segs {
        felt.step();
    }
    let window = f64::from(felt.conn.cwnd_segs);
    assert!((1.0..1.3).contains(&(window / pipe_segs)), "left at {window} of {pipe_segs}");

    let mut blind = Path::new(80, 100, &[]);
    blind.conn.ssthresh_segs = 3 * pipe_segs as u32;
    while blind.conn.cwnd_segs < blind.conn.ssthresh_segs {
        blind.step();
    }
    assert_eq!(blind.conn.cwnd_segs, 3 * pipe_segs as u32);
}

#[test]
fn paces_at_the_window_per_rtt_with_a_margin() {
    let pace = |settings: &[(&str, u32)], ssthresh_segs| {
        let mut conn = Conn { mss_bytes: 1000, srtt_us: 100_000, ssthresh_segs, ..avoiding(100) };
        instance("fast", None, settings).pkts_acked(&mut conn, &ack(1, 100_000));
        conn.pacing_rate_bytes_per_s
    };
    assert_eq!(pace(&[], 100), 1_200_000);
    assert_eq!(pace(&[], 101), 0, "slow start is not paced");
    assert_eq!(pace(&[("pacing_slow_start", 200)], 101), 2_000_000);
    assert_eq!(pace(&[("pacing", 0)], 100), 0);
}

#[test]
fn loss_halves_and_recovery_restarts_the_period() {
    let mut path = Path::new(80, 250, &[]);
    path.run(10);
    let window = path.conn.cwnd_segs;
    assert_eq!(path.fast.ssthresh(&path.conn), window / 2);
    path.conn.state = CaState::Recovery;
    path.fast.set_state(&mut path.conn, CaState::Open);
    path.conn.snd_una = path.conn.snd_nxt - MSS;
    path.fast.cong_avoid(&mut path.conn, 1);
    assert_eq!(path.conn.cwnd_segs, window);
}

#[test]
fn timeout_forgets_the_queue_but_not_the_path() {
    let mut path = Path::new(80, 250, &[]);
    path.run(10);
    let base_us = path.fast.info(&path.conn)[1];
    path.conn.ssthresh_segs = path.fast.ssthresh(&path.conn);
    path.conn.cwnd_segs = 1;
    path.fast.set_state(&mut path.conn, CaState::Loss);
    path.conn.state = CaState::Loss;
    path.fast.pkts_acked(&mut path.conn, &ack(1, -1));
    path.fast.cong_avoid(&mut path.conn, 1);
    assert_eq!(path.conn.cwnd_segs, 2, "slow start, whatever the queue was");
    path.fast.pkts_acked(&mut path.conn, &ack(1, 90_000));
    assert_eq!(path.fast.info(&path.conn)[1..3], [base_us, 90_000]);
}
