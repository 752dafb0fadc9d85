//! Packets in: the TCP packets of a pcap or pcapng file, whoever captured them.

use std::io::{Chain, Cursor, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};

use etherparse::{
    EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpSlice, TransportSlice,
};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::IfTsResol;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};

use crate::Timestamps;

/// The first bytes of a pcapng file.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The first bytes of a pcap file with times in micro- and in nanoseconds, in either order.
const PCAP: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];

/// Why a capture is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is another kind of file.
    #[error("neither a pcap nor a pcapng file")]
    Format,
    /// What it says of itself is not valid.
    #[error("damaged: {0}")]
    Damaged(String),
    /// What carries its packets is not known here.
    #[error("packets of link type {0}, of which nothing is known here")]
    Link(u32),
}

/// A TCP packet, as far as connections are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub time_ns: u64,
    pub source: SocketAddr,
    pub destination: SocketAddr,
    pub sequence: u32,
    /// With the ACK flag alone.
    pub acknowledgement: Option<u32>,
    pub payload_bytes: u32,
    pub syn: bool,
    pub timestamps: Option<Timestamps>,
    pub max_segment_bytes: Option<u16>,
}

/// Whether a file that begins so is a capture.
#[must_use]
pub fn is_capture(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|first| *first == SECTION_HEADER || is_pcap(*first))
}

fn is_pcap(first: [u8; 4]) -> bool {
    PCAP.contains(&u32::from_le_bytes(first)) || PCAP.contains(&u32::from_be_bytes(first))
}

/// Calls `see` for every TCP packet, in the order of the file. Returns whether the file ends within
/// a packet, as it does where whoever captured was killed.
pub(crate) fn read(mut file: impl Read, see: &mut impl FnMut(&Seen)) -> Result<bool, ReadError> {
    let mut first = [0; 4];
    file.read_exact(&mut first).map_err(|_| ReadError::Format)?;
    let whole = Cursor::new(first).chain(file);
    if first == SECTION_HEADER {
        pcapng(whole, see)
    } else if is_pcap(first) {
        pcap(whole, see)
    } else {
        Err(ReadError::Format)
    }
}

type Whole<R> = Chain<Cursor<[u8; 4]>, R>;

fn pcap(file: Whole<impl Read>, see: &mut impl FnMut(&Seen)) -> Result<bool, ReadError> {
    let mut reader = PcapReader::new(file).map_err(damaged)?;
    let link = reader.header().datalink;
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => {
                let time_ns = u64::try_from(packet.timestamp.as_nanos()).unwrap_or(u64::MAX);
                tcp(link, time_ns, &packet.data)?.iter().for_each(&mut *see);
            }
            Err(error) if is_end(&error) => return Ok(true),
            Err(error) => return Err(damaged(error)),
        }
    }
    Ok(false)
}

fn pcapng(file: Whole<impl Read>, see: &mut impl FnMut(&Seen)) -> Result<bool, ReadError> {
    let mut reader = PcapNgReader::new(file).map_err(damaged)?;
    let mut interfaces: Vec<(DataLink, Option<u8>)> = Vec::new();
    loop {
        let block = match reader.next_block() {
            None => return Ok(false),
            Some(Err(error)) if is_end(&error) => return Ok(true),
            Some(block) => block.map_err(damaged)?,
        };
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(it) => {
                let resolution = it.options.iter().find_map(|option| match option {
                    IfTsResol(resolution) => Some(*resolution),
                    _ => None,
                });
                interfaces.push((it.linktype, resolution));
            }
            Block::EnhancedPacket(packet) => {
                let &(link, resolution) = interfaces
                    .get(packet.interface_id as usize)
                    .ok_or_else(|| ReadError::Damaged("a packet of no interface".into()))?;
                // The library takes whatever unit it is for nanoseconds.
                let time_ns = nanoseconds(packet.timestamp.as_nanos(), resolution);
                tcp(link, time_ns, &packet.data)?.iter().for_each(&mut *see);
            }
            _ => {}
        }
    }
}

/// Whether there is less in the file than a packet says of itself.
fn is_end(error: &PcapError) -> bool {
    match error {
        PcapError::IncompleteBuffer => true,
        PcapError::IoError(error) => error.kind() == ErrorKind::UnexpectedEof,
        _ => false,
    }
}

fn damaged(error: PcapError) -> ReadError {
    ReadError::Damaged(error.to_string())
}

/// Time in the unit of an interface: 10^-n s, or 2^-n s with the highest bit; without one,
/// microseconds (pcapng, section 4.2, `if_tsresol`).
fn nanoseconds(time: u128, resolution: Option<u8>) -> u64 {
    const NS_PER_S: u128 = 1_000_000_000;
    let resolution = resolution.unwrap_or(6);
    let digits = u32::from(resolution & 0x7f);
    let per_s =
        if resolution & 0x80 == 0 { 10u128.checked_pow(digits) } else { 1u128.checked_shl(digits) };
    let time_ns = per_s.filter(|&unit| unit > 0).map_or(0, |unit| time * NS_PER_S / unit);
    u64::try_from(time_ns).unwrap_or(u64::MAX)
}

/// The TCP packet in a frame, if it is one.
fn tcp(link: DataLink, time_ns: u64, frame: &[u8]) -> Result<Option<Seen>, ReadError> {
    let sliced = match link {
        DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(frame).ok(),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(frame).ok(),
        DataLink::NULL | DataLink::LOOP => {
            frame.get(4..).and_then(|packet| LaxSlicedPacket::from_ip(packet).ok())
        }
        DataLink::LINUX_SLL => cooked(frame, 14, 16),
        DataLink::LINUX_SLL2 => cooked(frame, 0, 20),
        other => return Err(ReadError::Link(other.into())),
    };
    Ok(sliced.and_then(|sliced| seen(time_ns, &sliced)))
}

/// A packet behind a header of Linux's own, which names its protocol at `place`.
fn cooked(frame: &[u8], place: usize, header_bytes: usize) -> Option<LaxSlicedPacket<'_>> {
    let protocol = frame.get(place..place + 2)?;
    let kind = EtherType(u16::from_be_bytes([protocol[0], protocol[1]]));
    Some(LaxSlicedPacket::from_ether_type(kind, frame.get(header_bytes..)?))
}

fn seen(time_ns: u64, packet: &LaxSlicedPacket) -> Option<Seen> {
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return None };
    let (source, destination, segment_bytes) = addressed(packet.net.as_ref()?)?;
    let header_bytes = u32::from(tcp.data_offset()) * 4;
    let mut found = Seen {
        time_ns,
        source: SocketAddr::new(source, tcp.source_port()),
        destination: SocketAddr::new(destination, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        acknowledgement: tcp.ack().then(|| tcp.acknowledgment_number()),
        payload_bytes: segment_bytes.saturating_sub(header_bytes),
        syn: tcp.syn(),
        timestamps: None,
        max_segment_bytes: None,
    };
    read_options(tcp, &mut found);
    Some(found)
}

/// Who sends, who receives, and the bytes behind the IP headers: as they were sent, as most captures
/// cut packets.
fn addressed(net: &LaxNetSlice) -> Option<(IpAddr, IpAddr, u32)> {
    match net {
        LaxNetSlice::Ipv4(ip) => {
            let (header, captured) = (ip.header(), ip.payload().payload.len());
            let segment_bytes = match u32::from(header.total_len()) {
                // Of more than 64 KiB (BIG TCP), the length is what was captured.
                0 => u32::try_from(captured).ok()?,
                total => total.saturating_sub(u32::from(header.ihl()) * 4),
            };
            Some((header.source_addr().into(), header.destination_addr().into(), segment_bytes))
        }
        LaxNetSlice::Ipv6(ip) => {
            let (header, captured) = (ip.header(), ip.payload().payload.len());
            let extensions_bytes = u32::try_from(ip.extensions().slice().len()).ok()?;
            let segment_bytes = match u32::from(header.payload_length()) {
                0 => u32::try_from(captured).ok()?,
                total => total.saturating_sub(extensions_bytes),
            };
            Some((header.source_addr().into(), header.destination_addr().into(), segment_bytes))
        }
        LaxNetSlice::Arp(_) => None,
    }
}

fn read_options(tcp: &TcpSlice, found: &mut Seen) {
    for option in tcp.options_iterator().flatten() {
        match option {
            TcpOptionElement::Timestamp(value, echo) => {
                found.timestamps = Some(Timestamps { value, echo });
            }
            TcpOptionElement::MaximumSegmentSize(bytes) => found.max_segment_bytes = Some(bytes),
            _ => {}
        }
    }
}
