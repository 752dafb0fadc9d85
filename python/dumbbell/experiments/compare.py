"""Algorithms side by side on one path, as many runs each as it takes for intervals.

Each algorithm runs against itself; a mix, such as one CUBIC flow next to two BIC flows, runs too if
it is requested. Flows start within the first ten round trips; averages leave out the first fifth of
a run. Hosts have their defaults, as in any scenario that does not set them.

A comparison is an experiment (`dumbbell.experiments`): a study with its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import DumbbellError, InputError, placed
from dumbbell.base.labels import label_of, listing, window
from dumbbell.base.units import (
    QUEUE_EXAMPLES,
    parse_integer,
    parse_probability,
    parse_queue,
    parse_rate,
    parse_time,
)
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.places import words
from dumbbell.quantities import tables, taking
from dumbbell.quantities.reference import parse
from dumbbell.quantities.registry import Quantity
from dumbbell.quantities.taking import described
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store

SETTLING: Final = "20%"
"""The share of each run that averages leave out."""

RUNS_MAX: Final = 10_000
_INTERVAL_NS_MAX: Final = 200 * 10**6
_SAMPLES: Final = 500
_START_RTTS: Final = 10


SHOWN: Final = (
    "goodput_mbit_per_s",
    "goodput_mean_mbit_per_s",
    "utilisation",
    "rtt_mean_ms@run",
    "retransmitted_share@late",
    "jain",
)
"""The quantities by which algorithms are compared."""


@dataclass(frozen=True)
class Setting:
    """The path, and how long and how often it is used; quantities as in a scenario file."""

    rate: str
    rtt: str
    buffer: str = "1bdp"
    loss: str = "0"
    duration: str = "60s"
    stack: str = "linux-6"

    def check(self) -> None:
        """Raise InputError, keyed by the attribute, for what is wrong alone or with the others."""
        readers: Mapping[str, Callable[[str], object]] = {
            "rate": parse_rate,
            "rtt": parse_time,
            "buffer": _buffer,
            "loss": parse_probability,
            "duration": parse_time,
            "stack": catalogue.stack_profile,
        }
        for key, read in readers.items():
            with placed(key=key):
                read(getattr(self, key))
        with of_setting():
            Scenario.parse(scenario_table(self, Mix((("reno", 1),))))


def _buffer(text: str) -> object:
    """Read the size of a queue; the name of a discipline is none."""
    if not any(character.isdigit() for character in text):
        valid = f"{QUEUE_EXAMPLES}; a discipline goes into a scenario file"
        raise InputError("not the size of a queue", value=text, valid=valid)
    return parse_queue(text)


_KEYS: Final[Mapping[str, str]] = {
    "network.rate": "rate",
    "network.rtt": "rtt",
    "network.queue": "buffer",
    "network.loss": "loss",
    "stack": "stack",
    "flow": "flows",
    "duration": "duration",
    "record": "duration",
}
"""Key of the scenario of a setting -> what it comes from."""


@contextmanager
def of_setting() -> Iterator[None]:
    """Name the key of the setting where the scenario that is made of it is wrong."""
    try:
        yield
    except InputError as error:
        whole = (error.key or "").partition("scenario.")[2] or error.key or ""
        for key, ours in _KEYS.items():
            if f"{whole}.".startswith(f"{key}."):
                raise replace(error, source=None, key=ours, line=None, others=()) from None
        raise replace(error, source=None, key=whole or None, line=None) from None


@dataclass(frozen=True)
class Mix:
    """Flows that share the path: algorithm, with its preset if any, and number of flows."""

    parts: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The mix as the command line takes it."""
        return ",".join(f"{algorithm}:{count}" for algorithm, count in self.parts)

    @property
    def value(self) -> str:
        """The mix as the value of an axis, which may be part of a list and is no preset."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return self.name.replace(",", "+").replace("@", "/")

    @property
    def flows(self) -> int:
        """Number of all flows."""
        return sum(count for _, count in self.parts)


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes
    ----------
    results
        The study that it is, and its runs.
    runs
        One row per run and line of the table: ``line``, ``algorithm``, ``repetition`` and the
        quantities of `SHOWN`.
    means
        One row per line and ``quantity``: ``mean``, ``se``, ``low``, ``high`` and ``n``.
    windows
        From when to when in a run each quantity is taken, in seconds: of all runs together, whose
        flows start at other times, from the earliest to the latest.
    """

    results: Results
    runs: pl.DataFrame
    means: pl.DataFrame
    windows: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, results: Results) -> Comparison:
        """Take what is compared of the finished runs of a comparison."""
        lines = pl.concat([_NO_LINES, *_lines(results)])
        means = [
            tables.aggregate(lines, ["line", "algorithm"], name, share=described(name).is_share)
            .filter(pl.col("n") > 0)
            .select("line", "algorithm", pl.lit(name).alias("quantity"), *_STATISTICS)
            for name in SHOWN
        ]
        names = lines["line"].unique(maintain_order=True)
        order = {line: place for place, line in enumerate(names)}
        place = pl.col("line").replace_strict(order, return_dtype=pl.Int64, default=None)
        sorted_means = pl.concat(means).sort(place, maintain_order=True)
        return cls(results, lines, sorted_means, _windows(results))

    @property
    def engine(self) -> Engine:
        """The engine that ran it."""
        return self.results.engine

    @property
    def setting(self) -> Setting:
        """The path, as it was requested."""
        table = self.results.study.tests[0].scenario
        network = table["network"]
        return Setting(
            network["rate"],
            network["rtt"],
            network["queue"],
            network["loss"][0]["probability"],
            table["duration"],
            table["stack"],
        )

    @property
    def path(self) -> str:
        """The path, in words."""
        return self.results.study.header.summary

    @property
    def invalid(self) -> tuple[str, ...]:
        """The runs that are left out because they are invalid, with their reasons."""
        return tuple(self.results.invalid.values())

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Runs that may show something else than their algorithms."""
        return tuple(self.results.doubtful)

    @property
    def shown(self) -> Mapping[str, Quantity]:
        """The quantities that have values, by their references."""
        there = set(self.means["quantity"])
        return {name: described(name) for name in SHOWN if name in there}

    @property
    def windows_said(self) -> str:
        """Say over which part of the runs the quantities are taken."""
        named: dict[tuple[float, float], list[str]] = {}
        for name, quantity in self.shown.items():
            if name in self.windows:
                named.setdefault(self.windows[name], []).append(quantity.title)
        said = (f"{listing(titles)}: {window(*where)}" for where, titles in named.items())
        return "; ".join(said)

    def _window(self, name: str) -> dict[str, float]:
        return dict(zip(("from_s", "to_s"), self.windows.get(name, ()), strict=False))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in the quantities' own units."""
        lines = []
        for (line, algorithm), part in self.means.group_by(
            "line", "algorithm", maintain_order=True
        ):
            found = {
                name: {**row, **self._window(name)}
                for row in part.drop("line", "algorithm").iter_rows(named=True)
                for name in [row.pop("quantity")]
            }
            lines.append({"flows": line, "algorithm": algorithm, "quantities": found})
        return {
            "study": self.results.study.name,
            "setting": vars(self.setting),
            "engine": self.engine.identity,
            "lines": lines,
            "invalid": list(self.invalid),
            "doubtful": list(self.doubtful),
        }


def parse_mix(text: str, own: dict[str, Algorithm] | None = None) -> Mix:
    """Read ``cubic:1,bic:2``; a C file in it is added to `own`."""
    own = {} if own is None else own
    parts: list[tuple[str, int]] = []
    for part in text.split(","):
        choice, _, count = part.strip().partition(":")
        with placed(key="flows"):
            algorithm = _named(choice, own)
            number = parse_integer(count or "1")
        if number < 1:
            raise InputError("no flows", key="flows", value=part, valid="cubic:1,bic:2")
        if algorithm in dict(parts):
            raise InputError(
                "twice in the mix", key="flows", value=algorithm, valid="each algorithm once"
            )
        parts.append((algorithm, number))
    return Mix(tuple(parts))


def _named(choice: str, own: dict[str, Algorithm]) -> str:
    """Return what tables call an algorithm that exists."""
    name = catalogue.named(choice, Path(), own)
    catalogue.split_preset(name, own=own)
    return name


def compare(
    algorithms: Sequence[str],
    *,
    rate: str,
    rtt: str,
    buffer: str = "1bdp",
    loss: str | float = "0",
    flows: int | str = 2,
    duration: str = "60s",
    runs: int = 5,
    seed: int = 0,
    stack: str = "linux-6",
    engine: Engine | str = EngineName.SIMULATOR,
    results: Store | str | Path = "results",
    jobs: int | Pool | None = None,
    retries: int = RETRIES,
    large: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Run algorithms on one path and return what they achieved.

    Parameters
    ----------
    algorithms
        Algorithms, with or without presets; each runs against itself.
    rate
        Rate of the bottleneck.
    rtt
        Two-way propagation time.
    buffer
        Queue of the bottleneck: ``175p``, ``256kb``, ``10ms`` or ``0.2bdp``.
    loss
        Probability of random loss.
    flows
        Flows of each algorithm, or a mix such as ``cubic:1,bic:2``: it runs, too, and the
        algorithms alone have as many flows as it has.
    duration
        Length of a run.
    runs
        Repetitions with different seeds.
    seed
        Source of all seeds.
    stack
        TCP stack of the hosts.
    results
        The results folder; runs that it holds are not run again.
    engine
        "simulator", or "testbed": in real time, between hosts of this machine's kernel.
    jobs
        Number of runs at the same time (see `parallelism.jobs`), or a pool that takes them.
    retries
        Repetitions of a run that the testbed marks invalid.
    large
        True to run also what is larger than anybody is likely to mean (`dumbbell.bounds`), which
        otherwise raises TooLarge.
    on_progress
        Is called with what has been done, whenever a run has ended.
    """
    setting = Setting(rate, rtt, buffer, str(loss), duration, stack)
    store = results if isinstance(results, Store) else Store(results)
    asked = campaign(
        algorithms, setting, flows, runs=runs, seed=seed, store=store, engine=engines.named(engine)
    )
    outcome, _ = asked.run(large=large, jobs=jobs, retries=retries, on_progress=on_progress)
    if outcome.failed:
        run, error = outcome.failed[0]
        told = f"{words(run, asked.places.get(run.key))}: {str(error) or type(error).__name__}"
        several = f"{len(outcome.failed)} runs failed; the first is "
        raise DumbbellError(f"{several if len(outcome.failed) > 1 else 'a run failed: '}{told}")
    return compared(asked)


def campaign(
    algorithms: Sequence[str],
    setting: Setting,
    flows: int | str,
    *,
    runs: int,
    seed: int,
    store: Store,
    engine: Engine,
) -> Campaign:
    """Keep a comparison in a results folder and return what is to be run; see `compare`."""
    setting.check()
    if not 1 <= runs <= RUNS_MAX:
        raise InputError(
            "impossible number of repetitions", key="runs", value=runs, valid=f"1 to {RUNS_MAX}"
        )
    content = _content(_mixes(algorithms, flows), setting)
    store.create()
    with of_setting():
        return Campaign.of_experiment(content, store, engine, Plan.asked(runs=runs, seed=seed))


def compared(asked: Campaign) -> Comparison:
    """Return the result of the planned runs; DumbbellError if none is valid."""
    results = Results(asked.study, asked.store, [asked.plan], asked.engine)
    found = Comparison.of(results)
    if found.runs.is_empty():
        raise DumbbellError(f"no run is valid; the first is {found.invalid[0]}")
    return found


@dataclass(frozen=True)
class _Choice:
    """A mix as it runs: for each part, what it is called, and what was typed."""

    mix: Mix
    typed: Mapping[str, str]


def _mixes(algorithms: Sequence[str], flows: int | str) -> list[_Choice]:
    own: dict[str, Algorithm] = {}
    typed: dict[str, str] = {}
    mixed = None
    if not str(flows).strip().isdecimal():
        mixed = parse_mix(str(flows), own)
        for part in str(flows).split(","):
            choice = part.strip().partition(":")[0]
            typed[_named(choice, own)] = choice
    with placed(key="flows"):
        count = mixed.flows if mixed else parse_integer(flows)
    if count < 1:
        raise InputError("no flows", key="flows", value=flows, valid="2, or a mix cubic:1,bic:2")
    with placed(key="algorithm"):
        names = {_named(choice, own): choice for choice in algorithms}
    typed |= names
    alone = [Mix(((name, count),)) for name in names]
    mixes = (*alone, *([mixed] if mixed else []))
    if not mixes:
        raise InputError("nothing to compare", key="algorithm", valid="reno htcp ...")
    return [_Choice(mix, typed) for mix in mixes]


def _content(choices: Sequence[_Choice], setting: Setting) -> dict[str, Any]:
    """Return the study: an axis of algorithms, or of mixes where one is requested."""
    mixes = [choice.mix for choice in choices]
    alone = all(len(mix.parts) == 1 for mix in mixes)
    scenario = scenario_table(setting, mixes[0])
    test: dict[str, Any] = {
        "name": "compare",
        "title": "The same path for all",
        "seeds": "shared",
        "folder": str(Path.cwd()),
        "measure": {"settle": SETTLING},
    }
    if alone:
        flow = {**scenario["flow"][0], "algorithm": "{algorithm}", "label": "{algorithm}"}
        values = [choices[0].typed[mix.parts[0][0]] for mix in mixes]
        test |= {"axes": {"algorithm": values}, "scenario": {**scenario, "flow": [flow]}}
    else:
        vary = [
            {"where": {"flows": choice.mix.value}, "set": {"flow": _flows(choice, setting)}}
            # What is said of an algorithm holds with any preset, unless that is said later.
            for choice in sorted(choices, key=lambda each: "@" in each.mix.value)
        ]
        common = {key: value for key, value in scenario.items() if key != "flow"}
        test |= {
            "axes": {"flows": [mix.value for mix in mixes]},
            "scenario": common,
            "vary": vary,
        }
    who = listing([label_of(mix.parts[0][0]) if len(mix.parts) == 1 else mix.name for mix in mixes])
    loss = f", random loss {setting.loss}" if parse_probability(setting.loss) else ""
    path = f"{setting.rate}, RTT {setting.rtt}, buffer {setting.buffer}{loss}"
    return {
        **experiments.head(
            "compare",
            [test],
            command=_command(choices, setting),
            title=who if len(mixes) == 1 else f"{who} compared",
            summary=f"{path}, {setting.duration}",
        ),
        "figure": list(_figures("algorithm" if alone else "flows")),
    }


def _command(choices: Sequence[_Choice], setting: Setting) -> list[str]:
    """Return the command that compares the same again."""
    mixes = [choice.mix for choice in choices]
    typed = choices[0].typed
    alone = [typed[mix.parts[0][0]] for mix in mixes if len(mix.parts) == 1]
    mixed = [mix for mix in mixes if len(mix.parts) > 1]
    flows = [f"{typed[name]}:{count}" for mix in mixed for name, count in mix.parts]
    options = {**vars(setting), "flows": ",".join(flows) or str(mixes[0].flows)}
    return ["compare", *alone, *(word for key in options for word in (f"--{key}", options[key]))]


def _flows(choice: _Choice, setting: Setting) -> list[dict[str, Any]]:
    """Return the flows of a mix with what was typed for their algorithms."""
    flows = scenario_table(setting, choice.mix)["flow"]
    return [{**flow, "algorithm": choice.typed[flow["algorithm"]]} for flow in flows]


def _figures(axis: str) -> Iterator[dict[str, Any]]:
    common = {"section": "compare", "test": "compare", "series": axis}
    yield {
        "name": "trade-off",
        "title": "Goodput against delay",
        "kind": "tradeoff",
        "x": {"field": "rtt_mean_ms@run"},
        "y": {"field": "goodput_mbit_per_s"},
        **common,
    }
    yield {
        "name": "over-time",
        "title": "Over time",
        "kind": "overlay",
        "quantities": list(experiments.OVER_TIME),
        **common,
    }
    yield {"name": "delays", "title": "Distribution of delays", "kind": "cdf", **common}


def scenario_table(setting: Setting, mix: Mix) -> dict[str, Any]:
    """Return the scenario of a mix on a path, as its file would say it."""
    duration_ns = parse_time(setting.duration)
    interval_ns = max(1, min(_INTERVAL_NS_MAX, duration_ns // _SAMPLES))
    latest_ns = min(_START_RTTS * parse_time(setting.rtt), duration_ns // 10)
    return {
        "duration": setting.duration,
        "stack": setting.stack,
        "network": {
            "rate": setting.rate,
            "rtt": setting.rtt,
            "queue": setting.buffer,
            "loss": [{"place": "receiver", "probability": setting.loss}],
        },
        "flow": [
            {
                "algorithm": algorithm,
                "count": count,
                "start": {"from": "0s", "to": f"{latest_ns}ns"},
                "label": algorithm,
                **({"group": _group(part)} if len(mix.parts) > 1 else {}),
            }
            for part, (algorithm, count) in enumerate(mix.parts, start=1)
        ],
        "record": {"interval": f"{interval_ns}ns", "events": ["congestion"]},
    }


def _group(part: int) -> str:
    return f"part-{part}"


def _lines(results: Results) -> Iterator[pl.DataFrame]:
    """Yield the runs of each mix as a whole, and then those of each algorithm in it."""
    (test,) = results.study.tests
    by_point: dict[str, list[PlannedRun]] = {}
    for run in results.finished(test.name):
        (value,) = run.axes.values()
        by_point.setdefault(value, []).append(run)
    for (value,) in (point.values() for point in test.grid_points):
        runs = by_point.get(value)
        if runs:
            yield from _lines_of(_mix(runs[0]), runs, results.store)


def _windows(results: Results) -> dict[str, tuple[float, float]]:
    """Return from when to when quantities are taken, of all runs together."""
    (test,) = results.study.tests
    asked = {name: [str(replace(parse(name), name=end)) for end in _WINDOW] for name in SHOWN}
    references = [reference for pair in asked.values() for reference in pair]
    found = [
        values
        for _, values in taking.of_runs(results.finished(test.name), references, results.store)
    ]
    windows = {}
    for name, (begins, ends) in asked.items():
        starts = [value for values in found if (value := values[begins]) is not None]
        stops = [value for values in found if (value := values[ends]) is not None]
        if starts and stops:
            windows[name] = (min(starts), max(stops))
    return windows


def _mix(run: PlannedRun) -> Mix:
    """Return what shares the path in a run."""
    flows = run.resolved.scenario.flows
    counted: dict[str, int] = {}
    for numbers in facts.bundles(flows):
        name = facts.choice(flows[numbers[0]])
        counted[name] = counted.get(name, 0) + 1
    return Mix(tuple(counted.items()))


def _lines_of(mix: Mix, runs: Sequence[PlannedRun], store: Store) -> Iterator[pl.DataFrame]:
    if len(mix.parts) == 1:
        algorithm = mix.parts[0][0]
        yield _line(runs, store, f"{algorithm} × {mix.flows}", algorithm, None)
        return
    yield _line(runs, store, mix.name, None, None)
    for part, (algorithm, count) in enumerate(mix.parts, start=1):
        line = f"{algorithm} × {count} in the mix"
        yield _line(runs, store, line, algorithm, _group(part))


def _line(
    runs: Sequence[PlannedRun],
    store: Store,
    line: str,
    algorithm: str | None,
    group: str | None,
) -> pl.DataFrame:
    """Return what is shown of all flows, or of a group; a queue is not that of a group."""
    asked = {
        name: str(parse(name).of(group))
        for name in SHOWN
        if group is None or not described(name).of_queue
    }
    rows = [
        {
            "line": line,
            "algorithm": algorithm,
            "repetition": run.repetition,
            **{name: values.get(asked.get(name, "")) for name in SHOWN},
        }
        for run, values in taking.of_runs(runs, list(asked.values()), store)
    ]
    return pl.DataFrame(rows, schema=_NO_LINES.schema)


_WINDOW: Final = ("window_from_s", "window_to_s")
_STATISTICS: Final = ("mean", "se", "low", "high", "n")

_NO_LINES: Final = pl.DataFrame(
    schema={
        "line": pl.String,
        "algorithm": pl.String,
        "repetition": pl.Int64,
        **dict.fromkeys(SHOWN, pl.Float64),
    }
)
