"""The web application: the page at each address, and the headers of every answer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from polars.exceptions import PolarsError
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dumbbell.base.errors import DumbbellError, InputError, printable, refusal
from dumbbell.serve.site import Site

_HEADERS: Final = {
    # Pages load nothing from elsewhere. Charts have inline styles.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
}
_ATTEMPTS: Final = 3
"""Number of attempts at an answer, as a command may replace a result meanwhile."""
_PAUSE_S: Final = 0.05
"""Pause between attempts: a replacement renames two folders."""

_PORT: Final = re.compile(r":[0-9]+$")


def application(site: Site, hosts: frozenset[str] | None = None) -> ASGIApp:
    """Return the application. It refuses requests to another host name than one of `hosts`.

    Otherwise a foreign page could resolve its name to this machine and read these pages. None: any
    name is valid.
    """
    answers = _Answers(site)
    pages = {
        "/": answers.overview,
        "/index.html": answers.overview,
        "/live.json": answers.live,
        "/runs.html": answers.runs,
        "/runs.json": answers.run_rows,
        "/overlay/{named}/": answers.overlay,
        "/overlay/{named}/figures/{file}": answers.figure,
        "/overlay/{named}/data/{file}": answers.numbers,
        "/difference/{named}/": answers.difference,
        "/assets/{name}": answers.asset,
    }
    app = Starlette(
        routes=[Route(path, _steady(answer)) for path, answer in pages.items()],
        exception_handlers={
            HTTPException: answers.refused,
            DumbbellError: answers.failed,
            OSError: answers.unread,
            PolarsError: answers.unread,
            Exception: answers.broken,
        },
    )
    return _Guarded(app, hosts)


def _steady(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Try again if a command replaces results while they are read."""

    def steady(request: Request) -> Response:
        for _ in range(_ATTEMPTS):
            with suppress(OSError, PolarsError):
                return answer(request)
            time.sleep(_PAUSE_S)
        return answer(request)

    return steady


class _Guarded:
    """Refuses requests to foreign names, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app_for(scope)(scope, receive, answer)

    def _app_for(self, scope: Scope) -> ASGIApp:
        if scope["type"] != "http" or self._hosts is None:
            return self._app
        host = Headers(scope=scope).get("host", "")
        name = _PORT.sub("", host)
        if name in self._hosts:
            return self._app
        message = (
            f"This server does not answer to {name}; valid: {', '.join(sorted(self._hosts))}\n"
        )
        return Response(message, HTTPStatus.MISDIRECTED_REQUEST, media_type="text/plain")


class _Answers:
    """Answers at each address. Threads compute them, as some take a while."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def overview(self, _: Request) -> Response:
        return HTMLResponse(self._site.overview())

    def live(self, _: Request) -> Response:
        return JSONResponse(self._site.live())

    def runs(self, _: Request) -> Response:
        return HTMLResponse(self._site.runs())

    def run_rows(self, _: Request) -> Response:
        return JSONResponse(self._site.run_rows())

    def overlay(self, request: Request) -> Response:
        return HTMLResponse(self._site.overlay(_named(request)))

    def difference(self, request: Request) -> Response:
        return HTMLResponse(self._site.difference(_named(request)))

    def figure(self, request: Request) -> Response:
        name, dot, kind = request.path_params["file"].rpartition(".")
        for drawn in self._site.figures(_named(request)):
            if drawn.picture.figure.spec.name == name and dot + kind in _TYPES:
                return Response(drawn.file(dot + kind), media_type=_TYPES[dot + kind])
        raise HTTPException(HTTPStatus.NOT_FOUND)

    def numbers(self, request: Request) -> Response:
        for drawn in self._site.figures(_named(request)):
            if f"{drawn.picture.figure.spec.name}.csv" == request.path_params["file"]:
                return Response(drawn.numbers(), media_type="text/csv")
        raise HTTPException(HTTPStatus.NOT_FOUND)

    def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        text = self._site.asset(name)
        if text is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(text, media_type=_TYPES[f".{name.rpartition('.')[2]}"])

    def refused(self, request: Request, error: Exception) -> Response:
        """Report that there is no such page, or that the method is not allowed."""
        assert isinstance(error, HTTPException)
        status = HTTPStatus(error.status_code)
        answer = {
            HTTPStatus.NOT_FOUND: "There is no such page.",
            HTTPStatus.METHOD_NOT_ALLOWED: "These pages are read-only.",
        }
        return self._error(request, status, answer.get(status, error.detail))

    def failed(self, request: Request, error: Exception) -> Response:
        """Report a fault of the request or of the folder."""
        is_input = isinstance(error, InputError)
        status = HTTPStatus.NOT_FOUND if is_input else HTTPStatus.INTERNAL_SERVER_ERROR
        return self._error(request, status, str(error))

    def unread(self, request: Request, error: Exception) -> Response:
        """Report that a result was replaced meanwhile, or that the system refuses to read it."""
        if isinstance(error, OSError):
            message = str(refusal(error, "read it"))
        else:
            message = f"A command replaced results while they were read: {printable(str(error))}"
        return self._error(request, HTTPStatus.SERVICE_UNAVAILABLE, f"{message}. Try again.")

    def broken(self, request: Request, error: Exception) -> Response:
        """Report a bug in Dumbbell."""
        message = f"This is a bug in Dumbbell: {type(error).__name__}: {error}"
        return self._error(request, HTTPStatus.INTERNAL_SERVER_ERROR, message)

    def _error(self, request: Request, status: HTTPStatus, message: str) -> Response:
        if request.url.path.endswith(".json"):
            return JSONResponse({"error": message}, status)
        return HTMLResponse(self._site.error(status.phrase, message, request.url.path), status)


def _named(request: Request) -> list[str]:
    """Return the runs that an address names."""
    return str(request.path_params["named"]).split("-")
