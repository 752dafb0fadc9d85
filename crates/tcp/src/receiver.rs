//! The receiving end: the data that has arrived, and its ACKs.
//!
//! Nearly all data comes in order and reports nothing else. [`Receiver::on_data`] alone handles it
//! (header prediction), behind receive offload, too. Everything else takes the slow path: receive
//! offload, ECN, reassembly, and then the decision whether the ACK may wait.

mod burst;
mod push;

use std::collections::VecDeque;
use std::ops::Range;

use dumbbell_network::{Span, Time};

use self::push::WindowPush;
use crate::accecn::MarkCounts;
use crate::ack::{Ack, SACK_BLOCKS_MAX, SackBlocks};
use crate::arrival::{Aggregate, Arrival};
use crate::coalesce::Coalescer;
use crate::compression::SackCompression;
use crate::delayed_ack::DelayedAck;
use crate::ecn_echo::EcnEcho;
use crate::reader::{Buffer, Reader, Reading};
use crate::reassembly::Reassembly;
use crate::receive_window::{ReceiveWindow, SEGMENT_BYTES};
use crate::rtt::RttEstimator;
use crate::stack::Stack;

/// Number of full segments at which an ACK may not wait (RFC 5681, section 4.2).
const DELAYED_SEGS_MAX: u64 = 2;
/// Number of ACKs that leave at once when congestion marks begin.
const QUICK_ACKS_AT_MARK: u32 = 2;

/// The receiver of one connection. It consumes data at once, so its window never limits the sender,
/// unless its application lags.
#[derive(Clone, Debug)]
#[repr(C)] // Fields that every segment touches come first, next to each other.
pub struct Receiver {
    /// All segments below have arrived.
    next: u64,
    /// The same, including an aggregate of receive offload that begins there.
    expected: u64,
    /// All segments below have been acknowledged.
    acknowledged: u64,
    received_segs: u64,
    /// Time at which waiting data must be acknowledged; the actual ACK may wait for the end of the
    /// tick.
    ack_due: Time,
    /// Time at which receive offload delivers its aggregate, or a lagging application reads.
    run_due: Time,
    /// Timestamp to echo.
    echo: u32,
    /// All bits with timestamps, and no bits without.
    stamp_mask: u32,
    /// True if data in order needs the slow path.
    needs_slow_path: bool,
    /// True if receive offload is on.
    gathers: bool,
    push: WindowPush,
    /// True if the outbox has an ACK.
    has_more: bool,
    delay: DelayedAck,
    slow: Box<SlowPath>,
}

/// State that ordinary data in order does not touch.
#[derive(Clone, Debug)]
struct SlowPath {
    ecn: EcnEcho,
    coalescer: Coalescer,
    compression: SackCompression,
    window: ReceiveWindow,
    reassembly: Reassembly,
    /// The application, if it lags; otherwise None.
    reader: Option<Box<Reader>>,
    /// Number of segments that wait for an ACK and are not full.
    short_waiting: u64,
    /// Largest number of blocks in an ACK; 0 without SACK.
    blocks_max: usize,
    reports_duplicates: bool,
    is_only_way: bool,
    /// The first ACK to return, and the blocks of that or of the last one.
    ready: Option<Ack>,
    blocks: SackBlocks,
    /// Further contents of that ACK.
    aside: Aside,
    /// ACKs after it. Few arrivals cause more than one.
    outbox: VecDeque<(Ack, SackBlocks, Aside)>,
}

/// Contents of some ACKs only.
#[derive(Clone, Copy, Debug, Default)]
struct Aside {
    /// The offered window in segments, if the application lags.
    offers: u64,
    /// Counts of marks, if they are counted.
    marks: MarkCounts,
}

impl Receiver {
    /// A receiver after a handshake with the round-trip time `rtt`. It sends no data, so it never
    /// gets another sample.
    #[must_use]
    pub fn new(stack: &Stack, rtt: Span) -> Self {
        let slow = Box::new(SlowPath::new(stack, rtt));
        let rto = RttEstimator::new(stack, Time::ZERO, rtt).rto();
        Self {
            next: 0,
            expected: 0,
            acknowledged: 0,
            received_segs: 0,
            ack_due: Time::NEVER,
            run_due: Time::NEVER,
            echo: 0,
            stamp_mask: if stack.timestamps { u32::MAX } else { 0 },
            needs_slow_path: !slow.window.is_settled(),
            gathers: slow.coalescer.is_on(),
            has_more: false,
            delay: DelayedAck::new(stack, rtt, rto),
            // With chunks, their last segments are pushed instead (`tso_push`).
            push: WindowPush::new(stack.window_push && !stack.tso, slow.window.offered()),
            slow,
        }
    }

    /// Disable the prediction of data. The results do not change.
    pub fn predict_nothing(&mut self) {
        self.slow.is_only_way = true;
        self.settle();
    }

    /// Make its application lag. Segments have a payload of `mss_bytes`.
    pub fn read_as(&mut self, stack: &Stack, reading: Reading, mss_bytes: u32) {
        let slow = &mut *self.slow;
        slow.window = ReceiveWindow::new(stack, slow.window.round_trip(), mss_bytes.into());
        let reader = Reader::new(reading, mss_bytes, slow.window.offered());
        slow.aside.offers = reader.window();
        slow.reader = Some(Box::new(reader));
        self.predict_nothing();
    }

    /// Make its ACKs count marks. Full segments have a payload of `mss_bytes`, and others of
    /// `short_bytes`. `rtt` is the round-trip time of the handshake.
    pub fn count_marks(&mut self, stack: &Stack, mss_bytes: u32, short_bytes: u64, rtt: Span) {
        self.slow.ecn.count(stack, mss_bytes, short_bytes, rtt);
        self.predict_nothing();
    }

    /// Count a marked packet of the handshake.
    pub fn on_marked_control(&mut self) {
        self.slow.ecn.on_marked_control();
    }

    /// The counts of marks in the last ACK. None if marks are not counted.
    #[must_use]
    pub fn marks(&self) -> Option<MarkCounts> {
        self.slow.ecn.counts().then_some(self.slow.aside.marks)
    }

    /// Take a data segment. Return the ACK to send at once; None if there is none. After an ACK,
    /// [`Self::also`] may have another.
    #[inline]
    pub fn on_data(&mut self, now: Time, arrival: Arrival) -> Option<Ack> {
        if arrival.is_plain_data() && self.predicts(now, arrival.number, arrival.stamp) {
            self.on_predicted_data(now, arrival.stamp, arrival.pushed)
        } else {
            self.take_slow_path(now, &arrival)
        }
    }

    /// Return whether a segment is the next, and needs nothing else if it is full and carries no
    /// mark or CWR (header prediction).
    #[inline]
    #[must_use]
    pub fn predicts(&self, now: Time, number: u64, stamp: u32) -> bool {
        number == self.expected
            && !self.needs_slow_path
            && self.delay.predicts(now)
            && (!self.gathers || self.slow.coalescer.joins_by(stamp))
    }

    /// Take a segment that [`Self::predicts`] allows. Return the ACK to send at once; None if there
    /// is none. There is no further ACK.
    #[inline(always)]
    pub fn on_predicted_data(&mut self, now: Time, stamp: u32, pushed: bool) -> Option<Ack> {
        self.received_segs += 1;
        let pushed = pushed || self.expected == self.push.next();
        self.expected += 1;
        if self.gathers {
            self.gather_predicted(now, stamp, pushed)
        } else {
            self.receive_predicted(now, stamp, pushed)
        }
    }

    /// Pass such a segment to receive offload.
    #[inline(never)]
    fn gather_predicted(&mut self, now: Time, stamp: u32, pushed: bool) -> Option<Ack> {
        let number = self.expected - 1;
        let arrival = Arrival { number, stamp, ce: false, cwr: false, full: true, pushed };
        let aggregate = self.slow.coalescer.join(now, &arrival);
        self.run_due = self.slow.coalescer.due();
        self.receive_predicted(now, aggregate?.stamp, pushed)
    }

    /// Take all expected segments.
    #[inline(always)]
    fn receive_predicted(&mut self, now: Time, stamp: u32, pushed: bool) -> Option<Ack> {
        self.delay.on_predicted_data(now);
        self.note_stamp(self.next, stamp);
        self.next = self.expected;
        let is_enough = self.next - self.acknowledged >= DELAYED_SEGS_MAX;
        if pushed {
            self.push.restart(self.next, self.slow.window.offered());
        }
        if is_enough || pushed || self.delay.is_quick() {
            return Some(self.acknowledge());
        }
        self.ack_due = now + self.delay.wait();
        None
    }

    /// Return the next ACK after the last one. Call this until it returns None.
    #[inline]
    pub fn also(&mut self) -> Option<Ack> {
        if self.has_more { self.give_next() } else { None }
    }

    /// The blocks of the last ACK.
    #[must_use]
    pub const fn blocks(&self) -> &SackBlocks {
        &self.slow.blocks
    }

    /// The window of the last ACK, in segments; before the first ACK that of the handshake. None if
    /// the application does not lag, so the window limits no sender.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.slow.reader.as_ref().map(|_| self.slow.aside.offers)
    }

    /// Process a probe of a closed window. Return the ACK to send.
    pub fn on_probe(&mut self) -> Option<Ack> {
        self.send(None);
        self.settle();
        self.give_next()
    }

    /// Time at which to call [`Self::on_timer`]; [`Time::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        self.ack_due.min(self.run_due)
    }

    /// Time at which to call [`Self::on_timer`], if nothing arrives before. None if there is none.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        Some(self.due()).filter(|due| *due < Time::NEVER)
    }

    /// Run timers that are due. Return the ACK to send, as [`Self::on_data`] does.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        if self.run_due <= now {
            self.hand_on(now);
        }
        if self.ack_due <= now {
            self.end_wait(now);
        }
        self.settle();
        self.give_next()
    }

    /// Deliver the aggregate of receive offload, or let the application read.
    fn hand_on(&mut self, now: Time) {
        if self.slow.coalescer.due() <= now
            && let Some(aggregate) = self.slow.coalescer.take()
        {
            self.receive(now, &aggregate);
        }
        if self.slow.reader_due() <= now {
            self.read(now);
        }
    }

    /// Let a lagging application read. Send an ACK if the read acknowledges data, or if it opens
    /// the window.
    fn read(&mut self, now: Time) {
        let is_full_waiting = self.is_full_waiting();
        let slow = &mut *self.slow;
        let Some(reader) = &mut slow.reader else { return };
        let read = reader.read(now, self.next);
        slow.window.on_read(now, read.segs);
        // Both reasons of tcp_cleanup_rbuf: more than a segment waits, or all pushed data is read.
        let acknowledges = self.next > self.acknowledged && (is_full_waiting || read.ends_push);
        if acknowledges || self.slow.opens_window(self.next) {
            self.send(None);
        }
    }

    /// End the wait for another segment.
    fn end_wait(&mut self, now: Time) {
        // SACK compression has a high-resolution timer: no tick delays it, and it shows nothing
        // about gaps.
        if !self.slow.compression.is_holding() {
            self.ack_due = self.delay.end(self.ack_due);
            if self.ack_due > now {
                return;
            }
            self.delay.on_expiry();
        }
        self.send(None);
    }

    /// Number of distinct segments that have arrived, in order or not.
    #[inline]
    #[must_use]
    pub const fn received_segs(&self) -> u64 {
        self.received_segs
    }

    /// The next expected segment. All segments below have arrived.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    #[cold]
    fn take_slow_path(&mut self, now: Time, arrival: &Arrival) -> Option<Ack> {
        let (number, slow) = (arrival.number, &mut *self.slow);
        let pushed;
        let arrival = if number == self.push.next() {
            pushed = Arrival { pushed: true, ..*arrival };
            &pushed
        } else {
            arrival
        };
        // This comes before receive offload. Afterwards the coalescer holds the segment in any
        // case.
        let known =
            number < self.next || slow.reassembly.contains(number) || slow.coalescer.holds(number);
        self.received_segs += u64::from(!known);
        if slow.coalescer.is_on() {
            for aggregate in slow.coalescer.add(now, arrival).into_iter().flatten() {
                self.receive(now, &aggregate);
            }
        } else {
            self.receive(now, &Aggregate::of(arrival));
        }
        self.settle();
        self.give_next()
    }

    /// Process an aggregate of receive offload.
    fn receive(&mut self, now: Time, aggregate: &Aggregate) {
        if self.slow.ecn.separates(aggregate.ce) && self.is_waiting() {
            self.send(None);
        }
        let echo = self.slow.ecn.on_aggregate(now, aggregate);
        if echo.begins {
            // The sender is about to reduce its window, and few segments may follow
            // (__tcp_ecn_check_ce).
            self.delay.hurry(QUICK_ACKS_AT_MARK);
        }
        let duplicate = self.duplicate(aggregate);
        if duplicate.is_some() {
            // A segment that arrives twice suggests lost ACKs (tcp_data_queue enters quick mode).
            self.delay.hurry(u32::MAX);
        }
        // Data that is completely old is acknowledged at once (RFC 9293, section 3.10.7.4).
        let may_wait = if aggregate.span.end <= self.next {
            None
        } else if aggregate.span.start <= self.next {
            self.receive_in_order(now, aggregate)
        } else {
            self.receive_out_of_order(aggregate)
        };
        match may_wait {
            Some(wait) if !echo.at_once && duplicate.is_none() => {
                self.ack_due = self.ack_due.min(now + wait);
            }
            _ => self.send(duplicate),
        }
    }

    /// The first part of an aggregate that had arrived before; None if all of it is new.
    fn duplicate(&mut self, aggregate: &Aggregate) -> Option<Range<u64>> {
        let span = aggregate.span.clone();
        if span.start < self.next {
            return Some(span.start..span.end.min(self.next));
        }
        self.slow.reassembly.duplicate(span)
    }

    /// Take data that advances the cumulative ACK. Return the longest wait of its ACK; None if it
    /// may not wait.
    fn receive_in_order(&mut self, now: Time, aggregate: &Aggregate) -> Option<Span> {
        self.note_stamp(aggregate.span.start, aggregate.stamp);
        let slow = &mut *self.slow;
        let fills_hole = !slow.reassembly.is_empty();
        self.next = slow.reassembly.advance(aggregate.span.end);
        if aggregate.pushed {
            self.push.restart(self.next, slow.window.offered());
        }
        self.push.pass(self.next, slow.window.offered());
        slow.short_waiting += u64::from(!aggregate.full);
        slow.compression.on_advance();
        self.delay.on_data(now);
        let segs = aggregate.span.end - aggregate.span.start;
        let (raises, is_read) = match &mut slow.reader {
            None => (slow.window.on_data(now, segs), aggregate.pushed),
            Some(reader) => {
                reader.on_data(now, aggregate.pushed || !aggregate.full);
                (slow.raises_window(self.next, segs), false)
            }
        };
        if raises {
            self.delay.quicken();
        }
        // The ACK of a filled hole leaves at once, which speeds up recovery (RFC 5681, section
        // 4.2).
        let at_once = self.is_ack_due()
            || fills_hole
            || is_read
            || self.delay.is_quick()
            || self.delay.is_nearly_over(self.ack_due, now);
        (!at_once).then(|| self.delay.wait())
    }

    /// Take data above a hole. Return the longest wait of its ACK; None if it may not wait. A
    /// waiting ACK leaves first if there would be no space to report its data later.
    fn receive_out_of_order(&mut self, aggregate: &Aggregate) -> Option<Span> {
        if self.slow.compression.is_holding() && self.slow.reassembly.displaces(&aggregate.span) {
            self.send(None);
        }
        let slow = &mut *self.slow;
        slow.reassembly.insert(aggregate.span.clone());
        if slow.raises_window(self.next, aggregate.span.end - aggregate.span.start) {
            self.delay.quicken();
        }
        let may_wait = !self.delay.is_quick() && slow.compression.hold();
        may_wait.then(|| slow.compression.wait())
    }

    /// Return whether more than one full segment waits. The lengths of short segments are not known
    /// here. Any number of them waits, unless a full segment is among them.
    const fn is_full_waiting(&self) -> bool {
        let waiting = self.next - self.acknowledged;
        waiting >= DELAYED_SEGS_MAX && waiting > self.slow.short_waiting
    }

    /// Return whether enough data waits for an immediate ACK. If the application lags, its next
    /// read sends the ACK, unless there is as much space as before.
    fn is_ack_due(&mut self) -> bool {
        if !self.is_full_waiting() {
            return false;
        }
        let Some(reader) = &self.slow.reader else { return true };
        let buffer = self.slow.buffer();
        if reader.is_short_of_space(self.next, buffer) {
            self.delay.leave_quick_mode();
        }
        reader.may_acknowledge(self.next, buffer)
    }

    const fn is_waiting(&self) -> bool {
        self.next > self.acknowledged || self.slow.compression.is_holding()
    }

    /// Record the timestamp of the first segment that the next ACK covers (RFC 7323, section 4.3).
    /// Segments are never refused because of their timestamps.
    #[inline]
    const fn note_stamp(&mut self, start: u64, stamp: u32) {
        // Not `<`: the segment at the edge is the one that the last ACK expects.
        if start <= self.acknowledged && self.is_newer(stamp) {
            self.echo = stamp & self.stamp_mask;
        }
    }

    #[inline]
    const fn is_newer(&self, stamp: u32) -> bool {
        stamp.wrapping_sub(self.echo) as i32 >= 0
    }

    /// Put an ACK into the outbox.
    fn send(&mut self, duplicate: Option<Range<u64>>) {
        let ack = self.acknowledge();
        let slow = &mut *self.slow;
        slow.short_waiting = 0;
        slow.compression.on_ack();
        let duplicate = duplicate.filter(|_| slow.reports_duplicates);
        let blocks = slow.reassembly.blocks(duplicate, slow.blocks_max);
        let ack = Ack { ece: slow.ecn.ece(), has_blocks: !blocks.is_empty(), ..ack };
        let offers = slow.offer(ack.cumulative);
        let aside = Aside { offers, marks: slow.ecn.report(blocks.option_bytes()) };
        if slow.ready.is_none() {
            (slow.ready, slow.blocks, slow.aside) = (Some(ack), blocks, aside);
        } else {
            slow.outbox.push_back((ack, blocks, aside));
        }
    }

    #[cold]
    fn give_next(&mut self) -> Option<Ack> {
        let SlowPath { ready, outbox, blocks, aside, .. } = &mut *self.slow;
        let ack = ready.take().or_else(|| {
            let (ack, its_blocks, its_aside) = outbox.pop_front()?;
            (*blocks, *aside) = (its_blocks, its_aside);
            Some(ack)
        });
        self.has_more = !outbox.is_empty();
        ack
    }

    /// Return an ACK of the data in order, with no other contents.
    #[inline]
    fn acknowledge(&mut self) -> Ack {
        self.acknowledged = self.next;
        self.ack_due = Time::NEVER;
        self.delay.on_ack();
        Ack { cumulative: self.next, echo: self.echo, ece: false, has_blocks: false }
    }

    /// Update whether data in order needs the slow path.
    fn settle(&mut self) {
        let slow = &*self.slow;
        self.run_due = slow.coalescer.due().min(slow.reader_due());
        let aggregate = slow.coalescer.aggregate();
        self.expected = aggregate.map_or(self.next, |aggregate| aggregate.span.end);
        self.needs_slow_path = slow.is_only_way
            || aggregate.is_some_and(|aggregate| aggregate.span.start != self.next || aggregate.ce)
            || !slow.window.is_settled()
            || slow.ecn.ece()
            || slow.short_waiting > 0
            || !slow.reassembly.is_empty();
    }
}

impl SlowPath {
    fn new(stack: &Stack, rtt: Span) -> Self {
        // Timestamps take the space of the fourth block (RFC 2018, section 3).
        let space = SACK_BLOCKS_MAX - usize::from(stack.timestamps);
        Self {
            ecn: EcnEcho::new(stack.ecn),
            coalescer: Coalescer::new(stack),
            compression: SackCompression::new(stack, rtt),
            window: ReceiveWindow::new(stack, rtt, SEGMENT_BYTES),
            reassembly: Reassembly::new(),
            reader: None,
            short_waiting: 0,
            blocks_max: if stack.sack { space } else { 0 },
            reports_duplicates: stack.sack && stack.dsack,
            is_only_way: false,
            ready: None,
            blocks: SackBlocks::default(),
            aside: Aside::default(),
            outbox: VecDeque::new(),
        }
    }

    /// Time of the application's next read.
    fn reader_due(&self) -> Time {
        self.reader.as_ref().map_or(Time::NEVER, |reader| reader.due())
    }

    /// The buffer of a lagging application.
    fn buffer(&self) -> Buffer {
        let (whole, offered) = (self.window.whole(), self.window.offered());
        Buffer { whole, above: self.reassembly.count(), offered }
    }

    /// Return whether segments raise the window. All segments below `next` have arrived.
    fn raises_window(&mut self, next: u64, segs: u64) -> bool {
        match &self.reader {
            None => self.window.raise(segs),
            Some(reader) => self.window.raise_within(segs, reader.space(next, self.buffer())),
        }
    }

    /// Return whether a read has left so much space that the sender should know.
    fn opens_window(&self, next: u64) -> bool {
        let buffer = self.buffer();
        self.reader.as_ref().is_some_and(|reader| reader.opens_window(next, buffer))
    }

    /// Return the window of an ACK of all below `next`.
    fn offer(&mut self, next: u64) -> u64 {
        if self.reader.is_none() {
            return 0;
        }
        let buffer = self.buffer();
        self.reader.as_mut().map_or(0, |reader| reader.offer(next, buffer))
    }
}
