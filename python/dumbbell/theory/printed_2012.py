"""Laws as Kumazoe et al. 2012 print them, to the letter."""

from __future__ import annotations

import math


def printed_cubic_start(window: float, kept: float, scale: float = 0.4) -> float:
    """Return CUBIC's window at t = 0, right after a loss at some window (Kumazoe et al., (2))."""
    k = math.cbrt(window * kept / scale)
    return scale * (0 - k) ** 3 + window


def printed_compound_after_loss(cwnd: float, dwnd: float, beta: float) -> float:
    """Return the sum of Compound TCP's two windows after a loss (Kumazoe et al., (3), (4))."""
    return cwnd + 1 / cwnd + max(dwnd * (1 - beta) - cwnd / 2, 0)
