"""`traindx ci` in a real repository: a worse change, a better one, none, and what cannot be compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from traindx.report.pull_request import MARK, Annotation

FAULTY = (Path(__file__).parent / "scripts" / "sums_gradients.py").read_text(encoding="utf-8")
HEALTHY = FAULTY.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.email=a@example.org", "-c", "user.name=a"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose branch `main` trains well."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(HEALTHY, encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "trains")
    git(tmp_path, "checkout", "-q", "-b", "change")
    return tmp_path


def ci(folder: Path, *words: str, code: int, **variables: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "traindx", "ci", *words],
        cwd=folder,
        env={**os.environ, "GITHUB_ACTIONS": "", "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_a_change_that_spoils_it(repository: Path) -> None:
    (repository / "src" / "train.py").write_text(FAULTY, encoding="utf-8")
    git(repository, "commit", "-q", "-a", "-m", "tidy up")
    out, _ = ci(
        repository, "--base", "main", "--md", "comment.md", "src/train.py", code=1, GITHUB_ACTIONS="true"
    )
    errors = [line for line in out.splitlines() if line.startswith("::error ")]
    line = next(n for n, text in enumerate(FAULTY.splitlines(), 1) if "loss.backward()" in text)
    assert errors[0].startswith(f"::error file=src/train.py,line={line},title=nonfinite")
    assert any(one.startswith("::warning file=src/train.py,line=") for one in out.splitlines())
    comment = (repository / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(MARK)
    assert "**WORSE**" in comment
    assert f"`src/train.py:{line}`" in comment
    assert "::error" not in comment


def test_a_change_that_fixes_it(repository: Path) -> None:
    (repository / "src" / "train.py").write_text(FAULTY, encoding="utf-8")
    git(repository, "commit", "-q", "-a", "-m", "spoilt")
    git(repository, "branch", "-f", "main")
    (repository / "src" / "train.py").write_text(HEALTHY, encoding="utf-8")
    out, _ = ci(repository, "--base", "main", "--json", "src/train.py", code=0)
    document = json.loads(out)
    assert document["schema"] == "traindx/ci/1"
    assert document["answer"] == "better"
    assert document["failed"] is False
    assert document["proof"]["versions"][0]["pairs"]


def test_nothing_differs(repository: Path) -> None:
    out, _ = ci(repository, "--base", "main", "src/train.py", code=0)
    assert "Nothing differs from main" in out
    assert "::" not in out


def test_what_cannot_be_compared(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _, said = ci(repository, "src/train.py", code=2, GITHUB_BASE_REF="release")
    assert "origin/release" in said
    assert "fetch-depth: 0" in said
    _, said = ci(repository, "--base", "main", code=2)
    assert "name the training script" in said
    outside = tmp_path_factory.mktemp("outside")
    (outside / "train.py").write_text(HEALTHY, encoding="utf-8")
    ci(outside, "--base", "main", "train.py", code=2)


def test_the_workflow_is_one(repository: Path) -> None:
    (repository / "requirements.txt").write_text("torch\n")
    out, _ = ci(repository, "--workflow", "src/train.py", "--epochs", "3", code=0)
    workflow = yaml.safe_load(out)
    [job] = workflow["jobs"].values()
    commands = [step.get("run", "") for step in job["steps"]]
    assert "pip install traindx -r requirements.txt" in commands
    assert any(one.startswith("traindx ci ") and one.endswith(" src/train.py --epochs 3") for one in commands)
    assert "@" not in "".join(commands)
    # What a fork chooses must not be part of a command.
    assert not any("${{" in one for one in commands)


def test_an_annotation_is_one_command_whatever_it_says() -> None:
    sly = Annotation("warning", "a,b: c", "50 % \n::error::no\x1b[0m", "x,y.py", 3)
    assert "\n" not in sly.command
    assert sly.command.startswith("::warning file=x%2Cy.py,line=3,title=a%2Cb%3A c::50 %25 ")
    assert "\x1b" not in sly.command
