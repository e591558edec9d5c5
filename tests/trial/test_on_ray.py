"""Trials on a real Ray cluster of one machine: the same runs, bit for bit, as in local processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")
SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 4)
y = x.sum(1, keepdim=True)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(80):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def tried(folder: Path, engine: str) -> list[object]:
    words = [
        "try",
        "--engine",
        engine,
        "--seeds",
        "2",
        "--metric",
        "loss",
        "--out",
        engine,
        "raise_lr",
        "train.py",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "traindx", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((folder / engine / "results.json").read_text())
    return [[trial["change"], trial["verdict"]["pairs"]] for trial in told["rounds"][0]["trials"]]


def test_the_cluster_finds_what_this_machine_finds(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    assert tried(tmp_path, "ray") == tried(tmp_path, "local")
