"""Files and folders that may not be read: it is said, beside what may be read. Root runs only the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import mutants

pytestmark = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become somebody else"
)
LOG = "step,loss\n" + "".join(f"{step},{2 / step:.4f}\n" for step in range(1, 40))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o777 == 0o700:
            folder.chmod(0o755)
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "other.csv").write_text(LOG.replace("2,1.0", "2,1.5"))
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


def as_nobody(folder: Path, *commands: tuple[str, ...]) -> list[tuple[int, str]]:
    script = Path(__file__).with_name("as_nobody.py")
    done = subprocess.run(
        [sys.executable, script, json.dumps(commands)],
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=True,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    told: list[tuple[int, str]] = json.loads(done.stdout)
    for _, said in told:
        assert "Traceback" not in said, said
        assert "itself failed" not in said, said
        assert "please report" not in said, said
    return told


def test_named_files(project: Path) -> None:
    for name in ("log.csv", "train.py"):
        (project / name).chmod(0)
    (project / "answers.toml").write_text('symptoms = ["not_learning"]\n')
    (project / "answers.toml").chmod(0)
    told = as_nobody(
        project,
        ("inspect", "log.csv"),
        ("diagnose", "log.csv"),
        ("lint", "train.py"),
        ("diagnose", "other.csv", "--script", "train.py"),
        ("ask", "--answers", "answers.toml", "--json"),
        ("preflight", "train.py"),
    )
    for code, said in told:
        assert code == 2, said
        assert "no permission" in said or "permission denied" in said.lower(), said
        assert len(said.splitlines()) == 1, said


def test_folders_among_others(project: Path) -> None:
    """Closed folders, folders that can be listed but not entered, and the other way round."""
    for name, mode in (("closed", 0), ("listed", 0o444), ("entered", 0o111)):
        (project / name).mkdir()
        (project / name / "log.csv").write_text(LOG.replace("1,2.0", f"1,{len(name)}.0"))
        (project / name / "train.py").write_text("print(1)\n")
        (project / name).chmod(mode)
    commands = (("inspect", ".", "--all"), ("diagnose", "."), ("lint", "."), ("inspect", "closed"))
    told = as_nobody(project, *commands)
    assert "other.csv" in told[0][1]
    unread = told[0][1].partition("no permission to read it (4)")[2].split()
    assert unread == ["closed", "entered", "listed/log.csv", "listed/train.py"]
    assert told[1][0] in (0, 1)
    assert told[2][0] in (0, 1)
    assert told[3][0] == 2
    assert "no permission" in told[3][1]


def test_what_lies_beside(project: Path) -> None:
    """Settings, a casebook, a configuration beside a log, parts of a recording and its script."""
    here = mutants.recording(project / "recorded")
    (project / ".traindx").mkdir()
    closed = [
        project / "traindx.toml",
        project / ".traindx" / "casebook.jsonl",
        project / "log.json",
        here / "run.json",
        project / "recorded" / "train.py",
    ]
    for path in closed:
        path.touch()
        path.chmod(0)
    recording = str(here.relative_to(project))
    told = as_nobody(
        project,
        ("diagnose", "log.csv"),
        ("compare", "log.csv", "other.csv"),
        ("casebook",),
        ("diagnose", recording),
        ("confirm", recording),
    )
    assert [code for code, _ in told] == [told[0][0], 0, 2, 1, 2]
    assert told[0][0] in (0, 1)
    assert "permission denied" in told[2][1]


def test_a_closed_folder_to_work_in(project: Path) -> None:
    (project / "closed").mkdir()
    (project / "closed").chmod(0o311)
    told = as_nobody(project / "closed", ("diagnose", "../log.csv"), ("inspect", "."), ("casebook",))
    assert told[0][0] in (0, 1)
    assert told[1][0] == 2
