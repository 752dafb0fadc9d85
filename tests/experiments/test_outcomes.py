"""Outcomes of scenarios that ship, which sources state and runs decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import Command, line
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.experiments import on_scenario, outcomes
from dumbbell.scenario import library
from dumbbell.store.store import Store

NAMES = sorted(path.stem for path in outcomes.FOLDER.glob("*.toml"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a source state of `low-and-up` what no run can do: 7 MB in a second."""
    folder = tmp_path / "outcomes"
    folder.mkdir()
    text = (outcomes.FOLDER / "low-and-up.toml").read_text()
    (folder / "low-and-up.toml").write_text(text.replace("high = 8200", "high = 1000"))
    monkeypatch.setattr(outcomes, "FOLDER", folder)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_claim_of_a_scenario_that_ships(name: str, tmp_path: Path) -> None:
    """The study refuses unknown quantities, flows and windows, and checks that decide nothing."""
    stated = outcomes.of(name)
    named = {algorithm for one in stated for algorithm in (*one.algorithms, one.reference)} - {""}
    assert named <= {*catalogue.algorithms()}
    named = named or {"cubic", "reno"}
    campaign = on_scenario.campaign(
        sorted(named),
        Path(name),
        duration=None,
        runs=1,
        seed=0,
        store=Store(tmp_path / "results"),
        engine=SimulatorEngine(),
    )
    count = sum(len(one.algorithms) or len(named) for one in stated)
    assert len(campaign.study.claims) == count
    assert not any(
        "Not judged" in note for note in on_scenario.judged(campaign, Path(name)).left_out
    )


def test_no_file_of_outcomes_is_without_a_scenario() -> None:
    assert {*NAMES} <= {*library.names()}
    assert NAMES, "there are some"


def test_runs_decide_them_for_each_algorithm(dumbbell: Command) -> None:
    """C4 allows CUBIC 8.2 s and BBRv3 7.6 s, which ours needs longer than; of Vegas it has none."""
    output = dumbbell("compare", "cubic", "bbr3", "vegas", "--on", "low-and-up", "--runs", "3")
    of_cubic = line(output.out, "CUBIC: the transfer")
    assert of_cubic.startswith("✓ holds: CUBIC: the transfer takes 8.2 s at most (C4, ")
    assert "expected at most 8200 ms" in of_cubic
    assert line(output.out, "BBRv3: the transfer").startswith("✗ does not hold: BBRv3: ")
    assert line(output.out, "Vegas should") == snapshot(
        "No source states what Vegas should do here."
    )
    data = dumbbell("compare", "cubic", "--on", "low-and-up", "--runs", "3", "--json").json
    assert [row["verdict"] for row in data[-1]["rows"]] == ["holds"]


@pytest.mark.usefixtures("strict")
def test_what_runs_contradict_does_not_hold(dumbbell: Command) -> None:
    output = dumbbell("simulate", "low-and-up", "--runs", "3")
    assert line(output.out, "the transfer takes").startswith("✗ does not hold: CUBIC: ")
    data = dumbbell("simulate", "low-and-up", "--runs", "3", "--json").json
    assert [row["verdict"] for row in data["outcomes"]] == ["does not hold"]


def test_a_single_run_decides_nothing_and_says_why(dumbbell: Command) -> None:
    verdict = line(dumbbell("simulate", "low-and-up").out, "the transfer takes")
    assert verdict.startswith("? undecided: CUBIC: ")
    assert "1 run, no interval" in verdict
    assert "needs at least 2 runs" in verdict


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "algorithm=vegas"), "No source states what Vegas should do here."),
        (("--set", "algorithm=./my_cc.c"), "No source states what my_cc should do here."),
        (("--set", "network.rtt=50ms"), "network is not that of low-and-up."),
        (("--duration", "20s"), "duration is not that of low-and-up."),
        (("--set", "network.rtt=50ms", "--duration", "20s"), "duration and network are not"),
        (("--set", "algorithm=bbr3", "--set", "record.interval=1s"), "? undecided: BBRv3: "),
        (("--set", "stack.switches.slow_start=standard"), "? undecided: CUBIC: "),
    ],
)
def test_only_what_the_source_speaks_of_is_judged(
    dumbbell: Command, options: tuple[str, ...], words: str
) -> None:
    dumbbell("new", "my_cc")
    output = dumbbell("simulate", "low-and-up", *options)
    assert words in " ".join(output.out.split())
    assert ("undecided" in output.out) == ("undecided" in words)


def test_a_statement_about_two_algorithms_needs_both(dumbbell: Command) -> None:
    alone = dumbbell("simulate", "lossy-long-path", "--set", "algorithm=bbr")
    command = "dumbbell compare bbr cubic --on lossy-long-path"
    assert command in " ".join(alone.out.split())
    both = dumbbell("compare", "bbr", "cubic", "--on", "lossy-long-path", "--runs", "2")
    assert line(both.out, "BBR: substantially").startswith("✓ holds")


def test_a_file_of_the_same_content_has_none(dumbbell: Command) -> None:
    Path("low-and-up.toml").write_text(library.file(Path("low-and-up")).read_text())
    output = dumbbell("simulate", "low-and-up.toml")
    assert "the transfer takes" not in output.out


@pytest.mark.usefixtures("undrawn")
def test_the_page_has_them_with_their_verdicts(dumbbell: Command) -> None:
    dumbbell("simulate", "low-and-up", "--runs", "2", "--report", "pages")
    page = Path("pages/index.html").read_text()
    assert "Statements of sources" in page
    assert "C4, sim_specs/cubic_low_and_up.txt" in page
    assert 'class="glyph"' in page
    dumbbell("simulate", "incast", "--report", "others")
    assert "Statements of sources" not in Path("others/index.html").read_text()


def test_the_list_counts_them(dumbbell: Command) -> None:
    listed = {row["name"]: row for row in dumbbell("list", "scenarios", "--json").json}
    stated = [outcome["algorithms"] for outcome in listed["low-and-up"]["outcomes"]]
    assert stated == [["cubic"], ["bbr3"]]
    assert listed["incast"]["outcomes"] == []
    assert line(dumbbell("list", "scenarios").out, "low-and-up").endswith("2")


def test_a_wrong_file_is_refused_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "incast.toml").write_text('[[outcome]]\nsource = "x"\n')
    monkeypatch.setattr(outcomes, "FOLDER", tmp_path)
    with pytest.raises(InputError) as error:
        outcomes.of("incast")
    assert "incast.toml" in str(error.value)
    assert "text" in str(error.value)
