"""A training killed right after it printed something: every step before that is on disk."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import traindx

SCRIPT = """
import os, signal, torch
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1, 412):
    loss = model(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("all steps done")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_no_step_is_left_in_memory(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "traindx", "run", "--quiet", "--out", "out", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    (run,) = traindx.read(tmp_path / "out").runs
    assert list(run.series["loss"].steps) == list(range(1, 412))
