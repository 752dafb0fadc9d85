//! Segments in: the TCP headers of captured frames, of every common kind of link.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, LinkSlice, TcpOptionElement, TcpSlice,
    TransportSlice,
};

use crate::Timestamps;
use crate::records::Frame;

/// Link types, as registered for pcap files (tcpdump.org/linktypes.html).
mod link {
    pub const NULL: u32 = 0;
    pub const ETHERNET: u32 = 1;
    pub const PPP: u32 = 9;
    /// Raw IP as libpcap calls it on most systems, and on OpenBSD.
    pub const DLT_RAW: [u32; 2] = [12, 14];
    pub const PPP_HDLC: u32 = 50;
    pub const PPP_ETHER: u32 = 51;
    pub const RAW: u32 = 101;
    pub const LOOP: u32 = 108;
    pub const LINUX_SLL: u32 = 113;
    pub const IPV4: u32 = 228;
    pub const IPV6: u32 = 229;
    pub const LINUX_SLL2: u32 = 276;
}

/// EtherType of a PPPoE session, and the length of its header.
const PPPOE_SESSION: EtherType = EtherType(0x8864);
const PPPOE_BYTES: usize = 6;

/// Length of a TCP header without options, in words of four bytes.
const TCP_WORDS: usize = 5;
/// Offset of the byte whose upper four bits are the header's length in words.
const DATA_OFFSET: usize = 12;

/// Longest segment. Linux sends at most half of it, so a longer one is damage.
const SEGMENT_BYTES_MAX: u32 = 1 << 20;

/// Content of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Tcp(Seen),
    /// TCP that was cut before the end of its header.
    Cut,
    /// Another protocol.
    Other,
    /// A frame of this unknown link type.
    Unknown(u32),
}

/// A TCP segment: the fields that following a connection needs.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) struct Seen {
    pub time_ns: u64,
    pub source: SocketAddr,
    pub destination: SocketAddr,
    /// Identification of the IP header; 0: none.
    pub identification: u16,
    pub sequence: u32,
    /// None without the ACK flag, and for a reset, where the field may be anything.
    pub acknowledgement: Option<u32>,
    pub payload_bytes: u32,
    pub syn: bool,
    /// True if the capture cut its options.
    pub is_cut: bool,
    /// The header's window field, not scaled.
    pub window: u16,
    pub timestamps: Option<Timestamps>,
    pub max_segment_bytes: Option<u16>,
    pub window_scale: Option<u8>,
    /// The SACK block reported last.
    pub sacked: Option<(u32, u32)>,
}

/// Read the headers of a frame.
pub(crate) fn content(frame: &Frame) -> Content {
    let bytes = frame.captured;
    let sliced = match frame.link {
        link::ETHERNET => ethernet(bytes),
        link::RAW | link::IPV4 | link::IPV6 => ip(bytes),
        kind if link::DLT_RAW.contains(&kind) => ip(bytes),
        link::NULL | link::LOOP => bytes.get(4..).and_then(ip),
        link::LINUX_SLL => cooked(bytes, 14, 16),
        link::LINUX_SLL2 => cooked(bytes, 0, 20),
        link::PPP | link::PPP_HDLC => ppp(bytes.strip_prefix(&[0xff, 0x03]).unwrap_or(bytes)),
        link::PPP_ETHER => bytes.get(PPPOE_BYTES..).and_then(ppp),
        other => return Content::Unknown(other),
    };
    sliced.map_or(Content::Other, |sliced| segment(frame, &sliced))
}

fn ethernet(bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let sliced = LaxSlicedPacket::from_ethernet(bytes).ok()?;
    match (&sliced.net, &sliced.link, sliced.link_exts.last()) {
        (None, Some(LinkSlice::Ethernet2(ethernet)), None)
            if ethernet.ether_type() == PPPOE_SESSION =>
        {
            ethernet.payload_slice().get(PPPOE_BYTES..).and_then(ppp)
        }
        _ => Some(sliced),
    }
}

fn ip(bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    LaxSlicedPacket::from_ip(bytes).ok()
}

/// A packet behind one of Linux's cooked headers, which has the protocol at `place`.
fn cooked(bytes: &[u8], place: usize, header_bytes: usize) -> Option<LaxSlicedPacket<'_>> {
    let kind = EtherType(u16::from_be_bytes(*bytes.get(place..)?.first_chunk()?));
    Some(LaxSlicedPacket::from_ether_type(kind, bytes.get(header_bytes..)?))
}

/// A packet behind a PPP protocol number. Only IPv4 and IPv6 are of interest.
fn ppp(bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let (number, packet) = bytes.split_first_chunk()?;
    [0x0021, 0x0057].contains(&u16::from_be_bytes(*number)).then(|| ip(packet)).flatten()
}

fn segment(frame: &Frame, packet: &LaxSlicedPacket) -> Content {
    let Some(network) = packet.net.as_ref().and_then(|net| Network::of(net, frame.cut_bytes))
    else {
        return Content::Other;
    };
    if let Some(TransportSlice::Tcp(tcp)) = &packet.transport {
        return Content::Tcp(seen(frame, &network, tcp, tcp.data_offset()));
    }
    if packet.transport.is_some() || !network.is_tcp {
        return Content::Other;
    }
    cut_header(network.payload)
        .and_then(|(header, data_offset)| {
            let tcp = TcpSlice::from_slice(&header).ok()?;
            Some(Content::Tcp(seen(frame, &network, &tcp, data_offset)))
        })
        .unwrap_or(Content::Cut)
}

/// A header whose options a short capture has cut. Return it as if it had never had them, and its
/// true length in words.
fn cut_header(captured: &[u8]) -> Option<(Vec<u8>, u8)> {
    let words = captured.len() / 4;
    let data_offset = captured.get(DATA_OFFSET)? >> 4;
    if !(TCP_WORDS..usize::from(data_offset)).contains(&words) {
        return None;
    }
    let mut header = captured[..words * 4].to_vec();
    header[DATA_OFFSET] = (words as u8) << 4;
    Some((header, data_offset))
}

/// Content of the IP headers.
struct Network<'a> {
    source: IpAddr,
    destination: IpAddr,
    identification: u16,
    is_tcp: bool,
    payload: &'a [u8],
    /// Bytes of the segment as sent; most captures cut it.
    segment_bytes: u32,
}

impl<'a> Network<'a> {
    fn of(net: &LaxNetSlice<'a>, cut_bytes: u32) -> Option<Self> {
        // The length is 0 in packets above 64 KiB (BIG TCP), and in those whose length the network
        // card writes. Then only the frame has their length.
        let of_frame = |payload: &[u8]| {
            let bytes = u32::try_from(payload.len()).ok()?.checked_add(cut_bytes)?;
            (bytes <= SEGMENT_BYTES_MAX).then_some(bytes)
        };
        match net {
            LaxNetSlice::Ipv4(ip) => {
                let (header, payload) = (ip.header(), ip.payload());
                let segment_bytes = match u32::from(header.total_len()) {
                    0 => of_frame(payload.payload)?,
                    total => total.saturating_sub(u32::from(header.ihl()) * 4),
                };
                Some(Self {
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    identification: header.identification(),
                    is_tcp: payload.ip_number == IpNumber::TCP && !payload.fragmented,
                    payload: payload.payload,
                    segment_bytes,
                })
            }
            LaxNetSlice::Ipv6(ip) => {
                let (header, payload) = (ip.header(), ip.payload());
                let extensions_bytes = u32::try_from(ip.extensions().slice().len()).ok()?;
                let segment_bytes = match u32::from(header.payload_length()) {
                    0 => of_frame(payload.payload)?,
                    total => total.saturating_sub(extensions_bytes),
                };
                Some(Self {
                    source: header.source_addr().into(),
                    destination: header.destination_addr().into(),
                    identification: 0,
                    is_tcp: payload.ip_number == IpNumber::TCP && !payload.fragmented,
                    payload: payload.payload,
                    segment_bytes,
                })
            }
            LaxNetSlice::Arp(_) => None,
        }
    }
}

fn seen(frame: &Frame, network: &Network, tcp: &TcpSlice, data_offset: u8) -> Seen {
    let mut packet = Seen {
        time_ns: frame.time_ns,
        source: SocketAddr::new(network.source, tcp.source_port()),
        destination: SocketAddr::new(network.destination, tcp.destination_port()),
        identification: network.identification,
        sequence: tcp.sequence_number(),
        acknowledgement: (tcp.ack() && !tcp.rst()).then(|| tcp.acknowledgment_number()),
        payload_bytes: network.segment_bytes.saturating_sub(u32::from(data_offset) * 4),
        syn: tcp.syn(),
        is_cut: tcp.data_offset() < data_offset,
        window: tcp.window_size(),
        timestamps: None,
        max_segment_bytes: None,
        window_scale: None,
        sacked: None,
    };
    for option in tcp.options_iterator().flatten() {
        match option {
            TcpOptionElement::Timestamp(value, echo) => {
                packet.timestamps = Some(Timestamps { value, echo });
            }
            TcpOptionElement::MaximumSegmentSize(bytes) => packet.max_segment_bytes = Some(bytes),
            TcpOptionElement::WindowScale(shift) => packet.window_scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgement(first, _) => packet.sacked = Some(first),
            _ => {}
        }
    }
    packet
}
