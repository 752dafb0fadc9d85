//! RACK (recent acknowledgement): loss inferred from time (RFC 8985).
//!
//! A segment is overdue after a later one has been delivered. The time since its transmission must
//! also exceed the round trip of that one, plus a window for reordering.

use dumbbell_algorithm::CaState;
use dumbbell_network::{Span, Time};

use crate::arrival::clock;

/// A transmission's place in the order of all, even at equal times. It has the next new segment at
/// the time. Retransmissions by number come first, and then the transmission of that segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    next: u64,
    retransmission: u64,
}

impl Order {
    /// Place of the first transmission of a segment.
    #[inline]
    #[must_use]
    pub const fn of_new(segment: u64) -> Self {
        Self { next: segment, retransmission: u64::MAX }
    }

    /// Place of the `count`th retransmission, made before segment `next` was first sent.
    #[inline]
    #[must_use]
    pub const fn of_retransmission(next: u64, count: u64) -> Self {
        Self { next, retransmission: count }
    }

    /// The next new segment at the time of the transmission.
    #[inline]
    #[must_use]
    pub const fn next(self) -> u64 {
        self.next
    }
}

/// The place of a transmission in the order, and its time.
pub type Transmission = (Order, Time);

/// State of the connection that determines which segments an ACK shows to be lost.
#[derive(Clone, Copy, Debug)]
pub struct LossContext {
    /// Current time.
    pub now: Time,
    /// Smallest round-trip time.
    pub min_rtt: Span,
    /// Smoothed round-trip time.
    pub srtt: Span,
    /// Congestion state of the sender.
    pub state: CaState,
    /// The timestamp that an ACK echoes. None if the stack uses none, and for SACKed segments:
    /// receivers do not echo timestamps of segments behind a hole (RFC 7323, section 4.3).
    pub echo: Option<u32>,
}

impl LossContext {
    /// Return whether losses are being repaired.
    pub const fn is_repairing(&self) -> bool {
        matches!(self.state, CaState::Recovery | CaState::Loss)
    }
}

/// Rule for the reordering window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderingWindow {
    /// Linux 4.4 to 4.17: 1 ms, or a quarter of the smallest RTT if that is more.
    Fixed,
    /// RFC 8985, section 6.2, step 4: zero if three SACKed segments indicate a loss, and otherwise
    /// steps of a quarter of the smallest RTT. Each round trip in which a retransmission proved
    /// needless adds a step.
    Adaptive,
}

/// Observations that determine the reordering window.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// True if reordering was observed on this connection.
    pub reordering_seen: bool,
    /// True if enough segments are SACKed to indicate a loss.
    pub many_sacked: bool,
    /// True if segments count as lost.
    pub any_lost: bool,
}

const STEPS_MAX: u64 = 255;
/// Recoveries for which a wider window is kept (RFC 8985, section 6.2).
const RECOVERIES_KEPT: u32 = 16;
const FIXED_WINDOW: Span = Span::from_millis(1);

/// RACK's state for one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    window: ReorderingWindow,
    /// The transmission sent last among all that were delivered.
    latest: Option<Transmission>,
    /// Round-trip time of the last delivery.
    rtt: Span,
    steps: u64,
    recoveries_left: u32,
    /// End of a round trip, in which duplicate reports count once: the ACK of this segment.
    round_ends: Option<u64>,
}

impl Rack {
    /// State before the first delivery.
    #[must_use]
    pub const fn new(window: ReorderingWindow) -> Self {
        Self {
            window,
            latest: None,
            rtt: Span::ZERO,
            steps: 1,
            recoveries_left: 0,
            round_ends: None,
        }
    }

    /// The transmission sent last among all that were delivered; None before the first delivery.
    #[must_use]
    pub const fn latest(&self) -> Option<Transmission> {
        self.latest
    }

    /// Record the delivery of a segment with the last transmission `transmission`.
    pub fn on_delivery(
        &mut self,
        context: &LossContext,
        transmission: Transmission,
        was_resent: bool,
    ) {
        let rtt = context.now.since(transmission.1);
        // An earlier transmission was delivered (RFC 8985, section 6.2, step 2).
        let too_soon = rtt < context.min_rtt;
        let caused_earlier = context.echo.is_some_and(|echo| echo < clock(transmission.1));
        if was_resent && (too_soon || caused_earlier) {
            return;
        }
        // Linux takes this from any delivery, even of a segment sent before `latest`
        // (tcp_rack_advance).
        self.rtt = rtt;
        self.latest = self.latest.max(Some(transmission));
    }

    /// Record a report of a needless retransmission.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        // Several reports within a round trip may have one cause.
        if self.round_ends.is_none_or(|end| una >= end) {
            self.round_ends = Some(next);
            self.steps = (self.steps + 1).min(STEPS_MAX);
        }
        self.recoveries_left = RECOVERIES_KEPT;
    }

    /// Record that Recovery or Loss ended without an undo.
    pub fn on_recovery_end(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.steps = 1;
        }
    }

    /// Return the time after its transmission at which an overtaken segment is overdue.
    #[must_use]
    pub fn patience(&self, context: &LossContext, signs: Signs) -> Span {
        let window = match self.window {
            ReorderingWindow::Fixed => Self::fixed(context, signs),
            ReorderingWindow::Adaptive => self.adaptive(context, signs),
        };
        Span(self.rtt.0 + window.0)
    }

    fn fixed(context: &LossContext, signs: Signs) -> Span {
        // Before a first loss is known, the wider window prevents that reordering counts as a loss.
        let wide = signs.reordering_seen || !signs.any_lost;
        if wide { Span(context.min_rtt.0 / 4).max(FIXED_WINDOW) } else { FIXED_WINDOW }
    }

    fn adaptive(&self, context: &LossContext, signs: Signs) -> Span {
        // On a path that keeps the order, three SACKed segments indicate a loss, and waiting gains
        // nothing (tcp_rack_reo_wnd).
        if !signs.reordering_seen && (context.is_repairing() || signs.many_sacked) {
            return Span::ZERO;
        }
        // The SRTT is the bound (RFC 8985, section 6.2, step 4): a longer wait only delays repairs.
        Span(context.min_rtt.0 / 4 * self.steps).min(context.srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SIGNS: Signs = Signs { reordering_seen: false, many_sacked: false, any_lost: false };

    fn context(now_ms: u64) -> LossContext {
        LossContext {
            now: Time::ZERO + Span::from_millis(now_ms),
            min_rtt: Span::from_millis(40),
            srtt: Span::from_millis(60),
            state: CaState::Open,
            echo: None,
        }
    }

    fn after(rack: &Rack, context: &LossContext, signs: Signs) -> u64 {
        rack.patience(context, signs).as_micros()
    }

    #[test]
    fn the_adaptive_window_is_a_quarter_unless_a_loss_is_plain() {
        let mut rack = Rack::new(ReorderingWindow::Adaptive);
        rack.on_delivery(&context(50), (Order::of_new(3), Time::ZERO), false);
        let repairing = LossContext { state: CaState::Recovery, ..context(50) };
        let plain = Signs { many_sacked: true, ..NO_SIGNS };
        let reordered = Signs { reordering_seen: true, ..plain };
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 60_000);
        assert_eq!(after(&rack, &context(50), plain), 50_000);
        assert_eq!(after(&rack, &repairing, NO_SIGNS), 50_000);
        assert_eq!(after(&rack, &repairing, reordered), 60_000);
    }

    #[test]
    fn a_needless_retransmission_widens_the_window_once_for_each_round_trip() {
        let mut rack = Rack::new(ReorderingWindow::Adaptive);
        rack.on_delivery(&context(50), (Order::of_new(3), Time::ZERO), false);
        rack.on_duplicate(10, 20);
        rack.on_duplicate(19, 30);
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 70_000);
        (20..30).for_each(|una| rack.on_duplicate(una * 10, una * 10 + 10));
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 110_000, "never more than the SRTT");
        (0..15).for_each(|_| rack.on_recovery_end());
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 110_000);
        rack.on_recovery_end();
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 60_000);
    }

    #[test]
    fn the_fixed_window_is_a_millisecond_once_losses_are_known() {
        let mut rack = Rack::new(ReorderingWindow::Fixed);
        rack.on_delivery(&context(50), (Order::of_new(3), Time::ZERO), false);
        let lost = Signs { any_lost: true, ..NO_SIGNS };
        assert_eq!(after(&rack, &context(50), NO_SIGNS), 60_000);
        assert_eq!(after(&rack, &context(50), lost), 51_000);
        let reordered = Signs { reordering_seen: true, ..lost };
        assert_eq!(after(&rack, &context(50), reordered), 60_000);
    }

    #[test]
    fn the_rtt_is_of_what_was_delivered_last_even_if_that_was_sent_before() {
        let mut rack = Rack::new(ReorderingWindow::Adaptive);
        let again = (Order::of_retransmission(9, 0), Time::ZERO + Span::from_millis(600));
        rack.on_delivery(&context(900), again, true);
        rack.on_delivery(&context(900), (Order::of_new(3), Time::ZERO), false);
        assert_eq!(rack.latest(), Some(again));
        assert_eq!(after(&rack, &context(900), NO_SIGNS), 910_000);
    }

    #[test]
    fn a_retransmission_that_returns_too_soon_does_not_count() {
        let mut rack = Rack::new(ReorderingWindow::Adaptive);
        let sent = Time::ZERO + Span::from_millis(30);
        let again = (Order::of_retransmission(9, 0), sent);
        rack.on_delivery(&context(50), again, true);
        assert_eq!(rack.latest(), None);
        let of_original = LossContext { echo: Some(clock(sent) - 1), ..context(80) };
        rack.on_delivery(&of_original, again, true);
        assert_eq!(rack.latest(), None);
        rack.on_delivery(&context(80), again, true);
        rack.on_delivery(&context(90), (Order::of_new(8), Time::ZERO), false);
        assert_eq!(rack.latest(), Some(again), "only what was sent later replaces it");
        rack.on_delivery(&context(90), (Order::of_new(9), sent), false);
        assert_eq!(rack.latest(), Some((Order::of_new(9), sent)));
    }
}
