//! Trains: acknowledgements of bulk data that come one after the other over direct paths, let
//! new segments go, and are answered, while nothing else happens in between.
//!
//! All that happens is what [`AllHosts::receive`] would do; what is left out is looking at every
//! step for what else might happen. Anything that was not predicted ends the train.

use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{Arrival, Network, Time, Train};
use dumbbell_tcp::{Burst, clock};

use super::AllHosts;
use crate::flow::{Connection, Ends, FlowState, receiver_of, sender_of};
use crate::timers::Timers;
use crate::wire::plain_packet;

/// Why a train ended.
enum End {
    /// What comes next is not certain or was not predicted.
    Stopped { worked: bool },
    /// A receiver wants to act before what would be sent now reaches it then.
    Behind { first: Time },
    /// A connection has nothing to send on the fast path.
    Ask { flow: usize, now: Time },
    /// What is sent may meet a loss or a full queue.
    Send { flow: usize, now: Time, burst: Burst },
    /// A host wants to act earlier than is known.
    Plan { flow: usize },
}

impl AllHosts {
    /// Whether there may be trains at all.
    pub fn has_trains(&self) -> bool {
        self.shared_paths.iter().any(Option::is_some)
    }

    /// Works through what comes next as long as it was predicted; gives whether anything was.
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
        // Receivers have their own time, and their timers bound what may reach them in one go.
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

/// Works through predicted acknowledgements that come until the first time, as long as what they
/// let go is received until the second, when a receiver may act, and the third.
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
        counters.count_sent(spec, count);
        counters.received_packets += u64::from(count);
        counters.received_bytes += u64::from(count) * u64::from(packet_bytes - header_bytes);
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
        // A leaf that is too early only costs a look, one that is too late would miss the timer.
        if !timers.covers(receiver_of(flow), acked) || !timers.covers(sender_of(flow), due) {
            return End::Plan { flow };
        }
    }
    End::Stopped { worked }
}
