"""Tests as data: grids of scenarios, and the runs that they expand to."""
