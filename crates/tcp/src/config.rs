//! The configuration of a connection.

use crate::handshake::Handshake;
use crate::tcp_bpf::TcpBpf;

/// What is fixed about a connection.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Size of its packet at the IP layer in bytes.
    pub packet_bytes: u32,
    /// Bytes that the sender's own link adds to each packet.
    pub overhead_bytes: u32,
    /// That link is its host's interface: [`crate::Sender::on_tx_completion`] is called.
    pub has_interface: bool,
    /// What was set of it while it was set up; none: nothing.
    pub tcp_bpf: Option<TcpBpf>,
    /// How it was made.
    pub handshake: Handshake,
}
