"""Impairments of a link: loss, policing, duplicates, reordering, jitter, batches."""

from __future__ import annotations

from typing import Final, Self

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from dumbbell.base.errors import InputError
from dumbbell.base.units import (
    Count,
    Delay,
    Integer,
    Packets,
    Probability,
    Rate,
    Share,
    Volume,
    WholeDelay,
    format_time,
)
from dumbbell.scenario.model_rates import ProbabilitySpec
from dumbbell.scenario.model_variations import JitterSpec
from dumbbell.scenario.tables import Table


class GilbertElliott(Table):
    """Loss in bursts: a good and a bad state, one step for each packet (Gilbert, Elliott)."""

    to_bad: Share = Field(examples=[1e-4])
    """Probability of turning bad."""

    to_good: Share = Field(examples=[0.1])
    """Probability of turning good again; its inverse is the mean length of a burst."""

    loss_good: Share = Field(0.0, examples=[0])
    """Share of packets lost in the good state."""

    loss_bad: Share = Field(1.0, examples=[1])
    """Share of packets lost in the bad state."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.to_good == 0:
            raise InputError(
                "the bad state never ends", key="to_good", value=0, valid="more than 0"
            )
        if self.loss_good == 1:
            raise InputError("lets nothing through", key="loss_good", value=1, valid="less than 1")
        return self


class Bursts(Table):
    """Loss in bursts of time: a good and a bad state of exponential lengths.

    Gilbert and Elliott's model in continuous time, and `mm-onoff` of mahimahi.
    """

    mean_good: WholeDelay = Field(examples=["2s"])
    """Mean length of the good state, at least 1 us."""

    mean_bad: WholeDelay = Field(examples=["50ms"])
    """Mean length of the bad state, at least 1 us."""

    loss_good: Share = Field(0.0, examples=[0])
    """Share of packets lost in the good state."""

    loss_bad: Share = Field(1.0, examples=[1])
    """Share of packets lost in the bad state."""

    @field_validator("mean_good", "mean_bad")
    @classmethod
    def _long(cls, mean_ns: int) -> int:
        if mean_ns < _SHORTEST_STATE_NS:
            raise InputError("too short", value=format_time(mean_ns), valid="at least 1us")
        return mean_ns

    @field_validator("loss_good")
    @classmethod
    def _good(cls, share: float) -> float:
        if share == 1:
            raise InputError("lets nothing through", value=1, valid="less than 1")
        return share


class Drop(Table):
    """One chosen segment that is lost."""

    flow: str = Field(examples=["reno 1"])
    """Label of the flow."""

    number: Integer = Field(examples=[100])
    """Number of its data segment."""

    times: Count = Field(1, examples=[1])
    """Number of times that it is lost before it passes."""

    @field_validator("number")
    @classmethod
    def _number_limit(cls, number: int) -> int:
        if number >= 2**62:
            raise InputError("too large", valid="less than 2^62")
        return number


class LinkLoss(Table):
    """Loss by one of five models: at random, in bursts, by wrong bits, or of chosen segments."""

    probability: ProbabilitySpec | None = Field(
        None, examples=[1e-5, "1%", {"trace": "loss.txt", "interval": "10ms"}]
    )
    """Share of the packets that are lost, each independently of the others: a constant, a list of
    changes, or a trace."""

    correlation: Share | None = Field(None, examples=[0.25])
    """Correlation of a packet's loss with that of the packet before it. It needs a constant
    `probability`. After a lost packet, `p + (1 - p) * correlation` of the packets are lost."""

    gilbert_elliott: GilbertElliott | None = Field(
        None, examples=[{"to_bad": 1e-4, "to_good": 0.1}]
    )
    """Loss in bursts of packets."""

    bursts: Bursts | None = Field(None, examples=[{"mean_good": "2s", "mean_bad": "50ms"}])
    """Loss in bursts of time."""

    bit_errors: Probability | None = Field(None, examples=[1e-9])
    """Share of the bits that are wrong, each independently of the others. A packet with a wrong
    bit is lost, so long packets are lost more often."""

    drops: tuple[Drop, ...] | None = Field(
        None, min_length=1, examples=[[{"flow": "reno 1", "number": 100}]]
    )
    """The segments that are lost, and no others."""

    @property
    def kind(self) -> str:
        """The key that chooses the loss model."""
        return next(key for key in _LOSS_KINDS if getattr(self, key) is not None)

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        given = [key for key in _LOSS_KINDS if getattr(self, key) is not None]
        if len(given) != 1:
            problem = "more than one model of loss" if given else "is missing"
            key = given[1] if given else "probability"
            raise InputError(problem, key=key, valid=f"one of {', '.join(_LOSS_KINDS)}")
        if self.correlation is not None and not isinstance(self.probability, float):
            raise InputError(
                "needs a constant probability of loss",
                key="correlation",
                value=self.correlation,
                valid="no such key here, or a probability that does not change",
            )
        if self.correlation == 1:
            raise InputError(
                "the first loss would never end", key="correlation", value=1, valid="less than 1"
            )
        return self


_LOSS_KINDS: Final = ("probability", "gilbert_elliott", "bursts", "bit_errors", "drops")
_SHORTEST_STATE_NS: Final = 1000
"""Shorter states take time and show nowhere."""


class Policer(Table):
    """Drops what exceeds a rate, without a queue."""

    rate: Rate = Field(examples=["50mbit"])
    """Rate that passes in the long run."""

    burst: Volume = Field(examples=["64kb"])
    """Size of the bucket; at least one packet."""


class Reorder(Table):
    """Some packets are late, so that others overtake them."""

    probability: Probability = Field(examples=[0.01, "1%"])
    """Share of packets that are late."""

    delay: WholeDelay = Field(examples=["1ms"])
    """Delay of these packets."""


class Impairments(Table):
    """Effects of a link on packets besides delaying and queueing them."""

    policer: Policer | None = Field(None, examples=[{"rate": "50mbit", "burst": "64kb"}])
    """Drops what exceeds a rate, before the queue."""

    duplicate: Probability = Field(0.0, examples=[1e-4])
    """Share of packets that arrive twice."""

    reorder: Reorder | None = Field(None, examples=[{"probability": 0.01, "delay": "1ms"}])
    """Packets that others overtake."""

    jitter: JitterSpec = Field(
        "0s",
        validate_default=True,
        examples=["100us", {"mean": "20ms", "deviation": "5ms", "distribution": "normal"}],
    )
    """Longest random delay of a packet, or a distribution of delays. With a longest delay, delays
    are uniformly distributed, and packets keep their order. The delay comes before the queue, or
    after a queue that schedules, such as `fq-codel`."""

    holds: Packets | None = Field(None, examples=["1000p"])
    """Most packets that the link holds, in its queue and in its delays together. Any further packet
    is dropped, as by netem's `limit`."""

    batch: Delay = Field("0s", validate_default=True, examples=["1ms"])
    """Packets reach the far end only at multiples of this time, possibly several at once. A radio
    link that aggregates acknowledgements does the same. With `0s` packets arrive at any time."""

    @property
    def is_idle(self) -> bool:
        """True if the link has none of these effects."""
        late = self.reorder is not None and self.reorder.probability > 0
        others = (name for name in Impairments.model_fields if name != "reorder")
        return not (late or any(getattr(self, name) for name in others))
