//! Whole runs on the real kernel. The guards, not these tests, check that the machine keeps up.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::Algorithms;
use dumbbell_record::{EventKind, NO_FLOW, NO_QUEUE, Output};
use dumbbell_testbed::{Error, Options, ParityReport, parity, run};
use serde_json::{Value, json};

use crate::alone::undisturbed;
use crate::scenarios::{dumbbell, flow, parsed, tcp, with_loss};

fn carried_out(scenario: &Value) -> Result<Output, Error> {
    carried_out_with(scenario, Options::default(), false)
}

fn carried_out_with(scenario: &Value, options: Options, cancelled: bool) -> Result<Output, Error> {
    run(&parsed(scenario), &Algorithms::default(), options, &Arc::new(AtomicBool::new(cancelled)))
}

fn count(output: &Output, kind: EventKind) -> usize {
    output.events.kind.iter().filter(|code| **code == kind as u8).count()
}

/// Algorithms that run at once, each on a separate link, to save time.
const BESIDE: usize = 7;

/// Each algorithm alone, on both directions of a separate dumbbell.
fn network_with(names: &[&str]) -> Value {
    let flows: Vec<_> = names.iter().map(|name| tcp(name, json!("endless"))).collect();
    let mut scenario = dumbbell(50_000_000, 2_000, &flows);
    let both = scenario["links"].clone();
    for (index, name) in names.iter().enumerate().skip(1) {
        for (way, first) in [("forward", 0), ("reverse", 1)] {
            let mut link = both[first].clone();
            link["name"] = json!(format!("{way} of {name}"));
            scenario["flows"][index][way]["hops"][0]["link"] = json!(2 * index + first);
            scenario["links"].as_array_mut().unwrap().push(link);
        }
    }
    scenario
}

#[test]
fn every_algorithm_fills_a_link_is_sampled_and_loses_no_packet_unreported() {
    undisturbed(|| {
        let names: Vec<_> =
            dumbbell_algorithm::registry().iter().map(|algorithm| algorithm.name).collect();
        for names in names.chunks(BESIDE) {
            let output = carried_out(&network_with(names));
            let output = output.unwrap_or_else(|error| panic!("{names:?}: {error}"));
            for (index, name) in names.iter().enumerate() {
                let flow = &output.summary.flows[index];
                let goodput = flow.received_bytes as f64 * 8.0 / 2.0;
                // As in Linux, TCP-LP yields to the queue of its own slow start.
                let least = if name.ends_with("lp") { 1e6 } else { 20e6 };
                assert!((least..=48.3e6).contains(&goodput), "{name}: {goodput}");
                assert!(flow.rtt_min_us.unwrap() >= 20_000, "{name}: {flow:?}");
                let arrived = flow.received_packets + flow.dropped_packets + flow.lost_packets;
                assert_eq!(flow.sent_segs, arrived + flow.in_flight_packets, "{name}");
                let rows =
                    |flows: &[u32]| flows.iter().filter(|flow| **flow == index as u32).count();
                let (sampled, internal) = (&output.flows.flow, &output.internals.flow);
                assert_eq!((rows(sampled), rows(internal)), (20, 20), "{name}");
            }
            assert_eq!(count(&output, EventKind::Start), names.len());
        }
    });
}

#[test]
fn modes_change_where_samples_say_so() {
    undisturbed(|| {
        let flows = ["bbr", "reno"].map(|name| tcp(name, json!("endless")));
        for algorithm_state in [true, false] {
            let mut scenario = dumbbell(20_000_000, 2_000, &flows);
            scenario["record"]["interval_ns"] = json!(10_000_000);
            scenario["record"]["modes"] = json!(true);
            scenario["record"]["algorithm_state"] = json!(algorithm_state);
            let output = carried_out(&scenario).unwrap();
            let (modes, internals) = (&output.modes, &output.internals);
            assert!(modes.flow.iter().all(|flow| *flow == 0), "Reno has none: {modes:?}");
            // Startup, with its gain.
            assert_eq!((modes.mode[0], modes.info2[0]), (0, 739));
            assert_eq!(internals.flow.is_empty(), !algorithm_state);
            let sampled = (0..internals.flow.len()).filter(|row| internals.flow[*row] == 0);
            let mut changes: Vec<_> =
                sampled.map(|row| (internals.info3[row], internals.time_ns[row])).collect();
            changes.dedup_by_key(|(mode, _)| *mode);
            let kept = modes.mode.iter().map(|mode| u32::from(*mode)).zip(modes.time_ns.clone());
            assert!(
                !algorithm_state || changes == kept.collect::<Vec<_>>(),
                "{changes:?}: {modes:?}"
            );
        }
    });
}

#[test]
fn an_algorithm_begins_with_its_flow_even_if_the_connection_is_older() {
    undisturbed(|| {
        let mut scenario = dumbbell(50_000_000, 150, &[tcp("westwood", json!("endless"))]);
        scenario["record"]["interval_ns"] = json!(10_000_000);
        let output = carried_out(&scenario).unwrap();
        let rows = output.internals.time_ns.iter().zip(&output.internals.info0);
        let (_, raw) = rows.clone().find(|(_, raw)| **raw > 0).unwrap();
        // The first window of 50 ms ends in the third round trip, with what the first two have sent:
        // 29 segments in 60 ms. If it began with the connection, it would end at the first ACK without
        // data, and the next one would have 69 segments in 60 ms. In eighths of a byte per ms.
        let first = 8 * 29 * 1_448 / 60;
        assert!((first * 8 / 10..first * 12 / 10).contains(raw), "{:?}", rows.collect::<Vec<_>>());
    });
}

#[test]
fn every_algorithm_does_natively_what_it_does_in_the_kernel() {
    undisturbed(|| {
        let names = dumbbell_algorithm::registry().iter().map(|algorithm| algorithm.name);
        let flows: Vec<_> = names.map(|name| tcp(name, json!("endless"))).collect();
        let scenario = with_loss(dumbbell(200_000_000, 3_000, &flows), 0.005);
        let reports =
            parity(&parsed(&scenario), &Algorithms::default(), &Arc::new(AtomicBool::new(false)))
                .unwrap();
        assert_eq!(reports.len(), flows.len());
        let calls = |report: &ParityReport| report.callbacks.values().sum::<u64>();
        // Some algorithms yield the link to the others, or begin with the loss of a window of one.
        assert!(reports.iter().map(calls).sum::<u64>() > 100 * reports.len() as u64, "{reports:?}");
        for report in reports {
            assert!(report.callbacks.contains_key("ssthresh"), "{report:?}");
            assert_eq!((report.differing, report.lost_records), (0, 0), "{:?}", report.mismatches);
        }
    });
}

#[test]
fn the_kernels_own_modules_can_be_requested() {
    undisturbed(|| {
        let with = |algorithm: &str| {
            let scenario = dumbbell(20_000_000, 1_000, &[tcp(algorithm, json!("endless"))]);
            carried_out_with(
                &scenario,
                Options { kernel_modules: true, ..Options::default() },
                false,
            )
        };
        assert!(with("cubic").unwrap().summary.flows[0].received_bytes > 500_000);
        let refusal = with("scalable").unwrap_err().to_string();
        assert!(refusal.contains("scalable") && refusal.contains("cubic"), "{refusal}");
    });
}

#[test]
fn requests_and_datagrams_share_a_link() {
    undisturbed(|| {
        let datagrams = flow(json!({"udp": {"rate_bps": 5_000_000, "on_off": null}}), 28);
        let requests = tcp("cubic", json!({"requests": {"bytes": 10_000, "pause_ns": 0}}));
        let output = carried_out(&dumbbell(20_000_000, 2_000, &[datagrams, requests])).unwrap();
        let [datagrams, requests] = &output.summary.flows[..] else { panic!("two flows") };
        let sent_bps = datagrams.sent_segs as f64 * 1_500.0 * 8.0 / 2.0;
        assert!((4.9e6..=5.01e6).contains(&sent_bps), "{sent_bps}");
        assert_eq!(datagrams.received_packets + datagrams.in_flight_packets, datagrams.sent_segs);
        // Each takes a round trip and the time to send 10 kB.
        assert!(output.requests.latency_ns.iter().all(|latency| *latency > 20_000_000));
        assert!((40..=95).contains(&output.requests.number.len()), "{requests:?}");
    });
}

/// Delays are in the network's time, so a busy machine does not change the delay on an empty path.
#[test]
fn delays_of_packets_are_those_of_the_network() {
    undisturbed(|| {
        let datagrams = flow(json!({"udp": {"rate_bps": 5_000_000, "on_off": null}}), 28);
        let mut scenario =
            dumbbell(20_000_000, 2_000, &[datagrams, tcp("cubic", json!("endless"))]);
        scenario["record"]["delays_ns"] = json!(500_000_000);
        let output = carried_out(&scenario).unwrap();
        let flow = &output.summary.flows[0];
        let delay = flow.delay.unwrap();
        // 600 us on the wire, 10 ms of propagation, and at most 100 packets in the queue before it.
        assert_eq!(delay.min_ns, 10_600_000);
        assert!((11_000_000..=71_200_000).contains(&delay.mean_ns), "{delay:?}");
        assert!(delay.max_ns <= 71_200_000 && delay.jitter_ns.unwrap() > 10_000, "{delay:?}");
        assert!(output.summary.flows[1].delay.is_none());
        let packets = |queue: u32, flow: u32| -> u64 {
            let whose = output.delays.queue.iter().zip(&output.delays.flow);
            let rows = whose.zip(&output.delays.packets);
            rows.filter(|&((&q, &f), _)| (q, f) == (queue, flow)).map(|(_, packets)| packets).sum()
        };
        assert_eq!(packets(NO_QUEUE, 0), flow.received_packets);
        let begun = packets(0, 0) + packets(0, 1) + packets(0, NO_FLOW);
        assert!((0..=1).contains(&(begun - output.summary.queues[0].departed_packets)), "{begun}");
        assert!(output.delays.time_ns.iter().all(|time| time % 500_000_000 == 0));
        // At 0.1, 0.2 ... 2 s.
        let table = &output.datagrams;
        assert_eq!(table.time_ns.len(), 20);
        assert_eq!(table.received_packets[19], flow.received_packets);
        assert_eq!(table.delay_sum_ns[19] / table.received_packets[19], delay.mean_ns);
        assert!(table.received_packets.is_sorted() && table.delay_sum_ns.is_sorted());
    });
}

#[test]
fn what_is_stopped_stops_and_a_cancelled_run_ends() {
    undisturbed(|| {
        let mut first = tcp("reno", json!("endless"));
        first["stop_ns"] = json!(500_000_000);
        let mut second = tcp("reno", json!({"transfer": 100_000}));
        second["start_ns"] = json!(800_000_000);
        let output = carried_out(&dumbbell(20_000_000, 2_000, &[first, second])).unwrap();
        let [first, second] = &output.summary.flows[..] else { panic!("two flows") };
        assert_eq!(first.end_ns, 500_000_000);
        assert!(first.received_bytes < 2_000_000, "{first:?}");
        assert!((850_000_000..1_500_000_000).contains(&second.end_ns), "{second:?}");
        assert_eq!(
            (second.received_bytes, output.requests.bytes.clone()),
            (100_000, vec![100_000])
        );
        assert_eq!((count(&output, EventKind::Stop), count(&output, EventKind::Done)), (1, 1));

        let long = dumbbell(20_000_000, 60_000, &[tcp("reno", json!("endless"))]);
        let ended = carried_out_with(&long, Options::default(), true);
        assert!(matches!(ended, Err(Error::Cancelled)), "{:?}", ended.map(|output| output.summary));
    });
}

/// Two bottlenecks in a row, the second with a fair queue and marks. One flow passes both. One
/// enters at the second, from further away. One goes in the other direction.
#[test]
fn any_network_of_the_simulator_is_there() {
    undisturbed(|| {
        let mut scenario = dumbbell(20_000_000, 2_000, &[]);
        let mut second = scenario["links"][0].clone();
        second["name"] = json!("second");
        second["rate"] = json!({"constant": 15_000_000});
        second["queue"]["discipline"] = json!({
            "kind": "fq-codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": true,
            "queues": 64, "quantum_bytes": 1514,
        });
        scenario["links"].as_array_mut().unwrap().push(second);
        let route = |hops: &[(usize, u64)]| {
            let hops = hops.iter().map(|(link, delay)| json!({"link": link, "delay_ns": delay}));
            json!({"hops": hops.collect::<Vec<_>>(), "delay_ns": 0})
        };
        let mut long = tcp("cubic", json!("endless"));
        long["forward"] = route(&[(0, 0), (2, 1_000_000)]);
        long["transport"]["tcp"]["stack"]["switches"] = json!({"ecn": "classic"});
        let mut short = tcp("reno", json!("endless"));
        short["forward"] = route(&[(2, 7_000_000)]);
        let mut back = tcp("bic", json!("endless"));
        (back["forward"], back["reverse"]) = (route(&[(1, 0)]), route(&[(0, 0)]));
        scenario["flows"] = json!([long, short, back]);
        let output = carried_out(&scenario).unwrap();
        let [long, short, back] = &output.summary.flows[..] else { panic!("three flows") };
        let rate_bps = |flow: &dumbbell_record::FlowSummary| flow.received_bytes as f64 * 4.0;
        // Fair shares of the second link; the reverse path has a separate link.
        for flow in [long, short] {
            assert!((4e6..11e6).contains(&rate_bps(flow)), "{flow:?}");
        }
        assert!(rate_bps(back) > 10e6, "{back:?}");
        assert!(long.marked_packets > 0 && short.marked_packets == 0, "{long:?}");
        let [base, base_short] = [long, short].map(|flow| flow.rtt_min_us.unwrap());
        // A loaded machine may delay even the first of them.
        assert!((31_000..60_000).contains(&base), "{base}");
        assert!((27_000..60_000).contains(&base_short), "{base_short}");
        for flow in &output.summary.flows {
            let arrived = flow.received_packets + flow.dropped_packets + flow.lost_packets;
            assert_eq!(flow.sent_segs, arrived + flow.in_flight_packets, "{flow:?}");
        }
    });
}
