//! The same source does the same in both engines: callbacks of the kernel, repeated natively.

use std::collections::BTreeMap;
use std::fmt;

use dumbbell_algorithm::{Algorithm, STATE_BYTES};

use super::record::{Hook, Memory, Record, Records};

/// Most mismatches that are kept in full.
const TOLD_MAX: usize = 8;

/// Comparison of callbacks in the kernel with the same native calls.
#[derive(Clone, Debug, Default)]
pub struct Parity {
    /// Compared callbacks, by hook.
    pub callbacks: BTreeMap<Hook, u64>,
    /// Callbacks that could not be recorded.
    pub lost_records: u64,
    /// Callbacks that differ.
    pub differing: u64,
    /// The first of them.
    pub mismatches: Vec<Mismatch>,
}

/// A callback whose outcome differs.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Index among the callbacks.
    pub index: usize,
    /// The kernel's record.
    pub kernel: Record,
    /// The difference.
    pub difference: Difference,
}

/// Difference between kernel and native code.
#[derive(Clone, Debug)]
pub enum Difference {
    /// The native code left this memory and returned this window.
    Outcome {
        /// The memory.
        memory: Box<Memory>,
        /// The window that was returned.
        result: u32,
    },
    /// The callback found another state of its socket than the one before had left.
    State {
        /// The state that was left.
        left: Box<[u8; STATE_BYTES]>,
    },
    /// No hook of the algorithm takes such an argument.
    Argument,
}

impl Parity {
    /// Number of compared callbacks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.callbacks.values().sum()
    }

    fn note(&mut self, index: usize, kernel: &Record, difference: Difference) {
        self.differing += 1;
        if self.mismatches.len() < TOLD_MAX {
            self.mismatches.push(Mismatch { index, kernel: kernel.clone(), difference });
        }
    }
}

/// Make the recorded calls of `algorithm` natively and compare them. `values` are those of its
/// parameters.
#[must_use]
pub fn replay(algorithm: &'static Algorithm, values: &[u32], records: &Records) -> Parity {
    let mut parity = Parity { lost_records: records.lost, ..Parity::default() };
    let mut left: BTreeMap<u64, &[u8; STATE_BYTES]> = BTreeMap::new();
    for (index, record) in records.records.iter().enumerate() {
        *parity.callbacks.entry(record.hook).or_default() += 1;
        let last = left.insert(record.socket, &record.after.state);
        // A lost callback may have changed the state.
        if let Some(left) = last.filter(|left| records.lost == 0 && !carries_on(left, record)) {
            parity.note(index, record, Difference::State { left: Box::new(*left) });
        }
        if let Some(difference) = outcome(algorithm, values, record) {
            parity.note(index, record, difference);
        }
    }
    parity
}

/// Return true if a callback found a new state, or the state that the one before had left.
fn carries_on(left: &[u8; STATE_BYTES], record: &Record) -> bool {
    let state = &record.before.state;
    record.hook == Hook::Init || state == left || *state == [0; STATE_BYTES]
}

/// Compare with the native outcome; none: they are equal.
fn outcome(algorithm: &'static Algorithm, values: &[u32], record: &Record) -> Option<Difference> {
    let Some(native) = record.call().and_then(|call| call.make(algorithm, values)) else {
        return Some(Difference::Argument);
    };
    let memory = Memory::left(&native.after);
    let is_same = memory == record.after && native.answer == record.result;
    (!is_same).then(|| Difference::Outcome { memory: Box::new(memory), result: native.answer })
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = &self.kernel;
        writeln!(
            f,
            "callback {} ({}, port {}): {:?} on {:?}",
            self.index,
            kernel.hook.name(),
            kernel.port,
            kernel.argument,
            kernel.before.conn
        )?;
        match &self.difference {
            Difference::Outcome { memory, result } => outcomes(f, kernel, memory, *result),
            Difference::State { left } => {
                writeln!(f, "  it found another state than the callback before had left:")?;
                bytes(f, "left ", left.as_slice(), &kernel.before.state)
            }
            Difference::Argument => writeln!(f, "  there is no such event or state"),
        }
    }
}

/// Write the differences between two outcomes.
fn outcomes(
    f: &mut fmt::Formatter<'_>,
    kernel: &Record,
    native: &Memory,
    result: u32,
) -> fmt::Result {
    if kernel.result != result {
        writeln!(f, "  kernel answered {}, native code {result}", kernel.result)?;
    }
    if kernel.after.conn != native.conn {
        writeln!(f, "  kernel left {:?}", kernel.after.conn)?;
        writeln!(f, "  native left {:?}", native.conn)?;
    }
    if kernel.after.state == native.state {
        return Ok(());
    }
    bytes(f, "kernel", &kernel.after.state, &native.state)?;
    bytes(f, "native", &native.state, &kernel.after.state)
}

/// Write the words of a state that differ from another's, with their offsets.
fn bytes(f: &mut fmt::Formatter<'_>, whose: &str, state: &[u8], other: &[u8]) -> fmt::Result {
    write!(f, "  state, {whose}:")?;
    for (index, (here, there)) in state.chunks(4).zip(other.chunks(4)).enumerate() {
        if here != there {
            write!(f, " +{}={here:02x?}", 4 * index)?;
        }
    }
    writeln!(f)
}

#[cfg(test)]
mod tests {
    use super::super::record::Argument;
    use super::*;
    use dumbbell_algorithm::{Conn, Instance, find};

    /// The record of one call in a kernel without faults.
    fn ssthresh(algorithm: &'static Algorithm, cwnd_segs: u32, state: [u8; STATE_BYTES]) -> Record {
        let conn = Conn { cwnd_segs, ..Conn::default() };
        let values = algorithm.values(None, &BTreeMap::new()).unwrap();
        let mut instance = Instance::with_state(algorithm, &values, &state);
        let result = instance.ssthresh(&conn);
        Record {
            socket: 1,
            port: 1_024,
            hook: Hook::Ssthresh,
            result,
            argument: Argument::None,
            before: Memory { conn, state },
            after: Memory { conn, state: instance.state() },
        }
    }

    fn replayed(records: Vec<Record>, lost: u64) -> Parity {
        let cubic = find("cubic").unwrap();
        let values = cubic.values(None, &BTreeMap::new()).unwrap();
        replay(cubic, &values, &Records { records, lost })
    }

    #[test]
    fn what_is_the_same_is_counted() {
        let first = ssthresh(find("cubic").unwrap(), 100, [0; STATE_BYTES]);
        let second = ssthresh(find("cubic").unwrap(), 70, first.after.state);
        let parity = replayed(vec![first, second], 0);
        assert_eq!((parity.total(), parity.differing), (2, 0));
    }

    #[test]
    fn another_answer_is_reported() {
        let mut record = ssthresh(find("cubic").unwrap(), 100, [0; STATE_BYTES]);
        record.result += 1;
        let parity = replayed(vec![record], 0);
        let message = parity.mismatches[0].to_string();
        assert!(message.contains("kernel answered 71, native code 70"), "{message}");
    }

    #[test]
    fn a_state_that_changed_between_two_calls_is_reported() {
        let first = ssthresh(find("cubic").unwrap(), 100, [0; STATE_BYTES]);
        let mut other = first.after.state;
        other[0] ^= 1;
        let second = ssthresh(find("cubic").unwrap(), 70, other);
        let parity = replayed(vec![first.clone(), second.clone()], 0);
        assert_eq!(parity.differing, 1);
        assert!(parity.mismatches[0].to_string().contains("another state"));
        assert_eq!(replayed(vec![first, second], 1).differing, 0, "a lost call may have done it");
    }
}
