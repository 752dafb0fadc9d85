//! Loss of named packets.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::packet::{Direction, Packet};

/// A data packet that the script drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDrop {
    /// Index of the flow.
    pub flow: u32,
    /// Number of the segment.
    pub number: u64,
    /// Number of its first passages that fail.
    pub times: u32,
}

/// Loss of named data packets.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// Drops, ordered by flow and number.
    drops: Vec<ScriptedDrop>,
}

impl Scripted {
    pub(super) fn new(drops: &[ScriptedDrop]) -> Self {
        let mut drops = drops.to_vec();
        drops.sort_unstable_by_key(|drop| (drop.flow, drop.number));
        Self { drops }
    }

    pub(super) fn lost(&mut self, packet: Packet) -> bool {
        if packet.direction() == Direction::Reverse {
            return false;
        }
        let key = (packet.flow(), packet.number());
        let position = self.drops.binary_search_by_key(&key, |drop| (drop.flow, drop.number));
        let Ok(index) = position else { return false };
        let times = &mut self.drops[index].times;
        let lost = *times > 0;
        *times -= u32::from(lost);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{model, packet};
    use crate::packet::{Direction, Packet};
    use crate::units::Time;

    #[test]
    fn a_script_drops_the_first_passages_of_a_segment() {
        let mut loss = model(
            r#"{"kind":"scripted","drops":[{"flow":1,"number":7,"times":2},{"flow":0,"number":9,"times":1}]}"#,
        );
        let mut lost = |packet| loss.lost(Time::ZERO, packet);
        assert!(!lost(Packet::new(1, Direction::Reverse, 52, 7)));
        assert!(!lost(packet(0, 7)) && !lost(packet(1, 6)));
        assert!(lost(packet(1, 7)) && lost(packet(1, 7)) && !lost(packet(1, 7)));
        assert!(lost(packet(0, 9)) && !lost(packet(0, 9)));
    }
}
