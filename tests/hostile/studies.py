"""Studies: wrong values, keys and text in one of their files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random
from typing import Final

import tomli_w

import small_study
from hostile.cases import Case
from hostile.toml_texts import TEXT_CHANGES, broken, change

KEYS: Final = (
    *(
        "name",
        "title",
        "runs",
        "axes",
        "where",
        "quick",
        "set",
        "test",
        "scenario",
        "check",
        "type",
    ),
    *("quantity", "low", "high", "kind", "x", "y", "facet", "overlay", "panel", "section", "id"),
    *("reason", "quirk", "text", "source", "over", "lines", "window", "exclude", "reference"),
)
_COMMANDS: Final = (
    ("run", "s", "--dry-run"),
    ("run", "s", "--quick", "--jobs", "1"),
    ("claims", "s"),
    ("claims", "s", "--json"),
    ("report", "s"),
    ("list", "studies"),
)


def shortened(text: str) -> str:
    """Return a file of the small study with runs of half a second."""
    return (
        text.replace('"12s"', '"0.6s"')
        .replace('"6s"', '"0.3s"')
        .replace('{ from = "1s", to = "2s" }', '{ from = "0.1s", to = "0.2s" }')
    )


def prepared(random: Random, box: Path) -> Case:
    """Write a study with one of its files changed."""
    folder = box / "mine" / random.choice(("s", "studies/s"))
    folder.mkdir(parents=True)
    for name, text in small_study.FILES.items():
        (folder / name).write_text(shortened(text))
    file = folder / random.choice(("study.toml", *small_study.FILES))
    content = file.read_bytes()
    is_wrong = random.random() < 0.15
    if is_wrong:
        content = broken(random, content)
    elif random.random() < 0.7:
        data = tomllib.loads(content.decode())
        for _ in range(random.choice((1, 1, 2))):
            change(random, data, KEYS)
        content = tomli_w.dumps(data).encode()
    else:
        content = random.choice(TEXT_CHANGES)(random, content)
    file.write_bytes(content)
    command = random.choice(_COMMANDS)
    named = f"./{folder.relative_to(box / 'mine')}"
    arguments = tuple(named if part == "s" else part for part in command)
    return Case(arguments, is_wrong and command != ("list", "studies"))
