"""Code of others in Dumbbell comes with its notices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import vl_convert

import notices
from dumbbell.figures import drawing


def test_every_crate_of_the_engine_has_its_notice() -> None:
    assert notices.FILE.read_text("utf-8") == notices.document(), "make notices"
    assert "libbpf-sys" in notices.document()


def test_a_crate_that_brings_no_licence_needs_one_whose_text_is_known(tmp_path: Path) -> None:
    crate = {
        "name": "crate",
        "version": "1.0.0",
        "license": "MIT OR Apache-2.0",
        "authors": ["Somebody"],
        "manifest_path": str(tmp_path / "Cargo.toml"),
    }
    (text,) = notices.notices(crate)
    assert "Copyright (c) Somebody" in text
    assert "WITHOUT WARRANTY OF ANY KIND" in text
    wrong: list[dict[str, object]] = [{"license": "ISC"}, {"license": None}, {"authors": []}]
    for lacks in wrong:
        with pytest.raises(notices.Unlicensed, match=r"crate 1\.0\.0"):
            notices.notices({**crate, **lacks})
    (tmp_path / "LICENSE-APACHE").write_text("long")
    (tmp_path / "LICENSE-MIT").write_text("short")
    assert notices.notices(crate) == ["short"]


def test_all_that_vega_is_bundled_with_is_named_with_the_version_whose_licence_was_read() -> None:
    library = next(Path(vl_convert.__file__).parent.glob("vl_convert*.so"))
    links = re.findall(rb"/npm/([a-z][a-z0-9.-]*)@([0-9.]+)", library.read_bytes())
    bundled = {f"{name.decode()} {version.decode()}" for name, version in links}
    assert {"d3-geo 3.1.1", "vega 6.2.0"} <= bundled
    others = {name for name in bundled if not name.startswith(("vega ", "vega-"))}
    named = set(re.findall(r"[a-z][a-z0-9.-]* [0-9]+\.[0-9]+\.[0-9]+", drawing.notices()))
    assert named == others
