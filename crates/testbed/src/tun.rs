//! TUN devices: a program reads a host's packets from a file, and writes packets for the host to
//! it.
//!
//! Linux, Documentation/networking/tuntap.rst. A device is gone with its file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;

use crate::netlink::ask;

/// Length of the prefix that all hosts of a network share.
const PREFIX: u8 = 24;

/// A TUN device. Reading never waits.
#[derive(Debug)]
pub struct Tun {
    file: File,
    index: u32,
}

impl Tun {
    /// A new device, still down, in the namespace of the calling thread. With `chunks`, each packet
    /// read or written has a header ([`crate::chunk`]) before it.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn new(name: &str, chunks: bool) -> io::Result<Self> {
        let options =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).to_owned();
        let file = options.open("/dev/net/tun")?;
        let header = if chunks { libc::IFF_VNET_HDR } else { 0 };
        // Without IFF_NO_PI four bytes of flags and protocol precede each packet (tuntap.rst, 3.2).
        make(&file, name, libc::IFF_TUN | libc::IFF_NO_PI | header)?;
        if chunks {
            // The kernel refuses TSO4 without CSUM: a device that cuts chunks computes the checksums.
            leave_to_device(&file, libc::TUN_F_CSUM | libc::TUN_F_TSO4)?;
        }
        Ok(Self { file, index: if_nametoindex(name)? })
    }

    /// Give the host this address, and let `queue` packets of at most `mtu` bytes wait until they
    /// are read. The calling thread must be in the device's namespace.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn set_up(&self, address: Ipv4Addr, mtu: u16, queue: u32) -> io::Result<()> {
        let mut host = AddressMessage::default();
        host.header.family = AddressFamily::Inet;
        host.header.prefix_len = PREFIX;
        host.header.index = self.index;
        let address = IpAddr::V4(address);
        host.attributes
            .extend([AddressAttribute::Local(address), AddressAttribute::Address(address)]);
        ask(RouteNetlinkMessage::NewAddress(host))?;
        let mut link = LinkMessage::default();
        link.header.index = self.index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes.extend([LinkAttribute::Mtu(mtu.into()), LinkAttribute::TxQueueLen(queue)]);
        ask(RouteNetlinkMessage::SetLink(link))
    }

    /// Take the next packet that the host sent; return its length.
    ///
    /// # Errors
    /// If there is none ([`io::ErrorKind::WouldBlock`]), or the system refuses it.
    #[inline]
    pub fn receive(&self, packet: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(packet)
    }

    /// Give the host a packet.
    ///
    /// # Errors
    /// If the host refuses it.
    #[inline]
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Attach the file to a new device.
fn make(file: &File, name: &str, flags: i32) -> io::Result<()> {
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags as libc::c_short },
    };
    // One byte stays free, since a name ends with a zero.
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name of more than 15 bytes"));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    // SAFETY: the kernel reads and writes one `ifreq`, which lives until the call returns.
    #[allow(unsafe_code)]
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Set the tasks that the kernel leaves to the device.
fn leave_to_device(file: &File, features: libc::c_uint) -> io::Result<()> {
    // SAFETY: a system call on plain numbers.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(features))
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
