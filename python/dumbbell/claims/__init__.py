"""Typed checks of what the authors of a study state, and their verdicts."""
