"""Pages in a real browser, driven over the pipe of its developer tools (no further package).

https://chromedevtools.github.io/devtools-protocol names the commands and the events.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

_PATIENCE_S = 60.0
_POLL_S = 0.05
_HEIGHT = 900
_GONE = "Inspected target navigated or closed"
"""Answer of the browser if another page replaces the one in question."""


class Browser:
    """A browser with one page; what the page complains of is in `complaints`."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **arguments: Any) -> Any:
        """Send a command and return its result."""
        answer = self._ask(method, arguments)
        assert "error" not in answer, answer
        return answer["result"]

    def _ask(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """Send a command and return the answer, be it an error."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                return answer

    def _read(self) -> Any:
        """Return the next message, after noting what it complains of."""
        while b"\0" not in self._buffer:
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has gone"
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.complaints.append(
                    details.get("exception", details).get("description", str(details))
                )
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert", "warning"):
                self.complaints.append(
                    str([value.get("value", value.get("description")) for value in params["args"]])
                )
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(
                    f"{params['entry']['text']} {params['entry'].get('url', '')}"
                )
        return message

    def open(self, page: Path | str, fragment: str = "", width: int = 1280) -> None:
        """Open a page from disk or at an address, and forget what others complained of."""
        metrics = {"width": width, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        # Another fragment of the same page would not load it again.
        self.send("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.complaints.clear()
        address = page if isinstance(page, str) else page.as_uri()
        self.send("Page.navigate", url=f"{address}{fragment}")
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression."""
        return _value(self._ask("Runtime.evaluate", _evaluation(expression)))

    def _holds(self, expression: str) -> bool:
        """Return True if an expression is true; False if another page replaces this one."""
        answer = self._ask("Runtime.evaluate", _evaluation(expression))
        return answer.get("error", {}).get("message") != _GONE and bool(_value(answer))

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        end_s = time.monotonic() + _PATIENCE_S
        while not self._holds(expression):
            assert time.monotonic() < end_s, f"never: {expression}; {self.complaints}"
            time.sleep(_POLL_S)

    def text(self) -> str:
        """Return the text that a reader sees, in one line."""
        return " ".join(str(self.evaluate("document.body.innerText")).split())

    def picture(self, file: Path) -> None:
        """Write a picture of the whole page."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))


def _evaluation(expression: str) -> dict[str, Any]:
    return {"expression": expression, "returnByValue": True}


def _value(answer: Any) -> Any:
    assert "error" not in answer, answer
    result = answer["result"]
    assert "exceptionDetails" not in result, result
    return result["result"].get("value")


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run a browser with a new profile; a test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium is missing: `make browser`, or apt install chromium")
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    # The pipe's ends are descriptors 3 and 4; a plain sh knows no numbers above 9.
    command = [
        *("bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", CHROMIUM),
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
        *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
    ]
    process = subprocess.Popen(
        command,
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_out, ours_in)
    finally:
        os.close(ours_out)
        os.close(ours_in)
        process.terminate()
        process.wait(timeout=_PATIENCE_S)
