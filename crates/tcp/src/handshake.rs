//! Handshakes: SYN, SYN-ACK and their timeouts.
//!
//! Either end sends its packet again if no answer comes within the initial timeout, and then waits
//! twice as long each time (RFC 6298, sections 2 and 5.5). A SYN carries the clock of its sender,
//! and the SYN-ACK echoes it (RFC 7323).

use dumbbell_network::{Ecn, Span, Time};

use crate::arrival::clock;
use crate::round_trip::rtt_of_echo;
use crate::stack::{RtoRule, Stack};
use crate::tick::Tick;

/// Timeout for data after a timeout of the SYN (RFC 6298, section 5.7).
const TIMEOUT_AFTER_LOSS: Span = Span::from_millis(3_000);
/// Bytes of options that only these packets have: segment size and window scale.
const OPTION_BYTES: u16 = 8;
/// Bytes of SACK permitted, which fits next to timestamps.
const SACK_BYTES: u16 = 4;
/// Shortest timeout: the resolution of a host's timestamps.
const TIMEOUT_MIN: Span = Span::from_millis(1);

/// A sender's knowledge from the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Round-trip time of the handshake.
    pub rtt: Span,
    /// Number of retransmissions of the SYN.
    pub retries: u32,
    /// True if the SYN-ACK answered the first SYN, so the others were needless.
    pub is_spurious: bool,
    /// True if the host cannot know which SYN was answered, and so takes no sample (Karn's
    /// algorithm).
    pub is_ambiguous: bool,
}

/// The end that opens a connection.
#[derive(Clone, Debug)]
pub struct Opener {
    first_sent: Time,
    timer: Timer,
}

/// The end that accepts a connection, until it knows that its answer has arrived.
#[derive(Clone, Debug)]
pub struct Accepter {
    /// Clock of the first SYN that arrived.
    echo: u32,
    /// ECN field of the last SYN.
    received: Ecn,
    timer: Timer,
}

/// A timeout that doubles.
#[derive(Clone, Debug)]
struct Timer {
    first: Span,
    longest: Span,
    /// Number of timeouts that do not double it.
    linear: u32,
    expired: u32,
    tick: Tick,
    due: Time,
}

impl Handshake {
    /// A handshake without loss.
    #[must_use]
    pub const fn of(rtt: Span) -> Self {
        Self { rtt, retries: 0, is_spurious: false, is_ambiguous: false }
    }

    /// Initial window of the connection, in segments.
    pub(crate) fn initial_window_segs(&self, stack: &Stack) -> u32 {
        let losses = if self.is_spurious { 0 } else { self.retries };
        // RFC 5681 (section 3.1) allows one segment after any loss. Linux tolerates one repeated
        // SYN (tcp_init_transfer).
        let is_whole = stack.syn_retries_free.is_none_or(|free| losses <= free);
        if is_whole { stack.initial_window_segs.get() } else { 1 }
    }

    /// The retransmission timeout until there is a sample of data. None if the round-trip time
    /// gives it. Linux uses the round-trip time if a timestamp identifies it.
    pub(crate) fn timeout(&self, stack: &Stack) -> Option<Span> {
        let is_long = match stack.rto_rule {
            RtoRule::Rfc6298 => self.retries > 0,
            RtoRule::Linux => self.is_ambiguous,
        };
        is_long.then_some(TIMEOUT_AFTER_LOSS)
    }
}

impl Opener {
    /// An opener that sends its first SYN at `now`.
    #[must_use]
    pub fn new(stack: &Stack, now: Time) -> Self {
        Self { first_sent: now, timer: Timer::new(stack, stack.syn_linear_timeouts, now) }
    }

    /// Time at which to call [`Self::on_timer`].
    #[must_use]
    pub const fn due(&self) -> Time {
        self.timer.due
    }

    /// Return whether to send the SYN again.
    pub fn on_timer(&mut self, now: Time) -> bool {
        self.timer.expire(now)
    }

    /// Process the SYN-ACK, which echoes the clock of the SYN that it answers.
    #[must_use]
    pub fn answered(&self, now: Time, echo: u32, stack: &Stack) -> Handshake {
        let retries = self.timer.expired;
        if retries == 0 {
            return Handshake::of(now.since(self.first_sent));
        }
        Handshake {
            rtt: Span::from_micros(rtt_of_echo(now, echo).into()),
            retries,
            // The clock of the first SYN identifies its answer (tcp_try_undo_spurious_syn).
            is_spurious: stack.undo && stack.timestamps && echo == clock(self.first_sent),
            is_ambiguous: !(stack.timestamps && stack.rtt_from_timestamps),
        }
    }
}

impl Accepter {
    /// An accepter that answers a SYN at `now`. The SYN carries the clock `stamp` and the ECN field
    /// `received`.
    #[must_use]
    pub fn new(stack: &Stack, now: Time, stamp: u32, received: Ecn) -> Self {
        // tcp_syn_linear_timeouts concerns only SYNs: the timeout of a SYN-ACK always doubles.
        Self { echo: stamp, received, timer: Timer::new(stack, 0, now) }
    }

    /// The clock that its SYN-ACK echoes.
    #[must_use]
    pub const fn echo(&self) -> u32 {
        self.echo
    }

    /// The ECN field of the SYN that it answers.
    #[must_use]
    pub const fn received(&self) -> Ecn {
        self.received
    }

    /// Time at which to call [`Self::on_timer`].
    #[must_use]
    pub const fn due(&self) -> Time {
        self.timer.due
    }

    /// Return whether to send the SYN-ACK again.
    pub fn on_timer(&mut self, now: Time) -> bool {
        self.timer.expire(now)
    }

    /// Process another SYN, which is answered as well.
    pub fn on_syn(&mut self, now: Time, received: Ecn) {
        self.received = received;
        self.timer.start(now);
    }
}

impl Timer {
    fn new(stack: &Stack, linear: u32, now: Time) -> Self {
        let (first, longest, tick) = (stack.syn_timeout_ns, stack.rto_max_ns, Tick::of(stack));
        let mut timer = Self { first, longest, linear, expired: 0, tick, due: Time::NEVER };
        timer.start(now);
        timer
    }

    fn wait(&self) -> Span {
        let doubled = self.expired.saturating_sub(self.linear);
        let wait = self.first.0.saturating_mul(1_u64.checked_shl(doubled).unwrap_or(u64::MAX));
        self.tick.set_for(Span(wait.min(self.longest.0).max(TIMEOUT_MIN.0)))
    }

    fn start(&mut self, now: Time) {
        self.due = now + self.wait();
    }

    /// Return whether the timer has expired, and if so start it again.
    fn expire(&mut self, now: Time) -> bool {
        if self.due <= now {
            self.due = self.tick.end(self.due, self.wait());
        }
        let is_over = self.due <= now;
        if is_over {
            self.expired += 1;
            self.start(now);
        }
        is_over
    }
}

/// Return the size of a SYN or a SYN-ACK at the IP layer. Other packets without payload have
/// `header_bytes`.
#[must_use]
pub const fn syn_bytes(stack: &Stack, header_bytes: u16) -> u16 {
    let sack = if stack.sack && !stack.timestamps { SACK_BYTES } else { 0 };
    header_bytes + OPTION_BYTES + sack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{PROFILES, linux_6};

    const SECOND: Span = Span::from_millis(1_000);

    fn stack(profile: &str) -> Stack {
        (PROFILES.iter().find(|candidate| candidate.name == profile).expect("a profile").stack)()
    }

    /// Return the times at which the SYN is sent again, in seconds.
    fn retries_s(stack: &Stack, count: usize) -> Vec<u64> {
        let mut opener = Opener::new(stack, Time::ZERO);
        let mut next = || {
            let due = opener.due();
            assert!(!opener.on_timer(Time(due.0 - 1)) && opener.on_timer(due));
            due.0 / SECOND.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_timeout_of_a_syn_doubles_and_in_linux_6_after_four_more() {
        assert_eq!(retries_s(&stack("rfc"), 5), [1, 3, 7, 15, 31]);
        assert_eq!(retries_s(&stack("linux-4.14"), 3), [1, 3, 7]);
        assert_eq!(retries_s(&linux_6(), 8), [1, 2, 3, 4, 5, 7, 11, 19]);
        assert_eq!(retries_s(&stack("linux-2.6.26"), 3), [3, 9, 21]);
        let capped = Stack { rto_max_ns: Span::from_millis(2_000), ..stack("rfc") };
        assert_eq!(retries_s(&capped, 4), [1, 3, 5, 7]);
    }

    #[test]
    fn the_timeout_of_a_syn_ack_always_doubles_and_starts_again_with_each_syn() {
        let mut accepter = Accepter::new(&linux_6(), Time::ZERO, 0, Ecn::NotEct);
        accepter.on_syn(Time::ZERO + SECOND, Ecn::Ce);
        assert_eq!(accepter.received(), Ecn::Ce);
        assert!(!accepter.on_timer(Time::ZERO + SECOND));
        let due = |accepter: &Accepter| accepter.due().0 / SECOND.0;
        assert_eq!(due(&accepter), 2);
        assert!(accepter.on_timer(accepter.due()));
        assert_eq!(due(&accepter), 4);
        assert!(accepter.on_timer(accepter.due()));
        assert_eq!(due(&accepter), 8);
    }

    /// Return the handshake of a path of 40 ms that loses the first SYNs.
    fn after_losses(stack: &Stack, losses: u32) -> Handshake {
        let (mut opener, mut sent) = (Opener::new(stack, Time::ZERO), Time::ZERO);
        for _ in 0..losses {
            sent = opener.due();
            assert!(opener.on_timer(sent));
        }
        opener.answered(sent + Span::from_millis(40), clock(sent), stack)
    }

    #[test]
    fn what_a_handshake_leaves_behind_depends_on_the_stack() {
        let begins = |profile: &str, losses| {
            let stack = stack(profile);
            let handshake = after_losses(&stack, losses);
            assert_eq!(handshake.rtt, Span::from_millis(40), "{profile}");
            (handshake.initial_window_segs(&stack), handshake.timeout(&stack).is_some())
        };
        for profile in ["linux-6", "linux-4.14", "linux-3.16"] {
            assert_eq!(
                [0, 1, 2].map(|n| begins(profile, n)),
                [(10, false), (10, false), (1, false)]
            );
        }
        assert_eq!([0, 1, 2].map(|n| begins("rfc", n)), [(10, false), (1, true), (1, true)]);
        // This stack takes no round-trip times from timestamps.
        assert_eq!([0, 1, 2].map(|n| begins("linux-2.6.6", n)), [(3, false), (3, true), (3, true)]);
    }

    #[test]
    fn an_answer_to_the_first_syn_shows_that_the_others_were_sent_in_vain() {
        let stack = linux_6();
        let mut opener = Opener::new(&stack, Time::ZERO);
        (0..2).for_each(|_| assert!(opener.on_timer(opener.due())));
        let late = opener.answered(Time::ZERO + Span::from_millis(2_500), 0, &stack);
        assert_eq!((late.rtt, late.retries), (Span::from_millis(2_500), 2));
        assert_eq!(late.initial_window_segs(&stack), 10);
        let blind = Stack { timestamps: false, ..stack };
        let late = opener.answered(Time::ZERO + Span::from_millis(2_500), 0, &blind);
        assert_eq!((late.initial_window_segs(&blind), late.timeout(&blind).is_some()), (1, true));
    }

    #[test]
    fn options_make_a_syn_longer() {
        let bytes = |sack, timestamps| {
            let header_bytes = if timestamps { 52 } else { 40 };
            syn_bytes(&Stack { sack, timestamps, ..linux_6() }, header_bytes)
        };
        assert_eq!([bytes(true, true), bytes(false, true)], [60, 60]);
        assert_eq!([bytes(true, false), bytes(false, false)], [52, 48]);
    }
}
