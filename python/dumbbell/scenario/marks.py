"""Congestion marks in a scenario: where queues set them, and which flows react to them."""

from __future__ import annotations

from dumbbell.algorithms import catalogue
from dumbbell.contract.scenario import Flow, LinkConfig, Scenario
from dumbbell.scenario import facts
from dumbbell.scenario.disciplines import MODELS


def are_set(scenario: Scenario, flow: Flow) -> bool:
    """Return True if a queue on the path of a flow's data marks packets."""
    return any(_marks(scenario.links[hop.link]) for hop in flow.forward.hops)


def are_heard(scenario: Scenario, flow: Flow) -> bool:
    """Return True if a flow also negotiates ECN, so that marks reach its algorithm."""
    tcp = flow.transport.tcp
    if tcp is None:
        return False
    described = facts.described(scenario, facts.algorithm(flow))
    profile = catalogue.stack_profile(tcp.stack.profile)
    switches = {**profile.switches, **tcp.stack.switches}
    # An algorithm that needs marks has ECN unless the other end refuses it.
    has_ecn = switches["ecn"] != "off" or described.needs_ecn
    return has_ecn and switches["ecn_peer"] != "off" and are_set(scenario, flow)


def _marks(link: LinkConfig) -> bool:
    """Return True if the queue of a link marks packets rather than only dropping them."""
    discipline = link.queue.discipline
    return MODELS[str(discipline.__struct_config__.tag)].marks(discipline)
