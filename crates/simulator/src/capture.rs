//! The packets that hosts see, as files for Wireshark.
//!
//! A packet in the network has no space for all that is in its headers. The rest is kept here.
//! While the packet is in the network, its note is the capture's. A host that takes it out of the
//! network gets it back with its own note.

use dumbbell_capture as wire;
use dumbbell_capture::{CLOCK_AT_START_NS, Conversation, Handshake, Timestamps, Writer};
use dumbbell_network::{Direction, Ecn, Flags, Packet, Time};
use dumbbell_tcp::{
    Ack, ByteCounts, Ecn as EcnMode, MarkCounts, SackBlocks, opening_option_bytes, option_bytes,
};
use dumbbell_workload::{Demand, Requests, Transport};

use crate::choice::Choice;
use crate::flow::FlowState;
use crate::side_table::More;
use dumbbell_tcp::clock;

/// The first value of the ACE field, which counts modulo [`ACE_CYCLE`] (RFC 9768, section 3.2.1).
const ACE_AT_START: u32 = 5;
const ACE_CYCLE: u32 = 8;
/// Most flows that a file's comment names.
const FLOWS_NAMED: usize = 100;

/// Packets seen at both sides.
#[derive(Debug)]
pub struct Capture {
    /// Packets in the order in which the hosts processed them; the senders' side first.
    seen: [Vec<Seen>; 2],
    /// SACK blocks of acknowledgements. The first place is for packets without blocks.
    blocks: Vec<SackBlocks>,
    under_way: Vec<Waybill>,
    /// Places that are free again.
    free: Vec<u32>,
    /// The latest timestamp that each flow's sender has received.
    echoes: Vec<u32>,
    /// Marked packets that each flow's sender has received. Its own ACE fields report them.
    marked: Vec<u32>,
}

/// Side of the capture.
#[derive(Clone, Copy, Debug)]
enum Side {
    Sender,
    Receiver,
}

/// A packet that a host has seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    clock_ns: u64,
    what: What,
}

impl Seen {
    const fn flow(&self) -> u32 {
        match self.what {
            What::Handshake(_, flow) => flow,
            What::Packet(packet, _) => packet.flow(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    Handshake(Handshake, u32),
    Packet(Packet, Headers),
}

/// Contents of a packet's headers that [`Packet`] does not have.
#[derive(Clone, Copy, Debug, Default)]
struct Headers {
    timestamps: Timestamps,
    /// Place of its SACK blocks.
    blocks: u32,
    /// Its counts of marks, if marks are counted.
    marks: MarkCounts,
    /// The offered window in segments, if the application lags.
    window: Option<u32>,
}

/// Notes on a packet in the network.
#[derive(Debug)]
struct Waybill {
    headers: Headers,
    /// The packet's own note.
    note: u32,
    /// Number of packets with this place.
    packets: u32,
}

impl Capture {
    /// A capture of `flows` flows, empty.
    pub fn new(flows: usize) -> Self {
        Self {
            seen: [Vec::new(), Vec::new()],
            blocks: vec![SackBlocks::default()],
            under_way: Vec::new(),
            free: Vec::new(),
            echoes: vec![0; flows],
            marked: vec![0; flows],
        }
    }

    /// Record the handshake of a connection that begins now, without simulated packets.
    #[cold]
    pub fn begins(&mut self, now: Time, flow: usize) {
        self.echoes[flow] = clock(now);
        for seen in &mut self.seen {
            seen.extend(Handshake::ALL.map(|step| Seen {
                clock_ns: step.clock_ns(now.0),
                what: What::Handshake(step, flow as u32),
            }));
        }
    }

    /// Record data that a host sends; return the packet for the network.
    #[cold]
    pub fn sends_data(&mut self, now: Time, packet: Packet) -> Packet {
        let echo = self.echoes[packet.flow() as usize];
        let timestamps = Timestamps { value: clock(now), echo };
        let ace = (ACE_AT_START + self.marked[packet.flow() as usize]) % ACE_CYCLE;
        // The sender has received no data. These are the initial counters (RFC 9768, section
        // 3.2.1).
        let option = Some(ByteCounts { ect0: 1, ce: 0, ect1: 1, is_short: false });
        let marks = MarkCounts { ace: ace as u8, option };
        self.departs(Side::Sender, now, packet, Headers { timestamps, marks, ..Headers::default() })
    }

    /// Record an acknowledgement that a host sends; return the packet for the network.
    #[cold]
    pub fn sends_ack(
        &mut self,
        now: Time,
        packet: Packet,
        ack: Ack,
        blocks: &SackBlocks,
        more: More,
    ) -> Packet {
        let mut place = 0;
        if ack.has_blocks {
            place = u32::try_from(self.blocks.len()).expect("so many SACK options");
            self.blocks.push(blocks.clone());
        }
        let timestamps = Timestamps { value: clock(now), echo: ack.echo };
        let marks = more.marks.unwrap_or_default();
        let window = more.window.map(|segs| segs as u32);
        let headers = Headers { timestamps, blocks: place, marks, window };
        self.departs(Side::Receiver, now, packet, headers)
    }

    /// Record a handshake packet that a host sends, and return the packet for the network. `ace` is
    /// its ACE field if marks are counted.
    #[cold]
    pub fn sends_step(&mut self, now: Time, packet: Packet, ace: u8) -> Packet {
        let (side, echo) = match packet.direction() {
            Direction::Forward => (Side::Sender, self.echoes[packet.flow() as usize]),
            Direction::Reverse => (Side::Receiver, packet.number() as u32),
        };
        let timestamps = Timestamps { value: clock(now), echo };
        let option = Some(ByteCounts { ect0: 1, ce: 0, ect1: 1, is_short: false });
        let marks = MarkCounts { ace, option };
        self.departs(side, now, packet, Headers { timestamps, marks, ..Headers::default() })
    }

    /// Record a packet that reaches its host; return it as it was sent.
    #[cold]
    pub fn arrives(&mut self, now: Time, packet: Packet) -> Packet {
        let (packet, headers) = self.leaves(packet);
        let side = match packet.direction() {
            Direction::Forward => Side::Receiver,
            Direction::Reverse => {
                let echoes = &mut self.echoes[packet.flow() as usize];
                // Reordered acknowledgements must not set the echo back (RFC 7323, section 4.3).
                let is_newer = headers.timestamps.value.wrapping_sub(*echoes) as i32 >= 0;
                *echoes = if is_newer { headers.timestamps.value } else { *echoes };
                self.marked[packet.flow() as usize] += u32::from(packet.ecn() == Ecn::Ce);
                Side::Sender
            }
        };
        self.sees(side, now, packet, headers);
        packet
    }

    /// Forget a lost packet; return it as it was sent.
    #[cold]
    pub fn loses(&mut self, packet: Packet) -> Packet {
        self.leaves(packet).0
    }

    /// Note a duplicate of a packet; return it as it was sent.
    #[cold]
    pub fn doubles(&mut self, packet: Packet) -> Packet {
        let waybill = self.waybill_of(packet);
        waybill.packets += 1;
        packet.renoted(waybill.note)
    }

    /// Compare the blocks of the latest acknowledgement, as the sender reads them, with those sent.
    ///
    /// # Panics
    /// If the blocks differ.
    #[cold]
    pub fn assert_sent_with(&self, packet: Packet, blocks: &SackBlocks) {
        let latest = self.seen[Side::Sender as usize].last();
        let Some(Seen { what: What::Packet(_, headers), .. }) = latest else {
            unreachable!("{packet:?} has just been seen")
        };
        let sent = &self.blocks[headers.blocks as usize];
        assert_eq!(sent, blocks, "{packet:?} was sent with the former, not with the latter");
    }

    /// The files of both sides, the senders' first.
    pub fn finish(mut self, flows: &[FlowState]) -> [Vec<u8>; 2] {
        let conversations: Vec<_> = (0..).zip(flows).map(conversation).collect();
        let mut choices = flows.iter().filter_map(|flow| flow.choice.as_ref());
        let opens = choices.any(|choice| choice.stack.handshake);
        let mut files = ["senders", "receivers"].into_iter().zip(std::mem::take(&mut self.seen));
        std::array::from_fn(|_| {
            let (name, mut seen) = files.next().expect("two sides");
            // Hosts ran ahead of each other. The sort is stable: packets of one host at the same
            // time keep their order.
            seen.sort_by_key(|seen| (seen.clock_ns, seen.flow()));
            let comment = comment(flows);
            let begin = if opens { Writer::with_handshakes } else { Writer::new };
            let mut writer = begin(Vec::new(), &comment, &[name]).expect("short texts");
            for seen in seen {
                self.write(&mut writer, seen, flows, &conversations).expect("memory takes it");
            }
            writer.finish().expect("memory takes it")
        })
    }

    fn departs(&mut self, side: Side, now: Time, packet: Packet, headers: Headers) -> Packet {
        self.sees(side, now, packet, headers);
        let waybill = Waybill { headers, note: packet.note(), packets: 1 };
        let place = if let Some(place) = self.free.pop() {
            self.under_way[place as usize] = waybill;
            place
        } else {
            self.under_way.push(waybill);
            self.under_way.len() as u32 - 1
        };
        assert!(place < Packet::NOTES, "too many packets under way for a capture");
        packet.renoted(place)
    }

    fn leaves(&mut self, packet: Packet) -> (Packet, Headers) {
        let waybill = self.waybill_of(packet);
        waybill.packets -= 1;
        let (note, headers, is_last) = (waybill.note, waybill.headers, waybill.packets == 0);
        if is_last {
            self.free.push(packet.note());
        }
        (packet.renoted(note), headers)
    }

    /// Notes on a packet in the network.
    fn waybill_of(&mut self, packet: Packet) -> &mut Waybill {
        let waybill = &mut self.under_way[packet.note() as usize];
        assert!(waybill.packets > 0, "nothing is kept for {packet:?}");
        waybill
    }

    fn sees(&mut self, side: Side, now: Time, packet: Packet, headers: Headers) {
        let clock_ns = CLOCK_AT_START_NS + now.0;
        self.seen[side as usize].push(Seen { clock_ns, what: What::Packet(packet, headers) });
    }

    fn write(
        &self,
        writer: &mut Writer<Vec<u8>>,
        Seen { clock_ns, what }: Seen,
        flows: &[FlowState],
        conversations: &[Option<Conversation>],
    ) -> std::io::Result<()> {
        let tcp = |flow: u32| conversations[flow as usize].as_ref();
        match what {
            What::Handshake(step, flow) => {
                let conversation = tcp(flow).expect("a connection is TCP");
                let start_ns = flows[flow as usize].spec.start_ns.0;
                writer.handshake_step(step, start_ns, 0, conversation)
            }
            What::Packet(packet, headers) => {
                let time_ns = clock_ns - CLOCK_AT_START_NS;
                let header_bytes = flows[packet.flow() as usize].spec.header_bytes;
                match tcp(packet.flow()) {
                    Some(conversation) => {
                        let mut segment = self.segment(conversation, packet, headers);
                        if let Some(choice) = &flows[packet.flow() as usize].choice {
                            say_marks(&mut segment, packet, headers.marks, choice);
                        }
                        if packet.bytes() == header_bytes {
                            // A probe of a closed window has only headers: its number is already
                            // acknowledged.
                            segment.payload_bytes = 0;
                        }
                        writer.tcp(time_ns, 0, &segment)
                    }
                    None => writer.udp(time_ns, 0, &datagram(packet, header_bytes)),
                }
            }
        }
    }

    fn segment(
        &self,
        conversation: &Conversation,
        packet: Packet,
        Headers { timestamps, blocks, window, .. }: Headers,
    ) -> wire::TcpPacket {
        if packet.has(Flags::OPENS) {
            let step = Handshake::ALL[packet.note() as usize];
            return conversation.opening(step, ecn(packet), timestamps);
        }
        match packet.direction() {
            Direction::Forward => conversation.data(&wire::Data {
                segment: packet.number(),
                ecn: ecn(packet),
                cwr: packet.has(Flags::CWR),
                pushed: packet.has(Flags::PSH),
                timestamps,
            }),
            Direction::Reverse => {
                let blocks = &self.blocks[blocks as usize];
                conversation.ack(&wire::Ack {
                    cumulative: packet.number(),
                    duplicate: blocks.duplicate(),
                    sacked: blocks.as_slice(),
                    ece: packet.has(Flags::ECE),
                    window_segs: window.map(u64::from),
                    timestamps,
                })
            }
        }
    }
}

/// Write the counts of marks into a header, if marks are counted.
fn say_marks(segment: &mut wire::TcpPacket, packet: Packet, marks: MarkCounts, choice: &Choice) {
    let stack = &choice.stack;
    if !stack.accecn {
        return;
    }
    let opens = packet.has(Flags::OPENS);
    if opens && packet.note() == Handshake::Syn as u32 {
        // The SYN requests Accurate ECN.
        segment.flags.set_ace(0b111);
        return;
    }
    segment.flags.set_ace(marks.ace);
    let has_option = match (opens, packet.direction()) {
        (true, _) => opening_option_bytes(stack) > 0,
        (false, Direction::Forward) => option_bytes(stack) > 0,
        (false, Direction::Reverse) => true,
    };
    segment.accecn = marks.option.filter(|_| has_option).map(|bytes| wire::AccEcn {
        ect1_first: stack.ecn == EcnMode::L4s,
        ect0_bytes: bytes.ect0,
        ce_bytes: bytes.ce,
        ect1_bytes: bytes.ect1,
        is_short: bytes.is_short,
    });
}

fn conversation((index, flow): (u32, &FlowState)) -> Option<Conversation> {
    let Transport::Tcp(tcp) = &flow.spec.transport else { return None };
    let stack = &flow.choice.as_ref()?.stack;
    let message_bytes = match tcp.demand {
        Demand::Transfer(bytes) | Demand::Requests(Requests { bytes, .. }) => Some(bytes),
        Demand::Endless | Demand::OnOff(_) | Demand::AppLimited { .. } => None,
    };
    let largest_bytes = stack.receive_buffer_bytes.max(stack.receive_buffer_max_bytes);
    Some(Conversation::new(wire::Flow {
        index,
        mss_bytes: flow.spec.mss_bytes() as u16,
        message_bytes,
        timestamps: stack.timestamps,
        sack: stack.sack,
        ecn: stack.ecn != EcnMode::Off,
        accecn: stack.accecn.then(|| option_bytes(stack)),
        window_max_bytes: tcp.reading.is_some().then_some(largest_bytes),
    }))
}

fn datagram(packet: Packet, header_bytes: u16) -> wire::UdpPacket {
    wire::UdpPacket {
        source: wire::Endpoint::sender(packet.flow()),
        destination: wire::Endpoint::receiver(packet.flow()),
        payload_bytes: packet.bytes() - header_bytes,
        ecn: ecn(packet),
        identification: packet.number() as u16,
    }
}

const fn ecn(packet: Packet) -> wire::Ecn {
    match packet.ecn() {
        Ecn::NotEct => wire::Ecn::NotEct,
        Ecn::Ect0 => wire::Ecn::Ect0,
        Ecn::Ect1 => wire::Ecn::Ect1,
        Ecn::Ce => wire::Ecn::Ce,
    }
}

/// Address of each flow, as a text.
fn comment(flows: &[FlowState]) -> String {
    let named = (0..).zip(flows).take(FLOWS_NAMED).map(|(index, flow)| {
        let (from, to) = (wire::Endpoint::sender(index), wire::Endpoint::receiver(index));
        let label: String = flow.spec.label.chars().take(100).collect();
        format!("{} > {}: {label}", from.address, to.address)
    });
    let more = flows.len().saturating_sub(FLOWS_NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    named.chain(more).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_and_hosts_count_the_same_ticks() {
        for time_ns in [0, 999_999, 1_000_000, 5_000_000_000, 1 << 52] {
            assert_eq!(Timestamps::clock(time_ns), clock(Time(time_ns)));
        }
    }

    #[test]
    fn packets_come_back_as_they_were_in_any_order_and_number() {
        let mut capture = Capture::new(1);
        let sent = [3, 1, 4].map(|number| {
            Packet::new(0, Direction::Forward, 1500, number).with_note(77 + number as u32)
        });
        let under_way = sent.map(|packet| capture.sends_data(Time(5), packet));
        assert_eq!(capture.doubles(under_way[1]), sent[1]);
        assert_eq!(capture.arrives(Time(9), under_way[1].with_ecn(Ecn::Ce)).ecn(), Ecn::Ce);
        assert_eq!(capture.loses(under_way[2]), sent[2]);
        assert_eq!(capture.arrives(Time(9), under_way[1]), sent[1]);
        assert_eq!(capture.arrives(Time(10), under_way[0]), sent[0]);
        assert_eq!(capture.seen.each_ref().map(Vec::len), [3, 3]);
        capture.sends_data(Time(11), sent[0]);
        assert_eq!(capture.under_way.len(), 3, "places are used again");
    }
}
