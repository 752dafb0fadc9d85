//! Packets into a pcapng file.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

use crate::conversation::Conversation;
use crate::handshake::{CLOCK_AT_START_NS, Handshake};
use crate::packet::{HEADERS_BYTES_MAX, TcpPacket, UdpPacket};

/// Note for a file's readers.
const NOTE: &str = "Simulated. Headers only: payload is not stored, and zero for checksums. \
    The clock shows 1 s when the run begins; handshakes were not simulated.";
/// Note for the readers of a file with simulated handshakes.
const NOTE_WITH_HANDSHAKES: &str = "Simulated. Headers only: payload is not stored, and zero for \
    checksums. The clock shows 1 s when the run begins; handshakes that take 1 ns were not simulated.";

/// Resolution of times: 10^-9 s (pcapng, section 4.2, `if_tsresol`).
const NANOSECONDS: u8 = 9;

/// Writes packets into a pcapng file, headers only.
///
/// The same packets give the same bytes on any machine.
pub struct Writer<W: Write> {
    blocks: PcapNgWriter<BufWriter<W>>,
    headers: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A file with `comment` as its description, and one interface, numbered from 0, for each point
    /// at which packets are captured.
    ///
    /// # Errors
    /// If writing fails, or a text does not fit in a pcapng option.
    pub fn new(out: W, comment: &str, interfaces: &[&str]) -> io::Result<Self> {
        Self::noting(NOTE, out, comment, interfaces)
    }

    /// As [`Self::new`], for a file in which some handshakes were simulated.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_handshakes(out: W, comment: &str, interfaces: &[&str]) -> io::Result<Self> {
        Self::noting(NOTE_WITH_HANDSHAKES, out, comment, interfaces)
    }

    fn noting(note: &str, out: W, comment: &str, interfaces: &[&str]) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(text(comment)?),
                SectionHeaderOption::Comment(text(note)?),
                SectionHeaderOption::UserApplication(
                    concat!("Dumbbell ", env!("CARGO_PKG_VERSION")).into(),
                ),
            ],
            ..SectionHeaderBlock::default()
        };
        let mut blocks =
            PcapNgWriter::with_section_header(BufWriter::new(out), section).map_err(io_error)?;
        for name in interfaces {
            let interface = InterfaceDescriptionBlock {
                linktype: DataLink::IPV4,
                snaplen: HEADERS_BYTES_MAX as u32,
                options: vec![
                    InterfaceDescriptionOption::IfName(text(name)?),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            blocks.write_pcapng_block(interface).map_err(io_error)?;
        }
        Ok(Self { blocks, headers: Vec::with_capacity(HEADERS_BYTES_MAX) })
    }

    /// Write SYN, SYN/ACK and ACK of a connection, just before it begins at `start_ns`.
    ///
    /// # Errors
    /// If writing fails, or there is no such interface.
    pub fn handshake(
        &mut self,
        start_ns: u64,
        interface: u32,
        conversation: &Conversation,
    ) -> io::Result<()> {
        Handshake::ALL
            .iter()
            .try_for_each(|step| self.handshake_step(*step, start_ns, interface, conversation))
    }

    /// Write one packet of a handshake, at [`Handshake::clock_ns`].
    ///
    /// # Errors
    /// If writing fails, or there is no such interface.
    pub fn handshake_step(
        &mut self,
        step: Handshake,
        start_ns: u64,
        interface: u32,
        conversation: &Conversation,
    ) -> io::Result<()> {
        let packet = conversation.handshake(start_ns)[step as usize];
        self.headers.clear();
        let packet_bytes = packet.write_headers(&mut self.headers);
        self.packet(step.clock_ns(start_ns), interface, packet_bytes)
    }

    /// Write a TCP segment seen at an interface.
    ///
    /// # Errors
    /// If writing fails, or there is no such interface.
    ///
    /// # Panics
    /// If the options need more than 40 bytes, or the packet more than 65,535.
    pub fn tcp(&mut self, time_ns: u64, interface: u32, packet: &TcpPacket) -> io::Result<()> {
        self.headers.clear();
        let packet_bytes = packet.write_headers(&mut self.headers);
        self.packet(CLOCK_AT_START_NS + time_ns, interface, packet_bytes)
    }

    /// Write a UDP datagram seen at an interface.
    ///
    /// # Errors
    /// If writing fails, or there is no such interface.
    ///
    /// # Panics
    /// If the packet needs more than 65,535 bytes.
    pub fn udp(&mut self, time_ns: u64, interface: u32, packet: &UdpPacket) -> io::Result<()> {
        self.headers.clear();
        let packet_bytes = packet.write_headers(&mut self.headers);
        self.packet(CLOCK_AT_START_NS + time_ns, interface, packet_bytes)
    }

    /// Flush the buffer and return the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<W> {
        self.blocks.into_inner().into_inner().map_err(io::IntoInnerError::into_error)
    }

    fn packet(&mut self, clock_ns: u64, interface: u32, packet_bytes: u32) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: interface,
            // Version 2 of pcap-file writes this as ns, whatever the interface's resolution.
            timestamp: Duration::from_nanos(clock_ns),
            original_len: packet_bytes,
            data: Cow::Borrowed(&self.headers),
            options: Vec::new(),
        };
        self.blocks.write_pcapng_block(block).map_err(io_error)?;
        Ok(())
    }
}

fn text(text: &str) -> io::Result<Cow<'static, str>> {
    if text.len() > usize::from(u16::MAX) {
        let problem = format!("a text of {} bytes in a pcapng file, at most 65535", text.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    Ok(Cow::Owned(text.to_owned()))
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidInput, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, Endpoint};

    fn datagram() -> UdpPacket {
        let end = |last| Endpoint { address: [10, 0, 0, last].into(), port: 9 };
        UdpPacket {
            source: end(1),
            destination: end(2),
            payload_bytes: 1000,
            ecn: Ecn::NotEct,
            identification: 0,
        }
    }

    fn written(comment: &str) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), comment, &["left", "right"]).unwrap();
        writer.udp(0x1_0000_0002 - CLOCK_AT_START_NS, 1, &datagram()).unwrap();
        writer.finish().unwrap()
    }

    /// The blocks of a file, without type and lengths.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let mut blocks = Vec::new();
        while !file.is_empty() {
            let bytes = number(&file[4..8]) as usize;
            assert_eq!(number(&file[bytes - 4..bytes]) as usize, bytes);
            blocks.push((number(&file[..4]), &file[8..bytes - 4]));
            file = &file[bytes..];
        }
        blocks
    }

    #[test]
    fn the_bytes_are_those_of_the_pcapng_specification() {
        let file = written("why");
        let blocks = blocks(&file);
        let types: Vec<_> = blocks.iter().map(|block| block.0).collect();
        assert_eq!(types, [0x0a0d_0d0a, 1, 1, 6]);

        let section = blocks[0].1;
        assert_eq!(section[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
        assert_eq!(section[8..16], [0xff; 8], "the section's length is not known");
        assert_eq!(section[16..24], *b"\x01\0\x03\0why\0");
        assert_eq!(section[24..26], [1, 0], "another comment");
        let application = b"\x04\0\x0e\0Dumbbell 0.1.0\0\0\0\0\0\0";
        assert!(section.ends_with(application));

        let left = b"\xe4\0\0\0\x50\0\0\0\x02\0\x04\0left\x09\0\x01\0\x09\0\0\0\0\0\0\0";
        assert_eq!(blocks[1].1, left);

        let packet = blocks[3].1;
        assert_eq!(packet[..12], [1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0], "after 2^32 + 2 ns");
        assert_eq!(packet[12..20], [28, 0, 0, 0, 0x04, 0x04, 0, 0], "28 of 1028 bytes");
        assert_eq!(packet[20..22], [0x45, 0]);
        assert_eq!(packet.len(), 20 + 28);
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let mut writer = Writer::new(Vec::new(), "", &["only"]).unwrap();
        assert!(writer.udp(0, 1, &datagram()).is_err());
        let long = "x".repeat(65_536);
        assert!(Writer::new(Vec::new(), &long, &[]).is_err());
        assert!(Writer::new(Vec::new(), "", &[&long]).is_err());
    }
}
