//! The C side: its tables, its hooks, and the only unsafe code.
//!
//! What is relied on throughout: `cc.h` gives every hook pointer its type, the
//! layouts agree (compared once, in [`algorithms`]), a hook touches nothing but
//! what its arguments point to, and `CC_ALGORITHM` asserts at compile time that
//! parameters and state fit into [`Params`] and [`State`]. A hook writes only the
//! first block of [`Conn`], so that the enumeration and booleans in it stay valid.

use crate::conn::{AckSample, Conn, RateSample};
use std::ffi::{CStr, c_char, c_void};
use std::mem::{offset_of, size_of};

/// `CC_PARAMETERS_MAX`
pub(crate) const PARAMETERS_MAX: usize = 24;
const SETTINGS_MAX: usize = 12;
/// `CC_INFO_MAX`
pub(crate) const INFO_MAX: usize = 4;
const ABI: u32 = 2;

/// Memory of an algorithm's parameters, in the order of their rows.
pub(crate) type Params = [u32; PARAMETERS_MAX];
/// Memory of an algorithm's state, `CC_STATE_BYTES`, zero at first.
pub(crate) type State = [u64; 13];

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
type Asked = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *const Conn) -> u32>;
type Told<T> = Option<unsafe extern "C" fn(*const c_void, *mut c_void, *mut Conn, T)>;
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
    init: Plain,
    ssthresh: Asked,
    cong_avoid: Told<u32>,
    pkts_acked: Told<*const AckSample>,
    cwnd_event: Told<u32>,
    set_state: Told<u32>,
    in_ack_event: Told<u32>,
    undo_cwnd: Asked,
    cong_control: Told<*const RateSample>,
    info: Info,
}

include!(concat!(env!("OUT_DIR"), "/algorithms.rs"));

unsafe extern "C" {
    static dumbbell_layout: [u32; LAYOUT.len()];
}

/// The numbers of `layout.c`, from this side.
const LAYOUT: [usize; 27] = [
    size_of::<Conn>(),
    offset_of!(Conn, pacing_rate_bytes_per_s),
    offset_of!(Conn, app_limited_segs),
    offset_of!(Conn, now_us),
    offset_of!(Conn, lost_segs),
    offset_of!(Conn, random),
    offset_of!(Conn, state),
    offset_of!(Conn, cwnd_limited),
    offset_of!(Conn, stack),
    offset_of!(Conn, one_way_ticks),
    offset_of!(Conn, in_flight_segs),
    size_of::<AckSample>(),
    offset_of!(AckSample, in_flight_bytes),
    size_of::<RateSample>(),
    offset_of!(RateSample, delivered_segs),
    offset_of!(RateSample, is_app_limited),
    offset_of!(RateSample, is_ack_delayed),
    size_of::<[u32; INFO_MAX]>(),
    size_of::<CcParameter>(),
    offset_of!(CcParameter, step),
    size_of::<CcPreset>(),
    offset_of!(CcPreset, settings),
    size_of::<CcAlgorithm>(),
    offset_of!(CcAlgorithm, name),
    offset_of!(CcAlgorithm, info_names),
    offset_of!(CcAlgorithm, init),
    offset_of!(CcAlgorithm, info),
];

/// The compiled algorithms, once it is certain that both sides mean the same.
pub(crate) fn algorithms() -> Vec<(&'static CcAlgorithm, &'static str, &'static str)> {
    // SAFETY: a constant array of layout.c, as long as LAYOUT.
    let layout_of_c = unsafe { dumbbell_layout };
    let layout_here = LAYOUT.map(|number| number as u32);
    assert_eq!(layout_here, layout_of_c, "the Rust mirrors of cc.h (left) are not cc.h (right)");
    let all = compiled();
    for (algorithm, ..) in &all {
        let name = algorithm.name();
        assert_eq!(algorithm.abi, ABI, "{name} was built against another cc.h");
        assert!(algorithm.ssthresh.is_some(), "{name} has no ssthresh hook");
        assert_ne!(
            algorithm.cong_avoid.is_some(),
            algorithm.cong_control.is_some(),
            "{name} must have one of cong_avoid and cong_control"
        );
    }
    all.into()
}

/// The text of a C string literal.
fn text(literal: *const c_char) -> &'static str {
    // SAFETY: every string of the tables is a literal in a C file, or was tested for null.
    let text = unsafe { CStr::from_ptr(literal) };
    text.to_str().expect("algorithms/*.c are UTF-8")
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
        self.info_names.iter().take_while(|name| !name.is_null()).map(|name| text(*name)).collect()
    }

    #[inline]
    pub(crate) fn has_cong_control(&self) -> bool {
        self.cong_control.is_some()
    }
}

/// A hook whose answer is a window; `None` where the algorithm lacks it.
macro_rules! asked {
    ($($hook:ident),*) => {
        $(#[inline]
        pub(crate) fn $hook(&self, params: &Params, state: &mut State, conn: &Conn) -> Option<u32> {
            let hook = self.$hook?;
            // SAFETY: as told at the head of this module.
            Some(unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn) })
        })*
    };
}

/// A hook that is told something; nothing happens where the algorithm lacks it.
macro_rules! told {
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
                // SAFETY: as told at the head of this module.
                unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn, argument) }
            }
        })*
    };
}

impl CcAlgorithm {
    asked!(ssthresh, undo_cwnd);
    told!(
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
            // SAFETY: as told at the head of this module.
            unsafe { hook(params.as_ptr().cast(), state.as_mut_ptr().cast(), conn) }
        }
    }

    #[inline]
    pub(crate) fn info(&self, params: &Params, state: &State, conn: &Conn) -> [u32; INFO_MAX] {
        let mut values = [0; INFO_MAX];
        if let Some(hook) = self.info {
            // SAFETY: as told at the head of this module.
            unsafe { hook(params.as_ptr().cast(), state.as_ptr().cast(), conn, &mut values) }
        }
        values
    }
}

// SAFETY: the tables are constants that nothing writes to.
unsafe impl Sync for CcAlgorithm {}
// SAFETY: the tables are constants that nothing writes to.
unsafe impl Send for CcAlgorithm {}
