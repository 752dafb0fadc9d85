//! Links that share the memory of a switch, compared with a naive switch and a closed form.

use std::collections::BTreeMap;

use dumbbell_network::{
    Direction, Drive, Event, LinkConfig, Network, NetworkConfig, Outcome, Packet, Path, Time,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const RATE_BPS: u64 = 8_000_000;
const BYTE_NS: u64 = 8 * 1_000_000_000 / RATE_BPS;
const END: Time = Time(1 << 60);
/// Classes with all flows in the same class.
const CLASSES: &str = r#"{"kind":"classes","by":{"flows":[0,0,0,0,0,0]},"threshold":null,
    "serve":{"priority":{"classes":1}}}"#;

fn link(rate: Value, delay_ns: u64, discipline: &Value, memory: Value) -> LinkConfig {
    let link = json!({
        "name": "port", "rate": rate, "delay": [[0, delay_ns]], "overhead_bytes": 0,
        "queue": {"limit": null, "discipline": discipline}, "policer": null, "loss": [],
        "duplicate": 0.0, "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": false,
        "memory": memory,
    });
    let link: LinkConfig = serde_json::from_value(link).unwrap();
    link.check().unwrap();
    link
}

/// A packet to send: its time, flow and size.
type Sent = (u64, usize, u16);

/// A switch. Flow `f` comes from `f` steps away to the port `f` modulo the number of ports.
#[derive(Clone, Copy, Debug)]
struct Switch {
    ports: usize,
    bytes: u64,
    alpha: f64,
    step_ns: u64,
}

impl Switch {
    /// A network of ports. Every other flow passes a link with a delay only before its port.
    fn network(&self, flows: usize, discipline: &str, drive: Drive) -> Network {
        let discipline: Value = serde_json::from_str(discipline).unwrap();
        let memory = json!({"switch": 3, "bytes": self.bytes, "alpha": self.alpha});
        let port = link(json!({"constant": RATE_BPS}), 0, &discipline, memory);
        let edge = link(Value::Null, self.step_ns, &json!({"kind": "fifo"}), Value::Null);
        let mut links = vec![port; self.ports];
        links.push(edge);
        let path = |flow: usize| {
            let port = flow % self.ports;
            let before = flow as u64 * self.step_ns;
            let hops = if flow % 2 == 0 {
                json!([{"link": port, "delay_ns": before}])
            } else {
                let nearer = before - self.step_ns;
                json!([{"link": self.ports, "delay_ns": nearer}, {"link": port, "delay_ns": 0}])
            };
            let forward = serde_json::from_value(json!({"hops": hops, "delay_ns": 5})).unwrap();
            Path { forward, reverse: None }
        };
        let paths: Vec<_> = (0..flows).map(path).collect();
        let config = NetworkConfig { seed: 1, end: END, interval: None, drive, shortcuts: true };
        Network::new(&links, &paths, &[], config)
    }

    /// Return the time at which each packet is delivered by theory; 0 if it is lost.
    fn expected(&self, sent: &[Sent]) -> Vec<u64> {
        let reaches = |&(at, flow, _): &Sent| at + flow as u64 * self.step_ns;
        let mut order: Vec<usize> = (0..sent.len()).collect();
        order.sort_by_key(|&number| reaches(&sent[number]));
        // Start and end of each packet's transmission, and its bytes.
        let mut queues = vec![Vec::<(u64, u64, u64)>::new(); self.ports];
        let mut times = vec![0; sent.len()];
        for number in order {
            let (now, bytes) = (reaches(&sent[number]), u64::from(sent[number].2));
            let waiting = |queue: &Vec<(u64, u64, u64)>| -> u64 {
                queue.iter().filter(|&&(begins, ..)| begins > now).map(|&(.., bytes)| bytes).sum()
            };
            let free = self.bytes - queues.iter().map(waiting).sum::<u64>();
            let queue = &mut queues[sent[number].1 % self.ports];
            let sent_all = queue.last().map_or(0, |&(_, ends, _)| ends);
            let holds = (waiting(queue) + bytes) as f64;
            if sent_all > now && (bytes > free || holds > self.alpha * free as f64) {
                continue;
            }
            let begins = now.max(sent_all);
            queue.push((begins, begins + bytes * BYTE_NS, bytes));
            times[number] = begins + bytes * BYTE_NS + 5;
        }
        times
    }
}

/// Return the time at which each packet is delivered, in virtual or real time.
fn delivered(mut network: Network, sent: &[Sent], drive: Drive) -> Vec<u64> {
    let mut times = vec![0; sent.len()];
    let mut meet = |outcome: Outcome| {
        if let Outcome::Delivered(arrival) = outcome {
            times[arrival.packet.number() as usize] = arrival.time.0;
        }
    };
    let packet = |number: usize| {
        let (_, flow, bytes) = sent[number];
        Packet::new(flow as u32, Direction::Forward, bytes, number as u64)
    };
    if drive == Drive::Real {
        for (number, &(at, ..)) in sent.iter().enumerate() {
            while let Some(outcome) = network.until(Time(at)) {
                meet(outcome);
            }
            meet(network.send(Time(at), packet(number)));
        }
        while let Some(outcome) = network.until(END) {
            meet(outcome);
        }
        return times;
    }
    // The senders of each process, and their packets to send, the next last.
    let processes: Vec<Vec<usize>> = network.processes().map(<[usize]>::to_vec).collect();
    let mut to_send: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, &(_, flow, _)) in sent.iter().enumerate().rev() {
        let process = processes.iter().position(|routes| routes.contains(&(2 * flow + 1))).unwrap();
        to_send.entry(process).or_default().push(number);
    }
    let due = |numbers: &Vec<usize>| numbers.last().map_or(Time::NEVER, |&next| Time(sent[next].0));
    for (&process, numbers) in &to_send {
        network.set_timer(process, due(numbers));
    }
    loop {
        match network.next_event() {
            Event::End => return times,
            Event::Arrival(arrival) => meet(Outcome::Delivered(arrival)),
            Event::Outcome(Outcome::Reaches(arrival, link)) => {
                meet(network.enter_other(arrival, link));
            }
            Event::Outcome(outcome) => meet(outcome),
            Event::Service(link, time) => meet(network.serve(time, link)),
            Event::Timer(process, time) => {
                let numbers = to_send.get_mut(&process).unwrap();
                let number = numbers.pop().unwrap();
                let next = due(numbers);
                meet(network.send(time, packet(number)));
                network.set_timer(process, next);
            }
        }
    }
}

prop_compose! {
    fn any_switch()(
        ports in 1usize..4, bytes in 1_500u64..20_000, power in -3i32..4, step_us in 0u64..900,
    ) -> Switch {
        Switch { ports, bytes, alpha: f64::from(power).exp2(), step_ns: step_us * 1_000 }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Packets come from different distances, and the ports get them in order of time.
    #[test]
    fn ports_take_what_a_naive_switch_takes(
        switch in any_switch(),
        gaps in prop::collection::vec((0u64..400, 0usize..6, 40u16..1_500), 1..200),
        discipline in prop::sample::select(vec![r#"{"kind":"fifo"}"#, CLASSES]),
        drive in prop::sample::select(vec![Drive::Virtual, Drive::Real]),
    ) {
        // No two packets are sent at once: nanoseconds number the packets.
        let (mut now_us, mut sent) = (0, Vec::new());
        for (number, (gap_us, flow, bytes)) in gaps.into_iter().enumerate() {
            now_us += gap_us;
            sent.push((now_us * 1_000 + number as u64, flow, bytes));
        }
        let network = switch.network(6, discipline, drive);
        prop_assert_eq!(delivered(network, &sent, drive), switch.expected(&sent));
    }
}

/// Return the bytes that wait at each port when all ports and classes are overloaded.
fn saturated(ports: usize, alpha: f64, bytes: u64, discipline: &str) -> Vec<u64> {
    let switch = Switch { ports, bytes, alpha, step_ns: 0 };
    let mut network = switch.network(6, discipline, Drive::Real);
    let size = 1_000;
    for number in 0..6_000u64 {
        let now = Time(number * size * BYTE_NS / 12);
        while network.until(now).is_some() {}
        network.send(now, Packet::new((number % 6) as u32, Direction::Forward, 1_000, number));
    }
    let mut under_way = |port| {
        let counters = network.counters(port).0;
        (counters.arrived_packets - counters.dropped_packets) * size
    };
    // By the end of the sending each port has sent a packet in each of its transmission times.
    (0..ports).map(|port| under_way(port) - 500 * size).collect()
}

#[test]
fn saturated_queues_hold_what_choudhury_and_hahne_say() {
    let fifo = r#"{"kind":"fifo"}"#;
    for (ports, alpha) in [(1, 1.0), (2, 1.0), (3, 1.0), (1, 0.5), (3, 8.0), (2, 0.25)] {
        let expected = alpha * 120_000.0 / (1.0 + ports as f64 * alpha);
        for occupied in saturated(ports, alpha, 120_000, fifo) {
            // The packet in transmission does not count.
            let difference = occupied as f64 - expected;
            assert!((-1_100.0..=1_100.0).contains(&difference), "{ports} {alpha}: {occupied}");
        }
    }
    // Three classes at each of two ports are six queues.
    let classes = r#"{"kind":"classes","by":{"flows":[0,0,1,1,2,2]},"threshold":null,
        "serve":{"round_robin":{"quantum_bytes":1000,"weights":[1,1,1]}}}"#;
    for occupied in saturated(2, 1.0, 140_000, classes) {
        let expected = 3.0 * 140_000.0 / 7.0;
        assert!((occupied as f64 - expected).abs() <= 4_000.0, "{occupied}");
    }
}
