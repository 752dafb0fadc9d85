"""Scenarios that ship, known by their names, and the algorithm that a scenario gives its flows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell
from command_line import Command, assert_refused
from dumbbell.base.errors import InputError
from dumbbell.scenario import facts, library
from dumbbell.scenario.model import Scenario

TABLE = {
    "duration": "1s",
    "network": {"rate": "1mbit", "rtt": "20ms", "queue": "1bdp"},
}


def algorithms(table: dict[str, object]) -> list[str]:
    scenario = Scenario.parse({**TABLE, **table}).resolve().scenario
    return [facts.choice(flow) for flow in scenario.flows]


@pytest.mark.parametrize("name", library.names())
def test_each_is_valid_and_takes_another_algorithm(name: str) -> None:
    text = library.file(Path(name)).read_text()
    assert text.startswith("# "), "a source, or what it shows"
    table = tomllib.loads(text)
    assert table["title"]
    # Only what answers marks in proportion may send ECT(1).
    other = "dctcp" if 'ecn = "l4s"' in text else "bbr3"
    changed = Scenario.parse({**table, "algorithm": other}, str(library.file(Path(name))))
    assert other in facts.algorithms(changed.resolve().scenario)


def test_flows_that_name_no_algorithm_have_that_of_the_scenario() -> None:
    flows = [{}, {"algorithm": "bic"}, {"transport": "udp", "rate": "10kbit"}]
    assert algorithms({"algorithm": "htcp@li2007", "flow": flows}) == ["htcp@li2007", "bic", "udp"]
    arriving = [{"rate": 5, "size": "1kb"}]
    assert set(algorithms({"algorithm": "reno", "arrivals": arriving})) == {"reno"}


def test_it_is_the_same_scenario_as_with_the_algorithm_in_each_flow() -> None:
    one = Scenario.parse({**TABLE, "algorithm": "reno", "flow": [{}]}).resolve()
    other = Scenario.parse({**TABLE, "flow": [{"algorithm": "reno"}]}).resolve()
    assert one.key == other.key


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        ({"algorithm": "reno", "flow": [{"algorithm": "bic"}]}, "algorithm", "no flow uses it"),
        ({"algorithm": "rno", "flow": [{}]}, "algorithm", 'did you mean "reno"'),
        ({"algorithm": 3, "flow": [{}]}, "algorithm", "not a text"),
        ({"flow": [{}]}, "flow.1.algorithm", "is missing"),
    ],
)
def test_an_algorithm_that_means_nothing_is_refused(
    table: dict[str, object], key: str, problem: str
) -> None:
    with pytest.raises(InputError) as error:
        algorithms(table)
    assert error.value.key == key
    assert problem in str(error.value)


def test_a_name_runs_and_is_listed(dumbbell: Command, tmp_path: Path) -> None:
    options = ("--duration", "2s", "--set", "algorithm=bic", "--json")
    output = dumbbell("simulate", "random-loss", *options)
    assert output.json["summary"]["flows"][0]["label"] == "bic 1"
    listed = [entry["name"] for entry in dumbbell("list", "scenarios", "--json").json]
    assert listed == library.names()
    # A file or folder of that name comes first.
    (tmp_path / "random-loss").mkdir()
    assert_refused(dumbbell("simulate", "random-loss"))


def test_another_name_is_refused_with_those_there_are(dumbbell: Command) -> None:
    output = dumbbell("simulate", "random-los")
    assert_refused(output)
    assert output.err.partition("; valid: ")[0] == snapshot(
        'error: "random-los": unknown scenario (did you mean "random-loss"?)'
    )
    assert output.err.rpartition(": ")[2] == snapshot("or the path of a file\n")


def test_the_library_takes_names_too() -> None:
    assert dumbbell.Scenario.load("coexist").title == snapshot("One flow next to CUBIC")
