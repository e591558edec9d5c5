"""A proven change written into the user's files: all of it or nothing, and never without a backup."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.cli import Failure
from traindx.cli._apply import apply
from traindx.experiment.treat.results import Treated


def treated(sources: dict[Path, tuple[str, str]], new_args: tuple[str, ...] | None = None) -> Treated:
    texts = {str(path): both for path, both in sources.items()}
    return Treated("train.py", (), "treated", "", None, sources=texts, new_args=new_args)


def test_nothing_is_written_when_one_of_two_files_has_changed_meanwhile(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("lr = 1\n")
    second.write_text("somebody was here\n")
    with pytest.raises(Failure, match="has changed since"):
        apply(treated({first: ("lr = 1\n", "lr = 0.1\n"), second: ("x = 1\n", "x = 2\n")}))
    assert first.read_text() == "lr = 1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


def test_the_file_keeps_its_rights_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("lr = 1\n")
    path.chmod(0o750)
    apply(treated({path: ("lr = 1\n", "lr = 0.1\n")}))
    assert path.read_text() == "lr = 0.1\n"
    assert path.stat().st_mode & 0o777 == 0o750
    assert sorted(each.name for each in tmp_path.iterdir()) == ["train.py", "train.py.bak"]


def test_a_change_of_the_command_line_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    apply(treated({}, ("--lr", "0.01")))
    assert "Run it with: --lr 0.01" in capsys.readouterr().err
