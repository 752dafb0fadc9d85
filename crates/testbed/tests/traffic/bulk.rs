//! Data without end, in bursts and until a stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dumbbell_network::Span;
use dumbbell_record::{EventKind, Table};
use dumbbell_testbed::traffic::SocketTuning;
use dumbbell_testbed::{Error, Namespace};
use serde_json::json;

use crate::path::{Conditions, FREE, Path};
use crate::setup::{MS, PLAIN, alone, on_off, run, scenario, start_with, tcp, times};

const NARROW: Conditions = Conditions {
    rate_bps: Some(50_000_000),
    queue_bytes: 100_000,
    delay: Duration::from_millis(5),
};

#[test]
fn a_flow_starts_and_stops_on_time_and_its_bytes_are_conserved() {
    let _alone = alone();
    let flows = [tcp(100, Some(700), json!("endless")), tcp(500, Some(900), json!("endless"))];
    let output = run(&Path::new(NARROW), &scenario(1_500, 100, &flows));
    for (kind, planned) in [(EventKind::Start, [100, 500]), (EventKind::Stop, [700, 900])] {
        for (time, planned) in times(&output, kind).iter().zip(planned) {
            let late = time.checked_sub(planned * MS).expect("not too early");
            assert!(late < 20 * MS, "{kind:?} {late} ns late");
        }
    }
    for (end, stopped) in output.ends.iter().zip([700, 900]) {
        assert_eq!(end.end_ns, Some(stopped * MS));
        assert!(end.retransmitted_segs > 0, "{end:?}");
        assert!(end.sent_bytes > 500_000, "{end:?}");
        assert_eq!(end.received_bytes, end.acked_bytes);
        assert_eq!(end.acked_bytes + end.retransmitted_segs * 1_448, end.sent_bytes, "{end:?}");
        assert_eq!(end.sent_segs * 1_448, end.sent_bytes, "{end:?}");
    }
    let rate = output.ends[0].received_bytes as f64 * 8.0 / 0.6;
    assert!(rate < 51e6 * 1_448.0 / 1_500.0, "{rate}");
    assert!(output.busy_permille < 500, "{}", output.busy_permille);
}

#[test]
fn the_application_is_never_the_limit() {
    let _alone = alone();
    let output = run(&Path::new(FREE), &scenario(500, 100, &[tcp(0, None, json!("endless"))]));
    let [end] = output.ends[..] else { panic!("one flow") };
    assert!(end.limits.busy_us > 450_000, "{end:?}");
    assert!(end.limits.buffer_us * 100 <= end.limits.busy_us, "{end:?}");
    assert!(end.received_bytes > 20_000_000, "{end:?}");
    println!("{} permille busy, {end:?}", output.busy_permille);
}

#[test]
fn bursts_come_at_the_times_of_the_simulator() {
    let _alone = alone();
    let bursts = json!({"on_off": on_off(60, 90, true)});
    let scenario = scenario(2_000, 10, &[tcp(0, None, bursts)]);
    let path = Path::new(Conditions { delay: Duration::from_millis(1), ..FREE });
    let output = run(&path, &scenario);
    let simulated = dumbbell_simulator::run(scenario, &AtomicBool::new(false)).unwrap();
    let columns = simulated.flows.columns();
    let sent = columns.iter().find(|column| column.name == "sent_bytes").unwrap();
    let simulated: Vec<_> =
        sent.bytes.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let measured: Vec<_> = output.flows.iter().map(|row| row.sent_bytes).collect();
    let grows = |sent: &[u64]| -> Vec<_> { sent.windows(2).map(|two| two[0] < two[1]).collect() };
    let (simulated, measured) = (grows(&simulated), grows(&measured));
    assert_eq!(simulated.len(), measured.len());
    assert!(simulated.iter().any(|sends| *sends) && simulated.iter().any(|sends| !sends));
    // Queues differ, so the edges of bursts may be seen in the next interval.
    let differ = simulated.iter().zip(&measured).filter(|(a, b)| a != b).count();
    let edges = simulated.windows(2).filter(|two| two[0] != two[1]).count();
    assert!(differ <= edges, "{differ} of {}, {edges} edges", simulated.len());
}

#[test]
fn a_window_clamp_holds_and_is_seen() {
    let _alone = alone();
    let tuning = SocketTuning { window_clamp_bytes: Some(20_000), ..PLAIN };
    let scenario = scenario(600, 100, &[tcp(0, None, json!("endless"))]);
    let path = Path::new(NARROW);
    let output =
        start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap().finish().unwrap();
    let in_flight: Vec<_> = output.flows.iter().map(|row| row.in_flight_segs).collect();
    assert!(in_flight.iter().all(|segs| *segs <= 20_000 / 1_448), "{in_flight:?}");
    let [end] = output.ends[..] else { panic!("one flow") };
    assert!(end.limits.window_us * 2 > end.limits.busy_us, "{end:?}");
    assert!(end.received_bytes > 500_000, "{end:?}");
}

#[test]
fn a_paced_flow_has_a_rate_and_only_then() {
    let _alone = alone();
    let scenario = scenario(300, 100, &[tcp(0, None, json!("endless"))]);
    for paced in [false, true] {
        let tuning = SocketTuning { pace_all: paced, paced, ..PLAIN };
        let path = Path::new(NARROW);
        let traffic = start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap();
        let output = traffic.finish().unwrap();
        assert!(output.flows.iter().all(|row| (row.pacing_rate_bytes_per_s > 0) == paced));
    }
}

#[test]
fn hundreds_of_flows_share_a_thread() {
    let _alone = alone();
    let flows: Vec<_> = (0..400).map(|flow| tcp(flow % 100, None, json!("endless"))).collect();
    let output = run(&Path::new(NARROW), &scenario(1_000, 100, &flows));
    assert_eq!(times(&output, EventKind::Start).len(), 400);
    let received: u64 = output.ends.iter().map(|end| end.received_bytes).sum();
    assert!(received > 3_000_000, "{received}");
    println!("{} permille busy with 400 flows", output.busy_permille);
}

#[test]
fn a_host_that_is_not_there_is_a_clear_error() {
    let _alone = alone();
    let (path, nowhere) = (Path::new(FREE), Namespace::new().unwrap());
    let scenario = scenario(300, 100, &[tcp(0, None, json!("endless"))]);
    let hosts = [&nowhere, &path.receivers];
    let traffic = start_with(hosts, &scenario, PLAIN, &Arc::default()).unwrap();
    let error = traffic.finish().unwrap_err().to_string();
    assert!(error.contains("flow 0 (a) cannot connect: Network is unreachable"), "{error}");
}

#[test]
fn a_refused_connection_is_a_clear_error_and_ends_the_thread() {
    let _alone = alone();
    // Whoever listens is not where the senders' path leads.
    let (path, elsewhere) = (Path::new(FREE), Path::new(FREE));
    let scenario = scenario(60_000, 100, &[tcp(0, None, json!("endless"))]);
    let hosts = [&path.senders, &elsewhere.receivers];
    let traffic = start_with(hosts, &scenario, PLAIN, &Arc::default()).unwrap();
    let begun = Instant::now();
    while !traffic.is_over() {
        assert!(begun.elapsed() < Duration::from_secs(2), "it goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
    let error = traffic.finish().unwrap_err().to_string();
    assert!(error.contains("flow 0 (a) cannot connect: Connection refused"), "{error}");
}

#[test]
fn a_connection_that_is_late_is_reported_and_serves_all_the_same() {
    let _alone = alone();
    let path = Path::new(Conditions { delay: Duration::from_millis(60), ..FREE });
    let tuning = SocketTuning { lead: Span(20 * MS), ..PLAIN };
    let scenario = scenario(700, 100, &[tcp(0, None, json!("endless"))]);
    let traffic = start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap();
    let output = traffic.finish().unwrap();
    assert_eq!(output.late_connections, [0]);
    assert!(output.ends[0].received_bytes > 0);
}

#[test]
fn a_cancelled_run_ends_soon() {
    let _alone = alone();
    let path = Path::new(FREE);
    let cancel = Arc::new(AtomicBool::new(false));
    let scenario = scenario(60_000, 100, &[tcp(0, None, json!("endless"))]);
    let traffic = start_with(path.hosts(), &scenario, PLAIN, &cancel).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    cancel.store(true, Ordering::Relaxed);
    assert!(matches!(traffic.finish(), Err(Error::Cancelled)));
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
}
