//! The network in real time: packets arrive as a queue in theory predicts, however rarely the
//! driver calls it.

use dumbbell_network::{
    Direction, Drive, LinkConfig, Network, NetworkConfig, Outcome, Packet, Path, Time,
};
use proptest::prelude::*;

const RATE_BPS: u64 = 8_000_000;
const BYTES: u64 = 1_000;
/// Transmission time of a packet.
const PACKET_NS: u64 = BYTES * 8 * 1_000_000_000 / RATE_BPS;
const DELAY_NS: u64 = 3_000_000;
const END: Time = Time(1 << 60);

fn link(discipline: &str) -> LinkConfig {
    let text = format!(
        r#"{{"name": "link", "rate": {{"constant": {RATE_BPS}}}, "delay": [[0, {DELAY_NS}]],
        "overhead_bytes": 0, "policer": null, "loss": [], "duplicate": 0.0, "reorder": null,
        "queue": {{"limit": {{"packets": 1000000}}, "discipline": {discipline}}},
        "jitter_ns": 0, "batch_ns": 0, "sampled": true}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// A network whose flow `f` is `f` times `step_ns` away from the shared link.
fn network(discipline: &str, flows: u64, step_ns: u64) -> Network {
    let route = |before: u64| {
        serde_json::from_str(&format!(
            r#"{{"hops": [{{"link": 0, "delay_ns": {before}}}], "delay_ns": 7}}"#
        ))
        .unwrap()
    };
    let paths: Vec<Path> =
        (0..flows).map(|flow| Path { forward: route(flow * step_ns), reverse: None }).collect();
    let (interval, drive) = (None, Drive::Real);
    let config = NetworkConfig { seed: 1, end: END, interval, drive, shortcuts: true };
    Network::new(&[link(discipline)], &paths, &[], config)
}

/// Send packets (time, flow), which are in order of time, and call the network only then. Return
/// the time of each delivery, by number.
fn delivered(mut network: Network, sent: &[(u64, u32)]) -> Vec<u64> {
    let mut times = vec![0; sent.len()];
    let mut meet = |outcome: Outcome| match outcome {
        Outcome::Delivered(arrival) => times[arrival.packet.number() as usize] = arrival.time.0,
        Outcome::UnderWay | Outcome::Several => {}
        other => panic!("{other:?}"),
    };
    for (number, &(at, flow)) in sent.iter().enumerate() {
        while let Some(outcome) = network.until(Time(at)) {
            meet(outcome);
        }
        let packet = Packet::new(flow, Direction::Forward, BYTES as u16, number as u64);
        meet(network.send(Time(at), packet));
    }
    while let Some(outcome) = network.until(END) {
        meet(outcome);
    }
    assert_eq!(network.due(), Time::NEVER);
    times
}

/// Return the same by theory: the link sends one packet after the other as they reach it.
fn expected(sent: &[(u64, u32)], step_ns: u64) -> Vec<u64> {
    let reaches = |&(at, flow): &(u64, u32)| at + u64::from(flow) * step_ns;
    let mut order: Vec<usize> = (0..sent.len()).collect();
    // Packets that reach the link at one time are in the order of distances, the nearest first.
    order.sort_by_key(|&number| (reaches(&sent[number]), sent[number].1, number));
    let (mut times, mut free) = (vec![0; sent.len()], 0);
    for number in order {
        free = free.max(reaches(&sent[number])) + PACKET_NS;
        times[number] = free + DELAY_NS + 7;
    }
    times
}

fn sendings() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0u64..3_000_000, 0u32..4), 1..60).prop_map(|mut gaps| {
        let mut now = 0;
        for (time, _) in &mut gaps {
            now += *time;
            *time = now;
        }
        gaps
    })
}

fn sorted(mut times: Vec<u64>) -> Vec<u64> {
    times.sort_unstable();
    times
}

proptest! {
    #[test]
    fn hosts_at_one_distance_share_a_queue_in_the_order_of_sending(sent in sendings()) {
        let times = delivered(network(r#"{"kind": "fifo"}"#, 4, 0), &sent);
        let (mut free, mut theory) = (0, Vec::new());
        for (at, _) in &sent {
            free = free.max(*at) + PACKET_NS;
            theory.push(free + DELAY_NS + 7);
        }
        prop_assert_eq!(times, theory);
    }

    #[test]
    fn hosts_at_different_distances_share_it_in_the_order_of_arrival(
        sent in sendings(), step_ns in 1u64..9_000_000,
    ) {
        let times = delivered(network(r#"{"kind": "fifo"}"#, 4, step_ns), &sent);
        // Two packets that reach the link at exactly the same time may go in either order.
        prop_assert_eq!(sorted(times), sorted(expected(&sent, step_ns)));
    }

    #[test]
    fn a_scheduler_is_as_busy_as_a_queue(sent in sendings(), step_ns in 0u64..9_000_000) {
        let fair = r#"{"kind": "fq", "quantum_bytes": 1000, "initial_quantum_bytes": 1000,
            "flow_limit_packets": 1000000}"#;
        let times = delivered(network(fair, 4, step_ns), &sent);
        prop_assert_eq!(sorted(times), sorted(expected(&sent, step_ns)));
    }
}
