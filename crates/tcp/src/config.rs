//! The configuration of a connection.

use crate::handshake::Handshake;
use crate::tcp_bpf::TcpBpf;

/// Fixed properties of a connection.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Size of a full segment's packet at the IP layer in bytes.
    pub packet_bytes: u32,
    /// Bytes that the sender's own link adds to each packet.
    pub overhead_bytes: u32,
    /// True if that link is the host's interface. The owner then calls
    /// [`crate::Sender::on_tx_completion`].
    pub has_interface: bool,
    /// Settings that a TCP-BPF program made while the connection opened; None if there is no
    /// program.
    pub tcp_bpf: Option<TcpBpf>,
    /// Handshake of the connection.
    pub handshake: Handshake,
}
