"""``dumbbell tune``: parameters searched on paths, and judged on others."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import Command, line, unmeasured
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.experiments.tune import judging, objectives, paths, proposing, search, space, words
from dumbbell.experiments.tune.search import Course, Search, Tried
from dumbbell.experiments.tune.trying import Trial
from dumbbell.experiments.tune.tuning import Request, Tuned, preset_file, tune
from dumbbell.inference import statistics
from dumbbell.scenario.model import Scenario

QUICK = Request(
    "cubic",
    parameters=("kept",),
    rates=("20mbit",),
    rtts=("20ms", "80ms"),
    duration="15s",
    loss="1e-3",
    candidates=8,
    repetitions=2,
)


@pytest.fixture(scope="module", autouse=True)
def _small() -> Iterator[None]:
    """Learn from four points of the start instead of eight, and vary parameters by three steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposing, "START_PER_DIMENSION", 4)
        patch.setattr(search, "BATCH", 4)
        patch.setattr(judging, "STEPS", 3)
        yield


# What is searched


def test_a_range_is_valid_from_end_to_end() -> None:
    for algorithm in catalogue.algorithms().values():
        if not algorithm.parameters:
            continue
        for dimension in space.space(algorithm).dimensions:
            values = [dimension.value(step / 20) for step in range(21)]
            assert values == sorted(values)
            assert (values[0], values[-1]) == (dimension.low, dimension.value(1.0))
            for value in values:
                algorithm.check_parameter(dimension.name, value)


def test_by_default_what_presets_set_is_searched() -> None:
    searched = space.space(catalogue.algorithm("ccpd"))
    assert [dimension.name for dimension in searched.dimensions] == ["kp", "kd"]
    chosen = space.space(catalogue.algorithm("ccpd"), ["kp=1..8"])
    assert [(dimension.low, dimension.high) for dimension in chosen.dimensions] == [(1, 8)]


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ("kq", "unknown parameter of ccpd"),
        ("kp=8..1", "an empty range"),
        ("kp=1..1000", "outside the limits"),
        ("kp=1..x", '"x"'),
        ("kp=", "not a parameter"),
    ],
)
def test_a_wrong_parameter_is_refused(choice: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        space.space(catalogue.algorithm("ccpd"), [choice])
    assert problem in str(caught.value)
    assert str(caught.value.key).startswith("parameter")


# What is wanted


def test_parameters_for_marks_are_left_out_where_nothing_marks() -> None:
    cubic = catalogue.algorithm("cubic")
    with_marks, without = space.space(cubic), space.space(cubic, marks=False)
    assert with_marks.left_out == ()
    assert without.left_out == ("kept_ecn",)
    assert {dimension.name for dimension in with_marks.dimensions} - {
        dimension.name for dimension in without.dimensions
    } == {"kept_ecn"}


@pytest.mark.parametrize(
    ("algorithm", "choices", "problem"),
    [
        ("cubic", ["kept_ecn"], "has no effect on paths without congestion marks"),
        ("reno", [], "has no parameters to tune on paths without congestion marks"),
    ],
)
def test_nothing_is_searched_that_has_no_effect(
    algorithm: str, choices: list[str], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        space.space(catalogue.algorithm(algorithm), choices, marks=False)


FIXED = """
#include "cc.h"

#define fixed_parameters(P)
#define fixed_presets(S)
#define fixed_hooks(H) H(fixed, ssthresh) H(fixed, cong_avoid)

CC_PARAMS(fixed);

struct fixed_state {
};

static u32 fixed_ssthresh(const struct fixed_params *params, struct fixed_state *state,
              const struct cc_conn *conn)
{
    return cc_max(conn->cwnd_segs / 2, CC_CWND_MIN);
}

static void fixed_cong_avoid(const struct fixed_params *params, struct fixed_state *state,
                 struct cc_conn *conn, u32 acked)
{
    cc_grow(conn, acked);
}

CC_ALGORITHM(fixed, .title = "Fixed", .family = CC_FAMILY_LOSS, .year = 2026,
         .source = "unpublished", .summary = "Has nothing to tune.");
"""
"""Every built-in algorithm has parameters."""


def test_an_algorithm_without_parameters_is_refused(dumbbell: Command) -> None:
    Path("fixed.c").write_text(FIXED)
    output = dumbbell("tune", "./fixed.c", "--rate", "5mbit", "--rtt", "9ms")
    assert output.code == 2
    assert output.err.partition("; valid: ")[0] == snapshot(
        'error: dumbbell tune: "fixed": has no parameters to tune'
    )


CODEL = '{ discipline = "codel", ecn = true }'


@pytest.mark.parametrize(
    ("stack", "queue", "heard"),
    [
        ('"linux-6"', '"1bdp"', False),
        ('{ profile = "linux-6", switches = { ecn = "classic" } }', '"1bdp"', False),
        ('"linux-6"', CODEL, False),
        ('{ profile = "linux-6", switches = { ecn = "classic" } }', CODEL, True),
        ('{ profile = "linux-6", switches = { ecn = "classic", ecn_peer = "off" } }', CODEL, False),
    ],
)
def test_marks_need_a_queue_that_marks_and_a_stack_with_ecn(
    tmp_path: Path, stack: str, queue: str, heard: bool
) -> None:
    (tmp_path / "a.toml").write_text(
        f'duration = "2s"\nstack = {stack}\n[network]\nrate = "5mbit"\nrtt = "20ms"\n'
        f'queue = {queue}\n[[flow]]\nalgorithm = "cubic"\n'
    )
    (path,) = paths.from_folder(tmp_path, "cubic")
    assert path.has_marks("cubic", {}) is heard


@pytest.mark.usefixtures("undrawn")
def test_the_command_names_what_it_left_out(dumbbell: Command) -> None:
    path = ("--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "1")
    output = dumbbell("tune", "cubic", *path, "--candidates", "2", "--json")
    assert output.code == 0
    assert output.json["left_out"] == ["kept_ecn"]
    assert "kept_ecn" not in output.json["winner"]
    assert "kept_ecn" in output.err
    assert "kept_ecn" in Path("tuned/index.html").read_text()


def test_power_is_goodput_over_round_trip_time() -> None:
    power = objectives.objective("power*2", ())
    values = {"goodput_mbit_per_s[tuned]": 8.0, "rtt_mean_ms[tuned]": 40.0}
    assert math.exp(power.of(values)) == pytest.approx(0.2)
    assert power.weight == 2


def test_the_best_end_of_a_quantity_counts() -> None:
    assert objectives.objective("rtt_mean_ms", ()).terms[0].weight < 0
    assert objectives.objective("utilisation", ()).terms[0].weight > 0


def test_a_quantity_without_a_value_counts_as_the_worst() -> None:
    for name in ("utilisation", "rtt_mean_ms"):
        wanted = objectives.objective(name, ())
        assert wanted.of({name: None}) < wanted.of({name: 1.0})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("recovery", "needs `cross`"),
        ("harm", "needs `beside`"),
        ("completion", "needs `requests`"),
        ("fairness", "needs several flows; valid: `flows` 2"),
        ("goodputt", 'did you mean "goodput"?'),
        ("goodput*0", "not a weight above 0"),
        ("goodput*x", "not a weight above 0"),
        ("cwnd_mean_segs", "neither end"),
    ],
)
def test_a_wrong_objective_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        objectives.objective(text, ())
    assert problem in str(caught.value)


# Paths


def test_other_paths_lie_between_and_around() -> None:
    around = paths.around(QUICK.settings())
    assert [path.rtt for path in around] == ["15.4ms", "40ms", "104ms"]
    assert not {path.rtt for path in around} & set(QUICK.rtts)


def test_a_repetition_is_the_same_for_everyone() -> None:
    path = paths.described(QUICK.settings(), paths.Traffic())[0]
    one = path.planned("reno", {}, 3, {}, "engine").resolved.scenario
    other = path.planned("scalable", {}, 3, {}, "engine").resolved.scenario
    assert (
        one.seed == other.seed != path.planned("reno", {}, 4, {}, "engine").resolved.scenario.seed
    )


def test_scenario_files_are_paths(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'duration = "5s"\nnetwork = { rate = "10mbit", rtt = "20ms", queue = "1bdp" }\n'
        'flow = [{ algorithm = "scalable" }, { algorithm = "cubic" }]\n'
    )
    (path,) = paths.from_folder(tmp_path, "scalable")
    flows = path.planned("scalable", {}, 0, {}, "engine").resolved.scenario.flows
    assert [flow.group for flow in flows] == ["tuned", None]
    with pytest.raises(InputError) as refused:
        paths.from_folder(tmp_path, "bic")
    assert refused.value.problem == snapshot("no flow of bic, whose parameters are to be tuned")
    with pytest.raises(InputError) as refused:
        paths.from_folder(tmp_path / "b", "bic")
    assert refused.value.problem == snapshot("no scenario files")


def test_flows_that_name_no_algorithm_are_tuned(tmp_path: Path) -> None:
    network = 'duration = "5s"\nnetwork = { rate = "10mbit", rtt = "20ms", queue = "1bdp" }\n'
    flows = 'flow = [{}, { algorithm = "cubic" }, { transport = "udp", rate = "1mbit" }]\n'
    (tmp_path / "a.toml").write_text(network + flows)
    (path,) = paths.from_folder(tmp_path, "scalable")
    planned = path.planned("scalable", {}, 0, {}, "engine").resolved.scenario.flows
    assert [flow.group for flow in planned] == ["tuned", None, None]
    (tmp_path / "a.toml").write_text(f'algorithm = "bbr"\n{network}{flows}')
    with pytest.raises(InputError) as refused:
        paths.from_folder(tmp_path, "scalable")
    assert refused.value.key == "flow"


# The search


@pytest.mark.parametrize("kind", [proposing.Sobol, proposing.Learning])
def test_proposals_are_the_same_again(kind: type) -> None:
    def proposals() -> list[proposing.Shares]:
        proposer = kind(2, 3) if kind is proposing.Sobol else kind(2, 1, 3)
        proposed: list[proposing.Shares] = []
        for _ in range(4):
            points = proposer.ask(8)
            proposer.tell([(-abs(x - 0.3) - abs(y - 0.6),) for x, y in points])
            proposed += points
        return proposed

    assert proposals() == proposals()
    assert all(0 <= share <= 1 for point in proposals() for share in point)


def test_what_is_learnt_comes_closer_than_the_start() -> None:
    proposer = proposing.Learning(2, 1, 1)
    distances = []
    for _ in range(8):
        points = proposer.ask(8)
        gaps = [math.hypot(x - 0.3, y - 0.6) for x, y in points]
        proposer.tell([(-gap,) for gap in gaps])
        distances.append(sum(gaps) / len(gaps))
    assert min(distances[2:]) < 0.5 * distances[0]


def test_a_front_has_what_nobody_exceeds() -> None:
    course = Course([Tried((place,), place, mean=mean) for place, mean in enumerate(MEANS)])
    assert [entrant.place for entrant in course.front] == [0, 1]


MEANS = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (0.0, 2.0)]


@pytest.fixture(scope="module")
def cubic_tuning(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tuned, Path]:
    results = tmp_path_factory.mktemp("tune") / "results"
    return tune(QUICK, results=results), results


def test_cubic_gains_by_cutting_less(cubic_tuning: tuple[Tuned, Path]) -> None:
    tuned, _ = cubic_tuning
    assert tuned.course.best is not None
    line = next(line for line in tuned.lines if line.name == "tuned")
    assert line.gain[0].value > 1.05
    default = next(line for line in tuned.lines if line.name == "default")
    assert default.gain[0].value == 1
    held_out = {path.name for path in tuned.held_out}
    assert not held_out & {path.name for path in tuned.search.paths}
    assert {effect.parameter for effect in tuned.effects} == {"kept"}
    assert tuned.winner["kept"] > tuned.algorithm.parameter("kept").initial


def test_a_search_that_gains_nothing_compares_with_the_default(
    cubic_tuning: tuple[Tuned, Path],
) -> None:
    tuned, _ = cubic_tuning
    same = statistics.geometric_mean([1.0, 1.0, 1.0])
    lines = tuple(replace(line_of_name, gain=(same,)) for line_of_name in tuned.lines)
    assert unmeasured(words.conclusion(replace(tuned, lines=lines))) == snapshot(
        "The search found nothing clearly better: on paths that it has not seen, kept = 989 has 1 ± 0 times the default's goodput."
    )


class Known:
    """Runs whose worth is known: the smaller the parameter the better, and a little noise."""

    objectives = (objectives.objective("goodput", ()),)

    def make(self, _: object) -> None:
        pass

    def worth(self, trials: list[Trial]) -> dict[tuple[str, int], tuple[float, ...]]:
        return {
            trial.pair: (-trial.entrant.values["kept"] / 100 + trial.repetition % 2 / 1000,)
            for trial in trials
        }


def test_what_is_clearly_worse_is_given_up_early() -> None:
    cubic = space.space(catalogue.algorithm("cubic"), ["kept"])
    everywhere = paths.described(QUICK.settings(), paths.Traffic())
    known = Search(cubic, everywhere, "cubic", Known(), 5, 20)  # type: ignore[arg-type]
    for _ in known.go(proposing.Sobol(1, 1)):
        pass
    best, tried = known.course.best, known.course.tried
    assert best is not None
    assert best.candidate == min(entrant.candidate for entrant in tried)
    assert not best.dropped
    assert best.repetitions == 5
    worse = [entrant for entrant in tried if entrant.candidate > (800,)]
    assert worse
    assert all(entrant.dropped and entrant.repetitions < 5 for entrant in worse)


def test_a_search_from_half_of_the_runs_finds_the_same(
    cubic_tuning: tuple[Tuned, Path], tmp_path: Path
) -> None:
    tuned, results = cubic_tuning
    shutil.copytree(results, tmp_path / "results")
    runs = sorted((tmp_path / "results" / "runs").iterdir())
    for folder in runs[::2]:
        shutil.rmtree(folder)
    again = tune(QUICK, results=tmp_path / "results")
    assert again.as_dict() == tuned.as_dict()
    assert len(list((tmp_path / "results" / "runs").iterdir())) == len(runs)


def test_the_winner_is_a_preset_file(cubic_tuning: tuple[Tuned, Path], tmp_path: Path) -> None:
    tuned, _ = cubic_tuning
    (tmp_path / "mine.toml").write_text(preset_file(tuned))
    algorithm, preset = catalogue.split_preset("cubic@./mine.toml", tmp_path)
    assert algorithm.preset(preset or "").values == tuned.winner


# Preset files


def scenario(folder: Path) -> Scenario:
    table = {
        "duration": "1s",
        "network": {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"},
        "flow": [{"algorithm": "ccpd@./mine.toml", "parameters": {"kd": 7}}],
    }
    return Scenario.parse(table, str(folder / "a.toml"))


def test_a_scenario_takes_a_preset_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('algorithm = "ccpd"\n[parameters]\nkp = 2\nkd = 5\n')
    tcp = scenario(tmp_path).resolve().scenario.flows[0].transport.tcp
    assert tcp is not None
    assert (tcp.preset, dict(tcp.parameters)) == (None, {"kp": 2, "kd": 7})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('algorithm = "cubic"\n[parameters]\n', "these are not parameters of ccpd"),
        ('algorithm = "ccpd"\n[parameters]\nkq = 2\n', "unknown parameter of ccpd"),
        ('algorithm = "ccpd"\n[parameters]\nkp = 2.5\n', "parameters.kp = 2.5"),
        ('algorithm = "ccpd"\n[parameters]\nkp = 65\n', "valid: 0 to 64"),
        ('algorithm = "ccpd"\n[parameter]\nkp = 6\n', "parameters"),
        ("algorithm =", "not valid TOML"),
        (None, "cannot read it"),
    ],
)
def test_a_wrong_preset_file_is_refused(tmp_path: Path, content: str | None, problem: str) -> None:
    if content is not None:
        (tmp_path / "mine.toml").write_text(content)
    with pytest.raises(InputError) as caught:
        scenario(tmp_path)
    assert problem in str(caught.value)
    assert "mine.toml" in str(caught.value)


# The command


def test_the_command_writes_a_page_and_a_preset(dumbbell: Command) -> None:
    arguments = ("--rate", "5mbit", "--rtt", "20ms", "--duration", "4s", "--runs", "2")
    output = dumbbell("tune", "scalable", *arguments, "--candidates", "3", "--parameter", "kept")
    assert output.code == 0
    assert "Preset: scalable@tuned/scalable.toml" in output.err
    page = Path("tuned/index.html").read_text()
    assert line(page, "On paths") == snapshot("<h2>On paths that were not searched</h2>")
    assert Path("tuned/effects.svg").exists()
    again = dumbbell("compare", "scalable@tuned/scalable.toml", "scalable", *arguments)
    assert again.code == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("ccpd",), "--rate: no path"),
        (("ccpd", "--rate", "5mbit", "--rtt", "x"), '"x"'),
        (("ccpd", "--rate", "5mbit", "--rtt", "9ms", "--cross", "5mbit"), "udp:200mbit"),
        (("ccpd@kumazoe2012", "--rate", "5mbit", "--rtt", "9ms"), "initial values"),
        (("nosuch", "--rate", "5mbit", "--rtt", "9ms"), "unknown algorithm"),
        (("ccpd", "--scenarios", "nowhere"), "no scenario files"),
        (("ccpd", "--rate", "5mbit", "--rtt", "9ms", "--held-out", "x"), "with --scenarios"),
        (
            ("ccpd", "--rate", "5mbit", "--rtt", "9ms", "--objective", "goodput", "--objective",
             "power*2"),
            "some objectives have weights",
        ),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(
    dumbbell: Command, arguments: tuple[str, ...], problem: str
) -> None:
    output = dumbbell("tune", *arguments)
    assert output.code == 2
    assert problem in output.err
