//! Stack profiles: how the TCP of a given kernel differs from the others, as data.
//!
//! A profile is a set of named switches. A scenario names a profile and may override
//! any single switch of it.

use std::num::NonZeroU32;

use dumbbell_algorithm::{STACK_COUNT_ACKS, STACK_SLOW_START_INCLUSIVE};
use dumbbell_network::Span;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The switches of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Window of a new connection in segments.
    pub initial_window_segs: NonZeroU32,
    /// What congestion avoidance and slow start count.
    pub growth: Growth,
    /// Slow start while cwnd <= ssthresh, rather than cwnd < ssthresh.
    pub slow_start_inclusive: bool,
    /// How the window falls to ssthresh during recovery.
    pub reduction: Reduction,
    /// When a segment is taken for lost.
    pub loss_detection: LossDetection,
    /// Segments that may arrive out of order without a loss being inferred.
    pub reordering_segs: NonZeroU32,
    /// Up to how many that rises once reordering has been seen.
    pub reordering_max_segs: NonZeroU32,
    /// Fewer SACKs suffice where fewer than four segments are outstanding (RFC 5827).
    pub early_retransmit: bool,
    /// Whether a probe is sent before the retransmission timeout.
    pub tail_probe: ProbeRule,
    /// Whether a timeout may prove spurious by what arrives next (RFC 5682).
    pub frto: bool,
    /// Whether a reduction is taken back when it proves spurious.
    pub undo: bool,
    /// Whether acknowledgements echo a timestamp that the sender uses.
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// How the retransmission timeout is computed.
    pub rto_rule: RtoRule,
    /// How long the smallest round-trip time is remembered, in ns; none: for ever.
    pub min_rtt_window_ns: Option<Span>,
    /// Window allowed beyond what is in flight when recovery ends; none: ssthresh.
    pub burst_after_recovery_segs: Option<u32>,
    /// Shortest variance term of the retransmission timeout, in ns.
    pub rto_min_ns: Span,
    /// Longest retransmission timeout, in ns.
    pub rto_max_ns: Span,
    /// Retransmission timeout before the first round-trip sample, in ns.
    pub rto_initial_ns: Span,
    /// How long an acknowledgement may wait for a second segment, in ns.
    pub delayed_ack_ns: Span,
    /// Segments acknowledged one by one when a connection starts.
    pub quick_acks: u32,
}

/// What an acknowledgement adds to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// One step for each ACK, however much it covers (Linux until 3.18).
    Acks,
    /// One step for each acknowledged segment (Linux since 4.0).
    Segments,
    /// Appropriate byte counting (RFC 3465): as `Segments`, but in slow start at most
    /// two segments for each ACK, and one after a timeout.
    Bytes,
}

/// How the window falls during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// One segment less for every second ACK (Linux until 3.1).
    RateHalving,
    /// Proportional rate reduction, always with its slow-start bound (Linux 3.2 to 4.2).
    PrrSlowStart,
    /// Proportional rate reduction with the slow-start bound only while retransmissions
    /// are delivered and none is lost (Linux 4.3 to 5.13).
    PrrCautious,
    /// Proportional rate reduction (RFC 9937).
    Prr,
}

/// When a segment is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossDetection {
    /// Forward acknowledgement (Mathis and Mahdavi 1996): lost if the highest SACKed
    /// segment is more than `reordering_segs` ahead, until reordering is seen. A
    /// retransmission is lost if segments first sent that much later are SACKed.
    Fack,
    /// As `Fack`, and what RACK finds with a window of 1 ms (Linux 4.10 to 4.14).
    FackRack,
    /// Lost if at least `reordering_segs` segments above are SACKed (RFC 6675). A
    /// retransmission is lost as soon as anything sent later arrives (RFC 8985 in a
    /// network that keeps the order).
    Sacked,
    /// RACK: lost if overdue, compared with what was sent later (RFC 8985).
    Rack,
    /// Without SACK: the first segment is lost after `reordering_segs` duplicate ACKs,
    /// and the next hole at each partial ACK (RFC 6582).
    NewReno,
}

/// When a probe is sent that may save a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeRule {
    /// Never.
    Off,
    /// After 2 SRTT, at least 10 ms (draft-dukkipati-tcpm-tcp-loss-probe; Linux 3.10
    /// to 4.12).
    Draft,
    /// After 2 SRTT and 2 ms (RFC 8985).
    Rfc8985,
}

/// Explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// Each mark is echoed as it is (RFC 8257, section 3.2).
    Dctcp,
}

/// How the retransmission timeout follows from round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoRule {
    /// SRTT and a variance term of at least `rto_min_ns` that falls once per round trip.
    Linux,
    /// SRTT and four deviations, at least `rto_min_ns` together (RFC 6298).
    Rfc6298,
}

/// A named profile.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// What it stands for.
    pub summary: &'static str,
    /// Its switches.
    pub stack: fn() -> Stack,
}

/// Every profile, the oldest first.
pub const PROFILES: [Profile; 6] = [
    Profile {
        name: "linux-2.6.6",
        summary: "Linux 2.6.6 with the altAIMD patches of Li, Leith and Shorten 2007: \
                  SACK and FACK, rate halving, appropriate byte counting",
        stack: linux_2_6_6,
    },
    Profile {
        name: "linux-2.6.26",
        summary: "Linux 2.6.26: as 2.6.6 but growth by ACKs, F-RTO and undo",
        stack: linux_2_6_26,
    },
    Profile {
        name: "linux-3.16",
        summary: "Linux 3.16: FACK, early retransmit and tail loss probe, PRR with its \
                  slow-start bound, growth by ACKs, initial window 10",
        stack: linux_3_16,
    },
    Profile {
        name: "linux-4.14",
        summary: "Linux 4.14: FACK and RACK, tail loss probe, cautious PRR, growth by \
                  acknowledged segments",
        stack: linux_4_14,
    },
    Profile {
        name: "linux-6",
        summary: "Linux 6: RACK-TLP, PRR, growth by acknowledged segments, initial window 10",
        stack: linux_6,
    },
    Profile {
        name: "rfc",
        summary: "The RFCs to the letter: SACK recovery (6675), PRR (9937), F-RTO (5682), \
                  byte counting (3465), a timeout of at least 1 s (6298)",
        stack: rfc,
    },
];

/// What each switch means, for documentation.
pub const SWITCHES: [(&str, &str); 21] = [
    ("initial_window_segs", "window of a new connection, in segments"),
    ("growth", "what the window's growth counts: acks, segments or bytes (RFC 3465)"),
    ("slow_start_inclusive", "slow start while cwnd <= ssthresh, rather than cwnd < ssthresh"),
    (
        "reduction",
        "how the window falls during recovery: rate-halving, prr-slow-start (Linux 3.2 to 4.2), \
         prr-cautious (4.3 to 5.13) or prr (RFC 9937)",
    ),
    (
        "loss_detection",
        "when a segment is taken for lost: fack, fack-rack (Linux 4.14), sacked (RFC 6675), \
         rack (RFC 8985) or new-reno (no SACK, RFC 6582)",
    ),
    ("reordering_segs", "segments that may arrive out of order before a loss is inferred"),
    ("reordering_max_segs", "up to how many that rises once reordering has been seen"),
    ("early_retransmit", "fewer SACKs suffice where few segments are outstanding (RFC 5827)"),
    (
        "tail_probe",
        "whether a lost tail is probed for before a timeout: off, draft (Linux 3.10 to 4.12) \
         or rfc8985",
    ),
    ("frto", "whether a timeout may prove spurious by what arrives next (RFC 5682)"),
    ("undo", "whether a reduction that proves spurious is taken back (RFC 4015, RFC 3708)"),
    ("timestamps", "whether the sender uses echoed timestamps (RFC 7323)"),
    ("ecn", "explicit congestion notification: off, classic (RFC 3168) or dctcp (RFC 8257)"),
    ("rto_rule", "how the retransmission timeout is computed: linux or rfc6298"),
    ("min_rtt_window_ns", "how long the smallest RTT is remembered, in ns; null: for ever"),
    ("burst_after_recovery_segs", "window beyond the flight when recovery ends; null: ssthresh"),
    (
        "rto_min_ns",
        "shortest variance term of the retransmission timeout, or with rfc6298 shortest \
         timeout, in ns",
    ),
    ("rto_max_ns", "longest retransmission timeout, in ns"),
    ("rto_initial_ns", "retransmission timeout before the first RTT sample, in ns"),
    ("delayed_ack_ns", "how long an acknowledgement may wait for a second segment, in ns"),
    ("quick_acks", "segments acknowledged one by one when a connection starts"),
];

/// Its loss recovery is that of the published runs: no switch is on of which their
/// description says nothing.
fn linux_2_6_6() -> Stack {
    Stack {
        initial_window_segs: segments(3),
        growth: Growth::Bytes,
        slow_start_inclusive: true,
        reduction: Reduction::RateHalving,
        loss_detection: LossDetection::Fack,
        reordering_max_segs: segments(127),
        tail_probe: ProbeRule::Off,
        frto: false,
        undo: false,
        timestamps: false,
        min_rtt_window_ns: None,
        burst_after_recovery_segs: Some(3),
        rto_initial_ns: Span::from_millis(3_000),
        ..linux_6()
    }
}

fn linux_2_6_26() -> Stack {
    Stack { growth: Growth::Acks, frto: true, undo: true, timestamps: true, ..linux_2_6_6() }
}

fn linux_3_16() -> Stack {
    Stack {
        growth: Growth::Acks,
        slow_start_inclusive: true,
        reduction: Reduction::PrrSlowStart,
        loss_detection: LossDetection::Fack,
        reordering_max_segs: segments(127),
        early_retransmit: true,
        tail_probe: ProbeRule::Draft,
        min_rtt_window_ns: None,
        ..linux_6()
    }
}

fn linux_4_14() -> Stack {
    Stack {
        reduction: Reduction::PrrCautious,
        loss_detection: LossDetection::FackRack,
        ..linux_6()
    }
}

fn rfc() -> Stack {
    Stack {
        growth: Growth::Bytes,
        loss_detection: LossDetection::Sacked,
        tail_probe: ProbeRule::Off,
        rto_rule: RtoRule::Rfc6298,
        rto_min_ns: Span::from_millis(1_000),
        min_rtt_window_ns: None,
        ..linux_6()
    }
}

const fn segments(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("a count above zero")
}

const fn linux_6() -> Stack {
    Stack {
        initial_window_segs: segments(10),
        growth: Growth::Segments,
        slow_start_inclusive: false,
        reduction: Reduction::Prr,
        loss_detection: LossDetection::Rack,
        reordering_segs: segments(3),
        reordering_max_segs: segments(300),
        early_retransmit: false,
        tail_probe: ProbeRule::Rfc8985,
        frto: true,
        undo: true,
        timestamps: true,
        ecn: Ecn::Off,
        rto_rule: RtoRule::Linux,
        min_rtt_window_ns: Some(Span::from_millis(300_000)),
        burst_after_recovery_segs: None,
        rto_min_ns: Span::from_millis(200),
        rto_max_ns: Span::from_millis(120_000),
        rto_initial_ns: Span::from_millis(1_000),
        delayed_ack_ns: Span::from_millis(40),
        quick_acks: 16,
    }
}

impl Stack {
    /// What an algorithm must know of the stack, as bits of `enum cc_stack`.
    #[must_use]
    pub const fn flags(&self) -> u8 {
        let inclusive = if self.slow_start_inclusive { STACK_SLOW_START_INCLUSIVE } else { 0 };
        let acks = if matches!(self.growth, Growth::Acks) { STACK_COUNT_ACKS } else { 0 };
        inclusive | acks
    }
}

/// A profile's name and overrides of single switches, as the scenario gives them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// Name of the profile.
    pub profile: String,
    /// Switches with other values than the profile's.
    #[serde(default)]
    pub switches: Map<String, Value>,
}

impl StackChoice {
    /// The profile with the overrides applied.
    ///
    /// # Errors
    /// An unknown profile or switch, or a value that the switch cannot take; as the
    /// key below `stack` and what is wrong with it.
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
        Ok(stack)
    }
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

/// All profiles and switches as JSON:
/// `{"profiles": {name: {"summary", "switches"}}, "switches": {name: meaning}}`.
#[must_use]
pub fn describe_profiles() -> Value {
    let profiles: Map<_, _> = PROFILES
        .iter()
        .map(|profile| {
            let entry = json!({"summary": profile.summary, "switches": (profile.stack)()});
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

    #[test]
    fn every_switch_is_described_and_every_description_is_a_switch() {
        let stack = json!(linux_6());
        let switches: Vec<_> = stack.as_object().unwrap().keys().map(String::as_str).collect();
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
        ] {
            let (key, _) = choice(json!({switch: value})).resolve().unwrap_err();
            assert_eq!(key, format!("switches.{switch}"));
        }
    }
}
