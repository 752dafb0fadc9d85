"""``--set KEY=VALUE``: any key of a scenario file, and errors that name the option and the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.base.errors import InputError
from dumbbell.scenario import changes
from dumbbell.scenario.changes import Change
from dumbbell.scenario.model import Scenario
from sample_runs import table

KEYS = st.lists(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("network.rtt=80ms", "80ms"),
        ("network.rtt = 80ms", "80ms"),
        ("flow.1.count=3", 3),
        ("record.algorithm_state=true", True),
        ('stack={ profile = "linux-6" }', {"profile": "linux-6"}),
        ('title="a = b"', "a = b"),
        ("title=a = b", "a = b"),
        ("title=", ""),
    ],
)
def test_values_are_those_of_toml_or_texts(text: str, value: Any) -> None:
    assert Change.parse(text).value == value


@given(KEYS, st.integers(0, 10**9))
def test_what_is_set_is_there_and_nothing_else_changes(keys: list[str], value: int) -> None:
    before = {"other": {"a": [1, 2]}}
    path = ".".join(["new", *keys])
    after: Any = changes.changed(before, [Change.parse(f"{path}={value}")])
    assert after.pop("other") == before["other"]
    for key in ["new", *keys]:
        assert list(after) == [key]
        after = after[key]
    assert after == value
    assert before == {"other": {"a": [1, 2]}}


def test_positions_count_from_1_and_the_last_change_wins() -> None:
    edits = [Change.parse(f"flow.1.algorithm={name}") for name in ("cubic", "htcp")]
    scenario = Scenario.parse(changes.changed(table(), edits), "a.toml")
    assert [flow.algorithm for flow in scenario.flow] == ["htcp"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("algorithm=./own.c", {"algorithm": "{here}/own.c"}),
        ("algorithm=own.c@fast", {"algorithm": "{here}/own.c@fast"}),
        ("algorithm=ccpd@fast.toml", {"algorithm": "ccpd@{here}/fast.toml"}),
        ("algorithm=ccpd@fast", {"algorithm": "ccpd@fast"}),
        ('rate={ trace = "lte.csv" }', {"rate": {"trace": "{here}/lte.csv"}}),
        ("size.file=/a/sizes.cdf", {"size": {"file": "/a/sizes.cdf"}}),
        ("title=own.c", {"title": "own.c"}),
    ],
)
def test_a_file_that_a_change_names_is_one_of_the_current_folder(text: str, wanted: Any) -> None:
    after = changes.changed({}, [Change.parse(text)])
    here = str(Path.cwd())
    assert after == json.loads(json.dumps(wanted).replace("{here}", here))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("network.rtt", "not a key and a value"),
        ("=80ms", "not a key and a value"),
        ("network..rtt=80ms", "not a key and a value"),
        ("flow.2.count=2", "no such entry"),
        ("flow.0.count=2", "positions count from 1: flow.1 is the first"),
        ("flow.0={}", "positions count from 1: flow.1 is the first"),
        ("flow.x.count=2", r"^set.flow.x.count: there is no such entry; valid: flow.1$"),
        (f"flow.{'1' * 5000}=2", "no such entry"),
        ("network.rtt.low=1ms", r"has no keys.*'network.rtt=\{ low = \"1ms\" \}', a table"),
    ],
)
def test_what_cannot_be_set_is_refused(text: str, wanted: str) -> None:
    with pytest.raises(InputError, match=wanted) as refused:
        changes.changed(table(), [Change.parse(text)])
    assert str(refused.value.key).partition(".")[0] == "set"


@pytest.mark.parametrize("second", ["60ms", "80ms"])
def test_no_value_is_lost_to_another_of_its_key(second: str) -> None:
    with pytest.raises(InputError) as refused:
        changes.parsed(["network.rtt=80ms", "flow.1.count=2", f"network.rtt={second}"])
    assert (refused.value.key, refused.value.value) == ("set.network.rtt", second)
    assert str(refused.value.valid).endswith("network.rtt=80ms")


@pytest.mark.parametrize(
    ("text", "key"),
    [("network.rtt=80", "network.rtt"), ("network.rttt=80ms", "network.rttt")],
)
def test_an_error_of_the_schema_names_the_option_only_where_that_is_wrong(
    text: str, key: str
) -> None:
    edits = [Change.parse(text)]
    with pytest.raises(InputError) as refused:
        Scenario.parse(changes.changed(table({"duration": "x"}), edits), "a.toml")
    error = changes.blamed(refused.value, edits)
    sources = {one.key: one.source for one in (error, *error.others)}
    assert sources == {"duration": "a.toml", f"set.{key}": None}


@pytest.mark.parametrize(("source", "kept"), [("./my_cc.c", "./my_cc.c"), ("a.toml", None)])
def test_the_line_of_a_c_file_stays_the_place_of_an_error(source: str, kept: str | None) -> None:
    error = InputError("statement with no effect", source=source, line=61, key="flow.1.algorithm")
    change = Change("flow.1.algorithm", "./my_cc.c")
    assert changes.blamed(error, [change]).source == kept
