"""Rates of delivery, as Linux samples them (draft-cheng-iccrg-delivery-rate-estimation)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

_NEVER: Final = -1


@dataclass
class _Sent:
    """Segments that left together, and what they remember of that moment."""

    segs: int
    at_us: int
    first_sent_us: int
    delivered_at_us: int
    delivered_segs: int
    app_limited: bool


class Deliveries:
    """The segments in flight, in the order in which they were sent."""

    def __init__(self, now_us: int) -> None:
        self._flight: deque[_Sent] = deque()
        self._first_sent_us = now_us
        self._delivered_at_us = now_us
        self._newest: _Sent | None = None

    def send(self, segs: int, now_us: int, delivered_segs: int, *, app_limited: bool) -> None:
        """Remember segments that leave now."""
        if not self._flight:
            self._first_sent_us = self._delivered_at_us = now_us
        times = (now_us, self._first_sent_us, self._delivered_at_us)
        self._flight.append(_Sent(segs, *times, delivered_segs, app_limited))

    def forget(self, segs: int) -> None:
        """Forget the oldest segments, which are lost or were delivered unseen."""
        self._take(segs)

    def deliver(self, segs: int) -> int:
        """Take the oldest segments; return what had been delivered when the last of them left."""
        self._newest = self._take(segs)
        return self._newest.delivered_segs

    def _take(self, segs: int) -> _Sent:
        while True:
            oldest = self._flight[0]
            taken = min(segs, oldest.segs)
            oldest.segs -= taken
            segs -= taken
            if not oldest.segs:
                self._flight.popleft()
            if not segs:
                return oldest

    def sample(self, now_us: int, delivered_segs: int, min_rtt_us: int) -> dict[str, Any]:
        """Return the rate sample of the ACK whose segments were delivered last."""
        newest = self._newest
        assert newest is not None
        self._first_sent_us = newest.at_us
        sending_us = newest.at_us - newest.first_sent_us
        acknowledging_us = now_us - newest.delivered_at_us
        self._delivered_at_us = now_us
        interval_us = max(sending_us, acknowledging_us)
        # Less than the smallest RTT is no rate of the path.
        is_valid = interval_us > 0 and interval_us >= min_rtt_us
        return {
            "prior_delivered_segs": newest.delivered_segs,
            "interval_us": interval_us if is_valid else _NEVER,
            "delivered_segs": delivered_segs - newest.delivered_segs,
            "is_app_limited": int(newest.app_limited),
        }
