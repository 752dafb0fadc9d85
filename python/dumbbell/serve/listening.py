"""The socket of the server: its address, and the names that it answers to."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import sys
import threading
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from dumbbell.base.errors import InputError, refusal
from dumbbell.serve.app import application
from dumbbell.serve.site import Site

_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_PATIENCE_S: Final = 0.1

REQUEST_S: Final = 10.0
"""Time within which a whole request must arrive."""


@dataclass(frozen=True)
class Listener:
    """A socket that listens."""

    socket: socket.socket
    host: str

    @classmethod
    def at(cls, host: str, port: int) -> Listener:
        """Listen; a foreign host or a port in use is an InputError."""
        try:
            family, _, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"no address: {getattr(error, 'strerror', None) or error}",
                key="host",
                value=host,
                valid="127.0.0.1, or an address of this machine",
            ) from None
        try:
            return cls(socket.create_server(address[:2], family=family), str(address[0]))
        except OSError as error:
            raise InputError(
                f"cannot listen at {host}: {error.strerror or error}",
                key="port",
                value=port,
                valid="another port, or 0 for any that is free",
            ) from None

    @property
    def is_private(self) -> bool:
        """True if only this machine can reach it."""
        return ipaddress.ip_address(self.host.partition("%")[0]).is_loopback

    @property
    def address(self) -> str:
        """The address of the pages for a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.socket.getsockname()[1]}/"

    @property
    def names(self) -> frozenset[str] | None:
        """Host names that requests may use; None: any."""
        if not self.is_private:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return frozenset({*_LOOPBACK_NAMES, host})


class _Impatient(H11Protocol):
    """HTTP that closes a connection whose request does not arrive in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Expect the rest of a request that has begun."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        super().connection_lost(exc)
        self._relax()

    def _expect(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()
        elif self._late is None:
            self._late = self.loop.call_later(REQUEST_S, self.transport.close)

    def _relax(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


async def _served(server: uvicorn.Server, listener: Listener) -> None:
    """Serve, and print each refusal of the system once; asyncio would for each connection."""
    warned: set[int | None] = set()

    def on_refusal(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif error.errno not in warned:
            warned.add(error.errno)
            print(refusal(error, "answer", listener.address), file=sys.stderr, flush=True)

    asyncio.get_running_loop().set_exception_handler(on_refusal)
    await server.serve(sockets=[listener.socket])


def _run(server: uvicorn.Server, listener: Listener) -> None:
    """Serve; a coroutine is made here, as Python warns of one whose thread never starts."""
    asyncio.run(_served(server, listener))


def serve(site: Site, listener: Listener) -> None:
    """Serve until Ctrl-C, which is a KeyboardInterrupt at once.

    The server has a separate thread, as it would finish answers before it ends. Nothing is lost,
    because it only reads.
    """
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        application(site, listener.names),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        http=_Impatient,
    )
    thread = threading.Thread(
        target=_run, args=(uvicorn.Server(config), listener), name="serve", daemon=True
    )
    thread.start()
    # Under the handler of signals that Polars installs, nothing but time ends a wait for a lock.
    while thread.is_alive():
        thread.join(_PATIENCE_S)
