//! Ports identify flows: both ends of a flow use the same number.

const FIRST: u16 = 1_024;

/// Most flows of one run.
pub const FLOWS_MAX: usize = (u16::MAX - FIRST) as usize + 1;

/// The port of a flow at both ends.
///
/// # Panics
/// If there are no ports for so many flows.
#[must_use]
pub fn port_of_flow(flow: usize) -> u16 {
    assert!(flow < FLOWS_MAX, "flow {flow} has no port");
    FIRST + flow as u16
}

/// The flow that uses a port.
#[must_use]
pub fn flow_of_port(port: u16) -> Option<usize> {
    port.checked_sub(FIRST).map(usize::from)
}
