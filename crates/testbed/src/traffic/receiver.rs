//! The receiving end of a TCP connection.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use dumbbell_network::{Span, Time};
use dumbbell_tcp::Reading;
use socket2::Socket;

use crate::traffic::progress::{Progress, TURN};
use crate::traffic::{options, sockets};

// Linux acknowledges every second segment at once while less data waits than SO_RCVLOWAT
// (`__tcp_ack_snd_check`). Beyond that it acknowledges only when the application reads. A stalled
// thread must not delay acknowledgements. So applications set a large SO_RCVLOWAT, and read long
// before it is reached.

/// SO_RCVLOWAT is this part of the buffer, or of a small window that the scenario sets.
const TOLD_PART_OF_BUFFER: u64 = 4;
const TOLD_PART_OF_WINDOW: u64 = 16;
/// Bytes that it aims to read at once: a quarter of a segment, as an application that waits for
/// each segment. Pushed data is acknowledged when it is read.
const LIKED_BYTES: u64 = 362;
/// Time between two reads. It is longer if there are many flows to read from.
const PAUSE_MIN: Span = Span::from_micros(200);
const PAUSE_MAX: Span = Span::from_millis(10);
const FLOWS_WITHOUT_HASTE: u32 = 4;

/// The receiving end of a TCP connection.
#[derive(Debug)]
pub struct Receiver {
    pub socket: Socket,
    /// None: data is a stream.
    message: Option<Incoming>,
    /// Largest SO_RCVLOWAT, in bytes.
    low_water_max: u64,
    /// SO_RCVLOWAT as set, in bytes.
    low_water: u64,
    /// Time of its last read, its current pause, and the end of the pause.
    read: Time,
    pause: Span,
    due: Time,
    /// The shortest time between two reads.
    pause_min: Span,
    /// Largest window that it offers, in bytes; none: no limit.
    window_clamp_bytes: Option<u32>,
    /// None: it reads at once.
    lagging: Option<Box<Lagging>>,
}

/// An application that reads in blocks and processes each.
#[derive(Debug)]
struct Lagging {
    pause: Span,
    /// Buffer for a block, into which nothing is copied.
    sink: Vec<u8>,
    /// Time when it may read again; and true if no data waited for that.
    free: Time,
    is_idle: bool,
}

/// The message that is coming in.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    left_bytes: u64,
    bytes: u64,
}

impl Receiver {
    /// The connection that a listener has accepted. `flows` is the number of flows, `message_bytes`
    /// the size of its messages, and `reading` the lag of its application.
    pub fn new(
        socket: Socket,
        message_bytes: Option<u64>,
        window_clamp_bytes: Option<u32>,
        flows: u32,
        reading: Option<Reading>,
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
            pause: PAUSE_MAX,
            due: Time::ZERO,
            pause_min: Span(PAUSE_MIN.0 * u64::from(flows.div_ceil(FLOWS_WITHOUT_HASTE)))
                .min(PAUSE_MAX),
            window_clamp_bytes,
            lagging: reading.map(Lagging::new).map(Box::new),
        };
        receiver.set_low_water()?;
        Ok(receiver)
    }

    /// Time when it plans to read.
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Read the data that has arrived, and answer a complete message. Payload is not copied into
    /// `sink`, whose size limits a read.
    pub fn read(&mut self, now: Time, sink: &mut [MaybeUninit<u8>]) -> io::Result<Progress> {
        if self.lagging.is_some() {
            return self.read_block(now);
        }
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
        self.plan(now, total, progress);
        Ok(progress)
    }

    /// Read a block, if it has processed the last one.
    fn read_block(&mut self, now: Time) -> io::Result<Progress> {
        let Some(lagging) = &mut self.lagging else { return Ok(Progress::Done) };
        if now < lagging.free {
            self.due = lagging.free;
            return Ok(Progress::Done);
        }
        let sink = lagging.sink.spare_capacity_mut();
        let bytes = match self.socket.recv_with_flags(sink, libc::MSG_TRUNC) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        self.due = lagging.plan(now, bytes);
        self.clamp()?;
        Ok(Progress::Done)
    }

    /// Plan the next read for when [`LIKED_BYTES`] will have arrived. If nothing arrived, double
    /// the pause.
    fn plan(&mut self, now: Time, bytes: u64, progress: Progress) {
        let pause = if bytes == 0 {
            2 * self.pause.0
        } else {
            let took = now.since(std::mem::replace(&mut self.read, now)).0;
            (u128::from(took) * u128::from(LIKED_BYTES) / u128::from(bytes)) as u64
        };
        self.pause = Span(pause).clamp(self.pause_min, PAUSE_MAX);
        // The kernel reports the end of a message that has yet to arrive.
        let kernel_reports_end = progress == Progress::Done && self.low_water < self.low_water_max;
        self.due = if kernel_reports_end { Time::NEVER } else { now + self.pause };
    }

    /// Payload that has arrived in order, in bytes.
    pub fn received_bytes(&self) -> io::Result<u64> {
        options::tcp_info(self.socket.as_fd()).map(|info| info.received_bytes())
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        self.clamp()?;
        if let Some(message) = &mut self.message {
            message.left_bytes -= bytes;
            if message.left_bytes == 0 {
                message.left_bytes = message.bytes;
                self.socket.send_with_flags(&[0], libc::MSG_NOSIGNAL)?;
            }
        }
        self.set_low_water()
    }

    /// Clamp the window again. The kernel lifts the clamp when it measures how much memory a
    /// segment takes.
    fn clamp(&self) -> io::Result<()> {
        match self.window_clamp_bytes {
            Some(clamp) => sockets::clamp_window(&self.socket, clamp),
            None => Ok(()),
        }
    }

    /// Set SO_RCVLOWAT, but never beyond the end of a message.
    fn set_low_water(&mut self) -> io::Result<()> {
        let left = self.message.map_or(u64::MAX, |message| message.left_bytes);
        // Unread data of a lagging application should delay acknowledgements.
        let low_water = if self.lagging.is_some() { 1 } else { left.min(self.low_water_max) };
        if low_water != self.low_water {
            self.low_water = low_water;
            options::set(self.socket.as_fd(), options::RECEIVE_LOW_WATER, low_water as i32)?;
        }
        Ok(())
    }
}

impl Lagging {
    fn new(reading: Reading) -> Self {
        let sink = Vec::with_capacity(reading.block_bytes.get() as usize);
        Self { pause: reading.pause(), sink, free: Time::ZERO, is_idle: true }
    }

    /// Note a read of `bytes`; return the time of the next read, or never if nothing arrived. A
    /// late thread does not slow an application down that finds data when it is free.
    fn plan(&mut self, now: Time, bytes: usize) -> Time {
        if bytes == 0 {
            self.is_idle = true;
            return Time::NEVER;
        }
        let is_late = !self.is_idle && now.since(self.free) < self.pause;
        let began = if is_late { self.free } else { now };
        (self.free, self.is_idle) = (began + self.pause, false);
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::num::{NonZeroU32, NonZeroU64};

    const MS: Span = Span::from_millis(1);

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span(ms * MS.0)
    }

    fn connected(message_bytes: Option<u64>) -> (TcpStream, Receiver) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        (sender, Receiver::new(socket.into(), message_bytes, None, 1, None).unwrap())
    }

    fn read(receiver: &mut Receiver, now: Time) -> Time {
        read_by(1 << 16, receiver, now)
    }

    fn read_by(bytes: usize, receiver: &mut Receiver, now: Time) -> Time {
        let mut sink = Vec::with_capacity(bytes);
        receiver.read(now, sink.spare_capacity_mut()).unwrap();
        receiver.due()
    }

    #[test]
    fn it_reads_long_before_its_low_water_mark_is_reached() {
        let (mut sender, mut receiver) = connected(None);
        assert_eq!(receiver.due(), Time::ZERO);
        assert_eq!(read(&mut receiver, at_ms(10)), at_ms(10) + PAUSE_MAX);
        // Loopback delivers before `write_all` returns.
        sender.write_all(&[0; 4 * LIKED_BYTES as usize]).unwrap();
        assert_eq!(read(&mut receiver, at_ms(12)), at_ms(15));
        assert_eq!(read(&mut receiver, at_ms(15)), at_ms(21), "nothing came");
        sender.write_all(&[0; LIKED_BYTES as usize / 2]).unwrap();
        assert_eq!(read(&mut receiver, at_ms(16)), at_ms(24));
        sender.write_all(&[0; 2 * LIKED_BYTES as usize]).unwrap();
        assert_eq!(read(&mut receiver, at_ms(16)), at_ms(16) + PAUSE_MIN);
    }

    #[test]
    fn a_lagging_application_reads_a_block_when_it_has_worked_on_the_last() {
        let (mut sender, mut receiver) = connected(None);
        let block_bytes = NonZeroU32::new(1_000).unwrap();
        let rate_bps = NonZeroU64::new(4_000_000).unwrap();
        let lagging = Lagging::new(Reading { rate_bps, block_bytes });
        receiver.lagging = Some(Box::new(lagging));
        receiver.set_low_water().unwrap();
        assert_eq!(receiver.low_water, 1);
        assert_eq!(read(&mut receiver, at_ms(9)), Time::NEVER, "nothing is there");
        sender.write_all(&[0; 2_500]).unwrap();
        let waiting = |receiver: &Receiver| {
            let mut bytes = [0; 5_000].map(|_: u8| MaybeUninit::uninit());
            receiver.socket.peek(&mut bytes).unwrap_or(0)
        };
        assert_eq!((read(&mut receiver, at_ms(10)), waiting(&receiver)), (at_ms(12), 1_500));
        assert_eq!((read(&mut receiver, at_ms(11)), waiting(&receiver)), (at_ms(12), 1_500));
        assert_eq!((read(&mut receiver, at_ms(13)), waiting(&receiver)), (at_ms(14), 500));
        assert_eq!((read(&mut receiver, at_ms(14)), waiting(&receiver)), (at_ms(16), 0));
        assert_eq!(read(&mut receiver, at_ms(16)), Time::NEVER);
        sender.write_all(&[0; 10]).unwrap();
        assert_eq!(read(&mut receiver, at_ms(17)), at_ms(19), "it has been idle");
    }

    #[test]
    fn it_hears_of_the_end_of_a_message() {
        let (_sender, mut receiver) = connected(Some(100));
        assert_eq!(receiver.low_water, 100);
        assert_eq!(read(&mut receiver, at_ms(1)), Time::NEVER);
    }

    #[test]
    fn what_a_turn_leaves_is_read_later_even_if_the_end_of_a_message_comes_next() {
        let (at_once, end) = (100, 50);
        let bytes = TURN * at_once + end;
        let (mut sender, mut receiver) = connected(Some(bytes as u64));
        sender.write_all(&vec![0; bytes]).unwrap();
        assert!(read_by(at_once, &mut receiver, at_ms(1)) < at_ms(1) + PAUSE_MAX);
        assert_eq!(receiver.low_water, end as u64);
        assert_eq!(read_by(at_once, &mut receiver, at_ms(2)), Time::NEVER);
        assert_eq!(receiver.low_water, bytes as u64);
    }
}
