"""Contests of two algorithms: what runs, what is compared with what, and the verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

from command_line import Command, unmeasured
from dumbbell.base.errors import InputError
from dumbbell.experiments.compete import Contest, compete, words
from dumbbell.experiments.compete.competing import Paths
from dumbbell.inference import statistics
from dumbbell.reports import own_tables


def held(root: Path, *algorithms: str, runs: int = 3, **path: str) -> Contest:
    paths = Paths(**{"rate": "10mbit", "rtt": "20ms", "duration": "10s", **path})
    return compete(algorithms, paths, runs=runs, results=root / "results", jobs=2)


@pytest.fixture(scope="module")
def starved(tmp_path_factory: pytest.TempPathFactory) -> Contest:
    """Vegas and two flows of CUBIC, with runs enough that its interval of harm is decided."""
    return held(tmp_path_factory.mktemp("compete"), "vegas", "cubic:2", runs=8, duration="20s")


def column(contest: Contest, name: str) -> list[Any]:
    return contest.frame()[name].to_list()


def test_both_sides_start_first_once_and_share_the_goodput(starved: Contest) -> None:
    assert column(starved, "algorithm") == ["vegas", "cubic", "vegas", "cubic"]
    assert column(starved, "starts") == ["first", "last", "last", "first"]
    assert column(starved, "fair_share") == pytest.approx([1 / 3, 2 / 3, 1 / 3, 2 / 3])
    one, two, three, four = column(starved, "share")
    assert one + two == pytest.approx(1)
    assert three + four == pytest.approx(1)


def test_harm_compares_with_the_same_flows_among_their_own(starved: Contest) -> None:
    name = "goodput_mean_mbit_per_s[one]"
    runs = starved.results.table("compete", name).filter(pl.col("start") == "vegas first")
    with_cubic, alike = (
        runs.filter(pl.col("flows") == flows)[name].mean() for flows in ("both", "vegas")
    )
    assert isinstance(with_cubic, float)
    assert isinstance(alike, float)
    assert column(starved, "harm")[0] == pytest.approx(1 - with_cubic / alike)


def test_intervals_keep_to_what_is_possible(starved: Contest) -> None:
    """Student's interval alone would reach below 0 and above 1."""
    (vegas, *_) = starved.outcomes
    wide = replace(vegas, share=statistics.mean([0.9, 0.99]), starved=statistics.mean([0.1, 2]))
    assert (wide.ends("share") or {})["high"] == 1
    assert (wide.ends("starved") or {})["low"] == 0
    alone = replace(vegas, share=statistics.mean([0.9]))
    assert alone.as_dict()["share"] == {"value": 0.9, "low": None, "high": None}


def test_who_is_starved_and_who_is_not_is_a_sentence(starved: Contest) -> None:
    first, *rest = words.conclusion(starved)
    assert unmeasured(first) == snapshot(
        "CUBIC harms Vegas, which loses N % (N % to N %) of the goodput that it has among its own if it starts last."
    )
    assert rest == snapshot(
        ["CUBIC loses nothing to Vegas.", "Dumbbell calls it harm where more than 20 % is lost."]
    )
    assert [*own_tables.verdict(starved.results)] == [first, *rest]


def test_a_gain_that_may_be_a_loss_leaves_harm_open(starved: Contest) -> None:
    harm = statistics.harm([9, 18, 14], [10, 10, 10])
    outcomes = [
        replace(outcome, harm=harm) if outcome.side.label == "CUBIC" else outcome
        for outcome in starved.outcomes
    ]
    assert words.conclusion(replace(starved, outcomes=tuple(outcomes)))[1] == snapshot(
        "Whether Vegas harms CUBIC is open: CUBIC has 37 % more goodput than among its own if it starts last, but the interval also allows a loss of 40 %."
    )


def test_the_worst_order_of_start_is_one_that_is_open(starved: Contest) -> None:
    """A safe small loss in one order does not hide a possible one in the other."""
    spared = statistics.harm([9.0, 9.1, 9.2], [10, 10, 10])
    harms = iter([spared, statistics.harm([5, 18, 14], [10, 10, 10])])
    outcomes = [
        replace(outcome, harm=next(harms)) if outcome.side.label == "CUBIC" else outcome
        for outcome in starved.outcomes
    ]
    line = words.conclusion(replace(starved, outcomes=tuple(outcomes)))[1]
    assert line.startswith("Whether Vegas harms CUBIC is open")


def test_algorithms_that_differ_in_name_only_do_not_harm_each_other(tmp_path: Path) -> None:
    contest = held(tmp_path, "reno", "reno@brakmo2017", runs=2)
    for name in ("harm", "delay_harm", "loss_harm"):
        assert column(contest, name) == [0, 0, 0, 0], name
    title = contest.results.study.header.title
    assert title == "Standard TCP against Standard TCP (reno@brakmo2017)"
    assert unmeasured(words.conclusion(contest)[0]) == snapshot(
        "Neither harms the other: the goodput of neither falls by more than N %."
    )


def test_one_run_decides_nothing(tmp_path: Path) -> None:
    contest = held(tmp_path, "vegas", "cubic", runs=1, duration="5s")
    assert [unmeasured(line) for line in words.conclusion(contest)[:-1]] == snapshot(
        [
            "CUBIC may harm Vegas, which loses N % of the goodput that it has among its own if it starts first: one run decides nothing.",
            "Whether Vegas harms CUBIC is open: CUBIC has N % more goodput than among its own if it starts first, but one run decides nothing.",
        ]
    )


@pytest.mark.usefixtures("unconverted")
def test_the_page_begins_with_the_verdict(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("--rate", "5mbit", "--rtt", "10ms", "--duration", "5s", "--runs", "2")
    output = dumbbell("compete", "reno", "cubic", *options, "--report", "pages")
    header, _, rest = Path("pages/index.html").read_text().partition("</header>")
    sentence = "Dumbbell calls it harm where more than 20 % is lost."
    assert sentence in header
    assert sentence not in rest
    assert sentence in " ".join(output.out.split())


def test_a_sweep_has_a_line_for_each_path_and_order(tmp_path: Path) -> None:
    contest = held(tmp_path, "reno", "cubic", runs=1, duration="5s", rtt="10ms,20ms", loss="0,0.01")
    assert contest.frame().columns[:3] == ["rtt", "loss", "algorithm"]
    totals = words.table(contest)
    assert [row[:3] for row in totals.rows[:2]] == [
        ("10 ms", "0", "reno"),
        ("10 ms", "0", "cubic"),
    ]
    assert len(totals.rows) == 8
    assert "of 4 paths" in words.conclusion(contest)[0]
    (figure,) = contest.results.study.figures
    assert contest.results.figure(figure.name).chart.to_dict()


@pytest.mark.parametrize(
    ("algorithms", "problem"),
    [
        (["reno"], "needs two algorithms"),
        (["reno", "cubic", "bic"], "needs two algorithms"),
        (["reno", "reno:2"], "twice"),
        (["reno:0", "cubic"], "no flows"),
        (["rno", "cubic"], 'did you mean "reno"'),
    ],
)
def test_other_than_two_algorithms_with_flows_is_refused(
    tmp_path: Path, algorithms: list[str], problem: str
) -> None:
    with pytest.raises(InputError) as error:
        held(tmp_path, *algorithms)
    assert problem in str(error.value)
    assert error.value.key == "algorithm"
    assert not (tmp_path / "results").exists()
