"""What is measured of runs: every quantity is defined here, once."""
