"""Measurements of real paths, as other tools leave them, next to simulated runs."""
