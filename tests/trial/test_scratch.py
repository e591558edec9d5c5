"""The copy that an arm works in: what is copied, what is linked, what is left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traindx.experiment.sandbox.overlay import Overlay
from traindx.experiment.scratch import Snapshot

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    user = tmp_path / "work" / "project"
    for folder in ("pkg", "data", ".venv/bin", "__pycache__", ".traindx/old", "crowd"):
        (user / folder).mkdir(parents=True)
    (user / "train.py").write_text("print(1)\n")
    (user / "pkg" / "model.py").write_text("x = 1\n")
    (user / "data" / "large.bin").write_bytes(bytes(2 << 20))
    (user / "latest").symlink_to(user / "pkg")
    (user / "near").symlink_to("pkg/model.py")
    (user / "far").symlink_to("/usr")
    (tmp_path / "work" / "data.csv").write_text("1,2\n")
    return user


def copied(user: Path, tmp_path: Path, sources: dict[str, str] | None = None) -> Path:
    Snapshot(tmp_path / "store", [str(user)]).copy(tmp_path / "arm", sources or {})
    return Path(f"{tmp_path / 'arm' / 'root'}{user}")


def test_small_files_are_copied_and_the_rest_linked(user: Path, tmp_path: Path) -> None:
    for number in range(2001):
        (user / "crowd" / str(number)).touch()
    copy = copied(user, tmp_path)
    for name in ("train.py", "pkg/model.py"):
        assert not (copy / name).is_symlink()
        assert (copy / name).read_bytes() == (user / name).read_bytes()
        assert (copy / name).stat().st_mtime_ns == (user / name).stat().st_mtime_ns
    for name in ("data/large.bin", ".venv", "crowd", "far"):
        assert (copy / name).is_symlink()
        assert (copy / name).resolve() == (user / name).resolve()
    for name in ("__pycache__", ".traindx"):
        assert not os.path.lexists(copy / name)
    assert (copy / "../data.csv").read_text() == "1,2\n"


def test_loggers_may_add_runs(user: Path, tmp_path: Path) -> None:
    (user / "lightning_logs" / "version_0" / "checkpoints").mkdir(parents=True)
    logs = copied(user, tmp_path) / "lightning_logs"
    assert not logs.is_symlink()
    assert (logs / "version_0").is_symlink()


def test_links_within_the_project_stay_within_the_copy(user: Path, tmp_path: Path) -> None:
    copy = copied(user, tmp_path)
    assert (copy / "latest").resolve() == copy / "pkg"
    assert (copy / "near").resolve() == copy / "pkg" / "model.py"


def test_what_the_user_changes_later_is_not_seen(user: Path, tmp_path: Path) -> None:
    snapshot = Snapshot(tmp_path / "store", [str(user)])
    (user / "train.py").write_text("print(2)\n")
    snapshot.copy(tmp_path / "arm", {})
    assert Path(f"{tmp_path / 'arm' / 'root'}{user}/train.py").read_text() == "print(1)\n"


def test_edited_sources_keep_their_encoding_and_stay_inside(user: Path, tmp_path: Path) -> None:
    text = "# coding: latin-1\r\nname = 'é'\r\n"
    copy = copied(user, tmp_path, {str(user / "pkg" / "model.py"): text})
    assert (copy / "pkg" / "model.py").read_bytes() == text.encode("latin-1")
    assert (user / "pkg" / "model.py").read_text() == "x = 1\n"
    with pytest.raises(ValueError, match="is outside the folders that are copied"):
        Snapshot(tmp_path / "other", [str(user)]).copy(tmp_path / "second", {"/usr/bin/x.py": ""})


def test_a_home_is_linked_but_for_its_scripts(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(user))
    copy = copied(user, tmp_path)
    assert not (copy / "train.py").is_symlink()
    assert (copy / "pkg").is_symlink()


def test_a_folder_is_claimed_when_it_is_written_to(user: Path, tmp_path: Path) -> None:
    copied(user, tmp_path)
    overlay = Overlay(str(tmp_path / "arm"))
    outside = tmp_path / "work" / "data.csv"
    assert overlay.read(str(outside)) == str(outside)
    there = overlay.write(str(outside))
    assert there == f"{overlay.root}{outside}"
    assert not os.path.islink(there)
    assert overlay.read(str(outside)) == there
    assert Overlay(str(tmp_path / "arm")).read(str(outside)) == there, "every process knows the claims"
