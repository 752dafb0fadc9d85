"""Changes of TOML: values at the edges of their kinds, keys, and the text itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

EDGES: Final[tuple[Any, ...]] = (
    *(0, 1, -1, 2, 100, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30),
    *(0.0, -0.0, 1e-300, 0.5, 1.0, 1.1, 1e308, float("nan"), float("inf"), float("-inf")),
    *(
        "",
        " ",
        "0",
        "-1",
        "nan",
        "inf",
        "1e400",
        "x",
        "x" * 400,
        "\x1b[31m",
        "a\nb",
        "\u202e",
        "../x",
    ),
    *("0s", "1ns", "0.4ns", "-1s", "20ms", "584y", "600000000s", "1e5s", "1 s", "1S"),
    *("0bit", "1bit", "9kbit", "1gbit", "12tbit", "13tbit", "1e30bit", "1mbit/s"),
    *("0p", "1p", "1.5p", "10000000p", "16777217p", "0bdp", "1e-9bdp", "1e9bdp", "1b", "1tb"),
    *("0%", "100%", "101%", "1e-12", "reno", "reno@x", "./x.c", "udp", "/dev/zero", ".", "queue"),
    *(True, [], {}, [[]], [{}], [1] * 300, {"a": {"b": {"c": []}}}, {"from": "1s", "to": "0s"}),
)
"""Values to put where a value of any kind is expected."""

Place = tuple[Any, Any]


def places(value: Any) -> Iterator[Place]:
    """Yield every table or array below a value with each of its keys or places."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def tables(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every table in a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from tables(inner)


def change(random: Random, data: dict[str, Any], keys: Sequence[str]) -> None:
    """Set a value to an edge, take or repeat an entry, or add one of the keys that there are."""
    at, key = random.choice(list(places(data)))
    match random.randrange(8):
        case 0:
            del at[key]
        case 1 if isinstance(at, list):
            at.extend([at[key]] * random.choice((1, 30)))
        case 2 | 3:
            random.choice(list(tables(data)))[random.choice(keys)] = random.choice(EDGES)
        case 4 | 5 | 6:
            at[key] = random.choice(_alike(at[key]) or EDGES)
        case _:
            at[key] = random.choice(EDGES)


def _alike(value: Any) -> list[Any]:
    """Return the edges of the kind of a value: of its type, or texts of its unit."""
    alike = [edge for edge in EDGES if type(edge) is type(value)]
    return [edge for edge in alike if _unit(edge) == _unit(value)]


def _unit(value: Any) -> str:
    return value.lstrip("0123456789.e-")[-1:] if isinstance(value, str) else ""


def _cut(random: Random, text: bytes) -> bytes:
    return text[: random.randrange(len(text))]


def _flip(random: Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(random.randint(1, 5)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _put(random: Random, text: bytes) -> bytes:
    at = random.randrange(len(text))
    return text[:at] + random.choice(_PIECES) + text[at:]


def _move(random: Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _recode(random: Random, text: bytes) -> bytes:
    coding = random.choice(("utf-16", "utf-32", "utf-8-sig", "cp037"))
    return text.decode().encode(coding, "replace")


_PIECES: Final = (
    *(b"\0", b"\xff", b"\r", b"\x1b[2J", b"[" * 2000, b"{" * 2000, b"a." * 2000, b'"""', b"#"),
    *(b"9" * 5000, b"0x" + b"f" * 6000, b"\n[[flow]]\n", b"\n[a]\n", b"=", "\u202e\u0661".encode()),
)
TEXT_CHANGES: Final[Sequence[Callable[[Random, bytes], bytes]]] = (
    _cut,
    _flip,
    _put,
    _put,
    _move,
    _recode,
)


def broken(random: Random, text: bytes) -> bytes:
    """Return a text that no reader of TOML may accept."""
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines) + 1)
    wrong = random.choice(
        (b"[[\n", b"= 1\n", b"a = \n", b'a = "\n', b"a = 1 2\n", b"\xff\xfe\n", b"\0\n")
    )
    return b"".join((*lines[:at], wrong, *lines[at:])) if b'"""' not in text else text + wrong
