"""A network of any nodes and links."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.keys import numbered
from dumbbell.base.units import WholeDelay
from dumbbell.scenario.disciplines.drop_tail import UNLIMITED
from dumbbell.scenario.model_hosts import Hosts, idle_queue
from dumbbell.scenario.model_links import Impairments, LinkLoss
from dumbbell.scenario.model_queues import QueueSpec
from dumbbell.scenario.model_rates import (
    DelaySpec,
    OpenRateSpec,
    RateSpec,
)
from dumbbell.scenario.model_switches import NodeSwitch
from dumbbell.scenario.tables import Name, Table


class _GraphReversePath(Table):
    rate: RateSpec | None = Field(None, examples=["10mbit"])
    """Its rate; by default that of the way there."""

    delay: DelaySpec | None = Field(None, examples=["5ms"])
    """Its delay; by default that of the way there."""

    queue: QueueSpec | None = Field(None, examples=["100p"])
    """Its queue; by default that of the way there."""


class GraphReverse(Impairments, _GraphReversePath):
    """The way back over a link, from `to` to `from`."""

    loss: tuple[LinkLoss, ...] = Field((), examples=[[{"probability": 1e-5}]])
    """Loss before its queue."""


class _GraphLinkEnds(Table):
    source: Name = Field(alias="from", pattern=r"^[^>]+$", examples=["a"])
    """A node; nodes exist by being named."""

    target: Name = Field(alias="to", pattern=r"^[^>]+$", examples=["b"])
    """The node at the other end."""

    rate: OpenRateSpec = Field("unlimited", validate_default=True, examples=["100mbit"])
    """Its rate, as in a dumbbell, or `unlimited`."""

    delay: DelaySpec = Field("0s", validate_default=True, examples=["5ms"])
    """Its one-way propagation time."""

    queue: QueueSpec | None = Field(None, examples=["100p", "0.2bdp"])
    """Its queue, as in a dumbbell; by default `1000p`, and `unlimited` where it leaves a
    switch."""


class GraphLink(Impairments, _GraphLinkEnds):
    """A link between two nodes, in both directions."""

    loss: tuple[LinkLoss, ...] = Field((), examples=[[{"probability": 1e-5}]])
    """Loss before its queue, from `from` to `to`."""

    reverse: GraphReverse = Field(GraphReverse(), examples=[{"rate": "10mbit", "queue": "100p"}])
    """Differences of the way back. By default it has the same rate, delay and queue. Loss, jitter
    and other impairments apply to it only if they are set here."""

    @model_validator(mode="after")
    def _two_ends(self) -> Self:
        if self.source == self.target:
            raise InputError(
                "a link joins two nodes", key="to", value=self.target, valid="another node"
            )
        if self.rate is None and self.queue not in (None, UNLIMITED):
            raise idle_queue("queue")
        back = self.reverse
        if self.rate is None and back.rate is None and back.queue not in (None, UNLIMITED):
            raise idle_queue("reverse.queue")
        return self


class _GraphPath(Table):
    topology: Literal["graph"]

    link: tuple[GraphLink, ...] = Field(
        min_length=1, examples=[[{"from": "a", "to": "b", "rate": "100mbit", "delay": "5ms"}]]
    )
    """The links, as an array of tables."""

    rtt: WholeDelay | None = Field(None, examples=["42ms"])
    """Round-trip time for queues in `bdp`. A flow's round-trip time is that of its links."""

    switch: tuple[NodeSwitch, ...] = Field((), examples=[[{"node": "b", "memory": "12mb"}]])
    """Nodes whose outgoing links share a memory, as an array of tables."""


class Graph(Hosts, _GraphPath):
    """Any nodes and links. Flows take the path of least delay, or the one that they name."""

    @model_validator(mode="after")
    def _simple(self) -> Self:
        known: set[frozenset[str]] = set()
        for key, link in numbered("link", self.link):
            ends = frozenset((link.source, link.target))
            if ends in known:
                raise InputError(
                    f"a second link between {link.source} and {link.target}",
                    key=key,
                    valid="one link for both directions, the way back in its table reverse",
                )
            known.add(ends)
        nodes = [switch.node for switch in self.switch]
        for before, (key, node) in enumerate(numbered("switch", nodes)):
            if node in nodes[:before]:
                raise InputError(
                    "named twice", key=f"{key}.node", value=node, valid="a switch for each node"
                )
        return self
