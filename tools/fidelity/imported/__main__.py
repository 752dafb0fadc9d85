"""Write docs/import-fidelity.md: `make validate-import`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from dumbbell.base.errors import TestbedError
from dumbbell.engines.engine import Engine, SimulatorEngine
from dumbbell.engines.testbed import TestbedEngine
from fidelity.imported import cases, kernel
from fidelity.imported.case import Case
from fidelity.imported.judging import Judged, judge, run
from fidelity.imported.page import page

_SIMULATED = (
    "Of the simulator, with one flow each, seen by a capture or by an iperf3 client's report."
)
_EMULATED = (
    "This machine's kernel sent these over the testbed's emulator, which delays and queues packets"
    " as `netem` and `tbf` do. The fit uses the kernel's `tcp_info`, as an iperf3 client reports"
    " it."
)
_SHAPED = "Of iperf3 itself over a router with `tbf`; the path has no delay, so no RTT is judged."


def main() -> int:
    """Run, fit and compare all transfers; 1 if anything is outside."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", type=Path, required=True)
    wanted = parser.parse_args()
    parts = [
        ("Simulated transfers", _SIMULATED, list(_judged(cases.simulated(), SimulatorEngine())))
    ]
    testbed = TestbedEngine()
    try:
        testbed.check()
    except TestbedError as error:
        print(f"no real transfers: {error}", file=sys.stderr)
    else:
        emulated = list(_judged(cases.real(), testbed))
        parts.append(("Transfers of the kernel", _EMULATED, emulated))
        with tempfile.TemporaryDirectory(prefix="dumbbell-import-") as folder:
            shaped = [_printed(transfer) for transfer in kernel.judged(Path(folder))]
        parts.append(("Transfers of iperf3", _SHAPED, shaped))
    wanted.markdown.write_text(page(parts))
    return int(any(transfer.outside for _, _, judged in parts for transfer in judged))


def _judged(transfers: Iterable[Case], engine: Engine) -> Iterator[Judged]:
    for case in transfers:
        yield _printed(judge(case, run(case, engine)))


def _printed(judged: Judged) -> Judged:
    """Print how a transfer ended, and return it."""
    print(f"{judged.name}: {', '.join(judged.outside) or 'within'}", file=sys.stderr, flush=True)
    return judged


if __name__ == "__main__":
    sys.exit(main())
