from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of


@pytest.mark.parametrize("name", ["train", "nan"])
def test_samples(name: str) -> None:
    run = only_run(traindx.read(str(SAMPLES / "ultralytics" / name)))
    truth = truth_of("ultralytics")[name]
    assert (run.format, run.axis) == ("ultralytics", "epoch")
    assert_logged(run, truth["series"], only=False)
    assert {s.source for s in run.series.values()} == {*truth["series"], "time", "loss", "val/loss"}
    assert {key: run.config[key] for key in truth["config"]} == truth["config"]


def test_settings_of_the_training() -> None:
    run = only_run(traindx.read(str(SAMPLES / "ultralytics" / "train")))
    assert run.settings["batch_size"] == 4
    assert run.settings["lr"] == 0.01


def test_total_is_derived(tmp_path: Path) -> None:
    text = (
        "epoch,train/box_loss,train/cls_loss,train/dfl_loss,metrics/mAP50(B),val/box_loss,val/cls_loss\n"
        "1,1.0,2.0,0.5,0.1,1,2\n2,nan,2.0,0.5,0.2,1,\n3,1.0,,0.5,0.3,2,2\n"
    )
    run = only_run(read_text(tmp_path, "me__runs__results.csv", text))
    assert_logged(run, {"loss": [(1, 3.5), (2, float("nan"))], "val/loss": [(1, 3), (3, 4)]}, only=False)
    assert run.series["loss"].derived == "train/box_loss + train/cls_loss + train/dfl_loss"
    assert run.series["val/loss"].derived == "val/box_loss + val/cls_loss"
    assert run.series["val/map50"].source == "metrics/mAP50(B)"
    assert run.series["loss/box"].derived is None


def test_version_5_with_padding(tmp_path: Path) -> None:
    losses = [f"{split}/{term}_loss" for split in ("train", "val") for term in ("box", "obj", "cls")]
    metrics = [f"metrics/{name}" for name in ("precision", "recall", "mAP_0.5", "mAP_0.5:0.95")]
    columns = ["epoch", *losses[:3], *metrics, *losses[3:], "x/lr0", "x/lr1", "x/lr2"]
    rows = [columns] + [[str(epoch), *(f"{n / 8}" for n in range(1, 14))] for epoch in range(3)]
    text = "\r\n".join(",".join(cell.rjust(20) for cell in row) for row in rows)
    run = only_run(read_text(tmp_path, "results.csv", text))
    assert run.format == "ultralytics"
    assert run.series["loss"].values.tolist() == [0.75] * 3
    assert run.series["lr"].source == "x/lr0"
    assert run.series["val/map50"].source == "metrics/mAP_0.5"
    assert run.series["loss"].steps.tolist() == [0, 1, 2]


def test_classification_has_its_own_total(tmp_path: Path) -> None:
    text = "epoch,train/loss,metrics/accuracy_top1,val/loss,lr/pg0\n1,2.0,0.5,2.5,0.1\n2,1.0,0.75,1.5,0.1\n"
    run = only_run(read_text(tmp_path, "results.csv", text))
    assert run.format == "ultralytics"
    assert run.series["loss"].derived is None
    assert run.series["val/loss"].values.tolist() == [2.5, 1.5]


def test_other_results_are_left_alone(tmp_path: Path) -> None:
    text = "epoch,train_loss,val_loss\n0,1,2\n1,1,2\n2,1,2\n"
    assert only_run(read_text(tmp_path, "results.csv", text)).format != "ultralytics"


def test_results_without_a_header(tmp_path: Path) -> None:
    text = (
        "  0/2  11.8G   0.0698   0.0315         0    0.1013        30       640  0.0046    0.2902  0.0014"
        "  0.00022   0.0934   0.0385         0\n"
        "  1/2  11.8G   0.0663   0.0286         0   0.09485        12       640  0.0044    0.2735  0.0013"
        "  0.00018       nan   0.0383         0\n"
        "  2/2  11.8G   0.06"
    )
    run = only_run(read_text(tmp_path, "results.txt", text))
    assert (run.format, run.axis) == ("ultralytics", "epoch")
    assert_logged(
        run,
        {
            "train/box_loss": [(0, 0.0698), (1, 0.0663)],
            "metrics/mAP_0.5:0.95": [(0, 0.00022), (1, 0.00018)],
            "val/box_loss": [(0, 0.0934), (1, float("nan"))],
            "loss": [(0, 0.0698 + 0.0315), (1, 0.0663 + 0.0286)],
        },
        only=False,
    )
