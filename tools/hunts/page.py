"""The page of the worst scenarios, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.algorithms.labels import label_of
from dumbbell.base import markdown, tree
from dumbbell.base.labels import listing, with_interval
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.experiments.hunt.search import WEAK
from hunts.replaying import Replayed

_HEADS: Final = (
    "algorithm",
    "worst scenario",
    "goodput (Mbit/s)",
    "of the best reference",
    "regret",
    "replay it with `--on`",
)


@dataclass(frozen=True)
class Others:
    """Algorithms of which there is no scenario: none was found, or nobody has hunted them."""

    without: Sequence[str]
    missing: Sequence[str]


def page(replays: Sequence[Replayed], others: Others, hunt: str, runs: int, place: str) -> str:
    """Return the page.

    Parameters
    ----------
    replays
        The replayed scenarios.
    others
        The other algorithms.
    hunt
        The options of each hunt.
    runs
        Runs of each side in a replay.
    place
        The folder of the scenario files, seen from the page.
    """
    confirmed = sorted(
        (replay for replay in replays if replay.regret[1] >= WEAK),
        key=lambda replay: -replay.regret[0],
    )
    open_ones = [replay for replay in replays if replay.regret[1] < WEAK]
    return "\n".join(
        (
            "# The worst scenario of each algorithm\n",
            "For each algorithm, `make hunt` searches the scenario in which a lone flow loses most "
            "goodput compared with the better of CUBIC and Standard TCP. "
            "[The guide](guides/hunt.md) explains the search.\n",
            f"- Each hunt: `dumbbell hunt ALGORITHM {hunt}`\n"
            f"- Engine: `{engines.named(EngineName.SIMULATOR).identity}`\n"
            f"- Written by {tree.identity()}\n"
            f"- Regret: 1 less its goodput over the better reference's, with the 95 % interval of "
            f"{runs} runs each. It is measured by a replay of the scenario file, with seeds that "
            "the search has not seen.\n"
            "- Goodput leaves out the first fifth of a run, as in the hunt. `dumbbell compare` "
            "prints that of the whole run, with the slow start.\n"
            f"- A regret of {WEAK:g} or more is a weakness. The table has those whose whole "
            "interval is above that.\n",
            "The search is small, and one scenario shows nothing about others. Read a row as a "
            "question about the algorithm: replay it, look at the runs and change the file.\n",
            markdown.table(_HEADS, (_row(replay, place) for replay in confirmed)),
            *_rest(open_ones, others, place),
            "## Replay one\n",
            "```sh\n"
            f"dumbbell compare {' '.join(confirmed[0].sides if confirmed else ('reno', 'cubic'))} "
            f"--on docs/{place}/{confirmed[0].file if confirmed else 'FILE.toml'} --runs {runs}\n"
            "```\n",
            "The file has the hunt's command and its claim as comments.\n",
        )
    )


def _row(replay: Replayed, place: str) -> tuple[str, ...]:
    regret, low, high = replay.regret
    return (
        label_of(replay.algorithm),
        replay.scenario,
        _mean(replay, replay.algorithm),
        f"{_mean(replay, replay.best)} ({label_of(replay.best)})",
        with_interval(regret, low, high),
        f"[{replay.file}]({place}/{replay.file})",
    )


def _mean(replay: Replayed, side: str) -> str:
    mean = replay.means[side]
    return with_interval(mean.value, mean.low, mean.high)


def _rest(open_ones: Sequence[Replayed], others: Others, place: str) -> Iterator[str]:
    """Yield what is not in the table."""
    if open_ones:
        yield f"The replay leaves it open whether these regrets are {WEAK:g} or more:\n"
        yield markdown.table(_HEADS, (_row(replay, place) for replay in open_ones))
    if others.without:
        yield f"No scenario of the search costs {_listed(others.without)} a fifth of the goodput.\n"
    if others.missing:
        yield f"Not hunted yet: {_listed(others.missing)}.\n"


def _listed(names: Sequence[str]) -> str:
    return listing([label_of(name) for name in names])
