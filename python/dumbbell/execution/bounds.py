"""Size of runs before they begin: refuses runs that are larger than anybody is likely to mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.base.labels import amount, duration
from dumbbell.base.units import NS_PER_S, format_rate, format_time
from dumbbell.contract.scenario import Scenario
from dumbbell.engines.engine import Engine
from dumbbell.engines.sizes import OVERHEAD_PACKETS, expected_bytes, expected_packets
from dumbbell.scenario import facts
from dumbbell.scenario.resolve import ResolvedScenario

RUN_PACKETS_MAX: Final = 10e9
"""Packets of one run: 3 hours of 10 Gbit/s, 20 minutes of 100 Gbit/s."""

RUN_BYTES_MAX: Final = 4e9
"""Memory of one run."""

COMMAND_S_MAX: Final = 48 * 3600.0
"""Time of all runs of a command."""

PACKET_S: Final = 50e-9
"""Time for a packet, roughly: 26 to 230 ns (docs/benchmarks.md)."""


class TooLarge(InputError):  # noqa: N818 - what was found, not what to do
    """The runs are so large that somebody must confirm them."""


def check(runs: Sequence[ResolvedScenario], engine: Engine, jobs: int, times: int = 1) -> None:
    """Raise TooLarge for runs that are larger than anybody is likely to mean.

    Parameters
    ----------
    runs
        The runs; those that are stored already cost nothing.
    engine
        The engine that runs them.
    jobs
        Number of runs at the same time.
    times
        Number of times that each of them, or one like it, is run.
    """
    count = len(runs) * times
    if engine.real_time:
        seconds = sum(run.scenario.duration_ns for run in runs) / NS_PER_S
        _check_time(seconds * times / jobs, f"{count:,} runs in real time")
        return
    packets = [expected_packets(run.scenario) for run in runs]
    for run, some in zip(runs, packets, strict=True):
        _check_run(run.scenario, some)
    total = sum(packets) * times
    work = total + OVERHEAD_PACKETS * count
    _check_time(work * PACKET_S / jobs, f"about {amount(total)} packets in {count:,} runs")


def _check_run(scenario: Scenario, packets: float) -> None:
    rate_bps = facts.bottleneck_rate_bps(scenario)
    cause = f"{format_time(scenario.duration_ns)}"
    if rate_bps is not None:
        cause = f"{format_rate(round(rate_bps))} for {cause}"
    if packets > RUN_PACKETS_MAX:
        raise _too_large(
            f"one run of {cause} has about {amount(packets)} packets, which take some "
            f"{duration(packets * PACKET_S)}",
            f"{amount(RUN_PACKETS_MAX)} packets",
        )
    size = expected_bytes(scenario, packets)
    if size > RUN_BYTES_MAX:
        raise _too_large(
            f"one run of {cause} takes up to {amount(size, 'B')} of memory, by what is under way "
            "and in queues",
            amount(RUN_BYTES_MAX, "B"),
        )


def _check_time(seconds: float, what: str) -> None:
    if seconds > COMMAND_S_MAX:
        raise _too_large(f"{what} take some {duration(seconds)}", duration(COMMAND_S_MAX))


def _too_large(what: str, most: str) -> TooLarge:
    return TooLarge(
        what,
        valid=f"up to {most} without asking; a smaller rate, a shorter duration, fewer runs or "
        "flows, or `large` if it is meant",
    )
