"""`traindx preflight train.py` as somebody calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows = int(sys.argv[1])
x = torch.randn(rows, 6)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(50):
    for inputs, target in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        loss = criterion(torch.softmax(model(inputs), 1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")
"""


def preflight(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", "preflight", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, timeout=100)


def test_a_softmax_too_many_is_found_and_nothing_of_the_script_is_written(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    done = preflight("--steps", "40", "--json", "train.py", "320", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["schema"] == "traindx/preflight/1"
    checks = {one["id"]: one for one in told["checks"]}
    assert checks["outputs_fit_loss"]["status"] == "fail"
    assert checks["outputs_fit_loss"]["cause"] == "double_activation"
    assert checks["deterministic"]["status"] == "pass"
    assert checks["whole_time"]["numbers"]["steps"] == 500
    assert len(told["arms"]) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == [".traindx", "train.py"]
    assert [path.name for path in (tmp_path / ".traindx").iterdir()] == ["evidence.jsonl"], (
        "for other commands"
    )


def test_a_script_that_never_trains(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('no training here')\n", encoding="utf-8")
    done = preflight("train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "without a training step" in done.stderr
    assert len(done.stderr.splitlines()) == 1
