//! Compound TCP.

use crate::{ack, avoiding, grow, instance, round_trip};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance};

const BASE_US: i32 = 100_000;

/// An instance that knows the RTT of an empty path.
fn on_path(conn: &mut Conn, settings: &[(&str, u32)]) -> Instance {
    let mut compound = instance("compound", None, settings);
    compound.init(conn);
    compound.pkts_acked(conn, &ack(1, BASE_US));
    // A new round trip begins.
    compound.set_state(conn, CaState::Open);
    compound
}

/// The two parts of the window.
fn parts(compound: &Instance, conn: &Conn) -> (u32, u32) {
    let [cwnd, dwnd, ..] = compound.info(conn);
    assert_eq!(cwnd + dwnd, conn.cwnd_segs);
    (cwnd, dwnd)
}

/// A window of 600 segments of standard TCP and 400 more, then other settings.
fn compounded(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let growing = [("alpha", 1024), ("k", 1024)];
    // The state keeps gamma from the beginning.
    let of_state = settings.iter().copied().filter(|(name, _)| *name == "gamma");
    let mut conn = Conn { cwnd_clamp_segs: 1000, ..avoiding(600) };
    let first: Vec<_> = growing.into_iter().chain(of_state).collect();
    let mut compound = on_path(&mut conn, &first);
    round_trip(&mut compound, &mut conn, BASE_US, 0);
    conn.cwnd_clamp_segs = u32::MAX;
    assert_eq!(parts(&compound, &conn), (600, 400));

    let all = instance("compound", None, &[&growing, settings].concat());
    let values: Vec<u32> = all.parameters().map(|(_, value)| value).collect();
    (Instance::with_state(compound.algorithm(), &values, &compound.state()), conn)
}

#[test]
fn dwnd_grows_by_alpha_times_a_power_of_the_window() {
    let mut conn = avoiding(1000);
    let mut compound = on_path(&mut conn, &[]);
    // 1000^0.75 / 8 - 1 = 21.2, then 1021^0.75 / 8 - 1 = 21.6: 42.8
    for dwnd in [21, 42] {
        round_trip(&mut compound, &mut conn, BASE_US, 0);
        assert_eq!(parts(&compound, &conn), (1000, dwnd));
    }
}

/// Powers are at most 3 / 100000 too small, and never too large.
#[test]
fn powers_are_close() {
    let mut exact = 0;
    for k in [1, 100, 512, 700, 768, 819, 1000, 1023, 1024_u32] {
        for bits in 1..31 {
            for window in [1_u32 << bits, (1 << bits) + 1, 3 << (bits - 1), (2 << bits) - 1] {
                let settings = [("alpha", 1024), ("k", k), ("low_window", 0), ("gamma", 1_000_000)];
                let mut conn = avoiding(window);
                let mut compound = on_path(&mut conn, &settings);
                round_trip(&mut compound, &mut conn, BASE_US, 0);
                let seen = f64::from(conn.cwnd_segs - window) + 1.0;
                let power = f64::from(window).powf(f64::from(k) / 1024.0);
                assert!(seen <= power + 1e-6, "{window}^({k}/1024): {seen} of {power}");
                assert!(seen > power * (1.0 - 3e-5) - 1.0, "{window}^({k}/1024): {seen}");
                exact += u32::from((seen - power).abs() < 1e-9);
            }
        }
    }
    assert_eq!(exact, 30 + 15 + 7, "powers of 2 whose power, by k = 1, 1/2, 3/4, is one");
}

#[test]
fn cwnd_grows_by_a_segment_per_round_trip_of_the_whole() {
    let (mut compound, mut conn) = compounded(&[]);
    assert_eq!(grow(&mut compound, &mut conn, 2, 499).pop(), Some((1000, 998)));
    assert_eq!(grow(&mut compound, &mut conn, 2, 1).pop(), Some((1001, 0)));
    assert_eq!(parts(&compound, &conn), (601, 400));
}

#[test]
fn dwnd_gives_way_to_a_backlog_of_gamma() {
    for (settings, rtt_us, left) in [
        (vec![], 103_050, 400), // 29 segments: it grows, but there is no room
        (vec![], 103_150, 370),
        (vec![("eta", 2048)], 103_150, 340),
        (vec![("gamma", 10)], 101_050, 390),
        (vec![], 200_000, 0),
    ] {
        let (mut compound, mut conn) = compounded(&settings);
        conn.cwnd_clamp_segs = 1000;
        round_trip(&mut compound, &mut conn, rtt_us, 0);
        assert_eq!(parts(&compound, &conn), (600, left), "{settings:?}, RTT {rtt_us} us");
    }
}

#[test]
fn what_is_given_up_is_not_regained_in_slow_start() {
    let (mut compound, mut conn) = compounded(&[]);
    conn.ssthresh_segs = 900;
    round_trip(&mut compound, &mut conn, 200_000, 0);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (600, 600));
    assert_eq!(grow(&mut compound, &mut conn, 100, 1).pop(), Some((600, 100)));
}

/// A window of 500 is 300 of cwnd and 200 of dwnd.
#[test]
fn loss_halves_the_whole() {
    let (mut compound, mut conn) = compounded(&[]);
    assert_eq!(compound.ssthresh(&conn), 500);
    conn.cwnd_segs = 500;
    assert_eq!(parts(&compound, &conn), (300, 200));
    let (mut compound, mut conn) = compounded(&[("beta", 256)]);
    assert_eq!(compound.ssthresh(&conn), 750);
    conn.cwnd_segs = 750;
    assert_eq!(parts(&compound, &conn), (300, 450));
    let mut conn = avoiding(101);
    let mut alone = on_path(&mut conn, &[]);
    assert_eq!(alone.ssthresh(&conn), 50, "without dwnd it is standard TCP");
    conn.cwnd_segs = 3;
    assert_eq!(alone.ssthresh(&conn), 2);
}

#[test]
fn recovery_moves_the_window_but_not_dwnd() {
    let (mut compound, mut conn) = compounded(&[]);
    conn.ssthresh_segs = compound.ssthresh(&conn);
    compound.set_state(&mut conn, CaState::Recovery);
    conn.state = CaState::Recovery;
    for cwnd_segs in [700, 100, 500] {
        conn.cwnd_segs = cwnd_segs;
        compound.pkts_acked(&mut conn, &ack(1, 300_000));
        assert_eq!(compound.info(&conn)[1], cwnd_segs.min(200));
    }
    compound.cwnd_event(&mut conn, CwndEvent::CompleteCwr);
    compound.set_state(&mut conn, CaState::Open);
    assert_eq!(parts(&compound, &conn), (300, 200));
}

#[test]
fn a_timeout_leaves_no_dwnd_and_undo_brings_it_back() {
    let (mut compound, mut conn) = compounded(&[]);
    conn.prior_cwnd_segs = 1000;
    conn.ssthresh_segs = compound.ssthresh(&conn);
    compound.set_state(&mut conn, CaState::Loss);
    conn.cwnd_segs = 1;
    assert_eq!(parts(&compound, &conn), (1, 0));
    conn.cwnd_segs = compound.undo_cwnd(&conn);
    assert_eq!(parts(&compound, &conn), (600, 400));
}

#[test]
fn slow_start_is_the_stack_s_and_leaves_dwnd_alone() {
    let mut conn = Conn { ssthresh_segs: 2000, ..avoiding(1000) };
    let mut compound = on_path(&mut conn, &[]);
    round_trip(&mut compound, &mut conn, BASE_US, 100);
    assert_eq!(parts(&compound, &conn), (1100, 0));
}

#[test]
fn below_the_low_window_it_is_standard_tcp() {
    for (window, dwnd) in [(40, 0), (41, 1)] {
        let mut conn = avoiding(window);
        let mut compound = on_path(&mut conn, &[]);
        round_trip(&mut compound, &mut conn, BASE_US, 0);
        assert_eq!(parts(&compound, &conn), (window, dwnd));
    }
    let (mut compound, mut conn) = compounded(&[("low_window", 1001)]);
    round_trip(&mut compound, &mut conn, 300_000, 0);
    assert_eq!(parts(&compound, &conn), (1000, 0), "dwnd becomes cwnd");
}

#[test]
fn a_round_trip_with_two_samples_or_unused_window_moves_nothing() {
    let (mut compound, mut conn) = compounded(&[]);
    for _ in 0..2 {
        compound.pkts_acked(&mut conn, &ack(1, 300_000));
    }
    conn.snd_una = conn.snd_nxt + 1;
    compound.cong_avoid(&mut conn, 0);
    assert_eq!(parts(&compound, &conn), (600, 400));
    conn.cwnd_limited = 0;
    round_trip(&mut compound, &mut conn, BASE_US, 500);
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (1000, 0));
}

#[test]
fn growth_may_be_spread_over_a_round_trip() {
    let mut conn = avoiding(1000);
    let mut compound = on_path(&mut conn, &[("spread_growth", 1)]);
    round_trip(&mut compound, &mut conn, BASE_US, 0);
    assert_eq!(parts(&compound, &conn), (1000, 0));
    grow(&mut compound, &mut conn, 1, 500);
    assert_eq!(parts(&compound, &conn).1, 10, "half of 21.2");
    grow(&mut compound, &mut conn, 1, 500);
    assert_eq!(parts(&compound, &conn).1, 21);
    round_trip(&mut compound, &mut conn, 200_000, 0);
    grow(&mut compound, &mut conn, 1, 500);
    assert_eq!(parts(&compound, &conn).1, 0, "what it loses, it loses at once");
}

#[test]
fn idle_may_leave_less_than_dwnd() {
    let (mut compound, mut conn) = compounded(&[]);
    conn.cwnd_segs = 10;
    assert_eq!(parts(&compound, &conn), (0, 10));
    assert_eq!(compound.ssthresh(&conn), 5);
    let (mut compound, mut conn) = compounded(&[]);
    conn.cwnd_segs = 100;
    round_trip(&mut compound, &mut conn, BASE_US, 0);
    assert_eq!(conn.cwnd_segs, 198, "100 and 99.99 less 1: what is gone does not come back");
    compound.cwnd_event(&mut conn, CwndEvent::TxStart);
    assert_eq!(compound.info(&conn)[3], BASE_US as u32 + 1, "the path is remembered");
}

/// gamma = 3/4 gamma + 1/4 (3/4 backlog of cwnd), in segments.
#[test]
fn gamma_follows_the_backlog_of_standard_tcp_with_the_switch() {
    let tuned = |settings: &[(&str, u32)], rtt_us| {
        let settings: Vec<_> = [&[("gamma_tuning", 1)], settings].concat();
        let mut conn = avoiding(1000);
        let mut compound = on_path(&mut conn, &settings);
        round_trip(&mut compound, &mut conn, rtt_us, 0);
        compound.ssthresh(&conn);
        let once = compound.info(&conn)[2];
        compound.ssthresh(&conn);
        assert_eq!(compound.info(&conn)[2], once, "a backlog counts once");
        compound.set_state(&mut conn, CaState::Loss);
        assert_eq!(compound.info(&conn)[2], 30 * 1024);
        f64::from(once) / 1024.0
    };
    // 1 - 100 / 102.05 of 1000: 20 segments
    assert_eq!(tuned(&[], 102_050), 0.75 * 30.0 + 0.25 * 0.75 * 20.0);
    assert_eq!(tuned(&[("gamma_gain", 512), ("gamma_share", 1024)], 102_050), 25.0);
    assert_eq!(tuned(&[], 200_000), 30.0, "at most gamma_high");
    assert_eq!(tuned(&[("gamma_gain", 1024)], BASE_US), 5.0, "at least gamma_low");
    assert_eq!(tuned(&[("gamma_tuning", 0)], 102_050), 30.0);
}

#[test]
fn growth_as_misprinted_never_begins() {
    let mut conn = avoiding(1000);
    let mut compound = on_path(&mut conn, &[("literal_growth", 1)]);
    for _ in 0..10 {
        round_trip(&mut compound, &mut conn, BASE_US, 0);
    }
    assert_eq!(parts(&compound, &conn), (1000, 0));
    let (mut compound, mut conn) = compounded(&[("literal_growth", 1)]);
    round_trip(&mut compound, &mut conn, BASE_US, 0);
    assert_eq!(parts(&compound, &conn), (600, 798), "400 and 399.99 less 1, with k = 1");
}

#[test]
fn cut_as_misprinted_takes_more_of_dwnd() {
    let (mut compound, conn) = compounded(&[("literal_cut", 1)]);
    assert_eq!(compound.ssthresh(&conn), 300, "400 / 2 - 600 / 2 is below 0");
    let (mut compound, conn) = compounded(&[("literal_reno", 1)]);
    assert_eq!(compound.ssthresh(&conn), 600 + 200);
    let (mut compound, conn) = compounded(&[("literal_reno", 1), ("literal_cut", 1)]);
    assert_eq!(compound.ssthresh(&conn), 600);
}

#[test]
fn backlog_as_misprinted_is_a_rate() {
    // 600 (1 - 100 / 100.5) / 0.1 s = 20 of 30 segments per second; 100.8: 40
    for (srtt_us, dwnd) in [(100_500, 400), (100_800, 360)] {
        let (mut compound, mut conn) = compounded(&[("literal_diff", 1)]);
        conn.cwnd_clamp_segs = 1000;
        round_trip(&mut compound, &mut conn, srtt_us, 0);
        assert!(parts(&compound, &conn).1.abs_diff(dwnd) <= 10, "{:?}", parts(&compound, &conn));
    }
}

#[test]
fn the_study_s_preset_is_the_module_of_its_time() {
    let compound = instance("compound", Some("kumazoe2012"), &[]);
    let values: std::collections::BTreeMap<_, _> = compound.parameters().collect();
    assert_eq!((values["low_window"], values["spread_growth"]), (38, 1));
    assert_eq!((values["alpha"], values["beta"], values["k"]), (128, 512, 768));
}
