"""Every style of log gives back the training that was written into it."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

import traindx

from .text_styles import STYLES, Points


def check(run: traindx.Run, name: str, points: Points) -> None:
    assert name in run.series, f"{name} not among {list(run.series)}"
    series = run.series[name]
    got = list(zip(series.steps.tolist(), series.values.tolist(), strict=True))
    assert [s for s, _ in got] == [float(s) for s, _ in points]
    for (_, value), (_, wanted) in zip(got, points, strict=True):
        assert value == pytest.approx(wanted, rel=1e-9, nan_ok=True) or (
            math.isnan(wanted) and math.isnan(value)
        )


@pytest.mark.parametrize("name", sorted(STYLES))
def test_style(name: str, tmp_path: Path) -> None:
    text, expected, axis = STYLES[name]()
    path = tmp_path / "train.log"
    path.write_bytes(text.encode("gbk" if name.endswith("gbk") else "utf-8"))
    found = traindx.read(path)
    assert len(found.runs) == 1, (found.skipped, [r.name for r in found.runs])
    run = found.runs[0]
    assert run.axis == axis
    for series, points in expected.items():
        check(run, series, points)


@pytest.mark.parametrize("name", ["nanogpt", "keras_bars", "prose_epochs"])
def test_gzip_crlf_and_utf16_do_not_matter(name: str, tmp_path: Path) -> None:
    text, expected, _ = STYLES[name]()
    forms = {
        "a.log.gz": gzip.compress(text.encode()),
        "b.log": text.replace("\n", "\r\n").encode(),
        "c.log": text.encode("utf-16"),
        "d.log": b"\0" * 100_000 + text.encode() + b"\0" * 50,
    }
    for file, data in forms.items():
        (tmp_path / file).write_bytes(data)
        runs = traindx.read(tmp_path / file).runs
        assert len(runs) == 1, file
        for series, points in expected.items():
            check(runs[0], series, points)
