//! TCP-NV against Linux.

use crate::{avoiding, grow, instance};
use dumbbell_algorithm::{AckSample, CaState, Conn, Instance, SSTHRESH_INFINITE};

const MSS: u32 = 1448;

/// An ACK whose segment had an RTT of `rtt_us`, during which `segs` were delivered.
fn sample(segs: u32, rtt_us: i32) -> AckSample {
    AckSample { pkts_acked: 1, rtt_us, in_flight_bytes: segs * MSS }
}

fn begin(settings: &[(&str, u32)], cwnd_segs: u32) -> (Instance, Conn) {
    let mut nv = instance("nv", None, settings);
    let mut conn = Conn { mss_bytes: MSS, random: 128, ..avoiding(cwnd_segs) };
    nv.init(&mut conn);
    (nv, conn)
}

/// Take `count` samples. The last one ends a round trip.
fn round(nv: &mut Instance, conn: &mut Conn, sample: AckSample, count: u32) {
    for number in 1..=count {
        if number == count {
            conn.snd_una = conn.snd_nxt.wrapping_add(MSS);
            conn.snd_nxt = conn.snd_una.wrapping_add(conn.cwnd_segs * MSS);
        }
        nv.pkts_acked(conn, &sample);
    }
}

/// An instance whose smallest RTT is 80 us, and that has begun a round trip.
fn with_rtt_min(settings: &[(&str, u32)], cwnd_segs: u32) -> (Instance, Conn) {
    let (mut nv, mut conn) = begin(settings, cwnd_segs);
    // No round trip ends here, as snd_una does not move.
    for _ in 0..2 {
        nv.pkts_acked(&mut conn, &sample(1, 80));
    }
    assert_eq!(nv.info(&conn)[0], 80);
    (nv, conn)
}

#[test]
fn congestion_takes_a_third_of_the_excess() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 100);
    round(&mut nv, &mut conn, sample(100, 100), 30);
    assert_eq!(conn.cwnd_segs, 100, "a second round trip and 60 samples are needed");
    round(&mut nv, &mut conn, sample(100, 100), 30);
    // 100 segments in 100 us: 80 in the smallest RTT, and the pad of 10; max(2, 10 * 38 >> 7)
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (98, 90));
    let [_, _, samples, may_grow] = nv.info(&conn);
    assert_eq!((samples, may_grow), (0, 0));
    assert_eq!(grow(&mut nv, &mut conn, 98, 1), [(98, 0)], "growth has stopped");
}

#[test]
fn a_large_excess_falls_by_its_share_and_a_small_one_at_once() {
    for (cwnd, after) in [(200, 200 - 110 * 38 / 128), (92, 90), (91, 90), (90, 90)] {
        let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], cwnd);
        for _ in 0..2 {
            round(&mut nv, &mut conn, sample(100, 100), 60);
        }
        assert_eq!(conn.cwnd_segs, after);
    }
}

#[test]
fn too_few_samples_decide_nothing_but_stop_growth_in_time() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 100);
    for number in 1..=11 {
        round(&mut nv, &mut conn, sample(100, 100), 5);
        let stopped = number > 10;
        assert_eq!((conn.cwnd_segs, nv.info(&conn)[3] == 0), (100, stopped), "round {number}");
    }
    round(&mut nv, &mut conn, sample(100, 100), 5);
    assert_eq!(conn.cwnd_segs, 98, "60 at last");
}

#[test]
fn the_first_slow_start_ends_on_half_as_many_samples() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 100);
    conn.ssthresh_segs = SSTHRESH_INFINITE;
    for _ in 0..2 {
        round(&mut nv, &mut conn, sample(100, 100), 15);
    }
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (98, 90));
}

#[test]
fn without_congestion_growth_continues() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 88);
    nv.set_state(&mut conn, CaState::Recovery);
    assert_eq!(nv.info(&conn)[3], 0);
    round(&mut nv, &mut conn, sample(100, 100), 17);
    assert_eq!(nv.info(&conn)[3], 0, "19 samples");
    round(&mut nv, &mut conn, sample(100, 100), 1);
    assert_eq!(nv.info(&conn)[3], 1, "20, at most - 2");
    let (mut between, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 89);
    between.set_state(&mut conn, CaState::Recovery);
    round(&mut between, &mut conn, sample(100, 100), 100);
    assert_eq!(between.info(&conn)[3], 0, "neither congestion nor room");
}

#[test]
fn rtts_are_smoothed_by_half_and_the_first_is_doubled() {
    let (mut nv, mut conn) = begin(&[], 10);
    nv.pkts_acked(&mut conn, &sample(1, 100));
    assert_eq!(nv.info(&conn)[..2], [100, 100]);
    nv.pkts_acked(&mut conn, &sample(1, 60));
    assert_eq!(nv.info(&conn)[..2], [80, 80]);
    nv.pkts_acked(&mut conn, &sample(1, 180));
    assert_eq!(nv.info(&conn)[..2], [80, 130]);
    conn.state = CaState::Recovery;
    nv.pkts_acked(&mut conn, &sample(1, 10));
    assert_eq!(nv.info(&conn)[..2], [80, 130], "nothing counts in recovery");
}

#[test]
fn the_base_rtt_bounds_the_smallest() {
    for (base_us, rtt_us, smallest_us) in [(80, 200, 80), (80, 70, 70), (80, 40, 64), (0, 40, 40)] {
        let (mut nv, mut conn) = begin(&[], 10);
        conn.base_rtt_us = base_us;
        nv.pkts_acked(&mut conn, &sample(1, rtt_us));
        assert_eq!(nv.info(&conn)[0], smallest_us as u32, "as TCP-BPF tells");
        let (mut set, mut conn) = begin(&[("base_rtt", base_us)], 10);
        set.pkts_acked(&mut conn, &sample(1, rtt_us));
        assert_eq!(set.info(&conn)[0], smallest_us as u32, "as the parameter tells");
    }
}

#[test]
fn the_smallest_rtt_is_measured_again_now_and_then() {
    let (mut nv, mut conn) = begin(&[("rtt_weight", 256)], 10);
    let mut smallest = |now_ms: u64, rtt_us, random| {
        conn.now_us = now_ms * 1000;
        conn.random = random;
        nv.pkts_acked(&mut conn, &sample(1, rtt_us));
        nv.info(&conn)[0]
    };
    assert_eq!([smallest(0, 50, 0), smallest(1_999, 90, 0)], [50, 50]);
    // The reset is due after 2 s. It takes the smallest RTT since the last reset, this sample
    // included.
    assert_eq!(smallest(2_000, 70, 0), 50);
    // The next reset is 5 s * 384 / 512 later, with 0 drawn; the one after it 5 s * 639 / 512, with
    // 255.
    assert_eq!([smallest(5_749, 80, 255), smallest(5_750, 90, 255)], [50, 80]);
    assert_eq!([smallest(11_989, 85, 0), smallest(11_990, 95, 0)], [80, 85]);
}

#[test]
fn timeouts_slow_growth_and_calm_restores_it() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 50);
    for _ in 0..10 {
        nv.set_state(&mut conn, CaState::Loss);
    }
    round(&mut nv, &mut conn, sample(100, 100), 20);
    assert_eq!(grow(&mut nv, &mut conn, 50 * 256 - 1, 1)[0].0, 50, "2^-8 at least");
    assert_eq!(grow(&mut nv, &mut conn, 1, 1)[0].0, 51);
    for _ in 0..8 {
        round(&mut nv, &mut conn, sample(100, 100), 20);
    }
    assert_eq!(grow(&mut nv, &mut conn, 51 * 128, 1)[0].0, 52, "2^-7 after 8 more rounds");
}

#[test]
fn merged_acks_make_rounds_longer() {
    let (mut nv, mut conn) = begin(&[], 100);
    let end = 100 * MSS;
    conn = Conn { snd_una: 4 * MSS, snd_nxt: end, ..conn };
    nv.pkts_acked(&mut conn, &sample(100, 100));
    assert_eq!(nv.info(&conn)[2], 0, "one sample for four segments is put away");
    // The round is longer by 6 segments, so it ends at 106.
    conn = Conn { snd_una: end + 6 * MSS, snd_nxt: 2 * end, ..conn };
    nv.pkts_acked(&mut conn, &sample(100, 100));
    assert_eq!(nv.info(&conn)[2], 1);
}

#[test]
fn loss_keeps_four_fifths_and_half_before_linux_4_15() {
    let kept = |preset| instance("nv", preset, &[]).ssthresh(&avoiding(1000));
    assert_eq!((kept(None), kept(Some("linux-4.14")), kept(Some("brakmo2017"))), (799, 500, 799));
    assert_eq!(instance("nv", None, &[]).ssthresh(&avoiding(2)), 2);
}

#[test]
fn after_recovery_all_is_measured_again() {
    let (mut nv, mut conn) = with_rtt_min(&[], 100);
    nv.set_state(&mut conn, CaState::Recovery);
    nv.set_state(&mut conn, CaState::Open);
    assert_eq!(nv.info(&conn)[1..], [0, 0, 0]);
    nv.pkts_acked(&mut conn, &sample(1, 500));
    assert_eq!(nv.info(&conn)[0], 500, "the smallest RTT began at twice the first");
}

#[test]
fn grows_by_four_segments_a_window_at_most() {
    let (mut nv, mut conn) = begin(&[], 2);
    assert_eq!(grow(&mut nv, &mut conn, 2, 3), [(2, 2), (3, 0), (3, 2)]);
}

#[test]
fn a_reduction_restarts_the_count_of_calm_rounds() {
    let (mut nv, mut conn) = with_rtt_min(&[("rtt_weight", 256)], 50);
    nv.set_state(&mut conn, CaState::Loss);
    nv.set_state(&mut conn, CaState::Open);
    let calm = |nv: &mut Instance, conn: &mut Conn, rounds| {
        for _ in 0..rounds {
            round(nv, conn, sample(100, 100), 20);
        }
    };
    // After a reset, the first round makes the smallest RTT twice its own (see `nv.c`).
    calm(&mut nv, &mut conn, 8);
    nv.set_state(&mut conn, CaState::Recovery);
    nv.set_state(&mut conn, CaState::Open);
    calm(&mut nv, &mut conn, 8);
    assert_eq!(grow(&mut nv, &mut conn, 99, 1)[0].0, 50, "half as fast as standard TCP");
    calm(&mut nv, &mut conn, 1);
    assert_eq!(grow(&mut nv, &mut conn, 1, 1)[0].0, 51);
    assert_eq!(grow(&mut nv, &mut conn, 50, 1)[0].0, 52, "as fast");
}

#[test]
fn rates_count_in_whole_100_bits_per_second() {
    let (mut nv, mut conn) = begin(&[("rtt_weight", 256), ("pad", 0)], 20);
    for _ in 0..2 {
        nv.pkts_acked(&mut conn, &sample(1, 10_240));
    }
    for _ in 0..2 {
        round(&mut nv, &mut conn, sample(16, 16_384), 60);
    }
    // 16 * 1448 * 80,000 / 16,384 = 113,125. Rounding to bytes per second first would give one less
    // after halving.
    assert_eq!(conn.ssthresh_segs, 10);
}
