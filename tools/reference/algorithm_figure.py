"""The figure of an algorithm's window law: one flow alone, and two of which one is late.

The simulator makes it. A figure carries a digest of all that it was made of. So
`write` draws only changed figures, and a test can check whether one is current without drawing it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.units import NS_PER_S
from dumbbell.engines.engine import SimulatorEngine
from dumbbell.engines.result import Run
from dumbbell.figures import drawing, style, timelines
from dumbbell.quantities import bands, series
from dumbbell.quantities.series import thin
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario

FOLDER: Final = Path("images") / "algorithms"
BYTES_MAX: Final = 60_000

_RATE: Final = "100mbit"
_RTT: Final = "40ms"
_QUEUE: Final = "0.5bdp"
_THRESHOLD: Final = "0.17bdp"
"""Where marking begins: a third of the queue, well above the bursts that it must not answer."""

_ALONE_S: Final = 60
_TWO_S: Final = 120
_SECOND_S: Final = 20
_CYCLES: Final = 8
_SLOW_START_S: Final = 1
_SPANS_S: Final = (5, 10, 20, 30, _ALONE_S)
"""Lengths of what is shown of one flow; the shortest that has room for its cycles."""

_STEADY_SPAN_S: Final = 30
"""The length where the window is not reduced, or follows a rate, whose phases take 10 s."""

_BUCKETS: Final = 150
"""Spans into which a line is thinned, each of two pixels and more."""

RULE: Final = f"""\
The simulator makes the figure of each page on the same path, with the stack `linux-6`. The path has
100 Mbit/s, 40 ms, and a queue of half the bandwidth-delay product, which has 333 packets. The upper
plots are window and queue of one flow until its window has been reduced {_CYCLES} times after slow
start, {_ALONE_S} s at most. They are {_STEADY_SPAN_S} s where it is not reduced, or follows a rate.
The lower plot is the goodput of two flows, of which the second starts after {_SECOND_S} s.
Algorithms that need congestion marks get a queue that marks above a third of its length."""


def relative_path(algorithm: Algorithm, folder: str) -> str:
    """Return the figure's path as seen from a folder next to that of images."""
    assert "/" not in folder
    return f"../{(FOLDER / algorithm.name).as_posix()}.svg"


def caption(algorithm: Algorithm) -> str:
    """Say what the figure shows."""
    queue = "a queue of half the bandwidth-delay product"
    if algorithm.needs_ecn:
        queue += " that marks above a third of its length"
    return (
        f"One flow alone, and two of which the second starts after {_SECOND_S} s: 100 Mbit/s, "
        f"40 ms, {queue} ([how it is made](README.md#figures))."
    )


def write(folder: Path) -> Iterator[str]:
    """Draw what is not current and remove what is of no algorithm; yield what is drawn."""
    figures = folder / FOLDER
    figures.mkdir(parents=True, exist_ok=True)
    known = catalogue.algorithms()
    for path in figures.glob("*.svg"):
        if path.stem not in known:
            path.unlink()
    for name, algorithm in known.items():
        path = figures / f"{name}.svg"
        if not path.exists() or digest_of(path.read_text()) != digest(algorithm):
            path.write_text(draw(algorithm))
            yield name


def digest(algorithm: Algorithm) -> str:
    """Return the SHA-256 of the engine's version, the scenarios, the algorithm and the drawing.

    Comments of the file do not count, except the one that defines how figures show it.
    """
    sha256 = hashlib.sha256(" ".join(_COMMENT.sub(" ", algorithm.code).split()).encode())
    for scenario in (alone(algorithm), two(algorithm)):
        sha256.update(scenario.json.encode())
    sha256.update(SimulatorEngine().identity.encode())
    sha256.update(Path(__file__).read_bytes())
    return sha256.hexdigest()


_COMMENT: Final = re.compile(r"/\*(?! In figures: ).*?\*/", re.DOTALL)
_DIGEST: Final = re.compile(r"<!-- made of ([0-9a-f]{64}) -->")


def digest_of(svg: str) -> str | None:
    """Return the digest that a figure carries."""
    carried = _DIGEST.search(svg)
    return carried[1] if carried else None


def alone(algorithm: Algorithm) -> ResolvedScenario:
    """Return the scenario of one flow."""
    return _scenario(algorithm, _ALONE_S, [{"label": "flow 1"}], "10ms")


def two(algorithm: Algorithm) -> ResolvedScenario:
    """Return the scenario of two flows."""
    late = {"label": "flow 2", "start": f"{_SECOND_S}s"}
    return _scenario(algorithm, _TWO_S, [{"label": "flow 1"}, late], "50ms")


def _scenario(
    algorithm: Algorithm, seconds: int, flows: list[dict[str, Any]], interval: str
) -> ResolvedScenario:
    queue: Any = _QUEUE
    if algorithm.needs_ecn:
        queue = {"discipline": "step", "limit": _QUEUE, "threshold": _THRESHOLD}
    table = {
        "duration": f"{seconds}s",
        "stack": "linux-6",
        "network": {"rate": _RATE, "rtt": _RTT, "queue": queue, "edge_jitter": "120us"},
        "flow": [{"algorithm": algorithm.name, **flow} for flow in flows],
        "record": {"interval": interval, "events": ["congestion"]},
    }
    return Scenario.parse(table, f"the figure of {algorithm.name}").resolve()


def draw(algorithm: Algorithm) -> str:
    """Run the scenarios and return the figure as SVG."""
    single, pair = (_run(scenario) for scenario in (alone(algorithm), two(algorithm)))
    span_s = _span_s(single, algorithm)
    rows = [
        _row(single, "cwnd_segs", f"{algorithm.title}, one flow", span_s),
        _row(single, "queue_packets", "", span_s),
        _row(pair, "goodput_mbit_per_s", "Two flows", _TWO_S),
    ]
    chart = timelines.draw(rows).configure(**style.config())
    svg = drawing.rendered(chart.to_dict(), ".svg").decode()
    return _compact(svg).replace("<svg", f"<!-- made of {digest(algorithm)} -->\n<svg", 1)


def _run(scenario: ResolvedScenario) -> Run:
    return Run.of(scenario, SimulatorEngine().run(scenario))


def _span_s(run: Run, algorithm: Algorithm) -> int:
    """Return what to show of one flow: enough for some reductions after its slow start."""
    later = (pl.col("kind") == "congestion") & (pl.col("time_ns") > _SLOW_START_S * NS_PER_S)
    cuts_ns = run.tables["events"].filter(later)["time_ns"].to_list()
    if algorithm.family == "rate" or len(cuts_ns) < 2:
        return _STEADY_SPAN_S
    if len(cuts_ns) < _CYCLES:
        return _ALONE_S
    return next(span for span in _SPANS_S if span * NS_PER_S >= cuts_ns[_CYCLES - 1])


def _row(run: Run, name: str, title: str, end_s: int) -> timelines.Row:
    lines = series.take(run, name, 0.0, float(end_s))
    parts = lines.partition_by("label", maintain_order=True)
    return timelines.Row(
        title=title,
        axis=series.named(name).axis,
        lines=pl.concat(thin(part, "time_s", "value", _BUCKETS) for part in parts),
        algorithms=bands.choices(run, together=False),
        start_s=0.0,
        end_s=float(end_s),
    )


_PATH: Final = re.compile(r' d="[^"]*"')
_DECIMALS: Final = re.compile(r"(\d+\.\d)\d+")
_CLIP: Final = re.compile(r"clip(\d+)")
_LABELS: Final = re.compile(r' aria-[a-z]+="[^"]*"')


def _compact(svg: str) -> str:
    """Shorten coordinates to tenths of a pixel, and number clips from 0.

    The renderer numbers them from the start of the process.
    """
    svg = _PATH.sub(lambda path: _DECIMALS.sub(r"\1", path[0]), _LABELS.sub("", svg))
    numbers = {number: str(at) for at, number in enumerate(dict.fromkeys(_CLIP.findall(svg)))}
    return _CLIP.sub(lambda clip: f"clip{numbers[clip[1]]}", svg)
