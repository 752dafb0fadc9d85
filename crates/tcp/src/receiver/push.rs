//! Segments that are acknowledged at once because their sender pushes them.
//!
//! Linux sets PSH, whatever the application writes, on the segment that exceeds half of the largest
//! window since the last PSH; since 6.6 its receivers acknowledge a full segment with PSH at once.
//! On slow paths that is about one such acknowledgement per round trip, which shifts the pairs of
//! all segments after it. The receiver finds these segments here, as it knows the window: the
//! sender would know it half a round trip later.

/// The segments that the sender pushes.
#[derive(Clone, Copy, Debug)]
pub struct WindowPush {
    next: u64,
    is_on: bool,
}

impl WindowPush {
    /// Those of a window of so many segments; 0: none is known.
    pub const fn new(is_on: bool, window: u64) -> Self {
        let is_on = is_on && window > 0;
        Self { next: if is_on { window / 2 } else { u64::MAX }, is_on }
    }

    /// The next segment that says PSH.
    #[inline(always)]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// All below `end` has arrived, and the last of it said PSH, for whatever reason.
    pub const fn restart(&mut self, end: u64, window: u64) {
        if self.is_on {
            self.next = end + window / 2;
        }
    }

    /// All below `end` has arrived in order; the window is of so many segments by now.
    pub const fn pass(&mut self, end: u64, window: u64) {
        while self.is_on && self.next < end {
            // More than half, not half: that is when forced_push of Linux's sender becomes true.
            self.next += window / 2 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_of_a_window_ends_with_a_push() {
        // Captured on the kernel: a window of 65,792 bytes at first, then of 82,304 bytes.
        let mut push = WindowPush::new(true, 65_792 / 1_448);
        let mut found = Vec::new();
        for segment in 0..110 {
            if segment == push.next() {
                found.push(segment);
                push.restart(segment + 1, 82_304 / 1_448);
            }
        }
        assert_eq!(found, [22, 51, 80, 109]);
    }

    #[test]
    fn what_arrives_together_may_pass_several_pushes() {
        let mut push = WindowPush::new(true, 10);
        push.pass(20, 10);
        assert_eq!(push.next(), 23);
    }

    #[test]
    fn the_end_of_a_message_says_psh_too() {
        let mut push = WindowPush::new(true, 10);
        push.restart(4, 10);
        assert_eq!(push.next(), 9);
    }

    #[test]
    fn nothing_is_pushed_where_the_switch_is_off_or_no_window_is_known() {
        for mut push in [WindowPush::new(false, 10), WindowPush::new(true, 0)] {
            push.pass(1_000, 10);
            assert_eq!(push.next(), u64::MAX);
        }
    }
}
