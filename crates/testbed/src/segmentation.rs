//! Segmentation in the kernel: without it TCP hands its device packet after packet.
//!
//! A device that cannot cut chunks itself gets them cut by the kernel, just before it sends them.
//! TCP would then still work in chunks of up to 64 KiB, hold data back until there is enough for
//! one, and send bursts. It has no switch for that, but a chunk can have one segment.

use std::io;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use nix::net::if_::if_nametoindex;

use crate::netlink::ask;

/// Disable segmentation offload of a device in the namespace of the calling thread.
///
/// # Errors
/// If the kernel refuses it.
pub fn turn_off(device: &str) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = if_nametoindex(device)?;
    link.attributes.push(LinkAttribute::GsoMaxSegs(1));
    ask(RouteNetlinkMessage::SetLink(link))
}
