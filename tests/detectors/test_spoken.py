"""What is nowhere in a recorded training or its script speaks against the causes that need it."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.core.nouns import Finding, Skipped
from traindx.evidence.case import Case
from traindx.evidence.detectors.gradients.clipping import grad_all_clipped
from traindx.evidence.detectors.model import restraint
from traindx.source import read_script
from traindx.testing.sketch import run

_FACTS = {
    "models": [{"class": "Net", "parameters": 900, "dropout": []}],
    "optimizers": [{"class": "Adam", "groups": [{"lr": 0.001, "weight_decay": 0}]}],
}


def made(folder: Path, source: str) -> Case:
    path = folder / "train.py"
    path.write_text(source)
    script = read_script(path)
    return Case(run({"grad_norm": [1.0] * 20}, facts=_FACTS), script)


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("loss = f(model(x), y)  # no dropout here", True),
        ("x = F.dropout(x, 0.9)", False),
        ("loss = loss + l2_penalty(model)", False),
        ("loss_fn = nn.CrossEntropyLoss(label_smoothing=0.3)", False),
    ],
)
def test_a_restraint_is_missing_only_where_the_script_names_none(
    tmp_path: Path, source: str, known: bool
) -> None:
    found = restraint.model_restrained.detect(made(tmp_path, source))
    assert not isinstance(found, Finding)
    assert (found is None) == known


@pytest.mark.parametrize(
    ("source", "known"),
    [("optimizer.step()", True), ("for p in m.parameters(): p.grad.clamp_(-1, 1)", False)],
)
def test_clipping_is_missing_only_where_the_script_names_none(
    tmp_path: Path, source: str, known: bool
) -> None:
    found = grad_all_clipped.detect(made(tmp_path, source))
    assert (found is None) == known
    assert known or isinstance(found, Skipped)
