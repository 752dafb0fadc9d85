//! The guard of the hot path: instructions per delivered data packet.
//!
//! `make bench-instructions` lets valgrind count the instructions of a few short runs and compares
//! them with `instructions.json`. Unlike time, instructions are the same on a busy machine. They
//! cover the whole process; its start is less than a hundredth of a run.

mod cases;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitCode};

use cases::{Case, REAL, dumbbell, real};

/// Tolerance of the instructions per packet, as a share. Another compiler alone changes some per
/// cent.
const TOLERANCE: f64 = 0.05;
const BASELINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.json");
const ACCEPT: &str = "make bench-instructions ACCEPT=1";

/// Scenarios that users run, and the remaining simple cases.
fn cases() -> Vec<Case> {
    let simple = [
        dumbbell("1 flow", (250, 42, 175), 0.0, 1, 15_000),
        dumbbell("1 flow, loss 1e-4", (250, 42, 175), 1e-4, 1, 60_000),
        dumbbell("200 flows", (2000, 50, 2000), 0.0, 200, 2_000),
    ];
    simple.into_iter().chain(REAL.map(|name| real(name, 1))).collect()
}

type Counts = BTreeMap<String, f64>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &arguments[..] {
        if flag == "--in-this-process" {
            let case = cases().into_iter().find(|case| case.name == *name);
            println!("{}", case.expect("a case of that name").run());
            return ExitCode::SUCCESS;
        }
    }
    if !cfg!(target_arch = "x86_64") {
        println!("instructions are not counted: the baselines are those of x86_64");
        return ExitCode::SUCCESS;
    }
    let mut counts = Counts::new();
    for case in cases() {
        let Some(count) = per_packet(&case) else {
            println!("instructions are not counted: valgrind is missing (apt install valgrind)");
            return ExitCode::SUCCESS;
        };
        counts.insert(case.name, (count * 10.0).round() / 10.0);
    }
    if arguments.iter().any(|argument| argument == "--accept") {
        let text = serde_json::to_string_pretty(&counts).expect("numbers") + "\n";
        std::fs::write(BASELINES, text).expect("the baselines are written");
    }
    judge(&counts, &baselines())
}

/// Instructions per delivered packet; none without valgrind.
fn per_packet(case: &Case) -> Option<f64> {
    let this = std::env::current_exe().expect("the path of this program");
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .args([Path::new(&this).as_os_str(), "--in-this-process".as_ref(), case.name.as_ref()])
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.expect("valgrind runs"),
    };
    let [packets, report] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "valgrind failed on {}: {report}", case.name);
    let packets: f64 = packets.trim().parse().expect("the number of packets");
    Some(instructions(&report).unwrap_or_else(|| panic!("no count in {report}")) / packets)
}

/// The number in valgrind's line `==PID== I refs: 1,234`.
fn instructions(report: &str) -> Option<f64> {
    let words = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.into_iter().find_map(|words| match words[..] {
        [_, "I", "refs:", count] => count.replace(',', "").parse().ok(),
        _ => None,
    })
}

fn baselines() -> Counts {
    let text = std::fs::read_to_string(BASELINES).unwrap_or_else(|_| "{}".into());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{BASELINES}: {error}"))
}

/// Print the table and report whether the counts are within tolerance.
fn judge(counts: &Counts, baselines: &Counts) -> ExitCode {
    println!("{:<24} {:>19} {:>9} {:>8}", "case", "instructions/packet", "baseline", "change");
    let (mut worse, mut better) = (false, false);
    for (name, count) in counts {
        let Some(baseline) = baselines.get(name) else {
            println!("{name:<24} {count:>19.1} {:>9} {:>8}", "none", "");
            worse = true;
            continue;
        };
        let change = count / baseline - 1.0;
        worse |= change > TOLERANCE;
        better |= change < -TOLERANCE;
        println!("{name:<24} {count:>19.1} {baseline:>9.1} {:>+7.1}%", 100.0 * change);
    }
    if worse {
        println!("A packet costs over {:.0} % more than the baseline.", 100.0 * TOLERANCE);
        println!("If that is worth it, accept it with `{ACCEPT}` and say why in the commit.");
        return ExitCode::FAILURE;
    }
    if better {
        println!("A packet costs less than the baseline: keep it so with `{ACCEPT}`.");
    }
    ExitCode::SUCCESS
}
