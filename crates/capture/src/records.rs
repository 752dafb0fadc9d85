//! Frames in: the records of a pcap or pcapng file, of any tool.

use std::io::{self, Cursor, Read};

use pcap_parser::pcapng::OptionCode;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    Block, InterfaceDescriptionBlock, PcapBlockOwned, PcapError, PcapHeader, create_reader,
};

/// The first bytes of a pcapng file.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The first bytes of a pcap file with times in micro- and in nanoseconds, in either order.
const PCAP: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];
/// The first bytes of a pcap file of an old kernel's tools, whose records have longer headers.
const PCAP_MODIFIED: [u8; 4] = [0x34, 0xcd, 0xb2, 0xa1];

const NS_PER_S: u128 = 1_000_000_000;
const BUFFER_BYTES: usize = 1 << 18;
/// Longest record. Wireshark reads 256 KiB of a packet, and no tool writes longer records than
/// this.
const RECORD_BYTES_MAX: usize = 1 << 24;
/// Records between two checks for cancellation.
const PATIENCE: u32 = 4096;

/// Reason why a capture is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is another kind of file.
    #[error("neither a pcap nor a pcapng file")]
    Format,
    /// A record does not follow the format.
    #[error("damaged: {0}")]
    Damaged(String),
    /// There are more connections than this limit.
    #[error("more than {0} connections")]
    Connections(usize),
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
}

/// A captured frame.
pub(crate) struct Frame<'a> {
    /// The link type, as registered for pcap files.
    pub link: u32,
    pub time_ns: u64,
    pub captured: &'a [u8],
    /// Bytes of the packet that were not captured.
    pub cut_bytes: u32,
}

impl Frame<'_> {
    /// True for the zeros at the end of a file whose machine crashed.
    fn is_nothing(&self) -> bool {
        self.captured.is_empty() && self.cut_bytes == 0
    }
}

/// Return true if a file that begins so is a capture.
#[must_use]
pub fn is_capture(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|first| {
        let is_pcap = |number: u32| PCAP.contains(&number);
        [SECTION_HEADER, PCAP_MODIFIED].contains(first)
            || is_pcap(u32::from_le_bytes(*first))
            || is_pcap(u32::from_be_bytes(*first))
    })
}

/// Call `see` for every frame, in the order of the file. Return true if the file ends within a
/// record or in zeros, as it does if the capturing process was killed.
pub(crate) fn read(
    mut file: impl Read + Send,
    may_continue: impl Fn() -> bool,
    see: &mut impl FnMut(&Frame) -> Result<(), ReadError>,
) -> Result<bool, ReadError> {
    let mut first = [0; 4];
    file.read_exact(&mut first).map_err(|_| ReadError::Format)?;
    if !is_capture(&first) {
        return Err(ReadError::Format);
    }
    let whole = Whole(Cursor::new(first).chain(file));
    let mut reader = create_reader(BUFFER_BYTES, whole)
        .map_err(|_| ReadError::Damaged("no whole header at its beginning".into()))?;
    let mut file = Format::default();
    let (mut place, mut size, mut patience) = (0, BUFFER_BYTES, PATIENCE);
    loop {
        match reader.next() {
            Ok((bytes, block)) => {
                if let Some(frame) = file.frame(&block)? {
                    if frame.is_nothing() {
                        return Ok(true);
                    }
                    see(&frame)?;
                }
                place += bytes;
                reader.consume(bytes);
                patience -= 1;
                if patience == 0 {
                    if !may_continue() {
                        return Err(ReadError::Cancelled);
                    }
                    patience = PATIENCE;
                }
                continue;
            }
            Err(PcapError::Eof) => return Ok(false),
            Err(PcapError::UnexpectedEof) => return Ok(true),
            Err(PcapError::Incomplete(_)) => {
                let before = reader.data().len();
                reader.refill().map_err(|error| damaged(&error, place))?;
                if reader.data().len() > before || reader.reader_exhausted() {
                    continue;
                }
            }
            Err(PcapError::BufferTooSmall) => {}
            Err(error) => return Err(damaged(&error, place)),
        }
        size *= 2;
        if size > RECORD_BYTES_MAX || !reader.grow(size) {
            return Err(ReadError::Damaged(format!("an impossible length at byte {place}")));
        }
    }
}

/// Fills each buffer as far as the file goes: the library takes a short read for the file's end.
struct Whole<R>(R);

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..])? {
                0 => break,
                bytes => filled += bytes,
            }
        }
        Ok(filled)
    }
}

fn damaged(error: &PcapError<&[u8]>, place: usize) -> ReadError {
    // The library's message contains all bytes that follow.
    let problem = match error {
        PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind) => {
            format!("no record of the format ({})", kind.description())
        }
        other => other.to_string(),
    };
    ReadError::Damaged(format!("{problem} at byte {place}"))
}

/// Properties of the frames, from the blocks read so far.
#[derive(Default)]
struct Format {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
}

/// Link type and clock of the frames that follow.
#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// Ticks in a second; none: the clock is too coarse to measure anything.
    ticks_per_s: Option<u128>,
    offset_s: i64,
}

impl Format {
    fn frame<'a>(&mut self, block: &'a PcapBlockOwned) -> Result<Option<Frame<'a>>, ReadError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.interfaces = vec![Interface::of_file(header)];
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface = self.interface(0)?;
                let ticks_per_s = interface.ticks_per_s.unwrap_or(NS_PER_S);
                // Some tools write fractions of more than a second.
                let ticks = u128::from(packet.ts_sec) * ticks_per_s + u128::from(packet.ts_usec);
                return Ok(Some(interface.frame(ticks, packet.data, packet.origlen)));
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.is_big_endian = section.big_endian();
                self.interfaces.clear();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                self.interfaces.push(Interface::of_block(interface, self.is_big_endian));
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let interface = self.interface(packet.if_id)?;
                return Ok(Some(interface.frame(ticks, packet.packet_data(), packet.origlen)));
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => {
                return Err(ReadError::Damaged("packets without a time (simple packets)".into()));
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(None)
    }

    fn interface(&self, number: u32) -> Result<Interface, ReadError> {
        let interface = self.interfaces.get(number as usize).copied();
        interface.ok_or_else(|| ReadError::Damaged(format!("a packet of no interface ({number})")))
    }
}

impl Interface {
    fn of_file(header: &PcapHeader) -> Self {
        let ticks_per_s = if header.is_nanosecond_precision() { NS_PER_S } else { 1_000_000 };
        // The upper bits describe checksums behind frames.
        let link = header.network.0 as u32 & 0xffff;
        Self { link, ticks_per_s: Some(ticks_per_s), offset_s: 0 }
    }

    /// Ticks are 10^-n s, or 2^-n s with the highest bit (pcapng, section 4.2, `if_tsresol`).
    fn of_block(block: &InterfaceDescriptionBlock, is_big_endian: bool) -> Self {
        let digits = u32::from(block.if_tsresol & 0x7f);
        let ticks_per_s = if block.if_tsresol & 0x80 == 0 {
            10u128.checked_pow(digits)
        } else {
            1u128.checked_shl(digits)
        };
        let offset = block.options.iter().find(|option| option.code == OptionCode::IfTsoffset);
        let offset = offset.and_then(|option| option.value().first_chunk().copied());
        let from_bytes = if is_big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
        let link = block.linktype.0 as u32 & 0xffff;
        Self { link, ticks_per_s, offset_s: offset.map_or(0, from_bytes) }
    }

    fn frame(self, ticks: u128, captured: &[u8], original_bytes: u32) -> Frame<'_> {
        let of_clock = self.ticks_per_s.map_or(0, |per_s| ticks.saturating_mul(NS_PER_S) / per_s);
        let offset_ns = i128::from(self.offset_s) * NS_PER_S as i128;
        let time_ns = i128::try_from(of_clock).unwrap_or(i128::MAX).saturating_add(offset_ns);
        let captured_bytes = u32::try_from(captured.len()).unwrap_or(u32::MAX);
        Frame {
            link: self.link,
            time_ns: u64::try_from(time_ns.max(0)).unwrap_or(u64::MAX),
            captured,
            cut_bytes: original_bytes.saturating_sub(captured_bytes),
        }
    }
}
