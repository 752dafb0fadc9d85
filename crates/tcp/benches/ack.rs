//! The cost of an ACK at a sender with an undisturbed window: nanoseconds for each ACK with all
//! segments that it releases, without receiver or network.
//!
//! `cargo bench -p dumbbell-tcp --bench ack` prints the fastest of many rounds, because the machine
//! does other work, too.
#![allow(clippy::disallowed_methods, reason = "speed is measured")]

use std::collections::BTreeMap;
use std::time::Instant;

use dumbbell_algorithm::Instance;
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{
    Ack, Congestion, Handshake, Observer, PROFILES, SackBlocks, Sender, SenderConfig,
};

struct Silent;

impl Observer for Silent {
    fn congestion(&mut self, _: Congestion) {}
    fn timeout(&mut self, _: u32, _: u32) {}
    fn recovered(&mut self, _: u32, _: u32) {}
}

const ACKS: u64 = 20_000;
const ROUNDS: usize = 150;
/// Time between two ACKs.
const SPACING: Span = Span(12_000);

/// A sender in congestion avoidance.
fn sender(algorithm: &str, now: &mut Time) -> Sender {
    let config = SenderConfig {
        mss_bytes: 1448,
        packet_bytes: 1500,
        overhead_bytes: 0,
        has_interface: false,
        tcp_bpf: None,
        handshake: Handshake::of(Span::from_millis(10)),
    };
    let stack = (PROFILES.iter().find(|profile| profile.name == "linux-6").unwrap().stack)();
    let algorithm = Instance::new(algorithm, None, &BTreeMap::new()).unwrap();
    let mut sender = Sender::new(&stack, config, algorithm, *now, 1);
    sender.supply(u64::MAX);
    while sender.in_flight() < 600 {
        advance(&mut sender, now, 1);
    }
    while sender.counters().timeouts == 0 {
        *now = sender.deadline();
        sender.on_timer(*now, &mut Silent);
        while sender.next_burst(*now).is_some() {}
    }
    for _ in 0..ACKS {
        advance(&mut sender, now, 1);
    }
    sender
}

fn advance(sender: &mut Sender, now: &mut Time, segs: u64) {
    if sender.next_fast_burst(*now).is_none() {
        while sender.next_burst(*now).is_some() {}
    }
    *now += SPACING;
    let cumulative = sender.acked_segs() + segs;
    let ack = Ack { cumulative, ..Ack::default() };
    sender.on_ack(*now, ack, &SackBlocks::default(), &mut Silent);
}

fn main() {
    println!("{:<12} {:>14} {:>10}", "algorithm", "segments/ACK", "ns/ACK");
    for algorithm in ["reno", "cubic", "htcp"] {
        for segs in [1, 2] {
            let mut now = Time::ZERO;
            let mut sender = sender(algorithm, &mut now);
            let round = |_| {
                let begin = Instant::now();
                (0..ACKS).for_each(|_| advance(&mut sender, &mut now, segs));
                begin.elapsed().as_nanos() as f64 / ACKS as f64
            };
            let fastest = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
            println!("{algorithm:<12} {segs:>14} {fastest:>10.1}");
        }
    }
}
