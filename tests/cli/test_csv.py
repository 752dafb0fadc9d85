"""--csv: the tables of the command for spreadsheets, with the numbers that JSON has."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import small_study
from command_line import Command, assert_refused
from dumbbell.quantities.cells import Totals
from dumbbell.quantities.shown import brief_interval, number

SCENARIO = """
title = "Two flows"
duration = "3s"
[network]
rate = "10mbit"
rtt = "20ms"
queue = "1bdp"
[[flow]]
algorithm = "reno"
label = 'one, "two"'
[[flow]]
transport = "udp"
rate = "1mbit"
"""
COMPARE = ("compare", "reno", "cubic", "--rtt", "10ms", "--duration", "2s", "--runs", "2")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), strict=True))


@pytest.mark.parametrize("what", ["studies", "algorithms", "figures", "stacks"])
def test_lists_have_the_columns_of_their_tables(dumbbell: Command, what: str) -> None:
    listed, entries = rows(dumbbell("list", what, "--csv").out), dumbbell("list", what, "--json")
    assert len(listed) == len(entries.json)
    for row, entry in zip(listed, entries.json, strict=True):
        known = {key: "" if entry[key] is None else str(entry[key]) for key in row}
        assert row == known
    heads = dumbbell("list", what).out.split("\n", 1)[0]
    assert all(head in heads for head in listed[0])


def test_totals_of_a_run_are_unrounded(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    output = dumbbell("simulate", "two.toml", "--csv")
    first, second = rows(output.out)
    assert first["flow"] == 'one, "two"'
    summary = dumbbell("simulate", "two.toml", "--json").json["summary"]
    received = summary["flows"][0]["received_bytes"]
    assert float(first["goodput (Mbit/s)"]) == pytest.approx(received * 8 / 3e6, rel=1e-12)
    assert first["timeouts"] == str(summary["flows"][0]["timeouts"])
    assert second["timeouts"] == ""
    assert [run["seed"] for run in rows(dumbbell("list", "runs", "--csv").out)] == ["1"]


def test_means_of_runs_have_their_intervals(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    row = rows(dumbbell("simulate", "two.toml", "--runs", "2", "--csv").out)[0]
    goodput = [float(row[f"goodput (Mbit/s){end}"]) for end in (" low", "", " high")]
    assert goodput == sorted(goodput)


def test_contests_are_those_of_json_and_of_the_table(dumbbell: Command) -> None:
    contest = ("compete", "reno", "bic", "--rate", "10mbit", *COMPARE[3:])
    printed = rows(dumbbell(*contest, "--csv").out)
    outcomes = dumbbell(*contest, "--json").json["outcomes"]
    assert [(row["algorithm"], row["starts"]) for row in printed] == [
        (outcome["algorithm"], outcome["starts"]) for outcome in outcomes
    ]
    for row, outcome in zip(printed, outcomes, strict=True):
        assert float(row["harm"]) == outcome["harm"]["value"]
        assert float(row["harm_high"]) == outcome["harm"]["high"]
    table = dumbbell(*contest).out
    assert "harm to goodput (%)" in table
    assert table.rstrip().endswith("more than 20 % is lost.")


def test_comparisons_are_those_of_json(dumbbell: Command) -> None:
    printed = rows(dumbbell(*COMPARE, "--rate", "10mbit", "--csv").out)
    lines = dumbbell(*COMPARE, "--rate", "10mbit", "--json").json["lines"]
    assert [row["flows"] for row in printed] == [line["flows"] for line in lines]
    for row, line in zip(printed, lines, strict=True):
        goodput = line["quantities"]["goodput_mbit_per_s"]
        assert float(row["goodput (Mbit/s)"]) == goodput["mean"]
        assert float(row["goodput (Mbit/s) low"]) == goodput["low"]


def test_sweeps_have_a_row_for_each_point_and_algorithm(dumbbell: Command) -> None:
    printed = rows(dumbbell(*COMPARE, "--rate", "5mbit,10mbit", "--csv").out)
    places = [(row["rate"], row["algorithm"]) for row in printed]
    assert places == [(rate, name) for rate in ("5mbit", "10mbit") for name in ("reno", "cubic")]
    for row in printed:
        low, mean, high = (float(row[f"goodput (Mbit/s){end}"]) for end in (" low", "", " high"))
        assert 0 < low <= mean <= high


def test_verdicts_stand_alone(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(study := tmp_path / "study")
    output = dumbbell("claims", study, "--csv")
    claims = dumbbell("claims", study, "--json").json["claims"]
    assert [(row["claim"], row["verdict"]) for row in rows(output.out)] == [
        (claim["id"], claim["verdict"]) for claim in claims
    ]
    assert "3 undecided" in output.err


@pytest.mark.parametrize(
    "command",
    [
        ("list", "stacks"),
        ("claims", "mani2012"),
        (*COMPARE, "--rate", "10mbit"),
        ("simulate", "two.toml"),
    ],
)
def test_one_form_at_a_time(dumbbell: Command, command: tuple[str, ...]) -> None:
    output = dumbbell(*command, "--json", "--csv")
    assert_refused(output)
    assert "--csv" in output.err


def test_what_is_no_table_of_flows_is_refused(dumbbell: Command) -> None:
    output = dumbbell("simulate", "two.toml", "--csv", "--perturb", "3")
    assert_refused(output)
    assert "--perturb" in output.err


def test_cells_without_a_value_keep_their_columns() -> None:
    totals = Totals(
        ("flows", "goodput", "delay"),
        (
            ("a", brief_interval(2.0, 1.0, 3.0), ""),
            ("b", number(None), brief_interval(1, None, None)),
        ),
        intervals=True,
    )
    heads, cells = totals.flat()
    assert heads == [
        "flows",
        *(f"{name}{end}" for name in ("goodput", "delay") for end in ("", " low", " high")),
    ]
    assert cells == [["a", 2.0, 1.0, 3.0, "", None, None], ["b", None, None, None, 1, None, None]]
