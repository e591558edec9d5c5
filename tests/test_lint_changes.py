"""Faults made by a few changes in right scripts: found, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from traindx.evidence.lint import lint

STYLES = Path(__file__).parent / "lint_styles"
FAULTS = json.loads((STYLES / "changes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: f"{case['style']}-{case['fault']}")
def test_changes_make_one_fault(case: dict[str, str], tmp_path: Path) -> None:
    text = (STYLES / f"{case['style']}.py").read_text(encoding="utf-8")
    for old, new in case["changes"]:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    assert {finding.id for finding in lint(path).findings} == {f"script_{case['fault']}"}
