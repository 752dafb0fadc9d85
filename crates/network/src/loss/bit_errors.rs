//! Loss of packets with wrong bits, which checksums find: the longer, the likelier.

use crate::chance::Chance;
use crate::random::Random;

const BITS_A_BYTE: u64 = 8;

/// Independent errors of bits.
#[derive(Clone, Debug)]
pub struct BitErrors(Chance);

impl BitErrors {
    pub(super) fn new(probability: f64, random: Random) -> Self {
        Self(Chance::new(probability, random))
    }

    /// Return whether one of a packet's bits is wrong.
    pub(super) fn lost(&mut self, bytes: u16) -> bool {
        let bits = BITS_A_BYTE * u64::from(bytes);
        let right = self.0.certain();
        if right >= bits {
            self.0.pass(bits);
            return false;
        }
        // The distance to the next error has no memory, so it may begin after the packet.
        self.0.pass(right);
        self.0.happens()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the expectation is a band")]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_lost_with_the_probability_of_an_error_in_its_bits() {
        for (bytes, probability) in [(1500, 1e-5), (52, 1e-4), (9000, 1e-6), (1500, 0.0)] {
            let mut loss = BitErrors::new(probability, Random::new(3, 1));
            let packets = 400_000;
            let lost = (0..packets).filter(|_| loss.lost(bytes)).count() as f64;
            let share = 1.0 - (1.0 - probability).powi(8 * i32::from(bytes));
            let expected = share * f64::from(packets);
            let deviation = (expected * (1.0 - share)).sqrt();
            assert!((lost - expected).abs() <= 4.0 * deviation, "{bytes}: {lost}, {expected}");
        }
    }

    #[test]
    fn long_packets_are_lost_more_often_next_to_short_ones() {
        let mut loss = BitErrors::new(1e-5, Random::new(3, 2));
        let mut lost = [0.0, 0.0];
        for number in 0..400_000 {
            let (kind, bytes) = [(0, 1500), (1, 52)][number % 2];
            lost[kind] += f64::from(u8::from(loss.lost(bytes)));
        }
        // 1 - (1 - 1e-5)^12000 of 200,000, and 1 - (1 - 1e-5)^416, with 4 standard deviations each.
        assert!((lost[0] - 22_616.0).abs() < 568.0, "{lost:?}");
        assert!((lost[1] - 830.0).abs() < 115.0, "{lost:?}");
    }
}
