"""Figures: one definition gives interactive HTML and pictures."""
