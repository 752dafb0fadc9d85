//! Scalable TCP.

use crate::{avoiding, grow, instance};

#[test]
fn adds_one_segment_per_hundred() {
    let mut conn = avoiding(200);
    grow(&mut instance("scalable", None, &[]), &mut conn, 2, 100);
    assert_eq!(conn.cwnd_segs, 202);
}

#[test]
fn grows_like_standard_tcp_below_its_low_window() {
    let mut scalable = avoiding(50);
    let mut reno = avoiding(50);
    assert_eq!(
        grow(&mut instance("scalable", None, &[]), &mut scalable, 2, 500),
        grow(&mut instance("reno", None, &[]), &mut reno, 2, 500)
    );
}

#[test]
fn cuts_by_an_eighth_at_any_window() {
    let mut scalable = instance("scalable", None, &[]);
    for (cwnd, expected) in [(200, 175), (1000, 875), (10, 9), (2, 2)] {
        assert_eq!(scalable.ssthresh(&avoiding(cwnd)), expected);
    }
}

#[test]
fn of_the_study_halves_and_adds_one_below_sixteen() {
    let mut scalable = instance("scalable", Some("li2007"), &[]);
    for (cwnd, expected) in [(10, 5), (15, 7), (16, 14), (200, 175)] {
        assert_eq!(scalable.ssthresh(&avoiding(cwnd)), expected);
    }
    let mut low = avoiding(15);
    grow(&mut scalable, &mut low, 1, 15);
    assert_eq!(low.cwnd_segs, 16);
    let mut high = avoiding(20);
    grow(&mut scalable, &mut high, 1, 99);
    assert_eq!(high.cwnd_segs, 20);
    grow(&mut scalable, &mut high, 1, 1);
    assert_eq!(high.cwnd_segs, 21);
}

#[test]
fn of_linux_4_14_adds_one_segment_per_fifty_acks() {
    let mut conn = avoiding(200);
    grow(&mut instance("scalable", Some("linux-4.14"), &[]), &mut conn, 2, 100);
    assert_eq!(conn.cwnd_segs, 202);
}

/// Recovery from a cut takes ln(1 / 0.875) / 0.01 = 13.4 round trips.
#[test]
fn recovers_in_thirteen_round_trips_at_any_window() {
    for cwnd in [2_000, 20_000, 200_000] {
        let mut scalable = instance("scalable", None, &[]);
        let mut conn = avoiding(scalable.ssthresh(&avoiding(cwnd)));
        let round_trips = (1..).find(|_| {
            let window = conn.cwnd_segs;
            grow(&mut scalable, &mut conn, 1, window as usize);
            conn.cwnd_segs >= cwnd
        });
        assert_eq!(round_trips, Some(14), "from {cwnd} segments");
    }
}
