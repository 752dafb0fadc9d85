//! The algorithm of a flow that a learner steers from outside, step by step.
//!
//! No scenario names it, so it is not in the registry. An environment gives it to the flows that
//! learners steer. [`Instance::init`] begins a step with the current window.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::ffi;
use crate::instance::Instance;
use crate::registry::Algorithm;

/// An instance for one connection.
///
/// # Panics
/// Never: it has no parameters.
#[must_use]
pub fn learner() -> Instance {
    static LEARNER: OnceLock<Algorithm> = OnceLock::new();
    let algorithm = LEARNER.get_or_init(|| Algorithm::new(ffi::learner(), "", ""));
    Instance::of(algorithm, None, &BTreeMap::new()).expect("nothing can be set in it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conn::{AckSample, Conn, NO_RTT, RateSample};

    #[test]
    fn it_keeps_the_window_of_its_step_and_the_smallest_rtt_in_it() {
        let (mut learner, mut conn) = (learner(), Conn { cwnd_segs: 30, ..Conn::default() });
        let sample = |rtt_us| AckSample { pkts_acked: 1, rtt_us, in_flight_bytes: 0 };
        learner.init(&mut conn);
        assert_eq!(learner.report(&conn)[0], NO_RTT);
        for rtt_us in [-1, 900, 700, 800] {
            learner.pkts_acked(&mut conn, &sample(rtt_us));
        }
        // A timeout.
        assert_eq!(learner.ssthresh(&conn), 30);
        conn.cwnd_segs = 1;
        learner.cong_control(&mut conn, &RateSample::default());
        assert_eq!((conn.cwnd_segs, learner.report(&conn)[0]), (30, 700));
        conn.cwnd_segs = 40;
        learner.init(&mut conn);
        assert_eq!((learner.undo_cwnd(&conn), learner.report(&conn)[0]), (40, NO_RTT));
    }
}
