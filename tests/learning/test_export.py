"""The C file of a policy: it sees what the policy sees, and decides as it decides."""

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import InputError
from dumbbell.conformance.checking import check
from dumbbell.conformance.verdicts import Verdict
from dumbbell.gym import PathEnv
from dumbbell.learning import OBSERVABLE, FixedPolicy, Policy, export
from dumbbell.learning.fixed import ONE
from learners import drawn, still

ALGORITHMS = Path(__file__).parents[2] / "algorithms"

HARNESS = """
#include "learnt.c"

int decide(const u32 *seen, u32 *factor)
{
	struct learnt_state state = {0};
	s32 action;

	for (int at = 0; at < LEARNT_INPUTS; at++)
		state.seen[at] = cc_min(seen[at], LEARNT_MOST);
	action = learnt_action(&state);
	*factor = learnt_factor(action);
	return action;
}
"""

PATH: dict[str, Any] = {
    "seed": 5,
    "duration": "20s",
    "network": {
        "rate": "4mbit",
        "rtt": "40ms",
        "queue": {"discipline": "fq-codel", "ecn": True},
        "loss": [{"place": "receiver", "probability": 0.01}],
    },
    "flow": [
        {"algorithm": "cubic", "switches": {"ecn": "classic"}},
        {"algorithm": "cubic", "start": "5s"},
    ],
}
"""Losses, marks, and a queue that another flow changes."""
RECORD = {"interval": "1ms", "algorithm_state": True}


def decided(folder: Path, policy: Policy) -> Callable[[np.ndarray[Any, Any]], tuple[int, int]]:
    """Return what the C file of a policy decides: the action and the factor."""
    export(policy, folder / "learnt.c")
    (folder / "harness.c").write_text(HARNESS)
    library = folder / "harness.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-w", "-I", str(ALGORITHMS)]
    subprocess.run([*command, "-o", str(library), str(folder / "harness.c")], check=True)
    decide = ctypes.CDLL(str(library)).decide

    def call(seen: np.ndarray[Any, Any]) -> tuple[int, int]:
        factor = ctypes.c_uint()
        inputs = (ctypes.c_uint * len(seen))(*(int(value) for value in seen))
        return decide(inputs, ctypes.byref(factor)), factor.value

    return call


@pytest.mark.parametrize(
    ("history", "hidden"), [(1, ()), (1, (5,)), (2, (16, 16)), (2, (32, 32))], ids=str
)
def test_it_decides_as_the_integers_do(
    history: int, hidden: tuple[int, ...], tmp_path: Path
) -> None:
    policy = drawn(4, OBSERVABLE[:5], history=history, hidden=hidden, factor=(0.6, 1.7))
    decide, fixed = decided(tmp_path, policy), FixedPolicy.of(policy)
    random = np.random.default_rng(2)
    for _ in range(300):
        seen = random.integers(0, 100 * ONE, 5 * history) >> random.integers(0, 12)
        action = fixed.actions(seen[np.newaxis])
        expected = int(action[0]), int(fixed.factors_of(action)[0])
        assert decide(seen) == expected


def seeded(env: PathEnv, seed: int) -> Any:
    """Begin an episode in which the engine draws by this seed."""
    env.reset(seed=1)
    episodes = env._episodes
    episodes._core.reset(0, seed, episodes.observations[0], episodes.measured[0])
    return episodes.observations[0, 0].copy()


def seen_in_c(file: Path) -> pl.DataFrame:
    """Return the first two fields of each step of a run of the C file."""
    flows = [{**PATH["flow"][0], "algorithm": str(file)}, *PATH["flow"][1:]]
    run = dumbbell.simulate({**PATH, "flow": flows, "record": RECORD})
    mine = run.tables["internals"].filter(pl.col("flow") == 0)
    return mine.unique("info0", keep="first", maintain_order=True).select("info0", "info2", "info3")


@pytest.mark.parametrize("fields", list(zip(OBSERVABLE[::2], OBSERVABLE[1::2], strict=True)))
def test_it_sees_what_the_environment_shows(fields: tuple[str, str], tmp_path: Path) -> None:
    """A step ends with an ACK, up to a packet's 3 ms after its time, but the next one as usual."""
    policy = still(fields)
    export(policy, tmp_path / "learnt.c")
    in_c = seen_in_c(tmp_path / "learnt.c")
    env = PathEnv(PATH, **policy.settings)
    observation = seeded(env, PATH["seed"])
    rows, over = [], False
    while not over:
        observation, _, _, over, _ = env.step(policy.act(observation))
        rows.append(observation[-1])
    shown = np.minimum(np.array(rows), policy.ceiling)
    assert len(in_c) == pytest.approx(len(shown), rel=0.02)
    for place, field in enumerate(fields):
        mean = in_c[f"info{place + 2}"].to_numpy().mean() / ONE
        assert mean > 0, field
        # A step has some ten segments, of which one falls into the one step or the next.
        assert mean == pytest.approx(shown[:, place].mean(), rel=0.1), field


@pytest.mark.parametrize("name", ["cubic.c", "my file.c", "learnt.txt", "learnt"])
def test_it_refuses_a_file_that_no_algorithm_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name.partition(".")[0]):
        export(still(["rtt_ms"]), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_it_refuses_what_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dumbbell\.learning\.Policy"):
        export(print, tmp_path / "learnt.c")  # type: ignore[arg-type]


@pytest.mark.testbed
@pytest.mark.parametrize(("fields", "hidden"), [(5, (32, 32)), (8, ()), (2, (4,))], ids=str)
def test_the_largest_passes_all_checks(
    fields: int, hidden: tuple[int, ...], tmp_path: Path
) -> None:
    """Also the verifier's and those of parity, where this machine has a testbed.

    A random policy need not fill a link.
    """
    history = 10 // fields
    export(drawn(1, OBSERVABLE[:fields], history, hidden), tmp_path / "learnt.c")
    rows = list(check(str(tmp_path / "learnt.c")))
    failed = [row for row in rows if row.verdict is Verdict.FAILED and row.part != "simulator"]
    assert not failed
