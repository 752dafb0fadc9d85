//! The result schema: the columns that a run records.
//!
//! Both engines fill the same tables and the same summary. A table is a set of columns of
//! fixed-width integers, passed on as little-endian bytes. The meaning of each column is part of
//! its definition, so the documentation cannot drift.

#![forbid(unsafe_code)]

mod invalid;
mod output;
mod rows;
mod summary;
mod table;
mod tables;

pub use invalid::Invalid;
pub use output::Output;
pub use rows::{Kept, RowLimits, Rows};
pub use summary::{Cause, DelaySummary, Doubt, FlowSummary, QueueSummary, Summary, TestbedSummary};
pub use table::{Column, ColumnInfo, Table};
pub use tables::{
    DatagramSample, DatagramSamples, DelayBucket, DelayBuckets, Event, EventKind, Events,
    FlowSample, FlowSamples, Internal, Internals, ModeChange, ModeChanges, NO_FLOW, NO_QUEUE,
    QueueSample, QueueSamples, Request, Requests, SCHEMA_VERSION, describe_schema,
};

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::Deserialize;

/// Recordings besides the summary.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordConfig {
    /// Time between samples in ns; none: no samples.
    pub interval_ns: Option<NonZeroU64>,
    /// Length in ns of the periods for each of which the queueing delays of packets are counted;
    /// none: they are not.
    pub delays_ns: Option<NonZeroU64>,
    /// Kinds of events to keep.
    pub events: Vec<EventKind>,
    /// Sample the algorithms' internal values too.
    pub algorithm_state: bool,
    /// Keep each change of the algorithms' modes.
    #[serde(default)]
    pub modes: bool,
    /// Capture what the hosts send and get, as files for Wireshark.
    pub capture: bool,
}

impl RecordConfig {
    /// True if samples need values that algorithms report.
    #[must_use]
    pub const fn samples_reports(&self) -> bool {
        self.algorithm_state || self.modes
    }
}
