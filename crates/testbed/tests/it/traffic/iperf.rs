//! Our bulk sender compared with iperf3's.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::alone::undisturbed;

use super::path::{Conditions, Path};
use super::setup::{run, scenario, tcp};

const LIMITED: Conditions = Conditions {
    rate_bps: Some(40_000_000),
    queue_bytes: 150_000,
    delay: Duration::from_millis(5),
};

/// Goodput that iperf3's receiver measured in three seconds, in bit/s.
fn iperf(path: &Path) -> f64 {
    let mut server = path.receivers.run(|| {
        let command = ["-s", "-1", "-B", "10.0.0.2"];
        Command::new("iperf3").args(command).stdout(Stdio::null()).spawn().expect("iperf3")
    });
    std::thread::sleep(Duration::from_millis(300));
    let client = path.senders.run(|| {
        let command = ["-c", "10.0.0.2", "-t", "3", "-C", "reno", "-J", "-M", "1460"];
        Command::new("iperf3").args(command).output().unwrap()
    });
    server.wait().unwrap();
    let result: Value = serde_json::from_slice(&client.stdout).unwrap();
    result["end"]["sum_received"]["bits_per_second"].as_f64().unwrap()
}

#[test]
fn bulk_goodput_is_that_of_iperf3() {
    undisturbed(|| {
        let path = Path::new(LIMITED);
        let output = run(&path, &scenario(3_000, 100, &[tcp(0, None, json!("endless"))]));
        let ours = output.ends[0].received_bytes as f64 * 8.0 / 3.0;
        let theirs = iperf(&path);
        println!("ours {ours:.0} bit/s, iperf3 {theirs:.0} bit/s");
        // Each has its own losses, and iperf3 waits for the data in the queue: 30 ms of 3 s.
        assert!((ours / theirs - 1.0).abs() < 0.05, "ours {ours}, iperf3 {theirs}");
        // 96.5 % of the rate is payload.
        assert!(ours > 0.9 * 40e6 * 1_448.0 / 1_500.0, "{ours}");
    });
}
