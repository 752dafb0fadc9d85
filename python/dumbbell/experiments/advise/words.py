"""Advice in words and in cells of tables, as terminal and page show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import (
    HARM,
    PART,
    POSITIVE,
    Bounds,
    brief_interval,
    listing,
    window,
    with_interval,
)
from dumbbell.base.units import parse_probability
from dumbbell.experiments.advise import conditions
from dumbbell.experiments.advise.candidates import Candidate
from dumbbell.experiments.advise.choosing import Advice
from dumbbell.experiments.setting import Setting
from dumbbell.inference.estimates import Estimate

SHORT: Final = 50
"""Runs of fewer round trips are called short."""


@dataclass(frozen=True)
class Column:
    """A column of the table of candidates.

    Attributes
    ----------
    title, unit
        Its heading and its unit.
    what
        The same in a sentence; ``{legacy}`` is the legacy algorithm.
    taken
        Takes it of a candidate.
    limits
        The least and the most that it can be, in the unit of the estimate.
    scale
        Its factor to the unit that is shown.
    least, most
        Its bound, in the unit of the estimate.
    counts_losses
        True if `most` is a bound on losses beyond the random ones of the path.
    """

    title: str
    unit: str
    what: str
    taken: Callable[[Candidate], Estimate | None]
    limits: Bounds
    scale: float = 1.0
    least: float | None = None
    most: float | None = None
    counts_losses: bool = False

    @property
    def heading(self) -> str:
        """Its title with its unit."""
        return f"{self.title} ({self.unit})"

    @property
    def bounds(self) -> Bounds:
        """The least and the most that it can be, in the unit that is shown."""
        lowest, highest = self.limits
        return self.scale * lowest, self.scale * highest

    def cell(self, candidate: Candidate) -> str:
        """Return what the page shows of a candidate."""
        return with_interval(*self.ends(candidate), bounds=self.bounds)

    def brief(self, candidate: Candidate) -> str:
        """Return what the terminal shows of a candidate."""
        return brief_interval(*self.ends(candidate), bounds=self.bounds)

    def ends(self, candidate: Candidate) -> tuple[float | None, float | None, float | None]:
        """Return the mean of a candidate and its interval, in the unit that is shown."""
        part = self.taken(candidate)
        if part is None:
            return None, None, None
        return self.scale * part.value, self.scale * part.low, self.scale * part.high


COLUMNS: Final = (
    Column(
        "goodput",
        "Mbit/s",
        "alone on the path itself, before datagrams join",
        lambda candidate: candidate.goodput,
        POSITIVE,
    ),
    Column(
        "RTT",
        "ms",
        "mean of the whole run alone, on the path itself",
        lambda candidate: candidate.rtt,
        POSITIVE,
    ),
    Column(
        "resent",
        "%",
        "of all segments of the whole run alone",
        lambda candidate: candidate.retransmitted,
        PART,
        100,
        most=conditions.RETRANSMITTED_MAX,
        counts_losses=True,
    ),
    Column(
        "share",
        "%",
        "goodput next to {legacy}, of what another {legacy} flow has in its place",
        lambda candidate: candidate.share,
        POSITIVE,
        100,
        least=conditions.SHARE_MIN,
    ),
    Column(
        "harm",
        "%",
        "of its goodput that {legacy} loses, compared with another {legacy} flow in that place",
        lambda candidate: candidate.harm,
        HARM,
        100,
        most=conditions.HARM_MAX,
    ),
)
"""Columns of the table on the terminal."""

FURTHER: Final = (
    Column(
        "harm to RTT",
        "%",
        "of {legacy}'s RTT that is not there next to another {legacy} flow",
        lambda candidate: candidate.delay_harm,
        HARM,
        100,
        most=conditions.HARM_MAX,
    ),
    Column(
        "harm to loss",
        "%",
        "share of the retransmissions of {legacy}; with hardly any losses it means little",
        lambda candidate: candidate.loss_harm,
        HARM,
        100,
    ),
    Column(
        "recovery",
        "%",
        "goodput after the datagrams, of that before them",
        lambda candidate: candidate.recovery,
        POSITIVE,
        100,
    ),
)
"""Further columns of the page."""


def path(setting: Setting) -> str:
    """Describe the path."""
    lossy = parse_probability(setting.loss) > 0
    loss = f"random loss {setting.loss}" if lossy else "no random loss"
    rate, rtt, buffer = map(label_of, (setting.rate, setting.rtt, setting.buffer))
    return f"{rate}, RTT {rtt}, buffer {buffer}, {loss}"


def rests_on(advice: Advice) -> str:
    """Describe the runs on which the advice is based."""
    count = "1 run" if advice.runs == 1 else f"{advice.runs} runs"
    text = (
        f"{count} of {advice.setting.duration} each: alone, and with {advice.legacy} starting "
        "first and last; the same at 3/10 shorter and longer RTTs."
    )
    if advice.round_trips >= SHORT:
        return text
    return (
        f"{text} That is {advice.round_trips:.0f} round trips of the longest path, in which slow "
        "start weighs much: a longer duration shows more."
    )


def legend(advice: Advice) -> str:
    """Explain the columns that are not plain."""
    return (
        f"Share: of what another {advice.legacy} flow has in its place. Harm: of {advice.legacy}'s "
        "goodput, compared with that (Ware et al. 2019). Both in the worse order of start. "
        f"± reaches to the farther end of the 95 % interval. {_windows(advice)}"
    ).strip()


def _windows(advice: Advice) -> str:
    """Say over which part of the runs the numbers are taken."""
    windows_in_words = [f"{name} from {window(*where)}" for name, where in advice.windows.items()]
    return f"Windows: {'; '.join(windows_in_words)}." if windows_in_words else ""


def rule(advice: Advice) -> str:
    """Return the conditions that make an algorithm unfit, in a sentence."""
    loss = parse_probability(advice.setting.loss)
    bounds = [condition.words for condition in conditions.conditions(advice.legacy, loss)]
    return (
        "An algorithm is unfit if, in either order of start, it "
        f"{', '.join(bounds[:-1])}, or {bounds[-1]}."
    )


def conclusion(advice: Advice) -> list[str]:
    """Say what to use, in sentences of a line each."""
    if advice.advised is None:
        assert advice.least_bad is not None
        count = len(advice.candidates)
        none = (
            f"None of the {count} is fit" if count > 1 else f"{advice.candidates[0].name} is unfit"
        )
        if count == 1:
            return [f"{none} for this path: it {advice.reason}."]
        return [f"{none} for this path. Least bad: {advice.least_bad.name}, which {advice.reason}."]
    lines = [f"Use {advice.advised.name}: {advice.reason}."]
    if advice.undecided:
        names = listing([candidate.name for candidate in advice.undecided])
        lines.append(f"More runs may find as much goodput for {names}.")
    if len(advice.fit) > 1 and not advice.matters:
        lines.append(f"Among the {len(advice.fit)} that are fit the choice hardly matters.")
    return lines
