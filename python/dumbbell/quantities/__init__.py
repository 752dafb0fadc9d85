"""Measurements of runs: every quantity is defined here, once."""
