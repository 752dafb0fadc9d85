"""Quantities of a run as people read them: each with its window, or why it has no value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from dumbbell.base import hypertext
from dumbbell.base.labels import number, window
from dumbbell.base.units import NS_PER_S, format_time
from dumbbell.quantities import taking
from dumbbell.quantities.reference import Reference
from dumbbell.quantities.view import RunView
from dumbbell.scenario import facts

_SCHEMA: Final = {
    "quantity": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "window": pl.String,
    "reason": pl.String,
}


class Taken(dict[str, float | None]):
    """Quantities by their references; None where one has no value.

    Attributes
    ----------
    windows
        Over which part of the run each is taken: ``2 s to 10 s``; not if that is empty.
    reasons
        Reasons for those without a value.
    """

    def __init__(self, view: RunView, references: Mapping[str, Reference]) -> None:
        """Take them by what they are called; what one names wrongly is an InputError."""
        super().__init__(
            (text, taking.take(view, reference)) for text, reference in references.items()
        )
        self._units = {
            text: taking.described(str(reference)).unit for text, reference in references.items()
        }
        placed = {text: placed_in(view, reference) for text, reference in references.items()}
        self.windows: Mapping[str, str] = {
            text: placed_window for text, placed_window in placed.items() if placed_window
        }
        self.reasons: Mapping[str, str] = {
            text: why_none(view, references[text]) for text, value in self.items() if value is None
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each: ``quantity``, ``value``, ``unit``, ``window`` and ``reason``."""
        rows = [
            (
                text,
                value,
                self._units[text],
                self.windows.get(text),
                self.reasons.get(text),
            )
            for text, value in self.items()
        ]
        return pl.DataFrame(rows, schema=_SCHEMA, orient="row")

    def _repr_html_(self) -> str:
        """Return the frame, for notebooks."""
        rows = [
            (text, number(value, 5), unit, where or why)
            for text, value, unit, where, why in self.to_frame().iter_rows()
        ]
        return hypertext.summary("", "", ("quantity", "value", "unit", "window"), rows)

    def __repr__(self) -> str:
        """Return a line for each: its value and unit, and its window or why it has none."""
        return "\n".join(f"{text}: {self._shown(text)}" for text in self)

    def _shown(self, text: str) -> str:
        if (value := self[text]) is None:
            return f"none, as {self.reasons[text]}"
        unit = self._units[text]
        return f"{number(value, 5)}{unit and f' {unit}'}, {self.windows[text]}"


def placed_in(view: RunView, reference: Reference) -> str | None:
    """Say where the window of a reference lies in a run; None if nothing is in it."""
    span = view.span(reference.window or "main")
    return None if span is None else window(span.start_ns / NS_PER_S, span.end_ns / NS_PER_S)


def why_none(view: RunView, reference: Reference) -> str:
    """Say why a quantity has no value, in a clause."""
    described, record = taking.described(str(reference)), view.scenario.record
    needs = described.recording(reference.window)
    if needs is not None and not needs.is_in(record):
        why = f"it needs {needs.what}, which are not recorded: {needs.example}"
        whole = Reference(reference.name, reference.subject, "run")
        return f"{why}, or take {whole}" if described.whole_without else why
    where = placed_in(view, reference)
    if where is None:
        apart = "" if record.interval_ns is None else f" {format_time(record.interval_ns)} apart"
        return (
            f"the window {reference.window or 'main'} is shorter than two samples{apart}: record "
            f"more often, or take {Reference(reference.name, reference.subject, 'run')}"
        )
    if record.interval_ns is None and reference.window != "run":
        return "the run has no samples: record.interval, or the window run"
    if reference.subject is None and described.is_of_tcp and not view.sampled:
        first = view.flows[0]
        window = reference.window if first.first.sampled else "run"
        example = Reference(reference.name, facts.family(first.label), window)
        return f"it is of sampled TCP flows, and there are none: name others, as {example}"
    return f"there is nothing of it in {where}: {described.what}"
