"""How good a model is next to simple ones, by whatever of it is known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.warm import record
from traindx.core.facts import sizes
from traindx.evidence.case import Case
from traindx.report.answer import answer_text
from traindx.testing.sketch import run

TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(900, 10)
y = X @ torch.randn(10, 1) + 0.3 * torch.randn(900, 1)
y = (y - y.mean()) / y.std()
train, held = TensorDataset(X[:700], y[:700]), slice(700, 900)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
for epoch in range(12):
    for inputs, targets in DataLoader(train, 32, shuffle=True):
        loss = ((model(inputs) - targets) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = ((model(X[held]) - y[held]) ** 2).mean()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {error.item():.4f}SCORE")
"""
SCORE = " val_r2 {1 - error.item() / y[held].var().item():.4f}"


SQUARED, LOG_COSH = "(model(inputs) - targets) ** 2", "(model(inputs) - targets).cosh().log()"


def diagnosed(folder: Path, lr: float, score: str, loss: str = SQUARED) -> traindx.Diagnosis:
    source = TRAIN.replace(SQUARED, loss)
    (folder / "train.py").write_text(source.replace("SCORE", score).replace("RATE", str(lr)))
    record(folder, "r", "train.py")
    return traindx.diagnose(folder / "r")


def test_a_hand_written_loss_with_a_score_is_compared_with_a_straight_line(tmp_path: Path) -> None:
    """Neither outputs nor targets reach a loss of torch; the loader and the printed R2 say enough."""
    found = diagnosed(tmp_path, 2e-5, SCORE)
    assert found.verdict == "problem"
    assert any(finding.id == "worse_than_simple" for finding in found.problems[0].findings)
    assert "a straight line" in answer_text(found)


def test_one_that_learned_is_healthy(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, 1e-2, SCORE)
    assert found.verdict == "healthy"


@pytest.mark.parametrize(
    ("loss", "score", "asked"), [(LOG_COSH, "", True), (LOG_COSH, SCORE, False), (SQUARED, "", False)]
)
def test_preflight_is_named_where_nothing_measured_says_that_it_is_well(
    tmp_path: Path, loss: str, score: str, asked: bool
) -> None:
    """A squared error that is written by hand is recognised, log-cosh is not."""
    shown = re.sub(r"\s+", " ", answer_text(diagnosed(tmp_path, 1e-2, score, loss)))
    assert ("traindx preflight train.py" in shown) is asked


@pytest.mark.parametrize(("peak", "tuned"), [(1e-5, True), (1e-3, False)])
def test_the_rates_of_a_fine_tuning(peak: float, tuned: bool) -> None:
    """Warmed up to a small peak and brought back to nothing: weights that were trained before."""
    rates = np.concatenate([np.linspace(0.1, 1, 10), np.linspace(1, 0, 90)]) * peak
    case = Case(run({"loss": np.linspace(0.69, 0.59, 100), "lr": rates}))
    assert case.task.fine_tuned is tuned


LAST = """
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
net = nn.Sequential(body, nn.Linear(32, 2))
HELD
for step in range(60):
    x = torch.randn(64, 10)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
"""
BOTH = "optimizer = torch.optim.Adam([*body.parameters(), *net[1].parameters()], lr=1e-2)"
BODY = "optimizer = torch.optim.Adam(body.parameters(), lr=1e-2)"


@pytest.mark.parametrize(("held", "verdict"), [(BOTH, "healthy"), (BODY, "problem")])
def test_a_measurement_overrules_what_the_source_seems_to_say(
    tmp_path: Path, held: str, verdict: str
) -> None:
    """That `net[1]` is the last layer cannot be read; that the optimizer holds it was recorded."""
    (tmp_path / "train.py").write_text(LAST.replace("HELD", held))
    record(tmp_path, "r", "train.py")
    assert traindx.diagnose(tmp_path / "r").verdict == verdict


DISTILLED = """
import torch
from torch import nn

torch.manual_seed(0)
def net():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
first = net()
trained = torch.optim.Adam(first.parameters(), lr=1e-2)
x = torch.randn(512, 6)
nn.functional.cross_entropy(first(x), x[:, :3].argmax(1)).backward()
trained.step()
torch.save({"model": first.state_dict(), "optimizer": trained.state_dict()}, "first.pt")
stored = torch.load("first.pt")
LOADED = net()
LOADED.load_state_dict(stored["model"])
student = LOADED if "LOADED" == "student" else net()
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(60):
    loss = nn.functional.cross_entropy(student(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("loaded", ["teacher", "student"])
def test_a_teacher_that_is_loaded_is_no_training_taken_up_again(tmp_path: Path, loaded: str) -> None:
    (tmp_path / "train.py").write_text(DISTILLED.replace("LOADED", loaded))
    record(tmp_path, "r", "train.py")
    run = traindx.read(tmp_path / "r").runs[-1]
    kinds = [event.kind for event in run.events]
    assert ("optimizer_state_not_loaded" in kinds) is (loaded == "student")


@pytest.mark.parametrize("shape", ["32x²", "0x5", "x", "32x", "32x" + "9" * 40, None, 7.5])
def test_a_shape_of_an_untrusted_recording_is_no_shape(shape: object) -> None:
    assert sizes(shape) == ()
    losses = [{"kind": "mse", "reduction": "sum", "output_shape": shape, "target_shape": shape}]
    relation = {"told": 0.8, "z": 40.0, "classes": 0.0, "targets": 3.0}
    series = {"loss": [1.0, 0.9] * 20, "output/explained": [0.1] * 4, "output/backward_ratio": [0.5] * 4}
    made_up = replace(run(series), facts={"losses": losses, "samples": {"taken": 400, "relation": relation}})
    assert traindx.diagnose(made_up).verdict
