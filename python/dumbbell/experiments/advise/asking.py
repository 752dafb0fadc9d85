"""The runs on which advice is based, and their results for each algorithm.

Each algorithm runs alone, with datagrams at a fifth of the rate in the middle third of the run. It
also runs next to a legacy flow: once it starts first, once last. A path a little shorter and one a
little longer count, too, so that advice does not hang on a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import OwnAlgorithms
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import NS_PER_S, format_rate, format_time, parse_rate, parse_time
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.advise.candidates import Candidate, Meeting, Start
from dumbbell.experiments.advise.choosing import Advice, choose
from dumbbell.experiments.advise.conditions import NEEDS_MARKS
from dumbbell.experiments.setting import Setting
from dumbbell.experiments.tune import paths
from dumbbell.experiments.tune.objectives import BESIDE, TUNED
from dumbbell.experiments.tune.paths import NetworkPath, Traffic
from dumbbell.experiments.tune.trying import Entrant, Runs, Trial, all_of
from dumbbell.inference import known, statistics
from dumbbell.inference.estimates import Estimate
from dumbbell.plan.tests import check_count
from dumbbell.store.store import Store

CROSS: Final = 5
"""The rate over this is that of the datagrams."""

ROUND_TRIPS_MIN: Final = 20
"""Of the longest path: in shorter runs there is hardly more than slow start."""

GOODPUT: Final = f"goodput_mbit_per_s[{TUNED}]@before"
AFTER: Final = f"goodput_mbit_per_s[{TUNED}]@after"
RTT: Final = f"rtt_mean_ms[{TUNED}]@run"
AGAIN: Final = f"retransmitted_share[{TUNED}]@run"
ALONE_WINDOW: Final = ("window_from_s@before", "window_to_s@before")
ALONE: Final = (GOODPUT, AFTER, RTT, AGAIN, *ALONE_WINDOW)

OWN_GOODPUT: Final = f"goodput_mbit_per_s[{TUNED}]"
OWN_AGAIN: Final = f"retransmitted_share[{TUNED}]"
LEGACY_GOODPUT: Final = f"goodput_mbit_per_s[{BESIDE}]"
LEGACY_RTT: Final = f"rtt_mean_ms[{BESIDE}]"
LEGACY_AGAIN: Final = f"retransmitted_share[{BESIDE}]"
MEETING_WINDOW: Final = ("window_from_s", "window_to_s")
MEETING: Final = (
    OWN_GOODPUT,
    OWN_AGAIN,
    LEGACY_GOODPUT,
    LEGACY_RTT,
    LEGACY_AGAIN,
    *MEETING_WINDOW,
)

_LATE: Final = {Start.FIRST: BESIDE, Start.LAST: TUNED}
"""The group whose flows start late, by when the algorithm's start."""

_RATIO: Final = partial(statistics.ratio, pairs=True)


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
    """Run the field of algorithms and say which to use, and which are unfit.

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
        Hears next to whom the algorithms run, and of each run that has come to its end.
    """
    own_algorithms: dict[str, catalogue.Algorithm] = {}
    with placed(key="among"):
        names, left_out = _field(among, own_algorithms)
    with placed(key="beside"):
        beside = catalogue.named(beside, Path(), own_algorithms)
        catalogue.split_preset(beside, own_algorithms=own_algorithms)
    if runs < 1:
        raise InputError("no runs", key="runs", value=runs, valid="1 or more")
    settings = _settings(setting)
    # At least 1 bit/s, as a rate of 0 is none.
    cross = format_rate(max(1, parse_rate(setting.rate) // CROSS))
    store = Store.of(results)
    # Every algorithm runs alone and in each order of start. The legacy one is always among them, as
    # all others are compared with it.
    times = len({*names, beside}) * runs * (1 + len(_LATE))
    check_count(len(settings) * times)
    if not large:
        places = paths.described(settings, Traffic(beside=beside))
        paths.check_size(places, beside, own_algorithms, jobs, times=times)

    def made(what: str, traffic: Traffic, quantities: tuple[str, ...]) -> _Made:
        report = None if on_progress is None else partial(on_progress, what)
        engine = engines.named(EngineName.SIMULATOR)
        done = Runs((), store, engine, jobs, own_algorithms, quantities, report)
        made_runs = _Made(done, paths.described(settings, traffic), range(runs))
        made_runs.make([*names, beside])
        return made_runs

    alone = made("alone", Traffic(cross=cross), ALONE)
    meetings = {
        start: made(
            f"next to {beside}, {start} to start", Traffic(beside=beside, late=late), MEETING
        )
        for start, late in _LATE.items()
    }
    candidates = [
        _candidate(name, _needs_marks(name, own_algorithms), alone, meetings, beside)
        for name in names
    ]
    windows = {
        "goodput": _window([alone], ALONE_WINDOW, names),
        "RTT and resent": (0.0, parse_time(setting.duration) / NS_PER_S),
        "share and harm": _window(list(meetings.values()), MEETING_WINDOW, names),
    }
    shown_windows = {name: where for name, where in windows.items() if where is not None}
    return choose(setting, beside, runs, candidates, left_out, windows=shown_windows)


def _window(
    made: Sequence[_Made], ends: tuple[str, str], names: Sequence[str]
) -> tuple[float, float] | None:
    """Return a window of all runs together, in seconds: from the earliest to the latest."""
    begins, stops = (
        [value for made_runs in made for name in names for value in made_runs.of(name, end)]
        for end in ends
    )
    starts, stopped = ([value for value in side if value is not None] for side in (begins, stops))
    return (min(starts), max(stopped)) if starts and stopped else None


def _field(
    among: Sequence[str], own_algorithms: dict[str, catalogue.Algorithm]
) -> tuple[list[str], dict[str, str]]:
    """Return the algorithms to run, and why others are left out."""
    if among:
        names = [catalogue.named(name, Path(), own_algorithms) for name in among]
        for name in names:
            catalogue.split_preset(name, own_algorithms=own_algorithms)
        return list(dict.fromkeys(names)), {}
    known = list(catalogue.algorithms())
    names = [name for name in known if not _needs_marks(name, own_algorithms)]
    return names, {name: NEEDS_MARKS for name in known if name not in names}


def _needs_marks(choice: str, own_algorithms: OwnAlgorithms) -> bool:
    return catalogue.algorithm(choice.partition("@")[0], own_algorithms).needs_ecn


def _settings(setting: Setting) -> list[Setting]:
    """Return the path, and the same shorter and longer by three tenths."""
    setting.check()
    others = [other for other in paths.around([setting]) if other.rtt != setting.rtt]
    least = ROUND_TRIPS_MIN * max(parse_time(other.rtt) for other in [setting, *others])
    if parse_time(setting.duration) < least:
        raise InputError(
            f"shorter than {ROUND_TRIPS_MIN} round trips of the longest path that is tried",
            key="duration",
            value=setting.duration,
            valid=f"{format_time(least)} or more",
        )
    return [setting, *others]


@dataclass(frozen=True)
class _Made:
    """Runs of all algorithms on some paths."""

    runs: Runs
    places: Sequence[NetworkPath]
    repetitions: range

    def make(self, names: Iterable[str]) -> None:
        """Make the runs of algorithms."""
        self.runs.make(trial for name in dict.fromkeys(names) for trial in self._trials(name))

    def of(self, name: str, quantity: str) -> list[float | None]:
        """Return a quantity of the runs of an algorithm, in the same order for all."""
        return [self.runs.value(trial, quantity) for trial in self._trials(name)]

    def on_first(self, name: str, quantity: str) -> Estimate | None:
        """Return its mean on the first path alone."""
        # The other paths are longer or shorter, so their goodput and RTT are of other paths.
        here = [trial for trial in self._trials(name) if trial.path is self.places[0]]
        return known.mean([self.runs.value(trial, quantity) for trial in here])

    def _trials(self, name: str) -> list[Trial]:
        return all_of(Entrant(name), self.places, self.repetitions)


def _candidate(
    name: str, needs_marks: bool, alone: _Made, meetings: dict[Start, _Made], legacy: str
) -> Candidate:
    goodputs = alone.of(name, GOODPUT)
    return Candidate(
        name,
        needs_marks,
        alone.on_first(name, GOODPUT),
        alone.on_first(name, RTT),
        known.mean(alone.of(name, AGAIN)),
        known.of_pairs(_RATIO, alone.of(name, AFTER), goodputs),
        (
            _meeting(Start.FIRST, name, meetings[Start.FIRST], legacy),
            _meeting(Start.LAST, name, meetings[Start.LAST], legacy),
        ),
        # A run without a value counts as nothing, so that the runs of all algorithms stay in pairs.
        tuple(value or 0.0 for value in goodputs),
    )


def _meeting(start: Start, name: str, made: _Made, legacy: str) -> Meeting:
    def harm(quantity: str, *, more_is_better: bool) -> Estimate | None:
        judge = partial(statistics.harm, more_is_better=more_is_better)
        return known.of_pairs(judge, made.of(name, quantity), made.of(legacy, quantity))

    return Meeting(
        start,
        share=known.of_pairs(_RATIO, made.of(name, OWN_GOODPUT), made.of(legacy, OWN_GOODPUT)),
        harm=harm(LEGACY_GOODPUT, more_is_better=True),
        delay_harm=harm(LEGACY_RTT, more_is_better=False),
        loss_harm=harm(LEGACY_AGAIN, more_is_better=False),
        retransmitted=known.mean(made.of(name, OWN_AGAIN)),
        legacy_retransmitted=known.mean(made.of(name, LEGACY_AGAIN)),
        own_kind_retransmitted=known.mean(made.of(legacy, LEGACY_AGAIN)),
    )
