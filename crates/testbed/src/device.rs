//! A host's TUN device, seen from the emulator.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::chunk::{Chunk, HEADER_BYTES};
use crate::segmentation;
use crate::tun::Tun;

/// Its name in its namespace.
pub const NAME: &str = "tun0";

/// Most packets in the device until the emulator takes them. No flow's window is larger.
const QUEUE_PACKETS: u32 = 1 << 18;
/// Largest chunk that a host leaves to its device to cut, in bytes.
const CHUNK_BYTES_MAX: usize = 65_535;

/// A device that gives the emulator single packets.
pub struct Device {
    tun: Tun,
    offload: Option<Mutex<Offload>>,
}

/// Segmentation that the host leaves to its device. Chunks are cut here.
struct Offload {
    read: Vec<u8>,
    /// The chunk that was read last.
    chunk: Chunk,
    /// A packet for the host, behind an empty header of the device.
    delivery: Vec<u8>,
}

impl Device {
    /// A device in the namespace of the calling thread, for packets of at most `mtu` bytes. With
    /// `segments`, the host leaves it to the device to cut its chunks into packets.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open(address: Ipv4Addr, mtu: u16, segments: bool) -> io::Result<Self> {
        let tun = Tun::new(NAME, segments)?;
        tun.set_up(address, mtu, QUEUE_PACKETS)?;
        if !segments {
            segmentation::turn_off(NAME)?;
        }
        let offload = segments.then(|| Mutex::new(Offload::new()));
        Ok(Self { tun, offload })
    }

    /// Take the next packet that the host sent, if there is one.
    #[inline]
    pub fn take(&self, packet: &mut [u8]) -> Option<usize> {
        match &self.offload {
            None => self.tun.receive(packet).ok(),
            Some(offload) => hold(offload).take(&self.tun, packet),
        }
    }

    /// Give the host a packet; return false if it refuses it.
    #[inline]
    pub fn give(&self, packet: &[u8]) -> bool {
        match &self.offload {
            None => self.tun.send(packet).is_ok(),
            Some(offload) => hold(offload).give(&self.tun, packet),
        }
    }
}

/// Lock the chunk. Only the emulator's thread uses it, so nothing waits.
fn hold(offload: &Mutex<Offload>) -> MutexGuard<'_, Offload> {
    offload.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Offload {
    fn new() -> Self {
        Self {
            read: vec![0; HEADER_BYTES + CHUNK_BYTES_MAX],
            chunk: Chunk::none(),
            delivery: vec![0; HEADER_BYTES],
        }
    }

    fn take(&mut self, tun: &Tun, packet: &mut [u8]) -> Option<usize> {
        if let Some(bytes) = self.chunk.next(packet) {
            return Some(bytes);
        }
        let bytes = tun.receive(&mut self.read).ok()?;
        self.chunk.read(&self.read[..bytes])?;
        self.chunk.next(packet)
    }

    fn give(&mut self, tun: &Tun, packet: &[u8]) -> bool {
        self.delivery.truncate(HEADER_BYTES);
        self.delivery.extend_from_slice(packet);
        tun.send(&self.delivery).is_ok()
    }
}
