//! Keeps what the applications do and what the sockets say.

use dumbbell_network::Time;
use dumbbell_record::{Event, EventKind, FlowSample, Internal, RecordConfig, Request};

use crate::traffic::app::Message;
use crate::traffic::tcp_info::{Moment, TcpInfo};

/// The tables of a run while it goes on.
#[derive(Debug)]
pub struct Recorder {
    kinds: Vec<EventKind>,
    algorithm_state: bool,
    pub flows: Vec<FlowSample>,
    pub internals: Vec<Internal>,
    pub requests: Vec<Request>,
    pub events: Vec<Event>,
}

impl Recorder {
    /// Empty tables.
    pub fn new(config: &RecordConfig) -> Self {
        Self {
            kinds: config.events.clone(),
            algorithm_state: config.algorithm_state,
            flows: Vec::new(),
            internals: Vec::new(),
            requests: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Keeps an event of a flow if its kind is wanted.
    pub fn event(&mut self, now: Time, kind: EventKind, flow: u32, info: &TcpInfo) {
        if self.kinds.contains(&kind) {
            self.events.push(Event {
                time_ns: now.0,
                kind: kind as u8,
                flow,
                segment: info.next_segment(),
                cwnd_segs: info.cwnd_segs(),
                ssthresh_segs: info.ssthresh_segs(),
            });
        }
    }

    /// Keeps a request or transfer that is complete.
    pub fn request(&mut self, now: Time, flow: u32, message: Message) {
        self.requests.push(Request {
            time_ns: message.issued.0,
            flow,
            number: message.number,
            bytes: message.bytes,
            latency_ns: now.since(message.issued).0,
        });
    }

    /// Keeps a sample.
    pub fn sample(&mut self, time: Time, flow: u32, moment: &Moment, paced: bool) {
        self.flows.push(moment.sample(time.0, flow, paced));
        if let Some([info0, info1, info2, info3]) = self.internals_of(moment) {
            let time_ns = time.0;
            self.internals.push(Internal { time_ns, flow, info0, info1, info2, info3 });
        }
    }

    fn internals_of(&self, moment: &Moment) -> Option<[u32; 4]> {
        moment.seen?.info.filter(|_| self.algorithm_state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Seen;

    #[test]
    fn internal_values_are_kept_where_they_are_asked_for_and_known() {
        let seen = |info| Some(Seen { info, ..Seen::default() });
        let keep = |algorithm_state, seen| {
            let (interval_ns, events, capture) = (None, Vec::new(), false);
            let config = RecordConfig { interval_ns, events, algorithm_state, capture };
            let mut recorder = Recorder::new(&config);
            let moment = Moment { sender: TcpInfo::default(), received_bytes: 0, seen };
            recorder.sample(Time(3), 2, &moment, false);
            assert_eq!(recorder.flows.len(), 1);
            recorder.internals.iter().map(|row| (row.time_ns, row.info3)).collect::<Vec<_>>()
        };
        assert_eq!(keep(true, seen(Some([1, 2, 3, 4]))), [(3, 4)]);
        assert_eq!(keep(false, seen(Some([1, 2, 3, 4]))), []);
        assert_eq!(keep(true, seen(None)), []);
        assert_eq!(keep(true, None), []);
    }
}
