//! Keeps when algorithms change their modes, and what they report then.

use dumbbell_network::Time;
use dumbbell_record::{ModeChange, ModeChanges};
use dumbbell_tcp::Sender;

/// What of modes was kept so far.
#[derive(Debug)]
pub struct Modes {
    rows: Vec<ModeChange>,
    /// That of each flow; none: nothing was kept of it yet.
    last: Vec<Option<u8>>,
}

impl Modes {
    /// Nothing, of so many flows.
    pub fn new(flows: usize) -> Self {
        Self { rows: Vec::new(), last: vec![None; flows] }
    }

    /// Looks at a flow whose algorithm may have changed its mode just now.
    #[inline(never)]
    pub fn note(&mut self, now: Time, flow: u32, sender: &Sender) {
        let Some((mode, values)) = sender.algorithm_mode() else { return };
        let mode = mode.min(u8::MAX.into()) as u8;
        if self.last[flow as usize].replace(mode) != Some(mode) {
            self.rows.push(ModeChange::new(now.0, flow, mode, values));
        }
    }

    /// The table, in its order: hosts ran ahead of each other.
    pub fn finish(mut self) -> ModeChanges {
        self.rows.sort_by_key(|row| (row.time_ns, row.flow));
        let mut table = ModeChanges::default();
        self.rows.into_iter().for_each(|row| table.push(row));
        table
    }
}
