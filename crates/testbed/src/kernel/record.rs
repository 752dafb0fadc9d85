//! The input and output of a callback in the kernel: `struct cc_record` of `bpf/adapter.h`.

use dumbbell_algorithm::call::{self, Call, HookInput, Outcome};
use dumbbell_algorithm::{AckSample, CaState, Conn, RateSample, STATE_BYTES};

/// The hooks of `tcp_congestion_ops` that algorithms have, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// The connection begins.
    Init,
    /// Asks for the slow-start threshold after congestion.
    Ssthresh,
    /// The window may grow.
    CongAvoid,
    /// Measurements of an ACK.
    PktsAcked,
    /// An event beyond ACKs.
    CwndEvent,
    /// The congestion state changes.
    SetState,
    /// Any ACK.
    InAckEvent,
    /// Asks for the window after a spurious reduction.
    UndoCwnd,
    /// Any ACK, in place of the kernel's own control.
    CongControl,
}

impl Hook {
    const ALL: [Self; 9] = [
        Self::Init,
        Self::Ssthresh,
        Self::CongAvoid,
        Self::PktsAcked,
        Self::CwndEvent,
        Self::SetState,
        Self::InAckEvent,
        Self::UndoCwnd,
        Self::CongControl,
    ];

    /// Its name in `tcp_congestion_ops`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Ssthresh => "ssthresh",
            Self::CongAvoid => "cong_avoid",
            Self::PktsAcked => "pkts_acked",
            Self::CwndEvent => "cwnd_event",
            Self::SetState => "set_state",
            Self::InAckEvent => "in_ack_event",
            Self::UndoCwnd => "undo_cwnd",
            Self::CongControl => "cong_control",
        }
    }
}

/// Input of a hook beyond the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No input.
    None,
    /// Acknowledged segments, an event, a state or flags.
    Number(u32),
    /// Measurements of an ACK.
    Ack(AckSample),
    /// Delivery rate as of one ACK.
    Rate(RateSample),
}

/// Memory that a hook reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The connection.
    pub conn: Conn,
    /// The algorithm's own state.
    pub state: [u8; STATE_BYTES],
}

/// One callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the socket, which no other socket has at the same time.
    pub socket: u64,
    /// Its local port.
    pub port: u16,
    /// The hook.
    pub hook: Hook,
    /// The window that [`Hook::Ssthresh`] or [`Hook::UndoCwnd`] returned.
    pub result: u32,
    /// Its input.
    pub argument: Argument,
    /// Memory before the call.
    pub before: Memory,
    /// Memory after the call.
    pub after: Memory,
}

/// Callbacks in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The recorded callbacks.
    pub records: Vec<Record>,
    /// Number of callbacks for which there was no room, since the algorithm was registered.
    pub lost: u64,
}

impl Record {
    /// Bytes of a record.
    pub(super) const BYTES: usize = 24 + 2 * MEMORY_BYTES + ARGUMENT_BYTES;

    /// Read a record from its bytes; none: they are not a record.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let socket = bytes.u64()?;
        let hook = *Hook::ALL.get(bytes.u32()? as usize)?;
        let result = bytes.u32()?;
        let port = u16::try_from(bytes.u64()?).ok()?;
        let before = bytes.memory()?;
        let argument = argument(hook, bytes.take::<ARGUMENT_BYTES>()?)?;
        let after = bytes.memory()?;
        Some(Self { socket, port, hook, result, argument, before, after })
    }

    /// The call that it records; none: its hook takes no such argument.
    pub(super) fn call(&self) -> Option<Call> {
        let input = match (self.hook, self.argument) {
            (Hook::Init, _) => HookInput::Init,
            (Hook::Ssthresh, _) => HookInput::Ssthresh,
            (Hook::UndoCwnd, _) => HookInput::UndoCwnd,
            (Hook::CongAvoid, Argument::Number(segs)) => HookInput::CongAvoid(segs),
            (Hook::InAckEvent, Argument::Number(flags)) => HookInput::InAckEvent(flags),
            (Hook::CwndEvent, Argument::Number(event)) => HookInput::CwndEvent(event),
            (Hook::SetState, Argument::Number(state)) => HookInput::SetState(state),
            (Hook::PktsAcked, Argument::Ack(sample)) => HookInput::PktsAcked(sample),
            (Hook::CongControl, Argument::Rate(sample)) => HookInput::CongControl(sample),
            _ => return None,
        };
        Some(Call { input, before: self.before.as_called() })
    }

    /// The outcome of the call.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome { answer: self.result, after: self.after.as_called() }
    }
}

impl Memory {
    fn as_called(&self) -> call::Memory {
        let mut words = Reader(&self.state);
        let state = std::array::from_fn(|_| words.u64().expect("whole words"));
        call::Memory { conn: self.conn, state }
    }

    pub(super) fn left(memory: &call::Memory) -> Self {
        let mut state = [0; STATE_BYTES];
        for (chunk, word) in state.chunks_exact_mut(8).zip(memory.state) {
            chunk.copy_from_slice(&word.to_ne_bytes());
        }
        Self { conn: memory.conn, state }
    }
}

/// Write a record of a call that has not been made yet.
pub(super) fn to_bytes(call: &Call) -> [u8; Record::BYTES] {
    let mut bytes = Writer(Vec::with_capacity(Record::BYTES));
    bytes.u64(0);
    let hook = hook_of(&call.input);
    bytes.u32(Hook::ALL.iter().position(|other| *other == hook).expect("one of all") as u32);
    bytes.u32(0);
    bytes.u64(0);
    bytes.conn(&call.before.conn);
    call.before.state.iter().for_each(|word| bytes.u64(*word));
    let argument_at = bytes.0.len();
    match &call.input {
        HookInput::Init | HookInput::Ssthresh | HookInput::UndoCwnd => {}
        HookInput::CongAvoid(number)
        | HookInput::CwndEvent(number)
        | HookInput::SetState(number)
        | HookInput::InAckEvent(number) => bytes.u32(*number),
        HookInput::PktsAcked(sample) => {
            bytes.u32(sample.pkts_acked);
            bytes.u32(sample.rtt_us as u32);
            bytes.u32(sample.in_flight_bytes);
        }
        HookInput::CongControl(sample) => bytes.rate_sample(sample),
    }
    bytes.0.resize(argument_at + ARGUMENT_BYTES + MEMORY_BYTES, 0);
    bytes.0.try_into().expect("as long as a record")
}

const fn hook_of(input: &HookInput) -> Hook {
    match input {
        HookInput::Init => Hook::Init,
        HookInput::Ssthresh => Hook::Ssthresh,
        HookInput::CongAvoid(_) => Hook::CongAvoid,
        HookInput::PktsAcked(_) => Hook::PktsAcked,
        HookInput::CwndEvent(_) => Hook::CwndEvent,
        HookInput::SetState(_) => Hook::SetState,
        HookInput::InAckEvent(_) => Hook::InAckEvent,
        HookInput::UndoCwnd => Hook::UndoCwnd,
        HookInput::CongControl(_) => Hook::CongControl,
    }
}

const CONN_BYTES: usize = size_of::<Conn>();
const MEMORY_BYTES: usize = CONN_BYTES + STATE_BYTES;
const ARGUMENT_BYTES: usize = size_of::<RateSample>();

fn argument(hook: Hook, bytes: [u8; ARGUMENT_BYTES]) -> Option<Argument> {
    let mut bytes = Reader(&bytes);
    Some(match hook {
        Hook::Init | Hook::Ssthresh | Hook::UndoCwnd => Argument::None,
        Hook::CongAvoid | Hook::CwndEvent | Hook::SetState | Hook::InAckEvent => {
            Argument::Number(bytes.u32()?)
        }
        Hook::PktsAcked => Argument::Ack(AckSample {
            pkts_acked: bytes.u32()?,
            rtt_us: bytes.u32()? as i32,
            in_flight_bytes: bytes.u32()?,
        }),
        Hook::CongControl => Argument::Rate(bytes.rate_sample()?),
    })
}

/// The congestion state of this number.
fn ca_state(number: u32) -> Option<CaState> {
    CaState::of(u8::try_from(number).ok()?)
}

/// Reads the fields of C structs, one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn memory(&mut self) -> Option<Memory> {
        let conn = Reader(&self.take::<CONN_BYTES>()?).conn()?;
        Some(Memory { conn, state: self.take()? })
    }

    fn conn(&mut self) -> Option<Conn> {
        Some(Conn {
            cwnd_segs: self.u32()?,
            cwnd_cnt: self.u32()?,
            ssthresh_segs: self.u32()?,
            cwnd_clamp_segs: self.u32()?,
            pacing_rate_bytes_per_s: self.u64()?,
            app_limited_segs: self.u32()?,
            prior_cwnd_segs: self.u32()?,
            now_us: self.u64()?,
            delivered_segs: self.u64()?,
            delivered_ce_segs: self.u64()?,
            lost_segs: self.u64()?,
            resent_segs: self.u32()?,
            in_flight_segs: self.u32()?,
            srtt_us: self.u32()?,
            min_rtt_us: self.u32()?,
            mss_bytes: self.u32()?,
            snd_una: self.u32()?,
            snd_nxt: self.u32()?,
            random: self.u32()?,
            state: ca_state(self.u8()?.into())?,
            cwnd_limited: self.u8()?,
            stack: self.u8()?,
            is_marked: self.u8()?,
            base_rtt_us: self.u32()?,
            pacing_wait_us: self.u32()?,
            stamp_ms: self.u32()?,
            echo_ms: self.u32()?,
            last_sent_ms: self.u32()?,
        })
    }

    fn rate_sample(&mut self) -> Option<RateSample> {
        Some(RateSample {
            prior_delivered_segs: self.u64()?,
            interval_us: self.u64()? as i64,
            delivered_segs: self.u32()? as i32,
            rtt_us: self.u32()? as i32,
            losses_segs: self.u32()?,
            acked_sacked_segs: self.u32()?,
            prior_in_flight_segs: self.u32()?,
            is_app_limited: self.u8()?,
            is_ack_delayed: self.u8()?,
            reserved: self.take()?,
        })
    }
}

/// Writes the fields of C structs, one after the other.
struct Writer(Vec<u8>);

impl Writer {
    fn u64(&mut self, number: u64) {
        self.0.extend(number.to_ne_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.0.extend(number.to_ne_bytes());
    }

    fn conn(&mut self, conn: &Conn) {
        self.u32(conn.cwnd_segs);
        self.u32(conn.cwnd_cnt);
        self.u32(conn.ssthresh_segs);
        self.u32(conn.cwnd_clamp_segs);
        self.u64(conn.pacing_rate_bytes_per_s);
        self.u32(conn.app_limited_segs);
        self.u32(conn.prior_cwnd_segs);
        self.u64(conn.now_us);
        self.u64(conn.delivered_segs);
        self.u64(conn.delivered_ce_segs);
        self.u64(conn.lost_segs);
        self.u32(conn.resent_segs);
        self.u32(conn.in_flight_segs);
        self.u32(conn.srtt_us);
        self.u32(conn.min_rtt_us);
        self.u32(conn.mss_bytes);
        self.u32(conn.snd_una);
        self.u32(conn.snd_nxt);
        self.u32(conn.random);
        self.0.extend([conn.state.code(), conn.cwnd_limited, conn.stack, conn.is_marked]);
        self.u32(conn.base_rtt_us);
        self.u32(conn.pacing_wait_us);
        self.u32(conn.stamp_ms);
        self.u32(conn.echo_ms);
        self.u32(conn.last_sent_ms);
    }

    fn rate_sample(&mut self, sample: &RateSample) {
        self.u64(sample.prior_delivered_segs);
        self.u64(sample.interval_us as u64);
        self.u32(sample.delivered_segs as u32);
        self.u32(sample.rtt_us as u32);
        self.u32(sample.losses_segs);
        self.u32(sample.acked_sacked_segs);
        self.u32(sample.prior_in_flight_segs);
        self.0.extend([sample.is_app_limited, sample.is_ack_delayed]);
        self.0.extend(sample.reserved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of zeros except for its hook.
    fn bytes(hook: u32) -> Vec<u8> {
        let mut bytes = vec![0; Record::BYTES];
        bytes[8..12].copy_from_slice(&hook.to_ne_bytes());
        bytes
    }

    #[test]
    fn each_field_is_where_adapter_h_puts_it() {
        // adapter.h has a _Static_assert for this size.
        assert_eq!(Record::BYTES, 512);
        let mut bytes = bytes(2);
        bytes[12..16].copy_from_slice(&77_u32.to_ne_bytes());
        bytes[16..24].copy_from_slice(&1_024_u64.to_ne_bytes());
        bytes[24..28].copy_from_slice(&10_u32.to_ne_bytes());
        bytes[24 + CONN_BYTES] = 5;
        let argument_at = 24 + MEMORY_BYTES;
        bytes[argument_at..argument_at + 4].copy_from_slice(&3_u32.to_ne_bytes());
        *bytes.last_mut().unwrap() = 9;
        let record = Record::read(&bytes).unwrap();
        assert_eq!((record.hook, record.result, record.port), (Hook::CongAvoid, 77, 1_024));
        assert_eq!(record.argument, Argument::Number(3));
        assert_eq!((record.before.conn.cwnd_segs, record.before.state[0]), (10, 5));
        assert_eq!(record.after.state[STATE_BYTES - 1], 9);
    }

    #[test]
    fn what_is_no_record_is_not_read() {
        assert!((0..9).all(|hook| Record::read(&bytes(hook)).is_some()));
        assert!(Record::read(&bytes(9)).is_none());
        assert!(Record::read(&bytes(0)[1..]).is_none());
    }

    /// Fields that are all different, so that none can replace another.
    fn memory() -> call::Memory {
        let mut number = 0;
        let mut next = || {
            number += 1;
            number
        };
        let state = std::array::from_fn(|_| 1_000 + next());
        let conn = Conn {
            cwnd_segs: next() as u32,
            cwnd_cnt: next() as u32,
            ssthresh_segs: next() as u32,
            cwnd_clamp_segs: next() as u32,
            pacing_rate_bytes_per_s: next(),
            app_limited_segs: next() as u32,
            prior_cwnd_segs: next() as u32,
            now_us: next(),
            delivered_segs: next(),
            delivered_ce_segs: next(),
            lost_segs: next(),
            resent_segs: next() as u32,
            in_flight_segs: next() as u32,
            srtt_us: next() as u32,
            min_rtt_us: next() as u32,
            mss_bytes: next() as u32,
            snd_una: next() as u32,
            snd_nxt: next() as u32,
            random: next() as u32,
            state: CaState::Recovery,
            cwnd_limited: next() as u8,
            stack: next() as u8,
            is_marked: next() as u8,
            base_rtt_us: next() as u32,
            pacing_wait_us: next() as u32,
            stamp_ms: next() as u32,
            echo_ms: next() as u32,
            last_sent_ms: next() as u32,
        };
        call::Memory { conn, state }
    }

    #[test]
    fn a_call_is_read_as_it_is_written() {
        let ack = AckSample { pkts_acked: 1, rtt_us: -1, in_flight_bytes: 3 };
        let rate = RateSample {
            prior_delivered_segs: 1,
            interval_us: -1,
            delivered_segs: -2,
            rtt_us: 4,
            losses_segs: 5,
            acked_sacked_segs: 6,
            prior_in_flight_segs: 7,
            is_app_limited: 1,
            is_ack_delayed: 0,
            reserved: [0; 2],
        };
        for input in [
            HookInput::Init,
            HookInput::Ssthresh,
            HookInput::CongAvoid(3),
            HookInput::PktsAcked(ack),
            HookInput::CwndEvent(2),
            HookInput::SetState(4),
            HookInput::InAckEvent(5),
            HookInput::UndoCwnd,
            HookInput::CongControl(rate),
        ] {
            let call = Call { input, before: memory() };
            assert_eq!(Record::read(&to_bytes(&call)).unwrap().call(), Some(call));
        }
    }
}
