"""A baseline that learns on `dumbbell.gym`: training, evaluation, and export to C.

>>> from dumbbell.learning import export, train, worths
>>> policy = train("train", seed=1)
>>> export(policy, "learnt.c")
>>> rewards = [path.share for path in worths("./learnt.c", "validation")]

The C file runs in the simulator and in the kernel. All of it needs the extra `gym`, and `train` the
extra `learner`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dumbbell.learning.export import export
from dumbbell.learning.fixed import FixedPolicy
from dumbbell.learning.policy import OBSERVABLE, Policy
from dumbbell.learning.terms import Point, Terms
from dumbbell.learning.worth import Worth, worths

if TYPE_CHECKING:
    from dumbbell.learning.ppo import train

__all__ = [
    "OBSERVABLE",
    "FixedPolicy",
    "Point",
    "Policy",
    "Terms",
    "Worth",
    "export",
    "train",
    "worths",
]


def __getattr__(name: str) -> Any:
    # Only training needs autograd.
    if name == "train":
        from dumbbell.learning.ppo import train  # noqa: PLC0415

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
