//! Data without end, in bursts and until a stop.

use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dumbbell_algorithm::Algorithms;
use dumbbell_network::Span;
use dumbbell_record::{EventKind, Table};
use dumbbell_simulator::Control;
use dumbbell_testbed::Processors;
use dumbbell_testbed::traffic::{Plan, Seen, SocketTuning};
use dumbbell_testbed::{Error, Namespace};
use nix::sys::socket::SockaddrIn;
use serde_json::json;

use crate::alone::undisturbed;

use super::path::{Conditions, FREE, Path};
use super::setup::{
    MS, PLAIN, on_off, plan_of, run, scenario, start, start_as_planned, start_with, tcp, times,
};

const NARROW: Conditions = Conditions {
    rate_bps: Some(50_000_000),
    queue_bytes: 100_000,
    delay: Duration::from_millis(5),
};

#[test]
fn a_flow_starts_and_stops_on_time_and_its_bytes_are_conserved() {
    undisturbed(|| {
        let flows = [tcp(100, Some(700), json!("endless")), tcp(500, Some(900), json!("endless"))];
        let output = run(&Path::new(NARROW), &scenario(1_500, 100, &flows));
        for (kind, planned) in [(EventKind::Start, [100, 500]), (EventKind::Stop, [700, 900])] {
            for (time, planned) in times(&output, kind).iter().zip(planned) {
                let late = time.checked_sub(planned * MS).expect("not too early");
                assert!(late < 80 * MS, "{kind:?} {late} ns late");
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
    });
}

#[test]
fn the_application_is_never_the_limit() {
    undisturbed(|| {
        let output = run(&Path::new(FREE), &scenario(500, 100, &[tcp(0, None, json!("endless"))]));
        let [end] = output.ends[..] else { panic!("one flow") };
        assert!(end.limits.busy_us > 450_000, "{end:?}");
        assert!(end.limits.buffer_us * 100 <= end.limits.busy_us, "{end:?}");
        assert!(end.received_bytes > 20_000_000, "{end:?}");
        println!("{} permille busy, {end:?}", output.busy_permille);
    });
}

#[test]
fn bursts_come_at_the_times_of_the_simulator() {
    undisturbed(|| {
        let bursts = json!({"on_off": on_off(100, 150, true)});
        let scenario = scenario(3_000, 10, &[tcp(0, None, bursts)]);
        // A path like the simulator's network.
        let path = Path::new(Conditions {
            rate_bps: Some(100_000_000),
            queue_bytes: 1_500_000,
            delay: Duration::from_millis(1),
        });
        let tuning = SocketTuning { backlog_bytes: 1 << 15, ..PLAIN };
        let traffic = start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap();
        let output = traffic.finish().unwrap();
        let simulated =
            dumbbell_simulator::run(scenario, &Algorithms::default(), &Control::default()).unwrap();
        let columns = simulated.flows.columns();
        let sent = columns.iter().find(|column| column.name == "sent_bytes").unwrap();
        let simulated: Vec<_> = sent
            .bytes
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        let measured: Vec<_> = output.flows.iter().map(|row| row.sent_bytes).collect();
        let grows =
            |sent: &[u64]| -> Vec<_> { sent.windows(2).map(|two| two[0] < two[1]).collect() };
        let (simulated, measured) = (grows(&simulated), grows(&measured));
        assert_eq!(simulated.len(), measured.len());
        assert!(simulated.iter().any(|sends| *sends) && simulated.iter().any(|sends| !sends));
        // The edges of bursts may appear in the next interval.
        let differ = simulated.iter().zip(&measured).filter(|(a, b)| a != b).count();
        let edges = simulated.windows(2).filter(|two| two[0] != two[1]).count();
        assert!(differ <= edges, "{differ} of {}, {edges} edges", simulated.len());
    });
}

#[test]
fn a_window_clamp_holds_and_is_seen() {
    undisturbed(|| {
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
    });
}

#[test]
fn a_paced_flow_has_a_rate_and_only_then() {
    undisturbed(|| {
        let scenario = scenario(300, 100, &[tcp(0, None, json!("endless"))]);
        for paced in [false, true] {
            let tuning = SocketTuning { pace_all: paced, paced, ..PLAIN };
            let path = Path::new(NARROW);
            let traffic = start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap();
            let output = traffic.finish().unwrap();
            assert!(output.flows.iter().all(|row| (row.pacing_rate_bytes_per_s > 0) == paced));
        }
    });
}

#[test]
fn hundreds_of_flows_share_a_thread() {
    undisturbed(|| {
        let flows: Vec<_> = (0..400).map(|flow| tcp(flow % 100, None, json!("endless"))).collect();
        let output = run(&Path::new(NARROW), &scenario(1_000, 100, &flows));
        assert_eq!(times(&output, EventKind::Start).len(), 400);
        let received: u64 = output.ends.iter().map(|end| end.received_bytes).sum();
        assert!(received > 3_000_000, "{received}");
        println!("{} permille busy with 400 flows", output.busy_permille);
    });
}

#[test]
fn a_host_that_is_not_there_is_a_clear_error() {
    undisturbed(|| {
        let (path, nowhere) = (Path::new(FREE), Namespace::new().unwrap());
        let scenario = scenario(300, 100, &[tcp(0, None, json!("endless"))]);
        let hosts = [&nowhere, &path.receivers];
        let traffic = start_with(hosts, &scenario, PLAIN, &Arc::default()).unwrap();
        let error = traffic.finish().unwrap_err().to_string();
        assert!(error.contains("flow 0 (a) cannot connect: Network is unreachable"), "{error}");
    });
}

#[test]
fn an_unknown_algorithm_is_a_clear_error() {
    undisturbed(|| {
        let mut flow = tcp(0, None, json!("endless"));
        flow["transport"]["tcp"]["algorithm"] = json!("nosuch");
        let path = Path::new(FREE);
        let error = start(&path, &scenario(300, 100, &[flow])).unwrap_err().to_string();
        assert!(error.contains("flow 0 (nosuch)") && error.contains("dumbbell doctor"), "{error}");
    });
}

#[test]
fn a_refused_connection_is_a_clear_error_and_ends_the_thread() {
    undisturbed(|| {
        // The listener is not at the end of the senders' path.
        let (path, elsewhere) = (Path::new(FREE), Path::new(FREE));
        let scenario = scenario(60_000, 100, &[tcp(0, None, json!("endless"))]);
        let hosts = [&path.senders, &elsewhere.receivers];
        let traffic = start_with(hosts, &scenario, PLAIN, &Arc::default()).unwrap();
        let begun = Instant::now();
        while !traffic.is_over() {
            assert!(begun.elapsed() < Duration::from_secs(30), "it goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        let error = traffic.finish().unwrap_err().to_string();
        assert!(error.contains("flow 0 (a) cannot connect: Connection refused"), "{error}");
    });
}

#[test]
fn a_connection_that_is_late_is_reported_and_serves_all_the_same() {
    undisturbed(|| {
        let path = Path::new(Conditions { delay: Duration::from_millis(60), ..FREE });
        let tuning = SocketTuning { lead: Some(Span(20 * MS)), ..PLAIN };
        let scenario = scenario(700, 100, &[tcp(0, None, json!("endless"))]);
        let traffic = start_with(path.hosts(), &scenario, tuning, &Arc::default()).unwrap();
        let output = traffic.finish().unwrap();
        assert_eq!(output.late_connections, [0]);
        assert!(output.ends[0].received_bytes > 0);
    });
}

#[test]
fn a_cancelled_run_ends_soon() {
    undisturbed(|| {
        let path = Path::new(FREE);
        let cancel = Arc::new(AtomicBool::new(false));
        let scenario = scenario(60_000, 100, &[tcp(0, None, json!("endless"))]);
        let traffic = start_with(path.hosts(), &scenario, PLAIN, &cancel).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let begun = Instant::now();
        cancel.store(true, Ordering::Relaxed);
        assert!(matches!(traffic.finish(), Err(Error::Cancelled)));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    });
}

#[test]
fn stalls_of_the_applications_are_measured() {
    undisturbed(|| {
        let path = Path::new(NARROW);
        let scenario = scenario(550, 100, &[tcp(0, None, json!("endless"))]);
        // The applications' thread calls this for each of five samples. Meanwhile the receiver
        // should have read, as it does at least every ten milliseconds.
        let hold = |_: usize, _: BorrowedFd<'_>| {
            thread::sleep(Duration::from_millis(40));
            None
        };
        let plan = Plan { look: Box::new(hold), ..plan_of(&scenario) };
        let output =
            start_as_planned(path.hosts(), &scenario, PLAIN, plan).unwrap().finish().unwrap();
        assert!(output.stalled_max_ns >= 25 * MS, "{} ns", output.stalled_max_ns);
        assert!(output.stalled_ns >= 5 * 25 * MS, "{} ns", output.stalled_ns);
        assert!(output.stalled_ns <= 550 * MS, "{} ns", output.stalled_ns);
    });
}

#[test]
fn what_others_see_of_a_socket_is_in_its_samples_and_the_thread_keeps_to_its_processor() {
    undisturbed(|| {
        let path = Path::new(NARROW);
        let scenario = scenario(300, 100, &[tcp(0, None, json!("endless"))]);
        let seen = Seen { rtt_us: Some(123), congestion_events: 4, ..Seen::default() };
        let allowed = Arc::new(Mutex::new(String::new()));
        let notes = Arc::clone(&allowed);
        let look = move |flow, socket: BorrowedFd<'_>| {
            assert_eq!(flow, 0);
            assert!(nix::sys::socket::getpeername::<SockaddrIn>(socket.as_raw_fd()).is_ok());
            *notes.lock().unwrap() = fs::read_to_string("/proc/thread-self/status").unwrap();
            Some(seen)
        };
        let processors = Some(Processors::divided().unwrap());
        let plan = Plan { look: Box::new(look), processors, ..plan_of(&scenario) };
        let output =
            start_as_planned(path.hosts(), &scenario, PLAIN, plan).unwrap().finish().unwrap();
        assert_eq!(output.flows.len(), 3);
        assert!(output.flows.iter().all(|row| (row.rtt_us, row.congestion_events) == (123, 4)));
        assert_eq!(output.ends[0].seen, Some(seen));
        let status = allowed.lock().unwrap();
        assert!(status.contains("Cpus_allowed_list:\t0\n") && status.contains("dumbbell-apps"));
    });
}
