//! The sending ends: acknowledgements that arrive, and data that leaves its host.

use dumbbell_network::{Arrival, Direction, Flags, LinkId, Network, Outcome, Packet, Time};
use dumbbell_record::{EventKind, Request};
use dumbbell_tcp::Burst;

use super::AllHosts;
use crate::app::Message;
use crate::flow::{Connection, Ends, FlowState, FullHost, sender_of};
use crate::side_table::FetchedAck;
use crate::wire::{ack_of, note_of};

impl AllHosts {
    /// Take an acknowledgement that reaches its sender, and send the data that it releases.
    #[inline]
    pub fn receive_ack(&mut self, Arrival { time, packet }: Arrival, network: &mut Network) {
        let index = packet.flow() as usize;
        self.get_to(sender_of(index), time, network);
        match self.take_fast_ack(time, packet) {
            None => return self.take_ack(time, packet, network),
            Some(None) => self.transmit(time, index, network),
            Some(Some(burst)) => self.send_fast(time, index, burst, network),
        }
        self.schedule_sender(index, network);
    }

    /// Take an acknowledgement on the fast path. Return the burst that it releases, if this
    /// certainly leaves its host. None: it is not on the fast path.
    #[inline(always)]
    fn take_fast_ack(&mut self, now: Time, packet: Packet) -> Option<Option<Burst>> {
        let FlowState { ends: Ends::Tcp(connection), full_host, .. } =
            &mut self.flows[packet.flow() as usize]
        else {
            return None;
        };
        if self.is_watched || !connection.expects(packet) {
            return None;
        }
        let sender = &mut connection.sender;
        sender.on_fast_ack(now, packet.number());
        // All outstanding data is in flight. If the window fits the host's queue, any part of it
        // does.
        let fits = full_host.is_none_or(|host| sender.conn().cwnd_segs <= host.holds);
        Some(if fits { sender.next_fast_burst(now) } else { None })
    }

    /// Take an acknowledgement, and send the data that it releases.
    #[inline(never)]
    fn take_ack(&mut self, time: Time, packet: Packet, network: &mut Network) {
        let index = packet.flow() as usize;
        if self.is_watched || !self.take_predicted_ack(time, packet) {
            if packet.has(Flags::OPENS) {
                return self.take_step(time, packet, network);
            }
            self.take_other_ack(time, packet);
        }
        let Ends::Tcp(connection) = &mut self.flows[index].ends else { return };
        if let Some(message) = connection.complete(time) {
            self.completed(time, index, message, network);
        }
        self.transmit_slowly(time, index, network);
        self.schedule_sender(index, network);
    }

    /// Take an acknowledgement that was predicted (header prediction); return false if it was not.
    #[inline(always)]
    fn take_predicted_ack(&mut self, now: Time, packet: Packet) -> bool {
        let Ends::Tcp(connection) = &mut self.flows[packet.flow() as usize].ends else {
            return false;
        };
        let sender = &mut connection.sender;
        let is_predicted = packet.is_bare() && sender.predicts(packet.number());
        if is_predicted {
            sender.on_predicted_ack(now, packet.number());
        }
        is_predicted
    }

    /// Take any other acknowledgement.
    #[inline(never)]
    fn take_other_ack(&mut self, now: Time, packet: Packet) {
        let index = packet.flow() as usize;
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.arrives(now, packet),
        };
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("an ACK of no connection") };
        let sender = &mut connection.sender;
        let mut window = None;
        let (ack, blocks) = if packet.has(Flags::OUT_OF_BAND) {
            let FetchedAck { ack, blocks, more } = self.side_table.fetch(packet);
            if let Some(capture) = &self.capture {
                capture.assert_sent_with(packet, blocks);
            }
            window = more.window;
            if let Some(marks) = more.marks {
                sender.take_marks(marks);
            }
            if let Some(stamp) = more.stamp {
                sender.take_stamp(stamp, ack.echo);
            }
            (ack, blocks)
        } else {
            (ack_of(packet, now), &self.side_table.none)
        };
        let mut observer = self.recorder.observer(now, packet.flow(), sender.next_new_segment());
        let says_more = ack.has_blocks || ack.ece;
        // An ACK that only changes the window is no duplicate (RFC 5681, section 2, condition e).
        let is_update = window.is_some_and(|segs| sender.is_window_update(ack.cumulative, segs));
        if says_more || !is_update {
            sender.on_ack(now, ack, blocks, &mut observer);
        }
        // After the ACK, since the window begins at the acknowledged segment.
        if let Some(segs) = window {
            sender.take_window(ack.cumulative, segs);
        }
        if flow.spec.sampled {
            self.recorder.note_mode(now, packet.flow(), sender);
        }
    }

    #[cold]
    fn completed(&mut self, now: Time, index: usize, message: Message, network: &mut Network) {
        self.recorder.request(Request {
            time_ns: message.issued.0,
            flow: index as u32,
            number: message.number,
            bytes: message.bytes,
            latency_ns: now.since(message.issued).0,
        });
        let flow = &mut self.flows[index];
        let Some(connection) = flow.connection() else { return };
        if let Some(number) = connection.app.query() {
            return self.answered(now, number, network);
        }
        if connection.app.due() == Time::NEVER {
            self.recorder.event_of(now, EventKind::Done, index as u32, &connection.sender);
            flow.ended.get_or_insert(now);
            // Samples need the connection until the end of the run.
            if !flow.spec.sampled {
                self.done.push(index as u32);
            }
        }
    }

    /// Begin the next query if this was the last answer to the one before.
    fn answered(&mut self, now: Time, number: u32, network: &mut Network) {
        let Some((begins, flows)) = self.queries.answer(number, now) else { return };
        for index in flows {
            if let Ends::Tcp(connection) = &mut self.flows[index].ends {
                connection.app.ask(begins);
                self.schedule_sender(index, network);
            }
        }
    }

    /// Send all that a connection may send now, if it may be on the fast path.
    #[inline(never)]
    pub fn transmit(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return };
        if let Some(FullHost { link, holds }) = flow.full_host
            && connection.sender.conn().cwnd_segs > holds
            && !network.takes(link, now, flow.spec.packet_bytes, connection.sender.burst_segs_max())
        {
            return self.transmit_slowly(now, index, network);
        }
        match connection.sender.next_fast_burst(now) {
            Some(burst) => self.send_several(now, index, burst, network),
            None => self.transmit_slowly(now, index, network),
        }
    }

    /// As [`Self::transmit`], for any connection.
    #[inline(never)]
    pub fn transmit_slowly(&mut self, now: Time, index: usize, network: &mut Network) {
        loop {
            let FlowState { spec, ends: Ends::Tcp(connection), full_host, .. } =
                &mut self.flows[index]
            else {
                return;
            };
            let sender = &mut connection.sender;
            if let Some(FullHost { link, .. }) = full_host {
                // Set it for each burst, as the one before took some of the space.
                sender.set_host_space(network.space(*link, now, spec.packet_bytes));
            }
            let Some(burst) = sender.next_burst(now) else {
                if sender.is_refused() {
                    self.heed_refusal(now, index);
                }
                return;
            };
            if burst.is_retransmission || burst.cwr || burst.pushed {
                self.send_burst(now, index, burst, network);
            } else if burst.segs == 1 {
                self.send_fast(now, index, burst, network);
            } else {
                self.send_several(now, index, burst, network);
            }
            if burst.is_last || self.is_cancelled() {
                return;
            }
        }
    }

    /// Notify a sender if its host's queue has refused a segment.
    #[inline(never)]
    fn heed_refusal(&mut self, now: Time, index: usize) {
        let Ends::Tcp(connection) = &mut self.flows[index].ends else { return };
        let sender = &mut connection.sender;
        let next = sender.next_new_segment();
        sender.on_refusal(now, &mut self.recorder.observer(now, index as u32, next));
    }

    #[inline(never)]
    pub(super) fn send_several(
        &mut self,
        now: Time,
        index: usize,
        burst: Burst,
        network: &mut Network,
    ) {
        self.send_fast(now, index, burst, network);
    }

    /// Send new segments with plain packets.
    #[inline(always)]
    fn send_fast(&mut self, now: Time, index: usize, burst: Burst, network: &mut Network) {
        let FlowState { spec, ends: Ends::Tcp(connection), interface, counters, .. } =
            &mut self.flows[index]
        else {
            return;
        };
        if self.is_watched || connection.app.has_messages() {
            return self.send_burst(now, index, burst, network);
        }
        let (interface, ecn) = (*interface, connection.ecn_of(false));
        counters.sent_packets += u64::from(burst.segs);
        let first = Packet::new(index as u32, Direction::Forward, spec.packet_bytes, burst.first)
            .with_ecn(ecn)
            .with_note(note_of(now));
        self.send_consecutive(now, first, burst.segs, interface, network);
    }

    /// Send segments whose packets may carry more than their numbers.
    #[inline(never)]
    fn send_burst(&mut self, now: Time, index: usize, burst: Burst, network: &mut Network) {
        let FlowState { spec, ends: Ends::Tcp(connection), counters, interface, .. } =
            &mut self.flows[index]
        else {
            return;
        };
        let ecn = connection.ecn_of(burst.is_retransmission);
        let Connection { sender, app, .. } = &**connection;
        if spec.sampled {
            self.recorder.note_mode(now, index as u32, sender);
        }
        if burst.is_retransmission {
            for segment in burst.first..burst.first + u64::from(burst.segs) {
                self.recorder.event(now, EventKind::Retransmit, index as u32, segment, sender);
            }
        }
        let last = burst.first + u64::from(burst.segs - 1);
        let (header_bytes, full_bytes) = (spec.header_bytes, spec.packet_bytes);
        let ends_message = app.ends_message(last);
        let last_bytes =
            if ends_message { app.last_bytes() as u16 + header_bytes } else { full_bytes };
        counters.sent_packets += u64::from(burst.segs);
        counters.sent_short_bytes += u64::from(full_bytes - last_bytes);
        let resent = Flags::RESENT.when(burst.is_retransmission);
        let interface = *interface;
        // A capture sees each packet, and the last of a burst may differ from the others.
        let (has_runs, last_is_special) = (self.capture.is_none(), burst.pushed || ends_message);
        let mut place = 0;
        while place < burst.segs && !self.is_cancelled() {
            let (is_first, is_last) = (place == 0, place + 1 == burst.segs);
            let bytes = if is_last { last_bytes } else { full_bytes };
            let flags = resent
                .and(Flags::CWR.when(burst.cwr && is_first))
                .and(Flags::PSH.when(is_last && last_is_special));
            let number = burst.first + u64::from(place);
            let packet = Packet::new(index as u32, Direction::Forward, bytes, number)
                .with_flags(flags)
                .with_ecn(ecn)
                .with_note(note_of(now));
            let says_more = is_last || burst.cwr && is_first;
            if has_runs && !says_more {
                let packets = burst.segs - place - u32::from(last_is_special);
                self.send_consecutive(now, packet, packets, interface, network);
                place += packets;
            } else {
                self.send_data(now, packet, network);
                place += 1;
            }
        }
    }

    /// Send a segment or a datagram.
    #[inline(always)]
    pub(super) fn send_data(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.sends_data(now, packet),
        };
        let outcome = network.send(now, packet);
        if let Some(link) = self.flows[packet.flow() as usize].interface {
            self.note_departures(link, packet, 1, outcome, network);
        }
        self.follow(outcome, network);
    }

    /// Send plain packets with consecutive numbers. `interface` is their host's, if their sender
    /// needs to know when they leave it.
    #[inline(always)]
    fn send_consecutive(
        &mut self,
        now: Time,
        mut next: Packet,
        packets: u32,
        interface: Option<LinkId>,
        network: &mut Network,
    ) {
        if let Some(link) = interface {
            return self.send_from_host(now, next, packets, link, network);
        }
        if packets == 1 {
            let outcome = network.begin(now, next);
            return self.follow(outcome, network);
        }
        let mut left = packets;
        while left > 0 {
            // Follow each outcome in its branch: a common variable would be copied through memory.
            let sent = if let Some((sent, outcome)) = network.send_burst(now, next, left, |_| {}) {
                self.follow(outcome, network);
                sent
            } else {
                let outcome = network.begin(now, next);
                self.follow(outcome, network);
                1
            };
            (next, left) = (next.following(sent), left - sent);
        }
    }

    /// Send packets and notify their sender when they leave its host's interface.
    #[inline(never)]
    fn send_from_host(
        &mut self,
        now: Time,
        mut next: Packet,
        packets: u32,
        link: LinkId,
        network: &mut Network,
    ) {
        let mut left = packets;
        while left > 0 {
            let Ends::Tcp(connection) = &mut self.flows[next.flow() as usize].ends else {
                unreachable!("only a connection follows its packets")
            };
            let sender = &mut connection.sender;
            let sent = if sender.sends_chunks() {
                self.send_chunk(now, next, left, link, network)
            } else {
                let departs = |at| {
                    sender.on_tx_completion(1, at);
                };
                match network.send_burst(now, next, left, departs) {
                    Some((sent, outcome)) => {
                        self.follow(outcome, network);
                        sent
                    }
                    None => self.send_one(now, next, link, network),
                }
            };
            (next, left) = (next.following(sent), left - sent);
        }
    }

    /// Send packets of one chunk, of which the sender only needs the end; return their number.
    #[inline(always)]
    fn send_chunk(
        &mut self,
        now: Time,
        first: Packet,
        packets: u32,
        link: LinkId,
        network: &mut Network,
    ) -> u32 {
        match network.send_burst(now, first, packets, |_| {}) {
            Some((sent, outcome)) => {
                self.note_departures(link, first, sent, outcome, network);
                self.follow(outcome, network);
                sent
            }
            None => self.send_one(now, first, link, network),
        }
    }

    #[inline(always)]
    fn send_one(&mut self, now: Time, packet: Packet, link: LinkId, network: &mut Network) -> u32 {
        let outcome = network.send(now, packet);
        self.note_departures(link, packet, 1, outcome, network);
        self.follow(outcome, network);
        1
    }

    /// Notify a sender when the packets that it has just sent leave its host's interface, if that
    /// time is known. The last one does not count if the interface dropped it.
    #[inline]
    fn note_departures(
        &mut self,
        link: LinkId,
        packet: Packet,
        sent: u32,
        outcome: Outcome,
        network: &Network,
    ) {
        let flow = &mut self.flows[packet.flow() as usize];
        let is_last_lost = matches!(outcome, Outcome::Lost(_, at, _) if at == link);
        if let Ends::Tcp(connection) = &mut flow.ends
            && let Some(departs) = network.departs_by(link)
        {
            // A packet that its own interface drops never joined the queue, so `departs_by` is not
            // its time. The loss reports it.
            connection.sender.on_tx_completion(sent - u32::from(is_last_lost), departs);
        }
    }

    /// Notify a sender that a packet leaves its host's interface, or is lost there.
    pub fn on_tx_completion(&mut self, arrival: Arrival, link: LinkId, network: &mut Network) {
        let Arrival { time, packet } = arrival;
        let index = packet.flow() as usize;
        let flow = &mut self.flows[index];
        if packet.direction() == Direction::Reverse
            || flow.interface != Some(link)
            || packet.has(Flags::OPENS)
        {
            return;
        }
        if let Ends::Tcp(connection) = &mut flow.ends
            && connection.sender.on_tx_completion(1, time)
        {
            self.schedule_sender(index, network);
        }
    }

    /// Set the timer so that a sender can act in time.
    #[inline]
    pub(super) fn schedule_sender(&mut self, index: usize, network: &mut Network) {
        let due = self.flows[index].sender_due();
        self.timers.at_latest(sender_of(index), due, network);
    }
}
