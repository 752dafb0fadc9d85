"""Cases of a draft: what an algorithm must do in a state, as runs and checks of its states."""

from dumbbell.experiments.cases.outcome import Cases
from dumbbell.experiments.cases.running import cases

__all__ = ["Cases", "cases"]
