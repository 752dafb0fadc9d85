"""Agreement in words: the cells of its tables, and its page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.base import markdown
from dumbbell.base.labels import number
from dumbbell.experiments.validate.measures import MEASURES, Measure
from dumbbell.inference.equivalence import Verdict, reach
from dumbbell.inference.statistics import Estimate
from fidelity.agreement import scenarios
from fidelity.agreement.collecting import Unusable
from fidelity.agreement.drawn import DISCIPLINES
from fidelity.agreement.hosts import HOLD_NS
from fidelity.agreement.judging import (
    WANTED_SHARE,
    Agreement,
    Compared,
    Judged,
    Score,
)
from fidelity.agreement.measures import DISTANCE
from fidelity.agreement.parity import CALLBACKS_WANTED, Parity
from fidelity.agreement.running import Validation

_SHOWN: Final = ("goodput", "rtt", "retransmitted", "share", "queue", "windows")
"""Columns of the table; the goodput of each flow of a pair is only in the JSON."""

_BY_NAME: Final = {measure.name: measure for measure in (*MEASURES, DISTANCE)}


def _heading(measure: Measure) -> str:
    return f"{measure.title} ({measure.unit})" if measure.unit else measure.title


COLUMNS: Final = ("scenario", *(_heading(_BY_NAME[name]) for name in _SHOWN), "verdict")

PARITY_COLUMNS: Final = ("algorithm", "callbacks", "lost records", "mismatches", "verdict")


def cells(judged: Judged) -> tuple[str, ...]:
    """Return the cells of a scenario."""
    compared = (judged.of(name) for name in _SHOWN)
    return (judged.case.name, *map(_cell, compared), _verdict(judged))


def _cell(compared: Compared | None) -> str:
    """Say what a measure is on the reference engine, and by how much the other one exceeds it."""
    if compared is None:
        return "–"
    measure, difference = compared.measure, compared.difference
    mark = {Verdict.DIFFERS: " ✗", Verdict.UNDECIDABLE: " ?"}.get(compared.verdict, "")
    value = number(compared.reference.value * measure.scale)
    if measure is DISTANCE:
        return f"{compared.reference.value:.3f} {_change(difference, 1, '')}{mark}"
    if measure.share and compared.reference.value:
        return f"{value} {_change(difference, 100 / compared.reference.value, ' %')}{mark}"
    return f"{value} {_change(difference, measure.scale, '')}{mark}"


def _change(difference: Estimate, scale: float, unit: str) -> str:
    """Render a difference with half its interval; both to the same place."""
    value, half = difference.value * scale, reach(difference)
    places = _places(half * scale if half else value)
    spread = "" if half is None else f"±{half * scale:.{places}f}"
    return f"({value + 0.0:+.{places}f}{spread}{unit})"


def _places(value: float) -> int:
    if not value:
        return 1
    return min(3, max(0, 1 - math.floor(math.log10(abs(value)))))


def _verdict(judged: Judged) -> str:
    word = judged.verdict.value
    if judged.verdict is Verdict.UNDECIDABLE:
        word += ", within" if judged.within else ", outside"
    others = [
        comparison.measure.title for comparison in judged.differing if not comparison.measure.goal
    ]
    return word + (f"; differs in {', '.join(others)}" if others else "")


_PLURAL: Final = {
    Verdict.AGREES: "agree",
    Verdict.DIFFERS: "differ",
    Verdict.UNDECIDABLE: "undecidable",
    Verdict.NOT_MEASURED: "not measured",
}


def headline(agreement: Agreement) -> str:
    """Say in how many scenarios goodput and mean RTT agree."""
    count = len(agreement.judged)
    if not count:
        return "no scenario"
    if agreement.scores:
        return "Engines agree in " + "; ".join(map(_scored, agreement.scores))
    verdicts = Counter(judged.verdict for judged in agreement.judged)
    shown = ", ".join(
        f"{verdicts[verdict]} {_PLURAL[verdict]}" for verdict in Verdict if verdicts[verdict]
    )
    return (
        f"Goodput within {_BY_NAME['goodput'].band} and mean RTT within {_BY_NAME['rtt'].band} in "
        f"{agreement.within} of {count} scenarios ({100 * agreement.within / count:.0f} %; "
        f"goal {100 * WANTED_SHARE:.0f} %); by their intervals: {shown}"
    )


def _scored(score: Score) -> str:
    agree, count = score.verdicts.get(Verdict.AGREES, 0), score.scenarios
    return (
        f"{score.measure.title} (within {score.measure.band}) in {agree} of {count} scenarios, "
        f"goal {100 * score.measure.wanted:.0f} %: {score.outcome}"
    )


SCORE_COLUMNS: Final = (
    "measure",
    "band",
    "goal",
    "agree",
    "of the decided",
    "undecidable",
    "within by value",
    "outcome",
)


def score_cells(score: Score) -> tuple[str, ...]:
    """Return the cells of a goal."""
    agree, decided = score.verdicts.get(Verdict.AGREES, 0), score.decided
    return (
        score.measure.title,
        score.measure.band,
        f"{100 * score.measure.wanted:.0f} %",
        str(agree),
        f"{decided} ({100 * agree / decided:.0f} %)" if decided else "none",
        str(score.verdicts.get(Verdict.UNDECIDABLE, 0)),
        f"{score.within} of {score.scenarios}",
        score.outcome,
    )


@dataclass(frozen=True)
class Remark:
    """A further remark for readers.

    Attributes
    ----------
    text
        The remark.
    places
        The scenarios that it is about, with their measures; none: the text names them.
    """

    text: str
    places: tuple[str, ...] = ()


_UNEXPLAINED: Final = "differs, and no reason is known"
_CHANCE: Final = "outside but undecided: no reason is known, and it may be chance"


def remarks(agreement: Agreement) -> Iterator[Remark]:
    """Yield reasons, what has none, and runs that do not count."""
    yield from _reasons(agreement)
    for absent in agreement.not_offered:
        yield Remark(f"not offered by the {agreement.names[0]}: {absent}")
    yield from _unusable(agreement.unusable)
    for entry in agreement.stale:
        yield Remark(f"explains nothing any more: {'; '.join(entry.scenarios)}: {entry.reason}")


def _unusable(runs: Iterable[Unusable]) -> Iterator[Remark]:
    """Yield the runs that failed or are invalid, by engine, each with its reason."""
    places: dict[str, list[str]] = {}
    for run in runs:
        what = "Failed runs" if run.failed else "Invalid runs"
        reason = run.reason.partition(";")[0]
        place = f"{run.scenario}: run {run.repetition}, {reason}"
        places.setdefault(f"{what} on the {run.side}, left out.", []).append(place)
    for text, of_text in places.items():
        yield Remark(text, tuple(of_text))


def _reasons(agreement: Agreement) -> Iterator[Remark]:
    """Yield each reason once, with all that it explains."""
    explained: dict[str, dict[str, list[str]]] = {}
    for judged in agreement.judged:
        for comparison in judged.differing:
            places = explained.setdefault(comparison.reason or _UNEXPLAINED, {})
            places.setdefault(judged.case.name, []).append(f"{comparison.measure.title} differs")
        for comparison in judged.outside:
            places = explained.setdefault(comparison.reason or _CHANCE, {})
            places.setdefault(judged.case.name, []).append(f"{comparison.measure.title} is outside")
    for reason, places in explained.items():
        yield Remark(reason, tuple(f"{name}: {', '.join(of)}" for name, of in places.items()))


def parity_cells(parity: Parity) -> tuple[str, ...]:
    """Return the cells of an algorithm's parity."""
    passed = "equal" if parity.passed else f"not shown: {parity.remark}"
    return (
        parity.algorithm,
        f"{parity.callbacks:,}",
        f"{parity.lost_records:,}",
        f"{parity.mismatches:,}",
        passed,
    )


_HEADING = """\
# Agreement with the kernel

The same scenarios in Dumbbell's simulator and on the real Linux kernel, with the same algorithm
source in both; `make agreement` runs them and writes this page.

**The tables.** Each cell shows the measured value on the {reference}. The number in brackets is the
difference of the {other} from it, with the 90 % interval of this difference. With equal seeds, both
engines lose the same packets at random. So runs are compared seed by seed if packets are lost at
random, or if {by_chance} drop them. Two engines *agree* if the whole interval lies within the band.
They *differ* (✗) if all of it lies outside. Otherwise the runs cannot decide it (?). The verdict of
a scenario depends on goodput and mean RTT. *Window distance* is the area between the distributions
of the sampled windows as a share of their mean. The cell shows the distance between two runs of one
engine. The number in brackets shows by how much the distance between runs of different engines is
larger.

**A difference on purpose.** In the kernel's hosts, packets wait for the processor. The simulator's
hosts take no time. So in the simulated scenarios the sender holds each packet for up to
{hold_ms:g} ms more, at random and in order. All scenarios have the same setting. It is twice the
mean time that hosts add to a round trip without a queue, on the machine where it was measured. The
emulator has no such hold. Everything else is the same in both.
"""


def page(validation: Validation) -> str:
    """Return the page."""
    agreement = validation.first
    parts = [
        _HEADING.format(
            by_chance=_either(
                model.title for model in DISCIPLINES.values() if model.drops_by_chance
            ),
            reference=agreement.names[0],
            other=agreement.names[1],
            hold_ms=HOLD_NS / 1e6,
        ),
        _hosts(agreement),
        _identity(agreement),
        *((_bands(), *_results(agreement)) if validation.agreement.judged else ()),
        *(_drawn(validation.drawn, validation.draw_seed) if validation.drawn else ()),
        *(_modules(validation.modules) if validation.modules else ()),
        *(_parity(validation.parity) if validation.parity else ()),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _results(agreement: Agreement) -> Iterator[str]:
    yield f"**{headline(agreement)}.**"
    yield markdown.table(COLUMNS, [cells(judged) for judged in agreement.judged])
    yield _list(remarks(agreement))


def _either(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def _drawn(drawn: Agreement, seed: int) -> Iterator[str]:
    queues = _either(model.title for model in DISCIPLINES.values())
    yield "## Scenarios drawn at random"
    yield (
        f"{len(drawn.judged)} scenarios drawn by the seed {seed}, another one each time: rates of "
        "2 to 250 Mbit/s, round-trip times of 2 to 200 ms, queues of 0.15 to 3 times their "
        f"product (of 8 packets at least). Queues are {queues}, and losses up to 0.5 %. There are "
        "one to three flows, each with any algorithm. Some send requests, and some have receiving "
        "applications that read at a rate. In half of the scenarios with several flows, the "
        "handshakes of later flows wait in the queue. The bands are narrower than in the chosen "
        "scenarios. The goal is the share of scenarios in which the engines agree, by the "
        "intervals."
    )
    yield markdown.table(SCORE_COLUMNS, [score_cells(score) for score in drawn.scores])
    yield _still_open(drawn)
    yield markdown.table(COLUMNS, [cells(judged) for judged in drawn.judged])
    yield _list(remarks(drawn))


def _still_open(drawn: Agreement) -> str:
    """Say how long the kernel would have to run to decide the rest."""
    if not drawn.undecided:
        return ""
    hours = [
        scenarios.real_time_s([judged.case], judged.runs_needed - judged.runs[0]) / 3600
        for judged in drawn.undecided
    ]
    quick = [time_h for time_h in hours if time_h <= 1]
    total = f"{sum(hours):,.0f} hours" if math.isfinite(sum(hours)) else "more than a year"
    return (
        f"Scenarios with an undecided goal: {len(hours)}. At the present means and variances, "
        f"{total} on the {drawn.names[0]} would decide all of them. An hour or less each would "
        f"decide {len(quick)} of them, and {sum(quick):.1f} hours all of these. In the others, "
        "runs of one engine differ from each other by far more than the bands."
    )


def _modules(modules: Agreement) -> Iterator[str]:
    yield "## Our builds and the kernel's own modules"
    yield (
        "This table compares the kernel's own module with our file, compiled for the kernel. Each "
        f"cell shows the {modules.names[0]} and, in brackets, the difference of {modules.names[1]} "
        "from it."
    )
    yield from _results(modules)


def _parity(parity: Sequence[Parity]) -> Iterator[str]:
    yield "## Parity"
    yield (
        "Every callback of a run with losses is recorded in the kernel and replayed natively from "
        "the same file. Results and state must be equal byte for byte, in at least "
        f"{CALLBACKS_WANTED:,} callbacks of each algorithm."
    )
    yield markdown.table(PARITY_COLUMNS, [parity_cells(replayed) for replayed in parity])


def _identity(agreement: Agreement) -> str:
    one, two = (_span([judged.runs[side] for judged in agreement.judged]) for side in (0, 1))
    kernels = ", ".join(agreement.kernels) or "unknown"
    *fewer, most = scenarios.REPETITIONS_UNDECIDED
    further = ", ".join(map(str, fewer))
    return (
        f"Kernel {kernels}, {catalogue.ENGINE_VERSION}; "
        f"of each scenario {one} runs on the {agreement.names[0]} and {two} on the "
        f"{agreement.names[1]}. "
        f"A scenario that {scenarios.REPETITIONS} runs on the {agreement.names[0]} do not decide "
        f"has {further} or {most} runs, as far as the time goes. After "
        "such further looks a verdict is wrong a little more often than the once in twenty times "
        "of the others."
    )


def _span(counts: Sequence[int]) -> str:
    fewest, most = min(counts, default=0), max(counts, default=0)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def _hosts(agreement: Agreement) -> str:
    """Say what is left of the hosts' time."""
    hosts = agreement.hosts
    if hosts is None:
        return ""
    longer = "longer" if hosts.left_us >= 0 else "shorter"
    return (
        f"Where the queue is nearly always empty, the {agreement.names[0]}'s mean round trip is "
        f"then {abs(hosts.left_us) / 1000:.3f} ms {longer} (the median of {hosts.scenarios} "
        f"scenarios). No setting covers the {100 * hosts.held:.1f} % of the time in which the "
        "machine delayed the emulator, and the network stopped with it. By this share, round "
        "trips are longer and goodputs are smaller than in the simulator."
    )


def _bands() -> str:
    def row(measure: Measure) -> tuple[str, ...]:
        return measure.title, measure.band, measure.why

    return markdown.table(
        ("measure", "band", "why"), [row(measure) for measure in (*MEASURES, DISTANCE)]
    )


def _list(remarks: Iterator[Remark]) -> str:
    lines = []
    for remark in remarks:
        lines.append(f"- {markdown.one_line(remark.text)}")
        lines += [f"  - {markdown.one_line(place)}" for place in remark.places]
    return "\n".join(lines)
