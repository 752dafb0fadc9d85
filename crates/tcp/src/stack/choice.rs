//! The choice of a stack in a scenario: a profile's name, and single switches set otherwise.

use dumbbell_network::Span;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{AccEcnOption, LossDetection, PROFILES, SlowStart, Stack};

/// Meaning of each switch, for the documentation.
pub const SWITCHES: [(&str, &str); 59] = [
    ("initial_window_segs", "window of a new connection, in segments"),
    (
        "handshake",
        "a flow begins with a SYN, sends data after the answer and learns the RTT of a full path; if \
         false, its connection exists and knows the RTT of the empty path",
    ),
    ("syn_timeout_ns", "time after which a SYN or SYN-ACK is sent again, in ns"),
    (
        "syn_linear_timeouts",
        "timeouts of the SYN before they double (tcp_syn_linear_timeouts of Linux since 6.5)",
    ),
    (
        "syn_retries_free",
        "lost SYNs after which the initial window is still whole; after more losses it is one segment \
         (RFC 5681); none: any number",
    ),
    ("growth", "unit of the window's growth: acks, segments or bytes (RFC 3465)"),
    (
        "byte_counting_segs",
        "segments that an ACK adds in slow start at most, with growth by bytes: 2 (RFC 3465) or 1 \
         (tcp_abc = 1 of Linux 2.6)",
    ),
    ("slow_start_inclusive", "slow start while cwnd <= ssthresh, not only while cwnd < ssthresh"),
    (
        "reduction",
        "reduction of the window during recovery: rate-halving (Linux until 2.6.12), \
         rate-halving-bounded (2.6.13 to 3.1), prr-slow-start (3.2 to 4.2), prr-cautious (4.3 to \
         5.13) or prr (RFC 9937)",
    ),
    (
        "loss_detection",
        "detection of losses: fack, fack-rack (Linux 4.14), sacked (RFC 6675), \
         rack (RFC 8985) or new-reno (no SACK, RFC 6582)",
    ),
    ("reordering_segs", "segments that may arrive out of order before a loss is inferred"),
    ("reordering_max_segs", "limit of reordering_segs, which grows when reordering is seen"),
    ("early_retransmit", "few outstanding segments need fewer SACKs for a loss (RFC 5827)"),
    (
        "tail_probe",
        "probes for a lost tail before a timeout: off, draft (Linux 3.10 to 4.12) \
         or rfc8985",
    ),
    ("frto", "the next ACKs may prove a timeout spurious (RFC 5682)"),
    ("undo", "a reduction that proves spurious is undone (RFC 4015, RFC 3708)"),
    ("rto_rule", "rule for the retransmission timeout: linux or rfc6298"),
    ("rtt_from_timestamps", "echoed timestamps give the RTT of retransmissions (RFC 7323)"),
    (
        "reports_all_acks",
        "the algorithm gets ACKs that only carry SACKs, and RTTs from timestamps (Linux since 4.2)",
    ),
    ("ack_event_first", "`in_ack_event` comes before `pkts_acked` (Linux until 6.15)"),
    ("min_rtt_window_ns", "time for which the smallest RTT is remembered, in ns; none: for ever"),
    (
        "burst_after_recovery_segs",
        "window minus flight when recovery ends; none: window is ssthresh",
    ),
    ("pacing", "paced flows: off (only those whose algorithm sets a rate) or fq (all)"),
    ("pacing_free_segs", "segments of a new connection that leave without pacing"),
    ("pacing_credit", "a late chunk shortens the wait for the next, by at most half its length"),
    ("pacing_late_ns", "lateness of the timer of a paced chunk, in ns"),
    ("tso", "segments leave in chunks of about a millisecond, as with segmentation offload"),
    ("tso_push", "a chunk's last segment has PSH and is acknowledged at once (Linux since 5.4)"),
    (
        "window_push",
        "without chunks, a segment that exceeds half of the largest window is acknowledged at once, as \
         its sender pushes it (Linux since 6.6)",
    ),
    ("tsq_bytes", "most bytes of a flow that may wait in its host; none: no limit"),
    (
        "local_drops",
        "the sender keeps a segment that its host's full queue refuses, and reduces its window as \
         after a congestion mark (Linux); if false, the segment is lost",
    ),
    (
        "slow_start",
        "growth below ssthresh: own (the algorithm's), standard (RFC 5681), limited (RFC \
         3742), hystart (Linux), hystart++ (RFC 9406), search (draft-chung-ccwg-search) or \
         careful-resume (RFC 9959)",
    ),
    ("limited_slow_start_segs", "window from which limited slow start is slower, in segments"),
    ("resume_window_segs", "window of an earlier connection for careful-resume, in segments"),
    ("resume_rtt_ns", "smallest RTT of that connection, in ns"),
    ("slow_start_after_idle", "idle time halves the window once per length of a timeout"),
    (
        "window_validation",
        "a window that was not used for a timeout's length falls towards its use",
    ),
    ("receive_window_bytes", "most payload in flight that the receiver allows; none: no limit"),
    (
        "receive_buffer_bytes",
        "receive buffer of a new connection (tcp_rmem); segments that raise its window are \
         acknowledged at once",
    ),
    ("receive_buffer_max_bytes", "largest receive buffer; 0: the window is never raised"),
    (
        "receive_spare_segs",
        "segments for which a growing receive buffer has room beyond those of the next round trip \
         (16 in Linux until 6.16)",
    ),
    (
        "rto_min_ns",
        "shortest variance term of the retransmission timeout, or with rfc6298 shortest \
         timeout, in ns",
    ),
    ("rto_max_ns", "longest retransmission timeout, in ns"),
    ("delayed_ack_ns", "longest wait of an acknowledgement for a second segment, in ns"),
    ("quick_acks", "segments acknowledged one by one when a connection starts"),
    ("delayed_ack", "wait of an acknowledgement: fixed or adaptive"),
    ("delayed_ack_max_ns", "longest wait of an acknowledgement if it is adaptive, in ns"),
    ("timer_tick_ns", "tick of the kernel's timers, in ns (1 s / HZ); none: timers are exact"),
    ("sack", "ACKs report data out of order (RFC 2018); if false, use new-reno"),
    ("dsack", "ACKs also report data that arrived twice (RFC 2883)"),
    ("timestamps", "segments carry timestamps (RFC 7323), which cost one SACK block of four"),
    (
        "ecn",
        "congestion marks: off, classic (RFC 3168), dctcp (RFC 8257; the default of algorithms that \
         need marks) or l4s (for these algorithms only: the same echo and ECT(1), RFC 9331)",
    ),
    (
        "accecn",
        "ACKs count marked packets, so that a lost ACK loses no marks (Accurate ECN, RFC 9768; \
         tcp_ecn = 3 of Linux since 7.0); needs ecn or an algorithm that needs marks",
    ),
    (
        "accecn_option",
        "ACKs that then also carry counters of bytes: always (where there is space; tcp_ecn_option = \
         2), changes (after a mark or a change and three in an RTT; tcp_ecn_option = 1) or never",
    ),
    (
        "ecn_peer",
        "ECN of the receiver: same (as requested), classic (RFC 3168) or off; the connection gets at \
         most this",
    ),
    ("sack_compression_ns", "longest wait of the ACK of a segment out of order, in ns; 0: none"),
    ("sack_compression_segs", "most segments out of order that wait for one ACK"),
    ("gro_segs", "segments that receive offload merges into one; 0 or 1: none"),
    ("gro_flush_ns", "longest wait of the first of them for the others, in ns"),
];

/// A profile's name and overrides of single switches, as the scenario gives them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// Name of the profile.
    pub profile: String,
    /// Switches with other values than the profile's.
    #[serde(default)]
    pub switches: Map<String, Value>,
}

impl StackChoice {
    /// The profile with the overrides.
    ///
    /// # Errors
    /// An unknown profile or switch, or a value that the switch cannot take: the key below `stack`,
    /// and the fault.
    pub fn resolve(&self) -> Result<Stack, (String, String)> {
        let profile = PROFILES.iter().find(|profile| profile.name == self.profile);
        let Some(profile) = profile else {
            let known: Vec<_> = PROFILES.iter().map(|profile| profile.name).collect();
            let problem =
                format!("no stack profile {:?}; there are {}", self.profile, known.join(", "));
            return Err(("profile".into(), problem));
        };
        let mut stack = (profile.stack)();
        for (switch, value) in &self.switches {
            stack = with_switch(&stack, switch, value)
                .map_err(|problem| (format!("switches.{switch}"), problem))?;
        }
        if !stack.sack && stack.loss_detection != LossDetection::NewReno {
            let detection = json!(stack.loss_detection);
            let problem =
                format!("sack = false needs loss_detection = \"new-reno\", which is {detection}");
            return Err(("switches.sack".into(), problem));
        }
        if stack.syn_timeout_ns == Span::ZERO {
            let problem = "0 ns, but a SYN waits for its answer: give a longer time".into();
            return Err(("switches.syn_timeout_ns".into(), problem));
        }
        check_resume(&stack)?;
        check_option(&stack)?;
        Ok(stack)
    }
}

/// Check that Careful Resume has the values of an earlier connection. Nothing else uses them.
fn check_resume(stack: &Stack) -> Result<(), (String, String)> {
    let resumes = stack.slow_start == SlowStart::CarefulResume;
    let example = if resumes { "set it, such as" } else { "set that, or take this away:" };
    for (switch, is_set, value) in [
        ("resume_window_segs", stack.resume_window_segs.is_some(), "400"),
        ("resume_rtt_ns", stack.resume_rtt_ns.is_some_and(|rtt| rtt.0 >= 1_000), "40000000"),
    ] {
        if is_set != resumes {
            let given = if resumes { "needs" } else { "alone uses" };
            let problem = format!(
                "slow_start = \"careful-resume\" {given} {switch}; {example} {switch} = {value}"
            );
            return Err((format!("switches.{switch}"), problem));
        }
    }
    Ok(())
}

/// Check the use of the option. Without counters it has no content.
fn check_option(stack: &Stack) -> Result<(), (String, String)> {
    if stack.accecn || stack.accecn_option == AccEcnOption::Always {
        return Ok(());
    }
    let option = json!(stack.accecn_option);
    let problem = format!("{option}, but accecn = true alone uses it; set that, or take this away");
    Err(("switches.accecn_option".into(), problem))
}

fn with_switch(stack: &Stack, switch: &str, value: &Value) -> Result<Stack, String> {
    let mut switches = json!(stack);
    match switches.get_mut(switch) {
        Some(slot) => *slot = value.clone(),
        None => {
            let known: Vec<_> = SWITCHES.iter().map(|(name, _)| *name).collect();
            return Err(format!("no switch {switch:?}; there are {}", known.join(", ")));
        }
    }
    serde_json::from_value(switches).map_err(|error| error.to_string())
}

/// Return all profiles and switches as JSON: `{"profiles": {name: {"summary", "host_queue",
/// "switches"}}, "switches": {name: meaning}}`.
#[must_use]
pub fn describe_profiles() -> Value {
    let profiles: Map<_, _> = PROFILES
        .iter()
        .map(|profile| {
            let entry = json!({
                "summary": profile.summary,
                "host_queue": profile.host_queue,
                "switches": (profile.stack)(),
            });
            (profile.name.to_owned(), entry)
        })
        .collect();
    let switches: Map<_, _> =
        SWITCHES.iter().map(|&(name, what)| (name.to_owned(), json!(what))).collect();
    json!({"profiles": profiles, "switches": switches})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{Growth, linux_6};

    #[test]
    fn every_switch_is_described_and_every_description_is_a_switch() {
        let stack = json!(linux_6());
        let mut switches: Vec<_> = stack.as_object().unwrap().keys().map(String::as_str).collect();
        switches.sort_unstable();
        let mut described: Vec<_> = SWITCHES.iter().map(|(name, _)| *name).collect();
        described.sort_unstable();
        assert_eq!(switches, described);
    }

    #[test]
    fn a_switch_can_be_overridden_and_a_wrong_one_is_refused() {
        let choice = |switches: Value| StackChoice {
            profile: "linux-6".into(),
            switches: switches.as_object().unwrap().clone(),
        };
        let stack = choice(json!({"growth": "acks"})).resolve().unwrap();
        assert_eq!(stack, Stack { growth: Growth::Acks, ..linux_6() });
        let (key, problem) = choice(json!({"grow": 1})).resolve().unwrap_err();
        assert_eq!(key, "switches.grow");
        assert!(problem.contains("growth"), "{problem}");
        for (switch, value) in [
            ("growth", json!("ack")),
            ("initial_window_segs", json!(0)),
            ("reordering_segs", json!(0)),
            ("syn_timeout_ns", json!(0)),
        ] {
            let (key, _) = choice(json!({switch: value})).resolve().unwrap_err();
            assert_eq!(key, format!("switches.{switch}"));
        }
        let (key, problem) = choice(json!({"sack": false})).resolve().unwrap_err();
        assert_eq!(key, "switches.sack");
        assert!(problem.contains("loss_detection") && problem.contains("rack"), "{problem}");
        for (switches, key, words) in [
            (
                json!({"slow_start": "careful-resume", "resume_rtt_ns": 40_000_000}),
                "resume_window_segs",
                "needs",
            ),
            (
                json!({"slow_start": "careful-resume", "resume_window_segs": 9}),
                "resume_rtt_ns",
                "needs",
            ),
            (
                json!({"slow_start": "search", "resume_window_segs": 9}),
                "resume_window_segs",
                "alone uses",
            ),
            (json!({"accecn_option": "never"}), "accecn_option", "accecn = true alone"),
        ] {
            let (key_path, problem) = choice(switches).resolve().unwrap_err();
            assert_eq!(key_path, format!("switches.{key}"));
            assert!(problem.contains(words), "{problem}");
        }
        let counting = choice(json!({"sack": false, "loss_detection": "new-reno"}));
        assert!(!counting.resolve().unwrap().sack);
    }
}
