//! Packets out: what the simulator knows of packets, as a pcapng file that Wireshark analyses; and
//! packets in: the connections in a capture of real hosts ([`connections()`]).
//!
//! A [`Conversation`] turns a flow's segments and acknowledgements into packets with the
//! numbers and options that they would have on the wire; a [`Writer`] puts packets into a
//! file. Neither knows the simulator, the network or the modelled TCP.
//!
//! # What is in a file
//! - **Headers alone.** Packets begin with the IP header (link type IPv4), so lengths are
//!   those of the IP layer. Payload is not stored: a record has the packet's true length,
//!   and is cut behind its headers.
//! - **Checksums** are right for a payload of zeros. Wireshark validates those of IP and of
//!   packets without payload, and calls those of cut packets unverified.
//! - **Times** are simulated nanoseconds; the clock shows 1 s when the run begins
//!   ([`CLOCK_AT_START_NS`]). Readers call that a moment of 1 January 1970.
//! - **Addresses**: flow n sends from 10.0.0.0 + (n + 1), port 49152, to
//!   10.128.0.0 + (n + 1), port 5001; see [`Endpoint::sender`] and [`Endpoint::receiver`].
//! - **The handshake** is written although it was never simulated, since readers learn
//!   window scaling, SACK and ECN from it. It takes 1 ns, which Wireshark shows as the
//!   initial round-trip time. That is on purpose: what fills a gap within that time it
//!   takes for reordered, where here it was sent again. A connection has no end: nobody
//!   simulates a FIN.
//!
//! # One file for each point of capture
//! Wireshark follows a connection by its addresses and ports, whatever the interface. A
//! file with both a flow's ends in it shows every packet twice, and Wireshark calls the
//! second a retransmission. So write the sender's view and the receiver's to a file each,
//! as tcpdump on two hosts would. The interfaces of one file are for hosts whose flows
//! differ.
//!
//! # How the simulator calls it
//! With `dumbbell simulate --pcap NAME` there is one writer for each side and one
//! conversation for each flow. The hosts of a simulation run ahead of each other, so it
//! notes what they see and writes all of it at the end, in the order of time.
//!
//! | where in the engine | which file | what is written |
//! |---|---|---|
//! | a flow begins | both | [`Writer::handshake_step`], for each step |
//! | a segment is injected | sender's | [`Conversation::data`] |
//! | data is delivered | receiver's | the same, with the ECN bits as they arrived |
//! | an acknowledgement is injected | receiver's | [`Conversation::ack`] |
//! | an acknowledgement is delivered | sender's | the same |
//!
//! So a dropped packet is seen at one end only, as in life. [`Timestamps`] are those at which the
//! *sending* host sent: `value` is [`Timestamps::clock`] at that time and `echo` the latest value
//! from the other side that RFC 7323 (section 4.3) lets it answer. A packet in the simulated
//! network has no room for them, so they are kept next to it until it arrives.
//!
//! Data of flow n is a packet of `52 + payload` bytes and an acknowledgement one of
//! `52 + SackBlocks::option_bytes()`, which is what the simulator counts as well. A flow
//! without timestamps has 12 bytes less of options here; there it counts them still.
//!
//! ```
//! use dumbbell_capture::{Ack, Conversation, Data, Ecn, Flow, Timestamps, Writer};
//!
//! # fn main() -> std::io::Result<()> {
//! let mut sender = Writer::new(Vec::new(), "H-TCP against CUBIC", &["sender"])?;
//! let flow = Flow {
//!     index: 0,
//!     mss_bytes: 1448,
//!     message_bytes: None,
//!     timestamps: true,
//!     sack: true,
//!     ecn: true,
//!     accecn: None,
//!     window_max_bytes: None,
//! };
//! let conversation = Conversation::new(flow);
//!
//! let start_ns = 1_000_000_000;
//! sender.handshake(start_ns, 0, &conversation)?;
//! let value = Timestamps::clock(start_ns);
//! let timestamps = Timestamps { value, echo: value };
//! let data = Data { segment: 0, ecn: Ecn::Ect0, cwr: false, pushed: false, timestamps };
//! sender.tcp(start_ns, 0, &conversation.data(&data))?;
//!
//! let rtt_ns = 42_000_000;
//! let timestamps = Timestamps { value: Timestamps::clock(start_ns + rtt_ns / 2), echo: value };
//! let ack = Ack { cumulative: 1, timestamps, ..Ack::default() };
//! sender.tcp(start_ns + rtt_ns, 0, &conversation.ack(&ack))?;
//! let file = sender.finish()?;
//! # assert!(!file.is_empty());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod connection;
mod connections;
mod conversation;
mod direction;
mod frames;
mod handshake;
mod packet;
mod parts;
mod place;
mod records;
mod writer;

pub use connection::{Connection, Steps};
pub use connections::{Capture, Options, connections};
pub use conversation::{Ack, Conversation, Data, FLOWS_MAX, Flow};
pub use handshake::{CLOCK_AT_START_NS, Handshake};
pub use packet::{AccEcn, Ecn, Endpoint, TcpFlags, TcpPacket, Timestamps, UdpPacket};
pub use place::Place;
pub use records::{ReadError, is_capture};
pub use writer::Writer;
