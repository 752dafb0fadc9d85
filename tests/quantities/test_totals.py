"""Tables of runs: equal flows in one row, datagrams, completion by size, and means of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.quantities import flow_totals, request_totals, run_totals, taking
from dumbbell.quantities.cells import Shown, Totals
from dumbbell.quantities.reference import parse
from dumbbell.quantities.responsiveness import trimmed_mean
from dumbbell.quantities.totals import mean
from dumbbell.quantities.view import view_of
from sample_runs import scenario

LOSSY = {"loss": [{"place": "receiver", "probability": "1%"}]}
CALL = {"transport": "udp", "rate": "100kbit", "packet": "250b", "label": "call"}


def ran(flow: list[dict[str, Any]], *, seed: int = 0, **changes: Any) -> Run:
    network = {"rate": "10mbit", "rtt": "40ms", "queue": "100p", **changes.pop("network", {})}
    data = scenario({"duration": "10s", **changes, "network": network, "flow": flow})
    resolved = data.resolve(seed=seed)
    return Run.of(resolved, SimulatorEngine().run(resolved))


def values(totals: Totals, row: int = 0) -> Mapping[str, float | None]:
    """Return the numbers of a row by their heads."""
    cells = zip(totals.heads, totals.rows[row], strict=True)
    return {head: cell.values[0] for head, cell in cells if isinstance(cell, Shown)}


def test_a_start_in_the_first_millisecond_is_a_plain_number() -> None:
    totals = flow_totals.flows(ran([{"algorithm": "reno", "start": "826.7us"}], duration="1s"))
    cell = totals.rows[0][totals.heads.index("start (s)")]
    assert cell == "0.0008267"
    assert isinstance(cell, Shown)
    assert cell.values == (0.0008267,)


def test_datagrams_on_an_empty_path_take_propagation_and_serialisation() -> None:
    row = values(flow_totals.datagrams(ran([CALL], duration="30s")))
    alone_ms = 40 / 2 + 8 * 250 / 10e6 * 1000
    assert row["one-way delay (ms)"] == pytest.approx(alone_ms, abs=1e-3)
    assert row["max (ms)"] == pytest.approx(alone_ms, abs=1e-3)
    for percentile in ("50 % (ms)", "99 % (ms)"):
        assert row[percentile] == pytest.approx(alone_ms, rel=0.005)
    assert row["jitter (ms)"] == 0
    assert row["lost (%)"] == 0
    assert row["goodput (Mbit/s)"] == pytest.approx(0.1 * 222 / 250, rel=0.01)


def test_a_percentile_of_too_few_says_how_many_it_needs() -> None:
    """The call sends 500 datagrams in 10 s: enough for half of them, too few for 99 %."""
    (row,) = flow_totals.datagrams(ran([CALL])).rows
    cells = dict(zip(flow_totals.datagrams(ran([CALL])).heads, row, strict=True))
    assert cells["99 % (ms)"] == "needs 1,000"
    assert cells["50 % (ms)"] != "needs 20"
    assert isinstance(cells["99 % (ms)"], Shown)
    assert cells["99 % (ms)"].values == (None,)


@pytest.mark.parametrize(("count", "names"), [(3, ["a 1", "a 2", "a 3"]), (4, ["a × 4"])])
def test_many_equal_flows_are_one_row(count: int, names: list[str]) -> None:
    run = ran([{"algorithm": "cubic", "count": count, "label": "a"}])
    totals = flow_totals.flows(run)
    assert [row[0] for row in totals.rows] == names
    rates = [8 * flow.received_bytes / 10e6 for flow in run.summary.flows]
    row = values(totals)
    if count > 3:
        assert row["goodput (Mbit/s)"] == pytest.approx(sum(rates))
        assert row["least of a flow"] == pytest.approx(min(rates))
        assert row["most of a flow"] == pytest.approx(max(rates))
        assert row["congestion events"] == sum(f.congestion_events for f in run.summary.flows)
    else:
        assert "least of a flow" not in row
        assert row["goodput (Mbit/s)"] == pytest.approx(rates[0])


@pytest.mark.parametrize(
    "other", [{"rtt": "60ms"}, {"packet": 1000}, {"algorithm": "reno"}, {"direction": "reverse"}]
)
def test_flows_that_differ_are_apart(other: dict[str, Any]) -> None:
    same = {"algorithm": "cubic", "count": 4, "label": "a"}
    totals = flow_totals.flows(ran([same, {**same, "label": "b"}, {**same, **other, "label": "c"}]))
    assert [row[0] for row in totals.rows] == ["a × 4", "b × 4", "c × 4"]
    of_default = [{"algorithm": "cubic", "count": 4}, {"algorithm": "cubic", "count": 4, **other}]
    assert len(flow_totals.flows(ran(of_default)).rows) == 2


def test_parameters_that_a_scenario_sets_are_named_once() -> None:
    changed = {"algorithm": "cubic", "parameters": {"kept": 512, "hystart": 0}}
    note = flow_totals.flows(ran([{"algorithm": "cubic"}, changed, changed])).note
    assert note.partition("Parameters: ")[2] == "hystart = 0, kept = 512 (cubic 2, cubic 3)."
    assert "Parameters" not in flow_totals.flows(ran([{"algorithm": "cubic"}])).note


def test_json_has_each_flow() -> None:
    run = ran([{"algorithm": "cubic", "count": 4, "label": "a"}])
    assert [row["flow"] for row in flow_totals.goodputs(run)] == ["a 1", "a 2", "a 3", "a 4"]


def test_means_of_runs_have_all_flows_and_tables() -> None:
    flows: list[dict[str, Any]] = [
        CALL,
        {"algorithm": "cubic", "count": 4, "label": "download", "start": "1s"},
    ]
    runs = [ran(flows, seed=seed, network=LOSSY) for seed in (1, 2, 3)]
    tables = {totals.heads[0]: totals for totals in run_totals.of_runs(runs)}
    assert list(tables) == ["flow", "datagrams", "responsiveness", "queue"]
    assert [row[0] for row in tables["flow"].rows] == ["call", "download × 4"]
    assert tables["flow"].intervals
    single = [values(flow_totals.datagrams(run)) for run in runs]
    row = values(tables["datagrams"])
    for head in ("one-way delay (ms)", "jitter (ms)", "lost (%)"):
        alone = [part[head] for part in single]
        assert len(set(alone)) == 3, "seeds differ"
        assert row[head] == pytest.approx(np.mean([value or 0.0 for value in alone]))


def test_means_know_rows_by_their_words() -> None:
    def table(*rows: tuple[str, float]) -> Totals:
        cells = tuple((name, Shown(str(value), value)) for name, value in rows)
        return Totals(("flow", "lost (%)"), cells, note="All.")

    averaged = mean([table(("a × 7", 0.0), ("b", 5.0)), table(("a × 9", 2.0), ("b", 7.0))])
    assert [row[0] for row in averaged.rows] == ["a × several", "b"]
    shown = [row[1].values for row in averaged.rows if isinstance(row[1], Shown)]
    assert shown[0][:2] == (1.0, 0.0), "a share is never below 0"
    # Two values 6 ± 1: the standard error is 1, Student's t of one degree of freedom 12.7.
    assert shown[1] == pytest.approx((6.0, 0.0, 6 + 12.706), abs=1e-2)
    assert averaged.note == "Mean of 2 runs. All."


SIZES = ("500b", "1kb", "5kb", "50kb")


def test_completion_by_size_has_every_transfer_once() -> None:
    flows = [
        {"algorithm": "reno", "bytes": size, "label": f"page {place + 1}", "start": f"{place}s"}
        for place, size in enumerate(SIZES)
    ]
    totals = request_totals.by_size(ran(flows))
    assert [row[0] for row in totals.rows] == ["≤ 1 kB", "≤ 10 kB", "≤ 100 kB"]
    assert [values(totals, row)["finished"] for row in range(3)] == [2, 1, 1]
    # A packet takes one round trip and its serialisation, as on an empty path, and the jitter of
    # hosts, which several hosts have.
    assert values(totals)["slow-down"] == pytest.approx(1, rel=0.01)
    assert values(totals)["mean (ms)"] == pytest.approx(40 + 8 * (750 + 52) / 1e4, rel=0.01)
    assert not request_totals.by_size(ran(flows[2:3])).rows


PROBE = {
    "algorithm": "reno",
    "label": "probe",
    "workload": {"kind": "rpc", "bytes": "100b", "pause": "50ms"},
}


def test_the_responsiveness_of_an_empty_path_is_that_of_its_round_trip() -> None:
    run = ran([PROBE])
    alone_ms = 40 + 8 * (100 + 52 + 52) / 10e6 * 1000
    assert taking.take(view_of(run), parse("foreign_rtt_ms")) == pytest.approx(alone_ms, rel=1e-3)
    rpm = taking.take(view_of(run), parse("responsiveness_rpm"))
    assert rpm == pytest.approx(60 / (alone_ms / 1000), rel=1e-3)


def test_flows_that_end_do_not_end_the_window_of_responsiveness() -> None:
    flows = [{"algorithm": "cubic"}, {"algorithm": "cubic", "start": "2s", "stop": "4s"}, CALL]
    note = request_totals.responsiveness(ran(flows)).note
    assert note.partition(",")[2] == snapshot(
        " from when the last TCP flow has started: 2 s to 10 s."
    )


def test_load_makes_a_path_less_responsive_unless_queues_are_apart() -> None:
    """The mean of both kinds: behind a full queue of 100 packets a round trip takes 160 ms."""
    by_discipline = {}
    for discipline in ("drop-tail", "fq-codel"):
        queue = {"limit": "100p", "discipline": discipline}
        run = ran([PROBE, {"algorithm": "cubic"}], network={"queue": queue})
        view = view_of(run)
        names = ("foreign_rtt_ms", "loaded_rtt_ms", "responsiveness_rpm")
        taken = [taking.take(view, parse(name)) or 0.0 for name in names]
        by_discipline[discipline] = dict(zip(names, taken, strict=True))
        assert taken[2] == pytest.approx((60_000 / taken[0] + 60_000 / taken[1]) / 2)
    droptail, apart = by_discipline["drop-tail"], by_discipline["fq-codel"]
    full_ms = 40 + 100 * 12000 / 10e6 * 1000
    assert 100 < droptail["foreign_rtt_ms"] <= full_ms + 5
    assert apart["foreign_rtt_ms"] < 44, "a probe waits for one packet at most"
    assert apart["responsiveness_rpm"] > 2 * droptail["responsiveness_rpm"]


def test_the_trimmed_mean_leaves_out_the_longest_twentieth() -> None:
    assert trimmed_mean(np.arange(1.0, 101)) == 48  # of 1 to 95
    assert trimmed_mean(np.array([1.0, 3.0])) == 2
    assert trimmed_mean(np.empty(0)) is None
