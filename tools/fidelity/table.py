"""The table of judged checks as Markdown, and what both tables say of a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.algorithms import catalogue
from dumbbell.base import markdown
from dumbbell.base.labels import number
from fidelity.running import Judged, Verdict

COLUMNS = ("check", "oracle", "expected", "measured", "tolerance", "why", "verdict")

HEADING = """\
# Validation

Dumbbell's engine on small networks, compared with theory. `make validate` runs the checks and
writes this page.

**The table.** *Oracle* is the formula or rule that predicts a value, with its source. It never
comes from the engine. *Expected* is its value, and *measured* is the value of the simulation.
*Tolerance* is the largest accepted difference between the two, and *why* is the reason why it is
not smaller. A check that is **outside** shows a fault of the engine or of the oracle's assumptions.
It stays in the table until the fault is understood. A check that is *not offered* needs a feature
that this engine does not have yet.
"""


def cells(judged: Judged) -> tuple[str, ...]:
    """Return the cells of one check, in the order of the columns."""
    check = judged.check
    unit = f" {check.unit}" if check.unit else ""
    return (
        check.name,
        check.oracle,
        _quantity(judged.expected, unit),
        judged.remark or _quantity(judged.measured, unit),
        str(check.band),
        check.why,
        judged.verdict.value,
    )


def _quantity(value: float | None, unit: str) -> str:
    return number(value, 4) + unit if value is not None else "–"


def counted(judged: Sequence[Judged]) -> str:
    """Say how many checks ended how."""
    counts = Counter(check.verdict for check in judged)
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    return f"{len(judged)} checks: {', '.join(parts)}"


def page(judged: Sequence[Judged]) -> str:
    """Return a page with the table."""
    table = markdown.table(COLUMNS, map(_marked, judged))
    engine = f"Engine `{catalogue.ENGINE_VERSION}`. {counted(judged)}."
    return "\n".join([HEADING, engine, "", table])


def _marked(judged: Judged) -> tuple[str, ...]:
    *others, verdict = cells(judged)
    return (*others, f"**{verdict}**" if judged.verdict is Verdict.OUTSIDE else verdict)
