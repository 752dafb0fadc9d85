//! Chunks of segmentation offload, cut into the packets that a network card would send.
//!
//! The kernel puts a header before each chunk (`struct virtio_net_hdr`; Virtual I/O Device 1.2,
//! section 5.1.6). The kernel's own software would cut the chunk in the same way. The headers of
//! its packets differ in lengths, in the sequence number and its like, in checksums, and in the
//! flags of the first and the last.

/// Bytes of the device's header (`virtio_net_hdr`) before everything that is read or written.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const TCP_IPV4: u8 = 1;
const NONE: u8 = 0;

const IP_LENGTH: usize = 2;
const IP_ID: usize = 4;
const IP_CHECKSUM: usize = 10;
const IP_ADDRESSES: usize = 12;
const TCP_PROTOCOL: u32 = 6;
const TCP_SEQUENCE: usize = 4;
const TCP_HEADER: usize = 12;
const TCP_FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;
const FIN_PSH: u8 = 0b1001;
const CWR: u8 = 0b1000_0000;

/// The rest of a chunk.
#[derive(Debug, Default)]
pub struct Chunk {
    bytes: Vec<u8>,
    /// Offset of the transport header if its checksum has to be computed; otherwise any.
    transport: usize,
    /// Offset of the checksum in the transport header; 0: nothing to compute.
    checksum: usize,
    /// Bytes of headers before the payload.
    headers: usize,
    /// Payload of each packet except the last, in bytes.
    segment: usize,
    /// Offset of the next packet's payload.
    next: usize,
    /// Number of packets cut off so far.
    cut: usize,
    is_over: bool,
}

impl Chunk {
    /// An empty chunk.
    #[must_use]
    pub fn none() -> Self {
        Self { is_over: true, ..Self::default() }
    }

    /// Read a chunk from a device; none if it is of a kind that the device may not give.
    pub fn read(&mut self, given: &[u8]) -> Option<()> {
        self.is_over = true;
        let (header, bytes) = given.split_at_checked(HEADER_BYTES)?;
        let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let (flags, kind, segment, transport) = (header[0], header[1], word(4), word(6));
        let needs_checksum = flags & NEEDS_CHECKSUM != 0;
        let checksum = if needs_checksum { word(8) } else { 0 };
        if needs_checksum {
            bytes.get(transport + checksum..transport + checksum + 2)?;
        }
        let (headers, segment) = match kind {
            NONE => (0, bytes.len()),
            TCP_IPV4 if segment > 0 && checksum == TCP_CHECKSUM && transport >= 20 => {
                // The kernel's own length of the headers may include payload.
                let tcp = usize::from(bytes.get(transport + TCP_HEADER)? >> 4) * 4;
                bytes.get(transport + TCP_CHECKSUM + 2..transport + tcp)?;
                (transport + tcp, segment)
            }
            _ => return None,
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.transport, self.checksum) = (transport, checksum);
        (self.headers, self.segment, self.next, self.cut) = (headers, segment, headers, 0);
        self.is_over = false;
        Some(())
    }

    /// Write the next packet; return its length. None if no packet is left.
    ///
    /// # Panics
    /// If `packet` is too small for it.
    pub fn next(&mut self, packet: &mut [u8]) -> Option<usize> {
        if self.is_over {
            return None;
        }
        let end = (self.next + self.segment).min(self.bytes.len());
        let payload = &self.bytes[self.next..end];
        let packet = &mut packet[..self.headers + payload.len()];
        packet[..self.headers].copy_from_slice(&self.bytes[..self.headers]);
        packet[self.headers..].copy_from_slice(payload);
        self.is_over = end == self.bytes.len();
        if self.headers > 0 {
            self.write_header(packet);
        }
        if self.checksum > 0 {
            let field = self.transport + self.checksum;
            let sum = !folded(sum(&packet[self.transport..]));
            // In UDP, zero would mean that there is no checksum.
            let sum = if sum == 0 { u16::MAX } else { sum };
            packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
        }
        (self.next, self.cut) = (end, self.cut + 1);
        Some(packet.len())
    }

    /// Turn the chunk's header into the next packet's. The TCP checksum remains: it is the sum of
    /// the pseudo-header.
    fn write_header(&self, packet: &mut [u8]) {
        let length = packet.len() as u16;
        let (ip, tcp) = packet.split_at_mut(self.transport);
        ip[IP_LENGTH..IP_LENGTH + 2].copy_from_slice(&length.to_be_bytes());
        let id = u16::from_be_bytes([ip[IP_ID], ip[IP_ID + 1]]).wrapping_add(self.cut as u16);
        ip[IP_ID..IP_ID + 2].copy_from_slice(&id.to_be_bytes());
        ip[IP_CHECKSUM..IP_CHECKSUM + 2].fill(0);
        let checksum = !folded(sum(ip));
        ip[IP_CHECKSUM..IP_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        let first = &tcp[TCP_SEQUENCE..TCP_SEQUENCE + 4];
        let first = u32::from_be_bytes([first[0], first[1], first[2], first[3]]);
        let sequence = first.wrapping_add((self.next - self.headers) as u32);
        tcp[TCP_SEQUENCE..TCP_SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
        tcp[TCP_FLAGS] &= if self.cut > 0 { !CWR } else { u8::MAX };
        tcp[TCP_FLAGS] &= if self.is_over { u8::MAX } else { !FIN_PSH };
        let pseudo = sum(&ip[IP_ADDRESSES..IP_ADDRESSES + 8]) + TCP_PROTOCOL + tcp.len() as u32;
        tcp[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&folded(pseudo).to_be_bytes());
    }
}

/// Sum of all words, of at most 64 KiB (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2);
    let last = words.remainder().first().map_or(0, |last| u32::from(*last) << 8);
    words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u32>() + last
}

const fn folded(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk with an IPv4 header of 20 bytes and TCP with an option of 12, behind the device's
    /// header.
    fn chunk(payload: usize, segment: u16, flags: u8) -> Vec<u8> {
        let mut read = vec![NEEDS_CHECKSUM, TCP_IPV4];
        // The header's length is wrong on purpose: readers must not use it.
        for word in [999, segment, 20, TCP_CHECKSUM as u16] {
            read.extend(word.to_ne_bytes());
        }
        let mut packet = vec![0; 52];
        packet[..2].copy_from_slice(&[0x45, 0b10]);
        packet[IP_ID..IP_ID + 2].copy_from_slice(&u16::MAX.to_be_bytes());
        packet[8..10].copy_from_slice(&[64, 6]);
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[24..28].copy_from_slice(&(u32::MAX - 5).to_be_bytes());
        packet[32..34].copy_from_slice(&[8 << 4, flags]);
        packet.extend((0..payload).map(|byte| byte as u8));
        read.extend(packet);
        read
    }

    fn packets(read: &[u8]) -> Vec<Vec<u8>> {
        let (mut chunk, mut packet) = (Chunk::none(), [0; 2_048]);
        chunk.read(read).unwrap();
        std::iter::from_fn(|| chunk.next(&mut packet).map(|bytes| packet[..bytes].to_vec()))
            .collect()
    }

    fn has_right_checksums(packet: &[u8]) -> bool {
        let tcp = &packet[20..];
        let pseudo = sum(&packet[12..20]) + TCP_PROTOCOL + tcp.len() as u32;
        folded(sum(&packet[..20])) == 0xffff && folded(pseudo + sum(tcp)) == 0xffff
    }

    #[test]
    fn a_chunk_becomes_the_packets_that_its_segments_would_be() {
        let cut = packets(&chunk(2_501, 1_000, CWR | FIN_PSH | 0b1_0000));
        let lengths: Vec<_> = cut.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1_052, 1_052, 553]);
        let payload: Vec<_> = cut.iter().flat_map(|packet| packet[52..].to_vec()).collect();
        assert_eq!(payload, (0..2_501).map(|byte| byte as u8).collect::<Vec<_>>());
        let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        for (number, packet) in (0..).zip(&cut) {
            assert!(has_right_checksums(packet), "{number}");
            assert_eq!(usize::from(word(packet, IP_LENGTH)), packet.len());
            assert_eq!(word(packet, IP_ID), u16::MAX.wrapping_add(number));
            let sequence = u32::from_be_bytes([packet[24], packet[25], packet[26], packet[27]]);
            assert_eq!(sequence, (u32::MAX - 5).wrapping_add(1_000 * u32::from(number)));
        }
        let flags: Vec<_> = cut.iter().map(|packet| packet[33]).collect();
        assert_eq!(flags, [CWR | 0b1_0000, 0b1_0000, FIN_PSH | 0b1_0000]);
    }

    #[test]
    fn what_is_no_chunk_gets_its_checksum_or_none() {
        let mut read = chunk(33, 0, 0);
        read[1] = NONE;
        // The kernel has put the sum of the pseudo-header there.
        let pseudo = folded(sum(&read[22..30]) + TCP_PROTOCOL + 65);
        read[46..48].copy_from_slice(&pseudo.to_be_bytes());
        let whole = packets(&read);
        assert_eq!(whole.len(), 1);
        let tcp = &whole[0][20..];
        assert_eq!(folded(sum(&whole[0][12..20]) + TCP_PROTOCOL + 65 + sum(tcp)), 0xffff);
        read[0] = 0;
        assert_eq!(packets(&read), [read[HEADER_BYTES..].to_vec()]);
    }

    #[test]
    fn what_no_kernel_gives_is_none() {
        let read = chunk(100, 10, 0);
        let is_none = |read: &[u8]| {
            let mut chunk = Chunk::none();
            chunk.read(read).is_none() && chunk.next(&mut [0; 2_048]).is_none()
        };
        assert!((0..HEADER_BYTES + 52).all(|length| is_none(&read[..length])));
        for (at, value) in [(0, 0), (1, 4), (4, 0), (6, 200), (8, 6), (HEADER_BYTES + 32, 0xff)] {
            let mut wrong = chunk(4, 10, 0);
            wrong[at] = value;
            assert!(is_none(&wrong), "{at}");
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(Chunk::none().next(&mut []), None);
    }
}
