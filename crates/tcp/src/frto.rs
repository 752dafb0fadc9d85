//! F-RTO: was a retransmission timeout spurious? (RFC 5682, section 3)
//!
//! After the timeout one segment is sent again. If its acknowledgement advances, new
//! segments are sent instead of further retransmissions; if what then arrives was in
//! flight before the timeout and never sent again, nothing had been lost.

/// The detection of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frto {
    /// No timeout is under suspicion.
    #[default]
    Idle,
    /// The first segment was sent again, and nothing else yet.
    Suspects,
    /// New segments are sent instead of retransmissions.
    Probes,
}

/// What an acknowledgement in the Loss state says.
#[derive(Clone, Copy, Debug)]
pub struct LossAck {
    /// The lowest segment newly delivered that was sent only once.
    pub original: Option<u64>,
    /// Next new segment when the timeout happened, or when probing began.
    pub high_seq: u64,
    /// The cumulative acknowledgement moved.
    pub advanced: bool,
    /// There is new data to probe with.
    pub has_new_data: bool,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing was lost.
    Spurious,
    /// Send new segments, and remember from where on they are new.
    Probe,
    /// Go on as after any timeout.
    Conventional,
}

impl Frto {
    /// Takes an acknowledgement that leaves data of before the timeout outstanding.
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
