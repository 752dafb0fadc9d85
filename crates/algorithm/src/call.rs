//! Calls of hooks as data: the input of one, the memory that it finds and the memory that it
//! leaves. Scripts of expected states make such calls, without a stack.

use crate::conn::{AckSample, CaState, Conn, CwndEvent, RateSample};
use crate::ffi::State;
use crate::instance::{INFO_MAX, Instance};
use crate::registry::Algorithm;
use serde::{Deserialize, Serialize};

/// A hook and its input beyond the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookInput {
    /// The connection begins.
    Init,
    /// Asks for the slow-start threshold after congestion.
    Ssthresh,
    /// Acknowledged segments that may raise the window.
    CongAvoid(u32),
    /// Measurements of an ACK.
    PktsAcked(AckSample),
    /// The number of a [`CwndEvent`].
    CwndEvent(u32),
    /// The number of a [`CaState`].
    SetState(u32),
    /// Flags of an ACK.
    InAckEvent(u32),
    /// Asks for the window after a spurious reduction.
    UndoCwnd,
    /// Delivery rate as of one ACK.
    CongControl(RateSample),
}

/// Memory that a hook reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The connection.
    pub conn: Conn,
    /// The algorithm's own state, in words.
    pub state: State,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The hook and its input.
    pub input: HookInput,
    /// Memory before the call.
    pub before: Memory,
}

/// Result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Window in segments that `ssthresh` or `undo_cwnd` returns; 0 for other hooks.
    pub answer: u32,
    /// Memory after the call.
    pub after: Memory,
}

impl Call {
    /// Call the hook. `values` are those of the parameters in their order. None: there is no event
    /// or state of this number.
    #[must_use]
    pub fn make(&self, algorithm: &'static Algorithm, values: &[u32]) -> Option<Outcome> {
        let mut instance = Instance::with_words(algorithm, values, self.before.state);
        let mut conn = self.before.conn;
        let mut answer = 0;
        match &self.input {
            HookInput::Init => instance.init(&mut conn),
            HookInput::Ssthresh => answer = instance.ssthresh(&conn),
            HookInput::CongAvoid(acked_segs) => instance.cong_avoid(&mut conn, *acked_segs),
            HookInput::PktsAcked(sample) => instance.pkts_acked(&mut conn, sample),
            HookInput::CwndEvent(event) => instance.cwnd_event(&mut conn, CwndEvent::of(*event)?),
            HookInput::SetState(state) => {
                instance.set_state(&mut conn, CaState::of(u8::try_from(*state).ok()?)?);
            }
            HookInput::InAckEvent(flags) => instance.in_ack_event(&mut conn, *flags),
            HookInput::UndoCwnd => answer = instance.undo_cwnd(&conn),
            HookInput::CongControl(sample) => instance.cong_control(&mut conn, sample),
        }
        Some(Outcome { answer, after: Memory { conn, state: instance.words() } })
    }
}

impl Memory {
    /// Report the numbers that [`Algorithm::info`] names; the rest are zero.
    #[must_use]
    pub fn report(&self, algorithm: &'static Algorithm, values: &[u32]) -> [u32; INFO_MAX] {
        Instance::with_words(algorithm, values, self.state).report(&self.conn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use std::collections::BTreeMap;

    fn call(input: HookInput, conn: Conn) -> Option<Outcome> {
        let reno = find("reno").unwrap();
        let values = reno.values(None, &BTreeMap::new()).unwrap();
        Call { input, before: Memory { conn, state: State::default() } }.make(reno, &values)
    }

    #[test]
    fn a_call_leaves_what_the_hook_does() {
        let conn = Conn { cwnd_segs: 30, ..Conn::default() };
        assert_eq!(call(HookInput::Ssthresh, conn).unwrap().answer, 15);
        assert_eq!(call(HookInput::CongAvoid(4), conn).unwrap().after.conn.cwnd_segs, 34);
    }

    #[test]
    fn input_of_no_hook_is_no_call() {
        assert!(call(HookInput::CwndEvent(5), Conn::default()).is_some());
        assert!(call(HookInput::CwndEvent(6), Conn::default()).is_none());
        assert!(call(HookInput::SetState(4), Conn::default()).is_some());
        assert!(call(HookInput::SetState(5), Conn::default()).is_none());
    }

    #[test]
    fn calls_are_read_as_they_are_written() {
        let input =
            HookInput::PktsAcked(AckSample { pkts_acked: 2, rtt_us: -1, in_flight_bytes: 3 });
        let before = Memory { conn: Conn::default(), state: State::default() };
        let written = serde_json::to_string(&Call { input, before }).unwrap();
        assert_eq!(serde_json::from_str::<Call>(&written).unwrap(), Call { input, before });
        let other = written.replace("rtt_us", "rtt");
        assert!(serde_json::from_str::<Call>(&other).is_err(), "{other}");
    }
}
