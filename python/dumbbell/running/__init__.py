"""Running scenarios, each at most once: engines, the executor, the store, results."""
