"""Oracles of the fidelity checks against numbers that papers, RFCs and the fact sheet print."""

import math

import pytest
from fidelity import oracles

from dumbbell.theory import responses


def test_standard_tcp_needs_833_s_for_an_epoch_at_1_gbit_100_ms() -> None:
    """Li et al. 2007 say 800 s, for 8,000 packets; with an empty queue nothing else counts."""
    assert oracles.aimd_epoch_s(8333, 0, 0.1, per_rtt=0.5) == pytest.approx(833, rel=1e-3)


def test_an_epoch_takes_longer_with_a_queue() -> None:
    # D = q: the window never falls below D, so each of D round trips lasts 1.5 T on average.
    epoch_s = oracles.aimd_epoch_s(1000, 1000, 0.1)
    assert epoch_s == pytest.approx(0.1 * (1500 + 2 + 1))


@pytest.mark.parametrize(("peak", "k_s"), [(100, 4.215), (1000, 9.082), (10_000, 19.567)])
def test_cubic_epoch(peak: float, k_s: float) -> None:
    assert oracles.cubic_epoch_s(peak) - math.cbrt(2.5) == pytest.approx(k_s, rel=1e-3)


def test_scalable_recovers_in_13_round_trips() -> None:
    p = 1e-4
    assert 1 / (p * oracles.periodic_scalable(p)) == pytest.approx(13.35, abs=0.01)


def test_recovery_takes_one_round_trip_of_an_epoch() -> None:
    p, window = 1e-4, responses.reno(1e-4)
    assert 1 / (p * oracles.with_recovery(window, p)) == pytest.approx(1 / (p * window) + 1)


def test_friendly_increase_of_rfc_9438() -> None:
    assert pytest.approx(0.529, abs=5e-4) == oracles.CUBIC_FRIENDLY_INCREASE
    # With it CUBIC has standard TCP's mean window.
    increase = oracles.CUBIC_FRIENDLY_INCREASE
    assert responses.aimd(1e-4, increase, 0.7) == pytest.approx(responses.reno(1e-4))


@pytest.mark.parametrize(
    ("algorithm", "p", "window"),
    [
        ("reno", 1e-3, 38.7),
        ("reno", 1e-4, 122),
        ("scalable", 1e-3, 80),
        ("scalable", 1e-4, 800),
        ("highspeed", 1e-4, 263),
        ("cubic", 1e-5, 1054),
    ],
)
def test_random_loss_leaves_windows_near_the_table(algorithm: str, p: float, window: float) -> None:
    """The table is of regular losses; random ones move the mean by up to a fifth."""
    measured = oracles.window_under_loss(algorithm, p, 0.1, losses=600)
    assert measured == pytest.approx(window, rel=0.25)


def test_pftk_with_delayed_acks() -> None:
    one, two = (responses.pftk(1e-6, 0.1, 0.3, b=b) for b in (1, 2))
    assert one / two == pytest.approx(math.sqrt(2), rel=0.01)
    # Without timeouts it is the square-root law of 7.1.
    assert responses.pftk(1e-6, 0.1, 0, b=2) * 0.1 == pytest.approx(
        responses.reno(1e-6, b=2), rel=0.02
    )


@pytest.mark.parametrize(
    ("segs", "rounds"), [(1, 1), (7, 1), (10, 1), (11, 2), (30, 2), (70, 3), (691, 7)]
)
def test_slow_start_rounds(segs: int, rounds: int) -> None:
    assert oracles.slow_start_rounds(segs) == rounds


def test_limited_slow_start_adds_half_of_its_threshold_per_round_trip() -> None:
    # 10, 20, 40, 80, then from 100: 60 ACKs at K = 2.
    assert [oracles.limited_rounds(segs, 100) for segs in (150, 151, 280, 281)] == [4, 5, 5, 6]
    assert oracles.limited_rounds(691, 10_000) == oracles.slow_start_rounds(691)


def test_search_misses_a_quarter_once_the_link_has_been_full_for_some_round_trips() -> None:
    # By hand it is 20.9 % after 3.5 RTTs and 27.4 % after 4.
    assert 1 / math.log(2) + 3.8 < oracles.search_exit_bdp() < 1 / math.log(2) + 4.2


def test_the_aimd_factor_of_standard_tcp_is_the_root_of_three_halves() -> None:
    assert oracles.aimd_factor(0.5) == pytest.approx(math.sqrt(1.5))
    assert oracles.aimd_factor(0.8) == pytest.approx(math.sqrt(4.5))


def test_transfers_end_with_serialisation() -> None:
    # A tiny service time: round trips alone; a long one: the link never stands still.
    assert oracles.transfer_s(70, 0.1, 0) == pytest.approx(0.3)
    assert oracles.transfer_s(70, 0.1, 0.1) == pytest.approx(0.1 + 70 * 0.1)
    # After 10 segments of 5 ms, which fill half of 100 ms, it waits once.
    assert oracles.transfer_s(30, 0.1, 0.005) == pytest.approx(0.1 + 0.15 + 0.055)


def test_timeouts() -> None:
    assert oracles.rto_s(0.1) == pytest.approx(0.3)
    assert oracles.rto_s(20e-6) == pytest.approx(0.20002)
    assert oracles.tail_probe_s(0.05) == pytest.approx(0.102)


def test_hystart_leaves_where_the_delay_has_risen() -> None:
    # 100 Mbit/s, 100 ms: at 512 of a burst from 320 on the RTT has risen by 11.5 ms, at 1024
    # of one from 640 on by 23 ms; the threshold is 12.5 ms.
    assert oracles.hystart_exit_segs(0.1, 1.2e-4) == 1062
    # What the kernel's own module does at 100 Mbit/s and 10 ms.
    assert oracles.hystart_exit_segs(0.01, 1.2e-4) == 127


def test_queues() -> None:
    assert oracles.md1_waiting(0.5) == pytest.approx(0.25)
    assert oracles.md1_waiting(0.8) == pytest.approx(1.6)
    assert oracles.gilbert_loss(0.001, 0.1) == pytest.approx(0.0099, abs=1e-5)
    assert oracles.gilbert_burst(0.1) == 10
    assert oracles.timed_burst(100, 1) == pytest.approx(100.5, abs=1e-3)
    assert oracles.bit_error_loss(1e-7, 1500) == pytest.approx(1.1992803e-3)
    assert oracles.trace_mbit(1, 1) == pytest.approx(12.032)
    assert oracles.fast_queue(1, 200) == 201
    # The first packets of three flows wait behind 0, 10 and 20 others, each at a third of the rate.
    assert oracles.fast_queue(3, 0) == 11
    assert oracles.ecn_peak(65) == 67


def test_long_flows() -> None:
    assert oracles.long_share_proportional(1) == oracles.long_share_maxmin()
    assert oracles.long_share_proportional(4) == pytest.approx(0.2)


@pytest.mark.parametrize(("rtt_2_s", "share"), [(0.022, 0.046), (0.042, 0.083), (0.082, 0.175)])
def test_unequal_round_trips(rtt_2_s: float, share: float) -> None:
    """Shares of the fact sheet's table of joint backoff (7.5b), an independent model."""
    measured = oracles.unequal_share(3375, 0.162, rtt_2_s, 0.2)
    assert measured == pytest.approx(share, rel=0.25)
