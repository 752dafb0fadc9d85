"""Duration of a campaign, and the order of its runs: judged on simulated schedules."""

from __future__ import annotations

import heapq
import math
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from dumbbell.engines import sizes
from dumbbell.execution import schedule
from dumbbell.execution.estimate import Estimate
from dumbbell.plan.places import Place
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import resolved

JOBS = 2
LINK_PPS = 10e9 / 12_000
RTTS_MS = {"0.2ms": 0.2, "6.2ms": 6.2, "12.2ms": 12.2, "24.2ms": 24.2}
LOSSES = ["0", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"]
VARIANTS = {"reno": 1.22, "cubic": 2.0, "highspeed": 4.0, "htcp": 4.0, "bic": 5.0, "scalable": 8.0}


def campaign() -> dict[str, tuple[ResolvedScenario, Place]]:
    """Return a grid as that of Lukaseder et al.: 840 runs of 15 minutes at 10 Gbit/s."""
    planned = {}
    for rtt in RTTS_MS:
        for loss in LOSSES:
            network = {
                "rate": "10gbit",
                "rtt": rtt,
                "queue": "1000p",
                "loss": [{"place": "receiver", "probability": float(loss)}],
            }
            template = resolved({"duration": "900s", "network": network})
            for variant in VARIANTS:
                for repetition in range(5):
                    axes = {"variant": variant, "rtt": rtt, "loss": loss}
                    key = f"{variant} {rtt} {loss} {repetition}"
                    run = ResolvedScenario(template.json, template.identities, "", key)
                    planned[key] = (run, Place("responsiveness", axes, repetition))
    return planned


def seconds(place: Place, draw: random.Random) -> float:
    """Return what a run takes: packets as the square-root law has them, and chance."""
    p = float(place.axes["loss"])
    window = VARIANTS[place.axes["variant"]] / math.sqrt(p) if p else math.inf
    pps = min(LINK_PPS, window / (RTTS_MS[place.axes["rtt"]] / 1e3))
    # A packet of a run with losses costs more, as nothing can be taken together.
    per_packet_s = 40e-9 if p == 0 else 40e-9 * (2 + 20 * math.sqrt(p))
    return 0.01 + 900 * pps * per_packet_s * draw.lognormvariate(0, 0.1)


def simulated(
    order: Sequence[str], taken: dict[str, float]
) -> Iterator[tuple[float, str | None, dict[str, float]]]:
    """Yield time, the run that has ended, and the begins of those in progress, for `JOBS`
    workers.
    """
    waiting = iter(order)
    going: list[tuple[float, str]] = []
    began: dict[str, float] = {}
    now = 0.0

    def begin() -> None:
        if (key := next(waiting, None)) is not None:
            began[key] = now
            heapq.heappush(going, (now + taken[key], key))

    for _ in range(JOBS):
        begin()
    while going:
        now, ended = heapq.heappop(going)
        del began[ended]
        begin()
        yield now, ended, dict(began)


def estimates(
    order: Sequence[str], taken: dict[str, float], estimate: Estimate
) -> list[tuple[float, float]]:
    """Return after each run the time, and the estimate of the rest."""
    steps = []
    for now, ended, began in simulated(order, taken):
        assert ended is not None
        estimate.finish(ended, taken[ended])
        left = estimate.left_s(JOBS, {key: now - since for key, since in began.items()})
        assert left is not None
        steps.append((now, left))
    return steps


@pytest.mark.parametrize("seed", range(3))
def test_the_time_left_is_soon_known(seed: int) -> None:
    runs = campaign()
    draw = random.Random(seed)
    taken = {key: seconds(place, draw) for key, (_, place) in runs.items()}
    places = {key: place for key, (_, place) in runs.items()}
    scenarios = [run for run, _ in runs.values()]
    order = [run.key for run in schedule.ordered(scenarios, places, set())]
    steps = estimates(order, taken, Estimate(scenarios, places))
    end = steps[-1][0]
    assert end < 1.02 * sum(taken.values()) / JOBS, "both workers end together"

    def worst(since: float, until: float) -> float:
        part = [(now, left) for now, left in steps if since * end <= now < until * end]
        return max(abs(math.log(left / (end - now))) for now, left in part)

    # After one of five repetitions it is known, and some minutes into hours nearly so.
    assert worst(0.03, 0.2) < math.log(2)
    assert worst(0.25, 0.9) < math.log(1.15)


def small(count: int = 4) -> tuple[list[ResolvedScenario], dict[str, Place]]:
    runs = [resolved({"seed": seed}) for seed in range(count)]
    places = {
        run.key: Place("fairness", {"rtt": "10ms" if seed % 2 else "20ms"}, seed // 2)
        for seed, run in enumerate(runs)
    }
    return runs, places


def test_nothing_is_known_before_the_first_run_has_ended() -> None:
    runs, places = small()
    estimate = Estimate(runs, places)
    assert estimate.expected_s(runs[0].key) is None
    assert estimate.left_s(1, {}) is None
    estimate.finish(runs[0].key, None)
    assert estimate.left_s(1, {}) is None, "a failed or reused run says nothing"


def test_runs_of_the_same_grid_point_tell_most() -> None:
    runs, places = small()
    estimate = Estimate(runs, places)
    estimate.finish(runs[0].key, 10.0)
    estimate.finish(runs[1].key, 1.0)
    assert estimate.expected_s(runs[2].key) == pytest.approx(10)
    assert estimate.expected_s(runs[3].key) == pytest.approx(1)
    assert estimate.left_s(1, {}) == pytest.approx(11)
    assert estimate.left_s(1, {runs[2].key: 4.0}) == pytest.approx(7)
    assert estimate.left_s(2, {}) == pytest.approx(5.5)
    assert estimate.left_s(2, {runs[2].key: 1.0, runs[3].key: 0.5}) == pytest.approx(9)
    assert estimate.left_s(2, {runs[2].key: 50.0, runs[3].key: 0.5}) == pytest.approx(0.5)


def test_what_is_stored_takes_no_time() -> None:
    runs, places = small()
    estimate = Estimate(runs, places, {runs[2].key, runs[3].key})
    estimate.finish(runs[0].key, 10.0)
    assert estimate.left_s(1, {}) == pytest.approx(10)
    estimate.finish(runs[2].key, None)
    assert estimate.left_s(1, {}) == pytest.approx(10)
    estimate.finish(runs[1].key, 10.0)
    assert estimate.left_s(1, {}) == 0


def test_in_real_time_all_is_known_at_once() -> None:
    runs, places = small()
    estimate = Estimate(runs, places, real_time=True)
    assert estimate.expected_s(runs[0].key) == 60
    assert estimate.left_s(1, {runs[0].key: 15.0}) == pytest.approx(225)


def test_runs_without_places_are_estimated_from_each_other() -> None:
    runs = [resolved({"duration": duration}) for duration in ("100s", "200s", "400s")]
    estimate = Estimate(runs, {})
    estimate.finish(runs[0].key, 5.0)
    expected = estimate.expected_s(runs[2].key)
    assert expected is not None
    assert 15 < expected < 20


def lossy(probability: Any) -> list[dict[str, Any]]:
    return [{"place": "receiver", "probability": probability}]


@pytest.mark.parametrize(
    ("changes", "low", "high"),
    [
        # 100 Mbit/s for 60 s are 500,000 packets of 12,000 bits.
        ({}, 490_000, 510_000),
        # 0.12 / 1e-4^0.835 is a window of 262 packets, for each 82 ms.
        ({"network.loss": lossy(1e-4)}, 190_000, 200_000),
        ({"network.loss": lossy(1e-4), "flow.1.count": 2}, 380_000, 400_000),
        ({"network.loss": lossy(1e-9)}, 490_000, 510_000),
        ({"network.loss": lossy([{"at": "0s", "probability": 0.01}])}, 0, 20_000),
    ],
)
def test_losses_make_runs_smaller(changes: dict[str, Any], low: float, high: float) -> None:
    assert low < sizes.expected_packets(resolved(changes).scenario) < high


def test_the_order_is_of_repetitions_then_sizes_and_what_is_stored_comes_first() -> None:
    def run(duration: int, repetition: int) -> tuple[ResolvedScenario, Place]:
        scenario = resolved({"duration": f"{duration}s", "seed": repetition})
        return scenario, Place("t", {"duration": f"{duration}"}, repetition)

    made = {(d, r): run(d, r) for r in (0, 1) for d in (10, 30, 20)}
    places = {scenario.key: place for scenario, place in made.values()}
    scenarios = [scenario for scenario, _ in made.values()]
    stored = {made[10, 1][0].key}
    order = schedule.ordered(scenarios, places, stored)
    lengths = [(int(places[run.key].axes["duration"]), places[run.key].repetition) for run in order]
    assert lengths == [(10, 1), (30, 0), (20, 0), (10, 0), (30, 1), (20, 1)]


def test_a_large_campaign_is_estimated_quickly() -> None:
    template = resolved()
    runs, places = [], {}
    for number in range(6000):
        run = ResolvedScenario(template.json, template.identities, "", f"{number}")
        runs.append(run)
        places[run.key] = Place("t", {"a": f"{number % 60}", "b": f"{number % 100}"}, 0)
    estimate = Estimate(runs, places)
    for run in runs[:3000]:
        estimate.finish(run.key, 1.0)
    began_s = time.process_time()
    assert estimate.left_s(2, {}) == pytest.approx(1500, rel=0.01)
    assert time.process_time() - began_s < 2
