"""Closed forms against the numbers that papers and RFCs print, and against limits by hand."""

import math

import polars as pl
import pytest
from inline_snapshot import snapshot

from dumbbell.base.errors import InputError
from dumbbell.theory import curves, fluid, formulas, responses


def test_bandwidth_delay_products_of_the_study() -> None:
    assert formulas.bdp_packets(100, 82) == pytest.approx(683, abs=0.5)
    assert formulas.bdp_packets(1000, 100) == pytest.approx(8333, abs=0.5)


def test_a_window_is_sent_once_per_round_trip() -> None:
    assert formulas.window_goodput_mbit(1000, 200) == pytest.approx(1000 * 1448 * 8 / 0.2 / 1e6)
    assert formulas.window_goodput_mbit(1000, 20, 1460) == pytest.approx(584)


def test_standard_tcp_needs_800_s_to_refill_1_gbit_100_ms() -> None:
    assert formulas.refill_rtts(8000) == 8000
    assert formulas.refill_s(8000, 100) == 800
    assert formulas.refill_s(8333, 100) == pytest.approx(833, abs=0.5)


@pytest.mark.parametrize(
    ("queue", "aimd", "scalable"),
    [
        (0, (0.750, 0.850, 0.900, 0.938), 0.936),
        (0.01, (0.757, 0.858, 0.909, 0.947), 0.945),
        (0.05, (0.786, 0.889, 0.939, 0.975), 0.974),
        (0.1, (0.818, 0.921, 0.968, 0.995), 0.995),
        (0.2, (0.871, 0.966, 0.997, 1), 1),
        (0.3, (0.912, 0.991, 1, 1), 1),
        (0.5, (0.964, 1, 1, 1), 1),
        (1, (1, 1, 1, 1), 1),
    ],
)
def test_sawtooth_utilisation(queue: float, aimd: tuple[float, ...], scalable: float) -> None:
    values = [formulas.sawtooth_utilisation(queue, kept) for kept in (0.5, 0.7, 0.8, 0.875)]
    assert values == pytest.approx(aimd, abs=6e-4)
    assert formulas.exponential_utilisation(queue) == pytest.approx(scalable, abs=6e-4)


@pytest.mark.parametrize(
    ("p", "windows"),
    [
        (1e-3, (38.7, 38.7, 80, 38.7, 268)),
        (1e-4, (122, 263, 800, 187, 848)),
        (1e-5, (387, 1796, 8000, 1054, 2683)),
        (1e-6, (1225, 12280, 80000, 5927, 8485)),
        (1e-7, (3873, 83981, 8e5, 33330, 26833)),
    ],
)
def test_response_functions(p: float, windows: tuple[float, ...]) -> None:
    reno, highspeed, scalable, cubic, bic = windows
    assert responses.reno(p) == pytest.approx(reno, rel=5e-3)
    # RFC 3649 interpolates; 0.12/p^0.835 rounds both constants.
    assert responses.highspeed(p) == pytest.approx(highspeed, rel=2e-2)
    assert responses.scalable(p) == pytest.approx(scalable, rel=1e-9)
    assert responses.cubic(p, 0.1) == pytest.approx(cubic, rel=5e-3)
    assert responses.bic(p) == pytest.approx(bic, rel=2e-3)


@pytest.mark.parametrize(
    ("p", "at_42_ms", "at_100_ms", "at_162_ms"),
    [
        (1e-3, 39, 57, 82),
        (1e-4, 177, 322, 459),
        (1e-5, 926, 1705, 2399),
        (1e-6, 4714, 8644, 12114),
    ],
)
def test_htcp_response(p: float, at_42_ms: float, at_100_ms: float, at_162_ms: float) -> None:
    values = [responses.htcp(p, rtt_s) for rtt_s in (0.042, 0.1, 0.162)]
    # The table is rounded to packets, and the smallest windows are only a few steps long.
    assert values == pytest.approx([at_42_ms, at_100_ms, at_162_ms], rel=0.015)


@pytest.mark.parametrize(("rtt_s", "growth"), [(0.010, 28), (0.042, 118), (0.1, 281)])
def test_htcp_growth_20_s_after_a_backoff(rtt_s: float, growth: int) -> None:
    scale = responses.htcp_scale_linux(rtt_s)
    assert int(responses.htcp_factor(20, scale)) == growth


def test_highspeed_parameters() -> None:
    for window, cut, increase in ((100, 0.4497, 1.80), (1000, 0.3299, 7.74), (10_000, 0.2101, 29)):
        assert responses.highspeed_cut(window) == pytest.approx(cut, abs=1e-4)
        assert responses.highspeed_increase(window) == pytest.approx(increase, rel=5e-3)
    assert responses.highspeed_cut(38) == 0.5
    assert responses.highspeed_increase(38) == 1


def test_highspeed_table_of_rfc_3649() -> None:
    table = responses.highspeed_table()
    assert len(table) == 73
    assert [(int(w), int(a)) for w, a, _ in table[:5]] == [
        (38, 1),
        (118, 2),
        (221, 3),
        (347, 4),
        (495, 5),
    ]
    assert [int(w) for w, _, _ in table[-2:]] == [89053, 94717]
    assert [int(256 * b) for _, _, b in table[:6]] == [128, 112, 104, 98, 93, 89]


def test_pftk_tends_to_the_square_root_law_without_timeouts() -> None:
    p = 1e-6
    assert responses.pftk(p, 0.1, 0.0) * 0.1 == pytest.approx(responses.reno(p), rel=0.02)
    assert responses.pftk(0.05, 0.1, 1.0) < 0.5 * responses.pftk(0.05, 0.1, 0.0)


def test_pftk_with_a_limited_window() -> None:
    assert responses.pftk(1e-7, 0.1, 0.3, window_max=10) * 0.1 == pytest.approx(10, rel=0.01)


def test_general_aimd_is_reno_at_one_half() -> None:
    assert responses.aimd(1e-4, 1, 0.5) == pytest.approx(responses.reno(1e-4))


def test_scalable_recovers_in_13_round_trips() -> None:
    assert formulas.recovery_rtts() == pytest.approx(13.4, abs=0.05)


@pytest.mark.parametrize(("kept", "events"), [(0.5, 2.3), (0.7, 4.5), (0.8, 7.2), (0.875, 12)])
def test_events_to_fairness(kept: float, events: float) -> None:
    assert formulas.events_to_fairness(kept) == pytest.approx(events, abs=0.06)


def test_ewma_floor_is_ln_5_windows() -> None:
    assert formulas.ewma_floor_s(1.0) == pytest.approx(math.log(5))


def test_fast_equilibrium() -> None:
    assert formulas.fast_backlog_packets(2, 200) == 400
    # 200 packets of 12 kbit per 24 ms of queueing are 100 Mbit/s.
    assert formulas.fast_throughput_mbit(200, 24) == pytest.approx(100)


def test_jain() -> None:
    assert formulas.jain_index(4, 1) == pytest.approx(0.735, abs=5e-4)


def test_shorten_leith_is_symmetric() -> None:
    assert formulas.shorten_leith_ratio(100, 100) == 1
    assert formulas.shorten_leith_ratio(200, 100) == pytest.approx(0.25)
    assert formulas.shorten_leith_ratio(100, 100, sync_1=1.0, sync_2=0.5) == 0.5


def test_scalable_keeps_any_ratio_under_joint_backoff() -> None:
    assert formulas.scalable_ratio_kept(0.3, 3375, 162, 0.2) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("algorithm", "rtt_ms", "low", "high"),
    [
        ("scalable", 42, 0, 0.13),
        ("scalable", 162, 0, 0.07),
        ("highspeed", 42, 0.81, 0.84),
        ("highspeed", 162, 0.63, 0.78),
        ("highspeed", 324, 0.37, 0.55),
        ("bic", 42, 0.80, 0.83),
        ("bic", 162, 0.78, 0.83),
        ("bic", 324, 0.52, 0.73),
        ("htcp", 42, 0.95, 1),
        ("htcp", 162, 0.94, 0.97),
        ("htcp", 324, 0.9, 0.94),
        ("reno", 42, 0.95, 1),
    ],
)
def test_joint_backoff_gives_the_known_fairness(
    algorithm: str, rtt_ms: float, low: float, high: float
) -> None:
    """Bands: an independent model of the same kind, over unknown phases of flow 1."""
    ratio = formulas.synchronised_ratio(algorithm, 250, rtt_ms, 0.2)
    assert ratio is not None
    assert low <= ratio <= high


@pytest.mark.parametrize("p", [1e-5, 1e-4, 1e-3])
def test_random_loss_leaves_standard_tcp_near_its_law(p: float) -> None:
    path = fluid.Path(100_000, 0.1, 1)
    window = fluid.under_loss(fluid.Reno, path, p) * path.rtt_s
    assert window == pytest.approx(responses.reno(p), rel=0.12)


@pytest.mark.parametrize("p", [1e-5, 1e-4, 1e-3])
def test_random_loss_leaves_scalable_near_its_law(p: float) -> None:
    path = fluid.Path(100_000, 0.1, 1)
    window = fluid.under_loss(fluid.Scalable, path, p) * path.rtt_s
    assert window == pytest.approx(responses.scalable(p), rel=0.12)


def test_without_loss_the_link_limits() -> None:
    path = fluid.Path(1000, 0.1, 1)
    assert fluid.under_loss(fluid.Reno, path, 0) == pytest.approx(10_000, rel=0.01)


def test_bic_grows_linearly_only_over_long_epochs() -> None:
    path = fluid.Path(1e6, 0.162, 1)
    window = fluid.under_loss(fluid.Bic, path, 1e-3) * path.rtt_s
    assert window < 0.3 * responses.bic(1e-3, increase_max=32)
    long_epochs = fluid.under_loss(fluid.Bic, path, 1e-8) * path.rtt_s
    assert long_epochs == pytest.approx(responses.bic(1e-8, increase_max=32), rel=0.15)


def test_two_equal_aimd_flows_converge_by_half_per_event() -> None:
    path = fluid.Path(1000, 0.1, 0.2)
    outcome = fluid.synchronised(fluid.Reno, path, window_2=100, slow_start=False)
    gaps = [1 - ratio for ratio in outcome.ratios]
    assert gaps == sorted(gaps, reverse=True)
    assert outcome.ratios[-1] > 0.9


def test_evaluate_reports_wrong_names() -> None:
    assert formulas.evaluate("bdp_packets", {"rate_mbit": 12, "rtt_ms": 3}) == 3
    with pytest.raises(InputError, match="bdp_packets"):
        formulas.evaluate("bdp_packet", {})
    with pytest.raises(InputError, match="rtt_ms"):
        formulas.evaluate("bdp_packets", {"rate_mbit": 1, "rtt_m": 1})
    with pytest.raises(InputError) as refused:
        formulas.evaluate("bdp_packets", {"rate_mbit": 1})
    assert (refused.value.problem, refused.value.valid) == snapshot(
        ("bdp_packets needs more arguments", "rtt_ms")
    )


def _runs() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "algorithm": ["reno@li2007"] * 2 + ["fast@li2007"],
            "rate": ["250mbit"] * 3,
            "rate_mbit": [250.0] * 3,
            "rtt_ms": [162.0] * 3,
            "loss": ["1e-5", "1e-5", "1e-5"],
            "loss_value": [1e-5] * 3,
            "sync[1]": [0.4, 0.6, 1.0],
            "sync[2]": [1.0, 1.0, 1.0],
            "rtt_mean_ms[1]@run": [100.0, 100.0, None],
            "rtt_mean_ms[2]@run": [100.0, 100.0, None],
        }
    )


def test_curves_average_over_the_runs_of_a_point() -> None:
    frame = curves.along("shorten_leith_ratio", _runs(), ["algorithm", "rate"])
    assert frame.to_dicts() == [
        {"algorithm": "reno@li2007", "rate": "250mbit", "theory": pytest.approx(2.0)}
    ]


def test_response_curve_is_a_rate() -> None:
    frame = curves.along("response_throughput", _runs(), ["algorithm", "loss"])
    expected = responses.reno(1e-5) * 12_000 / 0.162 / 1e6
    assert frame["theory"].to_list() == pytest.approx([expected])


def test_response_curve_is_limited_by_the_link() -> None:
    frame = curves.along(
        "response_throughput", _runs().with_columns(loss_value=pl.lit(1e-9)), ["algorithm"]
    )
    assert frame["theory"].to_list() == [250.0]


def test_curves_name_what_they_lack() -> None:
    with pytest.raises(InputError, match="queue_bdp"):
        curves.along("sawtooth_utilisation", _runs(), ["algorithm"])
    with pytest.raises(InputError, match="sawtooth_utilisation"):
        curves.curve("sawtooth_utilization")
