//! Keeps when algorithms change their modes, and what they report then.

use dumbbell_network::Time;
use dumbbell_record::{ModeChange, ModeChanges, Rows};
use dumbbell_tcp::Sender;

/// What of modes was kept so far.
#[derive(Debug)]
pub struct Modes {
    pub rows: Rows<ModeChange>,
    /// That of each flow; none: nothing was kept of it yet.
    last: Vec<Option<u8>>,
}

impl Modes {
    /// Nothing, of so many flows; at most so many changes.
    pub fn new(flows: usize, most: usize) -> Self {
        Self { rows: Rows::new(most), last: vec![None; flows] }
    }

    /// Looks at a flow whose algorithm may have changed its mode just now; false: it has, and
    /// there is no space for that.
    #[inline(never)]
    pub fn note(&mut self, now: Time, flow: u32, sender: &Sender) -> bool {
        let Some((mode, values)) = sender.algorithm_mode() else { return true };
        let mode = mode.min(u8::MAX.into()) as u8;
        let is_known = self.last[flow as usize].replace(mode) == Some(mode);
        is_known || self.rows.push(ModeChange::new(now.0, flow, mode, values))
    }

    /// The table, in its order: hosts ran ahead of each other.
    pub fn finish(self) -> ModeChanges {
        let mut rows = self.rows.into_vec();
        rows.sort_by_key(|row| (row.time_ns, row.flow));
        let mut table = ModeChanges::default();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }
}
