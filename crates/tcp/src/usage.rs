//! The use of the window, and the validation of a window that is not used.
//!
//! Only a window that limited sending may grow (RFC 7661, section 4.2). A window that has long been
//! unused is no evidence about the path any more.

use dumbbell_algorithm::{CaState, Conn, SSTHRESH_INFINITE};
use dumbbell_network::{Span, Time};

/// Records whether the window was the limit in the busiest recent round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    limited: bool,
    outstanding_max: u64,
    round_ends: u64,
    /// Segments sent by the connection at the last call with space left.
    sent_segs: u64,
    /// Time at which the window was last the limit, adapted to its use, or about to grow.
    room_since: Time,
    /// Most segments outstanding since then.
    used_segs: u64,
}

/// Segments sent at the end of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct Transmitted {
    /// The lowest segment that is not acknowledged.
    pub una: u64,
    /// The next segment that was never sent.
    pub next: u64,
    /// All segments that the connection sent, with retransmissions.
    pub sent_segs: u64,
}

impl WindowUsage {
    /// Record that the window stopped the transmission. This happens often, so it does as little as
    /// possible. The rest follows when it first does not happen.
    #[inline]
    pub const fn note_full(&mut self, next: u64) {
        self.limited = true;
        self.round_ends = next;
    }

    /// Record that something else stopped the transmission. The fullest moment of a round trip
    /// counts for all of it. Return whether any segment was sent since the last call.
    #[inline]
    pub fn note_space(&mut self, now: Time, sent: Transmitted) -> bool {
        if self.sent_segs == sent.sent_segs {
            return false;
        }
        self.note_new_space(now, sent);
        true
    }

    fn note_new_space(&mut self, now: Time, sent: Transmitted) {
        self.sent_segs = sent.sent_segs;
        let outstanding = sent.next - sent.una;
        let new_round = sent.una >= self.round_ends;
        if self.limited && new_round {
            self.restart(now);
        }
        let busier = !self.limited && outstanding > self.outstanding_max;
        // The conditions of tcp_cwnd_validate, except that a full window is recorded elsewhere.
        if new_round || busier {
            self.limited = false;
            self.outstanding_max = outstanding;
            self.round_ends = sent.next;
        }
    }

    /// Return whether the window limits sending. In slow start half of it in use suffices.
    #[inline]
    pub fn is_limited(&self, cwnd_segs: u32, in_slow_start: impl FnOnce() -> bool) -> bool {
        // Slow start doubles the window, so the last round trip could use only half of it
        // (tcp_is_cwnd_limited).
        self.limited || (u64::from(cwnd_segs) < 2 * self.outstanding_max && in_slow_start())
    }

    /// Return the most segments in use if the window was not the limit for `timeout`, and otherwise
    /// None. Call this at the end of a transmission with the outstanding segments.
    pub fn unused_for(
        &mut self,
        timeout: Span,
        now: Time,
        limited: bool,
        outstanding_segs: u64,
    ) -> Option<u64> {
        if limited {
            self.restart(now);
            return None;
        }
        self.used_segs = self.used_segs.max(outstanding_segs);
        (now >= self.room_since + timeout).then_some(self.used_segs)
    }

    /// Record that the algorithm may grow the window. Linux counts the time without use from here,
    /// so a flow that gets ACKs keeps its window even if it sends little.
    #[inline]
    pub const fn note_growth(&mut self, now: Time) {
        self.room_since = now;
    }

    /// Record that the window was adapted to its use.
    pub const fn restart(&mut self, now: Time) {
        (self.room_since, self.used_segs) = (now, 0);
    }
}

/// Return the ssthresh that a window leaves behind when it is given up (RFC 2861).
pub fn ssthresh_to_keep(conn: &Conn) -> u32 {
    if matches!(conn.state, CaState::Cwr | CaState::Recovery) {
        return conn.ssthresh_segs;
    }
    // Shifts round down as tcp_current_ssthresh does: of 7 segments 4 remain, not 5.
    let three_quarters = (conn.cwnd_segs >> 1) + (conn.cwnd_segs >> 2);
    conn.ssthresh_segs.max(three_quarters).min(SSTHRESH_INFINITE)
}

/// Move an unused window half of the way towards its use (RFC 2861).
pub fn validate(conn: &mut Conn, used_segs: u64, initial_window_segs: u32) {
    let used = (used_segs as u32).max(initial_window_segs);
    if used < conn.cwnd_segs {
        conn.ssthresh_segs = ssthresh_to_keep(conn);
        conn.cwnd_segs = ((u64::from(conn.cwnd_segs) + u64::from(used)) / 2) as u32;
    }
}

/// Halve the window for each `timeout` of idle time, down to the initial window (RFC 2861). The
/// idle time must exceed the timeout.
pub fn restart_after_idle(conn: &mut Conn, idle: Span, timeout: Span, initial_window_segs: u32) {
    conn.ssthresh_segs = ssthresh_to_keep(conn);
    // A window below the initial one must not grow while idle (tcp_cwnd_restart).
    let floor = initial_window_segs.min(conn.cwnd_segs);
    // A timeout that has only just passed does not count yet.
    let timeouts = (idle.0 - 1) / timeout.0.max(1);
    let halved = conn.cwnd_segs.checked_shr(timeouts.min(64) as u32).unwrap_or(0);
    conn.cwnd_segs = halved.max(floor);
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn sent(una: u64, next: u64) -> Transmitted {
        Transmitted { una, next, sent_segs: next }
    }

    #[test]
    fn a_full_window_counts_until_its_round_trip_is_over() {
        let mut usage = WindowUsage::default();
        usage.note_full(10);
        usage.note_space(Time(0), sent(5, 12));
        assert!(usage.is_limited(10, || false));
        usage.note_space(Time(0), sent(10, 14));
        assert!(!usage.is_limited(10, || false));
    }

    #[test]
    fn nothing_sent_shows_nothing() {
        let mut usage = WindowUsage::default();
        usage.note_full(10);
        assert!(usage.note_space(Time(0), sent(0, 10)));
        assert!(!usage.note_space(Time(0), sent(10, 10)));
        assert!(usage.is_limited(10, || false));
    }

    #[test]
    fn slow_start_needs_only_half_of_the_window() {
        let mut usage = WindowUsage::default();
        usage.note_space(Time(0), sent(0, 6));
        assert!(usage.is_limited(11, || true));
        assert!(!usage.is_limited(12, || true));
        assert!(!usage.is_limited(11, || false));
        // The busiest moment of the round trip counts.
        usage.note_space(Time(0), sent(4, 7));
        assert!(usage.is_limited(11, || true));
    }

    #[test]
    fn a_window_unused_for_a_timeout_falls_halfway_to_its_use() {
        let mut usage = WindowUsage::default();
        usage.note_full(100);
        usage.note_space(Time(0), sent(100, 120));
        let timeout = Span(200);
        assert_eq!(usage.unused_for(timeout, Time(100), false, 40), None);
        usage.note_growth(Time(100));
        assert_eq!(usage.unused_for(timeout, Time(299), false, 20), None);
        assert_eq!(usage.unused_for(timeout, Time(300), false, 30), Some(40));
        let mut conn = Conn { cwnd_segs: 100, ssthresh_segs: 50, ..Conn::default() };
        validate(&mut conn, 40, 10);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (70, 75));
        validate(&mut conn, 4, 10);
        assert_eq!(conn.cwnd_segs, 40, "no further than towards the initial window");
    }

    #[test]
    fn each_timeout_of_idle_time_halves_the_window() {
        let after = |idle_ms: u64| {
            let mut conn = Conn { cwnd_segs: 100, ssthresh_segs: 60, ..Conn::default() };
            let timeout = Span::from_millis(200);
            restart_after_idle(&mut conn, Span(idle_ms * 1_000_000 + 1), timeout, 10);
            (conn.cwnd_segs, conn.ssthresh_segs)
        };
        assert_eq!(after(200), (50, 75));
        assert_eq!(after(399), (50, 75));
        assert_eq!(after(400), (25, 75));
        assert_eq!(after(600), (12, 75));
        assert_eq!(after(800), (10, 75));
        assert_eq!(after(1_000_000), (10, 75));
    }

    #[test]
    fn idleness_never_widens_a_small_window_nor_lowers_a_threshold() {
        let mut conn = Conn { cwnd_segs: 3, ..Conn::default() };
        restart_after_idle(&mut conn, Span(1_000), Span(200), 10);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (3, SSTHRESH_INFINITE));
        let mut conn = Conn { cwnd_segs: 100, ssthresh_segs: 20, ..Conn::default() };
        conn.state = CaState::Recovery;
        assert_eq!(ssthresh_to_keep(&conn), 20);
    }
}
