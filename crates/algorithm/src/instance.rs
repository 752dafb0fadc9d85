//! An algorithm attached to one connection.

use crate::algorithms::find;
use crate::conn::{AckSample, CaState, Conn, CwndEvent, RateSample};
use crate::error::AlgorithmError;
use crate::ffi;
use crate::registry::{Algorithm, Hooks};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of an algorithm's state: Linux grants as many (`ICSK_CA_PRIV_SIZE`).
pub const STATE_BYTES: usize = size_of::<ffi::State>();

/// Most numbers that an algorithm reports about itself.
pub const INFO_MAX: usize = ffi::INFO_MAX;

/// The first so many of them are sampled.
pub const SAMPLED_INFO: usize = 4;

/// An algorithm with its parameters and its state for one connection.
///
/// Every method is one indirect call. Without a hook, Linux's default applies: nothing, or for
/// [`Instance::undo_cwnd`] Reno's window.
#[derive(Clone)]
pub struct Instance {
    hooks: Hooks,
    state: ffi::State,
    params: ffi::Params,
    algorithm: &'static Algorithm,
}

impl fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Instance({})", self.algorithm.name)
    }
}

impl Instance {
    /// Make an instance of the algorithm `name` with its initial parameters. The values of `preset`
    /// replace these, and `parameters` replace both. Call [`Instance::init`] next.
    ///
    /// # Errors
    /// If there is no such algorithm, preset or parameter, or a value is out of range.
    pub fn new(
        name: &str,
        preset: Option<&str>,
        parameters: &BTreeMap<String, u32>,
    ) -> Result<Self, AlgorithmError> {
        Self::of(find(name)?, preset, parameters)
    }

    /// As [`Instance::new`], from an algorithm.
    ///
    /// # Errors
    /// If there is no such preset or parameter, or a value is out of range.
    pub fn of(
        algorithm: &'static Algorithm,
        preset: Option<&str>,
        parameters: &BTreeMap<String, u32>,
    ) -> Result<Self, AlgorithmError> {
        let values = algorithm.values(preset, parameters)?;
        Ok(Self::with_state(algorithm, &values, &[0; STATE_BYTES]))
    }

    /// Make an instance with the state of another one, such as the kernel's. `values` are those of
    /// the parameters in their order.
    pub fn with_state(
        algorithm: &'static Algorithm,
        values: &[u32],
        state: &[u8; STATE_BYTES],
    ) -> Self {
        let mut words = ffi::State::default();
        for (word, bytes) in words.iter_mut().zip(state.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        }
        Self::with_words(algorithm, values, words)
    }

    /// As [`Instance::with_state`], from the words of the state.
    pub(crate) fn with_words(
        algorithm: &'static Algorithm,
        values: &[u32],
        state: ffi::State,
    ) -> Self {
        let mut params = ffi::Params::default();
        for (slot, value) in params.iter_mut().zip(values) {
            *slot = *value;
        }
        Self { hooks: algorithm.hooks, state, params, algorithm }
    }

    /// Leave a hook that never returns, from now on (see [`crate::guarded`]); systems other than
    /// Linux cannot.
    #[must_use]
    pub fn guarded(self) -> Self {
        #[cfg(target_os = "linux")]
        return Self {
            hooks: self.algorithm.guarded(),
            params: ffi::guarded(self.params, self.algorithm.hooks.0),
            ..self
        };
        #[cfg(not(target_os = "linux"))]
        self
    }

    /// The bytes of its state.
    pub fn state(&self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.state) {
            chunk.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// The words of its state.
    pub(crate) const fn words(&self) -> ffi::State {
        self.state
    }

    /// Its algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// Name and value of each parameter, in their order.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.algorithm.parameters.iter().map(|row| row.name).zip(self.params)
    }

    /// Return true if [`Instance::cong_control`] replaces `cong_avoid` and the stack's recovery.
    #[inline]
    pub fn has_cong_control(&self) -> bool {
        self.hooks.0.has_cong_control()
    }

    /// Begin: the connection is established.
    #[inline]
    pub fn init(&mut self, conn: &mut Conn) {
        self.hooks.0.init(&self.params, &mut self.state, conn);
    }

    /// Return the slow-start threshold after congestion, in segments, before the window is cut.
    #[inline]
    pub fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let answer = self.hooks.0.ssthresh(&self.params, &mut self.state, conn);
        answer.expect("the registry holds no algorithm without ssthresh")
    }

    /// Take an ACK of `acked_segs` newly delivered segments that may raise the window.
    #[inline]
    pub fn cong_avoid(&mut self, conn: &mut Conn, acked_segs: u32) {
        self.hooks.0.cong_avoid(&self.params, &mut self.state, conn, acked_segs);
    }

    /// Take an ACK that acknowledged or SACKed something, in every state.
    #[inline]
    pub fn pkts_acked(&mut self, conn: &mut Conn, sample: &AckSample) {
        self.hooks.0.pkts_acked(&self.params, &mut self.state, conn, sample);
    }

    /// Take an event beyond ACKs.
    #[inline]
    pub fn cwnd_event(&mut self, conn: &mut Conn, event: CwndEvent) {
        self.hooks.0.cwnd_event(&self.params, &mut self.state, conn, event as u32);
    }

    /// Take the congestion state that comes next.
    #[inline]
    pub fn set_state(&mut self, conn: &mut Conn, new_state: CaState) {
        self.hooks.0.set_state(&self.params, &mut self.state, conn, u32::from(new_state.code()));
    }

    /// Take any ACK, before all other hooks; `flags` are `ACK_*`, as Linux's `CA_ACK_*`.
    #[inline]
    pub fn in_ack_event(&mut self, conn: &mut Conn, flags: u32) {
        self.hooks.0.in_ack_event(&self.params, &mut self.state, conn, flags);
    }

    /// Return the window after a spurious reduction, in segments.
    #[inline]
    pub fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.hooks
            .0
            .undo_cwnd(&self.params, &mut self.state, conn)
            .unwrap_or_else(|| conn.cwnd_segs.max(conn.prior_cwnd_segs))
    }

    /// Take any ACK, for an algorithm that sets window and rate.
    #[inline]
    pub fn cong_control(&mut self, conn: &mut Conn, sample: &RateSample) {
        self.hooks.0.cong_control(&self.params, &mut self.state, conn, sample);
    }

    /// Report the numbers that [`Algorithm::info`] names; the rest are zero.
    #[inline]
    pub fn report(&self, conn: &Conn) -> [u32; INFO_MAX] {
        self.hooks.0.info(&self.params, &self.state, conn)
    }

    /// Report the numbers that are sampled, the first ones.
    #[inline]
    pub fn info(&self, conn: &Conn) -> [u32; SAMPLED_INFO] {
        let [first, second, third, fourth, ..] = self.report(conn);
        [first, second, third, fourth]
    }

    /// Report its mode and all its numbers; none: it has no modes.
    pub fn mode(&self, conn: &Conn) -> Option<(u32, [u32; INFO_MAX])> {
        let place = self.algorithm.mode?;
        let all = self.report(conn);
        Some((all[place], all))
    }
}
