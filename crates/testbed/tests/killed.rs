//! `kill -9` at any moment leaves nothing behind: no process, namespace, device, BPF object or
//! congestion control. This test is a separate process, since it examines the whole machine.
#![allow(clippy::disallowed_methods, reason = "real time")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dumbbell_algorithm::Algorithms;
use dumbbell_testbed::{Options, run};
use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};

mod scenarios;

/// Lifetimes of the child: from before its first namespace to the middle of its run.
const LIVES_MS: [u64; 8] = [5, 20, 60, 150, 300, 600, 1_000, 2_000];
/// Longest time until the kernel removes namespaces.
const PATIENCE: Duration = Duration::from_secs(20);

/// Everything of a run that could outlive it, on the whole machine.
#[derive(Debug)]
struct Traces {
    /// BPF objects, congestion controls, devices and network namespaces.
    things: BTreeSet<String>,
}

impl Traces {
    fn now() -> Self {
        let mut things = BTreeSet::new();
        things.extend(ProgInfoIter::default().map(|program| format!("program {}", program.id)));
        things.extend(MapInfoIter::default().map(|map| format!("map {}", map.id)));
        things.extend(LinkInfoIter::default().map(|link| format!("link {}", link.id)));
        let available = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let available = fs::read_to_string(available).unwrap();
        things.extend(available.split_whitespace().map(|name| format!("control {name}")));
        let devices = fs::read_to_string("/proc/net/dev").unwrap();
        let names = devices.lines().filter_map(|line| line.split_once(':'));
        things.extend(names.map(|(name, _)| format!("device {}", name.trim())));
        things.extend(namespaces());
        Self { things }
    }

    /// Things that were not there before. Earlier things may have gone: the kernel cleans up after
    /// earlier tests, too.
    fn since(&self, before: &Self) -> Vec<String> {
        self.things.difference(&before.things).cloned().collect()
    }
}

/// The network namespaces that a thread, a descriptor or a mount keeps. The kernel frees all
/// others.
fn namespaces() -> BTreeSet<String> {
    let links = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_link(entry.path()).ok())
    };
    let children = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let tasks = children("/proc".into()).flat_map(|process| children(process.path().join("task")));
    let files =
        tasks.flat_map(|task| links(task.path().join("ns")).chain(links(task.path().join("fd"))));
    let files = files.filter_map(|link| link.to_str().map(str::to_owned));
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    let mounts = mounts.lines().filter(|line| line.starts_with("nsfs ")).map(str::to_owned);
    files.filter(|link| link.starts_with("net:[")).chain(mounts).collect()
}

/// Not a test, but the run that the test kills.
#[test]
#[ignore = "the other test starts it, to kill it"]
fn a_run_to_be_killed() {
    let scenario = scenarios::parsed(&scenarios::dumbbell(
        50_000_000,
        60_000,
        &[scenarios::tcp("cubic", "endless".into()), scenarios::tcp("reno", "endless".into())],
    ));
    run(&scenario, &Algorithms::default(), Options::default(), &Arc::new(AtomicBool::new(false)))
        .unwrap();
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    let before = Traces::now();
    for life_ms in LIVES_MS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "a_run_to_be_killed"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(life_ms));
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !Traces::now().since(&before).is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(50));
        }
        let left = Traces::now().since(&before);
        assert!(left.is_empty(), "after a life of {life_ms} ms: {left:?}");
    }
}
