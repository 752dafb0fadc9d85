"""Names in other tools for the keys of files, the options of the command and its units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dumbbell.base.errors import near

_SYNONYMS: Final[Mapping[str, str]] = {
    "algorithm": "cc cca ca algo alg congestion congestion_control congestion_algorithm tcp "
    "tcp_congestion tcp_congestion_control variant tcp_variant",
    "rtt": "delay latency ping base_rtt min_rtt round_trip_time rtt_ms propagation owd",
    "rate": "bandwidth bw capacity speed throughput bitrate link_rate datarate",
    "queue": "buffer buffer_size queue_size queue_limit qlen limit qdisc aqm",
    "buffer": "queue queue_size queue_limit buffer_size qlen limit",
    "discipline": "qdisc aqm kind type name policy",
    "limit": "size packets queue buffer qlen maxlen",
    "duration": "time length runtime run_time sim_time simtime seconds",
    "loss": "plr loss_rate packet_loss drop error_rate",
    "probability": "rate p plr share loss",
    "count": "n num number flows copies",
    "flows": "n num number count streams connections parallel",
    "flow": "sender senders source connection connections traffic host tcp",
    "runs": "repetitions repeat repeats iterations n trials replications samples",
    "seed": "random_seed rng rngseed random",
    "bytes": "size volume length amount data",
    "size": "bytes length amount volume",
    "start": "begin from at start_time offset",
    "stop": "end until to stop_time end_time finish",
    "label": "name title id",
    "title": "name description label",
    "name": "title label id",
    "packet": "mtu mss packet_size pkt_size segment segment_size",
    "transport": "protocol proto",
    "parameters": "params param options settings arguments args",
    "network": "path link topology net bottleneck",
    "switches": "slow_start hystart pacing ecn sack rack tlp frto tso gro delayed_ack quick_acks "
    "initial_window initial_cwnd timestamps sysctl",
    "stack": "profile kernel os tcp_stack linux host",
    "record": "output log trace measure metrics",
    "interval": "period step sampling sample_interval every",
    "overhead": "framing headers",
    "workload": "application app traffic pattern",
    "results": "output out dir folder output_dir store directory",
    "report": "html output site",
    "jobs": "threads processes workers parallel cpus cores",
    "engine": "backend simulator testbed",
    "figure": "plot chart fig graph",
    "figures": "plots charts figs",
    "claim": "claims assertion statement",
    "test": "tests experiment experiments",
    "axes": "axis grid parameters sweep params",
    "set": "override change with value",
    "csv": "table",
    "pcap": "capture tcpdump dump pcapng",
    "objective": "goal metric optimise optimize target maximize maximise",
    "kept": "beta b decrease multiplicative_decrease",
    "scale": "c",
    "candidates": "trials budget iterations samples",
}
"""Ours -> what it may be called elsewhere."""


def near_key(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is meant: by what others call it, else by its spelling."""
    names = list(names)
    plain = name.lower().replace("-", "_")
    spelt = near(name, names)
    if spelt is not None and spelt.lower().rstrip("s") == plain.rstrip("s"):
        return spelt
    meant = (ours for ours in names if plain in _SYNONYMS.get(ours, "").split())
    return next(meant, spelt)
