"""The file of a run in a site: its totals, and its time series thinned for display.

A file depends on the run and on the code that writes it, of which its first line has the digest. So
a site that is written again keeps its files. Metrics are never taken from thinned series.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.base.errors import DamagedResult
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.cancelling import crew
from dumbbell.engines.result import Run
from dumbbell.execution.executor import in_order_of_completion
from dumbbell.figures import style
from dumbbell.figures.looks import LOOKS
from dumbbell.quantities import bands, kept, run_totals, series
from dumbbell.quantities.bands import Bundle
from dumbbell.quantities.cells import Totals
from dumbbell.reports import scripts
from dumbbell.store.store import Store

FOLDER: Final = "series"
"""Folder of the files in a study's folder."""

LINES_MAX: Final = 24
"""Flows that are drawn one by one; of more, these are spread evenly over their goodputs."""

ROWS_MAX: Final = 60
"""Rows of a table of totals."""

SPANS_MAX: Final = 250
"""Parts of a run's time of which a line shows three samples each, or one mean rate."""

SPANS_OF_ALL: Final = 1500
"""The same of all lines of a panel together: where there are many, each has fewer."""

_KEY_LENGTH: Final = 16
_DIGITS: Final = 5
_TIME_DIGITS: Final = 8
_SERIES: Final = (
    "cwnd_segs",
    "rtt_ms",
    "one_way_delay_ms",
    "throughput_mbit_per_s",
    "carried_mbit_per_s",
    "queue_packets",
    "drops_per_s",
    "retransmissions_per_s",
)
_OF_ONE: Final = "throughput_mbit_per_s"
_CARRIED: Final = "carried_mbit_per_s"
"""The capacity of a changing bottleneck is drawn behind the throughput of the only flow, or behind
the rate that the bottleneck carried."""

_FILE: Final = re.compile(rf"[0-9a-f]{{{_KEY_LENGTH}}}\.js")


def short(key: str) -> str:
    """Return the short form of a run's key for file names and addresses."""
    return key[:_KEY_LENGTH]


def relative_path(key: str) -> str:
    """Return the path of a run's file from the study's folder."""
    return f"{FOLDER}/{key[:2]}/{short(key)}.js"


def write(store: Store, keys: Sequence[str], folder: Path) -> Iterator[int]:
    """Write the files of runs below a study's folder; yield how many are done.

    Files of other runs are removed.
    """
    _remove_others(folder, {relative_path(key) for key in keys})
    missing = [key for key in keys if not _is_current(folder / relative_path(key))]
    done = len(keys) - len(missing)
    yield done
    with crew("series") as pool:
        futures = [pool.submit(_write, store, key, folder) for key in missing]
        for _ in in_order_of_completion(futures):
            done += 1
            yield done


def _remove_others(folder: Path, wanted: set[str]) -> None:
    for path in folder.glob(f"{FOLDER}/??/*.js"):
        if _FILE.fullmatch(path.name) and path.relative_to(folder).as_posix() not in wanted:
            path.unlink(missing_ok=True)


def _is_current(path: Path) -> bool:
    try:
        with path.open() as file:
            return file.readline() == _first_line()
    except (OSError, UnicodeDecodeError):
        return False


@cache
def _first_line() -> str:
    """Return the digest of the code that decides the content of a file."""
    sources = (__file__, run_totals.__file__, scripts.__file__, style.__file__)
    digest = hashlib.sha256(f"{kept.code()} {LOOKS}".encode())
    for source in sources:
        digest.update(Path(source).read_bytes())
    return f"// {digest.hexdigest()}\n"


def _write(store: Store, key: str, folder: Path) -> None:
    """Write one file; a result that is damaged or gone by now has none."""
    path = folder / relative_path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(KeyError, DamagedResult):
        text = _first_line() + script(store.get(key))
        draft = path.with_suffix(".tmp")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)


def script(run: Run) -> str:
    """Return the script that hands a run to its page."""
    return scripts.call("dumbbellRun", short(run.key), scripts.packed(content(run)))


def content(run: Run) -> Mapping[str, Any]:
    """Return the content of the page of a run."""
    bundles = bands.bundles(run)
    drawn = _drawn(run, bundles)
    spans = min(SPANS_MAX, SPANS_OF_ALL // max(1, len(drawn)))
    algorithms = bands.choices(run)
    return {
        "key": run.key,
        "seed": str(run.scenario.seed),
        "duration_s": run.summary.duration_ns / NS_PER_S,
        "packets": run.summary.packets,
        "totals": [_shortened(totals) for totals in run_totals.of_run(run)],
        "spans": spans,
        "drawn": len(drawn),
        "lines": len(bundles),
        "names": [bundle.name for bundle in drawn],
        "colours": style.flow_colours(algorithms[bundle.name] for bundle in drawn),
        "round_trips_apart": bands.round_trips_apart(run) if bands.is_coarse(run) else None,
        "samples": {"flows": _samples(run, "flow"), "queues": _samples(run, "queue")},
        "panels": list(_panels(run, drawn, spans)),
    }


def _shortened(totals: Totals) -> Mapping[str, Any]:
    return {
        "heads": totals.heads,
        "named": totals.named,
        "note": totals.note,
        "rows": totals.rows[:ROWS_MAX],
        "more": max(0, len(totals.rows) - ROWS_MAX),
    }


def _drawn(run: Run, bundles: Sequence[Bundle]) -> Sequence[Bundle]:
    """Return the flows and bands that are drawn: of too many some, spread over their goodputs."""
    if len(bundles) <= LINES_MAX:
        return bundles
    summaries = run.summary.flows
    order = sorted(
        range(len(bundles)),
        key=lambda place: sum(
            summaries[number].received_bytes for number in bundles[place].connections
        ),
    )
    last = len(bundles) - 1
    places = sorted(order[round(rank * last / (LINES_MAX - 1))] for rank in range(LINES_MAX))
    return [bundles[place] for place in places]


def _samples(run: Run, of: str) -> int:
    """Return the largest number of samples of a flow or queue."""
    counts = run.scan(f"{of}s").group_by(of).len().select(pl.col("len").max()).collect()
    return int(counts.item() or 0)


def _panels(run: Run, drawn: Sequence[Bundle], spans: int) -> Iterator[Mapping[str, Any]]:
    """Yield the panels over time that have samples."""
    alone = [number for bundle in drawn if not bundle.is_band for number in bundle.connections]
    capacity = _capacity(run, spans)
    behind = _OF_ONE if len(drawn) == 1 and len(alone) == 1 else _CARRIED
    for name in _SERIES:
        if name == _CARRIED and (capacity is None or behind != _CARRIED):
            continue
        shown_series = series.named(name)
        lines = series.drawn(run, name, flows=alone, spans=spans)
        together = _bands(run, name, drawn, spans) if shown_series.of_flows else []
        if lines.is_empty() and not together:
            continue
        yield {
            "title": shown_series.axis,
            "rate": shown_series.per_count is not None,
            "joined": shown_series.joined,
            "lines": [
                [
                    part["label"][0],
                    _short(part["time_s"], _TIME_DIGITS),
                    _short(part["value"], _DIGITS),
                ]
                for part in lines.partition_by("label", maintain_order=True)
            ],
            "bands": together,
            "capacity": capacity if name == behind else None,
        }


def _bands(run: Run, name: str, drawn: Sequence[Bundle], spans: int) -> list[list[Any]]:
    """Return name, times, least, mean and most of the equal flows that are one band."""
    rows = []
    for bundle in drawn:
        band = bands.take(run, name, bundle.connections, spans) if bundle.is_band else None
        if band is not None and not band.is_empty():
            values = (_short(band[column], _DIGITS) for column in ("low", "mean", "high"))
            rows.append([bundle.name, _short(band["time_s"], _TIME_DIGITS), *values])
    return rows


def _capacity(run: Run, spans: int) -> list[list[float]] | None:
    """Return times and rates of a bottleneck that changes; None: it does not."""
    rates = list(bands.capacity(run, spans))
    if not rates:
        return None
    return [
        _short(pl.Series(part, dtype=pl.Float64), digits)
        for part, digits in zip(zip(*rates, strict=True), (_TIME_DIGITS, _DIGITS), strict=True)
    ]


def _short(values: pl.Series, digits: int) -> list[float]:
    return values.round_sig_figs(digits).to_list()
