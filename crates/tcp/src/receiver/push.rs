//! Segments that are acknowledged at once because their sender pushes them.
//!
//! Linux sets PSH on the segment that exceeds half of the largest window since the last PSH,
//! whatever the application writes. Its receivers acknowledge a full segment with PSH at once since
//! 6.6. On slow paths that is about one such ACK per round trip, which shifts the pairs of all
//! later segments. The receiver finds these segments here, because it knows the window half a round
//! trip earlier than the sender.

/// The segments that the sender pushes.
#[derive(Clone, Copy, Debug)]
pub struct WindowPush {
    next: u64,
    is_on: bool,
}

impl WindowPush {
    /// The pushed segments for a window of `window` segments; 0 if none is known.
    pub const fn new(is_on: bool, window: u64) -> Self {
        let is_on = is_on && window > 0;
        Self { next: if is_on { window / 2 } else { u64::MAX }, is_on }
    }

    /// The next segment with PSH.
    #[inline(always)]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Record that all below `end` has arrived, and that the last of it had PSH for any reason.
    pub const fn restart(&mut self, end: u64, window: u64) {
        if self.is_on {
            self.next = end + window / 2;
        }
    }

    /// Record that all below `end` has arrived in order. The window now has `window` segments.
    pub const fn pass(&mut self, end: u64, window: u64) {
        while self.is_on && self.next < end {
            // More than half, not half: forced_push of Linux's sender then becomes true.
            self.next += window / 2 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_of_a_window_ends_with_a_push() {
        // Captured on the kernel: a window of 65,792 bytes at first, and then of 82,304 bytes.
        let mut push = WindowPush::new(true, 65_792 / 1_448);
        let mut pushed = Vec::new();
        for segment in 0..110 {
            if segment == push.next() {
                pushed.push(segment);
                push.restart(segment + 1, 82_304 / 1_448);
            }
        }
        assert_eq!(pushed, [22, 51, 80, 109]);
    }

    #[test]
    fn what_arrives_together_may_pass_several_pushes() {
        let mut push = WindowPush::new(true, 10);
        push.pass(20, 10);
        assert_eq!(push.next(), 23);
    }

    #[test]
    fn the_end_of_a_message_has_psh_too() {
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
