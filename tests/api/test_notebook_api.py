"""The library as a notebook uses it: wrong calls, short names, frames, types, and its examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from inline_snapshot import snapshot

import dumbbell
import measured_files
import passing_kernel
import quick_hunts
from dumbbell import Comparison, InputError, Run
from dumbbell.base.errors import unknown
from dumbbell.engines import result
from dumbbell.quantities import short_names
from dumbbell.quantities.registry import quantities
from passing_kernel import Kernel

ROOT: Final = Path(__file__).resolve().parents[2]

SHORT: Final = """
duration = "4s"

[network]
rate = "10mbit"
rtt = "20ms"
queue = "1bdp"

[[flow]]
algorithm = "reno"
label = "reno"

[[flow]]
algorithm = "cubic"
label = "cubic"

[record]
interval = "10ms"
"""

POWER: Final = """
[study]
name = "power"
title = "Two algorithms"
authors = ["we"]
year = 2026

[[test]]
name = "queues"
title = "One path"
runs = 1
axes = { algorithm = ["reno", "cubic"] }
scenario = { duration = "2s", network = { rate = "10mbit", rtt = "20ms", queue = "1bdp" }, \
flow = [{ algorithm = "{algorithm}" }] }

[[claim]]
id = "C01"
source = "§1"
text = "The product of two numbers."
expectation = "1000 packets"

[[claim.check]]
type = "arithmetic"
formula = "bdp_packets"
case = [{ args = { rate_mbit = 1000, rtt_ms = 12 }, expected = 1000 }]
"""

PATH: Final = {"rate": "10mbit", "rtt": "20ms", "duration": "2s", "runs": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that examples name, in which they run."""
    root = tmp_path_factory.mktemp("notebook")
    (root / "short.toml").write_text(SHORT)
    (root / "power.toml").write_text(POWER)
    measured_files.written(root, measured_files.iperf3(), "iperf3.json")
    before = Path.cwd()
    os.chdir(root)
    yield root
    os.chdir(before)


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return dumbbell.simulate(folder / "short.toml")


@pytest.fixture(scope="module")
def compared(folder: Path) -> Comparison:
    return dumbbell.compare(
        ["reno", "cubic"], rate="10mbit", rtt="20ms", duration="2s", runs=2, results=folder / "c"
    )


def _any(value: object) -> Any:
    """Hide the type of an argument that is wrong on purpose."""
    return value


WRONG: Final[dict[str, tuple[Callable[[Run], object], str]]] = {
    "take, no run": (lambda _: dumbbell.take(_any("short.toml"), "goodput"), "run"),
    "take, a number": (lambda run: dumbbell.take(run, _any(3)), "quantities"),
    "take, numbers": (lambda run: dumbbell.take(run, _any([3])), "quantities"),
    "take, windows": (lambda run: run.measure("goodput@w", windows=_any(["w"])), "windows"),
    "take, a window": (lambda run: run.measure("goodput@w", windows=_any({"w": 3})), "windows.w"),
    "take, a key": (
        lambda run: run.measure("goodput@w", windows={"w": {"form": "1s"}}),
        "windows.w.form",
    ),
    "series, no run": (lambda _: dumbbell.series(_any(None), "goodput"), "run"),
    "series, a list": (lambda run: dumbbell.series(run, _any(["goodput"])), "name"),
    "series, spans": (lambda run: dumbbell.series(run, "goodput", 0), "spans"),
    "latencies, no run": (lambda _: dumbbell.latencies(_any({})), "run"),
    "simulate, a number": (lambda _: dumbbell.simulate(_any(5)), "scenario"),
    "simulate, a mapping": (lambda _: dumbbell.simulate({"duration": "2s"}), "network"),
    "simulate, results": (lambda _: dumbbell.simulate("short.toml", results=_any(3)), "results"),
    "simulate, an engine": (lambda _: dumbbell.simulate("short.toml", engine="ns3"), "engine"),
    "simulate, no engine": (lambda _: dumbbell.simulate("short.toml", engine=_any(3)), "engine"),
    "perturb, jobs": (lambda _: dumbbell.perturb("short.toml", 2, jobs=0), "jobs"),
    "study, jobs": (lambda _: dumbbell.run_study("power.toml", jobs=_any("two")), "jobs"),
    "simulate, retries": (lambda _: dumbbell.simulate("short.toml", retries=-1), "retries"),
    "perturb, runs": (lambda _: dumbbell.perturb("short.toml", runs=0), "runs"),
    "perturb, a list": (lambda _: dumbbell.perturb(_any(["short.toml"])), "scenario"),
    "run.perturb": (lambda run: run.perturb(_any("2")), "runs"),
    "study, a number": (lambda _: dumbbell.run_study(_any(7)), "study"),
    "study, where": (lambda _: dumbbell.run_study("power.toml", where=_any("reno")), "where"),
    "study, an axis": (
        lambda _: dumbbell.run_study("power.toml", where={"algorithm": "rneo"}),
        "where.algorithm",
    ),
    "study, runs": (lambda _: dumbbell.run_study("power.toml", runs=_any("two")), "runs"),
    "study, seed": (lambda _: dumbbell.run_study("power.toml", seed=-1), "seed"),
    "study, changes": (lambda _: dumbbell.run_study("power.toml", changes=_any("a=1")), "changes"),
    "study, an unknown change": (
        lambda _: dumbbell.run_study("power.toml", changes={"rtx": "1ms"}),
        "changes.rtx",
    ),
    "study, a wrong change": (
        lambda _: dumbbell.run_study("power.toml", changes={"network.rtt": "soon"}),
        "changes.network.rtt",
    ),
    "study, a name": (lambda _: dumbbell.run_study("power.toml", name="mine"), "name"),
    "results, a folder": (lambda _: dumbbell.open_results("power.toml", _any(3)), "results"),
    "table, a number": (
        lambda _: dumbbell.open_results("power.toml").table("queues", _any(3)),
        "columns",
    ),
    "get_run, an axis": (
        lambda _: dumbbell.open_results("power.toml").get_run("queues", {"algo": "reno"}),
        "where",
    ),
    "get_run, nothing run": (
        lambda _: dumbbell.open_results("power.toml", "nowhere").get_run("queues", {}),
        "where",
    ),
    "report, nothing": (lambda _: dumbbell.report(), "studies"),
    "compare, a number": (
        lambda _: dumbbell.compare(_any(3), rate="10mbit", rtt="20ms"),
        "algorithms",
    ),
    "compare, a rate": (lambda _: dumbbell.compare("reno", rate=_any(20e6), rtt="1ms"), "rate"),
    "compare, an RTT": (lambda _: dumbbell.compare("reno", rate="1mbit", rtt=_any(0.04)), "rtt"),
    "compare, runs": (
        lambda _: dumbbell.compare("reno", rate="1mbit", rtt="1ms", runs=_any("five")),
        "runs",
    ),
    "compete, one": (lambda _: dumbbell.compete("reno", "", rate="1mbit", rtt="1ms"), "algorithm"),
    "compete, a rate": (
        lambda _: dumbbell.compete("reno", "bic", rate=_any(20e6), rtt="1ms"),
        "rate",
    ),
    "sweep, a range": (lambda _: dumbbell.sweep("reno", rate="1mbit..", rtt="1ms"), "rate"),
    "sweep, numbers": (lambda _: dumbbell.sweep("reno", rate="1mbit", rtt=_any([1, 2])), "rtt"),
    "advise, among": (lambda _: dumbbell.advise(rate="1mbit", rtt="1ms", among="x"), "among"),
    "advise, duration": (
        lambda _: dumbbell.advise(rate="1mbit", rtt="1s", duration="1s"),
        "duration",
    ),
    "tune, no path": (lambda _: dumbbell.tune("ccpd"), "rate"),
    "tune, objective": (
        lambda _: dumbbell.tune("ccpd", rate="1mbit", rtt="1ms", objective="godput"),
        "objective",
    ),
    "tune, parameter": (
        lambda _: dumbbell.tune("ccpd", rate="1mbit", rtt="1ms", parameter="kp=8..1"),
        "parameter",
    ),
    "tune, confirm": (
        lambda _: dumbbell.tune("ccpd", rate="1mbit", rtt="1ms", confirm="kernel"),
        "confirm",
    ),
    "hunt, goal": (lambda _: dumbbell.hunt("bbr", goal="godput"), "goal"),
    "hunt, where": (lambda _: dumbbell.hunt("bbr", where={"rate": "x"}), "where.rate"),
    "hunt, no mapping": (lambda _: dumbbell.hunt("bbr", where=_any(["rate=1mbit"])), "where"),
    "hunt, distinguish": (lambda _: dumbbell.hunt("bbr", distinguish=True), "against"),
    "hunt, confirm": (lambda _: dumbbell.hunt("bbr", confirm="kernel"), "confirm"),
    "validate, a number": (lambda _: dumbbell.validate(_any(3)), "scenario"),
    "validate, runs": (lambda _: dumbbell.validate("short.toml", runs=1), "runs"),
    "validate, changes": (
        lambda _: dumbbell.validate("short.toml", changes=_any("a=1")),
        "changes",
    ),
    "validate, a value": (
        lambda _: dumbbell.validate("short.toml", changes={"network.rtt": "soon"}),
        "changes.network.rtt",
    ),
    "check, a number": (lambda _: dumbbell.check(_any(3)), "algorithm"),
    "measurement": (lambda _: dumbbell.read_measurement(_any(3)), "file"),
    "chart, nothing": (lambda run: run.chart(_any(None)), "name"),
    "chart, a list": (lambda run: run.chart(_any(["cwnd", "rtt"])), "name"),
    "buffer, nothing": (
        lambda _: dumbbell.compare("reno", rate="1mbit", rtt="9ms", buffer=_any(None)),
        "buffer",
    ),
    "flows, negative": (
        lambda _: dumbbell.compare("reno", rate="1mbit", rtt="9ms", flows=-1),
        "flows",
    ),
    "compete, a list": (
        lambda _: dumbbell.compete(_any(["reno"]), "cubic", rate="1mbit", rtt="9ms"),
        "one",
    ),
    "compete, too many": (
        lambda _: dumbbell.compete("reno:20000", "cubic", rate="1mbit", rtt="9ms"),
        "algorithm",
    ),
    "scenario, a number for a key": (lambda _: dumbbell.simulate(_any({1: 2})), "scenario"),
}
"""Wrong call -> the parameter that its error names."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_names_its_parameter(name: str, run: Run) -> None:
    call, key = WRONG[name]
    with pytest.raises(InputError) as caught:
        call(run)
    assert (caught.value.key, caught.value.source) == (key, None)
    assert "--" not in str(caught.value)


def test_a_bare_number_gets_its_unit(folder: Path) -> None:
    with pytest.raises(InputError) as refused:
        dumbbell.compare("reno", rate=_any(20e6), rtt="40ms", results=folder / "bare")
    assert (refused.value.key, refused.value.near) == ("rate", "20mbit")


def test_a_comparison_refuses_what_is_no_name_of_a_figure(compared: Comparison) -> None:
    for wrong_name in (_any(None), _any(["trade-off"]), _any(5)):
        with pytest.raises(InputError) as caught:
            compared.chart(wrong_name)
        assert caught.value.key == "name"


def test_numbers_of_numpy_are_numbers(folder: Path) -> None:
    path = {"rate": "5mbit", "rtt": "20ms", "duration": "1s", "results": folder / "numpy"}
    assert (
        dumbbell.compare("reno", runs=_any(np.int64(1)), **_any(path)).summary()["runs"].item() == 1
    )
    swept = dumbbell.sweep("reno", flows=np.array([1, 3]).tolist(), runs=1, **_any(path))
    assert swept.summary()["flows"].to_list() == ["1", "3"]
    flows = [{"algorithm": "reno", "count": np.int64(2)}]
    network = {"rate": "5mbit", "rtt": "20ms", "queue": "1bdp"}
    run = dumbbell.simulate({"duration": "1s", "network": network, "flow": flows})
    assert len(run.summary.flows) == 2


def test_a_value_without_a_name_is_not_quoted() -> None:
    with pytest.raises(InputError, match="scenario: not a"):
        dumbbell.simulate(_any(None))
    with pytest.raises(InputError, match="but bytes;"):
        dumbbell.simulate(_any(b"x"))


def test_the_obvious_name_comes_first(run: Run) -> None:
    with pytest.raises(InputError) as caught:
        run.measure("goodput_")
    assert caught.value.near == "goodput_mbit_per_s"
    assert str(caught.value.valid).startswith("goodput_mbit_per_s, ")
    with pytest.raises(InputError) as unlike:
        run.measure("qwertz")
    for error in (caught.value, unlike.value):
        assert str(error.valid).count(", ") == 9
        known = len(quantities()) + len(short_names.OF_QUANTITIES)
        assert f"{known - 10} more: dumbbell list quantities" in str(error.valid)


def test_a_prefix_is_nearer_than_a_spelling() -> None:
    assert unknown("thing", "cub", ["cab", "cubic"]).near == "cubic"
    assert unknown("thing", "BBR", ["bbr3", "bbr"]).near == "bbr"
    assert unknown("thing", "cuibc", ["cab", "cubic"]).near == "cubic"
    assert unknown("thing", "hctp", ["reno@li2007", "htcp@li2007"]).near == "htcp@li2007"


@pytest.mark.parametrize(
    ("name", "quantity", "series"),
    [
        ("goodput", "goodput_mbit_per_s", "goodput_mbit_per_s"),
        ("throughput", "throughput_mbit_per_s", "throughput_mbit_per_s"),
        ("rtt", "rtt_mean_ms", "rtt_ms"),
        ("rtt_ms", "rtt_mean_ms", "rtt_ms"),
        ("rtt_mean_ms", "rtt_mean_ms", "rtt_ms"),
        ("cwnd", "cwnd_mean_segs", "cwnd_segs"),
        ("cwnd_segs", "cwnd_mean_segs", "cwnd_segs"),
        ("queue", "queue_mean_packets", "queue_packets"),
    ],
)
def test_one_name_is_a_number_a_series_and_a_chart(
    run: Run, name: str, quantity: str, series: str
) -> None:
    assert run.measure(name)[name] == run.measure(quantity)[quantity]
    assert run.series(name).equals(run.series(series))
    assert run.chart(name).to_dict() == run.chart(series).to_dict()


def test_a_number_is_no_series_and_a_series_no_number(run: Run) -> None:
    with pytest.raises(InputError) as refused:
        run.series("jain")
    assert refused.value.problem == snapshot("is one number of a run, not a series")
    assert str(refused.value.valid).startswith('take(run, "jain")')
    with pytest.raises(InputError, match=r"is a series.*series\(run, \"ssthresh_segs\"\)"):
        run.measure("ssthresh_segs")


LIBRARY: Final = [
    path
    for path in (ROOT / "python" / "dumbbell").rglob("*.py")
    if path.relative_to(ROOT / "python" / "dumbbell").parts[0] not in ("cli", "validate", "docs")
]
OF_OTHERS: Final = r"--(json|get-server-output|reverse|interval|socket-stats)"
"""Options of iperf3 and Flent."""


def test_errors_of_the_library_name_no_option() -> None:
    """The command translates the names of parameters, in one place (`cli/usage.py`)."""
    named = [
        f"{path}:{node.lineno}: {part.value}"
        for path in LIBRARY
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error")
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
        if re.search(r"--[a-z]", re.sub(OF_OTHERS, "", part.value))
    ]
    assert not named


def test_names_come_one_by_one_or_in_lists(run: Run) -> None:
    one = run.measure("goodput", "jain")
    assert one == run.measure(["goodput", "jain"]) == dumbbell.take(run, ("goodput",), "jain")
    frame = run.measure(
        "goodput", "rtt_p99_ms@none", windows={"none": {"from": "3990ms"}}
    ).to_frame()
    assert frame.columns == ["quantity", "value", "unit", "window", "reason"]
    assert frame["reason"].is_null().to_list() == [True, False]
    assert "<td>goodput</td>" in one._repr_html_()


def test_frames_are_in_seconds_and_megabits(run: Run) -> None:
    raw, frame = run.tables["flows"], run.flows
    assert frame.columns[:5] == ["time_s", "label", "algorithm", "state", "cwnd_segs"]
    assert frame["time_s"].to_list() == [time_ns / 10**9 for time_ns in raw["time_ns"]]
    for label, part in frame.group_by("label"):
        # What arrived is the sum of rate and time, from the start of the flow on.
        seconds = part["time_s"].diff().fill_null(part["time_s"][0])
        megabits = (part["goodput_mbit_per_s"] * seconds).sum()
        arrived = raw.filter(pl.col("label") == label[0])["received_bytes"].max()
        assert megabits == pytest.approx(_any(arrived) * 8e-6)
    bottleneck = run.queues.filter(pl.col("queue") == "forward")
    assert _any(bottleneck["throughput_mbit_per_s"].max()) <= 11
    assert bottleneck["throughput_mbit_per_s"].mean() == pytest.approx(9.9, abs=0.2)
    assert run.events.columns[:3] == ["time_s", "kind", "label"]


def test_every_frame_of_any_run_begins_with_the_time() -> None:
    run = dumbbell.simulate(
        {
            "duration": "2s",
            "network": {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"},
            "flow": [
                {"algorithm": "cubic"},
                {"transport": "udp", "rate": "1mbit"},
                {"algorithm": "reno", "workload": {"kind": "rpc", "bytes": "10kb", "pause": "1ms"}},
            ],
            "record": {"delays": "1s", "modes": True, "algorithm_state": True},
        }
    )
    for name in ("flows", "queues", "datagrams", "delays", "events", "internals", "modes"):
        frame = getattr(run, name)
        assert frame.columns[0] == "time_s", name
        assert frame.height, name
        assert _any(frame["time_s"].max()) <= 2, name
        if name not in ("internals", "modes"):  # whose columns are variables of algorithms
            assert not [column for column in frame.columns if column.endswith(("_ns", "_us"))], name
    assert _any(run.datagrams["one_way_delay_ms"].min()) >= 10
    assert _any(run.delays["delay_ms"].max()) < 1000


def test_raw_tables_are_read_once_and_an_unknown_one_is_refused(run: Run) -> None:
    assert run.tables["flows"] is run.tables["flows"]
    assert "flows" in run.tables
    assert next(iter(run.tables)) == "flows"
    with pytest.raises(InputError) as refused:
        run.scan("flow")
    assert refused.value.near == "flows"


def test_methods_do_what_functions_do(run: Run) -> None:
    assert run.perturb(2) == dumbbell.perturb("short.toml", 2)
    assert run.latencies().equals(dumbbell.latencies(run))
    assert "2 perturbed runs" in repr(run.perturb(2))


def test_a_run_can_be_kept_and_opened(tmp_path: Path, run: Run) -> None:
    kept = dumbbell.simulate("short.toml", results=tmp_path / "kept")
    assert kept.key == run.key
    opened = dumbbell.open_run(kept.key, tmp_path / "kept")
    assert isinstance(opened, Run)
    assert opened.flows.equals(run.flows)
    again = dumbbell.simulate("short.toml", results=tmp_path / "kept")
    assert again.tables["flows"].equals(run.tables["flows"])


def test_a_plain_run_is_measured_too(tmp_path: Path, run: Run) -> None:
    dumbbell.simulate("short.toml", results=tmp_path)
    plain = dumbbell.Store(tmp_path).get(run.key)
    assert type(plain) is result.Run
    assert dumbbell.take(plain, "goodput") == run.measure("goodput")


def test_a_comparison_is_a_table(compared: Comparison) -> None:
    assert compared.summary()["algorithm"].to_list() == ["reno", "cubic"]
    assert compared.summary()["runs"].to_list() == [2, 2]
    means = compared.to_frame().filter(pl.col("quantity") == "goodput_mbit_per_s")["mean"]
    assert compared.summary()["goodput_mbit_per_s"].to_list() == means.to_list()
    assert "<table>" in compared._repr_html_()
    assert "10mbit, RTT 20ms" in repr(compared)
    assert compared.chart("tradeoff").spec.name == "trade-off"
    with pytest.raises(InputError, match="over-time"):
        compared.chart("tradof")


@pytest.mark.usefixtures("folder")
def test_a_string_is_one_name() -> None:
    compared = dumbbell.compare("reno", rate="10mbit", rtt="20ms", duration="2s", runs=1)
    assert compared.summary()["line"].to_list() == ["reno × 2"]
    assert compared.results.table("compare", "jain").columns[-1] == "jain"


@pytest.mark.usefixtures("folder")
def test_claims_are_a_table() -> None:
    judged = dumbbell.claims("power.toml")
    assert (len(judged), judged[0].claim.id) == (1, "C01")
    assert judged.summary == {"holds": 1}
    assert judged.to_frame().select("id", "verdict", "runs_needed").rows() == [
        ("C01", "holds", None)
    ]
    assert len(repr(judged)) < 3000
    assert "<td>C01</td>" in judged._repr_html_()


@pytest.mark.usefixtures("folder")
def test_results_write_their_report(tmp_path: Path) -> None:
    page = dumbbell.open_results("power.toml").report(tmp_path / "pages")
    assert "Two algorithms" in page.read_text()


def test_a_name_is_that_of_a_study_in_the_results_folder(folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    for changes in ({}, {"duration": "3s"}):
        name = dumbbell.run_study("power.toml", results=elsewhere, changes=changes).study.name
        assert not dumbbell.open_results(name, elsewhere).is_empty


def test_quantities_come_in_the_order_of_their_chapters() -> None:
    frame = dumbbell.list_quantities()
    assert frame["name"][0] == "goodput_mbit_per_s"
    assert frame.columns == ["name", "unit", "per", "argument", "needs", "best", "what"]
    argument = dict(frame.select("name", "argument").iter_rows())
    assert (argument["state"] != "", argument["jain"]) == (True, "")
    page = (ROOT / "docs" / "quantities.md").read_text()
    places = [page.index(f"| `{name}{':NAME' if argument[name] else ''}`") for name in argument]
    assert places == sorted(places)


def test_old_names_still_work_with_a_warning(folder: Path) -> None:
    with pytest.warns(DeprecationWarning, match=r"dumbbell\.run_study"):
        assert dumbbell.run is dumbbell.run_study
    results = dumbbell.run_study("power.toml", results=folder / "old")
    with pytest.warns(DeprecationWarning, match="get_run"):
        queues_run = results.run("queues", {"algorithm": "reno"})
    with pytest.warns(DeprecationWarning, match="use results=, not folder="):
        opened = _any(dumbbell.open_results)("power.toml", folder=folder / "old")
    assert not opened.is_empty
    assert isinstance(queues_run, Run)
    with pytest.warns(DeprecationWarning, match="use name=, not what="):
        _any(queues_run).chart(what="cwnd")
    assert queues_run.key == _any(results.get_run("queues", {"algorithm": "reno"})).key


def test_errors_of_quantities_offer_short_names_and_numbers_of_flows(run: Run) -> None:
    refusals = []
    for text in ("goodputt", "goodput[9]"):
        with pytest.raises(InputError) as refused:
            run.measure(text)
        refusals.append(str(refused.value))
    assert refusals == snapshot(
        [
            '"goodputt": unknown quantity (did you mean "goodput"?); valid: goodput, goodput_share, goodput_variation, throughput, rtt, cwnd, queue, goodput_mbit_per_s, throughput_mbit_per_s, goodput_mean_mbit_per_s and 112 more: dumbbell list quantities',
            '"9": unknown flow or group; valid: 1 to 2, reno, cubic',
        ]
    )


def test_a_run_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    results = dumbbell.run_study("power.toml", where={"algorithm": "reno"}, results=folder / "part")
    assert results.get_run("queues", {"algorithm": "reno"}).series("goodput").height
    refusals = []
    for where, repetition in (({"algorithm": "reno"}, 9), ({"algorithm": "vegas"}, 1)):
        with pytest.raises(InputError) as refused:
            results.get_run("queues", where, repetition)
        refusals.append(str(refused.value))
    assert refusals == snapshot(
        [
            'where = { algorithm = "reno" }: repetition 9 is not planned; valid: reno (repetition 1)',
            'where.algorithm = "vegas": no such value on this axis; valid: reno, cubic',
        ]
    )


def test_help_shows_the_methods_of_results() -> None:
    assert inspect.isfunction(dumbbell.Results.runs)
    assert "planned runs" in str(inspect.getdoc(dumbbell.Results.runs))


def _public() -> Iterator[tuple[str, object]]:
    for name in dumbbell.__all__:
        value = getattr(dumbbell, name)
        yield name, value
        if inspect.isclass(value) and value.__module__.startswith("dumbbell.api"):
            members = vars(value).items()
            yield from ((f"{name}.{m}", member) for m, member in members if not m.startswith("_"))


PUBLIC: Final = dict(_public())


@pytest.mark.parametrize(("name", "value"), PUBLIC.items(), ids=PUBLIC)
def test_a_public_name_is_documented(name: str, value: object) -> None:
    text = inspect.getdoc(value) or ""
    assert text, name
    if inspect.isfunction(value) and value.__module__.startswith("dumbbell.api"):
        for parameter in list(inspect.signature(value).parameters)[1:]:
            is_method = "." in name
            assert is_method or parameter in text, f"{name}: {parameter}"


MODULES: Final = sorted(
    f"dumbbell.api.{path.stem}"
    for path in (ROOT / "python" / "dumbbell" / "api").glob("*.py")
    if path.stem != "__init__"
)


def test_examples_are_true(run: Run, compared: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one, as later examples use the runs of earlier ones."""
    passing_kernel.installed(Kernel(), monkeypatch)
    quick_hunts.installed(monkeypatch)
    swept = dumbbell.sweep("reno", rate="10mbit", rtt=["10ms", "20ms"], duration="2s", runs=1)
    contest = dumbbell.compete("reno", "bic", rate="10mbit", rtt="20ms", duration="5s", runs=1)
    names = {"dumbbell": dumbbell, "run": run, "compared": compared, "swept": swept}
    names["contest"] = contest
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    count = 0
    for module in MODULES:
        for test in doctest.DocTestFinder().find(importlib.import_module(module)):
            test.globs = dict(names)
            runner.run(test)
            count += len(test.examples)
    assert count > 20
    assert runner.failures == 0
