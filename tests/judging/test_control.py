"""The negative control: claims judged with the names of algorithms exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from inline_snapshot import snapshot

from claim_inputs import NO, YES, runs, steady
from dumbbell.base.errors import InputError
from dumbbell.judging.claim import Claim
from dumbbell.judging.control import Control, control
from dumbbell.judging.runs import Source
from dumbbell.plan.tests import Test

VALUES = {"reno": 0.5, "htcp": 0.9, "fast": 0.2, "bic": 0.6, "cubic": 0.7}


def grid_of(*algorithms: str, name: str = "pair") -> Test:
    axes = {"algorithm": list(algorithms), "rtt": ["16ms", "42ms"]}
    return Test.model_validate({"name": name, "title": "Pairs", "axes": axes})


def claim(name: str, **check: Any) -> Claim:
    content = {"test": "pair", "quantity": "ratio_min_max", **check}
    about = {"source": "Fig. 0", "text": "It holds.", "expectation": "a number"}
    return Claim.model_validate({"id": name, **about, "check": [content]})


FASTEST = claim("A01", type="order", larger={"algorithm": "htcp"}, smaller={"algorithm": "fast"})
BEST = claim(
    "A02",
    type="order",
    larger={"algorithm": "htcp"},
    smaller={"algorithm": ["fast", "bic", "cubic"]},
)
ANYTHING = claim("A03", type="band", where={"algorithm": "htcp"}, low=0)
ALL = claim("A04", type="band", low=0)
NEW = claim(
    "A05",
    type="order",
    larger={"algorithm": ["htcp", "bic", "cubic"]},
    smaller={"algorithm": "reno"},
    where={"algorithm": ["reno", "htcp", "bic", "cubic"]},
)
AGAINST = claim(
    "A06",
    type="order",
    larger={"algorithm": ["htcp", "fast", "bic", "cubic"]},
    smaller={"algorithm": "reno"},
)


def controlled(
    claims: Sequence[Claim], draws: int = 20, seed: int = 0, tests: Sequence[Test] = ()
) -> Control:
    names = list(VALUES)
    table = runs({(name, rtt): steady(VALUES[name]) for name in names for rtt in ("16ms", "42ms")})
    source = Source(lambda _, columns: table)  # noqa: ARG005
    return control(
        claims, tests or [grid_of(*names)], source, reference=["reno"], draws=draws, seed=seed
    )


def test_each_exchange_gives_every_name_the_runs_of_another_one() -> None:
    judged = controlled([BEST])
    # Four names have 3! rounds.
    assert judged.names == ["htcp", "fast", "bic", "cubic"]
    assert len({tuple(sorted(draw.names.items())) for draw in judged.draws}) == 6
    for draw in judged.draws:
        assert sorted(draw.names) == sorted(draw.names.values()) == sorted(judged.names)
        assert all(name != given for name, given in draw.names.items())


def test_a_check_that_discriminates_fails_under_every_exchange() -> None:
    judged = controlled([BEST, FASTEST, ANYTHING])
    assert [claim.verdict for claim in judged.claims] == [YES, YES, YES]
    # Only H-TCP's own runs have the largest value, and no exchange leaves it those.
    assert judged.held(0) == 0
    assert {draw.claims[0].verdict for draw in judged.draws} == {NO}
    # "htcp" has more than "fast" if the runs it is given have: 4 of the 6 rounds.
    given = [{to: VALUES[name] for name, to in draw.names.items()} for draw in judged.draws]
    assert judged.held(1) == sum(values["htcp"] > values["fast"] for values in given)
    assert 0 < judged.held(1) < len(judged.draws)
    assert judged.held(2) == len(judged.draws)
    assert "A03" in judged.careless
    assert "A02" not in judged.careless


def test_claims_that_treat_all_alike_are_not_counted() -> None:
    judged = controlled([ALL, AGAINST, BEST, NEW])
    assert list(judged.blind) == ["A04", "A06"]
    assert [claim.claim.id for claim in judged.claims] == ["A02", "A05"]


def test_expectations_and_arithmetic_are_not_judged() -> None:
    ours = claim("A07", type="band", where={"algorithm": "htcp"}, low=0, statement="expectation")
    judged = controlled([ours, BEST])
    assert [claim.claim.id for claim in judged.claims] == ["A02"]
    assert not judged.blind


def test_a_seed_gives_the_same_draws() -> None:
    first, again, other = (controlled([BEST], 3, seed) for seed in (1, 1, 2))
    assert [draw.names for draw in first.draws] == [draw.names for draw in again.draws]
    assert [draw.names for draw in first.draws] != [draw.names for draw in other.draws]
    assert len(first.draws) == 3


def test_a_test_with_some_of_the_names_exchanges_these() -> None:
    few = grid_of("reno", "htcp", "fast")
    other = grid_of(*VALUES, name="other")
    pair = {
        (name, rtt): steady(VALUES[name]) for name in ("reno", "htcp", "fast") for rtt in ("16ms",)
    }
    source = Source(lambda _, columns: runs(pair))  # noqa: ARG005
    judged = control([FASTEST], [few, other], source, reference=["reno"], draws=20, seed=0)
    assert len(judged.draws) == 6
    assert {draw.claims[0].verdict for draw in judged.draws} == {NO}


def test_one_algorithm_cannot_be_exchanged() -> None:
    with pytest.raises(InputError) as refused:
        controlled([BEST], tests=[grid_of("reno", "htcp")])
    assert str(refused.value) == snapshot(
        "control: there are no names to exchange; valid: a study with two algorithms or more besides reno"
    )
