"""A rival whose hook never returns: only the learner's own actions make it loop.

The first pass of a path, in another process, has Vegas in its place, which keeps queues short.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from inline_snapshot import snapshot

from dumbbell.algorithms import apart
from dumbbell.base.errors import BroughtDown, InputError
from dumbbell.gym import PathEnv, PathVectorEnv, parallel_env

AMBUSH: Final = Path(__file__).with_name("ambush.c")
PATIENCE_S: Final = 0.4
GENTLE, GREEDY = 5.0, 600.0
"""Windows in segments: the second one fills a queue of 10 BDP."""

pytestmark = pytest.mark.usefixtures("short_patience")


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "STALLED_S", PATIENCE_S)


def path(learners: int = 1, **parameters: int) -> Mapping[str, Any]:
    rival = {"algorithm": str(AMBUSH), "label": "rival", "parameters": parameters}
    return {
        "duration": "20s",
        "network": {"rate": "10mbit", "rtt": "40ms", "queue": "10bdp"},
        "flow": [*({"algorithm": "vegas", "label": f"l{n}"} for n in range(learners)), rival],
    }


def settings(**parameters: int) -> dict[str, Any]:
    return {
        "paths": path(**{"limit": 200, **parameters}),
        "step": "500ms",
        "actions": "window",
        "normalise": False,
    }


def steps_until_the_end(env: PathEnv, window: float) -> int:
    env.reset(seed=1)
    for count in range(1, 1000):
        if env.step(np.array([window], np.float32))[3]:
            return count
    raise AssertionError("an episode without an end")


def repeat(step: Callable[[], Any]) -> None:
    for _ in range(40):
        step()


def test_a_gentle_learner_does_not_wake_it() -> None:
    assert steps_until_the_end(PathEnv(**settings()), GENTLE) == 40


@pytest.mark.parametrize(("event", "hook"), [(0, "cong_control"), (1, "set_state")])
def test_a_loop_ends_in_an_error_that_names_file_hook_and_limit(event: int, hook: str) -> None:
    env = PathEnv(**settings(event=event))
    threads = threading.active_count()
    began_s = time.process_time()
    with pytest.raises(BroughtDown) as ended:
        steps_until_the_end(env, GREEDY)
    assert PATIENCE_S / 2 < time.process_time() - began_s < 20 * PATIENCE_S
    message = str(ended.value)
    assert f"ambush.c: {hook} took {PATIENCE_S} s of" in message
    assert "dumbbell check " in message
    assert threading.active_count() == threads
    with pytest.raises(InputError) as over:
        env.step(np.array([GENTLE], np.float32))
    assert str(over.value) == snapshot(
        "step: there is no episode, or it is over; valid: reset() first"
    )
    assert steps_until_the_end(env, GENTLE) == 40


@pytest.mark.parametrize("cores", [1, 2])
def test_so_it_does_in_one_of_many_environments(cores: int) -> None:
    envs = PathVectorEnv(4, cores=cores, **settings())
    windows = np.array([[GENTLE], [GENTLE], [GENTLE], [GREEDY]], np.float32)
    envs.reset(seed=1)
    with pytest.raises(BroughtDown, match="cong_control"):
        repeat(lambda: envs.step(windows))
    with pytest.raises(InputError, match="reset"):
        envs.step(windows)
    envs.reset(seed=1)
    for _ in range(39):
        envs.step(np.full((4, 1), GENTLE, np.float32))


def test_and_for_several_learners() -> None:
    shared = settings() | {"paths": path(learners=2, limit=200)}
    env = parallel_env(learners=2, **shared)
    env.reset(seed=1)
    greedy = dict.fromkeys(env.agents, np.array([GREEDY], np.float32))
    with pytest.raises(BroughtDown, match="cong_control"):
        repeat(lambda: env.step(greedy))
    assert env.agents == []


def test_other_threads_are_not_left_behind_their_signals() -> None:
    """The handler looks at the thread that calls hooks, and at no other."""
    env, failed = PathEnv(**settings()), []

    def play() -> None:
        try:
            steps_until_the_end(env, GREEDY)
        except BroughtDown as error:
            failed.append(error)

    player = threading.Thread(target=play)
    player.start()
    spins, slept_s = 0, time.monotonic()
    while player.is_alive():
        spins += sum(range(1000))
        time.sleep(0.001)
    player.join()
    assert len(failed) == 1
    assert spins > 0
    assert time.monotonic() > slept_s
    assert steps_until_the_end(PathEnv(**settings()), GENTLE) == 40
