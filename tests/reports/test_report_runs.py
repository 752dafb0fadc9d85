"""The pages of runs: every run is listed, thinning loses no extreme, files stay small."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from command_line import line
from dumbbell.base.errors import EngineError
from dumbbell.contract.summary import FlowSummary, Summary
from dumbbell.engines.result import Run
from dumbbell.reports import run_data, run_pages, site
from dumbbell.results.planned_runs import State
from dumbbell.results.results import Results
from dumbbell.store import failures
from dumbbell.store.store import Store
from sample_runs import blank, resolved


def unpacked(script: str) -> Any:
    """Return what a run's script hands to its page."""
    key, packed = json.loads("[" + script.partition("(")[2].rpartition(")")[0] + "]")
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert data["key"].startswith(key)
    return data


def listed(script: str) -> Any:
    return json.loads(script.removeprefix("dumbbellTest(").removesuffix(");\n"))


def test_every_run_is_listed_and_has_its_series(small: Results, small_report: Path) -> None:
    rows = listed((small_report / "runs/fairness.js").read_text())["rows"]
    assert len(rows) == 16
    shown = small.table("fairness", ["utilisation"])["utilisation"]
    for row, run, utilisation in zip(rows, small.finished("fairness"), shown, strict=True):
        assert row[2] == run.resolved.key[:16]
        series = unpacked((small_report / run_data.relative_path(run.resolved.key)).read_text())
        assert series["key"] == run.resolved.key
        assert [panel["title"] for panel in series["panels"]] == [
            "cwnd (segments)",
            "RTT (ms)",
            "throughput (Mbit/s)",
            "queue (packets)",
            "drops (packets/s)",
            "retransmitted (segments/s)",
        ]
        assert row[5][0] == pytest.approx(utilisation, rel=1e-4)


def test_what_has_not_been_run_is_listed_too(small_report: Path) -> None:
    content = listed((small_report / "runs/lossy.js").read_text())
    states = {content["states"][row[3]] for row in content["rows"]}
    assert states == snapshot({"not run yet"})
    assert len(content["rows"]) == 2
    assert line((small_report / "runs/lossy.html").read_text(), "not run") == snapshot(
        "<p>2 runs requested: 2 not run yet. Each finished run opens with its time series; the selection is part of the page's URL.</p>"
    )


def test_a_figure_leads_to_its_runs(small: Results, small_report: Path) -> None:
    page = (small_report / "figures.html").read_text()
    assert 'href="runs/fairness.html#rate=10mbit"' in page
    run = small.stored_run("fairness", {"algorithm": "highspeed", "rate": "10mbit", "rtt": "40ms"})
    assert run is not None
    assert f'href="{run_pages.run_address("fairness", run.key)}"' in page


def test_rates_add_up_to_what_was_sent(small: Results) -> None:
    key = small.finished("fairness")[0].resolved.key
    run = small.store.get(key)
    panels = {panel["title"]: panel for panel in run_data.content(run)["panels"]}
    flow_starts_s = [flow.start_ns / 1e9 for flow in run.scenario.flows]
    for title, column, flows, starts_s in (
        ("drops (packets/s)", "dropped_packets", run.summary.queues[:1], [0.0]),
        (
            "retransmitted (segments/s)",
            "retransmitted_segs",
            run.summary.flows,
            flow_starts_s,
        ),
    ):
        lines = panels[title]["lines"]
        counted = sum(
            float(np.sum(np.diff([start_s, *times]) * rates))
            for (_, times, rates), start_s in zip(lines, starts_s, strict=True)
        )
        assert counted == pytest.approx(sum(getattr(flow, column) for flow in flows), rel=0.001)
        assert counted > 0


def made_up(flows: int, samples: int, *, differ: bool = False) -> Run:
    """Return a run with many samples that nothing has simulated; windows are random numbers.

    Flows that `differ` are not equal, so that they have lines and no band.
    """
    named = [{"algorithm": "reno", "label": f"flow-{n}"} for n in range(1, flows + 1)]
    changes = {"flow": named} if differ else {"flow.1.count": flows}
    scenario = resolved({"duration": "900s", "record.interval": "1s", **changes}).scenario
    random = np.random.default_rng(1)
    times = np.linspace(0, 900e9, samples).astype(np.uint64)
    zeros = np.zeros(flows * samples, dtype=np.uint64)
    counters = np.tile(np.arange(samples, dtype=np.uint64) * 1000, flows)
    table = pl.DataFrame(
        {
            "time_ns": np.tile(times, flows),
            "flow": np.repeat(np.arange(flows, dtype=np.uint32), samples),
            "cwnd_segs": random.integers(1, 10**6, flows * samples).astype(np.uint32),
            "rtt_us": random.integers(1, 10**6, flows * samples).astype(np.uint32),
            "sent_segs": counters // 1000,
            "sent_bytes": counters,
            "received_bytes": counters,
            "retransmitted_segs": zeros,
        }
    )
    queues = pl.DataFrame(
        {
            "time_ns": times,
            "queue": np.zeros(samples, dtype=np.uint32),
            "backlog_packets": random.integers(0, 1000, samples).astype(np.uint32),
            "dropped_packets": np.arange(samples, dtype=np.uint64),
        }
    )
    end_ns = 900 * 10**9
    summaries = tuple(
        blank(FlowSummary, sent_segs=1, received_bytes=n * 10**6, rtt_mean_us=1000, end_ns=end_ns)
        for n in range(flows)
    )
    summary = blank(Summary, duration_ns=end_ns, packets=10**9, flows=summaries)
    return Run("f" * 64, scenario, summary, {"flows": table.lazy(), "queues": queues.lazy()})


@pytest.mark.parametrize(("flows", "samples"), [(1, 300_000), (2, 90_000), (1000, 100)])
def test_the_file_of_a_run_stays_small(flows: int, samples: int) -> None:
    run = made_up(flows, samples)
    script = run_data.script(run)
    assert len(script) < 150_000
    shown = unpacked(script)
    assert shown["samples"]["flows"] == samples
    rows = flows if flows <= 3 else 1
    assert (shown["drawn"], shown["lines"]) == (rows, rows)
    assert len(shown["totals"][0]["rows"]) == rows
    lines = [line for panel in shown["panels"] for line in [*panel["lines"], *panel["bands"]]]
    points = sum(len(line[1]) for line in lines)
    assert points < 6 * 3.1 * run_data.SPANS_OF_ALL
    assert script == run_data.script(run)


def test_thinned_lines_keep_their_extremes_and_ends() -> None:
    run = made_up(2, 90_000)
    shown = unpacked(run_data.script(run))
    whole = run.tables["flows"]
    (windows,) = (panel for panel in shown["panels"] if panel["title"].startswith("cwnd"))
    for number, (label, times, values) in enumerate(windows["lines"]):
        samples = whole.filter(pl.col("flow") == number)
        assert label == samples["label"][0]
        assert len(times) < 1000
        assert (times[0], times[-1]) == (0, 900)
        assert min(values) == pytest.approx(samples["cwnd_segs"].min(), rel=1e-4)
        assert max(values) == pytest.approx(samples["cwnd_segs"].max(), rel=1e-4)


def test_of_many_flows_the_least_and_the_most_successful_are_drawn() -> None:
    shown = run_data.content(made_up(300, 3, differ=True))
    labels = [line[0] for line in shown["panels"][0]["lines"]]
    assert (len(labels), shown["lines"]) == (24, 300)
    assert {labels[0], labels[-1]} == {"flow-1", "flow-300"}
    assert len(shown["totals"][0]["rows"]) + shown["totals"][0]["more"] == 300


def test_many_equal_flows_are_one_band_of_least_mean_and_most() -> None:
    run = made_up(40, 901)
    shown = run_data.content(run)
    assert shown["names"] == ["reno × 40"]
    windows = shown["panels"][0]
    assert (windows["title"], windows["lines"]) == ("cwnd (segments)", [])
    ((name, times, low, mean, high),) = windows["bands"]
    assert (name, len(times)) == ("reno × 40", 251)
    # The eleventh of 250 parts of 900 s begins at 36 s and has the samples of 36 to 39 s.
    inside = run.tables["flows"].filter(pl.col("time_ns").is_between(36 * 10**9, 39 * 10**9))
    values = inside["cwnd_segs"].cast(pl.Float64)
    assert inside.height == 160
    assert times[10] == 36
    assert [low[10], mean[10], high[10]] == pytest.approx(
        [values.min(), values.mean(), values.max()], rel=1e-4
    )


def test_a_second_report_writes_no_series_again(
    small: Results, small_report: Path, tmp_path: Path
) -> None:
    shutil.copytree(small_report, tmp_path, dirs_exist_ok=True)
    files = sorted(tmp_path.glob("series/??/*.js"))
    assert len(files) == 16
    before = {file: file.stat().st_mtime_ns for file in files}
    stale, foreign = tmp_path / "series/00/0123456789abcdef.js", tmp_path / "series/00/notes.js"
    for file in (stale, foreign):
        file.parent.mkdir(exist_ok=True)
        file.write_text("of another engine")
    files[0].write_text("// by other code\n")
    site.write(small, tmp_path)
    assert foreign.exists()
    assert not stale.exists()
    after = {file: file.stat().st_mtime_ns for file in files}
    assert [file for file in files if before[file] != after[file]] == files[:1]
    assert "dumbbellRun" in files[0].read_text()


def test_a_damaged_result_is_named_everywhere(
    small: Results, small_report: Path, tmp_path: Path
) -> None:
    """In a report that was written before the damage."""
    shutil.copytree(small_report, tmp_path / "report")
    shutil.copytree(small.store.root, tmp_path / "results")
    store = Store(tmp_path / "results")
    key = small.finished("fairness")[3].resolved.key
    file = store.root / "runs" / key[:2] / key / "flows.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    results = Results(small_study.write(tmp_path / "study"), store)
    page = site.write(results, tmp_path / "report").with_name("checks.html").read_text()
    assert "1 damaged result:" in page
    assert "flows.parquet" in page
    assert line(page, "15 of 18") == snapshot("<dd>15 of 18; 1 damaged, left out</dd>")
    figures = (tmp_path / "report/figures.html").read_text()
    assert line(figures, "left out") == snapshot(
        '<p class="source">15 runs, at 8 of the 8 points of its grid. Damaged and left out: 1.</p>'
    )
    shown = listed((tmp_path / "report/runs/fairness.js").read_text())
    (row,) = (row for row in shown["rows"] if row[2] == key[:16])
    assert shown["states"][row[3]] == State.DAMAGED
    assert row[6].partition(": ")[2] == snapshot(
        "damaged result (flows.parquet does not match its digest); run it again to replace it"
    )
    assert not (tmp_path / "report" / run_data.relative_path(key)).exists()
    assert results.counts[0].finished == 15


def test_a_failed_run_is_named_with_its_reason(
    small: Results, small_report: Path, tmp_path: Path
) -> None:
    shutil.copytree(small_report, tmp_path / "report")
    shutil.copytree(small.store.root, tmp_path / "results")
    store = Store(tmp_path / "results")
    (failed,) = (
        run for run in small.study.runs(where={"test": "lossy"}) if run.axes["algorithm"] == "reno"
    )
    failures.record(store, failed.resolved, failed.place, EngineError("a broken <invariant>"))
    results = Results(small_study.write(tmp_path / "study"), store)
    page = site.write(results, tmp_path / "report").with_name("checks.html").read_text()
    assert "1 failed run:" in page
    assert "a broken &lt;invariant&gt;" in page
    assert "16 of 18; 1 failed" in page
    shown = listed((tmp_path / "report/runs/lossy.js").read_text())
    assert [shown["states"][row[3]] for row in shown["rows"]] == [State.FAILED, State.MISSING]
    assert "a broken <invariant>" in shown["rows"][0][6]
