"""A user's own C file: named in scenarios, studies and commands, carried by its source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import caller, line
from dumbbell.algorithms import catalogue
from dumbbell.algorithms import own_algorithms as descriptions
from dumbbell.base.errors import InputError
from dumbbell.conformance import starting
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.experiments.compare import compare
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.store import Store
from dumbbell.study.model import Study
from sample_runs import plain
from scenario_checks import assert_accepted

NETWORK = '[network]\nrate = "50mbit"\nrtt = "20ms"\nqueue = "1bdp"\n'


def flow(choice: str) -> str:
    return f'[[flow]]\nalgorithm = "{choice}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that holds my_cc.c."""
    starting.write("my_cc", folder=tmp_path)
    return tmp_path


def load(folder: Path, *choices: str) -> Scenario:
    path = folder / "own.toml"
    path.write_text('duration = "2s"\n' + NETWORK + "".join(map(flow, choices)))
    return Scenario.load(path)


@pytest.mark.parametrize("template", starting.templates())
def test_templates_are_algorithms_of_their_new_name(template: str, tmp_path: Path) -> None:
    path = starting.write("other_name", template, tmp_path)
    algorithm = catalogue.read(str(path))
    assert algorithm.name == "other_name"
    assert algorithm.parameters
    assert algorithm.presets
    assert algorithm.info


def test_a_file_is_never_overwritten(folder: Path) -> None:
    before = (folder / "my_cc.c").read_text()
    with pytest.raises(InputError, match="exists already"):
        starting.write("my_cc", folder=folder)
    assert (folder / "my_cc.c").read_text() == before
    (folder / "my_cc.c").unlink()
    with pytest.raises(InputError, match=r"my_cc\.expect: exists already"):
        starting.write("my_cc", "delay", folder)
    assert not (folder / "my_cc.c").exists()


def test_a_file_to_start_from_may_be_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    file = starting.write("./src/my_cc.c", folder=tmp_path)
    assert file == tmp_path / "src/my_cc.c"
    assert catalogue.read(str(file)).name == "my_cc"
    assert file.with_suffix(".expect").is_file()


@pytest.mark.parametrize("name", ["cubic", "udp", "my-cc", "1st"])
def test_names_that_cannot_be_are_refused_before_anything_is_written(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="rename"):
        starting.write(name, folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_resolved_scenario_carries_the_source_and_calls_it_by_its_name(folder: Path) -> None:
    resolved = load(folder, "./my_cc.c", "my_cc.c@quick", "cubic").resolve()
    assert_accepted(resolved)
    assert resolved.scenario.sources == {"my_cc": (folder / "my_cc.c").read_text()}
    assert list(map(facts.choice, resolved.scenario.flows)) == ["my_cc", "my_cc@quick", "cubic"]
    labels = [flow.label for flow in resolved.scenario.flows]
    assert labels == ["my_cc 1", "my_cc 2", "cubic 1"]
    assert str(folder) not in resolved.json


def test_scenarios_without_own_algorithms_carry_no_source(folder: Path) -> None:
    assert "sources" not in plain(load(folder, "reno").resolve())


def test_a_stored_run_is_run_again_without_the_file(folder: Path) -> None:
    resolved = load(folder, "./my_cc.c").resolve()
    engine = SimulatorEngine()
    first = engine.run(resolved)
    store = Store(folder / "results")
    store.put(resolved, first)
    (folder / "my_cc.c").unlink()
    stored = ResolvedScenario.of(
        json.loads(next(store.root.rglob("run.json")).read_text())["scenario"]
    )
    assert stored.key == resolved.key
    assert engine.run(stored).summary == first.summary


def test_another_source_is_another_run_and_both_can_be_run(folder: Path) -> None:
    slow = load(folder, "./my_cc.c").resolve()
    path = folder / "my_cc.c"
    path.write_text(path.read_text().replace("return cc_half_window(conn)", "return CC_CWND_MIN"))
    fast = load(folder, "./my_cc.c").resolve()
    assert slow.key != fast.key
    engine = SimulatorEngine()
    runs = [engine.run(run).summary for run in (slow, fast, slow)]
    assert runs[0] == runs[2] != runs[1]


def test_a_scenario_keeps_what_it_read(folder: Path) -> None:
    scenario = load(folder, "./my_cc.c")
    before = scenario.resolve()
    (folder / "my_cc.c").unlink()
    assert scenario.resolve() == before
    assert scenario.model_copy(update={"seed": 2}).resolve().scenario.sources


def test_paths_are_relative_to_the_file_that_names_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    scenario = load(folder, "./my_cc.c@quick")
    assert scenario.flow[0].algorithm == f"{folder}/my_cc.c@quick"
    assert Scenario.parse(scenario.model_dump()).resolve() == scenario.resolve()


def test_two_files_of_one_name_cannot_share_a_scenario(folder: Path) -> None:
    (folder / "other").mkdir()
    starting.write("my_cc", "delay", folder / "other")
    with pytest.raises(InputError) as refused:
        load(folder, "my_cc.c", "other/my_cc.c")
    assert refused.value.problem == snapshot("another file is called my_cc in this scenario")


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("./none.c", "cannot read it"),
        ("./my_cc.c@quik", 'did you mean "./my_cc.c@quick"'),
        ("./broken.c", "broken.c:"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(folder: Path, choice: str, wanted: str) -> None:
    text = starting.text("broken").replace("state->reductions++", "state->reduction++")
    (folder / "broken.c").write_text(text)
    with pytest.raises(InputError) as error:
        load(folder, choice)
    assert "flow.1.algorithm" in str(error.value)
    assert wanted in str(error.value)


def test_a_name_whose_file_is_here_is_recognised(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as error:
        load(folder, "my_cc")
    assert 'did you mean "./my_cc.c"' in str(error.value)


STUDY = f"""
[study]
name = "own"
title = "Own"
authors = ["A"]
year = 2026
[[test]]
name = "both"
title = "Both"
axes = {{ algorithm = ["./my_cc.c@quick", "cubic"] }}
[test.scenario]
duration = "2s"
{NETWORK.replace("[network]", "[test.scenario.network]")}
[[test.scenario.flow]]
algorithm = "{{algorithm}}"
"""


def test_studies_name_files_as_values_of_axes(folder: Path) -> None:
    path = folder / "own.toml"
    path.write_text(STUDY)
    study = Study.load(path)
    assert study.tests[0].axes == {"algorithm": ("my_cc@quick", "cubic")}
    mine, built_in = study.runs()
    assert facts.choice(mine.resolved.scenario.flows[0]) == "my_cc@quick"
    assert list(mine.resolved.scenario.sources) == ["my_cc"]
    assert not built_in.resolved.scenario.sources
    assert study.runs(where={"algorithm": "my_cc"})[0].resolved == mine.resolved
    assert study.runs(where={"algorithm": "./my_cc.c"})[0].resolved == mine.resolved


def test_comparisons_call_it_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    comparison = compare(
        ["./my_cc.c", "cubic"],
        rate="50mbit",
        rtt="20ms",
        flows="./my_cc.c:1,cubic:1",
        duration="2s",
        runs=1,
    )
    assert comparison.means["line"].unique(maintain_order=True).to_list() == snapshot(
        [
            "my_cc × 2",
            "cubic × 2",
            "my_cc:1,cubic:1",
            "my_cc × 1 in the mix",
            "cubic × 1 in the mix",
        ]
    )
    assert comparison.means["algorithm"].drop_nulls().unique(maintain_order=True).to_list() == [
        "my_cc",
        "cubic",
    ]


@pytest.mark.parametrize("place", ["", "{}/"])
def test_a_file_that_needs_another_is_refused(folder: Path, place: str) -> None:
    """A whole path compiles, but a change there would be no other run."""
    (folder / "gain.h").write_text("#define GAIN 9\n")
    include = f'#include "{place.format(folder)}gain.h"'
    source = (folder / "my_cc.c").read_text()
    path = folder / "my_cc.c"
    path.write_text(source.replace('#include "cc.h"', f'#include "cc.h"\n{include}'))
    with pytest.raises(InputError) as refused:
        load(folder, "./my_cc.c")
    assert f"my_cc.c:17: flow.1.algorithm = \"./my_cc.c\": '{include}'" in str(refused.value)
    with descriptions.nothing_runs():
        assert not catalogue.read(str(path)).is_described
    path.write_text(f'{source}/*\n{include}\n*/\n#include "cc_start.h"\n')
    load(folder, "./my_cc.c")


def test_what_the_kernel_would_not_take_is_said_before_it_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    dumbbell = caller(monkeypatch, capsys)
    load(folder, "./my_cc.c")
    assert "kernel" not in dumbbell("simulate", "own.toml").err
    text = (
        (folder / "my_cc.c")
        .read_text()
        .replace('#include "cc.h"', '#include "cc.h"\n#include <math.h>')
    )
    changed = text.replace("state->reductions++;", "state->reductions += (unsigned int)1.5;")
    (folder / "my_cc.c").write_text(changed)
    output = dumbbell("simulate", "own.toml")
    assert output.code == 0
    assert re.search(
        r"\./my_cc\.c:\d+: '1\.5': the kernel has integers only; `dumbbell", output.err
    )
    assert line(output.err, "/my_cc.c:17") == snapshot(
        "./my_cc.c:17: '#include <math.h>': the kernel has no C library; `dumbbell check` shows all"
    )


@pytest.mark.parametrize(
    "command",
    [
        "hunt ./my_cc.c --points 2 --runs 2 --duration 1s --where rate=1mbit",
        "tune ./my_cc.c --parameter increase --rate 1mbit --rtt 9ms --candidates 2 --runs 1 "
        "--duration 1s",
        "advise --among ./my_cc.c --rate 1mbit --rtt 9ms --runs 1 --duration 3s",
    ],
)
def test_searches_say_it_too(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    file = folder / "my_cc.c"
    file.write_text(file.read_text().replace("reductions++;", "reductions += 1.5;"))
    output = caller(monkeypatch, capsys)(*command.split())
    assert output.code == 0, output.err
    assert sum("my_cc.c:60: '1.5'" in line for line in output.err.splitlines()) == 1
