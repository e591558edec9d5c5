"""Memory runs out: where it does in the training that is the program's to handle, and never ours to cause."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import traindx
from tests.run_scripts.calling import call, facts, recorded

LIMITED = """
import os, resource, sys, traceback
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
failed = 0

def limit(more):
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (-1 if more is None else now + more, -1))

def train(steps):
    global failed
    for _ in range(steps):
        try:
            loss = model(torch.randn(512, 256)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        except (MemoryError, RuntimeError):
            failed += 1
            told = traceback.format_exc()
            if "traindx" in told:
                os.write(1, told.encode())

train(5)
limit(int(sys.argv[1]) << 10)
train(60)
limit(None)
train(20)
print("failed" if failed else "all done")
"""


def run(tmp_path: Path, kilobytes: int) -> str:
    (tmp_path / "train.py").write_text(LIMITED)
    result = recorded(tmp_path, "--quiet", "--out", "rec", "train.py", kilobytes)
    assert result.code == 0, result.err
    assert facts(tmp_path / "rec")["ended"]["how"] == "finished"
    (found,) = traindx.read(tmp_path / "rec").runs
    assert found.series["loss"].steps[-1] >= 25
    return result.out


@pytest.mark.parametrize(
    "kilobytes", [0, *(pytest.param(one, marks=pytest.mark.long) for one in (300, 1000, 3000, 5000))]
)
def test_without_memory_the_training_goes_on_when_there_is_some_again(tmp_path: Path, kilobytes: int) -> None:
    pytest.importorskip("torch")
    assert run(tmp_path, kilobytes) in ("failed\n", "all done\n")


@pytest.mark.long
def test_what_fits_without_us_fits_with_us(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert run(tmp_path, 16_000) == "all done\n"


def test_a_limit_from_the_start(tmp_path: Path) -> None:
    """As a batch system sets one: the process beside the training has it as well."""
    (tmp_path / "train.py").write_text("print('step 1 loss 2')\n")
    command = f"ulimit -v 300000; exec {sys.executable} -m traindx run --out rec train.py"
    result = call(["sh", "-c", command], tmp_path)
    assert (result.out, result.code) == ("step 1 loss 2\n", 0)
    assert facts(tmp_path / "rec")["ended"]["how"] == "finished"
