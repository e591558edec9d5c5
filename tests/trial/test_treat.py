"""`traindx treat` as a user runs it: a real training that is broken, and one that is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from traindx.cli import cli

BROKEN = '''"""A small regression."""
import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(512, 8)
y = torch.sin(x).sum(1, keepdim=True)  # what is to be learned
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)   # the optimizer
open("progress.txt", "a").write("begun\\n")
for step in range(400):
    rows = torch.randint(0, 400, (64,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        with torch.no_grad():
            val = nn.functional.mse_loss(model(x[400:]), y[400:])
        print(f"step {step + 1} loss {loss.item():.4f} val_loss {val.item():.4f}")
torch.save(model.state_dict(), "model.pt")
'''


def treat(
    folder: Path, *words: str, stdin: int | None = subprocess.DEVNULL
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=stdin, timeout=180, check=False
    )


def seen(folder: Path) -> dict[str, bytes]:
    """Every file of the user's: what traindx itself leaves aside."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.relative_to(folder).parts[0].startswith((".traindx", "treatment"))
    }


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "train.py").write_text(BROKEN.replace("LR", "4.0"))
    (folder / "model.pt").write_bytes(b"the weights of last week")
    return folder


def test_a_broken_training_is_mended_and_proven(broken: Path) -> None:
    before = seen(broken)
    done = treat(broken, "treat", "--seeds", "2", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TREATED" in done.stdout
    assert seen(broken) == before
    out = broken / "treatment"
    fixed = (out / "fixed_train.py").read_text()
    changed = [(a, b) for a, b in zip(BROKEN.splitlines(), fixed.splitlines(), strict=True) if a != b]
    assert len(changed) == 1
    assert changed[0][1].endswith("# the optimizer")
    told = json.loads((out / "results.json").read_text())
    assert told["status"] == "treated"
    [one] = told["rounds"]
    assert one["proof"]["reproduced"]
    assert one["proof"]["verdict"]["word"] == "helped"
    names = {path.name for path in out.iterdir()}
    assert names >= {
        "diagnostic_report.md",
        "fix.patch",
        "training_history.json",
        "training_history_fixed.json",
        "training_comparison.png",
        "optimization_recommendations.md",
        "report.html",
    }
    patched = subprocess.run(
        ["patch", "-p1", "-o", "-", "train.py", str(out / "fix.patch")],
        cwd=broken,
        capture_output=True,
        text=True,
        check=True,
    )
    assert patched.stdout == fixed
    what_helped_is_remembered(broken)


def what_helped_is_remembered(broken: Path) -> None:
    """Beside a later diagnosis in the same folder."""
    told = treat(broken, "casebook", "helped")
    assert "lower_lr" in (broken / ".traindx" / "casebook.jsonl").read_text()
    assert "scale_lr" in told.stdout
    log = treat(broken, "run", "--quiet", "--no-internals", "--out", ".traindx/again", "train.py")
    assert log.returncode == 0
    assert "helped here before" in treat(broken, "diagnose", ".traindx/again").stdout


def test_a_healthy_training_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN.replace("LR", "0.02"))
    done = treat(tmp_path, "treat", "--apply", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "HEALTHY" in done.stdout
    assert seen(tmp_path).keys() == {"train.py"}
    assert not (tmp_path / "treatment" / "fix.patch").exists()


def test_dry_run_prints_the_plan_and_its_cost(broken: Path) -> None:
    there = set(os.listdir(broken))
    done = treat(broken, "treat", "--dry-run", "train.py")
    assert "lr_too_high" in done.stdout
    assert "scale_lr factor=0.1" in done.stdout
    assert "trainings" in done.stdout
    assert set(os.listdir(broken)) == there


def test_apply_keeps_a_backup(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN.replace("LR", "4.0"))
    (tmp_path / "train.py.bak").write_text("mine")
    done = treat(tmp_path, "treat", "--seeds", "1", "--only", "lower_lr", "--apply", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "train.py.bak").read_text() == "mine"
    assert (tmp_path / "train.py.bak2").read_text() == BROKEN.replace("LR", "4.0")
    assert (tmp_path / "train.py").read_text() == (tmp_path / "treatment" / "fixed_train.py").read_text()


def test_one_remedy_is_tried(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN.replace("LR", "0.02"))
    done = treat(tmp_path, "try", "--seeds", "2", "--steps", "120", "lower_lr", "train.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "scale_lr factor=0.01" in done.stdout
    assert "hurt" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("treat", "nothing.py"), "does not exist"),
        (("treat", "--only", "lower_ir", "train.py"), "Did you mean lower_lr"),
        (("treat", "--time-budget", "soon", "train.py"), "90s, 10m or 2h"),
        (("treat", "--out", "train.py", "train.py"), "is a file"),
        (("try", "magic", "train.py"), "there is no remedy magic"),
    ],
)
def test_what_is_not_begun_is_told_in_a_line(
    broken: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(broken)
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("treat", "--metric", "bleu", "train.py"), "there are: "),
        (("treat", "crash.py"), "ZeroDivisionError"),
        (("treat", "idle.py"), "without a training step"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(broken: Path, words: tuple[str, ...], said: str) -> None:
    (broken / "crash.py").write_text("import torch\n1 / 0\n")
    (broken / "idle.py").write_text("import torch\nprint('no training here')\n")
    done = treat(broken, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
