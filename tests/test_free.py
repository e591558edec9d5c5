"""The first name that nothing has yet."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from traindx.core.free_names import first_free, numbered


def test_numbers_stand_before_the_ending() -> None:
    names = [one.name for one in islice(numbered(Path("a/lr=0.1"), ".png"), 3)]
    assert names == ["lr=0.1.png", "lr=0.1-2.png", "lr=0.1-3.png"]


def test_what_is_there_is_passed_over(tmp_path: Path) -> None:
    wished = tmp_path / "report"
    assert first_free(wished) == wished
    wished.mkdir()
    (tmp_path / "report-2").symlink_to("nowhere")
    assert first_free(wished) == tmp_path / "report-3"
