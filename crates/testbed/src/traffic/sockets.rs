//! Opens the sockets of flows in their namespaces.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::AsFd;
use std::ptr;
use std::time::Duration;

use dumbbell_workload::Transport;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Error;
use crate::namespace::Namespace;
use crate::ports::port_of_flow;
use crate::traffic::app::message_bytes;
use crate::traffic::options;
use crate::traffic::setup::Connection;

const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// Headers of IP and TCP without options, for which TCP_MAXSEG leaves room.
const PLAIN_HEADER_BYTES: u32 = 40;
/// Receive buffer of datagrams. They may wait for the applications' thread until it is full.
const DATAGRAM_BUFFER_BYTES: i32 = 8 << 20;
/// Descriptors of a process that are not sockets of flows; an upper bound.
const OTHER_DESCRIPTORS: u64 = 256;
/// One at each end, and the listener.
const DESCRIPTORS_PER_FLOW: u64 = 3;

/// Both ends of a flow, not connected.
#[derive(Debug)]
pub struct Ends {
    /// The sending end.
    pub sender: Socket,
    /// The receiving end, or its listener.
    pub receiver: Socket,
}

/// The address of a flow's receiver.
pub fn receiver_of(flow: usize) -> SocketAddr {
    SocketAddrV4::new(RECEIVERS, port_of_flow(flow)).into()
}

/// Open the sockets of all flows.
pub fn open(connections: &[Connection<'_>]) -> Result<Vec<Ends>, Error> {
    make_room(connections.len() as u64 * DESCRIPTORS_PER_FLOW + OTHER_DESCRIPTORS)?;
    let receivers = open_ends(connections, |connection| connection.receiver, receiver)?;
    let senders = open_ends(connections, |connection| connection.sender, sender)?;
    Ok(senders
        .into_iter()
        .zip(receivers)
        .map(|(sender, receiver)| Ends { sender, receiver })
        .collect())
}

/// The error of a task `what` with a socket that the system refused.
pub fn failed(what: String, error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOENT) => {
            "the kernel has no congestion control of this name: see dumbbell doctor"
        }
        Some(libc::EPERM | libc::EACCES) => "run as root",
        Some(libc::EMFILE | libc::ENFILE) => "allow more open files (ulimit -n)",
        Some(libc::ENOMEM | libc::ENOBUFS) => "free some memory, or run fewer flows",
        _ => "if it happens again, please report it with the scenario",
    };
    Error::Machine { what, cause: error.to_string(), remedy: remedy.into() }
}

/// Open one end of each flow. Neighbours in a namespace share one visit of a thread.
fn open_ends<'a>(
    connections: &[Connection<'a>],
    home: impl Fn(&Connection<'a>) -> &'a Namespace,
    open: impl Fn(&Connection<'_>) -> io::Result<Socket> + Sync,
) -> Result<Vec<Socket>, Error> {
    let mut sockets = Vec::with_capacity(connections.len());
    let open = |connection: &Connection<'_>| {
        open(connection).map_err(|error| {
            let algorithm = connection.congestion.as_deref().unwrap_or("datagrams");
            failed(
                format!("cannot open a socket of flow {} ({algorithm})", connection.flow),
                &error,
            )
        })
    };
    for neighbours in connections.chunk_by(|a, b| ptr::eq(home(a), home(b))) {
        let opened =
            home(&neighbours[0]).run(|| neighbours.iter().map(open).collect::<Result<Vec<_>, _>>());
        sockets.extend(opened?);
    }
    Ok(sockets)
}

fn sender(connection: &Connection<'_>) -> io::Result<Socket> {
    let socket = plain(connection)?;
    let tuning = &connection.tuning;
    if let Transport::Tcp(tcp) = &connection.spec.transport {
        // The end of a message is sent at once. Data without end is sent in full segments only,
        // even if the receiver's window ends within one.
        socket.set_tcp_nodelay(message_bytes(&tcp.demand).is_some())?;
        if let Some(name) = &connection.congestion {
            socket.set_tcp_congestion(name.as_bytes())?;
        }
        socket.set_tcp_notsent_lowat(tuning.backlog_bytes)?;
        if tuning.pace_all {
            // Any limit except "none" makes the stack pace.
            options::set(socket.as_fd(), options::MAX_PACING_RATE, u64::MAX - 1)?;
        }
    }
    socket.bind(&SocketAddr::from((SENDERS, port_of_flow(connection.flow))).into())?;
    if let Transport::Udp(_) = connection.spec.transport {
        socket.connect(&receiver_of(connection.flow).into())?;
    }
    Ok(socket)
}

fn receiver(connection: &Connection<'_>) -> io::Result<Socket> {
    let socket = plain(connection)?;
    if let Some(bytes) = connection.tuning.window_clamp_bytes {
        // A buffer that the kernel sizes lifts the clamp as it grows.
        let buffer = i32::try_from(bytes.saturating_mul(2)).unwrap_or(i32::MAX / 2);
        options::set(socket.as_fd(), options::RECEIVE_BUFFER_FORCE, buffer)?;
        clamp_window(&socket, bytes)?;
    }
    if let Some(name) = connection.congestion.as_ref().filter(|_| connection.at_both_ends) {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    socket.bind(&receiver_of(connection.flow).into())?;
    match connection.spec.transport {
        Transport::Tcp(_) => socket.listen(1)?,
        Transport::Udp(_) => {
            let buffer = options::RECEIVE_BUFFER_FORCE;
            options::set(socket.as_fd(), buffer, DATAGRAM_BUFFER_BYTES)?;
        }
    }
    Ok(socket)
}

/// Limit the window that a receiver offers.
pub fn clamp_window(socket: &Socket, bytes: u32) -> io::Result<()> {
    options::set(socket.as_fd(), options::WINDOW_CLAMP, i32::try_from(bytes).unwrap_or(i32::MAX))
}

fn plain(connection: &Connection<'_>) -> io::Result<Socket> {
    let (kind, protocol) = match connection.spec.transport {
        Transport::Tcp(_) => (Type::STREAM, Protocol::TCP),
        Transport::Udp(_) => (Type::DGRAM, Protocol::UDP),
    };
    let socket = Socket::new(Domain::IPV4, kind.nonblocking(), Some(protocol))?;
    if let Transport::Tcp(_) = connection.spec.transport {
        socket.set_tcp_mss(u32::from(connection.spec.packet_bytes) - PLAIN_HEADER_BYTES)?;
        reset_on_close(&socket)?;
    }
    Ok(socket)
}

/// Reset a connection when its socket is closed, even with data to send.
pub fn reset_on_close(socket: &Socket) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// Raise the process's limit of descriptors.
fn make_room(descriptors: u64) -> Result<(), Error> {
    let refused = |error: nix::Error| {
        failed(format!("cannot have {descriptors} files open at once"), &error.into())
    };
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(refused)?;
    if soft >= descriptors {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, descriptors, hard.max(descriptors)).map_err(refused)
}
