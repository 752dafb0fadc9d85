//! The content of a captured packet, and its headers as bytes.

use std::net::Ipv4Addr;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptions, UdpHeader};

/// Most bytes of headers: IP, TCP and full option space.
pub(crate) const HEADERS_BYTES_MAX: usize = 20 + TcpHeader::MAX_LEN;

/// Hops that a packet may take: Linux's default.
const TIME_TO_LIVE: u8 = 64;

/// The option that pads others.
const NOOP: u8 = 1;

/// Payload is not stored, so its bytes may be anything; checksums take them for zero.
static PAYLOAD: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// One end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// IP address.
    pub address: Ipv4Addr,
    /// TCP or UDP port.
    pub port: u16,
}

/// The two ECN bits of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, ECT(1): the flow requests L4S (RFC 9331).
    Ect1,
    /// ECN-capable, ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

/// The control bits of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags {
    /// Opens the connection.
    pub syn: bool,
    /// The acknowledgement number is valid.
    pub ack: bool,
    /// The sender has no more data at hand.
    pub psh: bool,
    /// Closes this side.
    pub fin: bool,
    /// Resets the connection.
    pub rst: bool,
    /// Echoes a CE mark (RFC 3168, section 6.1).
    pub ece: bool,
    /// The congestion window was reduced (RFC 3168, section 6.1).
    pub cwr: bool,
    /// Accurate ECN (RFC 9768, section 3.1).
    pub ae: bool,
}

impl TcpFlags {
    /// Set the three flags of the ACE field (RFC 9768, section 3.2.2).
    pub const fn set_ace(&mut self, ace: u8) {
        (self.ae, self.cwr, self.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
    }
}

/// The AccECN option (RFC 9768, section 3.2.3): payload received, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// True if ECT(1) comes first (kind 174), false if ECT(0) does (kind 172).
    pub ect1_first: bool,
    /// Bytes with ECT(0).
    pub ect0_bytes: u32,
    /// Bytes with CE.
    pub ce_bytes: u32,
    /// Bytes with ECT(1).
    pub ect1_bytes: u32,
    /// True if the last counter is left out.
    pub is_short: bool,
}

impl AccEcn {
    /// The option as bytes, padded to whole words.
    fn bytes(&self) -> Vec<u8> {
        let ect = [self.ect0_bytes, self.ect1_bytes];
        let order = usize::from(self.ect1_first);
        let counters = [ect[order], self.ce_bytes, ect[1 - order]];
        let counters = &counters[..if self.is_short { 2 } else { 3 }];
        let kind = if self.ect1_first { 174 } else { 172 };
        let mut bytes = vec![kind, 2 + 3 * counters.len() as u8];
        bytes.extend(counters.iter().flat_map(|counter| counter.to_be_bytes().into_iter().skip(1)));
        bytes.resize(bytes.len().next_multiple_of(4), NOOP);
        bytes
    }
}

/// The timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock (TSval).
    pub value: u32,
    /// The value that is echoed (TSecr).
    pub echo: u32,
}

impl Timestamps {
    /// The clock of every host, in ms since the run began. Linux and the simulated hosts count in
    /// ms, too.
    #[must_use]
    pub const fn clock(time_ns: u64) -> u32 {
        (time_ns / 1_000_000) as u32
    }
}

/// A TCP segment in an IPv4 packet. Options have Linux's order. Padding to whole words comes before
/// each, except on a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    /// Its sender.
    pub source: Endpoint,
    /// Its receiver.
    pub destination: Endpoint,
    /// Number of the first payload byte.
    pub sequence: u32,
    /// Number of the next byte expected.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// The header's window field, already scaled.
    pub window: u16,
    /// Maximum segment size; belongs on a SYN.
    pub max_segment_bytes: Option<u16>,
    /// SACK may be used; belongs on a SYN.
    pub sack_permitted: bool,
    /// Binary places by which windows are scaled; belongs on a SYN.
    pub window_scale: Option<u8>,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// Left and right edge of each SACK block (RFC 2018); the first may be a D-SACK (RFC 2883).
    /// With timestamps, there is room for three.
    pub sack_blocks: [Option<(u32, u32)>; 4],
    /// Counters of Accurate ECN.
    pub accecn: Option<AccEcn>,
    /// Bytes of payload.
    pub payload_bytes: u16,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// Identification field of the IP header.
    pub identification: u16,
}

/// A UDP datagram in an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpPacket {
    /// Its sender.
    pub source: Endpoint,
    /// Its receiver.
    pub destination: Endpoint,
    /// Bytes of payload.
    pub payload_bytes: u16,
    /// ECN bits of the IP header.
    pub ecn: Ecn,
    /// Identification field of the IP header.
    pub identification: u16,
}

impl TcpPacket {
    /// Append the headers to `out`; return the true length of the packet.
    ///
    /// # Panics
    /// If the options need more than 40 bytes, or the packet more than 65,535.
    pub(crate) fn write_headers(&self, out: &mut Vec<u8>) -> u32 {
        let mut tcp =
            TcpHeader::new(self.source.port, self.destination.port, self.sequence, self.window);
        tcp.acknowledgment_number = self.acknowledgement;
        let TcpFlags { syn, ack, psh, fin, rst, ece, cwr, ae } = self.flags;
        (tcp.syn, tcp.ack, tcp.psh, tcp.fin) = (syn, ack, psh, fin);
        (tcp.rst, tcp.ece, tcp.cwr, tcp.ns) = (rst, ece, cwr, ae);
        tcp.options = self.options();
        let transport_bytes = tcp.header_len() + usize::from(self.payload_bytes);
        let ip = Ip {
            ends: (self.source, self.destination),
            ecn: self.ecn,
            identification: self.identification,
        }
        .header(IpNumber::TCP, transport_bytes);
        tcp.checksum = tcp
            .calc_checksum_ipv4(&ip, &PAYLOAD[..usize::from(self.payload_bytes)])
            .expect("the IP header has bounded the length");
        out.extend_from_slice(&ip.to_bytes());
        out.extend_from_slice(&tcp.to_bytes());
        ip.total_len.into()
    }

    fn options(&self) -> TcpOptions {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
            Timestamp, WindowScale,
        };
        let mut options = Vec::with_capacity(8);
        options.extend(self.max_segment_bytes.map(MaximumSegmentSize));
        // Linux omits the padding of timestamps if it offers SACK (`tcp_options_write`).
        if self.sack_permitted {
            options.push(SelectiveAcknowledgementPermitted);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            if !self.sack_permitted {
                options.extend([Noop, Noop]);
            }
            options.push(Timestamp(value, echo));
        }
        if let Some(scale) = self.window_scale {
            options.extend([Noop, WindowScale(scale)]);
        }
        let mut blocks = self.sack_blocks.iter().copied().flatten();
        if let Some(first) = blocks.next() {
            let rest = [blocks.next(), blocks.next(), blocks.next()];
            options.extend([Noop, Noop, SelectiveAcknowledgement(first, rest)]);
        }
        let elements = TcpOptions::try_from_elements(&options)
            .unwrap_or_else(|error| panic!("options {options:?} do not fit: {error}"));
        let Some(accecn) = &self.accecn else { return elements };
        let bytes = [elements.as_slice(), &accecn.bytes()].concat();
        TcpOptions::try_from_slice(&bytes).unwrap_or_else(|error| {
            panic!("options {options:?} and {accecn:?} do not fit: {error}")
        })
    }
}

impl UdpPacket {
    /// Append the headers to `out`; return the true length of the packet.
    ///
    /// # Panics
    /// If the packet needs more than 65,535 bytes.
    pub(crate) fn write_headers(&self, out: &mut Vec<u8>) -> u32 {
        let payload = &PAYLOAD[..usize::from(self.payload_bytes)];
        let ip = Ip {
            ends: (self.source, self.destination),
            ecn: self.ecn,
            identification: self.identification,
        }
        .header(IpNumber::UDP, UdpHeader::LEN + payload.len());
        let (from, to) = (self.source.port, self.destination.port);
        let udp = UdpHeader::with_ipv4_checksum(from, to, &ip, payload)
            .expect("the IP header has bounded the length");
        out.extend_from_slice(&ip.to_bytes());
        out.extend_from_slice(&udp.to_bytes());
        ip.total_len.into()
    }
}

/// Fields that both kinds of packet have.
struct Ip {
    ends: (Endpoint, Endpoint),
    ecn: Ecn,
    identification: u16,
}

impl Ip {
    fn header(&self, protocol: IpNumber, transport_bytes: usize) -> Ipv4Header {
        let (source, destination) = self.ends;
        let length = u16::try_from(transport_bytes).ok();
        let ends = (source.address.octets(), destination.address.octets());
        let mut header = length
            .and_then(|bytes| Ipv4Header::new(bytes, TIME_TO_LIVE, protocol, ends.0, ends.1).ok())
            .unwrap_or_else(|| panic!("{transport_bytes} bytes do not fit in an IP packet"));
        header.identification = self.identification;
        header.ecn = match self.ecn {
            Ecn::NotEct => IpEcn::NotEct,
            Ecn::Ect1 => IpEcn::Ect1,
            Ecn::Ect0 => IpEcn::Ect0,
            Ecn::Ce => IpEcn::CongestionExperienced,
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(last: u8, port: u16) -> Endpoint {
        Endpoint { address: Ipv4Addr::new(10, 0, 0, last), port }
    }

    fn packet() -> TcpPacket {
        TcpPacket {
            source: endpoint(1, 0x1111),
            destination: endpoint(2, 0x2222),
            sequence: 0x0102_0304,
            acknowledgement: 0x0506_0708,
            flags: TcpFlags { ack: true, ece: true, ..TcpFlags::default() },
            window: 0xffff,
            max_segment_bytes: None,
            sack_permitted: false,
            window_scale: None,
            timestamps: Some(Timestamps { value: 0xa, echo: 0xb }),
            sack_blocks: [None; 4],
            accecn: None,
            payload_bytes: 1448,
            ecn: Ecn::Ce,
            identification: 0x4242,
        }
    }

    fn headers(packet: &TcpPacket) -> (Vec<u8>, u32) {
        let mut bytes = Vec::new();
        let length = packet.write_headers(&mut bytes);
        (bytes, length)
    }

    /// Sum in one's complement (RFC 1071): all ones if a checksum is right.
    fn sum(bytes: &[u8]) -> u16 {
        let total = bytes
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
            .sum::<u32>();
        (total % 0xffff) as u16
    }

    #[test]
    fn data_is_laid_out_as_rfc_791_rfc_9293_and_rfc_7323_say() {
        let (bytes, length) = headers(&packet());
        assert_eq!((bytes.len(), length), (52, 1500));
        assert_eq!(bytes[..10], [0x45, 3, 0x05, 0xdc, 0x42, 0x42, 0x40, 0, 64, 6]);
        assert_eq!(bytes[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(bytes[20..24], [0x11, 0x11, 0x22, 0x22]);
        assert_eq!(bytes[24..32], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[32..36], [0x80, 0x50, 0xff, 0xff]);
        assert_eq!(bytes[38..], [0, 0, 1, 1, 8, 10, 0, 0, 0, 10, 0, 0, 0, 11]);
    }

    #[test]
    fn checksums_are_those_of_a_payload_of_zeros() {
        let (bytes, length) = headers(&packet());
        assert_eq!(sum(&bytes[..20]), 0);
        let transport_bytes = (length - 20) as u16;
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend_from_slice(&[0, 6]);
        pseudo.extend_from_slice(&transport_bytes.to_be_bytes());
        pseudo.extend_from_slice(&bytes[20..]);
        assert_eq!(sum(&pseudo), 0);
    }

    #[test]
    fn a_syn_carries_the_options_of_linux_in_forty_bytes() {
        let syn = TcpPacket {
            flags: TcpFlags { syn: true, ..TcpFlags::default() },
            max_segment_bytes: Some(1460),
            sack_permitted: true,
            window_scale: Some(14),
            payload_bytes: 0,
            ..packet()
        };
        let (bytes, length) = headers(&syn);
        assert_eq!((bytes.len(), length), (60, 60));
        let options = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 10, 0, 0, 0, 11, 1, 3, 3, 14];
        assert_eq!(bytes[40..], options);
    }

    #[test]
    fn accurate_ecn_has_the_layout_of_rfc_9768() {
        let mut ack = TcpPacket { payload_bytes: 0, ..packet() };
        ack.flags.set_ace(0b110);
        let counted = AccEcn {
            ect1_first: false,
            ect0_bytes: 0x01_0203,
            ce_bytes: 4,
            ect1_bytes: 1,
            is_short: false,
        };
        ack.accecn = Some(counted);
        let (bytes, length) = headers(&ack);
        assert_eq!(length, 52 + 12);
        assert_eq!(bytes[32..34], [0xb1, 0x90]);
        assert_eq!(bytes[52..], [172, 11, 1, 2, 3, 0, 0, 4, 0, 0, 1, 1]);
        ack.accecn = Some(AccEcn { ect1_first: true, is_short: true, ..counted });
        assert_eq!(headers(&ack).0[52..], [174, 8, 0, 0, 1, 0, 0, 4]);
    }

    #[test]
    fn sack_adds_four_bytes_and_eight_for_each_block() {
        let mut ack = TcpPacket { payload_bytes: 0, ..packet() };
        for blocks in 1..=3u32 {
            ack.sack_blocks[blocks as usize - 1] = Some((blocks, blocks + 1));
            assert_eq!(headers(&ack).1, 52 + 4 + 8 * blocks);
        }
        let (bytes, _) = headers(&ack);
        assert_eq!(bytes[52..64], [1, 1, 5, 26, 0, 0, 0, 1, 0, 0, 0, 2]);
        ack.timestamps = None;
        ack.sack_blocks[3] = Some((4, 5));
        assert_eq!(headers(&ack).1, 40 + 4 + 8 * 4);
    }

    #[test]
    #[should_panic(expected = "do not fit")]
    fn four_blocks_with_timestamps_are_refused() {
        headers(&TcpPacket { sack_blocks: [Some((1, 2)); 4], ..packet() });
    }

    #[test]
    #[should_panic(expected = "do not fit in an IP packet")]
    fn a_packet_longer_than_ip_allows_is_refused() {
        headers(&TcpPacket { payload_bytes: u16::MAX - 51, ..packet() });
    }

    #[test]
    fn a_datagram_has_the_layout_of_rfc_768() {
        let datagram = UdpPacket {
            source: endpoint(1, 0x1111),
            destination: endpoint(2, 0x2222),
            payload_bytes: 100,
            ecn: Ecn::NotEct,
            identification: 7,
        };
        let mut bytes = Vec::new();
        assert_eq!(datagram.write_headers(&mut bytes), 128);
        assert_eq!(bytes[..10], [0x45, 0, 0, 128, 0, 7, 0x40, 0, 64, 17]);
        assert_eq!(bytes[20..26], [0x11, 0x11, 0x22, 0x22, 0, 108]);
        assert_eq!(bytes.len(), 28);
    }
}
