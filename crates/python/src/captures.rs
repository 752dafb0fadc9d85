//! Captures of packets, read from files of Python.

use std::io::{self, ErrorKind, Read};
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use dumbbell_capture::{Options, ReadError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Cancelled;
use crate::runs::{CancelToken, control};

/// Return true if a file that begins so is a packet capture.
#[pyfunction]
pub(crate) fn is_capture(start: &[u8]) -> bool {
    dumbbell_capture::is_capture(start)
}

/// A file of Python: an object whose `read(n)` returns at most n bytes, and none at the end.
struct PythonFile(Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.call_method1(py, "read", (buffer.len(),))?;
            let bytes = read.bind(py).cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            let read = buffer.get_mut(..bytes.len()).ok_or(ErrorKind::InvalidData)?;
            read.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

/// Describe the TCP connections of a capture as JSON; raises ValueError with the reason if it is
/// not a capture.
#[pyfunction]
#[pyo3(signature = (file, step_ns, least_share, cancel=None))]
pub(crate) fn read_capture(
    py: Python<'_>,
    file: Py<PyAny>,
    step_ns: NonZeroU64,
    least_share: f64,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let options = Options { step_ns, least_share };
    let may_continue = || !control.cancelled.load(Ordering::Relaxed);
    py.detach(|| match dumbbell_capture::connections(PythonFile(file), options, may_continue) {
        Ok(capture) => {
            Ok(serde_json::to_string(&capture).expect("a capture has only plain values"))
        }
        Err(ReadError::Cancelled) => Err(Cancelled::new_err(())),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    })
}
