"""Scenarios as users write them, and their translation into integers."""
