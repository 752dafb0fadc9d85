//! The network's time, which stops while the emulator is stalled.
//!
//! Anything that takes the emulator's processor away also stops the hosts, whose packets it hands
//! over. If the clock continued meanwhile, everything that was due would be delivered at once, and
//! senders would answer with bursts that overflow queues. So delayed work continues where it was,
//! later by the length of the stall. The sum of all stalls is a guard of the run. The other parts of
//! the run read the same time (`Clock`).

use crate::clock::{Clock, Stalls};

/// Shortest stall. All work of the emulator takes less time.
const STALL_NS: i64 = 100_000;

/// Time of the network, which must be read often.
#[derive(Clone, Debug)]
pub struct NetworkClock {
    clock: Clock,
    last_ns: i64,
}

impl NetworkClock {
    /// A clock of the network that begins now.
    pub fn new(clock: Clock) -> Self {
        Self { last_ns: clock.real_ns(), clock }
    }

    /// Time since the run began without all stalls, in ns; negative before.
    #[inline]
    pub fn now_ns(&mut self) -> i64 {
        self.at(self.clock.real_ns())
    }

    #[inline]
    fn at(&mut self, real_ns: i64) -> i64 {
        let gap_ns = real_ns - self.last_ns;
        self.last_ns = real_ns;
        if gap_ns > STALL_NS && real_ns > 0 {
            self.clock.stall(gap_ns.min(real_ns) as u64);
        }
        self.clock.without_stalls(real_ns)
    }

    /// All stalls until now.
    pub fn stalls(&self) -> &Stalls {
        self.clock.stalls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_network::Span;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn time_stops_while_nobody_looks_for_long() {
        let mut clock = NetworkClock::new(Clock::starting_in(Span::from_millis(1_000)));
        clock.last_ns = -50_000_000;
        assert_eq!(clock.at(-20_000_000), -20_000_000);
        assert_eq!(clock.at(3_000_000), 0);
        assert_eq!((clock.at(3_050_000), clock.at(3_150_000)), (50_000, 150_000));
        assert_eq!(clock.at(5_150_000), 150_000);
        let shared = clock.stalls();
        assert_eq!(
            (shared.total_ns.load(Relaxed), shared.longest_ns.load(Relaxed)),
            (5_000_000, 3_000_000)
        );
    }
}
