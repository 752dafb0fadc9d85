"""Values that were taken before are kept, and taken again where they may no longer be right."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dumbbell.engines.engine import Output
from dumbbell.engines.result import Run
from dumbbell.plan.expanding import PlannedRun
from dumbbell.plan.windows import Window
from dumbbell.quantities import kept, taking
from dumbbell.quantities.goodput_samples import Samples
from dumbbell.store.result_files import RUN_FILE
from dumbbell.store.store import Store
from sample_runs import completed
from synthetic_runs import constant, planned, played

REFERENCES = ["goodput_mbit_per_s[1]", "jain", "goodput_sample_iqr_mbit_per_s", "share[nobody]"]


def stored(root: Path, plan: PlannedRun, rate: float = 500) -> None:
    run = played(plan, [constant(rate), constant(250)])
    tables = {
        name: completed(name, run.scan(name, named=False).collect())
        for name in ("flows", "queues", "events")
    }
    Store(root).put(plan.resolved, Output(run.summary, tables))


@pytest.fixture
def plan() -> PlannedRun:
    return planned()


@pytest.fixture
def root(tmp_path: Path, plan: PlannedRun) -> Path:
    stored(tmp_path, plan)
    return tmp_path


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the quantities that are computed from now on."""
    names: list[str] = []
    take = taking.take

    def counting(view: Any, reference: Any) -> float | None:
        names.append(str(reference))
        return take(view, reference)

    monkeypatch.setattr(taking, "take", counting)
    return names


def values(
    root: Path, plan: PlannedRun, references: list[str] = REFERENCES
) -> dict[str, float | None]:
    """Take quantities as a new process does, whose memory is empty."""
    ((_, taken),) = taking.of_runs([plan], references, Store(root))
    return taken


@contextmanager
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no result be read."""

    def get(*_: object) -> Run:
        raise AssertionError("a result is read")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "get", get)
        yield


def file(root: Path, plan: PlannedRun) -> Path:
    key = plan.resolved.key
    return root / "quantities" / key[:2] / f"{key}.json"


def test_a_second_time_nothing_is_computed_or_read(
    root: Path, plan: PlannedRun, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = values(root, plan)
    assert first["jain"] == pytest.approx(0.9)
    assert first["share[nobody]"] is None
    assert sorted(computed) == sorted(REFERENCES)
    computed.clear()
    with unreadable(monkeypatch):
        assert values(root, plan) == first
    assert computed == []


def test_in_one_process_nothing_is_read_twice(
    root: Path, plan: PlannedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(root)
    first = list(taking.of_runs([plan], REFERENCES, store))
    file(root, plan).unlink()
    with unreadable(monkeypatch):
        assert list(taking.of_runs([plan], REFERENCES, store)) == first


def test_only_what_is_new_is_computed(root: Path, plan: PlannedRun, computed: list[str]) -> None:
    values(root, plan, ["jain"])
    computed.clear()
    values(root, plan, ["share[1]", "jain"])
    assert computed == ["share[1]"]
    computed.clear()
    values(root, plan, ["share[1]", "jain"])
    assert computed == []


def test_another_code_computes_again(
    root: Path, plan: PlannedRun, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values(root, plan)
    computed.clear()
    monkeypatch.setattr(kept, "code", lambda: "another")
    values(root, plan)
    assert sorted(computed) == sorted(REFERENCES)
    assert json.loads(file(root, plan).read_bytes())["kept"]["code"] == "another"


def test_the_digest_is_that_of_the_code_of_quantities() -> None:
    assert kept.code() == kept.code()
    assert len(kept.code()) == 64
    package = Path(kept.__file__).parents[1]
    for place in kept._CODE:
        assert (package / place).exists(), place


def test_another_result_in_its_place_is_computed_again(
    root: Path, plan: PlannedRun, computed: list[str]
) -> None:
    first = values(root, plan)
    for path in Store(root).folder(plan.resolved.key).iterdir():
        path.unlink()
    Store(root).folder(plan.resolved.key).rmdir()
    computed.clear()
    stored(root, plan, rate=1000)
    second = values(root, plan)
    assert sorted(computed) == sorted(REFERENCES)
    goodput = first["goodput_mbit_per_s[1]"]
    assert goodput is not None
    assert second["goodput_mbit_per_s[1]"] == pytest.approx(2 * goodput)


def _value(change: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        content = json.dumps({**json.loads(path.read_bytes())["kept"], "values": change})
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        path.write_text(f'{{"sha256": "{sha256}", "kept": {content}}}')

    return write


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-5]),
        lambda path: path.write_bytes(b"\xff\x00"),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text('{"code": 1}'),
        _value({"jain": "high"}),
        _value([1, 2]),
        _value(None),
        _value({f"goodput_mbit_per_s[{n}]@late": 0.5 for n in range(50_000)}),
    ],
)
def test_a_file_that_is_damaged_or_gone_is_written_anew(
    root: Path, plan: PlannedRun, computed: list[str], harm: Callable[[Path], None]
) -> None:
    first = values(root, plan)
    before = file(root, plan).read_bytes()
    harm(file(root, plan))
    computed.clear()
    assert values(root, plan) == first
    assert sorted(computed) == sorted(REFERENCES)
    assert json.loads(file(root, plan).read_bytes()) == json.loads(before)


def test_what_is_too_large_to_be_read_is_not_written(root: Path, plan: PlannedRun) -> None:
    values(root, plan)
    before = file(root, plan).read_bytes()
    many = {f"goodput_mbit_per_s[{n}]@late": 0.5 for n in range(50_000)}
    kept.write(Store(root), plan.resolved.key, many)
    assert file(root, plan).read_bytes() == before
    kept.write(Store(root), plan.resolved.key, dict(list(many.items())[:20_000]))
    assert kept.read(Store(root), plan.resolved.key) == dict(list(many.items())[:20_000])


def test_where_nothing_can_be_written_values_are_taken_all_the_same(
    root: Path, plan: PlannedRun
) -> None:
    (root / "quantities").write_text("a file where a folder would be")
    assert values(root, plan)["jain"] == pytest.approx(0.9)


def test_another_window_or_other_settings_are_other_values(
    root: Path, plan: PlannedRun, computed: list[str]
) -> None:
    values(root, plan)
    computed.clear()
    late = Window.model_validate({"from": "50s"})
    values(root, replace(plan, windows={"main": late}))
    assert sorted(computed) == sorted(REFERENCES)
    computed.clear()
    values(root, replace(plan, settings={"samples": Samples.model_validate({"interval": "2s"})}))
    assert computed == ["goodput_sample_iqr_mbit_per_s"]
    computed.clear()
    # As the defaults are.
    values(root, replace(plan, settings={"samples": Samples()}))
    values(root, plan)
    assert computed == []


def test_what_a_window_is_called_does_not_matter_but_where_it_lies(
    root: Path, computed: list[str]
) -> None:
    def dropped(begin: str) -> float | None:
        here = planned(windows={"here": {"from": begin}})
        return values(root, here, ["dropped_packets@here"])["dropped_packets@here"]

    assert [dropped("10s"), dropped("50s"), dropped("10s")] == [9, 5, 9]
    assert len(computed) == 2


def test_runs_that_are_missing_damaged_or_invalid_have_no_values(
    root: Path, plan: PlannedRun
) -> None:
    other = planned(flows=1)
    assert list(taking.of_runs([other], REFERENCES, Store(root))) == []
    flows = Store(root).folder(plan.resolved.key) / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:-1])
    assert list(taking.of_runs([plan], REFERENCES, Store(root))) == []
    (Store(root).folder(plan.resolved.key) / RUN_FILE).unlink()
    assert list(taking.of_runs([plan], REFERENCES, Store(root))) == []
