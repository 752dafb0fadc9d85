//! The receiving end: what has arrived, and when to say so.
//!
//! Nearly all data comes in order and says nothing else; [`Receiver::on_data`] deals
//! with that by itself. Everything else takes the long way: receive offload, ECN,
//! reassembly, and only then the question whether the acknowledgement may wait.

use std::collections::VecDeque;
use std::ops::Range;

use dumbbell_network::{Span, Time};

use crate::ack::{Ack, SACK_BLOCKS_MAX, SackBlocks};
use crate::arrival::{Arrival, Run};
use crate::coalesce::Coalescer;
use crate::compression::SackCompression;
use crate::delayed_ack::DelayedAck;
use crate::ecn_echo::EcnEcho;
use crate::reassembly::Reassembly;
use crate::receive_window::ReceiveWindow;
use crate::rtt::RttEstimator;
use crate::stack::Stack;

/// Full segments that may wait for an acknowledgement (RFC 5681, section 4.2).
const DELAYED_SEGS_MAX: u64 = 2;
/// Acknowledgements that go at once when congestion marks begin.
const QUICK_ACKS_AT_MARK: u32 = 2;

/// The receiver of one connection. Data is consumed as it arrives, so its window
/// never limits the sender.
#[derive(Clone, Debug)]
#[repr(C)] // What every segment touches comes first, and lies together.
pub struct Receiver {
    /// Everything below has arrived.
    next: u64,
    /// Everything below has been acknowledged.
    acknowledged: u64,
    received_segs: u64,
    /// When what waits is to be acknowledged, if not at the end of that tick.
    ack_due: Time,
    /// When receive offload is to hand on what it holds.
    run_due: Time,
    /// The timestamp to echo.
    echo: u32,
    /// All bits with timestamps, none without.
    stamp_mask: u32,
    /// Data in order needs more than [`Self::on_data`] knows.
    disturbed: bool,
    /// The outbox holds an acknowledgement.
    has_more: bool,
    delay: DelayedAck,
    unusual: Box<Unusual>,
}

/// What data in order does not touch, as long as it says nothing else.
#[derive(Clone, Debug)]
struct Unusual {
    ecn: EcnEcho,
    coalescer: Coalescer,
    compression: SackCompression,
    window: ReceiveWindow,
    reassembly: Reassembly,
    /// Segments waiting for an acknowledgement that are not full.
    short_waiting: u64,
    ce_segs: u64,
    /// Most blocks in an acknowledgement; none without SACK.
    blocks_max: usize,
    reports_duplicates: bool,
    takes_long_way: bool,
    /// The first acknowledgement to give, and the blocks of that or of the one given last.
    ready: Option<Ack>,
    blocks: SackBlocks,
    /// Those after it; few arrivals cause more than one.
    outbox: VecDeque<(Ack, SackBlocks)>,
}

/// The acknowledgements of a routine run.
#[derive(Debug)]
pub struct RunAcks {
    next: u64,
    /// Segments until the next acknowledgement.
    until_ack: u64,
    /// The timestamp that it echoes, and that of those after it.
    echo: u32,
    echo_then: u32,
}

impl RunAcks {
    /// The acknowledgement to send when the next segment arrives, if any.
    #[inline(always)]
    pub fn of_next(&mut self) -> Option<Ack> {
        self.next += 1;
        self.until_ack -= 1;
        if self.until_ack > 0 {
            return None;
        }
        let ack = Ack { cumulative: self.next, echo: self.echo, ece: false, has_blocks: false };
        (self.until_ack, self.echo) = (DELAYED_SEGS_MAX, self.echo_then);
        Some(ack)
    }
}

impl Receiver {
    /// A receiver that has seen nothing but a handshake of the round-trip time `rtt`. As it
    /// sends no data, it never gets another sample.
    #[must_use]
    pub fn new(stack: &Stack, rtt: Span) -> Self {
        let unusual = Box::new(Unusual::new(stack, rtt));
        let rto = RttEstimator::new(stack, Time::ZERO, rtt).rto();
        Self {
            next: 0,
            acknowledged: 0,
            received_segs: 0,
            ack_due: Time::NEVER,
            run_due: Time::NEVER,
            echo: 0,
            stamp_mask: if stack.timestamps { u32::MAX } else { 0 },
            disturbed: unusual.coalescer.is_on() || !unusual.window.is_settled(),
            has_more: false,
            delay: DelayedAck::new(stack, rtt, rto),
            unusual,
        }
    }

    /// Takes no data the short way, which comes to the same.
    pub fn take_long_way(&mut self) {
        self.unusual.takes_long_way = true;
        self.settle();
    }

    /// Takes a data segment; gives the acknowledgement to send at once, if any. If
    /// there is one, [`Self::also`] may have another.
    #[inline]
    pub fn on_data(&mut self, now: Time, arrival: Arrival) -> Option<Ack> {
        if arrival.is_plain() && self.expects(now, arrival.number) {
            self.on_expected_data(now, arrival.stamp, arrival.pushed)
        } else {
            self.on_unusual_data(now, &arrival)
        }
    }

    /// Whether a segment is the next, and nothing else is to be seen to if it is full and says
    /// nothing of congestion (header prediction).
    #[inline]
    #[must_use]
    pub fn expects(&self, now: Time, number: u64) -> bool {
        number == self.next && !self.disturbed && self.delay.is_usual(now)
    }

    /// Takes such a segment; gives the acknowledgement to send at once, if any, after which there
    /// is no other.
    #[inline]
    pub fn on_expected_data(&mut self, now: Time, stamp: u32, pushed: bool) -> Option<Ack> {
        self.delay.on_usual_data(now);
        self.received_segs += 1;
        self.note_stamp(self.next, stamp);
        self.next += 1;
        let is_enough = self.next - self.acknowledged >= DELAYED_SEGS_MAX;
        if is_enough || pushed || self.delay.is_quick() {
            return Some(self.acknowledge());
        }
        self.ack_due = now + self.delay.wait();
        None
    }

    /// Whether full segments in order from `first` on that say nothing else are a routine run,
    /// if the last comes until `last` and not more than `takes` after the first.
    #[inline]
    #[must_use]
    pub fn expects_run(&self, first: u64, last: Time, takes: Span) -> bool {
        first == self.next
            && !self.disturbed
            && !self.delay.is_quick()
            && self.delay.is_usual(last)
            && takes < self.delay.wait()
    }

    /// Takes a routine run of `segs` segments, all with one timestamp. `arrives` lets them
    /// arrive one by one, asks for the acknowledgement of each, and gives when the last came.
    #[inline(always)]
    pub fn on_routine_run(
        &mut self,
        segs: u32,
        stamp: u32,
        arrives: impl FnOnce(&mut RunAcks) -> Time,
    ) {
        let waiting = self.next - self.acknowledged;
        let until_ack = DELAYED_SEGS_MAX - waiting;
        let echo_then = if self.is_newer(stamp) { stamp & self.stamp_mask } else { self.echo };
        let echo = if waiting > 0 { self.echo } else { echo_then };
        let last = arrives(&mut RunAcks { next: self.next, until_ack, echo, echo_then });
        let segs = u64::from(segs);
        if waiting == 0 || segs > until_ack {
            self.echo = echo_then;
        }
        let waiting = (waiting + segs) % DELAYED_SEGS_MAX;
        self.next += segs;
        self.acknowledged = self.next - waiting;
        self.received_segs += segs;
        self.delay.on_usual_data(last);
        self.ack_due = if waiting > 0 { last + self.delay.wait() } else { Time::NEVER };
    }

    /// Whether there is another acknowledgement after the one just given.
    #[inline]
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.has_more
    }

    /// The next acknowledgement to send after the one just given; to be asked until it
    /// gives none.
    #[inline]
    pub fn also(&mut self) -> Option<Ack> {
        if self.has_more { self.give_next() } else { None }
    }

    /// The blocks of the acknowledgement just given, if it has any.
    #[must_use]
    pub fn blocks(&self) -> SackBlocks {
        self.unusual.blocks.clone()
    }

    /// As [`Self::deadline`], [`Time::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        self.ack_due.min(self.run_due)
    }

    /// When [`Self::on_timer`] wants to be called, if nothing arrives before.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        Some(self.due()).filter(|due| *due < Time::NEVER)
    }

    /// Does what is due; gives the acknowledgement to send, as [`Self::on_data`] does.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        if self.run_due <= now {
            if let Some(run) = self.unusual.coalescer.take() {
                self.receive(now, &run);
            }
        }
        if self.ack_due <= now {
            self.end_wait(now);
        }
        self.settle();
        self.give_next()
    }

    /// The wait for another segment is over once the timer is.
    fn end_wait(&mut self, now: Time) {
        if !self.unusual.compression.is_holding() {
            self.ack_due = self.delay.end(self.ack_due);
            if self.ack_due > now {
                return;
            }
            self.delay.on_expiry();
        }
        self.send(None);
    }

    /// Distinct segments that have arrived, in order or not.
    #[inline]
    #[must_use]
    pub const fn received_segs(&self) -> u64 {
        self.received_segs
    }

    /// The next segment expected: everything below has arrived in order.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Segments that arrived with a congestion mark.
    #[must_use]
    pub const fn ce_segs(&self) -> u64 {
        self.unusual.ce_segs
    }

    #[cold]
    fn on_unusual_data(&mut self, now: Time, arrival: &Arrival) -> Option<Ack> {
        let (number, unusual) = (arrival.number, &mut *self.unusual);
        let known = number < self.next
            || unusual.reassembly.contains(number)
            || unusual.coalescer.holds(number);
        self.received_segs += u64::from(!known);
        unusual.ce_segs += u64::from(arrival.ce);
        for run in unusual.coalescer.add(now, arrival).into_iter().flatten() {
            self.receive(now, &run);
        }
        self.settle();
        self.give_next()
    }

    /// Works through what receive offload hands on.
    fn receive(&mut self, now: Time, run: &Run) {
        if self.unusual.ecn.separates(run.ce) && self.is_waiting() {
            self.send(None);
        }
        let echo = self.unusual.ecn.on_data(run.ce, run.cwr);
        if echo.begins {
            self.delay.hurry(QUICK_ACKS_AT_MARK);
        }
        let duplicate = self.duplicate(run);
        if duplicate.is_some() {
            self.delay.hurry(u32::MAX);
        }
        let may_wait = if run.span.end <= self.next {
            None
        } else if run.span.start <= self.next {
            self.receive_in_order(now, run)
        } else {
            self.receive_out_of_order(run)
        };
        match may_wait {
            Some(wait) if !echo.at_once && duplicate.is_none() => {
                self.ack_due = self.ack_due.min(now + wait);
            }
            _ => self.send(duplicate),
        }
    }

    /// What of a run had arrived before: the first piece of it.
    fn duplicate(&self, run: &Run) -> Option<Range<u64>> {
        let span = run.span.clone();
        if span.start < self.next {
            return Some(span.start..span.end.min(self.next));
        }
        self.unusual.reassembly.duplicate(span)
    }

    /// Takes data that moves the cumulative acknowledgement; how long that may wait.
    fn receive_in_order(&mut self, now: Time, run: &Run) -> Option<Span> {
        self.note_stamp(run.span.start, run.stamp);
        let unusual = &mut *self.unusual;
        let fills_hole = !unusual.reassembly.is_empty();
        self.next = unusual.reassembly.advance(run.span.end);
        unusual.short_waiting += u64::from(!run.full);
        unusual.compression.on_advance();
        self.delay.on_data(now);
        if unusual.window.on_data(now, run.span.end - run.span.start) {
            self.delay.quicken();
        }
        let at_once = fills_hole || run.pushed || self.delay.is_quick();
        (!at_once && !self.is_ack_due()).then(|| self.delay.wait())
    }

    /// Takes data above a hole; how long its acknowledgement may wait. What is held back goes
    /// first where there would be no room to report it later.
    fn receive_out_of_order(&mut self, run: &Run) -> Option<Span> {
        if self.unusual.compression.is_holding() && self.unusual.reassembly.displaces(&run.span) {
            self.send(None);
        }
        let Unusual { reassembly, compression, window, .. } = &mut *self.unusual;
        reassembly.insert(run.span.clone());
        if window.raise(run.span.end - run.span.start) {
            self.delay.quicken();
        }
        let held = !self.delay.is_quick() && compression.hold();
        held.then(|| compression.wait())
    }

    /// Whether more than one full segment waits. Lengths of others are not known here:
    /// however many there are, they wait, unless a full one is among them.
    const fn is_ack_due(&self) -> bool {
        let waiting = self.next - self.acknowledged;
        waiting >= DELAYED_SEGS_MAX && waiting > self.unusual.short_waiting
    }

    const fn is_waiting(&self) -> bool {
        self.next > self.acknowledged || self.unusual.compression.is_holding()
    }

    /// Remembers the timestamp of the segment that an acknowledgement answers: the
    /// first that it covers (RFC 7323, section 4.3). Segments are never refused for
    /// their timestamps.
    #[inline]
    const fn note_stamp(&mut self, start: u64, stamp: u32) {
        if start <= self.acknowledged && self.is_newer(stamp) {
            self.echo = stamp & self.stamp_mask;
        }
    }

    #[inline]
    const fn is_newer(&self, stamp: u32) -> bool {
        stamp.wrapping_sub(self.echo) as i32 >= 0
    }

    /// Puts an acknowledgement into the outbox.
    fn send(&mut self, duplicate: Option<Range<u64>>) {
        let ack = self.acknowledge();
        let unusual = &mut *self.unusual;
        unusual.short_waiting = 0;
        unusual.compression.on_ack();
        let duplicate = duplicate.filter(|_| unusual.reports_duplicates);
        let blocks = unusual.reassembly.blocks(duplicate, unusual.blocks_max);
        let ack = Ack { ece: unusual.ecn.ece(), has_blocks: !blocks.is_empty(), ..ack };
        if unusual.ready.is_none() {
            (unusual.ready, unusual.blocks) = (Some(ack), blocks);
        } else {
            unusual.outbox.push_back((ack, blocks));
        }
    }

    #[cold]
    fn give_next(&mut self) -> Option<Ack> {
        let Unusual { ready, outbox, blocks, .. } = &mut *self.unusual;
        let ack = ready.take().or_else(|| {
            let (ack, its_blocks) = outbox.pop_front()?;
            *blocks = its_blocks;
            Some(ack)
        });
        self.has_more = !outbox.is_empty();
        ack
    }

    /// Acknowledges what is in order, without anything else to say.
    #[inline]
    fn acknowledge(&mut self) -> Ack {
        self.acknowledged = self.next;
        self.ack_due = Time::NEVER;
        self.delay.on_ack();
        Ack { cumulative: self.next, echo: self.echo, ece: false, has_blocks: false }
    }

    /// Finds out whether data in order still needs the long way.
    fn settle(&mut self) {
        let unusual = &*self.unusual;
        self.run_due = unusual.coalescer.due();
        self.disturbed = unusual.takes_long_way
            || unusual.coalescer.is_on()
            || !unusual.window.is_settled()
            || unusual.ecn.ece()
            || unusual.short_waiting > 0
            || !unusual.reassembly.is_empty();
    }
}

impl Unusual {
    fn new(stack: &Stack, rtt: Span) -> Self {
        let room = SACK_BLOCKS_MAX - usize::from(stack.timestamps);
        Self {
            ecn: EcnEcho::new(stack.ecn),
            coalescer: Coalescer::new(stack),
            compression: SackCompression::new(stack, rtt),
            window: ReceiveWindow::new(stack, rtt),
            reassembly: Reassembly::new(),
            short_waiting: 0,
            ce_segs: 0,
            blocks_max: if stack.sack { room } else { 0 },
            reports_duplicates: stack.sack && stack.dsack,
            takes_long_way: false,
            ready: None,
            blocks: SackBlocks::default(),
            outbox: VecDeque::new(),
        }
    }
}
