//! Trains: consecutive acknowledgements of bulk data over direct paths. They release new segments,
//! which are acknowledged in turn, and no other event comes between.
//!
//! The result is the same as with [`AllHosts::receive`]. A train only skips the search for other
//! events at every step. Any event that was not predicted ends it.

use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{Arrival, Network, Time, Train};
use dumbbell_tcp::{Burst, clock};

use super::AllHosts;
use crate::flow::{Connection, Ends, FlowState, receiver_of, sender_of};
use crate::timers::Timers;
use crate::wire::plain_packet;

/// Reason why a train ended.
enum End {
    /// The next event is uncertain or was not predicted.
    Stopped { worked: bool },
    /// A receiver acts before `first`, when data sent now would reach it.
    Behind { first: Time },
    /// A connection has nothing to send on the fast path.
    Ask { flow: usize, now: Time },
    /// The burst may meet a loss or a full queue.
    Send { flow: usize, now: Time, burst: Burst },
    /// A host acts earlier than its timer is set.
    Plan { flow: usize },
}

impl AllHosts {
    /// Return true if the run can have trains.
    pub fn has_trains(&self) -> bool {
        self.shared_paths.iter().any(Option::is_some)
    }

    /// Process the next predicted events; return true if there were any.
    #[inline]
    pub fn take_train(&mut self, network: &mut Network) -> bool {
        let Some((process, packet)) = network.next_arrival() else { return false };
        let Some(paths) = &self.shared_paths[process] else { return false };
        match &self.flows[packet.flow() as usize].ends {
            Ends::Tcp(connection) if connection.expects(packet) => {}
            _ => return false,
        }
        // The train must stop before any other event, a timer of the senders, and the end of the
        // run.
        let until =
            network.undisputed(process).min(self.timers.wakes(process)).min(paths.data.last());
        // Receivers have their own time. Their timers limit what may reach them in one train.
        let wakes = self.timers.wakes(paths.receivers);
        let received = network.end().min(paths.acks.last());
        let mut train = network.begin_train(&paths.data, &paths.acks);
        let end = work_through(
            &mut self.flows,
            &self.timers,
            &self.cancel,
            &mut train,
            (until, wakes, received),
        );
        network.end_train(process);
        let flow = match end {
            End::Stopped { worked } => return worked,
            End::Behind { first } => {
                self.catch_up(paths.receivers, first, network);
                return true;
            }
            End::Send { flow, now, burst } => {
                self.send_several(now, flow, burst, network);
                flow
            }
            End::Ask { flow, now } => {
                self.transmit(now, flow, network);
                flow
            }
            End::Plan { flow } => {
                self.schedule_receiver(flow, network);
                flow
            }
        };
        self.schedule_sender(flow, network);
        true
    }
}

/// Process predicted acknowledgements until the first time. The data that they release must arrive
/// until the second time, when a receiver may act, and until the third.
#[inline(never)]
fn work_through(
    flows: &mut [FlowState],
    timers: &Timers,
    cancel: &AtomicBool,
    train: &mut Train<'_>,
    (until, wakes, received): (Time, Time, Time),
) -> End {
    let mut worked = false;
    while !cancel.load(Ordering::Relaxed)
        && let Some(Arrival { time: now, packet }) = train.next(until)
    {
        let flow = packet.flow() as usize;
        let FlowState { spec, ends: Ends::Tcp(connection), counters, .. } = &mut flows[flow] else {
            break;
        };
        if !connection.expects(packet) {
            break;
        }
        let first = train.begins(now);
        if wakes < first {
            return End::Behind { first };
        }
        let Connection { sender, receiver, app, .. } = &mut **connection;
        worked = true;
        // Only now: an acknowledgement that was not expected must remain for the general path.
        train.skip();
        sender.on_fast_ack(now, packet.number());
        let Some(burst) = sender.next_fast_burst(now) else { return End::Ask { flow, now } };
        let Burst { first, segs: count, .. } = burst;
        let (packet_bytes, header_bytes) = (spec.packet_bytes, spec.header_bytes);
        let (last, takes) = train.ends(now, count, packet_bytes);
        let stamp = clock(now);
        let is_predicted = last <= wakes.min(received)
            && receiver.predicts_burst((first, count, stamp), last, takes);
        if !is_predicted || !train.admit(now, count) {
            return End::Send { flow, now, burst };
        }
        counters.sent_packets += u64::from(count);
        counters.received_packets += u64::from(count);
        let packet_of = |ack| plain_packet(flow as u32, header_bytes, ack);
        if receiver.gathers() {
            let answer = |at| receiver.on_predicted_data(at, stamp, false);
            train.send(now, (count, packet_bytes), answer, packet_of);
        } else {
            receiver.on_predicted_burst(count, stamp, |acks| {
                train.send(now, (count, packet_bytes), |_| acks.of_next(), packet_of)
            });
        }
        let (due, acked) = (sender.deadline().min(app.due()), receiver.due());
        // A leaf that is too early costs one check. A leaf that is too late would miss the timer.
        if !timers.covers(receiver_of(flow), acked) || !timers.covers(sender_of(flow), due) {
            return End::Plan { flow };
        }
    }
    End::Stopped { worked }
}
