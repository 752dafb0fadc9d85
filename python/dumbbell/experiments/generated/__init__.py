"""Traces of paths drawn from published models and measurements."""
