"""Fitting a transfer whose path is known, and comparing both."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.base.units import parse_queue, parse_rate, parse_time
from dumbbell.engines.engine import Engine, SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.experiments.imports import fitting, playing, reading
from dumbbell.experiments.imports.fitting import Fitted
from dumbbell.experiments.imports.fitting import Path as FittedPath
from dumbbell.experiments.imports.limits import Limit
from dumbbell.experiments.imports.measurement import Measurement
from dumbbell.scenario.model import Scenario
from fidelity.check import Band, within
from fidelity.imported.case import Case, Truth
from fidelity.imported.reports import report

RATE: Final = within(0.05)
RTT: Final = within(0.10)
BUFFER: Final = within(0.25)
GOODPUT: Final = within(0.05)

_PACKETS: Final = 2
"""A buffer of a few packets may be off by so many."""


@dataclass(frozen=True)
class Value:
    """A fitted value and the true one, in the same unit; whether the transfer shows it."""

    name: str
    true: float
    fitted: float
    is_shown: bool
    is_within: bool
    why: str


@dataclass(frozen=True)
class Judged:
    """A case and what was fitted."""

    name: str
    limit: Limit
    is_right: bool
    """True if the limit of the flow was recognised."""
    values: tuple[Value, ...]

    @property
    def outside(self) -> list[str]:
        """The values that are shown but outside their bands, and an unrecognised limit."""
        wrong = [value.name for value in self.values if value.is_shown and not value.is_within]
        return wrong + ([] if self.is_right else ["limit"])


def run(case: Case, engine: Engine) -> Run:
    """Run a case; a simulated one that is seen by a capture leaves one."""
    resolved = Scenario.parse(case.scenario).resolve(capture=case.seen == "capture")
    resolved = resolved.on(engine.identity)
    return Run.of(resolved, engine.run(resolved))


def judge(case: Case, done: Run) -> Judged:
    """Fit what a tool saw of a run, and compare the path with the true one."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-import-") as folder:
        if case.seen == "capture":
            assert done.captures is not None
            file = Path(folder) / "sender.pcapng"
            file.write_bytes(done.captures[0])
        else:
            file = Path(folder) / "client.json"
            file.write_text(json.dumps(report(case, done)))
        algorithm = case.flow["algorithm"]
        return judged_file(file, case.name, case.truth, case.limit, algorithm)


def judged_file(file: Path, name: str, truth: Truth, limit: str, algorithm: str) -> Judged:
    """Fit a file, and compare the path with the true one."""
    measured = reading.read(file)
    path = fitting.path(measured, {}, algorithm)
    values = list(_values(path, truth))
    if limit != "path":
        values.append(_goodput(measured, path, algorithm))
    (flow_limit,) = path.limits
    # Which of the ends it was, numbers alone cannot always say; nor whether a short buffer lost.
    same = {flow_limit.kind, limit} in ({"window", "application"}, {"losses", "path"})
    is_right = flow_limit.kind == limit or same
    return Judged(name, flow_limit, is_right, tuple(values))


def _values(path: FittedPath, truth: Truth) -> Iterator[Value]:
    if truth.rate_bps is not None:
        yield _value(
            "rate", truth.rate_bps / 1e6, parse_rate(path.rate.value) / 1e6, path.rate, RATE
        )
    if truth.rtt_ms is not None:
        yield _value("RTT", truth.rtt_ms, parse_time(path.rtt.value) / 1e6, path.rtt, RTT)
    if truth.buffer_packets is not None:
        size = parse_queue(path.queue.value)
        packets = float(size.amount) if size.unit == "packets" else float("nan")
        yield _value("buffer", truth.buffer_packets, packets, path.queue, BUFFER)


def _value(name: str, true: float, fitted: float, fit: Fitted, band: Band) -> Value:
    close = name == "buffer" and abs(fitted - true) <= _PACKETS
    return Value(name, true, fitted, fit.is_shown, close or band.holds(fitted, true), fit.why)


def _goodput(measured: Measurement, path: FittedPath, algorithm: str) -> Value:
    """Return the goodput that a simulation of the fitted path has, and the measured one."""
    scenario = Scenario.parse(playing.scenario(measured, path, algorithm)).resolve()
    engine = SimulatorEngine()
    done = Run.of(scenario, engine.run(scenario.on(engine.identity)))
    simulated = done.summary.flows[0].received_bytes * 8 / measured.duration_s / 1e6
    true = measured.flows[0].goodput_mbit_per_s or 0.0
    return Value(
        "goodput", true, simulated, True, GOODPUT.holds(simulated, true), "simulated again"
    )
