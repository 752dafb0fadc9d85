//! An application that lags: it reads blocks and processes each. Unread data takes space in the
//! buffer.
//!
//! The offered window may then stop the sender, and ACKs come with reads.

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_network::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// One byte in bits, times one second in ns.
const BYTE: u64 = 8 * 1_000_000_000;
/// Windows below this part of the buffer are not offered, as in Linux.
const SMALLEST_PART: u64 = 16;
/// Largest window of a SYN in bytes; it is not scaled.
const SYN_WINDOW_BYTES: u64 = u16::MAX as u64;

/// Reads of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Rate at which it processes the data that it has read, in bits of payload per second.
    pub rate_bps: NonZeroU64,
    /// Largest payload of one read.
    pub block_bytes: NonZeroU32,
}

impl Reading {
    /// Largest block in bytes: the largest possible window.
    pub const BLOCK_BYTES_MAX: u32 = 1 << 30;

    /// The highest rate, at which a block takes a nanosecond.
    #[must_use]
    pub const fn fastest_bps(block_bytes: NonZeroU32) -> u64 {
        block_bytes.get() as u64 * BYTE
    }

    /// Time from one read to the next: that of a whole block, even if the read got less.
    #[must_use]
    pub const fn pause(self) -> Span {
        Span(Self::fastest_bps(self.block_bytes) / self.rate_bps.get())
    }
}

/// The application, and the state of its buffer.
#[derive(Clone, Debug)]
pub struct Reader {
    block_bytes: u64,
    pause: Span,
    mss_bytes: u64,
    /// Payload in bytes that it has read.
    read_bytes: u64,
    /// Time from which it may read again, and the time of its next read.
    free: Time,
    due: Time,
    /// True if the sender has pushed the waiting data.
    pushed: bool,
    /// The window of the last ACK, and the segment at which it ends.
    window: u64,
    edge: u64,
}

/// A read in the view of TCP.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Whole segments that it removed from the buffer.
    pub segs: u64,
    /// True if it took all data that the sender had pushed.
    pub ends_push: bool,
}

/// The buffer of a receiver, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Size of the buffer.
    pub whole: u64,
    /// Segments behind a hole.
    pub above: u64,
    /// Largest window that the receiver offers now.
    pub offered: u64,
}

impl Reader {
    /// An application before its first data. Its stack would offer a window of `offered` segments.
    pub fn new(reading: Reading, mss_bytes: u32, offered: u64) -> Self {
        let mss_bytes = u64::from(mss_bytes);
        let window = offered.min(SYN_WINDOW_BYTES / mss_bytes).max(1);
        Self {
            block_bytes: reading.block_bytes.get().into(),
            pause: reading.pause(),
            mss_bytes,
            read_bytes: 0,
            free: Time::ZERO,
            due: Time::NEVER,
            pushed: false,
            window,
            edge: window,
        }
    }

    /// Time of its next read; [`Time::NEVER`] if it has nothing to read.
    pub const fn due(&self) -> Time {
        self.due
    }

    /// The window of the last ACK, in segments. Before the first ACK this is the window of the
    /// handshake.
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Record the arrival of data in order. The application reads at once, or after the last block.
    pub fn on_data(&mut self, now: Time, pushed: bool) {
        self.pushed |= pushed;
        self.due = self.due.min(self.free.max(now));
    }

    /// Read, when all segments below `next` have arrived.
    pub fn read(&mut self, now: Time, next: u64) -> Read {
        let before = self.read_bytes / self.mss_bytes;
        let arrived = next * self.mss_bytes;
        self.read_bytes = arrived.min(self.read_bytes + self.block_bytes);
        self.free = now + self.pause;
        let is_empty = self.read_bytes == arrived;
        self.due = if is_empty { Time::NEVER } else { self.free };
        let ends_push = is_empty && std::mem::take(&mut self.pushed);
        Read { segs: self.read_bytes / self.mss_bytes - before, ends_push }
    }

    /// Return whether more than half of the buffer is used.
    pub const fn is_short_of_space(&self, next: u64, buffer: Buffer) -> bool {
        // Linux then stops quick ACKs (__tcp_select_window).
        2 * self.space(next, buffer) < buffer.whole
    }

    /// Return whether reads have freed all the space that data took. Only then does Linux
    /// acknowledge data before the application reads.
    pub fn may_acknowledge(&self, next: u64, buffer: Buffer) -> bool {
        // The second condition of __tcp_ack_snd_check: the window has not become smaller.
        self.selected(next, buffer) >= self.window
    }

    /// Return whether a read has at least doubled the window, so that the sender should know.
    pub fn opens_window(&self, next: u64, buffer: Buffer) -> bool {
        // The rule of tcp_cleanup_rbuf. Smaller updates would invite small segments (silly window
        // syndrome).
        let (now, then) = (self.selected(next, buffer), self.left(next));
        now > 0 && now >= 2 * then
    }

    /// Return the window of an ACK of all below `next` that leaves now. A receiver never takes an
    /// offer back.
    pub fn offer(&mut self, next: u64, buffer: Buffer) -> u64 {
        // A window that shrinks would make segments in flight invalid (RFC 9293, section 3.8.6).
        self.window = self.selected(next, buffer).max(self.left(next));
        self.edge = next + self.window;
        self.window
    }

    /// Rest of the offered window.
    const fn left(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
    }

    /// Number of segments that have space. A segment that is partly read still takes space.
    pub const fn space(&self, next: u64, buffer: Buffer) -> u64 {
        let unread = next - self.read_bytes / self.mss_bytes;
        buffer.whole.saturating_sub(unread + buffer.above)
    }

    /// The window to offer, if none had been offered before.
    fn selected(&self, next: u64, buffer: Buffer) -> u64 {
        let space = self.space(next, buffer);
        let is_worth_it = space >= (buffer.whole / SMALLEST_PART).max(1);
        if is_worth_it { space.min(buffer.offered) } else { 0 }
    }
}
