//! The C side: its tables, its hooks, and the only unsafe code.
//!
//! Five facts make all calls safe:
//!
//! - `cc.h` gives every hook pointer its type.
//! - The layouts agree; [`algorithms`] compares them once.
//! - A hook touches only memory behind its arguments.
//! - `CC_ALGORITHM` asserts at compile time that parameters and state fit into [`Params`] and
//!   [`State`].
//! - A guarded hook that is left (guarded.c) leaves frames of C alone: the algorithm's own.
//!
//! A hook writes only the first block of [`Conn`], as the rest is `const` in `cc.h`. A hook that
//! casts that away breaks its own results, but nothing here, as any bytes are values of these
//! mirrors.

use crate::conn::{AckSample, Conn, RateSample};
use std::ffi::{CStr, c_char, c_void};
use std::mem::{forget, offset_of, size_of};
use std::path::Path;

use libloading::Library;

/// `CC_PARAMETERS_MAX`
pub(crate) const PARAMETERS_MAX: usize = 24;
const SETTINGS_MAX: usize = 12;
/// `CC_INFO_MAX`
pub(crate) const INFO_MAX: usize = 16;
/// `CC_MODES_MAX`
const MODES_MAX: usize = 16;
/// Name of the number that reports an algorithm's mode.
const MODE: &str = "mode";
const ABI: u32 = 4;
/// `CC_RENOS_BOUND`
const RENOS_BOUND: u32 = 32;
/// `CC_FAMILY_ECN`
const FAMILY_MAX: u32 = 4;

/// Memory of an algorithm's parameters, in the order of their rows. A guarded instance has a pointer
/// to its algorithm behind them.
pub(crate) type Params = [u32; PARAMETERS_MAX + POINTER_WORDS];
const POINTER_WORDS: usize = size_of::<*const c_void>() / size_of::<u32>();
/// Memory of an algorithm's state, `CC_STATE_BYTES`, zero at first.
pub(crate) type State = [u64; 13];
pub(crate) const STATE_BYTES: usize = size_of::<State>();

#[repr(C)]
pub(crate) struct CcParameter {
    name: *const c_char,
    unit: *const c_char,
    what: *const c_char,
    source: *const c_char,
    pub(crate) initial: u32,
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) step: u32,
}

#[repr(C)]
pub(crate) struct CcSetting {
    parameter: u32,
    value: u32,
}

#[repr(C)]
pub(crate) struct CcPreset {
    name: *const c_char,
    source: *const c_char,
    settings: [CcSetting; SETTINGS_MAX],
}

type Plain = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *mut Conn)>;
type Window = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *const Conn) -> u32>;
type Notified<T> = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *mut Conn, T)>;
type Info =
    Option<unsafe extern "C" fn(*const c_void, *const c_void, *const Conn, *mut [u32; INFO_MAX])>;

/// `struct cc_algorithm`
#[repr(C)]
pub(crate) struct CcAlgorithm {
    abi: u32,
    pub(crate) family: u32,
    pub(crate) year: u32,
    pub(crate) flags: u32,
    parameter_count: u32,
    preset_count: u32,
    name: *const c_char,
    title: *const c_char,
    source: *const c_char,
    summary: *const c_char,
    parameters: *const CcParameter,
    presets: *const CcPreset,
    info_names: [*const c_char; INFO_MAX],
    mode_names: [*const c_char; MODES_MAX],
    init: Plain,
    ssthresh: Window,
    cong_avoid: Notified<u32>,
    pkts_acked: Notified<*const AckSample>,
    cwnd_event: Notified<u32>,
    set_state: Notified<u32>,
    in_ack_event: Notified<u32>,
    undo_cwnd: Window,
    cong_control: Notified<*const RateSample>,
    info: Info,
}

include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));

unsafe extern "C" {
    static dumbbell_algorithm_learner: CcAlgorithm;
    static dumbbell_layout: [u32; LAYOUT.len()];
    static dumbbell_layout_numbers: u32;
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    static dumbbell_guarded_hooks: CcAlgorithm;
    fn dumbbell_guarded_limit(limit_us: u64);
    fn dumbbell_guarded_stalled(algorithm: *mut *const c_char) -> *const c_char;
}

/// Size of a mirror, then size and offset of each of its fields. If a field is missing here, the
/// mirror does not compile.
macro_rules! layout {
    ($name:ident: $mirror:ident { $($field:ident)* }) => {
        const $name: [usize; 1 + 2 * [$(stringify!($field)),*].len()] = {
            const fn size<T, F>(_: fn(&T) -> &F) -> usize {
                size_of::<F>()
            }
            let _ = |mirror: $mirror| {
                let $mirror { $($field: _),* } = mirror;
            };
            let numbers: &[usize] = &[
                size_of::<$mirror>(),
                $(offset_of!($mirror, $field), size(|mirror: &$mirror| &mirror.$field)),*
            ];
            *numbers.first_chunk().expect("as many numbers")
        };
    };
}

layout!(CONN: Conn {
    cwnd_segs cwnd_cnt ssthresh_segs cwnd_clamp_segs pacing_rate_bytes_per_s app_limited_segs
    prior_cwnd_segs now_us delivered_segs delivered_ce_segs lost_segs resent_segs in_flight_segs
    srtt_us min_rtt_us mss_bytes snd_una snd_nxt random state cwnd_limited stack is_marked
    base_rtt_us pacing_wait_us stamp_ms echo_ms last_sent_ms
});
layout!(ACK_SAMPLE: AckSample { pkts_acked rtt_us in_flight_bytes });
layout!(RATE_SAMPLE: RateSample {
    prior_delivered_segs interval_us delivered_segs rtt_us losses_segs acked_sacked_segs
    prior_in_flight_segs is_app_limited is_ack_delayed reserved
});
layout!(PARAMETER: CcParameter { name unit what source initial low high step });
layout!(SETTING: CcSetting { parameter value });
layout!(PRESET: CcPreset { name source settings });
layout!(ALGORITHM: CcAlgorithm {
    abi family year flags parameter_count preset_count name title source summary parameters presets
    info_names mode_names init ssthresh cong_avoid pkts_acked cwnd_event set_state in_ack_event undo_cwnd
    cong_control info
});

/// The numbers of `layout.c`, computed in Rust.
const LAYOUT: &[usize] = {
    const INFO: [usize; 1] = [size_of::<[u32; INFO_MAX]>()];
    const PARTS: [&[usize]; 8] =
        [&CONN, &ACK_SAMPLE, &RATE_SAMPLE, &INFO, &PARAMETER, &SETTING, &PRESET, &ALGORITHM];
    const COUNT: usize = {
        let (mut part, mut count) = (0, 0);
        while part < PARTS.len() {
            count += PARTS[part].len();
            part += 1;
        }
        count
    };
    const ALL: [usize; COUNT] = {
        let (mut all, mut part, mut at) = ([0; COUNT], 0, 0);
        while part < PARTS.len() {
            let mut number = 0;
            while number < PARTS[part].len() {
                all[at] = PARTS[part][number];
                number += 1;
                at += 1;
            }
            part += 1;
        }
        all
    };
    &ALL
};

/// The compiled algorithms, after a check that C and Rust have the same layout.
pub(crate) fn algorithms() -> Vec<(&'static CcAlgorithm, &'static str, &'static str)> {
    // SAFETY: a constant of layout.c.
    let numbers = unsafe { dumbbell_layout_numbers };
    assert_eq!(
        numbers as usize,
        LAYOUT.len(),
        "the fields of layout.c are not those of the Rust mirrors"
    );
    // SAFETY: a constant array of layout.c, as long as LAYOUT.
    let layout_of_c = unsafe { dumbbell_layout };
    let layout_here: Vec<u32> = LAYOUT.iter().map(|number| *number as u32).collect();
    assert_eq!(layout_here, layout_of_c, "the Rust mirrors of cc.h (left) are not cc.h (right)");
    let all = compiled();
    for (algorithm, ..) in &all {
        let name = algorithm.name();
        algorithm.check(name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
    all.into()
}

/// The table of learner.c.
pub(crate) fn learner() -> &'static CcAlgorithm {
    // SAFETY: a constant that its C file defines through CC_ALGORITHM.
    let table = unsafe { &dumbbell_algorithm_learner };
    table.check("learner").unwrap_or_else(|problem| panic!("learner: {problem}"));
    table
}

/// The table of the algorithm `name` in a shared object, which stays open.
pub(crate) fn open(object: &Path, name: &str) -> Result<&'static CcAlgorithm, String> {
    let library = opened(object)?;
    let symbol = format!("dumbbell_algorithm_{name}");
    // SAFETY: `cc.h` alone defines symbols of this name, and gives them this type.
    let table = unsafe { library.get::<*const CcAlgorithm>(symbol.as_bytes()) };
    let table = *table.map_err(|error| {
        format!("has no {symbol} ({error}); end it with CC_ALGORITHM({name}, ...)")
    })?;
    forget(library);
    // SAFETY: a constant of a library that is never closed.
    Ok(unsafe { &*table })
}

/// The size of the state of the algorithm `name` in a shared object.
pub(crate) fn state_bytes(object: &Path, name: &str) -> Result<u32, String> {
    let library = opened(object)?;
    let symbol = format!("dumbbell_state_bytes_{name}");
    // SAFETY: `cc.h` alone defines symbols of this name, as constants of this type.
    let symbol = unsafe { library.get::<*const u32>(symbol.as_bytes()) };
    let symbol = symbol.map_err(|error| format!("its state cannot be measured: {error}"))?;
    // SAFETY: as above; the library is still open.
    Ok(unsafe { **symbol })
}

fn opened(object: &Path) -> Result<Library, String> {
    // SAFETY: opening runs the file's initializers. A user who names a C file wishes to run it.
    unsafe { Library::new(object) }.map_err(|error| {
        format!(
            "cannot be opened once compiled: {error}; see whether code may be run from the \
             temporary folder (TMPDIR)"
        )
    })
}

/// The table of an algorithm with the hooks of guarded.c, for parameters that [`guarded`] returns.
#[cfg(target_os = "linux")]
pub(crate) fn guarded_table(algorithm: &'static CcAlgorithm) -> CcAlgorithm {
    // SAFETY: a constant of guarded.c.
    let all = unsafe { &dumbbell_guarded_hooks };
    CcAlgorithm {
        init: algorithm.init.and(all.init),
        ssthresh: algorithm.ssthresh.and(all.ssthresh),
        cong_avoid: algorithm.cong_avoid.and(all.cong_avoid),
        pkts_acked: algorithm.pkts_acked.and(all.pkts_acked),
        cwnd_event: algorithm.cwnd_event.and(all.cwnd_event),
        set_state: algorithm.set_state.and(all.set_state),
        in_ack_event: algorithm.in_ack_event.and(all.in_ack_event),
        undo_cwnd: algorithm.undo_cwnd.and(all.undo_cwnd),
        cong_control: algorithm.cong_control.and(all.cong_control),
        info: algorithm.info.and(all.info),
        ..*algorithm
    }
}

/// Parameters with the algorithm to which guarded hooks pass a call.
#[cfg(target_os = "linux")]
pub(crate) fn guarded(mut params: Params, algorithm: &'static CcAlgorithm) -> Params {
    let bytes = std::ptr::from_ref(algorithm).expose_provenance().to_ne_bytes();
    for (word, bytes) in params[PARAMETERS_MAX..].iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    }
    params
}

/// Set the processor time of a guarded call.
pub(crate) fn limit_guarded(limit_us: u64) {
    #[cfg(target_os = "linux")]
    // SAFETY: it stores a number.
    unsafe {
        dumbbell_guarded_limit(limit_us);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = limit_us;
}

/// Algorithm and hook of the guarded call that was left in this thread, once.
pub(crate) fn stalled() -> Option<(&'static str, &'static str)> {
    #[cfg(target_os = "linux")]
    {
        let mut algorithm = std::ptr::null();
        // SAFETY: it writes one pointer, and returns a literal or null.
        let hook = unsafe { dumbbell_guarded_stalled(&raw mut algorithm) };
        (!hook.is_null()).then(|| (text(algorithm), text(hook)))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The text of a C string literal.
fn text(literal: *const c_char) -> &'static str {
    // SAFETY: every string of the tables is a literal in a C file, or was tested for null.
    let text = unsafe { CStr::from_ptr(literal) };
    text.to_str().expect("checked: it is UTF-8")
}

/// The strings of a list that ends with a null, or is full.
fn texts(literals: &[*const c_char]) -> impl Iterator<Item = &'static str> {
    literals.iter().take_while(|literal| !literal.is_null()).map(|literal| text(*literal))
}

/// Refuse a string that `text` cannot read.
fn check_text(literal: *const c_char, what: &str) -> Result<(), String> {
    if literal.is_null() {
        return Err(format!("has no {what}"));
    }
    // SAFETY: not null, so a literal in a C file.
    let text = unsafe { CStr::from_ptr(literal) };
    text.to_str().map(|_| ()).map_err(|_| format!("has a {what} that is not UTF-8"))
}

impl CcParameter {
    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }

    pub(crate) fn unit(&self) -> &'static str {
        text(self.unit)
    }

    pub(crate) fn what(&self) -> &'static str {
        text(self.what)
    }

    pub(crate) fn source(&self) -> &'static str {
        text(self.source)
    }
}

impl CcPreset {
    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }

    pub(crate) fn source(&self) -> &'static str {
        text(self.source)
    }

    /// Index of a parameter, and its value.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (usize, u32)> {
        self.settings
            .iter()
            .take_while(|setting| setting.parameter != 0)
            .map(|setting| (setting.parameter as usize - 1, setting.value))
    }
}

impl CcAlgorithm {
    pub(crate) fn name(&self) -> &'static str {
        text(self.name)
    }

    pub(crate) fn title(&self) -> &'static str {
        text(self.title)
    }

    pub(crate) fn source(&self) -> &'static str {
        text(self.source)
    }

    pub(crate) fn summary(&self) -> &'static str {
        text(self.summary)
    }

    pub(crate) fn parameters(&self) -> &'static [CcParameter] {
        // SAFETY: CC_ALGORITHM sets pointer and count from one constant array.
        unsafe { std::slice::from_raw_parts(self.parameters, self.parameter_count as usize) }
    }

    pub(crate) fn presets(&self) -> &'static [CcPreset] {
        // SAFETY: CC_ALGORITHM sets pointer and count from one constant array.
        unsafe { std::slice::from_raw_parts(self.presets, self.preset_count as usize) }
    }

    pub(crate) fn info_names(&self) -> Vec<&'static str> {
        texts(&self.info_names).collect()
    }

    pub(crate) fn mode_names(&self) -> Vec<&'static str> {
        texts(&self.mode_names).collect()
    }

    /// Index of the number that reports the mode; none: it has no modes.
    pub(crate) fn mode(&self) -> Option<usize> {
        texts(&self.info_names).position(|name| name == MODE).filter(|_| self.has_modes())
    }

    const fn has_modes(&self) -> bool {
        !self.mode_names[0].is_null()
    }

    #[inline]
    pub(crate) fn has_cong_control(&self) -> bool {
        self.cong_control.is_some()
    }

    pub(crate) const fn has_renos_bound(&self) -> bool {
        self.flags & RENOS_BOUND != 0
    }

    /// Refuse a table that the registry cannot read or a stack cannot use.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        if self.abi != ABI {
            return Err(format!("was built against version {} of cc.h, not {ABI}", self.abi));
        }
        for (literal, what) in [
            (self.name, "name"),
            (self.title, ".title in CC_ALGORITHM"),
            (self.source, ".source in CC_ALGORITHM"),
            (self.summary, ".summary in CC_ALGORITHM"),
        ] {
            check_text(literal, what)?;
        }
        if self.family > FAMILY_MAX {
            return Err(format!("has an unknown .family {} in CC_ALGORITHM", self.family));
        }
        for info in self.info_names.iter().take_while(|info| !info.is_null()) {
            check_text(*info, "name of an info")?;
        }
        self.check_modes()?;
        self.check_hooks(name)?;
        self.parameters().iter().try_for_each(CcParameter::check)?;
        self.presets().iter().try_for_each(|preset| preset.check(self.parameter_count))
    }

    fn check_modes(&self) -> Result<(), String> {
        for mode in self.mode_names.iter().take_while(|mode| !mode.is_null()) {
            check_text(*mode, "name of a mode")?;
        }
        if self.has_modes() && self.mode().is_none() {
            return Err(format!(
                "names its modes but reports none; add \"{MODE}\" to .info_names, or take away \
                 .mode_names"
            ));
        }
        if self.has_modes() && self.info.is_none() {
            return Err("names its modes but has no info, which reports the present one".into());
        }
        Ok(())
    }

    fn check_hooks(&self, name: &str) -> Result<(), String> {
        if self.ssthresh.is_none() {
            return Err(format!(
                "has no ssthresh, which returns the window after a loss; add H({name}, ssthresh) to \
                 {name}_hooks"
            ));
        }
        if self.cong_avoid.is_some() == self.cong_control.is_some() {
            let has = if self.cong_avoid.is_some() { "both" } else { "neither" };
            return Err(format!(
                "has {has} of cong_avoid and cong_control; list exactly one in {name}_hooks"
            ));
        }
        Ok(())
    }
}

impl CcParameter {
    fn check(&self) -> Result<(), String> {
        check_text(self.name, "name of a parameter")?;
        let name = self.name();
        for (literal, what) in [(self.unit, "unit"), (self.what, "what"), (self.source, "source")] {
            check_text(literal, &format!("{what} of parameter {name}"))?;
        }
        if self.step == 0 || self.low > self.high {
            return Err(format!(
                "has no valid value for parameter {name}; write CC_RANGE(low, high), CC_SWITCH, or \
                 CC_EITHER of two different values"
            ));
        }
        Ok(())
    }
}

impl CcPreset {
    fn check(&self, parameters: u32) -> Result<(), String> {
        check_text(self.name, "name of a preset")?;
        check_text(self.source, &format!("source of preset {}", self.name()))?;
        if self.settings().any(|(index, _)| index >= parameters as usize) {
            return Err(format!("sets in preset {} what is no parameter", self.name()));
        }
        Ok(())
    }
}

/// Define a hook that returns a window; `None`: the algorithm has no such hook.
macro_rules! window_hooks {
    ($($hook:ident),*) => {
        $(#[inline]
        pub(crate) fn $hook(&self, params: &Params, state: &mut State, conn: &Conn) -> Option<u32> {
            let hook = self.$hook?;
            // SAFETY: see the head of this module.
            Some(unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn) })
        })*
    };
}

/// Define a hook with an input. If the algorithm has no such hook, nothing happens.
macro_rules! input_hooks {
    ($($hook:ident: $argument:ty),*) => {
        $(#[inline]
        pub(crate) fn $hook(
            &self,
            params: &Params,
            state: &mut State,
            conn: &mut Conn,
            argument: $argument,
        ) {
            if let Some(hook) = self.$hook {
                // SAFETY: see the head of this module.
                unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn, argument) }
            }
        })*
    };
}

impl CcAlgorithm {
    window_hooks!(ssthresh, undo_cwnd);
    input_hooks!(
        cong_avoid: u32,
        pkts_acked: &AckSample,
        cwnd_event: u32,
        set_state: u32,
        in_ack_event: u32,
        cong_control: &RateSample
    );

    #[inline]
    pub(crate) fn init(&self, params: &Params, state: &mut State, conn: &mut Conn) {
        if let Some(hook) = self.init {
            // SAFETY: see the head of this module.
            unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn) }
        }
    }

    #[inline]
    pub(crate) fn info(&self, params: &Params, state: &State, conn: &Conn) -> [u32; INFO_MAX] {
        let mut values = [0; INFO_MAX];
        if let Some(hook) = self.info {
            // SAFETY: see the head of this module.
            unsafe { hook(params.as_ptr().cast(), state.as_ptr().cast(), conn, &mut values) }
        }
        values
    }
}

// SAFETY: the tables are constants that nothing writes to.
unsafe impl Sync for CcAlgorithm {}
// SAFETY: the tables are constants that nothing writes to.
unsafe impl Send for CcAlgorithm {}
