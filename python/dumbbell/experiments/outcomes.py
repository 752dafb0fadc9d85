"""Right outcomes of scenarios that ship, which sources state, as claims.

A scenario has its outcomes in a file of its name in `scenarios/outcomes`. Its source speaks of some
algorithms, or of any. The statement is a claim of the experiment that runs the scenario, so
intervals decide it as in a study. Bounds are the source's numbers, or a reading of its words that
is fixed before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.labels import labels_of
from dumbbell.base import documents
from dumbbell.base.labels import listing
from dumbbell.base.validation import validate
from dumbbell.judging.evidence import Verdict
from dumbbell.judging.judging import ClaimResult
from dumbbell.results.results import Results
from dumbbell.scenario import library
from dumbbell.scenario.tables import Table

FOLDER: Final = library.FOLDER / "outcomes"

_FREE: Final = ("algorithm", "stack", "seed", "record", "title")
"""Keys that may be set: who sends, what is drawn and what is recorded. The rest is the path."""

_WORDS: Final[Mapping[Verdict, str]] = {
    Verdict.HOLDS: "holds",
    Verdict.CONTRADICTED: "does not hold",
    Verdict.TIE: "a tie",
    Verdict.UNDECIDED: "undecided",
}


class Outcome(Table):
    """A source's statement about a scenario, and the check that decides it."""

    source: str
    """The document, with the place in it."""

    text: str
    """Its statement."""

    expectation: str
    """The statement as a run can meet it, in words."""

    algorithms: tuple[str, ...] = ()
    """Algorithms of which it speaks, each by itself; none: any."""

    reference: str = ""
    """The algorithm that it compares them with, which has to run too."""

    statement: Literal["number", "order"]
    """A `number` has the source's bounds, an `order` a reading of its words."""

    check: dict[str, Any] = Field(min_length=1)
    """The check, as in a study; without its test and its grid points."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "source": self.source,
            "text": self.text,
            "expectation": self.expectation,
            "algorithms": list(self.algorithms),
            "reference": self.reference,
        }


class _Outcomes(Table):
    """The file of a scenario."""

    outcomes: tuple[Outcome, ...] = Field(alias="outcome", min_length=1)


def of(name: str) -> tuple[Outcome, ...]:
    """Return the outcomes of a scenario that ships; none where no source states one."""
    path = FOLDER / f"{name}.toml"
    if not path.exists():
        return ()
    return validate(_Outcomes, documents.read_toml(path), str(path)).outcomes


@dataclass(frozen=True)
class Judged:
    """The outcomes of a scenario for the algorithms that an experiment runs in it.

    Attributes
    ----------
    claims
        Those that its runs judge, as the claims of a study.
    left_out
        Why others are not judged, in sentences.
    """

    claims: tuple[dict[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()


def judged(
    file: Path,
    table: Mapping[str, Any],
    choices: Sequence[str],
    *,
    test: str,
    axis: str | None = None,
) -> Judged:
    """Return the outcomes that an experiment can judge.

    Parameters
    ----------
    file, table
        The file of the scenario, and its content as it runs.
    choices
        The algorithms that run in it.
    test
        The test of the experiment.
    axis
        The axis whose values are `choices`; None: there is only one.
    """
    outcomes = of(file.stem) if file.parent == library.FOLDER else ()
    if not outcomes:
        return Judged()
    if changed := _changed(documents.read_toml(file), table):
        verb = "is" if len(changed) == 1 else "are"
        what = f"{listing(changed)} {verb} not that of {file.stem}"
        return Judged(left_out=(f"Not judged by what sources state: {what}.",))
    called = {choice: catalogue.called(choice) for choice in choices}
    by_name = labels_of(called.values())
    labels = {choice: by_name[name] for choice, name in called.items()}
    claims: list[dict[str, Any]] = []
    for choice in choices:
        for outcome in outcomes:
            if _speaks_of(outcome, choice) and {outcome.reference} <= {"", *choices}:
                where = {} if axis is None else {axis: choice}
                text = f"{labels[choice]}: {outcome.text}"
                claims.append(_claim(outcome, text, len(claims) + 1, test, where))
    return Judged(tuple(claims), tuple(_left_out(outcomes, labels, file.stem)))


def _speaks_of(outcome: Outcome, choice: str) -> bool:
    return not outcome.algorithms or choice in outcome.algorithms


def _changed(shipped: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    """Return the keys in which a scenario differs from that of its file."""
    keys = {**shipped, **table}.keys() - {*_FREE}
    return sorted(key for key in keys if shipped.get(key) != table.get(key))


def _left_out(outcomes: Sequence[Outcome], labels: Mapping[str, str], name: str) -> Iterator[str]:
    """Say which algorithms no source speaks of, and which reference is missing."""
    silent = [
        label
        for choice, label in labels.items()
        if not any(_speaks_of(one, choice) for one in outcomes)
    ]
    if silent:
        yield f"No source states what {listing(silent)} should do here."
    for outcome in outcomes:
        spoken = [choice for choice in labels if _speaks_of(outcome, choice)]
        if spoken and not {outcome.reference} <= {"", *labels}:
            command = f"dumbbell compare {' '.join([*spoken, outcome.reference])} --on {name}"
            yield f"“{outcome.text}” ({outcome.source}) compares two algorithms: {command}"


def _claim(
    outcome: Outcome, text: str, number: int, test: str, where: Mapping[str, str]
) -> dict[str, Any]:
    """Return the claim of an outcome, as a study has it; `where` has its algorithm."""
    check = {"statement": outcome.statement, **outcome.check, "test": test}
    if outcome.reference:
        (axis,) = where
        check |= {"of": dict(where), "to": {axis: outcome.reference}}
    elif where:
        check["where"] = dict(where)
    return {
        "id": f"O{number:02}",
        "source": outcome.source,
        "text": text,
        "expectation": outcome.expectation,
        "check": [check],
    }


def word(result: ClaimResult) -> str:
    """Return a verdict in a word or two."""
    return _WORDS.get(result.verdict, result.verdict.value)


def lines(results: Results, left_out: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line for each outcome of an experiment, and what is not judged."""
    for result in results.claims():
        claim, verdict = result.claim, f"{result.verdict.mark} {word(result)}"
        yield f"{verdict}: {claim.text} ({claim.source}). Measured: {result.measured}."
    yield from left_out


def rows(results: Results) -> list[dict[str, str]]:
    """Return the outcomes of an experiment as plain data."""
    return [
        {
            "outcome": result.claim.text,
            "source": result.claim.source,
            "expectation": result.claim.expectation,
            "verdict": word(result),
            "measured": result.measured,
        }
        for result in results.claims()
    ]
