//! A set of segment numbers, stored as disjoint ranges.
//!
//! Selective ACKs cover long runs, so both ends of a connection store ranges and not one mark for
//! each segment. Common operations change an end of the set: a block grows by a segment, or a
//! window passes the lowest range.

use std::collections::VecDeque;
use std::ops::Range;

/// Segment numbers, as sorted ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<Range<u64>>,
    /// Place where the last search ended. The next one mostly ends there or one further.
    last_place: usize,
}

impl RangeSet {
    /// Return whether the set has no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of members.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// One past the highest member; None if the set is empty.
    #[inline]
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.ranges.back().map(|range| range.end)
    }

    /// The range that contains `member`; None if there is none.
    #[inline]
    fn range_of(&mut self, member: u64) -> Option<&Range<u64>> {
        let place = self.first_ending_after(member);
        let range = self.ranges.get(place)?;
        (range.start <= member).then_some(range)
    }

    /// Return whether `member` is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&mut self, member: u64) -> bool {
        self.range_of(member).is_some()
    }

    /// The lowest number at or above `from` that is not a member.
    #[inline]
    #[must_use]
    pub fn next_absent(&mut self, from: u64) -> u64 {
        self.range_of(from).map_or(from, |range| range.end)
    }

    /// The member that has exactly `rank` members above it; None if there are too few.
    #[must_use]
    pub fn nth_from_top(&self, rank: u64) -> Option<u64> {
        let mut above = rank;
        for range in self.ranges.iter().rev() {
            let length = range.end - range.start;
            if above < length {
                return Some(range.end - 1 - above);
            }
            above -= length;
        }
        None
    }

    /// The lowest maximal range of absent numbers in `span`; None if there is none.
    #[inline]
    #[must_use]
    pub fn first_gap(&mut self, span: Range<u64>) -> Option<Range<u64>> {
        let first = self.first_ending_after(span.start);
        let (start, next) = match self.ranges.get(first) {
            Some(range) if range.start <= span.start => (range.end, self.ranges.get(first + 1)),
            next => (span.start, next),
        };
        let end = next.map_or(span.end, |next| next.start.min(span.end));
        (start < end).then_some(start..end)
    }

    /// The lowest maximal range of members in `span`; None if there is none.
    #[must_use]
    pub fn first_common(&mut self, span: Range<u64>) -> Option<Range<u64>> {
        let place = self.first_ending_after(span.start);
        let range = self.ranges.get(place)?;
        let common = range.start.max(span.start)..range.end.min(span.end);
        (common.start < common.end).then_some(common)
    }

    /// Add every number of `new`, which must not be empty. Return the range that now contains them.
    pub fn insert(&mut self, new: Range<u64>) -> Range<u64> {
        assert!(new.start < new.end, "empty range {new:?}");
        // Blocks mostly grow or begin at the top, which needs no search.
        if let Some(last) = self.ranges.back_mut().filter(|last| last.start <= new.start) {
            if last.end < new.start {
                self.ranges.push_back(new.clone());
                return new;
            }
            last.end = last.end.max(new.end);
            return last.clone();
        }
        // Ranges that overlap or touch `new` are those from `first` up to `last`.
        let first = new.start.checked_sub(1).map_or(0, |before| self.first_ending_after(before));
        let mut last = first;
        while self.ranges.get(last).is_some_and(|range| range.start <= new.end) {
            last += 1;
        }
        if first == last {
            self.ranges.insert(first, new.clone());
            return new;
        }
        let start = self.ranges[first].start.min(new.start);
        let end = self.ranges[last - 1].end.max(new.end);
        self.ranges[first] = start..end;
        self.ranges.drain(first + 1..last);
        start..end
    }

    /// Remove everything below `floor`. Return the number of removed members.
    pub fn remove_below(&mut self, floor: u64) -> u64 {
        let mut removed = 0;
        while let Some(range) = self.ranges.front_mut() {
            if range.start >= floor {
                break;
            }
            let end = range.end.min(floor);
            removed += end - range.start;
            range.start = end;
            if range.start == range.end {
                self.ranges.pop_front();
                self.last_place = self.last_place.saturating_sub(1);
            }
        }
        removed
    }

    /// The place of the first range that ends above `member`; the number of ranges if none does.
    #[inline]
    fn first_ending_after(&mut self, member: u64) -> usize {
        let Some(last) = self.ranges.back() else { return 0 };
        if last.start <= member {
            return self.ranges.len() - usize::from(member < last.end);
        }
        // The last range ends above `member`, so each place below exists.
        let is_passed = |place: usize| self.ranges[place].end <= member;
        let near = self.last_place.min(self.ranges.len() - 1);
        let place = match is_passed(near) {
            true if !is_passed(near + 1) => near + 1,
            false if near == 0 || is_passed(near - 1) => near,
            _ => self.ranges.partition_point(|range| range.end <= member),
        };
        self.last_place = place;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn members(set: &RangeSet) -> BTreeSet<u64> {
        set.ranges.iter().cloned().flatten().collect()
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(
            operations in prop::collection::vec((0u64..60, 1u64..12, 0u8..4), 1..60)
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, length, operation) in operations {
                if operation == 0 {
                    let below = model.range(..start).count() as u64;
                    prop_assert_eq!(set.remove_below(start), below);
                    model = model.split_off(&start);
                } else {
                    let common = (start..start + length).filter(|n| model.contains(n));
                    let expected = common.scan(None, |end: &mut Option<u64>, number| {
                        let follows = end.is_none_or(|end| end == number);
                        *end = Some(number + 1);
                        follows.then_some(number)
                    });
                    let expected: Vec<u64> = expected.collect();
                    let common = set.first_common(start..start + length);
                    prop_assert_eq!(common.into_iter().flatten().collect::<Vec<_>>(), expected);
                    let range = set.insert(start..start + length);
                    prop_assert_eq!(set.range_of(start), Some(&range));
                    model.extend(start..start + length);
                }
                prop_assert_eq!(&members(&set), &model);
                prop_assert!(set.ranges.iter().zip(set.ranges.iter().skip(1)).all(|(a, b)| a.end < b.start));
                prop_assert_eq!(set.end(), model.last().map(|last| last + 1));
                for probe in 0..75 {
                    prop_assert_eq!(set.contains(probe), model.contains(&probe));
                    let absent = (probe..).find(|number| !model.contains(number)).unwrap();
                    prop_assert_eq!(set.next_absent(probe), absent);
                    let expected = model.iter().rev().nth(probe as usize).copied();
                    prop_assert_eq!(set.nth_from_top(probe), expected);
                }
                let (mut gaps, mut from) = (BTreeSet::new(), 5);
                while let Some(gap) = set.first_gap(from..50) {
                    from = gap.end;
                    gaps.extend(gap);
                }
                let expected: BTreeSet<u64> = (5..50).filter(|n| !model.contains(n)).collect();
                prop_assert_eq!(gaps, expected);
            }
        }
    }
}
