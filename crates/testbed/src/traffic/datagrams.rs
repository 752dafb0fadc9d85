//! Both ends of a flow of datagrams.

use std::io::{self, ErrorKind};

use dumbbell_network::Time;
use dumbbell_workload::Datagrams;

use crate::traffic::output::{DatagramCount, FlowEnd};
use crate::traffic::sockets::Ends;

/// Both ends of a flow of datagrams.
#[derive(Debug)]
pub struct DatagramEnds {
    pub ends: Ends,
    pub schedule: Datagrams,
    pub count: DatagramCount,
    payload: Vec<u8>,
    received_bytes: u64,
}

impl DatagramEnds {
    /// A flow that has sent nothing.
    pub fn new(ends: Ends, schedule: Datagrams, payload_bytes: u32) -> Self {
        let payload = vec![0; payload_bytes as usize];
        let count = DatagramCount::default();
        Self { ends, schedule, count, payload, received_bytes: 0 }
    }

    /// Send the datagrams that are due.
    pub fn send(&mut self, now: Time) -> io::Result<()> {
        let due = self.due(now);
        self.count.due += due;
        for _ in 0..due {
            match self.ends.sender.send_with_flags(&self.payload, libc::MSG_NOSIGNAL) {
                Ok(_) => self.count.sent += 1,
                // The host's buffers are full, and the datagrams that are due now are not sent.
                Err(error) if is_full(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Number of datagrams due until `now`.
    fn due(&mut self, now: Time) -> u64 {
        let mut count = 0;
        while self.schedule.due() <= now {
            count += u64::from(self.schedule.act(self.schedule.due()));
        }
        count
    }

    /// Receive the datagrams that have arrived.
    pub fn receive(&mut self) -> io::Result<()> {
        // Only the length is needed, and MSG_TRUNC returns it without copying payload.
        let mut nothing = [];
        loop {
            match self.ends.receiver.recv_with_flags(&mut nothing, libc::MSG_TRUNC) {
                Ok(bytes) => self.received_bytes += bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// State of the flow at its end.
    pub fn end(&self, end_ns: Option<u64>) -> FlowEnd {
        FlowEnd {
            end_ns,
            sent_segs: self.count.sent,
            sent_bytes: self.count.sent * self.payload.len() as u64,
            received_bytes: self.received_bytes,
            ..FlowEnd::default()
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}
