//! A receiver compared with a plain model, for any arrivals and any switches.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::ops::Range;

use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ack, AckDelay, Arrival, Ecn, PROFILES, Receiver, SackBlocks, Stack};
use proptest::prelude::*;

/// Next action of the path.
#[derive(Clone, Debug)]
enum Step {
    /// The next new segment arrives.
    Next,
    /// Some segments are lost or late before the next new one arrives.
    Skip(u64),
    /// A missing segment arrives: the one of this rank, modulo their number.
    Fill(usize),
    /// A segment that has arrived arrives again.
    Repeat(usize),
}

#[derive(Clone, Debug)]
struct Event {
    step: Step,
    gap: Span,
    ce: bool,
    full: bool,
    pushed: bool,
    cwr: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => Just(Step::Next),
        1 => (1u64..5).prop_map(Step::Skip),
        3 => (0usize..8).prop_map(Step::Fill),
        1 => (0usize..200).prop_map(Step::Repeat),
    ]
}

prop_compose! {
    fn any_event()(
        step in any_step(),
        // Nanoseconds: back to back, the spacing of a link, and pauses around the timeouts.
        gap in prop_oneof![
            1 => Just(0), 10 => 1_000u64..100_000, 2 => Just(25_000_000), 1 => Just(39_000_000),
            1 => Just(60_000_000), 1 => Just(2_000_000_000)
        ],
        ce in prop::bool::weighted(0.3),
        full in prop::bool::weighted(0.9),
        pushed in prop::bool::weighted(0.05),
        cwr in prop::bool::weighted(0.05),
    ) -> Event {
        Event { step, gap: Span(gap), ce, full, pushed, cwr }
    }
}

prop_compose! {
    fn any_stack()(
        switches in (any::<bool>(), prop::bool::weighted(0.8), any::<bool>(), any::<bool>()),
        quick_acks in prop::sample::select(vec![0u32, 2, 16]),
        ecn in prop::sample::select(vec![Ecn::Off, Ecn::Classic, Ecn::Dctcp]),
        compression in prop::sample::select(vec![(0u64, 44u32), (1_000_000, 44), (1_000_000, 2)]),
        gro in prop::sample::select(vec![(0u32, 0u64), (0, 0), (3, 50_000), (44, 200_000)]),
        tick_ms in prop::sample::select(vec![0u64, 1, 4, 10]),
    ) -> Stack {
        let (adaptive, sack, dsack, timestamps) = switches;
        let linux_6 = PROFILES.iter().find(|profile| profile.name == "linux-6").expect("linux-6");
        Stack {
            delayed_ack: if adaptive { AckDelay::Adaptive } else { AckDelay::Fixed },
            quick_acks, sack, dsack, timestamps, ecn,
            sack_compression_ns: Span(compression.0),
            sack_compression_segs: compression.1,
            gro_segs: gro.0,
            gro_flush_ns: Span(gro.1),
            timer_tick_ns: NonZeroU64::new(tick_ms * 1_000_000),
            ..(linux_6.stack)()
        }
    }
}

/// A receiver, the model, and the knowledge of a sender from the ACKs.
struct Bench {
    stack: Stack,
    receiver: Receiver,
    now: Time,
    /// Segments that arrived, with the mark of the first arrival.
    arrived: BTreeMap<u64, bool>,
    repeated: BTreeSet<u64>,
    /// All segments below have arrived.
    next: u64,
    frontier: u64,
    cumulative: u64,
    delivered: BTreeSet<u64>,
    delivered_with_ece: u64,
    acks: u64,
    /// The timestamp to echo by RFC 7323.
    recent: u32,
}

impl Bench {
    fn new(stack: Stack, rtt: Span) -> Self {
        let receiver = Receiver::new(&stack, rtt);
        Self {
            stack,
            receiver,
            now: Time::ZERO,
            arrived: BTreeMap::new(),
            repeated: BTreeSet::new(),
            next: 0,
            frontier: 0,
            cumulative: 0,
            delivered: BTreeSet::new(),
            delivered_with_ece: 0,
            acks: 0,
            recent: 0,
        }
    }

    fn is_merging(&self) -> bool {
        self.stack.gro_segs > 1
    }

    /// Return the segment that arrives in a step.
    fn number(&mut self, step: &Step) -> u64 {
        let missing = || (0..self.frontier).filter(|number| !self.arrived.contains_key(number));
        let chosen = match *step {
            Step::Next => None,
            Step::Skip(count) => Some(self.frontier + count),
            Step::Fill(rank) => missing().nth(rank % missing().count().max(1)),
            Step::Repeat(rank) => self.arrived.keys().nth(rank).copied(),
        };
        let number = chosen.unwrap_or(self.frontier);
        self.frontier = self.frontier.max(number + 1);
        number
    }

    fn on_event(&mut self, event: &Event) {
        self.pass(self.now + event.gap);
        let number = self.number(&event.step);
        let &Event { ce, full, pushed, cwr, .. } = event;
        let stamp = dumbbell_tcp::clock(self.now);
        let accepted = number >= self.next && number <= self.cumulative;
        if self.stack.timestamps && accepted {
            self.recent = self.recent.max(stamp);
        }
        if self.arrived.contains_key(&number) {
            self.repeated.insert(number);
        }
        self.arrived.entry(number).or_insert(ce);
        while self.arrived.contains_key(&self.next) {
            self.next += 1;
        }
        let first =
            self.receiver.on_data(self.now, Arrival { number, stamp, ce, cwr, full, pushed });
        let last = self.read_all(first);
        if !self.is_merging() {
            self.check_answer(number, pushed, full, last);
        }
        self.check_state();
    }

    /// Let time pass, with all timers until then.
    fn pass(&mut self, until: Time) {
        while let Some(deadline) = self.receiver.deadline().filter(|due| *due <= until) {
            assert!(deadline >= self.now, "a deadline that has passed");
            self.now = deadline;
            let first = self.receiver.on_timer(deadline);
            self.read_all(first);
            self.check_state();
        }
        self.now = self.now.max(until);
    }

    fn read_all(&mut self, first: Option<Ack>) -> Option<(Ack, SackBlocks)> {
        let (mut next, mut last) = (first, None);
        while let Some(ack) = next {
            let blocks =
                if ack.has_blocks { self.receiver.blocks().clone() } else { SackBlocks::default() };
            assert_eq!(ack.has_blocks, !blocks.is_empty());
            self.read(ack, &blocks);
            last = Some((ack, blocks));
            next = self.receiver.also();
        }
        last
    }

    /// Read an ACK as a sender would.
    fn read(&mut self, ack: Ack, blocks: &SackBlocks) {
        assert!(ack.cumulative >= self.cumulative && ack.cumulative <= self.next, "{ack:?}");
        self.check_blocks(ack, blocks);
        assert!(self.stack.ecn != Ecn::Off || !ack.ece);
        let spans = blocks.as_slice().iter().cloned();
        let before = self.delivered.len();
        self.delivered.extend((self.cumulative..ack.cumulative).chain(spans.flatten()));
        if ack.ece {
            self.delivered_with_ece += (self.delivered.len() - before) as u64;
        }
        self.cumulative = ack.cumulative;
        self.acks += 1;
    }

    fn check_blocks(&self, ack: Ack, blocks: &SackBlocks) {
        let space = if self.stack.timestamps { 3 } else { 4 };
        assert!(blocks.len() <= if self.stack.sack { space } else { 0 });
        let mut seen = BTreeSet::new();
        for block in blocks.as_slice() {
            assert!(block.start > ack.cumulative && block.start < block.end, "{ack:?} {blocks:?}");
            for number in block.clone() {
                assert!(self.arrived.contains_key(&number), "{number} never arrived");
                assert!(seen.insert(number), "{number} is in two blocks");
            }
        }
        if let Some(duplicate) = blocks.duplicate() {
            assert!(self.stack.dsack && duplicate.start < duplicate.end);
            assert!(duplicate.clone().all(|number| self.repeated.contains(&number)));
            let holds =
                |block: &Range<u64>| block.start <= duplicate.start && duplicate.end <= block.end;
            let below = duplicate.end <= ack.cumulative;
            assert!(below || blocks.as_slice().first().is_some_and(holds), "{blocks:?}");
        }
    }

    /// Check the answer without receive offload: its contents, and whether it came at once.
    fn check_answer(&self, number: u64, pushed: bool, full: bool, last: Option<(Ack, SackBlocks)>) {
        let waiting = self.next - self.cumulative;
        assert!(waiting < 2 || !full, "{waiting} segments wait, one of them full");
        let in_order = number < self.next;
        assert!(last.is_some() || !in_order || !pushed);
        let may_wait = self.stack.sack_compression_ns > Span::ZERO && self.stack.sack;
        assert!(last.is_some() || in_order || may_wait);
        let Some((ack, blocks)) = last else { return };
        assert_eq!(ack.cumulative, self.next);
        if self.stack.sack && !in_order {
            // Or it waits, and the ACK that waited before was sent to make space.
            let waits = may_wait && self.receiver.deadline().is_some();
            let comes_first = blocks.as_slice()[0].contains(&number);
            assert!(comes_first || waits, "the latest comes first: {blocks:?}");
        }
        if self.stack.ecn == Ecn::Off {
            assert_eq!(ack.echo, self.recent);
        }
    }

    fn check_state(&self) {
        assert_eq!(self.receiver.received_segs(), self.arrived.len() as u64);
        assert!(self.receiver.next() <= self.next);
        assert!(self.receiver.next() == self.next || self.is_merging());
        if self.cumulative < self.next {
            let due = self.receiver.deadline().expect("an acknowledgement that is due some time");
            assert!(due <= self.now + Span::from_millis(200));
        }
    }

    /// End the arrivals.
    fn stop(&mut self) {
        for _ in 0..3 {
            if let Some(deadline) = self.receiver.deadline() {
                self.pass(deadline);
            }
        }
        assert_eq!(self.receiver.deadline(), None);
        assert_eq!((self.receiver.next(), self.cumulative), (self.next, self.next));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn acknowledgements_say_what_arrived_and_all_of_it(
        stack in any_stack(),
        events in prop::collection::vec(any_event(), 1..150),
        rtt in prop::sample::select(vec![Span::ZERO, Span::from_millis(2), Span::from_millis(150)]),
    ) {
        let mut bench = Bench::new(stack, rtt);
        for event in &events[..events.len() - 1] {
            bench.on_event(event);
        }
        // The last arrival is acknowledged, too, by a later ACK.
        bench.pass(bench.now + Span::from_millis(500));
        let acks = bench.acks;
        bench.on_event(&events[events.len() - 1]);
        bench.stop();
        prop_assert!(bench.acks > acks);
    }

    #[test]
    fn dctcp_counts_exactly_the_segments_that_were_marked(
        stack in any_stack(),
        events in prop::collection::vec(any_event(), 1..150),
    ) {
        let sack_compression_ns = Span::ZERO;
        let stack = Stack { ecn: Ecn::Dctcp, sack: true, sack_compression_ns, ..stack };
        let mut bench = Bench::new(stack, Span::from_millis(10));
        events.iter().for_each(|event| bench.on_event(event));
        bench.stop();
        let marked = bench.arrived.values().filter(|ce| **ce).count() as u64;
        prop_assert_eq!(bench.delivered.len(), bench.arrived.len());
        prop_assert_eq!(bench.delivered_with_ece, marked);
    }
}
