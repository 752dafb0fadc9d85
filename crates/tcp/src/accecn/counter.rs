//! The receiver's counters, and the rules for ACKs that may not wait.

use dumbbell_network::{Ecn as Codepoint, Span, Time};

use super::{
    ACE_CYCLE, BYTES_CYCLE, ByteCounts, MarkCounts, OPTION_BYTES, OPTIONS_BYTES_MAX,
    PACKETS_AT_START, SHORT_OPTION_BYTES,
};
use crate::arrival::Aggregate;
use crate::stack::{AccEcnOption, Ecn, Stack};

/// Number of marks at which an ACK may not wait (RFC 9768, section 3.2.2.5.1).
const MARKS_PENDING_MAX: u64 = 2;
/// Number of ACKs that carry the option after a change. After a single mark the second one resolves
/// the ambiguity of the first (RFC 9768, section 3.2.3.3).
const OPTIONS_AFTER_CHANGE: u8 = 2;
/// Number of options in a round trip without changes (Linux's `tcp_ecn_option_beacon`).
const BEACONS_PER_ROUND: u64 = 3;
/// Number of bytes after which a counter must be reported, so that it cannot wrap unnoticed.
const BYTES_UNREPORTED_MAX: u64 = 1 << 22;
/// Bytes of the timestamps option, padded.
const TIMESTAMPS_BYTES: u16 = 12;

/// The counters of a receiver.
#[derive(Clone, Debug)]
pub struct MarkCounter {
    /// Marked packets, and 5.
    packets: u64,
    /// Payload in bytes.
    unmarked_bytes: u64,
    marked_bytes: u64,
    /// Marks since the last ACK.
    pending: u64,
    /// True if the last segment was marked; None before the first.
    latest: Option<bool>,
    /// ECN field of segments that are not marked.
    capable: Codepoint,
    mss_bytes: u64,
    /// Payload in bytes of a segment that is not full.
    short_bytes: u64,
    /// Bytes for the option that options other than SACK leave.
    room_bytes: u16,
    option: Schedule,
}

/// Decides which ACKs carry the option.
#[derive(Clone, Debug)]
struct Schedule {
    rule: AccEcnOption,
    /// Number of ACKs that must still carry it.
    demanded: u8,
    /// Longest time without it.
    pause: Span,
    due: Time,
    now: Time,
    unreported_bytes: u64,
}

impl MarkCounter {
    /// Counters before the first segment. Full segments have a payload of `mss_bytes`, and others
    /// of `short_bytes`. `rtt` is the round-trip time of the handshake.
    pub fn new(stack: &Stack, mss_bytes: u32, short_bytes: u64, rtt: Span) -> Self {
        let timestamps_bytes = if stack.timestamps { TIMESTAMPS_BYTES } else { 0 };
        Self {
            packets: PACKETS_AT_START,
            unmarked_bytes: 0,
            marked_bytes: 0,
            pending: 0,
            latest: None,
            capable: if stack.ecn == Ecn::L4s { Codepoint::Ect1 } else { Codepoint::Ect0 },
            mss_bytes: mss_bytes.into(),
            short_bytes,
            room_bytes: OPTIONS_BYTES_MAX - timestamps_bytes,
            option: Schedule {
                rule: stack.accecn_option,
                demanded: OPTIONS_AFTER_CHANGE,
                pause: Span(rtt.0 / BEACONS_PER_ROUND),
                due: Time::ZERO,
                now: Time::ZERO,
                unreported_bytes: 0,
            },
        }
    }

    /// Count a marked packet without data.
    pub const fn on_marked_control(&mut self) {
        // Packets without payload count in the ACE field only, because the option counts bytes (RFC
        // 9768, section 3.2.1).
        self.packets += 1;
        self.latest = Some(true);
    }

    /// Count segments with equal marks. Return whether their ACK may not wait. It may not if a mark
    /// follows a segment without one or the other way round, as in Linux, nor if marks accumulate.
    pub fn on_data(&mut self, now: Time, aggregate: &Aggregate) -> bool {
        let segs = aggregate.span.end - aggregate.span.start;
        let last_bytes = if aggregate.full { self.mss_bytes } else { self.short_bytes };
        // Only the last segment of an aggregate may be short, because receive offload ends an
        // aggregate there.
        let bytes = (segs - 1) * self.mss_bytes + last_bytes;
        let changes = self.latest.is_some_and(|latest| latest != aggregate.ce)
            || self.is_first_mark(aggregate);
        if aggregate.ce {
            self.packets += segs;
            self.pending += segs;
            self.marked_bytes += bytes;
        } else {
            self.unmarked_bytes += bytes;
        }
        self.latest = Some(aggregate.ce);
        self.option.on_data(now, bytes, changes || aggregate.ce);
        changes || self.pending >= MARKS_PENDING_MAX
    }

    fn is_first_mark(&self, aggregate: &Aggregate) -> bool {
        self.latest.is_none() && aggregate.ce
    }

    /// Return the counts of the ACK that leaves now, which has SACK blocks of `sack_bytes`.
    pub fn report(&mut self, sack_bytes: u16) -> MarkCounts {
        self.pending = 0;
        let room_bytes = self.room_bytes.saturating_sub(sack_bytes);
        // SACK comes first, because losses matter more than marks (RFC 9768, section 3.2.3.3).
        let has_option = room_bytes >= SHORT_OPTION_BYTES && self.option.goes();
        let cut = |bytes: u64| (bytes % u64::from(BYTES_CYCLE)) as u32;
        let ect = |codepoint| if self.capable == codepoint { self.unmarked_bytes } else { 0 };
        MarkCounts {
            ace: (self.packets % ACE_CYCLE) as u8,
            option: has_option.then(|| ByteCounts {
                // Both counters of ECT bytes begin at 1, and that of marked bytes at 0 (RFC 9768,
                // section 3.2.1).
                ect0: cut(ect(Codepoint::Ect0) + 1),
                ce: cut(self.marked_bytes),
                ect1: cut(ect(Codepoint::Ect1) + 1),
                is_short: room_bytes < OPTION_BYTES,
            }),
        }
    }
}

impl Schedule {
    fn on_data(&mut self, now: Time, bytes: u64, is_news: bool) {
        self.now = now;
        self.unreported_bytes += bytes;
        if is_news {
            self.demanded = OPTIONS_AFTER_CHANGE;
        }
    }

    /// Return whether the current ACK carries the option, and update the schedule.
    fn goes(&mut self) -> bool {
        let goes = match self.rule {
            AccEcnOption::Always => true,
            AccEcnOption::Never => false,
            AccEcnOption::Changes => {
                self.demanded > 0
                    || self.now >= self.due
                    || self.unreported_bytes >= BYTES_UNREPORTED_MAX
            }
        };
        if goes {
            self.demanded = self.demanded.saturating_sub(1);
            self.due = self.now + self.pause;
            self.unreported_bytes = 0;
        }
        goes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::linux_6;

    fn counter(option: AccEcnOption) -> MarkCounter {
        let stack = Stack { ecn: Ecn::Classic, accecn: true, accecn_option: option, ..linux_6() };
        MarkCounter::new(&stack, 1_000, 100, Span::from_millis(30))
    }

    fn aggregate(segs: u64, ce: bool) -> Aggregate {
        Aggregate { span: 0..segs, stamp: 0, ce, cwr: false, full: true, pushed: false }
    }

    #[test]
    fn a_change_and_every_second_mark_may_not_wait() {
        let mut counter = counter(AccEcnOption::Always);
        let mut take = |ce| {
            let at_once = counter.on_data(Time(1), &aggregate(1, ce));
            if at_once {
                counter.report(0);
            }
            at_once
        };
        let marks = [false, false, true, true, true, true, false, false, true];
        let at_once = [false, false, true, false, true, false, true, false, true];
        assert_eq!(marks.map(&mut take), at_once);
        let mut first = super::tests::counter(AccEcnOption::Always);
        assert!(first.on_data(Time(1), &aggregate(1, true)), "no packet before it was marked");
    }

    #[test]
    fn packets_count_from_five_and_bytes_by_their_mark() {
        let mut counter = counter(AccEcnOption::Always);
        assert_eq!(counter.report(0).ace, 5);
        counter.on_data(Time(1), &aggregate(3, false));
        counter.on_data(Time(1), &Aggregate { full: false, ..aggregate(4, true) });
        let counts = counter.report(0);
        let bytes = ByteCounts { ect0: 3_001, ce: 3_100, ect1: 1, is_short: false };
        assert_eq!(counts, MarkCounts { ace: 1, option: Some(bytes) });
        counter.on_marked_control();
        assert_eq!(counter.report(0).ace, 2);
    }

    #[test]
    fn sack_blocks_leave_room_for_less() {
        let mut counter = counter(AccEcnOption::Always);
        let sizes = [0, 12, 20, 28].map(|sack| counter.report(sack).option_bytes());
        assert_eq!(sizes, [12, 12, 8, 0]);
    }

    #[test]
    fn the_option_goes_twice_after_a_change_and_three_times_a_round() {
        let mut counter = counter(AccEcnOption::Changes);
        let mut goes = |at_ms: u64, ce| {
            counter.on_data(Time::ZERO + Span::from_millis(at_ms), &aggregate(1, ce));
            counter.report(0).option.is_some()
        };
        assert!(goes(1, false) && goes(1, false), "the first two test the path");
        assert_eq!(
            [2, 10, 11, 12, 21].map(|at| goes(at, false)),
            [false, false, true, false, true]
        );
        assert_eq!([true, false, false, false].map(|ce| goes(22, ce)), [true, true, true, false]);
        let mut never = super::tests::counter(AccEcnOption::Never);
        never.on_data(Time(1), &aggregate(1, true));
        assert_eq!(never.report(0), MarkCounts { ace: 6, option: None });
    }
}
