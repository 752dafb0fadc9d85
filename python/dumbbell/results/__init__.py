"""Results of a study: runs, values and verdicts."""
