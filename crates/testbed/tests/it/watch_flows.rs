//! Connections of the kernel's TCP, as the watch reports them.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::alone::undisturbed;
use crate::watched::{Path, bulk, tcp_info};
use dumbbell_testbed::{KernelEvent, KernelEventKind as Kind, NEVER, Namespace, Watch};
use libbpf_rs::MapInfo;
use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use socket2::Socket;

const DELAY: Duration = Duration::from_millis(10);
const PORT: u16 = 1_024;

fn watch(path: &Path) -> Watch {
    Watch::load(&[&path.sender, &path.receiver], &NEVER).unwrap()
}

/// A connection whose window stays moderate.
fn connect(path: &Path) -> (Socket, Socket) {
    let ends = path.connect(PORT);
    ends.0.set_send_buffer_size(50_000).unwrap();
    ends
}

fn kinds(events: &[KernelEvent]) -> Vec<Kind> {
    events.iter().map(|event| event.kind).collect()
}

#[test]
fn round_trips_are_counted_and_plausible() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        let watch = watch(&path);
        let ends = connect(&path);
        assert_eq!(watch.flow(ends.0.as_fd()).unwrap().unwrap().rtt.map(|rtt| rtt.samples), None);
        bulk(&ends, Duration::from_millis(400), || ());
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        let rtt = flow.rtt.unwrap();
        assert!(rtt.samples > 100, "{rtt:?}");
        assert!((20_000..40_000).contains(&rtt.min_us), "{rtt:?}");
        let mean = rtt.sum_us / u64::from(rtt.samples);
        assert!((u64::from(rtt.min_us)..=u64::from(rtt.max_us)).contains(&mean), "{rtt:?}");
        assert!((rtt.min_us..=rtt.max_us).contains(&rtt.latest_us), "{rtt:?}");
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (0, 0, 0));
        assert_eq!(watch.events().unwrap(), []);
    });
}

#[test]
fn sockets_elsewhere_are_left_alone() {
    undisturbed(|| {
        let (path, other) = (Path::new(DELAY), Path::new(DELAY));
        let watch = Watch::load(&[&path.sender], &NEVER).unwrap();
        let clamp = std::num::NonZeroU32::new(4);
        watch
            .steer(PORT, &dumbbell_tcp::TcpBpf { cwnd_clamp_segs: clamp, ..Default::default() })
            .unwrap();
        let (ours, elsewhere) = (path.connect(PORT), other.connect(PORT));
        assert!(watch.flow(ours.0.as_fd()).unwrap().is_some());
        assert_eq!(
            watch.flow(ours.1.as_fd()).unwrap(),
            None,
            "the receiver's namespace was not named"
        );
        assert_eq!(watch.flow(elsewhere.0.as_fd()).unwrap(), None);
        assert_eq!(tcp_info(&ours.0).tcpi_snd_cwnd, 4);
        assert_eq!(tcp_info(&elsewhere.0).tcpi_snd_cwnd, 10);
        other.faults.drop_every.store(50, Relaxed);
        bulk(&elsewhere, Duration::from_millis(500), || ());
        assert_eq!(watch.events().unwrap(), []);
    });
}

#[test]
fn a_loss_is_one_reduction_that_recovers() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        let watch = watch(&path);
        let ends = connect(&path);
        bulk(&ends, Duration::from_millis(100), || ());
        path.faults.drop_next.store(1, Relaxed);
        let before = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
        bulk(&ends, Duration::from_millis(400), || ());
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (1, 0, 0));
        let events = watch.events().unwrap();
        assert_eq!(kinds(&events), [Kind::Congestion, Kind::Recovered]);
        let [reduced, recovered] = events[..] else { unreachable!() };
        assert_eq!((reduced.port, recovered.port), (PORT, PORT));
        // CUBIC reduces to seven tenths.
        assert_eq!(reduced.ssthresh_segs, reduced.cwnd_segs * 717 / 1_024);
        assert_eq!(recovered.ssthresh_segs, reduced.ssthresh_segs);
        let before_ns = before.tv_sec() as u64 * 1_000_000_000 + before.tv_nsec() as u64;
        assert!((before_ns..before_ns + 400_000_000).contains(&reduced.monotonic_ns));
        assert_eq!(watch.events().unwrap(), [], "events are told once");
        assert_eq!(watch.lost_events().unwrap(), 0);
    });
}

#[test]
fn a_tail_loss_that_a_probe_repairs_is_a_reduction() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        let watch = watch(&path);
        let ends = path.connect(PORT);
        path.faults.drop_every.store(5, Relaxed);
        ends.0.send(&[0; 5 * 1_448]).unwrap();
        all_is_acknowledged(&ends.0);
        path.faults.drop_every.store(0, Relaxed);
        assert_eq!(tcp_info(&ends.0).tcpi_total_retrans, 1, "the probe");
        assert_eq!(watch.events().unwrap(), [], "later data shows whether anything was lost");
        ends.0.send(&[0; 1_448]).unwrap();
        all_is_acknowledged(&ends.0);
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        let events = watch.events().unwrap();
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (1, 0, 0), "{events:?}");
        assert_eq!(kinds(&events), [Kind::Congestion, Kind::Recovered]);
    });
}

fn all_is_acknowledged(socket: &Socket) {
    let patience = Instant::now() + Duration::from_secs(5);
    while tcp_info(socket).tcpi_unacked > 0 {
        assert!(Instant::now() < patience, "data is not acknowledged");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_congestion_mark_is_a_reduction() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        for host in [&path.sender, &path.receiver] {
            host.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap());
        }
        let watch = watch(&path);
        let ends = connect(&path);
        bulk(&ends, Duration::from_millis(100), || ());
        path.faults.mark_next.store(2, Relaxed);
        bulk(&ends, Duration::from_millis(300), || ());
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        let events = watch.events().unwrap();
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (1, 0, 0), "{events:?}");
        assert_eq!(kinds(&events), [Kind::Congestion, Kind::Recovered]);
        assert_eq!(events[1].cwnd_segs, events[0].ssthresh_segs);
    });
}

#[test]
fn a_timeout_reduces_once_however_often_it_is_repeated() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        let watch = watch(&path);
        let ends = connect(&path);
        bulk(&ends, Duration::from_millis(100), || ());
        let before = tcp_info(&ends.0);
        // Two timeouts within this time, and the third one after it.
        let time = Duration::from_micros((5 * before.tcpi_rto).into());
        path.faults.drop_every.store(1, Relaxed);
        bulk(&ends, time, || ());
        path.faults.drop_every.store(0, Relaxed);
        bulk(&ends, time, || ());
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        assert_eq!((flow.congestion_events, flow.spurious), (1, 0), "{flow:?}");
        assert!(flow.timeouts >= 2, "{flow:?}");
        let events = watch.events().unwrap();
        let mut expected = vec![Kind::Congestion];
        expected.extend(vec![Kind::Timeout; flow.timeouts as usize]);
        expected.push(Kind::Recovered);
        assert_eq!(kinds(&events), expected);
        assert!(events[0].cwnd_segs >= before.tcpi_snd_cwnd);
        assert_eq!(events[1].cwnd_segs, events[0].cwnd_segs);
        assert!(events[2].cwnd_segs < 4, "{events:?}");
    });
}

#[test]
fn a_timeout_that_was_only_a_delay_is_undone() {
    undisturbed(|| {
        let path = Path::new(DELAY);
        let watch = watch(&path);
        let ends = connect(&path);
        bulk(&ends, Duration::from_millis(100), || ());
        // On a busy machine the timeout is long.
        let rto_ms = tcp_info(&ends.0).tcpi_rto / 1_000;
        path.faults.hold_ms.store(2 * rto_ms, Relaxed);
        bulk(&ends, Duration::from_millis((6 * rto_ms).into()), || ());
        let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
        let events = watch.events().unwrap();
        assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (1, 1, 1), "{events:?}");
        assert_eq!(
            kinds(&events),
            [Kind::Congestion, Kind::Timeout, Kind::Undone, Kind::Recovered]
        );
        assert!(events[2].cwnd_segs >= events[0].cwnd_segs, "{events:?}");
        assert!(events[2].ssthresh_segs > events[0].ssthresh_segs, "{events:?}");
    });
}

/// Changes of the window after one segment arrives `late_ms` late.
fn after_reordering(late_ms: u32) -> Vec<KernelEvent> {
    let path = Path::new(DELAY);
    let watch = watch(&path);
    let ends = connect(&path);
    bulk(&ends, Duration::from_millis(200), || ());
    path.faults.overtaken_ms.store(late_ms, Relaxed);
    path.faults.overtaken.store(1, Relaxed);
    bulk(&ends, Duration::from_millis(600), || ());
    let flow = watch.flow(ends.0.as_fd()).unwrap().unwrap();
    let events = watch.events().unwrap();
    assert_eq!((flow.congestion_events, flow.timeouts, flow.spurious), (1, 0, 1), "{events:?}");
    events
}

#[test]
fn a_recovery_that_was_only_reordering_is_undone() {
    undisturbed(|| {
        let events = after_reordering(15);
        assert_eq!(kinds(&events), [Kind::Congestion, Kind::Undone, Kind::Recovered]);
    });
}

#[test]
fn a_recovery_is_undone_when_its_duplicate_is_reported_long_after() {
    undisturbed(|| {
        let events = after_reordering(100);
        assert_eq!(kinds(&events), [Kind::Congestion, Kind::Recovered, Kind::Undone]);
    });
}

/// The programs and links that use a map, by number.
fn users(map: u32) -> (Vec<u32>, Vec<u32>) {
    let with_maps = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: Vec<_> = ProgInfoIter::with_query_opts(with_maps)
        .filter(|program| program.map_ids.contains(&map))
        .map(|program| program.id)
        .collect();
    let links = LinkInfoIter::default().filter(|link| programs.contains(&link.prog_id));
    let links = links.map(|link| link.id).collect();
    (programs, links)
}

#[test]
fn nothing_of_it_is_left() {
    undisturbed(|| {
        let namespace = Namespace::new().unwrap();
        let watch = Watch::load(&[&namespace], &NEVER).unwrap();
        let map = MapInfo::new(watch.map()).unwrap().info.id;
        let (programs, links) = users(map);
        assert_eq!((programs.len(), links.len()), (3, 3));
        drop(watch);
        // The kernel frees them a moment later.
        let is_left = || {
            let maps = MapInfoIter::default().any(|other| other.id == map);
            let programs = ProgInfoIter::default().any(|other| programs.contains(&other.id));
            maps || programs || LinkInfoIter::default().any(|other| links.contains(&other.id))
        };
        let patience = Instant::now() + Duration::from_secs(5);
        while is_left() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(
            !is_left(),
            "map {map}, programs {programs:?} and links {links:?}, or some of them"
        );
    });
}
