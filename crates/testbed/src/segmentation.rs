//! Segmentation in the kernel: without it TCP hands its device packet after packet.
//!
//! A device that cannot cut chunks itself gets them cut by the kernel, just before it sends
//! them. TCP would then still work in chunks of up to 64 KiB, hold data back until there is
//! enough for one, and send bursts. It cannot be told not to, only that a chunk has one
//! segment.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::net::if_::if_nametoindex;

/// Room for the kernel's answer.
const ANSWER_BYTES: usize = 4_096;

/// Makes TCP work in packets on a device in the namespace of the calling thread.
///
/// # Errors
/// If the kernel refuses it.
pub fn turn_off(device: &str) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = if_nametoindex(device)?;
    link.attributes.push(LinkAttribute::GsoMaxSegs(1));
    let mut request = NetlinkMessage::from(RouteNetlinkMessage::SetLink(link));
    request.header.flags = NLM_F_REQUEST | NLM_F_ACK;
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);

    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.send_to(&bytes, &SocketAddr::new(0, 0), 0)?;
    let mut answer = Vec::with_capacity(ANSWER_BYTES);
    socket.recv(&mut answer, 0)?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer);
    match answer.map_err(io::Error::other)?.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        _ => Ok(()),
    }
}
