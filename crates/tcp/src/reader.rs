//! An application that lags: it reads in blocks and works on each, and what it has not read takes
//! space in the buffer.
//!
//! A sender may then be stopped by the window that its receiver offers, and acknowledgements come
//! with reads.

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_network::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Bits of a byte times nanoseconds of a second.
const BYTE: u64 = 8 * 1_000_000_000;
/// Windows below this part of the buffer are not worth offering (as in Linux).
const SMALLEST_PART: u64 = 16;
/// Largest window of a SYN, which is not scaled.
const SYN_WINDOW_BYTES: u64 = u16::MAX as u64;

/// How an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Bits of payload per second at which it works on what it has read.
    pub rate_bps: NonZeroU64,
    /// Most payload that it reads at once.
    pub block_bytes: NonZeroU32,
}

impl Reading {
    /// Largest block: the largest window there is.
    pub const BLOCK_BYTES_MAX: u32 = 1 << 30;

    /// The highest rate at which a block takes a nanosecond.
    #[must_use]
    pub const fn fastest_bps(block_bytes: NonZeroU32) -> u64 {
        block_bytes.get() as u64 * BYTE
    }

    /// The time from one read to the next: that of a whole block, whatever it got.
    #[must_use]
    pub const fn pause(self) -> Span {
        Span(Self::fastest_bps(self.block_bytes) / self.rate_bps.get())
    }
}

/// The application, and what its buffer has space for.
#[derive(Clone, Debug)]
pub struct Reader {
    block_bytes: u64,
    pause: Span,
    mss_bytes: u64,
    /// Payload that it has read.
    read_bytes: u64,
    /// When it may read again, and when it means to.
    free: Time,
    due: Time,
    /// The sender has pushed what waits.
    pushed: bool,
    /// The window that the last acknowledgement offered, and the segment at which it ends.
    window: u64,
    edge: u64,
}

/// A read, as TCP sees it.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Whole segments that it took out of the buffer.
    pub segs: u64,
    /// It took all that the sender had pushed.
    pub ends_push: bool,
}

/// The buffer of a receiver, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// All that it holds.
    pub whole: u64,
    /// What waits in it for a hole to be filled.
    pub above: u64,
    /// Most that the receiver offers at this time.
    pub offered: u64,
}

impl Reader {
    /// An application that has nothing to read yet; its stack would offer so many segments.
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

    /// When it means to read.
    pub const fn due(&self) -> Time {
        self.due
    }

    /// The window that the last acknowledgement offered, in segments; before the first that of the
    /// handshake.
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Data in order has arrived: it reads at once, or when it has worked on the last block.
    pub fn on_data(&mut self, now: Time, pushed: bool) {
        self.pushed |= pushed;
        self.due = self.due.min(self.free.max(now));
    }

    /// It reads, where all below `next` has arrived.
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

    /// Whether more than half of the buffer is taken.
    pub const fn is_short_of_space(&self, next: u64, buffer: Buffer) -> bool {
        // There Linux stops acknowledging quickly (__tcp_select_window).
        2 * self.space(next, buffer) < buffer.whole
    }

    /// Whether data has taken no space that reads have not given back: only then does Linux
    /// acknowledge it before the application reads.
    pub fn may_acknowledge(&self, next: u64, buffer: Buffer) -> bool {
        // The second condition of __tcp_ack_snd_check: the window has not become smaller.
        self.selected(next, buffer) >= self.window
    }

    /// Whether a read has at least doubled the window, so that the sender should know.
    pub fn opens_window(&self, next: u64, buffer: Buffer) -> bool {
        // The rule of tcp_cleanup_rbuf. Smaller updates would invite small segments (the silly
        // window).
        let (now, then) = (self.selected(next, buffer), self.left(next));
        now > 0 && now >= 2 * then
    }

    /// The window that an acknowledgement of all below `next` offers, which is being sent. What was
    /// offered is never taken back.
    pub fn offer(&mut self, next: u64, buffer: Buffer) -> u64 {
        // A window that moves back would make segments in flight invalid (RFC 9293, section 3.8.6).
        self.window = self.selected(next, buffer).max(self.left(next));
        self.edge = next + self.window;
        self.window
    }

    /// What is left of the window offered.
    const fn left(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
    }

    /// Segments for which there is space; one of which a part is read still takes it.
    pub const fn space(&self, next: u64, buffer: Buffer) -> u64 {
        let unread = next - self.read_bytes / self.mss_bytes;
        buffer.whole.saturating_sub(unread + buffer.above)
    }

    /// The window to offer, if nothing had been offered before.
    fn selected(&self, next: u64, buffer: Buffer) -> u64 {
        let space = self.space(next, buffer);
        let is_worth_it = space >= (buffer.whole / SMALLEST_PART).max(1);
        if is_worth_it { space.min(buffer.offered) } else { 0 }
    }
}
