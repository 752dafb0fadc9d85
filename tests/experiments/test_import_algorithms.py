"""A user-defined algorithm for the flows of a measurement that lies in another folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.conformance import starting
from dumbbell.experiments.imports.described.network import Described
from dumbbell.experiments.imports.imported import Imported
from dumbbell.scenario.model import Scenario
from measured_files import iperf3, written


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with an algorithm, and two folders in it."""
    monkeypatch.chdir(tmp_path)
    starting.write("my_cc")
    Path("measured").mkdir()
    Path("scenarios").mkdir()
    return tmp_path


def test_a_c_file_is_relative_to_the_current_folder(folder: Path) -> None:
    file = written(Path("measured"), iperf3())
    imported = Imported.read(file, {}, "./my_cc.c")
    assert imported.scenario["flow"][0]["algorithm"] == "./my_cc.c"
    target = Path("scenarios/like.toml")
    imported.write(target)
    assert 'algorithm = "../my_cc.c"' in target.read_text()
    assert Path(str(Scenario.load(target).flow[0].algorithm)).resolve() == folder / "my_cc.c"


@pytest.mark.usefixtures("folder")
def test_a_described_network_names_the_file_so_too() -> None:
    file = Path("measured/q.txt")
    file.write_text("qdisc netem 1: root limit 100 delay 20ms rate 10mbit\n")
    described = Described.read(file, {}, "./my_cc.c@quick")
    assert described is not None
    assert described.scenario["flow"] == [{"algorithm": "./my_cc.c@quick"}]
    target = Path("scenarios/q.toml")
    described.write(target)
    assert 'algorithm = "../my_cc.c@quick"' in target.read_text()
    assert Scenario.load(target).resolve()


@pytest.mark.usefixtures("folder")
def test_an_error_names_the_option_and_not_the_measurement() -> None:
    with pytest.raises(InputError) as caught:
        Imported.read(written(Path("measured"), iperf3()), {}, "./absent.c")
    assert (caught.value.key, caught.value.value) == ("algorithm", "./absent.c")
    assert caught.value.source is None


def test_a_choice_is_seen_from_another_folder(folder: Path) -> None:
    assert catalogue.seen_from("cubic@li2007", Path("a/b")) == "cubic@li2007"
    assert catalogue.seen_from("./my_cc.c", Path("a/b")) == "../../my_cc.c"
    assert catalogue.seen_from("a/my_cc.c@quick", Path("a")) == "./my_cc.c@quick"
    assert catalogue.seen_from("ccpd@./mine.toml", Path("a")) == "ccpd@../mine.toml"
    whole = str(folder / "my_cc.c")
    assert catalogue.seen_from(whole, Path("a")) == whole
