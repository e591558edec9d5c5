from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of

RUN = "lightning_logs/version_0"


def test_sample() -> None:
    run = only_run(traindx.read(str(SAMPLES / "lightning" / "lightning_logs")))
    truth = truth_of("lightning")[RUN]
    assert run.format == "lightning"
    assert run.path.endswith(RUN)
    assert_logged(run, truth["series"])
    assert {key: run.config[key] for key in truth["config"]} == truth["config"]
    assert run.config["extra.note"] == "a, b"
    assert run.settings["lr"] == 0.1
    assert run.series["loss"].source == "train_loss_step"
    assert run.series["loss@epoch"].source == "train_loss_epoch"
    assert [s.source for name, s in run.series.items() if name.split("/")[0] == "lr"] == ["lr-Adam"]


def test_every_version_is_a_run(tmp_path: Path) -> None:
    for number in (0, 1, 10):
        folder = tmp_path / "lightning_logs" / f"version_{number}"
        folder.mkdir(parents=True)
        (folder / "metrics.csv").write_text(f"step,train_loss,epoch\n0,{number + 1},0\n1,{number},0\n")
        (folder / "hparams.yaml").write_text(f"lr: {number}.5\n")
    runs = traindx.read(str(tmp_path)).runs
    assert [run.settings["lr"] for run in runs] == [0.5, 1.5, 10.5]


def test_nan_is_a_value_and_an_empty_cell_is_none(tmp_path: Path) -> None:
    text = "out_tensor([0.]),epoch,step,train_loss,val_loss\n0.5,0,0,1.0,\n,0,1,nan,\n,0,1,,inf\n"
    run = only_run(read_text(tmp_path, "me__version_3__metrics.csv", text))
    assert run.format == "lightning"
    nan, inf = float("nan"), float("inf")
    assert_logged(
        run,
        {
            "out_tensor([0.])": [(0, 0.5)],
            "train_loss": [(0, 1.0), (1, nan)],
            "val_loss": [(1, inf)],
            "epoch": [(0, 0), (1, 0)],
        },
    )


@pytest.mark.parametrize(
    "text",
    [
        "epoch,iteration,g_lr,d_loss\n0,1,0.1,0.5\n0,2,0.1,0.4\n0,3,0.1,0.4\n",
        "Epoch,Target Cost,Squared Loss\n0,1,0.1\n1,2,0.1\n2,2,0.1\n",
    ],
)
def test_metrics_of_others_are_left_to_the_csv_reader(tmp_path: Path, text: str) -> None:
    assert only_run(read_text(tmp_path, "metrics.csv", text)).format == "csv"


def test_fabric_writes_no_epoch(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "version_0/metrics.csv", "loss,step\n0.5,0\n0.25,10\n"))
    assert run.format == "lightning"
    assert run.series["loss"].steps.tolist() == [0, 10]


def test_hyperparameters_alone_are_no_run(tmp_path: Path) -> None:
    assert not read_text(tmp_path, "version_0/hparams.yaml", "lr: 0.1\n").runs
