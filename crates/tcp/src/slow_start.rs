//! Slow starts that slow down: limited slow start and HyStart++.
//!
//! Both work for any algorithm, as they change how many acknowledged segments it is
//! told of. What is held back of a segment is carried to the next ACK.

use crate::stack;

/// Segments for each ACK that slow start counts at most, unless the flow is paced
/// (RFC 9406, section 4.3, L).
const SEGS_PER_ACK_MAX: u32 = 8;
/// Samples that a round needs before it is judged (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// Rise of the round-trip time that counts, in microseconds (MIN_RTT_THRESH and
/// MAX_RTT_THRESH), and as a part of it (MIN_RTT_DIVISOR).
const RISE_US_MIN: u32 = 4_000;
const RISE_US_MAX: u32 = 16_000;
const RISE_DIVISOR: u32 = 8;
/// How much slower growth is in conservative slow start (CSS_GROWTH_DIVISOR).
const CONSERVATIVE_DIVISOR: u32 = 4;
/// Rounds that conservative slow start lasts, its first part included (CSS_ROUNDS).
const CONSERVATIVE_ROUNDS: u32 = 5;

/// How slow start grows.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// By what is acknowledged.
    Standard,
    /// RFC 3742: beyond `from_segs`, by at most half of `from_segs` in a round trip.
    Limited { from_segs: u32, carry: Carry },
    /// RFC 9406.
    HystartPlusPlus(HystartPlusPlus),
}

/// Acknowledged segments not yet counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry(u32);

impl Carry {
    /// One of `divisor` segments.
    fn share(&mut self, acked_segs: u32, divisor: u32) -> u32 {
        let segs = self.0 + acked_segs;
        self.0 = segs % divisor;
        segs / divisor
    }
}

/// One acknowledgement, as far as slow start is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Its sample of the round-trip time, in microseconds.
    pub rtt_us: Option<u32>,
    /// The lowest segment not yet acknowledged.
    pub una: u64,
    /// The next segment never sent.
    pub next: u64,
}

/// The state of RFC 9406, section 4.2.
#[derive(Clone, Debug, Default)]
pub struct HystartPlusPlus {
    /// Smallest round-trip times of the last round and of this one.
    last_us: Option<u32>,
    current_us: Option<u32>,
    samples: u32,
    window_end: u64,
    /// In conservative slow start.
    conservative: Option<Conservative>,
    carry: Carry,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline_us: u32,
    rounds: u32,
}

impl SlowStart {
    /// At the beginning of a connection.
    pub fn new(kind: stack::SlowStart, limited_from_segs: u32) -> Self {
        match kind {
            stack::SlowStart::Standard => Self::Standard,
            stack::SlowStart::Limited => {
                Self::Limited { from_segs: limited_from_segs, carry: Carry::default() }
            }
            stack::SlowStart::HystartPlusPlus => Self::HystartPlusPlus(HystartPlusPlus::default()),
        }
    }

    /// How many of `acked_segs` the algorithm is told of.
    pub fn share(&mut self, acked_segs: u32, cwnd_segs: u32, is_paced: bool) -> u32 {
        match self {
            Self::Standard => acked_segs,
            Self::Limited { from_segs, .. } if cwnd_segs <= *from_segs => acked_segs,
            // K = int(cwnd / (0.5 max_ssthresh)), which is 2 at least here.
            Self::Limited { from_segs, carry } => {
                carry.share(acked_segs, cwnd_segs / (*from_segs / 2).max(1))
            }
            Self::HystartPlusPlus(hystart) => hystart.share(acked_segs, is_paced),
        }
    }

    /// Looks at the acknowledgement after the window grew; says whether slow start is
    /// over.
    pub fn is_over(&mut self, round: Round) -> bool {
        match self {
            Self::HystartPlusPlus(hystart) => hystart.is_over(round),
            _ => false,
        }
    }

    /// The initial slow start has ended, by whatever cause.
    pub fn end_initial(&mut self) {
        if matches!(self, Self::HystartPlusPlus(_)) {
            *self = Self::Standard;
        }
    }
}

impl HystartPlusPlus {
    fn share(&mut self, acked_segs: u32, is_paced: bool) -> u32 {
        let acked_segs = if is_paced { acked_segs } else { acked_segs.min(SEGS_PER_ACK_MAX) };
        match self.conservative {
            None => acked_segs,
            Some(_) => self.carry.share(acked_segs, CONSERVATIVE_DIVISOR),
        }
    }

    fn is_over(&mut self, round: Round) -> bool {
        if round.una >= self.window_end && self.end_round(round.next) {
            return true;
        }
        if let Some(rtt_us) = round.rtt_us {
            self.current_us = Some(self.current_us.map_or(rtt_us, |min| min.min(rtt_us)));
            self.samples += 1;
            self.judge();
        }
        false
    }

    /// Begins a round; says whether conservative slow start has lasted long enough.
    fn end_round(&mut self, next: u64) -> bool {
        self.last_us = self.current_us.take().or(self.last_us);
        self.samples = 0;
        self.window_end = next;
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= CONSERVATIVE_ROUNDS
    }

    /// Slows down if the round-trip time has risen, and no more if it falls again.
    fn judge(&mut self) {
        let (Some(current), Some(last)) = (self.current_us, self.last_us) else { return };
        if self.samples < SAMPLES {
            return;
        }
        match self.conservative {
            None => {
                let rise = (last / RISE_DIVISOR).clamp(RISE_US_MIN, RISE_US_MAX);
                if current >= last.saturating_add(rise) {
                    self.conservative = Some(Conservative { baseline_us: current, rounds: 0 });
                }
            }
            Some(Conservative { baseline_us, .. }) => {
                if current < baseline_us {
                    self.conservative = None;
                    self.carry = Carry::default();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that acknowledges `ACKS` segments one by one in each round.
    struct Rounds {
        slow_start: SlowStart,
        una: u64,
    }

    const ACKS: u64 = 40;

    impl Rounds {
        fn new() -> Self {
            Self { slow_start: SlowStart::new(stack::SlowStart::HystartPlusPlus, 100), una: 0 }
        }

        /// Growth of the round, and whether slow start ended in it.
        fn play(&mut self, rtt_us: u32) -> (u32, bool) {
            let mut grown = 0;
            for _ in 0..ACKS {
                self.una += 1;
                grown += self.slow_start.share(1, 100, false);
                let round = Round { rtt_us: Some(rtt_us), una: self.una, next: self.una + ACKS };
                if self.slow_start.is_over(round) {
                    return (grown, true);
                }
            }
            (grown, false)
        }
    }

    #[test]
    fn growth_is_quartered_from_the_eighth_sample_of_a_slower_round() {
        let mut rounds = Rounds::new();
        assert_eq!(rounds.play(40_000), (40, false));
        assert_eq!(rounds.play(44_999), (40, false), "the rise must reach an eighth, 5 ms");
        // 8 segments before the decision; then 32 quarters.
        assert_eq!(rounds.play(44_999 + 5_624), (16, false));
    }

    #[test]
    fn the_rise_counts_within_four_and_sixteen_milliseconds() {
        for (rtt_us, rise_us) in [(10_000, 4_000), (80_000, 10_000), (200_000, 16_000)] {
            for (rise_us, slower) in [(rise_us - 1, false), (rise_us, true)] {
                let mut rounds = Rounds::new();
                rounds.play(rtt_us);
                let grown = rounds.play(rtt_us + rise_us).0;
                assert_eq!(grown < ACKS as u32, slower, "RTT {rtt_us} us, rise {rise_us} us");
            }
        }
    }

    #[test]
    fn five_conservative_rounds_end_slow_start() {
        let mut rounds = Rounds::new();
        rounds.play(40_000);
        // The round of the decision is the first.
        for _ in 0..5 {
            assert!(!rounds.play(50_000).1);
        }
        assert_eq!(rounds.play(50_000), (0, true));
    }

    #[test]
    fn a_shorter_round_trip_resumes_slow_start() {
        let mut rounds = Rounds::new();
        rounds.play(40_000);
        rounds.play(50_000);
        rounds.play(49_999);
        assert_eq!(rounds.play(49_999), (40, false));
    }

    #[test]
    fn an_ack_counts_for_eight_segments_at_most_unless_paced() {
        let mut slow_start = SlowStart::new(stack::SlowStart::HystartPlusPlus, 100);
        assert_eq!(slow_start.share(40, 100, false), 8);
        assert_eq!(slow_start.share(40, 100, true), 40);
    }

    #[test]
    fn limited_slow_start_adds_at_most_half_of_its_threshold_in_a_round_trip() {
        let mut slow_start = SlowStart::new(stack::SlowStart::Limited, 100);
        let mut round = |cwnd: u32| (0..cwnd).map(|_| slow_start.share(1, cwnd, false)).sum();
        let grown: [u32; 4] = [100, 101, 200, 1_000].map(&mut round);
        assert_eq!(grown[0], 100);
        assert_eq!(grown[1..], [50, 50, 50]);
    }
}
