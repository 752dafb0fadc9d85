"""An episode is a run of `dumbbell simulate`: with the same windows it moves the same bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.gym import PathEnv, SharedPathEnv

HOLD = Path(__file__).with_name("hold.c")
"""An algorithm whose window stays."""


def path(algorithm: dict[str, Any], rivals: list[str], loss: float) -> dict[str, Any]:
    return {
        "seed": 3,
        "duration": "10s",
        "network": {
            "rate": "10mbit",
            "rtt": "40ms",
            "queue": "1bdp",
            "loss": [{"place": "receiver", "probability": loss}],
        },
        "flow": [algorithm, *({"algorithm": rival, "start": "1s"} for rival in rivals)],
    }


@pytest.mark.parametrize(
    ("window", "step", "rivals", "loss"),
    [(20, "4ms", [], 0), (60, "1rtt", [], 0), (300, "100ms", [], 0), (40, "7ms", ["bbr"], 1e-3)],
)
def test_a_constant_window_moves_the_same_bytes(
    window: int, step: str, rivals: list[str], loss: float
) -> None:
    mine = {"algorithm": str(HOLD), "parameters": {"window": window}}
    expected = dumbbell.simulate(path(mine, rivals, loss)).summary.flows
    env = PathEnv(
        path({"algorithm": "cubic"}, rivals, loss), step=step, actions="window", normalise=False
    )
    seeded(env, 3)
    over = False
    while not over:
        *_, over, _ = env.step(np.array([window]))
    for flow, wanted in zip(env.summary().flows, expected, strict=True):
        counted = (flow.received_bytes, flow.sent_segs, flow.retransmitted_segs, flow.timeouts)
        assert counted == (
            wanted.received_bytes, wanted.sent_segs, wanted.retransmitted_segs, wanted.timeouts,
        )  # fmt: skip


def seeded(env: PathEnv, seed: int) -> None:
    """Begin an episode in which the engine draws by a separate seed."""
    env.reset(seed=1)
    episodes = env._episodes
    episodes._core.reset(0, seed, episodes.observations[0], episodes.measured[0])


def test_a_learner_that_copies_reno_gets_what_reno_gets() -> None:
    """The window of a run of Reno, sampled every millisecond, is set in steps of a millisecond.

    The learner sees it up to a millisecond late, so that goodputs differ by a little.
    """
    whole = {**path({"algorithm": "reno"}, [], 0), "record": {"interval": "1ms"}}
    run = dumbbell.simulate(whole)
    windows = run.flows["cwnd_segs"].to_list()
    env = PathEnv(whole, step="1ms", actions={"window": (1, 1000)}, normalise=False, history=1)
    env.reset(seed=1)
    over, number = False, 0
    while not over:
        window = windows[min(number, len(windows) - 1)]
        *_, over, _ = env.step(np.array([window]))
        number += 1
    got, wanted = env.summary().flows[0], run.summary.flows[0]
    assert got.received_bytes == pytest.approx(wanted.received_bytes, rel=0.01)
    assert abs(got.retransmitted_segs - wanted.retransmitted_segs) <= 50


def test_two_learners_share_a_link_by_their_windows() -> None:
    """On a queue that never overflows, windows divide the link, whoever has which."""
    flows = [{"algorithm": "cubic", "count": 2, "label": "flow"}]
    whole = {**path({}, [], 1e-3), "flow": flows}
    env = SharedPathEnv(whole, step="10ms", actions="window", normalise=False)
    first, second = env.possible_agents
    delivered = []
    for order in ((12, 36), (36, 12)):
        env.reset(seed=1)
        sums = dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            env.step({first: np.array([order[0]]), second: np.array([order[1]])})
            for agent, measured in env.measured.items():
                sums[agent] += measured.delivered_bytes
        delivered.append(sums)
    assert delivered[0][second] == pytest.approx(3 * delivered[0][first], rel=0.1)
    assert delivered[1][first] == pytest.approx(3 * delivered[1][second], rel=0.1)
