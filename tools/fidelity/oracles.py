"""Expectations of theory: pure functions, each with its source.

Utilisation, response functions and the fluid models of equal flows are those of
`dumbbell.analysis`; here is what only checks need.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dumbbell.theory import fluid, responses

# Handshakes


def mean_syn_wait_s(p: float, linear: int = 0, first_s: float = 1.0, attempts: int = 40) -> float:
    """Return the mean time that lost SYNs or SYN-ACKs cost a connection, if p of the attempts fail.

    The k-th timeout is waited for with the probability p^k. It is `first_s` long and doubles (RFC
    6298, sections 2 and 5.5), in Linux 6.5 and later after `linear` more (tcp_syn_linear_timeouts).
    """
    waits = (math.ldexp(first_s, max(0, k - linear)) for k in range(attempts))
    return math.fsum(math.pow(p, k + 1) * wait for k, wait in enumerate(waits))


# Windows


def aimd_epoch_s(
    bdp: float, queue: float, rtt_s: float, kept: float = 0.5, per_rtt: float = 1.0
) -> float:
    """Return the time between two losses of one AIMD flow at a drop-tail queue.

    The window grows from `kept` times what path and queue hold; the round trip is that of the
    path until it is full, and grows with the queue from there. One round trip passes until the loss
    is known and one in recovery (RFC 6675), neither with growth that counts.
    """
    peak = bdp + queue
    low = kept * peak
    empty = max(0.0, bdp - low)
    start = max(low, bdp)
    filling = (peak**2 - start**2) / (2 * bdp)
    return rtt_s * ((empty + filling) / per_rtt + peak / bdp + max(1.0, low / bdp))


def cubic_epoch_s(peak: float, scale: float = 0.4, kept: float = 0.7) -> float:
    """Return the time in which CUBIC comes back to its peak and exceeds it by a segment.

    RFC 9438, equations 1 and 2: K = cbrt(W_max (1 - beta) / C), then C t^3 = 1.
    """
    return math.cbrt(peak * (1 - kept) / scale) + math.cbrt(1 / scale)


def with_recovery(window: float, p: float) -> float:
    """Return the mean window if a round trip without growth follows every loss (RFC 6675).

    The 1/p packets of an epoch take 1/(p w) round trips, and that one more.
    """
    return window / (1 + p * window)


def periodic_scalable(p: float, increase: float = 0.01, kept: float = 0.875) -> float:
    """Return Scalable TCP's mean window if every 1/p-th packet is lost.

    1/p packets in the ln(1/kept)/increase round trips of an epoch (Kelly 2003, section 2). The
    response function 0.08/p takes the small-step limit.
    """
    return increase / math.log(1 / kept) / p


CUBIC_FRIENDLY_INCREASE: Final = 3 * (1 - 0.7) / (1 + 0.7)
"""Segments per round trip of CUBIC's estimate of standard TCP (RFC 9438, section 4.3)."""


@dataclass
class Cubic:
    """CUBIC (RFC 9438) with fast convergence and the friendly region, as a law per round trip."""

    scale: float = 0.4
    kept: float = 0.7
    last_max: float = 0.0
    origin: float = 0.0
    plateau_s: float = 0.0
    friendly: float = 0.0
    begun_s: float | None = field(default=None)

    def start(self, now_s: float) -> None:
        """Start."""

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:
        """Grow to where the curve will be a round trip later, at most by half."""
        if self.begun_s is None:
            self.begun_s = now_s - rtt_s
            self.origin = max(self.last_max, window)
            self.plateau_s = math.cbrt((self.origin - window) / self.scale)
            self.friendly = window
        since_s = now_s - self.begun_s
        target = self.origin + self.scale * (since_s - self.plateau_s) ** 3
        friendly = self.friendly + CUBIC_FRIENDLY_INCREASE * since_s / rtt_s
        return max(0.01, min(target - window, window / 2), friendly - window)

    def cut(self, window: float, rtt_s: float, now_s: float) -> float:  # noqa: ARG002
        """Remember the maximum, or less than it if it has fallen."""
        converging = window < self.last_max
        self.last_max = window * (1 + self.kept) / 2 if converging else window
        self.begun_s = None
        return window * self.kept


@dataclass
class Bic(fluid.Bic):
    """BIC as Linux computes it: the distance to the last maximum in whole steps.

    A step of 1.9 segments is one of 1, which counts as near: 1/5 of a segment per round trip
    (fact sheet 3.5).
    """

    def grow(self, window: float, rtt_s: float, now_s: float) -> float:
        """Search towards the last maximum, probe beyond it."""
        if self.window_low < window < self.last_max:
            step = (int(self.last_max) - int(window)) // self.search
            return min(step, self.increase_max) if step > 1 else self.search / self.smooth
        return super().grow(window, rtt_s, now_s)


def highspeed() -> fluid.HighSpeed:
    """Return HighSpeed TCP with the parameters of RFC 3649, section 5."""
    return fluid.HighSpeed(window_low=38.0)


LAWS: Final = {**fluid.LAWS, "cubic": Cubic, "bic": Bic, "highspeed": highspeed}

_STEPS: Final = 4
_LOSSES: Final = 1500


@functools.cache
def window_under_loss(algorithm: str, p: float, rtt_s: float, losses: int = _LOSSES) -> float:
    """Return the mean window under independent loss, by quarters of round trips.

    The window grows by its law (RFC 3649, RFC 9438, the papers of BIC, H-TCP and Scalable TCP). It
    does so for one more round trip after a loss, until the loss is known; further losses meanwhile
    belong to it. It is cut, and a round trip of recovery without growth follows (RFC 6675, RFC
    9937). `fluid.under_loss` counts whole round trips, and so loses the growth of the one with the
    loss.
    """
    law = LAWS[algorithm]()
    random = np.random.default_rng(1)
    window, rounds, sent, growth = responses.reno(p), 0.0, 0.0, 1 / _STEPS
    until_loss, until_known, until_recovered = random.exponential(1 / p), math.inf, 0.0
    known, begun = -losses // 5, 0.0
    while known < losses:
        rounds += growth
        sent += window * growth
        until_loss -= window * growth
        if until_loss <= 0:
            until_loss = random.exponential(1 / p)
            until_known = min(until_known, rounds + 1)
        if rounds > until_recovered:
            window += law.grow(window, rtt_s, rounds * rtt_s) * growth
        if rounds >= until_known:
            until_known, until_recovered = math.inf, rounds + 1
            # H-TCP counts from the end of recovery; to the others it is the same.
            window = max(2.0, law.cut(window, rtt_s, until_recovered * rtt_s))
            known += 1
            if known == 0:
                begun, sent = rounds, 0.0
    return sent / (rounds - begun)


# Messages


def slow_start_rounds(segs: int, initial: int = 10) -> int:
    """Return the round trips in which slow start sends `segs`: initial, twice that, and so on."""
    return math.ceil(math.log2(segs / initial + 1)) if segs > initial else 1


def hystart_exit_segs(rtt_s: float, service_s: float, initial: int = 10) -> int:
    """Return the window at which HyStart's ACK trains end slow start (Ha and Rhee 2008).

    Rounds are the bursts of slow start, which double from `initial`. Before one is as large as the
    path its first ACKs find no queue, so the delay rule has no effect. ACKs of a burst arrive at
    the distance of the bottleneck, each for a segment more. Slow start ends with the first that
    comes half of the smallest RTT and a millisecond of slack after the first of its burst, as in
    Linux since 5.6 without pacing. One whose ACKs last less long ends nothing.
    """
    threshold_s = (rtt_s + service_s + 0.001) / 2
    acks = math.floor(threshold_s / service_s) + 1
    burst = initial
    while burst <= acks:
        burst *= 2
    return burst + acks


def hystart_pp_exit_segs(rtt_s: float, service_s: float, initial: int = 10) -> float:
    """Return the window at which HyStart++ ends slow start (RFC 9406, section 4.2), by segments.

    One flow has the path for itself, behind a queue without a limit. A round lasts until all that
    was sent when it began is acknowledged. Its smallest RTT counts from the eighth on.
    """
    window, sent, acked, free_s, now_s = float(initial), 0, 0, 0.0, 0.0
    last_s = current_s = baseline_s = math.inf
    samples = end = rounds = 0
    under_way: deque[tuple[float, float]] = deque()
    while rounds < 5:
        while sent - acked < int(window):
            free_s = max(free_s, now_s) + service_s
            under_way.append((now_s, free_s + rtt_s))
            sent += 1
        sent_s, now_s = under_way.popleft()
        acked += 1
        is_conservative = baseline_s < math.inf
        window += 0.25 if is_conservative else 1
        if acked >= end:
            last_s, current_s, samples, end = current_s, math.inf, 0, sent
            rounds += is_conservative
        current_s, samples = min(current_s, now_s - sent_s), samples + 1
        rise_s = min(max(last_s / 8, 0.004), 0.016)
        if samples >= 8 and not is_conservative and current_s >= last_s + rise_s:
            baseline_s, rounds = current_s, 0
        elif samples >= 8 and current_s < baseline_s:
            baseline_s = math.inf
    return window


SEARCH_WINDOW_RTTS: Final = 3.5
SEARCH_THRESHOLD: Final = 0.26


def search_exit_bdp() -> float:
    """Return the window at which SEARCH ends slow start, in BDPs (draft-chung-ccwg-search-09).

    In fluid slow start an ACK lets two segments go, so that the window is all that was ever
    delivered: 1 / ln 2 when the link is full, and 1 more for each RTT of the path after that. The
    RTT is how long ago what is now delivered was sent. SEARCH compares what was sent in 3.5 RTTs
    until then with what was delivered in 3.5 RTTs until now, once in 0.35 RTT, so half of that
    later than at the threshold on average.
    """
    base = 1 / math.log(2)

    def delivered(time: float) -> float:
        return base * 2**time if time < 0 else base + time

    def when_sent(amount: float) -> float:
        """Return the time until which so much was sent: twice what was delivered."""
        half = amount / 2
        return math.log2(half / base) if half < base else half - base

    time = 0.0
    while True:
        sent_at = when_sent(delivered(time))
        sent = delivered(time) - 2 * delivered(sent_at - SEARCH_WINDOW_RTTS)
        missing = sent - (delivered(time) - delivered(time - SEARCH_WINDOW_RTTS))
        if missing / sent >= SEARCH_THRESHOLD:
            return delivered(time + 0.05 * SEARCH_WINDOW_RTTS)
        time += 1e-3


def limited_rounds(segs: int, from_segs: int, initial: int = 10) -> int:
    """Return the round trips in which limited slow start sends `segs` (RFC 3742).

    Above `from_segs` an ACK adds 1 / K of a segment, with K = int(cwnd / (from_segs / 2)).
    """
    window, sent, rounds = float(initial), 0, 0
    while sent < segs:
        rounds += 1
        burst = int(window)
        sent += burst
        for _ in range(burst):
            part = int(window / (from_segs / 2)) if window > from_segs else 1
            window += 1 / part
    return rounds


def resume_s(segs: int, saved_segs: int, rtt_s: float, initial: int = 10) -> float:
    """Return how long a transfer takes with Careful Resume (RFC 9959).

    The initial window is acknowledged after one round trip, and slow start sends twice as much
    then. From its last ACK on half of the saved window leaves per round trip, evenly.
    """
    rest = segs - initial - 2 * initial
    return rtt_s * (2 + rest / (saved_segs / 2))


def aimd_factor(kept: float) -> float:
    """Return mean window times root of the losses per segment, where `kept` of it survives one.

    A window that grows by one segment per round trip from `kept` W to W sends (1 - kept^2) W^2 / 2
    segments meanwhile, and is (1 + kept) W / 2 on average.
    """
    return math.sqrt((1 + kept) / (2 * (1 - kept)))


def transfer_s(segs: int, rtt_s: float, service_s: float, initial: int = 10) -> float:
    """Return the time to send `segs` and hear of the last (Kurose and Ross, static windows).

    It is a round trip and the serialisation of all, and the time in which the sender waits after
    each window that is shorter than the path.
    """
    time_s, window, left = rtt_s + segs * service_s, initial, segs
    while left > window:
        left -= window
        time_s += max(0.0, rtt_s + service_s - window * service_s)
        window *= 2
    return time_s


def rto_s(rtt_s: float, least_s: float = 0.2) -> float:
    """Return the timeout after constant samples: RFC 6298 with Linux's least variance term."""
    return rtt_s + least_s


def tail_probe_s(rtt_s: float) -> float:
    """Return when a tail loss probe goes out after the last sending (RFC 8985, section 7.2).

    Two smoothed RTTs, and two clock ticks of a millisecond.
    """
    return 2 * rtt_s + 0.002


# Queues


def md1_waiting(load: float) -> float:
    """Return the mean number that waits before one server: Poisson arrivals, equal services.

    Pollaczek and Khinchine: rho^2 / (2 (1 - rho)).
    """
    return load**2 / (2 * (1 - load))


def gilbert_loss(to_bad: float, to_good: float) -> float:
    """Return the share of time in the bad state (Gilbert 1960), where everything is lost."""
    return to_bad / (to_bad + to_good)


def gilbert_burst(to_good: float) -> float:
    """Return the mean number of successive losses, a geometric one."""
    return 1 / to_good


def timed_burst(mean_us: float, gap_us: float) -> float:
    """Return the mean number of losses in a burst of exponential length that meets a packet.

    One packet comes each `gap_us`, so the number is geometric.
    """
    return 1 / (1 - math.exp(-gap_us / mean_us))


def bit_error_loss(probability: float, packet_bytes: int) -> float:
    """Return the share of packets with a wrong bit."""
    return -math.expm1(8 * packet_bytes * math.log1p(-probability))


def netem_pareto(exponent: float = 3, most: float = 4) -> float:
    """Return the mean of iproute2's Pareto numbers, x = 4/3 (u^(-1/a) - 1.5), at most `most`.

    The integral over u from 0 to 1; x reaches `most` where u = (3/4 most + 1.5)^-a.
    """
    cut: float = (0.75 * most + 1.5) ** -exponent
    root = exponent / (exponent - 1)
    free: float = 4 / 3 * (root * (1 - cut ** (1 / root)) - 1.5 * (1 - cut))
    return free + most * cut


def normal_differences(deviation: float) -> float:
    """Return the mean difference of two independent normal numbers: 2/sqrt(pi) deviations."""
    return 2 * deviation / math.sqrt(math.pi)


def held_mbit(packets: int, packet_bits: int, held_s: float) -> float:
    """Return what passes where so many packets are held for so long each (Little 1961)."""
    return packets * packet_bits / held_s / 1e6


def handover_ms(
    before_ms: int, after_ms: int, at_ms: int, end_ms: int, *, overtaken: bool
) -> float:
    """Return the mean delay of a packet each ms, until `end_ms`, if the delay falls at `at_ms`.

    Packets that are not overtaken hold those behind them until they are there.
    """
    delays = []
    for sent_ms in range(end_ms):
        is_after = sent_ms >= at_ms
        arrives_ms = sent_ms + (after_ms if is_after else before_ms)
        if is_after and not overtaken:
            arrives_ms = max(arrives_ms, at_ms - 1 + before_ms)
        if arrives_ms <= end_ms:
            delays.append(arrives_ms - sent_ms)
    return sum(delays) / len(delays)


def trace_mbit(chances: int, period_ms: int) -> float:
    """Return the rate of a trace of mahimahi in Mbit/s.

    Each line lets 1504 bytes pass; what a packet leaves of them goes to the next one.
    """
    return chances * 1504 * 8 / period_ms / 1000


def fast_queue(flows: int, alpha: float, initial: int = 10) -> float:
    """Return the queue of FAST flows that start together, in packets, with the one being sent.

    Each keeps alpha (Jin et al. 2004) beyond what it takes for the path's RTT. The k-th flow's
    first packet waits behind the initial windows of those before it. In equilibrium the flow adds
    its share of the rate times that wait (Low, Peterson and Wang 2002 on Vegas).
    """
    return flows * alpha + initial * (flows - 1) / 2 + 1


def scalable_window(p: float) -> float:
    """Window of DCTCP or Prague where each packet is marked at random with `p`, in segments.

    The law is our own, not a published one, and holds for RTTs above Prague's virtual one of 25 ms.
    It grows by 1 - p in a round trip. A cut by p / 2 comes with a mark, at most once per round
    trip. The first mark after that comes 1 / (p W) round trips later: so
    W p / 2 = (1 - p) (1 + 1 / (p W)). Where every round trip has many marks that is the 2 / p of
    draft-briscoe-iccrg-prague-congestion-control.
    """
    growth = 1 - p
    return (growth + math.sqrt(growth**2 + 2 * growth)) / p


def ecn_peak(threshold: float, growth: float = 1.0) -> float:
    """Return the largest queue of one flow that step marking holds.

    The first packet that finds `threshold` waiting is marked; a round trip passes until the sender
    reduces, in which the window grows by `growth`. The packet being sent counts too.
    """
    return threshold + 1 + growth


# Networks


def long_share_maxmin() -> float:
    """Return what max-min fairness gives a flow over several hops with one flow on each."""
    return 0.5


def long_share_proportional(hops: int) -> float:
    """Return what proportional fairness gives it (Kelly, Maulloo and Tan 1998): 1/(hops + 1)."""
    return 1 / (hops + 1)


def unequal_share(
    bdp_1: float, rtt_1_s: float, rtt_2_s: float, queue_bdp: float, duration_s: float = 360.0
) -> float:
    """Return the share of flow 1 of two standard flows that always lose together.

    One step per round trip of the shorter path; the queue delays both equally.
    """
    rate = bdp_1 / rtt_1_s
    queue = queue_bdp * bdp_1
    windows, sent, now_s = [2.0, 2.0], [0.0, 0.0], 0.0
    while now_s < duration_s:
        waiting_s = _waiting_s(windows, (rtt_1_s, rtt_2_s), rate)
        trips = (rtt_1_s + waiting_s, rtt_2_s + waiting_s)
        step_s = min(trips)
        now_s += step_s
        for flow, trip_s in enumerate(trips):
            sent[flow] += windows[flow] * step_s / trip_s
            windows[flow] += step_s / trip_s
        if waiting_s * rate > queue:
            windows = [max(2.0, window / 2) for window in windows]
    return sent[0] / sum(sent)


def _waiting_s(windows: list[float], rtts_s: tuple[float, float], rate: float) -> float:
    """Return the queueing delay at which the windows give just the rate."""
    low, high = 0.0, sum(windows) / rate
    if sum(window / rtt for window, rtt in zip(windows, rtts_s, strict=True)) <= rate:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        offered = sum(w / (rtt + middle) for w, rtt in zip(windows, rtts_s, strict=True))
        low, high = (middle, high) if offered > rate else (low, middle)
    return high


# Controllers


def ccp_rest(kp: float, pipe: float, queue: float) -> tuple[float, float]:
    """Return CCP's share of the pipe that is used and its queue, at rest (Kumazoe et al. 2012).

    Equation 5 with the window in flight, w = Kp (B - x) / 3, where B is pipe and queue together
    and x what of the window is beyond the pipe.
    """
    return _controller_rest(kp / 3, pipe, queue)


def ccpd_rest(kp: float, pipe: float, queue: float) -> tuple[float, float]:
    """Return the same of CCPD (equation 6): w = Kp (B - x) / (1 + Kp), as its D is 0 at rest."""
    return _controller_rest(kp / (1 + kp), pipe, queue)


def _controller_rest(gain: float, pipe: float, queue: float) -> tuple[float, float]:
    storage = pipe + queue
    if gain * storage <= pipe:
        return gain * storage / pipe, 0.0
    return 1.0, (gain * storage - pipe) / (1 + gain)


@dataclass(frozen=True)
class DctcpSawtooth:
    """The sawtooth of flows of DCTCP in step (Alizadeh et al. 2010, section 3.3)."""

    alpha: float
    """Share of the window that is marked, averaged."""
    amplitude: float
    """Difference between the largest and the smallest queue, packets."""
    queue_max: float


def dctcp_sawtooth(pipe: float, threshold: float, flows: int) -> DctcpSawtooth:
    """Solve alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2 for the window W of each at the mark.

    The window falls by alpha / 2 of W + 1, where W is (pipe + threshold) / flows.
    """
    window = (pipe + threshold) / flows
    wanted = (2 * window + 1) / (window + 1) ** 2
    low, high = 0.0, 1.0
    for _ in range(60):
        alpha = (low + high) / 2
        low, high = (alpha, high) if alpha**2 * (1 - alpha / 4) < wanted else (low, alpha)
    return DctcpSawtooth(low, flows * (window + 1) * low / 2, threshold + flows)
