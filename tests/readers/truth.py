"""Comparing what was read with what was logged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import traindx
from traindx.core.nouns import Reading, Run

SAMPLES = Path(__file__).parents[1] / "samples"


def truth_of(format: str) -> Any:
    return json.loads((SAMPLES / format / "truth.json").read_text())


def assert_logged(run: Run, series: Mapping[str, Iterable[Any]], *, only: bool = True) -> None:
    """The run holds exactly the series that were logged, point by point, under the logged names."""
    read = {found.source: found for found in run.series.values()}
    if only:
        assert sorted(read) == sorted(series)
    for name, points in series.items():
        steps, values = zip(*((float(step), float(value)) for step, value in points), strict=True)
        np.testing.assert_array_equal(read[name].steps, steps, err_msg=name)
        np.testing.assert_array_equal(read[name].values, values, err_msg=name)


def read_text(folder: Path, name: str, content: str | bytes) -> Reading:
    """The findings in one file of that name and content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return traindx.read(str(path))


def only_run(findings: Reading) -> Run:
    assert len(findings.runs) == 1, [(run.name, run.format) for run in findings.runs]
    return findings.runs[0]


def unzipped(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())
