"""A recorded script is read with the options that its command line gave."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from traindx.core.nouns import Finding
from traindx.core.units import detectors
from traindx.source.script import parse_script, script_of
from traindx.testing.sketch import run

SCRIPT = """
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("-e", "--num-epochs", type=int, default=400)
parser.add_argument("--plain", action="store_true")
args = parser.parse_args()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=243)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(972, 4)), batch_size=4)
for epoch in range(args.num_epochs):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        scheduler.step()
"""


def seen_with(*arguments: str) -> bool:
    """Whether the schedule of 243 steps is taken for one of epochs."""
    script = replace(parse_script(SCRIPT), arguments=arguments)
    detector = next(unit for unit in detectors() if unit.id == "script_scheduler_pace")
    found = detector.detect(script.training)
    return isinstance(found, Iterable) and any(isinstance(finding, Finding) for finding in found)


@pytest.mark.parametrize(
    "arguments", [("--num-epochs", "4"), ("--num-epochs=4",), ("-e", "4"), ("--plain", "--num-epochs", "4")]
)
def test_options_replace_the_defaults(arguments: tuple[str, ...]) -> None:
    assert not seen_with(*arguments)


@pytest.mark.parametrize("arguments", [(), ("--plain",), ("--num-epochs",), ("4",)])
def test_without_them_the_defaults_count(arguments: tuple[str, ...]) -> None:
    assert seen_with(*arguments)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("python train.py --num-epochs 4", ("--num-epochs", "4")),
        ("python some/train.py '--name=a b'", ("--name=a b",)),
        ("python -m pack.train --num-epochs 4", ("--num-epochs", "4")),
        ("python 'train.py", ()),
        (None, ()),
    ],
)
def test_the_arguments_of_a_recording(
    command: str | None, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    facts = {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    recorded = replace(run({"loss": [1.0, 0.5]}, facts={"script": facts}), config={"command": command})
    script, why = script_of(recorded)
    assert script is not None, why
    assert script.arguments == arguments
