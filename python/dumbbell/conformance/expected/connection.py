"""A sender reduced to what a congestion control sees of it; it calls hooks in Linux's order.

There is no network: scripts say what is acknowledged, lost and marked. The window falls to
``ssthresh`` at once where Linux lets it fall ACK by ACK (PRR). Retransmissions leave at once, and
what is acknowledged is acknowledged in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.base.errors import InputError
from dumbbell.conformance.expected.calls import Hooks
from dumbbell.conformance.expected.delivery import Deliveries
from dumbbell.conformance.expected.script import SSTHRESH_INFINITE, STATES, Start

_OPEN, _DISORDER, _CWR, _RECOVERY, _LOSS = range(len(STATES))
_TX_START, _COMPLETE_CWR, _TIMED_OUT = 0, 2, 3
"""Numbers of ``enum cc_event``."""
_ACK_SLOW, _ACK_PLAIN, _ACK_ECE = 1, 2, 4
"""Bits of ``enum cc_ack_flag``."""
_WORD: Final = 0xFFFFFFFF
_US_PER_MS: Final = 1000


class Connection:
    """One connection of a case.

    Parameters
    ----------
    hooks
        Its algorithm.
    start
        Its beginning.
    """

    def __init__(self, hooks: Hooks, start: Start) -> None:
        algorithm = hooks.calls.algorithm
        self._hooks = hooks
        self._is_own_control = "cong_control" in algorithm.hooks
        has_rates = self._is_own_control or "rates" in algorithm.flags
        self._deliveries = Deliveries(start.at_us)
        self._has_rates = has_rates
        self._has_one_way = "one-way" in algorithm.flags
        self._una = self._nxt = self._high_seq = 0
        self._flight = 0
        self._rtt_us = start.rtt_us
        self._srtt_x8 = 8 * start.rtt_us
        self._last_sent_us = start.at_us
        self._is_reducing = False
        self._prior_ssthresh: int | None = None
        self._timeouts = 0
        self.conn = _fresh(start, app_limited=has_rates)
        hooks.call(self.conn, "init")
        self._send()

    @property
    def flight_segs(self) -> int:
        """Segments in flight."""
        return self._flight

    @property
    def rtt_us(self) -> int:
        """The RTT of the last ACK, or of the handshake."""
        return self._rtt_us

    def wait(self, time_us: int) -> None:
        """Let time pass."""
        self.conn["now_us"] += time_us

    def ack(
        self,
        segs: int,
        rtt_us: int | None = None,
        delay_us: int | None = None,
        *,
        lost: int = 0,
        marked: bool = False,
        app_limited: bool = False,
    ) -> None:
        """Take an ACK of `segs` segments, whose last one took `rtt_us`.

        It shows `lost` others to be lost.
        """
        self._check_flight(segs + lost, "ack")
        prior_flight = self._flight
        self._rtt_us = rtt_us or self._rtt_us
        flown = self._deliver(segs, marked=marked)
        self._note_rtt(self._rtt_us, self._rtt_us // 2 if delay_us is None else delay_us)
        flags = _ACK_SLOW | _ACK_ECE if marked else _ACK_PLAIN
        self._hooks.call(self.conn, {"in_ack_event": flags})
        sample = {
            "pkts_acked": segs,
            "rtt_us": self._rtt_us,
            "in_flight_bytes": (flown if self._has_rates else self._flight) * self.conn["mss_bytes"]
            & _WORD,
        }
        self._hooks.call(self.conn, {"pkts_acked": sample})
        self._follow(lost, marked=marked)
        self._timeouts = 0
        self.conn["cwnd_limited"] = int(not app_limited)
        self._control(segs, lost, prior_flight)
        self._send(segs if app_limited else None)

    def lose(self, segs: int) -> None:
        """Find the oldest segments lost by RACK's timer, without an ACK."""
        self._check_flight(segs, "loss")
        self._lose(segs)

    def recover(self) -> None:
        """Have all delivered that was sent before the reduction; no hook is told of these ACKs."""
        if self.conn["state"] in (_OPEN, _DISORDER):
            raise InputError("there is nothing to recover from", value="recovered")
        segs = max(self._high_seq - self._una, 0)
        taken = min(segs, self._flight)
        if taken:
            self._deliveries.forget(taken)
        self._una += segs
        self._flight -= taken
        self.conn["delivered_segs"] += segs
        # What the window lets go was sent meanwhile.
        self._fill(max(self.conn["cwnd_segs"] - self._flight, 0))
        self._look()
        self._finish()
        self._send()

    def time_out(self) -> None:
        """Let the retransmission timer expire."""
        conn = self.conn
        is_new = conn["state"] in (_OPEN, _DISORDER) or self._una >= self._high_seq
        if is_new or (conn["state"] == _LOSS and not self._timeouts):
            self._prior_ssthresh = self._ssthresh_to_keep()
            self._ask_ssthresh()
            self._tell_event(_TIMED_OUT)
        self._is_reducing = False
        conn["lost_segs"] += self._flight
        if self._flight:
            self._deliveries.forget(self._flight)
        self._flight = 0
        self._look()
        conn["cwnd_segs"] = 1
        conn["cwnd_cnt"] = 0
        self._high_seq = self._nxt
        self._tell_state(_LOSS)
        self._timeouts += 1
        self._send()

    def undo(self) -> None:
        """Take the last reduction back, which was spurious."""
        if self._prior_ssthresh is None:
            raise InputError(
                "there is no reduction to take back", value="undo", valid="after loss or timeout"
            )
        conn = self.conn
        was_reducing, self._is_reducing = self._is_reducing, False
        conn["cwnd_segs"] = self._hooks.call(conn, "undo_cwnd")
        conn["ssthresh_segs"] = max(conn["ssthresh_segs"], self._prior_ssthresh)
        self._prior_ssthresh = None
        # What was taken for lost after a timeout was only late.
        late = self._nxt - self._una - self._flight
        if late:
            self._leave(late)
        self._look()
        if conn["state"] != _OPEN:
            self._tell_state(_OPEN)
        if was_reducing:
            self._tell_event(_COMPLETE_CWR)
        self._send()

    def idle(self, time_us: int) -> None:
        """Have all delivered, send nothing for a time, and then a window.

        The window keeps its size, as with ``net.ipv4.tcp_slow_start_after_idle=0``.
        """
        conn = self.conn
        if self._flight:
            self._deliveries.forget(self._flight)
        conn["delivered_segs"] += self._nxt - self._una
        self._una, self._flight = self._nxt, 0
        if self._has_rates:
            conn["app_limited_segs"] = max(conn["delivered_segs"] & _WORD, 1)
        self.wait(time_us)
        self._send()

    def _check_flight(self, segs: int, verb: str) -> None:
        if segs > self._flight:
            raise InputError(
                f"is about {segs} segments, but {self._flight} are in flight", key=verb
            )

    def _lose(self, segs: int, *, is_right: bool = False) -> None:
        """Reduce the window for the oldest segments, and send them again.

        If the network itself says that it is congested, the reduction is right whatever becomes of
        the segments.
        """
        self._flight -= segs
        self.conn["lost_segs"] += segs
        self._look()
        if self.conn["state"] in (_OPEN, _DISORDER):
            self._prior_ssthresh = None if is_right else self._ssthresh_to_keep()
            self._reduce(_RECOVERY)
        elif self.conn["state"] == _CWR:
            # The window falls already.
            self._high_seq = self._nxt
            self._tell_state(_RECOVERY)
        self._deliveries.forget(segs)
        self._retransmit(segs)
        self._look()

    def _look(self) -> None:
        """Fill in what the algorithm sees of the flight."""
        conn = self.conn
        conn["in_flight_segs"] = self._flight
        conn["snd_una"] = self._una * conn["mss_bytes"] & _WORD
        conn["snd_nxt"] = self._nxt * conn["mss_bytes"] & _WORD

    def _deliver(self, segs: int, *, marked: bool) -> int:
        """Count a delivery; return the segments delivered while its last one was in flight."""
        conn = self.conn
        self._una += segs
        self._flight -= segs
        conn["delivered_segs"] += segs
        conn["delivered_ce_segs"] += segs if marked else 0
        self._look()
        return int(conn["delivered_segs"] - self._deliveries.deliver(segs))

    def _note_rtt(self, rtt_us: int, delay_us: int) -> None:
        conn = self.conn
        self._srtt_x8 += rtt_us - self._srtt_x8 // 8
        conn["srtt_us"] = self._srtt_x8 // 8
        conn["min_rtt_us"] = min(conn["min_rtt_us"], rtt_us)
        if self._has_one_way:
            sent_us = conn["now_us"] - rtt_us
            conn["echo_ms"] = sent_us // _US_PER_MS & _WORD
            conn["stamp_ms"] = (sent_us + delay_us) // _US_PER_MS & _WORD

    def _follow(self, lost: int, *, marked: bool) -> None:
        """Let the congestion state follow an ACK (tcp_fastretrans_alert)."""
        conn = self.conn
        if marked:
            # The network itself says that it is congested, so nothing may be taken back.
            self._prior_ssthresh = None
        # The first segment that says that the window was reduced has arrived, too.
        over = {_CWR: self._una > self._high_seq}.get(conn["state"], self._una >= self._high_seq)
        if conn["state"] not in (_OPEN, _DISORDER) and over:
            self._finish()
        if lost:
            self._lose(lost, is_right=marked)
        elif marked and conn["state"] == _OPEN:
            conn["is_marked"] = 1
            self._reduce(_CWR)
            conn["is_marked"] = 0

    def _control(self, segs: int, lost: int, prior_flight: int) -> None:
        """Let the algorithm set the window, unless a reduction does."""
        rate = self._rate(segs, lost, prior_flight) if self._has_rates else {}
        if self._is_own_control:
            self._hooks.call(self.conn, {"cong_control": rate})
            return
        if not self._is_reducing:
            self._hooks.call(self.conn, {"cong_avoid": segs})

    def _rate(self, segs: int, lost: int, prior_flight: int) -> Mapping[str, Any]:
        conn = self.conn
        limit = conn["app_limited_segs"]
        if limit and (limit - conn["delivered_segs"]) & _WORD > SSTHRESH_INFINITE:
            conn["app_limited_segs"] = 0
        sample = self._deliveries.sample(conn["now_us"], conn["delivered_segs"], conn["min_rtt_us"])
        return {
            **sample,
            "rtt_us": self._rtt_us,
            "losses_segs": lost,
            "acked_sacked_segs": segs,
            "prior_in_flight_segs": prior_flight,
            # Only one of a short segment may be, and all segments of a script are full.
            "is_ack_delayed": 0,
            "reserved": [0, 0],
        }

    def _ssthresh_to_keep(self) -> int:
        """Return what an undone reduction leaves (tcp_current_ssthresh)."""
        conn = self.conn
        three_quarters = conn["cwnd_segs"] // 2 + conn["cwnd_segs"] // 4
        return min(max(conn["ssthresh_segs"], three_quarters), SSTHRESH_INFINITE)

    def _ask_ssthresh(self) -> None:
        conn = self.conn
        conn["prior_cwnd_segs"] = conn["cwnd_segs"]
        conn["cwnd_cnt"] = 0
        conn["ssthresh_segs"] = self._hooks.call(conn, "ssthresh")
        self._high_seq = self._nxt

    def _reduce(self, state: int) -> None:
        """Begin a reduction; an algorithm that has cong_control sets its window itself."""
        conn = self.conn
        self._ask_ssthresh()
        self._is_reducing = not self._is_own_control
        self._tell_state(state)
        if self._is_reducing:
            conn["cwnd_segs"] = min(conn["cwnd_segs"], conn["ssthresh_segs"])

    def _finish(self) -> None:
        """End a reduction, or the repair of a timeout."""
        if self.conn["state"] == _CWR:
            self._end_reduction()
            self._tell_state(_OPEN)
        else:
            # An algorithm knows the state before the window is set.
            self._tell_state(_OPEN)
            self._end_reduction()
        self._prior_ssthresh = None

    def _end_reduction(self) -> None:
        if not self._is_reducing:
            return
        self._is_reducing = False
        if self.conn["ssthresh_segs"] < SSTHRESH_INFINITE:
            self.conn["cwnd_segs"] = self.conn["ssthresh_segs"]
        self._tell_event(_COMPLETE_CWR)

    def _tell_state(self, state: int) -> None:
        self._hooks.call(self.conn, {"set_state": state})
        self.conn["state"] = state

    def _tell_event(self, event: int) -> None:
        self._hooks.call(self.conn, {"cwnd_event": event})

    def _send(self, most: int | None = None) -> None:
        """Send what the window lets go, lost segments first.

        `most` is what the application has; None: more than enough.
        """
        room = max(self.conn["cwnd_segs"] - self._flight, 0)
        segs = room if most is None else min(room, most)
        if segs and not self._flight:
            self.conn["last_sent_ms"] = self._last_sent_us // _US_PER_MS & _WORD
            self._look()
            self._tell_event(_TX_START)
        self._fill(segs)
        if most is not None and self._has_rates:
            limit = self.conn["delivered_segs"] + self._flight
            self.conn["app_limited_segs"] = max(limit & _WORD, 1)
        self._look()

    def _fill(self, segs: int) -> None:
        lost = min(self._nxt - self._una - self._flight, segs)
        if lost:
            self._retransmit(lost)
        if segs - lost:
            self._nxt += segs - lost
            self._leave(segs - lost)

    def _retransmit(self, segs: int) -> None:
        self.conn["resent_segs"] += segs
        self._leave(segs)

    def _leave(self, segs: int) -> None:
        conn = self.conn
        limited = conn["app_limited_segs"] > 0
        self._deliveries.send(segs, conn["now_us"], conn["delivered_segs"], app_limited=limited)
        self._flight += segs
        self._last_sent_us = conn["now_us"]


def _fresh(start: Start, *, app_limited: bool) -> dict[str, int]:
    """Return what the algorithm sees of a new connection on today's Linux (``cc.h``)."""
    return {
        "cwnd_segs": start.cwnd_segs,
        "cwnd_cnt": 0,
        "ssthresh_segs": start.ssthresh_segs,
        "cwnd_clamp_segs": start.clamp_segs,
        "pacing_rate_bytes_per_s": 0,
        "app_limited_segs": _WORD if app_limited else 0,
        "prior_cwnd_segs": 0,
        "now_us": start.at_us,
        "delivered_segs": 0,
        "delivered_ce_segs": 0,
        "lost_segs": 0,
        "resent_segs": 0,
        "in_flight_segs": 0,
        "srtt_us": start.rtt_us,
        "min_rtt_us": start.rtt_us,
        "mss_bytes": start.mss_bytes,
        "snd_una": 0,
        "snd_nxt": 0,
        "random": start.random,
        "state": _OPEN,
        "cwnd_limited": 1,
        "stack": 0,
        "is_marked": 0,
        "base_rtt_us": 0,
        "pacing_wait_us": 0,
        "stamp_ms": 0,
        "echo_ms": 0,
        "last_sent_ms": 0,
    }
