//! Transfers over a wire that loses, duplicates, delays and marks at random.

use std::num::NonZeroU64;

use crate::wire::{Event, Segment, Wire, WireOutcome, ms, steady};
use dumbbell_network::{Random, Span, Time};
use dumbbell_tcp::{Ecn, LossDetection, PROFILES, Pacing, Stack};
use proptest::prelude::*;

/// Frequencies of each trouble, in thousandths, and the delays.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    lost: u64,
    acks_lost: u64,
    duplicated: u64,
    late: u64,
    late_by_ms: u64,
    marked: u64,
    delay_ms: u64,
}

impl Trouble {
    fn outcome(&self, random: &mut Random, lost: u64) -> WireOutcome {
        let mut chance = |per_mille| random.up_to(999) < per_mille;
        if chance(lost) {
            return WireOutcome::lost();
        }
        let copies = 1 + usize::from(chance(self.duplicated));
        let is_marked = chance(self.marked);
        let late = |is_late| if is_late { ms(self.late_by_ms) } else { Span::ZERO };
        let delays = (0..copies).map(|_| ms(self.delay_ms).0 + late(chance(self.late)).0);
        WireOutcome { delays: delays.map(Span).collect(), is_marked }
    }
}

fn any_stack() -> impl Strategy<Value = Stack> {
    let window = prop::option::weighted(0.2, 1_448u64..100_000);
    let switches = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (0..PROFILES.len(), switches, 0..3u8, window).prop_map(
        |(profile, (ecn, timestamps, paced), variant, window)| {
            let mut stack = (PROFILES[profile].stack)();
            stack.timestamps &= timestamps;
            stack.pacing = if paced { Pacing::Fq } else { Pacing::Off };
            stack.receive_window_bytes = window.and_then(NonZeroU64::new);
            stack.ecn = if ecn { Ecn::Classic } else { Ecn::Off };
            if variant == 0 {
                stack.loss_detection = LossDetection::NewReno;
                stack.sack = false;
            }
            stack
        },
    )
}

prop_compose! {
    fn any_trouble()(
        lost in prop_oneof![Just(0u64), 0u64..300],
        acks_lost in prop_oneof![Just(0u64), 0u64..300],
        duplicated in prop_oneof![Just(0u64), 0u64..100],
        late in prop_oneof![Just(0u64), 0u64..200],
        late_by_ms in prop_oneof![1u64..40, 40u64..2_000],
        marked in prop_oneof![Just(0u64), 0u64..100],
        delay_ms in 1u64..120,
    ) -> Trouble {
        Trouble { lost, acks_lost, duplicated, late, late_by_ms, marked, delay_ms }
    }
}

const ALGORITHMS: [&str; 4] = ["reno", "cubic", "htcp", "fast"];

proptest! {
    #[test]
    fn every_transfer_ends(
        stack in any_stack(),
        trouble in any_trouble(),
        algorithm in prop::sample::select(&ALGORITHMS[..]),
        segs in 1u64..600,
        seed: u64,
    ) {
        let (mut data, mut acks) = (Random::new(seed, 0), Random::new(seed, 1));
        let mut wire = Wire::new(
            &stack,
            algorithm,
            Some(segs),
            ms(2 * trouble.delay_ms),
            |_, segment| {
                let outcome = trouble.outcome(&mut data, trouble.lost);
                WireOutcome { is_marked: outcome.is_marked && segment.ect, ..outcome }
            },
            |_| trouble.outcome(&mut acks, trouble.acks_lost),
        );
        wire.peer.has_sack = stack.loss_detection != LossDetection::NewReno;
        wire.finish();
        let counters = *wire.sender.counters();
        prop_assert!(counters.spurious_recoveries <= counters.congestion_events + counters.timeouts);
        prop_assert_eq!(counters.sent_segs, segs + counters.retransmitted_segs);
        prop_assert_eq!(wire.sender.in_flight(), 0);
        for event in &wire.events.0 {
            if let Event::Reduced { cwnd, ssthresh, .. } = event {
                prop_assert!(*cwnd >= 1 && *ssthresh >= 2);
            }
        }
    }

    #[test]
    fn a_wire_that_keeps_all_and_the_order_sees_nothing_sent_again(
        stack in any_stack(),
        algorithm in prop::sample::select(&ALGORITHMS[..]),
        delay_ms in 1u64..240,
        segs in 1u64..3_000,
    ) {
        let delay = ms(delay_ms);
        let data = |_, _| WireOutcome::after(delay);
        let mut wire = Wire::new(&stack, algorithm, Some(segs), ms(2 * delay_ms), data, steady(delay));
        wire.finish();
        prop_assert_eq!(wire.sender.counters().sent_segs, segs);
        prop_assert_eq!(&wire.events.0, &[]);
    }

    /// Some segments are late and none is lost. Reductions are undone, unless a stack has no undo.
    #[test]
    fn a_lone_late_segment_costs_nothing_in_the_end(
        profile in 1..PROFILES.len(),
        victim in 0u64..60,
        late_by_ms in 5u64..120,
        timestamps: bool,
    ) {
        let stack = Stack { timestamps, ..(PROFILES[profile].stack)() };
        let data = move |_: Time, segment: Segment| {
            let is_victim = segment.number == victim && !segment.is_retransmission;
            WireOutcome::after(ms(50 + if is_victim { late_by_ms } else { 0 }))
        };
        let mut wire = Wire::new(&stack, "reno", Some(400), ms(100), data, steady(ms(50)));
        wire.finish();
        let reductions = wire.sender.counters().congestion_events;
        prop_assert!(reductions <= 1);
        prop_assert_eq!(wire.sender.counters().spurious_recoveries, reductions);
        let mut prior = 0;
        for event in &wire.events.0 {
            match *event {
                Event::Reduced { cwnd, .. } => prior = cwnd,
                Event::Undone { cwnd, ssthresh } => {
                    let burst = stack.burst_after_recovery_segs.is_some();
                    prop_assert!(cwnd >= prior || burst, "{:?}", wire.events.0);
                    prop_assert!(ssthresh >= prior);
                }
                _ => {}
            }
        }
    }
}
