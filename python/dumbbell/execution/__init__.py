"""Campaigns of runs: which are missing, who runs them, how long they take."""
