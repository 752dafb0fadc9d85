"""docs/linux-modules.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.base.markdown import prose, table
from linux_modules import scenarios
from linux_modules.judge import Verdict, differing
from linux_modules.package import MODULES, PACKAGE
from linux_modules.runs import Tally

INTRODUCTION = """\
# Linux's own modules

The algorithms that Linux has too, beside Linux's own modules: Debian's package `{package}`
{version}. `make linux-modules` builds the modules as they are, runs each beside the file of
`algorithms/`, and writes this page and the vectors that `make test` holds the files to
(`crates/algorithm/tests/linux`).

**How to read the table.** A small TCP sender, the same for both sides, runs over {count} paths,
most of them drawn at random: windows of {least} to {most:,} packets, RTTs of {fastest:.0f} to
{slowest:.0f} ms, ACKs for one, two or eight segments, random loss up to 1 %, marks, outages,
timeouts, pauses, recoveries that prove needless, others' packets, jitter. *In step* the module
drives and our file is called beside it with the same: a call differs if window, count, threshold,
clamp, pacing rate or what it returns is not the same to the last bit. *Alone* each side has the
path to itself; two runs are identical if window and threshold are the same in all round trips.
All is with default parameters, and of the senders' hooks alone: what Linux's stack does around
them is another matter ([agreement](agreement.md)).

**Identical** means that nothing differed. **As declared** means that the file differs on purpose,
in what its head comment says: with those lines put as Linux has them nothing differed, and
without any one of them something did. What else differs makes the target fail.

"""


def text(verdicts: Sequence[Verdict], version: str) -> str:
    """Return the page."""
    introduction = INTRODUCTION.format(
        package=PACKAGE,
        version=version,
        count=verdicts[0].plain.own,
        least=scenarios.WINDOWS[0],
        most=scenarios.WINDOWS[1],
        fastest=scenarios.RTTS_US[0] / 1000,
        slowest=scenarios.RTTS_US[1] / 1000,
    )
    return introduction + "\n".join(
        [
            table(
                (
                    "algorithm",
                    "module",
                    "calls in step",
                    "differing",
                    "windows",
                    "alone: identical",
                    "delivered alone",
                    "verdict",
                ),
                map(_row, verdicts),
            ),
            *_problems(verdicts),
            "## Differences on purpose\n",
            "What each makes differ by itself, the others put as Linux has them.\n",
            table(
                (
                    "algorithm",
                    "reason, from the head comment",
                    "differing calls",
                    "alone: identical",
                ),
                _declared(verdicts),
            ),
            "## What these runs do not reach\n",
            "Head comments say of these, too, that Linux has them otherwise.\n",
            table(("algorithm", "difference"), _others(verdicts)),
        ]
    )


def _row(verdict: Verdict) -> tuple[str, ...]:
    plain = verdict.plain
    return (
        f"[{verdict.algorithm}](algorithms/{verdict.algorithm}.md)",
        f"`{MODULES[verdict.algorithm]}`",
        f"{plain.calls:,}",
        f"{plain.differing:,}",
        f"{plain.windows[0]:,} to {plain.windows[1]:,}",
        _alone(plain),
        _by_how_much(plain),
        _word(verdict),
    )


def _by_how_much(tally: Tally) -> str:
    """Return how much more or less our side delivered."""
    theirs, ours = tally.delivered
    return "0" if theirs == ours else f"{100 * (ours / theirs - 1):+.3f} %"


def _alone(tally: Tally) -> str:
    return f"{tally.identical} of {tally.own}"


def _word(verdict: Verdict) -> str:
    if any(verdict.problems()):
        return "**differs**"
    return "as declared" if verdict.declared else "identical"


def _problems(verdicts: Sequence[Verdict]) -> Iterator[str]:
    found = [problem for verdict in verdicts for problem in verdict.problems()]
    if found:
        yield "## Not as declared\n"
        yield "".join(f"- {prose(problem)}\n" for problem in found)


def _declared(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for one in verdict.declared:
            calls, *_ = differing(one.alone).split("; ")
            yield verdict.algorithm, prose(one.reason), calls, _alone(one.alone)


def _others(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for other in verdict.others:
            yield verdict.algorithm, prose(other)
