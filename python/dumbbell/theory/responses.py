"""Response functions: the mean window w(p) of one flow under independent loss with probability p.

All are deterministic (a loss every 1/p packets) and count windows in packets. Sources are the
papers and RFCs named at each function.
"""

from __future__ import annotations

import functools
import math
from typing import Final

import numpy as np

HS_WINDOW_HIGH: Final = 83000.0
HS_LOSS_HIGH: Final = 1e-7
HS_CUT_HIGH: Final = 0.1
"""RFC 3649: High_Window, High_P and High_Decrease."""


def reno(p: float, b: float = 1.0) -> float:
    """Square-root law (Mathis et al. 1997), with `b` segments counted once per ACK."""
    return math.sqrt(3 / (2 * b * p))


def aimd(p: float, increase: float, kept: float) -> float:
    """Return the mean window of additive increase per RTT, multiplicative decrease to `kept`."""
    return math.sqrt(increase * (1 + kept) / (2 * (1 - kept)) / p)


def pftk(
    p: float, rtt_s: float, timeout_s: float, window_max: float = math.inf, b: float = 1.0
) -> float:
    """Return Reno's rate in packets/s with timeouts (Padhye et al. 1998, equation 32).

    The full model, with a limited window; `b` segments are counted once, per ACK.
    """
    unlimited = (2 + b) / (3 * b) + math.sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    if unlimited < window_max:
        window, rounds = unlimited, b * unlimited / 2 + 1
    else:
        window = window_max
        rounds = b * window / 8 + (1 - p) / (p * window) + 2
    timeout = _timeout_share(p, window)
    packets = (1 - p) / p + window + timeout / (1 - p)
    return packets / (rtt_s * rounds + timeout * timeout_s * backoff / (1 - p))


def _timeout_share(p: float, window: float) -> float:
    """Return the probability that a loss in a window leads to a timeout."""
    through = (1 - p) ** 3
    tail = through * (1 - math.pow(1 - p, window - 3))
    share = (1 - through) * (1 + tail) / (1 - math.pow(1 - p, window))
    return min(1.0, share)


def highspeed(p: float, window_low: float = 38.0) -> float:
    """HighSpeed TCP (RFC 3649, section 5), which is standard TCP below its low window."""
    loss_low = 1.5 / window_low**2
    if p >= loss_low:
        return reno(p)
    slope = math.log(HS_WINDOW_HIGH / window_low) / math.log(HS_LOSS_HIGH / loss_low)
    return float(window_low * (p / loss_low) ** slope)


def highspeed_cut(window: float, window_low: float = 38.0) -> float:
    """Return b(w) of RFC 3649: the share of the window that a loss takes."""
    if window <= window_low:
        return 0.5
    position = math.log(window / window_low) / math.log(HS_WINDOW_HIGH / window_low)
    return 0.5 + (HS_CUT_HIGH - 0.5) * position


def highspeed_increase(window: float, window_low: float = 38.0) -> float:
    """Return a(w) of RFC 3649: the growth per round trip."""
    if window <= window_low:
        return 1.0
    cut = highspeed_cut(window, window_low)
    # RFC 3649 rounds p(w) to 0.078/w^1.2; its table follows from 1/12.8.
    loss = 1 / (12.8 * math.pow(window, 1.2))
    return max(1.0, window**2 * loss * 2 * cut / (2 - cut))


@functools.cache
def highspeed_table(window_low: float = 38.0) -> tuple[tuple[float, float, float], ...]:
    """Return HighSpeed TCP's rows (largest window, a, b) as implementations tabulate them.

    RFC 3649, appendix B: a new row begins where a(w) has grown by 1; a row holds the whole part
    of a and the b of its first window.
    """
    rows = [(window_low, 1.0, 0.5)]
    previous = 1.0
    for window in range(int(window_low) + 1, 100_000):
        increase = highspeed_increase(window, window_low)
        if increase > previous + 1:
            rows.append((float(window), float(int(increase)), highspeed_cut(window, window_low)))
            previous = increase
    return tuple(rows)


def scalable(p: float, increase: float = 0.01, kept: float = 0.875) -> float:
    """Scalable TCP (Kelly 2003): 0.08/p, which is standard TCP where that is more."""
    return max(increase / (1 - kept) / p, reno(p))


def bic(p: float, increase_max: float = 16.0, cut: float = 0.2) -> float:
    """BIC in its linear region (Xu, Harfoush and Rhee 2004)."""
    return math.sqrt(increase_max * (2 - cut) / (2 * cut) / p)


def cubic(p: float, rtt_s: float, c: float = 0.4, kept: float = 0.7) -> float:
    """CUBIC (RFC 9438, section 5.1), which is not slower than standard TCP."""
    window = (c * (3 + kept) / (4 * (1 - kept))) ** 0.25 * (rtt_s / p) ** 0.75
    return float(max(window, reno(p)))


def htcp_factor(elapsed_s: float, scale: float) -> float:
    """Return H-TCP's growth (Leith and Shorten 2004) relative to 2(1 - beta) per round trip.

    `elapsed_s` is the time since the last congestion event, `scale` the RTT scaling.
    """
    late_s = max(elapsed_s - 1, 0.0)
    return max(1.0, scale * (1 + 10 * late_s + 0.25 * late_s**2))


def htcp_scale(rtt_s: float) -> float:
    """Return H-TCP's RTT scaling, the RTT relative to 100 ms within 0.1 to 2."""
    return min(max(rtt_s / 0.1, 0.1), 2.0)


def htcp_scale_linux(rtt_s: float) -> float:
    """Return the RTT scaling as Linux rounds it: 8 over a whole number of eighths."""
    return 8 / min(max(math.floor(0.8 / rtt_s), 4), 80)


def htcp(p: float, rtt_s: float, kept: float = 0.5, scale: float | None = None) -> float:
    """H-TCP: the epoch that carries 1/p packets, by numerical integration."""
    scale = htcp_scale(rtt_s) if scale is None else scale
    step_s = 1e-3
    elapsed_s = np.arange(0, 300, step_s)
    late_s = np.maximum(elapsed_s - 1, 0)
    factor = np.maximum(1.0, scale * (1 + 10 * late_s + 0.25 * late_s**2))
    # Growth of the window since its cut, in packets; a whole epoch regains what the cut took.
    grown = np.cumsum(2 * (1 - kept) * factor) * (step_s / rtt_s)
    peak = grown / (1 - kept)
    carried = (kept * peak * elapsed_s + np.cumsum(grown) * step_s) / rtt_s
    end = int(np.searchsorted(carried, 1 / p))
    if end == 0 or end == len(elapsed_s):
        return reno(p)
    return float(carried[end] * rtt_s / elapsed_s[end])
