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

This page compares the algorithms that Linux also has with Linux's own modules. The modules are
from Debian's package `{package}` {version}. `make linux-modules` builds them without changes, runs
each next to our file in `algorithms/`, and writes this page. It also writes the vectors with which
`make test` compares the files (`crates/algorithm/tests/linux`).

**The table.** A small TCP sender, the same for both sides, runs over {count} paths, most of them
drawn at random. They have windows of {least} to {most:,} packets, RTTs of {fastest:.0f} to
{slowest:.0f} ms, ACKs for one, two or eight segments, and random loss up to 1 %. Marks, outages,
timeouts, pauses, needless recoveries, packets of other flows and jitter occur, too. *In step*, the
module controls the sender, and our file gets the same calls. A call differs unless window, count,
threshold, clamp, pacing rate and returned value are the same to the last bit. *Alone*, each side
has the path to itself. Two runs are identical if window and threshold are the same in all round
trips. Parameters have their defaults, and only the hooks of senders are compared.
[Agreement](agreement.md) compares Linux's stack around them.

**Identical** means that nothing differed. **As declared** means that the file differs on purpose,
as its head comment states. After all these differences were removed, nothing differed. While any
one of them remained, something did. Any other difference makes the target fail.

"""


def text(verdicts: Sequence[Verdict], version: str) -> str:
    """Return the page."""
    introduction = INTRODUCTION.format(
        package=PACKAGE,
        version=version,
        count=verdicts[0].plain.own_runs,
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
            "Each row shows the effect of one difference, with the others as in Linux.\n",
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
            "Head comments declare these differences from Linux, too.\n",
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
    return f"{tally.identical} of {tally.own_runs}"


def _word(verdict: Verdict) -> str:
    if any(verdict.problems()):
        return "**differs**"
    return "as declared" if verdict.declared else "identical"


def _problems(verdicts: Sequence[Verdict]) -> Iterator[str]:
    problems = [problem for verdict in verdicts for problem in verdict.problems()]
    if problems:
        yield "## Not as declared\n"
        yield "".join(f"- {prose(problem)}\n" for problem in problems)


def _declared(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for one in verdict.declared:
            calls, *_ = differing(one.alone).split("; ")
            yield verdict.algorithm, prose(one.reason), calls, _alone(one.alone)


def _others(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, ...]]:
    for verdict in verdicts:
        for other in verdict.others:
            yield verdict.algorithm, prose(other)
