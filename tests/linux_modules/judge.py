"""Comparison of a file of ours with Linux's, but for the differences that are declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from linux_modules import differences
from linux_modules.differences import Difference
from linux_modules.runs import Tally


@dataclass(frozen=True)
class Declared:
    """A difference, and its effect alone."""

    difference: Difference
    reason: str
    alone: Tally


@dataclass(frozen=True)
class Verdict:
    """The result for an algorithm.

    Attributes
    ----------
    plain
        Our file as it is.
    as_linux
        With the edits of all declared differences; `plain` where none is.
    declared
        The differences.
    others
        Differences in the head comment that these runs do not reach.
    """

    algorithm: str
    plain: Tally
    as_linux: Tally
    declared: tuple[Declared, ...]
    others: tuple[str, ...]

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, a line each."""
        name = self.algorithm
        if not self.as_linux.is_identical:
            difference = differing(self.as_linux)
            rest = "beyond what differences.toml declares" if self.declared else "from Linux"
            yield f"{name} differs {rest}: {difference}"
        for one in self.declared:
            if one.alone.is_identical:
                yield (
                    f"{name}: '{one.difference.words}' makes nothing differ any more: take it out "
                    "of differences.toml, and the sentence out of the head comment"
                )


def judged(
    algorithm: str,
    source: str,
    declared: Sequence[Difference],
    tally: Callable[[Path], Tally],
    program: Callable[[str, str, str], Path],
) -> Verdict:
    """Judge a file of ours: `program` builds one of a source, `tally` runs it."""

    def of(variant: str, edited: Sequence[Difference]) -> Tally:
        return tally(program(algorithm, differences.as_linux(source, edited), variant))

    stated = differences.statements(algorithm, source, declared)
    plain = of("plain", ())
    if not declared:
        return Verdict(algorithm, plain, plain, (), stated.others)
    as_linux = of("as_linux", declared)
    alone = (
        [plain]
        if len(declared) == 1
        else [
            of(f"but_{number}", [other for other in declared if other is not one])
            for number, one in enumerate(declared, 1)
        ]
    )
    declarations = tuple(map(Declared, declared, stated.reasons, alone))
    return Verdict(algorithm, plain, as_linux, declarations, stated.others)


def differing(tally: Tally) -> str:
    """Return in words what differs."""
    parts = [
        f"{tally.differing:,} of {tally.calls:,} calls",
        f"alone {tally.own_runs - tally.identical} of {tally.own_runs} runs",
    ]
    counts = sorted(tally.outcomes.items(), key=lambda item: (-item[1], item[0]))
    return "; ".join([*parts, *(f"{name} {count:,} times" for name, count in counts[:4])])
