"""The kinds of check: each is a file with its keys, the names it uses, words and evaluation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dumbbell.claims.kinds.arithmetic import Arithmetic
from dumbbell.claims.kinds.band import Band
from dumbbell.claims.kinds.order import Order
from dumbbell.claims.kinds.parameters import Parameters
from dumbbell.claims.kinds.ranking import Ranking
from dumbbell.claims.kinds.ratio import Ratio
from dumbbell.claims.kinds.ratio_trend import RatioTrend
from dumbbell.claims.kinds.theory import Theory
from dumbbell.claims.kinds.trend import Trend

AnyCheck = Annotated[
    Arithmetic | Parameters | Band | Order | Ratio | Trend | RatioTrend | Theory | Ranking,
    Field(discriminator="type"),
]
"""A check of any kind, told apart by its `type`."""
