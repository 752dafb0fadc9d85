//! HighSpeed TCP: the rows of RFC 3649 and of the drafts before it.

use crate::{avoiding, grow, instance};
use dumbbell_algorithm::Instance;

/// Windows at which a row ends, from RFC 3649 appendix B and Linux.
const RFC_WINDOWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778,
    4177, 4596, 5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082,
    12834, 13614, 14424, 15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402,
    25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694,
    46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517, 84035,
    89053,
];
/// Cut of each row, in 1/256.
const RFC_CUTS: [u32; 72] = [
    128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74, 72, 71, 69, 68, 66, 65, 64, 62, 61, 60, 59,
    58, 57, 56, 55, 54, 53, 52, 52, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44, 43, 43, 42, 41, 41, 40,
    39, 39, 38, 38, 37, 36, 36, 35, 35, 34, 33, 33, 32, 32, 31, 30, 30, 29, 28, 28, 27, 26, 26, 25,
    24,
];

/// Increase per round trip and cut in 1/256 of the algorithm at a window.
fn row_at(highspeed: &mut Instance, cwnd: u32) -> (u32, u32) {
    let conn = &mut avoiding(cwnd);
    highspeed.cong_avoid(conn, 0);
    let conn = avoiding(256_000);
    (highspeed.info(&conn)[0] / 1000, (256_000 - highspeed.ssthresh(&conn)) / 1000)
}

/// Rows computed by the rule in `highspeed.c`: (window, increase, cut in 1/256).
fn computed_rows(low_window: u32, loss_rate: impl Fn(f64) -> f64) -> Vec<(u32, u32, u32)> {
    let (low, high) = (f64::from(low_window), 83_000_f64);
    let mut rows = vec![(low_window, 1, 128)];
    let mut increase_before = 1.0;
    for window in low_window + 1..100_000 {
        let w = f64::from(window);
        let cut = 0.5 - 0.4 * (w / low).ln() / (high / low).ln();
        let increase = 2.0 * w * w * loss_rate(w) * cut / (2.0 - cut);
        if increase > increase_before + 1.0 {
            rows.push((window, increase as u32, (256.0 * cut) as u32));
            increase_before = increase;
        }
    }
    rows.truncate(72);
    rows
}

fn assert_rows(highspeed: &mut Instance, rows: &[(u32, u32, u32)]) {
    for (index, (window, increase, cut)) in rows.iter().enumerate() {
        assert_eq!(row_at(highspeed, *window), (*increase, *cut), "at {window} segments");
        if let Some((_, next_increase, next_cut)) = rows.get(index + 1) {
            let beyond = window + 1;
            assert_eq!(row_at(highspeed, beyond), (*next_increase, *next_cut), "at {beyond}");
        }
    }
}

#[test]
fn rows_are_those_of_the_rfc() {
    let rows: Vec<_> =
        (1..).zip(RFC_WINDOWS).zip(RFC_CUTS).map(|((a, window), cut)| (window, a, cut)).collect();
    assert_eq!(rows, computed_rows(38, |w| 1.0 / (12.8 * w.powf(1.2))));
    assert_rows(&mut instance("highspeed", None, &[]), &rows);
}

#[test]
fn rows_for_a_low_window_of_31_follow_the_same_rule() {
    let exponent = (1.5e-3_f64 / 1e-7).ln() / (83_000_f64 / 31.0).ln();
    let rows = computed_rows(31, |w| 1.5e-3 * (w / 31.0).powf(-exponent));
    assert_rows(&mut instance("highspeed", Some("li2007"), &[]), &rows);
}

/// The draft's response function, w = 0.15 / p^0.82, belongs to the low window 31.
#[test]
fn response_function_for_a_low_window_of_31_is_that_of_the_drafts() {
    let exponent = (83_000_f64 / 31.0).ln() / (1.5e-3_f64 / 1e-7).ln();
    assert_eq!((exponent * 100.0).round(), 82.0);
    assert_eq!((31.0 * 1.5e-3_f64.powf(exponent) * 100.0).round(), 15.0);
}

#[test]
fn cuts_by_its_row() {
    for (cwnd, expected) in [(38, 19), (39, 22), (1000, 676)] {
        let mut highspeed = instance("highspeed", None, &[]);
        highspeed.cong_avoid(&mut avoiding(cwnd), 0);
        assert_eq!(highspeed.ssthresh(&avoiding(cwnd)), expected, "from {cwnd} segments");
    }
}

#[test]
fn halves_when_congested_in_slow_start() {
    assert_eq!(instance("highspeed", None, &[]).ssthresh(&avoiding(10_000)), 5_000);
}

#[test]
fn counts_acks_in_linux_and_segments_in_the_study() {
    let mut linux = avoiding(1_000);
    grow(&mut instance("highspeed", None, &[]), &mut linux, 2, 501);
    assert_eq!(linux.cwnd_segs, 1_004, "a(1000) = 8, half of it with delayed ACKs");
    let mut study = avoiding(1_000);
    grow(&mut instance("highspeed", Some("li2007"), &[]), &mut study, 2, 500);
    assert_eq!(study.cwnd_segs, 1_008, "a(1000) = 9 for 1000 segments, window growing");
}

#[test]
fn clamps_the_window_as_linux_does() {
    let mut conn = avoiding(10);
    instance("highspeed", None, &[]).init(&mut conn);
    assert_eq!(conn.cwnd_clamp_segs, u32::MAX / 128);
}
