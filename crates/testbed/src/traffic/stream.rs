//! Both ends of one TCP connection.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use socket2::Socket;

use crate::traffic::app::{App, message_bytes};
use crate::traffic::sockets::{self, Ends};
use crate::traffic::tcp_info::TcpInfo;
use crate::traffic::{SocketTuning, options};
use dumbbell_workload::Demand;

/// Reads and writes of one turn, so that a fast connection leaves time for others.
const TURN: usize = 8;
/// Segments that may wait to be read. Then a receiver acknowledges by what has arrived, not
/// by when the applications' thread gets round to reading.
const READ_SEGS: u64 = 16;
/// A small receive buffer is not to be filled by what waits to be read.
const BUFFER_SHARE: u64 = 16;
/// What is handed over in one call.
pub const CHUNK_BYTES: usize = 256 << 10;

/// Both ends of one TCP connection.
#[derive(Debug)]
pub struct Stream {
    flow: usize,
    pub sender: Socket,
    pub receiver: Receiver,
    pub app: App,
    pub established: bool,
    window_clamp_bytes: Option<u32>,
    mss_bytes: u64,
}

/// The receiving end.
#[derive(Debug)]
pub enum Receiver {
    /// Nobody has connected.
    Listening(Socket),
    /// It is connected.
    Accepted {
        /// To whom.
        socket: Socket,
        /// What is left of the present message, and the length of each; none: data comes
        /// without end.
        message: Option<(u64, u64)>,
        /// Most bytes that may wait to be read, and how many do before it is told.
        low_water: (u64, u64),
    },
}

/// Whether there may be more to do at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The kernel will tell when there is.
    Done,
    /// The turn was over.
    More,
}

impl Stream {
    /// A connection that is not connected.
    pub fn new(flow: usize, ends: Ends, app: App, mss: u32, tuning: &SocketTuning) -> Self {
        Self {
            flow,
            sender: ends.sender,
            receiver: Receiver::Listening(ends.receiver),
            app,
            established: false,
            window_clamp_bytes: tuning.window_clamp_bytes,
            mss_bytes: u64::from(mss),
        }
    }

    /// Begins to connect.
    pub fn connect(&self) -> io::Result<()> {
        match self.sender.connect(&sockets::receiver_of(self.flow).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the connection at the receiving end; gives whether it is there.
    pub fn accept(&mut self, demand: Demand) -> io::Result<bool> {
        let Receiver::Listening(listener) = &self.receiver else { return Ok(false) };
        let socket = match listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        sockets::reset_on_close(&socket)?;
        let buffer = socket.recv_buffer_size()? as u64;
        let room = self.window_clamp_bytes.map_or(buffer, |clamp| buffer.min(u64::from(clamp)));
        let most = (READ_SEGS * self.mss_bytes).min(room / BUFFER_SHARE).max(1);
        let message = message_bytes(demand).map(|bytes| (bytes, bytes));
        self.receiver = Receiver::Accepted { socket, message, low_water: (most, 1) };
        self.receiver.set_low_water()?;
        Ok(true)
    }

    /// Hands over what the application has.
    pub fn write(&mut self, zeros: &[u8]) -> io::Result<Progress> {
        for _ in 0..TURN {
            if self.app.unwritten == 0 {
                return Ok(Progress::Done);
            }
            let wanted = self.app.unwritten.min(zeros.len() as u64) as usize;
            // No short segment in the middle of data.
            let more = if wanted as u64 == self.app.unwritten { 0 } else { libc::MSG_MORE };
            match self.sender.send_with_flags(&zeros[..wanted], more | libc::MSG_NOSIGNAL) {
                Ok(bytes) => {
                    self.app.wrote(bytes);
                    if bytes < wanted {
                        return Ok(Progress::Done);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Done),
                Err(error) => return Err(error),
            }
        }
        Ok(Progress::More)
    }

    /// Takes the receiver's reply if it is there.
    pub fn hear_reply(&self) -> io::Result<bool> {
        let mut reply = [MaybeUninit::uninit(); 1];
        match self.sender.recv(&mut reply) {
            Ok(bytes) => Ok(bytes > 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the kernel says of the sending end.
    pub fn sender_info(&self) -> io::Result<TcpInfo> {
        options::tcp_info(self.sender.as_fd())
    }
}

impl Receiver {
    /// Reads what has arrived, and answers a message that is complete. Payload is not
    /// copied into `sink`, which only says how much may come at once.
    pub fn read(&mut self, sink: &mut [MaybeUninit<u8>]) -> io::Result<Progress> {
        for _ in 0..TURN {
            let Self::Accepted { socket, message, .. } = self else { return Ok(Progress::Done) };
            let bytes = match socket.recv_with_flags(sink, libc::MSG_TRUNC) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Done),
                Err(error) => return Err(error),
            };
            if let Some((left, each)) = message {
                *left -= bytes as u64;
                if *left == 0 {
                    *left = *each;
                    socket.send_with_flags(&[0], libc::MSG_NOSIGNAL)?;
                }
            }
            self.set_low_water()?;
            if bytes < sink.len() {
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::More)
    }

    /// Payload that has arrived in order.
    pub fn received_bytes(&self) -> io::Result<u64> {
        match self {
            Self::Listening(_) => Ok(0),
            Self::Accepted { socket, .. } => {
                options::tcp_info(socket.as_fd()).map(|info| info.received_bytes())
            }
        }
    }

    /// Wants to be told of so many bytes, but always of the end of a message.
    fn set_low_water(&mut self) -> io::Result<()> {
        let Self::Accepted { socket, message, low_water: (most, now) } = self else {
            return Ok(());
        };
        let wanted = message.map_or(*most, |(left, _)| left.min(*most));
        if wanted != *now {
            *now = wanted;
            options::set(socket.as_fd(), options::RECEIVE_LOW_WATER, wanted as i32)?;
        }
        Ok(())
    }
}
