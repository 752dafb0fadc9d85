//! The network alone, as the testbed's emulator drives it: in real time, with unknown hosts.

use dumbbell_network::{
    Direction, Drive, DropCause, Ecn, LinkConfig, Network, NetworkConfig, Outcome, Packet, Path,
    Random, Route, Span, Time,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::links::{features, rings};
use crate::common::{MILLISECOND, link};

const PACKETS: u64 = 6_000;
const END: Time = Time(8_000 * MILLISECOND);

pub fn cases() -> Vec<(String, Value)> {
    let having = |feature: &Value| {
        let queue = json!({"limit": {"packets": 40}, "discipline": {"kind": "fifo"}});
        let mut bottleneck =
            link("bottleneck", Some(10_000_000), &json!({"queue": queue, "sampled": true}));
        for (key, value) in feature.as_object().expect("keys of a link") {
            bottleneck[key] = value.clone();
        }
        let edge = link("edge", Some(40_000_000), &json!({}));
        let back = link("back", Some(10_000_000), &json!({"sampled": true}));
        json!([bottleneck, back, edge])
    };
    let cases = [features(), rings()].concat().into_iter();
    cases.map(|(name, feature)| (format!("network/{name}"), having(&feature))).collect()
}

/// Three flows, one of them with a separate link, and answers to some of their packets.
pub fn drive(links: &Value, digest: &mut Sha256) {
    let links: Vec<LinkConfig> = serde_json::from_value(links.clone()).expect("links");
    let (interval, drive) = (Some(Span::from_millis(100)), Drive::Real);
    let config = NetworkConfig { seed: 1, end: END, interval, drive, shortcuts: true };
    let mut network = Network::new(&links, &paths(), &[], config);
    let mut random = Random::new(7, 7);
    let mut now = Time::ZERO;
    for number in 0..PACKETS {
        now += pause(&mut random);
        until(&mut network, now, digest);
        let outcome = network.send(now, packet(number, &mut random));
        hash(&outcome, digest);
    }
    until(&mut network, END, digest);
    for link in 0..links.len() {
        let (last, samples) = network.counters(link);
        for counters in samples.iter().chain([&last]) {
            let reported = [
                counters.arrived_packets,
                counters.duplicated_packets,
                counters.dropped_packets,
                counters.lost_packets,
                counters.marked_packets,
                counters.departed_packets,
                counters.departed_bytes,
                counters.backlog_packets.into(),
                counters.backlog_bytes,
                counters.backlog_packets_max.into(),
            ];
            reported.iter().for_each(|count| digest.update(count.to_le_bytes()));
            digest.update(counters.waiting_byte_ns.to_le_bytes());
        }
    }
}

fn paths() -> Vec<Path> {
    let route = |links: &[usize], delay_ms: u64| -> Route {
        let hops: Vec<_> =
            links.iter().map(|link| json!({"link": link, "delay_ns": 1_000})).collect();
        serde_json::from_value(json!({"hops": hops, "delay_ns": delay_ms * MILLISECOND}))
            .expect("a route")
    };
    let path = |forward: &[usize], delay_ms| Path {
        forward: route(forward, delay_ms),
        reverse: Some(route(&[1], delay_ms)),
    };
    vec![path(&[0], 5), path(&[0], 5), path(&[2, 0], 9)]
}

/// A pause before a packet: none, as for a link's packets, or longer. In total, the link cannot
/// carry all.
fn pause(random: &mut Random) -> Span {
    match random.up_to(99) {
        0..50 => Span::ZERO,
        50..98 => Span(random.up_to(2 * MILLISECOND)),
        _ => Span(random.up_to(30 * MILLISECOND)),
    }
}

fn packet(number: u64, random: &mut Random) -> Packet {
    let flow = random.up_to(2) as u32;
    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][flow as usize];
    if random.up_to(3) == 0 {
        return Packet::new(flow, Direction::Reverse, 52, number);
    }
    let bytes = [1500, 1500, 600, 100][random.up_to(3) as usize];
    Packet::new(flow, Direction::Forward, bytes, number).with_ecn(ecn)
}

fn until(network: &mut Network, now: Time, digest: &mut Sha256) {
    while network.due() <= now {
        let Some(outcome) = network.until(now) else { break };
        hash(&outcome, digest);
    }
}

/// Add a packet's outcome to the digest, whether the network reports it at once or later.
fn hash(outcome: &Outcome, digest: &mut Sha256) {
    let (kind, time, packet) = match outcome {
        Outcome::UnderWay | Outcome::Several => return,
        Outcome::Delivered(arrival) => (1, arrival.time, Some(arrival.packet)),
        Outcome::Lost(arrival, link, cause) => {
            digest.update((*link as u64).to_le_bytes());
            let kind = match cause {
                DropCause::Overflow => 2,
                DropCause::Random => 3,
            };
            (kind, arrival.time, Some(arrival.packet))
        }
        Outcome::Duplicated(packet) => (4, Time::ZERO, Some(*packet)),
        Outcome::Departs(arrival, link) => {
            digest.update((*link as u64).to_le_bytes());
            (6, arrival.time, Some(arrival.packet))
        }
        Outcome::Reaches(..) => unreachable!("`Network::send` goes on there"),
    };
    digest.update([kind]);
    digest.update(time.0.to_le_bytes());
    if let Some(packet) = packet {
        digest.update(packet.number().to_le_bytes());
        digest.update([packet.ecn() as u8, packet.direction() as u8]);
    }
}
