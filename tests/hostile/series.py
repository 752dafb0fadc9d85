"""Files that a scenario names: traces, transfers, sizes, presets and own algorithms."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from random import Random
from typing import Final

from dumbbell.conformance import starting
from hostile.cases import Case
from hostile.toml_texts import TEXT_CHANGES

_TOP: Final = """
duration = "0.3s"
[network]
rtt = "10ms"
queue = "50p"
"""
_PLAIN: Final = 'rate = "10mbit"\n'
_FLOW: Final = '[[flow]]\nalgorithm = "reno"\n'
_NUMBERS: Final = (
    *("0", "-1", "1e9", "nan", "inf", "9" * 400, "9" * 19, "0x1", "1_0", "٣", "1.5", "", "1 2 3"),
    *("0s 0b", "-1s 1kb", "1s -1kb", "584y 1kb", "0s 1e30b", "1tb 0.5", "1kb 1.5", "1kb nan"),
)


def _lines(random: Random, line: str) -> list[str]:
    """Return lines as a file should have them, a few of them changed."""
    count = random.choice((1, 2, 10, 300, 20_000))
    lines = [line.format(n=number, share=number / count) for number in range(1, count + 1)]
    for _ in range(random.choice((0, 1, 1, 3))):
        lines[random.randrange(count)] = random.choice(_NUMBERS)
    if random.random() < 0.1:
        random.shuffle(lines)
    return lines


def _written(random: Random, line: str) -> tuple[bytes, bool]:
    """Return a file of numbers, and whether no reader may accept it."""
    if random.random() < 0.15:
        lines = [line.format(n=number, share=number / 9) for number in range(1, 10)]
        wrong = random.choice(("x", "-1 -1", "nan nan", "1 2 3 4", '"', "1;2"))
        return "\n".join((*lines[:4], wrong, *lines[4:])).encode(), True
    text = ("\n".join(_lines(random, line)) + random.choice(("\n", "", "\r\n\n# end"))).encode()
    if random.random() < 0.3:
        text = random.choice(TEXT_CHANGES)(random, text)
    return text, False


def _trace(random: Random, mine: Path) -> Case:
    content, is_wrong = _written(random, "{n}")
    (mine / "file").write_bytes(content)
    return _simulated(mine, _TOP + 'rate = { trace = "file" }\n' + _FLOW, is_wrong)


def _transfers(random: Random, mine: Path) -> Case:
    content, is_wrong = _written(random, "{n}ms 2kb")
    (mine / "file").write_bytes(content)
    arrivals = '[[arrivals]]\nalgorithm = "cubic"\nfile = "file"\n'
    return _simulated(mine, _TOP + _PLAIN + arrivals, is_wrong)


def _sizes(random: Random, mine: Path) -> Case:
    content, is_wrong = _written(random, "{n}kb {share}")
    (mine / "file").write_bytes(content)
    size = 'size = { distribution = "empirical", file = "file" }\n'
    arrivals = '[[arrivals]]\nalgorithm = "cubic"\nload = "20%"\n' + size
    return _simulated(mine, _TOP + _PLAIN + arrivals, is_wrong)


def _rates(random: Random, mine: Path) -> Case:
    content, is_wrong = _written(random, "{n}ms 2mbit")
    (mine / "file").write_bytes(b"0s 1mbit\n" + content)
    flow = '[[flow]]\ntransport = "udp"\nrate = { file = "file" }\n'
    return _simulated(mine, _TOP + _PLAIN + flow, is_wrong)


def _simulated(mine: Path, text: str, is_wrong: bool) -> Case:
    (mine / "a.toml").write_text(text)
    return Case(("simulate", "a.toml", "--jobs", "1"), is_wrong)


@functools.cache
def _algorithm(start: str) -> str:
    return starting.text("mine", start)


def _c_file(random: Random, mine: Path) -> Case:
    """Change an algorithm in C, and compare, show or simulate it."""
    text = _algorithm(random.choice(("loss", "delay")))
    is_wrong = random.random() < 0.2
    if is_wrong:
        at = random.choice(list(re.finditer(r"\n\n", text))).end()
        text = text[:at] + random.choice(("int;;;x(\n", "#error no\n", "}\n")) + text[at:]
        content = text.encode()
    elif random.random() < 0.5:
        place = random.choice(list(re.finditer(r"\b\d+\b|\b[a-z_]{3,}\b", text)))
        new = random.choice(
            ("0", "-1", "4294967295", "mine", "u64", "x", "while (1) {}", "u32 f(u32)")
        )
        content = (text[: place.start()] + new + text[place.end() :]).encode()
    else:
        content = random.choice(TEXT_CHANGES)(random, text.encode())
    (mine / "mine.c").write_bytes(content)
    path = ("--rate", "1mbit", "--rtt", "10ms", "--duration", "0.2s", "--runs", "1", "--jobs", "1")
    return Case(
        random.choice(
            (
                ("compare", "./mine.c", "--flows", "1", *path),
                ("compare", "./mine.c@quick", "--flows", "1", *path),
                ("algorithms", "show", "./mine.c"),
            )
        ),
        is_wrong,
    )


def _preset(random: Random, mine: Path) -> Case:
    """Name a preset file, as `tune` writes one, with anything in it."""
    value = random.choice(("1", "-1", "0", "1e9", '"x"', "nan", "[]", "2", "9" * 30))
    key = random.choice(("kp", "kd", "x"))
    text = f'algorithm = "ccpd"\n[parameters]\n{key} = {value}\n'.encode()
    if random.random() < 0.5:
        text = random.choice(TEXT_CHANGES)(random, text)
    (mine / "file.toml").write_bytes(text)
    return _simulated(mine, _TOP + _PLAIN + '[[flow]]\nalgorithm = "ccpd@./file.toml"\n', False)


def prepared(random: Random, box: Path) -> Case:
    """Write a scenario's file, or an algorithm."""
    make = random.choice(
        (_trace, _trace, _transfers, _transfers, _sizes, _sizes, _rates, _c_file, _preset)
    )
    return make(random, box / "mine")
