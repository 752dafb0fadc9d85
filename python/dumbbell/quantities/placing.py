"""When the windows of a test lie in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.plan.windows import At, Event, Instant, Part, Step, Window
from dumbbell.quantities.spans import Span
from dumbbell.quantities.subjects import Absent, Flow, absent, named, no_flow

if TYPE_CHECKING:
    from dumbbell.contract.scenario import LinkConfig, Scenario


def main(scenario: Scenario, flows: Sequence[Flow], window: Window) -> Span | None:
    """Return where the main window of a run lies, settling included; None if it is empty.

    By default it begins when the last of the sampled TCP flows has: datagrams do not move it.
    """
    latest_ns = max((flow.life.start_ns for flow in flows if flow.is_sampled), default=0)
    return _Placing(scenario, flows, None).place(window, latest_ns)


def placed(
    scenario: Scenario, flows: Sequence[Flow], window: Window, within: Span | None
) -> Span | None:
    """Return where a named window lies, settling included, given the main one; None: nowhere.

    Its references must be in the run, else the result is an `Absent`.
    """
    start_ns = within.start_ns if within is not None else 0
    return _Placing(scenario, flows, within).place(window, start_ns)


@dataclass(frozen=True)
class _Placing:
    scenario: Scenario
    flows: Sequence[Flow]
    within: Span | None

    def place(self, window: Window, start_ns: int) -> Span | None:
        end_ns = self.scenario.duration_ns
        if window.begin is not None:
            start_ns = max(0, self._time_ns(window.begin, max))
        if window.end is not None:
            end_ns = min(end_ns, self._time_ns(window.end, min))
        if window.length is not None:
            end_ns = min(end_ns, start_ns + window.length)
        return Span(start_ns, end_ns) if start_ns < end_ns else None

    def _time_ns(self, instant: Instant, of_several: Callable[[Iterable[int]], int]) -> int:
        """Return when it is; where several flows are meant, so that the window is the shorter."""
        match instant:
            case At(time_ns):
                return time_ns
            case Part(share):
                within = self.within or Span(0, self.scenario.duration_ns)
                return round(within.start_ns + share * (within.end_ns - within.start_ns))
            case Event(what, name, later_ns):
                lives = [flow.life for flow in named(self.flows, name)]
                if not lives:
                    raise no_flow(name, self.flows)
                ends = [life.start_ns if what == "start" else life.end_ns for life in lives]
                # The latest begin and the earliest end: there all of the flows are on.
                return of_several(ends) + later_ns
            case Step():
                return step_ns(self.scenario, instant)


def step_ns(scenario: Scenario, step: Step) -> int:
    """Return when a rate or a delay changes; a step that is not there is an `Absent`."""
    links = [link for link in scenario.links if step.link in (None, link.name)]
    if not links:
        raise absent("link", step.link or "", [link.name for link in scenario.links])
    times = sorted({at_ns for link in links for at_ns in _steps(link)})
    if step.number > len(times):
        raise Absent(
            f"there are {len(times)} steps of rates and delays",
            value=f"step {step.number}",
            valid=f"step 1 to {len(times)}" if times else "a network whose rate or delay changes",
        )
    return times[step.number - 1] + step.later_ns


def _steps(link: LinkConfig) -> list[int]:
    """Return when the rate or the delay of a link changes."""
    rate = link.rate.steps if link.rate is not None else None
    return [at_ns for at_ns, _ in (*(rate or ()), *link.delay) if at_ns > 0]
