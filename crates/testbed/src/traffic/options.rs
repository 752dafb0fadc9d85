//! Socket options that no library offers: the one place with raw calls.

use std::ffi::c_int;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::traffic::tcp_info::TcpInfo;

/// Set an option whose value is a number of the kernel's type `T`.
pub fn set<T: Copy>(socket: BorrowedFd<'_>, (level, name): Name, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer is to `length` bytes that live until the call returns.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Read a connection's TCP_INFO.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut length = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into a structure of integers.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(info) } else { Err(io::Error::last_os_error()) }
}

/// Level and number of an option.
pub type Name = (c_int, c_int);

/// Largest window that the receiver offers, in bytes (`int`).
pub const WINDOW_CLAMP: Name = (libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP);
/// Bytes for which a reader waits (`int`).
pub const RECEIVE_LOW_WATER: Name = (libc::SOL_SOCKET, libc::SO_RCVLOWAT);
/// Bytes per second, `u64::MAX`: no pacing (`unsigned long`).
pub const MAX_PACING_RATE: Name = (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE);
/// Receive buffer beyond the limit for all (`int`).
pub const RECEIVE_BUFFER_FORCE: Name = (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE);
