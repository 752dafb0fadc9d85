//! The result schema: what a run records, column by column.
//!
//! Both engines fill the same tables and the same summary. A table is a set of
//! columns of fixed-width integers, handed on as little-endian bytes; what each
//! column means is part of its definition, so the documentation cannot drift.

mod output;
mod summary;
mod table;
mod tables;

pub use output::Output;
pub use summary::{FlowSummary, QueueSummary, Summary, TestbedSummary};
pub use table::{Column, ColumnInfo, Table};
pub use tables::{
    Event, EventKind, Events, FlowSample, FlowSamples, Internal, Internals, QueueSample,
    QueueSamples, Request, Requests, describe_schema,
};

use serde::Deserialize;

/// Version of the schema; it changes whenever a column's name, type or meaning does.
pub const SCHEMA_VERSION: u32 = 3;

/// What to record beside the summary.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordConfig {
    /// Time between samples in ns; none: no samples.
    pub interval_ns: Option<std::num::NonZeroU64>,
    /// Kinds of events to keep.
    pub events: Vec<EventKind>,
    /// Sample the algorithms' internal values too.
    pub algorithm_state: bool,
    /// Capture what the hosts send and get, as files for Wireshark.
    pub capture: bool,
}
