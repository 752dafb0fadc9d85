//! An algorithm in the kernel whose hooks a caller calls without a socket.

use std::fmt;

use dumbbell_algorithm::call::{Call, Outcome};
use libbpf_rs::{OpenObject, ProgramInput};

use super::complaint;
use super::messages;
use super::object::Object;
use super::record::{Record, to_bytes};
use super::registered::{refused, write_parameters};
use crate::error::Error;

/// The program of `bpf/play.h`.
const PROGRAM: &str = "cc_play";

/// An algorithm, loaded with its parameters for single calls. The machine's TCP cannot use it.
pub struct Played {
    name: String,
    object: libbpf_rs::Object,
}

impl fmt::Debug for Played {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Played({})", self.name)
    }
}

impl Played {
    /// Load an object of [`super::compile_for_calls`] with values of the parameters, in their
    /// order.
    ///
    /// # Errors
    /// If the verifier rejects it, or the kernel cannot load it.
    pub fn new(object: &Object, values: &[u32]) -> Result<Self, Error> {
        let load = || {
            let mut open = libbpf_rs::ObjectBuilder::default().open_memory(&object.bytes)?;
            prepare(&mut open, values)?;
            open.load()
        };
        let (loaded, messages) = messages::of(load);
        let loaded = loaded.map_err(|error| {
            complaint::of_verifier(&object.name, &object.file, &messages)
                .unwrap_or_else(|| refused(&object.name, &error, &messages))
        })?;
        Ok(Self { name: object.name.clone(), object: loaded })
    }

    /// Make a call.
    ///
    /// # Errors
    /// If the kernel cannot run it.
    pub fn call(&mut self, call: &Call) -> Result<Outcome, Error> {
        let mut bytes = to_bytes(call);
        let program = self.object.progs_mut().find(|program| program.name() == PROGRAM);
        let input = ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() };
        let run = program.expect("play.h defines it").test_run(input);
        run.map_err(|error| refused(&self.name, &error, ""))?;
        let record = Record::read(&bytes).ok_or_else(|| not_left(&self.name))?;
        Ok(record.outcome())
    }
}

/// Set the parameters, and omit the maps for connections, of which there are none here.
fn prepare(open: &mut OpenObject, values: &[u32]) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        match map.name().to_string_lossy().as_ref() {
            "cc_flows" | "cc_records" => map.set_autocreate(false)?,
            ".rodata.dumbbell" => write_parameters(&mut map, values),
            _ => {}
        }
    }
    Ok(())
}

fn not_left(name: &str) -> Error {
    Error::machine(
        &format!("cannot read what '{name}' left in the kernel"),
        &"it is no outcome of a call",
        "see dumbbell doctor, and report it",
    )
}
