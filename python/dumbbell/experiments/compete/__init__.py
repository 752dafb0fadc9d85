"""Two algorithms on one path at the same time: who gets how much, and who harms whom."""

from dumbbell.experiments.compete.competing import compete
from dumbbell.experiments.compete.contest import Contest

__all__ = ["Contest", "compete"]
