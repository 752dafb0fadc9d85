"""Fidelity checks: the engine on small networks, compared with theory."""
