"""Quantities: exact, with units, and errors that say what would be right."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.base.errors import InputError
from dumbbell.base.units import (
    BYTE_UNITS,
    RATE_UNITS,
    TIME_UNITS,
    QueueSize,
    format_bytes,
    format_rate,
    format_time,
    parse_bytes,
    parse_edge_rate,
    parse_fraction,
    parse_integer,
    parse_interval,
    parse_probability,
    parse_queue,
    parse_rate,
    parse_time,
)

amounts = st.integers(min_value=0, max_value=2**60)


@given(amounts)
def test_what_is_formatted_is_parsed_back(amount: int) -> None:
    assert parse_rate(format_rate(amount)) == amount
    assert parse_time(format_time(amount)) == amount
    assert parse_bytes(format_bytes(amount)) == amount


@given(
    st.one_of(
        st.builds(QueueSize, st.sampled_from(["packets", "bytes", "time"]), amounts.map(Fraction)),
        st.builds(
            QueueSize,
            st.just("bdp"),
            st.decimals("1e-9", "1e6", places=9).map(Fraction),
        ),
    ).filter(lambda size: size.amount > 0)
)
def test_a_queue_size_is_parsed_back(size: QueueSize) -> None:
    assert parse_queue(str(size)) == size


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (parse_rate, "250mbit", 250_000_000),
        (parse_rate, "1gbit", 10**9),
        (parse_rate, "0.3kbit", 300),
        (parse_rate, " 10 Mbit ", 10**7),
        (parse_rate, "2.5e-1gbit", 250_000_000),
        (parse_rate, "10G", 10**10),
        (parse_rate, "1.5 M", 1_500_000),
        (parse_edge_rate, "100K", 100_000),
        (parse_time, "81ms", 81_000_000),
        (parse_time, "0.1us", 100),
        (parse_time, "1.5m", 90 * 10**9),
        (parse_time, "1h", 3600 * 10**9),
        (parse_time, "10µs", 10_000),
        (parse_time, "0s", 0),
        (parse_bytes, "10mb", 10**7),
        (parse_bytes, "1mib", 2**20),
        (parse_bytes, 1500, 1500),
        (parse_bytes, "1500", 1500),
        (parse_fraction, "20%", Fraction(1, 5)),
        (parse_fraction, 0.1, Fraction(1, 10)),
        (parse_fraction, "1e-5", Fraction(1, 100_000)),
        (parse_probability, 1e-05, 1e-05),
        (parse_probability, "1%", 0.01),
        (parse_integer, "007", 7),
        (parse_edge_rate, "Unlimited", None),
        (parse_edge_rate, "1gbit", 10**9),
        (parse_interval, "none", None),
        (parse_queue, "175p", QueueSize("packets", Fraction(175))),
        (parse_queue, "175 packets", QueueSize("packets", Fraction(175))),
        (parse_queue, "256kb", QueueSize("bytes", Fraction(256_000))),
        (parse_queue, "10ms", QueueSize("time", Fraction(10_000_000))),
        (parse_queue, "0.2bdp", QueueSize("bdp", Fraction(1, 5))),
        (parse_queue, "20%bdp", QueueSize("bdp", Fraction(1, 5))),
    ],
)
def test_a_quantity_is_read_exactly(parse: Callable[[Any], Any], text: Any, expected: Any) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (format_rate(250_000_000), "250mbit"),
        (format_rate(1_500_000_000), "1.5gbit"),
        (format_rate(999), "999bit"),
        (format_time(0), "0s"),
        (format_time(600 * 10**9), "600s"),
        (format_time(82_500_000), "82.5ms"),
        (format_bytes(10**7), "10mb"),
        (format_bytes(1500), "1500b"),
        (format_bytes(0), "0b"),
    ],
)
def test_a_quantity_is_shown_as_people_write_it(amount: str, text: str) -> None:
    assert amount == text


@pytest.mark.parametrize(
    ("parse", "value", "problem", "near"),
    [
        (parse_rate, "250mbps", "unknown unit of a rate", "250mbit"),
        (parse_rate, "250 mbits", "unknown unit of a rate", "250mbit"),
        (parse_rate, "250", "a rate needs a unit", None),
        (parse_rate, 250, "a rate is a text with a unit", None),
        (parse_rate, "fast", "not a rate", None),
        (parse_rate, "-1mbit", "must not be negative", None),
        (parse_rate, "10MB/s", "a rate is in bits, not in bytes", "80mbit"),
        (parse_rate, "1.5GByte", "a rate is in bits, not in bytes", "12gbit"),
        (parse_rate, "100Mbit/s", "unknown unit of a rate", "100mbit"),
        (parse_rate, "100Mb/s", "unknown unit of a rate", "100mbit"),
        (parse_rate, "1,5mbit", "not a rate", "1.5mbit"),
        (parse_rate, "1,500mbit", "not a rate", None),
        (parse_rate, "1_500mbit", "not a rate", "1500mbit"),
        (parse_time, "-1s", "must not be negative", None),
        (parse_time, ".5ms", "not a time", "0.5ms"),
        (parse_time, "+5ms", "not a time", "5ms"),
        (parse_time, "10min", "unknown unit of a time", "10m"),
        (parse_time, "90 seconds", "unknown unit of a time", "90s"),
        (parse_time, "5msec", "unknown unit of a time", "5ms"),
        (parse_queue, "100pkts", "unknown unit of a queue size", "100p"),
        (parse_queue, "1500 bytes", "unknown unit of a queue size", "1500b"),
        (parse_integer, "-2", "must not be negative", None),
        (parse_rate, "1/2mbit", "not a rate", None),
        (parse_rate, "0.5bit", "finer than 1 bit/s", None),
        (parse_rate, "1e99tbit", "too large", None),
        (parse_rate, "10g", "unknown unit of a rate", "10gbit"),
        (parse_rate, "10m", "unknown unit of a rate", "10mbit"),
        (parse_rate, "10Mb", "unknown unit of a rate", "10mbit"),
        (parse_rate, "10 MBps", "a rate is in bits, not in bytes", "80mbit"),
        (parse_time, "10M", "M may be minutes or millions", "10m"),
        (parse_time, "10K", "unknown unit of a time", None),
        (parse_bytes, "64K", "K may be multiples of 1000 or of 1024", "64kb"),
        (parse_bytes, "64k", "unknown unit of a size", "64kib"),
        (parse_bytes, "1.5Mb", "Mb may be bits or bytes", "1.5mb"),
        (parse_queue, "2M", "M may be multiples of 1000 or of 1024", "2mb"),
        (parse_queue, "2Gb", "Gb may be bits or bytes", "2gb"),
        (parse_time, "81mbit", "unknown unit of a time", None),
        (parse_time, "0.0000000001s", "finer than 1 ns", None),
        (parse_time, "inf", "not a time", None),
        (parse_bytes, True, "a size is a text with a unit", None),
        (parse_bytes, "1.5b", "finer than 1 byte", None),
        (parse_queue, "0p", "a queue of 0 lets nothing through", None),
        (parse_queue, "0.0bdp", "a queue of 0 lets nothing through", None),
        (parse_queue, "1.5p", "finer than 1 packet", None),
        (parse_queue, "0.2dbp", "unknown unit of a queue size", "0.2bdp"),
        (parse_queue, "17", "a queue size needs a unit", None),
        (parse_probability, 1, "a probability of 1 or more", None),
        (parse_probability, "100%", "a probability of 1 or more", None),
        (parse_probability, -0.5, "must not be negative", None),
        (parse_probability, float("nan"), "not a fraction", None),
        (parse_probability, True, "a fraction is a text", None),
        (parse_fraction, "5ms", "a fraction has no unit", None),
        (parse_integer, 1.0, "not a whole number", None),
        (parse_integer, "1" * 50, "not a whole number", None),
        (parse_integer, True, "not a whole number", None),
        (parse_integer, "٣", "not a whole number", None),
    ],
)
def test_a_wrong_quantity_is_refused(
    parse: Callable[[Any], Any], value: Any, problem: str, near: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        parse(value)
    assert problem in caught.value.problem
    assert caught.value.near == near
    assert caught.value.valid


UNITS = {
    parse_rate: RATE_UNITS,
    parse_time: TIME_UNITS,
    parse_bytes: BYTE_UNITS,
    parse_queue: {**BYTE_UNITS, **TIME_UNITS, "p": 1, "packets": 1, "bdp": 1, "%bdp": 1},
}
CAPITALS = "^[KMGT]b?$"


@given(st.sampled_from(list(UNITS)), st.integers(1, 999), st.data())
def test_capitals_mean_what_small_letters_mean_or_are_refused(
    parse: Callable[[Any], Any], amount: int, data: st.DataObject
) -> None:
    """One letter that may mean several units, and bits for bytes, are never guessed."""
    unit = data.draw(st.sampled_from(sorted(UNITS[parse])))
    capitals = data.draw(st.lists(st.booleans(), min_size=len(unit), max_size=len(unit)))
    written = "".join(
        letter.upper() if capital else letter
        for letter, capital in zip(unit, capitals, strict=True)
    )
    if re.match(CAPITALS, written) and parse is not parse_rate:
        with pytest.raises(InputError, match="may be"):
            parse(f"{amount}{written}")
    else:
        assert parse(f"{amount}{written}") == parse(f"{amount}{unit}")


@given(st.integers(1, 999), st.sampled_from("KMGT"))
def test_a_rate_of_one_capital_is_iperfs_and_of_one_small_letter_none(
    amount: int, prefix: str
) -> None:
    assert parse_rate(f"{amount}{prefix}") == parse_rate(f"{amount}{prefix}bit")
    small = f"{amount}{prefix.lower()}"
    with pytest.raises(InputError) as caught:
        parse_rate(small)
    assert caught.value.near == f"{small}bit"


@pytest.mark.parametrize(
    ("written", "near", "of_tc"),
    [
        ("32kbit", "4kb", "4kib"),
        ("1mbit", "125kb", "128kib"),
        ("12bit", None, None),
        ("384k", "384kib", None),
        ("1m", "1mib", None),
    ],
)
def test_sizes_in_units_of_tc_are_refused_with_what_they_mean(
    written: str, near: str | None, of_tc: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        parse_bytes(written)
    assert caught.value.near == near
    assert (f"as tc counts, {of_tc}" in str(caught.value)) == (of_tc is not None)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans()))
def test_whatever_is_written_is_a_quantity_or_an_input_error(value: Any) -> None:
    for parse in (parse_rate, parse_time, parse_bytes, parse_queue, parse_probability):
        with contextlib.suppress(InputError):
            parse(value)
