"""Command lines: every option of every command, with values at the edges of their kinds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import typer

import small_study
from dumbbell.cli import commands
from hostile.cases import Case
from hostile.studies import shortened

_LONG: Final = frozenset(
    {"serve", "validate", "tune", "hunt", "advise", "doctor", "check", "score"}
)
"""Commands that take long, or do not end, if all is well: these get a wrong option, too."""

_VALUES: Final = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "2",
        "1.5",
        "1e308",
        "nan",
        "inf",
        "9" * 400,
        str(10**20),
    ),
    *(
        "x",
        "x" * 300,
        "a\nb",
        "\x1b[31m",
        "\u202e",
        "../x",
        "/dev/zero",
        "/dev/null",
        ".",
        "a.toml",
    ),
    *("10ms", "-1s", "1ns", "1mbit", "0bit", "99tbit", "1bdp", "0p", "10mbit..1gbit*10", "1..2+0"),
    *(
        "1ms,2ms",
        "1%",
        "101%",
        "1e-3",
        "reno",
        "cubic,reno",
        "reno:4",
        "reno@x",
        "./x.c",
        "./s",
        "s",
    ),
    *(
        "network.rate=1mbit",
        "=",
        "a=b=c",
        "flow.9.x=1",
        "flow.-1.algorithm=reno",
        "1/0",
        "2/1",
        "1/9",
    ),
    *("runs", "json", "queue", "tcp://127.0.0.1:1", "local:0", "out.svg", "no/such/folder/x.html"),
)
_WRONG: Final = ("--no-such-option", "--jobs=none", "--results", "-Z")


@functools.cache
def _all() -> tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...]:
    """Return every command with its parameters."""
    return tuple(_below((), typer.main.get_command(commands.app)))


def _below(
    path: tuple[str, ...], command: Any
) -> Iterator[tuple[tuple[str, ...], tuple[Any, ...]]]:
    if not (inner := getattr(command, "commands", None)):
        yield path, tuple(command.params)
        return
    for name, value in inner.items():
        yield from _below((*path, name), value)


def _words(random: Random, parameter: Any) -> list[str]:
    """Return what is typed for a parameter."""
    value = random.choice(_VALUES)
    if parameter.param_type_name == "argument":
        return [random.choice((value, "a.toml", "./s", "reno", "runs"))]
    option = random.choice(parameter.opts)
    if random.random() < 0.05:
        option = option[:-1]
    if getattr(parameter, "is_flag", False):
        return [option]
    return (
        [f"{option}={value}"]
        if option.startswith("--") and random.random() < 0.5
        else [option, value]
    )


def prepared(random: Random, box: Path) -> Case:
    """Write a small scenario and a study, and type something."""
    mine = box / "mine"
    (mine / "a.toml").write_text(_SCENARIO)
    (mine / "s").mkdir()
    for name, text in small_study.FILES.items():
        (mine / "s" / name).write_text(shortened(text))
    path, parameters = random.choice(_all())
    typed = [
        word
        for parameter in parameters
        if parameter.required or random.random() < 0.25
        for word in _words(random, parameter)
        if "completion" not in word
    ]
    is_wrong = random.random() < 0.1 or bool(_LONG & set(path))
    if is_wrong:
        typed = [word for word in typed if word not in ("--", "-h", "--help")]
        typed.insert(0, random.choice(_WRONG[:2]))
    if random.random() < 0.2:
        random.shuffle(typed)
        is_wrong = is_wrong and "--" not in typed
    return Case((*path, *(word.replace("\0", "") for word in typed)), is_wrong)


_SCENARIO: Final = """
duration = "0.2s"
[network]
rate = "2mbit"
rtt = "10ms"
queue = "1bdp"
[[flow]]
algorithm = "reno"
"""
