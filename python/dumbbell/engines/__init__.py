"""The two engines, and a run as either returns it."""
