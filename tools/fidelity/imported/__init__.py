"""Fits of `dumbbell import`, compared with the paths that transfers really had."""
