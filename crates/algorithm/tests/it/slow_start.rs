//! Slow starts of the stack, compared with the arithmetic of their documents.

use crate::{ack, instance};
use dumbbell_algorithm::{
    Conn, Instance, SSTHRESH_INFINITE, STACK_ENDS_SLOW_START, SlowStart, StartChoice,
};
use proptest::prelude::*;

const MSS: u32 = 1448;

/// A connection with an ACK for each segment.
struct Acks {
    start: SlowStart,
    conn: Conn,
}

impl Acks {
    fn new(choice: StartChoice, cwnd_segs: u32) -> Self {
        let conn = Conn { cwnd_segs, srtt_us: 100_000, min_rtt_us: 100_000, ..Conn::default() };
        Self { start: SlowStart::new(choice), conn }
    }

    fn ended(&self) -> bool {
        self.conn.ssthresh_segs != SSTHRESH_INFINITE
    }

    /// Acknowledge one of `outstanding_segs` segments; return the part that counts.
    fn ack(&mut self, outstanding_segs: u32, rtt_us: u32) -> u32 {
        self.conn.snd_una = self.conn.snd_una.wrapping_add(MSS);
        self.conn.snd_nxt = self.conn.snd_una.wrapping_add(outstanding_segs * MSS);
        self.conn.delivered_segs += 1;
        self.conn.in_flight_segs = outstanding_segs;
        if !self.start.rules(&self.conn) {
            return 1;
        }
        let part = self.start.part_of(&mut self.conn, 1, Some(rtt_us));
        self.start.grown(&mut self.conn, Some(rtt_us));
        part
    }

    /// Play a round of `ROUND` ACKs; return the growth, and true if slow start ended.
    fn round(&mut self, rtt_us: u32) -> (u32, bool) {
        let mut grown = 0;
        for _ in 0..ROUND {
            grown += self.ack(ROUND, rtt_us);
            if self.ended() {
                return (grown, true);
            }
        }
        (grown, false)
    }
}

const ROUND: u32 = 40;

fn hystart_pp() -> Acks {
    Acks::new(StartChoice::hystart_plus_plus(), 100)
}

#[test]
fn hystart_pp_quarters_growth_from_the_eighth_sample_of_a_slower_round() {
    let mut acks = hystart_pp();
    assert_eq!(acks.round(40_000), (40, false));
    assert_eq!(acks.round(44_999), (40, false), "the rise must reach an eighth, 5 ms");
    // 8 segments before the decision; then 32 quarters.
    assert_eq!(acks.round(44_999 + 5_624), (16, false));
}

#[test]
fn hystart_pp_counts_the_rise_within_four_and_sixteen_milliseconds() {
    for (rtt_us, rise_us) in [(10_000, 4_000), (80_000, 10_000), (200_000, 16_000)] {
        for (rise_us, slower) in [(rise_us - 1, false), (rise_us, true)] {
            let mut acks = hystart_pp();
            acks.round(rtt_us);
            let grown = acks.round(rtt_us + rise_us).0;
            assert_eq!(grown < ROUND, slower, "RTT {rtt_us} us, rise {rise_us} us");
        }
    }
}

#[test]
fn hystart_pp_ends_slow_start_after_five_conservative_rounds() {
    let mut acks = hystart_pp();
    acks.round(40_000);
    // The round of the decision is the first.
    for _ in 0..5 {
        assert!(!acks.round(50_000).1);
    }
    assert_eq!(acks.round(50_000), (0, true));
    assert_eq!(acks.conn.ssthresh_segs, 100);
}

#[test]
fn hystart_pp_resumes_slow_start_after_a_shorter_round_trip() {
    let mut acks = hystart_pp();
    acks.round(40_000);
    acks.round(50_000);
    acks.round(49_999);
    assert_eq!(acks.round(49_999), (40, false));
}

#[test]
fn hystart_pp_counts_eight_segments_of_an_ack_at_most_unless_paced() {
    let mut acks = hystart_pp();
    assert_eq!(acks.start.part_of(&mut acks.conn, 40, None), 8);
    acks.conn.pacing_rate_bytes_per_s = 1;
    assert_eq!(acks.start.part_of(&mut acks.conn, 40, None), 40);
}

#[test]
fn limited_slow_start_adds_at_most_half_of_its_threshold_in_a_round_trip() {
    let mut start = SlowStart::new(StartChoice::limited(100));
    let mut round = |cwnd_segs: u32| -> u32 {
        let mut conn = Conn { cwnd_segs, ..Conn::default() };
        (0..cwnd_segs).map(|_| start.part_of(&mut conn, 1, None)).sum()
    };
    assert_eq!([100, 101, 200, 1_000].map(&mut round), [100, 50, 50, 50]);
}

#[test]
fn a_loss_ends_all_but_limited_slow_start() {
    for (choice, lasts) in [
        (StartChoice::standard(), false),
        (StartChoice::limited(100), true),
        (StartChoice::hystart(), false),
        (StartChoice::hystart_plus_plus(), false),
        (StartChoice::search(), false),
        (StartChoice::resume(400, 100_000), false),
    ] {
        let mut acks = Acks::new(choice, 10);
        acks.ack(10, 100_000);
        assert_eq!(acks.start.cut(&acks.conn, 5), 5, "{choice:?}");
        assert_eq!(acks.start.rules(&acks.conn), lasts, "{choice:?}");
    }
}

/// The stack's HyStart, to compare with CUBIC's, ACK by ACK.
fn hystart_of(choice: Option<StartChoice>, rtts_us: &[u32]) -> Vec<u32> {
    let mut cubic: Instance = instance("cubic", None, &[]);
    let stack = if choice.is_some() { STACK_ENDS_SLOW_START } else { 0 };
    let mut start = choice.map(SlowStart::new);
    let mut conn = Conn { snd_una: 1, snd_nxt: 1, stack, ..Conn::default() };
    cubic.init(&mut conn);
    let mut windows = Vec::new();
    for &rtt_us in rtts_us {
        conn.snd_una = conn.snd_una.wrapping_add(MSS);
        conn.snd_nxt = conn.snd_una.wrapping_add(conn.cwnd_segs * MSS);
        conn.now_us += u64::from(rtt_us / conn.cwnd_segs.max(1));
        conn.srtt_us = rtt_us;
        cubic.pkts_acked(&mut conn, &ack(1, rtt_us as i32));
        if let Some(start) = start.as_mut().filter(|start| start.rules(&conn)) {
            start.part_of(&mut conn, 1, Some(rtt_us));
        }
        cubic.cong_avoid(&mut conn, 1);
        windows.push(conn.ssthresh_segs);
    }
    windows
}

proptest! {
    #[test]
    fn hystart_of_the_stack_is_that_of_cubic(
        base_us in 1_000u32..300_000,
        rises in prop::collection::vec(0u32..40_000, 50..400),
    ) {
        let rtts: Vec<u32> = rises.iter().map(|rise| base_us + rise).collect();
        prop_assert_eq!(
            hystart_of(None, &rtts), hystart_of(Some(StartChoice::hystart()), &rtts)
        );
    }

    #[test]
    fn no_slow_start_counts_more_than_was_acknowledged_or_raises_the_window(
        kind in 0usize..5,
        acks in prop::collection::vec((0u32..100, any::<u32>(), 0u64..500_000, 0u32..1_000), 1..300),
    ) {
        let choice = [
            StartChoice::limited(20), StartChoice::hystart(), StartChoice::hystart_plus_plus(),
            StartChoice::search(), StartChoice::standard(),
        ][kind];
        let (mut start, mut conn) = (SlowStart::new(choice), Conn::default());
        let (mut acked, mut counted) = (0u64, 0u64);
        for (segs, rtt_us, after_us, flight) in acks {
            conn.now_us += after_us;
            conn.delivered_segs += u64::from(segs);
            conn.snd_una = conn.snd_una.wrapping_add(segs * MSS);
            conn.snd_nxt = conn.snd_una.wrapping_add(flight * MSS);
            conn.in_flight_segs = flight;
            conn.cwnd_segs = flight.max(1);
            if start.rules(&conn) {
                acked += u64::from(segs);
                counted += u64::from(start.part_of(&mut conn, segs, Some(rtt_us)));
                start.grown(&mut conn, Some(rtt_us));
            }
            prop_assert!(counted <= acked && conn.cwnd_segs == flight.max(1));
        }
    }
}

/// An RTT of 100 ms makes bins of 35 ms.
const BIN_US: u64 = 35_000;

/// End of slow start with one ACK each millisecond, at constant rates in segments per millisecond.
fn search_ends(sent_per_ms: u64, delivered_per_ms: u64, rtt_us: u32, pause_ms: u64) -> Option<u64> {
    let mut start = SlowStart::new(StartChoice::search());
    let mut conn = Conn { now_us: 1_000, cwnd_segs: 100, ..Conn::default() };
    let (mut sent, mut paused) = (0, 0);
    for ms in 0..2_000_u64 {
        if ms == 200 {
            paused = pause_ms * 1_000;
        }
        conn.now_us = 1_000 + ms * 1_000 + paused;
        let rtt_us = if ms == 0 { 100_000 } else { rtt_us };
        conn.in_flight_segs = (sent - conn.delivered_segs) as u32;
        assert_eq!(start.part_of(&mut conn, 1, Some(rtt_us)), 1);
        if conn.ssthresh_segs != SSTHRESH_INFINITE {
            return Some(ms * 1_000);
        }
        sent += sent_per_ms;
        conn.delivered_segs += delivered_per_ms;
    }
    None
}

#[test]
fn search_ends_slow_start_where_26_percent_of_what_was_sent_are_missing() {
    // An RTT has 2 bins and a part, so the window one RTT ago is full after 13 bins.
    assert_eq!(search_ends(100, 74, 100_000, 0), Some(13 * BIN_US + 1_000));
    assert_eq!(search_ends(100, 75, 100_000, 0), None);
    assert_eq!(search_ends(100, 100, 100_000, 0), None);
}

#[test]
fn search_looks_back_by_fifteen_bins_at_most_and_begins_again_after_a_window_of_silence() {
    let back = |bins: u64| search_ends(100, 50, (bins * BIN_US) as u32, 0);
    assert_eq!(back(14), Some(25 * BIN_US + 1_000));
    assert_eq!(back(15), None);
    // The first ACK after the pause discards the bins, and the next one begins new ones.
    let begins_us = 201_000;
    assert_eq!(search_ends(100, 74, 100_000, 400), Some(begins_us + 13 * BIN_US + 1_000));
}

/// Careful Resume from a window of 200 and an RTT of 100 ms; ten segments are acknowledged.
fn resumed(saved_rtt_us: u32) -> Acks {
    let mut acks = Acks::new(StartChoice::resume(200, saved_rtt_us), 10);
    for _ in 0..9 {
        assert_eq!(acks.ack(10, 100_000), 1, "the initial window is acknowledged first");
        acks.conn.cwnd_segs += 1;
    }
    acks.conn.snd_nxt = 20 * MSS - MSS;
    acks
}

#[test]
fn careful_resume_jumps_to_half_of_the_window_and_paces_it_over_a_round_trip() {
    let mut acks = resumed(100_000);
    // The last of the ten segments sent at the first ACK, with ten outstanding.
    assert_eq!(acks.ack(10, 100_000), 1);
    assert_eq!(acks.ack(10, 100_000), 0);
    assert!(acks.start.holds());
    let Conn { cwnd_segs, pacing_rate_bytes_per_s, .. } = acks.conn;
    assert_eq!((cwnd_segs, pacing_rate_bytes_per_s), (100, 100 * 1448 * 10));
}

#[test]
fn careful_resume_does_not_jump_on_another_path_or_without_a_gain() {
    // A jump needs an RTT above half of the saved one and up to ten times it, and a window below
    // the jump.
    for (saved_rtt_us, cwnd_segs) in [(200_000, 19), (9_999, 19), (100_000, 100)] {
        let mut acks = resumed(saved_rtt_us);
        acks.conn.cwnd_segs = cwnd_segs;
        acks.ack(10, 100_000);
        assert_eq!(acks.ack(10, 100_000), 1);
        assert!(!acks.start.holds() && !acks.start.rules(&acks.conn));
        assert_eq!(acks.conn.cwnd_segs, cwnd_segs);
    }
}

/// A connection that has just jumped, with ten segments in flight.
fn unvalidated() -> Acks {
    let mut acks = resumed(100_000);
    acks.ack(10, 100_000);
    acks.ack(10, 100_000);
    acks
}

/// Acknowledge the segments in flight at the jump, and the first one sent after it.
fn validate(acks: &mut Acks) -> u32 {
    let end = acks.conn.snd_nxt;
    while acks.conn.snd_una != end {
        let before = acks.conn.snd_una;
        assert_eq!(acks.ack(60, 100_000), 0, "{before}");
    }
    acks.ack(60, 100_000)
}

#[test]
fn careful_resume_validates_what_is_in_flight() {
    let mut acks = unvalidated();
    assert_eq!(validate(&mut acks), 1);
    // PipeSize: ten in flight at the jump, and eleven acknowledged since. 60 are in flight.
    assert!(!acks.start.holds() && acks.start.rules(&acks.conn));
    assert_eq!((acks.conn.cwnd_segs, acks.conn.pacing_rate_bytes_per_s), (60, 0));
    let last = acks.conn.snd_nxt;
    while acks.conn.snd_una != last {
        assert_eq!(acks.ack(60, 100_000), 1);
    }
    assert!(!acks.start.rules(&acks.conn), "the last of them is acknowledged");
}

#[test]
fn careful_resume_retreats_to_half_of_what_the_path_carried() {
    let mut acks = unvalidated();
    validate(&mut acks);
    // PipeSize is 21; Reno would keep 30.
    assert_eq!(acks.start.cut(&acks.conn, 30), 10);
    acks.conn.ssthresh_segs = 10;
    acks.conn.delivered_segs += 39;
    acks.start.repaired(&mut acks.conn);
    assert_eq!(acks.conn.ssthresh_segs, 30, "half of the PipeSize of 60");
    assert_eq!(acks.start.cut(&acks.conn, 30), 30, "then it is over");
}

#[test]
fn abe_keeps_more_of_the_window_where_marks_are_the_only_sign() {
    for (name, usual, kept) in [("reno", 500, 799), ("cubic", 700, 849)] {
        let conn = |is_marked| Conn { cwnd_segs: 1_000, is_marked, ..Conn::default() };
        let mut abe = instance(name, Some("abe"), &[]);
        assert_eq!(abe.ssthresh(&conn(0)), usual, "{name}: a loss");
        assert_eq!(abe.ssthresh(&conn(1)), kept, "{name}: marks, RFC 8511");
        let mut plain = instance(name, None, &[]);
        assert_eq!(plain.ssthresh(&conn(1)), usual, "{name} without ABE");
    }
}
