"""The sets of paths: fixed, different from each other, and of all kinds."""

import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from dumbbell import InputError
from dumbbell.gym import STANDARD
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.path_sets import SIZES

DIGESTS = {
    "train": "d8bcfc57f16b603d",
    "validation": "51ef733bf8093bc3",
    "test": "77b49b88ca83ffee",
}
"""Of the first 64 paths of each set; another needs another version of the distribution."""


def digest(split: str) -> str:
    paths = STANDARD.paths(split)
    texts = [json.dumps(paths.table(number), sort_keys=True) for number in range(64)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@pytest.mark.parametrize("split", SIZES)
def test_the_paths_of_a_set_are_fixed(split: str) -> None:
    assert STANDARD.version == 1
    assert digest(split) == DIGESTS[split]


def test_the_sets_have_no_path_in_common() -> None:
    rtts = [
        STANDARD.paths(split).table(number)["network"]["rtt"]
        for split in SIZES
        for number in range(64)
    ]
    # Of 192 draws among some 190,000 microseconds two may be equal by chance.
    assert len(set(rtts)) >= len(rtts) - 2


def test_all_kinds_are_drawn_and_can_be_run() -> None:
    paths = STANDARD.paths("validation")
    kinds: Counter[str] = Counter()
    for number in range(len(paths)):
        table = paths.table(number)
        network = table["network"]
        rate = network["rate"]
        steps = len(rate) if isinstance(rate, list) else 1
        kinds["constant" if steps == 1 else "steps" if steps < 10 else "fading"] += 1
        kinds[network["queue"]["discipline"]] += 1
        kinds["lossy"] += "loss" in network
        other = table["flow"][1:]
        kinds[other[0].get("transport", other[0].get("algorithm")) if other else "alone"] += 1
        assert Scenario.parse(table).resolve().scenario.flows[0].label == "learner"
    wanted = {"constant", "steps", "fading", "fifo", "codel", "fq-codel", "pie", "lossy"}
    assert wanted | {"alone", "cubic", "reno", "bbr", "udp"} <= {
        kind for kind, count in kinds.items() if count
    }


def test_another_distribution_draws_within_its_ranges() -> None:
    narrow = replace(STANDARD, name="narrow", rtt_ms=(40, 50), lossy=1, others={"none": 1})
    for number in range(20):
        table = narrow.paths("train").table(number, learners=3)
        assert 40_000 <= int(table["network"]["rtt"].removesuffix("us")) <= 50_000
        assert table["network"]["loss"]
        assert [flow["count"] for flow in table["flow"]] == [3]


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        STANDARD.paths("tset")
    assert str(refused.value) == snapshot(
        'paths = "tset": unknown set of paths (did you mean "test"?); valid: test, train, validation'
    )
