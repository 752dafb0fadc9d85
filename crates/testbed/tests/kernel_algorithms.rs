//! Every algorithm of the registry in the kernel: it carries real transfers, and does
//! there what it does here, byte for byte.

#![cfg(target_os = "linux")]

#[path = "kernel/path.rs"]
mod path;
#[path = "kernel/transfer.rs"]
mod transfer;

use std::fs;
use std::time::Duration;

use dumbbell_algorithm::{Algorithm, registry};
use dumbbell_testbed::kernel::parity::{self, Parity};
use dumbbell_testbed::kernel::{Hook, Keep, Registered, compile};

use path::Path;
use transfer::{Flows, send};

/// Long enough for several timeouts and hundreds of losses.
const DURATION: Duration = Duration::from_millis(4_800);

fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("not run: only root can register algorithms in the kernel");
    }
    root
}

fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

fn initial(algorithm: &Algorithm) -> Vec<u32> {
    algorithm.parameters.iter().map(|row| row.initial).collect()
}

/// A troubled transfer under one algorithm, every callback of it done again here.
fn compare(algorithm: &'static Algorithm, flows: &Flows) -> Parity {
    let values = initial(algorithm);
    let object = compile(algorithm).unwrap();
    let keep = Keep { state: true, callbacks: true };
    let registered = Registered::new(&object, &values, flows.map(), keep).unwrap();
    let name = registered.kernel_name().to_owned();
    assert!(available().contains(&name));

    let sent = send(&Path::new(true), &name, flows, DURATION);
    let (largest, smallest) = sent.cwnd_segs;
    assert!(largest >= 2 * smallest, "{name}: the window moves: {smallest} to {largest}");
    let records = registered.records().unwrap();
    let last = records.records.last().expect("callbacks");
    let kept = &sent.flow[sent.flow.len() - 104..];
    assert!(
        records.records.iter().any(|record| record.after.state == kept)
            && !last.after.state.is_empty(),
        "{name}: the state that is kept of a flow is one that it was in"
    );
    drop(registered);
    assert!(!available().contains(&name), "{name} is gone");
    parity::replay(algorithm, &values, &records)
}

/// Hooks that this trouble calls, of those that an algorithm has.
fn assert_reached(algorithm: &Algorithm, parity: &Parity) {
    let hooks = [Hook::Ssthresh, Hook::UndoCwnd, Hook::PktsAcked, Hook::SetState, Hook::CwndEvent];
    for hook in hooks {
        let listed = format!("H({}, {})", algorithm.name, hook.name());
        let is_there = hook == Hook::UndoCwnd || algorithm.code.contains(&listed);
        let called = parity.callbacks.get(&hook).copied().unwrap_or(0);
        assert_eq!(called > 0, is_there, "{}: {} calls of {}", algorithm.name, called, hook.name());
    }
}

#[test]
fn every_algorithm_does_in_the_kernel_what_it_does_here() {
    if !is_root() {
        return;
    }
    let flows = Flows::new();
    for algorithm in
        registry().iter().filter(|a| std::env::var("ONLY").is_ok_and(|o| o.contains(a.name)))
    {
        let parity = compare(algorithm, &flows);
        println!("{}: {} callbacks {:?}", algorithm.name, parity.total(), parity.callbacks);
        for mismatch in &parity.mismatches {
            println!("{mismatch}");
        }
        assert_eq!((parity.differing, parity.lost_records), (0, 0), "{}", algorithm.name);
        assert_reached(algorithm, &parity);
    }
}
