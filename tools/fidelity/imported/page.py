"""The table of fitted and true paths as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.base import markdown
from dumbbell.base.labels import number
from fidelity.imported.judging import BUFFER, GOODPUT, RATE, RTT, Judged, Value

_COLUMNS: Final = (
    "transfer",
    "limited by",
    "rate (Mbit/s)",
    "RTT (ms)",
    "buffer (packets)",
    "remark",
)
_NAMES: Final = ("rate", "RTT", "buffer")

HEADING: Final = f"""\
# How well `dumbbell import` finds a path

This page compares known paths with the paths that `dumbbell import` fits to transfers over them.
`make validate-import` runs the transfers and writes this page.

**The table.** Each cell has the true value and the fitted one. For a value in brackets the transfer
has no evidence: the fit states that, with a bound or a guess. The others must be near the true
ones: the rate {RATE}, the RTT {RTT}, the buffer {BUFFER} (or two packets). Where a window or the
application limits a flow, it shows no rate and no buffer. Then the fitted path is simulated, and
the goodput must be that of the transfer, {GOODPUT}. Values **outside** are in bold type.

Transfers are named by algorithm, rate, RTT and buffer. A capture is one of the sender. A report is
one of an iperf3 client. It counts the bytes that the client writes into the socket, in blocks of
128 kB. It has the smoothed RTT and the congestion window at the end of each interval.
"""

WHY: Final = """\
**Limits of the fit.** A report at intervals of a second seldom has the RTT of the empty path. Under
CUBIC, packets always wait in a buffer of more than 0.4 BDP. The fit detects this from congestion
windows and states it. With `--interval 0.1` the report also shows the start of the transfer. A
buffer of 0.1 BDP that overflows between two samples looks like losses by chance. If a sender writes
only few blocks of 128 kB, its rates are off by a part of a block.
"""


def page(parts: Sequence[tuple[str, str, Sequence[Judged]]]) -> str:
    """Return the page: parts with a title, a text, and judged transfers."""
    sections = [HEADING, f"Engine `{catalogue.ENGINE_VERSION}`.", "", WHY]
    for title, text, judged in parts:
        outside = sum(bool(transfer.outside) for transfer in judged)
        counted = f"{len(judged)} transfers, {outside} with something outside."
        table = markdown.table(_COLUMNS, map(_row, judged))
        sections += [f"## {title}", "", f"{text} {counted}", "", table, ""]
    return "\n".join(sections)


def _row(judged: Judged) -> tuple[str, ...]:
    known = {value.name: value for value in judged.values}
    limit = judged.limit.kind if judged.is_right else f"**{judged.limit.kind}**"
    goodput = known.get("goodput")
    remark = "" if goodput is None else f"goodput {_cell(goodput)} Mbit/s"
    return (judged.name, limit, *(_cell(known.get(name)) for name in _NAMES), remark)


def _cell(value: Value | None) -> str:
    if value is None:
        return "–"
    fitted = number(value.fitted, 4) if math.isfinite(value.fitted) else "not seen"
    pair = f"{number(value.true, 4)} → {fitted}"
    if not value.is_shown:
        return f"({pair})"
    return pair if value.is_within else f"**{pair}**"
