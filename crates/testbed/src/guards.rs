//! A run that the machine could not carry is no evidence: it is marked invalid, with reasons.

use std::sync::atomic::Ordering::Relaxed;

use dumbbell_record::TestbedSummary;

use crate::clock::Stalls;

/// Its two threads.
const EMULATOR: &str = "emulator";
const TRAFFIC: &str = "applications' thread";

/// Limits of a valid run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Share of the time for which a thread may be stalled, in 1/1000.
    pub held_permille: u32,
    /// Longest stall of a thread, in ns.
    pub held_max_ns: u64,
    /// Lateness that one packet in a hundred may exceed, in ns.
    pub lateness_p99_ns: u64,
    /// Lateness that no packet may exceed, in ns.
    pub lateness_max_ns: u64,
    /// Wait for the emulator that one packet in a hundred may exceed, in ns.
    pub waiting_p99_ns: u64,
    /// Share of the time in which a thread may have work to do, in 1/1000.
    pub busy_permille: u32,
    /// Share of the time in which flows may wait for applications or receivers, in 1/1000.
    pub starved_permille: u32,
    /// Share of the machine's time that its host may give to others, in 1/1000.
    pub stolen_permille: u32,
    /// Share of the requested datagrams that must be sent, in 1/1000.
    pub datagrams_sent_permille: u32,
}

impl Limits {
    /// The limits for paths whose shortest round trip is `rtt_ns`. A lateness of a tenth of it
    /// would show in every sample.
    #[must_use]
    pub fn for_paths(rtt_ns: u64) -> Self {
        Self {
            held_permille: 10,
            held_max_ns: (rtt_ns / 2).max(10_000_000),
            lateness_p99_ns: 100_000,
            lateness_max_ns: (rtt_ns / 2).max(10_000_000),
            waiting_p99_ns: (rtt_ns / 10).max(1_000_000),
            busy_permille: 900,
            starved_permille: 20,
            stolen_permille: 50,
            datagrams_sent_permille: 990,
        }
    }

    /// Return the reason why a running run of this length can only become invalid; none: it can be
    /// valid.
    #[must_use]
    pub fn hopeless(&self, stalls: &Stalls, duration_ns: u64) -> Option<String> {
        let total_ns = stalls.total_ns.load(Relaxed);
        let run = TestbedSummary {
            held_permille: (1_000 * total_ns / duration_ns.max(1)) as u32,
            held_max_ns: stalls.longest_ns.load(Relaxed),
            ..TestbedSummary::default()
        };
        self.reasons(&run).into_iter().next()
    }

    /// Return the reasons why a run is invalid; empty: it is valid.
    #[must_use]
    pub fn reasons(&self, run: &TestbedSummary) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut hold = |holds: bool, reason: String| {
            if !holds {
                reasons.push(reason);
            }
        };
        for (thread, held_permille, held_max_ns) in [
            (EMULATOR, run.held_permille, run.held_max_ns),
            (TRAFFIC, run.traffic_held_permille, run.traffic_held_max_ns),
        ] {
            hold(
                held_permille <= self.held_permille,
                format!(
                    "the {thread} was stalled for {:.1} % of the time (limit {:.1} %); leave the \
                     machine alone, or let fewer flows run at a time",
                    f64::from(held_permille) / 10.0,
                    f64::from(self.held_permille) / 10.0,
                ),
            );
            hold(
                held_max_ns <= self.held_max_ns,
                format!(
                    "the {thread} was stalled for {} ms at once (limit {} ms); leave the machine \
                     alone",
                    held_max_ns / 1_000_000,
                    self.held_max_ns / 1_000_000,
                ),
            );
        }
        hold(
            run.lateness_p99_ns <= self.lateness_p99_ns,
            format!(
                "the emulator was late: 1 % of all packets by more than {} us (limit {} us); \
                 lower the rates or leave the machine alone",
                run.lateness_p99_ns / 1_000,
                self.lateness_p99_ns / 1_000,
            ),
        );
        hold(
            run.lateness_max_ns <= self.lateness_max_ns,
            format!(
                "a packet was late by {} ms (limit {} ms); lower the rates",
                run.lateness_max_ns / 1_000_000,
                self.lateness_max_ns / 1_000_000,
            ),
        );
        hold(
            run.waiting_p99_ns <= self.waiting_p99_ns,
            format!(
                "packets waited up to {} us for the emulator (limit {} us); lower the rates",
                run.waiting_p99_ns / 1_000,
                self.waiting_p99_ns / 1_000,
            ),
        );
        for (thread, busy) in
            [(EMULATOR, run.emulator_busy_permille), (TRAFFIC, run.traffic_busy_permille)]
        {
            hold(
                busy <= self.busy_permille,
                format!(
                    "the {thread} was busy for {} % of the time (limit {} %); lower the rates",
                    busy / 10,
                    self.busy_permille / 10,
                ),
            );
        }
        for (whom, share) in [
            ("applications", run.starved_permille),
            ("receivers' windows", run.window_limited_permille),
        ] {
            hold(
                share <= self.starved_permille,
                format!(
                    "flows waited for their {whom} for {:.1} % of the time (limit {:.1} %); leave \
                     the machine alone",
                    f64::from(share) / 10.0,
                    f64::from(self.starved_permille) / 10.0,
                ),
            );
        }
        hold(
            run.stolen_permille <= self.stolen_permille,
            format!(
                "the machine's host took {} % of its time (limit {} %)",
                run.stolen_permille / 10,
                self.stolen_permille / 10,
            ),
        );
        hold(
            run.local_drops == 0,
            format!(
                "{} packets got lost between hosts and emulator; lower the rates",
                run.local_drops
            ),
        );
        if let Some(sent) = run.datagrams_sent_permille {
            hold(
                sent >= self.datagrams_sent_permille,
                format!(
                    "only {} of 1000 requested datagrams were sent (limit {})",
                    sent, self.datagrams_sent_permille
                ),
            );
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_hopeless_once_it_breaks_a_limit_for_all_of_its_time() {
        let limits = Limits::for_paths(40_000_000);
        let stalls = Stalls::default();
        stalls.total_ns.store(10_900_000, Relaxed);
        assert_eq!(limits.hopeless(&stalls, 1_000_000_000), None);
        stalls.total_ns.store(11_000_000, Relaxed);
        let reason = limits.hopeless(&stalls, 1_000_000_000).unwrap();
        assert!(reason.contains("for 1.1 % of the time"), "{reason}");
        assert_eq!(limits.hopeless(&stalls, 2_000_000_000), None);
        stalls.longest_ns.store(20_000_001, Relaxed);
        assert!(limits.hopeless(&stalls, 2_000_000_000).unwrap().contains("at once"));
    }

    #[test]
    fn a_run_is_invalid_for_each_limit_that_it_breaks() {
        let limits = Limits::for_paths(40_000_000);
        let good = TestbedSummary { datagrams_sent_permille: Some(1_000), ..Default::default() };
        assert_eq!(limits.reasons(&good), Vec::<String>::new());
        let broken = [
            TestbedSummary { held_permille: 11, ..good.clone() },
            TestbedSummary { held_max_ns: 20_000_001, ..good.clone() },
            TestbedSummary { traffic_held_permille: 11, ..good.clone() },
            TestbedSummary { traffic_held_max_ns: 20_000_001, ..good.clone() },
            TestbedSummary { lateness_p99_ns: 100_001, ..good.clone() },
            TestbedSummary { lateness_max_ns: 20_000_001, ..good.clone() },
            TestbedSummary { waiting_p99_ns: 4_000_001, ..good.clone() },
            TestbedSummary { emulator_busy_permille: 901, ..good.clone() },
            TestbedSummary { traffic_busy_permille: 901, ..good.clone() },
            TestbedSummary { starved_permille: 21, ..good.clone() },
            TestbedSummary { window_limited_permille: 21, ..good.clone() },
            TestbedSummary { stolen_permille: 51, ..good.clone() },
            TestbedSummary { local_drops: 1, ..good.clone() },
            TestbedSummary { datagrams_sent_permille: Some(989), ..good.clone() },
        ];
        for run in &broken {
            assert_eq!(limits.reasons(run).len(), 1, "{run:?}");
        }
    }
}
