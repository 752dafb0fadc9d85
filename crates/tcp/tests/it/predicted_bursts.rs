//! A predicted burst has the same result as its segments one by one.

use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ack, AckDelay, Arrival, PROFILES, Receiver, Stack};
use proptest::prelude::*;

/// Segments that were sent at one time and arrive evenly.
#[derive(Clone, Copy, Debug)]
struct Train {
    count: u32,
    /// Time since the train before.
    pause: Span,
    /// Time between its segments.
    spacing: Span,
    /// Time from the transmission of the train before, in milliseconds.
    stamp: u32,
}

prop_compose! {
    fn any_train()(
        count in 1u32..7,
        pause_ns in prop_oneof![5 => 0u64..1_000_000, 1 => 0u64..100_000_000],
        spacing_ns in prop_oneof![5 => 0u64..1_000_000, 1 => 0u64..100_000_000],
        stamp in prop_oneof![3 => Just(0u32), 1 => 1u32..50, 1 => Just(u32::MAX)],
    ) -> Train {
        Train { count, pause: Span(pause_ns), spacing: Span(spacing_ns), stamp }
    }
}

prop_compose! {
    fn any_stack()(
        fixed: bool,
        timestamps: bool,
        quick_acks in prop::sample::select(vec![0u32, 1, 16]),
        delayed_ack_ms in prop::sample::select(vec![0u64, 1, 40, 200]),
        gro in prop::sample::select(vec![(0u32, 0u64), (3, 50_000), (44, 2_000_000)]),
        window_push: bool,
    ) -> Stack {
        let linux_6 = PROFILES.iter().find(|profile| profile.name == "linux-6").expect("linux-6");
        Stack {
            delayed_ack: if fixed { AckDelay::Fixed } else { AckDelay::Adaptive },
            delayed_ack_ns: Span::from_millis(delayed_ack_ms),
            timestamps, quick_acks, window_push,
            gro_segs: gro.0,
            gro_flush_ns: Span(gro.1),
            ..(linux_6.stack)()
        }
    }
}

/// A receiver and the ACKs that it has sent.
struct End {
    receiver: Receiver,
    acks: Vec<(Time, Ack)>,
}

impl End {
    fn new(stack: &Stack) -> Self {
        Self { receiver: Receiver::new(stack, Span::from_millis(30)), acks: Vec::new() }
    }

    /// Run its timer if it is due before `time`.
    fn catch_up(&mut self, time: Time) {
        while let Some(due) = self.receiver.deadline().filter(|due| *due < time) {
            let ack = self.receiver.on_timer(due);
            self.send(due, ack);
        }
    }

    fn send(&mut self, now: Time, first: Option<Ack>) {
        let acks = std::iter::successors(first, |_| self.receiver.also());
        self.acks.extend(acks.map(|ack| (now, ack)));
    }

    fn take(&mut self, number: u64, now: Time, stamp: u32) {
        self.catch_up(now);
        let arrival = Arrival { number, stamp, ce: false, cwr: false, full: true, pushed: false };
        let ack = self.receiver.on_data(now, arrival);
        self.send(now, ack);
    }

    /// Take a train in one step, if possible. Return whether it was.
    fn hear_burst(&mut self, first: u64, began: Time, train: Train, stamp: u32) -> bool {
        let takes = Span(train.spacing.0 * u64::from(train.count));
        let last = began + Span(train.spacing.0 * u64::from(train.count - 1));
        let is_idle = self.receiver.deadline().is_none_or(|due| last <= due);
        let Self { receiver, acks } = self;
        if !is_idle || !receiver.predicts_burst((first, train.count, stamp), last, takes) {
            return false;
        }
        let times = (0..u64::from(train.count)).map(|place| began + Span(train.spacing.0 * place));
        if receiver.gathers() {
            for now in times {
                let ack = receiver.on_predicted_data(now, stamp, false);
                acks.extend(ack.map(|ack| (now, ack)));
            }
        } else {
            receiver.on_predicted_burst(train.count, stamp, |run| {
                times.for_each(|now| acks.extend(run.of_next().map(|ack| (now, ack))));
                last
            });
        }
        true
    }
}

proptest! {
    #[test]
    fn a_predicted_burst_comes_to_what_its_segments_come_to_one_by_one(
        stack in any_stack(),
        trains in prop::collection::vec(any_train(), 1..120),
    ) {
        let (mut whole, mut parts) = (End::new(&stack), End::new(&stack));
        let (mut now, mut next, mut stamp) = (Time::ZERO, 0, 5_000u32);
        for train in trains {
            now += train.pause;
            stamp = stamp.wrapping_add(train.stamp);
            whole.catch_up(now);
            let is_burst = whole.hear_burst(next, now, train, stamp);
            for place in 0..u64::from(train.count) {
                let at = now + Span(train.spacing.0 * place);
                parts.take(next + place, at, stamp);
                if !is_burst {
                    whole.take(next + place, at, stamp);
                }
            }
            now += Span(train.spacing.0 * u64::from(train.count - 1));
            next += u64::from(train.count);
            prop_assert_eq!(&whole.acks, &parts.acks);
            prop_assert_eq!(format!("{:?}", whole.receiver), format!("{:?}", parts.receiver));
        }
    }
}
