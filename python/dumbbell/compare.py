"""Algorithms side by side on one path, as many runs each as it takes for intervals.

Each algorithm runs against itself; a mix, such as one CUBIC flow beside two BIC flows, runs too if
it is asked for. Flows start within the first ten round trips; averages leave out the first fifth of
a run. The senders hold packets up for a random time of up to one service time of the bottleneck,
which breaks the phase effects of equal flows (Floyd and Jacobson 1992).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from dumbbell import catalogue
from dumbbell.analysis import metrics
from dumbbell.catalogue import Algorithm, Own
from dumbbell.errors import DumbbellError, InputError
from dumbbell.running import engines, executor, validity
from dumbbell.running.engine import Engine
from dumbbell.running.engines import EngineName
from dumbbell.running.executor import Progress
from dumbbell.running.places import Places, words
from dumbbell.running.store import Store
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.study.model import Convergence, Measure, PlannedRun, Test, places, scenarios
from dumbbell.units import (
    NS_PER_S,
    parse_integer,
    parse_probability,
    parse_queue,
    parse_rate,
    parse_time,
)

SKIPPED: Final = 0.2
"""Share of each run that averages leave out."""

RUNS_MAX: Final = 10_000
_PACKET_BITS: Final = 12_000
_JITTER_NS_MAX: Final = 10**6
_INTERVAL_NS_MAX: Final = 200 * 10**6
_SAMPLES: Final = 500
_START_RTTS: Final = 10


@dataclass(frozen=True)
class Measured:
    """A column of the comparison."""

    name: str
    title: str
    unit: str
    scale: float = 1.0
    """From the metric's own unit to the one shown."""


MEASURES: Final = (
    Measured("goodput_mbit", "goodput", "Mbit/s"),
    Measured("flow_goodput_mbit", "goodput per flow", "Mbit/s"),
    Measured("utilisation", "utilisation", "%", 100),
    Measured("rtt_ms", "RTT", "ms"),
    Measured("loss_overhead", "retransmitted", "%", 100),
    Measured("jain", "fairness (Jain)", ""),
)


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
        """Raise InputError for a value that is no quantity of its kind."""
        readers: Mapping[str, Callable[[str], object]] = {
            "rate": parse_rate,
            "rtt": parse_time,
            "buffer": parse_queue,
            "loss": parse_probability,
            "duration": parse_time,
            "stack": catalogue.stack_profile,
        }
        for key, read in readers.items():
            try:
                read(getattr(self, key))
            except InputError as error:
                raise error.at(key=key) from None


@dataclass(frozen=True)
class Mix:
    """Flows that share the path: algorithm, with its preset if any, and number of flows."""

    parts: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The mix as the command line takes it."""
        return ",".join(f"{algorithm}:{count}" for algorithm, count in self.parts)

    @property
    def flows(self) -> int:
        """Number of all flows."""
        return sum(count for _, count in self.parts)

    def positions(self, part: int) -> range:
        """Return the numbers of one part's flows, from 1."""
        first = 1 + sum(count for _, count in self.parts[:part])
        return range(first, first + self.parts[part][1])


@dataclass(frozen=True)
class Comparison:
    """What became of it.

    Attributes
    ----------
    setting
        The path.
    mixes
        What ran, in order; algorithms alone are mixes of one.
    runs
        One row per run and line of the table: ``line``, ``algorithm``, ``repetition`` and measures.
    means
        One row per line and measure: ``mean``, ``se``, ``low``, ``high`` and ``n``.
    engine
        What ran it.
    invalid
        The runs that are left out because they are invalid, with their reasons.
    """

    setting: Setting
    mixes: tuple[Mix, ...]
    runs: pl.DataFrame
    means: pl.DataFrame
    engine: Engine
    invalid: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in the metrics' own units."""
        lines = []
        for (line, algorithm), part in self.means.group_by(
            "line", "algorithm", maintain_order=True
        ):
            measures = {
                row.pop("measure"): row
                for row in part.drop("line", "algorithm").iter_rows(named=True)
            }
            lines.append({"flows": line, "algorithm": algorithm, "measures": measures})
        return {
            "setting": vars(self.setting),
            "engine": self.engine.identity,
            "lines": lines,
            "invalid": list(self.invalid),
        }


def parse_mix(text: str, own: dict[str, Algorithm] | None = None) -> Mix:
    """Read ``cubic:1,bic:2``; a C file in it is added to `own`."""
    own = {} if own is None else own
    parts: list[tuple[str, int]] = []
    for part in text.split(","):
        choice, _, count = part.strip().partition(":")
        try:
            algorithm = _named(choice, own)
            number = parse_integer(count or "1")
        except InputError as error:
            raise error.at(key="flows") from None
        if number < 1:
            raise InputError("no flows", key="flows", value=part, valid="cubic:1,bic:2")
        if algorithm in dict(parts):
            raise InputError("twice in the mix", key="flows", value=algorithm)
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
    results: Store | str | Path = "results",
    engine: Engine | str = EngineName.SIMULATOR,
    jobs: int | None = None,
    retries: int = validity.RETRIES,
    on_start: Callable[[Sequence[ResolvedScenario]], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Run algorithms on the same path and compare what they achieve.

    Parameters
    ----------
    algorithms
        Each runs against itself, with as many flows as `flows` says. A C file of your own is named
        by its path, ``./my_cc.c``.
    rate, rtt, buffer, loss, duration, stack
        The path, as in a scenario file; the buffer is the bottleneck's queue.
    flows
        A number, or a mix such as ``cubic:1,bic:2``, which then runs too.
    runs
        Repetitions with different seeds.
    seed
        Where all seeds come from.
    results
        Where runs are kept; those that are there already are not run again.
    engine
        "simulator", or "testbed": in real time, between hosts of this machine's kernel.
    on_start
        Told what is not there yet, before it runs.
    jobs, retries, on_progress
        See `engines.jobs` and `executor.execute`.
    """
    setting = Setting(rate, rtt, buffer, str(loss), duration, stack)
    setting.check()
    if not 1 <= runs <= RUNS_MAX:
        raise InputError(
            "impossible number of repetitions", key="runs", value=runs, valid=f"1 to {RUNS_MAX}"
        )
    own: dict[str, Algorithm] = {}
    mixes = _mixes(algorithms, flows, own)
    chosen = engines.runnable(engine)
    seeds = [_seed(seed, repetition) for repetition in range(runs)]
    planned = [run for mix in mixes for run in _plan(setting, mix, own, seeds, chosen)]
    store = results if isinstance(results, Store) else Store(results)
    if on_start is not None:
        on_start([run for run in scenarios(planned) if not store.has(run.key)])
    placed = places(planned)
    outcome = executor.execute(
        scenarios(planned),
        store,
        chosen,
        engines.jobs(chosen, jobs),
        on_progress,
        retries=retries,
        places=placed,
    )
    if outcome.failed:
        raise _failed(outcome.failed, placed)
    invalid = tuple(validity.described(*each) for each in outcome.invalid)
    if len(invalid) == len(scenarios(planned)):
        raise DumbbellError(f"no run is valid; the first is {invalid[0]}")
    means, lines = _measured(mixes, planned, store)
    return Comparison(setting, mixes, lines, means, chosen, invalid)


def _failed(failed: Sequence[tuple[ResolvedScenario, Exception]], placed: Places) -> DumbbellError:
    run, error = failed[0]
    told = f"{words(run, placed.get(run.key))}: {str(error) or type(error).__name__}"
    several = f"{len(failed)} runs failed; the first is "
    return DumbbellError(f"{several if len(failed) > 1 else 'a run failed: '}{told}")


def _mixes(
    algorithms: Sequence[str], flows: int | str, own: dict[str, Algorithm]
) -> tuple[Mix, ...]:
    mixed = None if str(flows).strip().isdecimal() else parse_mix(str(flows), own)
    count = mixed.flows if mixed else int(flows)
    if count < 1:
        raise InputError("no flows", key="flows", value=flows, valid="2, or a mix cubic:1,bic:2")
    try:
        names = [_named(algorithm, own) for algorithm in algorithms]
    except InputError as error:
        raise error.at(key="algorithm") from None
    alone = [Mix(((name, count),)) for name in dict.fromkeys(names)]
    mixes = (*alone, *([mixed] if mixed else []))
    if not mixes:
        raise InputError("nothing to compare", key="algorithm", valid="reno htcp ...")
    return mixes


def _seed(seed: int, repetition: int) -> int:
    digest = hashlib.sha256(f"dumbbell compare {seed} {repetition}".encode()).digest()
    return int.from_bytes(digest[:8])


def _plan(
    setting: Setting, mix: Mix, own: Own, seeds: Sequence[int], engine: Engine
) -> list[PlannedRun]:
    scenario = Scenario.parse(_scenario(setting, mix), "comparison", own)
    planned = []
    for repetition, seed in enumerate(seeds):
        seeded = scenario.model_copy(update={"seed": seed})
        planned.append(
            PlannedRun(
                test="compare",
                axes={"flows": mix.name},
                repetition=repetition,
                resolved=seeded.resolve().on(engine.identity),
                measure=Measure(skip=SKIPPED),
                convergence=Convergence(),
            )
        )
    return planned


def _scenario(setting: Setting, mix: Mix) -> dict[str, Any]:
    service_ns = _PACKET_BITS * NS_PER_S // max(1, parse_rate(setting.rate))
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
            "edge_jitter": f"{min(service_ns, _JITTER_NS_MAX)}ns",
            "loss": [{"place": "receiver", "probability": setting.loss}],
        },
        "flow": [
            {
                "algorithm": algorithm,
                "count": count,
                "start": {"from": "0s", "to": f"{latest_ns}ns"},
                "label": f"{algorithm} part {part}",
            }
            for part, (algorithm, count) in enumerate(mix.parts, start=1)
        ],
        "record": {"interval": f"{interval_ns}ns", "events": ["congestion"]},
    }


def _measured(
    mixes: Sequence[Mix], planned: Sequence[PlannedRun], store: Store
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the means and the runs; a mix without a valid run is in neither."""
    test = Test(name="compare", title="Comparison", axes={"flows": tuple(m.name for m in mixes)})
    table = metrics.frame(test, metrics.finished(planned, store))
    ran = set(table["flows"])
    lines = pl.concat([line for mix in mixes if mix.name in ran for line in _lines(mix, table)])
    means = [
        metrics.aggregate(lines, ["line", "algorithm"], measure.name)
        .filter(pl.col("n") > 0)
        .select("line", "algorithm", pl.lit(measure.name).alias("measure"), *_STATISTICS)
        for measure in MEASURES
    ]
    order = {line: place for place, line in enumerate(lines["line"].unique(maintain_order=True))}
    place = pl.col("line").replace_strict(order, return_dtype=pl.Int64)
    return pl.concat(means).sort(place, maintain_order=True), lines


def _lines(mix: Mix, table: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the runs of a mix as a whole, and then those of each algorithm in it."""
    runs = table.filter(pl.col("flows") == mix.name)
    alone = len(mix.parts) == 1
    whole = _line(
        runs,
        line=f"{mix.parts[0][0]} × {mix.flows}" if alone else mix.name,
        algorithm=mix.parts[0][0] if alone else None,
        flows=range(1, mix.flows + 1),
    ).with_columns(
        pl.Series(name, runs[name], dtype=pl.Float64)
        for name in ("utilisation", "loss_overhead", "jain")
    )
    if alone:
        return [whole]
    parts = [
        _line(runs, f"{algorithm} × {count} in the mix", algorithm, mix.positions(part))
        for part, (algorithm, count) in enumerate(mix.parts)
    ]
    return [whole, *parts]


def _line(runs: pl.DataFrame, line: str, algorithm: str | None, flows: range) -> pl.DataFrame:
    goodputs = [f"goodput_mbit_{flow}" for flow in flows]
    rtts = [f"rtt_mean_ms_{flow}" for flow in flows]
    none = pl.lit(None, dtype=pl.Float64)
    return runs.select(
        pl.lit(line).alias("line"),
        pl.lit(algorithm, dtype=pl.String).alias("algorithm"),
        "repetition",
        pl.sum_horizontal(goodputs).alias("goodput_mbit"),
        pl.mean_horizontal(goodputs).alias("flow_goodput_mbit"),
        none.alias("utilisation"),
        pl.mean_horizontal(rtts).alias("rtt_ms"),
        none.alias("loss_overhead"),
        none.alias("jain"),
    )


_STATISTICS: Final = ("mean", "se", "low", "high", "n")
