//! Undisturbed stretches: acknowledgements of bulk data that come one after the other, let
//! new segments go, and are answered, while nothing else happens in between.
//!
//! All that happens is what [`AllHosts::hear`] would do; what is left out is looking at
//! every step for what else might happen. Whatever is not routine ends the stretch.

use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{Arrival, Express, GroupId, Network, Packet, Roads, Time};
use dumbbell_tcp::clock;

use crate::express::Lanes;
use crate::flow::{Connection, Ends, FlowState};
use crate::hosts::{AllHosts, receiver_of, sender_of};
use crate::timers::Timers;
use crate::wire::plain_packet;

/// The lanes of all connections whose acknowledgements a group hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLanes {
    data: Express,
    acks: Express,
    /// The group of the receivers.
    receivers: GroupId,
}

/// Why a stretch ended.
enum End {
    /// What comes next is not certain or not routine.
    Stopped { worked: bool },
    /// A connection has nothing to send, or nothing that goes in runs.
    Ask { flow: usize, now: Time },
    /// A run of new segments meets more than empty roads.
    Send { flow: usize, now: Time, first: u64, count: u32 },
    /// A host wants to act earlier than is known.
    Plan { flow: usize },
}

impl SharedLanes {
    /// Those of each group, where all its connections have the same.
    pub fn of_groups(lanes: &[Lanes], network: &Network) -> Vec<Option<Self>> {
        let of_group = |(group, routes): (GroupId, &[usize])| {
            let mut all = routes.iter().map(|&route| {
                let is_sender = route == sender_of(route / 2);
                is_sender.then(|| Self::of(&lanes[route / 2], group, network)).flatten()
            });
            let first = all.next()??;
            all.all(|lanes| lanes == Some(first)).then_some(first)
        };
        network.groups().enumerate().map(of_group).collect()
    }

    fn of(lanes: &Lanes, group: GroupId, network: &Network) -> Option<Self> {
        let shared = Self { data: lanes.data?, acks: lanes.acks?, receivers: lanes.group };
        let is_heard = network.hears(&shared.acks) == Some(group);
        (is_heard && !shared.data.meets(&shared.acks)).then_some(shared)
    }
}

impl AllHosts<'_> {
    /// Works through what comes next as long as it is routine; gives whether anything was.
    #[inline]
    pub fn stretch(&mut self, network: &mut Network) -> bool {
        let Some((group, packet)) = network.next_heard() else { return false };
        let Some(lanes) = &self.shared_lanes[group] else { return false };
        match &self.flows[packet.flow() as usize].ends {
            Ends::Tcp(connection) if connection.expects(packet) => {}
            _ => return false,
        }
        let until = network.undisputed(group).min(self.timers.wakes(group)).min(lanes.data.last());
        let received = self.timers.wakes(lanes.receivers).min(network.end()).min(lanes.acks.last());
        let mut roads = network.roads(&lanes.data, &lanes.acks);
        let end = travel(&mut self.flows, &self.timers, self.cancel, &mut roads, until, received);
        network.leave(group);
        let flow = match end {
            End::Stopped { worked } => return worked,
            End::Ask { flow, now } => {
                self.transmit(now, flow, network);
                flow
            }
            End::Send { flow, now, first, count } => {
                let lane = lanes.data;
                self.send_run(now, flow, first, count, &lane, network);
                flow
            }
            End::Plan { flow } => {
                self.plan_receiver(flow, network);
                flow
            }
        };
        self.plan_sender(flow, network);
        true
    }
}

impl Connection {
    /// Whether an acknowledgement in this packet is routine for bulk data.
    #[inline]
    fn expects(&self, packet: Packet) -> bool {
        packet.is_bare() && !self.app.has_messages() && self.sender.expects(packet.number())
    }
}

/// Works through routine acknowledgements that come until `until`, as long as what they let
/// go is received until `received`.
#[inline(never)]
fn travel(
    flows: &mut [FlowState],
    timers: &Timers,
    cancel: &AtomicBool,
    roads: &mut Roads<'_>,
    until: Time,
    received: Time,
) -> End {
    let mut worked = false;
    while !cancel.load(Ordering::Relaxed)
        && let Some(Arrival { time: now, packet }) = roads.next(until)
    {
        let flow = packet.flow() as usize;
        let FlowState { spec, ends: Ends::Tcp(connection), counters, .. } = &mut flows[flow] else {
            break;
        };
        if !connection.expects(packet) {
            break;
        }
        let Connection { sender, receiver, app, .. } = &mut **connection;
        worked = true;
        roads.skip();
        sender.on_routine_ack(now, packet.number());
        let Some((first, count)) = sender.next_run(now) else { return End::Ask { flow, now } };
        counters.count_sent(spec, count);
        let (packet_bytes, header_bytes) = (spec.packet_bytes, spec.header_bytes);
        let (last, takes) = roads.run_ends(now, count, packet_bytes);
        let is_routine = last <= received && receiver.expects(first, last, takes);
        if !is_routine || !roads.admit(now, count) {
            return End::Send { flow, now, first, count };
        }
        counters.received_packets += u64::from(count);
        counters.received_bytes += u64::from(count) * u64::from(packet_bytes - header_bytes);
        let stamp = clock(now);
        receiver.on_routine_run(count, stamp, |acks| {
            let packet_of = |ack| plain_packet(flow as u32, header_bytes, ack);
            roads.send(now, (count, packet_bytes, header_bytes), || acks.of_next(), packet_of)
        });
        let (due, acked) = (sender.deadline().min(app.due()), receiver.deadline());
        let is_covered = acked.is_none_or(|acked| timers.covers(receiver_of(flow), acked));
        if !is_covered || !timers.covers(sender_of(flow), due) {
            return End::Plan { flow };
        }
    }
    End::Stopped { worked }
}
