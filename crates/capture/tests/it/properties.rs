//! etherparse and pcap-file read back all packets as they were written.

use std::net::Ipv4Addr;

use dumbbell_capture::{
    CLOCK_AT_START_NS, Ecn, Endpoint, TcpFlags, TcpPacket, Timestamps, UdpPacket, Writer,
};
use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;

fn endpoint() -> impl Strategy<Value = Endpoint> {
    any::<(u32, u16)>()
        .prop_map(|(bits, port)| Endpoint { address: Ipv4Addr::from_bits(bits), port })
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)]
}

fn flags() -> impl Strategy<Value = TcpFlags> {
    any::<[bool; 8]>().prop_map(|[syn, ack, psh, fin, rst, ece, cwr, ae]| TcpFlags {
        syn,
        ack,
        psh,
        fin,
        rst,
        ece,
        cwr,
        ae,
    })
}

prop_compose! {
    /// A TCP packet with as many SACK blocks as fit with the other options.
    fn tcp()(
        source in endpoint(), destination in endpoint(), flags in flags(), ecn in ecn(),
        (sequence, acknowledgement, window, identification) in any::<(u32, u32, u16, u16)>(),
        offers in any::<(Option<u16>, bool, Option<u8>)>(), clocks in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4), payload_bytes in 0u16..65_400,
    ) -> TcpPacket {
        let mut packet = TcpPacket {
            source, destination, flags, ecn, sequence, acknowledgement, window, identification,
            max_segment_bytes: offers.0, sack_permitted: offers.1, window_scale: offers.2,
            timestamps: clocks.map(|(value, echo)| Timestamps { value, echo }),
            sack_blocks: [None; 4], accecn: None, payload_bytes,
        };
        let has_offers = offers != (None, false, None);
        let room = if has_offers { 1 } else if clocks.is_some() { 3 } else { 4 };
        for (slot, block) in packet.sack_blocks.iter_mut().zip(blocks).take(room) {
            *slot = Some(block);
        }
        packet
    }
}

prop_compose! {
    fn udp()(
        source in endpoint(), destination in endpoint(), ecn in ecn(),
        identification: u16, payload_bytes in 0u16..65_500,
    ) -> UdpPacket {
        UdpPacket { source, destination, ecn, identification, payload_bytes }
    }
}

/// Interface, time, true length and captured bytes of the only packet in a file.
fn only_packet(file: &[u8]) -> (u32, u64, u32, Vec<u8>) {
    let mut reader = PcapNgReader::new(file).expect("a section header");
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a sound block") {
            let time_ns = packet.timestamp.as_nanos() as u64;
            let bytes = packet.data.into_owned();
            packets.push((packet.interface_id, time_ns, packet.original_len, bytes));
        }
    }
    assert_eq!(packets.len(), 1);
    packets.remove(0)
}

fn check_ip(ip: &Ipv4Header, ends: (Endpoint, Endpoint), ecn: Ecn, identification: u16) {
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    assert_eq!(Ipv4Addr::from(ip.source), ends.0.address);
    assert_eq!(Ipv4Addr::from(ip.destination), ends.1.address);
    let bits = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].iter().position(|e| *e == ecn);
    assert_eq!(usize::from(ip.ecn.value()), bits.expect("one of four"));
    assert_eq!(ip.identification, identification);
    assert!(ip.dont_fragment && !ip.more_fragments);
}

fn check_options(packet: &TcpPacket, options: Vec<TcpOptionElement>) {
    use TcpOptionElement as Element;
    let mut seen = TcpPacket {
        max_segment_bytes: None,
        sack_permitted: false,
        window_scale: None,
        timestamps: None,
        sack_blocks: [None; 4],
        accecn: None,
        ..*packet
    };
    for option in options {
        match option {
            Element::Noop => {}
            Element::MaximumSegmentSize(bytes) => seen.max_segment_bytes = Some(bytes),
            Element::WindowScale(scale) => seen.window_scale = Some(scale),
            Element::SelectiveAcknowledgementPermitted => seen.sack_permitted = true,
            Element::Timestamp(value, echo) => seen.timestamps = Some(Timestamps { value, echo }),
            Element::SelectiveAcknowledgement(first, [second, third, fourth]) => {
                seen.sack_blocks = [Some(first), second, third, fourth];
            }
        }
    }
    assert_eq!(seen, *packet);
}

fn check_tcp(packet: &TcpPacket, tcp: &TcpHeader, ip: &Ipv4Header) {
    assert_eq!(
        (tcp.source_port, tcp.destination_port),
        (packet.source.port, packet.destination.port)
    );
    assert_eq!(tcp.sequence_number, packet.sequence);
    assert_eq!(tcp.acknowledgment_number, packet.acknowledgement);
    assert_eq!(tcp.window_size, packet.window);
    let TcpHeader { syn, ack, psh, fin, rst, ece, cwr, ns: ae, .. } = *tcp;
    assert_eq!(TcpFlags { syn, ack, psh, fin, rst, ece, cwr, ae }, packet.flags);
    assert!(!tcp.urg);
    let payload = vec![0; packet.payload_bytes.into()];
    assert_eq!(Ok(tcp.checksum), tcp.calc_checksum_ipv4(ip, &payload));
}

proptest! {
    #[test]
    fn tcp_packets_are_read_back(packet in tcp(), time_ns in 0u64..1 << 63, interface in 0u32..3) {
        let mut writer = Writer::new(Vec::new(), "a comment", &["a", "b", "c"]).unwrap();
        writer.tcp(time_ns, interface, &packet).unwrap();
        let (seen_interface, seen_time_ns, length, bytes) = only_packet(&writer.finish().unwrap());
        prop_assert_eq!((seen_interface, seen_time_ns), (interface, CLOCK_AT_START_NS + time_ns));
        let (ip, rest) = Ipv4Header::from_slice(&bytes).unwrap();
        check_ip(&ip, (packet.source, packet.destination), packet.ecn, packet.identification);
        prop_assert_eq!(ip.protocol, IpNumber::TCP);
        let (tcp, rest) = TcpHeader::from_slice(rest).unwrap();
        prop_assert!(rest.is_empty(), "no payload is stored");
        check_tcp(&packet, &tcp, &ip);
        let options: Result<_, _> = tcp.options_iterator().collect();
        check_options(&packet, options.unwrap());
        let whole = ip.header_len() + tcp.header_len() + usize::from(packet.payload_bytes);
        prop_assert_eq!((length as usize, usize::from(ip.total_len)), (whole, whole));
    }

    #[test]
    fn udp_packets_are_read_back(packet in udp(), time_ns in 0u64..1 << 63) {
        let mut writer = Writer::new(Vec::new(), "", &["only"]).unwrap();
        writer.udp(time_ns, 0, &packet).unwrap();
        let (_, seen_time_ns, length, bytes) = only_packet(&writer.finish().unwrap());
        prop_assert_eq!(seen_time_ns, CLOCK_AT_START_NS + time_ns);
        let (ip, rest) = Ipv4Header::from_slice(&bytes).unwrap();
        check_ip(&ip, (packet.source, packet.destination), packet.ecn, packet.identification);
        prop_assert_eq!(ip.protocol, IpNumber::UDP);
        let (udp, rest) = UdpHeader::from_slice(rest).unwrap();
        prop_assert!(rest.is_empty(), "no payload is stored");
        let ports = (packet.source.port, packet.destination.port);
        prop_assert_eq!((udp.source_port, udp.destination_port), ports);
        prop_assert_eq!(udp.length, packet.payload_bytes + 8);
        prop_assert_eq!(length, u32::from(packet.payload_bytes) + 28);
        let payload = vec![0; packet.payload_bytes.into()];
        prop_assert_eq!(Ok(udp.checksum), udp.calc_checksum_ipv4(&ip, &payload));
    }
}
