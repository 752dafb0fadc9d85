"""The time that packets spend in hosts: the simulator's take none, the kernel's do.

Between the sender's and the receiver's TCP lie system calls, queues of devices and soft
interrupts, and a packet waits there for what the processor does at the moment. The agreement
would otherwise compare that, too, and some algorithms judge by tenths of a millisecond. So the
simulated scenarios have it as a random hold in the senders, one for all of them. Nothing else
differs in what the two engines run.

The length of the hold was measured on the testbed, and not fitted to goodputs. Where the queue is
nearly always empty, the kernel's mean round trip was 0.02 ms longer than that of a simulation
without it. That is the median of twelve scenarios: 0.024 and 0.018 ms in two sessions. It leaves
out the 0.1 % of the time in which the network stopped because the emulator was delayed. It was 0.04
ms while the testbed's applications read only on a command. A uniform hold of that mean reaches
twice as far. `Hosts.left_us` is what is left of it on the machine at hand.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.engines.result import Run
from dumbbell.experiments.validate.measures import QUEUE, RTT, taken
from fidelity.agreement.case import Case

HOLD_NS: Final = 40_000
"""Longest hold of a packet in the simulated sender, besides the scenario's own jitter, in ns."""

QUEUE_MAX_MS: Final = 0.12
"""Mean queue up to which a round trip shows the hosts' time, on both engines, in ms."""

Runs = Mapping[str, Mapping[int, Run]]
"""By scenario and repetition."""


@dataclass(frozen=True)
class Hosts:
    """By how much round trips are longer on the kernel than simulated, where queues are short.

    Attributes
    ----------
    left_us
        The median over scenarios, without the time in which the network stood still.
    held
        Share of the time in which it did, the mean over the same runs.
    scenarios
        Number of scenarios with such runs.
    """

    left_us: float
    held: float
    scenarios: int

    def as_dict(self) -> dict[str, float]:
        """Return plain data for JSON."""
        return vars(self).copy()


def look(cases: Sequence[Case], kernel: Runs, simulator: Runs) -> Hosts | None:
    """Return the rest of the hosts' time, or None if no scenario shows it."""
    added, held = [], []
    for case in cases:
        pairs = _pairs(case, kernel[case.name], simulator[case.name])
        added_us = [_added_us(*pair) for pair in pairs]
        if added_us:
            added.append(statistics.mean(added_us))
            held += [_held(run) for run, _ in pairs]
    return Hosts(statistics.median(added), statistics.mean(held), len(added)) if added else None


def _pairs(
    case: Case, kernel: Mapping[int, Run], simulator: Mapping[int, Run]
) -> list[tuple[Run, Run]]:
    """Return the runs that show it; with a seed both engines lose the same packets."""
    if not case.loses_alike or len(case.algorithms) > 1:
        return []
    both = sorted(set(kernel) & set(simulator))
    pairs = [(kernel[seed], simulator[seed]) for seed in both]
    return [pair for pair in pairs if all(map(_is_nearly_empty, pair))]


def _is_nearly_empty(run: Run) -> bool:
    queue_ms = taken(run, QUEUE)
    return queue_ms is not None and queue_ms <= QUEUE_MAX_MS and taken(run, RTT) is not None


def _added_us(run: Run, simulated: Run) -> float:
    rtt_ms, simulated_ms = taken(run, RTT) or 0.0, taken(simulated, RTT) or 0.0
    return 1000 * (rtt_ms * (1 - _held(run)) - simulated_ms)


def _held(run: Run) -> float:
    """Return the share of the time in which the network stood still; it is rounded down."""
    assert run.summary.testbed is not None, "a run of the simulator"
    return (run.summary.testbed.held_permille + 0.5) / 1000
