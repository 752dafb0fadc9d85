//! The receiving end of a TCP connection.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use dumbbell_network::{Span, Time};
use socket2::Socket;

use crate::traffic::stream::{Progress, TURN};
use crate::traffic::{options, sockets};

// Linux acknowledges every second segment at once as long as less waits to be read than its
// application wants to be told of; what is beyond, only when the application reads. So that a
// thread which is held up holds up no acknowledgements, applications want to be told of much,
// and read of themselves long before there is as much.

/// Of its buffer, and of a window that was asked to be small: an application wants to be told
/// of this part.
const TOLD_PART_OF_BUFFER: u64 = 4;
const TOLD_PART_OF_WINDOW: u64 = 16;
/// It means to read when this part of that has arrived.
const READ_PART: u64 = 8;
/// Between two reads.
const PAUSE_MIN: Span = Span::from_micros(200);
const PAUSE_MAX: Span = Span::from_millis(10);

/// The receiving end of a TCP connection.
#[derive(Debug)]
pub struct Receiver {
    pub socket: Socket,
    /// None: data comes without end.
    message: Option<Incoming>,
    /// How much waits at most before it is told.
    low_water_max: u64,
    /// How much waits before it is told.
    low_water: u64,
    /// When it last read, and when it means to read again.
    read: Time,
    due: Time,
    /// Most that it offers.
    window_clamp_bytes: Option<u32>,
}

/// The message that is coming in.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    left_bytes: u64,
    bytes: u64,
}

impl Receiver {
    /// The connection that a listener has accepted, with messages of so many bytes.
    pub fn new(
        socket: Socket,
        message_bytes: Option<u64>,
        window_clamp_bytes: Option<u32>,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        sockets::reset_on_close(&socket)?;
        let buffer = socket.recv_buffer_size()? as u64;
        let of_window = |clamp| u64::from(clamp) / TOLD_PART_OF_WINDOW;
        let most = window_clamp_bytes.map_or(u64::MAX, of_window);
        let message = message_bytes.map(|bytes| Incoming { left_bytes: bytes, bytes });
        let mut receiver = Self {
            socket,
            message,
            low_water_max: (buffer / TOLD_PART_OF_BUFFER).min(most).max(1),
            low_water: 1,
            read: Time::ZERO,
            due: Time::ZERO,
            window_clamp_bytes,
        };
        receiver.set_low_water()?;
        Ok(receiver)
    }

    /// When it means to read of itself.
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Reads what has arrived, and answers a message that is complete. Payload is not
    /// copied into `sink`, which only says how much may come at once.
    pub fn read(&mut self, now: Time, sink: &mut [MaybeUninit<u8>]) -> io::Result<Progress> {
        let (mut total, mut progress) = (0, Progress::More);
        for _ in 0..TURN {
            let bytes = match self.socket.recv_with_flags(sink, libc::MSG_TRUNC) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            if bytes > 0 {
                self.count(bytes as u64)?;
                total += bytes as u64;
            }
            if bytes < sink.len() {
                progress = Progress::Done;
                break;
            }
        }
        self.plan(now, total);
        Ok(progress)
    }

    /// Means to read again when as much will have arrived as it likes to read at once.
    fn plan(&mut self, now: Time, bytes: u64) {
        let liked = self.low_water_max / READ_PART;
        let took = now.since(self.read).0;
        let pause = u128::from(took) * u128::from(liked) / u128::from(bytes.max(1));
        let pause = pause.clamp(PAUSE_MIN.0.into(), PAUSE_MAX.0.into()) as u64;
        self.read = now;
        // The end of a message is told.
        let is_told = self.low_water < self.low_water_max;
        self.due = if is_told { Time::NEVER } else { now + Span(pause) };
    }

    /// Payload that has arrived in order.
    pub fn received_bytes(&self) -> io::Result<u64> {
        options::tcp_info(self.socket.as_fd()).map(|info| info.received_bytes())
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        if let Some(clamp) = self.window_clamp_bytes {
            // The kernel forgets it when it learns how much memory a segment takes.
            sockets::clamp_window(&self.socket, clamp)?;
        }
        if let Some(message) = &mut self.message {
            message.left_bytes -= bytes;
            if message.left_bytes == 0 {
                message.left_bytes = message.bytes;
                self.socket.send_with_flags(&[0], libc::MSG_NOSIGNAL)?;
            }
        }
        self.set_low_water()
    }

    /// Wants to be told of so many bytes, but always of the end of a message.
    fn set_low_water(&mut self) -> io::Result<()> {
        let left = self.message.map_or(u64::MAX, |message| message.left_bytes);
        let wanted = left.min(self.low_water_max);
        if wanted != self.low_water {
            self.low_water = wanted;
            options::set(self.socket.as_fd(), options::RECEIVE_LOW_WATER, wanted as i32)?;
        }
        Ok(())
    }
}
