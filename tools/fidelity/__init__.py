"""Fidelity checks: what the engine does on small networks, beside what theory says it must do."""
