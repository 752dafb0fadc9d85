"""Several reports of one file as one measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from dumbbell.base.errors import InputError
from dumbbell.experiments.imports.decoding import SECONDS_MAX
from dumbbell.experiments.imports.measurement import MeasuredFlow, Measurement

_SILENCE_S: Final = 1.0
"""Length to which a longer silence between reports is cut."""


def in_order(parts: Sequence[tuple[float | None, Measurement]]) -> Measurement:
    """Return one measurement of several, each with the time of the clock at which it began.

    Those without a time follow the one before.
    """
    if len(parts) == 1:
        return parts[0][1]
    timed = all(clock_s is not None for clock_s, _ in parts)
    ordered = sorted(parts, key=lambda part: part[0] or 0.0) if timed else list(parts)
    flows: list[MeasuredFlow] = []
    notes = [f"{len(parts)} reports in one file, each with separate flows over the same path"]
    end_s, cut_s, first_s = 0.0, 0.0, ordered[0][0] or 0.0
    for number, (clock_s, part) in enumerate(ordered, start=1):
        start_s = end_s if clock_s is None or not timed else clock_s - first_s - cut_s
        if start_s > end_s + _SILENCE_S:
            cut_s += start_s - end_s - _SILENCE_S
            start_s = end_s + _SILENCE_S
        flows += [_later(flow, start_s, number) for flow in part.flows]
        notes += [note for note in part.notes if note not in notes]
        end_s = max(end_s, start_s + part.duration_s)
    first = ordered[0][1]
    if end_s > SECONDS_MAX:
        raise InputError(
            f"its reports last {end_s:,.0f} s together",
            source=str(first.file),
            valid=f"at most {SECONDS_MAX:,} s; split the file",
        )
    if cut_s:
        notes.append(f"{cut_s:,.0f} s of silence between them are left out")
    return Measurement(first.file, first.tool, end_s, flows, notes)


def _later(flow: MeasuredFlow, by_s: float, number: int) -> MeasuredFlow:
    return replace(
        flow,
        label=f"{number}: {flow.label}",
        start_s=flow.start_s + by_s,
        end_s=flow.end_s + by_s,
        samples=flow.samples.with_columns(pl.col("time_s") + by_s),
    )
