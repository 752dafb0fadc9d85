"""``dumbbell claims --control``: the same runs under exchanged names."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import Command, line

STUDY = """
[study]
name = "three"
title = "Who holds the most?"
authors = ["Us"]
year = 2026

[[test]]
name = "alone"
title = "One flow"
runs = 2
axes = { algorithm = ["reno", "scalable", "vegas", "htcp"] }

[test.scenario]
duration = "8s"
network = { rate = "4mbit", rtt = "20ms", queue = "2bdp" }
flow = [{ algorithm = "{algorithm}" }]

[[claim]]
id = "A01"
source = "Fig. 1"
text = "Vegas leaves the queue empty."
expectation = "less delay than each other one"

[[claim.check]]
type = "order"
test = "alone"
quantity = "rtt_mean_ms"
larger = { algorithm = ["scalable", "htcp"] }
smaller = { algorithm = "vegas" }

[[claim]]
id = "A02"
source = "Fig. 1"
text = "Scalable TCP fills the path."
expectation = "half of the link"

[[claim.check]]
type = "band"
test = "alone"
quantity = "utilisation"
where = { algorithm = "scalable" }
low = 0.5

[[claim]]
id = "A03"
source = "Fig. 1"
text = "All fill the path."
expectation = "half of the link"

[[claim.check]]
type = "band"
test = "alone"
quantity = "utilisation"
low = 0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("control")
    (place / "three.toml").write_text(STUDY)
    return place


@pytest.fixture
def dumbbell(dumbbell: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(folder)
    assert dumbbell("run", "three.toml").code == 0
    return dumbbell


def test_it_says_what_holds_with_other_names(dumbbell: Command) -> None:
    output = dumbbell("claims", "three.toml", "--control")
    assert output.code == 0
    # Three names have two rounds.
    assert "right names: 2 hold, 0 contradicted" in output.out
    assert line(output.out, "exchanged") == snapshot(
        "exchanged names, mean of 2 draws (seed 0): 1 holds, 1 contradicted"
    )
    assert line(output.out, "exchanges") == snapshot("hold under most exchanges: A02")
    assert line(output.out, "A03") == snapshot("treat all equally, so not counted: A03")


def test_its_draws_are_data(dumbbell: Command) -> None:
    data = dumbbell("claims", "three.toml", "--control", "--json", "--seed", "3").json
    assert data["seed"] == 3
    assert data["names"] == ["scalable", "vegas", "htcp"]
    assert data["claims"] == {"A01": "holds", "A02": "holds"}
    assert [draw["verdicts"]["A01"] for draw in data["draws"]] == ["contradicted"] * 2
    assert all(name != given for draw in data["draws"] for name, given in draw["names"].items())
    rows = dumbbell("claims", "three.toml", "--control", "--csv").out.splitlines()
    assert rows[1].startswith("A01,holds,0,")


def test_it_stands_alone(dumbbell: Command) -> None:
    for option in ("--strict", "--both-engines", "--brief"):
        output = dumbbell("claims", "three.toml", "--control", option)
        assert output.code == 2
        assert "it does not go with --control" in output.err
    output = dumbbell("claims", "three.toml", "--seed", "1")
    assert output.code == 2
    assert output.err == snapshot("error: --seed: it belongs to --control; valid: with --control\n")


def test_a_study_of_one_algorithm_has_none(dumbbell: Command, folder: Path) -> None:
    axes = STUDY.replace('"reno", "scalable", "vegas", "htcp"', '"reno", "scalable"')
    kept = axes[: axes.index("[[claim]]")]
    (folder / "one.toml").write_text(kept.replace('"three"', '"one"'))
    output = dumbbell("claims", "one.toml", "--control")
    assert output.code == 2
    assert output.err == snapshot(
        "error: --control: there are no names to exchange; valid: a study with two algorithms or more besides reno\n"
    )
