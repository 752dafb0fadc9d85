"""Keys of the recordings of a run."""

from __future__ import annotations

from pydantic import Field, field_validator

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import unknown
from dumbbell.base.units import Interval
from dumbbell.scenario.tables import Table


class Record(Table):
    """The output of a run in addition to its summary."""

    interval: Interval = Field("100ms", validate_default=True, examples=["100ms", "none"])
    """Time between samples of flows and queues; `none` takes no samples. If it is not set,
    `simulate`, `validate`, `compare --on` and Python's `simulate` choose a time. It is at most 2.5
    round trips and at least 1 ms, but a flow has at most 20,000 samples, and a run a million.
    Studies use the default."""

    delays: Interval = Field("none", validate_default=True, examples=["1s", "none"])
    """Length of the periods of the table `delays`. For each period it counts the queueing delays of
    all packets, by queue and flow. `none` counts none, which is faster."""

    events: tuple[str, ...] = Field(
        ("congestion", "timeout", "drop", "loss", "retransmit"),
        examples=[["congestion", "drop"]],
    )
    """Kinds of events to record. A run that has more than 20 million of them ends with an error, as
    does one with as many requests."""

    algorithm_state: bool = Field(False, examples=[True])
    """True to sample the algorithm's own variables too (table `internals`)."""

    modes: bool = Field(False, examples=[True])
    """True to keep each change of an algorithm's mode, such as that of BBR from `startup` to
    `drain`. The table `modes` has all its variables at that moment. Flows without samples are left
    out, and so are algorithms without modes. On the testbed, samples show a change. A run with more
    than 8 million changes ends with an error."""

    @field_validator("events")
    @classmethod
    def _known_events(cls, events: tuple[str, ...]) -> tuple[str, ...]:
        names = catalogue.schema().codes["kind"]
        for event in events:
            if event not in names:
                raise unknown("kind of event", event, names)
        return events
