//! The application at the sending end of a connection: its data and the times of sending.

use dumbbell_network::{Random, Time};
use dumbbell_workload::{Bursts, Demand, Pace, Pauses, Requests};

/// First random stream of flows, as in the simulator.
const FLOW_STREAMS: u64 = 1 << 32;

/// The random numbers of a flow. As in the simulator, so that both burst at the same times.
pub fn random_of(seed: u64, flow: usize) -> Random {
    Random::new(seed, FLOW_STREAMS + flow as u64)
}

/// The application at the sending end of a connection.
#[derive(Debug)]
pub struct App {
    demand: Demand,
    mss_bytes: u32,
    bursts: Option<Bursts>,
    pauses: Option<Box<Pauses>>,
    /// None until it begins to produce data at a rate.
    pace: Option<Pace>,
    /// The message that the connection carries, or carried last; none: data is a stream.
    message: Option<Message>,
    /// True while it waits for a reply.
    pub waits: bool,
    /// Time of the next call of [`Self::act`].
    pub due: Time,
    /// Bytes to write.
    pub unwritten: u64,
}

/// A request or a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of messages before it.
    pub number: u64,
    /// Time when it was issued.
    pub issued: Time,
    /// Its payload in bytes.
    pub bytes: u64,
}

impl App {
    /// An application that begins at `start`.
    pub fn new(
        demand: Demand,
        mss_bytes: u32,
        start: Time,
        random: impl FnOnce() -> Random,
    ) -> Self {
        let (bursts, pauses) = match &demand {
            Demand::OnOff(pattern) => (Some(Bursts::new(*pattern, random())), None),
            Demand::Requests(requests) => {
                (None, Some(Box::new(Pauses::new(requests, start, random()))))
            }
            _ => (None, None),
        };
        Self {
            demand,
            mss_bytes,
            bursts,
            pauses,
            pace: None,
            message: None,
            waits: false,
            due: Time::NEVER,
            unwritten: 0,
        }
    }

    /// Act at the time that is due, or for the first time.
    pub fn act(&mut self, planned: Time, now: Time) {
        self.due = Time::NEVER;
        match &self.demand {
            Demand::Endless => self.unwritten = u64::MAX,
            Demand::Transfer(bytes) | Demand::Requests(Requests { bytes, .. }) => {
                self.issue(now, bytes.get());
            }
            Demand::AppLimited { rate_bps } => {
                let begin = || Pace::new(rate_bps, self.mss_bytes, planned);
                let pace = self.pace.get_or_insert_with(begin);
                let segments = pace.take(now);
                self.unwritten += segments * u64::from(self.mss_bytes);
                self.due = pace.due();
            }
            Demand::OnOff(_) => {
                let bursts = self.bursts.as_mut().expect("bursts of an on-off application");
                self.due = planned + bursts.turn();
                self.unwritten = if bursts.on { u64::MAX } else { 0 };
            }
        }
    }

    /// Note that `bytes` were written.
    pub fn wrote(&mut self, bytes: usize) {
        if self.unwritten != u64::MAX {
            self.unwritten -= bytes as u64;
        }
    }

    /// Note a reply. Return the message that it completes, and true if that was the last.
    pub fn complete(&mut self, now: Time) -> Option<(Message, bool)> {
        let message = self.message.filter(|_| std::mem::take(&mut self.waits))?;
        if let Demand::Requests(Requests { query: None, .. }) = &self.demand {
            let pauses = self.pauses.as_mut().expect("pauses between requests");
            self.due = pauses.next(now);
        }
        Some((message, self.due == Time::NEVER && self.query().is_none()))
    }

    /// The number of its query if it answers one together with other flows.
    pub const fn query(&self) -> Option<u32> {
        match &self.demand {
            Demand::Requests(requests) => requests.query,
            _ => None,
        }
    }

    /// Begin the next answer to its query at `begins`.
    pub const fn ask(&mut self, begins: Time) {
        if self.query().is_some() {
            self.due = begins;
        }
    }

    /// Stop for good.
    pub fn stop(&mut self) {
        self.demand = Demand::Endless;
        self.due = Time::NEVER;
        self.unwritten = 0;
    }

    fn issue(&mut self, now: Time, bytes: u64) {
        let number = self.message.map_or(0, |last| last.number + 1);
        self.message = Some(Message { number, issued: now, bytes });
        (self.waits, self.unwritten) = (true, bytes);
    }
}

/// Payload of each message of a demand in bytes; none: data is a stream.
pub fn message_bytes(demand: &Demand) -> Option<u64> {
    match demand {
        Demand::Transfer(bytes) | Demand::Requests(Requests { bytes, .. }) => Some(bytes.get()),
        Demand::Endless | Demand::OnOff(_) | Demand::AppLimited { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_network::{Span, Steps};
    use dumbbell_workload::OnOff;
    use std::num::NonZeroU64;

    fn app(demand: Demand) -> App {
        App::new(demand, 1_000, Time(5), || random_of(1, 1))
    }

    fn requests(bytes: u64, query: Option<u32>) -> Demand {
        let bytes = NonZeroU64::new(bytes).unwrap();
        let (pause_ns, random, period_ns) = (Span(7), false, None);
        Demand::Requests(Requests { bytes, pause_ns, random, period_ns, query })
    }

    #[test]
    fn requests_follow_each_other_after_their_pause() {
        let mut app = app(requests(2_500, None));
        app.act(Time(10), Time(11));
        assert_eq!((app.unwritten, app.due), (2_500, Time::NEVER));
        app.wrote(2_500);
        let (message, last) = app.complete(Time(30)).unwrap();
        assert_eq!((message.number, message.issued, last), (0, Time(11), false));
        assert_eq!((app.complete(Time(31)), app.due), (None, Time(37)));
        app.act(Time(37), Time(37));
        assert_eq!(app.complete(Time(50)).unwrap().0.number, 1);
    }

    #[test]
    fn an_answer_to_a_query_waits_for_the_next_query() {
        let mut app = app(requests(10, Some(3)));
        app.act(Time(5), Time(6));
        app.wrote(10);
        let (_, last) = app.complete(Time(30)).unwrap();
        assert_eq!((last, app.due), (false, Time::NEVER));
        app.ask(Time(50));
        assert_eq!(app.due, Time(50));
    }

    #[test]
    fn what_is_under_way_at_a_stop_may_still_be_answered_as_the_last() {
        let mut app = app(requests(10, None));
        app.act(Time(1), Time(1));
        app.wrote(10);
        app.stop();
        assert!(app.complete(Time(5)).unwrap().1);
        assert_eq!((app.due, app.unwritten), (Time::NEVER, 0));
    }

    #[test]
    fn a_late_look_finds_all_data_that_has_come_about() {
        // Segments of 1,000 bytes, one each millisecond from 7 ns on.
        let rate_bps = Steps::constant(8_000_000);
        let mut app = app(Demand::AppLimited { rate_bps });
        app.act(Time(7), Time(2_500_000));
        assert_eq!((app.unwritten, app.due), (3_000, Time(3_000_007)));
        app.wrote(1_000);
        app.act(app.due, Time(3_000_009));
        assert_eq!((app.unwritten, app.due), (3_000, Time(4_000_007)));
    }

    #[test]
    fn bursts_take_turns_at_their_planned_times() {
        let (on, off) = (NonZeroU64::new(100).unwrap(), NonZeroU64::new(30).unwrap());
        let mut app = app(Demand::OnOff(OnOff { on_ns: on, off_ns: off, random: false }));
        app.act(Time(0), Time(3));
        assert_eq!((app.unwritten, app.due), (u64::MAX, Time(100)));
        app.act(Time(100), Time(109));
        assert_eq!((app.unwritten, app.due), (0, Time(130)));
    }
}
