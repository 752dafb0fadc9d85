//! Hosts can count their packets by the outcomes that the network reports. A host that stores
//! something for a packet, such as a buffer or SACK blocks, knows at all times how many copies
//! exist.

use std::collections::BTreeMap;

use dumbbell_network::{
    Arrival, Direction, Discipline, Drive, Event, LinkConfig, Network, NetworkConfig, Outcome,
    Packet, Path, Time,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const END: Time = Time(200_000_000);

/// Draw any discipline, with little space.
fn any_queue() -> impl Strategy<Value = Value> {
    let read = |json| serde_json::from_str::<Value>(json).unwrap();
    let all = Discipline::quick_examples().into_iter().map(read);
    // The classes of an example are those of other flows.
    let all = all.filter(|discipline| discipline["by"]["flows"].is_null()).collect::<Vec<_>>();
    let discipline = prop::sample::select(all);
    let limit = prop_oneof![
        (1u32..8).prop_map(|packets| json!({"packets": packets})),
        (100u32..2_000).prop_map(|bytes| json!({"bytes": bytes})),
        Just(json!({"packets": 1_000})),
    ];
    (discipline, limit)
        .prop_map(|(discipline, limit)| json!({"discipline": discipline, "limit": limit}))
}

fn sometimes(values: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    prop_oneof![3 => Just(Value::Null), 1 => values.boxed()]
}

prop_compose! {
    fn any_link()(
        queue in any_queue(),
        rate in prop_oneof![4 => (300_000u64..5_000_000).prop_map(|rate| json!({"constant": rate})), 1 => Just(Value::Null)],
        delay_ns in prop_oneof![Just(0u64), 0u64..3_000_000],
        duplicate in prop_oneof![Just(0.0), Just(0.5), 0.0f64..0.5],
        reorder in sometimes((0.05f64..0.5, 1u64..5_000_000)
            .prop_map(|(probability, delay)| json!({"probability": probability, "delay_ns": delay}))),
        policer in sometimes(Just(json!({"rate_bps": 1_000_000, "burst_bytes": 500}))),
        loss in sometimes((0.0f64..0.3).prop_map(|p| json!([{"kind": "bernoulli", "probability": [[0, p]]}]))),
        jitter_ns in prop_oneof![3 => Just(0u64), 1 => 1u64..2_000_000],
        batch_ns in prop_oneof![3 => Just(0u64), 1 => 1u64..2_000_000],
        memory in sometimes(Just(json!({"switch": 0, "bytes": 900, "alpha": 0.7}))),
        variation in sometimes((any::<bool>(), 0u64..2_000_000).prop_map(|(overtaken, deviation)| json!({
            "mean_ns": 500_000, "deviation_ns": deviation, "distribution": "pareto", "overtaken": overtaken,
        }))),
        routes in sometimes((0u64..5_000_000).prop_map(|at| json!([[0, 1], [at + 1, 2]]))),
        holds in sometimes((1u32..20).prop_map(Value::from)),
    ) -> LinkConfig {
        // A link without a rate has no queue, so no shared memory.
        let memory = if rate.is_null() { Value::Null } else { memory };
        let link = json!({
            "name": "link", "rate": rate, "delay": [[0, delay_ns]], "overhead_bytes": 0,
            "queue": queue, "policer": policer, "loss": if loss.is_null() { json!([]) } else { loss },
            "duplicate": duplicate, "reorder": reorder, "jitter_ns": jitter_ns,
            "batch_ns": batch_ns, "sampled": false, "memory": memory, "variation": variation, "route": routes, "holds": holds,
        });
        let link: LinkConfig = serde_json::from_value(link).unwrap();
        link.check().unwrap();
        link
    }
}

/// Flow `f` is `f` steps away. Data passes the links in their order, and the reverse direction
/// passes its links in the opposite order.
fn path(links: usize, flow: u64, step_ns: u64) -> Path {
    let route = |links: Vec<usize>, before: u64| {
        let delay = |position| if position == 0 { before } else { 0 };
        let hops = links.iter().enumerate();
        let hops = hops.map(|(position, link)| json!({"link": link, "delay_ns": delay(position)}));
        serde_json::from_value(json!({"hops": hops.collect::<Vec<_>>(), "delay_ns": 9})).unwrap()
    };
    let forward = (0..links).collect();
    let reverse = (links..2 * links).rev().collect();
    Path { forward: route(forward, flow * step_ns), reverse: Some(route(reverse, 0)) }
}

/// Hosts that send at given times and count their packets.
struct Hosts {
    /// Packets that each route's host still has to send, the next last.
    to_send: BTreeMap<usize, Vec<(Time, Packet)>>,
    /// Packets as they were sent, by number, and the current number of copies of each.
    sent: Vec<(Packet, u32)>,
    /// Number of departures from the first link until the end, by reports.
    departed: u64,
}

impl Hosts {
    /// Hosts that send after each pause on one of the routes.
    fn new(pauses: &[(u64, usize)]) -> Self {
        let (mut to_send, mut sent) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
        let mut now = Time::ZERO;
        for (number, &(pause, route)) in (0..).zip(pauses) {
            now = Time(now.0 + pause);
            let direction = [Direction::Forward, Direction::Reverse][route % 2];
            let bytes = 40 + (number * 37 % 200) as u16;
            let packet = Packet::new(route as u32 / 2, direction, bytes, number);
            to_send.entry(route).or_default().push((now, packet));
            sent.push((packet, 0));
        }
        to_send.values_mut().for_each(|packets| packets.reverse());
        Self { to_send, sent, departed: 0 }
    }

    fn next_of(&self, route: usize) -> Time {
        let next = self.to_send.get(&route).and_then(|packets| packets.last());
        next.map_or(Time::NEVER, |&(time, _)| time)
    }

    fn send(&mut self, route: usize, network: &mut Network) -> Outcome {
        let packets = self.to_send.get_mut(&route).expect("a host that sends");
        let (time, packet) = packets.pop().expect("something to send");
        self.sent[packet.number() as usize].1 = 1;
        network.send(time, packet)
    }

    /// Return the number of copies of a packet that has an outcome. There must be at least one.
    fn copies_of(&mut self, packet: Packet) -> &mut u32 {
        let (sent, copies_of) = &mut self.sent[packet.number() as usize];
        assert_eq!((packet.flow(), packet.direction()), (sent.flow(), sent.direction()));
        assert!(*copies_of > 0, "an outcome of {packet:?} when all of it are gone");
        copies_of
    }

    fn take(&mut self, outcome: Outcome, network: &mut Network) {
        match outcome {
            Outcome::UnderWay => {}
            Outcome::Duplicated(packet) => *self.copies_of(packet) += 1,
            Outcome::Departs(Arrival { time, packet }, link) => {
                self.copies_of(packet);
                assert_eq!(link, 0, "another link was not asked");
                self.departed += u64::from(time <= END);
            }
            Outcome::Lost(Arrival { packet, .. }, ..)
            | Outcome::Delivered(Arrival { packet, .. }) => {
                *self.copies_of(packet) -= 1;
            }
            Outcome::Reaches(arrival, link) => {
                let outcome = network.enter_other(arrival, link);
                self.take(outcome, network);
            }
            Outcome::Several => {
                while let Some(outcome) = network.next_outcome() {
                    self.take(outcome, network);
                }
            }
        }
    }

    /// Run hosts with separate clocks, as in a simulation.
    fn run_virtually(&mut self, network: &mut Network) {
        let processes: Vec<Vec<usize>> = network.processes().map(<[usize]>::to_vec).collect();
        // A host that receives over one route sends over the other.
        let next = |hosts: &Self, process: usize| {
            let all = processes[process].iter().map(|&route| (hosts.next_of(route ^ 1), route ^ 1));
            all.min().expect("a process has routes")
        };
        for process in 0..processes.len() {
            network.set_timer(process, next(self, process).0);
        }
        loop {
            match network.next_event() {
                Event::End => return,
                Event::Arrival(arrival) => self.take(Outcome::Delivered(arrival), network),
                Event::Outcome(outcome) => self.take(outcome, network),
                Event::Service(link, time) => {
                    let outcome = network.serve(time, link);
                    self.take(outcome, network);
                }
                Event::Timer(process, time) => {
                    let (due, route) = next(self, process);
                    assert_eq!(due, time);
                    let outcome = self.send(route, network);
                    self.take(outcome, network);
                    network.set_timer(process, next(self, process).0);
                }
            }
        }
    }

    /// Run hosts in real time, as those of the testbed.
    fn run_in_real_time(&mut self, network: &mut Network) {
        while let Some((time, route)) =
            self.to_send.keys().map(|&route| (self.next_of(route), route)).min()
        {
            while let Some(outcome) = network.until(time.min(END)) {
                self.take(outcome, network);
            }
            if time > END {
                return;
            }
            let outcome = self.send(route, network);
            self.take(outcome, network);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_packet_that_is_gone_has_no_outcome_and_each_loss_is_reported(
        links in (1usize..3).prop_flat_map(|links| prop::collection::vec(any_link(), 2 * links)),
        (flows, pauses) in (1usize..4).prop_flat_map(|flows| {
            let pause = (prop_oneof![Just(0u64), 0u64..1_500_000], 0..2 * flows);
            (Just(flows as u64), prop::collection::vec(pause, 1..150))
        }),
        step_ns in prop_oneof![Just(0u64), 1u64..2_000_000],
        seed: u64,
        drive in prop::sample::select(vec![Drive::Virtual, Drive::Real]),
    ) {
        let paths: Vec<_> = (0..flows).map(|flow| path(links.len() / 2, flow, step_ns)).collect();
        let config = NetworkConfig { seed, end: END, interval: None, drive, shortcuts: true };
        let mut network = Network::new(&links, &paths, &[], config);
        network.report_departures(0);
        let are_reported = network.departs_by(0).is_none();
        let mut hosts = Hosts::new(&pauses);
        match drive {
            Drive::Virtual => hosts.run_virtually(&mut network),
            Drive::Real => hosts.run_in_real_time(&mut network),
        }
        hosts.take(Outcome::Several, &mut network);
        for packet in network.under_way() {
            *hosts.copies_of(packet) -= 1;
        }
        let departed = network.counters(0).0.departed_packets;
        prop_assert_eq!(hosts.departed, if are_reported { departed } else { 0 });
        for (packet, copies_of) in hosts.sent {
            prop_assert_eq!(copies_of, 0, "{:?} got lost without an outcome", packet);
        }
    }
}
