"""Which algorithm to use on a path: the field of them, on it and on paths like it.

Each algorithm runs alone, with datagrams at a fifth of the rate in the middle third of the run, and
beside a legacy flow. The answer rests on a path a little shorter and one a little longer, too, so
that it does not hang on a point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from dumbbell import catalogue, statistics
from dumbbell.catalogue import Algorithm
from dumbbell.compare import Setting
from dumbbell.errors import InputError, placed
from dumbbell.estimates import Estimate
from dumbbell.running import engines
from dumbbell.running.choices import EngineName
from dumbbell.running.executor import Progress
from dumbbell.running.pools import Pool
from dumbbell.running.store import Store
from dumbbell.tune import paths
from dumbbell.tune.objectives import BESIDE, FLOOR, TUNED
from dumbbell.tune.paths import NetworkPath, Traffic
from dumbbell.tune.trying import Entrant, Runs, Trial, all_of
from dumbbell.units import format_rate, parse_rate

CROSS: Final = 5
"""The rate over this is that of the datagrams."""

AS_GOOD: Final = 0.98
"""With this share of the best goodput an algorithm is as good."""

KEPT: Final = 0.8
"""What leaves a legacy flow less than this share of its goodput is advised only if all do."""

SAME_DELAY: Final = 1.1
"""Round-trip times within this factor make no difference."""

GOODPUT: Final = f"goodput_mbit_per_s[{TUNED}]@before"
RTT: Final = f"rtt_mean_ms[{TUNED}]@before"
AFTER: Final = f"goodput_mbit_per_s[{TUNED}]@after"
LEGACY: Final = f"goodput_mbit_per_s[{BESIDE}]"


@dataclass(frozen=True)
class Candidate:
    """An algorithm on the path.

    Attributes
    ----------
    name
        Its name.
    goodput
        Mbit/s alone, on the path itself.
    rtt
        Mean round-trip time in ms alone, on the path itself.
    recovery
        Goodput after the datagrams over that before them, on all paths.
    kept
        Goodput of a legacy flow beside it over that beside another legacy flow, on all paths.
    of_best
        Goodput over that of the algorithm that has most, on all paths.
    """

    name: str
    goodput: Estimate
    rtt: Estimate
    recovery: Estimate
    kept: Estimate
    of_best: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "algorithm": self.name,
            "goodput_mbit_per_s": self.goodput.as_dict(),
            "rtt_mean_ms": self.rtt.as_dict(),
            "recovery": self.recovery.as_dict(),
            "legacy_keeps": self.kept.as_dict(),
            "goodput_of_best": self.of_best.as_dict(),
        }


@dataclass(frozen=True)
class Advice:
    """What to use.

    Attributes
    ----------
    setting, beside
        The path, and the legacy algorithm.
    candidates
        The field, the most goodput first.
    advised
        The one to use.
    reason
        Why.
    matters
        Whether the choice matters.
    left_out
        Algorithms that need what the path does not have.
    """

    setting: Setting
    beside: str
    candidates: tuple[Candidate, ...]
    advised: Candidate
    reason: str
    matters: bool
    left_out: tuple[str, ...] = ()

    @property
    def gentler(self) -> Candidate | None:
        """Who has most goodput of those that do not harm the legacy flow."""
        return next((each for each in self.candidates if each.kept.value >= KEPT), None)

    @property
    def warning(self) -> str:
        """How much the one to use harms the legacy flow, and who does not; empty: it does not."""
        if self.advised.kept.value >= KEPT:
            return ""
        text = f"It leaves {self.beside} {_percent(self.advised.kept)} of its goodput"
        if self.gentler is None:
            return f"{text}."
        name, share = self.gentler.name, _percent(self.gentler.of_best)
        return (
            f"{text}; {name}, with {share} of the best goodput, leaves it "
            f"{_percent(self.gentler.kept)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "setting": vars(self.setting),
            "beside": self.beside,
            "advised": self.advised.name,
            "reason": self.reason,
            "matters": self.matters,
            "warning": self.warning,
            "candidates": [each.as_dict() for each in self.candidates],
            "left_out": list(self.left_out),
        }


def advise(
    setting: Setting,
    *,
    beside: str = "cubic",
    among: Sequence[str] = (),
    runs: int = 3,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    large: bool = False,
    on_progress: Callable[[str, Progress], None] | None = None,
) -> Advice:
    """Run the field of algorithms and say which to use.

    Parameters
    ----------
    setting
        The path.
    beside
        The legacy algorithm that others on the path use.
    among
        The algorithms that can be chosen; by default all that need no congestion marks.
    runs
        Repetitions on each path.
    large
        As for `compare`.
    on_progress
        Hears beside whom the algorithms run, and of each run that has come to its end.
    """
    own: dict[str, Algorithm] = {}
    with placed(source="--among"):
        names, left_out = _field(among, own)
    with placed(source="--beside"):
        catalogue.split_preset(catalogue.named(beside, Path(), own), own=own)
    if runs < 1:
        raise InputError("no runs", source="--runs", value=runs, valid="1 or more")
    setting.check()
    settings = [setting, *_neighbours(setting)]
    cross = format_rate(max(1, parse_rate(setting.rate) // CROSS))
    alone = paths.described(settings, Traffic(cross=cross))
    shared = paths.described(settings, Traffic(beside=beside))
    store = results if isinstance(results, Store) else Store(results)
    everyone = dict.fromkeys([*names, beside])
    if not large:
        paths.check_size([*alone, *shared], beside, own, jobs, times=len(everyone) * runs)

    def made(what: str, places: Sequence[NetworkPath], *quantities: str) -> _Made:
        engine = engines.named(EngineName.SIMULATOR)
        told = None if on_progress is None else partial(on_progress, what)
        done = Runs((), store, engine, jobs, own, quantities, told)
        found = _Made(done, places, range(runs))
        done.make(trial for name in everyone for trial in found.trials(name))
        return found

    ran_alone = made("alone", alone, GOODPUT, RTT, AFTER)
    ran_beside = made(f"beside {beside}", shared, LEGACY)
    best = max(names, key=lambda name: statistics.mean(ran_alone.logs(name)).value)
    candidates = sorted(
        (_candidate(name, ran_alone, ran_beside, best, beside) for name in names),
        key=lambda each: -each.of_best.value,
    )
    return _advice(setting, beside, candidates, left_out)


def _field(among: Sequence[str], own: dict[str, Algorithm]) -> tuple[list[str], tuple[str, ...]]:
    if among:
        names = [catalogue.named(name, Path(), own) for name in among]
        for name in names:
            catalogue.split_preset(name, own=own)
        return list(dict.fromkeys(names)), ()
    known = catalogue.algorithms().values()
    return (
        [each.name for each in known if not each.needs_ecn],
        tuple(each.name for each in known if each.needs_ecn),
    )


def _neighbours(setting: Setting) -> list[Setting]:
    """Return the path shorter and longer by three tenths."""
    return [each for each in paths.around([setting]) if each.rtt != setting.rtt]


@dataclass(frozen=True)
class _Made:
    """Runs of all algorithms on some paths."""

    runs: Runs
    places: Sequence[NetworkPath]
    repetitions: range

    def trials(self, name: str) -> list[Trial]:
        """Return the runs of an algorithm."""
        return all_of(Entrant(name), self.places, self.repetitions)

    def of(self, name: str, quantity: str) -> list[float]:
        """Return a quantity of the runs of an algorithm."""
        return self.runs.values(self.trials(name), quantity)

    def on_first(self, name: str, quantity: str) -> list[float]:
        """Return it of the runs on the first path alone."""
        here = [each for each in self.trials(name) if each.path is self.places[0]]
        return self.runs.values(here, quantity)

    def logs(self, name: str) -> list[float]:
        """Return logarithms of goodputs, in which slow and fast paths count alike."""
        return [math.log(max(value, FLOOR)) for value in self.of(name, GOODPUT)]


def _candidate(name: str, alone: _Made, shared: _Made, best: str, beside: str) -> Candidate:
    before = alone.of(name, GOODPUT)
    theirs = alone.of(best, GOODPUT)
    ratios = [
        max(one, FLOOR) / max(other, FLOOR) for one, other in zip(before, theirs, strict=True)
    ]
    return Candidate(
        name,
        statistics.mean(alone.on_first(name, GOODPUT)),
        statistics.mean(alone.on_first(name, RTT)),
        statistics.ratio(alone.of(name, AFTER), before, pairs=True),
        statistics.ratio(shared.of(name, LEGACY), shared.of(beside, LEGACY), pairs=True),
        statistics.geometric_mean(ratios),
    )


def _advice(
    setting: Setting, beside: str, candidates: Sequence[Candidate], left_out: tuple[str, ...]
) -> Advice:
    as_good = [each for each in candidates if each.of_best.value >= AS_GOOD]
    harmless = [each for each in as_good if each.kept.value >= KEPT]
    chosen = min(harmless or as_good, key=lambda each: each.rtt.value)
    delays = [each.rtt.value for each in as_good]
    matters = len(as_good) < len(candidates) or max(delays) > SAME_DELAY * min(delays)
    reason = _reason(candidates, as_good, harmless, beside)
    return Advice(setting, beside, tuple(candidates), chosen, reason, matters, left_out)


def _percent(share: Estimate) -> str:
    return f"{100 * share.value:.0f} %"


def _reason(
    candidates: Sequence[Candidate],
    as_good: Sequence[Candidate],
    harmless: Sequence[Candidate],
    beside: str,
) -> str:
    count = len(candidates)
    if count == 1:
        return "there is no other"
    share = f"{100 * AS_GOOD:.0f} %"
    if len(as_good) == 1:
        others = "the other one" if count == 2 else f"each of the {count - 1} others"
        return f"{others} has less than {share} of its goodput"
    text = f"{len(as_good)} of {count} have {share} of the best goodput"
    if not harmless:
        return f"{text}; all of them harm {beside}; it has the shortest round-trip time"
    if len(harmless) < len(as_good):
        text += f", {len(harmless)} of these leave {beside} {100 * KEPT:.0f} % of its goodput"
    return f"{text}; of these it has the shortest round-trip time"
