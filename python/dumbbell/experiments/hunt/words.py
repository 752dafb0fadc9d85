"""The result of a hunt, in words and cells of tables."""

from __future__ import annotations

from dumbbell.algorithms.labels import labels_of
from dumbbell.base.labels import listing, number, with_interval
from dumbbell.experiments.hunt.claiming import SHOWN, Confirmation
from dumbbell.experiments.hunt.hunting import Hunted
from dumbbell.experiments.hunt.search import WEAK
from dumbbell.quantities import taking


def against(hunted: Hunted) -> str:
    """Name the references."""
    if hunted.goal.versus_calm:
        return "itself without cross traffic"
    return listing([*labels_of(hunted.typed).values()][1:])


def conclusion(hunted: Hunted) -> list[str]:
    """Say what was found, in sentences of a line each."""
    who, worst = labels_of(hunted.typed)[hunted.algorithm], hunted.course.worst
    tried = len(hunted.course.tried)
    count = f"{tried} scenario{'s' if tried != 1 else ''}"
    if hunted.interrupted:
        where = hunted.space.words(worst.point)
        return [
            f"Interrupted after {count}; the worst so far has a regret of {worst.regret:.2f}: "
            f"{where}."
        ]
    late = " Time was up before all were tried." if hunted.course.late else ""
    minimal = hunted.minimal
    if minimal is None:
        what = "distinguishes them" if hunted.request.either else f"costs {who} a fifth"
        return [
            f"No scenario of {count} {what} compared with {against(hunted)}: the largest regret is "
            f"{max(0.0, worst.regret):.2f}, below {WEAK:g}.{late}"
        ]
    where = hunted.space.words(minimal.point)
    if minimal.failure:
        return [f"The run of {who} fails with {where}: {minimal.failure}"]
    assert hunted.statement is not None
    lines = [f"{hunted.statement.text} Regret {minimal.regret:.2f} with {where}.{late}"]
    lines += [verdict(confirmation) for confirmation in hunted.confirmations]
    if hunted.not_replayed:
        lines.append(f"Not replayed on the kernel: {hunted.not_replayed}.")
    return lines


def verdict(confirmation: Confirmation) -> str:
    """Say whether an engine confirms the claim."""
    outcome = f"{confirmation.verdict.capitalize()} on the {confirmation.engine}"
    again = " The same command tries them again." if confirmation.invalid else ""
    return f"{outcome}: {confirmation.measured}.{again}"


def columns(confirmation: Confirmation) -> list[str]:
    """Return the headings of the table of the sides."""
    shown = [taking.described(name) for name in names(confirmation)]
    titles = [
        f"{quantity.title} ({quantity.shown_unit})" if quantity.shown_unit else quantity.title
        for quantity in shown
    ]
    return [
        "algorithm",
        *(_placed(title, name) for title, name in zip(titles, names(confirmation), strict=True)),
    ]


def _placed(title: str, name: str) -> str:
    window = name.partition("@")[2]
    beside = ", beside" if "[beside]" in name else ""
    return f"{title}{beside}{f', {window}' if window else ''}"


def names(confirmation: Confirmation) -> list[str]:
    """Return the quantities of the table: the claim's first."""
    (check,) = confirmation.claim.claim.checks
    return list(dict.fromkeys((getattr(check, "quantity", ""), *SHOWN)))


def rows(confirmation: Confirmation) -> list[list[str]]:
    """Return the rows of the table: the means of each side with their intervals."""
    table_rows = []
    labels = labels_of(confirmation.means)
    for side, means in confirmation.means.items():
        cells = [labels[side]]
        for name in names(confirmation):
            quantity, mean = taking.described(name), means.get(name)
            scale = quantity.shown_scale
            if mean is None:
                cells.append("–")
            elif mean.has_interval:
                ends = (scale * end for end in (mean.value, mean.low, mean.high))
                cells.append(with_interval(*ends, bounds=quantity.shown_bounds))
            else:
                cells.append(number(scale * mean.value))
        table_rows.append(cells)
    return table_rows


def gap(hunted: Hunted, place: int) -> str:
    """Say how far the sides are apart in a scenario of the shortlist."""
    judged = hunted.course.shortlist[place]
    if judged.failure:
        return f"fails: {judged.failure}"
    if judged.gap is None:
        return "no value"
    scale = taking.described(judged.gap.measure).shown_scale
    labels = labels_of(judged.gap.values)
    return ", ".join(
        f"{labels[name]} {number(scale * value)}" for name, value in judged.gap.values.items()
    )
