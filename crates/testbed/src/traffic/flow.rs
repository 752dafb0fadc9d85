//! A running flow: the actions of its applications, and their times.

use std::io;
use std::os::fd::AsFd;

use dumbbell_network::Time;
use dumbbell_record::EventKind;
use dumbbell_workload::{Datagrams, Flow, Queries, Transport};

use crate::error::Error;
use crate::traffic::app::{App, random_of};
use crate::traffic::datagrams::DatagramEnds;
use crate::traffic::output::{DatagramCount, FlowEnd};
use crate::traffic::progress::Progress;
use crate::traffic::recorder::Recorder;
use crate::traffic::setup::{Connection, Look};
use crate::traffic::sockets::{Ends, failed};
use crate::traffic::stream::{CHUNK_BYTES, Stream};
use crate::traffic::tcp_info::Moment;

/// A flow and its sockets.
#[derive(Debug)]
pub struct FlowState {
    pub index: usize,
    pub spec: Flow,
    pub transport: Carrier,
    paced: bool,
    /// True if its handshake is a part of the run.
    opens: bool,
    stage: Stage,
    /// Time when it connects; none: it has.
    connects: Option<Time>,
    stops: Option<Time>,
    ended: Option<Time>,
}

/// The connection or socket that carries a flow's data.
#[derive(Debug)]
pub enum Carrier {
    Stream(Stream),
    Datagrams(DatagramEnds),
}

/// Progress of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before its start.
    Waiting,
    /// After its start, without a connection.
    Late,
    /// It has begun.
    Begun,
    /// Stopped before it could begin.
    Missed,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Sender,
    Receiver,
}

/// Data that all flows share.
pub struct Common {
    pub recorder: Recorder,
    pub look: Look,
    pub late: Vec<usize>,
    /// Flows whose next answer is about to begin, and when.
    pub answers_due: Vec<(usize, Time)>,
    /// Queries that several flows answer together.
    queries: Queries,
    zeros: Vec<u8>,
    /// Buffer for reads. Payload is not copied to it; its size limits a read.
    sink: Vec<u8>,
}

impl Common {
    pub fn new(recorder: Recorder, look: Look, queries: Queries) -> Self {
        let (zeros, sink) = (vec![0; CHUNK_BYTES], Vec::with_capacity(CHUNK_BYTES));
        let (late, answers_due) = (Vec::new(), Vec::new());
        Self { recorder, look, late, answers_due, queries, zeros, sink }
    }
}

impl FlowState {
    /// A flow before its first action.
    pub fn new(connection: &Connection<'_>, ends: Ends, seed: u64) -> Self {
        let (index, spec) = (connection.flow, connection.spec.clone());
        let transport = match &spec.transport {
            Transport::Tcp(tcp) => {
                let mss = spec.mss_bytes();
                let random = || random_of(seed, index).split();
                let app = App::new(tcp.demand.clone(), mss, spec.start_ns, random);
                Carrier::Stream(Stream::new(index, ends, app, mss, &connection.tuning))
            }
            Transport::Udp(udp) => {
                let (packet, start, random) =
                    (spec.packet_bytes, spec.start_ns, random_of(seed, index));
                let schedule = Datagrams::new(udp, packet, start, random);
                Carrier::Datagrams(DatagramEnds::new(ends, schedule, spec.mss_bytes()))
            }
        };
        let connects = match transport {
            Carrier::Stream(_) => {
                let lead_ns = connection.tuning.lead.map_or(0, |lead| lead.0);
                Some(Time(spec.start_ns.0.saturating_sub(lead_ns)))
            }
            Carrier::Datagrams(_) => None,
        };
        let (paced, opens) = (connection.tuning.paced, connection.tuning.lead.is_none());
        let (stage, stops) = (Stage::Waiting, spec.stop_ns);
        Self { index, spec, transport, paced, opens, stage, connects, stops, ended: None }
    }

    /// Time when it acts next without a socket's event.
    pub fn due(&self) -> Time {
        let next = match (self.stage, &self.transport) {
            (Stage::Begun, Carrier::Stream(stream)) => stream.app.due,
            (_, Carrier::Datagrams(datagrams)) => datagrams.schedule.due(),
            (Stage::Waiting, _) => self.connects.unwrap_or(self.spec.start_ns),
            (Stage::Late | Stage::Missed, _) => Time::NEVER,
        };
        next.min(self.stops.unwrap_or(Time::NEVER)).min(self.reads())
    }

    /// Time when its receiving end plans to read.
    fn reads(&self) -> Time {
        match &self.transport {
            Carrier::Stream(Stream { receiver: Some(receiver), .. }) => receiver.due(),
            _ => Time::NEVER,
        }
    }

    /// Return true if its connection has begun and has samples.
    pub fn is_sampled(&self) -> bool {
        self.spec.sampled && self.has_begun()
    }

    fn has_begun(&self) -> bool {
        matches!(self.transport, Carrier::Stream(_)) && self.stage == Stage::Begun
    }

    /// Connect before the run, if its connection belongs there.
    pub fn connect_early(&mut self) -> Result<(), Error> {
        if self.connects == Some(Time::ZERO) && !self.opens { self.connect() } else { Ok(()) }
    }

    /// Do everything that is due.
    pub fn act(&mut self, now: Time, common: &mut Common) -> Result<Progress, Error> {
        if self.stops.is_some_and(|stops| stops <= now) {
            self.stop(now, common)?;
        }
        if self.connects.is_some_and(|connects| connects <= now) {
            self.connect()?;
        }
        if self.reads() <= now {
            // More data will be read in the next turn.
            self.hear(End::Receiver, now, common)?;
        }
        if self.stage == Stage::Waiting && self.spec.start_ns <= now {
            return self.begin(now, common);
        }
        let planned = match &mut self.transport {
            Carrier::Datagrams(datagrams) => {
                let sent = datagrams.send(now);
                sent.map_err(|error| self.refused("send", &error))?;
                return Ok(Progress::Done);
            }
            Carrier::Stream(stream) => stream.app.due,
        };
        if planned <= now { self.proceed(planned, now, common) } else { Ok(Progress::Done) }
    }

    /// Begin its next answer at `begins`.
    pub fn ask(&mut self, begins: Time) {
        if let Carrier::Stream(stream) = &mut self.transport {
            stream.app.ask(begins);
        }
    }

    /// Handle the events of a socket.
    pub fn hear(&mut self, end: End, now: Time, common: &mut Common) -> Result<Progress, Error> {
        let heard = match (&mut self.transport, end) {
            (Carrier::Datagrams(datagrams), _) => datagrams.receive().map(|()| Progress::Done),
            (Carrier::Stream(stream), End::Receiver) => match &mut stream.receiver {
                Some(receiver) => receiver.read(now, common.sink.spare_capacity_mut()),
                None => Ok(Progress::Done),
            },
            (Carrier::Stream(_), End::Sender) => return self.sender_hears(now, common),
        };
        heard.map_err(|error| self.refused("receive", &error))
    }

    /// Accept the receiving end; return true if this call did.
    pub fn accept(&mut self) -> Result<bool, Error> {
        let (Carrier::Stream(stream), Transport::Tcp(tcp)) =
            (&mut self.transport, &self.spec.transport)
        else {
            return Ok(false);
        };
        stream.accept(tcp).map_err(|error| self.refused("accept its connection", &error))
    }

    /// Sample it.
    pub fn sample(&self, time: Time, common: &mut Common) -> Result<(), Error> {
        let moment = self.moment(&mut common.look)?;
        common.recorder.sample(time, self.index as u32, &moment, self.paced);
        Ok(())
    }

    /// Its state at the end.
    pub fn end(&mut self, look: &mut Look) -> Result<FlowEnd, Error> {
        let ended = self.ended.map(|time| time.0);
        if self.has_begun() {
            return self.moment(look).map(|moment| moment.end(ended));
        }
        match &mut self.transport {
            Carrier::Stream(_) => Ok(FlowEnd { end_ns: ended, ..FlowEnd::default() }),
            Carrier::Datagrams(datagrams) => {
                let received = datagrams.receive();
                let end = datagrams.end(ended);
                received.map(|()| end).map_err(|error| self.refused("receive", &error))
            }
        }
    }

    /// Its counts of datagrams.
    pub fn datagrams(&self) -> Option<DatagramCount> {
        match &self.transport {
            Carrier::Datagrams(datagrams) => Some(datagrams.count),
            Carrier::Stream(_) => None,
        }
    }

    fn connect(&mut self) -> Result<(), Error> {
        self.connects = None;
        let Carrier::Stream(stream) = &self.transport else { return Ok(()) };
        stream.connect().map_err(|error| self.refused("connect", &error))
    }

    fn begin(&mut self, now: Time, common: &mut Common) -> Result<Progress, Error> {
        let start = self.spec.start_ns;
        match &self.transport {
            Carrier::Stream(stream) if !stream.established => {
                if !self.opens {
                    common.late.push(self.index);
                }
                self.stage = Stage::Late;
                return Ok(Progress::Done);
            }
            _ => self.stage = Stage::Begun,
        }
        match &self.transport {
            Carrier::Stream(stream) => {
                if !self.opens {
                    let restarted = stream.restart_algorithm();
                    restarted.map_err(|error| self.refused("restart its algorithm", &error))?;
                }
                self.event(now, EventKind::Start, common)?;
                // A flow waits for its own handshake as for any round trip.
                self.proceed(start, if self.opens { start } else { now }, common)
            }
            Carrier::Datagrams(_) => self.act(now, common),
        }
    }

    /// Let the application act on everything due at `planned`.
    fn proceed(&mut self, planned: Time, now: Time, common: &Common) -> Result<Progress, Error> {
        let Carrier::Stream(stream) = &mut self.transport else { return Ok(Progress::Done) };
        stream.app.act(planned, now);
        stream.write(&common.zeros).map_err(|error| self.refused("send", &error))
    }

    fn stop(&mut self, now: Time, common: &mut Common) -> Result<(), Error> {
        self.ended = self.ended.or(self.stops);
        self.stops = None;
        match &mut self.transport {
            Carrier::Datagrams(datagrams) => datagrams.schedule.stop(),
            Carrier::Stream(stream) => stream.app.stop(),
        }
        if self.has_begun() {
            self.event(now, EventKind::Stop, common)
        } else {
            (self.stage, self.connects) = (Stage::Missed, None);
            Ok(())
        }
    }

    fn sender_hears(&mut self, now: Time, common: &mut Common) -> Result<Progress, Error> {
        let Carrier::Stream(stream) = &mut self.transport else { return Ok(Progress::Done) };
        if !stream.established {
            let error = stream.sender.take_error().unwrap_or_else(Some);
            let established = error.map_or_else(|| stream.establish(), Err);
            let established = established.map_err(|error| self.refused("connect", &error))?;
            let is_late = established && self.stage == Stage::Late;
            return if is_late { self.begin(now, common) } else { Ok(Progress::Done) };
        }
        let wrote = stream.write(&common.zeros);
        let reply = stream.hear_reply();
        let wrote = wrote.map_err(|error| self.refused("send", &error))?;
        if reply.map_err(|error| self.refused("receive a reply", &error))? {
            self.complete(now, common)?;
        }
        Ok(wrote)
    }

    fn complete(&mut self, now: Time, common: &mut Common) -> Result<(), Error> {
        let Carrier::Stream(stream) = &mut self.transport else { return Ok(()) };
        let Some((message, is_last)) = stream.app.complete(now) else { return Ok(()) };
        common.recorder.request(now, self.index as u32, message);
        let answered = stream.app.query().and_then(|number| common.queries.answer(number, now));
        if let Some((begins, flows)) = answered {
            common.answers_due.extend(flows.into_iter().map(|flow| (flow, begins)));
        }
        if is_last {
            self.ended.get_or_insert(now);
            self.event(now, EventKind::Done, common)?;
        }
        Ok(())
    }

    fn event(&self, now: Time, kind: EventKind, common: &mut Common) -> Result<(), Error> {
        let Carrier::Stream(stream) = &self.transport else { return Ok(()) };
        let info = stream.sender_info().map_err(|error| self.refused("be sampled", &error))?;
        common.recorder.event(now, kind, self.index as u32, &info);
        Ok(())
    }

    fn moment(&self, look: &mut Look) -> Result<Moment, Error> {
        let Carrier::Stream(stream) = &self.transport else { unreachable!("only TCP is sampled") };
        let seen = look(self.index, stream.sender.as_fd());
        let moment = || -> io::Result<Moment> {
            let received_bytes = stream.received_bytes()?;
            Ok(Moment { sender: stream.sender_info()?, received_bytes, seen })
        };
        moment().map_err(|error| self.refused("be sampled", &error))
    }

    fn refused(&self, what: &str, error: &io::Error) -> Error {
        failed(format!("flow {} ({}) cannot {what}", self.index, self.spec.label), error)
    }
}
