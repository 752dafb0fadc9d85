"""Steps a second of `dumbbell.gym` for a policy that does nothing, as `make bench-gym` prints them.

A path of 10 Mbit/s and 40 ms with ten steps in a round trip, in processor time of one core: real
time of a busy machine means nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import gymnasium
import numpy as np

import dumbbell.gym  # noqa: F401 - it registers the environment

PATH = {
    "duration": "60s",
    "network": {"rate": "10mbit", "rtt": "40ms", "queue": "1bdp"},
    "flow": [{"algorithm": "cubic"}],
}
SETTINGS: dict[str, Any] = {"paths": PATH, "step": "4ms", "actions": "window", "normalise": False}
WINDOW_SEGS = 40
"""Fills the link, with some packets in the queue."""


def best(runs: int, measure: Callable[..., float], *arguments: Any) -> float:
    """Return the best of some measurements."""
    return max(measure(*arguments) for _ in range(runs))


def single(steps: int, history: int) -> float:
    """Return steps per second of processor time of one environment."""
    env = gymnasium.make("dumbbell/Path-v0", history=history, **SETTINGS)
    action = np.array([WINDOW_SEGS], np.float32)
    env.reset(seed=1)
    began = time.process_time()
    for _ in range(steps):
        if env.step(action)[3]:
            env.reset()
    return steps / (time.process_time() - began)


def vector(steps: int, paths: int, cores: int, clock: Callable[[], float]) -> float:
    """Return steps per second of many environments together."""
    envs = gymnasium.make_vec(
        "dumbbell/Path-v0",
        num_envs=paths,
        vectorization_mode="vector_entry_point",
        cores=cores,
        history=1,
        **SETTINGS,
    )
    actions = np.full((paths, 1), WINDOW_SEGS, np.float32)
    envs.reset(seed=1)
    began = clock()
    together = steps // paths
    for _ in range(together):
        envs.step(actions)
    return together * paths / (clock() - began)


def resets(count: int) -> float:
    """Return microseconds of processor time of a reset on the same path."""
    env = gymnasium.make("dumbbell/Path-v0", **SETTINGS).unwrapped
    env.reset(seed=1)
    began = time.process_time()
    for _ in range(count):
        env.reset()
    return (time.process_time() - began) / count * 1e6


def _answer(pipe: Connection) -> None:
    while (numbers := pipe.recv_bytes()) != b"":
        pipe.send_bytes(numbers)
    pipe.close()


def messages(count: int) -> float:
    """Return exchanges per second of processor time with a process that answers at once.

    The simulation of ns3-gym is another process, so each of its steps has an exchange.
    """
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("fork").Process(target=_answer, args=(theirs,))
    before_s = used_s()
    other.start()
    numbers = np.zeros(10).tobytes()
    for _ in range(count):
        ours.send_bytes(numbers)
        ours.recv_bytes()
    ours.send_bytes(b"")
    other.join()
    return count / (used_s() - before_s)


def used_s() -> float:
    """Return the processor time of this process and of those that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    steps, runs = options.steps, options.runs
    rows = {
        "one environment, history of 1": best(runs, single, steps, 1),
        "one environment, history of 10": best(runs, single, steps, 10),
    }
    for paths in (8, 64, 256):
        name = f"{paths} paths in one process"
        rows[name] = best(runs, vector, steps, paths, 1, time.process_time)
    print("steps per second of processor time")
    for name, rate in rows.items():
        print(f"{name:40}{rate:12,.0f}")
    rate = best(runs, messages, steps // 4)
    print(f"{'exchanges with another process':40}{rate:12,.0f}")
    print("\nsteps per second of real time, 256 paths: only on an idle machine")
    for cores in range(1, (os.cpu_count() or 1) + 1):
        rate = best(runs, vector, steps, 256, cores, time.perf_counter)
        print(f"{f'{cores} cores':40}{rate:12,.0f}")
    print(f"\na reset: {resets(2000):.0f} us")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    main()
