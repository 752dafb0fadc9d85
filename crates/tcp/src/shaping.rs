//! When the next chunk leaves: pacing, chunk sizes and the host's own queue.
//!
//! They are checked in Linux's order: pacing, size, queue (`tcp_write_xmit`).

use dumbbell_algorithm::{CaState, Conn};
use dumbbell_network::Time;

use crate::chunks::{Space, expects_ack, goal_segs};
use crate::config::SenderConfig;
use crate::host_queue::HostQueue;
use crate::pacing::{Pacer, stack_rate};
use crate::stack::{Pacing, Stack};

/// Holds segments back that the windows would let go.
#[derive(Debug)]
pub struct Shaper {
    /// Chunks, a host queue or a rate of the stack's own are in use.
    is_needed: bool,
    paces_all: bool,
    gathers: bool,
    /// The algorithm sets its rate, so that the stack does not.
    algorithm_sets_rate: bool,
    pacer: Pacer,
    queue: Option<HostQueue>,
    tsq_bytes: u64,
    /// What pacing counts of a segment.
    paced_bytes: u32,
    wire_bytes: u32,
    /// The rate of the stack's own, in bytes per second.
    rate: Option<u64>,
    /// What may be waiting there before a segment that had to wait.
    waits_for: Option<u64>,
    /// Segments still to come of the chunk that is leaving.
    chunk_left: u64,
    /// Chunks of several segments say where they end.
    pushes: bool,
    /// The segment that was just let go ends one.
    ends_chunk: bool,
    last_ack: Time,
    wake: Time,
    /// Segments that the host's queue has space for.
    host_room_segs: u32,
    /// It had none for the last that was to leave.
    is_refused: bool,
}

/// An algorithm's rate is one of payload, and so is all that Linux paces since it books
/// departures ahead (EDT). Before, its own rate counted whole packets.
const fn paced_bytes(stack: &Stack, config: &SenderConfig, algorithm_sets_rate: bool) -> u32 {
    if algorithm_sets_rate || stack.pacing_credit { config.mss_bytes } else { config.packet_bytes }
}

/// What is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How much may be sent.
    pub space: Space,
    /// The smaller one of both windows, in segments.
    pub whole_segs: u64,
    /// Most segments that may leave now.
    pub segs: u32,
    /// It is a retransmission.
    pub is_retransmission: bool,
    /// Segments that the connection has sent before.
    pub sent_segs: u64,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// So many segments leave now.
    Now(u32),
    /// The next leaves at [`Shaper::wake`].
    Wait,
    /// The next waits for an ACK that lets a larger chunk go.
    Gather,
    /// The queue of the host has no space.
    Refused,
}

impl Shaper {
    /// At the beginning of a connection.
    pub fn new(stack: &Stack, config: &SenderConfig, algorithm_sets_rate: bool) -> Self {
        // Small queues need a host's interface that reports departures.
        let limits_queue = stack.tsq_bytes.is_some() && config.has_interface;
        let paces_all = stack.pacing == Pacing::Fq;
        Self {
            is_needed: paces_all || stack.tso || limits_queue,
            paces_all,
            gathers: stack.tso,
            algorithm_sets_rate,
            pacer: Pacer::new(stack),
            queue: limits_queue.then(HostQueue::default),
            tsq_bytes: stack.tsq_bytes.map_or(u64::MAX, std::num::NonZeroU64::get),
            paced_bytes: paced_bytes(stack, config, algorithm_sets_rate),
            wire_bytes: config.packet_bytes + config.overhead_bytes,
            rate: None,
            waits_for: None,
            chunk_left: 0,
            pushes: stack.tso_push,
            ends_chunk: false,
            last_ack: Time::ZERO,
            wake: Time::NEVER,
            host_room_segs: u32::MAX,
            is_refused: false,
        }
    }

    /// Whether segments may be held back at all.
    #[inline]
    pub const fn is_active(&self, conn: &Conn) -> bool {
        self.is_needed || conn.pacing_rate_bytes_per_s > 0
    }

    /// The same, or the host's queue may be full.
    #[inline]
    pub const fn may_refuse(&self, conn: &Conn) -> bool {
        self.is_active(conn) || self.host_room_segs < u32::MAX
    }

    /// When a segment that has to wait may leave.
    #[inline]
    pub const fn wake(&self) -> Time {
        self.wake
    }

    /// How long the next segment has to wait for the pacer, in microseconds.
    #[inline]
    pub fn pacing_wait_us(&self, now: Time) -> u32 {
        let wait_us = self.pacer.earliest().max(now).since(now).as_micros();
        wait_us.min(u32::MAX.into()) as u32
    }

    /// A new look at what may be sent begins.
    #[inline]
    pub const fn forget_wait(&mut self) {
        self.wake = Time::NEVER;
        self.waits_for = None;
        self.ends_chunk = false;
        self.is_refused = false;
    }

    /// The host's queue has space for so many segments; `u32::MAX`: for any.
    pub const fn set_host_space(&mut self, segs: u32) {
        self.host_room_segs = segs;
    }

    /// Whether the host's queue has space for a segment; if not, that is a refusal.
    pub const fn fits_host(&mut self) -> bool {
        self.is_refused = self.host_room_segs == 0;
        !self.is_refused
    }

    /// Whether the host's queue has refused a segment since the last look.
    pub const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Tries again then, if nothing else happens before.
    pub const fn retry_at(&mut self, time: Time) {
        self.wake = time;
    }

    /// Whether it wants to know what leaves the host: [`Self::on_tx_completion`].
    pub const fn watches_host(&self) -> bool {
        self.queue.is_some()
    }

    /// The next segments that were handed over leave the host until `at`, or are given up there;
    /// gives whether a segment waits for that.
    #[inline]
    pub fn on_tx_completion(&mut self, segs: u32, at: Time) -> bool {
        let Some(queue) = &mut self.queue else { return false };
        queue.leave(segs, at);
        let Some(limit) = self.waits_for else { return false };
        self.wake = queue.drained_to(limit);
        true
    }

    /// A segment leaves that nothing holds back.
    pub fn hand_over(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.push(1, self.wire_bytes);
        }
    }

    /// Forgets when the next chunk was to leave.
    pub const fn restart(&mut self, now: Time) {
        self.pacer.restart(now);
    }

    /// Whether what [`Self::admit`] has just let go ends a chunk of several, and says so.
    pub const fn ends_chunk(&self) -> bool {
        self.ends_chunk
    }

    /// Whether [`Self::on_ack`] needs to be called.
    pub const fn watches_acks(&self) -> bool {
        self.is_needed
    }

    /// An acknowledgement has been worked through, be it the handshake's: the stack's own
    /// rate follows.
    pub fn on_ack(&mut self, now: Time, conn: &mut Conn, outstanding_segs: u64) {
        if !self.is_needed {
            return;
        }
        self.last_ack = now;
        let rate = stack_rate(conn, outstanding_segs);
        self.rate = Some(rate);
        // An algorithm that sets the rate has the last word, as BBR has in tcp_cong_control.
        if self.paces_all && !self.algorithm_sets_rate {
            conn.pacing_rate_bytes_per_s = rate;
        }
    }

    /// How many segments may be sent again at a time: a chunk, if there are chunks.
    pub fn repair_segs_max(&self, conn: &Conn) -> u32 {
        if self.gathers { goal_segs(conn, self.any_rate(conn)) as u32 } else { 1 }
    }

    /// Whether the next segment leaves later, at [`Self::wake`], by the rate alone.
    #[inline]
    pub fn is_early(&mut self, now: Time, conn: &Conn, is_retransmission: bool) -> bool {
        // A chunk is paced as a whole: in the kernel its segments are one buffer until the card.
        let goes_on = self.chunk_left > 0 && !is_retransmission;
        let earliest = self.pacer.earliest();
        let is_early = !goes_on && now < earliest && self.pacing_rate(conn).is_some();
        if is_early {
            self.wake = earliest;
        }
        is_early
    }

    /// Whether segments for which [`Self::is_early`] does not hold leave now; if so, they are to
    /// be sent.
    pub fn admit(&mut self, now: Time, conn: &Conn, request: Request) -> Departure {
        if self.chunk_left > 0 && !request.is_retransmission {
            return self.let_go(self.chunk_left, request.segs, self.pushes);
        }
        let rate = self.pacing_rate(conn);
        let segs = if !self.gathers {
            1
        } else if request.is_retransmission {
            request.segs.into()
        } else {
            let goal_segs = goal_segs(conn, self.any_rate(conn));
            if self.waits_for_more(now, conn, request, goal_segs) {
                return Departure::Gather;
            }
            request.space.chunk_segs(goal_segs, conn.cwnd_segs)
        };
        let Some(chunks) = self.chunks_for_host(now, conn, segs, request.is_retransmission) else {
            return Departure::Wait;
        };
        if !self.fits_host() {
            return Departure::Refused;
        }
        if !self.gathers && rate.is_none() {
            // Nothing else comes between segments that leave one by one.
            let segs = chunks.min(request.segs).min(self.host_room_segs);
            if let Some(queue) = &mut self.queue {
                queue.push_each(segs, self.wire_bytes);
            }
            (self.chunk_left, self.ends_chunk) = (0, false);
            return Departure::Now(segs);
        }
        let segs = segs.min(self.host_room_segs.into());
        if let Some(queue) = &mut self.queue {
            queue.push(segs as u32, self.wire_bytes);
        }
        if let Some(rate) = rate {
            let bytes = segs * u64::from(self.paced_bytes);
            // Only after the host's queue took it: what was refused did not leave, and costs
            // nothing.
            self.pacer.charge(now, bytes, request.sent_segs + segs, rate);
        }
        self.let_go(segs, request.segs, self.pushes && segs > 1)
    }

    /// Lets go what may leave of a chunk, which says where it ends or not.
    fn let_go(&mut self, chunk_segs: u64, segs_max: u32, pushes: bool) -> Departure {
        let segs = chunk_segs.min(segs_max.into());
        self.chunk_left = chunk_segs - segs;
        self.ends_chunk = pushes && self.chunk_left == 0;
        Departure::Now(segs as u32)
    }

    fn waits_for_more(&self, now: Time, conn: &Conn, request: Request, goal_segs: u64) -> bool {
        // Repairs never wait for more (tcp_tso_should_defer).
        matches!(conn.state, CaState::Open | CaState::Disorder | CaState::Cwr)
            && request.space.is_too_small(goal_segs, request.whole_segs)
            && expects_ack(conn, self.last_ack, now)
    }

    /// How many chunks of so many segments may join what is waiting of the flow in the host; none:
    /// too much is.
    #[inline]
    fn chunks_for_host(
        &mut self,
        now: Time,
        conn: &Conn,
        segs: u64,
        is_retransmission: bool,
    ) -> Option<u32> {
        let rate = self.any_rate(conn);
        let Some(queue) = &mut self.queue else { return Some(u32::MAX) };
        let chunk_bytes = segs * u64::from(self.wire_bytes);
        let millisecond = rate.map_or(u64::MAX, |rate| rate >> 10);
        // Two chunks or a millisecond of the rate (tcp_small_queue_check).
        let limit = (2 * chunk_bytes).max(millisecond).min(self.tsq_bytes);
        // Repairs should not wait behind new data (the factor in tcp_xmit_retransmit_queue).
        let limit = limit.saturating_mul(if is_retransmission { 2 } else { 1 });
        let waiting = queue.waiting_bytes(now);
        if waiting > limit {
            self.wake = queue.drained_to(limit);
            self.waits_for = Some(limit);
            return None;
        }
        // One more may join what is exactly at the limit.
        Some(((limit - waiting) / chunk_bytes).min(u64::from(u32::MAX - 1)) as u32 + 1)
    }

    /// Whether nothing of the flow waits in its host.
    pub fn is_host_empty(&mut self, now: Time) -> bool {
        self.queue.as_mut().is_none_or(|queue| queue.waiting_bytes(now) == 0)
    }

    /// The rate at which the flow is paced, in bytes per second; none: it is not.
    fn pacing_rate(&self, conn: &Conn) -> Option<u64> {
        match conn.pacing_rate_bytes_per_s {
            0 if self.paces_all => self.rate,
            0 => None,
            rate => Some(rate),
        }
        .filter(|&rate| rate > 0)
    }

    /// The rate at which the flow is or would be paced.
    const fn any_rate(&self, conn: &Conn) -> Option<u64> {
        match conn.pacing_rate_bytes_per_s {
            0 => self.rate,
            rate => Some(rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use dumbbell_network::Span;

    use super::*;
    use crate::handshake::Handshake;
    use crate::stack::linux_6;

    /// What is to leave of so many segments, from a host that lets 6000 bytes of a flow wait.
    fn admitted(shaper: &mut Shaper, segs: u32, is_retransmission: bool) -> Departure {
        let space = Space { window_segs: 100, receiver_segs: 100, data_segs: 100 };
        let request = Request { space, whole_segs: 100, segs, is_retransmission, sent_segs: 1_000 };
        shaper.admit(Time(1_000), &Conn::default(), request)
    }

    fn shaper() -> Shaper {
        let stack = Stack { tsq_bytes: NonZeroU64::new(6_000), ..linux_6() };
        let config = SenderConfig {
            mss_bytes: 1_448,
            packet_bytes: 1_500,
            overhead_bytes: 0,
            has_interface: true,
            tcp_bpf: None,
            handshake: Handshake::of(Span::from_millis(10)),
        };
        Shaper::new(&stack, &config, false)
    }

    #[test]
    fn segments_leave_together_as_far_as_small_queues_let_each_of_them() {
        let mut shaper = shaper();
        // The last joins 6000 bytes, which are not more than the limit.
        assert_eq!(admitted(&mut shaper, 3, false), Departure::Now(3));
        assert_eq!(admitted(&mut shaper, 9, false), Departure::Now(2));
        assert_eq!(admitted(&mut shaper, 9, false), Departure::Wait);
        assert!(shaper.on_tx_completion(1, Time(2_000)));
        assert_eq!(shaper.wake(), Time(2_000));
    }

    #[test]
    fn what_is_sent_again_may_have_twice_as_much_before_it() {
        let mut shaper = shaper();
        assert_eq!(admitted(&mut shaper, 9, false), Departure::Now(5));
        assert_eq!(admitted(&mut shaper, 1, true), Departure::Now(1));
    }

    #[test]
    fn a_host_with_too_little_room_takes_a_part_and_refuses_the_rest() {
        let mut shaper = shaper();
        shaper.set_host_space(2);
        assert_eq!(admitted(&mut shaper, 9, false), Departure::Now(2));
        assert!(!shaper.is_refused());
        shaper.set_host_space(0);
        assert_eq!(admitted(&mut shaper, 9, false), Departure::Refused);
        assert!(shaper.is_refused());
        shaper.forget_wait();
        assert!(!shaper.is_refused());
    }
}
