//! Service of links that pick their next packet when their transmitter is free.

use super::{Network, Outcome};
use crate::link::{DropCause, Link, ScheduledLink};
use crate::packet::Packet;
use crate::route::{Arrival, LinkId};
use crate::units::Time;

impl Network {
    /// Add a packet to a scheduler's queue. Packets that are sent before its arrival must be chosen
    /// without it.
    pub(super) fn enter_scheduled(&mut self, time: Time, packet: Packet, link: LinkId) -> Outcome {
        if let Some(at) = self.scheduled_link(link).pass(time, packet) {
            return self.send_on(at, packet.advanced());
        }
        self.enter_in_turn(time, packet, link)
    }

    /// Add packets with consecutive numbers to a scheduler's queue, and stop after one with another
    /// outcome than [`Outcome::UnderWay`]. Return their number, and whether [`Self::next_outcome`]
    /// has more about the last.
    #[inline(never)]
    pub(super) fn schedule_burst(
        &mut self,
        time: Time,
        first: Packet,
        packets: u32,
        link: LinkId,
    ) -> (u32, bool) {
        let mut packet = first;
        for sent in 1..=packets {
            let outcome = self.enter_in_turn(time, packet, link);
            if outcome != Outcome::UnderWay {
                if outcome != Outcome::Several {
                    self.outcomes.push_back(outcome);
                }
                return (sent, true);
            }
            packet = packet.following(1);
        }
        (packets, false)
    }

    #[inline]
    fn enter_in_turn(&mut self, time: Time, packet: Packet, link: LinkId) -> Outcome {
        let service = self.service_of[link] as usize;
        // A service at the same time goes first: it cannot have chosen the packet that arrives
        // then.
        if self.events.get(service) <= time {
            return self.enter_after_service(time, packet, link);
        }
        self.join_schedule(time, packet, link)
    }

    #[inline(never)]
    fn enter_after_service(&mut self, time: Time, packet: Packet, link: LinkId) -> Outcome {
        let service = self.service_of[link] as usize;
        let mut before = Outcome::UnderWay;
        loop {
            let next = self.events.get(service);
            if next > time {
                break;
            }
            let mark = self.outcomes.len();
            let outcome = self.serve(next, link);
            before = self.both(before, mark, outcome);
        }
        let mark = self.outcomes.len();
        let outcome = self.join_schedule(time, packet, link);
        self.both(before, mark, outcome)
    }

    #[inline]
    fn join_schedule(&mut self, time: Time, packet: Packet, link: LinkId) -> Outcome {
        let service = self.service_of[link] as usize;
        let scheduled = self.scheduled_link(link);
        let arrived = scheduled.arrive(time, packet);
        if arrived.is_err() || scheduled.duplicates() || scheduled.has_given_up() {
            return self.join_with_losses(time, packet, link, arrived);
        }
        if self.events.get(service) == Time::NEVER {
            self.schedule_service(link, time);
        }
        Outcome::UnderWay
    }

    #[cold]
    fn join_with_losses(
        &mut self,
        time: Time,
        packet: Packet,
        link: LinkId,
        arrived: Result<(), DropCause>,
    ) -> Outcome {
        let scheduled = self.scheduled_link(link);
        let is_doubled = scheduled.duplicates() && scheduled.duplicate();
        if is_doubled {
            self.outcomes.push_back(Outcome::Duplicated(packet));
        }
        let outcome = match arrived {
            Ok(()) => self.queued(time, link),
            Err(cause) => Outcome::Lost(Arrival { time, packet }, link, cause),
        };
        if !is_doubled {
            return outcome;
        }
        let first = self.both(Outcome::Several, self.outcomes.len(), outcome);
        let mark = self.outcomes.len();
        self.scheduled_link(link).join_again(time, packet);
        let again = self.queued(time, link);
        self.both(first, mark, again)
    }

    /// Combine one outcome with a later one, whose queued outcomes begin at `mark`.
    #[inline]
    fn both(&mut self, first: Outcome, mark: usize, second: Outcome) -> Outcome {
        match (first, second) {
            (Outcome::UnderWay, outcome) | (outcome, Outcome::UnderWay) => outcome,
            (first, second) => self.keep_both(first, mark, second),
        }
    }

    #[cold]
    fn keep_both(&mut self, first: Outcome, mark: usize, second: Outcome) -> Outcome {
        if first != Outcome::Several {
            self.outcomes.insert(mark, first);
        }
        if second != Outcome::Several {
            self.outcomes.push_back(second);
        }
        Outcome::Several
    }

    #[inline]
    fn scheduled_link(&mut self, link: LinkId) -> &mut ScheduledLink {
        match &mut self.links[link] {
            Link::Scheduled(link) => link,
            _ => unreachable!("only schedulers are asked"),
        }
    }

    /// Schedule the service of a packet that joined a scheduler's queue, and report losses.
    fn queued(&mut self, now: Time, link: LinkId) -> Outcome {
        let service = self.service_of[link] as usize;
        if self.events.get(service) == Time::NEVER {
            self.schedule_service(link, now);
        }
        self.give_up(now, link, true)
    }

    /// Let a scheduler send its next packet.
    pub fn serve(&mut self, now: Time, link: LinkId) -> Outcome {
        let scheduled = self.scheduled_link(link);
        let served = scheduled.serve(now);
        let (next, sent) = (scheduled.next_service(now), scheduled.free_at());
        let has_given_up = scheduled.has_given_up();
        let next = if next > self.end { Time::NEVER } else { next };
        self.events.set(self.service_of[link] as usize, next);
        let before = if has_given_up { self.give_up(now, link, false) } else { Outcome::UnderWay };
        let Some((at, packet)) = served else { return before };
        let mark = self.outcomes.len();
        let mut outcome = self.send(at, packet.advanced());
        if self.reports[link] {
            let departs = Outcome::Departs(Arrival { time: sent, packet }, link);
            outcome = match outcome {
                Outcome::UnderWay => departs,
                outcome => self.keep_both(departs, mark, outcome),
            };
        }
        if has_given_up { self.both(before, mark, outcome) } else { outcome }
    }

    #[inline]
    fn schedule_service(&mut self, link: LinkId, now: Time) {
        let next = self.scheduled_link(link).next_service(now);
        let next = if next > self.end { Time::NEVER } else { next };
        self.events.set(self.service_of[link] as usize, next);
    }

    /// Report the packets that a scheduler gave up, on an arrival or when it sent a packet.
    #[cold]
    fn give_up(&mut self, time: Time, link: LinkId, on_arrival: bool) -> Outcome {
        let mut all = Outcome::UnderWay;
        while let Some(packet) = self.scheduled_link(link).take_given_up(time, on_arrival) {
            let lost = Outcome::Lost(Arrival { time, packet }, link, DropCause::Overflow);
            all = self.both(all, self.outcomes.len(), lost);
        }
        all
    }
}
