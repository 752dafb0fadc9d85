//! Datagrams at a rate.

use dumbbell_network::{Random, Rate, Span, Stepped, Time};

use crate::bursts::Bursts;
use crate::flow::Udp;

/// Times at which a flow sends its datagrams. The first leaves at once. Each other leaves as soon
/// as the one before has taken its time at the flow's rate.
///
/// This time passes only while the flow sends. A datagram that a silence interrupts takes the rest
/// of its time afterwards, so the rate is exact for bursts of any length. The rate may change while
/// a datagram takes its time.
#[derive(Debug)]
pub struct Datagrams {
    rate: Rate,
    /// Changes of the rate; none: the rate is constant.
    changes: Option<Stepped>,
    packet_bytes: u16,
    /// Time of the next datagram, and its fraction in units of one over the rate.
    next: Time,
    remainder: u64,
    /// In silence: sending time until the next datagram.
    left: Span,
    /// None: it sends without pause.
    bursts: Option<Bursts>,
    turns: Time,
}

impl Datagrams {
    /// Datagrams of `packet_bytes` from `start` on. `random` draws the lengths of random bursts.
    #[must_use]
    pub fn new(udp: &Udp, packet_bytes: u16, start: Time, random: Random) -> Self {
        let mut bursts = udp.on_off.map(|pattern| Bursts::new(pattern, random));
        let turns = bursts.as_mut().map_or(Time::NEVER, |bursts| start + bursts.turn());
        let (rate, left) = (udp.rate_bps, Span::ZERO);
        let changes = udp.changes_bps.as_ref().map(Stepped::new);
        let next = changes.as_ref().map_or(start, |changes| changes.begins(start));
        Self { rate, changes, packet_bytes, next, remainder: 0, left, bursts, turns }
    }

    /// Time of the next call of [`Self::act`].
    #[must_use]
    pub fn due(&self) -> Time {
        self.next.min(self.turns)
    }

    /// Act at `now`, which is [`Self::due`]; return true if a datagram is to be sent.
    pub fn act(&mut self, now: Time) -> bool {
        if self.turns <= now {
            self.turn(now);
        }
        let sends = self.next <= now;
        if sends {
            self.step();
        }
        sends
    }

    /// Stop for good.
    pub const fn stop(&mut self) {
        (self.next, self.turns) = (Time::NEVER, Time::NEVER);
    }

    fn turn(&mut self, now: Time) {
        let bursts = self.bursts.as_mut().expect("turns come from bursts");
        self.turns += bursts.turn();
        if bursts.on {
            self.next = now + self.left;
        } else {
            self.left = self.next.since(now);
            self.next = Time::NEVER;
        }
    }

    fn step(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.send(self.next, self.packet_bytes.into());
            self.next = changes.begins(self.next);
            return;
        }
        let rate = self.rate.0.get();
        let bit_ns = u64::from(self.packet_bytes) * 8 * 1_000_000_000 + self.remainder;
        self.next += Span(bit_ns / rate);
        self.remainder = bit_ns % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::OnOff;
    use dumbbell_network::Steps;
    use proptest::prelude::*;
    use std::num::NonZeroU64;

    const SECOND: u64 = 1_000_000_000;

    fn datagrams(rate_bps: u64, bytes: u16, on_off: Option<(u64, u64, bool)>) -> Datagrams {
        let some = |value| NonZeroU64::new(value).unwrap();
        let on_off = on_off.map(|(on_ns, off_ns, random)| OnOff {
            on_ns: some(on_ns),
            off_ns: some(off_ns),
            random,
        });
        let udp = Udp { rate_bps: Rate(some(rate_bps)), changes_bps: None, on_off };
        Datagrams::new(&udp, bytes, Time(5), Random::new(1, 1))
    }

    /// The times of all datagrams until `end`.
    fn sent(datagrams: &mut Datagrams, end: u64) -> Vec<u64> {
        let mut times = Vec::new();
        while datagrams.due() <= Time(end) {
            let now = datagrams.due();
            if datagrams.act(now) {
                times.push(now.0);
            }
        }
        times
    }

    #[test]
    fn the_rate_is_kept_exactly() {
        // 7 Mbit/s and 1500 bytes: 1,714,285.71 ns between datagrams.
        let mut all = datagrams(7_000_000, 1_500, None);
        assert!(sent(&mut all, 4).is_empty());
        assert_eq!(sent(&mut all, 12 * SECOND + 4).len(), 7_000);
        assert_eq!(all.due(), Time(12 * SECOND + 5));
    }

    #[test]
    fn a_rate_changes_while_a_datagram_takes_its_time() {
        // A datagram takes 1 ms, then 2 ms from 1.5 ms on, and none leaves from 4.5 to 6 ms.
        let ms = |at: f64| Time((at * 1e6) as u64);
        let steps = [(0.0, 12), (1.5, 6), (4.5, 0), (6.0, 12)];
        let steps = steps.map(|(at, mbit)| (ms(at), mbit * 1_000_000));
        let rate_bps = Rate(NonZeroU64::new(12_000_000).unwrap());
        let udp = Udp { rate_bps, changes_bps: Some(Steps(steps.into())), on_off: None };
        let mut all = Datagrams::new(&udp, 1_500, Time::ZERO, Random::new(1, 1));
        // The second takes 0.5 ms at the first rate, and half of its bits at the second rate.
        let times = [0.0, 1.0, 2.5, 6.0, 7.0].map(|at| ms(at).0);
        assert_eq!(sent(&mut all, 7_500_000), times);
    }

    #[test]
    fn nothing_is_sent_in_silence() {
        // One datagram each ms, in 10 of 40 ms.
        let mut all = datagrams(12_000_000, 1_500, Some((10_000_000, 30_000_000, false)));
        let bursts = (0..10).map(|number| 5 + number * 1_000_000).collect::<Vec<_>>();
        assert_eq!(sent(&mut all, 40_000_004), bursts);
        assert_eq!(sent(&mut all, 40_000_005), [40_000_005]);
    }

    #[test]
    fn a_datagram_that_a_silence_cuts_short_takes_the_rest_of_its_time_behind_it() {
        // A datagram takes 1 ms, a burst 0.4 ms.
        let mut all = datagrams(12_000_000, 1_500, Some((400_000, 600_000, false)));
        assert_eq!(sent(&mut all, 6_000_000), [5, 2_200_005, 5_000_005]);
    }

    proptest! {
        #[test]
        fn the_rate_holds_while_it_sends(
            rate_bps in 1_000_000u64..20_000_000_000,
            bytes in 60u16..9_000,
            // In thousandths of a packet's time.
            (on, off) in (1u64..5_000, 1u64..5_000),
        ) {
            let packet_ns = f64::from(bytes) * 8e9 / rate_bps as f64;
            let part = |permille: u64| (packet_ns * permille as f64 / 1e3).ceil() as u64;
            let (on_ns, off_ns) = (part(on), part(off));
            let mut all = datagrams(rate_bps, bytes, Some((on_ns, off_ns, false)));
            let count = sent(&mut all, 2_000 * (on_ns + off_ns) + 4).len() as f64;
            let expected = 2_000.0 * on_ns as f64 / packet_ns;
            prop_assert!((count - expected.ceil()).abs() <= 1.0, "{count} of {expected}");
        }
    }

    #[test]
    fn random_bursts_keep_the_rate_too() {
        // Bursts and silences of a third of a packet's time on average.
        let mut all = datagrams(12_000_000, 1_500, Some((333_333, 333_333, true)));
        let count = sent(&mut all, 20 * SECOND).len() as f64;
        // It sends half of the time. All 60,000 bursts and silences are from one exponential
        // distribution, so the standard error of that half is one part in sqrt(60,000). Allow four.
        assert!((count / 10_000.0 - 1.0).abs() < 4.0 / 60_000f64.sqrt(), "{count}");
    }
}
