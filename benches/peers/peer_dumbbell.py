"""Dumbbell as one of the peers; takes the arguments of ns2.tcl and answers as that does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

import dumbbell

PAYLOAD_BYTES = 1448


def _kib(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def scenario(arguments: list[str]) -> dumbbell.Scenario:
    """Return the scenario that the arguments describe."""
    rate_bps, rtt_s, queue_packets, loss, flows, algorithm, duration_s, seed, host_bps = arguments
    hosts = {"edge_rate": f"{host_bps}bit"} if int(host_bps) else {}
    parameters = {"hystart": 0} if algorithm == "cubic" else {}
    return dumbbell.Scenario.model_validate(
        {
            "duration": f"{duration_s}s",
            "seed": int(seed),
            "stack": {"profile": "linux-6", "switches": {"quick_acks": 0}},
            "network": {
                "rate": f"{rate_bps}bit",
                "rtt": f"{rtt_s}s",
                "queue": f"{queue_packets}p",
                "reverse": {"queue": "1000000p"},
                **hosts,
                "loss": [{"place": "receiver", "probability": float(loss)}] if float(loss) else [],
            },
            "flow": [
                {"algorithm": algorithm, "start": f"{100 * index}ms", "parameters": parameters}
                for index in range(int(flows))
            ],
            "record": {"interval": "none", "events": []},
        }
    )


def main() -> None:
    """Run once and print one JSON object."""
    resolved = scenario(sys.argv[1:]).resolve()
    before_kib = _kib("VmHWM")
    begin_s, begin_processor_s = perf_counter(), process_time()
    run = dumbbell.simulate(resolved)
    wall_s, processor_s = perf_counter() - begin_s, process_time() - begin_processor_s
    answer = {
        "wall_s": wall_s,
        "processor_s": processor_s,
        "before_kib": before_kib,
        "peak_kib": _kib("VmHWM"),
        "packets": [flow.acked_bytes // PAYLOAD_BYTES for flow in run.summary.flows],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
