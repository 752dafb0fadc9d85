//! Connections read from captures: from ours, whose truth is known, and from arbitrary bytes.

use std::num::NonZeroU64;
use std::sync::LazyLock;
use std::time::Duration;

use dumbbell_capture::{
    Ack, Capture, Conversation, Data, Flow, Options, Place, ReadError, Timestamps, Writer,
    connections,
};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const WANTED: Options = Options { step_ns: NonZeroU64::new(100 * MS).unwrap(), least_share: 0.01 };
const RTT: u64 = 40 * MS;
const SENT_AGAIN: u64 = 7;
const SEGMENTS: u64 = 40;

fn conversation() -> Conversation {
    Conversation::new(Flow {
        index: 0,
        mss_bytes: 1448,
        message_bytes: None,
        timestamps: true,
        sack: true,
        ecn: false,
        accecn: None,
        window_max_bytes: None,
    })
}

static VIEWS: LazyLock<[Vec<u8>; 2]> = LazyLock::new(views);

/// One segment every 10 ms, acknowledged after a round trip. One is lost and sent again 60 ms
/// later. The first file shows this at the sender, the second at the receiver, half a round trip
/// later.
fn views() -> [Vec<u8>; 2] {
    let conversation = conversation();
    [0, RTT / 2].map(|later_ns| {
        let at_receiver = later_ns > 0;
        let mut writer = Writer::new(Vec::new(), "views", &["host"]).unwrap();
        writer.handshake(later_ns, 0, &conversation).unwrap();
        let mut packets = Vec::new();
        for number in 0..SEGMENTS {
            let sent_ns = (number + 5) * 10 * MS;
            let is_lost = number == SENT_AGAIN;
            // Data echoes the latest acknowledgement that has arrived.
            let echo = Timestamps::clock(sent_ns.saturating_sub(RTT / 2));
            let timestamps = Timestamps { value: Timestamps::clock(sent_ns), echo };
            let data = Data { segment: number, timestamps, ..Data::default() };
            if !(is_lost && at_receiver) {
                packets.push((sent_ns + later_ns, conversation.data(&data)));
            }
            if is_lost {
                let again_ns = sent_ns + 60 * MS;
                let timestamps = Timestamps { value: Timestamps::clock(again_ns), echo };
                let again = Data { timestamps, ..data };
                packets.push((again_ns + later_ns, conversation.data(&again)));
                // It fills the hole. The latest segment behind that hole arrived 10 ms before.
                let timestamps = Timestamps { value: Timestamps::clock(again_ns + RTT / 2), echo };
                let ack = Ack { cumulative: SENT_AGAIN + 6, timestamps, ..Ack::default() };
                packets.push((again_ns + RTT - later_ns, conversation.ack(&ack)));
            }
            let is_delayed = (SENT_AGAIN..SENT_AGAIN + 6).contains(&number);
            let cumulative = if is_delayed { SENT_AGAIN } else { number + 1 };
            let value = Timestamps::clock(sent_ns + RTT / 2);
            let timestamps = Timestamps { value, echo: Timestamps::clock(sent_ns) };
            let ack = Ack { cumulative, timestamps, ..Ack::default() };
            let seen_ns = sent_ns + if at_receiver { RTT / 2 } else { RTT };
            packets.push((seen_ns, conversation.ack(&ack)));
        }
        packets.sort_by_key(|(time_ns, _)| *time_ns);
        for (time_ns, packet) in packets {
            writer.tcp(time_ns, 0, &packet).unwrap();
        }
        writer.finish().unwrap()
    })
}

fn tried(file: &[u8]) -> Result<Capture, ReadError> {
    connections(file, WANTED, || true)
}

fn read(file: &[u8]) -> Capture {
    tried(file).unwrap()
}

#[test]
fn the_senders_view_shows_its_segments() {
    let capture = read(&VIEWS[0]);
    assert!(!capture.is_cut);
    let [connection] = &capture.connections[..] else { panic!("{capture:?}") };
    assert_eq!((connection.sender.port(), connection.receiver.port()), (49152, 5001));
    assert_eq!((connection.mss_bytes, connection.place), (1448, Place::Sender));
    assert_eq!((connection.segments, connection.again), (SEGMENTS + 1, 1));
    assert_eq!(connection.delivered_bytes, SEGMENTS * 1448);
    assert_eq!(connection.rtt_min_ns, Some(RTT));
    let steps = &connection.steps;
    assert_eq!(steps.delivered_bytes.iter().sum::<u64>(), SEGMENTS * 1448);
    assert_eq!(steps.again.iter().sum::<u64>(), 1);
    // Four segments are in flight, and ten while one is missing.
    assert_eq!(steps.in_flight_bytes.iter().flatten().max(), Some(&(10 * 1448)));
    assert!(steps.rtt_max_ns.iter().flatten().all(|rtt| *rtt == RTT));
}

#[test]
fn the_receivers_view_knows_the_same_round_trip() {
    let capture = read(&VIEWS[1]);
    let [connection] = &capture.connections[..] else { panic!("{capture:?}") };
    assert_eq!(connection.place, Place::Receiver);
    assert_eq!(connection.delivered_bytes, SEGMENTS * 1448);
    assert_eq!(connection.again, 1);
    assert_eq!(connection.rtt_min_ns, Some(RTT));
}

/// Our capture as older tools write it: Ethernet frames of at most so many bytes, and times in us.
fn as_pcap(file: &[u8], most: usize) -> Vec<u8> {
    as_later_pcap(file, most, Duration::ZERO)
}

fn as_later_pcap(file: &[u8], most: usize, later: Duration) -> Vec<u8> {
    let header = PcapHeader { datalink: DataLink::ETHERNET, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    let mut reader = PcapNgReader::new(file).unwrap();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            let mut frame = [&[0; 12][..], &[0x08, 0x00], &packet.data].concat();
            frame.truncate(most);
            let length = packet.original_len + 14;
            let time = packet.timestamp + later;
            writer.write_packet(&PcapPacket::new(time, length, &frame)).unwrap();
        }
    }
    writer.into_writer()
}

#[test]
fn both_formats_say_the_same() {
    for file in &*VIEWS {
        let [new, old] =
            [read(file), read(&as_pcap(file, usize::MAX))].map(|mut it| it.connections.remove(0));
        assert_eq!((new.segments, new.again, new.place), (old.segments, old.again, old.place));
        assert!(new.start_ns.abs_diff(old.start_ns) <= 1000);
        assert_eq!(new.steps.delivered_bytes, old.steps.delivered_bytes);
        assert_eq!(new.steps.in_flight_bytes, old.steps.in_flight_bytes);
        for (one, other) in new.steps.rtt_mean_ns.iter().zip(&old.steps.rtt_mean_ns) {
            assert!(one.unwrap_or(0).abs_diff(other.unwrap_or(0)) <= 1000, "{one:?} {other:?}");
        }
    }
}

#[test]
fn a_window_is_unknown_if_its_scale_was_cut() {
    // Ethernet, IP and TCP take 54 bytes. The scale is behind other options of the handshake.
    let known = [(usize::MAX, true), (66, false), (54, false)];
    for (most, is_known) in known {
        let capture = read(&as_pcap(&VIEWS[0], most));
        let windows = &capture.connections[0].steps.window_bytes;
        assert_eq!(windows.iter().any(Option::is_some), is_known, "{most} bytes");
    }
}

#[test]
fn a_capture_that_was_cut_off_is_marked() {
    let file = &VIEWS[0];
    let capture = read(&file[..file.len() - 9]);
    assert!(capture.is_cut);
    assert_eq!(capture.connections[0].segments, SEGMENTS + 1);
}

#[test]
fn what_is_no_capture_is_refused() {
    for file in [&b""[..], b"{}", b"\0\0\0\0\0\0\0\0"] {
        assert!(matches!(tried(file), Err(ReadError::Format)), "{file:?}");
    }
    let header = PcapHeader { datalink: DataLink::IEEE802_11, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    writer.write_packet(&PcapPacket::new(Duration::ZERO, 4, &[0; 4])).unwrap();
    let capture = read(&writer.into_writer());
    assert_eq!((capture.unknown, capture.unknown_link), (1, Some(105)));
}

#[test]
fn a_second_connection_between_the_same_ports_is_another_one() {
    let [file, _] = &*VIEWS;
    let mut twice = as_pcap(file, usize::MAX);
    let again = as_later_pcap(file, usize::MAX, Duration::from_secs(100));
    twice.extend(&again[24..]);
    // The second connection begins with the same numbers, so only the SYN distinguishes it. All of
    // the first is in the capture.
    let capture = read(&twice);
    assert_eq!(capture.connections.iter().map(|it| it.segments).max(), Some(SEGMENTS + 1));
    assert_eq!(capture.connections.len(), 2);
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(
        is_new: bool, mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..20),
    ) {
        let start: &[u8] = if is_new { &[0x0a, 0x0d, 0x0d, 0x0a] } else { &[0xd4, 0xc3, 0xb2, 0xa1] };
        bytes.splice(..0, start.iter().copied());
        let _ = tried(&bytes);
        let mut file = VIEWS[usize::from(is_new)].clone();
        if !is_new {
            file = as_pcap(&file, usize::MAX);
        }
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        let _ = tried(&file);
    }
}
