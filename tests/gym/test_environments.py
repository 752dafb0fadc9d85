"""The environments' APIs, their determinism, and what they make of wrong input."""

import math
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from inline_snapshot import snapshot
from numpy.typing import NDArray
from pettingzoo.test import parallel_api_test

import dumbbell
import dumbbell.gym
from command_line import unmeasured
from dumbbell import InputError
from dumbbell.gym import ACTIONS, FIELDS, REWARDS, Measured, PathEnv, PathVectorEnv, SharedPathEnv

SHORT: dict[str, Any] = {
    "duration": "2s",
    "network": {
        "rate": "10mbit",
        "rtt": "40ms",
        "queue": "1bdp",
        "loss": [{"place": "receiver", "probability": 1e-3}],
    },
    "flow": [{"algorithm": "cubic", "label": "mine"}, {"algorithm": "reno", "label": "rival"}],
}
Row = list[NDArray[np.float32]]


def episode(env: Any, seed: int | None, actions: int = 7) -> tuple[Row, list[float]]:
    """Return all observations and rewards of an episode with actions that are always the same."""
    chosen = np.random.default_rng(actions)
    observation, _ = env.reset(seed=seed)
    seen, rewards, over = [observation], [], False
    while not over:
        action = chosen.uniform(-0.3, 0.3, env.action_space.shape).astype(np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return seen, rewards


@pytest.mark.filterwarnings("ignore:.*maximum value is infinity", "ignore:.*symmetric and norm")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"actions": ["window", "rate"], "normalise": False, "history": 1, "step": "10ms"},
        {"actions": {"rate-factor": (0.8, 1.25)}, "reward": "harm", "step": "2rtt"},
    ],
)
def test_gymnasium_finds_nothing_wrong(arguments: dict[str, Any]) -> None:
    check_env(gymnasium.make("dumbbell/Path-v0", paths=SHORT, **arguments).unwrapped)


def test_pettingzoo_finds_nothing_wrong() -> None:
    parallel_api_test(dumbbell.gym.parallel_env(SHORT, step="20ms"), num_cycles=300)


def test_the_same_seed_gives_the_same_episode_after_any_other() -> None:
    env = PathEnv([SHORT, {**SHORT, "duration": "1s"}])
    seen, rewards = episode(env, 11)
    for seed in (None, 12, None):
        episode(env, seed)
    again, rewards_again = episode(env, 11)
    assert rewards == rewards_again
    assert all(np.array_equal(one, other) for one, other in zip(seen, again, strict=True))
    fresh, _ = episode(PathEnv([SHORT, {**SHORT, "duration": "1s"}]), 11)
    assert all(np.array_equal(one, other) for one, other in zip(seen, fresh, strict=True))
    assert rewards != episode(env, 13)[1]


def test_a_thousand_resets_leave_nothing_behind() -> None:
    env = PathEnv(SHORT)
    action = np.zeros(1, np.float32)

    def some(count: int) -> int:
        for seed in range(count):
            env.reset(seed=seed)
            for _ in range(5):
                env.step(action)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = some(200)
    # An episode that leaked a tenth of its 100 kB would need ten times as much.
    assert some(1000) - before < 1024


def test_a_step_measures_what_the_path_does() -> None:
    env = PathEnv(
        {**SHORT, "flow": SHORT["flow"][:1], "network": {**SHORT["network"], "loss": []}},
        actions="window", normalise=False, step="100ms", history=1,
    )  # fmt: skip
    env.reset(seed=1)
    for _ in range(10):
        observation, *_ = env.step(np.array([50]))
    measured = env.measured
    # 50 segments on 10 Mbit/s and 40 ms: the link is full and 60 ms are under way.
    payload = 10 * 1448 / 1500
    assert measured.delivery_mbit_per_s == pytest.approx(payload, rel=0.02)
    assert measured.delivered_bytes * 8e-6 / 0.1 == pytest.approx(payload, rel=0.02)
    assert measured.rtt_mean_ms == pytest.approx(60, abs=1)
    assert measured.path_rtt_min_ms == pytest.approx(41.2, abs=0.1)
    assert measured.cwnd_segs == measured.in_flight_segs == 50
    assert (measured.loss_share, measured.mark_share, measured.pacing_mbit_per_s) == (0, 0, 0)
    shown = dict(zip(dumbbell.gym.measured.OBSERVED, observation[0], strict=True))
    assert shown["rtt_mean_ms"] == np.float32(measured.rtt_mean_ms)


def test_marks_and_a_rate_are_measured() -> None:
    path = {
        "duration": "2s",
        "network": {"rate": "10mbit", "rtt": "40ms", "queue": {"discipline": "fq-codel"}},
        "flow": [{"algorithm": "cubic", "switches": {"ecn": "classic"}}],
    }
    env = PathEnv(path, actions="rate", normalise=False, step="100ms", history=1)
    env.reset(seed=1)
    marked = 0.0
    for _ in range(15):
        env.step(np.array([12]))
        marked += env.measured.mark_share
    assert env.measured.pacing_mbit_per_s == pytest.approx(12)
    assert env.measured.send_mbit_per_s == pytest.approx(12, rel=0.1)
    assert marked > 0


def test_the_end_of_the_data_terminates() -> None:
    path = {**SHORT, "flow": [{"algorithm": "cubic", "bytes": "100kb"}]}
    env = PathEnv(path, step="20ms")
    env.reset(seed=1)
    ends = (False, False)
    while not any(ends):
        ends = env.step(np.zeros(1))[2:4]
    assert ends == (True, False)


def test_many_are_what_each_is_alone_on_any_number_of_cores() -> None:
    paths = [SHORT, {**SHORT, "duration": "1s"}]
    alone = [episode(PathEnv(paths), 5 + place)[1] for place in range(3)]
    for cores in (1, 2, 5):
        many = PathVectorEnv(3, paths, cores=cores)
        many.reset(seed=5)
        chosen = np.random.default_rng(7)
        rewards: list[list[float]] = [[], [], []]
        over = np.zeros(3, bool)
        while not over.all():
            action = np.repeat(chosen.uniform(-0.3, 0.3, (1, 1)), 3, axis=0).astype(np.float32)
            _, worth, terminated, truncated, _ = many.step(action)
            for place in np.flatnonzero(~over):
                rewards[place].append(worth[place])
            over |= terminated | truncated
        assert rewards == alone


def test_an_environment_that_is_over_begins_again() -> None:
    many = gymnasium.make_vec(
        "dumbbell/Path-v0", num_envs=2, vectorization_mode="vector_entry_point",
        paths={**SHORT, "duration": "200ms"}, step="50ms",
    )  # fmt: skip
    many.reset(seed=1)
    actions = np.zeros((2, 1), np.float32)
    ends = [many.step(actions) for _ in range(8)]
    assert [bool(end[3].all()) for end in ends] == [
        False, False, False, True, False, False, False, False,
    ]  # fmt: skip
    _, rewards, _, _, info = ends[4]
    assert (list(rewards), list(info["path"])) == ([0, 0], ["scenario 0"] * 2)


def test_learners_share_a_path_with_others() -> None:
    flows = [{"algorithm": "cubic", "label": "a"}, {"algorithm": "reno", "label": "rival"}]
    path = {**SHORT, "flow": [*flows, {"algorithm": "cubic", "label": "b"}]}
    env = SharedPathEnv(path, learners=["b", "a"], step="50ms", actions="window", normalise=False)
    env.reset(seed=1)
    total = dict.fromkeys([*env.possible_agents, "rival"], 0.0)
    while env.agents:
        env.step({"a": np.array([10]), "b": np.array([40])})
        for agent, measured in env.measured.items():
            total[agent] += measured.delivered_bytes
        total["rival"] += measured.others_mbit_per_s * measured.interval_ms * 125
    assert total["b"] > 2 * total["a"] > 0
    assert total["rival"] > 0


def test_harm_counts_what_others_lose_beyond_the_named_algorithm() -> None:
    env = PathEnv(SHORT, reward="harm", actions="window", normalise=False, step="100ms")
    gentle: list[float] = []
    greedy: list[float] = []
    for window, rewards in ((20, gentle), (400, greedy)):
        env.reset(seed=1)
        over = False
        while not over:
            _, reward, _, over, _ = env.step(np.array([window]))
            rewards.append(reward)
    assert sum(gentle) > sum(greedy)


def test_the_baseline_is_a_run_of_the_scenario_as_it_is() -> None:
    env = PathEnv(SHORT)
    env.reset(seed=1)
    rival = dumbbell.simulate(SHORT).summary.flows[1]
    assert env.measured.baseline_mbit_per_s == pytest.approx(rival.acked_bytes * 8e-6 / 2)
    many = PathVectorEnv(3, SHORT, reward=lambda step: step.baseline_mbit_per_s + 0 * step.rtt_ms)
    many.reset(seed=1)
    assert (many.step(np.zeros((3, 1)))[1] == env.measured.baseline_mbit_per_s).all()


def test_gymnasium_is_needed_for_this_alone() -> None:
    def python(code: str) -> str:
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        return run.stdout + run.stderr

    assert "False" in python("import sys, dumbbell; print('gymnasium' in sys.modules)")
    missing = "import sys; sys.modules['gymnasium'] = None; import dumbbell.gym"
    assert "dumbbell.gym: needs the package gymnasium; valid: pip install" in python(missing)


def test_a_reward_may_be_ones_own() -> None:
    def goodness(step: Measured) -> Any:
        return step.delivery_mbit_per_s - step.loss_share

    _, rewards = episode(PathEnv(SHORT, reward=goodness), 1)
    assert 0 < max(rewards) < 10.1


def test_every_field_has_its_unit_in_its_name() -> None:
    ends = {"ms": "_ms", "bytes": "_bytes", "Mbit/s": "_mbit_per_s", "segments": "_segs"}
    assert all(name.endswith(ends.get(unit, "_share")) for name, unit, _ in FIELDS)


def test_the_guide_has_every_name() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/gym.md").read_text()
    names = [*(name for name, _, _ in FIELDS), *ACTIONS, *REWARDS]
    assert [name for name in names if f"`{name}`" not in guide] == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"paths": "trian"}, 'did you mean "train"?'),
        ({"paths": []}, "no paths"),
        ({"paths": 3}, "paths"),
        ({"paths": {"duration": "1s"}}, "network"),
        ({"paths": [SHORT, {**SHORT, "flow": [{"transport": "udp", "rate": "1mbit"}]}]}, "paths"),
        ({"learner": 3}, "learner = 3: not a label"),
        ({"normalise": "yes"}, 'normalise = "yes": neither True nor False'),
        ({"learner": "nobody"}, 'learner = "nobody": unknown flow'),
        ({"step": "0ms"}, "step"),
        ({"step": "manyrtt"}, "step"),
        ({"step": 3}, "step"),
        ({"actions": "windows"}, 'did you mean "window"'),
        ({"actions": []}, "sets nothing"),
        ({"actions": ["window", "window-factor"]}, "sets the window twice"),
        ({"actions": {"rate": (2, 1)}}, "low < high"),
        ({"actions": {"rate": 1}}, "low < high"),
        ({"actions": {"window": (1, 1e9)}}, "too high"),
        ({"observe": ["rtt"]}, "observe"),
        ({"observe": []}, "observe"),
        ({"history": 0}, "history"),
        ({"history": 10**9}, "history"),
        ({"reward": "powr"}, 'did you mean "power"'),
        ({"reward": 3}, "reward"),
        ({"render_mode": "human"}, "render_mode"),
    ],
)
def test_wrong_arguments_are_refused_with_a_way_out(
    arguments: dict[str, Any], problem: str
) -> None:
    def begin() -> None:
        paths = arguments.get("paths")
        last = len(paths) - 1 if isinstance(paths, list) else 0
        PathEnv(**{"paths": SHORT, **arguments}).reset(options={"path": last})

    with pytest.raises(InputError) as refused:
        begin()
    assert problem in str(refused.value)
    assert ":" in str(refused.value)


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ([math.nan], "action.window-factor = nan: not a number; valid: -1 to 1"),
        ([1.5], "action.window-factor = 1.5: out of range"),
        ([-math.inf], "out of range"),
        ([0.1, 0.1], "shape"),
        (0.1, "shape"),
        (["up"], "action"),
        (None, "action"),
        ([[0.1], [0.1, 0.1]], "shape"),
    ],
)
def test_a_wrong_action_changes_nothing(action: Any, problem: str) -> None:
    env, other = PathEnv(SHORT), PathEnv(SHORT)
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(InputError) as refused:
        env.step(action)
    assert problem in str(refused.value)
    right = np.array([0.5], np.float32)
    assert np.array_equal(env.step(right)[0], other.step(right)[0])


def test_a_wrong_action_of_one_path_holds_all() -> None:
    many, others = PathVectorEnv(2, SHORT, cores=2), PathVectorEnv(2, SHORT, cores=2)
    many.reset(seed=1)
    others.reset(seed=1)
    with pytest.raises(InputError, match=r"action\[1\]"):
        many.step(np.array([[0.5], [2.0]]))
    right = np.array([[0.5], [0.5]])
    assert np.array_equal(many.step(right)[0], others.step(right)[0])


@pytest.mark.parametrize(
    ("learners", "problem"),
    [
        (0, "learners = 0: not such a number; valid: labels of flows, each once, or how many"),
        (1.5, "learners = 1.5"),
        (True, "learners = true"),
        (None, "learners"),
        ([], "nobody"),
        (["mine", "mine"], "twice"),
        (["mine", 3], "learners = 3: not a name"),
        (9, "learners = 9: more than the path has TCP flows"),
    ],
)
def test_learners_are_labels_or_a_number(learners: Any, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        SharedPathEnv(SHORT, learners=learners)
    assert problem in str(refused.value)


@pytest.mark.parametrize("actions", [None, 3, [[0.1], [0.1]], {"mine": [0.1]}])
def test_actions_of_learners_are_named(actions: Any) -> None:
    shared = SharedPathEnv(SHORT, learners=["mine", "rival"])
    shared.reset(seed=1)
    with pytest.raises(InputError, match=r"actions.*valid: .*mine, rival"):
        shared.step(actions)
    many = PathVectorEnv(2, SHORT)
    many.reset(seed=1)
    with pytest.raises(InputError, match=r"action\.shape"):
        many.step([[0.1], [0.1, 0.1]])


def test_which_number_of_whom_is_wrong() -> None:
    many = PathVectorEnv(3, SHORT, actions=["window", "rate"], normalise=False)
    many.reset(seed=1)
    with pytest.raises(InputError) as refused:
        many.step(np.array([[10, 1], [10, 1], [10, 1e6]]))
    assert unmeasured(str(refused.value)) == snapshot(
        "action[2].rate = N: out of range; valid: N to 1000"
    )
    shared = SharedPathEnv(SHORT, learners=["mine", "rival"])
    shared.reset(seed=1)
    with pytest.raises(InputError, match=r"action\[rival\].window-factor = nan"):
        shared.step({"mine": np.zeros(1), "rival": np.array([math.nan])})
    with pytest.raises(InputError, match="actions"):
        shared.step({"mine": np.zeros(1)})


def test_there_are_no_steps_before_the_first_reset_or_after_the_end() -> None:
    env = PathEnv({**SHORT, "duration": "100ms"}, step="100ms")
    action = np.zeros(1)
    for refused in (lambda: env.step(action), env.summary):
        with pytest.raises(InputError):
            refused()
    env.reset(seed=1)
    assert env.step(action)[3]
    with pytest.raises(InputError, match="reset"):
        env.step(action)
    assert env.summary().flows[0].algorithm == "learner"
    with pytest.raises(InputError):
        env.summary()
    with pytest.raises(InputError):
        PathVectorEnv(2, SHORT).step(np.zeros((2, 1)))
    with pytest.raises(InputError):
        SharedPathEnv(SHORT).step({})


def test_a_closed_environment_has_no_episode_until_it_is_reset() -> None:
    one, many = PathEnv(SHORT), PathVectorEnv(2, SHORT)
    shared = SharedPathEnv(SHORT, learners=["mine", "rival"])
    first, firsts = one.reset(seed=1)[0], many.reset(seed=1)[0]
    shared.reset(seed=1)
    action = np.zeros((2, 1))
    for close, step in (
        (one.close, lambda: one.step(action[0])),
        (many.close, lambda: many.step(action)),
        (shared.close, lambda: shared.step({"mine": action[0], "rival": action[1]})),
    ):
        step()
        close()
        close()
        with pytest.raises(InputError, match="reset"):
            step()
    with pytest.raises(InputError):
        one.summary()
    assert np.array_equal(one.reset(seed=1)[0], first)
    assert np.array_equal(many.reset(seed=1)[0], firsts)


@pytest.mark.parametrize("worth", ["much", None, [1.0, 2.0], [[1], [2, 3]], {}])
def test_a_reward_that_is_no_number_is_refused(worth: Any) -> None:
    env = PathEnv(SHORT, reward=lambda _: worth)
    env.reset()
    with pytest.raises(InputError, match=r"^reward = ") as caught:
        env.step(np.zeros(1))
    assert caught.value.valid == snapshot("a function that returns a number")


@pytest.mark.parametrize("options", [3, "path", [("path", 0)]])
def test_options_are_a_dictionary(options: Any) -> None:
    for env in (PathEnv(SHORT), PathVectorEnv(1, SHORT), SharedPathEnv(SHORT)):
        with pytest.raises(InputError, match="options"):
            env.reset(options=options)


def test_wrong_options_and_rewards_are_refused() -> None:
    env = PathEnv(SHORT, reward=lambda _: math.nan)
    with pytest.raises(InputError, match="options"):
        env.reset(options={"paht": 0})
    with pytest.raises(InputError, match="0 to 0"):
        env.reset(options={"path": 1})
    env.reset()
    with pytest.raises(InputError) as refused:
        env.step(np.zeros(1))
    assert str(refused.value) == snapshot("reward = nan: returns no finite number")
    many = PathVectorEnv(2, SHORT, reward=lambda _: 1.0)
    many.reset()
    with pytest.raises(InputError) as refused:
        many.step(np.zeros((2, 1)))
    assert str(refused.value) == snapshot(
        "reward: returns an array of shape () for numbers of shape (2, 1); valid: a function that takes and returns arrays entry by entry"
    )
