"""Scenario files: values at the edges of their kinds, keys of all tables, and broken text."""

from __future__ import annotations

import copy
import functools
import json
import re
import shutil
import tomllib
from pathlib import Path
from random import Random
from typing import Any, Final

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings

import drawn_scale
import drawn_scenarios
from hostile.cases import Case
from hostile.toml_texts import TEXT_CHANGES, broken, change
from run_rust import ROOT

SHORTER: Final = 100
"""By how much examples are shortened, so that each takes well below a second."""
_TIME: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s)")


@functools.cache
def keys() -> tuple[str, ...]:
    """Return the name of every key of a scenario."""
    schema = json.loads((ROOT / "docs" / "scenario.schema.json").read_text())
    parts = (schema, *schema["$defs"].values())
    return tuple(sorted({key for part in parts for key in part.get("properties", ())}))


@functools.cache
def whole() -> tuple[dict[str, Any], ...]:
    """Return scenarios that run: the examples, shortened, and some that are drawn."""
    examples = [
        tomllib.loads(file.read_text()) for file in sorted(drawn_scale.EXAMPLES.glob("*.toml"))
    ]
    tables = [shortened(example) for example in examples]

    def keep(data: dict[str, Any]) -> None:
        tables.append(data)

    settings(
        max_examples=40,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )(seed(1)(given(drawn_scenarios.files())(keep)))()
    return tuple(tables)


def shortened(value: Any, is_time: bool = False) -> Any:
    """Return a scenario with all times of its run a part of what they are."""
    if isinstance(value, dict):
        long = ("duration", "start", "stop", "at")
        return {key: shortened(value, is_time or key in long) for key, value in value.items()}
    if isinstance(value, list):
        return [shortened(value, is_time) for value in value]
    if is_time and isinstance(value, str) and (time := _TIME.fullmatch(value)):
        return f"{float(time[1]) / SHORTER:f}{time[2]}"
    return value


def _unknown_key(random: Random, data: dict[str, Any]) -> None:
    random.choice([data, data["network"]])["no_such_key"] = 1


def _missing(random: Random, data: dict[str, Any]) -> None:
    del data[random.choice(("duration", "network"))]


def _other_kind(random: Random, data: dict[str, Any]) -> None:
    key = random.choice(("duration", "network", "flow", "seed"))
    data[key] = random.choice((float("nan"), {"a": [1]}, "\x1b[31m", [[]], True))


WRONG: Final = (_unknown_key, _missing, _other_kind)


def prepared(random: Random, box: Path) -> Case:
    """Write a scenario, which `simulate` is to run."""
    mine = box / "mine"
    for name in ("replay.txt", "radio.trace"):
        shutil.copy(drawn_scale.EXAMPLES / name, mine)
    data = copy.deepcopy(random.choice(whole()))
    is_wrong = random.random() < 0.15
    way = random.random()
    text = b""
    if is_wrong and way < 0.6:
        random.choice(WRONG)(random, data)
    elif not is_wrong and way < 0.75:
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            if data:
                change(random, data, keys())
    text = tomli_w.dumps(data).encode()
    if is_wrong and way >= 0.6:
        text = broken(random, text)
    elif not is_wrong and way >= 0.75 and text:
        text = random.choice(TEXT_CHANGES)(random, text)
    (mine / "a.toml").write_bytes(text)
    more = random.choice(((), ("--json",), ("--csv",), ("--runs", "2"), ("--tables", "t.csv")))
    return Case(("simulate", "a.toml", "--jobs", "1", *more), is_wrong)
