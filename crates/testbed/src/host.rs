//! Hosts: a network namespace each, with one TUN device.

use std::fs;
use std::net::Ipv4Addr;

use crate::device::{Device, NAME};
use crate::error::Error;
use crate::namespace::Namespace;
use crate::tuning::Tuning;

/// Address of the senders, in every pair of hosts.
pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Address of the receivers, in every pair of hosts.
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// A host of the testbed.
pub struct Host {
    /// Namespace of its sockets.
    pub namespace: Namespace,
    /// Device from which the emulator takes its packets, and to which it delivers them.
    pub device: Device,
}

/// Packets that a device dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceDrops {
    /// Packets that the host sent and the emulator did not get.
    pub sent: u64,
    /// Packets that the emulator delivered and the host did not get.
    pub delivered: u64,
}

impl Host {
    /// A host at `address` with `tuning` for its stack, and packets of at most `mtu` bytes.
    ///
    /// # Errors
    /// If the system refuses namespace, device or setting.
    pub fn new(address: Ipv4Addr, mtu: u16, tuning: &Tuning) -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let device = namespace.run(|| {
            tuning.sysctls.write()?;
            Device::open(address, mtu, tuning.offload).map_err(|error| {
                Error::machine(
                    "cannot make a TUN device",
                    &error,
                    "root and /dev/net/tun are needed: see dumbbell doctor",
                )
            })
        })?;
        Ok(Self { namespace, device })
    }

    /// Packets that its device has dropped so far.
    ///
    /// # Errors
    /// If the system does not report them.
    pub fn drops(&self) -> Result<DeviceDrops, Error> {
        let table = self.namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.map_err(|error| {
            Error::machine("cannot read what a device dropped", &error, "is /proc mounted?")
        })?;
        Ok(drops_in(&table).unwrap_or_default())
    }
}

/// Read a table in the form of /proc/net/dev. The name is followed by bytes, packets, errors and
/// drops received, then four more columns, and the same for sending.
fn drops_in(table: &str) -> Option<DeviceDrops> {
    let line = table.lines().find_map(|line| line.trim().strip_prefix(NAME)?.strip_prefix(':'))?;
    let columns: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let lost = |first: usize| Some(columns.get(first + 2)? + columns.get(first + 3)?);
    Some(DeviceDrops { delivered: lost(0)?, sent: lost(8)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::linux_6;

    #[test]
    fn drops_are_read_from_the_table_of_devices() {
        let table = "Inter-|   Receive    |  Transmit\n face |bytes packets errs drop\n    \
                     lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n  \
                     tun0: 10 20 1 2 0 0 0 0 50 60 3 4 0 0 0 0\n";
        assert_eq!(drops_in(table), Some(DeviceDrops { delivered: 3, sent: 7 }));
        assert_eq!(drops_in("lo: 1"), None);
    }

    #[test]
    fn a_host_has_a_device_and_the_requested_settings() {
        let mut tuning = Tuning::of(&linux_6(), 8 << 20, false);
        tuning.sysctls.set("net.ipv4.tcp_sack", "0");
        let host = Host::new(SENDER, 1_500, &tuning).unwrap();
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
