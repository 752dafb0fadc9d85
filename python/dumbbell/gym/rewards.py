"""Rewards by name, each a function of the measurements of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dumbbell.base.arguments import wrong
from dumbbell.base.errors import listed, unknown
from dumbbell.gym.measured import Measured

Reward = Callable[[Measured], Any]
"""Returns a number for a step, or an array of them for the paths of a vector environment."""

_PACKETS_PER_MBIT: Final = 1e6 / (8 * 1500)
_MS_PER_S: Final = 1000


def throughput_delay_loss(step: Measured) -> Any:
    """Return ten times the packets per second, minus delay and loss, in thousands.

    Of Aurora (Jay et al., ICML 2019, section 4): 10 throughput - 1000 latency - 2000 loss, with
    packets of 1500 bytes per second, seconds and shares; as in its code, a thousandth of that.
    """
    packets_per_s = step.delivery_mbit_per_s * _PACKETS_PER_MBIT
    latency_s = step.rtt_mean_ms / _MS_PER_S
    return (10 * packets_per_s - 1000 * latency_s - 2000 * step.loss_share) / 1000


def power(step: Measured) -> Any:
    """Return the rate of delivery in Mbit/s over the stretch of the RTT.

    Kleinrock's power (ICC 1979), with the mean RTT in units of the smallest of the episode.
    """
    return step.delivery_mbit_per_s * step.path_rtt_min_ms / step.rtt_mean_ms.clip(min=1e-3)


def power_loss(step: Measured) -> Any:
    """Return `power` minus five times the rate of delivery times the share of lost segments.

    `power` alone lets a learner flood a short queue, where what is lost delays nothing. Here a
    loss of 20 % costs all that is delivered.
    """
    return power(step) - 5 * step.loss_share * step.delivery_mbit_per_s


def harm(step: Measured) -> Any:
    """Return the rate of delivery minus twice the loss of others, in Mbit/s.

    Others are compared with a run in which the learner's flow has the algorithm that its scenario
    names: CUBIC in the standard paths. So the learner may take as much as that, and no more
    (harm: Ware et al., HotNets 2019).
    """
    lost = (step.baseline_mbit_per_s - step.others_mbit_per_s).clip(min=0)
    return step.delivery_mbit_per_s - 2 * lost


REWARDS: Final[dict[str, Reward]] = {
    "throughput-delay-loss": throughput_delay_loss,
    "power": power,
    "power-loss": power_loss,
    "harm": harm,
}
"""The rewards that have names."""


def reward(choice: object) -> Reward:
    """Return the reward of a name, or a function as it is; anything else is an InputError."""
    if isinstance(choice, str):
        if choice not in REWARDS:
            raise unknown("reward", choice, REWARDS).at(key="reward")
        return REWARDS[choice]
    if callable(choice):
        return choice
    raise wrong("reward", choice, "not a reward", f"{listed(REWARDS)}, or a function")
