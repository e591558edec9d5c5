from __future__ import annotations

import json
from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of

ONE_RUN = [name for name in truth_of("keras") if "part" not in name]


@pytest.mark.parametrize("name", ONE_RUN)
def test_samples(name: str) -> None:
    run = only_run(traindx.read(str(SAMPLES / "keras" / name)))
    assert (run.format, run.axis) == ("keras", "epoch")
    assert_logged(run, truth_of("keras")[name]["series"])


def test_appended_trainings() -> None:
    runs = traindx.read(str(SAMPLES / "keras" / "appended.csv")).runs
    assert len(runs) == 3
    for number, run in enumerate(runs, 1):
        assert_logged(run, truth_of("keras")[f"appended.csv (part {number})"]["series"])


@pytest.mark.parametrize("end", ["\r\n", "\r\r\n", "\n"])
def test_line_ends(tmp_path: Path, end: str) -> None:
    text = end.join(["epoch,acc,loss,val_acc,val_loss", "0,0.5,2.0,0.25,3.0", "1,0.75,nan,NA,NA", ""])
    run = only_run(read_text(tmp_path, "training.log", text))
    assert run.format == "keras"
    assert_logged(
        run,
        {
            "acc": [(0, 0.5), (1, 0.75)],
            "loss": [(0, 2.0), (1, float("nan"))],
            "val_acc": [(0, 0.25)],
            "val_loss": [(0, 3.0)],
        },
    )


def test_without_an_epoch_column_rows_are_epochs(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "log.csv", "val_loss,val_accuracy,loss,accuracy\n3,0,2,0\n2,1,1,1\n"))
    assert (run.format, run.axis) == ("keras", "epoch")
    assert run.series["val/loss"].steps.tolist() == [0, 1]


def test_semicolons(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "fit.csv", "epoch;accuracy;loss\n0;0.5;2\n1;0.75;1\n"))
    assert run.format == "keras"
    assert_logged(run, {"accuracy": [(0, 0.5), (1, 0.75)], "loss": [(0, 2), (1, 1)]})


@pytest.mark.parametrize(
    "text",
    [
        "step,loss,val_loss\n0,2,3\n1,1,2\n2,1,2\n",
        "epoch,batch,loss,val_loss\n0,0,2,3\n0,1,1,2\n1,0,1,2\n",
        "epoch,loss,acc,val_loss\n0,2,0.1,3\n1,1,0.2,2\n2,1,0.3,2\n",
        "epoch,loss,val_loss\n0,2,3\n1,1,2\n2,1,2\n",
        "epoch,loss,lr\n0,2,3\n1,1,2\n2,1,2\n",
        "epoch,grad_norm,loss\n0,2,3\n1,1,2\n2,1,2\n",
        "2024-01-01 epoch 1, loss 0.5, val_loss 0.25\n2024-01-01 epoch 2, loss 0.4, val_loss 0.2\n",
    ],
)
def test_other_logs_are_left_alone(tmp_path: Path, text: str) -> None:
    assert all(run.format != "keras" for run in read_text(tmp_path, "training.log", text).runs)


@pytest.mark.parametrize(
    "header",
    [
        "epoch,acc,loss,val_acc,val_loss",
        "epoch,loss,zeta,val_loss,val_zeta",
        "epoch,accuracy,learning_rate,loss",
    ],
)
def test_the_order_of_the_logger(tmp_path: Path, header: str) -> None:
    rows = [",".join(map(str, range(i, i + header.count(",") + 1))) for i in range(3)]
    run = only_run(read_text(tmp_path, "log.csv", "\n".join([header, *rows])))
    assert (run.format, run.axis) == ("keras", "epoch")


def test_a_table_in_another_order_is_read_alike(tmp_path: Path) -> None:
    text = "epoch,loss,acc,val_loss\n0,2,0.5,NA\n1,nan,0.75,3\n"
    run = only_run(read_text(tmp_path, "training.csv", text))
    assert (run.format, run.axis) == ("csv", "epoch")
    assert_logged(
        run, {"loss": [(0, 2), (1, float("nan"))], "acc": [(0, 0.5), (1, 0.75)], "val_loss": [(1, 3)]}
    )


def test_whole_history_object(tmp_path: Path) -> None:
    content = {
        "history": {"loss": [2, 1], "val_loss": [3, 2]},
        "epoch": [0, 1],
        "params": {"epochs": 2, "steps": 10},
    }
    run = only_run(read_text(tmp_path, "history.json", json.dumps(content)))
    assert run.format == "keras"
    assert_logged(run, {"loss": [(0, 2), (1, 1)], "val_loss": [(0, 3), (1, 2)]})
    assert run.settings["epochs"] == 2


def test_history_with_its_own_epochs(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "history.json", '{"epoch": [5, 6], "train_loss": [2, "1.5"]}'))
    assert_logged(run, {"train_loss": [(5, 2), (6, 1.5)]})


def test_validation_every_second_epoch(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "h.json", '{"loss": [4, 3, 2, 1], "val_loss": [5, 4]}'))
    assert run.series["val/loss"].steps.tolist() == [1, 3]
    assert any("every 2" in note.text for note in run.notes)


def test_a_frame_with_gaps(tmp_path: Path) -> None:
    content = '{"loss": {"0": 2, "1": null, "2": NaN}, "accuracy": {"0": 0.5, "1": 0.75, "2": 0.5}}'
    run = only_run(read_text(tmp_path, "history.json", content))
    assert_logged(
        run,
        {"loss": [(0, 2), (2, float("nan"))], "accuracy": [(0, 0.5), (1, 0.75), (2, 0.5)]},
    )


@pytest.mark.parametrize("content", ['{"model": {"layers": 3}}', '{"words": ["a", "b"]}', '{"loss": []}'])
def test_other_json_is_no_history(tmp_path: Path, content: str) -> None:
    assert all(run.format != "keras" for run in read_text(tmp_path, "history.json", content).runs)
