//! The facts about a packet that the emulator reads in its headers.

use dumbbell_network::Ecn;

/// Headers of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Its ECN field.
    pub ecn: Ecn,
    /// The port at both its ends.
    pub port: u16,
    /// Its content.
    pub content: Content,
}

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Segment {
        /// Its sequence number.
        sequence: u32,
        /// Bytes of payload.
        payload: u16,
        /// True if it opens a connection.
        opens: bool,
    },
    /// A UDP datagram.
    Datagram,
}

const TOS: usize = 1;
const CHECKSUM: usize = 10;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 1 << 1;
const CE: u8 = 0b11;

/// Read the headers of a packet between hosts of the testbed; none: it is no such packet.
#[inline]
#[must_use]
pub fn read(packet: &[u8]) -> Option<Headers> {
    let ip = packet.get(..20)?;
    if ip[0] >> 4 != 4 {
        return None;
    }
    let header = usize::from(ip[0] & 0xf) * 4;
    let transport = packet.get(header..)?;
    let (source, port) = (word(transport, 0)?, word(transport, 2)?);
    if source != port {
        return None;
    }
    let content = match ip[9] {
        TCP => segment(transport)?,
        UDP => Content::Datagram,
        _ => return None,
    };
    let ecn = match ip[TOS] & CE {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    };
    Some(Headers { ecn, port, content })
}

fn segment(transport: &[u8]) -> Option<Content> {
    let tcp = transport.get(..20)?;
    let header = usize::from(tcp[12] >> 4) * 4;
    let payload = transport.len().checked_sub(header)?;
    Some(Content::Segment {
        sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
        payload: u16::try_from(payload).ok()?,
        opens: tcp[13] & SYN != 0,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Set the ECN field to CE, and correct the header's checksum (RFC 1624).
pub fn mark(packet: &mut [u8]) {
    let before = u16::from_be_bytes([packet[0], packet[TOS]]);
    packet[TOS] |= CE;
    let after = u16::from_be_bytes([packet[0], packet[TOS]]);
    let checksum = u16::from_be_bytes([packet[CHECKSUM], packet[CHECKSUM + 1]]);
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    packet[CHECKSUM..=CHECKSUM + 1].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flags: u8, tos: u8, payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + payload];
        packet[0] = 0x45;
        packet[TOS] = tos;
        packet[9] = TCP;
        packet[20..24].copy_from_slice(&[4, 1, 4, 1]);
        packet[24..28].copy_from_slice(&7u32.to_be_bytes());
        packet[32] = 5 << 4;
        packet[33] = flags;
        let sum = checksum(&packet[..20]);
        packet[CHECKSUM..=CHECKSUM + 1].copy_from_slice(&(!sum).to_be_bytes());
        packet
    }

    /// Ones' complement sum. It is 0xffff for a header with its checksum.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
        let sum = words.sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn a_segment_is_read() {
        let headers = read(&packet(SYN, 0b10, 3)).unwrap();
        assert_eq!((headers.port, headers.ecn), (0x401, Ecn::Ect0));
        assert_eq!(headers.content, Content::Segment { sequence: 7, payload: 3, opens: true });
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for tos in [0b01, 0b10, 0xfe] {
            let mut packet = packet(0, tos, 0);
            assert_eq!(checksum(&packet[..20]), 0xffff);
            mark(&mut packet);
            assert_eq!(read(&packet).unwrap().ecn, Ecn::Ce);
            assert_eq!(checksum(&packet[..20]), 0xffff);
        }
    }

    #[test]
    fn other_packets_are_none_of_ours() {
        let ours = packet(0, 0, 0);
        assert!((0..ours.len()).all(|length| read(&ours[..length]).is_none()));
        let changed = |at: usize, value: u8| {
            let mut packet = ours.clone();
            packet[at] = value;
            read(&packet)
        };
        assert_eq!((changed(0, 0x65), changed(9, 1), changed(20, 5)), (None, None, None));
        assert_eq!((changed(0, 0x4f), changed(32, 0xf0)), (None, None));
    }
}
