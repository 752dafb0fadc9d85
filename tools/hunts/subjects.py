"""The pages: what each hunt searches for, and which of its findings are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dumbbell.experiments.hunt import goals


@dataclass(frozen=True)
class Subject:
    """The page of a goal.

    Attributes
    ----------
    goal
        Name of the goal.
    title, searched
        Title of the page, and what a hunt searches for.
    value, ratio
        Heading of the algorithm's value, and the ratio that regret is 1 less.
    none
        What no scenario does to the algorithms without a finding, with a place for their names.
    note
        A sentence on the values; empty: none.
    known
        Algorithms whose failing is published or intended, and where that is written.
    """

    goal: str
    title: str
    searched: str
    value: str
    ratio: str
    none: str
    note: str = ""
    known: Mapping[str, str] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The quantity, with whose it is."""
        (measure,) = goals.goal(self.goal).measures
        return measure.reference


_LOW_PRIORITY: Final = "intended: it leaves the link to others"
_MILD: Final = "intended: it is not for networks without fair queueing (Mathis 2009)"

SUBJECTS: Final[Mapping[str, Subject]] = {
    subject.goal: subject
    for subject in (
        Subject(
            "goodput",
            "The worst scenario of each algorithm",
            "a lone flow loses most goodput compared with the better of CUBIC and Standard TCP",
            "goodput (Mbit/s)",
            "its goodput over the better reference's",
            "No scenario of the search costs {} a fifth of the goodput.",
            "Goodput leaves out the first fifth of a run, as in the hunt. `dumbbell compare` "
            "prints that of the whole run, with the slow start.",
        ),
        Subject(
            "share",
            "The scenario in which each algorithm starves",
            "its flow gets least goodput next to a flow of CUBIC, compared with the better of a "
            "second CUBIC flow and one of Standard TCP",
            "its goodput next to CUBIC (Mbit/s)",
            "its goodput over that of the better reference in the same place",
            "No scenario of the search costs {} a fifth of the goodput next to CUBIC.",
            "CUBIC itself is next to a flow of Standard TCP, which is also its reference.",
            {
                "vegas": "loss-based flows fill the queue that it avoids (Mo et al. 1999)",
                "nv": "it was made for data centres (Brakmo 2017)",
                "ledbatpp": _LOW_PRIORITY,
                "lp": _LOW_PRIORITY,
                "hstcplp": _LOW_PRIORITY,
            },
        ),
        Subject(
            "harm",
            "The scenario in which each algorithm harms CUBIC most",
            "a flow of CUBIC has least goodput next to it, compared with the better of a second "
            "CUBIC flow and one of Standard TCP in its place",
            "goodput of CUBIC next to it (Mbit/s)",
            "the goodput of CUBIC next to it over that next to the better reference",
            "No scenario of the search lets {} take a fifth of the goodput of CUBIC.",
            "The flow next to CUBIC itself is one of Standard TCP, which is also its reference.",
            {
                "bbr": "it fills shallow queues (Hock et al. 2017, Ware et al. 2019)",
                "relentless": _MILD,
                "scalable": "it is unfair to others at large BDPs (Li et al. 2007)",
            },
        ),
    )
}
