//! Keeps the applications' actions and the sockets' measurements.

use std::collections::BTreeMap;

use dumbbell_network::Time;
use dumbbell_record::{
    Event, EventKind, FlowSample, Internal, ModeChange, RecordConfig, Request, RowLimits, Rows,
};

use crate::traffic::app::Message;
use crate::traffic::output::Report;
use crate::traffic::tcp_info::{Moment, TcpInfo};

/// The tables of a run in progress.
#[derive(Debug)]
pub struct Recorder {
    kinds: Vec<EventKind>,
    algorithm_state: bool,
    keeps_modes: bool,
    pub flows: Vec<FlowSample>,
    pub internals: Vec<Internal>,
    pub modes: Rows<ModeChange>,
    /// The last mode of each flow that has shown one.
    last_modes: BTreeMap<u32, u8>,
    pub requests: Rows<Request>,
    pub events: Rows<Event>,
}

impl Recorder {
    /// Empty tables.
    pub fn new(config: &RecordConfig) -> Self {
        let limits = RowLimits::default();
        Self {
            kinds: config.events.clone(),
            algorithm_state: config.algorithm_state,
            keeps_modes: config.modes,
            flows: Vec::new(),
            internals: Vec::new(),
            modes: Rows::new(limits.modes),
            last_modes: BTreeMap::new(),
            requests: Rows::new(limits.requests),
            events: Rows::new(limits.events),
        }
    }

    /// Add an event of a flow if its kind is recorded.
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

    /// Add a request or transfer that is complete.
    pub fn request(&mut self, now: Time, flow: u32, message: Message) {
        self.requests.push(Request {
            time_ns: message.issued.0,
            flow,
            number: message.number,
            bytes: message.bytes,
            latency_ns: now.since(message.issued).0,
        });
    }

    /// Add a sample.
    pub fn sample(&mut self, time: Time, flow: u32, moment: &Moment, paced: bool) {
        self.flows.push(moment.sample(time.0, flow, paced));
        if let Some(report) = moment.seen.and_then(|seen| seen.report) {
            self.sample_report(time, flow, report);
        }
    }

    fn sample_report(&mut self, time: Time, flow: u32, Report { mode, values }: Report) {
        let time_ns = time.0;
        if self.algorithm_state {
            let [info0, info1, info2, info3, ..] = values;
            self.internals.push(Internal { time_ns, flow, info0, info1, info2, info3 });
        }
        if let Some(mode) = mode.filter(|_| self.keeps_modes)
            && self.last_modes.insert(flow, mode) != Some(mode)
        {
            self.modes.push(ModeChange::new(time_ns, flow, mode, values));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::output::Seen;

    #[test]
    fn internal_values_are_kept_where_they_are_requested_and_known() {
        let keep = |algorithm_state, seen| {
            let mut recorder = recorder(algorithm_state, false);
            recorder.sample(Time(3), 2, &moment(seen), false);
            assert_eq!(recorder.flows.len(), 1);
            recorder.internals.iter().map(|row| (row.time_ns, row.info3)).collect::<Vec<_>>()
        };
        assert_eq!(keep(true, seen(Some(1))), [(3, 4)]);
        assert_eq!(keep(true, seen(None)), [(3, 4)]);
        assert_eq!(keep(false, seen(Some(1))), []);
        assert_eq!(keep(true, Some(Seen::default())), []);
        assert_eq!(keep(true, None), []);
    }

    #[test]
    fn modes_are_kept_of_each_flow_when_samples_show_another_one() {
        let keep = |modes| {
            let mut recorder = recorder(false, modes);
            let shown = [(1, 0, Some(0)), (1, 1, Some(0)), (2, 0, Some(0)), (3, 0, Some(2))];
            for (time, flow, mode) in shown.into_iter().chain([(4, 0, Some(0)), (5, 2, None)]) {
                recorder.sample(Time(time), flow, &moment(seen(mode)), false);
            }
            assert_eq!(recorder.internals, []);
            let row = |row: &ModeChange| (row.time_ns, row.flow, row.mode, row.info15);
            recorder.modes.as_slice().iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(keep(true), [(1, 0, 0, 16), (1, 1, 0, 16), (3, 0, 2, 16), (4, 0, 0, 16)]);
        assert_eq!(keep(false), []);
    }

    fn recorder(algorithm_state: bool, modes: bool) -> Recorder {
        let (interval_ns, delays_ns, events, capture) = (None, None, Vec::new(), false);
        Recorder::new(&RecordConfig {
            interval_ns,
            delays_ns,
            events,
            algorithm_state,
            modes,
            capture,
        })
    }

    fn seen(mode: Option<u8>) -> Option<Seen> {
        let values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        Some(Seen { report: Some(Report { mode, values }), ..Seen::default() })
    }

    fn moment(seen: Option<Seen>) -> Moment {
        Moment { sender: TcpInfo::default(), received_bytes: 0, seen }
    }
}
