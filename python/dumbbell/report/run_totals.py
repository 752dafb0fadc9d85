"""What a run comes to, in words and numbers: its flows, its requests, its queues, the testbed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.analysis.latency import latencies
from dumbbell.figures.labels import number
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S


@dataclass(frozen=True)
class Totals:
    """A table: `heads` begins with those of the `named` columns of words, numbers follow."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: int = 1


def of_run(run: Run) -> Iterator[Totals]:
    """Yield what a run comes to: flows, requests and queues, as far as there are any."""
    yield flows(run)
    asked = requests(run)
    if asked.rows:
        yield asked
    if run.summary["queues"]:
        yield queues(run)
    if "testbed" in run.summary:
        yield testbed(run.summary["testbed"])


def flows(run: Run) -> Totals:
    """Return what each flow of a run achieved; of those without samples, equal ones together."""
    heads = (
        "flow",
        "algorithm",
        "RTT (ms)",
        "start (s)",
        "goodput (Mbit/s)",
        "mean RTT (ms)",
        "lost (%)",
        "retransmitted (%)",
        "congestion events",
        "timeouts",
    )
    return Totals(heads, tuple(tuple(_flow(run, members)) for members in _rows(run)), named=2)


def _rows(run: Run) -> list[list[int]]:
    """Return the flows of each row."""
    rows: dict[object, list[int]] = {}
    for index, flow in enumerate(run.scenario["flows"]):
        name = (facts.whole if flow["sampled"] else facts.family)(flow["label"])
        key = (name, flow["sampled"], facts.choice(flow))
        rows.setdefault(key, []).append(index)
    return list(rows.values())


def _flow(run: Run, members: Sequence[int]) -> Iterator[str]:
    """Yield the cells of a row: of several flows sums, from their first start to their last end."""
    flows = [run.scenario["flows"][index] for index in members]
    told = [run.summary["flows"][index] for index in members]
    total = {key: sum(each[key] for each in told) for key in _COUNTED}
    start_ns = min(flow["start_ns"] for flow in flows)
    active_s = (max(each["end_ns"] for each in told) - start_ns) / NS_PER_S
    gone = total["dropped_packets"] + total["lost_packets"]
    rtts_us = [each["rtt_mean_us"] for each in told if each["rtt_mean_us"] is not None]
    is_tcp = "tcp" in flows[0]["transport"]
    yield _name(flows)
    yield facts.choice(flows[0])
    yield number(facts.base_rtt_ns(run.scenario, flows[0]) / 1e6)
    yield number(start_ns / NS_PER_S)
    yield number(8e-6 * total["received_bytes"] / active_s if active_s > 0 else None, 4)
    yield number(statistics.fmean(rtts_us) / 1000 if rtts_us else None, 4)
    yield number(_percent(gone, total["sent_segs"] + total["duplicated_packets"]))
    yield number(_percent(total["retransmitted_segs"], total["sent_segs"]) if is_tcp else None)
    yield str(total["congestion_events"]) if is_tcp else number(None)
    yield str(total["timeouts"]) if is_tcp else number(None)


def _name(flows: Sequence[Mapping[str, Any]]) -> str:
    """Name the flow of some connections, or a family of flows and their number."""
    label = flows[0]["label"]
    if len(facts.bundles(flows)) > 1:
        return f"{facts.family(label)} × {len(facts.bundles(flows))}"
    connections = f" ({len(flows)} connections)" if len(flows) > 1 else ""
    return facts.whole(label) + connections


_COUNTED: Final = (
    "received_bytes",
    "sent_segs",
    "duplicated_packets",
    "dropped_packets",
    "lost_packets",
    "retransmitted_segs",
    "congestion_events",
    "timeouts",
)


def _percent(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


def requests(run: Run) -> Totals:
    """Return what requests and transfers took."""
    titles = {
        "finished": "finished",
        "unfinished": "unfinished",
        "per_s": "per second",
        "goodput_mbit": "goodput (Mbit/s)",
        "mean_ms": "mean (ms)",
        "p50_ms": "50 % (ms)",
        "p90_ms": "90 % (ms)",
        "p99_ms": "99 % (ms)",
        "p999_ms": "99.9 % (ms)",
        "max_ms": "max (ms)",
    }
    rows = []
    for row in latencies(run).iter_rows(named=True):
        name = row["flows"] if row["count"] == 1 else f"{row['flows']} × {row['count']}"
        cells = (row[key] for key in titles)
        told = (str(cell) if isinstance(cell, int) else number(cell, 4) for cell in cells)
        rows.append((name, *told))
    return Totals(("requests, transfers", *titles.values()), tuple(rows))


def queues(run: Run) -> Totals:
    """Return what happened at each sampled link."""
    heads = (
        "queue",
        "rate (Mbit/s)",
        "used (%)",
        "dropped",
        "lost",
        "marked",
        "mean backlog (kB)",
        "max backlog (packets)",
    )
    links = facts.sampled_links(run.scenario)
    told = zip(links, run.summary["queues"], strict=True)
    return Totals(heads, tuple(_queue(run, *each) for each in told))


def _queue(run: Run, link: facts.Resolved, told: Mapping[str, Any]) -> tuple[str, ...]:
    duration_ns = run.summary["duration_ns"]
    rate_bps = facts.mean_rate_bps(link, 0, duration_ns)
    sent_bps = 8 * told["departed_bytes"] * NS_PER_S / duration_ns
    return (
        told["name"],
        "unlimited" if rate_bps is None else number(rate_bps / 1e6, 4),
        number(_percent(sent_bps, rate_bps) if rate_bps else None),
        str(told["dropped_packets"]),
        str(told["lost_packets"]),
        str(told["marked_packets"]),
        number(told["waiting_bytes_mean"] / 1000),
        str(told["backlog_packets_max"]),
    )


def testbed(told: Mapping[str, Any]) -> Totals:
    """Return how the machine kept up with a run in real time."""
    return Totals(("testbed", ""), tuple(_kept_up(told)))


def _kept_up(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for place, name in (("mean", "mean"), ("p99", "99 %"), ("max", "at most")):
        late_us = told[f"lateness_{place}_ns"] / 1000
        yield f"packets too late, {name}", f"{number(late_us)} us"
    yield "emulator held up, at most", f"{number(told['held_max_ns'] / 1000)} us"
    yield "applications held up, at most", f"{number(told['traffic_held_max_ns'] / 1000)} us"
    for share, name in (
        ("held", "emulator held up"),
        ("traffic_held", "applications held up"),
        ("emulator_busy", "emulator busy"),
        ("traffic_busy", "applications busy"),
        ("starved", "flows waiting for applications"),
        ("window_limited", "flows waiting for receivers' windows"),
        ("stolen", "time lost to others"),
    ):
        yield name, f"{number(told[f'{share}_permille'] / 10)} %"
    yield "packets lost on the way to the emulator", str(told["local_drops"])
    if told["datagrams_sent_permille"] is not None:
        yield "datagrams sent", f"{number(told['datagrams_sent_permille'] / 10)} %"
    yield "kernel", told["kernel"]
    yield "not offered by it", ", ".join(told["not_offered"]) or "nothing"
    yield "valid", "no" if told["invalid"] else "yes"
