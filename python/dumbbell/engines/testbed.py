"""The testbed: real time, between hosts of this machine's own kernel."""

from __future__ import annotations

import json
from typing import Any, Final

from dumbbell import _core
from dumbbell.algorithms import apart, catalogue
from dumbbell.base.errors import InputError, TestbedError
from dumbbell.engines import machine
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output, brought_down, core_errors, unpacked
from dumbbell.scenario.resolve import ResolvedScenario


class TestbedEngine:
    """Real time: network namespaces, their TCP that of this machine's kernel.

    Parameters
    ----------
    kernel_modules
        Use the kernel's own modules of the algorithms' names instead of our builds of them.
    give_up
        End a run with GivenUp as soon as nothing can make it valid.
    """

    __test__ = False  # not a test, whatever pytest makes of its name
    real_time: Final = True

    def __init__(self, *, kernel_modules: bool = False, give_up: bool = False) -> None:
        self._kernel_modules = kernel_modules
        self._options = json.dumps({"kernel_modules": kernel_modules, "give_up": give_up})
        self._modules = ", its own algorithms" if kernel_modules else ""

    @property
    def identity(self) -> str:
        """The version of what the testbed does, the kernel and the options."""
        return f"testbed {catalogue.TESTBED_VERSION}, {machine.system()}{self._modules}"

    def hasty(self) -> TestbedEngine:
        """Return the engine that gives up runs which nothing can make valid."""
        return TestbedEngine(kernel_modules=self._kernel_modules, give_up=True)

    def check(self) -> None:
        """Raise TestbedError if this machine cannot run anything on it."""
        state = machine.look()
        if not state.ready:
            raise TestbedError(f"{machine.verdict(state)}; `dumbbell doctor` shows more")

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        """Run one scenario; it takes as long as it lasts, and about a second more."""
        if scenario.scenario.record.capture:
            raise InputError("only the simulator captures packets", key="capture", value=True)
        record = scenario.scenario.record
        if record.modes and record.interval_ns is None:
            raise InputError(
                "on the testbed samples show the modes of algorithms",
                key="record.modes",
                value=True,
                valid='record = { modes = true, interval = "10ms" }; or the simulator',
            )
        # In another process, which gets processors before the programs of other sessions.
        with core_errors("testbed"), brought_down(scenario):
            raw = apart.ask("testbed_run", scenario.json, self._options, cancel=cancel)
            return unpacked(apart.RawOutput(*raw))


def host_switches(scenario: ResolvedScenario) -> dict[str, Any]:
    """Return the switches with which simulated hosts are like those of the testbed in a scenario.

    These are its receive buffers, which do not grow, and the tick of this kernel's timers.
    """
    with core_errors("testbed"):
        if scenario.scenario.sources:
            with brought_down(scenario):
                switches = apart.ask("testbed_host_switches", scenario.json)
        else:
            switches = _core.testbed_host_switches(scenario.json)
    by_name: dict[str, Any] = json.loads(switches)
    return by_name
