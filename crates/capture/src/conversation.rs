//! A simulated flow, which counts segments, in the numbers of the wire.

use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::ops::Range;

use crate::handshake::Handshake;
use crate::packet::{Ecn, Endpoint, TcpFlags, TcpPacket, Timestamps};

/// Flows with distinct addresses.
pub const FLOWS_MAX: u32 = (1 << 23) - 2;

/// Senders have 10.0.0.0/9, receivers the other half.
const SENDERS: u32 = 10 << 24;
const RECEIVERS: u32 = SENDERS | 1 << 23;

/// The first port of the dynamic range.
const SENDER_PORT: u16 = 49_152;
/// The customary port of bulk traffic (iperf). Wireshark has no dissector for it.
const RECEIVER_PORT: u16 = 5_001;

/// First sequence number of both sides. With zero, raw numbers would be those that Wireshark shows,
/// but its analysis takes a zero for an unknown number.
const INITIAL_SEQUENCE: u32 = 1_000_000_000;

/// Largest scale of windows (RFC 7323, section 2.3).
const SCALE_MAX: u8 = 14;
/// The largest window: with that scale it is 1 GiB.
const WINDOW: u16 = u16::MAX;

/// Bytes of the timestamps option, padded: part of what the MSS option counts as payload
/// (RFC 6691).
const TIMESTAMPS_BYTES: u16 = 12;

impl Endpoint {
    /// The sending end of a flow: flow 0 sends from 10.0.0.1, flow 255 from 10.0.1.0.
    ///
    /// # Panics
    /// If there are more than [`FLOWS_MAX`] flows.
    #[must_use]
    pub fn sender(flow: u32) -> Self {
        Self { address: address(SENDERS, flow), port: SENDER_PORT }
    }

    /// The receiving end of a flow: that of flow 0 is 10.128.0.1.
    ///
    /// # Panics
    /// If there are more than [`FLOWS_MAX`] flows.
    #[must_use]
    pub fn receiver(flow: u32) -> Self {
        Self { address: address(RECEIVERS, flow), port: RECEIVER_PORT }
    }
}

fn address(side: u32, flow: u32) -> Ipv4Addr {
    assert!(flow < FLOWS_MAX, "flow {flow} has no address, only {FLOWS_MAX} have");
    Ipv4Addr::from_bits(side | (flow + 1))
}

/// Constants of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its index, which determines its addresses.
    pub index: u32,
    /// Payload of a full segment in bytes.
    pub mss_bytes: u16,
    /// Payload of each message in bytes (a transfer is a single message). The last segment of a
    /// message may be short. None: without end.
    pub message_bytes: Option<NonZeroU64>,
    /// True if it negotiates timestamps.
    pub timestamps: bool,
    /// True if it negotiates SACK.
    pub sack: bool,
    /// True if it negotiates ECN.
    pub ecn: bool,
    /// Bytes of the AccECN option in each segment (RFC 9768); none: no Accurate ECN.
    pub accecn: Option<u16>,
    /// Largest window that its receiver offers, in bytes. None: windows are not simulated, and
    /// packets show one of 1 GiB.
    pub window_max_bytes: Option<u64>,
}

/// A data segment of the simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Its number. A retransmission has the number of the original.
    pub segment: u64,
    /// The ECN bits as they are at the point of capture.
    pub ecn: Ecn,
    /// The sender reduced its window (RFC 3168).
    pub cwr: bool,
    /// The receiver need not wait for more data (PSH).
    pub pushed: bool,
    /// Timestamps.
    pub timestamps: Timestamps,
}

/// An acknowledgement of the simulator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack<'a> {
    /// All segments below this one have arrived.
    pub cumulative: u64,
    /// A duplicate that has arrived: the D-SACK block, which goes first (RFC 2883).
    pub duplicate: Option<Range<u64>>,
    /// Other data that has arrived, in the order of the blocks.
    pub sacked: &'a [Range<u64>],
    /// The receiver echoes a CE mark.
    pub ece: bool,
    /// The offered window, in segments; none: the largest.
    pub window_segs: Option<u64>,
    /// Timestamps.
    pub timestamps: Timestamps,
}

/// The packets of one simulated flow as they would be on the wire.
///
/// It holds no state: the same packet may be built at several points of capture, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Conversation {
    flow: Flow,
    sender: Endpoint,
    receiver: Endpoint,
}

impl Conversation {
    /// The conversation of a flow.
    ///
    /// # Panics
    /// If the flow's index is not below [`FLOWS_MAX`].
    #[must_use]
    pub fn new(flow: Flow) -> Self {
        let (sender, receiver) = (Endpoint::sender(flow.index), Endpoint::receiver(flow.index));
        Self { flow, sender, receiver }
    }

    /// Build SYN, SYN/ACK and ACK of a connection that begins at `start_ns`.
    pub(crate) fn handshake(&self, start_ns: u64) -> [TcpPacket; 3] {
        let value = Timestamps::clock(start_ns);
        Handshake::ALL.map(|step| {
            let echo = if step == Handshake::Syn { 0 } else { value };
            self.opening(step, Ecn::NotEct, Timestamps { value, echo })
        })
    }

    /// Build a packet of the handshake.
    #[must_use]
    pub fn opening(&self, step: Handshake, marks: Ecn, timestamps: Timestamps) -> TcpPacket {
        let ack = TcpPacket { ecn: marks, ..self.forward(0, timestamps) };
        let ecn = self.flow.ecn;
        let timestamps_bytes = if self.flow.timestamps { TIMESTAMPS_BYTES } else { 0 };
        let option_bytes = timestamps_bytes + self.flow.accecn.unwrap_or(0);
        let syn = TcpPacket {
            sequence: INITIAL_SEQUENCE,
            acknowledgement: 0,
            flags: TcpFlags { syn: true, ece: ecn, cwr: ecn, ..TcpFlags::default() },
            max_segment_bytes: Some(self.flow.mss_bytes.saturating_add(option_bytes)),
            sack_permitted: self.flow.sack,
            window_scale: Some(SCALE_MAX),
            ..ack
        };
        let mut packet = match step {
            Handshake::Syn => syn,
            Handshake::SynAck => TcpPacket {
                source: syn.destination,
                destination: syn.source,
                acknowledgement: self.sequence(0),
                flags: TcpFlags { syn: true, ack: true, ece: ecn, ..TcpFlags::default() },
                window_scale: Some(self.scale()),
                ..syn
            },
            Handshake::Ack => ack,
        };
        if self.flow.accecn.is_some() {
            // The ACE field of an answer reports the ECN bits of the packet that it answers: here
            // Not-ECT (RFC 9768, section 3).
            packet.flags.set_ace(if step == Handshake::Syn { 0b111 } else { 0b010 });
        }
        packet
    }

    /// Build a data segment.
    #[must_use]
    pub fn data(&self, data: &Data) -> TcpPacket {
        let (from, to) = (self.offset(data.segment), self.offset(data.segment + 1));
        TcpPacket {
            flags: TcpFlags { ack: true, psh: data.pushed, cwr: data.cwr, ..TcpFlags::default() },
            payload_bytes: (to - from) as u16,
            ecn: data.ecn,
            ..self.forward(data.segment, data.timestamps)
        }
    }

    /// Build an acknowledgement.
    ///
    /// # Panics
    /// If it has more SACK blocks than fit: three with timestamps, else four.
    #[must_use]
    pub fn ack(&self, ack: &Ack) -> TcpPacket {
        let mut sack_blocks = [None; 4];
        let room = if self.flow.timestamps { 3 } else { 4 };
        for (index, block) in ack.duplicate.iter().chain(ack.sacked).enumerate() {
            assert!(index < room, "{ack:?} has more than the {room} SACK blocks that fit");
            sack_blocks[index] = Some((self.sequence(block.start), self.sequence(block.end)));
        }
        TcpPacket {
            source: self.receiver,
            destination: self.sender,
            sequence: INITIAL_SEQUENCE.wrapping_add(1),
            acknowledgement: self.sequence(ack.cumulative),
            flags: TcpFlags { ack: true, ece: ack.ece, ..TcpFlags::default() },
            window: ack.window_segs.map_or(WINDOW, |segs| self.window(segs)),
            sack_blocks,
            ..self.forward(ack.cumulative, ack.timestamps)
        }
    }

    /// The header's field for a window of `segs` segments.
    fn window(&self, segs: u64) -> u16 {
        let bytes = segs.saturating_mul(self.flow.mss_bytes.into());
        (bytes >> self.scale()).try_into().unwrap_or(WINDOW)
    }

    /// The smallest scale with which the receiver can offer its largest window.
    fn scale(&self) -> u8 {
        let most = self.flow.window_max_bytes.unwrap_or(u64::MAX);
        (0..SCALE_MAX).find(|scale| most >> scale <= WINDOW.into()).unwrap_or(SCALE_MAX)
    }

    /// Build a packet from the sender without payload, options or marks.
    fn forward(&self, segment: u64, timestamps: Timestamps) -> TcpPacket {
        TcpPacket {
            source: self.sender,
            destination: self.receiver,
            sequence: self.sequence(segment),
            acknowledgement: INITIAL_SEQUENCE.wrapping_add(1),
            flags: TcpFlags { ack: true, ..TcpFlags::default() },
            window: WINDOW,
            max_segment_bytes: None,
            sack_permitted: false,
            window_scale: None,
            timestamps: self.flow.timestamps.then_some(timestamps),
            sack_blocks: [None; 4],
            accecn: None,
            payload_bytes: 0,
            ecn: Ecn::NotEct,
            identification: identification(segment, timestamps),
        }
    }

    /// Offset in bytes of a segment in the stream.
    fn offset(&self, segment: u64) -> u64 {
        let mss_bytes = u64::from(self.flow.mss_bytes);
        let Some(message) = self.flow.message_bytes else { return segment * mss_bytes };
        let segs = message.get().div_ceil(mss_bytes);
        segment / segs * message.get() + segment % segs * mss_bytes
    }

    /// Sequence number at which a segment begins.
    fn sequence(&self, segment: u64) -> u32 {
        INITIAL_SEQUENCE.wrapping_add(1).wrapping_add(self.offset(segment) as u32)
    }
}

/// Identify a packet at every point of capture: segments differ by their number, and a
/// retransmission from the original by the time that has passed. Any value is allowed, as these
/// packets are never fragmented (RFC 6864, section 4.1).
const fn identification(segment: u64, timestamps: Timestamps) -> u16 {
    (segment as u16).wrapping_add(timestamps.value as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn conversation(message_bytes: Option<u64>) -> Conversation {
        let message_bytes = message_bytes.and_then(NonZeroU64::new);
        Conversation::new(Flow {
            index: 3,
            mss_bytes: 1448,
            message_bytes,
            timestamps: true,
            sack: true,
            ecn: true,
            accecn: None,
            window_max_bytes: None,
        })
    }

    #[test]
    fn flows_have_addresses_of_their_own() {
        let text = |end: Endpoint| format!("{}:{}", end.address, end.port);
        assert_eq!(text(Endpoint::sender(0)), "10.0.0.1:49152");
        assert_eq!(text(Endpoint::receiver(0)), "10.128.0.1:5001");
        assert_eq!(text(Endpoint::sender(255)), "10.0.1.0:49152");
        assert_eq!(text(Endpoint::receiver(FLOWS_MAX - 1)), "10.255.255.254:5001");
        let addresses: BTreeSet<_> = (0..10_000)
            .flat_map(|flow| [Endpoint::sender(flow).address, Endpoint::receiver(flow).address])
            .collect();
        assert_eq!(addresses.len(), 20_000);
    }

    #[test]
    fn the_handshake_negotiates_what_the_flow_uses() {
        let [syn, syn_ack, ack] = conversation(None).handshake(5_000_000);
        assert_eq!((syn.max_segment_bytes, syn.window_scale), (Some(1460), Some(14)));
        assert!(syn.sack_permitted && syn_ack.sack_permitted && !ack.sack_permitted);
        let flags = |packet: TcpPacket| (packet.flags.syn, packet.flags.ece, packet.flags.cwr);
        assert_eq!(flags(syn), (true, true, true));
        assert_eq!(flags(syn_ack), (true, true, false));
        assert_eq!(flags(ack), (false, false, false));
        assert_eq!(syn.timestamps, Some(Timestamps { value: 5, echo: 0 }));
        assert_eq!(syn_ack.timestamps, Some(Timestamps { value: 5, echo: 5 }));
        assert_eq!((syn.sequence, syn.acknowledgement), (INITIAL_SEQUENCE, 0));
        assert_eq!(syn_ack.acknowledgement, INITIAL_SEQUENCE + 1);
        assert_eq!(ack.sequence, INITIAL_SEQUENCE + 1);
        let plain = Conversation::new(Flow { ecn: false, ..conversation(None).flow });
        assert!(plain.handshake(0).iter().all(|packet| !packet.flags.ece && !packet.flags.cwr));
    }

    #[test]
    fn accurate_ecn_is_requested_with_three_flags() {
        let counts = Conversation::new(Flow { accecn: Some(12), ..conversation(None).flow });
        let [syn, syn_ack, ack] = counts.handshake(0);
        let ace = |packet: TcpPacket| (packet.flags.ae, packet.flags.cwr, packet.flags.ece);
        assert_eq!(ace(syn), (true, true, true));
        assert_eq!([ace(syn_ack), ace(ack)], [(false, true, false); 2]);
        assert_eq!(syn.max_segment_bytes, Some(1472));
    }

    #[test]
    fn the_last_segment_of_a_message_is_short() {
        let messages = conversation(Some(3000));
        let data = |segment| messages.data(&Data { segment, ..Data::default() });
        for first in [0, 3] {
            assert_eq!([0, 1, 2].map(|next| data(first + next).payload_bytes), [1448, 1448, 104]);
        }
        for (cumulative, bytes) in [(2, 2896), (3, 3000), (4, 4448), (6, 6000)] {
            let ack = messages.ack(&Ack { cumulative, ..Ack::default() });
            assert_eq!(ack.acknowledgement, INITIAL_SEQUENCE + 1 + bytes);
        }
    }

    #[test]
    fn pushed_segments_have_psh() {
        for pushed in [false, true] {
            let data = conversation(None).data(&Data { pushed, ..Data::default() });
            assert_eq!(data.flags.psh, pushed);
        }
    }

    #[test]
    fn a_flow_without_timestamps_has_room_for_four_blocks() {
        let flow = Flow { timestamps: false, sack: false, ..conversation(None).flow };
        let bare = Conversation::new(flow);
        let [syn, syn_ack, _] = bare.handshake(0);
        assert_eq!((syn.timestamps, syn_ack.timestamps), (None, None));
        assert_eq!((syn.max_segment_bytes, syn.sack_permitted), (Some(1448), false));
        assert_eq!(bare.data(&Data::default()).timestamps, None);
        let sacked = [12..13, 14..15, 16..17, 18..19];
        let ack = bare.ack(&Ack { sacked: &sacked, ..Ack::default() });
        assert_eq!((ack.timestamps, ack.sack_blocks.iter().flatten().count()), (None, 4));
    }

    #[test]
    fn windows_are_scaled_as_the_largest_needs() {
        let offered = |window_max_bytes, segs| {
            let flow = Flow { window_max_bytes, ..conversation(None).flow };
            let reads = Conversation::new(flow);
            let [syn, syn_ack, _] = reads.handshake(0);
            let ack = reads.ack(&Ack { window_segs: segs, ..Ack::default() });
            assert_eq!(syn.window_scale, Some(14), "the sender's own windows are not simulated");
            (syn_ack.window_scale.unwrap(), ack.window)
        };
        assert_eq!(offered(None, None), (14, 65_535));
        assert_eq!(offered(Some(65_535), Some(45)), (0, 65_160));
        assert_eq!(offered(Some(6 << 20), Some(100)), (7, 1_131));
        assert_eq!(offered(Some(6 << 20), Some(0)), (7, 0));
        assert_eq!(offered(Some(6 << 20), None), (7, 65_535));
        assert_eq!(offered(Some(1 << 40), Some(1 << 30)), (14, 65_535));
    }

    #[test]
    fn sequence_numbers_wrap() {
        let data = conversation(None).data(&Data { segment: 10_000_000, ..Data::default() });
        assert_eq!(u64::from(data.sequence), (1_000_000_001 + 14_480_000_000) % (1 << 32));
    }

    #[test]
    fn a_d_sack_goes_before_the_other_blocks() {
        let ack = conversation(None).ack(&Ack {
            cumulative: 10,
            duplicate: Some(4..5),
            sacked: &[12..14, 16..17],
            ..Ack::default()
        });
        let at = |segment: u32| INITIAL_SEQUENCE + 1 + segment * 1448;
        let blocks = [(4, 5), (12, 14), (16, 17)].map(|(from, to)| Some((at(from), at(to))));
        assert_eq!(ack.sack_blocks[..3], blocks);
        assert_eq!(ack.sack_blocks[3], None);
        assert_eq!(ack.source, Endpoint::receiver(3));
    }

    #[test]
    fn a_packet_is_the_same_wherever_it_is_captured_and_a_retransmission_another() {
        let sent = |value| {
            let timestamps = Timestamps { value, echo: 0 };
            conversation(None).data(&Data { segment: 9, timestamps, ..Data::default() })
        };
        assert_eq!(sent(100), sent(100));
        assert_ne!(sent(100).identification, sent(180).identification);
    }
}
