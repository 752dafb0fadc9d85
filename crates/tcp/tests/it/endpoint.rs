//! Both ends of a connection over a network that loses, duplicates and reorders.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::segments;
use dumbbell_algorithm::Instance;
use dumbbell_network::{Random, Span, Time};
use dumbbell_tcp::{
    Ack, Arrival, Congestion, Handshake, Observer, PROFILES, ProbeRule, Receiver, SackBlocks,
    Sender, SenderConfig, Stack,
};
use proptest::prelude::*;

#[derive(Default)]
struct Reductions(Vec<Congestion>);

impl Observer for Reductions {
    fn congestion(&mut self, congestion: Congestion) {
        self.0.push(congestion);
    }
    fn timeout(&mut self, _: u32, _: u32) {}
    fn recovered(&mut self, _: u32, _: u32) {}
}

enum OnWire {
    Data(u64),
    Ack(Ack, SackBlocks),
}

/// A path with its packets by arrival time. A counter orders equal times.
struct Path {
    random: Random,
    trouble: Trouble,
    wire: BTreeMap<(Time, u64), OnWire>,
    sent: u64,
}

#[derive(Clone, Copy, Debug)]
struct Trouble {
    lost_per_mille: u64,
    duplicated_per_mille: u64,
    reordered_per_mille: u64,
}

impl Path {
    fn send(&mut self, now: Time, packet: impl Fn() -> OnWire) {
        let chance = |random: &mut Random, per_mille| random.up_to(999) < per_mille;
        if chance(&mut self.random, self.trouble.lost_per_mille) {
            return;
        }
        let copies = 1 + u64::from(chance(&mut self.random, self.trouble.duplicated_per_mille));
        for _ in 0..copies {
            let late = chance(&mut self.random, self.trouble.reordered_per_mille);
            let delay = Span::from_millis(10 + if late { 3 } else { 0 });
            self.sent += 1;
            self.wire.insert((now + delay, self.sent), packet());
        }
    }

    fn send_acks(&mut self, now: Time, receiver: &mut Receiver, first: Option<Ack>) {
        let mut next = first;
        while let Some(ack) = next {
            let blocks =
                if ack.has_blocks { receiver.blocks().clone() } else { SackBlocks::default() };
            self.send(now, || OnWire::Ack(ack, blocks.clone()));
            next = receiver.also();
        }
    }
}

fn full(number: u64) -> Arrival {
    Arrival { number, stamp: 0, ce: false, cwr: false, full: true, pushed: false }
}

struct Outcome {
    finished: Time,
    received: BTreeSet<u64>,
    sent_segs: u64,
    reductions: Vec<Congestion>,
}

/// Transfer `segs` segments in steps of at most a millisecond.
fn transfer(stack: &Stack, algorithm: &str, segs: u64, trouble: Trouble, seed: u64) -> Outcome {
    let algorithm = Instance::new(algorithm, None, &BTreeMap::new()).unwrap();
    let mut sender = Sender::new(stack, CONFIG, algorithm, Time::ZERO, seed);
    sender.supply(segs);
    let mut receiver = Receiver::new(stack, RTT);
    let mut path = Path { random: Random::new(seed, 0), trouble, wire: BTreeMap::new(), sent: 0 };
    let mut received = BTreeSet::new();
    let mut reductions = Reductions::default();
    let mut now = Time::ZERO;
    while !sender.is_done() {
        while let Some(burst) = sender.next_burst(now) {
            for segment in segments(&sender, burst) {
                assert!(segment.number < segs);
                path.send(now, || OnWire::Data(segment.number));
            }
        }
        let arrival = path.wire.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
        let timers = sender.deadline().min(receiver.deadline().unwrap_or(Time::NEVER));
        now = arrival.min(timers);
        assert!(now < Time::NEVER, "nothing will ever happen again");
        if arrival <= timers {
            match path.wire.pop_first().unwrap().1 {
                OnWire::Data(segment) => {
                    received.insert(segment);
                    let ack = receiver.on_data(now, full(segment));
                    path.send_acks(now, &mut receiver, ack);
                }
                OnWire::Ack(ack, blocks) => sender.on_ack(now, ack, &blocks, &mut reductions),
            }
        } else {
            let ack = receiver.on_timer(now);
            path.send_acks(now, &mut receiver, ack);
            sender.on_timer(now, &mut reductions);
        }
        assert_eq!(receiver.received_segs(), received.len() as u64);
        assert!(sender.acked_segs() <= receiver.received_segs());
        assert!(sender.conn().cwnd_segs >= 1);
    }
    let sent_segs = sender.counters().sent_segs;
    Outcome { finished: now, received, sent_segs, reductions: reductions.0 }
}

const CONFIG: SenderConfig = SenderConfig {
    mss_bytes: 1448,
    packet_bytes: 1500,
    overhead_bytes: 0,
    has_interface: false,
    tcp_bpf: None,
    handshake: Handshake::of(RTT),
};
const RTT: Span = Span::from_millis(20);

const CLEAN: Trouble =
    Trouble { lost_per_mille: 0, duplicated_per_mille: 0, reordered_per_mille: 0 };

fn stack(name: &str) -> Stack {
    (PROFILES.iter().find(|profile| profile.name == name).expect("a profile").stack)()
}

prop_compose! {
    fn any_trouble()(
        lost_per_mille in 0u64..200,
        duplicated_per_mille in 0u64..50,
        reordered_per_mille in 0u64..50,
    ) -> Trouble {
        Trouble { lost_per_mille, duplicated_per_mille, reordered_per_mille }
    }
}

proptest! {
    #[test]
    fn every_transfer_completes_and_every_segment_arrives(
        trouble in any_trouble(),
        segs in 1u64..800,
        seed: u64,
        profile in 0..PROFILES.len(),
        algorithm in prop::sample::select(vec!["reno", "cubic", "htcp", "fast"]),
    ) {
        let stack = (PROFILES[profile].stack)();
        let outcome = transfer(&stack, algorithm, segs, trouble, seed);
        prop_assert_eq!(outcome.received.len() as u64, segs);
        prop_assert!(outcome.sent_segs >= segs);
        for reduction in outcome.reductions {
            prop_assert!(reduction.ssthresh_segs >= 2);
            prop_assert!(reduction.cwnd_segs >= 1);
        }
    }
}

#[test]
fn a_clean_path_sees_slow_start_and_no_retransmission() {
    let outcome = transfer(&stack("linux-6"), "reno", 1_000, CLEAN, 1);
    assert_eq!(outcome.sent_segs, 1_000);
    assert!(outcome.reductions.is_empty());
    // 10 + 20 + ... + 320 + 370 segments take seven round trips of 20 ms. The last ACK waits for at
    // most 40 ms.
    assert!(outcome.finished <= Time(190_000_000), "{:?}", outcome.finished);
}

#[test]
fn one_loss_costs_one_reduction_and_one_retransmission() {
    let stack = stack("linux-6");
    let reno = Instance::new("reno", None, &BTreeMap::new()).unwrap();
    let mut sender = Sender::new(&stack, CONFIG, reno, Time::ZERO, 1);
    sender.supply(u64::MAX);
    let mut receiver = Receiver::new(&stack, RTT);
    let mut reductions = Reductions::default();
    while sender.next_burst(Time::ZERO).is_some() {}
    assert_eq!(sender.in_flight(), 10);
    let now = Time(20_000_000);
    let mut retransmitted = Vec::new();
    for segment in (0..10).filter(|&segment| segment != 3) {
        if let Some(ack) = receiver.on_data(now, full(segment)) {
            let blocks =
                if ack.has_blocks { receiver.blocks().clone() } else { SackBlocks::default() };
            sender.on_ack(now, ack, &blocks, &mut reductions);
        }
        while let Some(burst) = sender.next_burst(now) {
            retransmitted.extend(burst.is_retransmission.then_some(burst.first));
        }
    }
    assert_eq!(retransmitted, [3]);
    let ssthresh = reductions.0[0].cwnd_segs / 2;
    assert_eq!(reductions.0.len(), 1);
    assert_eq!(reductions.0[0].ssthresh_segs, ssthresh);
    let ack = receiver.on_data(now, full(3)).expect("the hole is filled");
    assert_eq!(ack.cumulative, 10);
}

#[test]
fn a_timeout_starts_again_from_one_segment_and_doubles() {
    let stack = Stack { tail_probe: ProbeRule::Off, ..stack("linux-6") };
    let reno = Instance::new("reno", None, &BTreeMap::new()).unwrap();
    let mut sender = Sender::new(&stack, CONFIG, reno, Time::ZERO, 1);
    sender.supply(u64::MAX);
    let mut reductions = Reductions::default();
    while sender.next_burst(Time::ZERO).is_some() {}
    let first = sender.deadline();
    assert_eq!(first, Time(220_000_000), "the handshake took 20 ms, and 200 are the floor");
    sender.on_timer(first, &mut reductions);
    assert_eq!(sender.conn().cwnd_segs, 1);
    let burst = sender.next_burst(first).expect("the first segment again");
    assert_eq!((burst.first, burst.segs, burst.is_retransmission), (0, 1, true));
    assert_eq!(sender.next_burst(first), None);
    assert_eq!(sender.deadline(), Time(660_000_000));
    sender.on_timer(sender.deadline(), &mut reductions);
    assert_eq!(reductions.0.len(), 1, "the second timeout in a row reduces nothing further");
    assert_eq!(sender.deadline(), Time(1_540_000_000));
}

/// Return the retransmissions after a timeout and the first ACK, as first segments and lengths.
fn sent_again(tso: bool) -> Vec<(u64, u32)> {
    let stack = Stack { tso, frto: false, tail_probe: ProbeRule::Off, ..stack("linux-6") };
    let reno = Instance::new("reno", None, &BTreeMap::new()).unwrap();
    let mut sender = Sender::new(&stack, CONFIG, reno, Time::ZERO, 1);
    sender.supply(u64::MAX);
    while sender.next_burst(Time::ZERO).is_some() {}
    let mut now = sender.deadline();
    sender.on_timer(now, &mut Reductions::default());
    let mut bursts = Vec::new();
    for cumulative in [1, 3] {
        bursts.extend(std::iter::from_fn(|| sender.next_burst(now)));
        now = Time(now.0 + RTT.0);
        let ack = Ack { cumulative, ..Ack::default() };
        sender.on_ack(now, ack, &SackBlocks::default(), &mut Reductions::default());
    }
    bursts.extend(std::iter::from_fn(|| sender.next_burst(now)));
    assert!(bursts.iter().all(|burst| burst.is_retransmission));
    assert_eq!(sender.counters().retransmitted_segs, 7);
    bursts.iter().map(|burst| (burst.first, burst.segs)).collect()
}

#[test]
fn lost_chunks_are_sent_again_as_chunks() {
    assert_eq!(sent_again(false), (0..7).map(|segment| (segment, 1)).collect::<Vec<_>>());
    assert_eq!(sent_again(true), [(0, 1), (1, 2), (3, 2), (5, 2)]);
}
