"""A checklist: the criteria of an RFC for new algorithms as tests with bounds, and verdicts."""

from dumbbell.experiments.checklist.checking import checklist
from dumbbell.experiments.checklist.outcome import Checklist

__all__ = ["Checklist", "checklist"]
