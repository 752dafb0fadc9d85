//! The sender's side: the number of marks that an ACK reports.

use super::{ACE_CYCLE, BYTES_CYCLE, ByteCounts, MarkCounts, PACKETS_AT_START};

/// The receiver's counters as the sender knows them.
#[derive(Clone, Debug)]
pub struct MarkReader {
    /// Known marked packets, and 5.
    packets: u64,
    /// Marked bytes of the last option, modulo 2^24.
    marked_bytes: u32,
    /// Segments delivered and marked packets counted since that option.
    delivered_segs: u64,
    counted: u64,
    latest: Latest,
    mss_bytes: u32,
}

/// Report of the last option about the segments since the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Latest {
    /// There was no option, or it reported marks.
    Unclear,
    /// No marks. As long as that does not change, the receiver may omit the option.
    Unmarked,
}

impl MarkReader {
    /// A reader before the first ACK. Segments have this payload.
    #[must_use]
    pub const fn new(mss_bytes: u32) -> Self {
        Self {
            packets: PACKETS_AT_START,
            marked_bytes: 0,
            delivered_segs: 0,
            counted: 0,
            latest: Latest::Unclear,
            mss_bytes,
        }
    }

    /// Read an ACK that delivers `delivered_segs`. Return the number of packets marked since the
    /// ACK before. It must not be older than that one.
    ///
    /// The field gives the number modulo 8. If more segments may have been marked, the marked bytes
    /// show how often the field wrapped: there were at least as many packets as fill them. Without
    /// an option the sender assumes as many marks as the delivery allows (RFC 9768, section
    /// 3.2.2.5.2 and appendix A.2), unless the last option reported no mark. A change would then
    /// have produced an option. If that was lost, the next one compensates.
    pub fn read(&mut self, counts: MarkCounts, delivered_segs: u64) -> u64 {
        let known = self.packets % ACE_CYCLE;
        let least = (u64::from(counts.ace) + ACE_CYCLE - known) % ACE_CYCLE;
        let most_of = |segs: u64| least + segs.saturating_sub(least) / ACE_CYCLE * ACE_CYCLE;
        self.delivered_segs += delivered_segs;
        let marked = match (counts.option, self.latest) {
            (None, Latest::Unmarked) => least,
            (None, Latest::Unclear) => most_of(delivered_segs),
            (Some(bytes), _) => {
                let filled = self.packets_of(bytes);
                self.latest = if filled == 0 { Latest::Unmarked } else { Latest::Unclear };
                let uncounted = filled.saturating_sub(self.counted);
                // The field fixes the number modulo 8, so bytes can only add whole cycles of it.
                let rounds = uncounted.saturating_sub(least).div_ceil(ACE_CYCLE);
                let most = most_of(self.delivered_segs.saturating_sub(self.counted));
                (least + rounds * ACE_CYCLE).min(most)
            }
        };
        self.packets += marked;
        self.counted += marked;
        if counts.option.is_some() {
            (self.delivered_segs, self.counted) = (0, 0);
        }
        marked
    }

    /// Return the smallest number of packets that the marked bytes since the last option can fill.
    fn packets_of(&mut self, bytes: ByteCounts) -> u64 {
        let new_bytes = bytes.ce.wrapping_sub(self.marked_bytes) % BYTES_CYCLE;
        self.marked_bytes = bytes.ce;
        u64::from(new_bytes.div_ceil(self.mss_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u32 = 1_000;

    fn report(packets: u64, bytes: Option<u64>) -> MarkCounts {
        let option = bytes.map(|bytes| ByteCounts {
            ect0: 1,
            ce: (bytes % u64::from(BYTES_CYCLE)) as u32,
            ect1: 1,
            is_short: false,
        });
        MarkCounts { ace: ((packets + PACKETS_AT_START) % ACE_CYCLE) as u8, option }
    }

    #[test]
    fn the_field_alone_reports_fewer_than_eight() {
        let mut reader = MarkReader::new(MSS);
        assert_eq!(reader.read(report(0, None), 2), 0);
        assert_eq!(reader.read(report(2, None), 2), 2);
        assert_eq!(reader.read(report(9, None), 7), 7);
        // More than was delivered: some marks are those of packets without data.
        assert_eq!(reader.read(report(14, None), 1), 5);
    }

    #[test]
    fn a_field_that_may_have_gone_round_is_taken_for_the_worst_without_an_option() {
        // The example of appendix A.2: an increase of 2 with 10 delivered is one of 10.
        for (marks, delivered, read) in [(2, 9, 2), (2, 10, 10), (0, 8, 8), (3, 44, 43)] {
            assert_eq!(MarkReader::new(MSS).read(report(marks, None), delivered), read);
        }
    }

    #[test]
    fn the_option_reports_how_often_it_wrapped() {
        for (marks, delivered) in [(0, 44), (2, 44), (10, 44), (43, 44), (8, 8)] {
            let counts = report(marks, Some(marks * u64::from(MSS)));
            assert_eq!(MarkReader::new(MSS).read(counts, delivered), marks);
        }
    }

    #[test]
    fn an_option_may_be_left_out_while_nothing_is_marked() {
        let mut reader = MarkReader::new(MSS);
        assert_eq!(reader.read(report(0, Some(0)), 10), 0);
        assert_eq!(reader.read(report(0, None), 20), 0);
        // The ACK after nine marks is lost, and the field alone shows one of them.
        assert_eq!(reader.read(report(9, None), 20), 1);
        assert_eq!(reader.read(report(10, Some(10_000)), 2), 9);
        // Now the last option reported marks.
        assert_eq!(reader.read(report(10, None), 16), 16);
    }

    #[test]
    fn what_was_counted_without_an_option_is_not_counted_again_with_one() {
        let mut reader = MarkReader::new(MSS);
        assert_eq!(reader.read(report(3, None), 5), 3);
        assert_eq!(reader.read(report(5, Some(5_000)), 12), 2);
        assert_eq!(reader.read(report(15, Some(15_000)), 12), 10);
    }

    /// Let packets arrive, each marked or not, and lose some of their ACKs. Return the true and the
    /// counted number of marks after each ACK that was not lost.
    fn counts(events: Vec<(bool, bool)>, has_options: bool) -> Vec<(u64, u64)> {
        let mut reader = MarkReader::new(MSS);
        let (mut marks, mut delivered, mut counted) = (0, 0, 0);
        let mut readings = Vec::new();
        for (ce, is_lost) in events {
            marks += u64::from(ce);
            delivered += 1;
            if !is_lost {
                let option = has_options.then_some(marks * u64::from(MSS));
                counted += reader.read(report(marks, option), delivered);
                delivered = 0;
                readings.push((marks, counted));
            }
        }
        readings
    }

    proptest! {
        /// Any ACKs may be lost, and those with the option still count all marks.
        #[test]
        fn lost_acknowledgements_cost_no_marks_where_options_go(
            events in prop::collection::vec((any::<bool>(), any::<bool>()), 1..600),
        ) {
            for (marks, counted) in counts(events, true) {
                prop_assert_eq!(counted, marks);
            }
        }

        /// Without the option no mark of a delivered segment is missed.
        #[test]
        fn without_options_no_mark_is_missed(
            events in prop::collection::vec((any::<bool>(), any::<bool>()), 1..600),
        ) {
            for (marks, counted) in counts(events, false) {
                prop_assert!(counted >= marks && (counted - marks) % 8 == 0);
            }
        }
    }
}
