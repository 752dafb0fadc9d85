"""Served pages: they show the content of the folder, run and change nothing, and refuse
politely.
"""

from __future__ import annotations

import errno
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from html import escape, unescape
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from inline_snapshot import snapshot
from polars.exceptions import ComputeError
from starlette.testclient import TestClient

from browser import Browser
from command_line import Command, line
from dumbbell.algorithms import apart
from dumbbell.base.errors import InputError
from dumbbell.base.labels import number
from dumbbell.cli import stored
from dumbbell.quantities import taking
from dumbbell.results.results import Results
from dumbbell.serve import app, listening
from dumbbell.serve.app import application
from dumbbell.serve.listening import Listener
from dumbbell.serve.site import Site
from dumbbell.store import campaigns, failures
from dumbbell.store.store import Store

HOST = "http://127.0.0.1:8765"
SOURCE = "void nobody_runs_this(void) {}\n"


@pytest.fixture(scope="module")
def folder(
    small_folder: Path, small: Results, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Provide a separate results folder, next to the small study in ./studies."""
    home = tmp_path_factory.mktemp("served")
    root = home / "<results>"
    shutil.copytree(small.store.root, root)
    shutil.copytree(small_folder / "study", home / "studies/small")
    command = {
        "study": "small",
        "engine": "simulator <1>",
        "quick": False,
        "jobs": 2,
        "started": "2026-01-02T03:04:05Z",
        "wall_s": 120.0,
        "runs": 16,
    }
    (root / campaigns.FOLDER).mkdir(exist_ok=True)
    file = root / campaigns.FOLDER / "small-1.json"
    file.write_text(campaigns.Command.model_validate(command).model_dump_json())
    with chdir(home):
        yield root


@contextmanager
def served(folder: Path) -> Iterator[TestClient]:
    site = application(Site(Store(folder)), frozenset({"127.0.0.1"}))
    with TestClient(site, base_url=HOST, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder) as connected:
        yield connected


@pytest.fixture(scope="module")
def keys(small: Results) -> list[str]:
    return [run.resolved.key for run in small.finished("fairness")]


def contents(root: Path) -> dict[str, tuple[int, int]]:
    return {
        str(file.relative_to(root)): (file.stat().st_size, file.stat().st_mtime_ns)
        for file in root.rglob("*")
    }


# --- The overview --------------------------------------------------------------------


def test_the_overview_has_the_progress_of_studies(client: TestClient, folder: Path) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert escape(str(folder)) in page.text
    assert str(folder) not in page.text
    live = client.get("/live.json").json()
    assert live["runs"] == 16
    (study,) = live["studies"]
    assert (study["name"], study["planned"], study["done"]) == ("small", 18, 16)
    assert (study["failed"], study["invalid"], study["reasons"]) == (0, 0, [])
    assert live["latest"]["study"] == "small"
    assert ["runs per minute", "8"] in live["latest"]["facts"]
    assert live["unknown"] == []


def test_the_overview_follows_the_folder(
    folder: Path, small: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "results"
    shutil.copytree(folder, root)
    with served(root) as client:
        assert client.get("/live.json").json()["studies"][0]["done"] == 16
        gone = small.finished("fairness")[0].resolved
        shutil.rmtree(Store(root).folder(gone.key))
        failures.record(Store(root), gone, None, RuntimeError("no <luck>"))
        (study,) = client.get("/live.json").json()["studies"]
        assert (study["done"], study["failed"]) == (15, 1)
        assert "no <luck>" in study["reasons"][0]
        assert len(client.get("/runs.json").json()["rows"]) == 15
        # A study whose file is gone is named, and its runs stay.
        monkeypatch.chdir(tmp_path)
        live = client.get("/live.json").json()
        assert (live["studies"], live["runs"]) == ([], 15)
        assert [problem.partition(":")[0] for problem in live["unknown"]] == ["small"]
        assert client.get("/runs.json").json()["rows"][0]["axes"] == []


def test_an_empty_folder_has_pages(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        assert client.get("/").status_code == client.get("/runs.html").status_code == 200
        live = client.get("/live.json").json()
        assert (live["runs"], live["studies"], live["latest"]) == (0, [], None)
        assert client.get("/runs.json").json() == {"columns": [], "rows": [], "scenarios": []}


# --- Runs ----------------------------------------------------------------------------


def test_runs_are_those_of_the_list(client: TestClient, folder: Path) -> None:
    assert client.get("/runs.html").status_code == 200
    table = client.get("/runs.json").json()
    runs = list(stored.runs(folder))
    assert table["columns"] == list(runs[0])
    assert len(table["rows"]) == len(runs) == 16
    for row, cells in zip(table["rows"], runs, strict=True):
        shown = dict(zip(table["columns"], row["cells"], strict=True))
        assert shown["run"] == cells["run"]
        assert (shown["study"], shown["test"]) == ("small", "fairness")
        axes = dict(row["axes"])
        assert list(axes) == ["algorithm", "rate", "rtt"]
        assert shown["algorithms"] == axes["algorithm"]
        order = dict(zip(table["columns"], row["order"], strict=True))
        assert order["rate"] == pytest.approx(float(axes["rate"].removesuffix("mbit")) * 1e6)


def test_a_search_finds_runs_by_values_of_their_scenarios(client: TestClient) -> None:
    """Also by what is no axis: the study fixes its queue, jitter and loss."""
    table = client.get("/runs.json").json()
    for row in table["rows"]:
        pairs = {tuple(pair) for pair in table["scenarios"][row["scenario"]]}
        for name, value in (
            ("queue", "0.5bdp"),
            ("buffer", "0.5bdp"),
            ("network.edge_jitter", "1ms"),
            ("loss", "0"),
            ("rtt", dict(row["axes"])["rtt"]),
        ):
            assert (name, value) in pairs, (name, pairs)
        rooms = [value for name, value in pairs if name == "buffer" and value != "0.5bdp"]
        assert [room for room in rooms if room.endswith("p")] == rooms != []


# --- Overlay and differences ---------------------------------------------------------


def test_selected_runs_are_overlaid(client: TestClient, keys: list[str]) -> None:
    selection = [keys[0], keys[5], keys[12]]
    address = f"/overlay/{'-'.join(key[:12] for key in selection)}/"
    page = client.get(address)
    assert page.status_code == 200
    for letter, key in zip("ABC", selection, strict=True):
        assert f"({key[:12]})" in page.text
        assert f"{letter}: " in page.text
    for file in re.findall(r'(?:href|src)="((?:figures|data)/[^"]+)', page.text):
        answer = client.get(address + file)
        assert answer.status_code == 200, file
        assert answer.content, file
    drawn = client.get(f"{address}figures/over-time.js").text
    for axis in ("goodput (Mbit/s)", "cwnd (segments)", "RTT (ms)", "queue (packets)"):
        assert axis in drawn
    numbers = client.get(f"{address}data/delays.csv").text
    assert all(f"({letter})" in numbers for letter in "ABC")
    # The same without a slash, and a run by itself.
    assert client.get(address.removesuffix("/")).status_code == 200
    assert client.get(f"/overlay/{keys[0]}/").status_code == 200


def test_two_runs_differ_by_their_quantities(
    client: TestClient, keys: list[str], small: Results
) -> None:
    page = client.get(f"/difference/{keys[0]}-{keys[-1]}/")
    assert page.status_code == 200
    rows = {
        cells[0]: cells[1:]
        for row in re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", page.text)
        for cells in [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
    }
    assert rows["algorithms"] == ["reno", "highspeed", "differs"]
    assert rows["engine"][-1] == ""
    first, second = (small.store.get(key) for key in (keys[0], keys[-1]))
    name = "goodput_mbit_per_s"
    one, other = (taking.of_run(run, [name])[name] for run in (first, second))
    assert one is not None
    assert other is not None
    start = "goodput (Mbit/s), "
    ((what, cells),) = [(what, cells) for what, cells in rows.items() if what.startswith(start)]
    windows = what.removeprefix(start).split(" / ")
    assert all(re.fullmatch(r"[0-9.]+ s to 12 s", window) for window in windows)
    assert cells[:2] == [number(one, 4), number(other, 4)]
    assert cells[2].removeprefix("+") == number(other - one, 4)
    assert any(what.startswith("flow 2: ") for what in rows)
    swapped = client.get(f"/difference/{keys[-1]}-{keys[0]}/").text
    assert number(one - other, 4) in swapped


# --- What is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "problem"),
    [
        ("/nowhere", 404, "There is no such page."),
        ("/overlay/", 404, "There is no such page."),
        ("/overlay/0000000000000000/", 404, "no run's key begins like this"),
        ("/overlay/<script>alert(1)</script>/", 404, ""),
        ("/overlay/<b>/", 404, "not the beginning of a run's key"),
        ("/overlay/abc/", 404, "not the beginning of a run's key"),
        ("/overlay/--/", 404, "not the beginning of a run's key"),
        ("/overlay/{0}-{1}-{2}-{3}-{4}/", 404, "5 runs are too many to show"),
        ("/overlay/{0}/figures/other.svg", 404, "There is no such page."),
        ("/overlay/{0}/figures/over-time.exe", 404, "There is no such page."),
        ("/overlay/{0}/data/other.csv", 404, "There is no such page."),
        ("/difference/{0}/", 404, "this page needs two different runs"),
        ("/difference/{0}-{0}/", 404, "this page needs two different runs"),
        ("/difference/{0}-{1}-{2}/", 404, "this page needs two different runs"),
        ("/assets/nothing.css", 404, "There is no such page."),
        ("/assets/base.html.j2", 404, "There is no such page."),
        ("/assets/..%2f..%2fsite.py", 404, "There is no such page."),
    ],
)
def test_an_unknown_address_has_an_error_page(
    client: TestClient, keys: list[str], path: str, status: int, problem: str
) -> None:
    answer = client.get(path.format(*keys))
    assert answer.status_code == status
    assert problem in unescape(answer.text)
    assert "<script>alert" not in answer.text
    assert "<b>" not in answer.text
    assert 'href="/runs.html"' in answer.text


def test_pages_can_only_be_read(client: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer = client.request(method, "/runs.html")
        assert answer.status_code == 405
        assert line(answer.text, "read-only") == snapshot(
            '<p class="notice">These pages are read-only.</p>'
        )


def test_requests_to_foreign_names_are_refused(client: TestClient) -> None:
    for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", ""):
        answer = client.get("/live.json", headers={"Host": host})
        assert answer.status_code == 421, host
        assert "small" not in answer.text


def test_a_damaged_run_is_reported(folder: Path, keys: list[str], tmp_path: Path) -> None:
    root = tmp_path / "results"
    shutil.copytree(folder, root)
    (Store(root).folder(keys[0]) / "flows.parquet").write_bytes(b"nothing")
    (Store(root).folder(keys[1]) / "run.json").write_bytes(b"{")
    with served(root) as client:
        for key in keys[:2]:
            answer = client.get(f"/overlay/{key}/")
            assert answer.status_code == 404
            assert "damaged" in answer.text
            assert 'href="/runs.html"' in answer.text
        assert len(client.get("/runs.json").json()["rows"]) == 15


def test_unreadable_plans_are_reported(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    shutil.copytree(folder, root)
    (root / "studies/small.json").write_text("<b>")
    with served(root) as client:
        (problem,) = client.get("/live.json").json()["unknown"]
        assert problem.partition("studies/small.json: ")[2].partition(":")[0] == snapshot(
            "this file does not list the requested runs"
        )


def test_a_bug_is_reported_as_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Site) -> str:
        raise RuntimeError("<oh>")

    monkeypatch.setattr(Site, "runs", broken)
    with served(folder) as client:
        answer = client.get("/runs.html")
    assert answer.status_code == 500
    assert line(answer.text, "RuntimeError") == snapshot(
        '<p class="notice">This is a bug in Dumbbell: RuntimeError: &lt;oh&gt;</p>'
    )
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a/<b>"), "a/<b>: cannot"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (ComputeError("<parquet>: 3 bytes"), "results while they were read: <parquet>: 3 bytes"),
    ],
)
@pytest.mark.parametrize("times", [1, 3, 100])
def test_results_that_are_replaced_meanwhile_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, problem: str, times: int
) -> None:
    answers = iter([error] * times)

    def replaced(_: Site) -> dict[str, int]:
        for failed in answers:
            raise failed
        return {"rows": 0}

    monkeypatch.setattr(app, "_PAUSE_S", 0)
    monkeypatch.setattr(Site, "run_rows", replaced)
    with served(folder) as client:
        answer = client.get("/runs.json")
    if times <= 3:
        assert answer.json() == {"rows": 0}
    else:
        assert answer.status_code == 503
        assert problem in answer.json()["error"]
        assert answer.json()["error"].endswith("Try again.")
        assert "bug" not in answer.text


# --- What pages may do ---------------------------------------------------------------


def test_nothing_comes_from_elsewhere(client: TestClient, keys: list[str]) -> None:
    pair = f"{keys[0]}-{keys[9]}"
    for path in ("/", "/runs.html", f"/overlay/{pair}/", f"/difference/{pair}/", "/nowhere"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "<b>two</b>" not in answer.text
        for address in re.findall(r'(?:href|src)="([^"#]*)', answer.text):
            assert "//" not in address, address
        for address in re.findall(r'(?:href|src)="(/[^"#]*)', answer.text):
            assert client.get(address).status_code == 200, address


def test_reading_writes_nothing(folder: Path, keys: list[str], tmp_path: Path) -> None:
    root = tmp_path / "results"
    shutil.copytree(folder, root)
    before = contents(root)
    with served(root) as client:
        pair = f"{keys[0]}-{keys[9]}"
        for path in ("/", "/live.json", "/runs.json", f"/overlay/{pair}/", f"/difference/{pair}/"):
            assert client.get(path).status_code == 200
    assert contents(root) == before


def test_reading_runs_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: Any, **__: Any) -> str:
        raise AssertionError("it was compiled")

    monkeypatch.setattr(apart, "ask", ask)
    root = tmp_path / "results"
    shutil.copytree(folder, root)
    study = tmp_path / "studies/small/study.toml"
    shutil.copytree(folder.parent / "studies", tmp_path / "studies")
    monkeypatch.chdir(tmp_path)
    lossy = 'algorithm = ["reno", "highspeed"], rtt = ["20ms"]'
    text = study.read_text()
    assert lossy in text
    study.write_text(text.replace(lossy, 'algorithm = ["reno", "./mine.c"], rtt = ["20ms"]'))
    (study.parent / "mine.c").write_text(SOURCE)
    with served(root) as client:
        (listed,) = client.get("/live.json").json()["studies"]
        assert (listed["planned"], listed["done"]) == (18, 16)
        assert len(client.get("/runs.json").json()["rows"]) == 16


# --- Listening -----------------------------------------------------------------------


def test_only_this_machine_can_read_by_default() -> None:
    with Listener.at("127.0.0.1", 0).socket as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=r"port = .*cannot listen at 127\.0\.0\.1"):
            Listener.at("127.0.0.1", port)
    for host, is_private in (("localhost", True), ("127.0.0.1", True), ("0.0.0.0", False)):
        listener = Listener.at(host, 0)
        with listener.socket:
            assert listener.is_private is is_private
            assert (listener.names is None) is not is_private
            assert re.fullmatch(r"http://[0-9.]+:[0-9]+/|http://\[::1\]:[0-9]+/", listener.address)
    with pytest.raises(InputError, match=r"host = .*\.invalid"):
        Listener.at("nowhere.invalid", 0)


PRESSED_EARLY = """
import os, signal, threading
begin = threading.Thread.start
def start(thread):
    if thread.name == "serve":
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass
    begin(thread)
threading.Thread.start = start
"""


@contextmanager
def started(folder: Path, *options: str, before: str = "") -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-c",
        f"{before}\nfrom dumbbell.cli.start import main\nmain()",
        "serve",
        "--results",
        str(folder),
        "--port",
        "0",
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *options], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_requests_that_never_come_whole_are_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "REQUEST_S", 0.2)
    listener = Listener.at("127.0.0.1", 0)
    server = Thread(target=listening.serve, args=(Site(Store(folder)), listener), daemon=True)
    server.start()
    half = b"GET /runs.html HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    for request in (b"", b"G", half):
        with socket.create_connection(listener.socket.getsockname(), timeout=60) as waiting:
            waiting.sendall(request)
            assert waiting.recv(1) == b""
    with socket.create_connection(listener.socket.getsockname(), timeout=60) as waiting:
        waiting.sendall(half + b"\r\n" + half)
        assert waiting.makefile("rb").read().startswith(b"HTTP/1.1 200")
        assert waiting.recv(1) == b""


def test_ctrl_c_before_the_server_has_begun_is_one_line(folder: Path) -> None:
    with started(folder, before=PRESSED_EARLY) as process:
        first_line(process)
        _, err = process.communicate(timeout=60)
    assert err == "stopped by Ctrl-C\n"


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
def test_a_public_server_survives_too_many_connections_and_ends_at_once(folder: Path) -> None:
    # What would wait for a request that never comes whole would wait for ever.
    for_ever = "from dumbbell.serve import listening\nlistening.REQUEST_S = 1e6"
    with started(folder, "--host", "0.0.0.0", before=for_ever) as process:
        address = first_line(process)
        assert address.startswith("http://0.0.0.0:")
        port = int(address.rsplit(":", 1)[1].strip("/"))
        with urllib.request.urlopen(f"{address}live.json", timeout=60) as answer:
            assert answer.status == 200
        limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (40, limits[1]))
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        assert process.stderr is not None
        assert process.stderr.readline() == snapshot(
            "Warning: anyone who reaches this machine at 0.0.0.0 can read these results; without --host only this machine can.\n"
        )
        line = process.stderr.readline()
        assert line.partition(f"{address}: ")[2] == snapshot(
            "cannot answer: Too many open files; raise the limit of open files (ulimit -n)\n"
        )
        for connection in waiting:
            connection.close()
        with urllib.request.urlopen(f"{address}live.json", timeout=60) as answer:
            assert answer.status == 200
        # A connection that is open, with a request that has begun, holds nothing up.
        with socket.create_connection(("127.0.0.1", port)) as waiting_still:
            waiting_still.sendall(b"GET / HTTP/1.1\r\n")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "stopped by Ctrl-C\n"


def test_a_missing_folder_is_reported(dumbbell: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "serve", lambda *_: None)
    refused = dumbbell("serve", "--results", "nowhere", "--port", "0")
    assert refused.code == 2
    assert refused.err.rpartition(": ")[2] == snapshot("no such folder\n")


# --- In a browser --------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    listener = Listener.at("127.0.0.1", 0)
    site = Site(Store(folder))
    Thread(target=listening.serve, args=(site, listener), daemon=True).start()
    return listener.address


def test_from_the_overview_to_two_runs(address: str, tab: Browser) -> None:
    tab.open(address, width=1400)
    tab.wait("document.querySelectorAll('#studies tbody tr').length === 1")
    text = tab.text()
    assert "16" in text
    assert "A small study of <b>two</b> algorithms" in text
    tab.evaluate("document.querySelector('#studies a').click()")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 16")
    assert tab.evaluate("document.querySelector('#search').value") == "study=small"
    hidden = (
        "(list => list.scrollWidth - list.clientWidth)(document.querySelector('#list .scroll'))"
    )
    assert tab.evaluate(hidden) == 0, "all columns are visible"
    type_words(tab, "algorithm=highspeed rate=0.01gbit rtt=0.04s duration=0.2m")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 2")
    type_words(tab, "buffer=50%bdp edge_jitter=1000us algorithm=reno")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 8")
    type_words(tab, "buffer=1bdp")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 0")
    type_words(tab, "rate=10mbit high")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 4")
    for place in (0, 2):
        tab.evaluate(f"document.querySelectorAll('#runs input')[{place}].click()")
    tab.evaluate("document.querySelector('#overlay').click()")
    tab.wait("location.pathname.startsWith('/overlay/')")
    tab.wait("document.querySelectorAll('.chart svg').length >= 1")
    tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    tab.wait("document.querySelectorAll('.chart svg').length === 2")
    tab.evaluate("document.querySelector('header a').click()")
    tab.wait("location.pathname.startsWith('/difference/')")
    tab.wait("document.readyState === 'complete'")
    assert "B − A" in tab.text()
    assert tab.complaints == []


def type_words(tab: Browser, words: str) -> None:
    tab.evaluate(
        f"(() => {{ const box = document.querySelector('#search'); box.value = '{words}';"
        "box.dispatchEvent(new Event('input')); })()"
    )


def test_runs_are_sorted_by_their_values(address: str, tab: Browser) -> None:
    tab.open(f"{address}runs.html")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 16")
    column = "[...document.querySelectorAll('#runs tbody tr')].map(row => row.cells[5].textContent)"
    heads = "[...document.querySelectorAll('#runs thead button')]"
    press = f"{heads}.find(head => head.textContent === 'rate').click()"
    tab.evaluate(press)
    rising = tab.evaluate(column)
    tab.evaluate(press)
    assert tab.evaluate(column) == rising[::-1]
    assert rising[0].startswith("5")
    assert tab.evaluate("document.querySelector('#runs [aria-sort]').ariaSort") == "descending"
    for place in range(4):
        tab.evaluate(f"document.querySelectorAll('#runs input')[{place}].click()")
    assert tab.evaluate("document.querySelectorAll('#runs input:disabled').length") == 12
    assert tab.complaints == []


@pytest.mark.parametrize("page", ["", "runs.html", "overlay/{0}-{1}/", "difference/{0}-{1}/"])
def test_a_phone_shows_no_more_than_its_width(
    address: str, tab: Browser, keys: list[str], page: str
) -> None:
    tab.open(address + page.format(keys[0][:12], keys[9][:12]), width=390)
    tab.wait("document.querySelectorAll('table tbody tr').length > 0")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.complaints == []
