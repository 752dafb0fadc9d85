//! Both ends of one TCP connection.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use dumbbell_workload::Tcp;
use socket2::Socket;

use crate::traffic::app::{App, message_bytes};
use crate::traffic::options;
use crate::traffic::progress::{Progress, TURN};
use crate::traffic::receiver::Receiver;
use crate::traffic::setup::SocketTuning;
use crate::traffic::sockets::{self, Ends};
use crate::traffic::tcp_info::TcpInfo;

/// Most bytes of one write. During a write, no packet reaches the socket.
pub const CHUNK_BYTES: usize = 64 << 10;

/// Both ends of one TCP connection.
#[derive(Debug)]
pub struct Stream {
    flow: usize,
    pub sender: Socket,
    pub listener: Socket,
    /// None until the connection is accepted.
    pub receiver: Option<Receiver>,
    pub app: App,
    pub established: bool,
    /// Retransmissions of its SYN.
    syn_retrans: u32,
    window_clamp_bytes: Option<u32>,
    /// Number of flows.
    flows: u32,
    mss_bytes: u32,
    write_bytes: usize,
}

impl Stream {
    /// A connection that is not open.
    pub fn new(flow: usize, ends: Ends, app: App, mss_bytes: u32, tuning: &SocketTuning) -> Self {
        Self {
            flow,
            sender: ends.sender,
            listener: ends.receiver,
            receiver: None,
            app,
            established: false,
            syn_retrans: 0,
            window_clamp_bytes: tuning.window_clamp_bytes,
            flows: tuning.flows,
            mss_bytes,
            write_bytes: tuning.write_bytes as usize,
        }
    }

    /// Begin to connect.
    pub fn connect(&self) -> io::Result<()> {
        match self.sender.connect(&sockets::receiver_of(self.flow).into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(()),
        }
    }

    /// Accept the connection at the receiving end; return true if this call did.
    pub fn accept(&mut self, tcp: &Tcp) -> io::Result<bool> {
        if self.receiver.is_some() {
            return Ok(false);
        }
        let socket = match self.listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        let (message, clamp) = (message_bytes(&tcp.demand), self.window_clamp_bytes);
        let receiver =
            Receiver::new(socket, message, clamp, self.flows, tcp.reading.as_deref().copied())?;
        self.receiver = Some(receiver);
        Ok(true)
    }

    /// Check that the connection is open.
    pub fn establish(&mut self) -> io::Result<bool> {
        self.established = self.sender.peer_addr().is_ok();
        if self.established {
            self.syn_retrans = self.sender_info()?.retransmitted_segs();
        }
        Ok(self.established)
    }

    /// Let the algorithm begin now: exchange it for another one, and back.
    ///
    /// It began when the connection was established. Some algorithms take that for the time of
    /// their first data, such as Westwood, whose first sample would then be of no data at all.
    pub fn restart_algorithm(&self) -> io::Result<()> {
        let mut name = self.sender.tcp_congestion()?;
        name.retain(|byte| *byte != 0);
        // Without state, so it needs no new beginning itself.
        self.sender.set_tcp_congestion(b"reno")?;
        self.sender.set_tcp_congestion(&name)
    }

    /// Write the application's data.
    pub fn write(&mut self, zeros: &[u8]) -> io::Result<Progress> {
        // Whole segments, so that no segment in the middle of data is short.
        let mss = self.mss_bytes as usize;
        let most = (self.write_bytes.min(zeros.len()) / mss).max(1) * mss;
        for _ in 0..TURN {
            if self.app.unwritten == 0 {
                return Ok(Progress::Done);
            }
            let length = self.app.unwritten.min(most as u64) as usize;
            let more = if length as u64 == self.app.unwritten { 0 } else { libc::MSG_MORE };
            match self.sender.send_with_flags(&zeros[..length], more | libc::MSG_NOSIGNAL) {
                Ok(bytes) => {
                    self.app.wrote(bytes);
                    if bytes < length {
                        return Ok(Progress::Done);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Done),
                Err(error) => return Err(error),
            }
        }
        Ok(Progress::More)
    }

    /// Read the receiver's reply, if the application waits for it and it has arrived.
    pub fn hear_reply(&self) -> io::Result<bool> {
        if !self.app.waits {
            return Ok(false);
        }
        let mut reply = [MaybeUninit::uninit(); 1];
        match self.sender.recv(&mut reply) {
            Ok(bytes) => Ok(bytes > 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Read the sending end's TCP_INFO, without the retransmissions before it was established.
    pub fn sender_info(&self) -> io::Result<TcpInfo> {
        options::tcp_info(self.sender.as_fd()).map(|info| info.without(self.syn_retrans))
    }

    /// Payload that has reached the receiving end in order, in bytes.
    pub fn received_bytes(&self) -> io::Result<u64> {
        self.receiver.as_ref().map_or(Ok(0), Receiver::received_bytes)
    }
}
