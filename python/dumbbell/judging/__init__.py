"""Typed checks of what the authors of a study state, and their verdicts.

A kind of check is one file in `dumbbell.judging.kinds` and one line in its list.
"""
