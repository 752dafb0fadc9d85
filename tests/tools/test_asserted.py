"""`tools/asserted.py`: which literals are sentences, and what may not grow."""

import json
from pathlib import Path

import asserted
import pytest

CODE = """
def test() -> None:
    assert "one two three four" in text, "a message may be a sentence"
    assert line(text, "a") == snapshot("the sentence of a snapshot")
    assert [f"of {count} runs the one is kept"] == found
    with pytest.raises(ValueError, match="no file of that name"):
        dumbbell("--note", "what is given is no expectation")
    assert found == ["reno 1 of 4", "dumbbell run li2007:fig1 --quick", "cwnd_max_segs"]
"""


def test_sentences_are_found_in_assertions_and_matches_outside_snapshots() -> None:
    sentences = [(sentence.line, sentence.text) for sentence in asserted.of_python(CODE)]
    assert sorted(sentences) == [(3, ONE), (5, OF_RUNS), (6, NO_FILE)]


ONE = "one two three four"
OF_RUNS = "of {} runs the one is kept"
NO_FILE = "no file of that name"


def test_a_file_may_have_as_many_as_its_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(CODE)
    monkeypatch.setattr(asserted, "ROOT", tmp_path)
    monkeypatch.setattr(asserted, "BASELINE", tmp_path / "asserted.json")
    for allowed, code in (({}, 1), ({"tests/test_a.py": 2}, 1), ({"tests/test_a.py": 3}, 0)):
        asserted.BASELINE.write_text(json.dumps(allowed))
        assert asserted.main([]) == code
        assert ("tests/test_a.py:6" in capsys.readouterr().out) == bool(code)


def test_accepting_lowers_the_baseline_and_never_raises_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(CODE)
    monkeypatch.setattr(asserted, "ROOT", tmp_path)
    monkeypatch.setattr(asserted, "BASELINE", tmp_path / "asserted.json")
    known = {"tests/test_a.py": 5, "tests/test_gone.py": 1}
    for before, after in ((known, 3), ({"tests/test_a.py": 1}, 1)):
        asserted.BASELINE.write_text(json.dumps(before))
        asserted.main(["--accept"])
        assert json.loads(asserted.BASELINE.read_text()) == {"tests/test_a.py": after}
