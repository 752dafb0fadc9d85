"""A measurement and the runs of a path like it: an experiment whose page shows both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.experiments.imports.measurement import MeasuredFlow, Measurement
from dumbbell.figures.kinds.measured import COMPARED
from dumbbell.results import experiments

_SAMPLES_MAX: Final = 600
"""Of each flow in a figure."""

_DIGITS: Final = 6


def experiment(
    measured: Measurement, scenario: Mapping[str, Any], command: Sequence[str]
) -> dict[str, Any]:
    """Return the experiment of a path's scenario, with a figure of both before the others."""
    content = experiments.of_scenario(scenario, Path(measured.file.stem), (), command)
    figure = {
        "name": "beside",
        "title": f"{measured.file.name}: measured and simulated",
        "caption": ". ".join([f"Measured by {measured.tool}", *measured.notes]) + ".",
        "kind": "measured",
        "section": "run",
        "test": "run",
        "flow": [_line(flow) for flow in measured.flows],
    }
    return {**content, "figure": [figure, *content["figure"]]}


def whole(flow: MeasuredFlow) -> dict[str, float]:
    """Return the values of a flow over its whole time, as far as they are known."""
    values = {name: getattr(flow, name) for name in COMPARED}
    return {name: value for name, value in values.items() if value is not None}


def _line(flow: MeasuredFlow) -> dict[str, Any]:
    samples = thinned(flow.samples.select("time_s", "goodput_mbit_per_s", "rtt_ms"))
    known = {
        name: [math.nan if value is None else float(f"{value:.{_DIGITS}g}") for value in column]
        for name, column in samples.to_dict(as_series=False).items()
        if column.count(None) < len(column)
    }
    return {"label": flow.label, "whole": whole(flow), **known}


def thinned(samples: pl.DataFrame) -> pl.DataFrame:
    """Return means over as many equal parts of the time as a figure has room for."""
    if samples.height <= _SAMPLES_MAX:
        return samples
    part = pl.int_range(pl.len()) * _SAMPLES_MAX // pl.len()
    return (
        samples.sort("time_s")
        .group_by(part.alias("part"), maintain_order=True)
        .agg(pl.all().mean())
        .drop("part")
    )
