"""Quantities with units, written as in ``tc`` but for sizes: ``250mbit``, ``81ms``, ``0.2bdp``.

Every quantity is parsed exactly into an integer of its base unit: bits per second,
nanoseconds, bytes. A quantity without its unit, or one that is finer than the base unit,
is an error. Multiples are decimal (``kb`` is 1000 bytes, where ``tc`` has 1024); ``kib``, ``mib``
and ``gib`` are binary. Capitals are read where they can mean one thing only: ``10Gbit``, ``64KB``,
and of a rate ``10G`` as ``iperf3`` takes it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema

from dumbbell.base.errors import InputError, near

PACKET_BITS: Final = 12_000
"""A full IP packet of 1500 bytes."""

NS_PER_S: Final = 10**9

RATE_UNITS: Final[Mapping[str, int]] = {
    "bit": 1,
    "kbit": 10**3,
    "mbit": 10**6,
    "gbit": 10**9,
    "tbit": 10**12,
}
TIME_UNITS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": NS_PER_S,
    "m": 60 * NS_PER_S,
    "h": 3600 * NS_PER_S,
}
BYTE_UNITS: Final[Mapping[str, int]] = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_BITS_OF_SIZES: Final[Mapping[str, tuple[int, int]]] = {
    f"{prefix}bit": (1000**power, 1024**power) for power, prefix in enumerate(("", "k", "m", "g"))
}
"""Meaning of sizes in bits, and their meaning in `tc`."""

PACKET_UNITS: Final = ("p", "packets")
_QUEUE_UNITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(PACKET_UNITS, 1),
    **BYTE_UNITS,
    **TIME_UNITS,
    **dict.fromkeys(("bdp", "%bdp"), 1),
}
_PREFIXES: Final = ("K", "M", "G", "T")
"""Prefixes of units; alone, and as capitals, one means a rate where a rate is expected."""

# What the core's 64-bit integers hold with room for sums.
_LARGEST: Final = 2**62
_LONGEST_NS: Final = 2**60
_FARTHEST_NS: Final = 24 * TIME_UNITS["h"]

_UNIT_NAMES: Final[Mapping[str, str]] = {
    name: ours
    for ours, names in {
        "s": "sec secs second seconds",
        "m": "min mins minute minutes",
        "h": "hr hrs hour hours",
        "ms": "msec msecs millis millisecond milliseconds",
        "us": "usec usecs micros microsecond microseconds",
        "ns": "nsec nsecs nanosecond nanoseconds",
        "p": "pkt pkts packet",
        "b": "byte bytes",
        "kb": "kbyte kbytes kilobytes",
        "mb": "mbyte mbytes megabytes",
    }.items()
    for name in names.split()
}
"""Names of units elsewhere -> ours."""

_NUMBER = r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?"
_QUANTITY = re.compile(
    rf"\s*(?P<sign>-?)(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-zµ%/]*)\s*", re.ASCII
)


def _split(
    value: Any, what: str, valid: str, units: Mapping[str, int] | None = None
) -> tuple[Fraction, str]:
    """Split ``"81ms"`` into its exact number and its unit as it was written."""
    if not isinstance(value, str):
        problem = f"{what} is a text with a unit"
        raise InputError(problem, value=value, valid=valid, near=_with_unit(value, units or {}))
    match = _QUANTITY.fullmatch(value)
    if match is None:
        raise InputError(f"not {what}", value=value, valid=valid, near=_respelt(value))
    if match["sign"]:
        raise InputError("must not be negative", value=value, valid=valid)
    # Exact, so that the same text is the same integer everywhere: no float rounds it on the way.
    return Fraction(match["number"]), match["unit"].replace("µ", "u")


def _with_unit(value: Any, units: Mapping[str, int]) -> str | None:
    """Return how a bare number is written that can only be bits per second, or seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if units is RATE_UNITS and RATE_UNITS["kbit"] <= value < _LARGEST:
        return format_rate(round(value)) if value == round(value) else None
    if units is TIME_UNITS and 0 < value < 1:
        return format_time(round(value * NS_PER_S))
    return None


def _respelt(text: str) -> str | None:
    """Return how a number in another spelling is written here: ``0.5ms`` for ``.5ms``."""
    plain = re.sub(r",(?!\d{3}(?!\d))", ".", text.strip()).replace("_", "")
    plain = re.sub(r"^\+", "", plain)
    plain = re.sub(r"^\.(?=\d)", "0.", plain)
    plain = re.sub(r"(?<=\d)\.(?!\d)", "", plain)
    return plain if _QUANTITY.fullmatch(plain) else None


def _whole(amount: Fraction, value: Any, finest: str) -> int:
    if amount.denominator != 1:
        raise InputError(f"finer than {finest}", value=value, valid=f"a multiple of {finest}")
    if amount >= _LARGEST:
        raise InputError("too large", value=value, valid=f"less than 2^62 {finest[2:]}")
    return int(amount)


def _known(unit: str, what: str, value: str, units: Mapping[str, int]) -> str:
    """Return which of the units is meant, or raise InputError with the one that may be."""
    if unit in _PREFIXES and units is RATE_UNITS:
        return f"{unit.lower()}bit"
    problem = _unclear(unit, units)
    if problem is None and unit.lower() in units:
        return unit.lower()
    number = value[: len(value.rstrip()) - len(unit)].strip()
    valid = "units " + ", ".join(units)
    if units is RATE_UNITS and (octets := _OCTETS.fullmatch(unit)):
        rate = f"{_decimal(Fraction(number) * 8)}{octets['prefix'].lower()}bit"
        raise InputError("a rate is in bits, not in bytes", value=value, valid=valid, near=rate)
    if problem is None:
        problem = f"unknown unit of {what}" if unit else f"{what} needs a unit"
    bits = _BITS_OF_SIZES.get(unit.lower()) if "b" in units else None
    if bits is not None:
        size, of_tc = (_size(Fraction(number) * unit_bits / 8) for unit_bits in bits)
        counted = f"; as tc counts, {of_tc}" if of_tc else ""
        raise InputError("a size is in bytes", value=value, valid=f"{valid}{counted}", near=size)
    meant = _nearest(unit, units) if unit else None
    raise InputError(problem, value=value, valid=valid, near=f"{number}{meant}" if meant else None)


def _size(size_bytes: Fraction) -> str | None:
    """Render whole bytes in the unit, of 1000 or of 1024, that makes the number shortest."""
    if size_bytes.denominator != 1 or not 0 < size_bytes < _LARGEST:
        return None
    fitting = [
        (int(size_bytes) // factor, name)
        for name, factor in BYTE_UNITS.items()
        if int(size_bytes) % factor == 0
    ]
    amount, name = min(fitting)
    return f"{amount}{name}"


_OCTETS: Final = re.compile(r"(?P<prefix>[kKMGTmgt]?)i?(?:B|[Bb]ytes?)(?:/s|ps|/sec)?")
"""Bytes or bytes per second, as others write them; in small letters ``b`` is a bit."""


def _unclear(unit: str, units: Mapping[str, int]) -> str | None:
    """Return which things a unit in capitals may mean, if it may mean several."""
    if unit[:1] in _PREFIXES and "b" in units:
        if unit[1:] == "b":
            return f"{unit} may be bits or bytes"
        if not unit[1:]:
            return f"{unit} may be multiples of 1000 or of 1024, of bytes or packets"
    return "M may be minutes or millions" if unit == "M" and "m" in units else None


def _nearest(unit: str, units: Mapping[str, int]) -> str | None:
    """Return the unit that may be meant."""
    small = unit.lower()
    if unit.upper() in _PREFIXES:
        # In sizes tc's k is 1024.
        if unit == small and f"{small}ib" in units:
            return f"{small}ib"
        whole = (f"{small}{rest}" for rest in ("bit", "b", "") if f"{small}{rest}" in units)
        return next(whole, None)
    if _UNIT_NAMES.get(small) in units:
        return _UNIT_NAMES[small]
    if units is RATE_UNITS:
        small = re.sub(r"b(its?)?(ps|/s|/sec)", "bit", small)
    return near(small, units)


def _parse(value: Any, what: str, units: Mapping[str, int], finest: str) -> int:
    number, unit = _split(value, what, "units " + ", ".join(units), units)
    return _whole(number * units[_known(unit, what, value, units)], value, finest)


Parsed = TypeVar("Parsed")


def _remembered(parse: Callable[[Any], Parsed]) -> Callable[[Any], Parsed]:
    """Keep what texts mean: the scenarios of a study say few of them, thousands of times."""
    known = functools.lru_cache(maxsize=4096)(parse)

    @functools.wraps(parse)
    def parse_once(value: Any) -> Parsed:
        return known(value) if isinstance(value, str) else parse(value)

    return parse_once


@_remembered
def parse_rate(value: Any) -> int:
    """Parse a rate such as ``250mbit`` into bits per second."""
    return _parse(value, "a rate", RATE_UNITS, "1 bit/s")


@_remembered
def parse_time(value: Any) -> int:
    """Parse a time such as ``81ms`` into nanoseconds."""
    time_ns = _parse(value, "a time", TIME_UNITS, "1 ns")
    if time_ns > _LONGEST_NS:
        raise InputError("too long", value=value, valid="at most 2^60 ns, which are 36 years")
    return time_ns


def parse_delay(value: Any) -> int:
    """Parse the time of a packet's way into nanoseconds: at most a day."""
    return _of_a_way(parse_time(value))


@_remembered
def parse_bytes(value: Any) -> int:
    """Parse a size such as ``10mb`` into bytes; a bare whole number is bytes, too."""
    number = parse_integer(value) if _is_integer(value) else None
    if number is not None:
        return _whole(Fraction(number), value, "1 byte")
    return _parse(value, "a size", BYTE_UNITS, "1 byte")


@_remembered
def parse_fraction(value: Any) -> Fraction:
    """Parse a share such as ``0.2``, ``"20%"`` or ``1e-5``, exactly as written."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = repr(value)
    number, unit = _split(value, "a fraction", '0.01, "1%", 1e-5')
    if unit not in ("", "%"):
        raise InputError("a fraction has no unit", value=value, valid='0.01, "1%", 1e-5')
    return number / 100 if unit else number


def parse_probability(value: Any) -> float:
    """Parse the probability of an independent loss: at least 0 and less than 1."""
    probability = float(parse_fraction(value))
    if probability >= 1:
        raise InputError(
            "a probability of 1 or more lets nothing through",
            value=value,
            valid="0 <= probability < 1",
        )
    return probability


def parse_share(value: Any) -> float:
    """Parse a share of a whole: at least 0 and at most 1."""
    share = float(parse_fraction(value))
    if share > 1:
        raise InputError("more than the whole", value=value, valid="0 <= share <= 1")
    return share


def parse_number(value: Any) -> float:
    """Parse a number without a unit, such as a gain: at least 0."""
    number = float(parse_fraction(value))
    if number > _LARGEST:
        raise InputError("too large", value=value, valid="less than 2^62")
    return number


def _is_integer(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().isascii() and value.strip().isdecimal()
    return isinstance(value, int) and not isinstance(value, bool)


def parse_integer(value: Any) -> int:
    """Parse a whole number; digits in quotes are accepted, as study axes are texts."""
    if isinstance(value, str) and re.fullmatch(r"\s*-[0-9]+\s*", value):
        raise InputError("must not be negative", value=value, valid="a whole number such as 2")
    if not _is_integer(value) or len(str(value)) > 40:
        raise InputError("not a whole number", value=value, valid="a whole number such as 2")
    return int(value)


def _decimal(value: Fraction) -> str:
    """Render a fraction whose decimal expansion ends."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
        assert places < 200, f"{value} has no finite decimal expansion"
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _format(amount: int, units: tuple[tuple[str, int], ...]) -> str:
    """Use the largest decimal unit in which the amount is at least one."""
    name, factor = max(
        (unit for unit in units if unit[1] <= amount), key=lambda unit: unit[1], default=units[0]
    )
    return _decimal(Fraction(amount, factor)) + name


def format_rate(rate_bps: int) -> str:
    """Render bits per second: 250000000 as ``250mbit``."""
    return _format(rate_bps, tuple(RATE_UNITS.items()))


def format_time(time_ns: int) -> str:
    """Render nanoseconds: 81000000 as ``81ms``; nothing coarser than seconds."""
    if time_ns == 0:
        return "0s"
    return _format(time_ns, tuple((name, TIME_UNITS[name]) for name in ("ns", "us", "ms", "s")))


def format_bytes(size_bytes: int) -> str:
    """Render bytes in the largest decimal multiple that leaves them whole: ``10mb``, ``1500b``."""
    fitting = [name for name in ("b", "kb", "mb", "gb") if size_bytes % BYTE_UNITS[name] == 0]
    name = fitting[-1] if size_bytes else "b"
    return f"{size_bytes // BYTE_UNITS[name]}{name}"


@dataclass(frozen=True)
class QueueSize:
    """The limit of a queue, in the unit in which the user thinks of it.

    ``amount`` counts packets, bytes or nanoseconds, or is the multiple of the
    bandwidth-delay product.
    """

    unit: Literal["packets", "bytes", "time", "bdp"]
    amount: Fraction

    def __str__(self) -> str:
        if self.unit == "packets":
            return f"{int(self.amount)}p"
        if self.unit == "bytes":
            return format_bytes(int(self.amount))
        if self.unit == "time":
            return format_time(int(self.amount))
        return _decimal(self.amount) + "bdp"


QUEUE_EXAMPLES: Final = "175p, 256kb, 10ms, 0.2bdp"


@_remembered
def parse_queue(value: Any) -> QueueSize:
    """Parse the limit of a queue: ``175p``, ``256kb``, ``10ms`` or ``0.2bdp``."""
    if isinstance(value, QueueSize):
        return value
    number, written = _split(value, "a queue size", QUEUE_EXAMPLES)
    if number == 0:
        raise InputError(
            "a queue of 0 lets nothing through; it holds at least one packet",
            value=value,
            valid=QUEUE_EXAMPLES,
        )
    unit = _known(written, "a queue size", value, _QUEUE_UNITS)
    if unit in PACKET_UNITS:
        return QueueSize("packets", Fraction(_whole(number, value, "1 packet")))
    if unit in BYTE_UNITS:
        return QueueSize("bytes", Fraction(parse_bytes(value)))
    if unit in TIME_UNITS:
        return QueueSize("time", Fraction(parse_time(value)))
    return QueueSize("bdp", number / 100 if unit == "%bdp" else number)


def parse_packets(value: Any) -> int:
    """Parse a number of packets such as ``100p``."""
    return _parse(value, "a number of packets", dict.fromkeys(PACKET_UNITS, 1), "1 packet")


def parse_limit(value: Any) -> QueueSize | None:
    """Parse what may wait in a queue; ``unlimited`` is None."""
    if value is None or (isinstance(value, str) and value.strip().lower() == "unlimited"):
        return None
    return parse_queue(value)


def parse_edge_rate(value: Any) -> int | None:
    """Parse the rate of an access link; ``unlimited`` is None."""
    if value is None or (isinstance(value, str) and value.strip().lower() == "unlimited"):
        return None
    return parse_rate(value)


def parse_interval(value: Any) -> int | None:
    """Parse the interval between samples; ``none`` takes no samples."""
    if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
        return None
    return parse_time(value)


def _above_zero(amount: int | None) -> int | None:
    if amount == 0:
        raise InputError("must be more than 0")
    return amount


def _of_a_way(time_ns: int) -> int:
    if time_ns > _FARTHEST_NS:
        raise InputError("too long for the way of a packet", valid="at most 24h")
    return time_ns


def _countable(count: int) -> int:
    if not 1 <= count < 2**32:
        raise InputError("must be more than 0 and fit 32 bits", valid="1 to 2^32 - 1")
    return count


def _or(word: str, formatter: Callable[[int], str]) -> Callable[[int | None], str]:
    return lambda value: word if value is None else formatter(value)


def _text(name: str, pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "format": name, "pattern": pattern})


def _number_or_text(name: str, units: str, kind: str = "number", **end: int) -> WithJsonSchema:
    number = {"type": kind, "minimum": 0, **end}
    text = {"type": "string", "pattern": rf"^{_NUMBER_PATTERN}{units}$"}
    return WithJsonSchema({"anyOf": [number, text], "format": name})


_NUMBER_PATTERN = r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_RATE_PATTERN = rf"^{_NUMBER_PATTERN}({'|'.join(RATE_UNITS)})$"
_TIME_PATTERN = rf"^{_NUMBER_PATTERN}({'|'.join(TIME_UNITS)})$"
_QUEUE_PATTERN = (
    rf"^{_NUMBER_PATTERN}({'|'.join([*PACKET_UNITS, *BYTE_UNITS, *TIME_UNITS, '%?bdp'])})$"
)
_INTEGER_SCHEMA = {
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+$"}],
    "format": "integer",
}

Rate = Annotated[
    int,
    BeforeValidator(parse_rate),
    AfterValidator(_above_zero),
    PlainSerializer(format_rate),
    _text("rate", _RATE_PATTERN),
]
"""Bits per second."""

StepRate = Annotated[
    int,
    BeforeValidator(parse_rate),
    PlainSerializer(format_rate),
    _text("rate", _RATE_PATTERN),
]
"""Bits per second; 0 is an outage."""

EdgeRate = Annotated[
    int | None,
    BeforeValidator(parse_edge_rate),
    AfterValidator(_above_zero),
    PlainSerializer(_or("unlimited", format_rate)),
    _text("rate", rf"{_RATE_PATTERN}|^unlimited$"),
]
"""Bits per second; None: unlimited."""

Time = Annotated[
    int,
    BeforeValidator(parse_time),
    PlainSerializer(format_time),
    _text("time", _TIME_PATTERN),
]
"""Nanoseconds."""

Duration = Annotated[Time, AfterValidator(_above_zero)]
"""Nanoseconds, more than 0."""

Delay = Annotated[Time, AfterValidator(_of_a_way)]
"""Nanoseconds of a packet's way, at most a day."""

WholeDelay = Annotated[Duration, AfterValidator(_of_a_way)]
"""Nanoseconds of a packet's way, more than 0 and at most a day."""

Interval = Annotated[
    int | None,
    BeforeValidator(parse_interval),
    AfterValidator(_above_zero),
    PlainSerializer(_or("none", format_time)),
    _text("time", rf"{_TIME_PATTERN}|^none$"),
]
"""Nanoseconds between samples; None: no samples."""

Bytes = Annotated[
    int,
    BeforeValidator(parse_bytes),
    PlainSerializer(format_bytes),
    _number_or_text("size", f"({'|'.join(BYTE_UNITS)})", kind="integer"),
]
"""Bytes."""

Volume = Annotated[Bytes, AfterValidator(_above_zero)]
"""Bytes, more than 0."""

Queue = Annotated[
    QueueSize,
    BeforeValidator(parse_queue),
    PlainSerializer(str),
    _text("queue", _QUEUE_PATTERN),
]
"""The limit of a queue."""

Packets = Annotated[
    int,
    BeforeValidator(parse_packets),
    AfterValidator(_countable),
    PlainSerializer(lambda count: f"{count}p"),
    _text("packets", rf"^{_NUMBER_PATTERN}({'|'.join(PACKET_UNITS)})$"),
]
"""A number of packets, more than 0."""

Limit = Annotated[
    QueueSize | None,
    BeforeValidator(parse_limit),
    PlainSerializer(lambda limit: "unlimited" if limit is None else str(limit)),
    _text("queue", rf"{_QUEUE_PATTERN}|^unlimited$"),
]
"""Limit of a queue; None: unlimited."""

Probability = Annotated[
    float,
    BeforeValidator(parse_probability),
    _number_or_text("probability", "%?", exclusiveMaximum=1),
]
"""At least 0 and less than 1."""

Share = Annotated[
    float,
    BeforeValidator(parse_share),
    _number_or_text("probability", "%?", maximum=1),
]
"""At least 0 and at most 1."""

Number = Annotated[
    float,
    BeforeValidator(parse_number),
    _number_or_text("number", "%?"),
]
"""A number, not negative."""

Integer = Annotated[int, BeforeValidator(parse_integer), WithJsonSchema(_INTEGER_SCHEMA)]
"""A whole number, not negative."""

Count = Annotated[Integer, AfterValidator(_countable)]
"""A whole number, more than 0."""
