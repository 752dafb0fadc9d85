"""The tables that the command line prints."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl
from rich import box
from rich.markup import escape
from rich.table import Table

from dumbbell.analysis.latency import latencies
from dumbbell.catalogue import Algorithm
from dumbbell.claims.verdicts import ClaimResult, Verdict
from dumbbell.cli.quantities import amount, duration, hours
from dumbbell.compare import MEASURES, Comparison
from dumbbell.figures.labels import number, with_spread
from dumbbell.head_comments import Form, Paragraph
from dumbbell.running.campaigns import Command, Cost, Effort
from dumbbell.running.machine import Machine
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.units import NS_PER_S, format_time
from dumbbell.validate.agreement import page
from dumbbell.validate.agreement.judging import Agreement
from dumbbell.validate.agreement.parity import Parity
from dumbbell.validate.agreement.statistics import Verdict as Shown
from dumbbell.validate.running import Judged
from dumbbell.validate.running import Verdict as Closeness
from dumbbell.validate.table import COLUMNS, cells

_PROSE_WIDTH: Final = 90

_VERDICTS = {
    Verdict.REPRODUCED: "[green]✓ reproduced[/]",
    Verdict.NOT_REPRODUCED: "[red]✗ not reproduced[/]",
    Verdict.NOT_DECIDABLE: "[yellow]? not decidable[/]",
}


def table(*columns: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; the columns in `right` hold numbers."""
    empty = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in columns:
        empty.add_column(column, justify="right" if column in right else "left")
    return empty


def cost(this: Command, campaign: Cost) -> Table:
    """Return what a command took, what all commands of its campaign took, and what they left."""
    counts = ("runs", "simulated", "packets", "wall time", "packets/s", "peak memory", "on disk")
    shown = table("", *counts, right=counts)
    if this.runs:
        shown.add_row("this command", *_effort(Effort.of([this])), "")
    if campaign.effort.commands > 1:
        shown.add_row(f"all {campaign.effort.commands} commands", *_effort(campaign.effort), "")
    held = campaign.held
    left = (f"{held.runs:,}", hours(held.simulated_s), amount(held.packets))
    shown.add_row("results", *left, "", "", "", amount(held.size_bytes, "B"))
    return shown


def _effort(effort: Effort) -> Iterator[str]:
    yield f"{effort.runs:,}"
    yield hours(effort.simulated_s)
    yield amount(effort.packets)
    yield duration(effort.wall_s)
    yield "" if effort.packets_per_s is None else amount(effort.packets_per_s)
    yield "" if effort.peak_memory_bytes is None else amount(effort.peak_memory_bytes, "B")


def of_run(run: Run) -> Iterator[Table]:
    """Yield what a run comes to: flows, requests and queues, as far as there are any."""
    yield flows(run)
    taken = latencies(run)
    if taken.height:
        yield requests(taken)
    if run.summary["queues"]:
        yield queues(run)
    if "testbed" in run.summary:
        yield testbed(run.summary["testbed"])


def flows(run: Run) -> Table:
    """Return what each flow of a run achieved; of those without samples, equal ones together."""
    numbers = (
        "RTT (ms)",
        "start (s)",
        "goodput (Mbit/s)",
        "mean RTT (ms)",
        "lost (%)",
        "retransmitted (%)",
        "congestion events",
        "timeouts",
    )
    result = table("flow", "algorithm", *numbers, right=numbers)
    for members in _rows(run):
        result.add_row(*_flow(run, members))
    return result


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


def requests(taken: pl.DataFrame) -> Table:
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
    result = table("requests, transfers", *titles.values(), right=tuple(titles.values()))
    for row in taken.iter_rows(named=True):
        name = row["flows"] if row["count"] == 1 else f"{row['flows']} × {row['count']}"
        cells = (row[key] for key in titles)
        result.add_row(
            name, *(str(cell) if isinstance(cell, int) else number(cell, 4) for cell in cells)
        )
    return result


def queues(run: Run) -> Table:
    """Return what happened at each sampled link."""
    numbers = (
        "rate (Mbit/s)",
        "used (%)",
        "dropped",
        "lost",
        "marked",
        "mean backlog (kB)",
        "max backlog (packets)",
    )
    result = table("queue", *numbers, right=numbers)
    duration_ns = run.summary["duration_ns"]
    links = facts.sampled_links(run.scenario)
    for link, told in zip(links, run.summary["queues"], strict=True):
        rate_bps = facts.mean_rate_bps(link, 0, duration_ns)
        sent_bps = 8 * told["departed_bytes"] * NS_PER_S / duration_ns
        result.add_row(
            told["name"],
            "unlimited" if rate_bps is None else number(rate_bps / 1e6, 4),
            number(_percent(sent_bps, rate_bps) if rate_bps else None),
            str(told["dropped_packets"]),
            str(told["lost_packets"]),
            str(told["marked_packets"]),
            number(told["waiting_bytes_mean"] / 1000),
            str(told["backlog_packets_max"]),
        )
    return result


def testbed(told: Mapping[str, Any]) -> Table:
    """Return how the machine kept up with a run in real time."""
    result = table("testbed", "", right=("",))
    for place, name in (("mean", "mean"), ("p99", "99 %"), ("max", "at most")):
        late_us = told[f"lateness_{place}_ns"] / 1000
        result.add_row(f"packets too late, {name}", f"{number(late_us)} us")
    result.add_row("emulator held up, at most", f"{number(told['held_max_ns'] / 1000)} us")
    for share, name in (
        ("held", "emulator held up"),
        ("emulator_busy", "emulator busy"),
        ("traffic_busy", "applications busy"),
        ("starved", "flows waiting for applications"),
        ("window_limited", "flows waiting for receivers' windows"),
        ("stolen", "time lost to others"),
    ):
        result.add_row(name, f"{number(told[f'{share}_permille'] / 10)} %")
    result.add_row("packets lost on the way to the emulator", str(told["local_drops"]))
    if told["datagrams_sent_permille"] is not None:
        result.add_row("datagrams sent", f"{number(told['datagrams_sent_permille'] / 10)} %")
    result.add_row("kernel", told["kernel"])
    result.add_row("not offered by it", ", ".join(told["not_offered"]) or "nothing")
    result.add_row("valid", "[red]no[/]" if told["invalid"] else "yes")
    return result


def machine(found: Machine) -> Table:
    """Return what a machine can do."""
    result = table("", "fact", "found", "needed for", "what to do")
    for fact in found.facts:
        mark = "[green]✓[/]" if fact.ok else "[red]✗[/]" if fact.required else "[yellow]![/]"
        told = (fact.name, fact.found, fact.needed_for, fact.remedy or "")
        result.add_row(mark, *map(escape, told))
    return result


def size(run: Run) -> str:
    """Say how much was run."""
    return f"{run.summary['packets']:,} packets in {format_time(run.summary['duration_ns'])}"


def claims(results: Sequence[ClaimResult]) -> Table:
    """Return the verdicts on a study's claims."""
    result = table("claim", "where", "verdict", "measured", "what the authors state")
    for judged in results:
        claim = judged.claim
        result.add_row(
            claim.id, claim.source, _VERDICTS[judged.verdict], judged.measured, claim.text
        )
    return result


_CLOSENESS = {
    Closeness.WITHIN: "[green]✓ within[/]",
    Closeness.OUTSIDE: "[red]✗ outside[/]",
    Closeness.NOT_OFFERED: "[yellow]– not offered[/]",
}


def validation(judged: Sequence[Judged]) -> Table:
    """Return what fidelity checks expect and measure."""
    result = table(*COLUMNS, right=("expected", "measured", "tolerance"))
    for each in judged:
        *others, _ = map(escape, cells(each))
        result.add_row(*others, _CLOSENESS[each.verdict])
    return result


_AGREEMENT = {
    Shown.AGREES: "green",
    Shown.DIFFERS: "red",
    Shown.UNDECIDABLE: "yellow",
    Shown.NOT_MEASURED: "red",
}


def agreement(found: Agreement) -> Table:
    """Return what was measured on one engine, and by how much the other one is off."""
    one, other = found.names
    result = table(*page.COLUMNS, right=page.COLUMNS[1:-1])
    result.title = f"{one} (difference of {other})"
    for judged in found.judged:
        *others, verdict = map(escape, page.cells(judged))
        result.add_row(*others, f"[{_AGREEMENT[judged.verdict]}]{verdict}[/]")
    return result


def parity(found: Sequence[Parity]) -> Table:
    """Return what became of the callbacks that were replayed."""
    result = table(*page.PARITY_COLUMNS, right=page.PARITY_COLUMNS[1:-1])
    for each in found:
        *others, verdict = map(escape, page.parity_cells(each))
        result.add_row(*others, f"[{'green' if each.passed else 'red'}]{verdict}[/]")
    return result


def comparison(compared: Comparison) -> Table:
    """Return means with the half width of their 95 % intervals."""
    shown = [m for m in MEASURES if m.name in compared.means["measure"].unique()]
    titles = [f"{m.title} ({m.unit})" if m.unit else m.title for m in shown]
    result = table("flows", *titles, right=titles)
    cells = {(row["line"], row["measure"]): row for row in compared.means.iter_rows(named=True)}
    for line in compared.means["line"].unique(maintain_order=True):
        rows = [(cells.get((line, m.name)), m.scale) for m in shown]
        result.add_row(line, *(_interval(row, scale) for row, scale in rows))
    return result


def _interval(row: dict[str, float | None] | None, scale: float) -> str:
    if row is None or row["mean"] is None:
        return ""
    mean, high = row["mean"], row["high"]
    return with_spread(mean * scale, None if high is None else (high - mean) * scale)


def paragraph(shown: Paragraph) -> str:
    """Return a paragraph of a head comment as lines, with its label."""
    lines = [f"{shown.kind}:"] if shown.kind else []
    for block in shown.blocks:
        match block.form:
            case Form.EQUATION:
                lines += [f"    {line}" for line in block.lines]
            case Form.ITEMS:
                lines += [f"- {line}" for line in block.lines]
            case Form.PROSE:
                lines += textwrap.wrap(block.lines[0], _PROSE_WIDTH, break_on_hyphens=False)
    return "\n".join(lines)


def parameters(algorithm: Algorithm, preset: str | None) -> Table:
    """Return an algorithm's parameters with the values of a preset."""
    values = algorithm.preset(preset).values if preset else {}
    result = table("parameter", "value", "unit", "valid", "what", "source", right=("value",))
    for parameter in algorithm.parameters:
        changed = parameter.name in values
        value = str(values.get(parameter.name, parameter.initial))
        result.add_row(
            parameter.name,
            f"[bold]{value}[/]" if changed else value,
            parameter.unit,
            f"{parameter.low} to {parameter.high}",
            parameter.what,
            parameter.source,
        )
    return result
