"""What one command found out about a script, the others know: real trainings, real files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LEAKS = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 12)
y = (x[:, :4].sin().sum(1) + 0.3 * torch.randn(400)).unsqueeze(1)
train = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=32, shuffle=True)
held_out = torch.cat([torch.arange(320, 400), torch.arange(0, 80)])  # half of it is trained on
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(40):
    model.train()
    for xb, yb in train:
        loss = F.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = F.mse_loss(model(x[held_out]), y[held_out]).item()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {val:.4f}")
"""


def traindx(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "traindx", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording from before the preflight, one from after it, and its log."""
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "train.py").write_text(LEAKS)
    before = traindx(folder, "run", "--no-internals", "--out", ".traindx/first", "train.py")
    assert "HEALTHY" in before, "the outside of this training does not show the leak"
    assert "among the" in traindx(folder, "preflight", "--steps", "120", "train.py")
    (folder / "after.txt").write_text(
        traindx(folder, "run", "--no-internals", "--out", ".traindx/second", "train.py")
    )
    return folder


def test_run_knows_what_preflight_found(checked: Path) -> None:
    output = (checked / "after.txt").read_text()
    assert "HEALTHY" not in output
    assert "PROBLEM" in output
    assert "(preflight, " in output
    assert "data leakage" in output.lower()


def test_so_does_the_diagnosis_of_an_older_recording_of_the_same_script(checked: Path) -> None:
    document = json.loads(traindx(checked, "diagnose", "--json", ".traindx/first"))
    assert document["verdict"] == "problem"
    assert document["problems"][0]["hypotheses"][0]["cause"] == "data_leakage"


def test_a_plain_log_and_other_arguments_are_judged_by_themselves(checked: Path) -> None:
    log = "".join(f"epoch {n} loss {2 / n:.4f} val_loss {2.1 / n:.4f}\n" for n in range(1, 40))
    (checked / "train.log").write_text(log)
    assert "preflight" not in traindx(checked, "diagnose", "train.log")
    assert "HEALTHY" in traindx(
        checked, "run", "--no-internals", "--out", ".traindx/other", "train.py", "--other"
    )


def test_a_changed_script_is_judged_by_itself(checked: Path) -> None:
    script = checked / "train.py"
    script.write_text(LEAKS + "# another version\n")
    try:
        assert "preflight, " not in traindx(checked, "diagnose", ".traindx/first")
    finally:
        script.write_text(LEAKS)
