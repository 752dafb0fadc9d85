"""Estimates with intervals, and tests of them."""
