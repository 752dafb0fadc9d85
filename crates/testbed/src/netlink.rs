//! Requests to the kernel to change the network of a namespace.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// Bytes for the kernel's answer.
const ANSWER_BYTES: usize = 4_096;

/// Change or make something in the namespace of the calling thread.
///
/// # Errors
/// If the kernel refuses it.
pub fn ask(what: RouteNetlinkMessage) -> io::Result<()> {
    let makes = matches!(what, RouteNetlinkMessage::NewAddress(_));
    let mut request = NetlinkMessage::from(what);
    request.header.flags = NLM_F_REQUEST | NLM_F_ACK;
    if makes {
        request.header.flags |= NLM_F_CREATE | NLM_F_EXCL;
    }
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
        // An acknowledgement is an error message, too, with the code 0 (netlink(7)).
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        _ => Ok(()),
    }
}
