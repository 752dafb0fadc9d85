"""The page of the worst scenarios, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dumbbell.algorithms.labels import label_of
from dumbbell.base import markdown, tree
from dumbbell.base.labels import listing, with_interval
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.experiments.hunt.search import WEAK
from hunts.replaying import Replayed
from hunts.subjects import Subject


@dataclass(frozen=True)
class Others:
    """Algorithms of which there is no scenario: none was found, or nobody has hunted them."""

    without: Sequence[str]
    missing: Sequence[str]


@dataclass(frozen=True)
class How:
    """How scenarios were found and replayed.

    Attributes
    ----------
    hunt
        The options of each hunt.
    runs
        Runs of each side in a replay.
    place
        The folder of the scenario files, seen from the page.
    kernel
        What confirmed scenarios give on the kernel, by algorithm.
    kernel_runs
        Runs of each side there.
    """

    hunt: str
    runs: int
    place: str
    kernel: Mapping[str, Replayed] = field(default_factory=dict)
    kernel_runs: int = 0


def page(
    subject: Subject,
    replays: Sequence[Replayed],
    others: Others,
    how: How,
) -> str:
    """Return the page.

    Parameters
    ----------
    subject
        What was searched for.
    replays
        The replayed scenarios.
    others
        The other algorithms.
    how
        How they were found and replayed.
    """
    runs, place = how.runs, how.place
    confirmed = sorted(filter(is_confirmed, replays), key=lambda replay: -replay.regret[0])
    open_ones = [replay for replay in replays if not is_confirmed(replay)]
    goal = "" if subject.goal == "goodput" else f"--goal {subject.goal} "
    return "\n".join(
        (
            f"# {subject.title}\n",
            f"For each algorithm, `make hunt` searches the scenario in which {subject.searched}. "
            "[The guide](guides/hunt.md) explains the search.\n",
            f"- Each hunt: `dumbbell hunt ALGORITHM {goal}{how.hunt}`\n"
            f"- Engine: `{engines.named(EngineName.SIMULATOR).identity}`\n"
            f"- Written by {tree.identity()}\n"
            f"- Regret: 1 less {subject.ratio}, with the 95 % interval of {runs} runs each. It is "
            "measured by a replay of the scenario file, with seeds that the search has not seen.\n"
            + (f"- {subject.note}\n" if subject.note else "")
            + f"- A regret of {WEAK:g} or more is a weakness. The table has those whose whole "
            "interval is above that.\n",
            "The search is small, and one scenario shows nothing about others. Read a row as a "
            "question about the algorithm: replay it, look at the runs and change the file.\n",
            markdown.table(_heads(subject), (_row(replay, place) for replay in confirmed)),
            *_rest(subject, open_ones, others, place),
            *_on_kernel(confirmed, how),
            *_known(subject, confirmed, others),
            "## Replay one\n",
            "```sh\n"
            f"dumbbell compare {' '.join(confirmed[0].sides if confirmed else ('reno', 'cubic'))} "
            f"--on docs/{place}/{confirmed[0].file if confirmed else 'FILE.toml'} --runs {runs}\n"
            "```\n",
            "The file has the hunt's command and its claim as comments.\n",
        )
    )


def is_confirmed(replay: Replayed) -> bool:
    """Return whether the replay shows a weakness by its whole interval."""
    return replay.regret[1] >= WEAK


def _on_kernel(confirmed: Sequence[Replayed], how: How) -> Iterator[str]:
    """Yield what the kernel gives in the confirmed scenarios."""
    if not how.kernel:
        return
    both = [
        (replay, how.kernel[replay.algorithm])
        for replay in confirmed
        if replay.algorithm in how.kernel
    ]
    agreed = sum(is_confirmed(there) for _, there in both)
    refuted = sum(_is_refuted(there) for _, there in both)
    yield "## On the kernel\n"
    yield (
        f"The same files on `{engines.named(EngineName.TESTBED).identity}`, {how.kernel_runs} runs "
        f"of each side. The kernel confirms {agreed} of {len(both)} weaknesses and contradicts "
        f"{refuted}. Its runs do not decide the others. The receive buffers "
        "[of its hosts](design/testbed.md) do not grow, so their receivers acknowledge more of a "
        "slow start's segments one by one.\n"
    )
    heads = ("algorithm", "regret on the kernel", "simulated", "on the kernel it is")
    yield markdown.table(heads, (_kernel_row(*pair) for pair in both))
    if without := [replay.algorithm for replay in confirmed if replay.algorithm not in how.kernel]:
        yield f"The testbed has no valid runs of these: {_listed(without)}.\n"


def _kernel_row(here: Replayed, there: Replayed) -> tuple[str, ...]:
    outcome = "open"
    if is_confirmed(there):
        outcome = "confirmed"
    elif _is_refuted(there):
        outcome = "contradicted"
    return (
        label_of(here.algorithm),
        with_interval(*there.regret),
        with_interval(*here.regret),
        outcome,
    )


def _is_refuted(replay: Replayed) -> bool:
    return replay.regret[2] < WEAK


def _heads(subject: Subject) -> tuple[str, ...]:
    return (
        "algorithm",
        "worst scenario",
        subject.value,
        "of the best reference",
        "regret",
        "replay it with `--on`",
    )


def _row(replay: Replayed, place: str) -> tuple[str, ...]:
    return (
        label_of(replay.algorithm),
        replay.scenario,
        _mean(replay, replay.algorithm),
        f"{_mean(replay, replay.best)} ({label_of(replay.best)})",
        with_interval(*replay.regret),
        f"[{replay.file}]({place}/{replay.file})",
    )


def _mean(replay: Replayed, side: str) -> str:
    mean = replay.means[side]
    return with_interval(mean.value, mean.low, mean.high)


def _rest(
    subject: Subject, open_ones: Sequence[Replayed], others: Others, place: str
) -> Iterator[str]:
    """Yield what is not in the table."""
    if open_ones:
        yield f"The replay leaves it open whether these regrets are {WEAK:g} or more:\n"
        yield markdown.table(_heads(subject), (_row(replay, place) for replay in open_ones))
    if others.without:
        yield f"{subject.none.format(_listed(others.without))}\n"
    if others.missing:
        yield f"Not hunted yet: {_listed(others.missing)}.\n"


def _known(subject: Subject, confirmed: Sequence[Replayed], others: Others) -> Iterator[str]:
    """Yield which of the findings are in the list of published failings, and which are not."""
    if not subject.known:
        return
    failing = [replay.algorithm for replay in confirmed]
    again = [name for name in failing if name in subject.known]
    missed = [name for name in subject.known if name not in [*failing, *others.missing]]
    new = [name for name in failing if name not in subject.known]
    yield "## Published failings\n"
    if again:
        yield "The search finds these again, which are published or intended:\n"
        yield "\n".join(f"- {label_of(name)}: {subject.known[name]}" for name in again) + "\n"
    if missed:
        yield "Of these it finds no scenario, or the replay leaves it open:\n"
        yield "\n".join(f"- {label_of(name)}: {subject.known[name]}" for name in missed) + "\n"
    if new:
        yield (
            f"The others are missing from our list of published failings: {_listed(new)}. Nobody "
            "has searched the literature for them yet.\n"
        )


def _listed(names: Sequence[str]) -> str:
    return listing([label_of(name) for name in names])
