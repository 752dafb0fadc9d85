//! The receiving end of a TCP connection.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use socket2::Socket;

use crate::traffic::stream::{Progress, TURN};
use crate::traffic::{options, sockets};

/// Segments that may wait to be read. Then a receiver acknowledges by what has arrived, not
/// by when the applications' thread gets round to reading.
const READ_SEGS: u64 = 16;
/// A small receive buffer is not to be filled by what waits to be read.
const BUFFER_SHARE: u64 = 16;

/// The receiving end of a TCP connection.
#[derive(Debug)]
pub struct Receiver {
    pub socket: Socket,
    /// None: data comes without end.
    message: Option<Incoming>,
    /// Most that may wait to be read.
    low_water_max: u64,
    /// How much waits before it is told.
    low_water: u64,
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
        mss_bytes: u32,
        window_clamp_bytes: Option<u32>,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        sockets::reset_on_close(&socket)?;
        let buffer = socket.recv_buffer_size()? as u64;
        let room = window_clamp_bytes.map_or(buffer, |clamp| buffer.min(u64::from(clamp)));
        let low_water_max = (READ_SEGS * u64::from(mss_bytes)).min(room / BUFFER_SHARE).max(1);
        let message = message_bytes.map(|bytes| Incoming { left_bytes: bytes, bytes });
        let low_water = 1;
        let mut receiver = Self { socket, message, low_water_max, low_water, window_clamp_bytes };
        receiver.set_low_water()?;
        Ok(receiver)
    }

    /// Reads what has arrived, and answers a message that is complete. Payload is not
    /// copied into `sink`, which only says how much may come at once.
    pub fn read(&mut self, sink: &mut [MaybeUninit<u8>]) -> io::Result<Progress> {
        for _ in 0..TURN {
            let bytes = match self.socket.recv_with_flags(sink, libc::MSG_TRUNC) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Done),
                Err(error) => return Err(error),
            };
            self.count(bytes as u64)?;
            if bytes < sink.len() {
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::More)
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
