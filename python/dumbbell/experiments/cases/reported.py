"""The states and variables of BBR that an algorithm reports, under the names of the draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import InputError
from dumbbell.experiments.cases.suite import STATES

PHASED: Final = "probe_bw"
"""One mode for all phases of the probes for bandwidth, as BBRv1 has it."""

PHASES: Final = ("up", "down", "cruise")
"""The phases that the gain of pacing tells apart in it."""

VARIABLES: Final[Mapping[str, Mapping[str, float]]] = {
    "bw": {"bw_kbit_per_s": 1e3},
    "max_bw": {"max_bw_kbit_per_s": 1e3},
    "min_rtt": {"min_rtt_us": 1e-6},
    "pacing_gain": {"pacing_gain_x256": 1 / 256},
    "cwnd_gain": {"cwnd_gain_x256": 1 / 256},
    "inflight_longterm": {"inflight_longterm_segs": 1, "inflight_hi_segs": 1},
    "inflight_shortterm": {"inflight_shortterm_segs": 1, "inflight_lo_segs": 1},
    "bw_shortterm": {"bw_shortterm_kbit_per_s": 1e3, "bw_lo_kbit_per_s": 1e3},
    "extra_acked": {"extra_acked_segs": 1, "extra_segs": 1},
    "full_bw_reached": {"full_bw_reached": 1, "is_full": 1},
}
"""Variable of the draft -> its names in algorithms -> factor to bit/s, seconds or segments."""

_NEEDED: Final = ("bw", "min_rtt")
_PREFIXES: Final = ("probe_bw_", "probebw_", "probe_")


@dataclass(frozen=True)
class Reported:
    """What an algorithm reports.

    Attributes
    ----------
    name
        The algorithm.
    states
        The state of each of its modes; None: none of BBR's. `PHASED` stands for three.
    variables
        Variable of the draft -> its place among the exported ones, and the factor to its unit.
    sampled
        Number of variables, from the first, that samples have.
    """

    name: str
    states: tuple[str | None, ...]
    variables: Mapping[str, tuple[int, float]]
    sampled: int

    @property
    def has(self) -> frozenset[str]:
        """The states that it has."""
        phases = PHASES if PHASED in self.states else ()
        return frozenset(state for state in (*self.states, *phases) if state in STATES)

    def is_sampled(self, variable: str) -> bool:
        """Return True if samples have a variable."""
        return variable in self.variables and self.variables[variable][0] < self.sampled


def reported(algorithm: Algorithm) -> Reported:
    """Return what an algorithm reports; one without BBR's states is an InputError."""
    states = tuple(map(_state, algorithm.modes))
    variables = {
        variable: (algorithm.info.index(name), factor)
        for variable, names in VARIABLES.items()
        for name, factor in names.items()
        if name in algorithm.info
    }
    columns = catalogue.schema().tables["internals"]
    sampled = sum(column.name.startswith("info") for column in columns)
    report = Reported(algorithm.name, states, variables, sampled)
    lacking = _lacking(report)
    if lacking:
        raise InputError(
            f"reports no states of BBR: {'; '.join(lacking)}",
            value=algorithm.path or algorithm.name,
            valid="bbr, bbr3, or a C file whose .mode_names and .info_names have these (bbr3.c)",
        )
    return report


def _state(mode: str) -> str | None:
    """Return the state that a mode is: ``probe_bw_up`` and ``up`` are one."""
    name = mode.lower()
    if name in (*STATES, PHASED):
        return name
    ends = (name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix))
    return next((end for end in ends if end in STATES), None)


def _lacking(report: Reported) -> list[str]:
    """Return what is missing without which no case can be judged."""
    states = [
        state
        for state in ("startup", "drain", "up", "down", "probe_rtt")
        if state not in report.has
    ]
    lacking = [f"no mode {', '.join(states)}"] if states else []
    variables = [variable for variable in _NEEDED if not report.is_sampled(variable)]
    if PHASED in report.states and not report.is_sampled("pacing_gain"):
        variables.append("pacing_gain")
    if variables:
        names = [next(iter(VARIABLES[variable])) for variable in variables]
        lacking.append(f"no {', '.join(names)} among the first {report.sampled} variables")
    return lacking
