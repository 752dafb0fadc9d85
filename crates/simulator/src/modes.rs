//! Keeps changes of the algorithms' modes, and the values that they report then.

use dumbbell_network::Time;
use dumbbell_record::{ModeChange, ModeChanges, Rows};
use dumbbell_tcp::Sender;

/// Changes of modes so far.
#[derive(Debug)]
pub struct Modes {
    pub rows: Rows<ModeChange>,
    /// The mode of each flow; none: it has no record yet.
    last: Vec<Option<u8>>,
}

impl Modes {
    /// No changes, for `flows` flows and at most `most` changes.
    pub fn new(flows: usize, most: usize) -> Self {
        Self { rows: Rows::new(most), last: vec![None; flows] }
    }

    /// Check for a change of the mode of a flow's algorithm. Return false if there is one and no
    /// space for it.
    #[inline(never)]
    pub fn note(&mut self, now: Time, flow: u32, sender: &Sender) -> bool {
        let Some((mode, values)) = sender.algorithm_mode() else { return true };
        let mode = mode.min(u8::MAX.into()) as u8;
        let is_known = self.last[flow as usize].replace(mode) == Some(mode);
        is_known || self.rows.push(ModeChange::new(now.0, flow, mode, values))
    }

    /// The table in its order. Hosts ran ahead of each other.
    pub fn finish(self) -> ModeChanges {
        let mut rows = self.rows.into_vec();
        rows.sort_by_key(|row| (row.time_ns, row.flow));
        let mut table = ModeChanges::default();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }
}
