//! Real connections over the emulator, with the kernel's own sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::*;
use crate::host::{RECEIVER, SENDER};
use crate::ports::port_of_flow;
use crate::tuning::{Tuning, linux_6};
use crate::turn::Turn;

/// One flow over a link of `rate_bps`, with `delay_ms` in each direction.
fn scenario(rate_bps: u64, delay_ms: u64, packets: u32, loss: f64) -> Scenario {
    let queue = json!({"limit": {"packets": packets}, "discipline": {"kind": "fifo"}});
    let link = |name: &str, loss: f64| {
        let losses = match loss {
            0.0 => json!([]),
            _ => json!([{"kind": "bernoulli", "probability": [[0, loss]]}]),
        };
        json!({
            "name": name, "rate": {"constant": rate_bps}, "delay": [[0, delay_ms * 1_000_000]],
            "overhead_bytes": 0, "queue": queue, "policer": null, "loss": losses,
            "duplicate": 0.0, "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": true,
        })
    };
    let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
    let text = json!({
        "seed": 1, "duration_ns": 2_000_000_000u64,
        "links": [link("forward", loss), link("reverse", 0.0)],
        "flows": [{
            "label": "a", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
            "header_bytes": 52, "forward": route(0), "reverse": route(1), "sampled": true,
            "transport": {"tcp": {
                "algorithm": "reno", "preset": null, "parameters": {},
                "stack": {"profile": "linux-6", "switches": {}}, "demand": "endless",
            }},
        }],
        "record": {"interval_ns": 100_000_000, "events": ["drop", "loss", "retransmit"],
                   "algorithm_state": false, "capture": false},
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

fn pair(offload: bool) -> Pair {
    let tuning = Tuning { offload, ..Tuning::of(&linux_6(), 8 << 20, false) };
    let host = |address| Host::new(address, 1_500, &tuning).unwrap();
    Pair { sender: host(SENDER), receiver: host(RECEIVER) }
}

fn listener(pair: &Pair) -> TcpListener {
    let port = port_of_flow(0);
    pair.receiver.namespace.run(|| TcpListener::bind((RECEIVER, port)).unwrap())
}

fn connected(pair: &Pair) -> TcpStream {
    let port = port_of_flow(0);
    pair.sender.namespace.run(|| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&std::net::SocketAddr::from((SENDER, port)).into()).unwrap();
        socket.connect(&std::net::SocketAddr::from((RECEIVER, port)).into()).unwrap();
        socket.into()
    })
}

/// A bulk transfer: the emulator's measurements, and the time that its threads waited for
/// processors.
struct Bulk {
    emulated: Emulated,
    waited: Duration,
}

impl std::ops::Deref for Bulk {
    type Target = Emulated;

    fn deref(&self) -> &Emulated {
        &self.emulated
    }
}

impl Bulk {
    /// Return false if the machine made the threads wait for so long that rates prove nothing.
    fn is_judged(&self) -> bool {
        let is_judged = self.waited < Duration::from_millis(200);
        if !is_judged {
            // To stderr itself, since the test harness hides the output of a test that passes.
            writeln!(std::io::stderr(), "not judged: held up for {:?}", self.waited).unwrap();
        }
        is_judged
    }
}

/// Time that this thread was ready to run without a processor, as the kernel counts it.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited_ns = text.split_whitespace().nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(waited_ns.unwrap_or(0))
}

/// A bulk transfer that runs until the emulator stops. One at a time.
fn bulk(scenario: &Scenario, offload: bool) -> Bulk {
    let _turn = Turn::wait(&AtomicBool::new(false)).unwrap();
    let pairs = [pair(offload)];
    let clock = Clock::starting_in(Span::from_millis(300));
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let emulator = Emulator::new(scenario, &pairs, &[0], clock.clone());
        let emulated = scope.spawn(|| (emulator.run(&stop), waited()));
        let listener = listener(&pairs[0]);
        let mut sender = connected(&pairs[0]);
        let mut receiver = listener.accept().unwrap().0;
        for stream in [&sender, &receiver] {
            stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        }
        while clock.now().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        let sends = scope.spawn(move || {
            while sender.write(&[0; 1 << 16]).is_ok() {}
            waited()
        });
        let receives = scope.spawn(move || {
            while receiver.read(&mut [0; 1 << 16]).is_ok_and(|n| n > 0) {}
            waited()
        });
        let (emulated, waited) = emulated.join().unwrap();
        let waited = waited + sends.join().unwrap() + receives.join().unwrap();
        Bulk { emulated, waited }
    })
}

#[test]
fn a_bulk_transfer_gets_the_rate_of_the_link_and_every_packet_is_accounted_for() {
    let emulated = bulk(&scenario(100_000_000, 10, 200, 0.0), false);
    let flow = emulated.flows[0].counters;
    let carried = flow.received_packets + flow.dropped_packets + flow.lost_packets;
    assert_eq!(flow.sent_packets, carried + flow.in_flight_packets);
    let (link, samples) = &emulated.links[0];
    assert_eq!((samples.len(), link.dropped_packets), (20, flow.dropped_packets));
    let utilisation = link.departed_bytes as f64 * 8.0 / 2.0 / 100e6;
    assert!(!emulated.is_judged() || (0.8..=1.0).contains(&utilisation), "{utilisation}");
    assert_eq!(emulated.refused, 0);
}

#[test]
fn losses_and_retransmissions_are_seen() {
    let emulated = bulk(&scenario(100_000_000, 10, 200, 0.01), false);
    let (flow, events) = (emulated.flows[0].counters, emulated.events.as_slice());
    let count = |kind: EventKind| events.iter().filter(|event| event.kind == kind as u8).count();
    assert_eq!(count(EventKind::Loss) as u64, flow.lost_packets);
    assert_eq!(count(EventKind::Retransmit) as u64, flow.retransmitted_packets);
    if !emulated.is_judged() {
        return;
    }
    assert!(flow.lost_packets > 5, "{flow:?}");
    let lost_first = events.iter().find(|event| event.kind == EventKind::Loss as u8).unwrap();
    let again = events.iter().any(|event| {
        event.kind == EventKind::Retransmit as u8
            && event.segment == lost_first.segment
            && event.time_ns > lost_first.time_ns + 20_000_000
    });
    assert!(again, "segment {} was not sent again", lost_first.segment);
}

#[test]
fn chunks_of_offloading_hosts_are_cut_into_the_same_packets() {
    let emulated = bulk(&scenario(100_000_000, 10, 200, 0.0), true);
    let flow = emulated.flows[0].counters;
    assert!(!emulated.is_judged() || flow.received_packets > 10_000, "{flow:?}");
    // The last packet of a chunk may be short.
    let payload = flow.sent_bytes as f64 / flow.sent_packets as f64;
    assert!((1_400.0..=1_448.0).contains(&payload), "{payload}");
    let carried = flow.received_packets + flow.dropped_packets + flow.lost_packets;
    assert_eq!(flow.sent_packets, carried + flow.in_flight_packets);
}
