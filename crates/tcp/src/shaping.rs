//! The departure of the next chunk: pacing, chunk sizes and the host's own queue.
//!
//! The checks are in Linux's order: pacing, size, queue (`tcp_write_xmit`).

use dumbbell_algorithm::{CaState, Conn};
use dumbbell_network::Time;

use crate::chunks::{Space, expects_ack, goal_segs};
use crate::config::SenderConfig;
use crate::host_queue::HostQueue;
use crate::pacing::{Pacer, stack_rate};
use crate::stack::{Pacing, Stack};

/// Delays segments that the windows allow.
#[derive(Debug)]
pub struct Shaper {
    /// True if chunks, a host queue or the stack's own rate are in use.
    is_needed: bool,
    paces_all: bool,
    gathers: bool,
    /// True if the algorithm sets the rate instead of the stack.
    algorithm_sets_rate: bool,
    pacer: Pacer,
    queue: Option<HostQueue>,
    tsq_bytes: u64,
    /// Bytes of a segment that pacing counts.
    paced_bytes: u32,
    wire_bytes: u32,
    /// The stack's own rate, in bytes per second; None before the first ACK.
    rate: Option<u64>,
    /// Bytes in the host's queue at which a segment that had to wait may leave.
    waits_for: Option<u64>,
    /// Number of segments left of the current chunk.
    chunk_left: u64,
    /// True if the last segment of a chunk of several carries PSH.
    pushes: bool,
    /// True if the last released segment ends such a chunk.
    ends_chunk: bool,
    last_ack: Time,
    wake: Time,
    /// Number of segments that the host's queue has space for.
    host_room_segs: u32,
    /// True if the last segment had no such space.
    is_refused: bool,
}

/// Return the bytes of a segment that pacing counts. An algorithm's rate is one of payload. The
/// same holds for all paced data since Linux sets departure times in advance (EDT). Before, its own
/// rate counted whole packets.
const fn paced_bytes(stack: &Stack, config: &SenderConfig, algorithm_sets_rate: bool) -> u32 {
    if algorithm_sets_rate || stack.pacing_credit { config.mss_bytes } else { config.packet_bytes }
}

/// A request to send.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Limits of the data that may be sent.
    pub space: Space,
    /// The smaller of both windows, in segments.
    pub whole_segs: u64,
    /// Largest number of segments that may leave now.
    pub segs: u32,
    /// True if it is a retransmission.
    pub is_retransmission: bool,
    /// Number of segments that the connection has sent before.
    pub sent_segs: u64,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Number of segments that leave now.
    Now(u32),
    /// The next segment leaves at [`Shaper::wake`].
    Wait,
    /// The next segment waits for an ACK that allows a larger chunk.
    Gather,
    /// The host's queue has no space.
    Refused,
}

impl Shaper {
    /// A shaper at the beginning of a connection.
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

    /// Return whether segments may be delayed at all.
    #[inline]
    pub const fn is_active(&self, conn: &Conn) -> bool {
        self.is_needed || conn.pacing_rate_bytes_per_s > 0
    }

    /// Return whether segments may be delayed, or the host's queue may be full.
    #[inline]
    pub const fn may_refuse(&self, conn: &Conn) -> bool {
        self.is_active(conn) || self.host_room_segs < u32::MAX
    }

    /// Time at which a delayed segment may leave.
    #[inline]
    pub const fn wake(&self) -> Time {
        self.wake
    }

    /// Return how long the next segment waits for the pacer, in microseconds.
    #[inline]
    pub fn pacing_wait_us(&self, now: Time) -> u32 {
        let wait_us = self.pacer.earliest().max(now).since(now).as_micros();
        wait_us.min(u32::MAX.into()) as u32
    }

    /// Forget the reasons for the last wait, before a new check.
    #[inline]
    pub const fn forget_wait(&mut self) {
        self.wake = Time::NEVER;
        self.waits_for = None;
        self.ends_chunk = false;
        self.is_refused = false;
    }

    /// Set the number of segments that the host's queue has space for; `u32::MAX` for any number.
    pub const fn set_host_space(&mut self, segs: u32) {
        self.host_room_segs = segs;
    }

    /// Return whether the host's queue has space for a segment. If not, record a refusal.
    pub const fn fits_host(&mut self) -> bool {
        self.is_refused = self.host_room_segs == 0;
        !self.is_refused
    }

    /// Return whether the host's queue has refused a segment since the last check.
    pub const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Set the time of the next attempt, if nothing happens before.
    pub const fn retry_at(&mut self, time: Time) {
        self.wake = time;
    }

    /// Return whether the shaper needs the departures from the host: [`Self::on_tx_completion`].
    pub const fn watches_host(&self) -> bool {
        self.queue.is_some()
    }

    /// Record that the next segments that were handed over leave the host until `at`, or are
    /// dropped there. Return whether a segment waits for that.
    #[inline]
    pub fn on_tx_completion(&mut self, segs: u32, at: Time) -> bool {
        let Some(queue) = &mut self.queue else { return false };
        queue.leave(segs, at);
        let Some(limit) = self.waits_for else { return false };
        self.wake = queue.drained_to(limit);
        true
    }

    /// Hand over a segment that is never delayed.
    pub fn hand_over(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.push(1, self.wire_bytes);
        }
    }

    /// Forget the time at which the next chunk was to leave.
    pub const fn restart(&mut self, now: Time) {
        self.pacer.restart(now);
    }

    /// Return whether the last segment that [`Self::admit`] released ends a chunk of several and
    /// carries PSH.
    pub const fn ends_chunk(&self) -> bool {
        self.ends_chunk
    }

    /// Return whether [`Self::on_ack`] must be called.
    pub const fn watches_acks(&self) -> bool {
        self.is_needed
    }

    /// Update the stack's own rate after an ACK, or after the handshake.
    pub fn on_ack(&mut self, now: Time, conn: &mut Conn, outstanding_segs: u64) {
        if !self.is_needed {
            return;
        }
        self.last_ack = now;
        let rate = stack_rate(conn, outstanding_segs);
        self.rate = Some(rate);
        // An algorithm that sets the rate decides last, as BBR does in tcp_cong_control.
        if self.paces_all && !self.algorithm_sets_rate {
            conn.pacing_rate_bytes_per_s = rate;
        }
    }

    /// Return how many segments may be sent again together: one chunk, if there are chunks.
    pub fn repair_segs_max(&self, conn: &Conn) -> u32 {
        if self.gathers { goal_segs(conn, self.any_rate(conn)) as u32 } else { 1 }
    }

    /// Return whether the next segment leaves later, at [`Self::wake`], only because of the rate.
    #[inline]
    pub fn is_early(&mut self, now: Time, conn: &Conn, is_retransmission: bool) -> bool {
        // A chunk is paced as a whole: in the kernel its segments are one buffer until the card.
        let continues_chunk = self.chunk_left > 0 && !is_retransmission;
        let earliest = self.pacer.earliest();
        let is_early = !continues_chunk && now < earliest && self.pacing_rate(conn).is_some();
        if is_early {
            self.wake = earliest;
        }
        is_early
    }

    /// Decide about segments for which [`Self::is_early`] is false. The caller must send the
    /// segments that are released.
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
            // No other segment comes between segments that leave one by one.
            let segs = chunks.min(request.segs).min(self.host_room_segs);
            if let Some(queue) = &mut self.queue {
                queue.push_packets(segs, self.wire_bytes);
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
            // This comes after the host's queue took the chunk. A refused chunk did not leave and
            // costs nothing.
            self.pacer.charge(now, bytes, request.sent_segs + segs, rate);
        }
        self.let_go(segs, request.segs, self.pushes && segs > 1)
    }

    /// Release segments of a chunk. If `pushes` is set, the last of the chunk carries PSH.
    fn let_go(&mut self, chunk_segs: u64, segs_max: u32, pushes: bool) -> Departure {
        let segs = chunk_segs.min(segs_max.into());
        self.chunk_left = chunk_segs - segs;
        self.ends_chunk = pushes && self.chunk_left == 0;
        Departure::Now(segs as u32)
    }

    fn waits_for_more(&self, now: Time, conn: &Conn, request: Request, goal_segs: u64) -> bool {
        // Repairs never wait for more data (tcp_tso_should_defer).
        matches!(conn.state, CaState::Open | CaState::Disorder | CaState::Cwr)
            && request.space.is_too_small(goal_segs, request.whole_segs)
            && expects_ack(conn, self.last_ack, now)
    }

    /// Return how many chunks of `segs` segments may join the flow's data in the host. None if too
    /// much data waits there.
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
        // One more chunk may join data that is exactly at the limit.
        Some(((limit - waiting) / chunk_bytes).min(u64::from(u32::MAX - 1)) as u32 + 1)
    }

    /// Return whether no data of the flow waits in its host.
    pub fn is_host_empty(&mut self, now: Time) -> bool {
        self.queue.as_mut().is_none_or(|queue| queue.waiting_bytes(now) == 0)
    }

    /// The pacing rate of the flow, in bytes per second; None without pacing.
    fn pacing_rate(&self, conn: &Conn) -> Option<u64> {
        match conn.pacing_rate_bytes_per_s {
            0 if self.paces_all => self.rate,
            0 => None,
            rate => Some(rate),
        }
        .filter(|&rate| rate > 0)
    }

    /// The rate at which the flow is paced, or would be.
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

    /// Return the departure for a request of `segs` segments, at a host that lets 6000 bytes of a
    /// flow wait.
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
        // The last joins 6000 bytes, which do not exceed the limit.
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
