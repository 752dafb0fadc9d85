//! Slow starts that a stack can give to any algorithm: the native build of `cc_start.h`.
//!
//! As with algorithms, C code gets pointers to Rust's memory and keeps none.

use crate::conn::{Conn, NO_RTT};

/// `CC_START_BYTES`, in words.
const STATE_WORDS: usize = 23;

/// A kind of slow start and its parameters (`struct cc_start_params`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StartChoice {
    kind: u32,
    limited_segs: u32,
    saved_segs: u32,
    saved_rtt_us: u32,
}

impl StartChoice {
    const NONE: Self = Self { kind: 0, limited_segs: 0, saved_segs: 0, saved_rtt_us: 0 };

    /// Slow start of RFC 5681.
    #[must_use]
    pub const fn standard() -> Self {
        Self { kind: 1, ..Self::NONE }
    }

    /// Limited slow start of RFC 3742: above `from_segs`, growth by at most half of `from_segs` in
    /// a round trip.
    #[must_use]
    pub const fn limited(from_segs: u32) -> Self {
        Self { kind: 2, limited_segs: from_segs, ..Self::NONE }
    }

    /// `HyStart`, as in Linux (`hystart_update`).
    #[must_use]
    pub const fn hystart() -> Self {
        Self { kind: 3, ..Self::NONE }
    }

    /// HyStart++ of RFC 9406.
    #[must_use]
    pub const fn hystart_plus_plus() -> Self {
        Self { kind: 4, ..Self::NONE }
    }

    /// SEARCH of draft-chung-ccwg-search.
    #[must_use]
    pub const fn search() -> Self {
        Self { kind: 5, ..Self::NONE }
    }

    /// Careful Resume of RFC 9959, from the window in segments and the RTT of an earlier
    /// connection.
    #[must_use]
    pub const fn resume(saved_segs: u32, saved_rtt_us: u32) -> Self {
        Self { kind: 6, saved_segs, saved_rtt_us, ..Self::NONE }
    }

    /// Return true if it acts on ACKs: all do except the standard one.
    #[must_use]
    pub const fn watches_acks(&self) -> bool {
        self.kind > Self::standard().kind
    }

    /// The numbers of `struct cc_start_params`, in their order.
    #[must_use]
    pub const fn words(&self) -> [u32; 4] {
        [self.kind, self.limited_segs, self.saved_segs, self.saved_rtt_us]
    }
}

type State = [u64; STATE_WORDS];

unsafe extern "C" {
    static dumbbell_start_layout: [u32; 2];
    fn dumbbell_start_rules(
        params: *const StartChoice,
        start: *const State,
        conn: *const Conn,
    ) -> u8;
    fn dumbbell_start_holds(params: *const StartChoice, start: *const State) -> u8;
    fn dumbbell_start_part_of(
        params: *const StartChoice,
        start: *mut State,
        conn: *mut Conn,
        acked: u32,
        rtt_us: u32,
    ) -> u32;
    fn dumbbell_start_grown(
        params: *const StartChoice,
        start: *mut State,
        conn: *mut Conn,
        rtt_us: u32,
    );
    fn dumbbell_start_cut(
        params: *const StartChoice,
        start: *mut State,
        conn: *const Conn,
        ssthresh: u32,
    ) -> u32;
    fn dumbbell_start_repaired(params: *const StartChoice, start: *mut State, conn: *mut Conn);
}

/// The slow start of one connection.
#[derive(Clone, Debug)]
pub struct SlowStart {
    choice: StartChoice,
    state: State,
}

impl SlowStart {
    /// At the beginning of a connection.
    ///
    /// # Panics
    /// If the C side has another layout.
    #[must_use]
    pub fn new(choice: StartChoice) -> Self {
        // SAFETY: a constant array of slow_start.c, of this length.
        let [params_bytes, state_bytes] = unsafe { dumbbell_start_layout };
        assert_eq!(params_bytes as usize, size_of::<StartChoice>(), "struct cc_start_params");
        assert_eq!(state_bytes as usize, size_of::<State>(), "CC_START_BYTES");
        Self { choice, state: [0; STATE_WORDS] }
    }

    /// Return true if [`Self::part_of`] must see an ACK that may raise the window.
    #[must_use]
    pub fn rules(&self, conn: &Conn) -> bool {
        // SAFETY: the layouts are the C side's, as `new` asserts; so below.
        unsafe { dumbbell_start_rules(&raw const self.choice, &raw const self.state, conn) != 0 }
    }

    /// Return true if it sets window and pacing, as after the jump of Careful Resume.
    #[must_use]
    pub fn holds(&self) -> bool {
        // SAFETY: as above.
        unsafe { dumbbell_start_holds(&raw const self.choice, &raw const self.state) != 0 }
    }

    /// Take an ACK that may raise the window. Return the number of acknowledged segments to pass to
    /// the algorithm; 0: do not pass the ACK.
    pub fn part_of(&mut self, conn: &mut Conn, acked_segs: u32, rtt_us: Option<u32>) -> u32 {
        let (choice, state, rtt_us) =
            (&raw const self.choice, &raw mut self.state, rtt_us.unwrap_or(NO_RTT));
        // SAFETY: as above.
        unsafe { dumbbell_start_part_of(choice, state, conn, acked_segs, rtt_us) }
    }

    /// Note the growth of the window after the same ACK.
    pub fn grown(&mut self, conn: &mut Conn, rtt_us: Option<u32>) {
        let (choice, state, rtt_us) =
            (&raw const self.choice, &raw mut self.state, rtt_us.unwrap_or(NO_RTT));
        // SAFETY: as above.
        unsafe { dumbbell_start_grown(choice, state, conn, rtt_us) }
    }

    /// Return the slow-start threshold after congestion, in segments. `ssthresh_segs` is the
    /// algorithm's.
    pub fn cut(&mut self, conn: &Conn, ssthresh_segs: u32) -> u32 {
        let (choice, state) = (&raw const self.choice, &raw mut self.state);
        // SAFETY: as above.
        unsafe { dumbbell_start_cut(choice, state, conn, ssthresh_segs) }
    }

    /// Note that a reduction is complete.
    pub fn repaired(&mut self, conn: &mut Conn) {
        let (choice, state) = (&raw const self.choice, &raw mut self.state);
        // SAFETY: as above.
        unsafe { dumbbell_start_repaired(choice, state, conn) }
    }
}
