"""The tables that the command line prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from dumbbell.catalogue import Algorithm
from dumbbell.claims.verdicts import ClaimResult, Verdict
from dumbbell.compare import MEASURES, Comparison
from dumbbell.figures.labels import number, with_spread
from dumbbell.running.result import Run
from dumbbell.scenario import facts
from dumbbell.units import format_time
from dumbbell.validate.running import Judged
from dumbbell.validate.running import Verdict as Closeness
from dumbbell.validate.table import COLUMNS, cells

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


def flows(run: Run) -> Table:
    """Return what each flow of a run achieved."""
    numbers = (
        "RTT (ms)",
        "start (s)",
        "goodput (Mbit/s)",
        "mean RTT (ms)",
        "retransmitted (%)",
        "congestion events",
        "timeouts",
    )
    result = table("flow", "algorithm", *numbers, right=numbers)
    for flow, told in zip(run.scenario["flows"], run.summary["flows"], strict=True):
        active_s = (told["end_ns"] - flow["start_ns"]) / 1e9
        goodput = 8 * told["received_bytes"] / active_s / 1e6 if active_s > 0 else None
        again = told["retransmitted_segs"] / told["sent_segs"] if told["sent_segs"] else None
        rtt_us = told["rtt_mean_us"]
        result.add_row(
            flow["label"],
            facts.choice(flow),
            number(facts.base_rtt_ns(run.scenario, flow) / 1e6),
            number(flow["start_ns"] / 1e9),
            number(goodput, 4),
            number(rtt_us / 1000 if rtt_us is not None else None, 4),
            number(100 * again if again is not None else None),
            str(told["congestion_events"]),
            str(told["timeouts"]),
        )
    return result


def path(run: Run) -> str:
    """Say what happened at the bottleneck, in one line."""
    forward = run.summary["queues"][0]
    seconds = run.summary["duration_ns"] / 1e9
    used = 8 * forward["departed_bytes"] / seconds / facts.bottleneck_rate_bps(run.scenario)
    return (
        f"bottleneck: {100 * used:.1f} % used, queue at most {forward['backlog_packets_max']:,} "
        f"packets, {forward['dropped_packets']:,} dropped; {run.summary['packets']:,} packets in "
        f"{format_time(run.summary['duration_ns'])}"
    )


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
