//! Each mechanism of loss recovery on a wire of 100 ms, one trouble at a time.

use crate::wire::{Event, Segment, Wire, WireOutcome, ms, stack, steady};
use dumbbell_algorithm::CaState;
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ecn, Growth, LossDetection, ProbeRule, Stack};
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Range;

const DELAY: Span = ms(50);
const RTT: Span = ms(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Lose the first transmission of some segments.
fn losing(victims: &'static [u64]) -> impl FnMut(Time, Segment) -> WireOutcome {
    move |_, segment| {
        let is_lost = victims.contains(&segment.number) && !segment.is_retransmission;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    }
}

/// Run a transfer to its end.
fn transfer<D: FnMut(Time, Segment) -> WireOutcome>(
    stack: &Stack,
    segs: u64,
    data: D,
) -> Wire<D, impl FnMut(Time) -> WireOutcome + use<D>> {
    let mut wire = Wire::new(stack, "reno", Some(segs), RTT, data, steady(DELAY));
    wire.peer.has_sack = stack.loss_detection != LossDetection::NewReno;
    wire.finish();
    wire
}

fn reductions(events: &[Event]) -> Vec<(CaState, u32, u32)> {
    let reductions = events.iter().filter_map(|event| match *event {
        Event::Reduced { state, cwnd, ssthresh } => Some((state, cwnd, ssthresh)),
        _ => None,
    });
    reductions.collect()
}

/// Return the times of retransmissions in ms, and their segments.
fn resent_at_ms<D, A>(wire: &Wire<D, A>) -> Vec<(u64, u64)> {
    let again = wire.sent.iter().filter(|(_, segment)| segment.is_retransmission);
    again.map(|(time, segment)| (time.0 / 1_000_000, segment.number)).collect()
}

#[test]
fn rack_needs_one_sack_and_a_quarter_of_the_smallest_rtt_and_its_timer_2_ms_more() {
    let wire = transfer(&stack("linux-6"), 10, losing(&[8]));
    assert_eq!(resent_at_ms(&wire), [(127, 8)]);
    assert_eq!(reductions(&wire.events.0), [(CaState::Recovery, 18, 9)]);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

#[test]
fn rack_finds_a_lost_retransmission_without_a_timeout() {
    let mut lost = 0;
    let data = move |_: Time, segment: Segment| {
        lost += u32::from(segment.number == 20 && lost < 3);
        if segment.number == 20 && lost < 3 {
            WireOutcome::lost()
        } else {
            WireOutcome::after(DELAY)
        }
    };
    let wire = transfer(&stack("linux-6"), 200, data);
    assert_eq!(wire.retransmitted(), [20, 20]);
    assert_eq!(wire.sender.counters().timeouts, 0);
    assert_eq!(wire.sender.counters().congestion_events, 1);
}

/// Lose the first transmission of some segments, and the first two of one of them.
fn losing_twice(twice: u64, victims: Range<u64>) -> impl FnMut(Time, Segment) -> WireOutcome {
    let mut seen = 0;
    move |_, segment| {
        seen += u32::from(segment.number == twice);
        let is_first = victims.contains(&segment.number) && !segment.is_retransmission;
        let is_lost = is_first || segment.number == twice && seen < 3;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    }
}

#[test]
fn fack_takes_a_retransmission_for_lost_once_a_segment_first_sent_after_it_arrives() {
    let unprobed = Stack { tail_probe: ProbeRule::Off, ..stack("linux-3.16") };
    let wire = transfer(&unprobed, 45, losing_twice(10, 10..11));
    assert_eq!(resent_at_ms(&wire), [(200, 10), (300, 10)]);
    let last = wire.sent.iter().rposition(|(_, segment)| segment.is_retransmission);
    // 31 was sent before the first retransmission and 32 after. ACKs of 30 and 31 released 39 and
    // 40 before.
    assert_eq!(wire.sent[last.expect("sent again") - 1].1.number, 40);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

/// Linux requires Recovery for this (`tcp_mark_lost_retrans`).
#[test]
fn fack_leaves_a_retransmission_of_a_timeout_to_the_next() {
    let stack = Stack {
        initial_window_segs: NonZeroU32::new(4).expect("not zero"),
        tail_probe: ProbeRule::Off,
        frto: false,
        ..stack("linux-3.16")
    };
    let wire = transfer(&stack, 60, losing_twice(2, 0..4));
    assert_eq!(resent_at_ms(&wire), [(300, 0), (400, 1), (400, 2), (500, 3), (800, 2)]);
    assert_eq!(wire.sender.counters().timeouts, 2);
}

/// Receivers echo no timestamp of segments behind a hole. A retransmission there looks like the
/// effect of an earlier transmission.
#[test]
fn rack_learns_of_a_lost_retransmission_from_one_that_arrived_behind_the_hole() {
    let mut lost = 0;
    let data = move |_: Time, segment: Segment| {
        let is_lost = match segment.number {
            20 => lost < 2,
            25 => !segment.is_retransmission,
            _ => false,
        };
        lost += u32::from(is_lost && segment.number == 20);
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    };
    let wire = transfer(&stack("linux-6"), 30, data);
    assert_eq!(resent_at_ms(&wire), [(200, 20), (200, 25), (300, 20)]);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

#[test]
fn timers_end_with_the_ticks_of_the_kernel() {
    let stack = Stack { timer_tick_ns: NonZeroU64::new(4_000_000), ..stack("linux-6") };
    let resent_at_ms = |stack, lost| resent_at_ms(&transfer(stack, 10, losing(lost)));
    assert_eq!(resent_at_ms(&stack, &[8]), [(128, 8)], "overdue at 125 ms, and 2 ms");
    assert_eq!(resent_at_ms(&stack, &[8, 9]), [(304, 9), (404, 8)], "202 ms are 51 ticks");
    let unprobed = Stack { tail_probe: ProbeRule::Off, ..stack };
    assert_eq!(resent_at_ms(&unprobed, &[9]), [(416, 9)], "75 ticks end with one of eight");
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_costs_one_reduction() {
    let wire = transfer(&stack("linux-6"), 10, losing(&[9]));
    // The receiver may delay the ACK of the lone segment, so the probe waits 200 ms more than two
    // round trips. The retransmission timeout is the upper bound.
    assert_eq!(resent_at_ms(&wire), [(100 + 300, 9)]);
    assert_eq!(wire.sender.counters().timeouts, 0);
    assert_eq!(wire.sender.counters().tail_probes, 1);
    assert_eq!(wire.events.0, [], "nothing shows yet whether it had been lost");

    let mut wire = Wire::new(&stack("linux-6"), "reno", None, RTT, losing(&[9]), steady(DELAY));
    wire.run(at(10));
    wire.stop();
    wire.run(at(1_000));
    assert_eq!(wire.retransmitted(), [9]);
}

#[test]
fn two_lost_segments_at_the_tail_are_found_through_the_probe() {
    let wire = transfer(&stack("linux-6"), 10, losing(&[8, 9]));
    assert_eq!(resent_at_ms(&wire), [(302, 9), (402, 8)]);
    assert_eq!(reductions(&wire.events.0), [(CaState::Recovery, 18, 9)]);
    assert_eq!(wire.sender.counters().timeouts, 0);
}

/// The last segment of a request is short, and so is its probe. On a slow link it returns before
/// any full segment could. Only the handshake shows that it is not the original.
#[test]
fn a_probe_that_is_back_before_any_full_segment_repairs_the_tail() {
    let timeouts = |handshake_rtt| {
        let data = |_: Time, segment: Segment| match (segment.number, segment.is_retransmission) {
            (8 | 9, false) => WireOutcome::lost(),
            (9, true) => WireOutcome::after(DELAY),
            _ => WireOutcome::after(DELAY + ms(3)),
        };
        let mut wire =
            Wire::new(&stack("linux-6"), "reno", Some(10), handshake_rtt, data, steady(DELAY));
        wire.finish();
        wire.sender.counters().timeouts
    };
    assert_eq!(timeouts(RTT), 0);
    assert_eq!(timeouts(RTT + ms(3)), 1, "had the handshake taken as long as full segments");
}

#[test]
fn without_a_probe_a_lost_tail_takes_a_timeout() {
    let stack = Stack { tail_probe: ProbeRule::Off, ..stack("linux-6") };
    let wire = transfer(&stack, 10, losing(&[9]));
    assert_eq!(wire.sender.counters().timeouts, 1);
    assert_eq!(resent_at_ms(&wire), [(400, 9)], "SRTT and 300 ms: m/2 = 50, floor 200");
}

#[test]
fn a_needless_probe_costs_nothing() {
    let mut acks = 0;
    let late_acks = move |_| {
        acks += 1;
        WireOutcome::after(if acks > 8 { ms(450) } else { DELAY })
    };
    let data = |_, _| WireOutcome::after(DELAY);
    let mut wire = Wire::new(&stack("linux-6"), "reno", Some(10), RTT, data, late_acks);
    wire.finish();
    assert_eq!(wire.sender.counters().tail_probes, 1);
    assert_eq!(wire.events.0, []);
}

#[test]
fn a_delay_spike_times_out_once_and_is_undone() {
    for (name, end_ms) in [
        ("linux-2.6.26", 900),
        ("linux-3.16", 900),
        ("linux-4.14", 900),
        ("linux-6", 900),
        ("rfc", 1_600),
    ] {
        let end = at(end_ms);
        let stack = Stack { tail_probe: ProbeRule::Off, timestamps: false, ..stack(name) };
        let spike = |now: Time, _| {
            let late = if (at(300)..end).contains(&now) { end.since(now).0 } else { 0 };
            WireOutcome::after(Span(DELAY.0 + late))
        };
        let wire = transfer(&stack, 600, spike);
        let counters = wire.sender.counters();
        assert_eq!(counters.timeouts, 1, "{name}");
        assert_eq!((counters.congestion_events, counters.spurious_recoveries), (1, 1), "{name}");
        let (_, cwnd, _) = reductions(&wire.events.0)[0];
        let restored = wire.events.0.iter().any(|event| match *event {
            Event::Undone { cwnd: undone, ssthresh } => {
                let burst = stack.burst_after_recovery_segs.is_some();
                (undone >= cwnd || burst) && ssthresh > cwnd / 2
            }
            _ => false,
        });
        assert!(restored, "{name}: {:?}", wire.events.0);
    }
}

#[test]
fn a_spike_of_two_timeouts_is_undone_too() {
    let spike = |now: Time, _| {
        let late = if (at(300)..at(2_000)).contains(&now) { at(2_000).since(now).0 } else { 0 };
        WireOutcome::after(Span(DELAY.0 + late))
    };
    for (name, timestamps) in [("linux-6", true), ("linux-6", false), ("linux-3.16", false)] {
        let wire = transfer(&Stack { timestamps, ..stack(name) }, 600, spike);
        let counters = wire.sender.counters();
        assert_eq!((counters.timeouts, counters.spurious_recoveries), (2, 1), "{name}");
        assert!(wire.retransmitted().len() <= 3, "{name}: {:?}", wire.retransmitted());
    }
}

#[test]
fn with_timestamps_a_delay_spike_is_undone_at_the_first_acknowledgement() {
    let spike = |now: Time, _| {
        let late = if (at(300)..at(900)).contains(&now) { at(900).since(now).0 } else { 0 };
        WireOutcome::after(Span(DELAY.0 + late))
    };
    let stack = Stack { tail_probe: ProbeRule::Off, ..stack("linux-6") };
    let mut wire = Wire::new(&stack, "reno", Some(600), RTT, spike, steady(DELAY));
    wire.run(at(1_000));
    assert_eq!(wire.sender.counters().spurious_recoveries, 1);
    wire.finish();
    assert_eq!(wire.sender.counters().congestion_events, 1);
    assert_eq!(wire.retransmitted().len(), 1);
}

#[test]
fn a_real_timeout_is_not_undone() {
    for name in ["linux-2.6.6", "linux-2.6.26", "linux-3.16", "linux-4.14", "linux-6", "rfc"] {
        let blackout = |now: Time, _| {
            if (at(250)..at(1_500)).contains(&now) {
                WireOutcome::lost()
            } else {
                WireOutcome::after(DELAY)
            }
        };
        let wire = transfer(&stack(name), 400, blackout);
        let counters = wire.sender.counters();
        assert!(counters.timeouts >= 1, "{name}");
        assert_eq!(counters.spurious_recoveries, 0, "{name}: {:?}", wire.events.0);
        let timeouts = reductions(&wire.events.0);
        let timeouts = timeouts.iter().filter(|(state, ..)| *state == CaState::Loss);
        assert_eq!(timeouts.count(), 1, "{name}: one reduction for several timeouts");
    }
}

/// Delays one segment so that many overtake it, and loses none.
fn late(now: Time, segment: Segment) -> WireOutcome {
    let _ = now;
    let is_late = segment.number == 40 && !segment.is_retransmission;
    WireOutcome::after(Span(DELAY.0 + if is_late { 60_000_000 } else { 0 }))
}

#[test]
fn reordering_is_undone_by_an_old_timestamp_at_once_and_by_a_duplicate_later() {
    let undone_at = |timestamps| {
        let stack = Stack { timestamps, ..stack("linux-6") };
        let mut wire = Wire::new(&stack, "reno", Some(400), RTT, late, steady(DELAY));
        while wire.sender.counters().spurious_recoveries == 0 {
            wire.transmit();
            assert!(wire.step(Time::NEVER), "never undone");
        }
        let counters = wire.sender.counters();
        assert_eq!((counters.congestion_events, counters.retransmitted_segs), (1, 1));
        let (_, cwnd, _) = reductions(&wire.events.0)[0];
        assert!(wire.sender.conn().cwnd_segs >= cwnd);
        assert!(wire.sender.conn().ssthresh_segs > cwnd, "it was infinite before");
        wire.now
    };
    // The original arrives 60 ms late. Its duplicate arrives a round trip after the loss was
    // inferred, which was when the following segments arrived.
    assert!(undone_at(true).0 / 1_000_000 + 40 <= undone_at(false).0 / 1_000_000);
}

#[test]
fn what_reordering_cost_once_it_does_not_cost_again() {
    let late = |_: Time, segment: Segment| {
        let is_late = segment.number % 50 == 40 && !segment.is_retransmission;
        WireOutcome::after(Span(DELAY.0 + if is_late { 5_000_000 } else { 0 }))
    };
    let wire = transfer(&stack("linux-6"), 3_000, late);
    let counters = wire.sender.counters();
    assert_eq!((counters.congestion_events, counters.spurious_recoveries), (1, 1));
    assert_eq!(counters.retransmitted_segs, 1);
}

#[test]
fn without_undo_a_spurious_reduction_stays() {
    let stack = Stack { undo: false, ..stack("linux-6") };
    let wire = transfer(&stack, 400, late);
    assert_eq!(wire.sender.counters().spurious_recoveries, 0);
    assert_eq!(wire.sender.counters().congestion_events, 1);
}

#[test]
fn a_mark_reduces_once_and_is_answered_once() {
    let stack = Stack { ecn: Ecn::Classic, ..stack("linux-6") };
    let data = move |_: Time, segment: Segment| {
        assert_eq!(segment.ect, !segment.is_retransmission, "new data only");
        if (40..44).contains(&segment.number) {
            WireOutcome::marked(DELAY)
        } else {
            WireOutcome::after(DELAY)
        }
    };
    let wire = transfer(&stack, 400, data);
    let reduced = reductions(&wire.events.0);
    assert_eq!(reduced.len(), 1, "{:?}", wire.events.0);
    let (state, cwnd, ssthresh) = reduced[0];
    assert_eq!((state, ssthresh), (CaState::Cwr, cwnd / 2));
    let recovered = Event::Recovered { cwnd: ssthresh, ssthresh };
    assert_eq!(wire.events.0[1], recovered, "PRR ends at ssthresh");
    let answers = wire.sent.iter().filter(|(_, segment)| segment.cwr).count();
    assert_eq!(answers, 1);
    assert!(wire.retransmitted().is_empty());
    assert!(wire.sender.conn().delivered_ce_segs > 0);
}

#[test]
fn a_loss_while_the_window_falls_for_a_mark_costs_no_second_reduction() {
    let stack = Stack { ecn: Ecn::Classic, ..stack("linux-6") };
    let data = |_: Time, segment: Segment| match segment.number {
        40 => WireOutcome::marked(DELAY),
        45 if !segment.is_retransmission => WireOutcome::lost(),
        _ => WireOutcome::after(DELAY),
    };
    let wire = transfer(&stack, 400, data);
    assert_eq!(reductions(&wire.events.0).len(), 1);
    assert_eq!(wire.retransmitted(), [45]);
    assert_eq!(wire.sender.counters().spurious_recoveries, 0);
}

#[test]
fn after_a_mark_nothing_is_undone() {
    let stack = Stack { ecn: Ecn::Classic, ..stack("linux-6") };
    let data = |now: Time, segment: Segment| match segment.number {
        41 => WireOutcome::marked(DELAY),
        _ => late(now, segment),
    };
    let wire = transfer(&stack, 400, data);
    assert_eq!(reductions(&wire.events.0).len(), 1);
    assert_eq!(wire.retransmitted(), [40]);
    assert_eq!(wire.sender.counters().spurious_recoveries, 0, "{:?}", wire.events.0);
}

#[test]
fn new_reno_repairs_one_hole_for_each_round_trip() {
    let stack = Stack { loss_detection: LossDetection::NewReno, ..stack("linux-6") };
    let wire = transfer(&stack, 400, losing(&[40, 45, 50]));
    assert_eq!(wire.sender.counters().congestion_events, 1);
    assert_eq!(wire.sender.counters().timeouts, 0);
    let resent = resent_at_ms(&wire);
    assert_eq!(resent.iter().map(|&(_, number)| number).collect::<Vec<_>>(), [40, 45, 50]);
    assert!(resent.windows(2).all(|pair| pair[1].0 - pair[0].0 == 100), "{resent:?}");
}

#[test]
fn early_retransmit_waits_a_quarter_of_a_round_trip_for_two_sacks() {
    let stack = Stack { tail_probe: ProbeRule::Off, ..stack("linux-3.16") };
    // The last flight has three segments, and the first of them is lost.
    let wire = transfer(&stack, 13, losing(&[10]));
    assert_eq!(wire.sender.counters().timeouts, 0, "{:?}", wire.events.0);
    assert_eq!(resent_at_ms(&wire), [(225, 10)]);
    let patient = Stack { early_retransmit: false, ..stack };
    assert_eq!(transfer(&patient, 13, losing(&[10])).sender.counters().timeouts, 1);
}

#[test]
fn one_loss_costs_one_retransmission_and_one_reduction_in_every_profile() {
    for profile in dumbbell_tcp::PROFILES {
        let wire = transfer(&(profile.stack)(), 400, losing(&[60]));
        assert_eq!(wire.retransmitted(), [60], "{}", profile.name);
        assert_eq!(reductions(&wire.events.0).len(), 1, "{}", profile.name);
        assert_eq!(wire.sender.counters().timeouts, 0, "{}", profile.name);
    }
}

#[test]
fn a_flow_without_loss_sends_in_bursts() {
    let wire = transfer(&stack("linux-6"), 400, |_, _| WireOutcome::after(DELAY));
    assert!(wire.bursts >= 100, "{} bursts", wire.bursts);
    let wire = transfer(&stack("linux-6"), 400, losing(&[60]));
    assert!(wire.bursts >= 50, "{} bursts around a loss", wire.bursts);
}

/// Return the smallest RTT that the algorithm gets, and that of the statistics, after a transfer
/// over a path of 100.6 ms with one loss.
fn smallest_rtts_us(profile: &str) -> (u32, u32) {
    let delay = Span::from_micros(50_300);
    let data = move |_: Time, segment: Segment| {
        let is_lost = segment.number == 20 && !segment.is_retransmission;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(delay) }
    };
    let mut wire =
        Wire::new(&stack(profile), "reno", Some(200), Span(2 * delay.0), data, steady(delay));
    wire.finish();
    let sender = &wire.sender;
    (sender.conn().min_rtt_us, sender.rtt().summary().expect("samples").min_us)
}

#[test]
fn timestamps_give_algorithms_the_rtt_of_retransmissions_since_linux_4_2() {
    assert_eq!(smallest_rtts_us("linux-3.16"), (100_600, 100_600));
    // The time is in whole milliseconds: the retransmission came 0.2 ms before the end of one.
    for profile in ["linux-4.14", "linux-6"] {
        assert_eq!(smallest_rtts_us(profile), (100_000, 100_600), "{profile}");
    }
}

/// Return the window when one loss of about a hundred segments is repaired, and the ssthresh then.
fn repaired(profile: &str, algorithm: &str) -> (u32, u32) {
    let data = losing(&[150]);
    let mut wire = Wire::new(&stack(profile), algorithm, Some(600), RTT, data, steady(DELAY));
    wire.finish();
    let recovered = wire.events.0.iter().find_map(|event| match *event {
        Event::Recovered { cwnd, ssthresh } => Some((cwnd, ssthresh)),
        _ => None,
    });
    recovered.expect("a recovery")
}

#[test]
fn rate_halving_goes_below_ssthresh_where_the_kernel_let_it() {
    for (profile, algorithm, undershoots) in [
        ("linux-2.6.26", "scalable", true),
        ("linux-2.6.26", "highspeed", false), // halves in slow start, so does the rate
        ("linux-2.6.26", "bic", false),
        ("linux-2.6.6", "bic", true),
        ("linux-3.16", "scalable", false),
    ] {
        let (cwnd, ssthresh) = repaired(profile, algorithm);
        let share = f64::from(cwnd) / f64::from(ssthresh);
        println!("{profile} {algorithm} {cwnd} of {ssthresh}");
        assert_eq!(share < 0.8, undershoots, "{profile} {algorithm}: {cwnd} of {ssthresh}");
    }
}

#[test]
fn byte_counting_adds_no_more_than_its_limit_for_an_ack() {
    for (limit, cwnd) in [(1, 15), (2, 20), (3, 20)] {
        let byte_counting_segs = NonZeroU32::new(limit).unwrap();
        let stack = Stack { growth: Growth::Bytes, byte_counting_segs, ..stack("linux-6") };
        let mut count = 0;
        let acks = |_| {
            count += 1;
            if count % 2 == 0 { WireOutcome::after(DELAY) } else { WireOutcome::lost() }
        };
        let data = |_: Time, _: Segment| WireOutcome::after(DELAY);
        let mut wire = Wire::new(&stack, "reno", Some(1_000), RTT, data, acks);
        wire.run(at(101));
        assert_eq!(wire.sender.conn().cwnd_segs, cwnd, "five ACKs for two segments each");
    }
}
