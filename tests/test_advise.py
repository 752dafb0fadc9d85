"""``dumbbell advise``: which algorithm to use on a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from calling import Command, caller
from dumbbell.advise import Advice, advise
from dumbbell.compare import Setting

PATH = Setting("20mbit", "20ms", duration="10s")


@pytest.fixture(scope="module")
def advice(tmp_path_factory: pytest.TempPathFactory) -> Advice:
    results = tmp_path_factory.mktemp("advise") / "results"
    return advise(PATH, among=["reno", "cubic", "bbr", "lp"], runs=2, results=results)


def test_what_leaves_others_nothing_or_takes_nothing_is_not_advised(advice: Advice) -> None:
    found = {each.name: each for each in advice.candidates}
    assert found["bbr"].kept.value < 0.5
    assert found["lp"].of_best.value < 0.98
    assert found["cubic"].kept.value == 1
    assert advice.advised.name == "reno"
    assert "shortest round-trip time" in advice.reason
    assert advice.matters


def test_who_harms_others_is_advised_with_a_warning(tmp_path: Path) -> None:
    path = Setting("20mbit", "20ms", loss="3e-3", duration="10s")
    found = advise(path, among=["reno", "bbr"], runs=2, results=tmp_path)
    reno, bbr = sorted(found.candidates, key=lambda each: each.of_best.value)
    assert (reno.name, bbr.name, found.advised) == ("reno", "bbr", bbr)
    assert found.reason == "the other one has less than 98 % of its goodput"
    assert found.gentler == reno
    assert found.warning == (
        f"It leaves cubic {100 * bbr.kept.value:.0f} % of its goodput; reno, with "
        f"{100 * reno.of_best.value:.0f} % of the best goodput, leaves it "
        f"{100 * reno.kept.value:.0f} %."
    )


def test_where_all_are_as_good_the_choice_does_not_matter(tmp_path: Path) -> None:
    same = advise(PATH, among=["reno"], runs=2, results=tmp_path)
    assert not same.matters


@pytest.fixture
def dumbbell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


def test_the_command_says_which_and_why(dumbbell: Command) -> None:
    path = ("--rate", "10mbit", "--rtt", "20ms", "--duration", "5s", "--runs", "2")
    said = dumbbell("advise", *path, "--among", "reno,cubic")
    assert said.code == 0
    assert "\nUse " in said.out
    assert "cubic keeps" in said.out
    assert Path("advice.html").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--among", "nosuch"), "--among"),
        (("--beside", "nosuch"), "--beside"),
        (("--figure", "a.gif"), "unknown kind of picture"),
        (("--loss", "2"), "loss"),
    ],
)
def test_wrong_options_are_refused(
    dumbbell: Command, arguments: tuple[str, ...], problem: str
) -> None:
    said = dumbbell("advise", "--rate", "10mbit", "--rtt", "20ms", *arguments)
    assert said.code == 2
    assert problem in said.err
