//! Speed of the simulator: nanoseconds per delivered data packet, compared with a bare loop that
//! does only the unavoidable work.
//!
//! `make bench` prints everything. `cargo bench -p dumbbell-simulator --bench speed -- TEXT` prints
//! only the cases whose name contains TEXT. Each case runs in a separate process, for its peak
//! memory, and several times. The fastest run counts, since other work on the machine only adds
//! time. For the same reason, time is processor time, except for jobs in parallel. Compare lines of
//! one run only: machines drift.
#![allow(clippy::disallowed_methods, reason = "speed is measured")]

mod bare_loop;
mod cases;

use std::process::Command;
use std::time::Instant;

use cases::{Case, REAL, behind_edges, dumbbell, fq_codel, parking_lot, real, requests};
use cpu_time::ThreadTime;

const REPETITIONS: usize = 3;
const BARE_LOOP_PACKETS: u64 = 50_000_000;
const TWO_JOBS_CASE: &str = "1 flow, 250 Mbit/s, 162 ms";

fn tables() -> Vec<(&'static str, Vec<Case>)> {
    let (wide, long, shared) = ((10_000, 12, 1_000), (250, 162, 675), (200, 92, 100));
    let many = (10_000, 50, 10_000);
    let of = |number: usize, what: &str| format!("{what}: {number}");
    vec![
        ("what people run", REAL.map(|name| real(name, 10)).to_vec()),
        (
            "case",
            vec![
                dumbbell("1 flow, 10 Gbit/s, 12 ms", wide, 0.0, 1, 10_000),
                dumbbell("1 flow, 10 Gbit/s, 12 ms, loss 1e-6", wide, 1e-6, 1, 10_000),
                dumbbell(TWO_JOBS_CASE, long, 0.0, 1, 300_000),
                dumbbell("1 flow, 250 Mbit/s, 162 ms, loss 1e-5", long, 1e-5, 1, 300_000),
                dumbbell("2 flows, 200 Mbit/s, 92 ms", shared, 0.0, 2, 200_000),
                behind_edges("2 flows behind edges, 250 Mbit/s, 42 ms", (250, 42, 175), 2, 200_000),
                dumbbell("24 flows, 200 Mbit/s, 92 ms", shared, 0.0, 24, 200_000),
                dumbbell("1000 flows, 10 Gbit/s, 50 ms", many, 0.0, 1_000, 10_000),
                parking_lot("5-hop parking lot, 200 Mbit/s, 42 ms", (200, 42, 140), 5, 60_000),
                fq_codel("FQ-CoDel, 100 flows, 1 Gbit/s, 20 ms", (1_000, 20, 10_240), 100, 20_000),
                requests("RPC mix, 30 flows, 10 Gbit/s, 1 ms", (10_000, 1, 1_000), 30, 2_000),
            ],
        ),
        (
            "growth with flows, 10 Gbit/s, 50 ms",
            [1, 10, 100, 1000]
                .map(|flows| dumbbell(&of(flows, "flows"), many, 0.0, flows, 5_000))
                .to_vec(),
        ),
        (
            "growth with rate, 1 flow, 12 ms",
            vec![
                dumbbell("rate: 100 Mbit/s", (100, 12, 10), 0.0, 1, 200_000),
                dumbbell("rate: 1 Gbit/s", (1_000, 12, 100), 0.0, 1, 20_000),
                dumbbell("rate: 10 Gbit/s", wide, 0.0, 1, 2_000),
            ],
        ),
        (
            "growth with hops, 200 Mbit/s, 42 ms",
            [1, 2, 4, 8]
                .map(|hops| parking_lot(&of(hops, "hops"), (200, 42, 140), hops, 60_000))
                .to_vec(),
        ),
    ]
}

/// Measurements of one process.
struct Measured {
    packets: u64,
    processor_s: f64,
    wall_s: f64,
    peak_kib: u64,
}

impl Measured {
    fn ns_per_packet(&self) -> f64 {
        self.processor_s * 1e9 / self.packets as f64
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, jobs] = &arguments[..] {
        if flag == "--in-this-process" {
            return run_here(name, jobs.parse().expect("a number of jobs"));
        }
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let is_selected = |case: &Case| filter.is_none_or(|filter| case.name.contains(filter));

    let bare = print_bare_loop();
    for (title, mut cases) in tables() {
        cases.retain(&is_selected);
        if cases.is_empty() {
            continue;
        }
        println!(
            "\n{title:<40} {:>10} {:>10} {:>11} {:>10} {:>10}",
            "packets", "ns/packet", "Mpackets/s", "bare loops", "peak MiB"
        );
        for case in cases {
            let measured = fastest(&case.name, 1, |run| run.processor_s);
            let ns = measured.ns_per_packet();
            println!(
                "{:<40} {:>10} {ns:>10.1} {:>11.2} {:>10.1} {:>10.1}",
                case.name,
                measured.packets,
                1e3 / ns,
                ns / bare,
                measured.peak_kib as f64 / 1024.0
            );
        }
    }
    if filter.is_none() {
        let rate = |measured: Measured| measured.packets as f64 / measured.wall_s;
        let [one, two] = [1, 2].map(|jobs| rate(fastest(TWO_JOBS_CASE, jobs, |run| run.wall_s)));
        println!("\ntwo jobs against one: {:.2} times the packets by the clock", two / one);
    }
}

/// Print the yardstick; return it for an ACK for every second packet.
fn print_bare_loop() -> f64 {
    fn fastest<const PER_ACK: u32>() -> f64 {
        let run = |_| bare_loop::ns_per_packet::<PER_ACK>(BARE_LOOP_PACKETS);
        (0..REPETITIONS).map(run).fold(f64::INFINITY, f64::min)
    }
    let (second, single) = (fastest::<2>(), fastest::<1>());
    println!("bare loop, an ACK for every second packet {second:>20.1} ns/packet");
    println!("bare loop, an ACK for each packet {single:>28.1} ns/packet");
    second
}

/// Run `jobs` copies of a case at once in another process, several times. Return the run with the
/// least `time`.
fn fastest(name: &str, jobs: usize, time: fn(&Measured) -> f64) -> Measured {
    let run = |_| {
        let this = std::env::current_exe().expect("the path of this program");
        let output = Command::new(this)
            .args(["--in-this-process", name, &jobs.to_string()])
            .output()
            .expect("this program runs again");
        let [measured, problem] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        assert!(output.status.success(), "{name}: {problem}");
        let values: Vec<&str> = measured.split_whitespace().collect();
        let [packets, processor, wall, peak] = values[..] else {
            panic!("{name} told {measured:?}")
        };
        Measured {
            packets: packets.parse().expect("packets"),
            processor_s: processor.parse().expect("seconds"),
            wall_s: wall.parse().expect("seconds"),
            peak_kib: peak.parse().expect("KiB"),
        }
    };
    (0..REPETITIONS).map(run).min_by(|a, b| time(a).total_cmp(&time(b))).expect("a repetition")
}

/// Run copies of a case on as many threads; print packets, time on the processor and by the clock,
/// and peak memory.
fn run_here(name: &str, jobs: usize) {
    let case = tables().into_iter().flat_map(|(_, cases)| cases).find(|case| case.name == name);
    let case = &case.expect("a case of that name");
    let job = || {
        let begin = ThreadTime::now();
        (case.run(), begin.elapsed().as_secs_f64())
    };
    let begin = Instant::now();
    let done: Vec<(u64, f64)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..jobs).map(|_| scope.spawn(job)).collect();
        running.into_iter().map(|job| job.join().expect("a job")).collect()
    });
    let wall_s = begin.elapsed().as_secs_f64();
    let (packets, processor_s) =
        done.iter().fold((0, 0.0), |(packets, time), job| (packets + job.0, time + job.1));
    println!("{packets} {processor_s} {wall_s} {}", peak_kib());
}

/// Most memory that this process ever used, in KiB, as Linux reports it; 0 on other systems.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
