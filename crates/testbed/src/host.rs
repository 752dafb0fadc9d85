//! Hosts: a network namespace each, with one TUN device.

use std::fs;
use std::net::Ipv4Addr;

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::error::Error;
use crate::namespace::Namespace;
use crate::sysctls::Sysctls;

/// Where senders live, in every pair of hosts.
pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Where receivers live, in every pair of hosts.
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

const DEVICE: &str = "tun0";
const PREFIX: u8 = 24;
/// Packets that a device holds until the emulator takes them: no flow's window is larger.
const DEVICE_QUEUE_PACKETS: u32 = 1 << 18;

/// A host of the testbed.
pub struct Host {
    /// Where its sockets live.
    pub namespace: Namespace,
    device: SyncDevice,
}

/// What a device did not carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceDrops {
    /// Packets that the host sent and the emulator never got.
    pub sent: u64,
    /// Packets that the emulator delivered and the host never got.
    pub delivered: u64,
}

impl Host {
    /// A host at `address` whose stack is set up by `sysctls` and whose packets have at most
    /// `mtu` bytes.
    ///
    /// # Errors
    /// If the system refuses namespace, device or setting.
    pub fn new(address: Ipv4Addr, mtu: u16, sysctls: &Sysctls) -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let device = namespace.run(|| {
            sysctls.write()?;
            open_device(address, mtu)
        })?;
        Ok(Self { namespace, device })
    }

    /// Takes the next packet that the host sent, if there is one.
    #[inline]
    pub fn take(&self, packet: &mut [u8]) -> Option<usize> {
        self.device.recv(packet).ok()
    }

    /// Hands the host a packet; false if it does not take it.
    #[inline]
    pub fn give(&self, packet: &[u8]) -> bool {
        self.device.send(packet).is_ok()
    }

    /// What its device dropped so far.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn drops(&self) -> Result<DeviceDrops, Error> {
        let table = self.namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.map_err(|error| {
            Error::machine("cannot read what a device dropped", &error, "is /proc mounted?")
        })?;
        Ok(drops_in(&table).unwrap_or_default())
    }
}

fn open_device(address: Ipv4Addr, mtu: u16) -> Result<SyncDevice, Error> {
    let device = DeviceBuilder::new()
        .name(DEVICE)
        .ipv4(address, PREFIX, None)
        .mtu(mtu)
        .tx_queue_len(DEVICE_QUEUE_PACKETS)
        .build_sync()
        .and_then(|device| device.set_nonblocking(true).map(|()| device));
    device.map_err(|error| {
        Error::machine(
            "cannot make a TUN device",
            &error,
            "root and /dev/net/tun are needed: see dumbbell doctor",
        )
    })
}

/// Reads a table in the form of /proc/net/dev: after the name come bytes, packets, errors
/// and drops received, then four more columns and the same of what was sent.
fn drops_in(table: &str) -> Option<DeviceDrops> {
    let line =
        table.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let columns: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let lost = |first: usize| Some(columns.get(first + 2)? + columns.get(first + 3)?);
    Some(DeviceDrops { delivered: lost(0)?, sent: lost(8)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_table_of_devices() {
        let table = "Inter-|   Receive    |  Transmit\n face |bytes packets errs drop\n    \
                     lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n  \
                     tun0: 10 20 1 2 0 0 0 0 50 60 3 4 0 0 0 0\n";
        assert_eq!(drops_in(table), Some(DeviceDrops { delivered: 3, sent: 7 }));
        assert_eq!(drops_in("lo: 1"), None);
    }

    #[test]
    fn a_host_has_a_device_and_the_settings_asked_for() {
        let mut sysctls = Sysctls::default();
        sysctls.set("net.ipv4.tcp_sack", "0");
        let host = Host::new(SENDER, 1_500, &sysctls).unwrap();
        let (sack, devices) = host.namespace.run(|| {
            let read = |path: &str| fs::read_to_string(path).unwrap();
            (read("/proc/sys/net/ipv4/tcp_sack"), read("/proc/thread-self/net/dev"))
        });
        assert_eq!(sack.trim(), "0");
        assert!(devices.contains("tun0"));
        assert_eq!(host.drops().unwrap(), DeviceDrops::default());
        assert_eq!(fs::read_to_string("/proc/sys/net/ipv4/tcp_sack").unwrap().trim(), "1");
    }
}
