"""Listening: where the pages can be read, and for whom."""

from __future__ import annotations

import ipaddress
import logging
import socket
import threading
from dataclasses import dataclass
from typing import Final

import uvicorn

from dumbbell.errors import InputError
from dumbbell.serve.app import application
from dumbbell.serve.site import Site

_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_PATIENCE_S: Final = 0.1


@dataclass(frozen=True)
class Listener:
    """A socket that listens."""

    socket: socket.socket
    host: str

    @classmethod
    def at(cls, host: str, port: int) -> Listener:
        """Listen; a host that is none of this machine or a port that is taken is an InputError."""
        try:
            family, _, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except (OSError, UnicodeError) as error:
            raise InputError(
                f"no address: {getattr(error, 'strerror', None) or error}",
                source="--host",
                value=host,
                valid="127.0.0.1, or an address of this machine",
            ) from None
        try:
            return cls(socket.create_server(address[:2], family=family), str(address[0]))
        except OSError as error:
            raise InputError(
                f"cannot listen at {host}: {error.strerror or error}",
                source="--port",
                value=port,
                valid="another port, or 0 for any that is free",
            ) from None

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.host.partition("%")[0]).is_loopback

    @property
    def address(self) -> str:
        """Where a browser finds the pages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.socket.getsockname()[1]}/"

    @property
    def names(self) -> frozenset[str] | None:
        """The names under which browsers may ask; None: any."""
        if not self.is_private:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return frozenset({*_LOOPBACK_NAMES, host})


def serve(site: Site, listener: Listener) -> None:
    """Serve until Ctrl-C, which is a KeyboardInterrupt at once.

    The server has a thread of its own, as it would finish answers before it ends; nothing is lost
    where all that it does is read.
    """
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        application(site, listener.names),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener.socket]}, name="serve", daemon=True
    )
    thread.start()
    # Under the handler of signals that Polars installs, nothing but time ends a wait for a lock.
    while thread.is_alive():
        thread.join(_PATIENCE_S)
