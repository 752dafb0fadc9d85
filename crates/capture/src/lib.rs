//! Packets out: what the simulator knows of packets as a pcapng file.

mod conversation;
mod packet;
mod writer;

pub use conversation::{Ack, Conversation, Data, FLOWS_MAX, Flow};
pub use packet::{Ecn, Endpoint, TcpFlags, TcpPacket, Timestamps, UdpPacket};
pub use writer::Writer;
