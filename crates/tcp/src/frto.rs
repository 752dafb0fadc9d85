//! F-RTO: detection of spurious retransmission timeouts (RFC 5682, section 3).
//!
//! After the timeout one segment is sent again. If its ACK advances, new segments are sent instead
//! of further retransmissions. If the next ACK then covers a segment that was in flight before the
//! timeout and was never sent again, nothing had been lost.

/// State of the detection for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// No timeout is suspected.
    #[default]
    Idle,
    /// The first segment was sent again, and nothing else yet.
    Suspects,
    /// New segments are sent instead of retransmissions.
    Probes,
}

/// An ACK in the Loss state.
#[derive(Clone, Copy, Debug)]
pub struct LossAck {
    /// The lowest newly delivered segment that was sent only once; None if there is none.
    pub original: Option<u64>,
    /// The next new segment at the timeout, or at the start of probing.
    pub high_seq: u64,
    /// True if the cumulative ACK advanced.
    pub advanced: bool,
    /// True if there is new data to probe with.
    pub has_new_data: bool,
}

/// Next step after such an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing was lost.
    Spurious,
    /// Send new segments, and remember the first of them.
    Probe,
    /// Continue as after any timeout.
    Conventional,
}

impl Frto {
    /// Process an ACK that leaves segments from before the timeout outstanding.
    pub fn judge(&mut self, ack: LossAck) -> Step {
        let was_in_flight = |segment: u64| segment < ack.high_seq && *self != Self::Idle;
        let step = if ack.original.is_some_and(was_in_flight) {
            Step::Spurious
        // Each ACK decides: only a probe leaves the question open for the next.
        } else if *self == Self::Suspects && ack.advanced && ack.has_new_data {
            Step::Probe
        } else {
            Step::Conventional
        };
        *self = if step == Step::Probe { Self::Probes } else { Self::Idle };
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: LossAck =
        LossAck { original: None, high_seq: 20, advanced: false, has_new_data: true };
    const ADVANCE: LossAck = LossAck { advanced: true, ..NOTHING };

    #[test]
    fn original_data_after_new_segments_proves_the_timeout_spurious() {
        let mut frto = Frto::Suspects;
        assert_eq!(frto.judge(ADVANCE), Step::Probe);
        assert_eq!(frto.judge(LossAck { original: Some(12), ..ADVANCE }), Step::Spurious);
        assert_eq!(frto, Frto::Idle);
    }

    #[test]
    fn only_new_segments_delivered_mean_that_the_loss_was_real() {
        let mut frto = Frto::Suspects;
        assert_eq!(frto.judge(ADVANCE), Step::Probe);
        assert_eq!(frto.judge(LossAck { original: Some(20), ..NOTHING }), Step::Conventional);
        assert_eq!(frto.judge(LossAck { original: Some(12), ..ADVANCE }), Step::Conventional);
    }

    #[test]
    fn a_duplicate_ack_or_nothing_new_to_send_ends_it() {
        assert_eq!(Frto::Suspects.judge(NOTHING), Step::Conventional);
        let nothing_new = LossAck { has_new_data: false, ..ADVANCE };
        assert_eq!(Frto::Suspects.judge(nothing_new), Step::Conventional);
        assert_eq!(Frto::Idle.judge(ADVANCE), Step::Conventional);
    }
}
