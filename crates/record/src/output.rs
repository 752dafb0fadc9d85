//! The whole output of a run.

use crate::summary::Summary;
use crate::table::{Column, Table};
use crate::tables::{
    DatagramSamples, DelayBuckets, Events, FlowSamples, Internals, ModeChanges, QueueSamples,
    Requests,
};

/// The recordings of a run.
#[derive(Debug)]
pub struct Output {
    /// Totals.
    pub summary: Summary,
    /// Samples of the flows.
    pub flows: FlowSamples,
    /// Samples of the flows of datagrams.
    pub datagrams: DatagramSamples,
    /// Histograms of the delays of packets.
    pub delays: DelayBuckets,
    /// Samples of the algorithms' internal values.
    pub internals: Internals,
    /// Changes of the algorithms' modes.
    pub modes: ModeChanges,
    /// Samples of the bottlenecks.
    pub queues: QueueSamples,
    /// Events.
    pub events: Events,
    /// Requests and transfers that were completed.
    pub requests: Requests,
    /// Captures at the sending and at the receiving hosts, as pcapng files; none: not requested.
    pub captures: Option<[Vec<u8>; 2]>,
}

impl Output {
    /// Every table that has rows, by name.
    #[must_use]
    pub fn tables(&self) -> Vec<(&'static str, Vec<Column>)> {
        fn entry<T: Table>(table: &T) -> Option<(&'static str, Vec<Column>)> {
            (!table.is_empty()).then(|| (T::NAME, table.columns()))
        }
        let tables = [
            entry(&self.flows),
            entry(&self.datagrams),
            entry(&self.delays),
            entry(&self.queues),
            entry(&self.events),
            entry(&self.internals),
            entry(&self.modes),
            entry(&self.requests),
        ];
        tables.into_iter().flatten().collect()
    }
}
