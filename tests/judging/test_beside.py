"""Claims on both engines next to each other: the comparison, the page and the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell as library
from command_line import Command, assert_refused, line, unmeasured
from dumbbell.judging.beside import Beside, beside
from dumbbell.reports import beside_markdown
from dumbbell.results.results import Results

STUDY = """
[study]
name = "twice"
title = "Once and again"
authors = ["A"]
year = 2024

[[test]]
name = "fast"
title = "Too fast for the testbed"
runs = 2
axes = { algorithm = ["reno"] }
[test.scenario]
duration = "4s"
network = { rate = "20mbit", rtt = "20ms", queue = "1bdp", edge_jitter = "100us" }
flow = [{ algorithm = "{algorithm}" }]
record = { interval = "100ms", events = [] }

[[test]]
name = "scaled"
title = "The same, scaled"
runs = 2
axes = { algorithm = ["reno"] }
[test.scenario]
duration = "4s"
network = { rate = "RATE", rtt = "20ms", queue = "1bdp", edge_jitter = "100us" }
flow = [{ algorithm = "{algorithm}" }]
record = { interval = "100ms", events = [] }

[[claim]]
id = "T01"
source = "Fig. 1"
text = "It is fast."
expectation = "at least 12 Mbit/s, scaled 6"
reason = "The kernel has half the rate."
[[claim.check]]
type = "band"
test = "fast"
quantity = "throughput_mbit_per_s[1]"
low = 12
[[claim.check]]
type = "band"
statement = "expectation"
test = "scaled"
quantity = "throughput_mbit_per_s[1]"
low = 6

[[claim]]
id = "T02"
source = "Fig. 2"
text = "It loses little."
expectation = "at most a tenth"
[[claim.check]]
type = "band"
test = "scaled"
quantity = "retransmitted_share@run"
high = 0.1

[[claim]]
id = "T03"
source = "arithmetic"
text = "1 Gbit/s and 12 ms are 1000 packets."
expectation = "exactly"
[[claim.check]]
type = "arithmetic"
formula = "bdp_packets"
case = [{ args = { rate_mbit = 1000, rtt_ms = 12 }, expected = 1000 }]
"""


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The simulator's results: all runs."""
    folder = tmp_path_factory.mktemp("twice")
    (folder / "study.toml").write_text(STUDY.replace("RATE", "10mbit"))
    return library.run_study(folder / "study.toml", results=folder / "results")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Substitute for the kernel's runs: only the scaled ones, with another outcome."""
    folder = tmp_path_factory.mktemp("twice")
    (folder / "study.toml").write_text(STUDY.replace("RATE", "5mbit"))
    where = {"test": ["scaled"]}
    return library.run_study(folder / "study.toml", where=where, results=folder / "results")


@pytest.fixture
def compared(simulator: Results, kernel: Results) -> list[Beside]:
    return beside(simulator.claims(), kernel.claims())


def test_what_both_have_runs_of_is_compared(compared: list[Beside]) -> None:
    assert [len(claim.pairs) for claim in compared] == [1, 1, 0], (
        "neither arithmetic nor the fast test"
    )
    assert [beside_markdown.row(claim) for claim in compared] == [
        ("T01", "holds", "expectation met", "expectation failed"),
        ("T02", "holds", "holds", "holds"),
        ("T03", "holds", "", ""),
    ]
    assert [pair.is_contrary for claim in compared for pair in claim.pairs] == [True, False]


def test_the_headline(compared: list[Beside]) -> None:
    assert beside_markdown.headline(compared) == (
        snapshot(
            "2 of 3 claims have checks with runs of both engines. Of these 2 checks: 1 with the same "
            "verdict, 1 with the contrary one, 0 undecided on one engine only"
        )
    )


def test_the_page(simulator: Results, kernel: Results, compared: list[Beside]) -> None:
    page = beside_markdown.page(simulator, kernel, compared)
    assert line(page, "Once") == snapshot("# Once and again: simulator and kernel")
    assert "Runs: 4 of 4" in page
    assert "| T01 | ✓ | ✓ | ✗ | It is fast. |\n" in page
    assert "| T03 | ✓ |  |  | 1 Gbit/s and 12 ms are 1000 packets. |\n" in page
    assert unmeasured(line(page, "- **T01**")) == snapshot(
        "- **T01** throughput of flow 1: expected at least 6 Mbit/s; simulator ✓ N Mbit/s (all 2 runs alike), kernel ✗ N Mbit/s (all 2 runs alike)"
    )
    contrary = page[page.index("## Where they are contrary") :]
    assert "T02" not in contrary
    assert line(contrary, "half") == snapshot("The kernel has half the rate.")


def test_the_page_says_what_the_kernel_does_not_offer(
    simulator: Results, kernel: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "(is true)" not in beside_markdown.page(simulator, kernel, [])
    monkeypatch.setattr(kernel, "not_offered", ["sack = false (is true)", "tso = 1 (is 2)"])
    page = beside_markdown.page(simulator, kernel, [])
    assert line(page, "(is true)").rpartition(". ")[2] == snapshot(
        "It does not offer these features of the study: sack = false (is true), tso = 1 (is 2)"
    )


def test_nothing_is_contrary_to_what_has_not_been_run(simulator: Results) -> None:
    nothing = Results(simulator.study, simulator.store, engine="testbed")
    compared = beside(simulator.claims(), nothing.claims())
    assert all(claim.verdicts is None for claim in compared)
    assert beside_markdown.page(simulator, nothing, compared).endswith("\nNowhere.\n")


def test_the_command(simulator: Results, dumbbell: Command, tmp_path: Path) -> None:
    root = simulator.store.root
    command = ("claims", root.parent / "study.toml", "--results", root, "--both-engines")
    output = dumbbell(*command, "--markdown", tmp_path / "page.md")
    assert output.code == 0
    assert line(output.out, "engines") == snapshot(
        "0 of 3 claims have checks with runs of both engines. Of these 0 checks: 0 with the same verdict, 0 with the contrary one, 0 undecided on one engine only"
    )
    assert output.err.count("--engine testbed") == 1, "the kernel's are to be made"
    assert line((tmp_path / "page.md").read_text(), "Once") == snapshot(
        "# Once and again: simulator and kernel"
    )
    data = dumbbell(*command, "--json").json
    assert len(data["engines"]) == 2
    assert [row["verdict"] for row in data["claims"]] == ["holds"] * 3
    assert "T02,holds,," in dumbbell(*command, "--csv").out
    for option in (("--strict",), ("--brief",), ("--engine", "testbed"), ("--over", "algorithm")):
        refused = dumbbell(*command, *option)
        assert_refused(refused)
        assert "--" in refused.err
