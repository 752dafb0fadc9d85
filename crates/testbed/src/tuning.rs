//! A stack profile on this kernel: its settings, and the differences that remain.

use std::num::NonZeroU64;
use std::time::Duration;

use dumbbell_algorithm::Algorithms;
use dumbbell_network::Span;
use dumbbell_tcp::{Ecn, LossDetection, Pacing, ProbeRule, Stack, StackChoice};
use dumbbell_workload::Scenario;
use nix::time::{ClockId, clock_getres};
use serde_json::{Map, Value, json};

use crate::sysctls::Sysctls;
use crate::windows::buffer_bytes;

/// Limit of send buffers. It allows the largest window of TCP's scale, 1 GiB.
const SEND_BUFFER_BYTES_MAX: i32 = i32::MAX;
/// The longest window of the kernel's smallest RTT: a day.
const MIN_RTT_WINDOW_MAX: Span = Span::from_millis(86_400_000);

/// The stack's pacing rate relative to a window per round trip, in percent.
const PACING_RATIO_MAX: u32 = 1_000;

/// The most timeouts of a SYN that the kernel counts.
const SYN_TIMEOUTS_MAX: u32 = 127;

/// Settings of a host for a stack.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Settings of its namespace.
    pub sysctls: Sysctls,
    /// Window of a new connection, in segments.
    pub initial_window_segs: u32,
    /// Most outstanding payload for a receiver, in bytes; none: no limit.
    pub receive_window_bytes: Option<u64>,
    /// True if all flows are paced.
    pub pace_all: bool,
    /// True if hosts leave it to their devices to cut chunks into segments.
    pub offload: bool,
    /// Switches with another value in the kernel, in words.
    pub not_offered: Vec<String>,
}

impl Tuning {
    /// Find the settings for `stack`, with buffers of `buffer_bytes`. Without `echoes_each_mark`,
    /// the kernel only has classic ECN: it echoes each mark as it is only for algorithms that need
    /// marks.
    #[must_use]
    pub fn of(stack: &Stack, buffer_bytes: u64, echoes_each_mark: bool) -> Self {
        let mut sysctls = common(buffer_bytes);
        let mut kernel = linux_6();
        tune_loss_detection(stack, &mut kernel, &mut sysctls);
        tune_timers(stack, &mut kernel, &mut sysctls);
        tune_receiver(stack, &mut kernel, &mut sysctls);
        kernel.ecn = match stack.ecn {
            Ecn::Dctcp | Ecn::L4s if !echoes_each_mark => Ecn::Classic,
            requested => requested,
        };
        // The adapters of our builds let both ends count marks. A peer with fewer abilities is not
        // negotiated.
        kernel.accecn = stack.accecn;
        kernel.accecn_option = stack.accecn_option;
        kernel.ecn_peer = stack.ecn_peer;
        sysctls.set("net.ipv4.tcp_ecn", u8::from(kernel.ecn != Ecn::Off));
        tune_sender(stack, &mut kernel, &mut sysctls);
        tune_handshake(stack, &mut kernel, &mut sysctls);
        Self {
            sysctls,
            initial_window_segs: stack.initial_window_segs.get(),
            receive_window_bytes: stack.receive_window_bytes.map(Into::into),
            pace_all: stack.pacing == Pacing::Fq,
            offload: stack.tso,
            not_offered: differences(stack, &kernel),
        }
    }

    /// The same settings behind an interface of the emulator. The emulator does not report what
    /// waits there and what it refuses, so the kernel cannot limit the former, and takes the latter
    /// for lost.
    #[must_use]
    pub fn behind_interface(mut self, stack: &Stack) -> Self {
        let limit = stack.tsq_bytes.map(|bytes| format!("tsq_bytes = {bytes} (is null)"));
        self.not_offered.extend(limit);
        let refusals = stack.local_drops.then(|| "local_drops = true (is false)".into());
        self.not_offered.extend(refusals);
        self
    }
}

/// Switches with which a simulated stack behaves like the hosts of a scenario, whatever its stacks
/// are.
#[must_use]
pub fn host_switches(scenario: &Scenario, algorithms: &Algorithms) -> Map<String, Value> {
    let buffer_bytes = json!(buffer_bytes(scenario, algorithms));
    Map::from_iter([
        ("receive_buffer_bytes".into(), buffer_bytes.clone()),
        ("receive_buffer_max_bytes".into(), buffer_bytes),
        ("timer_tick_ns".into(), json!(timer_tick_ns())),
    ])
}

/// Tick of this kernel's timers, which is also its coarse clock's, in ns.
fn timer_tick_ns() -> Option<NonZeroU64> {
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).expect("the coarse clock");
    NonZeroU64::new(Duration::from(tick).as_nanos() as u64)
}

/// The profile of kernels like this one.
pub fn linux_6() -> Stack {
    StackChoice { profile: "linux-6".into(), switches: Map::new() }
        .resolve()
        .expect("a profile that exists")
}

/// Settings of every host: large buffers, no memory of earlier connections, no IPv6.
///
/// The kernel sizes a send buffer for twice the window. If a hole takes several round trips to
/// repair, the buffer is full of SACKed data, and the flow waits for its own host.
fn common(buffer_bytes: u64) -> Sysctls {
    let mut sysctls = Sysctls::default();
    sysctls.set("net.ipv6.conf.all.disable_ipv6", 1);
    sysctls.set("net.ipv6.conf.default.disable_ipv6", 1);
    sysctls.set("net.ipv4.tcp_no_metrics_save", 1);
    sysctls.set("net.ipv4.tcp_syncookies", 0);
    sysctls.set("net.ipv4.tcp_max_syn_backlog", 65_536);
    sysctls.set("net.core.somaxconn", 65_535);
    sysctls.set("net.ipv4.tcp_rmem", format!("4096 {buffer_bytes} {buffer_bytes}"));
    sysctls.set("net.ipv4.tcp_wmem", format!("4096 {buffer_bytes} {SEND_BUFFER_BYTES_MAX}"));
    sysctls
}

fn tune_loss_detection(stack: &Stack, kernel: &mut Stack, sysctls: &mut Sysctls) {
    kernel.sack = stack.sack;
    sysctls.set("net.ipv4.tcp_sack", u8::from(stack.sack));
    kernel.loss_detection = match stack.loss_detection {
        _ if !stack.sack => LossDetection::NewReno,
        LossDetection::Sacked => LossDetection::Sacked,
        _ => LossDetection::Rack,
    };
    let rack = u8::from(kernel.loss_detection != LossDetection::Sacked);
    sysctls.set("net.ipv4.tcp_recovery", rack);
    kernel.reordering_segs = stack.reordering_segs;
    sysctls.set("net.ipv4.tcp_reordering", stack.reordering_segs);
    kernel.reordering_max_segs = stack.reordering_max_segs;
    sysctls.set("net.ipv4.tcp_max_reordering", stack.reordering_max_segs);
    kernel.frto = stack.frto;
    sysctls.set("net.ipv4.tcp_frto", if stack.frto { 2 } else { 0 });
    if stack.tail_probe == ProbeRule::Off {
        kernel.tail_probe = ProbeRule::Off;
    }
    sysctls
        .set("net.ipv4.tcp_early_retrans", if kernel.tail_probe == ProbeRule::Off { 0 } else { 3 });
}

fn tune_timers(stack: &Stack, kernel: &mut Stack, sysctls: &mut Sysctls) {
    // Kernels have these settings only since 6.11 and 6.15.
    if stack.rto_min_ns != kernel.rto_min_ns {
        sysctls.set("net.ipv4.tcp_rto_min_us", stack.rto_min_ns.0 / 1_000);
    }
    if stack.rto_max_ns != kernel.rto_max_ns {
        sysctls.set("net.ipv4.tcp_rto_max_ms", stack.rto_max_ns.0 / 1_000_000);
    }
    (kernel.rto_min_ns, kernel.rto_max_ns) = (stack.rto_min_ns, stack.rto_max_ns);
    let window = stack.min_rtt_window_ns.unwrap_or(MIN_RTT_WINDOW_MAX);
    if window <= MIN_RTT_WINDOW_MAX && window.0 % 1_000_000_000 == 0 {
        kernel.min_rtt_window_ns = stack.min_rtt_window_ns;
        sysctls.set("net.ipv4.tcp_min_rtt_wlen", window.0 / 1_000_000_000);
    }
}

fn tune_receiver(stack: &Stack, kernel: &mut Stack, sysctls: &mut Sysctls) {
    kernel.dsack = stack.dsack;
    sysctls.set("net.ipv4.tcp_dsack", u8::from(stack.dsack));
    kernel.timestamps = stack.timestamps;
    // The value 1 would add a random number to the clock of each connection.
    sysctls.set("net.ipv4.tcp_timestamps", if stack.timestamps { 2 } else { 0 });
    kernel.sack_compression_ns = stack.sack_compression_ns;
    sysctls.set("net.ipv4.tcp_comp_sack_delay_ns", stack.sack_compression_ns.0);
    kernel.sack_compression_segs = stack.sack_compression_segs.min(255);
    sysctls.set("net.ipv4.tcp_comp_sack_nr", kernel.sack_compression_segs);
    kernel.receive_window_bytes = stack.receive_window_bytes;
    // Buffers have the size that the scenario needs from the start.
    kernel.receive_buffer_bytes = stack.receive_buffer_bytes;
    kernel.receive_buffer_max_bytes = stack.receive_buffer_max_bytes;
    kernel.receive_spare_segs = stack.receive_spare_segs;
    kernel.timer_tick_ns = stack.timer_tick_ns.and_then(|_| timer_tick_ns());
}

fn tune_sender(stack: &Stack, kernel: &mut Stack, sysctls: &mut Sysctls) {
    kernel.initial_window_segs = stack.initial_window_segs;
    kernel.pacing = stack.pacing;
    kernel.tso = stack.tso;
    if !stack.tso {
        kernel.tso_push = stack.tso_push;
        kernel.window_push = stack.window_push;
    }
    if stack.pacing == Pacing::Off && !stack.tso {
        // Algorithms that pace must not be limited by the stack's own rates.
        sysctls.set("net.ipv4.tcp_pacing_ss_ratio", PACING_RATIO_MAX);
        sysctls.set("net.ipv4.tcp_pacing_ca_ratio", PACING_RATIO_MAX);
    }
    // The adapters of our builds contain the slow starts.
    kernel.slow_start = stack.slow_start;
    kernel.limited_slow_start_segs = stack.limited_slow_start_segs;
    kernel.resume_window_segs = stack.resume_window_segs;
    kernel.resume_rtt_ns = stack.resume_rtt_ns;
    kernel.slow_start_after_idle = stack.slow_start_after_idle;
    sysctls.set("net.ipv4.tcp_slow_start_after_idle", u8::from(stack.slow_start_after_idle));
    // A device that passes on everything at once never lets a flow wait in its host, ...
    kernel.tsq_bytes = stack.tsq_bytes;
    // ... and refuses nothing.
    kernel.local_drops = stack.local_drops;
    let limit = stack.tsq_bytes.map_or(u64::MAX, Into::into).min(i32::MAX as u64);
    sysctls.set("net.ipv4.tcp_limit_output_bytes", limit);
}

/// Set up handshakes. A connection that is opened before the run loses no SYN.
fn tune_handshake(stack: &Stack, kernel: &mut Stack, sysctls: &mut Sysctls) {
    kernel.handshake = stack.handshake;
    kernel.syn_linear_timeouts = stack.syn_linear_timeouts.min(SYN_TIMEOUTS_MAX);
    if !stack.handshake {
        kernel.syn_linear_timeouts = stack.syn_linear_timeouts;
        kernel.syn_timeout_ns = stack.syn_timeout_ns;
        kernel.syn_retries_free = stack.syn_retries_free;
        return;
    }
    sysctls.set("net.ipv4.tcp_syn_linear_timeouts", kernel.syn_linear_timeouts);
    // A run is over before its hosts give up.
    sysctls.set("net.ipv4.tcp_syn_retries", SYN_TIMEOUTS_MAX);
    sysctls.set("net.ipv4.tcp_synack_retries", SYN_TIMEOUTS_MAX);
}

fn differences(requested: &Stack, kernel: &Stack) -> Vec<String> {
    let (requested, kernel) = (json!(requested), json!(kernel));
    let switches = requested.as_object().expect("switches by name");
    let differing = switches.iter().filter(|(name, value)| kernel[name.as_str()] != **value);
    differing.map(|(name, value)| format!("{name} = {value} (is {})", kernel[name])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuning(profile: &str, switches: serde_json::Value) -> Tuning {
        let switches = switches.as_object().unwrap().clone();
        Tuning::of(
            &StackChoice { profile: profile.into(), switches }.resolve().unwrap(),
            1 << 20,
            false,
        )
    }

    #[test]
    fn this_kernels_own_profile_is_offered_in_full() {
        assert_eq!(tuning("linux-6", json!({})).not_offered, Vec::<String>::new());
    }

    #[test]
    fn what_an_older_kernel_did_is_named_where_it_cannot_be_had() {
        let old = tuning("linux-2.6.6", json!({}));
        let missing = |switch: &str| old.not_offered.iter().any(|text| text.starts_with(switch));
        assert!(missing("reduction = \"rate-halving\""), "{:?}", old.not_offered);
        assert!(missing("loss_detection = \"fack\" (is \"rack\")"), "{:?}", old.not_offered);
        assert!(!missing("frto") && !missing("initial_window_segs") && !missing("dsack"));
        assert_eq!(old.initial_window_segs, 3);
    }

    #[test]
    fn timeouts_other_than_linuxs_own_are_set() {
        let written = |tuning: &Tuning| format!("{:?}", tuning.sysctls);
        assert!(!written(&tuning("linux-6", json!({}))).contains("tcp_rto"));
        let short = tuning("linux-6", json!({"rto_min_ns": 5_000_000}));
        assert!(written(&short).contains(r#""net.ipv4.tcp_rto_min_us", "5000""#));
        assert_eq!(short.not_offered, Vec::<String>::new());
    }

    #[test]
    fn the_tick_is_the_kernels_own() {
        let kernels = timer_tick_ns().expect("a clock that moves").get();
        assert!((500_000..=10_000_000).contains(&kernels), "HZ is 100 to 2000: {kernels} ns");
        assert_eq!(tuning("linux-6", json!({"timer_tick_ns": kernels})).not_offered, [""; 0]);
        let other = tuning("linux-6", json!({"timer_tick_ns": kernels + 1})).not_offered;
        assert_eq!(other, [format!("timer_tick_ns = {} (is {kernels})", kernels + 1)]);
    }

    #[test]
    fn marks_are_echoed_one_by_one_where_the_algorithms_see_to_it() {
        let switches = json!({"ecn": "dctcp"}).as_object().unwrap().clone();
        let choice = StackChoice { profile: "linux-6".into(), switches };
        let stack = choice.resolve().unwrap();
        assert_eq!(Tuning::of(&stack, 1 << 20, true).not_offered, Vec::<String>::new());
        let classic = Tuning::of(&stack, 1 << 20, false).not_offered;
        assert_eq!(classic, ["ecn = \"dctcp\" (is \"classic\")"]);
    }

    #[test]
    fn behind_an_interface_of_the_emulators_there_are_no_small_queues() {
        let missing = |switches| {
            let stack = StackChoice { profile: "linux-6".into(), switches }.resolve().unwrap();
            Tuning::of(&stack, 1 << 20, false).behind_interface(&stack).not_offered
        };
        let refusals = "local_drops = true (is false)";
        assert_eq!(missing(Map::new()), ["tsq_bytes = 1048576 (is null)", refusals]);
        assert_eq!(missing(Map::from_iter([("tsq_bytes".into(), json!(null))])), [refusals]);
        let neither = [("tsq_bytes".into(), json!(null)), ("local_drops".into(), json!(false))];
        assert_eq!(missing(Map::from_iter(neither)), [""; 0]);
    }

    #[test]
    fn what_a_lost_syn_costs_is_the_kernels_and_named_where_it_matters() {
        let old = |handshake: bool| tuning("rfc", json!({"handshake": handshake})).not_offered;
        let missing = |all: &[String]| all.iter().any(|text| text.starts_with("syn_"));
        assert!(!missing(&old(false)));
        assert!(old(true).contains(&"syn_retries_free = 0 (is 1)".into()), "{:?}", old(true));
        let here = tuning("linux-6", json!({"handshake": true, "syn_linear_timeouts": 2}));
        assert_eq!(here.not_offered, [""; 0]);
        assert!(
            format!("{:?}", here.sysctls).contains(r#""net.ipv4.tcp_syn_linear_timeouts", "2""#)
        );
    }

    #[test]
    fn without_sack_losses_are_found_by_new_reno() {
        let none = tuning("linux-6", json!({"sack": false, "loss_detection": "new-reno"}));
        assert_eq!(none.not_offered, Vec::<String>::new());
    }
}
