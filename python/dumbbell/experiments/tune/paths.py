"""The paths that parameters are tuned for, and those on which they are judged afterwards."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.base import documents
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import (
    NS_PER_S,
    PACKET_BITS,
    format_rate,
    format_time,
    parse_bytes,
    parse_rate,
    parse_time,
)
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.execution import bounds, parallelism
from dumbbell.execution.pools import Pool
from dumbbell.experiments.setting import Setting
from dumbbell.experiments.tune.objectives import BESIDE, TUNED
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.windows import Window
from dumbbell.scenario import facts, marks
from dumbbell.scenario.model import Scenario

AROUND: Final = 1.3
"""Held-out round-trip times lie this factor below the smallest and above the largest."""

LATE: Final = (5, 4)
"""The flows that start late do so at a random time between these parts of the run."""

SAMPLES: Final = 500
_JITTER_NS_MAX: Final = 10**6
_INTERVAL_NS_MAX: Final = 200 * 10**6


@dataclass(frozen=True)
class Traffic:
    """Traffic on a path, next to the flows of the algorithm.

    Attributes
    ----------
    flows
        Number of flows of the algorithm.
    cross
        Rate of a datagram flow in the middle third of the run; empty: none.
    beside
        Algorithm of one flow next to them; empty: none.
    requests
        Size of the requests that the flows send one after the other; empty: they send without end.
    late
        The group, `TUNED` or `BESIDE`, that starts when between `LATE` of the run are over; empty:
        all start at once.
    """

    flows: int = 1
    cross: str = ""
    beside: str = ""
    requests: str = ""
    late: str = ""

    def check(self) -> None:
        """Raise InputError for what cannot be."""
        if self.flows < 1:
            raise InputError("no flows", key="flows", value=self.flows, valid="1 or more")
        with placed(key="cross"):
            if self.cross:
                parse_rate(self.cross)
        with placed(key="requests"):
            if self.requests:
                parse_bytes(self.requests)

    @property
    def offered(self) -> list[str]:
        """The needs of objectives that it meets."""
        there = {
            "several flows": self.flows > 1,
            "`cross`": bool(self.cross),
            "`beside`": bool(self.beside),
            "`requests`": bool(self.requests),
        }
        return [need for need, is_there in there.items() if is_there]


@dataclass(frozen=True)
class NetworkPath:
    """A path with its traffic: a scenario in which the algorithm's parameters are left open.

    Attributes
    ----------
    name
        Its name in tables.
    table
        The scenario; the flows of the algorithm are those of the group `TUNED`.
    windows
        Windows of the run besides the main one.
    source
        The file that it is from, if any.
    """

    name: str
    table: Mapping[str, Any] = field(repr=False)
    windows: Mapping[str, Window] = field(default_factory=dict)
    source: str = "path"

    def planned(
        self,
        choice: str,
        values: Mapping[str, int],
        repetition: int,
        own_algorithms: OwnAlgorithms,
        engine: str,
    ) -> PlannedRun:
        """Return a run with an algorithm, by its name or preset, and values of parameters.

        For any candidate, a repetition has the same random numbers, so that runs can be paired.
        """
        # Flows are changed below, and the table serves all candidates.
        table = deepcopy(dict(self.table))
        for flow in table["flow"]:
            if flow.get("group") == TUNED:
                flow["algorithm"] = choice
                flow["parameters"] = dict(values)
        scenario = Scenario.parse(table, self.source, own_algorithms)
        return PlannedRun(
            test="trial",
            axes={
                "path": self.name,
                "algorithm": choice,
                **({"parameters": _in_words(values)} if values else {}),
            },
            repetition=repetition + 1,
            resolved=scenario.resolve(seed=_seed(self.name, repetition)).on(engine),
            windows={"main": Window(), **self.windows},
        )

    def has_marks(self, choice: str, own_algorithms: OwnAlgorithms) -> bool:
        """Return True if congestion marks can reach a flow that is tuned."""
        scenario = self.planned(choice, {}, 0, own_algorithms, "").resolved.scenario
        name = catalogue.called(choice)
        return any(
            marks.are_heard(scenario, flow)
            for flow in scenario.flows
            if flow.transport.tcp is not None and facts.algorithm(flow) == name
        )


def check_size(
    paths: Sequence[NetworkPath],
    choice: str,
    own_algorithms: OwnAlgorithms,
    jobs: int | Pool | None,
    *,
    times: int,
) -> None:
    """Raise TooLarge if so many runs of each path are larger than anybody is likely to mean."""
    engine = engines.named(EngineName.SIMULATOR)
    some = [path.planned(choice, {}, 0, own_algorithms, engine.identity).resolved for path in paths]
    bounds.check(some, engine, parallelism.at_once(engine, jobs), times)


def _in_words(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _seed(name: str, repetition: int) -> int:
    # Python's own hash of a text differs from process to process.
    digest = hashlib.sha256(f"dumbbell tune {name} {repetition}".encode()).digest()
    return int.from_bytes(digest[:8])


def described(settings: Sequence[Setting], traffic: Traffic) -> list[NetworkPath]:
    """Return the paths of settings."""
    traffic.check()
    for setting in settings:
        setting.check()
    return [_described(setting, traffic) for setting in settings]


def _described(setting: Setting, traffic: Traffic) -> NetworkPath:
    duration_ns = parse_time(setting.duration)
    service_ns = PACKET_BITS * NS_PER_S // max(1, parse_rate(setting.rate))
    interval_ns = max(1, min(_INTERVAL_NS_MAX, duration_ns // SAMPLES))
    thirds = [f"{duration_ns * part // 3}ns" for part in (1, 2)]
    tuned: dict[str, Any] = {"group": TUNED, "label": TUNED, "count": traffic.flows}
    if traffic.requests:
        tuned["workload"] = {"kind": "rpc", "bytes": traffic.requests}
    flows = [tuned]
    if traffic.beside:
        flows.append({"algorithm": traffic.beside, "group": BESIDE, "label": BESIDE})
    if traffic.cross:
        start, stop = thirds
        cross = {"transport": "udp", "rate": traffic.cross, "start": start, "stop": stop}
        flows.append({**cross, "label": "cross traffic"})
    for flow in flows:
        if flow.get("group") == traffic.late:
            earliest, latest = (f"{duration_ns // part}ns" for part in LATE)
            flow["start"] = {"from": earliest, "to": latest}
    loss = f", loss {setting.loss}" if setting.loss != "0" else ""
    return NetworkPath(
        f"{setting.rate}, {setting.rtt}, {setting.buffer}{loss}",
        {
            "duration": setting.duration,
            "stack": setting.stack,
            "network": {
                "rate": setting.rate,
                "rtt": setting.rtt,
                "queue": setting.buffer,
                "edge_jitter": f"{min(service_ns, _JITTER_NS_MAX)}ns",
                "loss": [{"place": "receiver", "probability": setting.loss}],
            },
            "flow": flows,
            "record": {"interval": f"{interval_ns}ns", "events": ["congestion"]},
        },
        _thirds(*thirds) if traffic.cross else {},
        "options",
    )


def _thirds(start: str, stop: str) -> dict[str, Window]:
    """Return the windows before, during and after the cross traffic."""
    return {
        "before": Window.model_validate({"to": start}),
        "during": Window.model_validate({"from": start, "to": stop}),
        "after": Window.model_validate({"from": stop}),
    }


def around(settings: Sequence[Setting]) -> list[Setting]:
    """Return settings between and around others: by round-trip time, and by rate if it varies."""
    rtts = _between([setting.rtt for setting in settings], parse_time, format_time)
    rates = list(dict.fromkeys(setting.rate for setting in settings))
    if len(rates) > 1:
        rates = _between(rates, parse_rate, format_rate, ends=False)
    buffers = list(dict.fromkeys(setting.buffer for setting in settings))
    return [
        replace(settings[0], rate=rate, rtt=rtt, buffer=buffer)
        for rate, rtt, buffer in itertools.product(rates, rtts, buffers)
    ]


def _between(
    texts: Sequence[str],
    parse: Callable[[str], int],
    shown: Callable[[int], str],
    *,
    ends: bool = True,
) -> list[str]:
    values = sorted({parse(text) for text in texts})
    # The geometric mean: rates and round-trip times are spread over orders of magnitude.
    middles = [math.sqrt(one * other) for one, other in itertools.pairwise(values)]
    outside = [values[0] / AROUND, values[-1] * AROUND] if ends else []
    return [shown(int(float(f"{value:.3g}"))) for value in sorted([*middles, *outside])]


def from_folder(folder: Path, algorithm: str) -> list[NetworkPath]:
    """Return the paths of the scenario files in a folder, in which flows have the algorithm."""
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    if not files:
        raise InputError(
            "no scenario files", key="scenarios", value=str(folder), valid="a folder of .toml"
        )
    return [_from_file(file, algorithm) for file in files]


def _from_file(file: Path, algorithm: str) -> NetworkPath:
    table = documents.read_toml(file)
    flows = table.get("flow")
    # Flows that name none have the scenario's, or else the one that is tuned.
    default = table.get("algorithm", algorithm)
    flows_tuned = 0
    for flow in flows if isinstance(flows, list) else []:
        if not isinstance(flow, dict) or flow.get("transport", "tcp") != "tcp":
            continue
        named = flow.get("algorithm", default)
        if isinstance(named, str) and _names(named, algorithm):
            flow["group"] = TUNED
            flows_tuned += 1
    if not flows_tuned:
        raise InputError(
            f"no flow of {algorithm}, whose parameters are to be tuned",
            source=str(file),
            key="flow",
            valid=f'algorithm = "{algorithm}"',
        )
    # Each repetition has its own seed, which all candidates share.
    table.pop("seed", None)
    return NetworkPath(file.stem, table, {}, str(file))


def _names(choice: str, algorithm: str) -> bool:
    """Return True if a choice in a file, with a preset or not, is of this algorithm."""
    name = choice.partition("@")[0]
    return name == algorithm or Path(name).stem == Path(algorithm).stem
