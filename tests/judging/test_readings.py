"""Claims judged at every value of an axis, and the page and the command that show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell as library
from command_line import Command, assert_refused, line
from dumbbell.base.errors import InputError
from dumbbell.judging import readings
from dumbbell.reports import readings_markdown
from dumbbell.results.results import Results

STUDY = """
[study]
name = "read"
title = "Read otherwise"
authors = ["A"]
year = 2024

[[test]]
name = "one"
title = "One flow"
runs = 2
axes = { algorithm = ["reno"], reading = ["main", "faster", "slower"] }
[test.scenario]
duration = "4s"
network = { rate = "10mbit", rtt = "20ms", queue = "1bdp", edge_jitter = "100us" }
flow = [{ algorithm = "{algorithm}" }]
record = { interval = "100ms", events = [] }
[[test.vary]]
where = { reading = "faster" }
set = { network = { rate = "20mbit" } }
[[test.vary]]
where = { reading = "slower" }
set = { network = { rate = "5mbit" } }

[[claim]]
id = "R01"
source = "Fig. 1"
text = "It is fast."
expectation = "at least 12 Mbit/s"
[[claim.check]]
type = "band"
test = "one"
where = { reading = "main" }
quantity = "throughput_mbit_per_s[1]"
low = 12

[[claim]]
id = "R02"
source = "Fig. 2"
text = "It is slow."
expectation = "at most 12 Mbit/s"
[[claim.check]]
type = "band"
test = "one"
where = { reading = "main" }
quantity = "throughput_mbit_per_s[1]"
high = 12

[[claim]]
id = "R03"
source = "Fig. 3"
text = "It is very slow."
expectation = "at most 1 Mbit/s"
[[claim.check]]
type = "band"
test = "one"
where = { reading = "main" }
quantity = "throughput_mbit_per_s[1]"
high = 1

[[claim]]
id = "R04"
source = "arithmetic"
text = "1 Gbit/s and 12 ms are 1000 packets."
expectation = "exactly"
[[claim.check]]
type = "arithmetic"
formula = "bdp_packets"
case = [{ args = { rate_mbit = 1000, rtt_ms = 12 }, expected = 1000 }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readings")
    (path / "study.toml").write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    """The study's runs; those of the slower path have not been made."""
    where = {"reading": ["main", "faster"]}
    return library.run_study(folder / "study.toml", where=where, results=folder / "results")


def test_each_value_is_judged_by_its_own_runs(results: Results) -> None:
    by_value = {reading.value: reading for reading in results.readings("reading")}
    assert list(by_value) == ["main", "faster", "slower"]
    assert [reading.is_main for reading in by_value.values()] == [True, False, False]
    assert by_value["main"].held == {"R02", "R04"}
    assert by_value["faster"].held == {"R01", "R04"}
    assert by_value["slower"].held == {"R04"}, "nothing is known without runs"
    verdicts = {claim.claim.id: claim.verdict.value for claim in by_value["slower"].claims}
    assert verdicts["R01"] == "undecided"
    plain = {claim.claim.id: claim.verdict for claim in results.claims()}
    assert {claim.claim.id: claim.verdict for claim in by_value["main"].claims} == plain


def test_the_study_s_own_claims_stay_as_they_are(results: Results) -> None:
    results.readings("reading")
    assert readings.named(results.study.claims, "reading") == ["main"]
    assert readings.named(results.study.claims, "algorithm") == []


def test_ranked_with_what_each_gains_and_loses(results: Results) -> None:
    values = results.readings("reading")
    assert [reading.value for reading in readings.ranked(values)] == ["main", "faster", "slower"]
    main = [values[0]]
    assert readings.gained(values[1], main) == (["R01"], ["R02"])
    assert readings.gained(values[0], main) == ([], [])
    assert readings_markdown.never(values) == ["R03"]


def test_an_axis_that_no_claim_names_is_refused(results: Results) -> None:
    with pytest.raises(InputError, match="reading"):
        results.readings("algorithm")


def test_the_page(results: Results) -> None:
    page = readings_markdown.page(results, "reading", results.readings("reading"))
    assert "Most hold, 2 of 4, in main and faster.\n" in page
    assert "| 1 | **main** | 2 | 2 | 0 |  |  |\n" in page
    assert "| 2 | faster | 2 | 2 | 0 | R01 | R02 |\n" in page
    assert "| 3 | slower | 1 | 0 | 3 |  | R02 |\n" in page
    assert "- **R03** It is very slow.; undecided in slower\n" in page
    assert "| R01 | ✗ | ✓ | ? |\n" in page
    assert "| R04 | ✓ | ✓ | ✓ |\n" in page


@pytest.mark.usefixtures("results")
def test_the_command(folder: Path, dumbbell: Command, tmp_path: Path) -> None:
    words = ("claims", folder / "study.toml", "--results", folder / "results", "--over", "reading")
    output = dumbbell(*words, "--markdown", tmp_path / "page.md")
    assert output.code == 0
    assert line(output.out, "R03") == snapshot("in no reading: R03")
    assert (tmp_path / "page.md").read_text().startswith("# Read otherwise: readings\n")
    data = dumbbell(*words, "--json").json
    assert data["never"] == ["R03"]
    assert [row["main"] for row in data["readings"]] == [True, False, False]
    assert data["readings"][1]["verdicts"]["R01"] == "holds"
    assert_refused(dumbbell(*words[:-1], "colour"))
    refused = dumbbell(*words, "--strict")
    assert_refused(refused)
    assert "--strict" in refused.err
