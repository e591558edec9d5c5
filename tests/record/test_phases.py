"""A script that trains several times: each training is recorded, named and judged by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import traindx
from tests.warm import record
from traindx.core.nouns import Run
from traindx.evidence.phase import of_one_script, phase_text
from traindx.report.layout import Screen
from traindx.report.triage import triage

FOLDS = """
import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(600, 8)
y = (X[:, 0] - X[:, 1] > 0).long()
for fold in range(3):
    {heading}
    held = torch.arange(600) % 3 == fold
    train_x, train_y = X[~held], y[~held]
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=(0.1, 1e-7, 0.2)[fold])
    for step in range(150):
        at = torch.randint(len(train_x), (32,))
        loss = nn.functional.cross_entropy(model(train_x[at]), train_y[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    {footer}
"""
STAGES = """
import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(512, 16)
encoder, decoder, head = nn.Linear(16, 4), nn.Linear(4, 16), nn.Linear(4, 3)
pre = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
for step in range(60):
    loss = nn.functional.mse_loss(decoder(encoder(X)), X)
    pre.zero_grad()
    loss.backward()
    pre.step()
fine = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
for step in range(40):
    loss = nn.functional.cross_entropy(head(encoder(X).detach()), torch.arange(512) % 3)
    fine.zero_grad()
    loss.backward()
    fine.step()
"""


def recorded(folder: Path, source: str) -> tuple[Run, ...]:
    (folder / "train.py").write_text(source)
    record(folder, "r", "train.py")
    return traindx.read(folder / "r").runs


@pytest.mark.parametrize(
    ("heading", "footer", "names"),
    [
        ("print(f'Fold {fold + 1}/3')", "pass", ["fold 1", "fold 2", "fold 3"]),
        ("pass", "print(f'seed {fold}: loss {loss.item():.3f}')", ["seed 0", "seed 1", "seed 2"]),
        ("pass", "pass", ["", "", ""]),
    ],
)
def test_folds_are_named_and_the_worst_leads(
    tmp_path: Path, heading: str, footer: str, names: list[str]
) -> None:
    runs = recorded(tmp_path, FOLDS.format(heading=heading, footer=footer))
    assert [run.phase.name for run in runs if run.phase is not None] == names
    assert of_one_script(runs)
    assert [run.settings["lr"] for run in runs] == [0.1, 1e-7, 0.2]
    for run in runs:
        assert len(run.facts["optimizers"]) == len(run.facts["losses"]) == 1, "each knows its own"
        assert run.facts["samples"]["taken"] > 0
    worst = traindx.diagnose(tmp_path / "r")
    assert worst.run.phase is not None
    assert worst.run.phase.number == 2
    assert worst.problems[0].hypotheses[0].cause == "lr_too_low"
    assert phase_text(worst.run).endswith("steps 151 to 300")
    screen = "\n".join(triage([traindx.diagnose(run) for run in runs], Screen(width=120)))
    assert screen.startswith("3 trainings of one script: 1 high, 2 healthy; the worst is")
    assert phase_text(worst.run) in screen
    assert worst.run.phase.title in screen


def test_stages_have_their_own_facts(tmp_path: Path) -> None:
    first, second = recorded(tmp_path, STAGES)
    assert (first.settings["optimizer"], second.settings["optimizer"]) == ("Adam", "SGD")
    assert "beta1" not in second.settings, "nothing of the first stage is left in the second"
    assert second.settings["momentum"] == 0.9
    assert "momentum" not in first.settings
    assert [loss["function"] for loss in first.facts["losses"]] == ["mse_loss"]
    assert [loss["function"] for loss in second.facts["losses"]] == ["cross_entropy"]
    assert phase_text(second) == "training 2 of 2, steps 61 to 100"
    assert first.facts["script"]["path"] == second.facts["script"]["path"]


def test_a_single_training_has_no_phase(tmp_path: Path) -> None:
    (run,) = recorded(tmp_path, STAGES.partition("fine =")[0])
    assert run.phase is None
    assert "phases" not in json.loads((tmp_path / "r" / "run.json").read_text())
    assert phase_text(run) == ""


TEACHER = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(640, 8)
y = (X[:, 0] - X[:, 1] > 0).long()


def classifier(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 2))


def train(model, target_of):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(8):
        model.train()
        for inputs, labels in DataLoader(TensorDataset(X[:512], y[:512]), 32, shuffle=True):
            loss = nn.functional.cross_entropy(model(inputs), target_of(inputs, labels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print("val_loss", nn.functional.cross_entropy(model(X[512:]), y[512:]).item())


def asked(inputs, labels):
    with torch.no_grad():
        return teacher(inputs).softmax(1)


teacher, student = classifier(64), classifier(16)
train(teacher, lambda inputs, labels: labels)
train(student, asked)
"""


def test_a_teacher_that_is_asked_about_training_data_is_no_validation(tmp_path: Path) -> None:
    runs = recorded(tmp_path, TEACHER)
    assert len(runs) == 2
    for run in runs:
        held_out = run.facts["samples"]["validation"]
        assert held_out["taken"] > 0
        assert held_out["known"] == 0
    assert traindx.diagnose(tmp_path / "r").verdict == "healthy"
