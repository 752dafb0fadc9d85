//! The algorithms that are built in, and their parameters.

use crate::error::{AlgorithmError, nearest};
use crate::ffi;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// Congestion signal of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Loss of packets.
    Loss,
    /// Delay of packets.
    Delay,
    /// Loss and delay.
    Hybrid,
    /// Delivery rate.
    Rate,
    /// Congestion marks.
    Ecn,
}

/// Features of the stack that an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Pacing at the rate that it sets.
    Pacing,
    /// A new random number for each call.
    Random,
    /// Congestion marks in the network.
    Ecn,
    /// Bytes delivered while a segment was in flight.
    Rates,
    /// One-way delays from timestamps.
    OneWay,
}

/// A parameter of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its initial value.
    pub initial: u32,
    /// The smallest valid value.
    pub low: u32,
    /// The largest valid value.
    pub high: u32,
    /// Distance between two valid values.
    pub step: u32,
    /// Its meaning.
    pub what: &'static str,
    /// Source of the parameter and its initial value.
    pub source: &'static str,
}

impl Parameter {
    fn accepts(&self, value: u32) -> bool {
        (self.low..=self.high).contains(&value) && (value - self.low) % self.step == 0
    }
}

/// Named values of some parameters of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preset {
    /// Its name, such as that of the study with these values.
    pub name: &'static str,
    /// Source of the values.
    pub source: &'static str,
    /// The parameters that it sets.
    pub values: BTreeMap<&'static str, u32>,
}

/// A congestion-control algorithm, its parameters and presets.
#[derive(Serialize)]
pub struct Algorithm {
    /// Its name, Linux's where Linux has it.
    pub name: &'static str,
    /// Its name as written in text.
    pub title: &'static str,
    /// Its congestion signal.
    pub family: Family,
    /// Year of its publication.
    pub year: u32,
    /// Its publication.
    pub source: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Features of the stack that it needs.
    pub flags: Vec<Need>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its presets.
    pub presets: Vec<Preset>,
    /// Names of the numbers that [`crate::Instance::report`] returns.
    pub info: Vec<&'static str>,
    /// Names of its modes, indexed by the number called `mode`; none: it has no modes.
    pub modes: Vec<&'static str>,
    /// SHA-256 of its source and of the headers.
    pub source_hash: &'static str,
    /// Its source, which the testbed compiles for the kernel. Its first comment is its
    /// documentation.
    pub code: &'static str,
    /// Index of the number that is the mode; none: it has no modes.
    #[serde(skip)]
    pub(crate) mode: Option<usize>,
    #[serde(skip)]
    pub(crate) hooks: Hooks,
    #[cfg(target_os = "linux")]
    #[serde(skip)]
    guarded: OnceLock<Hooks>,
}

/// The C side of an algorithm. Its tables are constant, so threads may share it.
#[derive(Clone, Copy)]
pub(crate) struct Hooks(pub(crate) &'static ffi::CcAlgorithm);

impl fmt::Debug for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Algorithm({})", self.name)
    }
}

impl Algorithm {
    pub(crate) fn new(
        c: &'static ffi::CcAlgorithm,
        source_hash: &'static str,
        code: &'static str,
    ) -> Self {
        let parameters: Vec<Parameter> = c.parameters().iter().map(Parameter::new).collect();
        let presets = c.presets().iter().map(|preset| Preset::new(preset, &parameters)).collect();
        Self {
            name: c.name(),
            title: c.title(),
            family: family(c.family),
            year: c.year,
            source: c.source(),
            summary: c.summary(),
            flags: needs(c.flags),
            parameters,
            presets,
            info: c.info_names(),
            modes: c.mode_names(),
            source_hash,
            code,
            mode: c.mode(),
            hooks: Hooks(c),
            #[cfg(target_os = "linux")]
            guarded: OnceLock::new(),
        }
    }

    /// Its hooks with a way out, for [`crate::Instance::guarded`].
    #[cfg(target_os = "linux")]
    pub(crate) fn guarded(&self) -> Hooks {
        *self.guarded.get_or_init(|| Hooks(Box::leak(Box::new(ffi::guarded_table(self.hooks.0)))))
    }

    /// Return true if it controls window and rate in all states, recovery included.
    pub fn has_cong_control(&self) -> bool {
        self.hooks.0.has_cong_control()
    }

    /// Return true if it is user-defined, not built in.
    pub fn is_user_defined(&self) -> bool {
        !registry().iter().any(|known| std::ptr::eq(known, self))
    }

    /// Return true if Linux 2.6.13 to 3.1 bounded its window as Reno's while losses were repaired.
    pub fn has_renos_bound(&self) -> bool {
        self.hooks.0.has_renos_bound()
    }

    /// Values of the parameters: initial, then the preset's, then `overrides`.
    ///
    /// # Errors
    /// If there is no such preset or parameter, or a value is out of range.
    pub fn values(
        &self,
        preset: Option<&str>,
        overrides: &BTreeMap<String, u32>,
    ) -> Result<Vec<u32>, AlgorithmError> {
        let mut values: Vec<u32> = self.parameters.iter().map(|row| row.initial).collect();
        if let Some(name) = preset {
            for (parameter, value) in &self.preset(name)?.values {
                values[self.parameter(parameter)?] = *value;
            }
        }
        for (name, value) in overrides {
            let index = self.parameter(name)?;
            self.check(&self.parameters[index], *value)?;
            values[index] = *value;
        }
        Ok(values)
    }

    fn preset(&self, name: &str) -> Result<&Preset, AlgorithmError> {
        self.presets.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let known: Vec<_> = self.presets.iter().map(|preset| preset.name).collect();
            AlgorithmError::UnknownPreset {
                algorithm: self.name,
                name: name.to_owned(),
                nearest: nearest(name, &known),
                known,
            }
        })
    }

    fn parameter(&self, name: &str) -> Result<usize, AlgorithmError> {
        self.parameters.iter().position(|row| row.name == name).ok_or_else(|| {
            let known: Vec<_> = self.parameters.iter().map(|row| row.name).collect();
            AlgorithmError::UnknownParameter {
                algorithm: self.name,
                name: name.to_owned(),
                nearest: nearest(name, &known),
                known,
            }
        })
    }

    fn check(&self, row: &Parameter, value: u32) -> Result<(), AlgorithmError> {
        if row.accepts(value) {
            return Ok(());
        }
        Err(AlgorithmError::OutOfRange {
            algorithm: self.name,
            parameter: row.name,
            value,
            low: row.low,
            high: row.high,
            step: row.step,
            unit: row.unit,
        })
    }
}

impl Parameter {
    fn new(c: &ffi::CcParameter) -> Self {
        Self {
            name: c.name(),
            unit: c.unit(),
            initial: c.initial,
            low: c.low,
            high: c.high,
            step: c.step,
            what: c.what(),
            source: c.source(),
        }
    }
}

impl Preset {
    fn new(c: &ffi::CcPreset, parameters: &[Parameter]) -> Self {
        let values = c.settings().map(|(index, value)| (parameters[index].name, value)).collect();
        Self { name: c.name(), source: c.source(), values }
    }
}

fn family(code: u32) -> Family {
    [Family::Loss, Family::Delay, Family::Hybrid, Family::Rate, Family::Ecn][code as usize]
}

fn needs(flags: u32) -> Vec<Need> {
    [(1, Need::Pacing), (2, Need::Random), (4, Need::Ecn), (8, Need::Rates), (16, Need::OneWay)]
        .into_iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|(_, need)| need)
        .collect()
}

/// All built-in algorithms, in the order of their names.
pub fn registry() -> &'static [Algorithm] {
    static REGISTRY: OnceLock<Vec<Algorithm>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        ffi::algorithms().into_iter().map(|(c, hash, code)| Algorithm::new(c, hash, code)).collect()
    })
}
