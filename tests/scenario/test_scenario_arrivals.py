"""Short flows that arrive at random: how many, when, how large, and always the same."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import Flow
from dumbbell.scenario import arrivals, draws
from dumbbell.scenario.arrivals import draw_size, mean_size
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.model_sizes import PUBLISHED as PUBLISHED_NAMES
from dumbbell.scenario.model_sizes import AnySize, SizeSpec, published
from sample_runs import BASE, demand, table
from scenario_checks import assert_accepted, resolve
from scenario_refusals import assert_refused

SHORT = {"algorithm": "cubic", "rate": 20, "size": "10kb"}


def arriving(*entries: dict[str, Any], **changes: Any) -> Sequence[Flow]:
    data = table({"arrivals": [{**SHORT, **entry} for entry in entries], "flow": [], **changes})
    return resolve(data).scenario.flows


def sizes(flows: Sequence[Flow]) -> list[int]:
    return [demand(flow).transfer or 0 for flow in flows]


def test_arrivals_become_flows_without_samples() -> None:
    flows = arriving({"start": "10s", "stop": "50s"})
    # 800 in the mean; four standard deviations of a Poisson process are 113.
    assert 800 - 113 < len(flows) < 800 + 113
    starts = [flow.start_ns for flow in flows]
    assert starts == sorted(starts)
    assert starts[0] >= 10 * 10**9
    assert starts[-1] < 50 * 10**9
    assert set(sizes(flows)) == {10_000}
    assert not any(flow.sampled for flow in flows)
    assert [flow.label for flow in flows[:2]] == ["cubic arrival 1", "cubic arrival 2"]


def test_the_times_between_are_exponential() -> None:
    starts = [flow.start_ns / 1e9 for flow in arriving({"rate": 100})]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    # Mean and deviation of an exponential are equal: within 5 % here, four standard errors.
    assert fmean(gaps) == pytest.approx(0.01, rel=0.05)
    assert stdev(gaps) == pytest.approx(0.01, rel=0.1)


def test_the_draw_never_changes() -> None:
    """Results are stored under scenarios that contain it."""
    size = {"distribution": "lognormal", "mean": "100kb", "shape": 1}
    flows = arriving({"size": size})
    assert [flow.start_ns for flow in flows[:3]] == DRAWN_STARTS
    assert sizes(flows[:3]) == DRAWN_SIZES


DRAWN_STARTS = [17056167, 87391789, 157697484]
DRAWN_SIZES = [115633, 94453, 22050]


def test_seeds_and_processes_differ() -> None:
    def starts(**changes: Any) -> set[int]:
        return {flow.start_ns for flow in arriving({}, **changes)}

    assert starts() == starts()
    assert not starts() & starts(seed=2)
    both = arriving({}, {"label": "other"})
    ours, others = (
        {flow.start_ns for flow in both if flow.label.startswith(label)}
        for label in ("cubic", "other")
    )
    assert ours == starts()
    assert not ours & others


def test_two_processes_of_one_algorithm_are_numbered_through() -> None:
    labels = {flow.label for flow in arriving({}, {})}
    assert labels == {f"cubic arrival {n}" for n in range(1, len(labels) + 1)}


def test_load_is_that_of_the_slowest_link() -> None:
    # 30 % of 100 Mbit/s are 360 flows/s of 10 kB, less what headers take: 1448 of 1500 bytes.
    flows = arriving({"rate": None, "load": "30%"}, duration="10s")
    assert len(flows) == pytest.approx(10 * 3.0e7 / 8e4 * 1448 / 1500, rel=0.07)
    lot = {"topology": "parking-lot", "hops": 2, "rate": ["1mbit", "10mbit"], "queue": "9p"}
    fast = arriving({"rate": None, "load": "50%", "hops": [2, 2]}, network={**lot, "delay": "1ms"})
    slow = arriving({"rate": None, "load": "50%"}, network={**lot, "delay": "1ms"})
    assert 6 < len(fast) / len(slow) < 16


def test_a_load_counts_the_headers_that_there_are() -> None:
    """Without timestamps a packet has 12 bytes of headers less, so the load takes more flows."""

    def per_s(**more: Any) -> Fraction:
        entry = {"rate": None, "load": "30%", "size": "10kb", **more}
        flows = arriving(entry, stack=stack, duration="2s")
        # The times are drawn in units of the mean, so all of them scale with the rate.
        return Fraction(1, flows[99].start_ns)

    stack: Any = "linux-6"
    usual = per_s()
    off = {"switches": {"timestamps": False}}
    assert per_s(**off) / usual == pytest.approx(1460 / 1448, rel=1e-6)
    assert per_s(**off, packet=576) / per_s(packet=576) == pytest.approx(536 / 524, rel=1e-6)
    stack = {"profile": "linux-6", **off}
    assert per_s() / usual == pytest.approx(1460 / 1448, rel=1e-6)
    assert per_s(switches={"timestamps": True}) == usual
    assert per_s(stack="linux-6") == usual


def test_a_load_counts_what_links_add() -> None:
    """Full packets of 1,500 bytes occupy 1,538 on Ethernet, so the load takes fewer flows."""

    def first_ns(overhead: str) -> Any:
        entry = {"rate": None, "load": "30%"}
        return arriving(entry, **{"network.overhead": overhead}, duration="2s")[99].start_ns

    assert first_ns("ethernet") / first_ns("ip") == pytest.approx(1538 / 1500, rel=1e-6)


SIZES = [
    {"distribution": "fixed", "mean": "10kb"},
    {"distribution": "exponential", "mean": "10kb"},
    {"distribution": "pareto", "mean": "10kb", "shape": 3},
    {"distribution": "lognormal", "mean": "10kb", "shape": 0.5},
]


def read_size(spec: Any) -> AnySize:
    size: AnySize = TypeAdapter(SizeSpec).validate_python(spec)
    return size


@pytest.mark.parametrize("spec", SIZES, ids=lambda spec: str(spec["distribution"]))
def test_sizes_have_their_mean(spec: dict[str, Any]) -> None:
    size = read_size(spec)
    drawn = [draw_size(size, 1, 0, number) for number in range(3000)]
    assert mean_size(size) == 10_000
    # The deviation is at most that of the exponential: four standard errors are 7.3 %.
    assert fmean(drawn) == pytest.approx(10_000, rel=0.073)


def test_a_pareto_tail_is_as_heavy_as_asked_for() -> None:
    size = read_size({"distribution": "pareto", "mean": "10kb", "shape": 1.5})
    drawn = [draw_size(size, 1, 0, number) for number in range(4000)]
    least = 10_000 * 0.5 / 1.5
    assert min(drawn) >= int(least)
    # P(size > 4 least) = 4^-1.5 = 1/8; four standard errors of 4000 draws are 2.1 points.
    assert sum(size > 4 * least for size in drawn) / 4000 == pytest.approx(1 / 8, abs=0.021)


def test_normal_draws_are_normal() -> None:
    drawn = [float(draws.normal("test", number)) for number in range(4000)]
    assert fmean(drawn) == pytest.approx(0, abs=4 / math.sqrt(4000))
    assert stdev(drawn) == pytest.approx(1, abs=0.05)
    assert sum(abs(value) > 1.96 for value in drawn) / 4000 == pytest.approx(0.05, abs=0.014)


def test_draws_stay_within_their_limits() -> None:
    for number in range(200):
        assert 0 < draws.share("test", number) < 1
        assert draws.exponential("test", number) > 0
        assert 0 <= draws.integer(3, "test", number) < 3
    assert draws.decimal(Fraction(1, 8)) == Decimal("0.125")


def test_sizes_as_measured(tmp_path: Path) -> None:
    (tmp_path / "web.cdf").write_text("# size share\n1kb 0.5\n1kb 60%\n11kb 1\n")
    size = {"distribution": "empirical", "file": "web.cdf"}
    data = table({"arrivals": [{**SHORT, "rate": 100, "size": size}]})
    scenario = Scenario.parse(data, str(tmp_path / "a.toml"))
    web = scenario.arrivals[0].size
    assert web is not None
    assert mean_size(web) == 600 + 0.4 * 6000
    drawn = sizes(scenario.resolve().scenario.flows[1:])
    assert min(drawn) == 1000
    assert max(drawn) <= 11_000
    assert fmean(drawn) == pytest.approx(3000, rel=0.05)
    assert sum(size == 1000 for size in drawn) / len(drawn) == pytest.approx(0.6, abs=0.03)
    assert Scenario.parse(scenario.model_dump(), "elsewhere.toml") == scenario


# What the papers say of their flows: a size, the share of flows up to it, and that of all bytes
# in larger ones. For 10 and 35 MB that is from pFabric (SIGCOMM 2013), for 100 MB from VL2.
PUBLISHED = [
    ("web-search", 1_000_000, 0.7, 0.95),
    ("data-mining", 10_000, 0.8, 1),
    ("data-mining", 35_000_000, 0.96, 0.95),
    ("data-mining", 100_000_000, 0.99, 0.9),
    # Roy et al.: most flows are small; most bytes are in those of over a megabyte.
    ("cache", 28_270, 0.5, 0.98),
    ("hadoop", 1_000, 0.6, 0.99),
]


@pytest.mark.parametrize(("name", "size", "flows", "in_larger"), PUBLISHED)
def test_published_sizes_are_as_their_papers_say(
    name: str, size: int, flows: float, in_larger: float
) -> None:
    points = published(name).points
    steps = [
        (small + (large - small) * Fraction(2 * part + 1, 2000), (high - low) / 1000)
        for (small, low), (large, high) in pairwise(points)
        for part in range(1000)
    ]
    mean = float(sum(middle * share for middle, share in steps))
    assert mean == pytest.approx(float(published(name).mean))
    assert sum(share for middle, share in steps if middle <= size) == pytest.approx(flows, abs=0.02)
    portion = float(sum(middle * share for middle, share in steps if middle > size)) / mean
    assert portion == pytest.approx(in_larger, abs=0.035)


@pytest.mark.parametrize("name", PUBLISHED_NAMES)
def test_a_name_stands_for_a_published_distribution(name: str) -> None:
    size = read_size(name)
    assert size == read_size({"distribution": name})
    drawn = sorted(draw_size(size, 1, 0, number) for number in range(2000))
    for share in (0.25, 0.5, 0.75, 0.9):
        # A share of 2,000 draws has a deviation of 1.1 points at most: four of them.
        below, above = (published(name).at(Fraction(share + by)) for by in (-0.045, 0.045))
        assert below <= drawn[int(2000 * share)] <= above
    data = table({"arrivals": [{**SHORT, "size": name}]})
    scenario = Scenario.parse(data, "a.toml")
    assert scenario.model_dump()["arrivals"][0]["size"] == name
    assert Scenario.parse(scenario.model_dump(), "elsewhere.toml") == scenario


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1kb\n", "not a point in line 1"),
        ("1kb x\n", "not a point in line 1"),
        ("1kb 0.5\n2kb 0.4\n", "not in order in line 2"),
        ("1kb 0.5\n0.5kb 1\n", "not in order in line 2"),
        ("1kb 1.5\n", "not in order in line 1"),
        ("1kb 0.5\n", "does not end at a share of 1"),
        ("", "does not end at a share of 1"),
        ("0 1\n", "does not end at a share of 1"),
    ],
)
def test_a_wrong_distribution_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "web.cdf").write_text(content)
    size = {"distribution": "empirical", "file": "web.cdf"}
    with pytest.raises(InputError) as caught:
        Scenario.parse(table({"arrivals": [{**SHORT, "size": size}]}), str(tmp_path / "a.toml"))
    assert caught.value.key == "arrivals.1.size.file"
    assert problem in caught.value.problem


LISTED = {"algorithm": "reno", "label": "web"}


def listed(folder: Path, content: str, **entry: Any) -> Scenario:
    (folder / "web.txt").write_text(content)
    data = table({"arrivals": [{**LISTED, "file": "web.txt", **entry}], "flow": []})
    return Scenario.parse(data, str(folder / "a.toml"))


def test_arrivals_as_a_file_says(tmp_path: Path) -> None:
    content = "# time size\n0s 10kb\n\n12.5ms 1b  # the smallest\n12.5ms 1mib\n49s 3\n"
    scenario = listed(tmp_path, content, start="10s")
    run = scenario.resolve(seed=7)
    assert_accepted(run)
    flows = run.scenario.flows
    expected = [10 * 10**9, 10_012_500_000, 10_012_500_000, 59 * 10**9]
    assert [flow.start_ns for flow in flows] == expected
    assert sizes(flows) == [10_000, 1, 2**20, 3]
    assert [flow.label for flow in flows] == ["web 1", "web 2", "web 3", "web 4"]
    assert not any(flow.sampled for flow in flows)
    assert scenario.resolve(seed=8).scenario.flows == flows
    assert Scenario.parse(scenario.model_dump(), "elsewhere.toml") == scenario


def test_a_run_is_known_by_what_its_file_says(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    key = listed(tmp_path, "1s 10kb\n2s 3\n").resolve().key
    assert listed(tmp_path / "other", "# the same\n1000ms 10000b\n\n2s 3\n").resolve().key == key
    assert listed(tmp_path, "1s 10kb\n2s 4\n").resolve().key != key
    assert listed(tmp_path, "1s 10kb\n2.1s 3\n").resolve().key != key


@given(
    st.lists(st.tuples(st.integers(0, 5 * 10**9), st.integers(1, 10**9)), min_size=1, max_size=20)
)
def test_what_is_written_is_read(entries: list[tuple[int, int]]) -> None:
    entries.sort(key=lambda entry: entry[0])
    content = "".join(f"{start}ns {size}b\n" for start, size in entries)
    with tempfile.TemporaryDirectory() as folder:
        flows = listed(Path(folder), content).resolve().scenario.flows
    assert [flow.start_ns for flow in flows] == [start for start, _ in entries]
    assert sizes(flows) == [size for _, size in entries]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1s\n", "not an arrival in line 1"),
        ("1s 1kb 2kb\n", "not an arrival in line 1"),
        ("# first\n1 1kb\n", "not an arrival in line 2"),
        ("1s 1k\n", "not an arrival in line 1"),
        ("-1s 1kb\n", "not an arrival in line 1"),
        ("1s 0b\n", "nothing to send in line 1"),
        ("2s 1kb\n1.9s 1kb\n", "earlier than the line before it in line 2"),
        ("0s 1\n" * 100_001, "too many flows in line 100001"),
        ("", "nothing arrives"),
        ("59s 1kb\n60s 1kb\n", "its last flow starts at 60s, not before the end"),
    ],
)
def test_a_wrong_list_of_arrivals_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        listed(tmp_path, content)
    error = caught.value
    assert error.key == "arrivals.1.file"
    assert problem in error.problem
    assert error.valid
    assert str(error).startswith(f"{tmp_path}/a.toml: arrivals.1.file")


GRAPH = {"topology": "graph", "link": [{"from": "a", "to": "b", "delay": "1ms"}]}


@pytest.mark.parametrize(
    ("entry", "key", "problem"),
    [
        ({"algorithm": "x"}, "algorithm", "unknown algorithm"),
        ({"rate": None}, "rate", "is missing"),
        ({"load": "1%"}, "rate", "set twice"),
        ({"rate": 0}, "rate", "more than 0"),
        ({"rate": "1mbit"}, "rate", "a fraction has no unit"),
        ({"rate": None, "load": 2}, "load", "more than the whole"),
        ({"rate": 3500}, "rate", "about 210000 flows arrive"),
        ({"rate": 1e9}, "rate", "about 60000000000 flows arrive"),
        ({"size": None}, "size", "is missing"),
        ({"file": "a.txt"}, "rate", "set twice, as rate and as file"),
        ({"rate": None, "file": "a.txt"}, "size", "the file lists the arrivals"),
        (
            {"rate": None, "size": None, "stop": "9s", "file": "a.txt"},
            "stop",
            "the file lists the arrivals",
        ),
        ({"rate": None, "size": None, "file": "no.txt"}, "file", "cannot read it"),
        ({"rate": None, "size": None, "file": "/dev/zero"}, "file", "not a regular file"),
        ({"rate": None, "load": 1, "size": 1}, "load", "flows arrive"),
        ({"size": 0}, "size", "more than 0"),
        ({"size": "x"}, "size", "not a size"),
        ({"size": "web-serch"}, "size", "not a size"),
        ({"size": {"distribution": "parteo"}}, "size.distribution", "not a known value"),
        ({"size": {"mean": "1kb"}}, "size.distribution", "is missing"),
        ({"size": {"distribution": "pareto", "mean": "1kb"}}, "size.shape", "is missing"),
        (
            {"size": {"distribution": "pareto", "mean": "1kb", "shape": 1}},
            "size.shape",
            "no mean",
        ),
        (
            {"size": {"distribution": "lognormal", "mean": "1kb", "shape": 11}},
            "size.shape",
            "too wide",
        ),
        ({"size": {"distribution": "empirical", "file": "no"}}, "size.file", "cannot read it"),
        ({"start": "60s"}, "start", "not before the end"),
        ({"start": "5s", "stop": "5s"}, "stop", "not after the start"),
        ({"hops": [1, 1]}, "hops", "not in a dumbbell"),
        ({"rtt": "1us"}, "rtt", "smaller than the delay"),
        ({"parameters": {"x": 1}}, "parameters.x", "unknown parameter"),
    ],
)
def test_wrong_arrivals_are_refused(entry: dict[str, Any], key: str, problem: str) -> None:
    arrival = {k: v for k, v in {**SHORT, **entry}.items() if v is not None}
    data = table({"arrivals": [arrival], "network.delay": "1ms"})
    assert_refused(data, f"arrivals.1.{key}", problem)


def test_one_flow_too_many_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    there = len(arriving({"rate": 2}))
    monkeypatch.setattr(arrivals, "ALL_FLOWS_MAX", there)
    assert len(arriving({"rate": 2})) == there
    monkeypatch.setattr(arrivals, "ALL_FLOWS_MAX", there - 1)
    data = table({"arrivals": [{**SHORT, "rate": 2}]})
    assert_refused(data, "arrivals.1.rate", "about 120 flows arrive")


def test_a_load_needs_a_rate_to_refer_to() -> None:
    entry = {"algorithm": "cubic", "load": 0.1, "size": 1, "from": "a", "to": "b"}
    data = {"duration": "1s", "network": GRAPH, "arrivals": [entry]}
    assert_refused(data, "arrivals.1.load", "all links of the path are unlimited")


def test_a_run_needs_a_flow() -> None:
    data = {**BASE, "flow": [], "arrivals": [{**SHORT, "rate": 1e-9}]}
    assert_refused(data, "arrivals", "no flow arrives")
