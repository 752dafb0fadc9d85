"""Suites never change: their paths are pinned, and their sets have no path in common."""

import hashlib
import json
from collections import Counter

import pytest

from dumbbell import InputError
from dumbbell.scoring import suites
from dumbbell.scoring.suites import load

DIGESTS = {
    ("internet-1", "train"): "b674bc59784f40ab",
    ("internet-1", "validation"): "a84997674823c47b",
    ("internet-1", "test"): "a0fefda3282a14ca",
}
"""Of the file of a suite and of its paths; other ones are another version of the suite."""


@pytest.mark.parametrize(("name", "split"), DIGESTS)
def test_a_suite_is_fixed(name: str, split: str) -> None:
    suite = load(name)
    content = [suite.digest, *((path.name, path.table) for path in suite.paths(split))]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    assert digest == DIGESTS[name, split]


def test_every_suite_is_pinned() -> None:
    assert {name for name, _ in DIGESTS} == set(suites.names())


@pytest.mark.parametrize("name", suites.names())
def test_the_first_round_has_all_that_the_parts_need(name: str) -> None:
    suite = load(name)
    for split in ("train", "validation", "test"):
        kinds: Counter[str] = Counter()
        for path in suite.paths(split)[: suite.rounds[0]]:
            groups = [flow.get("group") for flow in path.table["flow"]]
            kinds["pair"] += any(flow.get("count") == 2 for flow in path.table["flow"])
            kinds["beside"] += "beside" in groups
            assert "tuned" in groups
        assert all(kinds[kind] for kind in ("pair", "beside")), (split, kinds)


@pytest.mark.parametrize("name", suites.names())
def test_sets_have_no_path_in_common(name: str) -> None:
    rtts = [
        path.table["network"]["rtt"]
        for split in ("train", "validation", "test")
        for path in load(name).paths(split)
    ]
    assert len(set(rtts)) >= len(rtts) - 2


def test_an_unknown_suite_is_refused() -> None:
    with pytest.raises(InputError, match="internet-1"):
        load("internet")
