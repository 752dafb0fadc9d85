//! The fall of the window from its old value to ssthresh during recovery.

use crate::stack::Reduction;

/// A reduction under way.
#[derive(Clone, Debug)]
pub struct Recovery {
    reduction: Reduction,
    /// True if rate halving may reduce the window to half of ssthresh.
    undershoots: bool,
    prior_cwnd: u64,
    ssthresh: u64,
    delivered: u64,
    sent: u64,
    /// Number of ACKs so far, for rate halving.
    acks: u64,
}

/// Effects of one ACK on the reduction.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Segments newly known to have arrived.
    pub delivered_segs: u64,
    /// Segments that newly count as lost.
    pub lost_segs: u64,
    /// True if the cumulative ACK advanced.
    pub advanced: bool,
    /// True if it advanced over data that had been sent again, and no retransmission was lost.
    pub repaired: bool,
    /// Estimated number of segments in the network now.
    pub in_flight_segs: u64,
}

impl Recovery {
    /// Begin to reduce from `prior_cwnd` to `ssthresh` segments. `is_reno_s` is true if old kernels
    /// bounded the window of the algorithm like Reno's.
    #[must_use]
    pub fn begin(reduction: Reduction, is_reno_s: bool, prior_cwnd: u32, ssthresh: u32) -> Self {
        let undershoots = match reduction {
            Reduction::RateHalving => true,
            Reduction::RateHalvingBounded => is_reno_s,
            Reduction::PrrSlowStart | Reduction::PrrCautious | Reduction::Prr => false,
        };
        let (prior_cwnd, ssthresh) = (u64::from(prior_cwnd), u64::from(ssthresh));
        Self { reduction, undershoots, prior_cwnd, ssthresh, delivered: 0, sent: 0, acks: 0 }
    }

    /// Set another target, because an algorithm may reduce differently for a loss.
    pub fn aim_at(&mut self, ssthresh: u32) {
        self.ssthresh = u64::from(ssthresh);
    }

    /// Count segments sent during recovery.
    pub fn on_sent(&mut self, segs: u32) {
        self.sent += u64::from(segs);
    }

    /// Return the window after an ACK.
    pub fn on_ack(&mut self, cwnd: u32, progress: Progress) -> u32 {
        let cwnd = match self.reduction {
            Reduction::RateHalving | Reduction::RateHalvingBounded => {
                self.halve_rate(u64::from(cwnd), progress)
            }
            Reduction::PrrSlowStart | Reduction::PrrCautious | Reduction::Prr => {
                self.proportional(progress)
            }
        };
        u32::try_from(cwnd).expect("a window of less than 2^32 segments").max(1)
    }

    /// Remove one segment for every second ACK until the bound, and never allow more than one
    /// segment for an ACK.
    fn halve_rate(&mut self, cwnd: u64, progress: Progress) -> u64 {
        let bound = if self.undershoots { self.ssthresh / 2 } else { self.ssthresh };
        self.acks += 1;
        let step = u64::from(self.acks % 2 == 0 && cwnd > bound);
        // As in tcp_cwnd_down of old kernels: the window never exceeds the flight by more than one
        // segment, so no burst follows a large ACK.
        (cwnd - step).min(progress.in_flight_segs + 1)
    }

    /// Return the window of proportional rate reduction (RFC 9937, section 6). While more than
    /// ssthresh is in flight, segments are sent in proportion to the deliveries. Then the window
    /// returns to ssthresh.
    fn proportional(&mut self, progress: Progress) -> u64 {
        self.delivered += progress.delivered_segs;
        let in_flight = progress.in_flight_segs;
        let sendable = if in_flight > self.ssthresh {
            // Rounded up as in the RFC. The RFC divides by RecoverFS, the flight at the loss. Linux
            // divides by the window at that time (prior_cwnd in tcp_cwnd_reduction), and so does
            // this.
            // An algorithm of a user's own may have left a window of 0.
            let allowed = (self.ssthresh * self.delivered).div_ceil(self.prior_cwnd.max(1));
            allowed.saturating_sub(self.sent)
        } else {
            self.reduction_bound(progress).min(self.ssthresh - in_flight)
        };
        // The first retransmission leaves in any case.
        in_flight + sendable.max(u64::from(self.sent == 0))
    }

    /// Return the most segments to send when ssthresh or less is in flight. While ACKs show that
    /// repair succeeds, this is the slow-start bound, and otherwise packet conservation.
    fn reduction_bound(&self, progress: Progress) -> u64 {
        let delivered = progress.delivered_segs;
        let behind = self.delivered.saturating_sub(self.sent).max(delivered);
        match self.reduction {
            // The rule of Linux 4.14: growth needs a retransmission that arrived, and none that was
            // lost. RFC 9937 requires progress without new losses instead (the last case).
            Reduction::PrrCautious if !progress.repaired => delivered,
            Reduction::PrrCautious | Reduction::PrrSlowStart => behind + 1,
            _ => behind + u64::from(progress.advanced && progress.lost_segs == 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prr_sends_one_segment_for_every_second_ack_while_above_ssthresh() {
        // 20 outstanding, the first lost, entry on the third SACK: 16 in flight.
        let mut recovery = Recovery::begin(Reduction::Prr, true, 20, 10);
        let mut in_flight = 16;
        let mut pattern = Vec::new();
        let mut cwnd = 20;
        for ack in 0..7 {
            in_flight -= u64::from(ack > 0);
            let progress = Progress {
                delivered_segs: 1,
                lost_segs: 0,
                advanced: false,
                repaired: false,
                in_flight_segs: in_flight,
            };
            cwnd = recovery.on_ack(cwnd, progress);
            let sent = u64::from(cwnd) - in_flight.min(u64::from(cwnd));
            recovery.on_sent(sent as u32);
            in_flight += sent;
            pattern.push(sent);
        }
        assert_eq!(pattern, [1, 0, 1, 0, 1, 0, 1]);
    }

    /// Return the window of a recovery far below ssthresh after one ACK.
    fn below_ssthresh(reduction: Reduction, progress: Progress) -> u32 {
        let mut recovery = Recovery::begin(reduction, true, 40, 20);
        recovery.on_sent(4);
        recovery.on_ack(9, progress)
    }

    #[test]
    fn below_ssthresh_the_three_eras_differ_in_when_they_grow() {
        let halted = Progress {
            delivered_segs: 2,
            lost_segs: 0,
            advanced: false,
            repaired: false,
            in_flight_segs: 5,
        };
        let safe = Progress { advanced: true, ..halted };
        let repaired = Progress { repaired: true, ..safe };
        let losing = Progress { lost_segs: 1, ..safe };
        for (reduction, expected) in [
            (Reduction::PrrSlowStart, [8, 8, 8, 8]),
            (Reduction::PrrCautious, [7, 7, 8, 7]),
            (Reduction::Prr, [7, 8, 8, 7]),
        ] {
            let windows = [halted, safe, repaired, losing]
                .map(|progress| below_ssthresh(reduction, progress));
            assert_eq!(windows, expected, "{reduction:?}");
        }
    }

    #[test]
    fn rate_halving_takes_a_segment_for_every_second_ack_down_to_its_bound() {
        for (reduction, is_reno_s, bound) in [
            (Reduction::RateHalving, false, 8),
            (Reduction::RateHalvingBounded, true, 8),
            (Reduction::RateHalvingBounded, false, 17),
        ] {
            let mut recovery = Recovery::begin(reduction, is_reno_s, 20, 17);
            let mut cwnd = 20;
            let windows: Vec<_> = (0..30)
                .map(|_| {
                    let progress = Progress {
                        delivered_segs: 1,
                        lost_segs: 0,
                        advanced: false,
                        repaired: false,
                        in_flight_segs: u64::from(cwnd),
                    };
                    cwnd = recovery.on_ack(cwnd, progress);
                    cwnd
                })
                .collect();
            assert_eq!(windows[..6], [20, 19, 19, 18, 18, 17]);
            assert_eq!(windows[29], bound, "{reduction:?} as Reno: {is_reno_s}");
        }
    }
}
