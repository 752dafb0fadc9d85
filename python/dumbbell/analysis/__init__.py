"""What runs come to: metrics of runs and tests, and what theory expects."""
