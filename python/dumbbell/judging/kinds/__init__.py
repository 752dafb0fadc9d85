"""The kinds of check: each is a file with its keys, the names it uses, words and evaluation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dumbbell.judging.kinds.arithmetic import Arithmetic
from dumbbell.judging.kinds.band import Band
from dumbbell.judging.kinds.order import Order
from dumbbell.judging.kinds.parameters import Parameters
from dumbbell.judging.kinds.ranking import Ranking
from dumbbell.judging.kinds.ratio import Ratio
from dumbbell.judging.kinds.ratio_trend import RatioTrend
from dumbbell.judging.kinds.reference import Reference
from dumbbell.judging.kinds.theory import Theory
from dumbbell.judging.kinds.trend import Trend

AnyCheck = Annotated[
    Arithmetic
    | Parameters
    | Band
    | Order
    | Ratio
    | Trend
    | RatioTrend
    | Theory
    | Ranking
    | Reference,
    Field(discriminator="type"),
]
"""A check of any kind; its `type` chooses the kind."""
