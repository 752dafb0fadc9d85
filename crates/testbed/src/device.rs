//! A host's TUN device, seen from the emulator.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::segmentation;
use tun_rs::{DeviceBuilder, IDEAL_BATCH_SIZE, SyncDevice, VIRTIO_NET_HDR_LEN};

/// Its name in its namespace.
pub const NAME: &str = "tun0";

const PREFIX: u8 = 24;
/// Packets that it holds until the emulator takes them: no flow's window is larger.
const QUEUE_PACKETS: u32 = 1 << 18;
/// Largest chunk that a host leaves to its device to cut.
const CHUNK_BYTES_MAX: usize = 65_535;

/// A device that hands the emulator packet after packet.
pub struct Device {
    device: SyncDevice,
    offload: Option<Mutex<Offload>>,
}

/// Segmentation that the host leaves to its device: chunks are cut here.
struct Offload {
    chunk: Vec<u8>,
    packets: Vec<Vec<u8>>,
    lengths: Vec<usize>,
    /// Packets of the latest chunk, ...
    count: usize,
    /// ... and how many of them were taken.
    taken: usize,
    /// A packet on its way to the host, behind an empty header of the device.
    delivery: Vec<u8>,
}

impl Device {
    /// A device in the namespace of the calling thread, for packets of at most `mtu` bytes;
    /// with `segments` the host leaves it to the device to cut its chunks into them.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open(address: Ipv4Addr, mtu: u16, segments: bool) -> io::Result<Self> {
        let device = DeviceBuilder::new()
            .name(NAME)
            .ipv4(address, PREFIX, None)
            .mtu(mtu)
            .tx_queue_len(QUEUE_PACKETS)
            .with(|options| {
                options.offload(segments);
            })
            .build_sync()?;
        device.set_nonblocking(true)?;
        if !segments {
            segmentation::turn_off(NAME)?;
        }
        let offload = segments.then(|| Mutex::new(Offload::new(mtu)));
        Ok(Self { device, offload })
    }

    /// Takes the next packet that the host sent, if there is one.
    #[inline]
    pub fn take(&self, packet: &mut [u8]) -> Option<usize> {
        match &self.offload {
            None => self.device.recv(packet).ok(),
            Some(offload) => hold(offload).take(&self.device, packet),
        }
    }

    /// Hands the host a packet; false if it does not take it.
    #[inline]
    pub fn give(&self, packet: &[u8]) -> bool {
        match &self.offload {
            None => self.device.send(packet).is_ok(),
            Some(offload) => hold(offload).give(&self.device, packet),
        }
    }
}

/// Only the emulator's thread asks, so nobody waits.
fn hold(offload: &Mutex<Offload>) -> MutexGuard<'_, Offload> {
    offload.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Offload {
    fn new(mtu: u16) -> Self {
        Self {
            chunk: vec![0; VIRTIO_NET_HDR_LEN + CHUNK_BYTES_MAX],
            packets: vec![vec![0; usize::from(mtu)]; IDEAL_BATCH_SIZE],
            lengths: vec![0; IDEAL_BATCH_SIZE],
            count: 0,
            taken: 0,
            delivery: vec![0; VIRTIO_NET_HDR_LEN],
        }
    }

    fn take(&mut self, device: &SyncDevice, packet: &mut [u8]) -> Option<usize> {
        if self.taken == self.count {
            let cut =
                device.recv_multiple(&mut self.chunk, &mut self.packets, &mut self.lengths, 0);
            (self.count, self.taken) = (cut.ok()?, 0);
        }
        let bytes = self.lengths[self.taken];
        packet[..bytes].copy_from_slice(&self.packets[self.taken][..bytes]);
        self.taken += 1;
        Some(bytes)
    }

    fn give(&mut self, device: &SyncDevice, packet: &[u8]) -> bool {
        self.delivery.truncate(VIRTIO_NET_HDR_LEN);
        self.delivery.extend_from_slice(packet);
        device.send(&self.delivery).is_ok()
    }
}
