//! An application: the data that it hands to its connection, and when.

use std::num::NonZeroU64;

use dumbbell_network::{Random, Time};
use dumbbell_workload::{Bursts, Demand, Pace, Pauses, Requests};

/// The application at the sending end of a connection.
#[derive(Debug)]
pub struct App {
    demand: Demand,
    mss_bytes: u64,
    /// The message that the connection carries, or carried last; none: data is a stream.
    message: Option<Message>,
    /// Time when the application acts next.
    due: Time,
    bursts: Option<Bursts>,
    pauses: Option<Pauses>,
    /// None until it begins to produce data at a rate.
    pace: Option<Pace>,
    /// Segments produced so far at a rate.
    paced: u64,
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
    /// Its first segment.
    begin: u64,
    /// The segment after its last.
    pub end: u64,
    /// True once it has arrived.
    done: bool,
}

impl App {
    /// An application that begins at `start`.
    pub fn new(demand: Demand, mss_bytes: u32, start: Time, random: Random) -> Self {
        let (bursts, pauses) = match &demand {
            Demand::OnOff(pattern) => (Some(Bursts::new(*pattern, random)), None),
            Demand::Requests(requests) => (None, Some(Pauses::new(requests, start, random))),
            _ => (None, None),
        };
        let (mss_bytes, message, due) = (u64::from(mss_bytes), None, Time::NEVER);
        Self { demand, mss_bytes, message, due, bursts, pauses, pace: None, paced: 0 }
    }

    /// Time of the next call of [`Self::act`].
    #[inline]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Act for the time from `start`, when the flow began, until `now`, when its connection is
    /// open. Return the segment up to which there is data.
    pub fn begin(&mut self, start: Time, now: Time) -> u64 {
        let mut end = self.act(start, 0);
        // The application did not wait for the handshake, so it acts now on everything due
        // meanwhile.
        while self.due <= now {
            end = self.act(self.due, 0);
        }
        end
    }

    /// Act at the time that is due, or for the first time. `next` is the next segment never sent.
    /// Return the segment up to which there is data.
    pub fn act(&mut self, now: Time, next: u64) -> u64 {
        self.due = Time::NEVER;
        match &self.demand {
            Demand::Endless => u64::MAX,
            Demand::Transfer(bytes) | Demand::Requests(Requests { bytes, .. }) => {
                self.issue(now, bytes.get())
            }
            Demand::AppLimited { rate_bps } => {
                let begin = || Pace::new(rate_bps, self.mss_bytes as u32, now);
                let pace = self.pace.get_or_insert_with(begin);
                self.paced += pace.take(now);
                self.due = pace.due();
                self.paced
            }
            Demand::OnOff(_) => {
                let bursts = self.bursts.as_mut().expect("bursts of an on-off application");
                self.due = now + bursts.turn();
                // The data up to `next` was sent, and cannot be taken back.
                if bursts.on { u64::MAX } else { next }
            }
        }
    }

    /// Note that all segments below `acked` have arrived. Return the message that this completes.
    #[inline]
    pub fn complete(&mut self, now: Time, acked: u64) -> Option<Message> {
        let message = self.message.as_mut()?;
        if message.done || acked < message.end {
            return None;
        }
        message.done = true;
        // Answers to a query end together. `ask` begins the next one after the last of them has
        // arrived.
        if let Demand::Requests(Requests { query: None, .. }) = &self.demand {
            let pauses = self.pauses.as_mut().expect("pauses between requests");
            self.due = pauses.next(now);
        }
        Some(*message)
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
    }

    /// Return true if data comes in messages, whose last segment may be short.
    #[inline]
    pub const fn has_messages(&self) -> bool {
        self.message.is_some()
    }

    /// Return true if `segment` is the last of a message.
    #[inline]
    pub fn ends_message(&self, segment: u64) -> bool {
        self.message.as_ref().is_some_and(|message| segment + 1 == message.end)
    }

    /// Payload of a segment that ends a message, in bytes.
    pub fn last_bytes(&self) -> u64 {
        self.message_bytes().map_or(self.mss_bytes, |bytes| (bytes - 1) % self.mss_bytes + 1)
    }

    /// Segments of a message, if its last one is below full size.
    pub fn short_every_segs(&self) -> Option<NonZeroU64> {
        let bytes = self.message_bytes()?;
        NonZeroU64::new(bytes.div_ceil(self.mss_bytes)).filter(|_| bytes % self.mss_bytes > 0)
    }

    /// Payload of each message in bytes; none: data is a stream.
    const fn message_bytes(&self) -> Option<u64> {
        match (&self.message, &self.demand) {
            (Some(message), _) => Some(message.bytes),
            (None, Demand::Transfer(bytes) | Demand::Requests(Requests { bytes, .. })) => {
                Some(bytes.get())
            }
            _ => None,
        }
    }

    /// Payload of the first `segs` segments in bytes.
    pub fn payload_bytes(&self, segs: u64) -> u64 {
        let Some(message) = &self.message else { return segs * self.mss_bytes };
        // All messages of a flow have one size, and the last segment of each may be short.
        let before = message.number * message.bytes;
        if segs >= message.end {
            before + message.bytes
        } else {
            before + (segs - message.begin) * self.mss_bytes
        }
    }

    fn issue(&mut self, now: Time, bytes: u64) -> u64 {
        let (number, begin) = self.message.map_or((0, 0), |last| (last.number + 1, last.end));
        let end = begin + bytes.div_ceil(self.mss_bytes);
        self.message = Some(Message { number, issued: now, bytes, begin, end, done: false });
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_network::{Span, Steps};
    use dumbbell_workload::OnOff;
    use std::num::NonZeroU64;

    fn app(demand: Demand) -> App {
        App::new(demand, 1_000, Time(10), Random::new(1, 1))
    }

    fn requests(query: Option<u32>) -> Demand {
        let bytes = NonZeroU64::new(2_500).unwrap();
        let (pause_ns, random, period_ns) = (Span(7), false, None);
        Demand::Requests(Requests { bytes, pause_ns, random, period_ns, query })
    }

    #[test]
    fn requests_follow_each_other_after_their_pause() {
        let mut app = app(requests(None));
        assert_eq!(app.act(Time(10), 0), 3);
        assert_eq!(app.short_every_segs(), NonZeroU64::new(3));
        assert!(app.ends_message(2) && !app.ends_message(1));
        assert_eq!(
            (app.last_bytes(), app.payload_bytes(2), app.payload_bytes(3)),
            (500, 2_000, 2_500)
        );
        assert_eq!(app.complete(Time(20), 2), None);
        let message = app.complete(Time(30), 3).unwrap();
        assert_eq!((message.number, message.issued, message.bytes), (0, Time(10), 2_500));
        assert_eq!((app.complete(Time(31), 3), app.due()), (None, Time(37)));
        assert_eq!(app.act(Time(37), 3), 6);
        assert_eq!((app.due(), app.payload_bytes(4)), (Time::NEVER, 3_500));
        assert_eq!(app.complete(Time(50), 6).unwrap().number, 1);
    }

    #[test]
    fn an_answer_to_a_query_waits_for_the_next_query() {
        let mut app = app(requests(Some(3)));
        assert_eq!(app.act(Time(10), 0), 3);
        assert!(app.complete(Time(30), 3).is_some());
        assert_eq!((app.due(), app.query()), (Time::NEVER, Some(3)));
        app.ask(Time(50));
        assert_eq!((app.due(), app.act(Time(50), 3)), (Time(50), 6));
        app.stop();
        app.ask(Time(70));
        assert_eq!((app.due(), app.query()), (Time::NEVER, None));
    }

    #[test]
    fn a_transfer_is_one_message() {
        let mut app = app(Demand::Transfer(NonZeroU64::new(1_000).unwrap()));
        assert_eq!(app.act(Time(5), 0), 1);
        assert_eq!(app.complete(Time(9), 1).unwrap().issued, Time(5));
        assert_eq!((app.due(), app.complete(Time(9), 1)), (Time::NEVER, None));
    }

    #[test]
    fn data_comes_about_at_a_rate() {
        // Segments of 1,000 bytes, one each millisecond.
        let rate_bps = Steps::constant(8_000_000);
        let mut app = app(Demand::AppLimited { rate_bps });
        assert_eq!((app.act(Time(7), 0), app.due()), (1, Time(1_000_007)));
        assert_eq!((app.act(Time(1_000_007), 1), app.due()), (2, Time(2_000_007)));
        assert_eq!((app.complete(Time(9), 2), app.payload_bytes(2)), (None, 2_000));
    }

    #[test]
    fn bursts_take_turns() {
        let times = NonZeroU64::new(100).unwrap();
        let off = NonZeroU64::new(30).unwrap();
        let mut app = app(Demand::OnOff(OnOff { on_ns: times, off_ns: off, random: false }));
        assert_eq!((app.act(Time(0), 0), app.due()), (u64::MAX, Time(100)));
        assert_eq!((app.act(Time(100), 42), app.due()), (42, Time(130)));
        assert_eq!((app.act(Time(130), 42), app.due()), (u64::MAX, Time(230)));
    }
}
