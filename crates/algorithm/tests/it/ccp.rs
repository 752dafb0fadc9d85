//! CCP: its law, its estimates and its equilibrium.

use crate::{ack, avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance, SSTHRESH_INFINITE, STACK_SLOW_START_INCLUSIVE};
use std::collections::VecDeque;

const MSS: u32 = 1448;

/// One flow through one bottleneck with an endless queue. Each segment gets an ACK.
pub struct Loop {
    pub flow: Instance,
    pub conn: Conn,
    service_us: f64,
    rtt_us: f64,
    free_at_us: f64,
    under_way: VecDeque<(f64, f64)>,
}

impl Loop {
    /// A path with a pipe of `pipe_segs` and an RTT of 50 ms.
    pub fn new(flow: Instance, pipe_segs: u32) -> Self {
        let rtt_us = 50_000.0;
        let mut path = Self {
            flow,
            conn: Conn { mss_bytes: MSS, ssthresh_segs: 50, ..Conn::default() },
            service_us: rtt_us / f64::from(pipe_segs),
            rtt_us,
            free_at_us: 0.0,
            under_way: VecDeque::new(),
        };
        path.flow.init(&mut path.conn);
        path.send(0.0);
        path
    }

    /// Send until the window is full.
    fn send(&mut self, now_us: f64) {
        while self.conn.in_flight_segs < self.conn.cwnd_segs {
            self.free_at_us = self.free_at_us.max(now_us) + self.service_us;
            let heard_us = self.free_at_us - self.service_us + self.rtt_us;
            self.under_way.push_back((heard_us, now_us));
            self.conn.in_flight_segs += 1;
            self.conn.snd_nxt = self.conn.snd_nxt.wrapping_add(MSS);
        }
    }

    /// Note one ACK.
    fn step(&mut self) {
        let (heard_us, sent_us) = self.under_way.pop_front().expect("a window of two or more");
        self.conn.now_us = heard_us as u64;
        self.conn.in_flight_segs -= 1;
        self.conn.delivered_segs += 1;
        self.conn.snd_una = self.conn.snd_una.wrapping_add(MSS);
        self.flow.pkts_acked(&mut self.conn, &ack(1, (heard_us - sent_us) as i32));
        self.flow.cong_avoid(&mut self.conn, 1);
        self.send(heard_us);
    }

    /// Return the smallest and the largest number of segments in flight in `ms`.
    pub fn run(&mut self, ms: u64) -> (u32, u32) {
        let end_us = self.conn.now_us + ms * 1000;
        let mut seen = (u32::MAX, 0);
        while self.conn.now_us < end_us {
            self.step();
            let in_flight = self.conn.in_flight_segs;
            seen = (seen.0.min(in_flight), seen.1.max(in_flight));
        }
        seen
    }
}

/// A connection with known capacity and storage. Its RTTs are 100 ms and then `rtt_ms`.
fn informed(settings: &[(&str, u32)], rtt_ms: i32) -> (Instance, Conn) {
    let known = [("capacity_segs_per_s", 1000), ("buffer_segs", 400), ("burst", 1_000_000)];
    let all: Vec<_> = known.into_iter().chain(settings.iter().copied()).collect();
    let mut ccp = instance("ccp", None, &all);
    let mut conn = Conn { in_flight_segs: 90, ..avoiding(100) };
    ccp.init(&mut conn);
    ccp.pkts_acked(&mut conn, &ack(1, 100_000));
    // Each ACK moves the mean by all data in flight.
    ccp.pkts_acked(&mut conn, &ack(90, rtt_ms * 1000));
    (ccp, conn)
}

fn law(settings: &[(&str, u32)], rtt_ms: i32) -> u32 {
    let (mut ccp, mut conn) = informed(settings, rtt_ms);
    ccp.cong_avoid(&mut conn, 1);
    conn.cwnd_segs
}

#[test]
fn before_each_segment_the_law_is_a_third_of_what_is_free() {
    // B = 400, x = 1000/s of 50 ms
    for (kp, window) in [(1, 350 / 3), (2, 700 / 3), (4, 1400 / 3)] {
        assert_eq!(law(&[("kp", kp)], 150), window, "CCP({kp})");
    }
    assert_eq!(law(&[("kp", 4)], 100), 1600 / 3, "no backlog");
    assert_eq!(law(&[("kp", 4)], 900), 2, "twice as much backlog as there is room");
    assert_eq!(law(&[("kp", 4), ("window_min", 7)], 900), 7);
    assert_eq!(law(&[("kp", 0)], 100), 2);
}

#[test]
fn to_the_letter_it_subtracts_what_is_in_flight_and_halves() {
    for (kp, window) in [(1, (350 - 90) / 2), (2, (700 - 90) / 2), (4, (1400 - 90) / 2)] {
        assert_eq!(law(&[("kp", kp), ("evaluation", 1)], 150), window, "CCP({kp})");
    }
    let (mut ccp, mut conn) = informed(&[("evaluation", 1), ("kp", 1)], 150);
    conn.in_flight_segs = 350;
    ccp.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 2, "nothing is left");
}

#[test]
fn what_is_in_flight_may_be_added_to_what_the_law_gives() {
    for (kp, free) in [(1, 350), (2, 700), (4, 1400)] {
        let window =
            |evaluation| law(&[("kp", kp), ("beyond_flight", 1), ("evaluation", evaluation)], 150);
        assert_eq!(window(0), free, "CCP({kp}) before each segment");
        assert_eq!(window(1), (free + 90) / 2, "CCP({kp}) to the letter");
    }
}

#[test]
fn once_per_round_trip_its_window_stays_until_the_next() {
    let (mut ccp, mut conn) = informed(&[("evaluation", 2), ("kp", 1)], 150);
    conn.snd_nxt = conn.snd_una.wrapping_add(90 * MSS);
    let mut windows = Vec::new();
    for in_flight_segs in [90, 80, 70, 60] {
        conn.in_flight_segs = in_flight_segs;
        ccp.cong_avoid(&mut conn, 1);
        windows.push(conn.cwnd_segs);
        conn.snd_una = conn.snd_una.wrapping_add(30 * MSS);
    }
    assert_eq!(windows, [130, 130, 130, (350 - 60) / 2], "90 segments are a round trip");
}

#[test]
fn the_storage_may_be_that_of_the_queue_alone() {
    let storage = |settings: &[(&str, u32)]| {
        let known = [("capacity_segs_per_s", 1000), ("storage", 1)];
        let all: Vec<_> = known.into_iter().chain(settings.iter().copied()).collect();
        let mut ccp = instance("ccp", None, &all);
        let mut conn = avoiding(100);
        ccp.init(&mut conn);
        let before = ccp.info(&conn)[1];
        for rtt_ms in [100, 130, 130] {
            ccp.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
        }
        let guessed = ccp.info(&conn)[1];
        ccp.set_state(&mut conn, CaState::Recovery);
        (before, guessed, ccp.info(&conn)[1])
    };
    assert_eq!(storage(&[]), (0, 100, 30));
    assert_eq!(storage(&[("rtt_max_guess", 300)]), (0, 200, 30));
    assert_eq!(storage(&[("buffer_segs", 77)]), (77, 77, 77));
}

#[test]
fn both_forms_agree_on_the_window_that_is_in_flight() {
    let (mut ccp, mut conn) = informed(&[("evaluation", 1)], 150);
    conn.in_flight_segs = law(&[], 150);
    ccp.cong_avoid(&mut conn, 1);
    assert!(conn.cwnd_segs.abs_diff(conn.in_flight_segs) <= 1, "{conn:?}");
}

#[test]
fn an_ack_lets_a_few_segments_go_at_most() {
    let window = |burst, acked| {
        let (mut ccp, mut conn) = informed(&[("burst", burst)], 100);
        ccp.cong_avoid(&mut conn, acked);
        conn.cwnd_segs
    };
    assert_eq!(window(8, 1), 90 + 8);
    assert_eq!(window(8, 4), 90 + 8);
    assert_eq!(window(8, 40), 90 + 80, "an ACK for many may double them");
    assert_eq!(window(1, 1), 90 + 2);
}

#[test]
fn the_window_never_exceeds_the_clamp() {
    let (mut ccp, mut conn) = informed(&[], 100);
    conn.cwnd_clamp_segs = 120;
    ccp.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 120);
}

#[test]
fn the_backlog_is_smoothed_by_the_part_of_the_window_that_is_acknowledged() {
    let backlogs = |filter| {
        let (mut ccp, mut conn) = informed(&[("filter", filter)], 100);
        [9, 9, 90].map(|acked| {
            ccp.pkts_acked(&mut conn, &ack(acked, 200_000));
            ccp.info(&conn)[2]
        })
    };
    assert_eq!(backlogs(0), [100, 100, 100]);
    // A tenth of the rest each time, and then all of it.
    let [first, second, last] = backlogs(1);
    assert!(first.abs_diff(10) <= 1 && second.abs_diff(19) <= 1 && last.abs_diff(100) <= 1);
}

/// Capacity after ACKs of (milliseconds, segments, RTT in milliseconds).
fn capacity(settings: &[(&str, u32)], acks: &[(u64, u32, i32)]) -> u32 {
    let mut ccp = instance("ccp", None, settings);
    let mut conn = avoiding(100);
    ccp.init(&mut conn);
    for &(ms, segs, rtt_ms) in acks {
        conn.now_us = ms * 1000;
        ccp.pkts_acked(&mut conn, &ack(segs, rtt_ms * 1000));
    }
    ccp.info(&conn)[0]
}

#[test]
fn a_train_is_of_segments_that_waited_for_one_another() {
    // Ten segments sent together, two per ACK and ACKs 4 ms apart: 500 per second.
    let together = [(100, 2, 100), (104, 2, 104), (108, 2, 108), (112, 2, 112), (116, 2, 116)];
    assert_eq!(capacity(&[], &together), 500);
    // Segments sent 4 ms apart that never waited measure no capacity.
    let spaced = together.map(|(ms, segs, _)| (ms, segs, 100));
    assert_eq!(capacity(&[], &spaced), 0);
    assert_eq!(capacity(&[("capacity", 1)], &spaced), 500, "a rate is a rate");
    // Segments sent 4 ms apart into a queue of 20 ms measure it.
    let queued = together.map(|(ms, segs, _)| (ms, segs, 120));
    let first = [(96, 1, 100)];
    let acks: Vec<_> = first.into_iter().chain(queued).collect();
    assert_eq!(capacity(&[], &acks), 500);
}

/// Such an ACK is 40 ms late, and so is its RTT, as if its segment had waited in a queue.
#[test]
fn an_ack_that_the_receiver_delayed_is_no_part_of_a_train() {
    // Nine segments far apart, the last of them alone behind the eighth.
    let acks = [(100, 2, 100), (110, 2, 100), (120, 2, 100), (130, 2, 100), (170, 1, 140)];
    assert_eq!(capacity(&[("train_segs", 1)], &acks), 0);
    // A train does not begin there either.
    let next: Vec<_> = acks.into_iter().chain([(171, 2, 110)]).collect();
    assert_eq!(capacity(&[("train_segs", 1)], &next), 0);
    // Receivers that acknowledge each segment do not wait.
    let single = [(100, 1, 100), (110, 1, 110)];
    assert_eq!(capacity(&[("train_segs", 1)], &single), 100);
}

#[test]
fn the_train_of_the_smallest_delays_counts_or_the_fastest() {
    // 100 per second with delays of 100 ms, then 200 per second with a queue.
    let pairs = [(100, 1, 100), (110, 1, 110), (200, 1, 150), (205, 1, 155)];
    assert_eq!(capacity(&[("train_segs", 1)], &pairs), 100);
    assert_eq!(capacity(&[("train_segs", 1), ("capacity", 1)], &pairs), 200);
}

#[test]
fn an_estimate_gives_way_to_a_newer_one() {
    let after = |rounds: u32, window: u32| {
        let mut ccp = instance("ccp", None, &[("train_segs", 1), ("capacity_window", window)]);
        let mut conn = avoiding(100);
        ccp.init(&mut conn);
        for round in 0..rounds {
            // From the third round on, half the rate with a queue.
            let (gap_ms, queue_ms) = if round < 2 { (10, 0) } else { (20, 50) };
            for number in 0..3_u64 {
                conn.now_us = u64::from(round) * 1_000_000 + number * gap_ms * 1000;
                conn.snd_una = conn.snd_nxt;
                conn.snd_nxt += 1000;
                let rtt_ms = 100 + queue_ms + number * gap_ms;
                ccp.pkts_acked(&mut conn, &ack(1, rtt_ms as i32 * 1000));
            }
        }
        ccp.info(&conn)[0]
    };
    // Three ACKs a round, so three round trips a round.
    assert_eq!(after(4, 6), 100);
    assert_eq!(after(6, 6), 50);
    assert_eq!(after(6, 0), 100, "kept for ever");
}

#[test]
fn a_single_long_rtt_is_a_delayed_ack() {
    let mut ccp = instance("ccp", None, &[("capacity_segs_per_s", 1000)]);
    let mut conn = avoiding(100);
    ccp.init(&mut conn);
    for (rtt_ms, largest_ms) in [(100, 0), (140, 100), (105, 105), (120, 105), (130, 120)] {
        ccp.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
        assert_eq!(ccp.info(&conn)[3], largest_ms * 1000, "{rtt_ms} ms");
    }
    ccp.pkts_acked(&mut conn, &ack(1, -1));
    ccp.pkts_acked(&mut conn, &ack(1, 900_000));
    assert_eq!(ccp.info(&conn)[3], 120_000, "nothing is known of the one before");
}

#[test]
fn before_the_first_loss_the_queue_is_guessed() {
    let storage = |settings: &[(&str, u32)], congested: bool| {
        let known: Vec<_> =
            [("capacity_segs_per_s", 1000)].into_iter().chain(settings.iter().copied()).collect();
        let mut ccp = instance("ccp", None, &known);
        let mut conn = avoiding(100);
        ccp.init(&mut conn);
        for rtt_ms in [100, 130, 130] {
            ccp.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
        }
        if congested {
            ccp.set_state(&mut conn, CaState::Recovery);
        }
        ccp.info(&conn)[1]
    };
    assert_eq!(storage(&[], false), 200, "twice the smallest RTT");
    assert_eq!(storage(&[], true), 130, "the largest RTT");
    assert_eq!(storage(&[("rtt_max_guess", 300)], false), 300);
    assert_eq!(storage(&[("buffer_segs", 77)], false), 77);
    assert_eq!(storage(&[("buffer_segs", 77)], true), 77);
}

#[test]
fn rests_at_the_computed_window() {
    // D = 200: a queue of D, of 2 D and of D / 5, as B = 400, 600, 240.
    for (kp, storage, window) in [
        (1, 400, 133), // not full: Kp B / 3
        (2, 400, 240), // full: Kp (B + D) / (3 + Kp)
        (4, 400, 342),
        (2, 600, 320),
        (4, 600, 457),
        (1, 240, 80),
        (2, 240, 160),
    ] {
        let ccp = instance("ccp", None, &[("kp", kp), ("buffer_segs", storage)]);
        let mut path = Loop::new(ccp, 200);
        path.run(5_000);
        let (low, high) = path.run(2_000);
        assert!(
            low.abs_diff(window) <= 3 && high.abs_diff(window) <= 3,
            "CCP({kp}), B = {storage}: {low} to {high}, not {window}"
        );
        let capacity = path.flow.info(&path.conn)[0];
        assert!(capacity.abs_diff(4_000) <= 40, "{capacity} segments/s");
    }
}

/// x = (B - D) / 2: half of the queue, if the law counts beyond data in flight.
#[test]
fn ccp_1_rests_at_half_of_the_queue_if_the_law_counts_beyond_what_is_in_flight() {
    for storage in [240, 400, 600] {
        let settings = [("kp", 1), ("buffer_segs", storage), ("beyond_flight", 1)];
        let mut path = Loop::new(instance("ccp", None, &settings), 200);
        path.run(20_000);
        let (low, high) = path.run(2_000);
        let window = u32::midpoint(200, storage);
        assert!(low.abs_diff(window) <= 3 && high.abs_diff(window) <= 3, "{low} to {high}");
    }
}

/// The loop gain is -Kp / 3.
#[test]
fn ccp_4_swings_unless_the_backlog_is_smoothed() {
    let swing = |kp, filter| {
        let settings = [("kp", kp), ("buffer_segs", 600), ("filter", filter)];
        let mut path = Loop::new(instance("ccp", None, &settings), 200);
        path.run(10_000);
        let (low, high) = path.run(2_000);
        high - low
    };
    assert!(swing(4, 0) > 200 && swing(4, 1) < 5);
    assert!(swing(2, 0) < 5, "-2/3 is damped by itself");
}

#[test]
fn slow_start_lasts_to_ssthresh_and_does_not_come_back() {
    let (mut ccp, mut conn) = informed(&[("kp", 1)], 150);
    conn.ssthresh_segs = SSTHRESH_INFINITE;
    ccp.cong_avoid(&mut conn, 3);
    assert_eq!(conn.cwnd_segs, 103);
    conn.cwnd_limited = 0;
    ccp.cong_avoid(&mut conn, 3);
    assert_eq!(conn.cwnd_segs, 103, "growth is earned");
    for stack in [0, STACK_SLOW_START_INCLUSIVE] {
        let (mut ccp, mut conn) = informed(&[("kp", 1)], 150);
        conn = Conn { stack, cwnd_segs: 300, ssthresh_segs: 299, ..conn };
        for _ in 0..3 {
            ccp.cong_avoid(&mut conn, 1);
            assert_eq!(conn.cwnd_segs, 350 / 3, "the law holds below the old ssthresh");
        }
    }
}

#[test]
fn loss_freezes_the_window_and_a_timeout_halves_ssthresh() {
    let (mut ccp, mut conn) = informed(&[], 150);
    assert_eq!(ccp.ssthresh(&conn), 100);
    conn.ssthresh_segs = 100;
    ccp.set_state(&mut conn, CaState::Recovery);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (100, 100));
    conn = Conn { state: CaState::Recovery, prior_cwnd_segs: 100, cwnd_segs: 1, ..conn };
    ccp.set_state(&mut conn, CaState::Loss);
    assert_eq!(conn.ssthresh_segs, 50);
    assert_eq!(ccp.undo_cwnd(&conn), 100);
    conn.state = CaState::Loss;
    ccp.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 2, "slow start");
}

#[test]
fn loss_in_slow_start_hands_over_to_the_law() {
    let falls_to = |settings: &[(&str, u32)]| {
        let (mut ccp, mut conn) = informed(settings, 150);
        conn.cwnd_segs = 2000;
        ccp.ssthresh(&conn)
    };
    assert_eq!(falls_to(&[]), 1400 / 3);
    assert_eq!(falls_to(&[("evaluation", 1)]), 1400 / 3, "its fixed point");
    assert_eq!(falls_to(&[("kp", 0)]), 2);
    assert_eq!(falls_to(&[("beyond_flight", 1)]), 1400);
    assert_eq!(falls_to(&[("freeze", 1)]), 2000, "to the letter");
    assert_eq!(instance("ccp", None, &[]).ssthresh(&avoiding(2000)), 1000, "nothing is known");
}

#[test]
fn until_the_capacity_is_known_growth_is_standard_tcp_s() {
    let mut ccp = instance("ccp", None, &[]);
    let mut conn = avoiding(10);
    ccp.init(&mut conn);
    for _ in 0..10 {
        ccp.cong_avoid(&mut conn, 1);
    }
    assert_eq!(conn.cwnd_segs, 11);
}

#[test]
fn the_study_s_presets_are_its_gains() {
    for (preset, kp) in
        [("kumazoe2012", 4), ("kumazoe2012-kp1", 1), ("kumazoe2012-kp2", 2), ("kumazoe2012-kp4", 4)]
    {
        let (_, set) = instance("ccp", Some(preset), &[]).parameters().next().expect("kp");
        assert_eq!(set, kp, "{preset}");
    }
}
