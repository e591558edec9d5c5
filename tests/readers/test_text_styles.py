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


@pytest.mark.parametrize("mark", ["eval @", "validation at"])
def test_a_number_behind_at_says_when(mark: str, tmp_path: Path) -> None:
    lines = []
    for step in range(100, 2100, 100):
        lines.append(f"step {step} loss {3.0 - step / 1000:.4f} lr 1.0e-03")
        if step % 500 == 0:
            lines.append(f"  {mark} {step}: val_loss {3.1 - step / 1000:.4f} miou {step / 4000:.4f}")
    (tmp_path / "run.log").write_text("\n".join(lines))
    [run] = traindx.read(tmp_path / "run.log").runs
    check(run, "val/loss", [(step, 3.1 - step / 1000) for step in (500, 1000, 1500, 2000)])


def test_a_line_of_two_splits_is_of_none(tmp_path: Path) -> None:
    lines = [f"[{n:2d}/8] train={3.0 / n:.4f} valid={4.0 / n:.4f} acc={n / 10:.2f}" for n in range(1, 9)]
    (tmp_path / "run.log").write_text("\n".join(lines))
    [run] = traindx.read(tmp_path / "run.log").runs
    assert len(run.series["loss"]) == len(run.series["val/loss"]) == len(run.series["val/accuracy"]) == 8


def test_a_bare_split_that_goes_along_with_the_loss_is_a_loss(tmp_path: Path) -> None:
    lines = [f"{n} loss {5 - n / 10:.3f} val {4.9 - n / 11:.3f} top1 {n / 100:.3f}" for n in range(12)]
    (tmp_path / "run.log").write_text("\n".join(lines))
    [run] = traindx.read(tmp_path / "run.log").runs
    assert len(run.series["val/loss"]) == 12


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
