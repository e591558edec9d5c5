from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of

FOLDER = SAMPLES / "detectron2"


@pytest.mark.parametrize("name", ["metrics.json", "log.txt", "20240101_000000.log.json"])
def test_samples(name: str) -> None:
    run = only_run(traindx.read(str(FOLDER / name)))
    assert run.format == "detectron2"
    assert_logged(run, truth_of("detectron2")[name], only=False)


def test_detectron2_validation() -> None:
    run = only_run(traindx.read(str(FOLDER / "metrics.json")))
    assert "loss" in run.series
    assert run.series["loss"].source == "total_loss"
    assert next(s.name for s in run.series.values() if s.source == "bbox/AP").startswith("val/")


def test_detr_coco_figures() -> None:
    run = only_run(traindx.read(str(FOLDER / "log.txt")))
    assert run.axis == "epoch"
    figures = {s.source: s.values[-1] for s in run.series.values() if "coco_eval" in s.source}
    assert len(figures) == 12
    assert figures["test_coco_eval_bbox/AP50"] == pytest.approx(0.051)
    assert run.config["n_parameters"] == 41302368


def test_mmengine() -> None:
    run = only_run(traindx.read(str(SAMPLES / "mmengine" / "scalars.json")))
    assert_logged(run, truth_of("mmengine")["series"], only=False)
    assert run.series["val/mae"].source == "mae"


def test_torn_line(tmp_path: Path) -> None:
    content = (FOLDER / "metrics.json").read_bytes()
    run = only_run(read_text(tmp_path, "metrics.json", content[:-40]))
    assert any("1 line(s)" in note.text for note in run.notes)
