"""Dependence of a result on the phase of packets: the same again, hardly different.

Where packets meet a full queue, the moment at which they do so within the service of another packet
may decide which flow is dropped. A round trip that is longer by a service time or by a hundredth is
the same path to any algorithm, but another phase. Hosts whose clocks differ keep no phase. A result
that differs by much more than a hundredth then depends on the phase.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.base.errors import DumbbellError
from dumbbell.base.units import NS_PER_S, PACKET_BITS
from dumbbell.contract.scenario import Flow, Scenario
from dumbbell.engines import engines, validity
from dumbbell.engines.cancelling import CancelToken, crew
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine, Output
from dumbbell.engines.result import Run
from dumbbell.execution import bounds, parallelism
from dumbbell.execution.executor import in_order_of_completion
from dumbbell.quantities import flow_totals
from dumbbell.quantities.equal_flows import name_of
from dumbbell.quantities.rates import goodput_mbit_per_s
from dumbbell.quantities.view import view_of
from dumbbell.scenario import draws, facts
from dumbbell.scenario.model_hosts import CLOCK_PPM
from dumbbell.scenario.resolve import ResolvedScenario

SHARE: Final = 100
"""Round trips are longer by up to one part in so many, ..."""


def longest_ns(scenario: Scenario, flow: Flow) -> int:
    """... or by a service time of the slowest link, if that is longer."""
    slowest = facts.slowest_link(scenario, flow)
    service_ns = 0 if slowest is None else int(PACKET_BITS * NS_PER_S / slowest[0])
    return max(facts.base_rtt_ns(scenario, flow) // SHARE, service_ns)


@dataclass(frozen=True)
class Spread:
    """The goodput of a flow, in Mbit/s: as the scenario has it, and with other phases."""

    label: str
    as_is: float
    perturbed: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the perturbed runs."""
        return statistics.mean(self.perturbed)

    @property
    def width(self) -> float | None:
        """The span of all runs as a share of the mean of the perturbed ones."""
        values = (self.as_is, *self.perturbed)
        return (max(values) - min(values)) / self.mean if self.mean else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**vars(self), "perturbed": list(self.perturbed), "mean": self.mean}


def perturbed(scenario: ResolvedScenario, number: int) -> ResolvedScenario:
    """Return a scenario whose flows have slightly longer round trips, drawn for each of them.

    Flows of datagrams begin later by as much, since they have no round trip. The clock of each host
    with an interface is off by a few more millionths. Keys that the core may leave out need not be
    there.
    """
    data = json.loads(scenario.json)
    for flow, spec in zip(scenario.scenario.flows, data["flows"], strict=True):
        longest = longest_ns(scenario.scenario, flow)
        # The connections of a flow share their path, so all are longer by the same.
        purpose = ("perturb", data["seed"], number, facts.whole(flow.label))
        longer_ns = draws.integer(longest + 1, *purpose)
        if flow.transport.tcp is not None:
            spec["reverse"]["delay_ns"] = spec["reverse"].get("delay_ns", 0) + longer_ns
        # Else the flow would start after its stop, or after the run.
        elif flow.start_ns + longer_ns < (flow.stop_ns or data["duration_ns"]):
            spec["start_ns"] = flow.start_ns + longer_ns
    for link in data["links"]:
        if link.get("interface"):
            off = draws.integer(2 * CLOCK_PPM + 1, "perturb", data["seed"], number, link["name"])
            rate_bps = link["rate"]["constant"]
            link["rate"]["constant"] += rate_bps * (off - CLOCK_PPM) // 10**6
    return ResolvedScenario.of(data, scenario.engine)


def perturb(
    scenario: ResolvedScenario,
    run: Run,
    times: int,
    *,
    engine: Engine | str = EngineName.SIMULATOR,
    retries: int = RETRIES,
    jobs: int | None = None,
    large: bool = False,
) -> list[Spread]:
    """Run a scenario, of which `run` is the result, so many times with other phases.

    Returns what becomes of each flow. Invalid runs are left out. Raises TooLarge unless what is
    `large` is meant.
    """
    chosen = engines.named(engine)
    if not large:
        bounds.check([scenario], chosen, parallelism.at_once(chosen, jobs), times)
    again = [perturbed(scenario, number) for number in range(1, times + 1)]
    goodputs = [_goodputs(other) for other in _runs(again, chosen, retries, jobs)]
    if not goodputs:
        raise DumbbellError("none of the perturbed runs is valid")
    return [
        Spread(
            label,
            as_is,
            tuple(
                goodputs_of_run[label] for goodputs_of_run in goodputs if label in goodputs_of_run
            ),
        )
        for label, as_is in _goodputs(run).items()
    ]


def _runs(
    scenarios: Sequence[ResolvedScenario], engine: Engine, retries: int, jobs: int | None
) -> Iterator[Run]:
    cancel = CancelToken()

    def last(scenario: ResolvedScenario) -> Output:
        *_, output = validity.attempts(engine, scenario, cancel, retries)
        return output

    with crew("phases", parallelism.jobs(engine, jobs)) as pool, cancel.on_error():
        running = [pool.submit(last, again) for again in scenarios]
        # Waits in a way that Ctrl-C can end. The results follow in their order below.
        for _ in in_order_of_completion(running):
            pass
    for scenario, future in zip(scenarios, running, strict=True):
        if not validity.reasons(future.result().summary):
            yield Run.of(scenario, future.result())


def _goodputs(run: Run) -> Mapping[str, float]:
    """Return the goodput of each flow while it lasts; equal ones without samples count together."""
    return {
        name_of(row.flows): goodput_mbit_per_s(row) or 0.0
        for row in flow_totals.rows(view_of(run))
        if row.span.seconds > 0
    }
