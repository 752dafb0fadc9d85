"""Algorithms side by side on one path, as many runs each as it takes for intervals.

Each algorithm runs against itself; a mix, such as one CUBIC flow next to two BIC flows, runs too if
it is requested. Flows start within the first ten round trips; averages leave out the first fifth of
a run. Hosts have their defaults, as in any scenario that does not set them.

A comparison is an experiment (`dumbbell.experiments`): a study with its results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.labels import labels_of
from dumbbell.base.errors import DumbbellError, InputError, placed
from dumbbell.base.labels import listing
from dumbbell.base.units import (
    parse_integer,
    parse_probability,
)
from dumbbell.engines import engines
from dumbbell.engines.choices import RETRIES, EngineName
from dumbbell.engines.engine import Engine
from dumbbell.execution.executor import Progress
from dumbbell.execution.pools import Pool
from dumbbell.experiments.comparison import Comparison
from dumbbell.experiments.mixes import Mix, named, parse_mix
from dumbbell.experiments.setting import (
    OWN_START,
    SETTLING,
    Setting,
    of_setting,
    option,
    scenario_table,
)
from dumbbell.results import experiments
from dumbbell.results.campaign import Campaign
from dumbbell.results.plans import Plan
from dumbbell.results.results import Results
from dumbbell.store.store import Store

RUNS_MAX: Final = 10_000


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
    slow_start: str = OWN_START,
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
    slow_start
        Slow start of all flows: the switch ``slow_start`` of their stack.
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
    setting = Setting(rate, rtt, buffer, str(loss), duration, stack, slow_start)
    store = Store.of(results)
    planned = campaign(
        algorithms, setting, flows, runs=runs, seed=seed, store=store, engine=engines.named(engine)
    )
    planned.complete(large=large, jobs=jobs, retries=retries, on_progress=on_progress)
    return compared(planned)


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
    setting.check_duration()
    check_runs(runs)
    content = _content(_mixes(algorithms, flows), setting)
    store.create()
    with of_setting():
        return Campaign.of_experiment(content, store, engine, Plan.requested(runs=runs, seed=seed))


def check_runs(runs: int) -> None:
    """Refuse an impossible number of repetitions."""
    if not 1 <= runs <= RUNS_MAX:
        raise InputError(
            "impossible number of repetitions", key="runs", value=runs, valid=f"1 to {RUNS_MAX}"
        )


def compared(campaign: Campaign) -> Comparison:
    """Return the result of the planned runs; DumbbellError if none is valid."""
    results = Results(campaign.study, campaign.store, [campaign.plan], campaign.engine)
    comparison = Comparison.of(results)
    if comparison.runs.is_empty():
        raise DumbbellError(f"no run is valid; the first is {comparison.invalid[0]}")
    return comparison


@dataclass(frozen=True)
class _Choice:
    """A mix as it runs: for each part, what it is called, and what was typed."""

    mix: Mix
    typed: Mapping[str, str]


def _mixes(algorithms: Sequence[str], flows: int | str) -> list[_Choice]:
    own_algorithms: dict[str, Algorithm] = {}
    typed: dict[str, str] = {}
    mixed = None
    if not re.fullmatch(r"-?[\d.]*", str(flows).strip()):
        mixed = parse_mix(str(flows), own_algorithms)
        for part in str(flows).split(","):
            choice = part.strip().partition(":")[0]
            typed[named(choice, own_algorithms)] = choice
    with placed(key="flows"):
        count = mixed.flows if mixed else parse_integer(flows)
    if count < 1:
        raise InputError("no flows", key="flows", value=flows, valid="2, or a mix cubic:1,bic:2")
    with placed(key="algorithm"):
        names = {named(choice, own_algorithms): choice for choice in algorithms}
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
        # The study is kept elsewhere, and files of algorithms are named from here.
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
            for choice in sorted(choices, key=lambda choice: "@" in choice.mix.value)
        ]
        common = {key: value for key, value in scenario.items() if key != "flow"}
        test |= {
            "axes": {"flows": [mix.value for mix in mixes]},
            "scenario": common,
            "vary": vary,
        }
    labels = labels_of(mix.parts[0][0] for mix in mixes if len(mix.parts) == 1)
    who = listing([*labels.values(), *(mix.name for mix in mixes if len(mix.parts) > 1)])
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
    if setting.slow_start == OWN_START:
        del options["slow_start"]
    return ["compare", *alone, *(word for key in options for word in (option(key), options[key]))]


def _flows(choice: _Choice, setting: Setting) -> list[dict[str, Any]]:
    """Return the flows of a mix with what was typed for their algorithms."""
    flows = scenario_table(setting, choice.mix)["flow"]
    return [{**flow, "algorithm": choice.typed[flow["algorithm"]]} for flow in flows]


def _figures(axis: str) -> Iterator[dict[str, Any]]:
    yield {
        "name": "trade-off",
        "title": "Goodput against delay",
        "kind": "tradeoff",
        "x": {"field": "rtt_mean_ms@run"},
        "y": {"field": "goodput_mbit_per_s"},
        "section": "compare",
        "test": "compare",
        "series": axis,
    }
    yield from experiments.figures("compare", axis)
