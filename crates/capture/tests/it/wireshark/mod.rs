//! Wireshark reads our files as we meant them: numbers, marks, and the results of its analysis.
#![expect(clippy::single_range_in_vec_init, reason = "many an acknowledgement has one block")]

mod dissection;

use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use dumbbell_capture::{
    Ack, Conversation, Data, Ecn, Endpoint, Flow, Timestamps, UdpPacket, Writer,
};

use dissection::{Dissection, can_dissect};

const MSS: u64 = 1448;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// A capture under way, with packets counted from 1 as Wireshark counts them.
struct Capture {
    path: PathBuf,
    writer: Writer<File>,
    conversation: Conversation,
    packets: usize,
}

impl Capture {
    fn new(name: &str, flow: Flow) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
        let file = File::create(&path).unwrap();
        let writer = Writer::new(file, "A test", &["sender"]).unwrap();
        Self { path, writer, conversation: Conversation::new(flow), packets: 0 }
    }

    fn open(&mut self, time_ns: u64) {
        self.writer.handshake(time_ns, 0, &self.conversation).unwrap();
        self.packets += 3;
    }

    fn data(&mut self, time_ns: u64, segment: u64, ecn: Ecn) -> usize {
        self.data_with(time_ns, Data { segment, ecn, ..Data::default() })
    }

    fn data_with(&mut self, time_ns: u64, data: Data) -> usize {
        let timestamps = clocks(time_ns);
        let packet = self.conversation.data(&Data { timestamps, ..data });
        self.writer.tcp(time_ns, 0, &packet).unwrap();
        self.packets += 1;
        self.packets
    }

    fn ack(&mut self, time_ns: u64, cumulative: u64, sacked: &[Range<u64>]) -> usize {
        self.ack_with(time_ns, Ack { cumulative, sacked, ..Ack::default() })
    }

    fn ack_with(&mut self, time_ns: u64, ack: Ack) -> usize {
        let packet = self.conversation.ack(&Ack { timestamps: clocks(time_ns), ..ack });
        self.writer.tcp(time_ns, 0, &packet).unwrap();
        self.packets += 1;
        self.packets
    }

    fn dissect(self) -> Dissection {
        self.writer.finish().unwrap().sync_all().unwrap();
        let seen = Dissection::of(&self.path);
        assert_eq!(seen.packets(), self.packets);
        seen
    }
}

fn clocks(time_ns: u64) -> Timestamps {
    Timestamps { value: Timestamps::clock(time_ns), echo: Timestamps::clock(time_ns - 20 * MS) }
}

fn flow(message_bytes: Option<u64>) -> Flow {
    let message_bytes = message_bytes.and_then(NonZeroU64::new);
    Flow {
        index: 7,
        mss_bytes: MSS as u16,
        message_bytes,
        timestamps: true,
        sack: true,
        ecn: true,
        accecn: None,
        window_max_bytes: None,
    }
}

/// Relative sequence number of a segment.
fn at(segment: u64) -> String {
    (1 + segment * MSS).to_string()
}

fn assert_checksums_hold(seen: &Dissection) {
    for packet in 1..=seen.packets() {
        assert_eq!(seen.field(packet, "ip.checksum.status"), "1", "good");
        let whole = seen.field(packet, "frame.len") == seen.field(packet, "frame.cap_len");
        // Wireshark cannot validate a packet that is cut: 2 is unverified.
        let status = if whole { "1" } else { "2" };
        assert_eq!(seen.field(packet, "tcp.checksum.status"), status, "packet {packet}");
    }
}

fn assert_never(seen: &Dissection, findings: &[&str]) {
    for finding in findings {
        assert_eq!(seen.with(finding), [0; 0], "{finding}");
    }
}

/// Packets of a loss, a late acknowledgement and a mark, as a sender's host sees them.
struct Sender {
    seen: Dissection,
    first_ack: usize,
    duplicates: Vec<usize>,
    retransmission: usize,
    echo: usize,
    reduced: usize,
    timeout: usize,
    d_sack: usize,
}

static AT_THE_SENDER: LazyLock<Sender> = LazyLock::new(at_the_sender);

/// Ten segments of which number 4 is lost; then a timeout before a late acknowledgement.
fn at_the_sender() -> Sender {
    let mut capture = Capture::new("sender", flow(None));
    capture.open(100 * MS);
    for segment in 0..10 {
        capture.data(100 * MS + segment * 10 * US, segment, Ecn::Ect0);
    }
    let first_ack = capture.ack(140 * MS, 2, &[]);
    capture.ack(140 * MS + 20 * US, 4, &[]);
    capture.data(140 * MS + 20 * US, 10, Ecn::Ect0);
    let mut duplicates: Vec<_> =
        (6..=8).map(|end| capture.ack(140 * MS + end * 10 * US, 4, &[5..end])).collect();
    let retransmission = capture.data(140 * MS + 80 * US, 4, Ecn::NotEct);
    duplicates.extend((9..=10).map(|end| capture.ack(140 * MS + end * 10 * US, 4, &[5..end])));
    duplicates.push(capture.ack(180 * MS + 20 * US, 4, &[5..11]));
    let mark = Ack { cumulative: 11, ece: true, ..Ack::default() };
    let echo = capture.ack_with(180 * MS + 80 * US, mark);
    let reduced = Data { segment: 11, ecn: Ecn::Ect0, cwr: true, ..Data::default() };
    let reduced = capture.data_with(181 * MS, reduced);
    let timeout = capture.data(500 * MS, 11, Ecn::NotEct);
    capture.ack(510 * MS, 12, &[]);
    let d_sack = Ack { cumulative: 12, duplicate: Some(11..12), ..Ack::default() };
    let d_sack = capture.ack_with(540 * MS, d_sack);
    let seen = capture.dissect();
    Sender { seen, first_ack, duplicates, retransmission, echo, reduced, timeout, d_sack }
}

#[test]
fn losses_are_found_where_they_were_and_nowhere_else() {
    if !can_dissect() {
        return;
    }
    let &Sender { ref seen, ref duplicates, retransmission, timeout, d_sack, .. } = &*AT_THE_SENDER;
    assert_eq!(seen.with("tcp.analysis.fast_retransmission"), [retransmission]);
    assert_eq!(seen.with("tcp.analysis.retransmission"), [retransmission, timeout]);
    // A D-SACK repeats the acknowledgement before it, and Wireshark counts it as a duplicate.
    let repeated: Vec<_> = duplicates.iter().copied().chain([d_sack]).collect();
    assert_eq!(seen.with("tcp.analysis.duplicate_ack"), repeated);
    assert_never(
        seen,
        &[
            "tcp.analysis.spurious_retransmission",
            "tcp.analysis.out_of_order",
            "tcp.analysis.lost_segment",
            "tcp.analysis.ack_lost_segment",
            "tcp.analysis.window_full",
            "tcp.analysis.zero_window",
        ],
    );
}

#[test]
fn numbers_lengths_and_windows_are_those_of_the_flow() {
    if !can_dissect() {
        return;
    }
    let &Sender { ref seen, first_ack, retransmission, ref duplicates, d_sack, .. } =
        &*AT_THE_SENDER;
    assert_checksums_hold(seen);
    assert_eq!(seen.whose("_ws.col.Protocol", "TCP").len(), seen.packets());
    assert_eq!(seen.whose("frame.interface_name", "sender").len(), seen.packets());
    assert_eq!(seen.whose("tcp.options.mss_val", "1460"), [1, 2]);
    assert_eq!(seen.field(4, "frame.time_epoch"), "1.100000000");
    assert_eq!((seen.number(4, "frame.len"), seen.number(4, "frame.cap_len")), (1500, 52));
    assert_eq!(seen.field(4, "tcp.options.timestamp.tsval"), "100", "milliseconds");
    assert_eq!(seen.field(retransmission, "tcp.seq"), at(4));
    assert_eq!(seen.number(retransmission, "tcp.len"), MSS);
    assert_eq!(seen.field(first_ack, "tcp.ack"), at(2));
    assert_eq!(seen.field(first_ack, "tcp.analysis.ack_rtt"), "0.039990000");
    assert_eq!(seen.number(first_ack - 1, "tcp.analysis.bytes_in_flight"), 10 * MSS);
    for packet in 3..=seen.packets() {
        assert_eq!(seen.number(packet, "tcp.window_size"), 65_535 << 14, "packet {packet}");
        assert_eq!(seen.number(packet, "tcp.window_size_scalefactor"), 1 << 14);
    }
    assert_eq!(seen.field(duplicates[2], "tcp.options.sack_le"), at(5));
    assert_eq!(seen.field(duplicates[2], "tcp.options.sack_re"), at(8));
    assert_eq!(seen.number(duplicates[2], "frame.len"), 64);
    assert_eq!(seen.with("tcp.options.sack.dsack_le"), [d_sack]);
    assert_eq!(seen.field(d_sack, "tcp.options.sack.dsack_le"), at(11));
    assert_eq!(seen.field(d_sack, "tcp.options.sack.dsack_re"), at(12));
}

#[test]
fn marks_are_negotiated_echoed_and_answered() {
    if !can_dissect() {
        return;
    }
    let &Sender { ref seen, echo, reduced, retransmission, timeout, .. } = &*AT_THE_SENDER;
    assert_eq!(seen.whose("tcp.flags.ece", "1"), [1, 2, echo]);
    assert_eq!(seen.whose("tcp.flags.cwr", "1"), [1, reduced]);
    let data = (1..=seen.packets()).filter(|packet| seen.number(*packet, "tcp.len") > 0);
    let capable: Vec<_> =
        data.filter(|packet| ![retransmission, timeout].contains(packet)).collect();
    assert_eq!(seen.whose("ip.dsfield.ecn", "2"), capable);
    assert_eq!(seen.whose("ip.dsfield.ecn", "0").len(), seen.packets() - capable.len());
}

#[test]
fn a_receiver_sees_the_gap_the_mark_and_what_fills_the_gap() {
    if !can_dissect() {
        return;
    }
    let mut capture = Capture::new("receiver", flow(Some(7 * MSS + 100)));
    capture.open(100 * MS);
    capture.data(120 * MS, 0, Ecn::Ect1);
    capture.data(121 * MS, 1, Ecn::Ect1);
    capture.ack(121 * MS, 2, &[]);
    let after_gap = capture.data(123 * MS, 3, Ecn::Ect1);
    let mut repeated = vec![capture.ack(123 * MS, 2, &[3..4])];
    let marked = capture.data(124 * MS, 4, Ecn::Ce);
    let echo = Ack { cumulative: 2, sacked: &[3..5], ece: true, ..Ack::default() };
    repeated.push(capture.ack_with(124 * MS, echo));
    capture.data(126 * MS, 6, Ecn::Ect1);
    repeated.push(capture.ack(126 * MS, 2, &[6..7, 3..5]));
    let last = capture.data(127 * MS, 7, Ecn::Ect1);
    repeated.push(capture.ack(127 * MS, 2, &[6..8, 3..5]));
    let filled = capture.data(163 * MS, 2, Ecn::NotEct);
    capture.ack(163 * MS, 5, &[6..8]);
    let filled_later = capture.data(164 * MS, 5, Ecn::NotEct);
    let all = capture.ack(164 * MS, 8, &[]);
    let seen = capture.dissect();

    assert_checksums_hold(&seen);
    assert_eq!(seen.with("tcp.analysis.lost_segment"), [after_gap, marked + 2]);
    assert_eq!(seen.with("tcp.analysis.duplicate_ack"), repeated);
    assert_eq!(seen.with("tcp.analysis.retransmission"), [filled, filled_later]);
    assert_never(
        &seen,
        &[
            "tcp.analysis.ack_lost_segment",
            "tcp.analysis.out_of_order",
            "tcp.analysis.spurious_retransmission",
        ],
    );
    assert_eq!(seen.whose("ip.dsfield.ecn", "3"), [marked]);
    assert_eq!(seen.field(repeated[3], "tcp.options.sack_le"), [at(6), at(3)].join(","));
    assert_eq!(seen.number(last, "tcp.len"), 100);
    assert_eq!(seen.number(all, "tcp.ack"), 1 + 7 * MSS + 100);
}

#[test]
fn a_retransmission_next_to_new_data_is_not_taken_for_reordering() {
    if !can_dissect() {
        return;
    }
    let mut capture = Capture::new("beside", flow(None));
    capture.open(0);
    for segment in 0..4 {
        capture.data(100 * MS, segment, Ecn::Ect0);
    }
    capture.ack(140 * MS, 2, &[]);
    capture.data(140 * MS, 4, Ecn::Ect0);
    let retransmission = capture.data(140 * MS + US, 2, Ecn::NotEct);
    let seen = capture.dissect();
    assert_eq!(seen.with("tcp.analysis.retransmission"), [retransmission]);
    assert_never(&seen, &["tcp.analysis.out_of_order"]);
    let opened: Vec<_> = (1..=3).map(|packet| seen.field(packet, "frame.time_epoch")).collect();
    assert_eq!(opened, ["0.999999999", "1.000000000", "1.000000000"]);
}

#[test]
fn numbers_wrap_without_being_noticed() {
    if !can_dissect() {
        return;
    }
    // 3.9 GB from an initial number of 10^9.
    let mut capture = Capture::new("wrap", Flow { mss_bytes: 65_000, ..flow(None) });
    capture.open(100 * MS);
    for pair in 0..30_000 {
        let now = (101 + pair) * MS;
        capture.data(now, 2 * pair, Ecn::Ect0);
        capture.data(now, 2 * pair + 1, Ecn::Ect0);
        capture.ack(now + 500 * US, 2 * pair + 2, &[]);
    }
    let seen = capture.dissect();
    let raw = |packet| seen.number(packet, "tcp.seq_raw");
    assert!(raw(seen.packets() - 1) < raw(1), "the numbers have wrapped");
    assert_never(
        &seen,
        &[
            "tcp.analysis.retransmission",
            "tcp.analysis.out_of_order",
            "tcp.analysis.lost_segment",
            "tcp.analysis.ack_lost_segment",
            "tcp.analysis.duplicate_ack",
        ],
    );
}

#[test]
fn interfaces_and_datagrams_are_distinguished() {
    if !can_dissect() {
        return;
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("interfaces.pcapng");
    let file = File::create(&path).unwrap();
    let mut writer = Writer::new(file, "A test", &["flow 0", "flow 9999"]).unwrap();
    for (interface, flow) in [(0, 0), (1, 9_999)] {
        let packet = UdpPacket {
            source: Endpoint::sender(flow),
            destination: Endpoint::receiver(flow),
            payload_bytes: if flow == 0 { 0 } else { 1_000 },
            ecn: Ecn::NotEct,
            identification: 0,
        };
        writer.udp(1_234_567_890_123, interface, &packet).unwrap();
    }
    writer.finish().unwrap();
    let seen = Dissection::of(&path);
    assert_eq!(seen.whose("frame.interface_name", "flow 9999"), [2]);
    assert_eq!(seen.whose("frame.time_epoch", "1235.567890123"), [1, 2]);
    assert_eq!(seen.whose("_ws.col.Protocol", "UDP"), [1, 2]);
    assert_eq!(seen.whose("ip.src", "10.0.39.16"), [2]);
    assert_eq!(seen.whose("ip.checksum.status", "1"), [1, 2]);
    assert_eq!((seen.number(2, "frame.len"), seen.number(2, "udp.length")), (1028, 1008));
    assert_eq!(seen.field(1, "udp.checksum.status"), "1", "good");
    assert_eq!(seen.field(2, "udp.checksum.status"), "2", "unverified");
}
