//! The window of a receiver whose application lags, and probes of a closed window.

use dumbbell_network::{Span, Time};

use super::Sender;

impl Sender {
    /// Record the offered window in segments of an ACK that has just been processed.
    pub fn take_window(&mut self, cumulative: u64, segs: u64) {
        // An older ACK must not change the window (RFC 9293, section 3.10.7.4, by SND.WL2).
        if cumulative < self.board.una() {
            return;
        }
        self.limits.receiver_segs = segs;
        self.outstanding_max_segs = segs.min(self.limits.sender_segs);
        if segs > 0 {
            self.window_probes = 0;
        }
        if self.board.outstanding_segs() == 0 {
            self.rto_deadline = Time::NEVER;
        }
    }

    /// Return whether an ACK that carries nothing else only changes the window. It is then no
    /// duplicate.
    #[must_use]
    pub const fn is_window_update(&self, cumulative: u64, segs: u64) -> bool {
        cumulative == self.board.una() && segs != self.limits.receiver_segs
    }

    /// Return whether to send a packet without payload now, which tests whether a closed window is
    /// open again.
    pub fn take_window_probe(&mut self) -> bool {
        std::mem::take(&mut self.probes_window)
    }

    /// Wait for a window that is closed while nothing is outstanding. The ACK that opens it may get
    /// lost (RFC 9293, section 3.8.6.1).
    pub(super) fn persist(&mut self, now: Time) {
        let is_closed = self.limits.receiver_segs == 0 && self.board.outstanding_segs() == 0;
        if is_closed && self.board.next() < self.end && self.rto_deadline == Time::NEVER {
            // This bound only limits the shift. The longest wait is reached long before.
            let wait = self.rtt.rto().0.saturating_mul(1 << self.window_probes.min(20));
            self.rto_deadline = now + Span(wait.min(self.stack.rto_max_ns.0));
        }
    }

    /// Send a window probe, because the wait is over.
    pub(super) fn probe_window(&mut self, now: Time) {
        (self.window_probes, self.probes_window) = (self.window_probes + 1, true);
        self.rto_deadline = Time::NEVER;
        self.persist(now);
    }
}
