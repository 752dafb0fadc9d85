//! The algorithms that are built in, and their parameters.

use crate::error::{AlgorithmError, nearest};
use crate::ffi;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// What an algorithm listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Loss of packets.
    Loss,
    /// Delay of packets.
    Delay,
    /// Loss and delay.
    Hybrid,
    /// The rate of delivery.
    Rate,
    /// Congestion marks.
    Ecn,
}

/// What an algorithm needs of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Sending at the rate that it sets.
    Pacing,
    /// A fresh random number in each call.
    Random,
    /// Congestion marks in the network.
    Ecn,
    /// What was delivered while a segment was in flight.
    Rates,
    /// What timestamps tell of the way there alone.
    OneWay,
}

/// One number that can be set in an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it counts in.
    pub unit: &'static str,
    /// Its value unless set otherwise.
    pub initial: u32,
    /// The smallest valid value.
    pub low: u32,
    /// The largest valid value.
    pub high: u32,
    /// Distance between two valid values.
    pub step: u32,
    /// What it means.
    pub what: &'static str,
    /// Where it and its initial value come from.
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
    /// Its name, such as that of the study it comes from.
    pub name: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// The parameters that it sets.
    pub values: BTreeMap<&'static str, u32>,
}

/// A congestion-control algorithm and what can be set in it.
#[derive(Serialize)]
pub struct Algorithm {
    /// Its name, Linux's where Linux has it.
    pub name: &'static str,
    /// Its name as written in text.
    pub title: &'static str,
    /// What it listens to.
    pub family: Family,
    /// Year of its publication.
    pub year: u32,
    /// Where it was published.
    pub source: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it needs of the stack.
    pub flags: Vec<Need>,
    /// What can be set.
    pub parameters: Vec<Parameter>,
    /// Named settings.
    pub presets: Vec<Preset>,
    /// Names of the numbers that [`crate::Instance::report`] gives.
    pub info: Vec<&'static str>,
    /// Names of its modes, by the number that is called `mode`; none: it has no modes.
    pub modes: Vec<&'static str>,
    /// SHA-256 of its source.
    pub source_hash: &'static str,
    /// Its source: compiled for the kernel, and its first comment is its documentation.
    pub code: &'static str,
    /// Which of its numbers is the mode; none: it has no modes.
    #[serde(skip)]
    pub(crate) mode: Option<usize>,
    #[serde(skip)]
    pub(crate) hooks: Hooks,
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
        }
    }

    /// Whether it controls window and rate itself, in recovery too.
    pub fn has_cong_control(&self) -> bool {
        self.hooks.0.has_cong_control()
    }

    /// Whether it is a user's own rather than built in.
    pub fn is_own(&self) -> bool {
        !registry().iter().any(|known| std::ptr::eq(known, self))
    }

    /// Whether Linux 2.6.13 to 3.1 bounded its window as Reno's while losses were repaired.
    pub fn has_renos_bound(&self) -> bool {
        self.hooks.0.has_renos_bound()
    }

    /// The parameters' values: initial, then the preset's, then `overrides`.
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

/// Every algorithm that is built in, in the order of their names.
pub fn registry() -> &'static [Algorithm] {
    static REGISTRY: OnceLock<Vec<Algorithm>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        ffi::algorithms().into_iter().map(|(c, hash, code)| Algorithm::new(c, hash, code)).collect()
    })
}
