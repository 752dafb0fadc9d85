"""Measurements of real paths, as other tools leave them, beside simulated runs."""
