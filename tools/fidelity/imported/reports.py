"""Reports that an iperf3 client would have written of a run."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from dumbbell.base.units import NS_PER_S, parse_bytes, parse_rate
from dumbbell.engines.result import Run
from fidelity.imported.case import Case

_BLOCK_BYTES: Final = 131_072
_SEGMENT_BYTES: Final = 1448
_WINDOW_BYTES: Final = 500_000_000


def report(case: Case, run: Run) -> dict[str, Any]:
    """Return the report: what is written to the socket is counted, in blocks.

    The socket holds up to twice the congestion window.
    """
    flow = case.flow
    window = flow.get("tcp_bpf", {}).get("receive_buffer")
    # A target rate is the option of whoever limits the application by it.
    target = flow.get("workload", {}).get("rate")
    holds = pl.lit(0) if target else 2 * pl.col("cwnd_segs") * _SEGMENT_BYTES
    samples = (
        run.tables["flows"]
        .sort("time_ns")
        .select(
            end=pl.col("time_ns") / NS_PER_S,
            written=(pl.col("acked_bytes") + holds) // _BLOCK_BYTES * _BLOCK_BYTES,
            again=pl.col("retransmitted_segs").cast(pl.Int64),
            rtt="srtt_us",
            window=pl.col("cwnd_segs") * _SEGMENT_BYTES,
        )
    )
    streams = []
    before_s, written, again = 0.0, 0, 0
    for end_s, so_far, resent, rtt, congestion in samples.rows():
        streams.append(
            {
                "socket": 5,
                "start": before_s,
                "end": end_s,
                "bytes": max(so_far - written, 0),
                "retransmits": resent - again,
                "snd_cwnd": congestion,
                "snd_wnd": parse_bytes(window) if window else _WINDOW_BYTES,
                "rtt": rtt,
                "sender": True,
            }
        )
        before_s, written, again = end_s, max(so_far, written), resent
    arrived = run.tables["flows"].sort("time_ns")["received_bytes"].last()
    whole = {"socket": 5, "start": 0, "end": before_s, "bytes": arrived}
    test = {"protocol": "TCP", "blksize": _BLOCK_BYTES}
    if target:
        test["target_bitrate"] = parse_rate(target)
    return {
        "start": {"version": "iperf 3.18", "tcp_mss_default": _SEGMENT_BYTES, "test_start": test},
        "intervals": [{"streams": [stream]} for stream in streams],
        "end": {"streams": [{"receiver": whole}], "sender_tcp_congestion": flow["algorithm"]},
    }
